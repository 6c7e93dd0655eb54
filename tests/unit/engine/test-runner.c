/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine-fixture.h"

#include "vn-error.h"
#include "vn-float-mode.h"
#include "vn-parallel.h"

#include <float.h>
#include <math.h>
#include <string.h>

static VnModel *
make_chain (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (7, 5));
  add_node (model, "Relu", "first", "x", "a");
  add_node (model, "Relu", "second", "a", "y");
  set_outputs (model, "y");
  return model;
}

typedef struct
{
  GString *seen;
  float    sum;
} Tapped;

static void
note_tap (const VnValue  *value,
          guint           tap,
          const VnTensor *tensor,
          gpointer        data)
{
  Tapped *tapped = data;

  g_string_append_printf (tapped->seen, "%s:%u ", value->name, tap);
  for (gsize i = 0; i < tensor->n_elements; i++)
    tapped->sum += ((const float *) tensor->data)[i];
}

static void
test_taps (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  VnPlanOptions options = { .taps = taps };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (7, 5), 3);
  g_autoptr(GString) seen = g_string_new (NULL);
  Tapped tapped = { seen, 0 };
  float expected = 0;

  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "a"));
  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "x"));
  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "a"));
  plan = vn_plan_new (model, &options, NULL, NULL);
  runner = vn_runner_new (plan, NULL);
  vn_runner_set_tap (runner, note_tap, &tapped);
  g_assert_true (vn_runner_run (runner, &input, NULL, NULL, NULL));
  g_test_message ("%s", seen->str);
  g_assert_cmpstr (seen->str, ==, "x:1 a:0 a:2 ");
  for (gsize i = 0; i < input->n_elements; i++)
    {
      float x = ((float *) input->data)[i];

      expected += x + 2 * MAX (x, 0);
    }
  g_assert_cmpfloat_with_epsilon (tapped.sum, expected, 1e-3);
}

/* A step at a time, and given up in between, the taps come in the same order. */
static void
test_steps (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  VnPlanOptions options = { .taps = taps };
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (7, 5), 3);
  g_autoptr(GString) seen = g_string_new (NULL);
  Tapped tapped = { seen, 0 };

  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "a"));
  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "y"));
  g_ptr_array_add (taps, vn_graph_find_value (model->graph, "x"));
  plan = vn_plan_new (model, &options, NULL, NULL);
  runner = vn_runner_new (plan, NULL);
  vn_runner_set_tap (runner, note_tap, &tapped);
  vn_runner_end (runner);   /* nothing was begun */
  for (guint n = 0; n <= 2; n++)
    {
      g_string_truncate (seen, 0);
      g_assert_true (vn_runner_begin (runner, &input, NULL, NULL));
      g_assert_cmpstr (seen->str, ==, "x:2 ");
      for (guint i = 0; i < n; i++)
        g_assert_true (vn_runner_advance (runner, NULL));
      g_assert_cmpstr (seen->str, ==, n == 0 ? "x:2 " : n == 1 ? "x:2 a:0 " : "x:2 a:0 y:1 ");
      g_assert_cmpint (vn_runner_is_done (runner), ==, n == 2);
      vn_runner_end (runner);
    }
  g_assert_true (vn_runner_run (runner, &input, NULL, NULL, NULL));
}

/* A step fails when the run was cancelled before it; the runner can be used again. */
static void
test_steps_cancel (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (7, 5), 3);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_runner_begin (runner, &input, cancellable, NULL));
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_runner_advance (runner, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  vn_runner_end (runner);
  g_assert_true (vn_runner_run (runner, &input, NULL, NULL, NULL));
}

