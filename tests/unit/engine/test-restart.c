/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run from given values gives the bits of a whole run of a network that has these values as inputs, and computes nothing
 * that lies upstream. */
#include "engine-fixture.h"

#include "vn-error.h"

#define N_OUTPUTS 5

#define MOST_TAPS 14
#define ALL_TAPS "x a b c d e f g h1 h2 i j k nz"

/* A node, whose output @cut (nullable) is called otherwise: who reads that name reads an input of the network. */
static VnNode *
add_cut_node (VnModel    *model,
              const char *cut,
              const char *type,
              const char *inputs,
              const char *outputs)
{
  g_auto(GStrv) names = g_strsplit (outputs, " ", -1);
  g_autofree char *renamed = NULL;

  for (guint i = 0; names[i] != NULL; i++)
    if (g_strcmp0 (names[i], cut) == 0)
      {
        g_free (names[i]);
        names[i] = g_strdup ("unread");
      }
  renamed = g_strjoinv (" ", names);
  return add_node (model, type, outputs, inputs, renamed);
}

/* Convolutions that would lie in blocks, a clamp in place, a sum, two outputs of one node, views, sizes known only in a run. */
static VnModel *
make_network (const char    *cut,
              const VnShape *cut_shape)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnNode *pool;

  vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, 3, 14, 12));
  if (cut != NULL && !g_str_equal (cut, "x"))
    vn_graph_add_input (graph, cut, g_str_equal (cut, "nz") ? VN_DTYPE_S64 : VN_DTYPE_F32, cut_shape);
  add_floats (model, "w1", VN_SHAPE (16, 3, 3, 3), -0.2f, 0.001f);
  add_floats (model, "w2", VN_SHAPE (16, 16, 3, 3), -0.1f, 0.0001f);
  add_floats (model, "w3", VN_SHAPE (16, 16, 1, 1), 0.3f, -0.002f);
  add_floats (model, "w4", VN_SHAPE (336, 4), -0.2f, 0.0003f);
  add_ints (model, "flat", (const gint64[]) { 2, -1 }, 2);
  add_ints (model, "halves", (const gint64[]) { 8, 8 }, 2);
  vn_node_set_ints (add_cut_node (model, cut, "Conv", "x w1", "a"), "pads", (const gint64[]) { 1, 1, 1, 1 }, 4);
  add_cut_node (model, cut, "Relu", "a", "b");
  vn_node_set_ints (add_cut_node (model, cut, "Conv", "b w2", "c"), "pads", (const gint64[]) { 1, 1, 1, 1 }, 4);
  add_cut_node (model, cut, "Add", "c b", "d");
  add_cut_node (model, cut, "Relu", "d", "e");
  pool = add_cut_node (model, cut, "MaxPool", "e", "f");
  vn_node_set_ints (pool, "kernel_shape", (const gint64[]) { 1, 2 }, 2);
  vn_node_set_ints (pool, "strides", (const gint64[]) { 2, 2 }, 2);
  add_cut_node (model, cut, "Conv", "f w3", "g");
  vn_node_set_int (add_cut_node (model, cut, "Split", "g halves", "h1 h2"), "axis", 1);
  add_cut_node (model, cut, "Reshape", "h1 flat", "i");
  add_cut_node (model, cut, "Relu", "i", "j");
  add_cut_node (model, cut, "Gemm", "j w4", "y1");
  add_cut_node (model, cut, "Add", "h1 h2", "k");
  add_cut_node (model, cut, "GlobalAveragePool", "k", "y2");
  add_cut_node (model, cut, "Exp", "b", "y3");
  add_cut_node (model, cut, "NonZero", "h2", "nz");
  vn_node_set_int (add_cut_node (model, cut, "Cast", "nz", "y4"), "to", 1);
  add_cut_node (model, cut, "Abs", "e", "y5");
  set_outputs (model, "y1 y2 y3 y4 y5");
  return model;
}

/* ---- whole runs ---- */

static void
keep_tap (const VnValue  *value,
          guint           tap,
          const VnTensor *tensor,
          gpointer        data)
{
  VnTensor **kept = data;

  g_assert_null (kept[tap]);
  kept[tap] = vn_tensor_new (tensor->dtype, &tensor->shape, NULL);
  memcpy (kept[tap]->data, tensor->data, tensor->n_bytes);
}

static void
clear_tensors (VnTensor **tensors,
               guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

static GPtrArray *
list_taps (VnModel  *model,
           char    **names)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; names[i] != NULL; i++)
    g_ptr_array_add (list, vn_graph_find_value (model->graph, names[i]));
  return list;
}

