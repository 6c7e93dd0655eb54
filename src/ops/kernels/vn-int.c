/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of (a - zero_a) * (b - zero_b): both factors fit 16 bits exactly, their products and sums 32 bits, so that the
 * order of summing does not matter. Back to 8 bits as ONNX Runtime does it: saturate (round ((float) sum * scale) +
 * zero_point) with scale = scale_a * scale_b / scale_y in float32, ties to even. */
#include "vn-int.h"

/**
 * vn_int_step:
 *
 * Returns: distance of rows that hold @depth numbers
 */
gsize
vn_int_step (gsize depth)
{
  return (depth + VN_INT_ALIGN - 1) / VN_INT_ALIGN * VN_INT_ALIGN;
}

/**
 * vn_int_load:
 * @dtype: an 8-bit integer
 *
 * Returns: element @i
 */
gint32
vn_int_load (VnDType       dtype,
             gconstpointer data,
             gsize         i)
{
  return dtype == VN_DTYPE_S8 ? ((const gint8 *) data)[i] : ((const guint8 *) data)[i];
}

/**
 * vn_int_zero:
 * @zeros: (nullable): zero points
 *
 * Returns: number @i of them, 0 without any
 */
gint32
vn_int_zero (const VnTensor *zeros,
             gsize           i)
{
  return zeros == NULL ? 0 : vn_int_load (zeros->dtype, zeros->data, i);
}

static gboolean
int_read_step (VnOpContext    *ctx,
               int             input,
               gsize           channels,
               const VnTensor **tensor,
               gsize          *step,
               GError        **error)
{
  *step = 0;
  *tensor = input >= 0 && vn_op_has_input (ctx, (guint) input) ? ctx->in[input] : NULL;
  if (*tensor == NULL || (*tensor)->n_elements == 1)
    return TRUE;
  if ((*tensor)->n_elements != channels)
    return vn_op_fail (ctx, error, _("input %d has %zu elements: expected 1 or %zu"),
                       input, (*tensor)->n_elements, channels);
  *step = 1;
  return TRUE;
}

/**
 * vn_int_params:
 * @scale_input: index of the scales, -1: none
 * @zero_input: index of the zero points, -1: none
 * @channels: how many there may be beside one
 *
 * For `run`: finds the scales and zero points of one operand.
 *
 * Returns: %FALSE if their number or type does not fit
 */
gboolean
vn_int_params (VnOpContext  *ctx,
               int           scale_input,
               int           zero_input,
               gsize         channels,
               VnIntParams  *self,
               GError      **error)
{
  const VnTensor *scales;

  if (!int_read_step (ctx, scale_input, channels, &scales, &self->scale_step, error) ||
      !int_read_step (ctx, zero_input, channels, &self->zeros, &self->zero_step, error))
    return FALSE;
  self->scales = NULL;
  if (scales != NULL && scales->dtype != VN_DTYPE_F32)
    return vn_op_unsupported (ctx, (guint) scale_input, error);
  if (self->zeros != NULL && (VN_INT_BITS >> self->zeros->dtype & 1) == 0)
    return vn_op_unsupported (ctx, (guint) zero_input, error);
  if (scales != NULL)
    self->scales = scales->data;
  return TRUE;
}

/**
 * vn_int_load_row:
 * @first: index of the first element
 * @stride: distance to the next
 * @n: how many
 * @to: (out): vn_int_step(@n) numbers, those after @n are 0
 *
 * Widens 8-bit integers and takes the zero point off.
 */
void
vn_int_load_row (VnDType       dtype,
                 gconstpointer data,
                 gsize         first,
                 gsize         stride,
                 gsize         n,
                 gint32        zero,
                 gint16       *to)
{
  gsize step = vn_int_step (n);

  if (dtype == VN_DTYPE_S8)
    for (gsize i = 0; i < n; i++)
      to[i] = (gint16) (((const gint8 *) data)[first + i * stride] - zero);
  else
    for (gsize i = 0; i < n; i++)
      to[i] = (gint16) (((const guint8 *) data)[first + i * stride] - zero);
  memset (to + n, 0, (step - n) * sizeof *to);
}

/* Sums wrap around as in every other implementation: they are unsigned. */
VN_INLINE guint32
times (gint16 a,
       gint16 b)
{
  return (guint32) ((gint32) a * (gint32) b);
}

