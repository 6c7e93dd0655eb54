/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which steps clamp their input, and to what. */
#include "vn-plan-private.h"

#include <float.h>
#include <math.h>

static gboolean
plan_clamp_get_bound (VnPlan       *self,
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
  *clamp = (VnActivation) { .active = TRUE, .min = -INFINITY, .max = INFINITY };

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
  return plan_clamp_get_bound (self, step, 1, &clamp->min) && plan_clamp_get_bound (self, step, 2, &clamp->max);
}
