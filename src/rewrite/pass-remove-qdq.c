/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A quantized network as the float network it was made from, but for what its weights lost: weights are dequantized once,
 * and pairs of quantizing and dequantizing nodes go. */
#include "vn-rewrite-private.h"

/* Of the standard, and of domains that have wider types. */
static gboolean
dequantizes (const VnNode *node)
{
  return g_str_has_suffix (node->op_type, "DequantizeLinear");
}

static gboolean
quantizes (const VnNode *node)
{
  return g_str_has_suffix (node->op_type, "QuantizeLinear") && !dequantizes (node) &&
         !g_str_has_prefix (node->op_type, "Dynamic");
}

static gboolean
is_float (const VnValue *value)
{
  VnDType dtype = value != NULL ? vn_rewrite_get_dtype (value) : VN_DTYPE_UNDEFINED;

  return dtype == VN_DTYPE_F32 || dtype == VN_DTYPE_UNDEFINED;
}

/* What goes into the pair comes out of it. */
static gboolean
remove_pair (VnPassContext *ctx,
             GHashTable    *returned,
             VnNode        *node)
{
  VnValue *middle = vn_node_get_input (node, 0);
  VnNode *first = middle != NULL && middle->graph == node->graph ? middle->producer : NULL;

  if (first == NULL || !quantizes (first) || vn_node_get_input (first, 0) == NULL || vn_node_get_output (node, 0) == NULL ||
      !is_float (vn_node_get_input (first, 0)))
    return FALSE;
  vn_node_set_input (node, 0, vn_node_get_input (first, 0));
  vn_rewrite_remove_unused (returned, first);
  if (vn_rewrite_pass_on (ctx, returned, node, 0))
    return TRUE;

  /* Its name must stay, and that of what it gets, too. */
  for (guint i = node->inputs->len; i-- > 1;)
    {
      vn_node_set_input (node, i, NULL);
      g_ptr_array_set_size (node->inputs, (int) i);
    }
  g_ptr_array_set_size (node->attrs, 0);
  g_free (node->domain);
  node->domain = g_strdup ("");
  vn_rewrite_set_op_type (node, "Identity");
  return TRUE;
}

static gboolean
remove_qdq_graph (VnPassContext  *ctx,
                  VnGraph        *graph,
                  GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      VnNode *node = g_ptr_array_index (order, i);

      if (dequantizes (node) && !remove_pair (ctx, returned, node) &&
          !vn_rewrite_fold_node (ctx, returned, node, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
remove_qdq_run (VnPassContext  *ctx,
                GError        **error)
{
  return vn_rewrite_infer (ctx, "remove-qdq", error) &&
         vn_rewrite_each_graph (ctx, remove_qdq_graph, error) &&
         vn_pass_run ("dead", ctx, error);
}

const VnPass vn_pass_remove_qdq = {
  .id = "remove-qdq",
  .title = N_("Back to float"),
  .summary = N_("Removes pairs of QuantizeLinear and DequantizeLinear and dequantizes weights."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = remove_qdq_run,
};
