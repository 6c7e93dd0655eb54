/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sets of nodes between GTK and the core. */
#include "vn-node-set.h"

/**
 * vn_node_set_new:
 * @list: (element-type guint): indices
 *
 * Returns: (transfer full): them
 */
GtkBitset *
vn_node_set_new (GArray *list)
{
  GtkBitset *nodes = gtk_bitset_new_empty ();

  g_return_val_if_fail (list != NULL, nodes);

  for (guint i = 0; i < list->len; i++)
    gtk_bitset_add (nodes, g_array_index (list, guint, i));
  return nodes;
}

/**
 * vn_node_set_list:
 *
 * Returns: (transfer full) (element-type guint): its indices, ascending
 */
GArray *
vn_node_set_list (GtkBitset *nodes)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));
  GtkBitsetIter iter;
  guint index;

  g_return_val_if_fail (nodes != NULL, list);

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    g_array_append_val (list, index);
  return list;
}

/**
 * vn_node_set_of_rule:
 *
 * Returns: (transfer full): vn_rule_list_nodes()
 */
GtkBitset *
vn_node_set_of_rule (const VnOverride *rule,
                     const VnGraph    *graph)
{
  g_autoptr(GArray) list = vn_rule_list_nodes (rule, graph);

  return vn_node_set_new (list);
}

/**
 * vn_node_set_find_region:
 *
 * Returns: vn_rules_find_region()
 */
int
vn_node_set_find_region (GtkBitset      *nodes,
                         const VnRecipe *recipe,
                         const VnGraph  *graph)
{
  g_autoptr(GArray) list = vn_node_set_list (nodes);

  return vn_rules_find_region (recipe, graph, (const guint *) (gpointer) list->data, list->len);
}

/**
 * vn_node_set_make_region:
 *
 * Returns: (transfer full): vn_rule_new_for_region()
 */
VnOverride *
vn_node_set_make_region (GtkBitset     *nodes,
                         const VnGraph *graph)
{
  g_autoptr(GArray) list = vn_node_set_list (nodes);

  return vn_rule_new_for_region (graph, (const guint *) (gpointer) list->data, list->len);
}
