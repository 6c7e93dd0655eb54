/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes a selection of nodes larger: the same operators, all before, all behind, all between. */
#include "vn-select.h"

static VnNode *
select_get_node (const VnGraph *graph,
                 guint          index)
{
  return g_ptr_array_index (graph->nodes, index);
}

/**
 * vn_select_similar:
 *
 * Returns: (transfer full): all nodes with an operator that is among those of @nodes
 */
GtkBitset *
vn_select_similar (const VnGraph *graph,
                   GtkBitset     *nodes)
{
  g_autoptr(GHashTable) types = g_hash_table_new (g_str_hash, g_str_equal);
  GtkBitset *all;
  GtkBitsetIter iter;
  guint index;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  all = gtk_bitset_copy (nodes);
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    g_hash_table_add (types, select_get_node (graph, index)->op_type);
  for (guint i = 0; i < graph->nodes->len; i++)
    if (g_hash_table_contains (types, select_get_node (graph, i)->op_type))
      gtk_bitset_add (all, i);
  return all;
}

static void
select_push (const VnGraph *graph,
             const VnNode  *node,
             GtkBitset     *seen,
             GArray        *queue)
{
  /* Nodes inside of a subgraph are not in the list of this graph. */
  while (node != NULL && node->graph != graph)
    node = node->graph->parent_node;
  if (node != NULL && gtk_bitset_add (seen, node->index))
    g_array_append_val (queue, node->index);
}

static void
select_push_users (const VnGraph *graph,
                   const VnNode  *node,
                   GtkBitset     *seen,
                   GArray        *queue)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      for (guint k = 0; value != NULL && k < value->uses->len; k++)
        select_push (graph, g_array_index (value->uses, VnUse, k).node, seen, queue);
    }
}

static void
select_push_producers (const VnGraph *graph,
                       const VnNode  *node,
                       GtkBitset     *seen,
                       GArray        *queue)
{
  g_autoptr(GPtrArray) captured = vn_node_list_captured (node);   /* read by a graph inside of it, not by an input */

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && value->producer != NULL)
        select_push (graph, value->producer, seen, queue);
    }
  for (guint i = 0; i < captured->len; i++)
    {
      const VnValue *value = g_ptr_array_index (captured, i);

      if (value->producer != NULL)
        select_push (graph, value->producer, seen, queue);
    }
}

static GtkBitset *
select_reach (const VnGraph *graph,
              GtkBitset     *nodes,
              gboolean       down)
{
  GtkBitset *seen = gtk_bitset_copy (nodes);
  g_autoptr(GArray) queue = g_array_new (FALSE, FALSE, sizeof (guint));
  GtkBitsetIter iter;
  guint index;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, nodes, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    g_array_append_val (queue, index);
  while (queue->len > 0)
    {
      const VnNode *node = select_get_node (graph, g_array_index (queue, guint, queue->len - 1));

      g_array_set_size (queue, queue->len - 1);
      if (down)
        select_push_users (graph, node, seen, queue);
      else
        select_push_producers (graph, node, seen, queue);
    }
  return seen;
}

/**
 * vn_select_downstream:
 *
 * Returns: (transfer full): @nodes and all that depends on them
 */
GtkBitset *
vn_select_downstream (const VnGraph *graph,
                      GtkBitset     *nodes)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  return select_reach (graph, nodes, TRUE);
}

/**
 * vn_select_upstream:
 *
 * Returns: (transfer full): @nodes and all they depend on
 */
GtkBitset *
vn_select_upstream (const VnGraph *graph,
                    GtkBitset     *nodes)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  return select_reach (graph, nodes, FALSE);
}

/**
 * vn_select_between:
 *
 * Returns: (transfer full): @nodes and what lies on a way from one of them to another
 */
GtkBitset *
vn_select_between (const VnGraph *graph,
                   GtkBitset     *nodes)
{
  GtkBitset *between;
  g_autoptr(GtkBitset) up = NULL;

  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (nodes != NULL, NULL);

  between = select_reach (graph, nodes, TRUE);
  up = select_reach (graph, nodes, FALSE);
  gtk_bitset_intersect (between, up);
  return between;
}
