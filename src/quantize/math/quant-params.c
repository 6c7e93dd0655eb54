/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Affine integer quantization: q = clamp (rint (x / s) + z), x' = (q - z) s, rint to even.
 *
 *   lo = min (lo, 0), hi = max (hi, 0); symmetric: hi = max (|lo|, |hi|), lo = -hi
 *   s  = (hi - lo) / (qmax - qmin) in double, then rounded to float
 *   z  = symmetric ? rint ((qmin + qmax) / 2) : rint (qmin - lo / s), with s still in double
 *   s below the smallest normal float: s = 1, z = 0
 *
 * The order of operations and the points where values become float are those of onnxruntime.quantization, so that
 * equal ranges give equal bits. */

#include "vn-quant-math.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <float.h>
#include <math.h>

/* Levels of a type: all of them, without the one that has no opposite, and with one bit less. A type whose
 * symmetric levels are all of them puts its zero point in the middle. Floats of 8 bit reach from end to end. */
static const struct
{
  VnDType dtype;
  gint64  full[2], symmetric[2], reduced[2];
} levels[] = {
  { VN_DTYPE_U8,  { 0, 255 },         { 0, 255 },         { 0, 127 } },
  { VN_DTYPE_S8,  { -128, 127 },      { -127, 127 },      { -64, 64 } },
  { VN_DTYPE_U16, { 0, 65535 },       { 0, 65535 },       { 0, 32767 } },
  { VN_DTYPE_S16, { -32768, 32767 },  { -32767, 32767 },  { -16384, 16384 } },
  { VN_DTYPE_U32, { 0, G_MAXUINT32 }, { 0, G_MAXUINT32 }, { 0, G_MAXINT32 } },
  { VN_DTYPE_S32, { G_MININT32, G_MAXINT32 }, { -G_MAXINT32, G_MAXINT32 }, { -(1 << 30), 1 << 30 } },
  { VN_DTYPE_U4,  { 0, 15 },          { 0, 15 },          { 0, 7 } },
  { VN_DTYPE_S4,  { -8, 7 },          { -8, 7 },          { -4, 3 } },
  { VN_DTYPE_F8E4M3, { -448, 448 },     { -448, 448 },     { -448, 448 } },
  { VN_DTYPE_F8E5M2, { -57344, 57344 }, { -57344, 57344 }, { -57344, 57344 } },
};

/*< private >
 * vn_quant_get_levels:
 * @reduce_range: one bit less; wins over @symmetric
 *
 * Which integers a scale is made for. Values are clamped to the full range of the type, whatever this says.
 *
 * Returns: %FALSE if @dtype is no type to quantize to
 */
gboolean
vn_quant_get_levels (VnDType   dtype,
                     gboolean  symmetric,
                     gboolean  reduce_range,
                     gint64   *qmin,
                     gint64   *qmax)
{
  for (guint i = 0; i < G_N_ELEMENTS (levels); i++)
    {
      const gint64 *pair = reduce_range ? levels[i].reduced : symmetric ? levels[i].symmetric : levels[i].full;

      if (levels[i].dtype != dtype)
        continue;
      *qmin = pair[0];
      *qmax = pair[1];
      return TRUE;
    }
  return FALSE;
}

/**
 * vn_quant_params_from_range:
 * @min: smallest value to represent; rounded to float, as ranges are floats
 * @max: largest value
 * @dtype: (u)int4, 8, 16, 32 or a float of 8 bit
 * @symmetric: zero point in the middle of the type, whatever the range; floats are symmetric always
 * @reduce_range: use one bit less
 * @scale: (out): > 0
 * @zero_point: (out): inside the range of @dtype
 *
 * Both ends must be finite; the range is widened to hold 0. A range too small for a normal float gives scale 1 and zero
 * point 0.
 */
void
vn_quant_params_from_range (double    min,
                            double    max,
                            VnDType   dtype,
                            gboolean  symmetric,
                            gboolean  reduce_range,
                            float    *scale,
                            gint64   *zero_point)
{
  double lo = MIN ((float) min, 0.f), hi = MAX ((float) max, 0.f);
  gint64 qmin = 0, qmax = 1;
  double s;

  g_return_if_fail (isfinite (min) && isfinite (max));
  g_return_if_fail (vn_quant_get_levels (dtype, symmetric, reduce_range, &qmin, &qmax));

  symmetric = symmetric || vn_dtype_is_float (dtype);
  if (symmetric)
    {
      hi = MAX (-lo, hi);
      lo = -hi;
    }

  s = (hi - lo) / (double) (qmax - qmin);
  if (s < FLT_MIN)
    {
      *scale = 1;
      *zero_point = 0;
      return;
    }

  *scale = (float) s;
  *zero_point = (gint64) (symmetric ? rint ((double) (qmin + qmax) / 2.0) : rint ((double) qmin - lo / s));
}

