/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lists of a graph while it is edited. A graph that is read has arrays: nodes with their places, values with their ids.
 * Putting a node into an array, or taking one out, moves all that follow; whoever does that a hundred thousand times says so
 * with vn_model_begin_edits(). Nodes then stand in a balanced tree, which knows places as well, and what is taken out of the
 * lists of values leaves them all at once. */
#include "vn-graph-private.h"

/**
 * vn_model_begin_edits:
 *
 * From now until vn_model_end_edits() many nodes may be inserted and removed, each in a time that hardly depends on how many
 * there are. VnGraph.nodes and VnNode.index are not to be looked at meanwhile, but vn_graph_get_node() and
 * vn_node_get_index(); VnGraph.values, VnValue.id and VnGraph.initializers only after vn_graph_settle(). Calls may be nested.
 */
void
vn_model_begin_edits (VnModel *self)
{
  g_return_if_fail (self != NULL);

  if (self->n_editing++ == 0)
    self->edited = g_hash_table_new (NULL, NULL);
}

/**
 * vn_model_settle:
 *
 * vn_graph_settle() of all graphs.
 */
void
vn_model_settle (const VnModel *self)
{
  GHashTableIter iter;
  gpointer graph;

  g_return_if_fail (self != NULL);

  if (self->edited == NULL)
    return;
  g_hash_table_iter_init (&iter, self->edited);
  while (g_hash_table_iter_next (&iter, &graph, NULL))
    vn_graph_settle (graph);
}

/**
 * vn_model_end_edits:
 *
 * All lists are arrays again.
 */
void
vn_model_end_edits (VnModel *self)
{
  g_return_if_fail (self != NULL && self->n_editing > 0);

  if (--self->n_editing > 0)
    return;
  vn_model_settle (self);
  g_clear_pointer (&self->edited, g_hash_table_unref);
}

/**
 * vn_graph_is_open:
 *
 * Returns: whether lists may wait until they are put right
 */
gboolean
vn_graph_is_open (const VnGraph *self)
{
  return self->model->n_editing > 0;
}

/* ---- nodes ---- */

/* The array gives its nodes to a tree. */
static void
graph_order_open (VnGraph *self)
{
  if (self->order != NULL)
    return;
  g_hash_table_add (self->model->edited, self);
  self->order = g_sequence_new (NULL);
  for (guint i = 0; i < self->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self->nodes, i);

      node->place = g_sequence_append (self->order, node);
    }
  g_ptr_array_set_free_func (self->nodes, NULL);
  g_ptr_array_set_size (self->nodes, 0);
  g_ptr_array_set_free_func (self->nodes, vn_node_free);
}

static void
graph_order_close (VnGraph *self)
{
  for (GSequenceIter *at = g_sequence_get_begin_iter (self->order); !g_sequence_iter_is_end (at); at = g_sequence_iter_next (at))
    {
      VnNode *node = g_sequence_get (at);

      node->place = NULL;
      node->index = self->nodes->len;
      g_ptr_array_add (self->nodes, node);
    }
  g_clear_pointer (&self->order, g_sequence_free);
}

static void
graph_order_renumber (VnGraph *self,
                      guint    from)
{
  for (guint i = from; i < self->nodes->len; i++)
    ((VnNode *) g_ptr_array_index (self->nodes, i))->index = i;
}

/**
 * vn_graph_order_insert:
 * @node: (transfer full)
 */
void
vn_graph_order_insert (VnGraph *self,
                       VnNode  *before,
                       VnNode  *node)
{
  if (before == NULL && self->order == NULL)
    {
      node->index = self->nodes->len;
      g_ptr_array_add (self->nodes, node);
    }
  else if (vn_graph_is_open (self))
    {
      graph_order_open (self);
      node->place = before != NULL ? g_sequence_insert_before (before->place, node) : g_sequence_append (self->order, node);
    }
  else
    {
      node->index = before->index;
      g_ptr_array_insert (self->nodes, (int) node->index, node);
      graph_order_renumber (self, node->index);
    }
}

void
vn_graph_order_remove (VnGraph *self,
                       VnNode  *node)
{
  guint at = node->index;

  if (vn_graph_is_open (self))
    {
      graph_order_open (self);
      g_sequence_remove (node->place);
      vn_node_free (node);
      return;
    }
  g_ptr_array_remove_index (self->nodes, at);
  graph_order_renumber (self, at);
}

