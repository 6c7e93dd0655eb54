/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes that pass on what they get: Identity, Dropout (which does nothing outside of training), Cast to the type the
 * value has anyway. */
#include "vn-rewrite-private.h"

static gboolean
identity_is_idle_dropout (const VnNode *node)
{
  const VnValue *mask = vn_node_get_output (node, 1);
  VnValue *training = vn_node_get_input (node, 2);
  VnTensor *flag = training != NULL ? vn_value_get_constant (training) : NULL;

  if (mask != NULL && (mask->uses->len > 0 || mask->is_output))
    return FALSE;
  return training == NULL || (flag != NULL && flag->n_elements == 1 && vn_tensor_get_s64 (flag, 0) == 0);
}

static gboolean
identity_is_idle (const VnNode *node)
{
  const VnValue *from = vn_node_get_input (node, 0);

  if (vn_node_is (node, "Identity"))
    return TRUE;
  if (vn_node_is (node, "Dropout"))
    return identity_is_idle_dropout (node);
  return vn_node_is (node, "Cast") && from->type.kind == VN_TYPE_TENSOR && from->type.dtype != VN_DTYPE_UNDEFINED &&
         vn_node_get_int (node, "to", 0) == (gint64) from->type.dtype;
}

static void
identity_remove_idle (VnPassContext *ctx,
                      GHashTable    *returned,
                      VnNode        *node)
{
  if (vn_node_get_input (node, 0) != NULL && vn_node_get_output (node, 0) != NULL && identity_is_idle (node))
    vn_rewrite_remove_identity (ctx, returned, node, 0);
}

static gboolean
identity_graph (VnPassContext  *ctx,
                VnGraph        *graph,
                GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    identity_remove_idle (ctx, returned, g_ptr_array_index (nodes, i));
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
  .title = N_("Remove identity nodes"),
  .summary = N_("Removes Identity, Dropout and Cast nodes that change nothing."),
  .exact = TRUE,
  .repeats = TRUE,
  .run = identity_run,
};
