/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What XSlim does otherwise than ONNX Runtime, each by a setting of its own:
 *
 * channel-types, power-of-two-types   which weights have which scales
 * minimum-scale      no scale is smaller. A channel of a weight that wants a smaller one gets the scale 1, with which all its
 *                    numbers become 0.
 * integer-constants  a constant of whole numbers that int8 holds has the scale 1 and the zero point in the middle, one of
 *                    whole numbers that uint8 holds the scale 1 and the least zero point
 * limit-gates        what only HardSigmoid reads lies inside [-beta / alpha, (1 - beta) / alpha], what only Sigmoid reads
 *                    inside [-10, 10], and what a gate and the product with it read (Swish, HardSwish) above the lower end.
 *                    XSlim means that, but loses the upper ends.
 * largest-bias       biases of Conv without groups that need more steps stay float */

#include "vn-resolver.h"

#include <math.h>

#define SIGMOID_END 10.0
#define ALPHA 0.2f      /* of HardSigmoid, unless said */
#define BETA 0.5f

/*< private >
 * vn_quant_is_used_by:
 * @types: (nullable): operator types
 * @otherwise: what is returned if there are none
 *
 * Returns: whether a node of one of @types reads @value
 */
gboolean
vn_quant_is_used_by (const VnValue  *value,
                     char          **types,
                     gboolean        otherwise)
{
  g_return_val_if_fail (value != NULL, FALSE);

  if (types == NULL)
    return otherwise;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (g_strv_contains ((const char * const *) types, node->op_type))
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_quant_adjust_scale:
 * @value: a constant
 * @channel: it is the scale of one channel
 *
 * Returns: the scale for @value where its range asks for @scale
 */
float
vn_quant_adjust_scale (const VnScaleScheme *scheme,
                       const VnValue       *value,
                       gboolean             channel,
                       float                scale)
{
  g_return_val_if_fail (scheme != NULL, 0);

  if (scheme->power_of_two_types != NULL && vn_quant_is_used_by (value, scheme->power_of_two_types, FALSE))
    scale = vn_quant_round_scale (scale, VN_POWER_UP);
  if (scheme->minimum > 0 && (double) scale <= scheme->minimum)
    return channel ? 1 : (float) scheme->minimum;
  return scale;
}

/*< private >
 * vn_quant_keeps_integers:
 * @data: float32
 * @zero_point: (out): if so
 *
 * Returns: whether all elements are whole numbers that @dtype, of 8 bit, holds with the scale 1
 */
gboolean
vn_quant_keeps_integers (VnTensor *data,
                         VnDType   dtype,
                         gint64   *zero_point)
{
  g_autoptr(VnTensor) aligned = NULL;
  gint64 qmin, qmax;
  gboolean is_signed = TRUE, is_unsigned = TRUE;

  g_return_val_if_fail (data != NULL, FALSE);

  aligned = vn_tensor_get_aligned (data, NULL);
  if (aligned == NULL || data->n_elements == 0 || vn_dtype_get_bits (dtype) != 8 || !vn_dtype_is_integer (dtype) ||
      !vn_quant_get_levels (dtype, FALSE, FALSE, &qmin, &qmax))
    return FALSE;
  for (gsize i = 0; i < data->n_elements && (is_signed || is_unsigned); i++)
    {
      const float x = ((const float *) aligned->data)[i];

      is_signed = is_signed && x == rintf (x) && x >= -128 && x <= 127;
      is_unsigned = is_unsigned && x == rintf (x) && x >= 0 && x <= 255;
    }
  *zero_point = is_signed ? (qmin + qmax + 1) / 2 : qmin;
  return is_signed || is_unsigned;
}

/* ---- gates ---- */

/* The gate among the nodes that read @value, if besides it they are the product with it at most. */
static const VnNode *
resolve_xslim_find_gate (const VnValue *value,
                         gboolean      *alone)
{
  const VnNode *gate = NULL, *product = NULL;

  if (value->uses->len == 0 || value->is_output)
    return NULL;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (vn_node_is (node, "Sigmoid") || vn_node_is (node, "HardSigmoid"))
        {
          if (gate != NULL && !g_str_equal (gate->op_type, node->op_type))
            return NULL;
          gate = node;
        }
      else if (vn_node_is (node, "Mul") && product == NULL)
        product = node;
      else
        return NULL;
    }
  *alone = product == NULL;
  if (product == NULL || gate == NULL)
    return gate;
  return value->uses->len == 2 && (vn_node_get_input (product, 0) == vn_node_get_output (gate, 0) ||
                                   vn_node_get_input (product, 1) == vn_node_get_output (gate, 0)) ? gate : NULL;
}

/*< private >
 * vn_quant_limit_gate:
 * @value: an activation
 * @range: (inout): of @value; an end that lies beyond what counts is moved
 */
void
vn_quant_limit_gate (const VnValue *value,
                     VnRange       *range)
{
  gboolean alone;
  const VnNode *gate;
  double least = -SIGMOID_END, most = SIGMOID_END;

  g_return_if_fail (value != NULL);

  gate = value->producer != NULL ? resolve_xslim_find_gate (value, &alone) : NULL;
  if (gate == NULL)
    return;
  if (vn_node_is (gate, "HardSigmoid"))
    {
      const double alpha = vn_node_get_float (gate, "alpha", ALPHA), beta = vn_node_get_float (gate, "beta", BETA);

      if (!(alpha > 0))
        return;
      least = -beta / alpha;
      most = (1 - beta) / alpha;
    }
  range->min = MAX (range->min, least);
  range->max = MAX (range->max, range->min);
  if (alone && most >= range->min)
    range->max = MIN (range->max, most);
}

/* ---- biases ---- */

/*< private >
 * vn_quant_is_large_bias:
 * @scales: of the bias
 * @n: 1, or one for each element of @bias
 *
 * Returns: whether @bias, of @node, is to stay float as it needs too many steps
 */
gboolean
vn_quant_is_large_bias (const VnBiasScheme *scheme,
                        const VnNode       *node,
                        VnTensor           *bias,
                        const float        *scales,
                        gsize               n)
{
  g_autoptr(VnTensor) aligned = NULL;

  g_return_val_if_fail (scheme != NULL && bias != NULL, FALSE);

  aligned = scheme->most_steps > 0 ? vn_tensor_get_aligned (bias, NULL) : NULL;
  if (aligned == NULL || !vn_node_is (node, "Conv") || vn_node_get_int (node, "group", 1) != 1)
    return FALSE;
  for (gsize i = 0; i < bias->n_elements; i++)
    if (fabs ((double) ((const float *) aligned->data)[i] / (double) scales[n > 1 ? i : 0]) > (double) scheme->most_steps)
      return TRUE;
  return FALSE;
}