/* All of the network with the value @cut given, computed by a network that takes it as an input. */
static void
run_cut (const char  *cut,
         VnTensor    *x,
         VnTensor    *given,
         VnTensor   **outputs)
{
  g_autoptr(VnModel) model = make_network (cut, &given->shape);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnRunner) runner = NULL;
  VnTensor *inputs[2] = { g_str_equal (cut, "x") ? given : x, given };

  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  vn_runner_run (runner, inputs, outputs, NULL, &error);
  g_assert_no_error (error);
}

static VnTensor *
make_other (const VnTensor *tensor,
            guint           seed)
{
  if (tensor->dtype == VN_DTYPE_F32)
    return make_input (tensor->shape, seed);
  return vn_tensor_new_s64 (&tensor->shape, (const gint64 *) tensor->data);
}

/* ---- runs from a value ---- */

typedef struct
{
  VnModel  *model;
  VnPlan   *plan;
  VnRunner *runner;
  VnTensor *x, *noise;
  char    **taps;
  VnTensor *kept[MOST_TAPS];
  VnTensor *whole[N_OUTPUTS];
} Fixture;

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autoptr(GPtrArray) list = NULL;
  g_autoptr(GError) error = NULL;

  self->model = make_network (NULL, NULL);
  self->taps = g_strsplit (data, " ", -1);
  list = list_taps (self->model, self->taps);
  self->plan = vn_plan_new (self->model, &(VnPlanOptions) { .taps = list, .can_restart = TRUE }, NULL, &error);
  g_assert_no_error (error);
  self->runner = vn_runner_new (self->plan, &error);
  self->x = make_input (VN_SHAPE (2, 3, 14, 12), 1);
  self->noise = make_input (VN_SHAPE (2, 3, 14, 12), 7);
  vn_runner_set_tap (self->runner, keep_tap, self->kept);
  vn_runner_run (self->runner, &self->x, self->whole, NULL, &error);
  g_assert_no_error (error);
  vn_runner_set_tap (self->runner, NULL, NULL);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  clear_tensors (self->kept, MOST_TAPS);
  g_strfreev (self->taps);
  clear_tensors (self->whole, N_OUTPUTS);
  vn_tensor_unref (self->x);
  vn_tensor_unref (self->noise);
  vn_runner_free (self->runner);
  vn_plan_unref (self->plan);
  vn_model_unref (self->model);
}

/* The plan for restarts computes the same as any other. */
static void
test_whole (Fixture       *self,
            gconstpointer  data)
{
  g_autoptr(VnModel) model = make_network (NULL, NULL);
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  VnTensor *outputs[N_OUTPUTS];

  g_assert_true (vn_runner_run (runner, &self->x, outputs, NULL, NULL));
  for (guint i = 0; i < N_OUTPUTS; i++)
    g_assert_true (vn_tensor_equal (outputs[i], self->whole[i]));
  clear_tensors (outputs, N_OUTPUTS);
}

/* Starts from each value in turn; with all others @known the inputs of the network do not matter. */
static void
check_restarts (Fixture  *self,
                gboolean  known)
{
  guint n_told = 0, n_same = 0;

  for (guint tap = 0; self->taps[tap] != NULL; tap++)
    {
      g_autoptr(VnTensor) other = make_other (self->kept[tap], 3 + tap);
      VnTapValue given = { tap, other };
      VnTensor *expected[N_OUTPUTS], *outputs[N_OUTPUTS];
      g_autoptr(GError) error = NULL;

      run_cut (self->taps[tap], self->x, other, expected);
      vn_runner_run_from (self->runner, known ? &self->noise : &self->x, known ? self->kept : NULL, &given, 1, outputs, NULL,
                          &error);
      g_assert_no_error (error);
      for (guint i = 0; i < N_OUTPUTS; i++)
        {
          g_test_message ("%s: output %u %s", self->taps[tap], i, outputs[i] != NULL ? "depends on it" : "does not");
          g_assert_true (vn_tensor_equal (outputs[i] != NULL ? outputs[i] : self->whole[i], expected[i]));
          *(outputs[i] != NULL ? &n_told : &n_same) += 1;
        }
      clear_tensors (expected, N_OUTPUTS);
      clear_tensors (outputs, N_OUTPUTS);
    }
  g_assert_cmpuint (n_told, >, 0);
  g_assert_cmpuint (n_same, >, 0);
}

