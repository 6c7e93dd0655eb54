/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which operators work on blocks of channels. */
#include "vn-blocked-private.h"

#include "vn-elem.h"

static const struct {
  const char   *type;
  const VnOp   *op;
  VnBlockedUse  use;
} replaced[] = {
  { "AveragePool", &vn_op_blocked_average_pool, VN_BLOCKED_ALL },
  { "Conv", &vn_op_blocked_conv, VN_BLOCKED_ANY },
  { "Conv", &vn_op_blocked_depthwise, VN_BLOCKED_ALL },
  { "GlobalAveragePool", &vn_op_blocked_global_average_pool, VN_BLOCKED_OUT },
  { "MaxPool", &vn_op_blocked_max_pool, VN_BLOCKED_ALL },
};

static const char * const by_element[] = {
  "Abs", "Add", "Clip", "Div", "Dropout", "Elu", "Exp", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Max", "Min", "Mul",
  "Relu",
  "Sigmoid", "Softplus", "Sub", "Sum", "Tanh", NULL
};

/* The constant inputs have one element; the others, and the output, have one shape. */
static gboolean
blocked_find_is_by_element (VnOpContext *ctx)
{
  if (!g_strv_contains (by_element, ctx->node->op_type))
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnTensor *constant = ctx->in[i];

      if (!vn_op_has_input (ctx, i) || (constant != NULL && constant->n_elements == 1 && constant->shape.rank <= 4))
        continue;
      if (constant != NULL || !vn_shape_equal (&ctx->in_types[i].shape, &ctx->out_types[0].shape))
        return FALSE;
    }
  return TRUE;
}

/* One of a pair with one scale for all channels, whose codes lie one in an element. */
static gboolean
blocked_find_is_quantizer (VnOpContext *ctx)
{
  gboolean quantizes = vn_node_is (ctx->node, "QuantizeLinear");
  VnDType data = quantizes ? ctx->in_types[0].dtype : ctx->out_types[0].dtype;
  VnDType code = quantizes ? ctx->out_types[0].dtype : ctx->in_types[0].dtype;

  if ((!quantizes && !vn_node_is (ctx->node, "DequantizeLinear")) || data != VN_DTYPE_F32 || (VN_CODE_BITS >> code & 1) == 0)
    return FALSE;
  for (guint i = 1; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i) && (ctx->in[i] == NULL || ctx->in[i]->n_elements != 1 || ctx->in[i]->shape.rank > 1))
      return FALSE;
  return TRUE;
}

/* Blocks of channels one after the other: full ones. */
static gboolean
blocked_find_is_concat (VnOpContext *ctx)
{
  gint64 lanes = vn_blocked_get_lanes ();

  if (!vn_node_is (ctx->node, "Concat") || vn_node_get_int (ctx->node, "axis", 1) != 1)
    return FALSE;
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (ctx->in[i] != NULL || ctx->in_types[i].shape.dims[1] % lanes != 0)
      return FALSE;
  return TRUE;
}

/* Weight and bias are packed before the first run. */
static gboolean
blocked_find_are_constant (VnOpContext *ctx)
{
  for (guint i = 1; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i) && (ctx->in[i] == NULL || ctx->in[i]->n_elements == 0))
      return FALSE;
  return TRUE;
}

static gboolean
blocked_find_has_channels (VnOpContext *ctx)
{
  VnShape shape;

  return ctx->n_inputs > 0 && ctx->n_outputs > 0 && *ctx->node->domain == '\0' &&
         vn_blocked_get_shape (&ctx->in_types[0].shape, &shape) && vn_shape_count (&shape, 0, shape.rank) > 0 &&
         vn_blocked_get_shape (&ctx->out_types[0].shape, &shape) && vn_shape_count (&shape, 0, shape.rank) > 0;
}

static gboolean
blocked_find_are_floats (VnOpContext *ctx)
{
  for (guint i = 0; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i) && ctx->in_types[i].dtype != VN_DTYPE_F32)
      return FALSE;
  return ctx->out_types[0].dtype == VN_DTYPE_F32;
}

/* Products in all, and for each result, and channels, from which on a convolution of planes is slower than one that brings them
 * into blocks and its results back; measured with vectors of 8. */
#define LEAST_WORK 4e6
#define LEAST_PRODUCTS 144
#define LEAST_BLOCKS 2

static gboolean
blocked_find_pays_alone (VnOpContext *ctx)
{
  const VnBlockedTile *tile = vn_blocked_tile_get ();
  const VnShape *weight = &ctx->in[1]->shape, *out = &ctx->out_types[0].shape;
  const gsize n_channels = (gsize) weight->dims[0], n_products = ctx->in[1]->n_elements / n_channels;

  return tile->gathers && n_channels >= LEAST_BLOCKS * tile->lanes && n_products >= LEAST_PRODUCTS &&
         vn_shape_count (weight, 2, weight->rank) > 1 &&
         (double) vn_shape_count (out, 0, out->rank) * (double) n_products >= LEAST_WORK;
}

/**
 * vn_blocked_find:
 * @ctx: a node with all types known, constants in ctx->in; scratch_bytes are set for @op
 * @op: (out): what computes it where data are blocked
 *
 * Returns: whether and how the operator works on blocked data
 */
VnBlockedUse
vn_blocked_find (VnOpContext  *ctx,
                 const VnOp  **op)
{
  gsize scratch = ctx->scratch_bytes;

  *op = ctx->op;
  if (!blocked_find_has_channels (ctx))
    return VN_BLOCKED_NEVER;
  if (blocked_find_is_quantizer (ctx))
    return VN_BLOCKED_SAME;
  if (!blocked_find_are_floats (ctx))
    return VN_BLOCKED_NEVER;
  if (blocked_find_is_by_element (ctx) || blocked_find_is_concat (ctx))
    return VN_BLOCKED_SAME;
  for (guint i = 0; i < G_N_ELEMENTS (replaced) && blocked_find_are_constant (ctx); i++)
    if (vn_node_is (ctx->node, replaced[i].type) && replaced[i].op->infer (ctx, NULL))
      {
        *op = replaced[i].op;
        return replaced[i].use == VN_BLOCKED_ANY && blocked_find_pays_alone (ctx) ? VN_BLOCKED_ALONE : replaced[i].use;
      }
  ctx->scratch_bytes = scratch;
  return VN_BLOCKED_NEVER;
}
