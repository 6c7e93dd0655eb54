/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A region of the graph: by its nodes, or by the edges that enter and leave it. */
#include "vn-subgraph.h"

#include "vn-error.h"
#include "vn-former.h"
#include "vn-i18n.h"

/* A node in a graph of an inner node is inside, too. */
static gboolean
subgraph_is_inside (GHashTable   *inside,
                    const VnNode *node)
{
  for (; node != NULL; node = node->graph != NULL ? node->graph->parent_node : NULL)
    if (g_hash_table_contains (inside, node))
      return TRUE;
  return FALSE;
}

static gboolean
subgraph_leaves (GHashTable    *inside,
                 const VnValue *value)
{
  if (value->is_output)
    return TRUE;
  for (guint i = 0; i < value->uses->len; i++)
    if (!subgraph_is_inside (inside, g_array_index (value->uses, VnUse, i).node))
      return TRUE;
  return FALSE;
}

static gint
subgraph_compare_index (gconstpointer a,
                        gconstpointer b)
{
  const VnNode *x = *(const VnNode * const *) a;
  const VnNode *y = *(const VnNode * const *) b;

  return x->index < y->index ? -1 : x->index > y->index;
}

/**
 * vn_boundary_of_nodes:
 * @self: (out caller-allocates): free with vn_boundary_clear()
 * @nodes: (element-type VnNode): of @graph, in any order
 */
void
vn_boundary_of_nodes (VnBoundary    *self,
                      const VnGraph *graph,
                      GPtrArray     *nodes)
{
  g_autoptr(GHashTable) inside = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) sorted = NULL;

  g_return_if_fail (nodes != NULL);

  sorted = g_ptr_array_sized_new (nodes->len);
  self->in_edges = g_ptr_array_new ();
  self->out_edges = g_ptr_array_new ();
  g_ptr_array_extend (sorted, nodes, NULL, NULL);
  g_ptr_array_sort (sorted, subgraph_compare_index);
  for (guint i = 0; i < sorted->len; i++)
    g_hash_table_add (inside, g_ptr_array_index (sorted, i));
  for (guint i = 0; i < sorted->len; i++)
    {
      const VnNode *node = g_ptr_array_index (sorted, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          VnValue *value = vn_node_get_input (node, k);

          if (value != NULL && !vn_value_is_constant (value) && !subgraph_is_inside (inside, value->producer) &&
              g_hash_table_add (seen, value))
            g_ptr_array_add (self->in_edges, value);
        }
      for (guint k = 0; k < node->outputs->len; k++)
        {
          VnValue *value = vn_node_get_output (node, k);

          if (value != NULL && subgraph_leaves (inside, value))
            g_ptr_array_add (self->out_edges, value);
        }
    }
}

void
vn_boundary_clear (VnBoundary *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->in_edges, g_ptr_array_unref);
  g_clear_pointer (&self->out_edges, g_ptr_array_unref);
}

static GHashTable *
subgraph_find_values (const VnGraph       *graph,
                      const char * const  *names)
{
  GHashTable *values = g_hash_table_new (NULL, NULL);

  for (guint i = 0; names != NULL && names[i] != NULL; i++)
    g_hash_table_add (values, vn_graph_find_former_value (graph, names[i]));
  return values;
}

/* Marks what is reached from the named values, forwards along uses or backwards along producers; the walk stops at
 * the values in @stop: what makes an in-edge lies outside. An out-edge may be used inside as well, so that nothing
 * stops there. */
static GHashTable *
subgraph_reach (const VnGraph       *graph,
                const char * const  *from,
                const char * const  *stop,
                gboolean             forward)
{
  GHashTable *nodes = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) todo = g_ptr_array_new ();
  g_autoptr(GHashTable) done = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) starts = subgraph_find_values (graph, from), stops = subgraph_find_values (graph, stop);

  for (guint i = 0; from[i] != NULL; i++)
    g_ptr_array_add (todo, vn_graph_find_former_value (graph, from[i]));
  while (todo->len > 0)
    {
      VnValue *value = g_ptr_array_steal_index_fast (todo, todo->len - 1);
      gboolean at_start = g_hash_table_contains (starts, value);

      if (!g_hash_table_add (done, value) || (!at_start && g_hash_table_contains (stops, value)))
        continue;
      for (guint u = 0; u < (forward ? value->uses->len : 1); u++)
        {
          VnNode *node = forward ? g_array_index (value->uses, VnUse, u).node : value->producer;
          GPtrArray *next;

          if (node == NULL || node->graph != graph || !g_hash_table_add (nodes, node))
            continue;
          next = forward ? node->outputs : node->inputs;
          for (guint k = 0; k < next->len; k++)
            if (g_ptr_array_index (next, k) != NULL)
              g_ptr_array_add (todo, g_ptr_array_index (next, k));
        }
    }
  return nodes;
}

