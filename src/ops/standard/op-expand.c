/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expand: broadcast to a shape. Tile: repeat along each axis. */
#include "vn-elem.h"

static gboolean
expand_infer (VnOpContext *ctx,
              GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape target = VN_SHAPE_UNKNOWN, out = VN_SHAPE_UNKNOWN;
  gboolean known;
  guint n;

  if (!vn_op_attr_or_input (ctx, NULL, 1, target.dims, VN_MAX_RANK, &n, &known, error))
    return FALSE;
  if (known || vn_op_get_numbers_input (ctx, 1, target.dims, VN_MAX_RANK, &n))
    {
      target.rank = (int) n;
      for (guint i = 0; i < n; i++)
        if (vn_dims_is_symbolic (target.dims[i]))
          target.dims[i] = vn_dims_as_size (vn_op_get_dims (ctx, target.dims[i]), target.dims[i]);
        else if (target.dims[i] < 0)
          return vn_op_fail (ctx, error, _("Expand: dim %u of the target is %lld"), i, (long long) target.dims[i]);
      if (!vn_shape_broadcast (input, &target, &out))
        {
          g_autofree char *from = vn_shape_to_string (input, "×");
          g_autofree char *to = vn_shape_to_string (&target, "×");

          return vn_op_fail (ctx, error, _("Expand: an input of %s cannot be broadcast to %s"), from, to);
        }
    }
  else if (input->rank >= 0 && ctx->in_types[1].shape.rank == 1 && ctx->in_types[1].shape.dims[0] >= 0 &&
           ctx->in_types[1].shape.dims[0] <= VN_MAX_RANK)
    {
      out.rank = MAX (input->rank, (int) ctx->in_types[1].shape.dims[0]);
      for (int i = 0; i < out.rank; i++)
        {
          int own = i - (out.rank - input->rank);
          gboolean wanted = i >= out.rank - (int) ctx->in_types[1].shape.dims[0];

          /* Only a dim of 1 can be stretched. */
          out.dims[i] = own >= 0 && (input->dims[own] > 1 || !wanted) ? input->dims[own] : VN_DIM_UNKNOWN;
        }
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
expand_run (VnOpContext *ctx,
            GError     **error)
{
  const VnShape *in = &ctx->in[0]->shape, *out = &ctx->out[0]->shape;
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK];
  VnCopy copy = { 0 };

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  vn_shape_strides (out, to);
  vn_shape_strides (in, from);
  for (int d = 0; d < out->rank; d++)
    {
      int e = d - (out->rank - in->rank);

      vn_copy_add_dim (&copy, out->dims[d], to[d], e < 0 || in->dims[e] == 1 ? 0 : from[e]);
    }
  vn_copy_run (&copy, vn_elem_size (ctx->in[0]->dtype), ctx->out[0]->data, ctx->in[0]->data);
  return TRUE;
}

const VnOp vn_op_expand_8 = {
  .domain = "", .type = "Expand", .since = 8,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_LENGTH_BITS },
  .dtypes = VN_MOVABLE_BITS,
  .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),
  .infer = expand_infer,
  .run = expand_run,
};

/* Until opset 5: one axis, how often and which in two scalars of the type of the data. */
static gboolean
expand_get_single_repeat (VnOpContext  *ctx,
                          gint64       *repeats,
                          guint        *n,
                          gboolean     *known,
                          GError      **error)
{
  const VnTensor *times = ctx->in != NULL ? ctx->in[1] : NULL, *axis = ctx->in != NULL ? ctx->in[2] : NULL;
  int rank = ctx->in_types[0].shape.rank, resolved;
  double a, t;

  *known = times != NULL && axis != NULL && rank >= 0;
  *n = (guint) MAX (rank, 0);
  if (!*known)
    return TRUE;
  if (times->n_elements != 1 || axis->n_elements != 1 || (VN_NUMBER_BITS >> times->dtype & 1) == 0 ||
      (VN_NUMBER_BITS >> axis->dtype & 1) == 0)
    return vn_op_fail (ctx, error, _("Tile: the number of tiles and the axis must have 1 element each"));
  t = vn_tensor_get_double (times, 0);
  a = vn_tensor_get_double (axis, 0);
  if (!vn_op_axis (ctx, &ctx->in_types[0].shape, fabs (a) < VN_MAX_RANK ? (gint64) a : VN_MAX_RANK, &resolved, error))
    return FALSE;
  for (int d = 0; d < rank; d++)
    repeats[d] = d != resolved ? 1 : t >= 0 && t < G_MAXINT32 ? (gint64) t : -1;
  return TRUE;
}

