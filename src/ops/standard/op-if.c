/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If: one of two graphs. */
#include "vn-op-body.h"

static gboolean
if_meet_types (VnOpContext   *ctx,
               guint          i,
               VnTensorType  *a,
               VnTensorType   b,
               GError       **error)
{
  if (a->kind != VN_KIND_UNKNOWN && b.kind != VN_KIND_UNKNOWN && a->dtype != VN_DTYPE_UNDEFINED &&
      b.dtype != VN_DTYPE_UNDEFINED && (a->dtype != b.dtype || a->kind != b.kind))
    return vn_op_fail (ctx, error, _("If: output %u is %s in one branch and %s in the other%s"), i,
                       vn_dtype_get_name (a->dtype), vn_dtype_get_name (b.dtype),
                       a->kind != b.kind ? _(", and only one of them is a tensor") : "");
  if (a->dtype != b.dtype)
    a->dtype = VN_DTYPE_UNDEFINED;
  if (a->kind != b.kind)
    a->kind = VN_KIND_UNKNOWN;
  if (a->shape.rank != b.shape.rank)
    a->shape = VN_SHAPE_UNKNOWN;
  for (int d = 0; d < a->shape.rank; d++)
    if (a->shape.dims[d] != b.shape.dims[d])
      a->shape.dims[d] = VN_DIM_UNKNOWN;
  return TRUE;
}

static gboolean
if_infer (VnOpContext *ctx,
          GError     **error)
{
  const VnGraph *yes = vn_op_get_body (ctx, "then_branch", 0, ctx->n_outputs, error);
  const VnGraph *no = yes != NULL ? vn_op_get_body (ctx, "else_branch", 0, ctx->n_outputs, error) : NULL;
  const VnTensor *known = ctx->in[0];
  gboolean flag;

  if (no == NULL || !vn_op_check_flag (ctx, known, _("the condition"), &flag, error))
    return FALSE;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      VnTensorType type = vn_op_body_type (ctx, known == NULL || flag ? yes : no, i);

      if (known == NULL && !if_meet_types (ctx, i, &type, vn_op_body_type (ctx, no, i), error))
        return FALSE;
      ctx->out_types[i] = type;
    }
  return TRUE;
}

static gboolean
if_run (VnOpContext *ctx,
        GError     **error)
{
  const VnGraph *branch;
  gboolean flag;

  if (!vn_op_check_flag (ctx, ctx->in[0], _("the condition"), &flag, error))
    return FALSE;
  branch = vn_op_get_body (ctx, flag ? "then_branch" : "else_branch", 0, ctx->n_outputs, error);
  return branch != NULL && vn_op_run_body (ctx, branch, NULL, ctx->out, error);
}

const VnOp vn_op_if_1 = {
  .domain = "", .type = "If", .since = 1,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 0, .max_outputs = VN_OP_MAX_INPUTS,
  .dtypes = VN_DTYPE_BIT (BOOL),
  .family = VN_FAMILY_OTHER,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .makes_outputs = TRUE,
  .infer = if_infer,
  .run = if_run,
};
