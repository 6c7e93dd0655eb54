/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of outer graphs that the graphs inside a node use. */
#include "vn-model.h"

typedef struct
{
  const VnNode *node;     /* what lies in its graphs is inside; or */
  const VnGraph *body;    /* what lies in this graph */
  GHashTable   *seen;
  GPtrArray    *captured;
} Capture;

static gboolean
capture_is_inside (const Capture *self,
                   const VnGraph *graph)
{
  for (; graph != NULL; graph = graph->parent)
    if (graph == self->body || (self->node != NULL && graph->parent_node == self->node))
      return TRUE;
  return FALSE;
}

static void
capture_add_outer (Capture *self,
                   VnValue *value)
{
  if (value != NULL && !capture_is_inside (self, value->graph) && g_hash_table_add (self->seen, value))
    g_ptr_array_add (self->captured, value);
}

static void
capture_visit_attrs (Capture      *self,
                     const VnNode *node);

static void
capture_visit_graph (Capture       *self,
                     const VnGraph *graph)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        capture_add_outer (self, g_ptr_array_index (node->inputs, k));
      capture_visit_attrs (self, node);
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    capture_add_outer (self, g_ptr_array_index (graph->outputs, i));
}

static void
capture_visit_attrs (Capture      *self,
                     const VnNode *node)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL)
        capture_visit_graph (self, attr->graph);
      for (guint k = 0; attr->graphs != NULL && k < attr->graphs->len; k++)
        capture_visit_graph (self, g_ptr_array_index (attr->graphs, k));
    }
}

/**
 * vn_node_has_graphs:
 *
 * Returns: whether an attribute of the node holds a graph, as those of If, Loop and Scan do
 */
gboolean
vn_node_has_graphs (const VnNode *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  for (guint i = 0; i < self->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (self->attrs, i);

      if (attr->graph != NULL || (attr->graphs != NULL && attr->graphs->len > 0))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_node_list_captured:
 *
 * Returns: (transfer container) (element-type VnValue): the values from outside that the graphs in the node's
 *   attributes use or return, at any depth, each once, in the order they are met
 */
GPtrArray *
vn_node_list_captured (const VnNode *self)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  Capture capture;

  g_return_val_if_fail (self != NULL, NULL);

  capture = (Capture) { .node = self, .seen = seen, .captured = g_ptr_array_new () };
  capture_visit_attrs (&capture, self);
  return capture.captured;
}

/**
 * vn_graph_list_captured:
 * @self: a graph in an attribute of a node
 *
 * Returns: (transfer container) (element-type VnValue): the values of outer graphs that this one, or a graph inside its
 *   nodes, uses or returns, each once, in the order they are met
 */
GPtrArray *
vn_graph_list_captured (const VnGraph *self)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  Capture capture;

  g_return_val_if_fail (self != NULL, NULL);

  capture = (Capture) { .body = self, .seen = seen, .captured = g_ptr_array_new () };
  capture_visit_graph (&capture, self);
  return capture.captured;
}

/**
 * vn_graph_find_captured:
 *
 * Returns: (transfer container) (element-type VnValue): a set of the values that graphs inside the graph's nodes use or
 *   return, of this graph and those around it
 */
GHashTable *
vn_graph_find_captured (const VnGraph *self)
{
  GHashTable *found;

  g_return_val_if_fail (self != NULL, NULL);

  found = g_hash_table_new (NULL, NULL);
  vn_graph_settle (self);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      g_autoptr(GPtrArray) captured = vn_node_list_captured (g_ptr_array_index (self->nodes, i));

      for (guint k = 0; k < captured->len; k++)
        g_hash_table_add (found, g_ptr_array_index (captured, k));
    }
  return found;
}
