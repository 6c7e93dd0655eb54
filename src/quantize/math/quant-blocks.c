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
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

/* Numbers that are looked at in one go, and by one thread; multiples of 4, as so many numbers of 2 bits lie in a byte. */
#define BLOCK_RUN 256
#define BLOCK_PART ((gsize) 1 << 18)

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

static void
quant_blocks_params_of_range (const VnBlockCut *self,
                              float             min,
                              float             max,
                              gboolean          symmetric,
                              float            *scale,
                              gint64           *zero_point)
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
  VnBlockCut cut;

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

          quant_blocks_params_of_range (&cut, ends[i], ends[cut.inner + i], symmetric, (float *) scales->data + b * cut.inner + i,
                                        &zero);
          vn_quant_store_integer (zeros, b * cut.inner + i, zero);
        }
    }

  *zero_point = g_steal_pointer (&zeros);
  *scale = g_steal_pointer (&scales);
  return TRUE;
}

/* ---- integers ---- */

/* Two steps, so that no compiler makes one operation of a product and a sum, which rounds once less. */
VN_MULTIVERSION
static void
quant_blocks_divide (const float *x,
                     const float *inverse,
                     gsize        n,
                     float       *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = x[i] * inverse[i];
}

VN_MULTIVERSION
static void
quant_blocks_divide_by_one (const float *x,
                            float        inverse,
                            gsize        n,
                            float       *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = x[i] * inverse;
}

/* A scale below the normal floats makes a number NaN, which becomes 0. */
VN_MULTIVERSION
static void
quant_blocks_round (const float *x,
                    const float *zeros,
                    gsize        n,
                    gboolean     zero_first,
                    float        highest,
                    guint8      *codes)
{
  if (zero_first)
    for (gsize i = 0; i < n; i++)
      {
        float q = roundf (x[i] + zeros[i]);

        codes[i] = (guint8) (gint32) (q > 0 ? MIN (q, highest) : 0.f);
      }
  else
    for (gsize i = 0; i < n; i++)
      {
        float q = roundf (x[i]) + zeros[i];

        codes[i] = (guint8) (gint32) (q > 0 ? MIN (q, highest) : 0.f);
      }
}

/* A scale of 0 makes a number NaN or infinite, too. */
VN_MULTIVERSION
static void
quant_blocks_round_exactly (const float *x,
                            const float *scales,
                            const float *zeros,
                            gsize        n,
                            double       highest,
                            guint8      *codes)
{
  for (gsize i = 0; i < n; i++)
    {
      double q = rint ((double) x[i] / (double) scales[i] + (double) zeros[i]);

      codes[i] = (guint8) (gint32) (q > 0 ? MIN (q, highest) : 0.);
    }
}

typedef struct
{
  const VnBlockCut *cut;
  const float      *x;
  float            *factors, *zeros;     /* by block: 1 / scale, or 0, and the zero point of the unsigned type */
  VnBlockRounding   rounding;            /* VN_BLOCK_EXACT: scales instead of 1 / scale */
  VnTensor         *integers;
} BlockCodes;

/* How many numbers from @at on are side by side with as many blocks, or in one block; @block: (out): the first. */
static gsize
quant_blocks_find_run (const VnBlockCut *cut,
                       gsize         at,
                       gsize        *block)
{
  gsize row = at / cut->inner, k = row % cut->length;

  *block = (row / cut->length * cut->n_blocks + k / cut->block) * cut->inner + at % cut->inner;
  return cut->inner > 1 ? cut->inner - at % cut->inner : MIN (cut->block - k % cut->block, cut->length - k);
}

static void
quant_blocks_scale (const BlockCodes *self,
                    gsize             at,
                    gsize             block,
                    gsize             n,
                    float            *numbers)
{
  if (self->cut->inner > 1)
    quant_blocks_divide (self->x + at, self->factors + block, n, numbers);
  else
    quant_blocks_divide_by_one (self->x + at, self->factors[block], n, numbers);
}

static void
quant_blocks_make_codes (const BlockCodes *self,
                         gsize             first,
                         gsize             n,
                         guint8           *codes)
{
  const gboolean exact = self->rounding == VN_BLOCK_EXACT;
  float numbers[BLOCK_RUN], zeros[BLOCK_RUN];    /* exact: scales instead of numbers */
  gsize done = 0;

  while (done < n)
    {
      gsize block, run = quant_blocks_find_run (self->cut, first + done, &block);

      run = MIN (run, n - done);
      if (!exact)
        quant_blocks_scale (self, first + done, block, run, numbers + done);
      for (gsize i = 0; i < run; i++)
        {
          const gsize b = block + (self->cut->inner > 1 ? i : 0);

          numbers[done + i] = exact ? self->factors[b] : numbers[done + i];
          zeros[done + i] = self->zeros[b];
        }
      done += run;
    }
  if (exact)
    quant_blocks_round_exactly (self->x + first, numbers, zeros, n, (double) self->cut->highest, codes);
  else
    quant_blocks_round (numbers, zeros, n, self->rounding == VN_BLOCK_ZERO_FIRST, (float) self->cut->highest, codes);
}

