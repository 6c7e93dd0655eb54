/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes whose results nobody needs, and weights nobody uses. */
#include "vn-rewrite-private.h"

static gboolean
dead_is_dead (GHashTable   *returned,
              const VnNode *node)
{
  for (guint i = 0; i < node->outputs->len; i++)
    {
      const VnValue *value = vn_node_get_output (node, i);

      if (value != NULL && (value->uses->len > 0 || vn_rewrite_is_kept (returned, value)))
        return FALSE;
    }
  return TRUE;
}

static void
dead_remove_node (VnPassContext *ctx,
                  GHashTable    *returned,
                  VnNode        *node)
{
  g_autofree char *label = vn_node_dup_label (node);
  g_autoptr(GPtrArray) outputs = g_ptr_array_copy (node->outputs, NULL, NULL);

  vn_edit_log_add (ctx->log, "remove", label, NULL, _("its outputs are unused"));
  vn_graph_remove_node (node->graph, node);
  for (guint i = 0; i < outputs->len; i++)
    if (g_ptr_array_index (outputs, i) != NULL)
      vn_rewrite_drop_unused (returned, g_ptr_array_index (outputs, i));
}

static gboolean
dead_visit (VnPassContext  *ctx,
            GHashTable     *returned,
            VnNode         *node,
            GError        **error)
{
  if (dead_is_dead (returned, node))
    dead_remove_node (ctx, returned, node);
  return TRUE;
}

/* Users come after what they use: one round from the end finds whole dead branches. */
static gboolean
dead_nodes (VnPassContext  *ctx,
            VnGraph        *graph,
            GError        **error)
{
  return vn_rewrite_each_sorted (ctx, graph, TRUE, dead_visit, error);
}

static gboolean
dead_weights (VnPassContext  *ctx,
              VnGraph        *graph,
              GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) values = NULL;

  values = g_ptr_array_copy (graph->values, NULL, NULL);
  g_ptr_array_set_free_func (values, NULL);
  for (guint i = 0; i < values->len; i++)
    {
      VnValue *value = g_ptr_array_index (values, i);
      g_autofree char *name = g_strdup (value->name);

      if (vn_rewrite_drop_unused (returned, value))
        vn_edit_log_add (ctx->log, "remove", name, NULL, _("it is unused"));
    }
  return TRUE;
}

/* A subgraph may be the only user of something outside, and it goes with its node: nodes first, then weights. */
static gboolean
dead_run (VnPassContext  *ctx,
          GError        **error)
{
  guint before;

  do
    {
      before = vn_graph_get_n_nodes (ctx->model->graph);
      if (!dead_nodes (ctx, ctx->model->graph, error) ||
          !vn_rewrite_each_graph (ctx, dead_nodes, error))
        return FALSE;
    }
  while (vn_graph_get_n_nodes (ctx->model->graph) < before);
  return vn_rewrite_each_graph (ctx, dead_weights, error);
}

const VnPass vn_pass_dead = {
  .id = "dead",
  .title = N_("Remove unused nodes and weights"),
  .summary = N_("Removes nodes and weights that contribute to no output."),
  .exact = TRUE,
  .repeats = TRUE,
  .run = dead_run,
};
