/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Weights in blocks, packed as operators of ONNX Runtime read them: N rows of blocks of K numbers, low bits first; scales
 * N x blocks; zero points packed row by row. */

#include "vn-quant-write.h"

#include "vn-i18n.h"
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

/* Columns that one thread turns into rows in one go, and bytes of each. */
#define PACK_COLUMNS 64
#define PACK_BYTES 64

typedef struct
{
  const VnBlockLayout   *layout;
  const VnTensor *data;
  VnTensor       *packed;
} Packing;

static void
write_blocks_pack_rows (const Packing *self,
                       gsize          first,
                       gsize          last)
{
  const VnBlockLayout *layout = self->layout;
  const gsize bytes = layout->k * layout->bits / 8;

  for (gsize n = first; n < last; n++)
    if (layout->by_rows && bytes * 8 == layout->k * layout->bits)
      memcpy ((guint8 *) self->packed->data + n * layout->row_bytes, (const guint8 *) self->data->data + n * bytes, bytes);
    else
      for (gsize k = 0; k < layout->k; k++)
        write_blocks_put_bits ((guint8 *) self->packed->data + n * layout->row_bytes, layout->bits, k,
                              vn_tensor_get_s64 (self->data, layout->by_rows ? n * layout->k + k : k * layout->n + n));
}

/* Two rows of numbers of 4 bits at a time, both of an even number of columns, become bytes of two rows. What lies far apart in
 * the result goes by a tile. */
static void
write_blocks_pack_nibbles (const Packing *self,
                          gsize          first,
                          gsize          last)
{
  guint8 tile[PACK_COLUMNS][PACK_BYTES];
  gsize step = self->layout->n / 2, n_bytes = (self->layout->k + 1) / 2;

  for (gsize begin = 0; begin < n_bytes; begin += PACK_BYTES)
    {
      gsize count = MIN (PACK_BYTES, n_bytes - begin);

      for (gsize j = 0; j < count; j++)
        {
          const guint8 *a = (const guint8 *) self->data->data + 2 * (begin + j) * step;
          const guint8 *b = 2 * (begin + j) + 1 < self->layout->k ? a + step : NULL;

          for (gsize n = first; n < last; n += 2)
            {
              guint8 low = a[n / 2], high = b != NULL ? b[n / 2] : 0;

              tile[n - first][j] = (guint8) ((low & 0xf) | (high & 0xf) << 4);
              tile[n - first + 1][j] = (guint8) (low >> 4 | (high & 0xf0));
            }
        }
      for (gsize n = first; n < last; n++)
        memcpy ((guint8 *) self->packed->data + n * self->layout->row_bytes + begin, tile[n - first], count);
    }
}

static void
write_blocks_pack_bytes (const Packing *self,
                        gsize          first,
                        gsize          last)
{
  guint8 tile[PACK_COLUMNS][PACK_BYTES];

  for (gsize begin = 0; begin < self->layout->k; begin += PACK_BYTES)
    {
      gsize count = MIN (PACK_BYTES, self->layout->k - begin);

      for (gsize j = 0; j < count; j++)
        for (gsize n = first; n < last; n++)
          tile[n - first][j] = ((const guint8 *) self->data->data)[(begin + j) * self->layout->n + n];
      for (gsize n = first; n < last; n++)
        memcpy ((guint8 *) self->packed->data + n * self->layout->row_bytes + begin, tile[n - first], count);
    }
}

static gboolean
write_blocks_pack_part (gsize     item,
                       guint     worker,
                       gpointer  data,
                       GError  **error)
{
  const Packing *self = data;
  gsize first = item * PACK_COLUMNS, last = MIN (first + PACK_COLUMNS, self->layout->n);

  if (self->layout->by_rows || self->layout->bits == 2 || (self->layout->bits == 4 && self->layout->n % 2 != 0))
    write_blocks_pack_rows (self, first, last);
  else if (self->layout->bits == 4)
    write_blocks_pack_nibbles (self, first, last);
  else
    write_blocks_pack_bytes (self, first, last);
  return TRUE;
}