VN_INLINE void
tile_4x2 (const gint16 *a,
          const gint16 *b,
          gsize         step,
          gint32       *c,
          gsize         pitch)
{
  const gint16 *a0 = a, *a1 = a + step, *a2 = a + 2 * step, *a3 = a + 3 * step, *b0 = b, *b1 = b + step;
  guint32 s00 = 0, s01 = 0, s10 = 0, s11 = 0, s20 = 0, s21 = 0, s30 = 0, s31 = 0;

  for (gsize k = 0; k < step; k++)
    {
      s00 += times (a0[k], b0[k]);
      s01 += times (a0[k], b1[k]);
      s10 += times (a1[k], b0[k]);
      s11 += times (a1[k], b1[k]);
      s20 += times (a2[k], b0[k]);
      s21 += times (a2[k], b1[k]);
      s30 += times (a3[k], b0[k]);
      s31 += times (a3[k], b1[k]);
    }
  c[0] = (gint32) s00;
  c[1] = (gint32) s01;
  c[pitch] = (gint32) s10;
  c[pitch + 1] = (gint32) s11;
  c[2 * pitch] = (gint32) s20;
  c[2 * pitch + 1] = (gint32) s21;
  c[3 * pitch] = (gint32) s30;
  c[3 * pitch + 1] = (gint32) s31;
}

VN_INLINE gint32
dot (const gint16 *a,
     const gint16 *b,
     gsize         step)
{
  guint32 sum = 0;

  for (gsize k = 0; k < step; k++)
    sum += times (a[k], b[k]);
  return (gint32) sum;
}

VN_MULTIVERSION
static void
int_product (const gint16 *a,
             gsize         a_rows,
             const gint16 *b,
             gsize         b_rows,
             gsize         step,
             gint32       *c,
             gsize         pitch)
{
  gsize whole_a = a_rows & ~(gsize) 3, whole_b = b_rows & ~(gsize) 1;

  step = step / VN_INT_ALIGN * VN_INT_ALIGN;
  for (gsize i = 0; i < whole_a; i += 4)
    {
      for (gsize j = 0; j < whole_b; j += 2)
        tile_4x2 (a + i * step, b + j * step, step, c + i * pitch + j, pitch);
      for (gsize j = whole_b; j < b_rows; j++)
        for (gsize r = 0; r < 4; r++)
          c[(i + r) * pitch + j] = dot (a + (i + r) * step, b + j * step, step);
    }
  for (gsize i = whole_a; i < a_rows; i++)
    for (gsize j = 0; j < b_rows; j++)
      c[i * pitch + j] = dot (a + i * step, b + j * step, step);
}

/**
 * vn_int_product:
 * @a: @a_rows rows of @step numbers
 * @b: @b_rows rows of @step numbers
 * @step: a multiple of %VN_INT_ALIGN
 * @c: (out): c[i * @pitch + j] = row i of a times row j of b
 */
void
vn_int_product (const gint16 *a,
                gsize         a_rows,
                const gint16 *b,
                gsize         b_rows,
                gsize         step,
                gint32       *c,
                gsize         pitch)
{
  int_product (a, a_rows, b, b_rows, step, c, pitch);
}

/* Clamped before the zero point is added, so that the sum cannot overflow. NaN fails the first comparison. */
VN_INLINE gint32
round_to (float  v,
          float  low,
          float  high,
          gint32 zero)
{
  v = rintf (v);
  v = v > low ? v : low;
  v = v < high ? v : high;
  return (gint32) v + zero;
}

#define REQUANTIZE(name, type)                                                                                       \
  VN_MULTIVERSION                                                                                                    \
  static void                                                                                                        \
  int_requantize_##name (const gint32 *sums, gsize n, const float *scale, gsize scale_step, gint32 bias, float low,  \
                         float high, gint32 zero, type *to)                                                          \
  {                                                                                                                  \
    if (scale_step == 0)                                                                                             \
      {                                                                                                              \
        const float s = *scale;                                                                                      \
        for (gsize i = 0; i < n; i++)                                                                                \
          to[i] = (type) round_to ((float) (gint32) ((guint32) sums[i] + (guint32) bias) * s, low, high, zero);      \
      }                                                                                                              \
    else                                                                                                             \
      for (gsize i = 0; i < n; i++)                                                                                  \
        to[i] = (type) round_to ((float) (gint32) ((guint32) sums[i] + (guint32) bias) * scale[i], low, high, zero); \
  }                                                                                                                  \
  VN_MULTIVERSION                                                                                                    \
  static void                                                                                                        \
  int_quantize_##name (const float *x, gsize n, float scale, float low, float high, gint32 zero, type *to)           \
  {                                                                                                                  \
    for (gsize i = 0; i < n; i++)                                                                                    \
      to[i] = (type) round_to (x[i] / scale, low, high, zero);                                                       \
  }

