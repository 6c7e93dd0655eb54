/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The type of a bias, and its own scale where it does not take that of input times weight. */

#include "vn-quant-math.h"

#include <math.h>

static gboolean
quant_bias_is_narrow_integer (VnDType dtype)
{
  return vn_dtype_is_integer (dtype) && vn_dtype_get_bits (dtype) <= 16;
}

/* What is multiplied as integers adds a bias of 32 bit; otherwise a bias is kept as its weights are, or in float where
 * that would say too little of it. */
static VnDType
quant_bias_choose_type (const VnBiasScheme *scheme,
                        VnDType             x,
                        VnDType             weight)
{
  if (scheme->dtype != VN_DTYPE_UNDEFINED)
    return scheme->dtype;
  if (scheme->own_scale)
    return weight == VN_DTYPE_S16 ? VN_DTYPE_S16 : VN_DTYPE_S8;
  if (weight == VN_DTYPE_F16 || weight == VN_DTYPE_BF16)
    return weight;
  return vn_dtype_is_integer (x) && vn_dtype_is_integer (weight) ? VN_DTYPE_S32 : VN_DTYPE_F32;
}

/*< private >
 * vn_quant_choose_bias:
 * @x: of the input it is added behind
 * @weight: of the weight
 * @product: (out): whether its scale is that of input times weight
 *
 * Returns: its type; float32: it stays as it is
 */
VnDType
vn_quant_choose_bias (const VnBiasScheme *scheme,
                      const VnTensorPlan *x,
                      const VnTensorPlan *weight,
                      gboolean           *product)
{
  VnDType dtype;

  g_return_val_if_fail (scheme != NULL && x != NULL && weight != NULL, VN_DTYPE_UNDEFINED);

  dtype = quant_bias_choose_type (scheme, x->dtype, weight->dtype);
  *product = dtype == VN_DTYPE_S32 && !scheme->own_scale && quant_bias_is_narrow_integer (x->dtype) &&
             quant_bias_is_narrow_integer (weight->dtype);
  return dtype;
}

/*< private >
 * vn_quant_own_bias_scale:
 * @min: of the bias
 * @max: of the bias
 *
 * Returns: the scale of a bias that is a tensor of its own, with zero point 0, such that no element is clipped; 1 for
 *   types without scale
 */
float
vn_quant_own_bias_scale (const VnScaleScheme *scheme,
                         VnDType              dtype,
                         double               min,
                         double               max)
{
  gint64 zero_point;
  float scale = 1;

  g_return_val_if_fail (scheme != NULL, 0);

  if (vn_dtype_is_rounded (dtype))
    return scale;
  vn_quant_params_from_range (min, max, dtype, TRUE, FALSE, &scale, &zero_point);
  if (scheme->powers_of_two)
    return vn_quant_round_scale (scale, VN_POWER_UP);   /* the nearest would cut up to 30 % off the largest */
  return scale;
}
