/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zeros around a picture that a Conv or AveragePool then adds more to: the node adds all of them. */
#include "vn-rewrite-private.h"

#define MAX_INTS (2 * VN_MAX_RANK)

static gboolean
pads_zeros (const VnNode *pad)
{
  g_autofree char *mode = vn_node_dup_string (pad, "mode", "constant");
  double number = 0;

  if (!g_str_equal (mode, "constant") || vn_node_get_float (pad, "value", 0) != 0 || vn_node_get_input (pad, 3) != NULL)
    return FALSE;
  return vn_node_get_input (pad, 2) == NULL || (vn_rewrite_get_number (vn_node_get_input (pad, 2), &number) && number == 0);
}

/* The pads of both together, for spatial axes; FALSE: they cannot be. */
static gboolean
pads_add_up (const VnNode *pad,
             const VnNode *node,
             gint64       *sum,
             gsize        *n)
{
  g_autofree char *rule = vn_node_dup_string (node, "auto_pad", "NOTSET");
  gint64 pads[MAX_INTS];
  gsize n_pads, n_own;
  const gint64 *own = vn_node_get_ints (node, "pads", &n_own);

  if (!vn_rewrite_get_ints (pad, "pads", 1, pads, MAX_INTS, &n_pads) || n_pads < 6 || n_pads % 2 != 0 ||
      !(g_str_equal (rule, "NOTSET") || g_str_equal (rule, "VALID")))
    return FALSE;
  *n = n_pads - 4;
  if (own != NULL && n_own != *n)
    return FALSE;
  for (gsize i = 0; i < n_pads; i++)
    {
      gsize axis = i % (n_pads / 2), k = axis - 2 + (i < n_pads / 2 ? 0 : *n / 2);

      if (pads[i] < 0 || pads[i] > G_MAXINT32 || (axis < 2 && pads[i] != 0))
        return FALSE;
      if (axis >= 2)
        sum[k] = pads[i] + (own != NULL && g_str_equal (rule, "NOTSET") ? own[k] : 0);
    }
  return TRUE;
}

/* A pool must count the zeros, which it does not with its own unless told to. */
static gboolean
pads_may_take_pads (const VnNode *node)
{
  gsize n;
  const gint64 *own = vn_node_get_ints (node, "pads", &n);

  if (vn_node_is (node, "Conv"))
    return vn_node_get_attr (node, "kernel_shape") != NULL || vn_rewrite_get_shape (vn_node_get_input (node, 1)) != NULL;
  if (!vn_node_is (node, "AveragePool") || vn_node_get_int (node, "ceil_mode", 0) != 0 ||
      vn_model_get_opset (node->graph->model, "") < 7)
    return FALSE;
  for (gsize i = 0; own != NULL && i < n; i++)
    if (own[i] != 0 && vn_node_get_int (node, "count_include_pad", 0) == 0)
      return FALSE;
  return TRUE;
}

/* Runtimes refuse a pool that would see nothing but pads. */
static gboolean
pads_is_below_kernel (const VnNode *node,
                      const gint64 *pads,
                      gsize         n)
{
  gsize n_kernel;
  const gint64 *kernel = vn_node_get_ints (node, "kernel_shape", &n_kernel);

  for (gsize i = 0; i < n; i++)
    if (kernel == NULL || 2 * n_kernel != n || pads[i] >= kernel[i % n_kernel])
      return FALSE;
  return TRUE;
}

static void
pads_take_pads (VnPassContext *ctx,
                GHashTable    *returned,
                VnNode        *node)
{
  VnNode *pad = vn_rewrite_producer_of_only (returned, node, 0, "Pad");
  g_autofree char *label = NULL;
  g_autofree char *target = NULL;
  gint64 sum[MAX_INTS];
  gsize n;

  if (pad == NULL || !pads_may_take_pads (node) || !pads_zeros (pad) || !pads_add_up (pad, node, sum, &n) ||
      (vn_node_is (node, "AveragePool") && !pads_is_below_kernel (node, sum, n)))
    return;
  label = vn_node_dup_label (pad);
  target = vn_node_dup_label (node);
  vn_edit_log_add (ctx->log, "fold", label, target, _("Pad into %s"), target);
  vn_edit_log_note_same (ctx->log, vn_node_get_input (node, 0)->name, vn_node_get_input (pad, 0)->name);
  vn_node_remove_attr (node, "auto_pad");
  vn_node_set_ints (node, "pads", sum, n);
  if (vn_node_is (node, "AveragePool"))
    vn_node_set_int (node, "count_include_pad", 1);
  vn_node_set_input (node, 0, vn_node_get_input (pad, 0));
  vn_rewrite_remove_unused (returned, pad);
}

static gboolean
pads_graph (VnPassContext  *ctx,
            VnGraph        *graph,
            GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);

  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    {
      VnNode *node = vn_graph_get_node (graph, i);

      pads_take_pads (ctx, returned, node);
      i = vn_node_get_index (node);
    }
  return TRUE;
}

static gboolean
pads_run (VnPassContext  *ctx,
          GError        **error)
{
  return vn_rewrite_each_graph (ctx, pads_graph, error);
}

const VnPass vn_pass_pads = {
  .id = "pads",
  .title = N_("Pad into Conv"),
  .summary = N_("Folds zero padding of a preceding Pad into Conv and AveragePool."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = TRUE,
  .repeats = TRUE,
  .run = pads_run,
};
