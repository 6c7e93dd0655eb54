/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured, by node and by operator. */
#include "vn-benchmark.h"

#include "vn-op-flops.h"

#include <sys/resource.h>

static void
benchmark_clear_node (gpointer data)
{
  VnBenchmarkNode *self = data;

  g_free (self->inputs);
  g_free (self->outputs);
}

static char *
benchmark_types_to_text (const VnTensorType *types,
                         guint               n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *shape = NULL;

      if (types[i].dtype == VN_DTYPE_UNDEFINED && types[i].shape.rank < 0)
        continue;
      shape = vn_shape_to_string (&types[i].shape, ",");
      g_string_append_printf (text, "%s%s[%s]", text->len > 0 ? ", " : "", vn_dtype_get_name (types[i].dtype), shape);
    }
  return g_string_free (text, FALSE);
}

/**
 * vn_benchmark_new:
 * @n_threads: of the second mode
 *
 * Returns: (transfer full): a benchmark that knows the nodes of @plan and no times
 */
VnBenchmark *
vn_benchmark_new (VnPlan *plan,
                  guint   n_threads)
{
  VnBenchmark *self;

  g_return_val_if_fail (plan != NULL, NULL);

  self = g_new0 (VnBenchmark, 1);
  self->model = vn_model_ref (vn_plan_get_model (plan));
  self->n_threads = n_threads;
  self->nodes = g_array_new (FALSE, TRUE, sizeof (VnBenchmarkNode));
  self->types = g_array_new (FALSE, TRUE, sizeof (VnBenchmarkType));
  g_array_set_clear_func (self->nodes, benchmark_clear_node);
  vn_plan_get_summary (plan, &self->summary);
  for (guint i = 0; i < vn_plan_get_n_steps (plan); i++)
    {
      VnBenchmarkNode node = { 0 };
      VnStepInfo info;

      vn_plan_get_step_info (plan, i, &info);
      node.node = info.node;
      node.inputs = benchmark_types_to_text (info.in_types, info.n_inputs);
      node.outputs = benchmark_types_to_text (info.out_types, info.n_outputs);
      node.is_view = info.is_view;
      node.activation = info.activation;
      node.has_factors = info.has_factors;
      node.has_line = info.has_line;
      node.has_sum = info.has_sum;
      node.is_dynamic = info.is_dynamic;
      node.is_order = info.is_order;
      node.flops = info.is_order ? 0 : vn_op_count_flops (info.node, info.in_types, info.n_inputs, info.out_types,
                                                          info.n_outputs);
      self->flops += MAX (node.flops, 0);
      g_array_append_val (self->nodes, node);
    }
  return self;
}

void
vn_benchmark_free (VnBenchmark *self)
{
  vn_model_unref (self->model);
  g_array_unref (self->nodes);
  g_array_unref (self->types);
  g_free (self);
}

static gint
benchmark_compare_usec (gconstpointer a,
                        gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/**
 * vn_benchmark_set_time:
 * @run_usec: of gint64: microseconds of each run; is sorted
 * @step_usec: one sum for each node, over all these runs
 */
void
vn_benchmark_set_time (VnBenchmark  *self,
                       guint         mode,
                       GArray       *run_usec,
                       const gint64 *step_usec)
{
  VnBenchmarkTime *time;
  guint n, middle;

  g_return_if_fail (self != NULL && run_usec != NULL && run_usec->len > 0);

  time = &self->time[mode];
  n = run_usec->len;
  middle = n / 2;
  g_array_sort (run_usec, benchmark_compare_usec);
  time->n_runs = n;
  time->min_ms = (double) g_array_index (run_usec, gint64, 0) / 1e3;
  time->median_ms = (double) g_array_index (run_usec, gint64, middle) / 1e3;
  if (n % 2 == 0)
    time->median_ms = (time->median_ms + (double) g_array_index (run_usec, gint64, middle - 1) / 1e3) / 2;
  for (guint i = 0; i < self->nodes->len; i++)
    g_array_index (self->nodes, VnBenchmarkNode, i).ms[mode] = (double) step_usec[i] / 1e3 / n;
}

static VnBenchmarkType *
benchmark_find_type (GArray       *types,
                     const VnNode *node)
{
  VnBenchmarkType type = { node->domain, node->op_type, 0, 0, 0, { 0 } };

  for (guint i = 0; i < types->len; i++)
    {
      VnBenchmarkType *at = &g_array_index (types, VnBenchmarkType, i);

      if (g_str_equal (at->op_type, node->op_type) && g_str_equal (at->domain, node->domain))
        return at;
    }
  g_array_append_val (types, type);
  return &g_array_index (types, VnBenchmarkType, types->len - 1);
}

static gint
benchmark_compare_types (gconstpointer a,
                         gconstpointer b)
{
  const VnBenchmarkType *x = a, *y = b;

  if (x->ms[VN_BENCHMARK_MANY] != y->ms[VN_BENCHMARK_MANY])
    return x->ms[VN_BENCHMARK_MANY] > y->ms[VN_BENCHMARK_MANY] ? -1 : 1;
  return g_strcmp0 (x->op_type, y->op_type);
}

/**
 * vn_benchmark_finish:
 *
 * Works out shares, the table of operators and the memory of the process, once all times are set.
 */
void
vn_benchmark_finish (VnBenchmark *self)
{
  double total = 0;
  struct rusage usage;

  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->nodes->len; i++)
    total += g_array_index (self->nodes, VnBenchmarkNode, i).ms[VN_BENCHMARK_MANY];
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnBenchmarkNode *node = &g_array_index (self->nodes, VnBenchmarkNode, i);
      VnBenchmarkType *type = benchmark_find_type (self->types, node->node);

      node->share = total > 0 ? node->ms[VN_BENCHMARK_MANY] / total : 0;
      type->n_calls += !node->is_order;
      type->flops += MAX (node->flops, 0);
      type->share += node->share;
      for (guint mode = 0; mode < VN_BENCHMARK_N_MODES; mode++)
        type->ms[mode] += node->ms[mode];
    }
  g_array_sort (self->types, benchmark_compare_types);
  if (getrusage (RUSAGE_SELF, &usage) == 0)
    self->peak_bytes = (gsize) usage.ru_maxrss * 1024;
}

static gint
benchmark_compare_nodes (gconstpointer a,
                         gconstpointer b,
                         gpointer      data)
{
  const VnBenchmarkNode *nodes = data;
  guint i = *(const guint *) a, k = *(const guint *) b;
  double x = nodes[i].ms[VN_BENCHMARK_MANY], y = nodes[k].ms[VN_BENCHMARK_MANY];

  return x != y ? (x > y ? -1 : 1) : (i > k) - (i < k);
}

/**
 * vn_benchmark_sort_nodes:
 *
 * Returns: (transfer full): of guint: indices into the nodes, the slowest first
 */
GArray *
vn_benchmark_sort_nodes (VnBenchmark *self)
{
  GArray *order;

  g_return_val_if_fail (self != NULL, NULL);

  order = g_array_sized_new (FALSE, FALSE, sizeof (guint), self->nodes->len);
  for (guint i = 0; i < self->nodes->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, benchmark_compare_nodes, self->nodes->data);
  return order;
}
