/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of two nodes in a row that only give a tensor another shape, the first is not needed: Reshape, Flatten, Squeeze,
 * Unsqueeze. The second becomes a Reshape unless it is one. */
#include "vn-rewrite-private.h"

static gboolean
reshapes_is_shape_only (const VnNode *node)
{
  static const char * const types[] = { "Reshape", "Flatten", "Squeeze", "Unsqueeze", NULL };

  return node != NULL && *node->domain == '\0' && g_strv_contains (types, node->op_type);
}

/* A target that says nothing about what came in but its number of elements. */
static gboolean
reshapes_is_free_target (const gint64 *target,
                         gsize         n,
                         gboolean      zero_is_size)
{
  for (gsize i = 0; i < n; i++)
    if (target[i] == 0 && !zero_is_size)
      return FALSE;
  return TRUE;
}

/* The shape @node gives, with at most one -1. */
static gboolean
reshapes_find_target (const VnNode *node,
                      gint64       *target,
                      gsize        *n)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_output (node, 0));
  guint n_open = 0;

  if (vn_node_is (node, "Reshape") &&
      vn_rewrite_get_ints (node, NULL, 1, target, VN_MAX_RANK, n) && vn_node_get_input (node, 1) != NULL &&
      reshapes_is_free_target (target, *n, vn_node_get_int (node, "allowzero", 0) != 0))
    return TRUE;
  if (shape == NULL)
    return FALSE;
  *n = (gsize) shape->rank;
  for (gsize i = 0; i < *n; i++)
    {
      if (shape->dims[i] == 0)
        return FALSE;
      target[i] = shape->dims[i] < 0 ? -1 : shape->dims[i];
      n_open += target[i] < 0;
    }
  return n_open <= 1;
}

/* Unsqueeze undoes Squeeze, and the other way round, whatever the sizes. */
static gboolean
reshapes_undoes (const VnNode *first,
                 const VnNode *second)
{
  gint64 a[VN_MAX_RANK], b[VN_MAX_RANK];
  gsize n, m;

  if (!((vn_node_is (first, "Squeeze") && vn_node_is (second, "Unsqueeze")) ||
        (vn_node_is (first, "Unsqueeze") && vn_node_is (second, "Squeeze"))) ||
      !vn_rewrite_get_ints (first, "axes", 1, a, VN_MAX_RANK, &n) || n == 0 ||
      !vn_rewrite_get_ints (second, "axes", 1, b, VN_MAX_RANK, &m) || n != m)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (a[i] != b[i])
      return FALSE;
  return TRUE;
}

static gboolean
reshapes_has_target (const VnNode *node,
                     const gint64 *target,
                     gsize         n)
{
  gint64 old[VN_MAX_RANK];
  gsize n_old;

  if (!vn_node_is (node, "Reshape") || !vn_rewrite_get_ints (node, NULL, 1, old, VN_MAX_RANK, &n_old) || n_old != n)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (old[i] != target[i])
      return FALSE;
  return TRUE;
}

static void
reshapes_become_reshape (VnPassContext *ctx,
                         GHashTable    *returned,
                         VnNode        *node,
                         const gint64  *target,
                         gsize          n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE ((gint64) n), target);
  VnValue *old = vn_node_get_input (node, 1);

  vn_rewrite_need_ir (ctx, 4);
  vn_node_remove_attr (node, "axis");
  vn_node_remove_attr (node, "axes");
  vn_node_remove_attr (node, "allowzero");
  vn_rewrite_set_op_type (node, "Reshape");
  vn_node_set_input (node, 1, vn_rewrite_add_constant (node, "shape", tensor));
  if (old != NULL)
    vn_rewrite_drop_unused (returned, old);
}

static gboolean
reshapes_cancel (VnPassContext *ctx,
                 GHashTable    *returned,
                 VnNode        *first,
                 VnNode        *second)
{
  VnValue *from = vn_node_get_input (first, 0), *to = vn_node_get_output (second, 0);
  g_autofree char *label = vn_node_dup_label (first);
  g_autofree char *other = vn_node_dup_label (second);

  if (vn_rewrite_is_kept (returned, to) || to->uses->len == 0 || !vn_rewrite_can_rename (to, from))
    return FALSE;
  vn_edit_log_add (ctx->log, "remove", other, label, _("it reverses %s"), label);
  vn_edit_log_note_same (ctx->log, to->name, from->name);
  vn_edit_log_note_same (ctx->log, vn_node_get_output (first, 0)->name, from->name);
  vn_value_replace_uses (to, from, NULL);
  vn_rewrite_remove_unused (returned, second);
  vn_rewrite_remove_unused (returned, first);
  return TRUE;
}

static gboolean
reshapes_merge (VnPassContext *ctx,
                GHashTable    *returned,
                VnNode        *node)
{
  VnValue *between = vn_node_get_input (node, 0), *from;
  VnNode *first = between != NULL && between->graph == node->graph ? between->producer : NULL;
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *other = NULL;
  gint64 target[VN_MAX_RANK];
  gsize n;

  if (!reshapes_is_shape_only (node) || !reshapes_is_shape_only (first) || vn_node_get_output (node, 0) == NULL ||
      (from = vn_node_get_input (first, 0)) == NULL || vn_rewrite_get_dtype (from) == VN_DTYPE_UNDEFINED)
    return FALSE;
  if (reshapes_undoes (first, node))
    return reshapes_cancel (ctx, returned, first, node);
  if (!reshapes_find_target (node, target, &n) || vn_model_get_opset (ctx->model, "") < 5)
    return FALSE;
  other = vn_node_dup_label (first);
  vn_edit_log_add (ctx->log, "fold", other, label, _("%s into %s: only the last shape matters"), first->op_type, label);
  vn_edit_log_note_same (ctx->log, between->name, from->name);
  vn_node_set_input (node, 0, from);
  if (!reshapes_has_target (node, target, n))
    reshapes_become_reshape (ctx, returned, node, target, n);
  vn_rewrite_remove_unused (returned, first);
  return TRUE;
}

static gboolean
reshapes_graph (VnPassContext  *ctx,
                VnGraph        *graph,
                GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);

  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    {
      VnNode *node = vn_graph_get_node (graph, i);
      guint before = vn_graph_get_n_nodes (graph);

      /* Nodes before this one may be gone, or this one. */
      if (reshapes_merge (ctx, returned, node))
        i -= MIN (i + 1, before - vn_graph_get_n_nodes (graph) + 1);
    }
  return TRUE;
}

static gboolean
reshapes_run (VnPassContext  *ctx,
              GError        **error)
{
  return vn_rewrite_infer (ctx, "reshapes", error) &&
         vn_rewrite_each_graph (ctx, reshapes_graph, error);
}

const VnPass vn_pass_reshapes = {
  .id = "reshapes",
  .title = N_("Merge reshapes"),
  .summary = N_("Merges consecutive Reshape, Flatten, Squeeze and Unsqueeze nodes."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = TRUE,
  .repeats = TRUE,
  .run = reshapes_run,
};
