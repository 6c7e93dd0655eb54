/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Range methods asked as a recipe wants, for activations and for constants, and scales made of what they say. */

#include "vn-quant-math.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*< private >
 * vn_quant_get_rounding:
 *
 * AMD rounds the logarithm of a scale to the nearest integer; PPQ rounds that of a whole range up and others half up. A
 * whole range is meant to clip nothing: it is rounded up in any case, as the nearest would cut up to 30 % off its ends.
 *
 * Returns: %FALSE if the scale may be any number
 */
gboolean
vn_quant_get_rounding (const VnScaleScheme *scheme,
                       const VnRangeMethod *method,
                       VnPowerRounding     *rounding)
{
  g_return_val_if_fail (scheme != NULL && method != NULL, FALSE);

  if (method->power_of_two)
    *rounding = VN_POWER_NEAREST;
  else if (g_str_equal (method->id, "minmax"))
    *rounding = VN_POWER_UP;
  else
    *rounding = scheme->other_rounding;
  return method->power_of_two || scheme->powers_of_two;
}

/* Ends that lie no more than a step beyond the levels of a smaller power of two are no reason to take the next one, which
 * would have half as many levels: -1 to 1 in int8. The hundredth is for the rounding of @scale itself. */
#define TOLERATED_STEPS 2.01

static float
quant_ranges_round_to_power (const VnScaleScheme *scheme,
                             const VnRangeMethod *method,
                             VnDType              dtype,
                             gboolean             symmetric,
                             gboolean             reduce_range,
                             float                scale)
{
  VnPowerRounding rounding;
  gint64 qmin, qmax;

  if (!vn_quant_get_rounding (scheme, method, &rounding))
    return scale;
  if (rounding == VN_POWER_UP && scheme->tolerates_steps && vn_dtype_is_integer (dtype) &&
      vn_quant_get_levels (dtype, symmetric, reduce_range, &qmin, &qmax))
    scale = (float) ((double) scale / (1 + TOLERATED_STEPS / (double) (qmax - qmin)));
  return vn_quant_round_scale (scale, rounding);
}

/* The scale for a symmetric range where all integers of a signed type count; @scale for other types, and for none. */
static float
quant_ranges_use_all_integers (const VnRange *range,
                               VnDType        dtype,
                               float          scale)
{
  const double most = MAX (-(float) range->min, (float) range->max);
  gint64 qmin, qmax;

  if (!vn_dtype_is_integer (dtype) || !vn_dtype_is_signed (dtype) || !vn_quant_get_levels (dtype, FALSE, FALSE, &qmin, &qmax))
    return scale;
  return 2 * most / (double) (qmax - qmin) < FLT_MIN ? scale : (float) (2 * most / (double) (qmax - qmin));
}

static float
quant_ranges_raise_scale (const VnScaleScheme *scheme,
                          gboolean             powers_of_two,
                          float                scale)
{
  if (powers_of_two)
    scale = vn_quant_round_scale (scale, VN_POWER_UP);
  return scheme->int16 ? vn_quant_int16_scale_up (scale) : scale;
}

/*< private >
 * vn_quant_raise_scale:
 * @method: (nullable): by which the range was found that @scale is for; %NULL: that of activations
 *
 * For scales that must not be smaller than what was worked out for them.
 *
 * Returns: the least scale that @scheme allows and that is not below @scale
 */
float
vn_quant_raise_scale (const VnScaleScheme *scheme,
                      const char          *method,
                      float                scale)
{
  const VnRangeMethod *asked = method != NULL ? vn_range_method_find (method, NULL) : NULL;
  VnPowerRounding rounding;

  g_return_val_if_fail (scheme != NULL, scale);

  asked = asked != NULL ? asked : scheme->method;
  return quant_ranges_raise_scale (scheme, asked != NULL && vn_quant_get_rounding (scheme, asked, &rounding), scale);
}

/*< private >
 * vn_quant_raise_block_scales:
 * @scales: (inout): below 0 where the larger end of the block is above it; 0 stays 0
 *
 * vn_quant_raise_scale() of the magnitudes.
 */
void
vn_quant_raise_block_scales (const VnScaleScheme *scheme,
                             float               *scales,
                             gsize                n)
{
  VnPowerRounding rounding;
  gboolean powers;

  g_return_if_fail (scheme != NULL);

  powers = scheme->method != NULL && vn_quant_get_rounding (scheme, scheme->method, &rounding);
  for (gsize i = 0; (powers || scheme->int16) && i < n; i++)
    if (scales[i] != 0)
      scales[i] = copysignf (quant_ranges_raise_scale (scheme, powers, fabsf (scales[i])), scales[i]);
}

/*< private >
 * vn_quant_make_params:
 * @method: that the range is from; any other text, such as "fixed": none, that of activations decides about powers of two
 *
 * Scale and zero point by all that is said about them.
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if an end of the range is NaN
 */
