/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transposes that follow each other become one, also through nodes that work on each element alone; and where all
 * operands of such a node are transposed alike, its result is transposed instead. */
#include "vn-rewrite-private.h"

/* Nodes of a chain that are looked through for another Transpose. */
#define MAX_CHAIN 16

typedef struct
{
  gsize  n;
  gint64 axes[VN_MAX_RANK];
} Perm;

static gboolean
transposes_get_perm (const VnNode *node,
                     Perm         *perm)
{
  const VnShape *shape = vn_rewrite_get_shape (vn_node_get_input (node, 0));
  const gint64 *axes = vn_node_get_ints (node, "perm", &perm->n);
  guint seen = 0;

  if (!vn_node_is (node, "Transpose") || vn_node_get_output (node, 0) == NULL || shape == NULL || shape->rank < 1)
    return FALSE;
  if (axes != NULL && perm->n != (gsize) shape->rank)
    return FALSE;
  perm->n = (gsize) shape->rank;
  for (gsize i = 0; i < perm->n; i++)
    {
      perm->axes[i] = axes != NULL ? axes[i] : (gint64) (perm->n - 1 - i);
      if (perm->axes[i] < 0 || perm->axes[i] >= (gint64) perm->n || (seen & 1u << perm->axes[i]) != 0)
        return FALSE;
      seen |= 1u << perm->axes[i];
    }
  return TRUE;
}

static gboolean
transposes_same_perm (const Perm *a,
                      const Perm *b)
{
  for (gsize i = 0; i < a->n && a->n == b->n; i++)
    if (a->axes[i] != b->axes[i])
      return FALSE;
  return a->n == b->n;
}

static gboolean
transposes_is_unary (const VnNode *node)
{
  static const char * const types[] = { "Abs", "Cast", "Ceil", "Clip", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid",
                                        "HardSwish", "Identity", "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal",
                                        "Relu", "Round", "Selu", "Sigmoid", "Sign", "Softplus", "Softsign", "Sqrt",
                                        "Tanh", "ThresholdedRelu", NULL };

  return *node->domain == '\0' && g_strv_contains (types, node->op_type) && node->outputs->len == 1;
}

static gboolean
transposes_is_binary (const VnNode *node)
{
  static const char * const types[] = { "Add", "Div", "Max", "Min", "Mul", "Pow", "Sub", "Sum", NULL };

  return *node->domain == '\0' && g_strv_contains (types, node->op_type) && node->inputs->len == 2 &&
         vn_model_get_opset (node->graph->model, "") >= 7;
}

/* ---- one after the other ---- */

static gboolean
transposes_merge (VnPassContext *ctx,
                  GHashTable    *returned,
                  VnNode        *second)
{
  VnNode *first = vn_rewrite_producer (second, 0, "Transpose");
  g_autofree char *label = NULL;
  g_autofree char *target = NULL;
  Perm a, b, both;

  if (first == NULL || !transposes_get_perm (first, &a) || !transposes_get_perm (second, &b) || a.n != b.n)
    return FALSE;
  both.n = a.n;
  for (gsize i = 0; i < a.n; i++)
    both.axes[i] = a.axes[b.axes[i]];
  label = vn_node_dup_label (first);
  target = vn_node_dup_label (second);
  vn_edit_log_add (ctx->log, "fold", label, target, _("Transpose into %s"), target);
  vn_edit_log_note_same (ctx->log, vn_node_get_input (second, 0)->name, vn_node_get_input (first, 0)->name);
  vn_node_set_ints (second, "perm", both.axes, both.n);
  vn_node_set_input (second, 0, vn_node_get_input (first, 0));
  vn_rewrite_remove_unused (returned, first);
  return TRUE;
}

/* ---- through what works on each element ---- */

/* Where the other operand is transposed alike, too, one of two Transposes goes. */
static gboolean
transposes_other_is_transposed (GHashTable   *returned,
                                const VnNode *node,
                                guint         index,
                                const Perm   *perm)
{
  VnNode *other = transposes_is_binary (node) ? vn_rewrite_producer_of_only (returned, node, 1 - index, "Transpose") : NULL;
  Perm its;

  return other != NULL && transposes_get_perm (other, &its) && transposes_same_perm (perm, &its);
}

static gboolean
transposes_leads_to_transpose (GHashTable    *returned,
                               const VnValue *value,
                               const Perm    *perm)
{
  for (guint i = 0; i < MAX_CHAIN; i++)
    {
      guint index;
      const VnNode *user = vn_rewrite_only_user (returned, value, &index);

      if (user == NULL)
        return FALSE;
      if (vn_node_is (user, "Transpose") || transposes_other_is_transposed (returned, user, index, perm))
        return TRUE;
      if (!(transposes_is_unary (user) && index == 0) &&
          !(transposes_is_binary (user) && vn_node_get_input (user, 1 - index) != NULL &&
            vn_node_get_input (user, 1 - index)->initializer != NULL))
        return FALSE;
      value = vn_node_get_output (user, 0);
    }
  return FALSE;
}

/* A constant operand: one number, or all along one axis. @axis: (out): counted from the last; -1: none */
static gboolean
transposes_get_line (const VnValue *value,
                     gsize          rank,
                     int           *axis)
{
  const VnShape *shape = vn_rewrite_get_shape (value);

  *axis = -1;
  if (value->initializer == NULL || shape->rank > (int) rank)
    return FALSE;
  for (int i = 0; i < shape->rank; i++)
    if (shape->dims[i] != 1)
      {
        if (*axis >= 0 || shape->dims[i] == 0)
          return FALSE;
        *axis = shape->rank - 1 - i;
      }
  return TRUE;
}

