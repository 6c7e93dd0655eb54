/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels of a profile whose names say nothing: ONNX Runtime makes one of several nodes without naming it after any of them. The
 * types tell which nodes they can stand for; where there are as many of each, the order and the shapes tell which. */
#include "node-data-read.h"

#include <math.h>
#include <string.h>

/* What a kernel of a type always has exactly one of. More precise ones stand before others. */
static const struct { const char *kernel, *node; } anchors[] = {
  { "FusedConv", "Conv" },
  { "FusedGemm", "Gemm" },
  { "FusedGemm", "MatMul" },
  { "FusedMatMul", "MatMul" },
  { "Attention", "Softmax" },
  { "MultiHeadAttention", "Softmax" },
  { "SkipLayerNormalization", "LayerNormalization" },
  { "SkipLayerNormalization", "Sqrt" },
  { "LayerNormalization", "Sqrt" },
  { "BiasGelu", "Gelu" },
  { "BiasGelu", "Erf" },
  { "Gelu", "Erf" },
  { "FastGelu", "Tanh" },
  { "QuickGelu", "Sigmoid" },
};

/* One of the two may not know its shape. */
static gboolean
node_numbers_same_shape (const VnShape *a,
                         const VnShape *b)
{
  return a->rank == VN_RANK_UNKNOWN || b->rank == VN_RANK_UNKNOWN || !vn_shape_is_static (b) || vn_shape_equal (a, b);
}

static gboolean
node_numbers_fits (const VnNodeDatum *datum,
                   const VnNode      *node)
{
  const VnValue *weight = node->inputs->len > 1 ? g_ptr_array_index (node->inputs, 1) : NULL;
  const VnTensor *constant = weight != NULL ? vn_value_get_constant (weight) : NULL;

  return constant == NULL || node_numbers_same_shape (&datum->weight, &constant->shape);
}

/* Nodes of @type without a time in the order that they run in. */
static GPtrArray *
node_numbers_list_free (const VnNodeNumbers *self,
                        GPtrArray           *order,
                        const char          *type)
{
  GPtrArray *list = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      if (g_str_equal (node->op_type, type) && isnan (self->values[vn_node_get_index (node)]))
        g_ptr_array_add (list, (gpointer) node);
    }
  return list;
}

/* Each kernel takes the first that fits. Returns: %FALSE: one of them finds none */
static gboolean
node_numbers_pair (GPtrArray *kernels,
                   GPtrArray *nodes,
                   GPtrArray *found)
{
  for (guint i = 0; i < kernels->len; i++)
    {
      guint at = 0;

      while (at < nodes->len && !node_numbers_fits (g_ptr_array_index (kernels, i), g_ptr_array_index (nodes, at)))
        at++;
      if (at == nodes->len)
        return FALSE;
      g_ptr_array_add (found, g_ptr_array_index (nodes, at));
      g_ptr_array_remove_index (nodes, at);
    }
  return TRUE;
}

/*< private >
 * _vn_node_numbers_take_fused:
 *
 * Gives kernels that are about no node yet to nodes that have no time: all of a type, or none of them.
 */
void
_vn_node_numbers_take_fused (VnNodeNumbers *self,
                             const VnGraph *graph)
{
  g_autoptr(GPtrArray) order = NULL;

  g_return_if_fail (self != NULL && graph != NULL);

  if (self->unmatched->len > 0)
    order = vn_graph_sort (graph, NULL);
  for (guint i = 0; order != NULL && i < G_N_ELEMENTS (anchors); i++)
    {
      g_autoptr(GPtrArray) kernels = g_ptr_array_new (), found = g_ptr_array_new (), nodes = NULL;

      for (guint k = 0; k < self->unmatched->len; k++)
        if (g_strcmp0 (((VnNodeDatum *) self->unmatched->pdata[k])->op_type, anchors[i].kernel) == 0)
          g_ptr_array_add (kernels, self->unmatched->pdata[k]);
      nodes = node_numbers_list_free (self, order, anchors[i].node);
      if (kernels->len == 0 || kernels->len != nodes->len || !node_numbers_pair (kernels, nodes, found))
        continue;
      for (guint k = 0; k < kernels->len; k++)
        {
          VnNodeDatum *datum = g_ptr_array_index (kernels, k);

          self->values[vn_node_get_index (g_ptr_array_index (found, k))] = datum->value;
          g_ptr_array_remove (self->unmatched, datum);
        }
      self->n_known += found->len;
      self->n_fused += found->len;
    }
}