static gboolean
subgraph_check_names (const VnGraph       *graph,
                      const char * const  *names,
                      GError             **error)
{
  for (guint i = 0; names[i] != NULL; i++)
    if (vn_graph_find_former_value (graph, names[i]) == NULL)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The model has no tensor “%s”"), names[i]);
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_graph_capture:
 * @in_edges: (array zero-terminated=1): names of values that enter
 * @out_edges: (array zero-terminated=1): names of values that leave
 *
 * Values that preparation took away stand for what took them in.
 *
 * Returns: (transfer container) (nullable) (element-type VnNode): the nodes that are reached from the in-edges and
 *   reach the out-edges, in file order; %NULL with %VN_ERROR_SETTING if a name is not in the network or nothing lies
 *   between
 */
GPtrArray *
vn_graph_capture (const VnGraph       *graph,
                  const char * const  *in_edges,
                  const char * const  *out_edges,
                  GError             **error)
{
  g_autoptr(GHashTable) down = NULL;
  g_autoptr(GHashTable) up = NULL;
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();

  g_return_val_if_fail (graph != NULL, NULL);

  if (in_edges[0] == NULL || out_edges[0] == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING,
                           in_edges[0] == NULL ? _("A region needs input tensors (“from”); use the model inputs if it "
                                                   "begins there")
                                               : _("A region needs output tensors (“to”); use the model outputs if it "
                                                   "ends there"));
      return NULL;
    }
  if (!subgraph_check_names (graph, in_edges, error) || !subgraph_check_names (graph, out_edges, error))
    return NULL;
  down = subgraph_reach (graph, in_edges, NULL, TRUE);
  up = subgraph_reach (graph, out_edges, in_edges, FALSE);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      if (g_hash_table_contains (down, node) && g_hash_table_contains (up, node))
        g_ptr_array_add (nodes, node);
    }
  if (nodes->len == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No node lies between “%s” and “%s”"), in_edges[0], out_edges[0]);
      return NULL;
    }
  return g_steal_pointer (&nodes);
}

static gboolean
subgraph_enters (GHashTable    *inside,
                 const VnValue *value)
{
  return value != NULL && !vn_value_is_constant (value) && !subgraph_is_inside (inside, value->producer);
}

static const VnNode *
subgraph_find_outside_use (GHashTable    *inside,
                           const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (!subgraph_is_inside (inside, node))
        return node;
    }
  return NULL;
}

static void
subgraph_add_leak (GArray        *leaks,
                   GHashTable    *seen,
                   const VnValue *value,
                   const VnNode  *node,
                   gboolean       is_entering)
{
  VnLeak leak = { value, node, is_entering };

  if (g_hash_table_add (seen, (gpointer) value))
    g_array_append_val (leaks, leak);
}

/**
 * vn_graph_find_leaks:
 * @nodes: (element-type VnNode): what vn_graph_capture() has found between the edges
 *
 * Edges that are not named: where the region is not enclosed.
 *
 * Returns: (transfer full) (element-type VnLeak): each value once; empty if the edges enclose the region
 */
GArray *
vn_graph_find_leaks (const VnGraph       *graph,
                     GPtrArray           *nodes,
                     const char * const  *in_edges,
                     const char * const  *out_edges)
{
  GArray *leaks;
  g_autoptr(GHashTable) inside = g_hash_table_new (NULL, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL), enter = NULL, leave = NULL;

  g_return_val_if_fail (graph != NULL && nodes != NULL, NULL);

  enter = subgraph_find_values (graph, in_edges);
  leave = subgraph_find_values (graph, out_edges);
  leaks = g_array_new (FALSE, FALSE, sizeof (VnLeak));
  for (guint i = 0; i < nodes->len; i++)
    g_hash_table_add (inside, g_ptr_array_index (nodes, i));
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          const VnValue *value = vn_node_get_input (node, k);

          if (subgraph_enters (inside, value) && !g_hash_table_contains (enter, value))
            subgraph_add_leak (leaks, seen, value, node, TRUE);
        }
      for (guint k = 0; k < node->outputs->len; k++)
        {
          const VnValue *value = vn_node_get_output (node, k);

          if (value != NULL && subgraph_leaves (inside, value) && !g_hash_table_contains (leave, value))
            subgraph_add_leak (leaks, seen, value, subgraph_find_outside_use (inside, value), FALSE);
        }
    }
  return leaks;
}
