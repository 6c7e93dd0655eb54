/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the nodes of a network that are quantized already. */
#include "vn-quantize.h"

#include "vn-error.h"
#include "vn-i18n.h"

/* Operators that only quantized networks have, whatever their domain. */
static const char * const types[] = {
  "QuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM",
  "ExtendedQuantizeLinear", "VitisQuantizeLinear", "FixNeuron", "BFPQuantizeDequantize", "MXQuantizeDequantize",
  "BFPFixNeuron", "MXFixNeuron",
  "MatMulNBits", "MatMulIntegerToFloat", "QAttention", "QGemm", "GatherBlockQuantized", "QMoE",
  "Quant", "BipolarQuant", "RequantShift", NULL   /* QONNX, Deeploy */
};

/* These go with the ones above; alone, they restore weights. */
static const char * const restoring[] = {
  "DequantizeLinear", "ExtendedDequantizeLinear", "VitisDequantizeLinear", NULL
};

/* Returns: (transfer full): a set, as windows ask often about networks of many nodes. */
static GHashTable *
quantize_count_make_set (const char * const *names)
{
  GHashTable *set = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; names[i] != NULL; i++)
    g_hash_table_add (set, (gpointer) names[i]);
  return set;
}

/**
 * vn_quantize_count_quantized:
 *
 * Returns: how many nodes of the main graph quantize a tensor, compute with quantized ones or, where weights alone are
 *     quantized, restore them; 0 for a float network
 */
guint
vn_quantize_count_quantized (const VnModel *model)
{
  g_autoptr(GHashTable) quantizing = quantize_count_make_set (types), restored = quantize_count_make_set (restoring);
  guint n = 0, n_restoring = 0;

  g_return_val_if_fail (model != NULL, 0);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);

      n += g_hash_table_contains (quantizing, node->op_type) || g_str_has_prefix (node->op_type, "QLinear");
      n_restoring += g_hash_table_contains (restored, node->op_type);
    }
  return n > 0 ? n : n_restoring;
}

/**
 * vn_quantize_check_is_float:
 *
 * A network that computes in integers would be quantized a second time, on top of its own errors.
 *
 * Returns: %FALSE with an error if @model is quantized already
 */
gboolean
vn_quantize_check_is_float (const VnModel  *model,
                            GError        **error)
{
  guint n;

  g_return_val_if_fail (model != NULL, FALSE);

  n = vn_quantize_count_quantized (model);
  if (n == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               ngettext ("This model is already quantized: %u of its %u node quantizes tensors or works on quantized "
                         "ones. Quantize the float model instead; to see the error, compare the two",
                         "This model is already quantized: %u of its %u nodes quantize tensors or work on quantized "
                         "ones. Quantize the float model instead; to see the error, compare the two", model->graph->nodes->len),
               n, model->graph->nodes->len);
  return FALSE;
}
