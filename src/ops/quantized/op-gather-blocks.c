/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GatherBlockQuantized of ONNX Runtime: Gather of a table quantized in blocks along an axis, and what is gathered
 * becomes (q - zero) * scale. Elements have 4 bits, or are uint8 that hold 2, 4 or 8 bits each, packed along the last
 * axis; the zero points of a row are packed the same way. */
#include "vn-elem.h"

enum { DATA, INDICES, SCALES, ZEROS };

typedef struct
{
  VnShape  shape;              /* of the table, in elements */
  int      axis, quantize_axis;
  gint64   block;
  guint    bits;
  gboolean packed, is_signed;  /* packed: rows of uint8 start at a byte */
} Layout;

static gboolean
gather_blocks_has_sizes (const VnShape *found,
                         const VnShape *wanted)
{
  return !vn_shape_is_static (found) || vn_shape_equal (found, wanted);
}

/* Scales have one element per block; zero points the same, with as many in a byte as the table. */
static gboolean
gather_blocks_check_blocks (VnOpContext   *ctx,
                            const Layout  *self,
                            GError       **error)
{
  VnShape blocks = self->shape, zeros;
  gint64 *n = &blocks.dims[self->quantize_axis], per_byte = self->packed ? 8 / (gint64) self->bits : 1;

  *n = *n / self->block + (*n % self->block != 0);
  zeros = blocks;
  if (zeros.rank > 0)
    zeros.dims[zeros.rank - 1] = (zeros.dims[zeros.rank - 1] + per_byte - 1) / per_byte;
  if (!gather_blocks_has_sizes (&ctx->in_types[SCALES].shape, &blocks) ||
      (vn_op_has_input (ctx, ZEROS) && !gather_blocks_has_sizes (&ctx->in_types[ZEROS].shape, &zeros)))
    return vn_op_fail (ctx, error, _("the scales or zero points do not match blocks of %lld elements"),
                       (long long) self->block);
  return TRUE;
}

static gboolean
gather_blocks_layout_init (Layout       *self,
                           VnOpContext  *ctx,
                           GError      **error)
{
  VnDType dtype = ctx->in_types[DATA].dtype;
  gint64 bits = vn_node_get_int (ctx->node, "bits", 4);

  self->shape = ctx->in_types[DATA].shape;
  self->block = vn_node_get_int (ctx->node, "block_size", 128);
  self->packed = dtype == VN_DTYPE_U8;
  self->is_signed = dtype == VN_DTYPE_S4;
  self->bits = self->packed ? (guint) bits : 4;
  if (self->block < 16 || self->block > G_MAXINT32 || (self->block & (self->block - 1)) != 0 ||
      (self->packed && bits != 2 && bits != 4 && bits != 8))
    return vn_op_fail (ctx, error, _("block_size is %lld and bits is %lld: expected a power of two of at least 16, "
                                     "and 2, 4 or 8"), (long long) self->block,
                                     (long long) bits);
  if (!vn_op_axis (ctx, &self->shape, vn_node_get_int (ctx->node, "gather_axis", 0), &self->axis, error) ||
      !vn_op_axis (ctx, &self->shape, vn_node_get_int (ctx->node, "quantize_axis", 1), &self->quantize_axis, error))
    return FALSE;
  if (self->packed && (self->axis != 0 || self->axis == self->quantize_axis))
    return vn_op_fail (ctx, error, _("a uint8 table can only be gathered along axis 0 and quantized along another axis"));
  if (self->packed && !vn_checked_mul_s64 (self->shape.dims[self->shape.rank - 1], 8 / (gint64) self->bits,
                                           &self->shape.dims[self->shape.rank - 1]))
    return vn_op_fail (ctx, error, _("the table is too large for this machine"));
  return gather_blocks_check_blocks (ctx, self, error);
}

static gboolean
gather_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *indices = &ctx->in_types[INDICES].shape;
  VnDType scales = ctx->in_types[SCALES].dtype;
  VnShape y = VN_SHAPE_UNKNOWN;
  Layout self;

  if (!vn_op_check_index_dtype (ctx, INDICES, error) ||
      (vn_op_has_input (ctx, ZEROS) && !vn_op_check_same_dtype (ctx, DATA, ZEROS, error)))
    return FALSE;
  if (scales != VN_DTYPE_UNDEFINED && (VN_FLOAT_BITS >> scales & 1) == 0)
    return vn_op_unsupported (ctx, SCALES, error);
  if (vn_shape_is_static (&ctx->in_types[DATA].shape) && !gather_blocks_layout_init (&self, ctx, error))
    return FALSE;
  if (vn_shape_is_static (&ctx->in_types[DATA].shape) && indices->rank >= 0)
    {
      if (self.shape.rank - 1 + indices->rank > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("the output would have %d dims, at most %d can be handled"),
                           self.shape.rank - 1 + indices->rank, VN_MAX_RANK);
      y.rank = 0;
      for (int i = 0; i < self.axis; i++)
        y.dims[y.rank++] = self.shape.dims[i];
      for (int i = 0; i < indices->rank; i++)
        y.dims[y.rank++] = indices->dims[i];
      for (int i = self.axis + 1; i < self.shape.rank; i++)
        y.dims[y.rank++] = self.shape.dims[i];
    }
  vn_op_set_output (ctx, 0, scales, &y);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  Layout             layout;
  gsize              n_indices, dim, inner;     /* inner: elements behind the axis of the indices */
  gsize              quantize_dim, quantize_inner, n_blocks, row, zero_row;
} Job;

