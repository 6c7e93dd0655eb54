/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taps that are told the ends of a value, which its operator has found on the way, and not its elements. What clamps it then does
 * so on the way, too. */
#include "vn-runner-private.h"

#include <math.h>

static void
runner_ends_begin (VnRunner          *self,
                   const VnPlanValue *value)
{
  const VnShape *shape = &value->type.shape;
  const gsize n = (gsize) (shape->dims[1] * shape->dims[shape->rank - 1]);

  if (n > self->n_ends)
    {
      self->ends.low = g_renew (float, self->ends.low, n);
      self->ends.high = g_renew (float, self->ends.high, n);
      self->n_ends = n;
    }
  for (gsize c = 0; c < n; c++)
    {
      self->ends.low[c] = INFINITY;
      self->ends.high[c] = -INFINITY;
    }
  self->ends.strange = FALSE;
}

/**
 * vn_runner_wants_ends:
 *
 * Returns: whether @step is run by vn_runner_run_for_ends()
 */
gboolean
vn_runner_wants_ends (const VnRunner *self,
                      const VnStep   *step)
{
  return step->tells_ends && self->ends_tap != NULL && self->start == NULL;
}

/**
 * vn_runner_run_for_ends:
 *
 * As vn_runner_run_step(); if the tap is content with the ends, it is not told the elements, and these are clamped.
 */
gboolean
vn_runner_run_for_ends (VnRunner          *self,
                        const VnStep      *step,
                        const VnOpBodies  *bodies,
                        GError           **error)
{
  const guint id = (guint) step->outputs[0];
  const VnPlanValue *value = &self->plan->values[id];
  gboolean ok;

  runner_ends_begin (self, value);
  self->finds_ends = TRUE;
  ok = vn_runner_run_step (self, step, bodies, error);
  self->finds_ends = FALSE;
  if (!ok)
    return FALSE;
  if (!self->ends.strange &&
      self->ends_tap (value->value, (guint) value->tap, self->ends.low, self->ends.high, value->n_channels, self->tap_data))
    {
      self->told = id + 1;
      if (step->clamp != NULL)
        self->skips[step->clamp->index] = TRUE;
      return TRUE;
    }
  return step->clamp == NULL || vn_runner_run_step (self, step, bodies, error);
}
