/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Times of a network: whole runs, nodes and operators. */

#include "vn-plan-info.h"

G_BEGIN_DECLS

/* Times of whole runs, one sample each, in milliseconds. */
typedef struct
{
  guint  n_runs;
  double min_ms, median_ms;
} VnBenchmarkTime;

/* Index of the times: with one thread, and with VnBenchmark.n_threads. */
enum { VN_BENCHMARK_ONE, VN_BENCHMARK_MANY, VN_BENCHMARK_N_MODES };

/**
 * VnBenchmarkNode: one node that is run.
 * @inputs, @outputs: types as text: "float32[1,3,8,8], float32[4,3,1,1]"
 * @activation: (nullable): fused into it, see #VnStepInfo, as @has_factors, @has_line, @has_sum and @is_order
 * @flops: of one run; negative: not counted
 * @ms: mean of all runs
 * @share: of the time of all nodes with all threads, 0 .. 1
 */
typedef struct
{
  const VnNode *node;
  char         *inputs, *outputs;
  const char   *activation;
  gboolean      is_view, has_factors, has_line, has_sum, is_dynamic, is_order;
  double        flops, share;
  double        ms[VN_BENCHMARK_N_MODES];
} VnBenchmarkNode;

/* All nodes with the same operator; @flops: of those that are counted. */
typedef struct
{
  const char *domain, *op_type;
  guint       n_calls;
  double      flops, share;
  double      ms[VN_BENCHMARK_N_MODES];
} VnBenchmarkType;

/**
 * VnBenchmark: where the time of a network goes.
 * @nodes: of VnBenchmarkNode, in the order they run
 * @types: of VnBenchmarkType, the slowest first
 * @time: one sample at a time; with one thread only, both are the same
 * @per_second: samples, with as many at once as threads
 * @n_at_once: runs that was measured over
 * @flops: of one run, of all nodes for which they are counted
 * @peak_bytes: of the whole process, so far
 */
typedef struct
{
  VnModel         *model;
  GArray          *nodes, *types;
  VnPlanSummary    summary;
  VnBenchmarkTime  time[VN_BENCHMARK_N_MODES];
  guint            n_threads, n_at_once;
  double           per_second, flops;
  gsize            peak_bytes;
} VnBenchmark;

VnBenchmark *vn_benchmark_new        (VnPlan          *plan,
                                      guint            n_threads);
void         vn_benchmark_free       (VnBenchmark     *self);
void         vn_benchmark_set_time   (VnBenchmark     *self,
                                      guint            mode,
                                      GArray          *run_usec,
                                      const gint64    *step_usec);
void         vn_benchmark_finish     (VnBenchmark     *self);
GArray      *vn_benchmark_sort_nodes (VnBenchmark     *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnBenchmark, vn_benchmark_free)

G_END_DECLS
