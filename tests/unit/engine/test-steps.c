/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the plan does to the steps: fusing, sharing memory, shapes that depend on data. */
#include "engine-fixture.h"

#include "vn-error.h"

#include <math.h>
#include <string.h>

/* x [1,2,4,4] -> Conv 1x1 -> c -> a clamp -> y */
static VnModel *
make_conv (const char *clamp,
           gint64      opset)
{
  VnModel *model = vn_model_new (8, opset);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 4, 4));
  add_floats (model, "w", VN_SHAPE (3, 2, 1, 1), -1, 0.5f);
  add_floats (model, "low", VN_SHAPE_SCALAR, -0.25f, 0);
  add_floats (model, "high", VN_SHAPE_SCALAR, 1.5f, 0);
  add_floats (model, "pair", VN_SHAPE (2), 0, 1);
  add_node (model, "Conv", "conv", "x w", "c");
  if (g_str_has_prefix (clamp, "Clip") && opset >= 11)
    add_node (model, "Clip", "clamp", strchr (clamp, ' ') + 1, "y");
  else
    {
      VnNode *node = add_node (model, clamp, "clamp", "c", "y");

      if (g_str_equal (clamp, "Clip"))
        {
          vn_node_set_float (node, "min", -0.25f);
          vn_node_set_float (node, "max", 1.5f);
        }
    }
  set_outputs (model, "y");
  return model;
}

static guint
count_steps (VnModel             *model,
             const VnPlanOptions *options)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, options, NULL, &error);

  g_assert_no_error (error);
  return vn_plan_get_n_steps (plan);
}

static void
test_fuses_clamp (void)
{
  static const struct
  {
    const char *clamp;
    gint64      opset;
    guint       n_steps;
    float       min, max;
  } cases[] = {
    { "Relu",            13, 1, 0, INFINITY },
    { "Clip",             6, 1, -0.25f, 1.5f },
    { "Clip c low high", 13, 1, -0.25f, 1.5f },
    { "Clip c low",      13, 1, -0.25f, INFINITY },
    { "Clip c - high",   13, 1, -INFINITY, 1.5f },
    { "Softplus",        13, 2, 0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_conv (cases[i].clamp, cases[i].opset);
      VnPlanOptions plain = { .no_fusion = TRUE };
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (1, 2, 4, 4), i);
      g_autoptr(VnTensor) fused = run_simple (model, NULL, input);
      g_autoptr(VnTensor) apart = run_simple (model, &plain, input);

      g_test_message ("%s of opset %d: %u steps", cases[i].clamp, (int) cases[i].opset, count_steps (model, NULL));
      g_assert_cmpuint (count_steps (model, NULL), ==, cases[i].n_steps);
      g_assert_cmpuint (count_steps (model, &plain), ==, 2);
      g_assert_true (vn_tensor_equal (fused, apart));
      for (gsize k = 0; k < fused->n_elements && cases[i].n_steps == 1; k++)
        {
          g_assert_cmpfloat (((float *) fused->data)[k], >=, cases[i].min);
          g_assert_cmpfloat (((float *) fused->data)[k], <=, cases[i].max);
        }
    }
}

/* A value that is tapped, an output, or used twice must stay as it is. */
static void
test_does_not_fuse (void)
{
  for (int i = 0; i < 3; i++)
    {
      g_autoptr(VnModel) model = make_conv ("Relu", 13);
      g_autoptr(GPtrArray) taps = g_ptr_array_new ();
      VnPlanOptions options = { .taps = taps };

      if (i == 0)
        g_ptr_array_add (taps, vn_graph_find_value (model->graph, "c"));
      if (i == 1)
        set_outputs (model, "y c");
      if (i == 2)
        {
          add_node (model, "Sigmoid", "second", "c", "z");
          set_outputs (model, "y z");
        }
      g_test_message ("case %d: %u steps", i, count_steps (model, &options));
      g_assert_cmpuint (count_steps (model, &options), ==, i == 2 ? 3 : 2);
    }
}

