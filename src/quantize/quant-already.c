/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-quantize.h"

/* Operators that only quantized networks have, whatever their domain. */
static const char * const types[] = {
  "QuantizeLinear", "ConvInteger", "MatMulInteger", "DynamicQuantizeMatMul", "DynamicQuantizeLSTM",
  "ExtendedQuantizeLinear", "VitisQuantizeLinear", "FixNeuron", "BFPQuantizeDequantize", "MXQuantizeDequantize",
  "BFPFixNeuron", "MXFixNeuron",
  "MatMulNBits", "MatMulIntegerToFloat", "QAttention", "QGemm", NULL
};

static gboolean
is_quantized_op (const VnNode *node)
{
  return g_str_has_prefix (node->op_type, "QLinear") || g_strv_contains (types, node->op_type);
}

/**
 * vn_quantize_count_quantized:
 *
 * Returns: how many nodes of the main graph quantize a tensor or compute with quantized ones; 0 for a float network
 */
guint
vn_quantize_count_quantized (const VnModel *model)
{
  guint n = 0;

  for (guint i = 0; i < model->graph->nodes->len; i++)
    n += is_quantized_op (g_ptr_array_index (model->graph->nodes, i));
  return n;
}