REQUANTIZE (U8, guint8)
REQUANTIZE (S8, gint8)

/**
 * vn_int_requantize:
 * @scale: what a sum is multiplied with; @scale_step 0: one for all, 1: one each
 * @bias: added to each sum before
 * @zero: zero point of the result
 * @dtype: type of the result, an 8-bit integer
 */
void
vn_int_requantize (const gint32 *sums,
                   gsize         n,
                   const float  *scale,
                   gsize         scale_step,
                   gint32        bias,
                   gint32        zero,
                   VnDType       dtype,
                   gpointer      to)
{
  if (dtype == VN_DTYPE_S8)
    int_requantize_S8 (sums, n, scale, scale_step, bias, (float) (-128 - zero), (float) (127 - zero), zero, to);
  else
    int_requantize_U8 (sums, n, scale, scale_step, bias, (float) -zero, (float) (255 - zero), zero, to);
}

/**
 * vn_int_quantize:
 * @scale: step of the result; values are divided by it
 * @zero: its zero point
 * @dtype: its type, an 8-bit integer
 */
void
vn_int_quantize (const float *x,
                 gsize        n,
                 float        scale,
                 gint32       zero,
                 VnDType      dtype,
                 gpointer     to)
{
  if (dtype == VN_DTYPE_S8)
    int_quantize_S8 (x, n, scale, (float) (-128 - zero), (float) (127 - zero), zero, to);
  else
    int_quantize_U8 (x, n, scale, (float) -zero, (float) (255 - zero), zero, to);
}

/**
 * vn_int_dtype:
 * @zero_input: index of the zero point of the output
 * @like: index of an input of the same type, if there is no zero point
 *
 * Returns: the type of an output
 */
VnDType
vn_int_dtype (const VnOpContext *ctx,
              guint              zero_input,
              guint              like)
{
  return ctx->in_types[vn_op_has_input (ctx, zero_input) ? zero_input : like].dtype;
}

/**
 * vn_int_scalar:
 * @dtype: type of the tensor they belong to
 *
 * For `run`: reads one scale and one zero point; 0 if that is omitted.
 *
 * Returns: %FALSE if they are of other types, or not one number
 */
gboolean
vn_int_scalar (VnOpContext  *ctx,
               guint         scale_input,
               guint         zero_input,
               VnDType       dtype,
               VnIntScalar  *self,
               GError      **error)
{
  VnIntParams params;

  if (!vn_int_params (ctx, (int) scale_input, (int) zero_input, 1, &params, error))
    return FALSE;
  if (params.scales == NULL || (params.zeros != NULL && params.zeros->dtype != dtype))
    return vn_op_fail (ctx, error, _("the scale (input %u) and a zero point (input %u) of type %s are needed"), scale_input,
                       zero_input, vn_dtype_get_name (dtype));
  *self = (VnIntScalar) { dtype, *params.scales, vn_int_zero (params.zeros, 0) };
  return TRUE;
}

/**
 * vn_int_table:
 * @from: quantization of the bytes
 * @to: quantization of the results
 * @func: (nullable): what is computed of the numbers
 * @table: (out): results by the bits of the byte
 */
void
vn_int_table (const VnIntScalar *from,
              const VnIntScalar *to,
              VnIntFunc          func,
              float              parameter,
              guint8             table[256])
{
  float values[256];

  for (guint i = 0; i < 256; i++)
    {
      guint8 byte = (guint8) i;
      float x = (float) (vn_int_load (from->dtype, &byte, 0) - from->zero) * from->scale;

      values[i] = func != NULL ? func (x, parameter) : x;
    }
  vn_int_quantize (values, 256, to->scale, to->zero, to->dtype, table);
}