static void
test_cancel (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (7, 5), 3);
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  VnTensor *output = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_false (vn_runner_run (runner, &input, &output, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (output);
  g_clear_error (&error);
  g_assert_true (vn_runner_run (runner, &input, &output, NULL, &error));
  g_assert_nonnull (output);
  vn_tensor_unref (output);
}

static void
test_timing (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  g_autoptr(VnTensor) input = make_input (VN_SHAPE (7, 5), 3);
  gint64 usec[2] = { 1000, 2000 };

  vn_runner_set_timing (runner, usec);
  g_assert_true (vn_runner_run (runner, &input, NULL, NULL, NULL));
  g_test_message ("%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, usec[0], usec[1]);
  g_assert_cmpint (usec[0], >=, 1000);
  g_assert_cmpint (usec[1], >=, 2000);
}

/* ---- many runners on one plan ---- */

#define N_SAMPLES 24

typedef struct
{
  VnRunner *runners[4];
  VnTensor *inputs[N_SAMPLES];
  VnTensor *outputs[N_SAMPLES];
} Parallel;

static gboolean
run_sample (gsize      item,
            guint      worker,
            gpointer   data,
            GError   **error)
{
  Parallel *self = data;

  return vn_runner_run (self->runners[worker], &self->inputs[item], &self->outputs[item], NULL, error);
}

static void
test_runners (void)
{
  g_autoptr(VnModel) model = make_chain ();
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(GError) error = NULL;
  Parallel self = { 0 };

  for (guint i = 0; i < G_N_ELEMENTS (self.runners); i++)
    self.runners[i] = vn_runner_new (plan, NULL);
  for (guint i = 0; i < N_SAMPLES; i++)
    self.inputs[i] = make_input (VN_SHAPE (7, 5), i);
  vn_parallel_for (4, N_SAMPLES, run_sample, &self, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < N_SAMPLES; i++)
    {
      VnTensor *alone = NULL;

      g_assert_true (vn_runner_run (self.runners[0], &self.inputs[i], &alone, NULL, NULL));
      g_assert_true (vn_tensor_equal (alone, self.outputs[i]));
      vn_tensor_unref (alone);
      vn_tensor_unref (self.outputs[i]);
      vn_tensor_unref (self.inputs[i]);
    }
  for (guint i = 0; i < G_N_ELEMENTS (self.runners); i++)
    vn_runner_free (self.runners[i]);
}

/* ---- subnormal numbers ---- */

#define SUBNORMAL 1e-40f

static const struct
{
  const char *op_type;
  float       a, b, expected;   /* b: 0 for operators of one input */
} small_cases[] = {
  { "Mul",        1e-20f,    1e-20f,    0 },
  { "Add",        SUBNORMAL, SUBNORMAL, 0 },
  { "Mul",        SUBNORMAL, 1e30f,     0 },
  { "Relu",       SUBNORMAL, 0,         SUBNORMAL },   /* within 1e-38, either way */
  { "Log",        SUBNORMAL, 0,         -92.1034f },
  { "Sqrt",       SUBNORMAL, 0,         1e-20f },
  { "Div",        SUBNORMAL, 1e-20f,    1e-20f },
  { "Sign",       SUBNORMAL, 0,         1 },
  { "Ceil",       SUBNORMAL, 0,         1 },
  { "ReduceL2",   1e-20f,    0,         1e-20f },
  { "Identity",   SUBNORMAL, 0,         SUBNORMAL },
};

/* A tensor of one number, of which operators may not know that it is constant. */
static float
run_small (guint    i,
           guint    n_threads)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnPlan) plan = NULL;
  g_autoptr(VnRunner) runner = NULL;
  g_autoptr(VnTensor) a = make_input (VN_SHAPE (1), 1), b = make_input (VN_SHAPE (1), 1), y = NULL;
  VnTensor *inputs[2] = { a, b };
  const gboolean two = small_cases[i].b != 0;

  ((float *) a->data)[0] = small_cases[i].a;
  ((float *) b->data)[0] = small_cases[i].b;
  vn_graph_add_input (model->graph, "a", VN_DTYPE_F32, &VN_SHAPE (1));
  vn_graph_add_input (model->graph, "b", VN_DTYPE_F32, &VN_SHAPE (1));
  add_node (model, small_cases[i].op_type, "node", two ? "a b" : "a", "y");
  set_outputs (model, "y");
  plan = vn_plan_new (model, NULL, NULL, NULL);
  runner = vn_runner_new (plan, NULL);
  vn_runner_set_threads (runner, n_threads);
  g_assert_true (vn_runner_run (runner, inputs, &y, NULL, NULL));
  return ((const float *) y->data)[0];
}

/* Sums and products take subnormal numbers for 0, where the processor can; what makes much of them sees them. */
static void
test_subnormal (void)
{
  volatile float smallest = FLT_MIN;

  for (guint i = 0; i < G_N_ELEMENTS (small_cases); i++)
    {
      const float expected = small_cases[i].expected, found = run_small (i, 1);

      g_test_message ("%s: %g, should be %g", small_cases[i].op_type, (double) found, (double) expected);
      if (expected == 0 && VN_FLOAT_FLUSHES != 0)
        g_assert_cmpfloat (found, ==, 0);
      else if (expected == 0)
        g_assert_cmpfloat (fabsf (found), <, 1e-9);
      else
        g_assert_cmpfloat_with_epsilon (found, expected, MAX (1e-5f * fabsf (expected), FLT_MIN));
      g_assert_cmpfloat (found, ==, run_small (i, 2));
    }
  g_assert_cmpfloat (smallest / 2, >, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/runner/taps", test_taps);
  g_test_add_func ("/runner/steps", test_steps);
  g_test_add_func ("/runner/steps-cancel", test_steps_cancel);
  g_test_add_func ("/runner/cancel", test_cancel);
  g_test_add_func ("/runner/timing", test_timing);
  g_test_add_func ("/runner/runners", test_runners);
  g_test_add_func ("/runner/subnormal", test_subnormal);
  return g_test_run ();
}