/* ---- shared memory ---- */

static void
test_reshape_shares (void)
{
  const gint64 sizes[] = { 8, 4 };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (4, 8), 5);
  g_autoptr(VnTensor) output = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (4, 8));
  add_ints (model, "sizes", sizes, 2);
  add_node (model, "Reshape", "of-input", "x sizes", "a");
  add_node (model, "Relu", "relu", "a", "b");
  add_node (model, "Identity", "of-value", "b", "c");
  add_node (model, "Flatten", "again", "c", "d");
  add_node (model, "Add", "late", "d b", "y");    /* b must live as long as its other names */
  set_outputs (model, "y d");
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  g_test_message ("arena of %" G_GSIZE_FORMAT " bytes", vn_plan_get_arena_size (plan));
  g_assert_cmpuint (vn_plan_get_arena_size (plan), ==, 2 * 128);
  output = run_simple (model, NULL, input);
  g_assert_true (vn_shape_equal (&output->shape, &VN_SHAPE (8, 4)));
  for (gsize i = 0; i < 32; i++)
    g_assert_cmpfloat (((float *) output->data)[i], ==, 2 * MAX (((float *) input->data)[i], 0));
}

/* ---- shapes ---- */

/* Shape arithmetic on known shapes costs nothing in a run. */
static void
test_folds_shapes (void)
{
  const gint64 minus_one = -1;
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (2, 3, 4), 1);
  g_autoptr(VnTensor) output = NULL;
  const gint64 zero = 0;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (2, 3, 4));
  add_ints (model, "rest", &minus_one, 1);
  add_ints (model, "zero", &zero, 1);
  add_node (model, "Relu", "only-shape", "x", "r");
  add_node (model, "Shape", "shape", "r", "s");
  add_node (model, "Gather", "first", "s zero", "n");
  {
    VnNode *concat = add_node (model, "Concat", "concat", "n rest", "target");

    vn_node_set_int (concat, "axis", 0);
  }
  add_node (model, "Reshape", "reshape", "x target", "a");
  add_node (model, "Relu", "last", "a", "y");
  set_outputs (model, "y");
  g_assert_cmpuint (count_steps (model, NULL), ==, 2);
  output = run_simple (model, NULL, input);
  g_assert_true (vn_shape_equal (&output->shape, &VN_SHAPE (2, 12)));
}

/* NonZero: how many there are is known only in the run, but later steps may be planned again. */
static void
test_dynamic (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (6));
  add_node (model, "Relu", "relu", "x", "r");
  add_node (model, "NonZero", "nonzero", "r", "where");
  add_node (model, "Transpose", "turn", "where", "rows");
  add_node (model, "GatherND", "pick", "r rows", "picked");
  add_node (model, "Identity", "alias", "picked", "y");
  add_node (model, "Shape", "count", "y", "n");
  add_node (model, "Relu", "static", "r", "z");
  set_outputs (model, "y n z");
  plan = vn_plan_new (model, NULL, NULL, &error);
  g_assert_no_error (error);
  runner = vn_runner_new (plan, NULL);

  for (int k = 0; k < 7; k++)
    {
      g_autoptr(VnTensor) input = make_input (VN_SHAPE (6), 0);
      VnTensor *outputs[3] = { NULL };

      for (int i = 0; i < 6; i++)
        ((float *) input->data)[i] = i < k ? (float) (i + 1) : -1;
      vn_runner_run (runner, &input, outputs, NULL, &error);
      g_assert_no_error (error);
      g_test_message ("%d positive: %" G_GINT64_FORMAT " picked", k, outputs[0]->shape.dims[0]);
      g_assert_true (vn_shape_equal (&outputs[0]->shape, &VN_SHAPE (k)));
      g_assert_cmpint (vn_tensor_get_s64 (outputs[1], 0), ==, k);
      for (int i = 0; i < k; i++)
        g_assert_cmpfloat (((float *) outputs[0]->data)[i], ==, i + 1);
      g_assert_cmpuint (outputs[2]->n_elements, ==, 6);
      for (int i = 0; i < 3; i++)
        vn_tensor_unref (outputs[i]);
    }
}

