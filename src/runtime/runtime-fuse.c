/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime joins among the nodes that compute in float: activations and sums with the product before them. */
#include "vn-runtime-private.h"

static gboolean
fuse_is_activation (const VnNode *node)
{
  static const char * const types[] = { "Relu", "Sigmoid", "Tanh", "LeakyRelu", "HardSigmoid", NULL };

  return g_str_equal (node->domain, "") && g_strv_contains (types, node->op_type);
}

static gboolean
fuse_is_clip (const VnRuntimeGraph *self,
              const VnNode         *node)
{
  for (guint i = 1; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL && !vn_runtime_is_constant (self, vn_node_get_input (node, i)))
      return FALSE;
  return vn_node_is (node, "Clip");
}

static gboolean
fuse_is_float (const VnNode *node)
{
  return vn_runtime_get_dtype (vn_node_get_input (node, 0)) == VN_DTYPE_F32;
}

static VnNode *
fuse_find_activation (const VnRuntimeGraph *self,
                      const VnNode         *product)
{
  guint index;
  VnNode *next = vn_runtime_only_reader (vn_node_get_output (product, 0), &index);

  return next != NULL && index == 0 && (fuse_is_activation (next) || (!vn_node_is (product, "Gemm") && fuse_is_clip (self, next))) ? next : NULL;
}

static void
fuse_activation (VnRuntimeGraph *self,
                 VnNode         *product)
{
  VnNode *next = fuse_find_activation (self, product);

  if (next == NULL)
    return;
  vn_runtime_absorb (self, next, product, 0);
  vn_runtime_set_kernel (product, "com.microsoft", vn_node_is (product, "Gemm") ? "FusedGemm" : "FusedConv");
}

/* The sum of a Conv without activation and of something of the same shape. */
static void
fuse_sum (VnRuntimeGraph *self,
          VnNode         *conv)
{
  guint index;
  VnNode *add = vn_runtime_only_reader (vn_node_get_output (conv, 0), &index);
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_output (conv, 0)), *other;

  if (add == NULL || !vn_node_is (add, "Add"))
    return;
  other = vn_runtime_get_shape (vn_node_get_input (add, 1 - index));
  if (shape == NULL || other == NULL || !vn_shape_equal (shape, other) || vn_runtime_is_constant (self, vn_node_get_input (add, 1 - index)))
    return;
  vn_runtime_absorb (self, add, conv, 0);
  vn_runtime_set_kernel (conv, "com.microsoft", "FusedConv");
}

gboolean
vn_runtime_fuse (VnRuntimeGraph  *self,
                 GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (!(vn_node_is (node, "Conv") || vn_node_is (node, "Gemm")) || !fuse_is_float (node))
        continue;
      if (fuse_find_activation (self, node) == NULL && vn_node_is (node, "Conv"))
        fuse_sum (self, node);
      if (vn_node_is (node, "Conv") || vn_node_is (node, "Gemm"))
        fuse_activation (self, node);
    }
  return nodes != NULL;
}