/*< private >
 * vn_quant_widen_range:
 * @minimum: 0, or the least width: what is narrower, once made to hold 0, grows upwards
 *
 * Makes both ends finite: infinities become half of the greatest float.
 *
 * Returns: %FALSE with %VN_ERROR_NUMERIC if an end is NaN
 */
gboolean
vn_quant_widen_range (double  *min,
                      double  *max,
                      double   minimum,
                      GError **error)
{
  if (isnan (*min) || isnan (*max))
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_NUMERIC, _("the range is not a number; check the model and the samples"));
      return FALSE;
    }
  *min = isinf (*min) ? copysign (FLT_MAX / 2, *min) : *min;
  *max = isinf (*max) ? copysign (FLT_MAX / 2, *max) : *max;
  /* added as floats: so does onnxruntime.quantization */
  if (minimum > 0)
    *max = MAX (MAX (*max, 0), (double) ((float) MIN (*min, 0) + (float) minimum));
  return TRUE;
}

/*< private >
 * vn_quant_round_scale:
 *
 * Returns: the power of two for @scale, from 2^-127 to 2^127
 */
float
vn_quant_round_scale (float           scale,
                      VnPowerRounding rounding)
{
  return (float) vn_position_get_scale (vn_scale_get_position (scale, rounding));
}

/*< private >
 * vn_quant_int16_scale:
 *
 * For processors that multiply by an integer of 16 bit and shift, as AMD's option Int16Scale asks.
 *
 * Returns: the M / 2^N nearest to @scale, with 1 <= M <= 32767 and 0 <= N <= 15; of several such the one of least N
 */
float
vn_quant_int16_scale (float scale)
{
  double best = 1, distance = INFINITY;

  for (int n = 0; n <= 15; n++)
    {
      double candidate = ldexp (CLAMP (rint (ldexp (scale, n)), 1.0, 32767.0), -n);

      if (fabs (candidate - scale) < distance)
        {
          distance = fabs (candidate - scale);
          best = candidate;
        }
    }
  return (float) best;
}

/*< private >
 * vn_quant_int16_scale_up:
 *
 * Returns: the least number of that kind that is not below @scale; the greatest of them if all are
 */
float
vn_quant_int16_scale_up (float scale)
{
  for (int n = 15; n >= 0; n--)
    {
      double factor = ceil (ldexp (scale, n));

      if (factor <= 32767)
        return (float) ldexp (MAX (factor, 1), -n);
    }
  return 32767;
}

/* Smallest scale with which a bias of magnitude @bias fits int32, with a little room. */
static gboolean
quant_params_raise_scale (float   input_scale,
                          float  *weight_scale,
                          double  smallest)
{
  double candidate = (double) input_scale * (double) *weight_scale;
  double ratio;

  if (!(candidate < smallest && candidate > 0))
    return FALSE;

  ratio = smallest / candidate;
  *weight_scale = (float) ((double) *weight_scale * ratio);
  return TRUE;
}

/*< private >
 * vn_quant_raise_scales_for_bias:
 * @weight_scales: (inout): one, or with @per_channel one per element of @bias
 * @beta: factor of the bias
 *
 * A bias is stored as int32 with the scale input times weight. Where that is so small that the bias would overflow, the
 * weight's scale is raised until it fits: weights that small next to such a bias lose nothing.
 *
 * Returns: whether a scale was raised
 */
gboolean
vn_quant_raise_scales_for_bias (float        input_scale,
                                float       *weight_scales,
                                gsize        n,
                                const float *bias,
                                gsize        n_bias,
                                float        beta,
                                gboolean     per_channel)
{
  const double room = 1.0001, range = 2.0 * G_MAXINT32;
  gboolean raised = FALSE;
  double largest = 0;

  if (per_channel)
    {
      /* the peer computes this product in single precision */
      for (gsize i = 0; i < MIN (n, n_bias); i++)
        raised |= quant_params_raise_scale (input_scale, &weight_scales[i],
                                            (double) ((float) room * (2.0f * fabsf (bias[i] * beta))) / range);
      return raised;
    }

  for (gsize i = 0; i < n_bias; i++)
    largest = MAX (largest, fabs ((double) bias[i] * (double) beta));
  return quant_params_raise_scale (input_scale, weight_scales, room * (2.0 * largest) / range);
}
