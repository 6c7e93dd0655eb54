/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Weights in blocks, packed as operators of ONNX Runtime read them: N rows of blocks of K numbers, low bits first; scales
 * N x blocks; zero points packed row by row. */

#include "vn-quant-write.h"

#include "vn-i18n.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <string.h>

#define INTEGER_LEVEL 4   /* at which activations are rounded */

/*< private >
 * vn_quant_get_block_layout:
 * @row: of blocks along the first or last axis of @weight
 * @table: the last block of a row is not filled up
 */
VnBlockLayout
vn_quant_get_block_layout (const VnQuantRow *row,
                           const VnTensor   *weight,
                           gboolean          table)
{
  const VnShape *shape;
  VnBlockLayout self = { 0 };

  g_return_val_if_fail (row != NULL && weight != NULL, self);

  shape = &weight->shape;
  self.block = (gsize) row->block;
  self.bits = (guint) vn_dtype_get_bits (row->tensor.dtype);
  self.table = table;
  self.by_rows = row->tensor.axis == shape->rank - 1;
  self.k = (gsize) shape->dims[row->tensor.axis];
  self.n = weight->n_elements / self.k;
  self.n_blocks = self.k / self.block + (self.k % self.block != 0);
  self.row_bytes = (table ? self.k : self.n_blocks * self.block) * self.bits / 8;
  return self;
}

static void
write_blocks_put_bits (guint8 *row,
                      guint   bits,
                      gsize   i,
                      gint64  value)
{
  const gsize per_byte = 8 / bits;

  row[i / per_byte] |= (guint8) (((guint) value & ((1u << bits) - 1)) << (i % per_byte * bits));
}

/* Bytes of a row that are made in one go, and rows that are made side by side where those of the result are columns: of their
 * numbers a few kilobytes follow each other. PIECE_BYTES: of each row, for one thread. */
#define PACK_BYTES 16
#define PACK_ROWS 1024
#define MOST_PER_BYTE 4
#define PIECE_BYTES 1024
#define ROWS_PART 64

typedef struct
{
  const VnBlockLayout *layout;
  const VnBlockCodes  *codes;
  VnTensor            *packed;
  gsize                used;       /* bytes of a row that stand for numbers */
  gsize                n_pieces;   /* of a row */
} Packing;

static gsize
write_blocks_divide_up (gsize n,
                        gsize part)
{
  return n / part + (n % part != 0);
}

/* @codes: @per_byte rows of @n; @bytes: (out): @n, with the first row in the low bits */
VN_MULTIVERSION
static void
write_blocks_join_rows (const guint8 *codes,
                        gsize         per_byte,
                        gsize         stride,
                        gsize         n,
                        guint         bits,
                        guint8       *bytes)
{
  for (gsize i = 0; i < n; i++)
    bytes[i] = codes[i];
  for (gsize p = 1; p < per_byte; p++)
    for (gsize i = 0; i < n; i++)
      bytes[i] |= (guint8) (codes[p * stride + i] << p * bits);
}

/* @codes: @per_byte for each of @n bytes */
VN_MULTIVERSION
static void
write_blocks_join_in_turn (const guint8 *codes,
                           gsize         n,
                           guint         bits,
                           guint8       *bytes)
{
  if (bits == 8)
    memcpy (bytes, codes, n);
  else if (bits == 4)
    for (gsize i = 0; i < n; i++)
      bytes[i] = (guint8) (codes[2 * i] | codes[2 * i + 1] << 4);
  else
    for (gsize i = 0; i < n; i++)
      bytes[i] = (guint8) (codes[4 * i] | codes[4 * i + 1] << 2 | codes[4 * i + 2] << 4 | codes[4 * i + 3] << 6);
}

static void
write_blocks_pack_row (const Packing *self,
                       gsize          row)
{
  const VnBlockLayout *layout = self->layout;
  const gsize per_byte = 8 / layout->bits;
  guint8 *to = (guint8 *) self->packed->data + row * layout->row_bytes;

  for (gsize k = 0; k < layout->k; k += VN_BLOCK_CODES)
    {
      const gsize n = MIN (VN_BLOCK_CODES, layout->k - k), n_bytes = (n + per_byte - 1) / per_byte;
      guint8 codes[VN_BLOCK_CODES];

      vn_block_codes_read (self->codes, row * layout->k + k, n, codes);
      memset (codes + n, 0, n_bytes * per_byte - n);
      write_blocks_join_in_turn (codes, n_bytes, layout->bits, to + k / per_byte);
    }
}

