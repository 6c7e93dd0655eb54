/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be left out: steps nobody needs, and what another operator can do on the way. */
#include "vn-fuse-private.h"
#include "vn-plan-passes.h"

static void
plan_fuse_remove_dead (VnPlan *self)
{
  GPtrArray *alive = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_step_free);

  for (guint i = 0; i < self->steps->len; i++)
    {
      VnStep *step = g_ptr_array_index (self->steps, i);

      if (step->dead)
        vn_step_free (step);
      else
        g_ptr_array_add (alive, step);
    }
  g_ptr_array_set_free_func (self->steps, NULL);
  g_ptr_array_unref (self->steps);
  self->steps = alive;
}

static gboolean
plan_fuse_is_wanted (const VnPlanValue *value)
{
  return value->n_uses > 0 || value->tap >= 0 || value->output >= 0;
}

/* Output 0 is kept in any case: operators may rely on their main result. */
static void
plan_fuse_drop_unused_outputs (VnPlan *self,
                               VnStep *step)
{
  step->dead = TRUE;
  for (guint i = 0; i < step->n_outputs; i++)
    {
      if (step->outputs[i] < 0)
        continue;
      if (plan_fuse_is_wanted (&self->values[step->outputs[i]]))
        step->dead = FALSE;
      else if (i > 0)
        step->outputs[i] = -1;
    }
}

/**
 * vn_plan_drop_unused:
 *
 * Folding shapes leaves steps behind whose results nobody reads any more: removes them and counts the uses of all
 * values.
 */
void
vn_plan_drop_unused (VnPlan *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->n_values; i++)
    self->values[i].n_uses = 0;
  for (guint k = self->steps->len; k-- > 0;)
    {
      VnStep *step = g_ptr_array_index (self->steps, k);

      plan_fuse_drop_unused_outputs (self, step);
      for (guint i = 0; i < step->n_inputs && !step->dead; i++)
        if (step->inputs[i] >= 0)
          self->values[step->inputs[i]].n_uses++;
    }
  plan_fuse_remove_dead (self);
}

/* ---- clamps ---- */

static gboolean
plan_fuse_can_take_clamp (VnPlan       *self,
                          const VnStep *step)
{
  const VnPlanValue *value;

  if (!step->op->fuses_clamp || step->activation.active || step->outputs[0] < 0)
    return FALSE;
  value = &self->values[step->outputs[0]];
  return value->n_uses == 1 && value->tap < 0 && value->output < 0 && value->type.dtype == VN_DTYPE_F32;
}

static VnStep *
fuse_clamp (VnFusion *self,
            VnStep   *step)
{
  VnStep *producer = step->n_inputs > 0 && step->inputs[0] >= 0 ? self->producers[step->inputs[0]] : NULL;
  VnActivation clamp;

  if (producer == NULL || !plan_fuse_can_take_clamp (self->plan, producer) || !vn_plan_match_clamp (self->plan, step, &clamp))
    return NULL;
  producer->activation = clamp;
  return producer;
}

static void
fuse_step (VnFusion *self,
           VnStep   *step,
           guint     place)
{
  static const VnFuseFunc funcs[] = { fuse_clamp, vn_fuse_map, vn_fuse_gate, vn_fuse_divisor, vn_fuse_factors,
                                      vn_fuse_shifts, vn_fuse_line, vn_fuse_gelu, vn_fuse_written_gelu,
                                      vn_fuse_half, vn_fuse_sum, vn_fuse_quantizer };
  int output = step->outputs[0];
  VnStep *taker = NULL;

  vn_fuse_pads (self, step);
  for (guint i = 0; i < G_N_ELEMENTS (funcs) && taker == NULL && output >= 0; i++)
    taker = funcs[i] (self, step);
  if (taker != NULL)
    {
      self->made_at[output] = self->made_at[taker->outputs[0]];
      self->plan->values[output].fused = TRUE;
      taker->outputs[0] = output;
      self->producers[output] = taker;
      step->dead = TRUE;
      return;
    }
  for (guint i = 0; i < step->n_outputs; i++)
    if (step->outputs[i] >= 0)
      self->made_at[step->outputs[i]] = place + 1;
  if (output >= 0)
    self->producers[output] = step;
}

/**
 * vn_plan_fuse:
 *
 * Lets operators do on the way what follows them, where nobody looks at the values between: clamps, and with
 * fuses_more whatever they can do while their results are in the cache.
 */
void
vn_plan_fuse (VnPlan *self)
{
  g_autofree VnStep **producers = NULL;
  g_autofree guint *made_at = NULL;
  VnFusion fusion;

  g_return_if_fail (self != NULL);

  producers = g_new0 (VnStep *, MAX (self->n_values, 1));
  made_at = g_new0 (guint, MAX (self->n_values, 1));
  fusion = (VnFusion) { self, producers, made_at };
  for (guint k = 0; k < self->steps->len; k++)
    fuse_step (&fusion, g_ptr_array_index (self->steps, k), k);
  plan_fuse_remove_dead (self);
}