/* @data: unsigned integers of 2, 4 or 8 bits */
static VnTensor *
write_blocks_pack_weight (const VnBlockLayout    *self,
                         const VnTensor  *data,
                         GError         **error)
{
  const gint64 n = (gint64) self->n;
  const VnShape shape = self->table ? VN_SHAPE (n, (gint64) self->row_bytes)
                                    : VN_SHAPE (n, (gint64) self->n_blocks, (gint64) (self->block * self->bits / 8));
  g_autoptr(VnTensor) packed = vn_tensor_new_constant (VN_DTYPE_U8, &shape, error);
  const gsize n_parts = self->n / PACK_COLUMNS + (self->n % PACK_COLUMNS != 0);
  Packing packing = { self, data, packed };

  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  return vn_parallel_for (0, n_parts, write_blocks_pack_part, &packing, NULL, error) ? g_steal_pointer (&packed) : NULL;
}

/* What fills up the last block of each row stands for 0. */
static void
write_blocks_fill_up (const VnBlockLayout   *self,
                     const VnTensor *zero_point,
                     VnTensor       *packed)
{
  for (gsize n = 0; n < self->n && !self->table; n++)
    {
      const gsize last = self->n_blocks - 1;
      const gint64 zero = vn_tensor_get_s64 (zero_point, self->by_rows ? n * self->n_blocks + last : last * self->n + n);

      for (gsize k = self->k; k < self->n_blocks * self->block; k++)
        write_blocks_put_bits ((guint8 *) packed->data + n * self->row_bytes, self->bits, k, zero);
    }
}

/* Floats, one for each block. */
static VnTensor *
write_blocks_pack_scales (const VnBlockLayout    *self,
                         const VnTensor  *scale,
                         GError         **error)
{
  VnTensor *packed = vn_tensor_new_constant (VN_DTYPE_F32, &VN_SHAPE ((gint64) self->n, (gint64) self->n_blocks), error);

  for (gsize i = 0; packed != NULL && i < packed->n_elements; i++)
    {
      gsize n = i / self->n_blocks, b = i % self->n_blocks;

      ((float *) packed->data)[i] = ((const float *) scale->data)[self->by_rows ? i : b * self->n + n];
    }
  return packed;
}

/* What is unused of a last byte is the middle, as the peer leaves it. */
static VnTensor *
write_blocks_pack_zero_points (const VnBlockLayout    *self,
                              const VnTensor  *zero_point,
                              GError         **error)
{
  gsize bytes = (self->n_blocks * self->bits + 7) / 8;
  VnTensor *packed;

  if (zero_point->dtype == VN_DTYPE_F32)
    return write_blocks_pack_scales (self, zero_point, error);
  packed = vn_tensor_new_constant (VN_DTYPE_U8, &VN_SHAPE ((gint64) self->n, (gint64) bytes), error);
  if (packed == NULL)
    return NULL;
  memset (packed->data, 0, packed->n_bytes);
  for (gsize n = 0; n < self->n; n++)
    {
      guint8 *row = (guint8 *) packed->data + n * bytes;

      for (gsize b = 0; b < self->n_blocks; b++)
        write_blocks_put_bits (row, self->bits, b,
                              vn_tensor_get_s64 (zero_point, self->by_rows ? n * self->n_blocks + b : b * self->n + n));
      for (gsize b = self->n_blocks; b < bytes * 8 / self->bits; b++)
        write_blocks_put_bits (row, self->bits, b, (gint64) 1 << (self->bits - 1));
    }
  return packed;
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
  g_autoptr(VnTensor) data = NULL, made = NULL, steps = NULL;
  VnBlockLayout layout;

  g_return_val_if_fail (row != NULL && weight != NULL, FALSE);

  layout = vn_quant_get_block_layout (row, weight, table);
  data = vn_quant_quantize_blocks (weight, row->tensor.dtype, row->tensor.scale, row->tensor.zero_point, row->tensor.axis,
                                   row->block, row->exact_levels ? VN_BLOCK_EXACT : VN_BLOCK_ZERO_FIRST, error);
  if (data == NULL || (made = write_blocks_pack_weight (&layout, data, error)) == NULL ||
      (steps = write_blocks_pack_scales (&layout, row->tensor.scale, error)) == NULL ||
      (*zero_points = write_blocks_pack_zero_points (&layout, row->tensor.zero_point, error)) == NULL)
    {
      g_prefix_error (error, "“%s”: ", row->tensor.name);
      return FALSE;
    }
  if (row->exact_levels)
    write_blocks_fill_up (&layout, row->tensor.zero_point, made);
  *packed = g_steal_pointer (&made);
  *scales = g_steal_pointer (&steps);
  return TRUE;
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