static void
test_known (Fixture       *self,
            gconstpointer  data)
{
  check_restarts (self, TRUE);
  check_restarts (self, TRUE);   /* nothing of it stays behind */
}

static void
test_unknown (Fixture       *self,
              gconstpointer  data)
{
  check_restarts (self, FALSE);
}

/* Each value alone, from all others: the inputs of the network do not matter. */
static void
test_wanted (Fixture       *self,
             gconstpointer  data)
{
  guint n_told = 0;

  for (guint tap = 0; self->taps[tap] != NULL; tap++)
    {
      VnTensor *told[MOST_TAPS] = { NULL }, *known[MOST_TAPS];
      g_autoptr(GError) error = NULL;

      memcpy (known, self->kept, sizeof known);
      known[tap] = NULL;
      if (g_str_equal (self->taps[tap], "x"))
        continue;
      vn_runner_set_tap (self->runner, keep_tap, told);
      vn_runner_run_taps (self->runner, &self->noise, known, &tap, 1, NULL, NULL, &error);
      vn_runner_set_tap (self->runner, NULL, NULL);
      g_assert_no_error (error);
      for (guint other = 0; self->taps[other] != NULL; other++)
        g_assert_true ((told[other] != NULL) == (other == tap));
      g_assert_true (vn_tensor_equal (told[tap], self->kept[tap]));
      n_told++;
      clear_tensors (told, MOST_TAPS);
    }
  g_assert_cmpuint (n_told, >, 3);
}

/* What comes next of a value that did not change is what there was; values further on are not told. */
static void
test_next (Fixture       *self,
           gconstpointer  data)
{
  guint n_told = 0, n_untold = 0, n_other = 0;

  for (guint tap = 0; self->taps[tap] != NULL; tap++)
    {
      g_autoptr(VnTensor) other = make_other (self->kept[tap], 3 + tap);
      VnTensor *told[MOST_TAPS] = { NULL }, *again[MOST_TAPS] = { NULL };
      g_autoptr(GError) error = NULL;

      vn_runner_set_tap (self->runner, keep_tap, told);
      vn_runner_run_next (self->runner, &self->noise, self->kept, &(VnTapValue) { tap, self->kept[tap] }, NULL, &error);
      g_assert_no_error (error);
      vn_runner_set_tap (self->runner, keep_tap, again);
      vn_runner_run_next (self->runner, &self->noise, self->kept, &(VnTapValue) { tap, other }, NULL, &error);
      vn_runner_set_tap (self->runner, NULL, NULL);
      g_assert_no_error (error);
      g_assert_null (told[tap]);
      for (guint next = 0; self->taps[next] != NULL; next++)
        {
          g_assert_true ((told[next] != NULL) == (again[next] != NULL));
          if (told[next] != NULL)
            g_assert_true (vn_tensor_equal (told[next], self->kept[next]));
          n_other += told[next] != NULL && !vn_tensor_equal (told[next], again[next]);
          *(told[next] != NULL ? &n_told : &n_untold) += 1;
        }
      clear_tensors (told, MOST_TAPS);
      clear_tensors (again, MOST_TAPS);
    }
  g_assert_cmpuint (n_told, >, 3);
  g_assert_cmpuint (n_other, >, 3);
  g_assert_cmpuint (n_untold, >, n_told);
}

/* A whole run after one from a value, and the memory of both. */
static void
test_afterwards (Fixture       *self,
                 gconstpointer  data)
{
  g_autoptr(VnTensor) other = make_input (self->kept[8]->shape, 5);
  VnTensor *outputs[N_OUTPUTS];

  g_assert_true (vn_runner_run_from (self->runner, &self->x, self->kept, &(VnTapValue) { 8, other }, 1, NULL, NULL, NULL));
  g_assert_true (vn_runner_run (self->runner, &self->x, outputs, NULL, NULL));
  for (guint i = 0; i < N_OUTPUTS; i++)
    g_assert_true (vn_tensor_equal (outputs[i], self->whole[i]));
  clear_tensors (outputs, N_OUTPUTS);
}

static void
count_tap (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  g_string_append_printf (data, "%s ", value->name);
}