gboolean
vn_quant_make_params (const VnScaleScheme *scheme,
                      const char          *method,
                      const VnRange       *range,
                      VnDType              dtype,
                      gboolean             symmetric,
                      gboolean             reduce_range,
                      float               *scale,
                      gint64              *zero_point,
                      GError             **error)
{
  const VnRangeMethod *asked = vn_range_method_find (method, NULL);
  VnRange wide;

  g_return_val_if_fail (scheme != NULL && range != NULL, FALSE);

  wide = *range;
  if (asked == NULL)
    asked = scheme->method;
  g_return_val_if_fail (asked != NULL, FALSE);
  if (!vn_quant_widen_range (&wide.min, &wide.max, scheme->minimum_range, error))
    return FALSE;
  vn_quant_params_from_range (wide.min, wide.max, dtype, symmetric, reduce_range, scale, zero_point);
  if (scheme->full_range && symmetric && !reduce_range)
    *scale = quant_ranges_use_all_integers (&wide, dtype, *scale);
  *scale = quant_ranges_round_to_power (scheme, asked, dtype, symmetric, reduce_range, *scale);
  if (scheme->int16)
    *scale = vn_quant_int16_scale (*scale);
  return TRUE;
}

/*< private >
 * vn_quant_get_range_settings:
 *
 * What a range method must know of the type that the range is for.
 */
VnRangeSettings
vn_quant_get_range_settings (const VnActivationScheme *scheme,
                             double                    percentile,
                             VnDType                   dtype,
                             gboolean                  symmetric,
                             gboolean                  reduce_range)
{
  VnRangeSettings settings = { .percentile = percentile, .symmetric = symmetric, .bits = vn_dtype_get_bits (dtype) };

  g_return_val_if_fail (scheme != NULL, settings);

  settings.two_sided = scheme->two_sided;
  if (!vn_quant_get_levels (dtype, symmetric, reduce_range, &settings.qmin, &settings.qmax))
    settings.qmin = settings.qmax = 0;
  return settings;
}

/* The elements of channel @c of [outer, channels, inner], one after the other. */
static const float *
quant_ranges_gather_channel (const float *x,
                             gsize        outer,
                             gsize        channels,
                             gsize        inner,
                             gsize        c,
                             float       *room)
{
  if (outer == 1)
    return x + c * inner;
  for (gsize o = 0; o < outer; o++)
    memcpy (room + o * inner, x + (o * channels + c) * inner, inner * sizeof *x);
  return room;
}

static gboolean
quant_ranges_range_of_elements (const VnRangeMethod    *method,
                                const float            *x,
                                gsize                   n,
                                const VnRangeSettings  *settings,
                                VnHistogramScratch              *scratch,
                                VnRange                *range,
                                GError                **error)
{
  g_autoptr(VnHistogram) histogram = NULL;

  if (method->range_of_data != NULL)
    return method->range_of_data (x, n, settings, range, error);
  histogram = vn_histogram_new ();
  vn_histogram_scan (histogram, scratch, x, n);
  if (histogram->min <= histogram->max)
    return method->range (histogram, settings, range, error);
  *range = (VnRange) { 0, 0 };
  return TRUE;
}

/*< private >
 * vn_quant_method_ranges:
 * @data: float32
 * @axis: channel axis, or -1
 * @method: by which the ranges are chosen
 * @min, @max: (out): one, or one per channel; 0 where there are no finite elements
 */
gboolean
vn_quant_method_ranges (VnTensor               *data,
                        int                     axis,
                        const VnRangeMethod    *method,
                        const VnRangeSettings  *settings,
                        float                  *min,
                        float                  *max,
                        GError                **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  const VnShape *shape;
  gsize channels;
  gsize outer;
  gsize inner;
  g_autofree float *room = NULL;

  g_return_val_if_fail (data != NULL, FALSE);

  aligned = vn_tensor_get_aligned (data, error);
  shape = &data->shape;
  channels = axis < 0 ? 1 : (gsize) shape->dims[axis];
  outer = axis < 0 ? 1 : (gsize) vn_shape_count (shape, 0, axis);
  inner = axis < 0 ? data->n_elements : (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  if (aligned == NULL || (outer > 1 && (room = vn_try_new (float, outer * inner, error)) == NULL))
    return FALSE;
  for (gsize c = 0; c < channels; c++)
    {
      const float *x = quant_ranges_gather_channel (aligned->data, outer, channels, inner, c, room);
      VnRange range;

      if (!quant_ranges_range_of_elements (method, x, outer * inner, settings, scratch, &range, error))
        return FALSE;
      min[c] = (float) range.min;
      max[c] = (float) range.max;
    }
  return TRUE;
}

/*< private >
 * vn_quant_softmax_params:
 *
 * The grid that onnxruntime.quantization gives the result of a Softmax in QOperator: steps of 1/256 from the lowest level.
 */
void
vn_quant_softmax_params (VnDType  dtype,
                         float   *scale,
                         gint64  *zero_point)
{
  gint64 highest;

  vn_dtype_integer_range (dtype, zero_point, &highest);
  *scale = 1.0f / 256;
}
