/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A quantized network as the float network it was made from, but for what its weights lost: weights are dequantized once,
 * and pairs of quantizing and dequantizing nodes go. Where a pair cuts off what is negative, a Clip stays. */
#include "vn-rewrite-private.h"

/* Quantizing and dequantizing in one node: FixNeuron and blocks that share exponents. */
static gboolean
remove_qdq_rounds (const VnNode *node)
{
  return *node->domain != '\0' &&
         (g_str_has_suffix (node->op_type, "FixNeuron") || g_str_has_suffix (node->op_type, "QuantizeDequantize"));
}

static gboolean
remove_qdq_is_float (const VnValue *value)
{
  VnDType dtype = value != NULL ? vn_rewrite_get_dtype (value) : VN_DTYPE_UNDEFINED;

  return dtype == VN_DTYPE_F32 || dtype == VN_DTYPE_UNDEFINED;
}

/* Its result is its first input; where both names must stay, an Identity does. */
static void
remove_qdq_become_identity (VnPassContext *ctx,
                            GHashTable    *returned,
                            VnNode        *node)
{
  if (vn_rewrite_remove_identity (ctx, returned, node, 0))
    return;
  for (guint i = node->inputs->len; i-- > 1;)
    {
      vn_node_set_input (node, i, NULL);
      g_ptr_array_set_size (node->inputs, (int) i);
    }
  g_ptr_array_set_size (node->attrs, 0);
  g_free (node->domain);
  node->domain = g_strdup ("");
  vn_rewrite_set_op_type (node, "Identity");
}

/* A range that begins at 0 behind an operator that makes negative numbers, too: it does the work of a Relu or Clip, which
 * went when the network was quantized. @high: where the range ends */
static gboolean
remove_qdq_clamps (const VnNode *node,
                   const VnNode *first,
                   double       *high)
{
  static const char * const signed_ops[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "Sub", "Mul", NULL };
  const VnValue *x = vn_node_get_input (first, 0), *zero = vn_node_get_input (node, 2);
  VnTensor *zero_point = zero != NULL ? vn_value_get_constant (zero) : NULL;
  double scale;
  gint64 min, max;

  if (x->producer == NULL || *x->producer->domain != '\0' || !g_strv_contains (signed_ops, x->producer->op_type) ||
      zero_point == NULL || zero_point->n_elements != 1 || !vn_dtype_is_integer (zero_point->dtype) ||
      !vn_rewrite_get_number (vn_node_get_input (node, 1), &scale))
    return FALSE;
  vn_dtype_integer_range (zero_point->dtype, &min, &max);
  *high = scale * (double) (max - min);
  return vn_tensor_get_s64 (zero_point, 0) == min;
}

static void
remove_qdq_become_clamp (VnPassContext *ctx,
                         VnNode        *node,
                         double         high)
{
  const float bounds[2] = { 0, (float) high };
  g_autofree char *label = vn_node_dup_label (node);

  vn_edit_log_add (ctx->log, "replace", label, NULL, _("a Clip from 0 to %g, which the Q/DQ pair also performed"), high);
  for (guint i = node->inputs->len; i-- > 1;)
    vn_node_set_input (node, i, NULL);
  g_ptr_array_set_size (node->inputs, 1);
  g_ptr_array_set_size (node->attrs, 0);
  g_free (node->domain);
  node->domain = g_strdup ("");
  vn_rewrite_set_op_type (node, vn_model_get_opset (ctx->model, "") < 11 ? "Relu" : "Clip");
  for (guint i = 0; i < 2 && vn_node_is (node, "Clip"); i++)
    {
      g_autoptr(VnTensor) bound = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &bounds[i]);

      vn_node_set_input (node, i + 1, vn_rewrite_add_constant (node, i == 0 ? "min" : "max", bound));
    }
}

/* What goes into the pair comes out of it. */
static gboolean
remove_pair (VnPassContext *ctx,
             GHashTable    *returned,
             VnNode        *node)
{
  VnValue *middle = vn_node_get_input (node, 0);
  VnNode *first = middle != NULL && middle->graph == node->graph ? middle->producer : NULL;
  gboolean clamp;
  double high;

  if (first == NULL || !vn_node_quantizes (first) || vn_node_get_input (first, 0) == NULL ||
      vn_node_get_output (node, 0) == NULL ||
      !remove_qdq_is_float (vn_node_get_input (first, 0)))
    return FALSE;
  clamp = remove_qdq_clamps (node, first, &high);
  vn_node_set_input (node, 0, vn_node_get_input (first, 0));
  vn_rewrite_remove_unused (returned, first);
  if (clamp)
    remove_qdq_become_clamp (ctx, node, high);
  else
    remove_qdq_become_identity (ctx, returned, node);
  return TRUE;
}

static gboolean
remove_qdq_visit (VnPassContext  *ctx,
                  GHashTable     *returned,
                  VnNode         *node,
                  GError        **error)
{
  if (remove_qdq_rounds (node) && remove_qdq_is_float (vn_node_get_input (node, 0)) && vn_node_get_output (node, 0) != NULL &&
      vn_node_get_input (node, 0) != NULL)
    remove_qdq_become_identity (ctx, returned, node);
  else if (vn_node_dequantizes (node) && !remove_pair (ctx, returned, node))
    return vn_rewrite_fold_node (ctx, returned, node, error);
  return TRUE;
}

static gboolean
remove_qdq_graph (VnPassContext  *ctx,
                  VnGraph        *graph,
                  GError        **error)
{
  return vn_rewrite_each_sorted (ctx, graph, FALSE, remove_qdq_visit, error);
}

static gboolean
remove_qdq_run (VnPassContext  *ctx,
                GError        **error)
{
  return vn_rewrite_infer (ctx, "remove-qdq", error) &&
         vn_rewrite_each_graph (ctx, remove_qdq_graph, error) &&
         vn_pass_apply (&vn_pass_dead, ctx, error);
}

const VnPass vn_pass_remove_qdq = {
  .id = "remove-qdq",
  .title = N_("Back to float"),
  .summary = N_("Removes Q/DQ pairs, FixNeuron and similar operators, and dequantizes weights."),
  .stage = VN_PASS_REQUEST,
  .alters = TRUE,
  .run = remove_qdq_run,
};
