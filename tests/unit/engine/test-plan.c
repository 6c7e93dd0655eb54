/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine-fixture.h"

#include "vn-error.h"

#include <string.h>

/* x -> Relu -> a -> Relu -> b -> Relu -> y, nodes in reverse order in the file */
static VnModel *
make_chain (VnShape shape)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);
  add_node (model, "Relu", "third", "b", "y");
  add_node (model, "Relu", "second", "a", "b");
  add_node (model, "Relu", "first", "x", "a");
  set_outputs (model, "y");
  return model;
}

static void
assert_is_relu (const VnTensor *input,
                const VnTensor *output)
{
  const float *x = input->data, *y = output->data;

  g_assert_true (vn_shape_equal (&input->shape, &output->shape));
  for (gsize i = 0; i < input->n_elements; i++)
    {
      g_test_message ("%" G_GSIZE_FORMAT ": %g -> %g", i, x[i], y[i]);
      g_assert_cmpfloat (y[i], ==, MAX (x[i], 0));
    }
}

static void
test_sorts (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (2, 3));
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, 3), 1);
  g_autoptr(VnTensor) output = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, 3);
  g_assert_cmpstr (vn_plan_get_step_node (plan, 0)->name, ==, "first");
  g_assert_cmpstr (vn_plan_get_step_node (plan, 2)->name, ==, "third");
  g_assert_cmpuint (vn_plan_get_n_inputs (plan), ==, 1);
  g_assert_cmpstr (vn_plan_get_input (plan, 0)->name, ==, "x");
  g_assert_cmpstr (vn_plan_get_output (plan, 0)->name, ==, "y");
  g_assert_true (vn_plan_get_model (plan) == model);
  output = run_simple (model, NULL, input);
  assert_is_relu (input, output);
}

/* Three values, but never more than two alive at once. */
static void
test_arena_is_reused (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (1000));
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);

  g_assert_no_error (error);
  g_test_message ("arena of %" G_GSIZE_FORMAT " bytes", vn_plan_get_arena_size (plan));
  g_assert_cmpuint (vn_plan_get_arena_size (plan), ==, 2 * ((4000 + 63) / 64 * 64));
}

static void
test_wanted_outputs (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (4));
  g_autoptr(GPtrArray) wanted = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  VnPlanOptions options = { .outputs = wanted };
  g_autoptr(VnPlan) plan = NULL;

  g_ptr_array_add (wanted, vn_graph_find_value (model->graph, "a"));
  plan = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, 1);
  g_assert_cmpstr (vn_plan_get_output (plan, 0)->name, ==, "a");
}

static void
test_missing_operators (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2));
  add_node (model, "NoSuchThing", "one", "x", "a");
  add_node (model, "NoSuchThing", "two", "a", "b");
  add_node (model, "AlsoMissing", "three", "b", "c");
  add_node (model, "NotNeeded", "four", "x", "d");
  set_outputs (model, "c");
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_null (plan);
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, "NoSuchThing (opset 13, 2 nodes, first “one”)"));
  g_assert_nonnull (strstr (error->message, "AlsoMissing (opset 13, 1 node, first “three”)"));
  g_assert_null (strstr (error->message, "NotNeeded"));
}

/* x -> Relu -> a -> (missing) -> b -> Relu -> y, and a -> Relu -> z: b and y are left out, and said so. */
static void
test_skips_unsupported (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  VnPlanOptions options = { .taps = taps, .skip_unsupported = TRUE };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnPlan) none = NULL;
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2), 1);
  g_autoptr(VnTensor) output = NULL;
  static const char * const names[] = { "a", "b", "y", "z" };

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2));
  add_node (model, "Relu", "first", "x", "a");
  add_node (model, "NoSuchThing", "gap", "a", "b");
  add_node (model, "Relu", "last", "b", "y");
  add_node (model, "Relu", "side", "a", "z");
  set_outputs (model, "y z");
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_ptr_array_add (taps, vn_graph_find_value (model->graph, names[i]));
  plan = vn_plan_new (model, &options, notes, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_assert_true (vn_plan_is_computed (plan, g_ptr_array_index (taps, i)) == (i == 0 || i == 3));
  g_assert_cmpuint (vn_plan_get_n_outputs (plan), ==, 1);
  g_assert_cmpstr (vn_plan_get_output (plan, 0)->name, ==, "z");
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, 2);
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 2);
  g_assert_cmpstr (vn_notes_get (notes, 0)->subject, ==, "gap");
  g_assert_cmpstr (vn_notes_get (notes, 1)->subject, ==, "y");
  output = run_simple (model, &options, input);
  assert_is_relu (input, output);

  /* where nothing can be computed, the operators are named as without the option */
  set_outputs (model, "y y");
  options.taps = NULL;
  none = vn_plan_new (model, &options, NULL, &error);
  g_assert_null (none);
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "NoSuchThing (opset 13, 1 node, first “gap”)"));
}