/* @first is a multiple of 4. */
static void
quant_blocks_store_codes (const BlockCodes *self,
                          gsize             first,
                          gsize             n,
                          const guint8     *codes)
{
  guint8 shift = (guint8) self->cut->shift, *bytes = self->integers->data;

  if (vn_dtype_get_bits (self->integers->dtype) == 8)
    {
      for (gsize i = 0; i < n; i++)
        bytes[first + i] = codes[i] - shift;
      return;
    }
  if (vn_dtype_get_bits (self->integers->dtype) == 2)
    {
      for (gsize i = 0; i < n; i++)
        vn_quant_store_integer (self->integers, first + i, codes[i] - shift);
      return;
    }
  for (gsize i = 0; i + 1 < n; i += 2)
    bytes[(first + i) / 2] = (guint8) (((codes[i] - shift) & 0xf) | ((codes[i + 1] - shift) & 0xf) << 4);
  if (n % 2 != 0)
    bytes[(first + n) / 2] = (codes[n - 1] - shift) & 0xf;
}

static gboolean
quant_blocks_quantize_part (gsize     item,
                            guint     worker,
                            gpointer  data,
                            GError  **error)
{
  const BlockCodes *self = data;
  gsize last = MIN ((item + 1) * BLOCK_PART, self->integers->n_elements);
  guint8 codes[BLOCK_RUN];

  for (gsize first = item * BLOCK_PART; first < last; first += BLOCK_RUN)
    {
      gsize n = MIN (BLOCK_RUN, last - first);

      quant_blocks_make_codes (self, first, n, codes);
      quant_blocks_store_codes (self, first, n, codes);
    }
  return TRUE;
}

/* Types of at most 8 bits. */
static gboolean
quant_blocks_quantize_small (BlockCodes      *self,
                             const VnTensor  *scale,
                             const VnTensor  *zero_point,
                             GError         **error)
{
  gsize n = scale->n_elements, n_parts = self->integers->n_elements / BLOCK_PART + (self->integers->n_elements % BLOCK_PART != 0);
  g_autofree float *numbers = vn_try_new (float, 2 * n, error);

  if (numbers == NULL)
    return FALSE;
  self->factors = numbers;
  self->zeros = numbers + n;
  for (gsize i = 0; i < n; i++)
    {
      float s = ((const float *) scale->data)[i];

      self->factors[i] = self->rounding == VN_BLOCK_EXACT ? s : s != 0 ? 1.f / s : 0.f;
      self->zeros[i] = (float) (vn_tensor_get_double (zero_point, i) + (double) self->cut->shift);
    }
  return vn_parallel_for (n_parts > 1 ? 0 : 1, n_parts, quant_blocks_quantize_part, self, NULL, error);
}

static void
quant_blocks_quantize_wide (const BlockCodes *self,
                            const VnTensor   *scale,
                            const VnTensor   *zero_point)
{
  for (gsize i = 0; i < self->integers->n_elements; i++)
    {
      gsize p;
      float s, z, x, q;

      quant_blocks_find_run (self->cut, i, &p);
      s = ((const float *) scale->data)[p];
      z = (float) (vn_tensor_get_s64 (zero_point, p) + self->cut->shift);
      x = self->x[i] * (s != 0 ? 1.f / s : 0.f);
      q = self->rounding == VN_BLOCK_ZERO_FIRST ? roundf (x + z) : roundf (x) + z;
      vn_quant_store_integer (self->integers, i, (q > 0 ? (gint64) MIN (q, (float) self->cut->highest) : 0) - self->cut->shift);
    }
}

/*< private >
 * vn_quant_quantize_blocks:
 * @data: float32, what @scale and @zero_point were made from
 * @zero_point: of type @dtype, or float32
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
                          VnBlockRounding  rounding,
                          GError         **error)
{
  g_autoptr(VnTensor) aligned = NULL, integers = NULL;
  BlockCodes codes;
  VnBlockCut cut;

  g_return_val_if_fail (data != NULL && scale != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  integers = aligned != NULL ? vn_tensor_new_constant (dtype, &data->shape, error) : NULL;
  if (integers == NULL)
    return NULL;

  cut = vn_quant_cut_blocks (&data->shape, axis, block, dtype);
  codes = (BlockCodes) { &cut, aligned->data, NULL, NULL, rounding, integers };
  if (vn_dtype_get_bits (dtype) > 8)
    quant_blocks_quantize_wide (&codes, scale, zero_point);
  else if (!quant_blocks_quantize_small (&codes, scale, zero_point, error))
    return NULL;
  return g_steal_pointer (&integers);
}
