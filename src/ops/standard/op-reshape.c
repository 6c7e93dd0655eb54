/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Identity, Reshape, Flatten, Squeeze, Unsqueeze: the same elements under another shape. */
#include "vn-elem.h"

static gboolean
reshape_copy_run (VnOpContext *ctx,
                  GError     **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];

  if (in->dtype == VN_DTYPE_STRING)
    vn_elem_copy_strings (in, out);
  else if (in->n_bytes > 0 && out->data != in->data)
    memcpy (out->data, in->data, in->n_bytes);
  return TRUE;
}

/* ---- Reshape ---- */

/* Fills in 0 (the input's dim) and -1 (what is left). */
static gboolean
reshape_resolve_target (VnOpContext   *ctx,
                        const VnShape *input,
                        const gint64  *target,
                        guint          n,
                        VnShape       *out,
                        GError       **error)
{
  gboolean allow_zero = vn_node_get_int (ctx->node, "allowzero", 0) != 0;
  int rest = -1;

  out->rank = (int) n;
  for (guint i = 0; i < n; i++)
    {
      out->dims[i] = target[i];
      if (vn_dims_is_symbolic (target[i]))
        out->dims[i] = vn_dims_as_size (vn_op_get_dims (ctx, target[i]), target[i]);
      else if (target[i] < -1)
        return vn_op_fail (ctx, error, _("Reshape: dim %u of the target is %lld"), i, (long long) target[i]);
      if (target[i] == 0 && !allow_zero)
        {
          if (input->rank >= 0 && (int) i >= input->rank)
            return vn_op_fail (ctx, error, _("Reshape: dim %u of the target is to be copied, but the input has only %d dims"),
                               i, input->rank);
          out->dims[i] = input->rank >= 0 ? input->dims[i] : VN_DIM_UNKNOWN;
        }
      if (target[i] == -1 && rest >= 0)
        return vn_op_fail (ctx, error, _("Reshape: dims %d and %u of the target are both -1"), rest, i);
      if (target[i] == -1)
        rest = (int) i;
    }
  if (rest >= 0)
    {
      VnShape known = *out;
      gsize total, others;

      out->dims[rest] = VN_DIM_UNKNOWN;
      known.dims[rest] = 1;
      if (!vn_shape_n_elements (input, &total) || !vn_shape_n_elements (&known, &others))
        return TRUE;
      if (others == 0 || total % others != 0)
        return vn_op_fail (ctx, error, _("Reshape: %zu elements are not divisible by the product of the other target "
                                         "dims (%zu)"), total, others);
      out->dims[rest] = (gint64) (total / others);
    }
  return TRUE;
}

/* A symbolic dim cancels where the same unknown dim is copied: [N, 4, 6] to [0, -1] is [N, 24]. */
static void
reshape_cancel_unknown (const VnShape *input,
                        const gint64  *target,
                        VnShape       *out)
{
  gint64 total = 1, others = 1;
  int rest = -1;

  if (input->rank < 0)
    return;
  for (int i = 0; i < out->rank; i++)
    {
      if (target[i] == -1)
        rest = i;
      else if (target[i] == 0 && i < input->rank && input->dims[i] < 0)
        continue;
      else if (out->dims[i] <= 0 || !vn_checked_mul_s64 (others, out->dims[i], &others))
        return;
    }
  for (int i = 0; i < input->rank; i++)
    {
      if (input->dims[i] < 0 && i < out->rank && target[i] == 0)
        continue;
      if (input->dims[i] <= 0 || !vn_checked_mul_s64 (total, input->dims[i], &total))
        return;
    }
  if (rest >= 0 && out->dims[rest] < 0 && total % others == 0)
    out->dims[rest] = total / others;
}

