/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be left out: steps nobody needs, and clamps an operator can do on the way. */
#include "vn-plan-private.h"

#include <float.h>
#include <math.h>

static void
remove_dead (VnPlan *self)
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
is_wanted (const VnPlanValue *value)
{
  return value->n_uses > 0 || value->tap >= 0 || value->output >= 0;
}

/* Output 0 is kept in any case: operators may rely on their main result. */
static void
drop_unused_outputs (VnPlan *self,
                     VnStep *step)
{
  step->dead = TRUE;
  for (guint i = 0; i < step->n_outputs; i++)
    {
      if (step->outputs[i] < 0)
        continue;
      if (is_wanted (&self->values[step->outputs[i]]))
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
  for (guint i = 0; i < self->n_values; i++)
    self->values[i].n_uses = 0;
  for (guint k = self->steps->len; k-- > 0;)
    {
      VnStep *step = g_ptr_array_index (self->steps, k);

      drop_unused_outputs (self, step);
      for (guint i = 0; i < step->n_inputs && !step->dead; i++)
        if (step->inputs[i] >= 0)
          self->values[step->inputs[i]].n_uses++;
    }
  remove_dead (self);
}

/* ---- clamps ---- */

static gboolean
get_bound (VnPlan       *self,
           const VnStep *step,
           guint         input,
           float        *bound)
{
  const VnTensor *constant;

  if (input >= step->n_inputs || step->inputs[input] < 0)
    return TRUE;
  constant = self->values[step->inputs[input]].constant;
  if (constant == NULL || constant->dtype != VN_DTYPE_F32 || constant->n_elements != 1)
    return FALSE;
  *bound = *(const float *) constant->data;
  return !isnan (*bound);
}

/**
 * vn_plan_match_clamp:
 * @clamp: (out): its bounds
 *
 * Returns: whether @step is Relu, or Clip with bounds that are known now
 */
gboolean
vn_plan_match_clamp (VnPlan       *self,
                     const VnStep *step,
                     VnActivation *clamp)
{
  *clamp = (VnActivation) { TRUE, -INFINITY, INFINITY };

  if (vn_node_is (step->node, "Relu"))
    {
      clamp->min = 0;
      return TRUE;
    }
  if (!vn_node_is (step->node, "Clip"))
    return FALSE;
  if (step->opset < 11)
    {
      clamp->min = vn_node_get_float (step->node, "min", -FLT_MAX);
      clamp->max = vn_node_get_float (step->node, "max", FLT_MAX);
      return TRUE;
    }
  return get_bound (self, step, 1, &clamp->min) && get_bound (self, step, 2, &clamp->max);
}

static gboolean
can_take_clamp (VnPlan       *self,
                const VnStep *step)
{
  const VnPlanValue *value;

  if (!step->op->fuses_clamp || step->activation.active || step->outputs[0] < 0)
    return FALSE;
  value = &self->values[step->outputs[0]];
  return value->n_uses == 1 && value->tap < 0 && value->output < 0 && value->type.dtype == VN_DTYPE_F32;
}

/**
 * vn_plan_fuse:
 *
 * Lets operators that can clamp do so in place of a Relu or Clip that is the only user of their result.
 */
void
vn_plan_fuse (VnPlan *self)
{
  g_autofree VnStep **producers = g_new0 (VnStep *, MAX (self->n_values, 1));

  for (guint k = 0; k < self->steps->len; k++)
    {
      VnStep *step = g_ptr_array_index (self->steps, k);
      VnStep *producer = step->n_inputs > 0 && step->inputs[0] >= 0 ? producers[step->inputs[0]] : NULL;
      VnActivation clamp;

      if (producer != NULL && can_take_clamp (self, producer) && vn_plan_match_clamp (self, step, &clamp))
        {
          producer->activation = clamp;
          producer->outputs[0] = step->outputs[0];
          producers[step->outputs[0]] = producer;
          step->dead = TRUE;
          continue;
        }
      if (step->outputs[0] >= 0)
        producers[step->outputs[0]] = step;
    }
  remove_dead (self);
}
