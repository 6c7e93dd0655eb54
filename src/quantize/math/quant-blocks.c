/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Integers in blocks: a scale and a zero point for each run of numbers along one axis. With m = 2^(bits - 1) and
 * M = 2^bits - 1, for unsigned integers (signed ones are these less m):
 *
 *   symmetric:  s = e / -m, e the end of the range that is farther from 0, z = m: all 2^bits levels are used, and s is
 *               negative where e is positive
 *   asymmetric: lo = min (lo, 0), hi = max (hi, 0), s = (hi - lo) / M, z = round (-lo / s)
 *
 * in float, rounding halves away from 0, and multiplying by 1 / s: what onnxruntime.quantization's kernels for weights
 * do, so that the integers are equal. They add the zero point before they round for MatMulNBits, and behind for
 * DequantizeLinear. */

#include "vn-quant-math.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

typedef struct
{
  gsize   outer, length, inner;     /* axes before, the axis of the blocks, axes behind */
  gsize   block, n_blocks;          /* along the axis */
  gint64  middle, highest;          /* of the unsigned type */
  gint64  shift;                    /* what a signed type is less */
} Blocks;

static Blocks
blocks_of (const VnShape *shape,
           int            axis,
           gint64         block,
           VnDType        dtype)
{
  gint64 low = 0, high = 1;
  Blocks self = { (gsize) vn_shape_count (shape, 0, axis), (gsize) shape->dims[axis],
                  (gsize) vn_shape_count (shape, axis + 1, shape->rank), (gsize) block, 0, 0, 0, 0 };

  vn_dtype_integer_range (dtype, &low, &high);
  self.block = MAX (1, MIN (self.block, self.length));
  self.n_blocks = self.length / self.block + (self.length % self.block != 0);
  self.highest = high - low;
  self.middle = (self.highest + 1) / 2;
  self.shift = -low;
  return self;
}

static void
quant_blocks_params_of_range (const Blocks *self,
                              float         min,
                              float         max,
                              gboolean      symmetric,
                              float        *scale,
                              gint64       *zero_point)
{
  if (symmetric)
    {
      *scale = (fabsf (max) > fabsf (min) ? max : min) / (float) -self->middle;
      *zero_point = self->middle - self->shift;
      return;
    }

  min = MIN (min, 0.f);
  max = MAX (max, 0.f);
  *scale = (max - min) / (float) self->highest;
  *zero_point = *scale != 0 ? (gint64) CLAMP (roundf (-min / *scale), 0.f, (float) self->highest) : 0;
  *zero_point -= self->shift;
}

/* Ranges of one row of blocks that lie side by side. */
static void
quant_blocks_ranges_of_blocks (const float *x,
                               gsize        n,
                               gsize        inner,
                               float       *min,
                               float       *max)
{
  for (gsize i = 0; i < inner; i++)
    min[i] = max[i] = x[i];
  for (gsize k = 1; k < n; k++)
    {
      for (gsize i = 0; i < inner; i++)
        {
          min[i] = MIN (min[i], x[k * inner + i]);
          max[i] = MAX (max[i], x[k * inner + i]);
        }
    }
}

/*< private >
 * vn_quant_block_params:
 * @data: float32, finite, not empty, ends less than the greatest float apart
 * @axis: along which the blocks run
 * @block: how many numbers of @axis have one scale; at the end of the axis they may be fewer
 * @dtype: an integer type
 * @scale: (out): float32, of the shape of @data with the number of blocks on @axis; 0 where a block is all 0
 * @zero_point: (out): of type @dtype, as many
 */
gboolean
vn_quant_block_params (VnTensor   *data,
                       int         axis,
                       gint64      block,
                       VnDType     dtype,
                       gboolean    symmetric,
                       VnTensor  **scale,
                       VnTensor  **zero_point,
                       GError    **error)
{
  g_autoptr(VnTensor) aligned = NULL, scales = NULL, zeros = NULL;
  g_autofree float *ends = NULL;
  VnShape shape;
  Blocks cut;

  g_return_val_if_fail (data != NULL, FALSE);

  aligned = vn_tensor_get_aligned (data, error);
  shape = data->shape;
  if (aligned == NULL)
    return FALSE;

  cut = blocks_of (&shape, axis, block, dtype);
  shape.dims[axis] = (gint64) cut.n_blocks;
  scales = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  if (scales == NULL)
    return FALSE;

  zeros = vn_tensor_new (dtype, &shape, error);
  ends = vn_try_new (float, 2 * cut.inner, error);
  if (zeros == NULL || ends == NULL)
    return FALSE;
  for (gsize b = 0; b < cut.outer * cut.n_blocks; b++)
    {
      gsize first = b % cut.n_blocks * cut.block;
      const float *x = (const float *) aligned->data + (b / cut.n_blocks * cut.length + first) * cut.inner;

      quant_blocks_ranges_of_blocks (x, MIN (cut.block, cut.length - first), cut.inner, ends, ends + cut.inner);
      for (gsize i = 0; i < cut.inner; i++)
        {
          gint64 zero = 0;

          quant_blocks_params_of_range (&cut, ends[i], ends[cut.inner + i], symmetric, (float *) scales->data + b * cut.inner + i, &zero);
          vn_quant_store_integer (zeros, b * cut.inner + i, zero);
        }
    }

  *zero_point = g_steal_pointer (&zeros);
  *scale = g_steal_pointer (&scales);
  return TRUE;
}

/*< private >
 * vn_quant_quantize_blocks:
 * @data: float32, what @scale and @zero_point were made from
 * @zero_first: the zero point is added before rounding
 *
 * Returns: (transfer full): the integers, of type @dtype and the shape of @data
 */
VnTensor *
vn_quant_quantize_blocks (VnTensor        *data,
                          VnDType          dtype,
                          const VnTensor  *scale,
                          const VnTensor  *zero_point,
                          int              axis,
                          gint64           block,
                          gboolean         zero_first,
                          GError         **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  VnTensor *integers;
  Blocks cut;

  g_return_val_if_fail (data != NULL && scale != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  if (aligned == NULL)
    return NULL;

  cut = blocks_of (&data->shape, axis, block, dtype);
  integers = vn_tensor_new (dtype, &data->shape, error);
  for (gsize i = 0; integers != NULL && i < data->n_elements; i++)
    {
      gsize row = i / cut.inner;
      gsize p = (row / cut.length * cut.n_blocks + row % cut.length / cut.block) * cut.inner + i % cut.inner;
      float s = ((const float *) scale->data)[p], z = (float) (vn_tensor_get_s64 (zero_point, p) + cut.shift);
      float x = ((const float *) aligned->data)[i] * (s != 0 ? 1.f / s : 0.f);
      float q = zero_first ? roundf (x + z) : roundf (x) + z;

      /* a scale below the normal floats makes x NaN */
      vn_quant_store_integer (integers, i, (q > 0 ? (gint64) MIN (q, (float) cut.highest) : 0) - cut.shift);
    }
  return integers;
}
