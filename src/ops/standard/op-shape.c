/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shape, Size: known as soon as the shape of the input is, whatever its values. */
#include "vn-elem.h"

static void
shape_range (VnOpContext *ctx,
             int          rank,
             gint64      *start,
             gint64      *end)
{
  *start = vn_node_get_int (ctx->node, "start", 0);
  *end = vn_node_get_int (ctx->node, "end", rank);
  if (*start < 0)
    *start += rank;
  if (*end < 0)
    *end += rank;
  *start = CLAMP (*start, 0, rank);
  *end = CLAMP (*end, *start, rank);
}

static gboolean
shape_infer (VnOpContext *ctx,
             GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = { 1, { VN_DIM_UNKNOWN } };
  gint64 start = 0, end = 0;

  if (input->rank >= 0)
    {
      shape_range (ctx, input->rank, &start, &end);
      out.dims[0] = end - start;
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &out);
  if (input->rank < 0)
    return TRUE;
  for (gint64 i = start; i < end; i++)
    if (input->dims[i] < 0)
      {
        if (ctx->numbers != NULL)
          ctx->numbers->out[0] = vn_tensor_new_s64 (&out, input->dims + start);
        return TRUE;
      }
  if (ctx->out != NULL && ctx->out[0] == NULL)
    ctx->out[0] = vn_tensor_new_s64 (&out, input->dims + start);
  return TRUE;
}

static gboolean
shape_run (VnOpContext *ctx,
           GError     **error)
{
  const VnShape *input = &ctx->in[0]->shape;
  gint64 start, end;

  shape_range (ctx, input->rank, &start, &end);
  memcpy (ctx->out[0]->data, input->dims + start, (gsize) (end - start) * sizeof (gint64));
  return TRUE;
}

const VnOp vn_op_shape_1 = {
  .domain = "", .type = "Shape", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = G_MAXUINT32,
  .family = VN_FAMILY_SHAPE,
  .infer = shape_infer,
  .run = shape_run,
};

static gboolean
shape_size_infer (VnOpContext *ctx,
                  GError     **error)
{
  gsize n;

  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &VN_SHAPE_SCALAR);
  if (vn_shape_n_elements (&ctx->in_types[0].shape, &n) && ctx->out != NULL && ctx->out[0] == NULL)
    ctx->out[0] = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, (gint64[]) { (gint64) n });
  else if (ctx->in_types[0].shape.rank >= 0 && ctx->numbers != NULL)
    {
      gint64 product = vn_op_multiply_dims (ctx, &ctx->in_types[0].shape, 0, ctx->in_types[0].shape.rank);

      ctx->numbers->out[0] = vn_tensor_new_s64 (&VN_SHAPE_SCALAR, &product);
    }
  return TRUE;
}

static gboolean
shape_size_run (VnOpContext *ctx,
                GError     **error)
{
  *(gint64 *) ctx->out[0]->data = (gint64) ctx->in[0]->n_elements;
  return TRUE;
}

const VnOp vn_op_size_1 = {
  .domain = "", .type = "Size", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = G_MAXUINT32,
  .family = VN_FAMILY_SHAPE,
  .infer = shape_size_infer,
  .run = shape_size_run,
};
