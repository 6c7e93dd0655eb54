/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the benchmark says of a network that folds, fuses, views and drops. */
#include "engine-fixture.h"

#include "vn-error.h"
#include "vn-jobs.h"

#include <math.h>

/* Of nine nodes: Abs of a weight and the Constant fold, the Relu goes into the Gemm, nobody wants Exp; the rest runs. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  const gint64 flat[] = { 1, -1 };
  VnNode *constant;
  VnAttr *one = vn_attr_new ("value", VN_ATTR_TENSOR);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 8, 8));
  add_floats (model, "w", VN_SHAPE (4, 2, 3, 3), -0.5f, 0.01f);
  add_floats (model, "v", VN_SHAPE (144, 5), -0.5f, 0.001f);
  add_ints (model, "flat", flat, 2);
  add_node (model, "Abs", "fold", "w", "w2");
  add_node (model, "Conv", "conv", "x w2", "c");
  add_node (model, "Cos", "act", "c", "s");
  add_node (model, "Exp", "unneeded", "s", "e");
  add_node (model, "Reshape", "view", "s flat", "f");
  add_node (model, "Gemm", "gemm", "f v", "g");
  add_node (model, "Relu", "fused", "g", "y");
  constant = add_node (model, "Constant", "constant", "", "axis");
  one->tensor = vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { 1 });
  vn_node_set_attr (constant, one);
  add_node (model, "ReduceSum", "sum", "y axis", "z");
  set_outputs (model, "y z");
  return model;
}

static VnBenchmark *
run_job (VnJob *job)
{
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpfloat (vn_job_get_progress (job), ==, 1.0);
  return vn_benchmark_job_get_result (job);
}

static const VnBenchmarkNode *
find (const VnBenchmark *result,
      const char        *name)
{
  for (guint i = 0; i < result->nodes->len; i++)
    {
      const VnBenchmarkNode *node = &g_array_index (result->nodes, VnBenchmarkNode, i);

      if (g_str_equal (node->node->name, name))
        return node;
    }
  return NULL;
}

static void
test_nodes (void)
{
  g_autoptr(VnModel) model = make_model ();
  const VnBenchmarkSettings settings = { .model = model, .n_threads = 2, .n_runs = 4 };
  g_autoptr(VnJob) job = vn_benchmark_job_new (&settings);
  const VnBenchmark *result = run_job (job);

  g_assert_cmpuint (result->summary.n_nodes, ==, 9);
  g_assert_cmpuint (result->summary.n_folded, ==, 2);
  g_assert_cmpuint (result->summary.n_fused, ==, 1);
  g_assert_cmpuint (result->summary.n_unneeded, ==, 1);
  g_assert_cmpuint (result->summary.n_run, ==, 5);
  g_assert_cmpuint (result->nodes->len, ==, 5);
  g_assert_null (find (result, "fused"));
  g_assert_null (find (result, "unneeded"));
  g_assert_cmpstr (find (result, "gemm")->activation, ==, "Clip");
  g_assert_true (find (result, "view")->is_view);
  g_assert_false (find (result, "conv")->is_view);
  g_assert_cmpstr (find (result, "conv")->inputs, ==, "float32[1,2,8,8], float32[4,2,3,3]");
  g_assert_cmpstr (find (result, "conv")->outputs, ==, "float32[1,4,6,6]");
  g_assert_cmpfloat (find (result, "conv")->flops, ==, 2.0 * 144 * 18);
  g_assert_cmpfloat (result->flops, ==, 2.0 * 144 * 18 + 2.0 * 144 * 5);
  g_assert_cmpuint (result->summary.weight_bytes, >=, (4 * 18 + 144 * 5) * sizeof (float));
  g_assert_cmpuint (result->summary.arena_bytes, >=, 144 * sizeof (float));
}

/* Two branches that meet, and an activation: all of it is told of the second convolution. */
static void
test_fused (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  const VnBenchmarkSettings settings = { .model = model, .n_threads = 2, .n_runs = 1 };
  g_autoptr(VnJob) job = NULL;
  const VnBenchmark *result;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 8, 8));
  add_floats (model, "w", VN_SHAPE (2, 2, 1, 1), -0.5f, 0.01f);
  add_floats (model, "b", VN_SHAPE (2, 1, 1), -0.5f, 0.01f);
  add_node (model, "Conv", "first", "x w", "c");
  add_node (model, "Conv", "second", "c w", "d");
  add_node (model, "Add", "bias", "d b", "e");
  add_node (model, "Add", "sum", "e c", "s");
  add_node (model, "Sigmoid", "map", "s", "y");
  set_outputs (model, "y");
  job = vn_benchmark_job_new (&settings);
  result = run_job (job);
  g_assert_cmpuint (result->nodes->len, ==, 2);
  g_assert_null (find (result, "first")->activation);
  g_assert_false (find (result, "first")->has_factors || find (result, "first")->has_sum);
  g_assert_cmpstr (find (result, "second")->activation, ==, "Sigmoid");
  g_assert_true (find (result, "second")->has_factors);
  g_assert_true (find (result, "second")->has_sum);
}