/* Numbers @k and those that share its byte, of rows @first on. */
static void
write_blocks_pack_columns (const Packing *self,
                           gsize          k,
                           gsize          first,
                           gsize          n,
                           guint8        *bytes)
{
  const VnBlockLayout *layout = self->layout;
  const gsize per_byte = 8 / layout->bits;
  guint8 codes[MOST_PER_BYTE][PACK_ROWS];

  for (gsize p = 0; p < per_byte; p++)
    for (gsize i = 0; i < n; i += VN_BLOCK_CODES)
      if (k + p < layout->k)
        vn_block_codes_read (self->codes, (k + p) * layout->n + first + i, MIN (VN_BLOCK_CODES, n - i), codes[p] + i);
      else
        memset (codes[p] + i, 0, MIN (VN_BLOCK_CODES, n - i));
  write_blocks_join_rows (codes[0], per_byte, PACK_ROWS, n, layout->bits, bytes);
}

/* @count bytes of each of @n rows. What lies far apart in the result goes by a tile. */
static void
write_blocks_pack_tile (const Packing *self,
                        gsize          first,
                        gsize          n,
                        gsize          begin,
                        gsize          count)
{
  const gsize per_byte = 8 / self->layout->bits, row_bytes = self->layout->row_bytes;
  guint8 *to = (guint8 *) self->packed->data + first * row_bytes + begin;
  guint8 tile[PACK_BYTES][PACK_ROWS];

  for (gsize j = 0; j < count; j++)
    write_blocks_pack_columns (self, (begin + j) * per_byte, first, n, tile[j]);
  for (gsize i = 0; i < n; i++)
    for (gsize j = 0; j < count; j++)
      to[i * row_bytes + j] = tile[j][i];
}

static gboolean
write_blocks_pack_piece (gsize     item,
                         guint     worker,
                         gpointer  data,
                         GError  **error)
{
  const Packing *self = data;
  const gsize first = item / self->n_pieces * PACK_ROWS, n = MIN (PACK_ROWS, self->layout->n - first);
  const gsize begin = item % self->n_pieces * PIECE_BYTES, end = MIN (begin + PIECE_BYTES, self->used);

  for (gsize at = begin; at < end; at += PACK_BYTES)
    write_blocks_pack_tile (self, first, n, at, MIN (PACK_BYTES, end - at));
  return TRUE;
}

static gboolean
write_blocks_pack_rows (gsize     item,
                        guint     worker,
                        gpointer  data,
                        GError  **error)
{
  const Packing *self = data;
  const gsize first = item * ROWS_PART, last = MIN (first + ROWS_PART, self->layout->n);

  for (gsize row = first; row < last; row++)
    write_blocks_pack_row (self, row);
  return TRUE;
}

static gboolean
write_blocks_pack (Packing  *self,
                   GError  **error)
{
  const VnBlockLayout *layout = self->layout;

  if (layout->by_rows)
    return vn_parallel_for (0, write_blocks_divide_up (layout->n, ROWS_PART), write_blocks_pack_rows, self, NULL, error);
  return vn_parallel_for (0, write_blocks_divide_up (layout->n, PACK_ROWS) * self->n_pieces, write_blocks_pack_piece, self, NULL,
                          error);
}

/* @codes: of unsigned integers of 2, 4 or 8 bits */
static VnTensor *
write_blocks_pack_weight (const VnBlockLayout  *self,
                          const VnBlockCodes   *codes,
                          GError              **error)
{
  const gint64 n = (gint64) self->n;
  const VnShape shape = self->table ? VN_SHAPE (n, (gint64) self->row_bytes)
                                    : VN_SHAPE (n, (gint64) self->n_blocks, (gint64) (self->block * self->bits / 8));
  g_autoptr(VnTensor) packed = vn_tensor_new_constant (VN_DTYPE_U8, &shape, error);
  const gsize used = (self->k * self->bits + 7) / 8;
  Packing packing = { self, codes, packed, used, write_blocks_divide_up (used, PIECE_BYTES) };

  if (packed == NULL)
    return NULL;
  for (gsize row = 0; used < self->row_bytes && row < self->n; row++)
    memset ((guint8 *) packed->data + row * self->row_bytes + used, 0, self->row_bytes - used);
  return write_blocks_pack (&packing, error) ? g_steal_pointer (&packed) : NULL;
}

/* Where block @b of row @n of the result lies among scales. */
static gsize
write_blocks_find (const VnBlockLayout *self,
                   gsize                n,
                   gsize                b)
{
  return self->by_rows ? n * self->n_blocks + b : b * self->n + n;
}

/* What fills up the last block of each row stands for 0. */
static void
write_blocks_fill_up (const VnBlockLayout *self,
                      const VnBlockCodes  *codes,
                      VnTensor            *packed)
{
  for (gsize n = 0; n < self->n && !self->table; n++)
    {
      const gint64 zero = (gint64) codes->zeros[write_blocks_find (self, n, self->n_blocks - 1)];

      for (gsize k = self->k; k < self->n_blocks * self->block; k++)
        write_blocks_put_bits ((guint8 *) packed->data + n * self->row_bytes, self->bits, k, zero);
    }
}

