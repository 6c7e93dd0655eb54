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

static gboolean
quantize_count_is_quantized_op (const VnNode *node)
{
  return g_str_has_prefix (node->op_type, "QLinear") || g_strv_contains (types, node->op_type);
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
  guint n = 0, n_restoring = 0;

  g_return_val_if_fail (model != NULL, 0);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);

      n += quantize_count_is_quantized_op (node);
      n_restoring += g_strv_contains (restoring, node->op_type);
    }
  return n > 0 ? n : n_restoring;
}