/* The message of a step that fails says which. */
static void
test_error_names_node (void)
{
  const gint64 sizes[] = { 5, 5 };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (4, 8));
  add_ints (model, "sizes", sizes, 2);
  add_node (model, "Reshape", "the-culprit", "x sizes", "y");
  set_outputs (model, "y");
  g_assert_null (vn_plan_new (model, NULL, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_true (g_str_has_prefix (error->message, "Node “the-culprit” (Reshape): "));
}

static void
test_open_sizes_explained (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;

  vn_graph_add_input (model->graph, "picture", VN_DTYPE_F32, &VN_SHAPE (1, 2, -1, -1));
  add_floats (model, "w", VN_SHAPE (3, 2, 3, 3), -1, 0.5f);
  add_node (model, "Conv", "conv", "picture w", "y");
  set_outputs (model, "y");
  g_assert_null (vn_plan_new (model, NULL, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "“conv”"));
  g_assert_nonnull (strstr (error->message, "input “picture” were set to 1"));
}

/* What would blow the plan up is made in each run instead. */
static void
test_large_is_not_folded (void)
{
  const gint64 small[] = { 1000 }, large[] = { 1000, 1000, 8 };

  for (int i = 0; i < 2; i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);
      g_autoptr(VnTensor) output = NULL;

      add_ints (model, "sizes", i == 0 ? small : large, i == 0 ? 1 : 3);
      add_node (model, "ConstantOfShape", "fill", "sizes", "y");
      set_outputs (model, "y");
      g_assert_cmpuint (count_steps (model, NULL), ==, i);
      output = run_simple (model, NULL, NULL);
      g_assert_cmpuint (output->n_elements, ==, i == 0 ? 1000 : 8000000);
      g_assert_cmpfloat (((float *) output->data)[output->n_elements - 1], ==, 0);
    }
}

static void
test_type_is_refused (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_S8, &VN_SHAPE (4));
  add_node (model, "Sigmoid", "whole", "x", "y");
  set_outputs (model, "y");
  g_assert_null (vn_plan_new (model, NULL, NULL, &error));
  g_test_message ("%s", error->message);
  g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
  g_assert_nonnull (strstr (error->message, "int8"));
  g_assert_nonnull (strstr (error->message, "“whole”"));
}

/* Taps and threads change nothing. */
static void
test_same_bits (void)
{
  g_autoptr(VnModel) model = make_conv ("Relu", 13);
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (1, 2, 4, 4), 9);
  g_autoptr(VnTensor) first = run_simple (model, NULL, input);

  for (guint n = 1; n < 5; n++)
    {
      g_autoptr(VnTensor) output = NULL;

      vn_runner_set_threads (runner, n);
      g_assert_true (vn_runner_run (runner, &input, &output, NULL, NULL));
      g_assert_true (vn_tensor_equal (first, output));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/steps/fuses-clamp", test_fuses_clamp);
  g_test_add_func ("/steps/does-not-fuse", test_does_not_fuse);
  g_test_add_func ("/steps/reshape-shares", test_reshape_shares);
  g_test_add_func ("/steps/folds-shapes", test_folds_shapes);
  g_test_add_func ("/steps/dynamic", test_dynamic);
  g_test_add_func ("/steps/error-names-node", test_error_names_node);
  g_test_add_func ("/steps/open-sizes-explained", test_open_sizes_explained);
  g_test_add_func ("/steps/large-is-not-folded", test_large_is_not_folded);
  g_test_add_func ("/steps/type-is-refused", test_type_is_refused);
  g_test_add_func ("/steps/same-bits", test_same_bits);
  return g_test_run ();
}
