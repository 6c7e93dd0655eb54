/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking things up in a graph, and the order in which it can run. */
#include "vn-model.h"

#include "vn-error.h"
#include "vn-i18n.h"

/**
 * vn_graph_find_value:
 *
 * Returns: (transfer none) (nullable): the value of that name, of this graph or the nearest outer one that has it
 */
VnValue *
vn_graph_find_value (const VnGraph *self,
                     const char    *name)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (const VnGraph *graph = self; graph != NULL; graph = graph->parent)
    {
      VnValue *value = g_hash_table_lookup (graph->by_name, name);

      if (value != NULL)
        return value;
    }
  return NULL;
}

/**
 * vn_graph_find_node:
 * @name: a name or a label as vn_node_dup_label() makes it
 *
 * Returns: (transfer none) (nullable): the first such node of this graph
 */
VnNode *
vn_graph_find_node (const VnGraph *self,
                    const char    *name)
{
  g_return_val_if_fail (self != NULL, NULL);

  vn_graph_settle (self);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self->nodes, i);
      g_autofree char *label = NULL;

      if (node->name[0] != '\0' ? g_str_equal (node->name, name)
                                : g_str_equal (label = vn_node_dup_label (node), name))
        return node;
    }
  return NULL;
}

typedef struct
{
  const VnGraph *graph;
  guint         *waiting;   /* by node index: inputs not yet computed */
  GArray        *ready;     /* of guint: a heap of node indices, smallest on top */
  GHashTable    *returned;  /* VnValue -> GArray of node indices: what a graph inside a node returns as it is */
} Sort;

static void
graph_heap_push (GArray *heap,
                 guint   index)
{
  guint at = heap->len;

  g_array_append_val (heap, index);
  while (at > 0)
    {
      guint up = (at - 1) / 2;
      guint *items = (guint *) (gpointer) heap->data;

      if (items[up] <= items[at])
        break;
      items[at] = items[up];
      items[up] = index;
      at = up;
    }
}

static guint
graph_heap_pop (GArray *heap)
{
  guint *items = (guint *) (gpointer) heap->data;
  guint top = items[0];
  guint last = items[heap->len - 1];
  guint at = 0;

  g_array_set_size (heap, heap->len - 1);
  for (;;)
    {
      guint child = 2 * at + 1;

      if (child + 1 < heap->len && items[child + 1] < items[child])
        child++;
      if (child >= heap->len || items[child] >= last)
        break;
      items[at] = items[child];
      at = child;
    }
  if (heap->len > 0)
    items[at] = last;
  return top;
}

/* The node of @graph that is, or holds in a subgraph, the given user. */
static const VnNode *
graph_enclosing_node (const VnGraph *graph,
                      const VnNode  *user)
{
  while (user != NULL && user->graph != graph)
    user = user->graph->parent_node;
  return user;
}

/* Such a value has no use of its own, but the node needs it. */
static void
graph_add_returned (Sort          *sort,
                    guint          node,
                    const VnGraph *inner)
{
  for (guint i = 0; i < inner->outputs->len; i++)
    {
      const VnValue *value = g_ptr_array_index (inner->outputs, i);
      GArray *nodes;

      if (value->graph != sort->graph || value->producer == NULL)
        continue;
      nodes = g_hash_table_lookup (sort->returned, value);
      if (nodes == NULL)
        {
          nodes = g_array_new (FALSE, FALSE, sizeof (guint));
          g_hash_table_insert (sort->returned, (gpointer) value, nodes);
        }
      g_array_append_val (nodes, node);
      sort->waiting[node]++;
    }
}

static void
graph_find_returned (Sort         *sort,
                     guint         index,
                     const VnNode *node)
{
  for (guint a = 0; a < node->attrs->len; a++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, a);
      guint n_graphs = attr->graphs != NULL ? attr->graphs->len : 0;

      for (guint g = 0; g < n_graphs + (attr->graph != NULL); g++)
        {
          const VnGraph *inner = g < n_graphs ? g_ptr_array_index (attr->graphs, g) : attr->graph;

          graph_add_returned (sort, index, inner);
          vn_graph_settle (inner);
          for (guint i = 0; i < inner->nodes->len; i++)
            graph_find_returned (sort, index, g_ptr_array_index (inner->nodes, i));
        }
    }
}

/* Of a graph without others in it. */
static void
graph_count_waiting_by_node (Sort *sort)
{
  for (guint i = 0; i < sort->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (sort->graph->nodes, i);

      for (guint k = 0; k < node->inputs->len; k++)
        {
          const VnValue *value = g_ptr_array_index (node->inputs, k);

          sort->waiting[i] += value != NULL && value->graph == sort->graph && value->producer != NULL;
        }
    }
}

static void
graph_count_waiting (Sort *sort)
{
  if (sort->graph->inner == NULL || g_hash_table_size (sort->graph->inner) == 0)
    {
      graph_count_waiting_by_node (sort);
      return;
    }
  for (guint i = 0; i < sort->graph->nodes->len; i++)
    graph_find_returned (sort, i, g_ptr_array_index (sort->graph->nodes, i));
  for (guint i = 0; i < sort->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (sort->graph->values, i);

      if (value->producer == NULL)
        continue;
      for (guint u = 0; u < value->uses->len; u++)
        {
          const VnNode *node = graph_enclosing_node (sort->graph, g_array_index (value->uses, VnUse, u).node);

          if (node != NULL)
            sort->waiting[node->index]++;
        }
    }
}

static void
graph_release_node (Sort  *sort,
                    guint  index)
{
  if (--sort->waiting[index] == 0)
    graph_heap_push (sort->ready, index);
}

