/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What passes ask about nodes and values. */
#include "vn-rewrite-private.h"

/**
 * vn_rewrite_get_ints:
 * @attr: where older opsets have the list; @input: where newer ones have it
 * @values: (out): room for @max numbers
 * @n: (out): 0 if the node says nothing
 *
 * Returns: %FALSE if the list is not known now, or too long
 */
gboolean
vn_rewrite_get_ints (const VnNode *node,
                     const char   *attr,
                     guint         input,
                     gint64       *values,
                     gsize         max,
                     gsize        *n)
{
  const VnAttr *found = attr != NULL ? vn_node_get_attr (node, attr) : NULL;
  const gint64 *ints = attr != NULL ? vn_node_get_ints (node, attr, n) : NULL;
  VnValue *value = vn_node_get_input (node, input);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  *n = ints != NULL ? *n : 0;
  if (found != NULL && (found->ref_name != NULL || ints == NULL || *n > max))
    return FALSE;
  for (gsize i = 0; i < *n; i++)
    values[i] = ints[i];
  if (found != NULL || value == NULL)
    return TRUE;
  if (tensor == NULL || (tensor->dtype != VN_DTYPE_S64 && tensor->dtype != VN_DTYPE_S32) || tensor->n_elements > max)
    return FALSE;
  *n = tensor->n_elements;
  for (gsize i = 0; i < *n; i++)
    values[i] = vn_tensor_get_s64 (tensor, i);
  return TRUE;
}

/**
 * vn_rewrite_get_shape:
 *
 * Returns: (transfer none) (nullable): the shape of @value if it is a tensor whose rank is known
 */
const VnShape *
vn_rewrite_get_shape (const VnValue *value)
{
  if (value == NULL)
    return NULL;
  if (value->initializer != NULL)
    return &value->initializer->shape;
  return value->type.kind == VN_TYPE_TENSOR && value->type.shape.rank >= 0 ? &value->type.shape : NULL;
}

/**
 * vn_rewrite_get_dtype:
 *
 * Returns: the element type of @value, %VN_DTYPE_UNDEFINED if it is not known
 */
VnDType
vn_rewrite_get_dtype (const VnValue *value)
{
  if (value->initializer != NULL)
    return value->initializer->dtype;
  return value->type.kind == VN_TYPE_TENSOR ? value->type.dtype : VN_DTYPE_UNDEFINED;
}

/**
 * vn_rewrite_same_static_shape:
 *
 * Returns: %TRUE if all sizes of both are known, and the same
 */
gboolean
vn_rewrite_same_static_shape (const VnValue *a,
                              const VnValue *b)
{
  const VnShape *x = vn_rewrite_get_shape (a), *y = vn_rewrite_get_shape (b);

  return x != NULL && y != NULL && vn_shape_is_static (x) && vn_shape_equal (x, y);
}

/**
 * vn_rewrite_is_filled_with:
 *
 * Returns: %TRUE if @value is a constant, all of whose elements are @number
 */
gboolean
vn_rewrite_is_filled_with (const VnValue *value,
                           double         number)
{
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;
  g_autoptr(VnTensor) aligned = NULL;

  if (tensor == NULL || tensor->dtype == VN_DTYPE_STRING || tensor->n_elements == 0 ||
      (aligned = vn_tensor_get_aligned (tensor, NULL)) == NULL)
    return FALSE;
  for (gsize i = 0; i < aligned->n_elements; i++)
    if (vn_tensor_get_double (aligned, i) != number)
      return FALSE;
  return TRUE;
}

/**
 * vn_rewrite_get_number:
 *
 * Returns: %TRUE if @value is a constant of one element, which is then in @number
 */
gboolean
vn_rewrite_get_number (const VnValue *value,
                       double        *number)
{
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;
  g_autoptr(VnTensor) aligned = NULL;

  if (tensor == NULL || tensor->dtype == VN_DTYPE_STRING || tensor->n_elements != 1 ||
      (aligned = vn_tensor_get_aligned (tensor, NULL)) == NULL)
    return FALSE;
  *number = vn_tensor_get_double (aligned, 0);
  return TRUE;
}

/**
 * vn_rewrite_producer:
 *
 * Returns: (transfer none) (nullable): the node of that type, in the same graph, that makes input @i of @node
 */
VnNode *
vn_rewrite_producer (const VnNode *node,
                     guint         i,
                     const char   *op_type)
{
  VnValue *value = vn_node_get_input (node, i);

  return value != NULL && value->graph == node->graph && value->producer != NULL &&
         vn_node_is (value->producer, op_type) ? value->producer : NULL;
}

/**
 * vn_rewrite_producer_of_only:
 *
 * As vn_rewrite_producer(), if @node is the only user of that value and it needs no name of its own.
 */
VnNode *
vn_rewrite_producer_of_only (GHashTable   *returned,
                             const VnNode *node,
                             guint         i,
                             const char   *op_type)
{
  VnNode *producer = vn_rewrite_producer (node, i, op_type);
  VnValue *value = vn_node_get_input (node, i);

  return producer != NULL && value->uses->len == 1 && !vn_rewrite_is_kept (returned, value) ? producer : NULL;
}

/**
 * vn_rewrite_remove_unused:
 *
 * Removes @node if nothing needs its results any more, and the constants that only it used.
 *
 * Returns: whether it is gone
 */
gboolean
vn_rewrite_remove_unused (GHashTable *returned,
                          VnNode     *node)
{
  g_autoptr(GPtrArray) values = g_ptr_array_new ();

  for (guint i = 0; i < node->outputs->len; i++)
    {
      VnValue *value = vn_node_get_output (node, i);

      if (value == NULL)
        continue;
      if (value->uses->len > 0 || vn_rewrite_is_kept (returned, value))
        return FALSE;
      g_ptr_array_add (values, value);
    }
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) != NULL && vn_node_get_input (node, i)->initializer != NULL &&
        !g_ptr_array_find (values, vn_node_get_input (node, i), NULL))
      g_ptr_array_add (values, vn_node_get_input (node, i));
  vn_graph_remove_node (node->graph, node);
  for (guint i = 0; i < values->len; i++)
    vn_rewrite_drop_unused (returned, g_ptr_array_index (values, i));
  return TRUE;
}
