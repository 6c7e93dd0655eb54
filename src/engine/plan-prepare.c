/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators pack the constants they read, once for all runs; and what else is known of steps before they run. */
#include "vn-plan-passes.h"

#include "vn-op-flushes.h"
#include "vn-parallel.h"

static gboolean
prepare_item (gsize      item,
              guint      worker,
              gpointer   data,
              GError   **error)
{
  VnPlan *self = data;

  return vn_plan_pack_step (self, g_ptr_array_index (self->steps, item), error);
}

/* What the step writes is told by its ends alone. */
static gboolean
plan_prepare_tells_ends (const VnPlan *self,
                         const VnStep *step)
{
  const VnPlanValue *to = step->n_outputs > 0 && step->outputs[0] >= 0 ? &self->values[step->outputs[0]] : NULL;

  return self->taps_in_blocks && step->op->tells_ends && to != NULL && to->tap >= 0 && self->next_tap[to->tap] < 0 &&
         to->n_channels > 0 && !step->activation.active && !step->has_sum && step->factors == NULL && step->line == NULL;
}

/* The clamp stands in the memory of what it clamps, which nobody else wants. */
static void
plan_prepare_find_clamp (VnPlan        *self,
                         VnStep       **producers,
                         const VnStep  *step)
{
  VnStep *producer = step->n_inputs > 0 && step->inputs[0] >= 0 ? producers[step->inputs[0]] : NULL;
  const VnPlanValue *from;
  VnActivation clamp;

  if (producer == NULL || !producer->tells_ends || step->dynamic || step->activation.active || step->outputs[0] < 0 ||
      !vn_plan_match_clamp (self, step, &clamp))
    return;
  from = &self->values[step->inputs[0]];
  if (from->n_uses != 1 || from->output >= 0 || self->values[step->outputs[0]].root != (guint) step->inputs[0])
    return;
  producer->clamp = step;
  producer->clamp_range = clamp;
}

static void
plan_prepare_settle (VnPlan *self)
{
  g_autofree VnStep **producers = g_new0 (VnStep *, self->n_values + 1);

  for (guint k = 0; k < self->steps->len; k++)
    {
      VnStep *step = g_ptr_array_index (self->steps, k);

      if (step->dynamic)
        continue;
      step->subnormals = vn_op_flushes (step->op, step->n_own > 0 ? step->in_types[0].dtype : VN_DTYPE_UNDEFINED)
                         ? VN_OP_SUBNORMALS_FLUSHED : VN_OP_SUBNORMALS_KEPT;
      step->tells_ends = plan_prepare_tells_ends (self, step);
      plan_prepare_find_clamp (self, producers, step);
      if (step->n_outputs > 0 && step->outputs[0] >= 0)
        producers[step->outputs[0]] = step;
    }
}

/**
 * vn_plan_prepare:
 *
 * Lets operators pack their constant inputs. Sizes of the others may be unknown where they depend on data. Steps do not
 * touch each other's weights, and large networks have much to pack: bodies are too small to wake other threads for. Where
 * not all may be kept, the first steps come first.
 */
gboolean
vn_plan_prepare (VnPlan  *self,
                 GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  plan_prepare_settle (self);
  return vn_parallel_for (self->depth > 0 || self->most_weights > 0 ? 1 : vn_parallel_default_threads (), self->steps->len,
                          prepare_item,
                          self, NULL, error);
}
