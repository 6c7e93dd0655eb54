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

  if (next == NULL || index != 0)
    return NULL;
  if (vn_node_is (next, "HardSwish"))   /* convolutions in blocks of channels alone have it */
    return vn_node_is (product, "Conv") && vn_runtime_is_constant (self, vn_node_get_input (product, 1)) ? next : NULL;
  return fuse_is_activation (next) || (!vn_node_is (product, "Gemm") && fuse_is_clip (self, next)) ? next : NULL;
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
  if (shape == NULL || other == NULL || !vn_shape_equal (shape, other) ||
      vn_runtime_is_constant (self, vn_node_get_input (add, 1 - index)))
    return;
  vn_runtime_absorb (self, add, conv, 0);
  vn_runtime_set_kernel (conv, "com.microsoft", "FusedConv");
}

/* x * sigmoid (x) */
static void
fuse_swish (VnRuntimeGraph *self,
            VnNode         *sigmoid)
{
  VnNode *mul = vn_runtime_only_reader (vn_node_get_output (sigmoid, 0), NULL);
  VnValue *x = vn_node_get_input (sigmoid, 0);

  if (mul == NULL || !vn_node_is (mul, "Mul") || (vn_node_get_input (mul, 0) != x && vn_node_get_input (mul, 1) != x))
    return;
  vn_node_set_input (mul, 0, x);
  vn_runtime_share (self, sigmoid, mul);
  vn_node_set_input (mul, 1, NULL);
  vn_runtime_set_kernel (mul, "com.microsoft", "QuickGelu");
}

/* A sum in front of LayerNormalization; others may read it as well. */
static void
fuse_skip (VnRuntimeGraph *self,
           VnNode         *norm)
{
  VnNode *add = vn_runtime_get_producer (norm, 0);
  const VnShape *a, *b;

  if (add == NULL || !vn_node_is (add, "Add"))
    return;
  a = vn_runtime_get_shape (vn_node_get_input (add, 0));
  b = vn_runtime_get_shape (vn_node_get_input (add, 1));
  if (a == NULL || b == NULL || a->rank != 3 || !vn_shape_equal (a, b))
    return;
  vn_runtime_set_kernel (norm, "com.microsoft", "SkipLayerNormalization");
  vn_runtime_take_over (self, add, norm);
}

/* Slices of the same value that together are all of it, along an axis. */
static gboolean
fuse_is_piece (const VnNode *slice,
               gint64       *axis,
               double       *length)
{
  const VnShape *from = vn_runtime_get_shape (vn_node_get_input (slice, 0)),
  *to = vn_runtime_get_shape (vn_node_get_output (slice, 0));

  *axis = -1;
  if (!vn_node_is (slice, "Slice") || from == NULL || to == NULL || from->rank != to->rank)
    return FALSE;
  for (int i = 0; i < from->rank; i++)
    if (from->dims[i] != to->dims[i])
      {
        if (*axis >= 0)
          return FALSE;
        *axis = i;
      }
  *length = *axis >= 0 ? (double) to->dims[*axis] / (double) from->dims[*axis] : 0;
  return *axis >= 0;
}

static void
fuse_slices (VnRuntimeGraph *self,
             VnNode         *first)
{
  VnValue *value = vn_node_get_input (first, 0);
  g_autoptr(GArray) uses = vn_uses_copy (value->uses);
  gint64 axis, other;
  double length, sum = 0;

  if (!fuse_is_piece (first, &axis, &length) || uses->len < 2)
    return;
  for (guint i = 0; i < uses->len; i++)
    {
      if (!fuse_is_piece (g_array_index (uses, VnUse, i).node, &other, &length) || other != axis)
        return;
      sum += length;
    }
  if (sum != 1)
    return;
  vn_runtime_set_kernel (first, "", "Split");
  for (guint i = 0, n = 1; i < uses->len; i++)
    if (g_array_index (uses, VnUse, i).node != first)
      {
        vn_node_set_output (first, n++, NULL);
        vn_runtime_absorb (self, g_array_index (uses, VnUse, i).node, first, n - 1);
      }
}

static void
fuse_node (VnRuntimeGraph *self,
           VnNode         *node)
{
  if (vn_node_is (node, "Slice"))
    fuse_slices (self, node);
  else if (!fuse_is_float (node))
    return;
  else if (vn_node_is (node, "Sigmoid"))
    fuse_swish (self, node);
  else if (vn_node_is (node, "LayerNormalization"))
    fuse_skip (self, node);
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
        {
          fuse_node (self, node);
          continue;
        }
      if (fuse_find_activation (self, node) == NULL && vn_node_is (node, "Conv"))
        fuse_sum (self, node);
      if (vn_node_is (node, "Conv") || vn_node_is (node, "Gemm"))
        fuse_activation (self, node);
    }
  return nodes != NULL;
}
