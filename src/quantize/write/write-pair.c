/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which nodes take a tensor to its type and back. What the standard has is written in its operators; the rest in those of
 * AMD, which carry their meaning along as functions of the model unless AMD's own tools are to read it. */

#include "vn-quant-write.h"

#include "vn-block.h"
#include "vn-graph-edit.h"

#include <math.h>

#define LINEAR(domain) { VN_PAIR_LINEAR, domain, "QuantizeLinear", "DequantizeLinear" }
#define EXTENDED { VN_PAIR_LINEAR, "com.amd.quark", "ExtendedQuantizeLinear", "ExtendedDequantizeLinear" }

static const VnQuantPair linear = LINEAR ("");
static const VnQuantPair linear_contrib = LINEAR ("com.microsoft");
static const VnQuantPair cast = { VN_PAIR_CAST, "", "Cast", "Cast" };
/* By vendor domain; without one, as AMD has it now. */
static const VnQuantPair extended[] = {
  [VN_VENDOR_NONE]  = EXTENDED,
  [VN_VENDOR_AMD]   = EXTENDED,
  [VN_VENDOR_VITIS] = { VN_PAIR_LINEAR, "com.vai.quantize", "VitisQuantizeLinear", "VitisDequantizeLinear" },
};
static const VnQuantPair fix_neuron[] = {
  [VN_VENDOR_NONE]  = { VN_PAIR_FIX, "ai.onnx.contrib", "FixNeuron", NULL },
  [VN_VENDOR_AMD]   = { VN_PAIR_FIX, "ai.onnx.contrib", "FixNeuron", NULL },
  [VN_VENDOR_VITIS] = { VN_PAIR_FIX, "com.vai.quantize", "FixNeuron", NULL },
};
static const VnQuantPair blocks[] = {
  [VN_VENDOR_NONE]  = { VN_PAIR_BLOCK, "com.amd.quark", "BFPQuantizeDequantize", NULL },
  [VN_VENDOR_AMD]   = { VN_PAIR_BLOCK, "com.amd.quark", "BFPQuantizeDequantize", NULL },
  [VN_VENDOR_VITIS] = { VN_PAIR_BLOCK, "com.vai.quantize", "BFPFixNeuron", NULL },
};
static const VnQuantPair scaled_blocks[] = {
  [VN_VENDOR_NONE]  = { VN_PAIR_BLOCK, "com.amd.quark", "MXQuantizeDequantize", NULL },
  [VN_VENDOR_AMD]   = { VN_PAIR_BLOCK, "com.amd.quark", "MXQuantizeDequantize", NULL },
  [VN_VENDOR_VITIS] = { VN_PAIR_BLOCK, "com.vai.quantize", "MXFixNeuron", NULL },
};

/*< private >
 * vn_quant_find_pair:
 * ONNX Runtime looks for QuantizeLinear and DequantizeLinear around a node, and puts one of its operators of integers in
 * their place. For activations of 4 bit and of floats of 8 bit there is none, and it fails to load the network, or gives
 * wrong results: these are written as functions, which it leaves alone. Weights in floats of 8 bit are taken for integers
 * only next to activations of 8 bit; anywhere else they stand in the standard's DequantizeLinear. Who asks for floats of 8 bit
 * in operators of the standard has another runtime for them.
 *
 * Returns: (transfer none): how a tensor of @row's type is written
 */
const VnQuantPair *
vn_quant_find_pair (const VnWriteScheme *scheme,
                    VnPairFlags          flags,
                    const VnTensorPlan  *row)
{
  gboolean contrib = (flags & VN_PAIRS_CONTRIB) != 0, is_activation;
  gboolean vendor;
  VnBlockFormat format;

  g_return_val_if_fail (scheme != NULL && row != NULL, NULL);

  is_activation = row->role == VN_TENSOR_ACTIVATION;
  vendor = scheme->format->extends_standard && scheme->vendor != VN_VENDOR_NONE;
  if (scheme->format->power_of_two_scales)
    return &fix_neuron[scheme->vendor];
  if (vn_block_format_init (&format, row->dtype))
    return format.element != NULL ? &scaled_blocks[scheme->vendor] : &blocks[scheme->vendor];
  if (vendor)
    return &extended[scheme->vendor];
  if (row->dtype == VN_DTYPE_F16 || row->dtype == VN_DTYPE_BF16)
    return &cast;
  if (row->role == VN_TENSOR_BIAS)
    return contrib ? &linear_contrib : &linear;
  if (vn_dtype_is_float (row->dtype) && scheme->standard_floats)
    return &linear;
  if (vn_dtype_is_float (row->dtype))
    return is_activation || (flags & VN_PAIRS_BYTES) != 0 ? &extended[VN_VENDOR_NONE] : &linear;
  if (row->dtype == VN_DTYPE_S32 || row->dtype == VN_DTYPE_U32 || (is_activation && vn_dtype_get_bits (row->dtype) == 4))
    return &extended[VN_VENDOR_NONE];
  return contrib ? &linear_contrib : &linear;
}

