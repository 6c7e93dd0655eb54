/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optional, OptionalHasElement, OptionalGetElement. From opset 18 on the last two take plain values as well: these
 * count as optionals that hold them. */
#include "vn-op-kernel.h"

static gboolean
optional_infer (VnOpContext *ctx,
                GError     **error)
{
  VnDType dtype = vn_op_has_input (ctx, 0) ? ctx->in_types[0].dtype : VN_DTYPE_UNDEFINED;

  ctx->out_types[0] = (VnTensorType) { dtype, VN_SHAPE_UNKNOWN, VN_KIND_OPTIONAL };
  return TRUE;
}

static gboolean
optional_run (VnOpContext *ctx,
              GError     **error)
{
  ctx->out[0] = vn_tensor_new_optional (VN_DTYPE_UNDEFINED, ctx->n_inputs > 0 ? ctx->in[0] : NULL, error);
  return ctx->out[0] != NULL;
}

static gboolean
optional_has_infer (VnOpContext *ctx,
                    GError     **error)
{
  vn_op_set_output (ctx, 0, VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  return TRUE;
}

static gboolean
optional_has_run (VnOpContext *ctx,
                  GError     **error)
{
  const VnTensor *in = ctx->n_inputs > 0 ? ctx->in[0] : NULL;

  *(guint8 *) ctx->out[0]->data = in != NULL && (in->kind != VN_KIND_OPTIONAL || in->items->len > 0);
  return TRUE;
}

static gboolean
optional_get_infer (VnOpContext *ctx,
                    GError     **error)
{
  ctx->out_types[0] = ctx->in_types[0];
  if (ctx->in_types[0].kind == VN_KIND_OPTIONAL)
    ctx->out_types[0].kind = VN_KIND_UNKNOWN;
  return TRUE;
}

static gboolean
optional_get_run (VnOpContext *ctx,
                  GError     **error)
{
  VnTensor *in = ctx->in[0];

  if (in->kind == VN_KIND_OPTIONAL && in->items->len == 0)
    return vn_op_fail (ctx, error, _("OptionalGetElement: the optional is empty"));
  ctx->out[0] = vn_tensor_own (in->kind == VN_KIND_OPTIONAL ? g_ptr_array_index (in->items, 0) : in, error);
  return ctx->out[0] != NULL;
}

#define OPTIONAL(name, op, inputs, makes, infer_func, run_func)                   \
  const VnOp name = {                                                             \
    .domain = "", .type = op, .since = 15,                                        \
    .min_inputs = inputs, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,    \
    .family = VN_FAMILY_OTHER,                                                    \
    .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),                            \
    .containers = TRUE,                                                           \
    .makes_outputs = makes,                                                       \
    .infer = infer_func,                                                          \
    .run = run_func,                                                              \
  };

OPTIONAL (vn_op_optional_15, "Optional", 0, TRUE, optional_infer, optional_run)
OPTIONAL (vn_op_optional_has_element_15, "OptionalHasElement", 0, FALSE, optional_has_infer, optional_has_run)
OPTIONAL (vn_op_optional_get_element_15, "OptionalGetElement", 1, TRUE, optional_get_infer, optional_get_run)
