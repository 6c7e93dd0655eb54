/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMul of two matrices, and a constant added to each row: one Gemm. */
#include "vn-rewrite-private.h"

/* A bias that Gemm spreads over the rows as Add does. */
static gboolean
gemm_is_row (const VnValue *bias,
             gint64         n)
{
  const VnShape *shape = vn_rewrite_get_shape (bias);

  if (shape == NULL || !vn_value_is_constant (bias) || shape->rank > 2 || shape->rank < 1)
    return FALSE;
  return shape->dims[shape->rank - 1] == n && (shape->rank == 1 || shape->dims[0] == 1);
}

/* Where the constant stands; G_MAXUINT: this is no such pair. */
static guint
gemm_find_bias (GHashTable   *returned,
                const VnNode *node,
                VnNode      **product)
{
  for (guint i = 0; i < 2 && vn_node_is (node, "Add") && node->inputs->len == 2; i++)
    {
      const VnShape *a, *b;

      *product = vn_rewrite_producer_of_only (returned, node, i, "MatMul");
      if (*product == NULL)
        continue;
      a = vn_rewrite_get_shape (vn_node_get_input (*product, 0));
      b = vn_rewrite_get_shape (vn_node_get_input (*product, 1));
      if (a != NULL && b != NULL && a->rank == 2 && b->rank == 2 && b->dims[1] > 0 &&
          vn_rewrite_get_dtype (vn_node_get_input (*product, 0)) == VN_DTYPE_F32 &&
          gemm_is_row (vn_node_get_input (node, 1 - i), b->dims[1]))
        return 1 - i;
    }
  return G_MAXUINT;
}

static void
gemm_make_gemm (VnPassContext *ctx,
                VnNode        *add,
                VnNode        *product,
                guint          bias)
{
  VnValue *between = vn_node_get_output (product, 0), *result = vn_node_get_output (add, 0);
  VnValue *constant = vn_node_get_input (add, bias);
  g_autofree char *label = vn_node_dup_label (add);
  g_autofree char *target = vn_node_dup_label (product);

  vn_edit_log_add (ctx->log, "fold", label, target, _("Add into %s, which becomes Gemm"), target);
  vn_graph_remove_node (add->graph, add);
  vn_node_set_output (product, 0, result);
  vn_graph_remove_value (between->graph, between);
  vn_rewrite_set_op_type (product, "Gemm");
  vn_node_set_input (product, 2, constant);
}

static gboolean
gemm_graph (VnPassContext  *ctx,
            VnGraph        *graph,
            GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i), *product = NULL;
      guint bias = vn_node_get_output (node, 0) != NULL ? gemm_find_bias (returned, node, &product) : G_MAXUINT;

      if (bias != G_MAXUINT && vn_node_get_input (node, bias)->initializer != NULL)
        gemm_make_gemm (ctx, node, product, bias);
    }
  return TRUE;
}

static gboolean
gemm_run (VnPassContext  *ctx,
          GError        **error)
{
  if (vn_model_get_opset (ctx->model, "") < 7)
    return TRUE;
  return vn_rewrite_infer (ctx, "gemm", error) &&
         vn_rewrite_each_graph (ctx, gemm_graph, error);
}

const VnPass vn_pass_gemm = {
  .id = "gemm",
  .title = N_("MatMul and Add to Gemm"),
  .summary = N_("Fuses a matrix product and a constant added to each row into one Gemm."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = FALSE,
  .repeats = TRUE,
  .run = gemm_run,
};