/* @numbers: one for each block */
static VnTensor *
write_blocks_pack_floats (const VnBlockLayout  *self,
                          const float          *numbers,
                          GError              **error)
{
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_F32, &VN_SHAPE ((gint64) self->n, (gint64) self->n_blocks), error);
  float *to = packed != NULL ? packed->data : NULL;

  for (gsize n = 0; packed != NULL && n < self->n; n++)
    for (gsize b = 0; b < self->n_blocks; b++)
      *to++ = numbers[write_blocks_find (self, n, b)];
  return packed;
}

/* What is unused of a last byte is the middle, as the peer leaves it. */
static VnTensor *
write_blocks_pack_zero_points (const VnBlockLayout  *self,
                               const VnBlockCodes   *codes,
                               GError              **error)
{
  const gsize bytes = (self->n_blocks * self->bits + 7) / 8;
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_U8, &VN_SHAPE ((gint64) self->n, (gint64) bytes), error);

  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  for (gsize n = 0; n < self->n; n++)
    {
      guint8 *row = (guint8 *) packed->data + n * bytes;

      for (gsize b = 0; b < self->n_blocks; b++)
        write_blocks_put_bits (row, self->bits, b, (gint64) codes->zeros[write_blocks_find (self, n, b)]);
      for (gsize b = self->n_blocks; b < bytes * 8 / self->bits; b++)
        write_blocks_put_bits (row, self->bits, b, (gint64) 1 << (self->bits - 1));
    }
  return packed;
}

static gboolean
write_blocks_pack_all (const VnQuantRow     *row,
                       const VnBlockLayout  *layout,
                       const VnBlockCodes   *codes,
                       VnTensor            **packed,
                       VnTensor            **scales,
                       VnTensor            **zero_points,
                       GError              **error)
{
  g_autoptr(VnTensor) made = NULL, steps = NULL;

  if ((made = write_blocks_pack_weight (layout, codes, error)) == NULL ||
      (steps = write_blocks_pack_floats (layout, row->tensor.scale->data, error)) == NULL)
    return FALSE;
  *zero_points = row->tensor.zero_point->dtype == VN_DTYPE_F32 ? write_blocks_pack_floats (layout, codes->zeros, error)
                                                               : write_blocks_pack_zero_points (layout, codes, error);
  if (*zero_points == NULL)
    return FALSE;
  if (row->exact_levels)
    write_blocks_fill_up (layout, codes, made);
  *packed = g_steal_pointer (&made);
  *scales = g_steal_pointer (&steps);
  return TRUE;
}

/*< private >
 * vn_quant_pack_blocks:
 * @row: of blocks along the first or last axis of @weight, of an unsigned type of 2, 4 or 8 bits
 * @table: the last block of a row is not filled up
 * @packed: (out): uint8, rows x blocks x bytes of a block; of a table rows x bytes
 * @scales: (out): rows x blocks
 * @zero_points: (out): uint8, rows x bytes; rows x blocks where they are float32
 */
gboolean
vn_quant_pack_blocks (const VnQuantRow  *row,
                      VnTensor          *weight,
                      gboolean           table,
                      VnTensor         **packed,
                      VnTensor         **scales,
                      VnTensor         **zero_points,
                      GError           **error)
{
  VnBlockLayout layout;
  VnBlockCodes codes;
  gboolean done;

  g_return_val_if_fail (row != NULL && weight != NULL, FALSE);

  layout = vn_quant_get_block_layout (row, weight, table);
  if (!vn_block_codes_init (&codes, weight, row->tensor.dtype, row->tensor.scale, row->tensor.zero_point, row->tensor.axis,
                            row->block, row->exact_levels ? VN_BLOCK_EXACT : VN_BLOCK_ZERO_FIRST, error))
    return FALSE;
  done = write_blocks_pack_all (row, &layout, &codes, packed, scales, zero_points, error);
  vn_block_codes_clear (&codes);
  vn_tensor_release_pages (weight);
  if (!done)
    g_prefix_error (error, "“%s”: ", row->tensor.name);
  return done;
}

/*< private >
 * vn_quant_get_accuracy_level:
 * @node: index of a node of the network that @plan is of
 *
 * With fewer levels ONNX Runtime multiplies weights of 8 bits some hundred times slower, those of 4 bits up to 4 times.
 *
 * Returns: of MatMulNBits and QMoE
 */
gint64
vn_quant_get_accuracy_level (const VnQuantPlan *plan,
                             guint              node)
{
  int level;

  g_return_val_if_fail (plan != NULL, 0);

  level = plan->accuracy_levels != NULL ? plan->accuracy_levels[node] : VN_ACCURACY_LEVEL_AUTO;
  return level == VN_ACCURACY_LEVEL_AUTO ? INTEGER_LEVEL : level - VN_ACCURACY_LEVEL_0;
}
