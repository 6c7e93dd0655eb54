/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done to networks in float16 before they run, and what they give. */
#include "vn-graph-edit.h"
#include "vn-half.h"
#include "vn-jobs.h"
#include "vn-plan.h"

#include <math.h>

#define SIZE 4

/* x, the operators one after the other, y; Cast is to float16 the first time and back the next. */
static VnModel *
make_chain (const char *operators,
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
        dtype = dtype == VN_DTYPE_F32 ? VN_DTYPE_F16 : VN_DTYPE_F32;
      made = vn_graph_add_value (model->graph, list[i], dtype, &shape);
      vn_graph_add_node (model->graph, NULL, "", list[i], &value, 1, &made, 1);
      if (casts)
        vn_node_set_int (made->producer, "to", dtype == VN_DTYPE_F16 ? 10 : 1);
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
  const guint i = GPOINTER_TO_UINT (data);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = make_chain (networks[i].operators, VN_DTYPE_F32);
  g_autoptr(VnModel) in_float = vn_model_to_float (model, NULL, &error);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (in_float != model, ==, networks[i].converted);
  g_assert_true (runnable == model);
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
  g_autoptr(VnModel) model = make_chain ("Cast Exp Cast", VN_DTYPE_F32);
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
  g_autoptr(VnModel) model = make_chain ("Relu", VN_DTYPE_F16);
  g_autoptr(VnModel) runnable = vn_model_to_runnable (model, NULL, NULL);

  g_assert_true (runnable != model);
  g_assert_cmpint (((VnValue *) runnable->graph->inputs->pdata[0])->type.dtype, ==, VN_DTYPE_F32);
  g_assert_cmpint (((VnValue *) model->graph->inputs->pdata[0])->type.dtype, ==, VN_DTYPE_F16);
  g_assert_cmpfloat (run_on (runnable, 1.0001f), ==, 1);
  g_assert_cmpfloat (run_on (runnable, 1.25f), ==, 1.25);
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
  return g_test_run ();
}
