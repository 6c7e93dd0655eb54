/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layouts in which ONNX Runtime runs convolutions on x86: float ones with constant weights in blocks of 16 channels, those on
 * integers with channels last. */
#include "vn-runtime-private.h"

#define NCHWC "com.microsoft.nchwc"
#define BLOCK 16   /* of channels, on processors with AVX-512; 8 on others */
#define ALIGN 4

static gboolean
layout_is_conv (const VnNode *node)
{
  return vn_node_is (node, "Conv") || (g_str_equal (node->op_type, "FusedConv") && g_str_equal (node->domain, "com.microsoft"));
}

static gboolean
layout_takes_blocks (const VnRuntimeGraph *self,
                     const VnNode         *node)
{
  const VnValue *weight = vn_node_get_input (node, 1), *bias = vn_node_get_input (node, 2);
  const VnShape *shape = vn_runtime_get_shape (weight);
  gint64 group = vn_node_get_int (node, "group", 1), out, in;

  if (!layout_is_conv (node) || vn_runtime_get_dtype (vn_node_get_input (node, 0)) != VN_DTYPE_F32 ||
      !vn_runtime_is_constant (self, weight) || (bias != NULL && !vn_runtime_is_constant (self, bias)) || shape == NULL || shape->rank != 4)
    return FALSE;
  out = shape->dims[0];
  in = shape->dims[1];
  if (group == 1)
    return in < BLOCK || in % ALIGN == 0;
  if (in == 1 && out == group)
    return out % ALIGN == 0;
  return in % BLOCK == 0 && out % group == 0 && (out / group) % BLOCK == 0;
}

gboolean
vn_runtime_lay_out (VnRuntimeGraph  *self,
                    GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (layout_takes_blocks (self, node))
        vn_runtime_set_kernel (node, NCHWC, "Conv");
    }
  return nodes != NULL;
}
