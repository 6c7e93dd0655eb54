/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What inference may assume on request, where it does not follow. */
#include "vn-infer-private.h"

static gboolean
infer_assume_broadcasts (const VnNode *node)
{
  static const char * const types[] = { "Add", "And", "BitShift", "Div", "Equal", "Greater", "GreaterOrEqual", "Less",
                                        "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "Sub", "Sum",
                                        "Where", "Xor", NULL };

  return *node->domain == '\0' && g_strv_contains (types, node->op_type);
}

/* The open size that input dims meet in @axis, counted from the last; VN_DIM_UNKNOWN if that is not all there is. */
static gint64
infer_assume_find_open (const VnOpContext *ctx,
                        int                axis)
{
  gint64 open = VN_DIM_UNKNOWN;

  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnShape *shape = &ctx->in_types[i].shape;
      gint64 dim = axis < shape->rank ? shape->dims[shape->rank - 1 - axis] : 1;

      if (shape->rank < 0 || dim == VN_DIM_UNKNOWN || (dim >= 0 && dim != 1))
        return VN_DIM_UNKNOWN;
      if (dim != 1 && open == VN_DIM_UNKNOWN)
        open = dim;
    }
  return open;
}

/**
 * vn_infer_merge_dims:
 *
 * Sizes of a result that stayed unknown because two open ones met are taken to be the first of these.
 */
void
vn_infer_merge_dims (const VnOpContext *ctx)
{
  if (!infer_assume_broadcasts (ctx->node))
    return;
  for (guint i = 0; i < ctx->n_outputs; i++)
    {
      VnShape *shape = &ctx->out_types[i].shape;

      for (int axis = 0; axis < shape->rank; axis++)
        if (shape->dims[shape->rank - 1 - axis] == VN_DIM_UNKNOWN)
          shape->dims[shape->rank - 1 - axis] = infer_assume_find_open (ctx, axis);
    }
}

/**
 * vn_infer_guess_types:
 * @node: of an operator that is not known
 *
 * Gives its outputs, where nothing is declared, the element type and rank of its first input.
 */
void
vn_infer_guess_types (VnInfer *self,
                      VnNode  *node)
{
  VnValue *first = vn_node_get_input (node, 0);
  VnTensorType type;

  if (first == NULL)
    return;
  type = vn_infer_get_type (self, first);
  if (type.kind != VN_KIND_TENSOR)
    return;
  for (int i = 0; i < type.shape.rank; i++)
    type.shape.dims[i] = VN_DIM_UNKNOWN;
  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && value->type.kind == VN_TYPE_UNKNOWN)
        vn_infer_set_type (self, value, type);
    }
}
