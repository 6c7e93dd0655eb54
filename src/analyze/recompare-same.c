/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which values of two networks are the same: constants with the same elements, and what the same operators make of the same. */
#include "recompare-same.h"

#include <string.h>

static gboolean
recompare_arrays_equal (const GArray *a,
                        const GArray *b)
{
  if (a == NULL || b == NULL)
    return (a == NULL || a->len == 0) && (b == NULL || b->len == 0);
  return a->len == b->len && (a->len == 0 || memcmp (a->data, b->data, a->len * g_array_get_element_size ((GArray *) a)) == 0);
}

/* %FALSE also for what is rare: lists of texts and of tensors, and graphs. */
static gboolean
recompare_attrs_equal (const VnAttr *a,
                       const VnAttr *b)
{
  if (b == NULL || a->type != b->type || a->graph != NULL || a->graphs != NULL || a->tensors != NULL || a->strings != NULL ||
      a->ref_name != NULL || (a->s != NULL) != (b->s != NULL) || (a->tensor != NULL) != (b->tensor != NULL))
    return FALSE;
  return memcmp (&a->f, &b->f, sizeof a->f) == 0 && a->i == b->i && recompare_arrays_equal (a->floats, b->floats) &&
         recompare_arrays_equal (a->ints, b->ints) && (a->s == NULL || g_bytes_equal (a->s, b->s)) &&
         (a->tensor == NULL || vn_tensor_equal (a->tensor, b->tensor));
}

static gboolean
recompare_names_equal (const VnValue *a,
                       const VnValue *b)
{
  return (a == NULL) == (b == NULL) && (a == NULL || g_str_equal (a->name, b->name));
}

static gboolean
recompare_nodes_equal (const VnNode *a,
                       const VnNode *b)
{
  if (b == NULL || strcmp (a->op_type, b->op_type) != 0 || g_strcmp0 (a->domain, b->domain) != 0 ||
      a->inputs->len != b->inputs->len || a->outputs->len != b->outputs->len || a->attrs->len != b->attrs->len)
    return FALSE;
  for (guint i = 0; i < a->inputs->len; i++)
    if (!recompare_names_equal (vn_node_get_input (a, i), vn_node_get_input (b, i)))
      return FALSE;
  for (guint i = 0; i < a->outputs->len; i++)
    if (!recompare_names_equal (vn_node_get_output (a, i), vn_node_get_output (b, i)))
      return FALSE;
  for (guint i = 0; i < a->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (a->attrs, i);

      if (!recompare_attrs_equal (attr, vn_node_get_attr (b, attr->name)))
        return FALSE;
    }
  return TRUE;
}

/* Inputs and constants are looked at when somebody reads them. */
static gboolean
recompare_is_same (GHashTable    *same,
                   const VnGraph *other,
                   const VnValue *value)
{
  const VnValue *counterpart;

  if (value == NULL || g_hash_table_contains (same, value->name))
    return TRUE;
  counterpart = g_hash_table_lookup (other->by_name, value->name);
  if (value->producer != NULL || counterpart == NULL || counterpart->producer != NULL ||
      (value->initializer != NULL) != (counterpart->initializer != NULL) ||
      (value->initializer != NULL && value->initializer != counterpart->initializer &&
       !vn_tensor_equal (value->initializer, counterpart->initializer)))
    return FALSE;
  g_hash_table_add (same, value->name);
  return TRUE;
}

static gboolean
recompare_node_is_same (GHashTable    *same,
                        const VnGraph *other,
                        const VnNode  *node)
{
  const VnValue *output = vn_node_get_output (node, 0);
  const VnValue *counterpart = output != NULL ? g_hash_table_lookup (other->by_name, output->name) : NULL;

  for (guint i = 0; i < node->inputs->len; i++)
    if (!recompare_is_same (same, other, vn_node_get_input (node, i)))
      return FALSE;
  return counterpart != NULL && recompare_nodes_equal (node, counterpart->producer);
}

/*< private >
 * vn_recompare_list_same:
 * @changed: keeps the names
 *
 * Returns: (transfer full) (nullable): set of names of values of @changed that are the same bits in @base; %NULL with an error
 *   if @changed has a cycle
 */
GHashTable *
vn_recompare_list_same (const VnModel  *base,
                        const VnModel  *changed,
                        GError        **error)
{
  g_autoptr(GPtrArray) order = NULL;
  g_autoptr(GHashTable) same = g_hash_table_new (g_str_hash, g_str_equal);

  g_return_val_if_fail (base != NULL && changed != NULL, NULL);

  order = vn_graph_sort (changed->graph, error);
  if (order == NULL)
    return NULL;
  if (vn_model_get_opset (base, "") != vn_model_get_opset (changed, ""))
    return g_steal_pointer (&same);
  for (guint i = 0; i < order->len; i++)
    {
      const VnNode *node = g_ptr_array_index (order, i);

      if (vn_node_has_graphs (node) || !recompare_node_is_same (same, base->graph, node))
        continue;
      for (guint k = 0; k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL)
          g_hash_table_add (same, vn_node_get_output (node, k)->name);
    }
  for (guint i = 0; i < changed->graph->inputs->len; i++)
    recompare_is_same (same, base->graph, g_ptr_array_index (changed->graph->inputs, i));
  return g_steal_pointer (&same);
}
