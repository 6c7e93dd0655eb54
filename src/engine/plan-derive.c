/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tapped values hold the elements of another one, in another order or clamped. */
#include "vn-plan-private.h"

#include <math.h>

static float
plan_derive_clamp (float           v,
                   const VnDerived *range)
{
  return v < range->min ? range->min : v > range->max ? range->max : v;
}

static gboolean
plan_derive_is_float_tensor (const VnPlanValue *value)
{
  return value->type.kind == VN_KIND_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

/* Moves elements, or clamps each of them. */
static gboolean
plan_derive_match_step (VnPlan       *self,
                        const VnStep *step,
                        VnDerived    *range)
{
  VnActivation match;

  if (step->is_order)
    return FALSE;
  *range = (VnDerived) { -1, -INFINITY, INFINITY, step->alias || vn_node_is (step->node, "Transpose") };
  if (step->activation.active || step->n_inputs == 0 || step->inputs[0] < 0 || step->outputs[0] < 0 ||
      !plan_derive_is_float_tensor (&self->values[step->inputs[0]]) ||
      !plan_derive_is_float_tensor (&self->values[step->outputs[0]]))
    return FALSE;
  if (range->moved)
    return TRUE;
  if (!vn_plan_match_clamp (self, step, &match))
    return FALSE;
  range->min = match.min;
  range->max = match.max;
  return match.min <= match.max;
}

static void
derive (VnPlan          *self,
        const VnStep    *step,
        const VnDerived *range,
        VnDerived       *derived)
{
  /* in blocks or not, it is the same value */
  const VnPlanValue *from = &self->values[vn_plan_find (self, self->values[step->inputs[0]].value)];
  const VnPlanValue *to = &self->values[vn_plan_find (self, self->values[step->outputs[0]].value)];
  VnDerived found = *range;

  if (from->tap < 0 || from->store == VN_STORE_CONSTANT)
    return;
  found.source = from->tap;
  if (derived[from->tap].source >= 0)
    found = (VnDerived) {
      derived[from->tap].source, plan_derive_clamp (derived[from->tap].min, range),
      plan_derive_clamp (derived[from->tap].max, range),
      derived[from->tap].moved || range->moved
    };
  for (int tap = to->tap; tap >= 0; tap = self->next_tap[tap])
    derived[tap] = found;
}

/**
 * vn_plan_derive_taps:
 *
 * Tells whoever counts the elements of tapped values which of them need not be looked at.
 *
 * Returns: (transfer full): one entry for each tap; @source is -1 where nothing is known, else a tap that is not
 *   derived itself
 */
VnDerived *
vn_plan_derive_taps (VnPlan *self)
{
  VnDerived *derived;

  g_return_val_if_fail (self != NULL, NULL);

  derived = g_new (VnDerived, self->taps->len + 1);
  for (guint i = 0; i < self->taps->len; i++)
    derived[i] = (VnDerived) { .source = -1, .min = -INFINITY, .max = INFINITY };
  for (guint i = 0; i < self->steps->len; i++)
    {
      const VnStep *step = g_ptr_array_index (self->steps, i);
      VnDerived range;

      if (plan_derive_match_step (self, step, &range))
        derive (self, step, &range, derived);
    }
  return derived;
}
