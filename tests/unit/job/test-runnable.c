/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done to networks in float16 and bfloat16 before they run, and what they give. */
#include "vn-graph-edit.h"
#include "vn-half.h"
#include "vn-jobs.h"
#include "vn-plan.h"

#include <math.h>

#define SIZE 4

/* x, the operators one after the other, y; Cast is to @half the first time and back the next. */
static VnModel *
make_chain (const char *operators,
            VnDType     half,
            VnDType     dtype)
{
  const VnShape shape = { .rank = 1, .dims = { SIZE } };
  VnModel *model = vn_model_new (8, 17);
  VnValue *value = vn_graph_add_input (model->graph, "x", dtype, &shape);
  g_auto(GStrv) list = g_strsplit (operators, " ", -1);

  for (guint i = 0; list[i] != NULL; i++)
    {
      gboolean casts = g_str_equal (list[i], "Cast");
      VnValue *made;

      if (casts)
        dtype = dtype == VN_DTYPE_F32 ? half : VN_DTYPE_F32;
      made = vn_graph_add_value (model->graph, list[i], dtype, &shape);
      vn_graph_add_node (model->graph, NULL, "", list[i], &value, 1, &made, 1);
      if (casts)
        vn_node_set_int (made->producer, "to", dtype);
      value = made;
    }
  vn_graph_set_output (model->graph, 0, value);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static const struct { const char *name, *operators; gboolean converted; } networks[] = {
  { "float",     "Relu Abs",            FALSE },
  { "rounded",   "Relu Cast Cast Abs",  FALSE },
  { "computed",  "Cast Relu Cast",      TRUE },
  { "both",      "Cast Cast Cast Relu Cast", TRUE },
  { "given-out", "Relu Cast",           TRUE },
};

static void
test_converted (gconstpointer data)
{
  static const VnDType halves[] = { VN_DTYPE_F16, VN_DTYPE_BF16 };
  const guint i = GPOINTER_TO_UINT (data);

  for (guint k = 0; k < G_N_ELEMENTS (halves); k++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = make_chain (networks[i].operators, halves[k], VN_DTYPE_F32);
      g_autoptr(VnModel) in_float = vn_model_to_float (model, NULL, &error);
      g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, &error);

      g_test_message ("%s", vn_dtype_get_name (halves[k]));
      g_assert_no_error (error);
      g_assert_cmpint (in_float != model, ==, networks[i].converted);
      g_assert_true (runnable == model);
    }
}

/* The first number that @model makes of @x. */
static double
run_on (VnModel *model,
        float    x)
{
  const VnShape shape = { .rank = 1, .dims = { SIZE } };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnRunner) runner = plan != NULL ? vn_runner_new (plan, &error) : NULL;
  g_autoptr(VnTensor) input = vn_tensor_new (VN_DTYPE_F32, &shape, &error);
  g_autoptr(VnTensor) output = NULL;

  g_assert_no_error (error);
  for (guint i = 0; i < SIZE; i++)
    ((float *) input->data)[i] = x;
  vn_runner_run (runner, &input, &output, NULL, &error);
  g_assert_no_error (error);
  return vn_tensor_get_double (output, 0);
}

/* What is beyond float16 is infinite there, and a number in the network that errors are measured against. */
static void
test_overflow (void)
{
  g_autoptr(VnModel) model = make_chain ("Cast Exp Cast", VN_DTYPE_F16, VN_DTYPE_F32);
  g_autoptr(VnModel) in_float = vn_model_to_float (model, NULL, NULL);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, NULL);

  g_assert_true (isinf (run_on (runnable, 20)));
  g_assert_cmpfloat_with_epsilon (run_on (in_float, 20) / exp (20), 1, 1e-5);
  g_assert_cmpfloat (run_on (runnable, 1), ==, (double) vn_half_to_float (vn_half_from_float (expf (1))));
}

/* Inputs in float16 are given as float32, and rounded. */
static void
test_input (void)
{
  g_autoptr(VnModel) model = make_chain ("Relu", VN_DTYPE_F16, VN_DTYPE_F16);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, NULL);

  g_assert_true (runnable != model);
  g_assert_cmpint (((VnValue *) runnable->graph->inputs->pdata[0])->type.dtype, ==, VN_DTYPE_F32);
  g_assert_cmpint (((VnValue *) model->graph->inputs->pdata[0])->type.dtype, ==, VN_DTYPE_F16);
  g_assert_cmpfloat (run_on (runnable, 1.0001f), ==, 1);
  g_assert_cmpfloat (run_on (runnable, 1.25f), ==, 1.25);
}

