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
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

/* Rows of blocks that one thread looks at in one go: a multiple of 4, as so many zero points of 2 bits lie in a byte. Columns of
 * which the ranges lie near the processor. */
#define PARAM_ROWS 64
#define PARAM_COLUMNS 512

/*< private >
 * vn_quant_cut_blocks:
 * @axis: along which the blocks run
 * @block: how many numbers of @axis have one scale
 * @dtype: an integer type
 */
VnBlockCut
vn_quant_cut_blocks (const VnShape *shape,
                     int            axis,
                     gint64         block,
                     VnDType        dtype)
{
  gint64 low = 0, high = 1;
  VnBlockCut self = { 0 };

  g_return_val_if_fail (shape != NULL && axis >= 0 && axis < shape->rank, self);

  self = (VnBlockCut) { (gsize) vn_shape_count (shape, 0, axis), (gsize) shape->dims[axis],
                        (gsize) vn_shape_count (shape, axis + 1, shape->rank), (gsize) block, 0, 0, 0, 0 };
  vn_dtype_integer_range (dtype, &low, &high);
  self.block = MAX (1, MIN (self.block, self.length));
  self.n_blocks = self.length / self.block + (self.length % self.block != 0);
  self.highest = high - low;
  self.middle = (self.highest + 1) / 2;
  self.shift = -low;
  return self;
}

typedef struct
{
  const VnBlockCut *cut;
  const float      *x;
  gboolean          symmetric;
  float            *scales;
  VnTensor         *zeros;
} BlockParams;

static float
quant_blocks_params_of_range (const BlockParams *self,
                              float              min,
                              float              max,
                              gint64            *zero_point)
{
  const VnBlockCut *cut = self->cut;
  float scale;

  if (self->symmetric)
    {
      *zero_point = cut->middle - cut->shift;
      return (fabsf (max) > fabsf (min) ? max : min) / (float) -cut->middle;
    }

  min = MIN (min, 0.f);
  max = MAX (max, 0.f);
  scale = (max - min) / (float) cut->highest;
  *zero_point = scale != 0 ? (gint64) CLAMP (roundf (-min / scale), 0.f, (float) cut->highest) : 0;
  *zero_point -= cut->shift;
  return scale;
}

/* Ranges of @width blocks that lie side by side, of @n rows that are @stride numbers apart. */
VN_MULTIVERSION
static void
quant_blocks_ranges_of_rows (const float *x,
                             gsize        n,
                             gsize        stride,
                             gsize        width,
                             float       *min,
                             float       *max)
{
  for (gsize i = 0; i < width; i++)
    min[i] = max[i] = x[i];
  for (gsize k = 1; k < n; k++)
    {
      const float *row = x + k * stride;

      for (gsize i = 0; i < width; i++)
        {
          min[i] = row[i] < min[i] ? row[i] : min[i];
          max[i] = row[i] > max[i] ? row[i] : max[i];
        }
    }
}

/* Of @width blocks that lie side by side; @x: the first number, @to: the place of the first scale */
static void
quant_blocks_find_some (const BlockParams *self,
                        const float       *x,
                        gsize              n,
                        gsize              width,
                        gsize              to)
{
  float min[PARAM_COLUMNS], max[PARAM_COLUMNS];

  if (self->cut->inner == 1)
    vn_floats_find_ends (x, n, min, max);
  else
    quant_blocks_ranges_of_rows (x, n, self->cut->inner, width, min, max);
  for (gsize i = 0; i < width; i++)
    {
      gint64 zero;

      self->scales[to + i] = quant_blocks_params_of_range (self, min[i], max[i], &zero);
      vn_quant_store_integer (self->zeros, to + i, zero);
    }
}

static gboolean
quant_blocks_find_params (gsize     item,
                          guint     worker,
                          gpointer  data,
                          GError  **error)
{
  const BlockParams *self = data;
  const VnBlockCut *cut = self->cut;
  const gsize end = MIN ((item + 1) * PARAM_ROWS, cut->outer * cut->n_blocks);

  for (gsize b = item * PARAM_ROWS; b < end; b++)
    {
      const gsize first = b % cut->n_blocks * cut->block, n = MIN (cut->block, cut->length - first);
      const float *x = self->x + (b / cut->n_blocks * cut->length + first) * cut->inner;

      for (gsize i = 0; i < cut->inner; i += PARAM_COLUMNS)
        quant_blocks_find_some (self, x + i, n, MIN (PARAM_COLUMNS, cut->inner - i), b * cut->inner + i);
    }
  return TRUE;
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
  BlockParams params;
  VnShape shape;
  VnBlockCut cut;
  gsize n_items;

  g_return_val_if_fail (data != NULL, FALSE);

  aligned = vn_tensor_get_aligned (data, error);
  shape = data->shape;
  if (aligned == NULL)
    return FALSE;

  cut = vn_quant_cut_blocks (&shape, axis, block, dtype);
  shape.dims[axis] = (gint64) cut.n_blocks;
  scales = vn_tensor_new_constant (VN_DTYPE_F32, &shape, error);
  if (scales == NULL)
    return FALSE;

  zeros = vn_tensor_new_constant (dtype, &shape, error);
  if (zeros == NULL)
    return FALSE;
  params = (BlockParams) { &cut, aligned->data, symmetric, scales->data, zeros };
  n_items = cut.outer * cut.n_blocks / PARAM_ROWS + (cut.outer * cut.n_blocks % PARAM_ROWS != 0);
  if (!vn_parallel_for (n_items > 1 ? 0 : 1, n_items, quant_blocks_find_params, &params, NULL, error))
    return FALSE;
  *zero_point = g_steal_pointer (&zeros);
  *scale = g_steal_pointer (&scales);
  return TRUE;
}