static void
write_pair_set_block_attributes (VnNode  *node,
                                 VnDType  dtype,
                                 int      axis)
{
  VnBlockFormat format;

  vn_block_format_init (&format, dtype);
  vn_node_set_int (node, "axis", axis);
  vn_node_set_int (node, "block_size", format.block);
  vn_node_set_int (node, "rounding_mode", format.rounding);
  if (format.element != NULL)
    {
      vn_node_set_string (node, "element_dtype", format.element->name);
      return;
    }
  vn_node_set_string (node, "bfp_method", format.max_shift > 0 ? "to_bfp_prime" : "to_bfp");
  vn_node_set_int (node, "bit_width", format.mantissa + 9);
  /* without sub-blocks: the whole block is one, that cannot be shifted */
  vn_node_set_int (node, "sub_block_size", format.max_shift > 0 ? format.sub_block : format.block);
  vn_node_set_int (node, "sub_block_shift_bits", format.max_shift > 0 ? 1 : 0);
}

/*< private >
 * vn_quant_pair_set_attributes:
 * @back: @node leads back to float
 * @axis: of channels, or of blocks; -1: none
 */
void
vn_quant_pair_set_attributes (const VnQuantPair  *pair,
                              const VnTensorPlan *row,
                              VnNode             *node,
                              gboolean            back,
                              int                 axis)
{
  g_return_if_fail (pair != NULL && row != NULL && node != NULL);

  switch (pair->kind)
    {
    case VN_PAIR_LINEAR:
      /* a function has no default for it */
      if (axis >= 0 || g_str_has_prefix (node->domain, "com.amd"))
        vn_node_set_int (node, "axis", MAX (axis, 0));
      break;
    case VN_PAIR_CAST:
      vn_node_set_int (node, "to", back ? VN_DTYPE_F32 : row->dtype);
      break;
    case VN_PAIR_BLOCK:
      write_pair_set_block_attributes (node, row->dtype, MAX (axis, 0));
      break;
    case VN_PAIR_FIX:
      vn_node_set_int (node, "bit_width", vn_dtype_get_bits (row->dtype));
      vn_node_set_int (node, "pos", (gint64) rint (-log2 ((double) *(const float *) row->scale->data)));
      break;
    }
}

/* The axis over which @node sums @value: blocks along it are what hardware multiplies at once. -1: not known. */
static int
write_pair_summed_axis (const VnNode *node,
                        guint         input,
                        int           rank)
{
  if (vn_node_is (node, "MatMul"))
    return input == 0 ? rank - 1 : rank - 2;
  if (vn_node_is (node, "Gemm") && input < 2)
    return (vn_node_get_int (node, input == 0 ? "transA" : "transB", 0) != 0) == (input == 0) ? 0 : 1;
  if (vn_node_is (node, "ConvTranspose") && input == 1)
    return 0;
  return -1;
}

/*< private >
 * vn_quant_find_block_axis:
 *
 * Returns: the axis along which @value is cut into blocks: the one its first reader sums over, otherwise 1
 */
int
vn_quant_find_block_axis (const VnValue *value)
{
  int rank;

  g_return_val_if_fail (value != NULL, -1);

  rank = value->initializer != NULL ? value->initializer->shape.rank : value->type.shape.rank;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);
      int axis = use->node->graph == value->graph ? write_pair_summed_axis (use->node, use->index, rank) : -1;

      if (axis >= 0)
        return axis;
    }
  return rank > 1 ? 1 : 0;
}
