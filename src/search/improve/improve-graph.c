/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What steps of “--auto” look for in a network: where it ends, activation functions behind convolutions, and whether it can be
 * simpler. */
#include "improve-steps.h"

#include "vn-graph-edit.h"
#include "vn-op.h"
#include "vn-pass.h"

/* ---- the tail ---- */

static gboolean
improve_graph_is_product (const VnNode *node)
{
  const VnOp *op = node != NULL ? vn_op_lookup_node (node, NULL) : NULL;

  return op != NULL && (op->quant.role == VN_QUANT_COMPUTE || op->quant.role == VN_QUANT_MATMUL);
}

/* A product takes a clamp behind it in: both are one kernel. */
static gboolean
improve_graph_is_layer (const VnNode *node)
{
  const VnOp *op = vn_op_lookup_node (node, NULL);
  const VnValue *from = vn_node_get_input (node, 0);

  return improve_graph_is_product (node) ||
         (op != NULL && op->quant.role == VN_QUANT_CLAMP && from != NULL && improve_graph_is_product (from->producer));
}

static gboolean
improve_graph_leads_on (const VnGraph *graph,
                        const VnNode  *node,
                        GHashTable    *layers)
{
  for (guint o = 0; o < node->outputs->len; o++)
    {
      const VnValue *value = vn_node_get_output (node, o);

      for (guint u = 0; value != NULL && u < value->uses->len; u++)
        {
          const VnNode *user = g_array_index (value->uses, VnUse, u).node;

          if (user->graph != graph || g_hash_table_contains (layers, user))
            return TRUE;
        }
    }
  return FALSE;
}

/*< private >
 * vn_improve_list_tail:
 *
 * Returns: (transfer full) (nullable) (element-type utf8): names of the tensors of floats behind the last products, which no
 *   product comes from, with a %NULL behind them; %NULL: there are none, or nothing but such tensors
 */
GPtrArray *
vn_improve_list_tail (const VnGraph *graph)
{
  g_autoptr(GPtrArray) nodes = NULL, names = NULL;
  g_autoptr(GHashTable) layers = NULL;   /* and what leads to one */

  g_return_val_if_fail (graph != NULL, NULL);

  nodes = vn_graph_sort ((VnGraph *) graph, NULL);
  names = g_ptr_array_new_with_free_func (g_free);
  layers = g_hash_table_new (NULL, NULL);
  for (guint i = nodes != NULL ? nodes->len : 0; i-- > 0; )
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnOp *op = vn_op_lookup_node (node, NULL);

      if (improve_graph_is_layer (node) || improve_graph_leads_on (graph, node, layers))
        g_hash_table_add (layers, node);
      else if (op != NULL && op->quant.role != VN_QUANT_OPAQUE)
        for (guint o = 0; o < node->outputs->len; o++)
          if (vn_node_get_output (node, o) != NULL && vn_node_get_output (node, o)->type.dtype == VN_DTYPE_F32)
            g_ptr_array_add (names, g_strdup (vn_node_get_output (node, o)->name));
    }
  if (names->len == 0 || g_hash_table_size (layers) == 0)
    return NULL;
  g_ptr_array_add (names, NULL);
  return g_steal_pointer (&names);
}

/* ---- activation functions ---- */

/*< private >
 * vn_improve_list_fusable:
 *
 * Returns: (transfer full) (element-type utf8): for the setting “fuse”: convolutions that nothing but one activation function
 *   reads, each pair of types once. Clamps are taken in anyway
 */
GPtrArray *
vn_improve_list_fusable (const VnGraph *graph)
{
  static const char * const activations[] = { "PRelu", "LeakyRelu", "HardSwish", "HardSigmoid", "Sigmoid", "Tanh", "Elu", "Selu",
                                              "Celu", "Gelu", "Mish", "Softplus", NULL };
  GPtrArray *pairs = g_ptr_array_new_with_free_func (g_free);

  g_return_val_if_fail (graph != NULL, pairs);

  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);
      const VnValue *from = vn_node_get_input (node, 0);
      g_autofree char *pair = NULL;

      if (!g_strv_contains (activations, node->op_type) || from == NULL || from->producer == NULL || from->uses->len != 1 ||
          from->is_output ||
          !(vn_node_is (from->producer, "Conv") || vn_node_is (from->producer, "ConvTranspose")))
        continue;
      pair = g_strconcat (from->producer->op_type, "+", node->op_type, NULL);
      if (!g_ptr_array_find_with_equal_func (pairs, pair, g_str_equal, NULL))
        g_ptr_array_add (pairs, g_steal_pointer (&pair));
    }
  return pairs;
}

/* ---- simplifying ---- */

/*< private >
 * vn_improve_can_optimize:
 *
 * Returns: whether passes that optimize find anything to do in a network that is prepared without them
 */
gboolean
vn_improve_can_optimize (const VnGraph *graph)
{
  const VnPrepareOptions options = { .optimize = TRUE };
  g_autoptr(VnModel) copy = NULL;
  g_autoptr(VnEditLog) log = NULL;
  g_autoptr(VnNotes) notes = NULL;
  VnPassContext ctx;
  guint n;
  const VnPass * const *passes;

  g_return_val_if_fail (graph != NULL && graph->model != NULL, FALSE);

  copy = vn_model_copy (graph->model);
  log = vn_edit_log_new ();
  notes = vn_notes_new ();
  ctx = (VnPassContext) { .model = copy, .log = log, .notes = notes, .options = &options };
  passes = vn_pass_list (&n);
  for (guint i = 0; i < n && vn_edit_log_get_n (log) == 0; i++)
    if (passes[i]->stage == VN_PASS_OPTIMIZE && !vn_pass_run (passes[i]->id, &ctx, NULL))
      return FALSE;
  return vn_edit_log_get_n (log) > 0;
}
