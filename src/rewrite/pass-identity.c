/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that pass on what they get: Identity, Dropout (which does nothing outside of training), Cast to the type the
 * value has anyway. */
#include "vn-rewrite-private.h"

static gboolean
is_idle_dropout (const VnNode *node)
{
  const VnValue *mask = vn_node_get_output (node, 1);
  VnValue *training = vn_node_get_input (node, 2);
  VnTensor *flag = training != NULL ? vn_value_get_constant (training) : NULL;

  if (mask != NULL && (mask->uses->len > 0 || mask->is_output))
    return FALSE;
  return training == NULL || (flag != NULL && flag->n_elements == 1 && vn_tensor_get_s64 (flag, 0) == 0);
}

static gboolean
is_idle (const VnNode *node)
{
  const VnValue *from = vn_node_get_input (node, 0);

  if (vn_node_is (node, "Identity"))
    return TRUE;
  if (vn_node_is (node, "Dropout"))
    return is_idle_dropout (node);
  return vn_node_is (node, "Cast") && from->type.kind == VN_TYPE_TENSOR && from->type.dtype != VN_DTYPE_UNDEFINED &&
         vn_node_get_int (node, "to", 0) == (gint64) from->type.dtype;
}

static void
log_removal (VnPassContext *ctx,
             const char    *label,
             const char    *op_type,
             const VnValue *value)
{
  vn_edit_log_add (ctx->log, "remove", label, value->name, _("%s only passes on %s"), op_type, value->name);
}

/* The users take the input instead. */
static void
bypass (VnNode  *node,
        VnValue *from,
        VnValue *to)
{
  vn_value_replace_uses (to, from, node);
  vn_graph_remove_node (node->graph, node);
  vn_graph_remove_value (to->graph, to);
}

/* The output's name must stay: the producer of the input makes it. */
static void
take_over (VnNode  *node,
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

static gboolean
only_first_output (GHashTable   *returned,
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
drop_mask (VnNode *node)
{
  VnValue *mask = vn_node_get_output (node, 1);

  if (mask == NULL)
    return;
  vn_node_set_output (node, 1, NULL);
  vn_graph_remove_value (mask->graph, mask);
}

static void
remove_idle (VnPassContext *ctx,
             GHashTable    *returned,
             VnNode        *node)
{
  VnValue *from = vn_node_get_input (node, 0);
  VnValue *to = vn_node_get_output (node, 0);
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *op_type = g_strdup (node->op_type);

  if (from == NULL || to == NULL || !is_idle (node) || !only_first_output (returned, node))
    return;
  if (!vn_rewrite_is_kept (returned, to) && vn_rewrite_can_rename (to, from))
    {
      drop_mask (node);
      log_removal (ctx, label, op_type, from);
      bypass (node, from, to);
    }
  else if (to->is_output && from->producer != NULL && from->graph == to->graph && !vn_rewrite_is_kept (returned, from) &&
           vn_rewrite_can_rename (from, to))
    {
      drop_mask (node);
      log_removal (ctx, label, op_type, to);
      take_over (node, from, to);
    }
}

static gboolean
identity_graph (VnPassContext  *ctx,
                VnGraph        *graph,
                GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    remove_idle (ctx, returned, g_ptr_array_index (nodes, i));
  return TRUE;
}

static gboolean
identity_run (VnPassContext  *ctx,
              GError        **error)
{
  return vn_rewrite_infer (ctx, "identity", error) &&
         vn_rewrite_each_graph (ctx, identity_graph, error);
}

const VnPass vn_pass_identity = {
  .id = "identity",
  .title = N_("Remove idle nodes"),
  .summary = N_("Removes Identity, Dropout and Casts that change nothing."),
  .exact = TRUE,
  .run = identity_run,
};
