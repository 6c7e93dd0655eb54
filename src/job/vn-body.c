/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs inside a node, as a network of its own that can be looked at, run and quantized. */
#include "vn-body.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-jobs.h"
#include "vn-node-index.h"

static void
body_free (gpointer data)
{
  g_free (((VnBody *) data)->attr);
  g_free (data);
}

static void
body_add (GPtrArray     *bodies,
          const char    *attr,
          const VnGraph *graph)
{
  VnBody *body = g_new (VnBody, 1);

  *body = (VnBody) { g_strdup (attr), graph->nodes->len + vn_graph_count_inner_nodes (graph) };
  g_ptr_array_add (bodies, body);
}

/**
 * vn_node_has_bodies:
 *
 * Returns: whether vn_node_list_bodies() has some
 */
gboolean
vn_node_has_bodies (const VnNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  for (guint i = 0; i < node->attrs->len; i++)
    if (((const VnAttr *) g_ptr_array_index (node->attrs, i))->graph != NULL)
      return TRUE;
  return vn_model_find_function (node->graph->model, node->domain, node->op_type) != NULL;
}

/**
 * vn_node_list_bodies:
 *
 * Returns: (transfer full) (element-type VnBody): those that @node runs, in the order of its attributes
 */
GPtrArray *
vn_node_list_bodies (const VnNode *node)
{
  GPtrArray *bodies = g_ptr_array_new_with_free_func (body_free);
  const VnFunction *function;

  g_return_val_if_fail (node != NULL, bodies);

  for (guint i = 0; i < node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (node->attrs, i);

      if (attr->graph != NULL)
        body_add (bodies, attr->name, attr->graph);
    }
  function = vn_model_find_function (node->graph->model, node->domain, node->op_type);
  if (function != NULL)
    body_add (bodies, "", function->body);
  return bodies;
}

/**
 * vn_graph_count_inner_nodes:
 *
 * Returns: how many nodes the bodies in attributes of the nodes of @graph have, at all depths; readers bound these
 */
guint
vn_graph_count_inner_nodes (const VnGraph *graph)
{
  guint n = 0;

  g_return_val_if_fail (graph != NULL, 0);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, k);

          if (attr->graph != NULL)
            n += attr->graph->nodes->len + vn_graph_count_inner_nodes (attr->graph);
        }
    }
  return n;
}

/* The same node where no function is called any more: a body does not take the functions of its model along. */
static const VnNode *
body_find_expanded (const VnNode *node,
                    VnModel      *expanded)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *output = vn_node_get_output (node, i);
      const VnValue *same = output != NULL ? vn_graph_find_value (expanded->graph, output->name) : NULL;

      if (same != NULL && same->producer != NULL && g_str_equal (same->producer->op_type, node->op_type))
        return same->producer;
    }
  return node;
}

static VnModel *
body_open_attribute (const VnNode  *node,
                     const char    *name,
                     GError       **error)
{
  VnModel *outer = node->graph->model;
  g_autoptr(VnModel) named = outer->functions->len > 0 ? vn_model_copy_named (outer) : vn_model_ref (outer);
  g_autoptr(VnModel) expanded = vn_model_expand_functions (named, NULL, error);
  const VnAttr *attr = expanded != NULL ? vn_node_get_attr (body_find_expanded (node, expanded), name) : NULL;
  g_autoptr(GHashTable) originals = g_hash_table_new (NULL, NULL);
  g_autoptr(VnModel) model = NULL;

  if (expanded == NULL)
    return NULL;

  if (attr == NULL || attr->graph == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s has no body “%s”"), node->name, name);
      return NULL;
    }
  model = vn_model_new_from_body (attr->graph, originals);
  if (model == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: the body “%s” uses a name both for a tensor of its own and for "
                                                            "one outside"), node->name, name);
      return NULL;
    }
  return vn_model_infer_types (model, NULL, NULL, error) ? g_steal_pointer (&model) : NULL;
}

/* Inputs of the call that are no constants become inputs of the network. */
static void
body_cut_inputs (VnGraph *graph,
                 VnNode  *call)
{
  for (guint i = 0; i < call->inputs->len; i++)
    {
      VnValue *value = vn_node_get_input (call, i);
      g_autofree char *name = NULL, *other = NULL;

      if (value == NULL || value->is_input || vn_value_get_constant (value) != NULL)
        continue;
      name = g_strdup (value->name);
      other = vn_graph_unique_name (graph, name);
      vn_graph_rename_value (graph, value, other);
      vn_node_set_input (call, i, vn_graph_add_input (graph, name, value->type.dtype, &value->type.shape));
    }
}