/**
 * vn_graph_get_n_nodes:
 *
 * Returns: how many nodes the graph has, also while it is edited
 */
guint
vn_graph_get_n_nodes (const VnGraph *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->order != NULL ? (guint) g_sequence_get_length (self->order) : self->nodes->len;
}

/**
 * vn_graph_get_node:
 * @i: 0 .. vn_graph_get_n_nodes() - 1
 *
 * Returns: (transfer none): the node at that place, also while the graph is edited
 */
VnNode *
vn_graph_get_node (const VnGraph *self,
                   guint          i)
{
  g_return_val_if_fail (self != NULL && i < vn_graph_get_n_nodes (self), NULL);

  return self->order != NULL ? g_sequence_get (g_sequence_get_iter_at_pos (self->order, (int) i))
         : g_ptr_array_index (self->nodes, i);
}

/**
 * vn_node_get_index:
 *
 * Returns: the node's place in its graph, also while that is edited
 */
guint
vn_node_get_index (const VnNode *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->place != NULL ? (guint) g_sequence_iter_get_position (self->place) : self->index;
}

/**
 * vn_node_get_next:
 *
 * Returns: (transfer none) (nullable): the node after this one in the list of its graph, also while that is edited
 */
VnNode *
vn_node_get_next (const VnNode *self)
{
  GSequenceIter *next;

  g_return_val_if_fail (self != NULL, NULL);

  if (self->place == NULL)
    return self->index + 1 < self->graph->nodes->len ? g_ptr_array_index (self->graph->nodes, self->index + 1) : NULL;
  next = g_sequence_iter_next (self->place);
  return !g_sequence_iter_is_end (next) ? g_sequence_get (next) : NULL;
}

/* ---- values ---- */

static void
graph_order_forget (VnGraph *self)
{
  g_hash_table_add (self->model->edited, self);
  if (self->forgotten == NULL)
    self->forgotten = g_ptr_array_new_with_free_func (vn_value_free);
}

/**
 * vn_graph_forget_value:
 * @value: that nothing points to any more but the list of values, and that of initializers if it is one
 */
void
vn_graph_forget_value (VnGraph *self,
                       VnValue *value)
{
  guint at = value->id;

  if (vn_graph_is_open (self))
    {
      graph_order_forget (self);
      value->graph = NULL;
      g_ptr_array_add (self->forgotten, value);
      return;
    }
  g_ptr_array_remove_index (self->values, at);
  for (guint i = at; i < self->values->len; i++)
    ((VnValue *) g_ptr_array_index (self->values, i))->id = i;
}

/**
 * vn_graph_forget_initializer:
 * @value: that is no initializer from now on, or goes
 */
void
vn_graph_forget_initializer (VnGraph *self,
                             VnValue *value)
{
  if (vn_graph_is_open (self))
    graph_order_forget (self);
  else
    g_ptr_array_remove (self->initializers, value);
}

/* A value that was an initializer, was none and is one again stands at the end. */
static void
graph_order_clean_initializers (VnGraph *self)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint n = self->initializers->len;

  for (guint i = self->initializers->len; i-- > 0;)
    {
      VnValue *value = g_ptr_array_index (self->initializers, i);

      if (value->graph != NULL && value->initializer != NULL && g_hash_table_add (seen, value))
        self->initializers->pdata[--n] = value;
    }
  g_ptr_array_remove_range (self->initializers, 0, n);
}

static void
graph_order_clean_values (VnGraph *self)
{
  guint n = 0;

  for (guint i = 0; i < self->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (self->values, i);

      if (value->graph == NULL)
        continue;
      value->id = n;
      self->values->pdata[n++] = value;
    }
  g_ptr_array_set_free_func (self->values, NULL);
  g_ptr_array_set_size (self->values, (int) n);
  g_ptr_array_set_free_func (self->values, vn_value_free);
}

/**
 * vn_graph_settle:
 *
 * Puts the lists of a graph that is edited right, so that they can be read up to the next change. Takes a time that goes with
 * the size of the graph, if anything has changed; nothing is done to a graph that nobody edits.
 */
void
vn_graph_settle (const VnGraph *self)
{
  VnGraph *graph = (VnGraph *) self;

  g_return_if_fail (self != NULL);

  if (self->order != NULL)
    graph_order_close (graph);
  if (self->forgotten == NULL)
    return;
  graph_order_clean_initializers (graph);
  graph_order_clean_values (graph);
  g_clear_pointer (&graph->forgotten, g_ptr_array_unref);
}
