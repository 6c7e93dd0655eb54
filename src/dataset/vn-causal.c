/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the tokens of a text see only those before them, as in decoders, or all, as in encoders. Exports hide what is behind a
 * token by a triangle that Trilu cuts, by comparing positions that come from Range, by a constant triangle, or leave it to an
 * operator that is told so. Attention without any of these sees both ways. */
#include "vn-causal.h"

#include <string.h>

#define MAX_DEPTH 8       /* operators between what is looked for and where it is used */

/* Operators that are attention as a whole. @causal: the attribute that hides what is behind; NULL: always so */
static const struct
{
  const char *op_type, *causal;
} attentions[] = {
  { "Attention",            "unidirectional" },
  { "Attention",            "is_causal" },
  { "DecoderMaskedMultiHeadAttention", NULL },
  { "DecoderMaskedSelfAttention", NULL },
  { "GroupQueryAttention",  NULL },
  { "MultiHeadAttention",   "unidirectional" },
  { "PackedAttention",      "" },
  { "PackedMultiHeadAttention", "" },
  { "PagedAttention",       NULL },
  { "QAttention",           "unidirectional" },
  { "SparseAttention",      NULL },
};

/* Operators that hand on what they read first, or weight it. */
static const char * const passing[] = { "Cast", "Div", "Dropout", "Identity", "Mul", "Where", NULL };

/* Operators that leave positions positions. */
static const char * const moving[] = {
  "Add", "Cast", "Expand", "Gather", "Identity", "Mul", "Reshape", "Slice", "Squeeze", "Sub", "Tile", "Transpose", "Unsqueeze",
  NULL
};

static const char * const comparing[] = { "Greater", "GreaterOrEqual", "Less", "LessOrEqual", NULL };

typedef struct
{
  gboolean attends, is_causal;
} Signs;

/* ---- attention ---- */

static void
causal_look_at_operator (const VnNode *node,
                         Signs        *signs)
{
  for (guint i = 0; i < G_N_ELEMENTS (attentions); i++)
    if (g_str_equal (attentions[i].op_type, node->op_type))
      {
        signs->attends = TRUE;
        signs->is_causal |= attentions[i].causal == NULL ||
                            (*attentions[i].causal != '\0' && vn_node_get_int (node, attentions[i].causal, 0) != 0);
      }
}

/* Whether @node weights values by what Softmax gives. */
static gboolean
causal_is_weighted_sum (const VnNode *node)
{
  const VnValue *value = vn_node_get_input (node, 0), *by = vn_node_get_input (node, 1);

  if (!vn_node_is (node, "MatMul") || by == NULL || by->initializer != NULL)
    return FALSE;
  for (guint depth = 0; value != NULL && value->producer != NULL && depth < MAX_DEPTH; depth++)
    {
      if (vn_node_is (value->producer, "Softmax"))
        return TRUE;
      if (!g_strv_contains (passing, value->producer->op_type))
        return FALSE;
      value = vn_node_get_input (value->producer, vn_node_is (value->producer, "Where") ? 2 : 0);
    }
  return FALSE;
}

/* ---- what hides the tokens behind ---- */

static gboolean
causal_counts_positions (const VnValue *value,
                         guint          depth)
{
  const VnNode *node = value != NULL ? value->producer : NULL;

  if (node == NULL || depth == MAX_DEPTH)
    return FALSE;
  if (vn_node_is (node, "Range"))
    return TRUE;
  if (!g_strv_contains (moving, node->op_type))
    return FALSE;
  return causal_counts_positions (vn_node_get_input (node, 0), depth + 1) ||
         ((vn_node_is (node, "Add") || vn_node_is (node, "Sub")) &&
          causal_counts_positions (vn_node_get_input (node, 1), depth + 1));
}

static gboolean
causal_compares_positions (const VnNode *node)
{
  return *node->domain == '\0' && g_strv_contains (comparing, node->op_type) &&
         causal_counts_positions (vn_node_get_input (node, 0), 0) && causal_counts_positions (vn_node_get_input (node, 1), 0);
}

/* One number on and below the diagonal, others above: the first and the last row tell it. */
static gboolean
causal_is_triangle (const VnTensor *tensor)
{
  const int rank = tensor->shape.rank;
  const gint64 n = rank >= 2 ? tensor->shape.dims[rank - 1] : 0;
  double shown;

  if (n < 2 || tensor->shape.dims[rank - 2] != n || tensor->n_elements != (gsize) n * (gsize) n)
    return FALSE;
  shown = vn_tensor_get_double (tensor, 0);
  for (gint64 i = 1; i < n; i++)
    if (vn_tensor_get_double (tensor, (gsize) i) == shown ||
        vn_tensor_get_double (tensor, (gsize) (n - 1) * (gsize) n + (gsize) i) != shown)
      return FALSE;
  return TRUE;
}

static gboolean
causal_has_triangle (const VnGraph *graph)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->values, i);
      const VnTensor *tensor = vn_value_get_constant (value);

      if (tensor != NULL && tensor->dtype != VN_DTYPE_STRING && causal_is_triangle (tensor))
        return TRUE;
    }
  return FALSE;
}

/* ---- all ---- */

static void
causal_look_at_graph (const VnGraph *graph,
                      Signs         *signs)
{
  for (guint i = 0; i < graph->nodes->len && !signs->is_causal; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      causal_look_at_operator (node, signs);
      signs->attends |= causal_is_weighted_sum (node);
      signs->is_causal |= vn_node_is (node, "Trilu") || causal_compares_positions (node);
      for (guint k = 0; k < node->attrs->len; k++)
        if (((const VnAttr *) g_ptr_array_index (node->attrs, k))->graph != NULL)
          causal_look_at_graph (((const VnAttr *) g_ptr_array_index (node->attrs, k))->graph, signs);
    }
  signs->is_causal = signs->is_causal || causal_has_triangle (graph);
}

/**
 * vn_graph_attends_both_ways:
 *
 * Returns: whether there is attention, and nothing hides the tokens behind a token from it: an encoder
 */
gboolean
vn_graph_attends_both_ways (const VnGraph *graph)
{
  Signs signs = { FALSE, FALSE };

  g_return_val_if_fail (graph != NULL, FALSE);

  causal_look_at_graph (graph, &signs);
  return signs.attends && !signs.is_causal;
}
