/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What passes share: visiting graphs, adding and dropping values, taking nodes out. */
#include "vn-rewrite-private.h"

static gboolean
rewrite_util_visit (VnPassContext  *ctx,
                    VnGraph        *graph,
                    VnGraphFunc     func,
                    GError        **error)
{
  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    {
      VnNode *node = vn_graph_get_node (graph, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL && !rewrite_util_visit (ctx, attr->graph, func, error))
            return FALSE;
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            if (!rewrite_util_visit (ctx, g_ptr_array_index (attr->graphs, g), func, error))
              return FALSE;
        }
    }
  vn_graph_settle (graph);
  return !g_cancellable_set_error_if_cancelled (ctx->cancellable, error) && func (ctx, graph, error);
}

/**
 * vn_rewrite_each_graph:
 *
 * Calls @func for the main graph and all graphs inside it, inner ones first. Bodies of functions are left out: what
 * they hold follows opsets of their own.
 */
gboolean
vn_rewrite_each_graph (VnPassContext  *ctx,
                       VnGraphFunc     func,
                       GError        **error)
{
  return rewrite_util_visit (ctx, ctx->model->graph, func, error);
}

/**
 * vn_rewrite_each_sorted:
 * @graph: one of the model, as vn_rewrite_each_graph() gives it
 * @backwards: users before what they use
 *
 * Calls @func for the nodes that @graph has now.
 */
gboolean
vn_rewrite_each_sorted (VnPassContext  *ctx,
                        VnGraph        *graph,
                        gboolean        backwards,
                        VnNodeFunc      func,
                        GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (!func (ctx, returned, g_ptr_array_index (order, backwards ? order->len - 1 - i : i), error))
      return FALSE;
  return TRUE;
}

/**
 * vn_rewrite_list_nodes:
 *
 * Returns: (transfer container): the nodes as they are now, for passes that add and remove some on the way
 */
GPtrArray *
vn_rewrite_list_nodes (const VnGraph *graph)
{
  GPtrArray *nodes;

  vn_graph_settle (graph);
  nodes = g_ptr_array_sized_new (graph->nodes->len);
  for (guint i = 0; i < graph->nodes->len; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (graph->nodes, i));
  return nodes;
}

static void
rewrite_util_collect_returned (const VnGraph *graph,
                               GHashTable    *returned)
{
  vn_graph_settle (graph);
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->outputs, i);

      if (value->graph != graph)
        g_hash_table_add (returned, value);
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint a = 0; a < node->attrs->len; a++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, a);

          if (attr->graph != NULL)
            rewrite_util_collect_returned (attr->graph, returned);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            rewrite_util_collect_returned (g_ptr_array_index (attr->graphs, g), returned);
        }
    }
}

/**
 * vn_rewrite_returned:
 *
 * Returns: (transfer full): the values that an inner graph returns although an outer one defines them: they are needed
 *   without having a use
 */
GHashTable *
vn_rewrite_returned (const VnModel *model)
{
  GHashTable *returned = g_hash_table_new (NULL, NULL);

  rewrite_util_collect_returned (model->graph, returned);
  return returned;
}

/**
 * vn_rewrite_is_kept:
 *
 * Returns: %TRUE if the value must stay under its name even if no node uses it
 */
gboolean
vn_rewrite_is_kept (GHashTable    *returned,
                    const VnValue *value)
{
  return value->is_output || g_hash_table_contains (returned, value);
}

/**
 * vn_rewrite_can_rename:
 *
 * Returns: %TRUE if every user of @from, also in inner graphs, means @to when it says @to's name
 */
gboolean
vn_rewrite_can_rename (const VnValue *from,
                       const VnValue *to)
{
  for (guint i = 0; i < from->uses->len; i++)
    if (vn_graph_find_value (g_array_index (from->uses, VnUse, i).node->graph, to->name) != to)
      return FALSE;
  return TRUE;
}

/**
 * vn_rewrite_only_user:
 * @index: (out): which input it is
 *
 * Returns: (transfer none) (nullable): the node that alone uses @value, in the same graph; %NULL if there are several
 *   or the value is needed otherwise
 */
VnNode *
vn_rewrite_only_user (GHashTable    *returned,
                      const VnValue *value,
                      guint         *index)
{
  const VnUse *use;

  if (value->uses->len != 1 || vn_rewrite_is_kept (returned, value))
    return NULL;
  use = &g_array_index (value->uses, VnUse, 0);
  *index = use->index;
  return use->node->graph == value->graph ? use->node : NULL;
}

static char *
rewrite_util_derive_name (const VnNode *node,
                          const char   *role)
{
  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      return g_strdup_printf ("%s_%s", vn_node_get_output (node, i)->name, role);
  return g_strdup (role);
}

static VnValue *
rewrite_util_add_constant_node (VnNode     *before,
                                const char *name,
                                VnTensor   *tensor)
{
  VnValue *value = vn_graph_add_value (before->graph, name, tensor->dtype, &tensor->shape);
  VnNode *node = vn_graph_insert_node (before->graph, before, NULL, "", "Constant", NULL, 0, &value, 1);
  VnAttr *attr = vn_attr_new ("value", VN_ATTR_TENSOR);

  attr->tensor = vn_tensor_ref (tensor);
  vn_node_set_attr (node, attr);
  return value;
}

/**
 * vn_rewrite_add_constant:
 * @near_node: whose first output gives the name
 * @tensor: (transfer none)
 *
 * Returns: (transfer none): a new initializer "OUTPUT_ROLE"; in the body of a function, which has none, the output of
 *   a new Constant node
 */
