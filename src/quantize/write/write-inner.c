/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs inside nodes: each is written as a network of its own and put back into its node. What it has from outside, it has
 * as that is after quantization. */
#include "vn-quant-write.h"

#include "vn-graph-edit.h"

/* A value that a graph inside a node has from outside. */
typedef struct
{
  char     *name;
  VnTensor *constant;   /* nullable */
  VnValue  *outer;
} Captured;

struct _VnInnerGraph
{
  const VnQuantBody *body;
  VnNode            *holder;
  char              *scope;      /* vn_graph_dup_scope(), in the graph around it */
  VnModel           *model;
  GArray            *captured;   /* of Captured */
};

static void
write_inner_captured_clear (gpointer data)
{
  Captured *self = data;

  g_free (self->name);
  g_clear_pointer (&self->constant, vn_tensor_unref);
}

static void
write_inner_free (gpointer data)
{
  VnInnerGraph *self = data;

  g_clear_pointer (&self->model, vn_model_unref);
  g_array_unref (self->captured);
  g_free (self->scope);
  g_free (self);
}

static VnInnerGraph *
write_inner_new (VnModel           *model,
                 const VnQuantBody *body)
{
  g_autoptr(GHashTable) originals = g_hash_table_new (NULL, NULL);
  VnInnerGraph *self = g_new0 (VnInnerGraph, 1);
  const VnGraph *graph;
  GHashTableIter iter;
  gpointer value, original;

  self->body = body;
  self->holder = g_ptr_array_index (model->graph->nodes, body->node);
  self->captured = g_array_new (FALSE, FALSE, sizeof (Captured));
  g_array_set_clear_func (self->captured, write_inner_captured_clear);
  graph = vn_node_get_attr (self->holder, body->attr)->graph;
  self->scope = vn_graph_dup_scope (graph);
  self->model = vn_model_new_from_body (graph, originals);
  g_hash_table_iter_init (&iter, originals);
  while (self->model != NULL && g_hash_table_iter_next (&iter, &value, &original))
    {
      VnValue *inside = value;
      Captured captured = { NULL, NULL, original };

      if (inside->graph != self->model->graph || ((VnValue *) original)->graph == graph)
        continue;
      captured.name = g_strdup (inside->name);
      captured.constant = inside->initializer != NULL ? vn_tensor_ref (inside->initializer) : NULL;
      g_array_append_val (self->captured, captured);
    }
  return self;
}

/*< private >
 * vn_inner_graphs_take:
 * @model: a network that nothing was written into yet
 *
 * Returns: (transfer full) (element-type VnInnerGraph): the graphs inside its nodes that @plan speaks of, as networks of their
 *   own
 */
GPtrArray *
vn_inner_graphs_take (VnModel     *model,
                      VnQuantPlan *plan)
{
  GPtrArray *graphs = g_ptr_array_new_with_free_func (write_inner_free);

  g_return_val_if_fail (model != NULL && plan != NULL, graphs);

  for (guint i = 0; i < plan->bodies->len; i++)
    {
      VnInnerGraph *graph = write_inner_new (model, g_ptr_array_index (plan->bodies, i));

      if (graph->model != NULL)
        g_ptr_array_add (graphs, graph);
      else
        write_inner_free (graph);
    }
  return graphs;
}

/*< private >
 * vn_inner_graph_get_model:
 *
 * Returns: (transfer none): the graph as a network of its own, to be written into
 */
VnModel *
vn_inner_graph_get_model (VnInnerGraph *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->model;
}

VnQuantPlan *
vn_inner_graph_get_plan (VnInnerGraph *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->body->plan;
}

/* Activations: what stands for them after quantization. */
static VnValue *
write_inner_find_outside (const VnGraph  *graph,
                          const Captured *captured,
                          GHashTable     *names)
{
  const char *name = captured->constant == NULL ? g_hash_table_lookup (names, captured->name) : NULL;
  VnValue *now = name != NULL ? vn_graph_find_value (graph, name) : NULL;

  return now != NULL && now->type.dtype == VN_DTYPE_F32 ? now : captured->outer;
}

/* Values that are called otherwise now: in the graph around it they are told by where they are. */
static void
write_inner_add_names (const VnInnerGraph *self,
                       GHashTable         *copies,
                       GHashTable         *own,
                       GHashTable         *names)
{
  GHashTableIter iter;
  gpointer name, target;

  g_hash_table_iter_init (&iter, own);
  while (g_hash_table_iter_next (&iter, &name, &target))
    {
      const VnValue *inside = g_hash_table_lookup (self->model->graph->by_name, target), *now;

      now = inside != NULL ? g_hash_table_lookup (copies, inside) : NULL;
      g_hash_table_replace (names, g_strconcat (self->scope, name, NULL), g_strdup (now != NULL ? now->name : target));
    }
}

/*< private >
 * vn_inner_graph_put_back:
 * @own: what stands for its values
 * @names: what stands for the values of the graph around it, which has been written; gets those of @own, behind the way to it
 */
void
vn_inner_graph_put_back (VnInnerGraph *self,
                         GHashTable   *own,
                         GHashTable   *names)
{
  g_autoptr(GHashTable) outer = g_hash_table_new (NULL, NULL);
  const VnGraph *graph;

  g_return_if_fail (self != NULL && names != NULL);

  graph = self->model->graph;
  for (guint i = 0; i < self->captured->len; i++)
    {
      const Captured *captured = &g_array_index (self->captured, Captured, i);
      VnValue *inside = g_hash_table_lookup (graph->by_name, captured->name);

      /* the writer may have given its name to something else */
      if (inside != NULL && inside->producer == NULL && inside->initializer == captured->constant)
        g_hash_table_insert (outer, inside, write_inner_find_outside (self->holder->graph, captured, names));
    }
  vn_node_set_body (self->holder, self->body->attr, graph, outer);
  write_inner_add_names (self, outer, own, names);
}
