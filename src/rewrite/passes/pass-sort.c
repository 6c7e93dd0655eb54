/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pass that sorts nodes so that each follows what it reads. */
#include "vn-rewrite-private.h"

static gboolean
sort_graph (VnPassContext  *ctx,
            VnGraph        *graph,
            GError        **error)
{
  g_autoptr(GPtrArray) order = vn_graph_sort (graph, error);
  guint n = 0;

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    n += ((const VnNode *) g_ptr_array_index (order, i))->index != i;
  if (n == 0)
    return TRUE;
  vn_graph_reorder (graph, order);
  vn_edit_log_add (ctx->log, "set", *graph->name != '\0' ? graph->name : "graph", NULL,
                   ngettext ("%u node moved after the nodes it depends on",
                             "%u nodes moved after the nodes they depend on", n), n);
  return TRUE;
}

static gboolean
sort_run (VnPassContext  *ctx,
          GError        **error)
{
  return vn_rewrite_each_graph (ctx, sort_graph, error);
}

const VnPass vn_pass_sort = {
  .id = "sort",
  .title = N_("Sort nodes"),
  .summary = N_("Sorts the nodes topologically."),
  .exact = TRUE,
  .run = sort_run,
};
