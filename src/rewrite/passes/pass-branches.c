/* SPDX-License-Identifier: GPL-3.0-or-later */
/* If with a condition that is known: the nodes of the branch that is always taken move into the graph around it. */
#include "vn-rewrite-private.h"

static const VnGraph *
branches_find_branch (const VnNode *node)
{
  VnValue *condition = vn_node_get_input (node, 0);
  VnTensor *known = condition != NULL ? vn_value_get_constant (condition) : NULL;
  const VnAttr *attr;

  if (!vn_node_is (node, "If") || known == NULL || known->dtype != VN_DTYPE_BOOL || known->n_elements != 1)
    return NULL;
  attr = vn_node_get_attr (node, vn_tensor_get_s64 (known, 0) != 0 ? "then_branch" : "else_branch");
  if (attr == NULL || attr->graph == NULL || attr->graph->inputs->len > 0 || attr->graph->outputs->len != node->outputs->len)
    return NULL;
  return attr->graph;
}

static gboolean
branches_inline (VnInliner      *inliner,
                 VnPassContext  *ctx,
                 VnGraph        *graph,
                 gboolean       *changed,
                 GError        **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnGraph *branch = branches_find_branch (node);
      g_autofree char *label = vn_node_dup_label (node);

      if (g_cancellable_set_error_if_cancelled (ctx->cancellable, error))
        return FALSE;
      if (branch == NULL)
        {
          for (guint a = 0; a < node->attrs->len; a++)
            {
              VnAttr *attr = g_ptr_array_index (node->attrs, a);

              if (attr->graph != NULL && !branches_inline (inliner, ctx, attr->graph, changed, error))
                return FALSE;
            }
          continue;
        }
      vn_edit_log_add (ctx->log, "replace", label, NULL, _("with its branch “%s”: the condition is constant"),
                       branch->name);
      /* What comes in may hold such nodes itself. */
      *changed = TRUE;
      if (!vn_rewrite_inline (inliner, node, branch, NULL, NULL, nodes, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
branches_run (VnPassContext  *ctx,
              GError        **error)
{
  gboolean changed = TRUE;

  /* A condition inside a branch may become known only now. Each round takes away an If. */
  while (changed)
    {
      g_autoptr(VnInliner) inliner = vn_inliner_new (ctx);

      changed = FALSE;
      if (!branches_inline (inliner, ctx, ctx->model->graph, &changed, error))
        return FALSE;
      if (changed && !vn_pass_apply (&vn_pass_fold, ctx, error))
        return FALSE;
      vn_edit_log_set_pass (ctx->log, "branches");
    }
  return TRUE;
}

const VnPass vn_pass_branches = {
  .id = "branches",
  .title = N_("Inline constant branches"),
  .summary = N_("Replaces an If that has a constant condition with the branch that is always taken."),
  .exact = TRUE,
  .run = branches_run,
};
