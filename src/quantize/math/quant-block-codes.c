/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The integers of numbers in blocks, by the scales and zero points that quant-blocks.c and others have found. They are read a
 * few at a time by who packs them, so that no second copy of a weight is made. */

#include "vn-quant-math.h"

#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

/* Numbers for one thread in one go: a multiple of 4, as so many numbers of 2 bits lie in a byte. */
#define CODES_PART ((gsize) 1 << 18)

/* Two steps, so that no compiler makes one operation of a product and a sum, which rounds once less. */
VN_MULTIVERSION
static void
block_codes_divide (const float *x,
                    const float *inverse,
                    gsize        n,
                    float       *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = x[i] * inverse[i];
}

VN_MULTIVERSION
static void
block_codes_divide_by_one (const float *x,
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
block_codes_round (const float *x,
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
block_codes_round_exactly (const float *x,
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

/* How many numbers from @at on are side by side with as many blocks, or in one block; @block: (out): the first. */
static gsize
block_codes_find_run (const VnBlockCut *cut,
                      gsize         at,
                      gsize        *block)
{
  gsize row = at / cut->inner, k = row % cut->length;

  *block = (row / cut->length * cut->n_blocks + k / cut->block) * cut->inner + at % cut->inner;
  return cut->inner > 1 ? cut->inner - at % cut->inner : MIN (cut->block - k % cut->block, cut->length - k);
}

/* Numbers of one block each. */
static void
block_codes_read_side_by_side (const VnBlockCodes *self,
                               gsize               at,
                               gsize               block,
                               gsize               n,
                               guint8             *codes)
{
  const float highest = (float) self->cut.highest;
  float numbers[VN_BLOCK_CODES];

  if (self->rounding == VN_BLOCK_EXACT)
    {
      block_codes_round_exactly (self->x + at, self->factors + block, self->zeros + block, n, highest, codes);
      return;
    }
  block_codes_divide (self->x + at, self->factors + block, n, numbers);
  block_codes_round (numbers, self->zeros + block, n, self->rounding == VN_BLOCK_ZERO_FIRST, highest, codes);
}

/* Numbers of a few blocks that follow each other. */
static void
block_codes_read_in_turn (const VnBlockCodes *self,
                          gsize               first,
                          gsize               n,
                          guint8             *codes)
{
  const gboolean exact = self->rounding == VN_BLOCK_EXACT;
  float numbers[VN_BLOCK_CODES], zeros[VN_BLOCK_CODES];    /* exact: scales instead of numbers */

  for (gsize done = 0, run; done < n; done += run)
    {
      gsize block;

      run = MIN (block_codes_find_run (&self->cut, first + done, &block), n - done);
      if (!exact)
        block_codes_divide_by_one (self->x + first + done, self->factors[block], run, numbers + done);
      for (gsize i = 0; i < run; i++)
        {
          numbers[done + i] = exact ? self->factors[block] : numbers[done + i];
          zeros[done + i] = self->zeros[block];
        }
    }
  if (exact)
    block_codes_round_exactly (self->x + first, numbers, zeros, n, (double) self->cut.highest, codes);
  else
    block_codes_round (numbers, zeros, n, self->rounding == VN_BLOCK_ZERO_FIRST, (float) self->cut.highest, codes);
}

/*< private >
 * vn_block_codes_read:
 * @first: index of an element of the tensor
 * @n: at most %VN_BLOCK_CODES elements from there on
 * @codes: (out): the integers, as unsigned ones: the least is 0
 */
void
vn_block_codes_read (const VnBlockCodes *self,
                     gsize               first,
                     gsize               n,
                     guint8             *codes)
{
  g_return_if_fail (self != NULL && n <= VN_BLOCK_CODES);

  if (self->cut.inner == 1)
    {
      block_codes_read_in_turn (self, first, n, codes);
      return;
    }
  for (gsize done = 0, run; done < n; done += run)
    {
      gsize block;

      run = MIN (block_codes_find_run (&self->cut, first + done, &block), n - done);
      block_codes_read_side_by_side (self, first + done, block, run, codes + done);
    }
}

/* Zero points of the unsigned type. */
static void
block_codes_load_zeros (const VnTensor *zero_point,
                        gint64          shift,
                        float          *zeros)
{
  const guint8 *bytes = zero_point->data, flip = (guint8) shift;    /* of the sign */
  const guint bits = (guint) vn_dtype_get_bits (zero_point->dtype);

  for (gsize i = 0; i < zero_point->n_elements; i++)
    if (bits == 4)
      zeros[i] = (float) ((bytes[i / 2] >> i % 2 * 4 & 0xf) ^ flip);
    else if (bits == 8)
      zeros[i] = (float) (bytes[i] ^ flip);
    else
      zeros[i] = (float) (vn_tensor_get_double (zero_point, i) + (double) shift);
}

/*< private >
 * vn_block_codes_init:
 * @data: float32, what @scale and @zero_point were made from; kept until vn_block_codes_clear()
 * @dtype: integers of at most 8 bits
 * @zero_point: of type @dtype, or float32
 *
 * Makes ready to read the integers that stand for the numbers.
 */
gboolean
vn_block_codes_init (VnBlockCodes    *self,
                     VnTensor        *data,
                     VnDType          dtype,
                     const VnTensor  *scale,
                     const VnTensor  *zero_point,
                     int              axis,
                     gint64           block,
                     VnBlockRounding  rounding,
                     GError         **error)
{
  gsize n;

  g_return_val_if_fail (self != NULL && data != NULL && scale != NULL && zero_point != NULL, FALSE);

  n = scale->n_elements;
  *self = (VnBlockCodes) { .rounding = rounding, .cut = vn_quant_cut_blocks (&data->shape, axis, block, dtype) };
  if ((self->data = vn_tensor_get_aligned (data, error)) == NULL || (self->factors = vn_try_new (float, 2 * n, error)) == NULL)
    {
      vn_block_codes_clear (self);
      return FALSE;
    }
  self->x = self->data->data;
  self->zeros = self->factors + n;
  for (gsize i = 0; i < n; i++)
    {
      float s = ((const float *) scale->data)[i];

      self->factors[i] = rounding == VN_BLOCK_EXACT ? s : s != 0 ? 1.f / s : 0.f;
    }
  block_codes_load_zeros (zero_point, self->cut.shift, self->zeros);
  return TRUE;
}

void
vn_block_codes_clear (VnBlockCodes *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->data, vn_tensor_unref);
  g_clear_pointer (&self->factors, g_free);
}

/* ---- whole tensors ---- */

typedef struct
{
  const VnBlockCodes *codes;
  VnTensor           *integers;
} Quantizing;

/* @bytes: (out): two numbers each, the first in the low bits */
VN_MULTIVERSION
static void
block_codes_store_nibbles (const guint8 *codes,
                           gsize         n_bytes,
                           guint8        shift,
                           guint8       *bytes)
{
  for (gsize i = 0; i < n_bytes; i++)
    bytes[i] = (guint8) (((codes[2 * i] - shift) & 0xf) | ((codes[2 * i + 1] - shift) & 0xf) << 4);
}

/* @first is a multiple of 4. */
static void
block_codes_store (const Quantizing *self,
                   gsize             first,
                   gsize             n,
                   const guint8     *codes)
{
  guint8 shift = (guint8) self->codes->cut.shift, *bytes = self->integers->data;

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
  block_codes_store_nibbles (codes, n / 2, shift, bytes + first / 2);
  if (n % 2 != 0)
    bytes[(first + n) / 2] = (codes[n - 1] - shift) & 0xf;
}

static gboolean
block_codes_quantize_part (gsize     item,
                           guint     worker,
                           gpointer  data,
                           GError  **error)
{
  const Quantizing *self = data;
  gsize last = MIN ((item + 1) * CODES_PART, self->integers->n_elements);
  guint8 codes[VN_BLOCK_CODES];

  for (gsize first = item * CODES_PART; first < last; first += VN_BLOCK_CODES)
    {
      gsize n = MIN (VN_BLOCK_CODES, last - first);

      vn_block_codes_read (self->codes, first, n, codes);
      block_codes_store (self, first, n, codes);
    }
  return TRUE;
}

static void
block_codes_quantize_wide (VnTensor         *data,
                           const VnBlockCut *cut,
                           const VnTensor   *scale,
                           const VnTensor   *zero_point,
                           VnBlockRounding   rounding,
                           VnTensor         *integers)
{
  for (gsize i = 0; i < integers->n_elements; i++)
    {
      gsize p;
      float s, z, x, q;

      block_codes_find_run (cut, i, &p);
      s = ((const float *) scale->data)[p];
      z = (float) (vn_tensor_get_s64 (zero_point, p) + cut->shift);
      x = ((const float *) data->data)[i] * (s != 0 ? 1.f / s : 0.f);
      q = rounding == VN_BLOCK_ZERO_FIRST ? roundf (x + z) : roundf (x) + z;
      vn_quant_store_integer (integers, i, (q > 0 ? (gint64) MIN (q, (float) cut->highest) : 0) - cut->shift);
    }
}

static gboolean
block_codes_quantize_small (VnTensor         *data,
                            const VnTensor   *scale,
                            const VnTensor   *zero_point,
                            int               axis,
                            gint64            block,
                            VnBlockRounding   rounding,
                            VnTensor         *integers,
                            GError          **error)
{
  const gsize n_parts = integers->n_elements / CODES_PART + (integers->n_elements % CODES_PART != 0);
  VnBlockCodes codes;
  Quantizing self = { &codes, integers };
  gboolean done;

  if (!vn_block_codes_init (&codes, data, integers->dtype, scale, zero_point, axis, block, rounding, error))
    return FALSE;
  done = vn_parallel_for (n_parts > 1 ? 0 : 1, n_parts, block_codes_quantize_part, &self, NULL, error);
  vn_block_codes_clear (&codes);
  return done;
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
  VnBlockCut cut;

  g_return_val_if_fail (data != NULL && scale != NULL, NULL);

  aligned = vn_tensor_get_aligned (data, error);
  integers = aligned != NULL ? vn_tensor_new_constant (dtype, &data->shape, error) : NULL;
  if (integers == NULL)
    return NULL;

  cut = vn_quant_cut_blocks (&data->shape, axis, block, dtype);
  if (vn_dtype_get_bits (dtype) > 8)
    block_codes_quantize_wide (aligned, &cut, scale, zero_point, rounding, integers);
  else if (!block_codes_quantize_small (aligned, scale, zero_point, axis, block, rounding, integers, error))
    return NULL;
  return g_steal_pointer (&integers);
}
