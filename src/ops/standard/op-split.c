/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Split: pieces along one axis. Sizes from an attribute (opset 1, 2, 11; in 1 also an input of
 * floats), an input (13) or equal pieces whose last one
 * may be smaller (18, num_outputs). */
#include "vn-elem.h"

#define MOST_PARTS 4096

static gboolean
split_check_sizes (VnOpContext  *ctx,
                   const gint64 *sizes,
                   guint         n,
                   gint64        dim,
                   GError      **error)
{
  gint64 sum = 0;

  if (n != ctx->n_outputs)
    return vn_op_fail (ctx, error,
                       ngettext ("Split: %u sizes for %u output",
                                 "Split: %u sizes for %u outputs", ctx->n_outputs), n, ctx->n_outputs);
  for (guint i = 0; i < n; i++)
    if (sizes[i] < 0 || !vn_checked_add_s64 (sum, sizes[i], &sum))
      return vn_op_fail (ctx, error, _("Split: size %u is %lld"), i, (long long) sizes[i]);
  if (dim >= 0 && sum != dim)
    return vn_op_fail (ctx, error, _("Split: the sizes add up to %lld, but the axis has %lld"),
                       (long long) sum, (long long) dim);
  return TRUE;
}

/* Piece @i of @n of a dim known by name. */
static gint64
split_open_piece (VnOpContext *ctx,
                  gint64       dim,
                  gint64       n,
                  guint        i)
{
  VnDims *dims = vn_op_get_dims (ctx, dim);
  gint64 piece = ctx->opset < 18 ? vn_dims_floor_div (dims, dim, n) : vn_dims_ceil_div (dims, dim, n), rest;

  if (ctx->opset < 18 || i == 0 || dims == NULL)
    return piece;
  rest = vn_dims_sub (dims, dim, vn_dims_mul (dims, piece, i));
  return vn_dims_as_size (dims, vn_dims_max (dims, vn_dims_min (dims, rest, piece), 0));
}

static gboolean
split_equal_sizes (VnOpContext  *ctx,
                   gint64       *sizes,
                   gint64        dim,
                   GError      **error)
{
  gint64 n = ctx->opset >= 18 ? vn_node_get_int (ctx->node, "num_outputs", ctx->n_outputs) : ctx->n_outputs;
  gint64 piece;

  if (n != ctx->n_outputs)
    return vn_op_fail (ctx, error,
                       ngettext ("Split: num_outputs is %lld, the node has %u output",
                                 "Split: num_outputs is %lld, the node has %u outputs", ctx->n_outputs),
                       (long long) n, ctx->n_outputs);
  if (ctx->opset < 18 && dim >= 0 && dim % n != 0)
    return vn_op_fail (ctx, error, _("Split: %lld cannot be split into %u equal parts"),
                       (long long) dim, ctx->n_outputs);
  piece = dim / MAX (n, 1) + (dim % MAX (n, 1) != 0);
  for (guint i = 0; i < ctx->n_outputs; i++)
    sizes[i] = dim < 0 ? split_open_piece (ctx, dim, n, i) : CLAMP (dim - (gint64) i * piece, 0, piece);
  return TRUE;
}

/* Sizes in the type of the data. */
static gboolean
split_float_sizes (VnOpContext  *ctx,
                   gint64       *sizes,
                   guint        *n,
                   gboolean     *known,
                   GError      **error)
{
  const VnTensor *tensor = ctx->in != NULL ? ctx->in[1] : NULL;

  *known = tensor != NULL;
  *n = tensor != NULL ? (guint) MIN (tensor->n_elements, G_MAXUINT) : 0;
  if (tensor == NULL)
    return TRUE;
  if (*n > MOST_PARTS || (VN_NUMBER_BITS >> tensor->dtype & 1) == 0)
    return vn_op_fail (ctx, error, _("Split: %u sizes of type %s"), *n, vn_dtype_get_name (tensor->dtype));
  for (guint i = 0; i < *n; i++)
    {
      double size = vn_tensor_get_double (tensor, i);

      sizes[i] = size >= 0 && size < G_MAXINT32 ? (gint64) size : -1;
    }
  return TRUE;
}

static gboolean
split_infer (VnOpContext *ctx,
             GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gint64 sizes[MOST_PARTS], dim;
  gboolean known;
  guint n;
  int axis;

  if (ctx->n_outputs > MOST_PARTS)
    return vn_op_fail (ctx, error, _("Split: %u outputs, at most %d can be handled"), ctx->n_outputs, MOST_PARTS);
  if (ctx->opset == 1 && vn_op_has_input (ctx, 1) ? !split_float_sizes (ctx, sizes, &n, &known, error)
                                                  : !vn_op_attr_or_input (ctx, ctx->opset < 13 ? "split" : NULL, 1, sizes,
                                                                          MOST_PARTS, &n, &known, error))
    return FALSE;
  if (out.rank < 0)
    {
      for (guint i = 0; i < ctx->n_outputs; i++)
        vn_op_set_output (ctx, i, ctx->in_types[0].dtype, &VN_SHAPE_UNKNOWN);
      return TRUE;
    }
  if (!vn_op_axis (ctx, &out, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  dim = out.dims[axis];
  if (!known && vn_op_get_numbers_input (ctx, 1, sizes, MOST_PARTS, &n) && n == ctx->n_outputs)
    {
      for (guint i = 0; i < n; i++)
        {
          out.dims[axis] = vn_dims_as_size (ctx->numbers->dims, sizes[i]);
          vn_op_set_output (ctx, i, ctx->in_types[0].dtype, &out);
        }
      return TRUE;
    }
  if (n > 0 ? !split_check_sizes (ctx, sizes, n, dim, error) : known && !split_equal_sizes (ctx, sizes, dim, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      out.dims[axis] = known ? sizes[i] : VN_DIM_UNKNOWN;
      vn_op_set_output (ctx, i, ctx->in_types[0].dtype, &out);
    }
  return TRUE;
}

static gboolean
split_run (VnOpContext *ctx,
           GError     **error)
{
  const VnTensor *in = ctx->in[0];
  gsize size = vn_elem_size (in->dtype), rows, step, offset = 0;
  int axis;

  if (!vn_op_check_movable (ctx, error) ||
      !vn_op_axis (ctx, &in->shape, vn_node_get_int (ctx->node, "axis", 0), &axis, error))
    return FALSE;
  rows = (gsize) vn_shape_count (&in->shape, 0, axis);
  step = (gsize) vn_shape_count (&in->shape, axis, in->shape.rank) * size;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      gsize bytes = (gsize) vn_shape_count (&ctx->out_types[i].shape, axis, in->shape.rank) * size;

      if (ctx->out[i] != NULL)
        vn_copy_rows (rows, bytes, (const char *) in->data + offset, step, ctx->out[i]->data, bytes);
      offset += bytes;
    }
  return TRUE;
}

#define SPLIT(variable, first, last, sizes)                                              \
  const VnOp variable = {                                                                \
    .domain = "", .type = "Split", .since = first, .until = last,                        \
    .min_inputs = 1, .max_inputs = 2, .min_outputs = 1, .max_outputs = MOST_PARTS, \
    .others = { [1] = sizes },                                                           \
    .dtypes = VN_MOVABLE_BITS,                                                           \
    .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,                               \
    .family = VN_FAMILY_SHAPE,                                                           \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, TRUE),                               \
    .infer = split_infer,                                                                \
    .run = split_run,                                                                    \
  };

SPLIT (vn_op_split_1, 1, 1, VN_FLOAT_BITS)
SPLIT (vn_op_split_2, 2, 0, VN_LENGTH_BITS)
