/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What NVIDIA's ModelOpt does about products for TensorRT: small ones stay float, and where a sum is fused with a convolution,
 * the other input of the sum is quantized. */
#include "vn-resolver.h"

#define FEW_CHANNELS   16
#define CHANNEL_GROUP   8
#define LEAST_GROUPED_KERNEL 3

static gboolean
products_is_small_conv (const VnNode *node)
{
  const VnValue *x = vn_node_get_input (node, 0), *w = vn_node_get_input (node, 1);
  const VnShape *weight = w != NULL && w->initializer != NULL ? &w->initializer->shape : NULL;
  gint64 group = vn_node_get_int (node, "group", 1), in, out, height, width;

  if (weight == NULL || weight->rank != 4 || x == NULL || group < 1 || weight->dims[1] > G_MAXINT64 / group)
    return FALSE;
  out = weight->dims[0];
  in = weight->dims[1] * group;
  height = weight->dims[2];
  width = weight->dims[3];
  if (in >= FEW_CHANNELS && out >= FEW_CHANNELS)
    return FALSE;
  if (out % CHANNEL_GROUP != 0)
    return TRUE;
  if (group > 1)
    return height < LEAST_GROUPED_KERNEL || width < LEAST_GROUPED_KERNEL;
  return height != width || !(x->is_input || in >= FEW_CHANNELS || out >= FEW_CHANNELS);
}

/* One row of the left matrix, or one column of the right one: a vector is multiplied. */
static gboolean
products_is_vector_product (const VnNode *node)
{
  const VnValue *y = vn_node_get_output (node, 0);
  const VnShape *shape = y != NULL ? &y->type.shape : NULL;

  return shape != NULL && shape->rank >= 2 && (shape->dims[shape->rank - 1] == 1 || shape->dims[shape->rank - 2] == 1);
}

/*< private >
 * vn_resolver_is_small_product:
 *
 * Returns: whether ModelOpt would leave @node in float as integers gain nothing there: convolutions of few channels, except
 *   the first and others whose form its kernels like, and products with a vector
 */
gboolean
vn_resolver_is_small_product (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  if (vn_node_is (node, "Conv"))
    return products_is_small_conv (node);
  return (vn_node_is (node, "MatMul") || vn_node_is (node, "Gemm")) && products_is_vector_product (node);
}

/* Whether a kernel adds the other input to what a convolution gives, which nobody else reads. */
static gboolean
products_is_fused (VnResolver    *self,
                   const VnValue *value)
{
  const VnNode *producer = value != NULL && value->graph == self->graph ? value->producer : NULL;

  return producer != NULL && (vn_node_is (producer, "Conv") || vn_node_is (producer, "ConvTranspose")) &&
         value->uses->len == 1 && !value->is_output && self->quant_nodes[producer->index].annotated;
}

/*< private >
 * vn_resolver_annotate_residuals:
 *
 * After marking: of the two inputs of each Add one convolution is fused with, the other is quantized; of two convolutions the
 * second is the other.
 */
void
vn_resolver_annotate_residuals (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      const VnValue *first = vn_node_get_input (node, 0), *second = vn_node_get_input (node, 1);

      if (!vn_node_is (node, "Add") || first == NULL || second == NULL || first->initializer != NULL ||
          second->initializer != NULL || self->quant_nodes[node->index].exclude_rule >= 0)
        continue;
      if (products_is_fused (self, first))
        vn_resolver_annotate_value (self, second);
      else if (products_is_fused (self, second))
        vn_resolver_annotate_value (self, first);
    }
}