VnValue *
vn_rewrite_add_constant (VnNode     *near_node,
                         const char *role,
                         VnTensor   *tensor)
{
  VnGraph *graph = near_node->graph;
  g_autofree char *name = rewrite_util_derive_name (near_node, role);

  if (graph->parent == NULL && graph != graph->model->graph)
    return rewrite_util_add_constant_node (near_node, name, tensor);
  return vn_graph_add_initializer (graph, name, tensor);
}

/**
 * vn_rewrite_add_result:
 *
 * Returns: (transfer none): a new value "OUTPUT_ROLE" of unknown type
 */
VnValue *
vn_rewrite_add_result (const VnNode *near_node,
                       const char   *role)
{
  g_autofree char *name = rewrite_util_derive_name (near_node, role);

  return vn_graph_add_value (near_node->graph, name, VN_DTYPE_UNDEFINED, NULL);
}

void
vn_rewrite_set_op_type (VnNode     *node,
                        const char *op_type)
{
  g_free (node->op_type);
  node->op_type = g_strdup (op_type);
}

/**
 * vn_rewrite_drop_unused:
 *
 * Removes @value if nothing needs it any more: no use, no producer, no place in the graph's interface.
 *
 * Returns: whether it is gone
 */
gboolean
vn_rewrite_drop_unused (GHashTable *returned,
                        VnValue    *value)
{
  if (value->uses->len > 0 || value->producer != NULL || vn_rewrite_is_kept (returned, value) ||
      (value->is_input && value->initializer == NULL) || value->type.kind == VN_TYPE_SPARSE_TENSOR)
    return FALSE;
  vn_graph_remove_value (value->graph, value);
  return TRUE;
}

/**
 * vn_rewrite_need_ir:
 *
 * Raises the model's IR version if it is below @version.
 */
void
vn_rewrite_need_ir (VnPassContext *ctx,
                    gint64         version)
{
  if (ctx->model->ir_version >= version)
    return;
  vn_edit_log_add (ctx->log, "set", "ir_version", NULL, _("%lld to %lld"),
                   (long long) ctx->model->ir_version, (long long) version);
  ctx->model->ir_version = version;
}

/**
 * vn_rewrite_constant_f32:
 *
 * Returns: (transfer full) (nullable): the float32 constant behind @value, aligned; %NULL without error if it is none
 */
VnTensor *
vn_rewrite_constant_f32 (const VnValue  *value,
                         GError        **error)
{
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (tensor == NULL || tensor->dtype != VN_DTYPE_F32)
    return NULL;
  return vn_tensor_get_aligned (tensor, error);
}

static gboolean
rewrite_util_only_first_output (GHashTable   *returned,
                                const VnNode *node)
{
  for (guint i = 1; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && (value->uses->len > 0 || vn_rewrite_is_kept (returned, value)))
        return FALSE;
    }
  return TRUE;
}

static void
rewrite_util_drop_other_outputs (VnNode *node)
{
  for (guint i = 1; i < node->outputs->len; i++)
    {
      VnValue *value = vn_node_get_output (node, i);

      if (value == NULL)
        continue;
      vn_node_set_output (node, i, NULL);
      vn_graph_remove_value (value->graph, value);
    }
}

/* The users take the input instead. */
static void
rewrite_util_bypass (VnNode  *node,
                     VnValue *from,
                     VnValue *to)
{
  vn_value_replace_uses (to, from, node);
  vn_graph_remove_node (node->graph, node);
  vn_graph_remove_value (to->graph, to);
}

/* The output's name must stay: the producer of the input makes it. */
static void
rewrite_util_take_over (VnNode  *node,
                        VnValue *from,
                        VnValue *to)
{
  VnNode *producer = from->producer;
  guint index = from->output_index;

  vn_value_replace_uses (from, to, node);
  vn_graph_remove_node (node->graph, node);
  vn_node_set_output (producer, index, to);
  vn_graph_remove_value (from->graph, from);
}

/**
 * vn_rewrite_remove_identity:
 * @node: whose first output is its input @i, bit for bit
 *
 * Takes the node out, if the names that must stay allow it, and logs that.
 *
 * Returns: whether it is gone
 */
gboolean
vn_rewrite_remove_identity (VnPassContext *ctx,
                            GHashTable    *returned,
                            VnNode        *node,
                            guint          i)
{
  VnValue *from = vn_node_get_input (node, i), *to = vn_node_get_output (node, 0);
  g_autofree char *label = vn_node_dup_label (node);
  gboolean over = to->is_output && from->producer != NULL && from->graph == to->graph &&
                  !vn_rewrite_is_kept (returned, from) && vn_rewrite_can_rename (from, to);
  const char *name;

  if (!rewrite_util_only_first_output (returned, node))
    return FALSE;
  if (!vn_rewrite_is_kept (returned, to) && vn_rewrite_can_rename (to, from))
    over = FALSE;
  else if (!over)
    return FALSE;
  name = over ? to->name : from->name;
  rewrite_util_drop_other_outputs (node);
  vn_edit_log_add (ctx->log, "remove", label, name, _("%s only passes on %s"), node->op_type, name);
  vn_edit_log_note_same (ctx->log, over ? from->name : to->name, name);
  if (over)
    rewrite_util_take_over (node, from, to);
  else
    rewrite_util_bypass (node, from, to);
  return TRUE;
}
