/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime does first, on any network: constants are folded, copies dropped, and what is affine goes into the product
 * before it. */
#include "vn-runtime-private.h"

#include <string.h>

static gboolean
simplify_is_random (const VnNode *node)
{
  return g_str_has_prefix (node->op_type, "Random") || vn_node_is (node, "Multinomial") || vn_node_is (node, "Bernoulli");
}

/* DequantizeLinear of constants stays, as kernels on integers need it. */
static gboolean
simplify_is_foldable (const VnRuntimeGraph *self,
                      const VnNode         *node)
{
  const VnShape *shape;

  if (vn_runtime_is_dq (node) || vn_node_has_graphs (node) || simplify_is_random (node))
    return FALSE;
  if (vn_node_is (node, "Shape") || vn_node_is (node, "Size"))
    {
      shape = vn_runtime_get_shape (vn_node_get_input (node, 0));
      return !self->open && shape != NULL && vn_shape_is_static (shape);
    }
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL && !vn_runtime_is_constant (self, vn_node_get_input (node, i)))
      return FALSE;
  return TRUE;
}

static gboolean
simplify_fold (VnRuntimeGraph  *self,
               GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      gboolean kept = FALSE;

      for (guint o = 0; o < node->outputs->len; o++)
        kept = kept || (vn_node_get_output (node, o) != NULL && vn_node_get_output (node, o)->is_output);
      if (!kept && simplify_is_foldable (self, node))
        vn_runtime_fold (self, node);
    }
  return nodes != NULL;
}

/* ---- nodes that compute the same ---- */

#define SHARED_READERS 64   /* of a value with more, such as the one constant of a network, none are compared */
#define SHARED_ELEMENTS 8   /* constants of so many elements are compared by value */

static gboolean
simplify_same_value (const VnValue *a,
                     const VnValue *b)
{
  const VnTensor *first, *second;

  if (a == b || a == NULL || b == NULL)
    return a == b;
  first = vn_value_get_constant (a);
  second = vn_value_get_constant (b);
  return first != NULL && second != NULL && first->n_elements <= SHARED_ELEMENTS && vn_tensor_equal (first, second);
}

static gboolean
simplify_same_array (const GArray *a,
                     const GArray *b)
{
  gsize size = a != NULL ? g_array_get_element_size ((GArray *) a) : 0;

  return a == b || (a != NULL && b != NULL && a->len == b->len && memcmp (a->data, b->data, a->len * size) == 0);
}

static gboolean
simplify_same_attr (const VnAttr *a,
                    const VnAttr *b)
{
  if (b == NULL || a->type != b->type)
    return FALSE;
  switch (a->type)
    {
    case VN_ATTR_INT:
      return a->i == b->i;
    case VN_ATTR_FLOAT:
      return a->f == b->f;
    case VN_ATTR_STRING:
      return g_bytes_equal (a->s, b->s);
    case VN_ATTR_INTS:
      return simplify_same_array (a->ints, b->ints);
    case VN_ATTR_FLOATS:
      return simplify_same_array (a->floats, b->floats);
    default:
      return FALSE;
    }
}

static gboolean
simplify_same_node (const VnNode *a,
                    const VnNode *b)
{
  if (!g_str_equal (a->op_type, b->op_type) || !g_str_equal (a->domain, b->domain) || a->inputs->len != b->inputs->len ||
      a->outputs->len != 1 || b->outputs->len != 1 || a->attrs->len != b->attrs->len || simplify_is_random (a))
    return FALSE;
  for (guint i = 0; i < a->inputs->len; i++)
    if (!simplify_same_value (vn_node_get_input (a, i), vn_node_get_input (b, i)))
      return FALSE;
  for (guint i = 0; i < a->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (a->attrs, i);

      if (!simplify_same_attr (attr, vn_node_get_attr (b, attr->name)))
        return FALSE;
    }
  return TRUE;
}

/* Among the readers of each value, those that do the same as an earlier one. */
static gboolean
simplify_share (VnRuntimeGraph  *self,
                GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnValue *value = vn_node_get_input (node, 0);
      g_autoptr(GArray) uses = value != NULL && value->uses->len <= SHARED_READERS ? vn_uses_copy (value->uses) : NULL;

      for (guint u = 0; uses != NULL && u < uses->len; u++)
        {
          VnNode *other = g_array_index (uses, VnUse, u).node;

          if (other != node && other->graph == self->graph && node->outputs->len == 1 && other->outputs->len == 1 &&
              vn_node_get_output (other, 0) != NULL && !vn_node_get_output (other, 0)->is_output &&
              simplify_same_node (node, other))
            vn_runtime_share (self, other, node);
        }
    }
  return nodes != NULL;
}

/* ---- pairs of nodes ---- */

static gboolean
simplify_has_constant_weights (const VnRuntimeGraph *self,
                               const VnNode         *node)
{
  const VnValue *bias = vn_node_get_input (node, 2);

  return vn_runtime_is_constant (self, vn_node_get_input (node, 1)) && (bias == NULL || vn_runtime_is_constant (self, bias));
}