static gboolean
expand_tile_infer (VnOpContext *ctx,
                   GError     **error)
{
  VnShape out = ctx->in_types[0].shape;
  gint64 repeats[VN_MAX_RANK];
  gboolean known;
  guint n;

  if (ctx->opset < 6 ? !expand_get_single_repeat (ctx, repeats, &n, &known, error)
                     : !vn_op_attr_or_input (ctx, NULL, 1, repeats, VN_MAX_RANK, &n, &known, error))
    return FALSE;
  known = known || (ctx->opset >= 6 && vn_op_get_numbers_input (ctx, 1, repeats, VN_MAX_RANK, &n));
  if (known && out.rank >= 0 && n != (guint) out.rank)
    return vn_op_fail (ctx, error, _("Tile: %u repeats for an input of %d dims"), n, out.rank);
  for (int d = 0; d < out.rank; d++)
    {
      if (!known)
        out.dims[d] = VN_DIM_UNKNOWN;
      else if (out.dims[d] < 0 || vn_dims_is_symbolic (repeats[d]))
        {
          VnDims *dims = vn_op_get_dims (ctx, out.dims[d]);

          out.dims[d] = vn_dims_as_size (dims, vn_dims_mul (dims, out.dims[d], repeats[d]));
        }
      else if (repeats[d] < 0 || !vn_checked_mul_s64 (out.dims[d], repeats[d], &out.dims[d]))
        return vn_op_fail (ctx, error, _("Tile: dim %d of %lld cannot be repeated %lld"
                                         " times"), d, (long long) out.dims[d], (long long) repeats[d]);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
expand_tile_run (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *in = &ctx->in[0]->shape, *out = &ctx->out[0]->shape;
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK];
  VnCopy copy = { 0 };

  if (!vn_op_check_movable (ctx, error))
    return FALSE;
  if (ctx->out[0]->n_elements == 0)
    return TRUE;
  vn_shape_strides (out, to);
  vn_shape_strides (in, from);
  for (int d = 0; d < out->rank; d++)
    {
      vn_copy_add_dim (&copy, out->dims[d] / in->dims[d], to[d] * in->dims[d], 0);
      vn_copy_add_dim (&copy, in->dims[d], to[d], from[d]);
    }
  vn_copy_run (&copy, vn_elem_size (ctx->in[0]->dtype), ctx->out[0]->data, ctx->in[0]->data);
  return TRUE;
}

#define TILE(variable, first, last, n_inputs, ...)                                      \
  const VnOp variable = {                                                               \
    .domain = "", .type = "Tile", .since = first, .until = last,                        \
    .min_inputs = n_inputs, .max_inputs = n_inputs, .min_outputs = 1, .max_outputs = 1, \
    .others = { __VA_ARGS__ },                                                          \
    .dtypes = VN_MOVABLE_BITS,                                                          \
    .stand_ins = VN_STAND_IN_STRINGS | VN_STAND_IN_PACKED,                              \
    .family = VN_FAMILY_SHAPE,                                                          \
    .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),                             \
    .infer = expand_tile_infer,                                                         \
    .run = expand_tile_run,                                                             \
  };

TILE (vn_op_tile_1, 1, 5, 3, 0)
TILE (vn_op_tile_6, 6, 0, 2, [1] = VN_LENGTH_BITS)