static void
test_inputs_are_checked (void)
{
  static const struct
  {
    VnShape     shape;
    VnDType     dtype;
    const char *text;
  } cases[] = {
    { { 2, { 2, 4 } }, VN_DTYPE_F32, "but was passed as float32[2,4]" },
    { { 1, { 6 } },    VN_DTYPE_F32, "but was passed as float32[6]" },
    { { 2, { 2, 3 } }, VN_DTYPE_U8,  "but was passed as uint8[2,3]" },
  };
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (2, 3));
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) input = vn_tensor_new (cases[i].dtype, &cases[i].shape, NULL);
      VnTensor *output = NULL;

      memset (input->data, 0, input->n_bytes);
      g_assert_false (vn_runner_run (runner, &input, &output, NULL, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].text));
      g_assert_null (output);
    }
}

static void
test_open_sizes (void)
{
  static const struct
  {
    gboolean given;
    VnShape  shape;       /* given */
    int      code;        /* -1: fine */
    VnShape  planned;
    guint    n_notes;
  } cases[] = {
    { FALSE, { 0 },                   -1, { 2, { 1, 3 } }, 1 },
    { TRUE,  { 2, { 5, 3 } },         -1, { 2, { 5, 3 } }, 0 },
    { TRUE,  { 2, { 5, -1 } },        -1, { 2, { 5, 3 } }, 0 },
    { TRUE,  { 2, { -1, -1 } },       -1, { 2, { 1, 3 } }, 1 },
    { TRUE,  { 2, { 5, 4 } },         VN_ERROR_SHAPE, { 0 }, 0 },
    { TRUE,  { 1, { 5 } },            VN_ERROR_SHAPE, { 0 }, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_chain (VN_SHAPE (-1, 3));
      g_autoptr(GHashTable) shapes = g_hash_table_new (g_str_hash, g_str_equal);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      VnPlanOptions options = { .input_shapes = shapes };
      g_autoptr(VnPlan) plan = NULL;

      if (cases[i].given)
        g_hash_table_insert (shapes, (gpointer) "x", (gpointer) &cases[i].shape);
      plan = vn_plan_new (model, &options, notes, &error);
      g_test_message ("case %u: %s, %u notes", i, error != NULL ? error->message : "planned", vn_notes_get_n (notes));
      if (cases[i].code >= 0)
        {
          g_assert_error (error, VN_ERROR, cases[i].code);
          continue;
        }
      g_assert_no_error (error);
      g_assert_true (vn_shape_equal (&vn_plan_get_input_type (plan, 0)->shape, &cases[i].planned));
      g_assert_cmpuint (vn_notes_get_n (notes), ==, cases[i].n_notes);
    }
}

static void
count_tap (const VnValue  *value,
           guint           tap,
           const VnTensor *tensor,
           gpointer        data)
{
  g_assert_cmpuint (tap, ==, 0);
  *(gsize *) data += tensor->n_elements;
}

/* A plan for one size serves samples of other sizes, more of them than are kept, where the model leaves the size open. */
static void
test_other_sizes (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (-1, 3));
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  VnPlanOptions options = { .taps = taps };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnTensor) wrong = make_input (VN_SHAPE (2, 4), 1);
  gsize n_tapped = 0;

  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "a"));
  plan = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  vn_runner_set_tap (runner, count_tap, &n_tapped);
  for (guint i = 0; i < 40; i++)
    {
      gint64 rows = 1 + i * 7 % 13;
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (rows, 3), i);
      g_autoptr(VnTensor) output = NULL;

      n_tapped = 0;
      vn_runner_run (runner, &input, &output, NULL, &error);
      g_assert_no_error (error);
      assert_is_relu (input, output);
      g_assert_cmpuint (n_tapped, ==, (gsize) rows * 3);
    }
  g_assert_false (vn_runner_run (runner, &wrong, NULL, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
}

/* A network that is open at its input but not inside says which size it cannot take, and works on. */
static void
test_impossible_size (void)
{
  static const gint64 target[] = { 1, 3 };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnTensor) one = make_input (VN_SHAPE (1, 3), 1), two = make_input (VN_SHAPE (2, 3), 1);
  g_autoptr(VnTensor) output = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (-1, 3));
  add_ints (model, "target", target, 2);
  add_node (model, "Reshape", "reshape", "x target", "a");
  add_node (model, "Relu", "relu", "a", "y");
  set_outputs (model, "y");
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  g_assert_false (vn_runner_run (runner, &two, &output, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "reshape"));
  g_clear_error (&error);
  vn_runner_run (runner, &one, &output, NULL, &error);
  g_assert_no_error (error);
  assert_is_relu (one, output);
}