/* The dim that is left, where sizes are known by name. */
static void
reshape_divide_open (VnOpContext   *ctx,
                     const VnShape *input,
                     const gint64  *target,
                     VnShape       *out)
{
  VnShape others = *out;
  VnDims *dims;
  gint64 total, known;
  int rest = -1;

  for (int i = 0; i < out->rank; i++)
    if (target[i] == -1)
      rest = i;
  if (ctx->numbers == NULL || rest < 0 || out->dims[rest] >= 0 || input->rank < 0)
    return;
  others.dims[rest] = 1;
  total = vn_op_multiply_dims (ctx, input, 0, input->rank);
  known = vn_op_multiply_dims (ctx, &others, 0, others.rank);
  dims = vn_op_get_dims (ctx, total);
  if (known == VN_DIM_UNKNOWN || known == 0 || dims == NULL)
    return;
  out->dims[rest] = vn_dims_as_size (dims, vn_dims_floor_div (dims, total, known));
}

/* Reads the target, numbers in part symbolic included. */
static gboolean
reshape_get_target (VnOpContext *ctx,
                    gint64       target[VN_MAX_RANK],
                    guint       *n,
                    gboolean    *known,
                    GError     **error)
{
  if (!vn_op_attr_or_input (ctx, ctx->opset < 5 ? "shape" : NULL, 1, target, VN_MAX_RANK, n, known, error))
    return FALSE;
  *known = *known || vn_op_get_numbers_input (ctx, 1, target, VN_MAX_RANK, n);
  return TRUE;
}

