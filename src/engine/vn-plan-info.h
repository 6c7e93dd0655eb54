/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-plan.h"

G_BEGIN_DECLS

/**
 * VnStepInfo: one node that is run. Borrowed from the plan.
 * @in_types, @out_types: as planned; sizes that only a run knows are VN_DIM_UNKNOWN
 * @is_view: the result is the input with another shape: nothing is computed
 * @activation: (nullable): name of the activation that was fused into it; "Clip" for a Relu too
 * @has_factors, @has_line, @has_sum: factors or shifts by channel, a bias along the last axis, or the sum with another
 *   tensor, were fused into it
 * @is_dynamic: shapes are inferred again in each run
 * @is_order: nothing is computed: the step brings the input or output of @node into the order another step reads
 */
typedef struct
{
  const VnNode       *node;
  guint               n_inputs, n_outputs;
  const VnTensorType *in_types, *out_types;
  const char         *activation;
  gboolean            is_view, has_factors, has_line, has_sum, is_dynamic, is_order;
} VnStepInfo;

/**
 * VnPlanSummary: what became of the nodes of the main graph, and what a run keeps in memory.
 * @n_nodes: all; the sum of the following four
 * @n_run: steps, views included, but those that only change the order of elements
 * @n_folded: computed once, while planning, Constant nodes included
 * @n_fused: done by the operator before
 * @n_unneeded: no wanted output depends on what they compute
 * @arena_bytes: values between the steps, of each runner
 * @scratch_bytes: working space of the operators, of each runner
 * @weight_bytes: constants the steps read, shared by all runners
 */
typedef struct
{
  guint n_nodes, n_run, n_folded, n_fused, n_unneeded;
  gsize arena_bytes, scratch_bytes, weight_bytes;
} VnPlanSummary;

void vn_plan_get_step_info (VnPlan        *self,
                            guint          i,
                            VnStepInfo    *info);
void vn_plan_get_summary   (VnPlan        *self,
                            VnPlanSummary *summary);
gboolean vn_plan_is_folded (VnPlan        *self,
                            const VnValue *value);

G_END_DECLS