/* Several values at a time, one of them behind another; taps are told of what has changed. */
static void
test_several (Fixture       *self,
              gconstpointer  data)
{
  g_autoptr(VnTensor) other_c = make_input (self->kept[3]->shape, 5), other_g = make_input (self->kept[7]->shape, 6);
  VnTapValue given[2] = { { 3, other_c }, { 7, other_g } };
  g_autoptr(GString) told = g_string_new (NULL);
  VnTensor *outputs[N_OUTPUTS], *expected[N_OUTPUTS];

  vn_runner_set_tap (self->runner, count_tap, told);
  g_assert_true (vn_runner_run_from (self->runner, &self->noise, self->kept, given, 2, outputs, NULL, NULL));
  g_assert_cmpstr (told->str, ==, "c d e f g h1 h2 i j k nz ");
  run_cut ("g", self->x, other_g, expected);
  for (guint i = 0; i < N_OUTPUTS; i++)
    if (i != 2 && i != 4)
      g_assert_true (vn_tensor_equal (outputs[i], expected[i]));
  clear_tensors (expected, N_OUTPUTS);
  run_cut ("c", self->x, other_c, expected);
  g_assert_true (vn_tensor_equal (outputs[4], expected[4]));
  g_assert_null (outputs[2]);
  clear_tensors (expected, N_OUTPUTS);
  clear_tensors (outputs, N_OUTPUTS);
}

/* Of another size, or a constant: refused, and the runner goes on working. */
static void
test_refused (Fixture       *self,
              gconstpointer  data)
{
  g_autoptr(VnTensor) small = make_input (VN_SHAPE (2, 3), 5);
  g_autoptr(GError) error = NULL;
  VnTensor *outputs[N_OUTPUTS];

  g_assert_false (vn_runner_run_from (self->runner, &self->x, self->kept, &(VnTapValue) { 2, small }, 1, outputs, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "“b” is planned as float32[2,16,14,12], but was passed as float32[2,3]"));
  for (guint i = 0; i < N_OUTPUTS; i++)
    g_assert_null (outputs[i]);
  g_assert_true (vn_runner_run (self->runner, &self->x, outputs, NULL, NULL));
  clear_tensors (outputs, N_OUTPUTS);
}

/* What is made of constants can be given like anything else that is computed; what the network holds cannot. */
static void
test_constant (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GPtrArray) list = g_ptr_array_new ();
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (4), 1);
  g_autoptr(VnTensor) y = NULL;
  g_autoptr(GError) error = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (4));
  add_floats (model, "w", VN_SHAPE (4), 1, 1);
  add_node (model, "Exp", "folded", "w", "v");
  add_node (model, "Neg", "deeper", "v", "u");
  add_node (model, "Add", "sum", "x u", "y");
  set_outputs (model, "y");
  g_ptr_array_add (list, vn_graph_find_value (model->graph, "v"));
  g_ptr_array_add (list, vn_graph_find_value (model->graph, "w"));
  plan = vn_plan_new (model, &(VnPlanOptions) { .taps = list, .can_restart = TRUE }, NULL, NULL);
  runner = vn_runner_new (plan, NULL);
  g_assert_true (vn_runner_run_from (runner, &x, NULL, &(VnTapValue) { 0, x }, 1, &y, NULL, &error));
  g_assert_no_error (error);
  for (guint i = 0; i < 4; i++)
    g_assert_cmpfloat (((const float *) y->data)[i], ==, 0);
  g_assert_false (vn_runner_run_from (runner, &x, NULL, &(VnTapValue) { 1, x }, 1, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

int
main (int    argc,
      char **argv)
{
  static const char * const lists[] = { ALL_TAPS, "c", "a e g", "d h2 i", "x f nz" };

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    {
      g_autofree char *whole = g_strdup_printf ("/engine/restart/whole/%u", i);
      g_autofree char *known = g_strdup_printf ("/engine/restart/known/%u", i);
      g_autofree char *unknown = g_strdup_printf ("/engine/restart/unknown/%u", i);

      g_test_add (whole, Fixture, lists[i], set_up, test_whole, tear_down);
      if (i == 0)
        g_test_add (known, Fixture, lists[i], set_up, test_known, tear_down);
      g_test_add (unknown, Fixture, lists[i], set_up, test_unknown, tear_down);
    }
  g_test_add ("/engine/restart/wanted", Fixture, ALL_TAPS, set_up, test_wanted, tear_down);
  g_test_add ("/engine/restart/next", Fixture, ALL_TAPS, set_up, test_next, tear_down);
  g_test_add ("/engine/restart/afterwards", Fixture, ALL_TAPS, set_up, test_afterwards, tear_down);
  g_test_add ("/engine/restart/several", Fixture, ALL_TAPS, set_up, test_several, tear_down);
  g_test_add ("/engine/restart/refused", Fixture, ALL_TAPS, set_up, test_refused, tear_down);
  g_test_add_func ("/engine/restart/constant", test_constant);
  return g_test_run ();
}
