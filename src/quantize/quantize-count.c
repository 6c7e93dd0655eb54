/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts the nodes of a network that are quantized already. */
#include "vn-quantize.h"

/* Operators that only quantized networks have, whatever their domain. */
static const char * const types[] = {
  "QuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM",
  "ExtendedQuantizeLinear", "VitisQuantizeLinear", "FixNeuron", "BFPQuantizeDequantize", "MXQuantizeDequantize",
  "BFPFixNeuron", "MXFixNeuron",
  "MatMulNBits", "MatMulIntegerToFloat", "QAttention", "QGemm", "GatherBlockQuantized",
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