static gboolean
reshape_infer (VnOpContext *ctx,
               GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 target[VN_MAX_RANK];
  gsize total, result;
  gboolean known;
  guint n;

  if (!reshape_get_target (ctx, target, &n, &known, error))
    return FALSE;
  if (known)
    {
      if (!reshape_resolve_target (ctx, input, target, n, &out, error))
        return FALSE;
      reshape_cancel_unknown (input, target, &out);
      reshape_divide_open (ctx, input, target, &out);
    }
  else if (ctx->in_types[1].shape.rank == 1 && ctx->in_types[1].shape.dims[0] >= 0 &&
           ctx->in_types[1].shape.dims[0] <= VN_MAX_RANK)
    {
      out.rank = (int) ctx->in_types[1].shape.dims[0];
      for (int i = 0; i < out.rank; i++)
        out.dims[i] = VN_DIM_UNKNOWN;
    }
  if (vn_shape_n_elements (input, &total) && vn_shape_is_static (&out) &&
      (!vn_shape_n_elements (&out, &result) || result != total))
    {
      g_autofree char *from = vn_shape_to_string (input, "×");
      g_autofree char *to = vn_shape_to_string (&out, "×");

      return vn_op_fail (ctx, error, _("Reshape: an input of shape %s cannot be reshaped to %s"), from, to);
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* ---- Flatten ---- */

static gboolean
reshape_flatten_infer (VnOpContext *ctx,
                       GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  gint64 axis = vn_node_get_int (ctx->node, "axis", 1);
  VnShape out = { 2, { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN } };

  if (input->rank >= 0)
    {
      if (axis < -input->rank || axis > input->rank)
        return vn_op_fail (ctx, error, _("Flatten: axis %lld is outside of -%d .. %d"),
                           (long long) axis, input->rank, input->rank);
      if (axis < 0)
        axis += input->rank;
      out.dims[0] = out.dims[1] = 1;
      for (int i = 0; i < input->rank; i++)
        {
          gint64 *dim = &out.dims[i < axis ? 0 : 1];

          if (input->dims[i] < 0 || *dim < 0)
            *dim = vn_dims_mul (*dim == VN_DIM_UNKNOWN ? NULL : vn_op_get_dims (ctx, input->dims[i]), *dim, input->dims[i]);
          else if (!vn_checked_mul_s64 (*dim, input->dims[i], dim))
            return vn_op_fail (ctx, error, _("Flatten: the dims of the input are too large"));
        }
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* ---- Squeeze, Unsqueeze ---- */

static gboolean
reshape_squeeze_infer (VnOpContext *ctx,
                       GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 axes[VN_MAX_RANK];
  guint n, mask = 0;
  gboolean known, all;

  if (!vn_op_attr_or_input (ctx, ctx->opset < 13 ? "axes" : NULL, 1, axes, VN_MAX_RANK, &n, &known, error))
    return FALSE;
  all = ctx->opset < 13 ? vn_node_get_attr (ctx->node, "axes") == NULL : !vn_op_has_input (ctx, 1);
  /* Without axes the rank depends on which dims are 1. */
  if (input->rank >= 0 && known && (!all || vn_shape_is_static (input)))
    {
      if (!vn_op_axis_mask (ctx, input->rank, axes, n, &mask, error))
        return FALSE;
      out.rank = 0;
      for (int i = 0; i < input->rank; i++)
        {
          gboolean drop = all ? input->dims[i] == 1 : (mask >> i & 1) != 0;

          if (drop && input->dims[i] != 1 && input->dims[i] >= 0)
            return vn_op_fail (ctx, error, _("Squeeze: dim %d is %lld, not 1"), i, (long long) input->dims[i]);
          if (!drop)
            out.dims[out.rank++] = input->dims[i];
        }
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
reshape_unsqueeze_infer (VnOpContext *ctx,
                         GError     **error)
{
  const VnShape *input = &ctx->in_types[0].shape;
  VnShape out = VN_SHAPE_UNKNOWN;
  gint64 axes[VN_MAX_RANK];
  guint n, mask;
  gboolean known;

  if (!vn_op_attr_or_input (ctx, ctx->opset < 13 ? "axes" : NULL, 1, axes, VN_MAX_RANK, &n, &known, error))
    return FALSE;
  if (input->rank >= 0 && known)
    {
      out.rank = input->rank + (int) n;
      if (out.rank > VN_MAX_RANK)
        return vn_op_fail (ctx, error, _("Unsqueeze: the output would have %d dims, at most %d can be handled"),
                           out.rank, VN_MAX_RANK);
      if (!vn_op_axis_mask (ctx, out.rank, axes, n, &mask, error))
        return FALSE;
      for (int i = 0, k = 0; i < out.rank; i++)
        out.dims[i] = (mask >> i & 1) != 0 ? 1 : input->dims[k++];
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

/* The only one that passes on sequences and optionals as well. */
static gboolean
reshape_identity_infer (VnOpContext *ctx,
                        GError     **error)
{
  ctx->out_types[0] = ctx->in_types[0];
  return TRUE;
}

const VnOp vn_op_identity_1 = {
  .domain = "", .type = "Identity", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = G_MAXUINT32,
  .family = VN_FAMILY_SHAPE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_PASSTHROUGH, FALSE),
  .aliases = TRUE,
  .containers = TRUE,
  .infer = reshape_identity_infer,
  .run = reshape_copy_run,
};

#define SAME_ELEMENTS(variable, name, first, inputs, role, ort, infer_func)     \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = first,                                 \
    .min_inputs = 1, .max_inputs = inputs, .min_outputs = 1, .max_outputs = 1,  \
    .others = { [1] = VN_LENGTH_BITS },                                         \
    .dtypes = G_MAXUINT32,                                                      \
    .family = VN_FAMILY_SHAPE,                                                  \
    .quant = VN_QUANT_TRAITS (role, ort),                                       \
    .aliases = TRUE,                                                            \
    .infer = infer_func,                                                        \
    .run = reshape_copy_run,                                                    \
  };

SAME_ELEMENTS (vn_op_reshape_1, "Reshape", 1, 2, VN_QUANT_PASSTHROUGH, TRUE, reshape_infer)
SAME_ELEMENTS (vn_op_flatten_1, "Flatten", 1, 1, VN_QUANT_PASSTHROUGH, TRUE, reshape_flatten_infer)
SAME_ELEMENTS (vn_op_squeeze_1, "Squeeze", 1, 2, VN_QUANT_PASSTHROUGH, TRUE, reshape_squeeze_infer)
SAME_ELEMENTS (vn_op_unsqueeze_1, "Unsqueeze", 1, 2, VN_QUANT_PASSTHROUGH, TRUE, reshape_unsqueeze_infer)
