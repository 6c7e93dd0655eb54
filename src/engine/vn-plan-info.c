/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan tells of itself, for who measures it. */
#include "vn-plan-info.h"

#include "vn-plan-private.h"

static const char * const activation_names[] = {
  [VN_ACTIVATION_CLAMP] = "Clip",
  [VN_ACTIVATION_LEAKY_RELU] = "LeakyRelu",
  [VN_ACTIVATION_TANH] = "Tanh",
  [VN_ACTIVATION_SIGMOID] = "Sigmoid",
  [VN_ACTIVATION_HARD_SIGMOID] = "HardSigmoid",
  [VN_ACTIVATION_SILU] = "SiLU",
  [VN_ACTIVATION_HARD_SWISH] = "HardSwish",
  [VN_ACTIVATION_SHIFT_SWISH] = "HardSwish",
  [VN_ACTIVATION_SWISH_OF_PART] = "HardSwish",
  [VN_ACTIVATION_GELU] = "Gelu",
  [VN_ACTIVATION_GELU_DIVIDED] = "Gelu",
  [VN_ACTIVATION_GELU_TANH] = "Gelu by tanh",
  [VN_ACTIVATION_QUANTIZER] = "quantizer",
};

G_STATIC_ASSERT (G_N_ELEMENTS (activation_names) == VN_ACTIVATION_QUANTIZER + 1);

/**
 * vn_plan_get_step_info:
 * @i: 0 .. vn_plan_get_n_steps() - 1
 * @info: (out caller-allocates): valid as long as the plan
 */
void
vn_plan_get_step_info (VnPlan     *self,
                       guint       i,
                       VnStepInfo *info)
{
  const VnStep *step;

  g_return_if_fail (self != NULL && i < self->steps->len);

  step = g_ptr_array_index (self->steps, i);
  *info = (VnStepInfo) {
    .node = step->node,
    .n_inputs = step->n_inputs,
    .n_outputs = step->n_outputs,
    .in_types = step->in_types,
    .out_types = step->out_types,
    .is_view = step->alias,
    .activation = step->activation.active ? activation_names[step->activation.kind] : NULL,
    .has_factors = step->factors != NULL,
    .has_line = step->line != NULL,
    .has_sum = step->has_sum,
    .is_dynamic = step->dynamic,
    .is_order = step->is_order,
  };
}

static gboolean
plan_info_is_folded (VnPlan       *self,
                     const VnNode *node)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (node->outputs, i);

      if (value != NULL && (self->values[value->id].store == VN_STORE_CONSTANT || vn_value_get_constant (value) != NULL))
        return TRUE;
    }
  return FALSE;
}

/* What a step writes though another node makes it was fused into that step. */
static gboolean
plan_info_is_fused (VnPlan         *self,
                    const VnNode   *node,
                    const gboolean *written)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (node->outputs, i);

      if (value != NULL && (written[value->id] || self->values[value->id].fused))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_plan_get_summary:
 * @summary: (out caller-allocates)
 */
void
vn_plan_get_summary (VnPlan        *self,
                     VnPlanSummary *summary)
{
  g_autofree gboolean *run = NULL;
  g_autofree gboolean *written = NULL;

  g_return_if_fail (self != NULL);

  run = g_new0 (gboolean, MAX (self->graph->nodes->len, 1));
  written = g_new0 (gboolean, MAX (self->n_values, 1));
  *summary = (VnPlanSummary) { .n_nodes = self->graph->nodes->len, .arena_bytes = self->arena_size,
                               .scratch_bytes = self->scratch_size };
  for (guint i = 0; i < self->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->steps, i);

      run[step->node->index] = TRUE;
      summary->n_run += !step->is_order;
      for (guint k = 0; k < step->n_outputs; k++)
        if (step->outputs[k] >= 0)
          written[step->outputs[k]] = TRUE;
    }
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);

      if (run[i])
        continue;
      if (plan_info_is_fused (self, node, written))
        summary->n_fused++;
      else if (plan_info_is_folded (self, node))
        summary->n_folded++;
      else
        summary->n_unneeded++;
    }
  for (guint id = 0; id < self->n_values; id++)
    if (self->values[id].constant != NULL)
      summary->weight_bytes += self->values[id].constant->n_bytes;
}

/**
 * vn_plan_is_folded:
 * @value: of the main graph
 *
 * Returns: whether @value is the same in each run: a constant, or computed from such and from sizes
 */
gboolean
vn_plan_is_folded (VnPlan        *self,
                   const VnValue *value)
{
  int id;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  id = vn_plan_find (self, value);
  return id >= 0 && self->values[id].store == VN_STORE_CONSTANT;
}