static void
test_times (void)
{
  g_autoptr(VnModel) model = make_model ();
  const VnBenchmarkSettings settings = { .model = model, .n_threads = 2, .n_runs = 4 };
  g_autoptr(VnJob) job = vn_benchmark_job_new (&settings);
  VnBenchmark *result = run_job (job);
  g_autoptr(GArray) order = vn_benchmark_sort_nodes (result);
  double types = 0, previous = INFINITY;
  guint calls = 0;

  for (guint mode = 0; mode < VN_BENCHMARK_N_MODES; mode++)
    {
      g_assert_cmpuint (result->time[mode].n_runs, ==, 4);
      g_assert_cmpfloat (result->time[mode].min_ms, <=, result->time[mode].median_ms);
    }
  g_assert_cmpuint (result->n_at_once, ==, 8);
  g_assert_cmpfloat (result->per_second, >, 0);
  for (guint i = 0; i < result->types->len; i++)
    {
      types += g_array_index (result->types, VnBenchmarkType, i).ms[VN_BENCHMARK_MANY];
      calls += g_array_index (result->types, VnBenchmarkType, i).n_calls;
    }
  g_assert_cmpuint (calls, ==, result->nodes->len);
  for (guint i = 0; i < order->len; i++)
    {
      double ms = g_array_index (result->nodes, VnBenchmarkNode, g_array_index (order, guint, i)).ms[VN_BENCHMARK_MANY];

      g_assert_cmpfloat (ms, <=, previous);
      previous = ms;
      types -= ms;
    }
  g_assert_cmpfloat_with_epsilon (types, 0, 1e-9);
}

/* Median and shares of times that are known. */
static void
test_statistics (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, &error);
  g_autoptr(VnBenchmark) result = vn_benchmark_new (plan, 3);
  const gint64 runs[] = { 4000, 1000, 3000, 2500 }, steps[] = { 400, 800, 0, 1200, 1600 };
  g_autoptr(GArray) list = g_array_new (FALSE, FALSE, sizeof (gint64));

  g_assert_no_error (error);
  g_assert_cmpuint (result->nodes->len, ==, G_N_ELEMENTS (steps));
  g_array_append_vals (list, runs, 4);
  vn_benchmark_set_time (result, VN_BENCHMARK_MANY, list, steps);
  vn_benchmark_finish (result);
  g_assert_cmpfloat_with_epsilon (result->time[VN_BENCHMARK_MANY].min_ms, 1, 1e-9);
  g_assert_cmpfloat_with_epsilon (result->time[VN_BENCHMARK_MANY].median_ms, 2.75, 1e-9);
  g_assert_cmpfloat_with_epsilon (find (result, "act")->ms[VN_BENCHMARK_MANY], 0.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (find (result, "act")->share, 0.2, 1e-9);
  g_assert_cmpfloat_with_epsilon (find (result, "sum")->share, 0.4, 1e-9);
  g_assert_cmpstr (g_array_index (result->types, VnBenchmarkType, 0).op_type, ==, "ReduceSum");
  g_assert_cmpstr (g_array_index (result->types, VnBenchmarkType, 4).op_type, ==, "Reshape");
  g_array_set_size (list, 3);
  vn_benchmark_set_time (result, VN_BENCHMARK_ONE, list, steps);
  g_assert_cmpfloat_with_epsilon (result->time[VN_BENCHMARK_ONE].median_ms, 2.5, 1e-9);
}

static void
test_refusals (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(GHashTable) given = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) vn_tensor_unref);
  VnBenchmarkSettings settings = { .model = model, .n_threads = 1, .n_runs = 1, .inputs = given };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(VnJob) wrong = NULL;
  g_autoptr(VnJob) cancelled = NULL;
  g_autoptr(GError) error = NULL;

  g_hash_table_insert (given, (char *) "x", make_input (VN_SHAPE (1, 2, 4, 4), 1));
  wrong = vn_benchmark_job_new (&settings);
  g_assert_false (vn_job_run (wrong, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
  g_clear_error (&error);
  settings.inputs = NULL;
  cancelled = vn_benchmark_job_new (&settings);
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_job_run (cancelled, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/benchmark/nodes", test_nodes);
  g_test_add_func ("/job/benchmark/fused", test_fused);
  g_test_add_func ("/job/benchmark/times", test_times);
  g_test_add_func ("/job/benchmark/statistics", test_statistics);
  g_test_add_func ("/job/benchmark/refusals", test_refusals);
  return g_test_run ();
}