/* One number for each channel of a Conv, behind which @value is added or multiplied. */
static gboolean
simplify_is_per_channel (const VnRuntimeGraph *self,
                         const VnNode         *conv,
                         const VnValue        *value)
{
  const VnShape *shape = vn_runtime_get_shape (value), *weight = vn_runtime_get_shape (vn_node_get_input (conv, 1));
  int axis;

  if (shape == NULL || weight == NULL || !vn_runtime_is_constant (self, value))
    return FALSE;
  axis = shape->rank - (weight->rank - 1);
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] != (i == axis ? weight->dims[0] : 1))
      return FALSE;
  return axis >= 0;
}

static gboolean
simplify_goes_into_conv (const VnRuntimeGraph *self,
                         const VnNode         *conv,
                         const VnNode         *next,
                         guint                 input)
{
  if (!vn_node_is (conv, "Conv") || !simplify_has_constant_weights (self, conv))
    return FALSE;
  if (vn_node_is (next, "BatchNormalization"))
    return input == 0 && vn_runtime_is_constant (self, vn_node_get_input (next, 1)) &&
           vn_runtime_is_constant (self, vn_node_get_input (next, 3));
  return (vn_node_is (next, "Add") || vn_node_is (next, "Mul")) &&
         simplify_is_per_channel (self, conv, vn_node_get_input (next, 1 - input));
}

/* MatMul and Add of a row are a Gemm. */
static gboolean
simplify_is_gemm (const VnRuntimeGraph *self,
                  const VnNode         *product,
                  const VnNode         *add,
                  guint                 input)
{
  const VnShape *a = vn_runtime_get_shape (vn_node_get_input (product, 0)),
  *b = vn_runtime_get_shape (vn_node_get_input (product, 1));
  const VnShape *c = vn_runtime_get_shape (vn_node_get_input (add, 1 - input));

  return vn_node_is (product, "MatMul") && vn_node_is (add, "Add") && a != NULL && b != NULL && c != NULL && a->rank >= 2 &&
         b->rank == 2 && ((c->rank == 1 && c->dims[0] == b->dims[1]) ||
                          (c->rank == 2 && a->rank == 2 && c->dims[1] == b->dims[1]));
}

/* A Pad with zeros in front of a window. */
static gboolean
simplify_is_pad_of (const VnRuntimeGraph *self,
                    const VnNode         *pad,
                    const VnNode         *next,
                    guint                 input)
{
  g_autofree char *mode = vn_node_is (pad, "Pad") ? vn_node_dup_string (pad, "mode", "constant") : NULL;
  g_autofree char *auto_pad = mode != NULL ? vn_node_dup_string (next, "auto_pad", "NOTSET") : NULL;
  const VnTensor *value = vn_node_get_input (pad, 2) != NULL ? vn_value_get_constant (vn_node_get_input (pad, 2)) : NULL;

  return mode != NULL && g_str_equal (mode, "constant") && g_str_equal (auto_pad, "NOTSET") && input == 0 &&
         vn_node_get_input (pad, 3) == NULL && (pad->inputs->len < 2 ||
                                                vn_runtime_is_constant (self, vn_node_get_input (pad, 1))) &&
         (vn_node_get_input (pad, 2) == NULL || (value != NULL && value->n_elements == 1 &&
                                                 vn_tensor_get_double (value, 0) == 0)) &&
         (vn_node_is (next, "Conv") || vn_node_is (next, "AveragePool"));
}

static void
simplify_make_gemm (VnRuntimeGraph *self,
                    VnNode         *product,
                    VnNode         *add,
                    guint           input)
{
  VnValue *bias = vn_node_get_input (add, 1 - input);

  vn_runtime_absorb (self, add, product, 0);
  vn_node_set_input (product, 2, bias);
  vn_runtime_set_kernel (product, "", "Gemm");
}

static void
simplify_node (VnRuntimeGraph *self,
               VnNode         *node)
{
  guint input = 0;
  VnNode *next = vn_runtime_only_reader (vn_node_get_output (node, 0), &input);

  if (vn_node_is (node, "Identity") || (vn_node_is (node, "Dropout") && vn_node_get_input (node, 2) == NULL))
    vn_runtime_bypass (self, node);
  else if (next != NULL && simplify_is_pad_of (self, node, next, input))
    vn_runtime_bypass (self, node);
  else
    while (next != NULL && (simplify_goes_into_conv (self, node, next, input) || simplify_is_gemm (self, node, next, input)))
      {
        if (vn_node_is (node, "MatMul"))
          simplify_make_gemm (self, node, next, input);
        else
          vn_runtime_absorb (self, next, node, 0);
        next = vn_runtime_only_reader (vn_node_get_output (node, 0), &input);
      }
}

gboolean
vn_runtime_simplify (VnRuntimeGraph  *self,
                     GError         **error)
{
  g_autoptr(GPtrArray) nodes = NULL;

  if (!simplify_fold (self, error) || !simplify_share (self, error))
    return FALSE;
  nodes = vn_runtime_list_nodes (self, error);
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    if (((const VnNode *) g_ptr_array_index (nodes, i))->outputs->len > 0)
      simplify_node (self, g_ptr_array_index (nodes, i));
  return nodes != NULL;
}