static void
graph_release_output (Sort          *sort,
                      const VnValue *value)
{
  const GArray *returning = g_hash_table_size (sort->returned) > 0 ? g_hash_table_lookup (sort->returned, value) : NULL;

  for (guint u = 0; u < value->uses->len; u++)
    {
      const VnNode *node = graph_enclosing_node (sort->graph, g_array_index (value->uses, VnUse, u).node);

      if (node != NULL)
        graph_release_node (sort, node->index);
    }
  for (guint i = 0; returning != NULL && i < returning->len; i++)
    graph_release_node (sort, g_array_index (returning, guint, i));
}

static void
graph_set_cycle_error (const Sort  *sort,
                       GError     **error)
{
  for (guint i = 0; i < sort->graph->nodes->len; i++)
    if (sort->waiting[i] > 0)
      {
        g_autofree char *label = vn_node_dup_label (g_ptr_array_index (sort->graph->nodes, i));

        g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("The graph has a cycle through node “%s”"), label);
        return;
      }
}

/* ---- whether the nodes stand in an order that can run ---- */

/* Whether @value is known before node number @index of @graph runs. */
static gboolean
graph_comes_before (const VnGraph *graph,
                    const VnValue *value,
                    guint          index)
{
  return value == NULL || value->graph != graph || value->producer == NULL || value->producer->index < index;
}

static gboolean graph_node_follows (const VnGraph *graph,
                                    const VnNode  *node,
                                    guint          index);

static gboolean
graph_inner_follows (const VnGraph *graph,
                     const VnGraph *inner,
                     guint          index)
{
  vn_graph_settle (inner);
  for (guint i = 0; i < inner->outputs->len; i++)
    if (!graph_comes_before (graph, g_ptr_array_index (inner->outputs, i), index))
      return FALSE;
  for (guint i = 0; i < inner->nodes->len; i++)
    if (!graph_node_follows (graph, g_ptr_array_index (inner->nodes, i), index))
      return FALSE;
  return TRUE;
}

/* Whether all that @node reads, or a graph inside it, comes before number @index. */
static gboolean
graph_node_follows (const VnGraph *graph,
                    const VnNode  *node,
                    guint          index)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (!graph_comes_before (graph, g_ptr_array_index (node->inputs, i), index))
      return FALSE;
  for (guint a = 0; a < node->attrs->len; a++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, a);

      if (attr->graph != NULL && !graph_inner_follows (graph, attr->graph, index))
        return FALSE;
      for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
        if (!graph_inner_follows (graph, g_ptr_array_index (attr->graphs, g), index))
          return FALSE;
    }
  return TRUE;
}

static gboolean
graph_is_sorted (const VnGraph *self)
{
  for (guint i = 0; i < self->nodes->len; i++)
    if (!graph_node_follows (self, g_ptr_array_index (self->nodes, i), i))
      return FALSE;
  return TRUE;
}

/**
 * vn_graph_sort:
 *
 * Returns: (transfer container) (nullable) (element-type VnNode): the nodes in an order that can run; among nodes
 *   that could run next, the one that stands first in the file. %NULL with %VN_ERROR_MALFORMED for a cycle.
 */
GPtrArray *
vn_graph_sort (const VnGraph  *self,
               GError        **error)
{
  g_autofree guint *waiting = NULL;
  g_autoptr(GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr(GPtrArray) order = NULL;
  g_autoptr(GHashTable) returned = NULL;
  Sort sort;

  g_return_val_if_fail (self != NULL, NULL);

  vn_graph_settle (self);
  if (graph_is_sorted (self))
    {
      order = g_ptr_array_sized_new (self->nodes->len);
      g_ptr_array_extend (order, self->nodes, NULL, NULL);
      return g_steal_pointer (&order);
    }
  returned = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  waiting = g_new0 (guint, MAX (self->nodes->len, 1));
  order = g_ptr_array_sized_new (self->nodes->len);
  sort = (Sort) { self, waiting, ready, returned };
  graph_count_waiting (&sort);
  for (guint i = 0; i < self->nodes->len; i++)
    if (waiting[i] == 0)
      graph_heap_push (ready, i);
  while (ready->len > 0)
    {
      VnNode *node = g_ptr_array_index (self->nodes, graph_heap_pop (ready));

      g_ptr_array_add (order, node);
      for (guint o = 0; o < node->outputs->len; o++)
        if (vn_node_get_output (node, o) != NULL)
          graph_release_output (&sort, vn_node_get_output (node, o));
    }
  if (order->len < self->nodes->len)
    {
      graph_set_cycle_error (&sort, error);
      return NULL;
    }
  return g_steal_pointer (&order);
}

static gsize
graph_attr_weight_bytes (const VnAttr *attr)
{
  gsize sum = attr->tensor != NULL ? attr->tensor->n_bytes : 0;

  if (attr->graph != NULL)
    sum += vn_graph_weight_bytes (attr->graph);
  for (guint i = 0; attr->graphs != NULL && i < attr->graphs->len; i++)
    sum += vn_graph_weight_bytes (g_ptr_array_index (attr->graphs, i));
  return sum;
}

/**
 * vn_graph_weight_bytes:
 *
 * Returns: bytes of all initializers and tensor attributes, subgraphs included
 */
gsize
vn_graph_weight_bytes (const VnGraph *self)
{
  gsize sum = 0;

  g_return_val_if_fail (self != NULL, 0);

  vn_graph_settle (self);
  for (guint i = 0; i < self->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->initializers, i);

      if (value->initializer != NULL)
        sum += value->initializer->n_bytes;
    }
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        sum += graph_attr_weight_bytes (g_ptr_array_index (node->attrs, a));
    }
  return sum;
}
