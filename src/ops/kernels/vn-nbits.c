/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products with matrices of 2, 4 or 8 bits: rows are unpacked to floats; or what they are multiplied by is rounded to integers of
 * 8 bits by block, halves to even, as ONNX Runtime 1.32 does (sqnbitgemm_kernel_avx2_int8_blklen32.h and its kin): s = max |a| /
 * 127, a = round (a * (127 / max |a|)) * s. */
#include "vn-nbits.h"
#include "vn-gemm-general.h"

#include <math.h>

/* The largest of the integers. */
#define LARGEST 127.f

/**
 * vn_nbits_count_worker_bytes:
 *
 * For rows that are unpacked: floats, or integers of whole blocks. Of sizes that fit.
 */
gsize
vn_nbits_count_worker_bytes (const VnNbits *self)
{
  return VN_NBITS_ROWS * MAX (self->k * sizeof (float), self->n_blocks * self->block * sizeof (gint16));
}

static guint
nbits_packed_at (const guint8 *data,
                 guint         bits,
                 gsize         i)
{
  guint per_byte = 8 / bits;

  return data[i / per_byte] >> (i % per_byte * bits) & ((1u << bits) - 1);
}

static float
nbits_zero_at (const VnNbits *self,
               gsize          row,
               gsize          block)
{
  if (self->zeros != NULL)
    return self->zeros[row * self->n_blocks + block];
  if (self->packed_zeros == NULL)
    return (float) (1u << (self->bits - 1));
  return (float) (self->zero_bytes == 0 ? nbits_packed_at (self->packed_zeros, self->bits, row)
                                        : nbits_packed_at (self->packed_zeros + row * self->zero_bytes, self->bits, block));
}

static inline const guint8 *
nbits_block_at (const VnNbits *self,
                gsize          row,
                gsize          block)
{
  return self->packed + row * self->row_bytes + block * (self->block * self->bits / 8);
}

/**
 * vn_nbits_unpack_row:
 * @to: k elements
 */
void
vn_nbits_unpack_row (const VnNbits *self,
                     gsize          row,
                     float         *to)
{
  for (gsize block = 0; block < self->n_blocks; block++)
    {
      gsize first = block * self->block, n = MIN (self->block, self->k - first);
      const guint8 *b = nbits_block_at (self, row, block);
      float zero = nbits_zero_at (self, row, block), scale = self->scales[row * self->n_blocks + block];

      for (gsize i = 0; i < n; i++)
        to[first + i] = ((float) nbits_packed_at (b, self->bits, i) - zero) * scale;
      for (gsize i = 0; self->groups != NULL && i < n; i++)
        {
          gsize group = (gsize) vn_tensor_get_s64 (self->groups, first + i);

          to[first + i] = ((float) nbits_packed_at (b, self->bits, i) - nbits_zero_at (self, row, group)) *
                          self->scales[row * self->n_blocks + group];
        }
    }
}

static void
nbits_multiply_rows (gpointer data,
                     gsize    item,
                     guint    worker)
{
  const VnNbitsCall *self = data;
  const VnNbits *matrix = &self->matrix;
  gsize first = item * VN_NBITS_ROWS, n = MIN (VN_NBITS_ROWS, matrix->n - first);
  float *rows = (float *) ((char *) self->unpacked + worker * vn_nbits_count_worker_bytes (matrix));
  float *y = self->y + first;

  for (gsize i = 0; i < n; i++)
    vn_nbits_unpack_row (matrix, first + i, rows + i * matrix->k);
  for (gsize i = 0; i < self->m; i++)
    for (gsize j = 0; j < n; j++)
      y[i * self->ldy + j] = self->bias != NULL ? self->bias[first + j] : 0.f;
  vn_gemm_general (FALSE, TRUE, self->m, n, matrix->k, 1.f, self->a, matrix->k, rows, matrix->k, 1.f, y, self->ldy);
}

/* ---- integers ---- */

VN_MULTIVERSION
static void
nbits_round_block (const float *a,
                   gsize        n,
                   gint16      *to,
                   float       *scale)
{
  float largest = 0, strange = 0, inverse;

  for (gsize i = 0; i < n; i++)
    {
      largest = MAX (largest, fabsf (a[i]));
      strange += a[i] * 0;
    }
  *scale = largest / LARGEST + strange;   /* NaN where a number is not finite */
  inverse = largest != 0 ? LARGEST / largest : 0;
  for (gsize i = 0; i < n; i++)
    {
      float x = a[i] * inverse;

      x = x < LARGEST ? x : LARGEST;
      to[i] = (gint16) rintf (x > -LARGEST ? x : -LARGEST);
    }
}