/* Nothing is given out but what @call gives. */
static void
body_set_outputs (VnGraph      *graph,
                  const VnNode *call)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    ((VnValue *) g_ptr_array_index (graph->outputs, i))->is_output = FALSE;
  g_ptr_array_set_size (graph->outputs, 0);
  for (guint i = 0; i < call->outputs->len; i++)
    if (vn_node_get_output (call, i) != NULL)
      vn_graph_set_output (graph, graph->outputs->len, vn_node_get_output (call, i));
}

static void
body_need (GHashTable *needed,
           GPtrArray  *queue,
           GPtrArray  *values)
{
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      if (value != NULL && value->producer != NULL && g_hash_table_add (needed, value->producer))
        g_ptr_array_add (queue, value->producer);
    }
}

/* What the outputs of @graph do not need. */
static void
body_drop_others (VnGraph *graph)
{
  g_autoptr(GHashTable) needed = g_hash_table_new (NULL, NULL);
  g_autoptr(GPtrArray) queue = g_ptr_array_new ();

  body_need (needed, queue, graph->outputs);
  for (guint i = 0; i < queue->len; i++)
    {
      const VnNode *node = g_ptr_array_index (queue, i);
      g_autoptr(GPtrArray) captured = vn_node_has_graphs (node) ? vn_node_list_captured (node) : NULL;

      body_need (needed, queue, node->inputs);
      if (captured != NULL)
        body_need (needed, queue, captured);
    }
  vn_model_begin_edits (graph->model);
  for (guint i = graph->nodes->len; i-- > 0;)
    if (!g_hash_table_contains (needed, g_ptr_array_index (graph->nodes, i)))
      vn_graph_remove_node (graph, g_ptr_array_index (graph->nodes, i));
  vn_model_end_edits (graph->model);
  for (guint i = graph->inputs->len; i-- > 0;)
    {
      VnValue *input = g_ptr_array_index (graph->inputs, i);

      if (input->uses->len == 0 && !input->is_output)
        vn_graph_remove_value (graph, input);
    }
}

/* The network in which @node is, with nothing but the call. Names are those that preparing the whole network gives. */
static VnModel *
body_open_function (const VnNode  *node,
                    GError       **error)
{
  g_autoptr(VnModel) copy = vn_model_copy_named (node->graph->model), expanded = NULL;
  VnGraph *graph = copy->graph;
  guint index;
  VnNode *call;

  if (node->graph != node->graph->model->graph || !g_ptr_array_find (node->graph->nodes, node, &index))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s is inside another body: open that first"), node->name);
      return NULL;
    }
  call = g_ptr_array_index (graph->nodes, index);
  body_cut_inputs (graph, call);
  body_set_outputs (graph, call);
  expanded = vn_model_expand_functions (copy, NULL, error);
  if (expanded == NULL)
    return NULL;
  body_drop_others (expanded->graph);
  if (expanded->graph->nodes->len != 1 ||
      !g_str_equal (((VnNode *) g_ptr_array_index (expanded->graph->nodes, 0))->op_type, node->op_type))
    return g_steal_pointer (&expanded);
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: %s is run as one operator here, not by its function"), node->name,
               node->op_type);
  return NULL;
}

/**
 * vn_model_new_for_body:
 * @node: of an opened model
 * @attr: as in VnBody
 *
 * What comes from outside is a constant or an input of it. Nodes of a function have the types and attributes of this call.
 *
 * Returns: (transfer full) (nullable): a model of the body, named after @node; %NULL with an error if it cannot stand alone
 */
VnModel *
vn_model_new_for_body (const VnNode  *node,
                       const char    *attr,
                       GError       **error)
{
  g_autoptr(VnModel) model = NULL;
  g_autofree char *around = NULL;
  const VnModel *outer;

  g_return_val_if_fail (node != NULL && attr != NULL, NULL);

  outer = node->graph->model;
  model = *attr != '\0' ? body_open_attribute (node, attr, error) : body_open_function (node, error);
  if (model == NULL)
    return NULL;
  around = outer->path != NULL ? g_path_get_basename (outer->path) : g_strdup (outer->graph->name);
  g_free (model->graph->name);
  model->graph->name = g_strjoin (" › ", around != NULL ? around : "", *node->name != '\0' ? node->name : node->op_type,
                                  *attr != '\0' ? attr : NULL, NULL);
  g_clear_pointer (&model->path, g_free);
  return g_steal_pointer (&model);
}
