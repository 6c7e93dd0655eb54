/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantizing and dequantizing again while results are in the cache, as networks do that simulate integers. The results are the
 * same bits. */
#include "vn-fuse-private.h"

#include "vn-elem.h"

#include <math.h>

/* Below this, subnormal numbers come up, which operators that are fused with may take for zero. */
#define LEAST_SCALE 1e-30f

static gboolean
fuse_quantizer_get_zero_point (const VnFusion *self,
                               const VnStep   *step,
                               double         *zero)
{
  const VnTensor *constant;

  *zero = 0;
  if (step->n_inputs < 3 || step->inputs[2] < 0)
    return TRUE;
  constant = self->plan->values[step->inputs[2]].constant;
  if (constant == NULL || constant->n_elements != 1 || constant->data == NULL || (VN_CODE_BITS >> constant->dtype & 1) == 0)
    return FALSE;
  *zero = vn_tensor_get_double (constant, 0);
  return TRUE;
}

static gboolean
fuse_quantizer_is_one (const VnStep *step,
                       const char   *type)
{
  return vn_node_is (step->node, type) && !step->dynamic && step->n_outputs == 1 && step->outputs[0] >= 0;
}

/* Returns: (nullable): the step that quantizes what @step dequantizes, with the same scale and zero point; nobody else looks at
 * the codes */
static VnStep *
fuse_quantizer_find (const VnFusion *self,
                     const VnStep   *step,
                     float          *scale,
                     double         *zero)
{
  int codes = step->n_inputs > 1 ? step->inputs[0] : -1;
  VnStep *quantizer = codes >= 0 ? self->producers[codes] : NULL;
  float other_scale;
  double other_zero;

  if (!fuse_quantizer_is_one (step, "DequantizeLinear") || quantizer == NULL ||
      !fuse_quantizer_is_one (quantizer, "QuantizeLinear") || quantizer->outputs[0] != codes ||
      self->plan->values[codes].n_uses != 1 || self->plan->values[codes].tap >= 0 || self->plan->values[codes].output >= 0 ||
      (VN_CODE_BITS >> self->plan->values[codes].type.dtype & 1) == 0)
    return NULL;
  if (!vn_fuse_get_scalar (self, quantizer, 1, scale) || !vn_fuse_get_scalar (self, step, 1, &other_scale) ||
      !fuse_quantizer_get_zero_point (self, quantizer, zero) || !fuse_quantizer_get_zero_point (self, step, &other_zero))
    return NULL;
  return *scale == other_scale && *zero == other_zero && *scale >= LEAST_SCALE ? quantizer : NULL;
}

/* What a clamp leaves is rounded to what lies between its rounded bounds, as both keep the order. */
static void
fuse_quantizer_take_clamp (VnActivation       *pair,
                           const VnActivation *clamp)
{
  pair->min = fmaxf (pair->min, fminf (rintf (clamp->min / pair->a), pair->max));
  pair->max = fminf (pair->max, fmaxf (rintf (clamp->max / pair->a), pair->min));
}

/**
 * vn_fuse_quantizer:
 *
 * QuantizeLinear and DequantizeLinear of one scale behind an operator, or behind its clamp.
 */
VnStep *
vn_fuse_quantizer (VnFusion *self,
                   VnStep   *step)
{
  float scale;
  double zero;
  gint64 min, max;
  VnStep *quantizer = fuse_quantizer_find (self, step, &scale, &zero), *taker;
  int input = quantizer != NULL ? quantizer->inputs[0] : -1;
  VnActivation pair;

  taker = input >= 0 ? self->producers[input] : NULL;
  if (taker == NULL || !taker->op->fuses_more || taker->dynamic || taker->outputs[0] != input ||
      (taker->activation.active && (taker->activation.kind != VN_ACTIVATION_CLAMP ||
                                    !(taker->activation.min <= taker->activation.max))) ||
      !vn_fuse_is_private (self, input, 1) || !vn_fuse_is_same_type (self, input, step->outputs[0]))
    return NULL;
  vn_dtype_integer_range (self->plan->values[quantizer->outputs[0]].type.dtype, &min, &max);
  pair = (VnActivation) { .active = TRUE, .kind = VN_ACTIVATION_QUANTIZER, .a = scale, .min = (float) ((double) min - zero),
                          .max = (float) ((double) max - zero) };
  pair.b = pair.min;
  if (taker->activation.active)
    fuse_quantizer_take_clamp (&pair, &taker->activation);
  taker->activation = pair;
  vn_fuse_mark_dead (self, quantizer);
  return taker;
}