/* What depends on constants only is computed while planning; a weight at an odd address is copied. */
static void
test_folds (void)
{
  static const guint8 raw[1 + 3 * 4] = { 0, 0, 0, 0x80, 0xbf, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3f };   /* -1, 2, 1 */
  g_autoptr(GBytes) bytes = g_bytes_new (raw, sizeof raw);
  g_autoptr(GBytes) odd = g_bytes_new_from_bytes (bytes, 1, 12);
  g_autoptr(VnTensor) weight = vn_tensor_new_view (VN_DTYPE_F32, &VN_SHAPE (3), odd, NULL);
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnTensor) output = NULL;
  const float *y;

  vn_graph_add_initializer (model->graph, "w", weight);
  add_node (model, "Relu", "r", "w", "y");
  set_outputs (model, "y");
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_plan_get_n_steps (plan), ==, 0);
  output = run_simple (model, NULL, NULL);
  y = output->data;
  g_test_message ("%g %g %g", y[0], y[1], y[2]);
  g_assert_true (y[0] == 0 && y[1] == 2 && y[2] == 1);
}

static void
test_input_is_output (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (3));
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (3), 2);
  g_autoptr(VnTensor) output = NULL;
  g_autoptr(GPtrArray) wanted = g_ptr_array_new ();
  VnPlanOptions options = { .outputs = wanted };

  g_ptr_array_add (wanted, vn_graph_find_value (model->graph, "x"));
  g_ptr_array_add (wanted, vn_graph_find_value (model->graph, "x"));
  output = run_simple (model, &options, input);
  g_assert_true (vn_tensor_equal (input, output));
  g_assert_true (output->data != input->data);
}

static void
test_foreign_value (void)
{
  g_autoptr(VnModel) model = make_chain (VN_SHAPE (3));
  g_autoptr(VnModel) other = make_chain (VN_SHAPE (3));
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(GError) error = NULL;
  VnPlanOptions options = { .taps = taps };

  g_ptr_array_add (taps, vn_graph_find_value (other->graph, "a"));
  g_assert_null (vn_plan_new (model, &options, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

static void
test_nothing_produces (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;

  add_node (model, "Relu", "r", "nowhere", "y");
  set_outputs (model, "y");
  g_assert_null (vn_plan_new (model, NULL, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
}

static VnTensor *
run_attention (VnModel    *model,
               guint       n_wanted,
               VnTensor  **inputs)
{
  g_autoptr(GPtrArray) wanted = g_ptr_array_new ();
  VnPlanOptions options = { .outputs = wanted };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  VnTensor *outputs[2] = { NULL, NULL };

  for (guint i = 0; i < n_wanted; i++)
    g_ptr_array_add (wanted, vn_graph_find_value (model->graph, i == 0 ? "y" : "present"));
  plan = vn_plan_new (model, &options, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, &error);
  g_assert_no_error (error);
  vn_runner_run (runner, inputs, outputs, NULL, &error);
  g_assert_no_error (error);
  g_clear_pointer (&outputs[1], vn_tensor_unref);
  return outputs[0];
}

/* Attention needs earlier keys also where a run does not want what it makes of them. */
static void
test_unwanted_present (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnTensor) x = make_input (VN_SHAPE (1, 3, 4), 1), past = make_input (VN_SHAPE (2, 1, 2, 2, 2), 2);
  VnTensor *inputs[] = { x, past };
  g_autoptr(VnTensor) both = NULL, alone = NULL;

  vn_model_set_opset (model, "com.microsoft", 1);
  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &x->shape);
  vn_graph_add_input (model->graph, "past", VN_DTYPE_F32, &past->shape);
  add_floats (model, "w", VN_SHAPE (4, 12), -1, 0.05f);
  add_floats (model, "b", VN_SHAPE (12), 0.1f, 0.02f);
  vn_node_set_int (add_node (model, "com.microsoft:Attention", "attention", "x w b - past", "y present"), "num_heads", 2);
  set_outputs (model, "y present");
  both = run_attention (model, 2, inputs);
  alone = run_attention (model, 1, inputs);
  g_assert_true (vn_tensor_equal (both, alone));
  g_assert_cmpfloat (((const float *) both->data)[0], !=, ((const float *) both->data)[4]);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/plan/sorts", test_sorts);
  g_test_add_func ("/plan/arena-is-reused", test_arena_is_reused);
  g_test_add_func ("/plan/wanted-outputs", test_wanted_outputs);
  g_test_add_func ("/plan/missing-operators", test_missing_operators);
  g_test_add_func ("/plan/skips-unsupported-operators", test_skips_unsupported);
  g_test_add_func ("/plan/inputs-are-checked", test_inputs_are_checked);
  g_test_add_func ("/plan/open-sizes", test_open_sizes);
  g_test_add_func ("/plan/other-sizes", test_other_sizes);
  g_test_add_func ("/plan/impossible-size", test_impossible_size);
  g_test_add_func ("/plan/folds", test_folds);
  g_test_add_func ("/plan/input-is-output", test_input_is_output);
  g_test_add_func ("/plan/foreign-value", test_foreign_value);
  g_test_add_func ("/plan/nothing-produces", test_nothing_produces);
  g_test_add_func ("/plan/unwanted-present", test_unwanted_present);
  return g_test_run ();
}