/* So are those in bfloat16, and what is computed in it. */
static void
test_bfloat (void)
{
  g_autoptr(VnModel) model = make_chain ("Relu", VN_DTYPE_BF16, VN_DTYPE_BF16);
  g_autoptr(VnModel) computed = make_chain ("Cast Exp Cast", VN_DTYPE_BF16, VN_DTYPE_F32);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, NULL);

  g_assert_cmpint (((VnValue *) runnable->graph->inputs->pdata[0])->type.dtype, ==, VN_DTYPE_F32);
  g_assert_cmpfloat (run_on (runnable, 1.001f), ==, 1);
  g_assert_cmpfloat (run_on (runnable, 1e38f), ==, (double) vn_bfloat_to_float (vn_bfloat_from_float (1e38f)));
  g_assert_cmpfloat (run_on (computed, 1), ==, (double) vn_bfloat_to_float (vn_bfloat_from_float (expf (1))));
}

/* ---- sizes ---- */

#define HEADS 2
#define WIDTH 8

/* tokens, mask and a cache for an attention of HEADS heads; @name: of the cache */
static VnModel *
make_decoder (const char *name)
{
  VnModel *model = vn_model_new (8, 21);
  VnGraph *graph = model->graph;
  VnValue *tokens = vn_graph_add_input (graph, "tokens", VN_DTYPE_S64, &VN_SHAPE (-1, -1));
  VnValue *q = vn_graph_add_value (graph, "q", VN_DTYPE_F32, &VN_SHAPE (-1, -1, HEADS * WIDTH)), *y, *past;
  g_autoptr(VnTensor) table = vn_tensor_new_f32 (&VN_SHAPE (3, HEADS * WIDTH), (const float[3 * HEADS * WIDTH]) { 0 });

  vn_graph_add_input (graph, "mask", VN_DTYPE_S64, &VN_SHAPE (-1, -1));
  past = vn_graph_add_input (graph, name, VN_DTYPE_F32, &VN_SHAPE (-1, -1, -1, -1));
  vn_graph_add_node (graph, NULL, "", "Gather", (VnValue *[]) { vn_graph_add_initializer (graph, "table", table), tokens }, 2,
                     &q, 1);
  y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  vn_graph_add_node (graph, NULL, "com.microsoft", "GroupQueryAttention", (VnValue *[]) { q, q, q, past }, 4, &y, 1);
  vn_node_set_int (y->producer, "num_heads", HEADS);
  vn_node_set_int (y->producer, "kv_num_heads", HEADS);
  vn_graph_set_output (graph, 0, y);
  return model;
}

/* Sizes of "tokens", "mask" and the cache, of which @given are given, for a run on random values; "": none are told. */
static const struct
{
  const char *cache, *data, *given;
  const char *tokens, *mask, *past;
} sizes[] = {
  { "past", NULL, "", "1,16", "1,16", "1,2,0,8" },
  { "past", "random", "", "1,16", "1,16", "1,2,0,8" },
  { "past", NULL, "tokens=1,5", "1,5", "1,5", "1,2,0,8" },
  { "past", NULL, "past=-1,-1,3,-1", "1,16", "1,19", "1,2,3,8" },
  { "past", NULL, "tokens=2,5;mask=2,5;past=2,2,0,8", "2,5", "2,5", "2,2,0,8" },
  /* no language model: sizes that nobody gave stay open */
  { "other", NULL, "", "", "", "" },
  { "other", "random", "tokens=1,5", "1,5", "", "" },
};

static void
check_size (GHashTable *shapes,
            const char *name,
            const char *wanted)
{
  const VnShape *shape = shapes != NULL ? g_hash_table_lookup (shapes, name) : NULL;
  g_autofree char *text = shape != NULL ? vn_shape_to_string (shape, ",") : g_strdup ("");

  g_assert_cmpstr (text, ==, wanted);
}

static void
test_sizes (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = make_decoder (sizes[i].cache);
      g_autoptr(VnDataSpec) data = sizes[i].data != NULL ? vn_data_spec_new (sizes[i].data) : NULL;
      g_autoptr(GHashTable) given = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
      g_autoptr(GHashTable) shapes = NULL;
      g_auto(GStrv) list = g_strsplit (sizes[i].given, ";", -1);

      for (guint k = 0; list[k] != NULL; k++)
        {
          g_auto(GStrv) parts = g_strsplit_set (list[k], "=,", -1);
          VnShape *shape = g_new0 (VnShape, 1);

          for (; parts[shape->rank + 1] != NULL; shape->rank++)
            shape->dims[shape->rank] = g_ascii_strtoll (parts[shape->rank + 1], NULL, 10);
          g_hash_table_insert (given, g_strdup (parts[0]), shape);
        }
      g_test_message ("%u", i);
      g_assert_true (vn_model_size_for_run (model, data, given, &shapes, NULL, &error));
      g_assert_no_error (error);
      check_size (shapes, "tokens", sizes[i].tokens);
      check_size (shapes, "mask", sizes[i].mask);
      check_size (shapes, sizes[i].cache, sizes[i].past);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (networks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/runnable/%s", networks[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_converted);
    }
  g_test_add_func ("/runnable/overflow", test_overflow);
  g_test_add_func ("/runnable/input", test_input);
  g_test_add_func ("/runnable/bfloat", test_bfloat);
  g_test_add_func ("/runnable/sizes", test_sizes);
  return g_test_run ();
}