static void
nbits_round_row (gpointer data,
                 gsize    item,
                 guint    worker)
{
  const VnNbitsCall *self = data;
  const VnNbits *matrix = &self->matrix;
  const gsize width = matrix->n_blocks * matrix->block;
  const float *a = self->a + item * matrix->k;

  memset (self->rounded + item * width + matrix->k, 0, (width - matrix->k) * sizeof (gint16));
  for (gsize block = 0; block < matrix->n_blocks; block++)
    nbits_round_block (a + block * matrix->block, MIN (matrix->block, matrix->k - block * matrix->block),
                       self->rounded + item * width + block * matrix->block, self->steps + item * matrix->n_blocks + block);
}

static inline void
nbits_take_zero (const guint8 *packed,
                 guint         bits,
                 gsize         n,
                 gint16        zero,
                 gint16       *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (gint16) ((gint16) nbits_packed_at (packed, bits, i) - zero);
}

VN_MULTIVERSION
static void
nbits_unpack_block (const guint8 *packed,
                    guint         bits,
                    gsize         n,
                    gint16        zero,
                    gint16       *to)
{
  if (bits == 8)
    nbits_take_zero (packed, 8, n, zero, to);
  else if (bits == 4)
    nbits_take_zero (packed, 4, n, zero, to);
  else
    nbits_take_zero (packed, 2, n, zero, to);
}

/* A product of integers of each block is exact; those of a row are added in double. */
VN_MULTIVERSION
static float
nbits_multiply_integers (const gint16 *a,
                         const float  *a_steps,
                         const gint16 *b,
                         const float  *b_scales,
                         gsize         n_blocks,
                         gsize         block)
{
  double sum = 0;

  for (gsize i = 0; i < n_blocks; i++)
    {
      gint32 dot = 0;

      for (gsize k = 0; k < block; k++)
        dot += a[i * block + k] * b[i * block + k];
      sum += (double) dot * (double) (a_steps[i] * b_scales[i]);
    }
  return (float) sum;
}

static void
nbits_multiply_rounded (gpointer data,
                        gsize    item,
                        guint    worker)
{
  const VnNbitsCall *self = data;
  const VnNbits *matrix = &self->matrix;
  const gsize width = matrix->n_blocks * matrix->block, first = item * VN_NBITS_ROWS, n = MIN (VN_NBITS_ROWS, matrix->n - first);
  gint16 *rows = (gint16 *) ((char *) self->unpacked + worker * vn_nbits_count_worker_bytes (matrix));

  for (gsize i = 0; i < n * matrix->n_blocks; i++)
    {
      const gsize row = first + i / matrix->n_blocks, block = i % matrix->n_blocks;

      nbits_unpack_block (nbits_block_at (matrix, row, block), matrix->bits, matrix->block,
                          (gint16) nbits_zero_at (matrix, row, block), rows + i * matrix->block);
    }
  for (gsize i = 0; i < self->m; i++)
    for (gsize j = first; j < first + n; j++)
      self->y[i * self->ldy + j] = (self->bias != NULL ? self->bias[j] : 0.f) +
                                   nbits_multiply_integers (self->rounded + i * width, self->steps + i * matrix->n_blocks,
                                                            rows + (j - first) * width, matrix->scales + j * matrix->n_blocks,
                                                            matrix->n_blocks, matrix->block);
}

/**
 * vn_nbits_multiply:
 *
 * With @steps, rows of the matrix must have whole blocks, zero points be packed and nothing be grouped.
 */
void
vn_nbits_multiply (const VnNbitsCall *self)
{
  const VnNbits *matrix = &self->matrix;
  const double cost = (double) VN_NBITS_ROWS * (double) matrix->k * (double) (self->m + 8) / 8;

  if (self->steps != NULL)
    vn_op_for_items (self->ctx, self->m, (double) matrix->k, nbits_round_row, (gpointer) self);
  vn_op_for_items (self->ctx, (matrix->n + VN_NBITS_ROWS - 1) / VN_NBITS_ROWS, cost,
                   self->steps != NULL ? nbits_multiply_rounded : nbits_multiply_rows, (gpointer) self);
}
