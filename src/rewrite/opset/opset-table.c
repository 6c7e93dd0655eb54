/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of conversions between opsets, by version. */
#include "vn-rewrite-private.h"

#define BROADCAST(type) { 7, type, vn_opset_broadcast, N_("the second operand is reshaped for broadcasting") }
#define REDUCE(type) { 18, type, vn_opset_axes_input, N_("axes become an input") }

/* By version; the numbers are those of the ONNX operator history. */
static const VnOpsetRule rules[] = {
  { 2,  "GlobalLpPool",         vn_opset_lp_exponent,        N_("the exponent becomes an integer") },
  { 2,  "LpPool",               vn_opset_lp_exponent,        N_("the exponent becomes an integer") },
  { 2,  "Pad",                  vn_opset_pad_rename,         N_("paddings become pads") },
  { 2,  "Split",                vn_opset_first_split,        N_("the sizes become an attribute") },
  { 4,  "Concat",               vn_opset_concat_axis,        N_("the axis is made explicit") },
  { 5,  "Reshape",              vn_opset_reshape_input,      N_("the shape becomes an input") },
  { 6,  "*",                    vn_opset_consumed_inputs,    N_("consumed_inputs dropped") },
  { 6,  "Cast",                 vn_opset_cast_string,        N_("the type name becomes a type number") },
  { 6,  "Selu",                 vn_opset_selu_defaults,      N_("the factors are made explicit") },
  { 6,  "Tile",                 vn_opset_first_tile,         N_("every axis gets a repeat count") },
  BROADCAST ("Add"),
  BROADCAST ("And"),
  BROADCAST ("Div"),
  BROADCAST ("Equal"),
  BROADCAST ("Greater"),
  BROADCAST ("Less"),
  BROADCAST ("Mul"),
  BROADCAST ("Or"),
  BROADCAST ("Pow"),
  BROADCAST ("Sub"),
  BROADCAST ("Xor"),
  { 7,  "BatchNormalization",   vn_opset_is_test,            N_("is_test dropped") },
  { 7,  "Dropout",              vn_opset_is_test,            N_("is_test dropped") },
  { 7,  "GRU",                  vn_opset_output_sequence,    N_("output_sequence dropped") },
  { 7,  "Gemm",                 vn_opset_gemm_broadcast,     N_("broadcast dropped") },
  { 7,  "LSTM",                 vn_opset_output_sequence,    N_("output_sequence dropped") },
  { 7,  "PRelu",                vn_opset_prelu_slope,        N_("the slope is reshaped for broadcasting") },
  { 7,  "RNN",                  vn_opset_output_sequence,    N_("output_sequence dropped") },
  { 7,  "Upsample",             vn_opset_upsample_scales,    N_("the scales are combined into one tensor") },
  { 9,  "BatchNormalization",   vn_opset_spatial,            N_("spatial dropped") },
  { 9,  "Scan",                 vn_opset_unsupported,        NULL },
  { 9,  "Upsample",             vn_opset_upsample_input,     N_("the scales become an input") },
  { 10, "Affine",               vn_opset_affine,             N_("Affine becomes Mul and Add") },
  { 10, "Crop",                 vn_opset_crop,               N_("Crop becomes Slice") },
  { 10, "Dropout",              vn_opset_dropout_mask,       NULL },
  { 10, "ImageScaler",          vn_opset_image_scaler,       N_("ImageScaler becomes Mul and Add") },
  { 10, "Slice",                vn_opset_slice_inputs,       N_("starts, ends and axes become inputs") },
  { 10, "TopK",                 vn_opset_topk_input,         N_("k becomes an input") },
  { 10, "Upsample",             vn_opset_upsample_resize,    N_("Upsample becomes Resize") },
  { 11, "Clip",                 vn_opset_clip_inputs,        N_("the bounds become inputs") },
  { 11, "Pad",                  vn_opset_pad_inputs,         N_("pads and value become inputs") },
  { 11, "Resize",               vn_opset_resize_mode,        N_("coordinate transformation mode set to asymmetric") },
  { 11, "Scatter",              vn_opset_scatter,            N_("Scatter becomes ScatterElements") },
  { 12, "Dropout",              vn_opset_dropout_ratio,      N_("the ratio is dropped: it matters in training only") },
  { 13, "Hardmax",              vn_opset_softmax,            N_("works on one axis") },
  { 13, "LogSoftmax",           vn_opset_softmax,            N_("works on one axis") },
  { 13, "ReduceSum",            vn_opset_axes_input,         N_("axes become an input") },
  { 13, "Softmax",              vn_opset_softmax,            N_("works on one axis") },
  { 13, "Split",                vn_opset_split_input,        N_("the sizes become an input") },
  { 13, "Squeeze",              vn_opset_axes_input,         N_("axes become an input") },
  { 13, "Unsqueeze",            vn_opset_axes_input,         N_("axes become an input") },
  { 14, "BatchNormalization",   vn_opset_batch_norm_outputs, N_("training outputs dropped") },
  { 16, "RoiAlign",             vn_opset_roi_align,          N_("coordinate transformation mode set to output_half_pixel") },
  REDUCE ("ReduceL1"),
  REDUCE ("ReduceL2"),
  REDUCE ("ReduceLogSum"),
  REDUCE ("ReduceLogSumExp"),
  REDUCE ("ReduceMax"),
  REDUCE ("ReduceMean"),
  REDUCE ("ReduceMin"),
  REDUCE ("ReduceProd"),
  REDUCE ("ReduceSumSquare"),
  { 18, "Split",                vn_opset_split_outputs,      N_("the number of parts is made explicit") },
  { 20, "DFT",                  vn_opset_dft_axis,           N_("the axis becomes an input") },
  { 20, "GridSample",           vn_opset_grid_sample,        N_("the mode has a new name") },
  { 21, "GroupNormalization",   vn_opset_group_norm,         N_("scale and bias have one value per channel") },
};

/* Never part of the standard proper, without a history of their own. */
static const char * const legacy[] = {
  "ATen", "ConstantFill", "DynamicSlice", "FC", "GRUUnit", "GivenTensorFill", "ParametricSoftplus", "Scale",
  "ScaledTanh", NULL
};

const VnOpsetRule *
vn_opset_rules (guint *n)
{
  *n = G_N_ELEMENTS (rules);
  return rules;
}

gboolean
vn_opset_is_legacy (const char *op_type)
{
  return g_strv_contains (legacy, op_type);
}

VN_OPSET_RULE (vn_opset_unsupported)
{
  return vn_opset_refuse (step, _("its old form is not supported"), error);
}