/* All operands transposed by the same, or constants that can be. */
static gboolean
transposes_find_operands (GHashTable   *returned,
                          const VnNode *node,
                          Perm         *perm,
                          guint        *n_transposed)
{
  guint n = transposes_is_unary (node) ? 1 : 2;

  *n_transposed = 0;
  for (guint i = 0; i < n; i++)
    {
      VnNode *transpose = vn_rewrite_producer_of_only (returned, node, i, "Transpose");
      Perm other;

      if (transpose == NULL)
        continue;
      if (!transposes_get_perm (transpose, &other) || (*n_transposed > 0 && !transposes_same_perm (perm, &other)))
        return FALSE;
      *perm = other;
      *n_transposed += 1;
    }
  for (guint i = 0; i < n && *n_transposed > 0; i++)
    {
      int axis;

      if (vn_rewrite_producer_of_only (returned, node, i, "Transpose") == NULL &&
          (vn_node_get_input (node, i) == NULL || !transposes_get_line (vn_node_get_input (node, i), perm->n, &axis)))
        return FALSE;
    }
  return *n_transposed > 0;
}

/* The constant as it must lie before the transposition. */
static VnValue *
transposes_move_line (VnNode     *node,
                      VnValue    *value,
                      const Perm *perm)
{
  VnShape shape = { (int) perm->n };
  g_autoptr(VnTensor) moved = NULL;
  int axis;

  if (!transposes_get_line (value, perm->n, &axis) || axis < 0)
    return value;
  for (gsize i = 0; i < perm->n; i++)
    shape.dims[i] = 1;
  shape.dims[perm->axes[(int) perm->n - 1 - axis]] = (gint64) value->initializer->n_elements;
  moved = vn_tensor_new_reshaped (value->initializer, &shape, NULL);
  return moved != NULL ? vn_rewrite_add_constant (node, "operand", moved) : NULL;
}

static void
transposes_type_moved (VnValue    *moved,
                       VnValue    *result,
                       const Perm *perm)
{
  const VnShape *shape = vn_rewrite_get_shape (result);
  VnShape before = { (int) perm->n };

  if (shape == NULL || shape->rank != (int) perm->n)
    return;
  for (gsize i = 0; i < perm->n; i++)
    before.dims[perm->axes[i]] = shape->dims[i];
  vn_value_set_type (moved, result->type.dtype, &before);
}

static gboolean
transposes_sink (VnPassContext *ctx,
                 GHashTable    *returned,
                 VnNode        *node)
{
  g_autofree char *label = vn_node_dup_label (node);
  VnValue *result = vn_node_get_output (node, 0), *moved;
  guint n_transposed, n = transposes_is_unary (node) ? 1 : 2;
  VnNode *transpose;
  Perm perm;

  if (result == NULL || !(transposes_is_unary (node) || transposes_is_binary (node)) ||
      !transposes_find_operands (returned, node, &perm, &n_transposed) ||
      (n_transposed < 2 && !transposes_leads_to_transpose (returned, result, &perm)))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      VnNode *before = vn_rewrite_producer_of_only (returned, node, i, "Transpose");
      VnValue *old = vn_node_get_input (node, i);
      VnValue *operand = before != NULL ? vn_node_get_input (before, 0) : transposes_move_line (node, old, &perm);

      if (operand == NULL)
        return FALSE;
      vn_edit_log_note_same (ctx->log, old->name, operand->name);
      vn_node_set_input (node, i, operand);
      if (before != NULL)
        vn_rewrite_remove_unused (returned, before);
      else
        vn_rewrite_drop_unused (returned, old);
    }
  vn_edit_log_add (ctx->log, "replace", label, NULL, _("its output is transposed instead of its inputs"));
  moved = vn_rewrite_add_result (node, "before_transpose");
  vn_edit_log_note_same (ctx->log, result->name, moved->name);
  transposes_type_moved (moved, result, &perm);
  vn_node_set_output (node, 0, moved);
  transpose = vn_graph_insert_node (node->graph, vn_node_get_next (node), NULL, "", "Transpose", &moved, 1, &result, 1);
  vn_node_set_ints (transpose, "perm", perm.axes, perm.n);
  return TRUE;
}

static gboolean
transposes_graph (VnPassContext  *ctx,
                  VnGraph        *graph,
                  GError        **error)
{
  g_autoptr(GHashTable) returned = vn_rewrite_returned (ctx->model);

  for (guint i = 0; i < vn_graph_get_n_nodes (graph); i++)
    {
      VnNode *node = vn_graph_get_node (graph, i);

      if (transposes_merge (ctx, returned, node) || transposes_sink (ctx, returned, node))
        i = vn_node_get_index (node);
    }
  return TRUE;
}

static gboolean
transposes_run (VnPassContext  *ctx,
                GError        **error)
{
  return vn_rewrite_infer (ctx, "transposes", error) &&
         vn_rewrite_each_graph (ctx, transposes_graph, error);
}

const VnPass vn_pass_transposes = {
  .id = "transposes",
  .title = N_("Merge transposes"),
  .summary = N_("Merges consecutive Transpose nodes, also across element-wise nodes."),
  .stage = VN_PASS_OPTIMIZE,
  .exact = TRUE,
  .repeats = TRUE,
  .run = transposes_run,
};