static double
gather_blocks_element (const Layout   *layout,
                       const VnTensor *tensor,
                       gsize           i,
                       gsize           row)
{
  const guint8 *data = tensor->data;
  guint bits = layout->bits, per_byte = 8 / bits, mask = (1u << bits) - 1;
  /* Rows of bytes start at a byte, those of 4-bit types need not. */
  gsize bytes = layout->packed ? i / row * ((row + per_byte - 1) / per_byte) + i % row / per_byte : i / per_byte;
  guint place = (guint) ((layout->packed ? i % row : i) % per_byte), value = data[bytes] >> (place * bits) & mask;

  return layout->is_signed && value > 7 ? (double) value - 16 : (double) value;
}

static void
gather_blocks_fill_slice (const Job *self,
                          gsize      from,
                          gsize      to)
{
  VnTensor *y = self->ctx->out[0];
  const VnTensor *zeros = vn_op_has_input (self->ctx, ZEROS) ? self->ctx->in[ZEROS] : NULL;
  double middle = self->layout.packed ? (double) (1u << (self->layout.bits - 1)) : 0;

  for (gsize i = 0; i < self->inner; i++)
    {
      gsize at = from + i, q = at / self->quantize_inner % self->quantize_dim / (gsize) self->layout.block;
      gsize block = (at / (self->quantize_inner * self->quantize_dim) * self->n_blocks + q) * self->quantize_inner +
                    at % self->quantize_inner;
      double zero = zeros != NULL ? gather_blocks_element (&self->layout, zeros, block, self->zero_row) : middle;
      float value = (float) (gather_blocks_element (&self->layout, self->ctx->in[DATA], at, self->row) - zero) *
                    (float) vn_tensor_get_double (self->ctx->in[SCALES], block);

      if (y->dtype == VN_DTYPE_F64)
        ((double *) y->data)[to + i] = value;
      else
        vn_elem_from_float (y->dtype, &value, (char *) y->data + (to + i) * vn_elem_size (y->dtype), 1);
    }
}

static void
gather_slice (gpointer data,
              gsize    item,
              guint    worker)
{
  const Job *self = data;
  gint64 index = vn_tensor_get_s64 (self->ctx->in[INDICES], item % self->n_indices);
  gsize size = vn_elem_size (self->ctx->out[0]->dtype);

  index += index < 0 ? (gint64) self->dim : 0;
  /* As ONNX Runtime: what lies outside becomes zeros. */
  if (index < 0 || index >= (gint64) self->dim)
    memset ((char *) self->ctx->out[0]->data + item * self->inner * size, 0, self->inner * size);
  else
    gather_blocks_fill_slice (self, (item / self->n_indices * self->dim + (gsize) index) * self->inner, item * self->inner);
}

static gboolean
gather_run (VnOpContext *ctx,
            GError     **error)
{
  Job self = { .ctx = ctx, .n_indices = ctx->in[INDICES]->n_elements };
  const VnShape *shape = &self.layout.shape;
  int rank, q;

  if (!gather_blocks_layout_init (&self.layout, ctx, error))
    return FALSE;
  if (ctx->out[0]->n_elements == 0)
    return TRUE;
  rank = shape->rank;
  q = self.layout.quantize_axis;
  self.dim = (gsize) shape->dims[self.layout.axis];
  self.inner = (gsize) vn_shape_count (shape, self.layout.axis + 1, rank);
  self.quantize_dim = (gsize) shape->dims[q];
  self.quantize_inner = (gsize) vn_shape_count (shape, q + 1, rank);
  self.n_blocks = (self.quantize_dim + (gsize) self.layout.block - 1) / (gsize) self.layout.block;
  self.row = (gsize) shape->dims[rank - 1];
  self.zero_row = q == rank - 1 ? self.n_blocks : self.row;
  vn_op_for_items (ctx, (gsize) vn_shape_count (shape, 0, self.layout.axis) * self.n_indices, 10. * (double) self.inner,
                   gather_slice, &self);
  return TRUE;
}

const VnOp vn_op_ms_gather_block_quantized = {
  .domain = "com.microsoft", .type = "GatherBlockQuantized", .since = 1,
  .min_inputs = 3, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4),
  .family = VN_FAMILY_SHAPE,
  .infer = gather_infer,
  .run = gather_run,
};
