/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs, the nodes and values in them and the attributes of nodes, which may hold graphs again, come to life empty and are
 * freed together. */
#include "vn-graph-private.h"

void
vn_attr_free (VnAttr *self)
{
  g_free (self->name);
  g_clear_pointer (&self->s, g_bytes_unref);
  g_clear_pointer (&self->tensor, vn_tensor_unref);
  g_clear_pointer (&self->graph, vn_graph_free);
  g_clear_pointer (&self->floats, g_array_unref);
  g_clear_pointer (&self->ints, g_array_unref);
  g_clear_pointer (&self->strings, g_ptr_array_unref);
  g_clear_pointer (&self->tensors, g_ptr_array_unref);
  g_clear_pointer (&self->graphs, g_ptr_array_unref);
  g_free (self->ref_name);
  g_free (self->doc);
  g_free (self->tensor_name);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_free (self);
}

void
vn_value_free (gpointer data)
{
  VnValue *self = data;

  g_free (self->name);
  vn_type_clear (&self->type);
  vn_uses_clear (self->uses);
  g_clear_pointer (&self->initializer, vn_tensor_unref);
  g_free (self->doc);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_clear_pointer (&self->initializer_extra, g_bytes_unref);
  g_free (self);
}

void
vn_node_free (gpointer data)
{
  VnNode *self = data;

  g_free (self->name);
  g_free (self->op_type);
  g_free (self->domain);
  g_free (self->overload);
  g_ptr_array_unref (self->inputs);
  g_ptr_array_unref (self->outputs);
  g_ptr_array_unref (self->attrs);
  g_free (self->doc);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_free (self);
}

static void
graph_memory_add_inner (VnGraph *self,
                        VnGraph *inner)
{
  if (self->inner == NULL)
    self->inner = g_hash_table_new (NULL, NULL);
  g_hash_table_add (self->inner, inner);
}

/**
 * vn_graph_new:
 * @parent: (nullable): graph that encloses it
 * @parent_node: (nullable): the node that holds it
 *
 * Returns: (transfer full): an empty graph. The main graph belongs to its model, a subgraph to an attribute.
 */
VnGraph *
vn_graph_new (VnModel *model,
              VnGraph *parent,
              VnNode  *parent_node)
{
  VnGraph *self;

  g_return_val_if_fail (model != NULL, NULL);

  self = g_new0 (VnGraph, 1);
  self->model = model;
  self->parent = parent;
  self->parent_node = parent_node;
  if (parent != NULL)
    graph_memory_add_inner (parent, self);
  self->name = g_strdup ("");
  self->nodes = g_ptr_array_new_with_free_func (vn_node_free);
  self->values = g_ptr_array_new_with_free_func (vn_value_free);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  self->inputs = g_ptr_array_new ();
  self->outputs = g_ptr_array_new ();
  self->initializers = g_ptr_array_new ();
  return self;
}

static void
graph_memory_free_placed (gpointer node,
                          gpointer data)
{
  vn_node_free (node);
}

static void
graph_memory_free_order (VnGraph *self)
{
  if (self->order != NULL)
    g_sequence_foreach (self->order, graph_memory_free_placed, NULL);
  g_clear_pointer (&self->order, g_sequence_free);
  if (self->forgotten != NULL)
    g_ptr_array_set_free_func (self->forgotten, NULL);   /* they are in the list of values as well */
  g_clear_pointer (&self->forgotten, g_ptr_array_unref);
}

void
vn_graph_free (VnGraph *self)
{
  if (self->model->edited != NULL)
    g_hash_table_remove (self->model->edited, self);
  graph_memory_free_order (self);
  if (self->parent != NULL)
    g_hash_table_remove (self->parent->inner, self);
  for (VnGraph *outer = self->parent; outer != NULL; outer = outer->parent)     /* what its values were called is free */
    g_clear_pointer (&outer->suffixes, g_hash_table_unref);
  g_ptr_array_unref (self->inputs);
  g_ptr_array_unref (self->outputs);
  g_ptr_array_unref (self->initializers);
  g_hash_table_unref (self->by_name);
  g_clear_pointer (&self->node_names, g_hash_table_unref);
  g_clear_pointer (&self->suffixes, g_hash_table_unref);
  g_clear_pointer (&self->former_values, g_hash_table_unref);
  g_clear_pointer (&self->former_nodes, g_hash_table_unref);
  g_clear_pointer (&self->same_values, g_hash_table_unref);
  g_ptr_array_unref (self->nodes);
  g_clear_pointer (&self->inner, g_hash_table_unref);   /* graphs of its nodes have left it before */
  g_ptr_array_unref (self->values);
  g_free (self->name);
  g_free (self->doc);
  g_clear_pointer (&self->extra, g_bytes_unref);
  g_free (self);
}
