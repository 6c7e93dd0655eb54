/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What each format of quantized networks can hold, from vn-formats.def. */

#include "vn-recipe.h"

G_BEGIN_DECLS

/* Types by what has them. */
#define VN_QUANT_BYTES     (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define VN_QUANT_INTEGERS  (VN_QUANT_BYTES | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16))
#define VN_QUANT_NIBBLES   (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4))
#define VN_QUANT_QUARTERS  (VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2))
#define VN_QUANT_FLOAT8    (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E5M2))
#define VN_QUANT_HALVES    (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16))
#define VN_QUANT_BLOCKS    (VN_DTYPE_BIT (BFP16) | VN_DTYPE_BIT (MX4) | VN_DTYPE_BIT (MX6) | VN_DTYPE_BIT (MX9) | \
                            VN_DTYPE_BIT (MXINT8) | VN_DTYPE_BIT (MXFP8E5M2) | VN_DTYPE_BIT (MXFP8E4M3) | \
                            VN_DTYPE_BIT (MXFP6E3M2) | VN_DTYPE_BIT (MXFP6E2M3) | VN_DTYPE_BIT (MXFP4))
#define VN_QUANT_EXTENDED  (VN_QUANT_INTEGERS | VN_QUANT_NIBBLES | VN_QUANT_FLOAT8 | VN_QUANT_HALVES | VN_QUANT_BLOCKS | \
                            VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32))
#define VN_QUANT_FIXED     (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16))
#define VN_QUANT_ACTIVATION_TYPES VN_QUANT_EXTENDED
#define VN_QUANT_WEIGHT_TYPES (VN_QUANT_EXTENDED | VN_QUANT_QUARTERS)
#define VN_QUANT_PAIR_TYPES (VN_QUANT_INTEGERS | VN_QUANT_NIBBLES | VN_QUANT_FLOAT8)    /* that QuantizeLinear makes */

/**
 * VnFormatTraits: a line of vn-formats.def: what a recipe, resolving and writing have to know of a format. Code asks for these,
 * never for a format by its name.
 * @activations, @weights: types it can hold
 * @summary: N_()
 * @opset: of ai.onnx that its operators need, whatever the types
 * @vendor_opset: the same where the operators of a vendor's domain are written without their meaning; 0: as @opset
 * @has_scales: tensors are integers with scales; otherwise floats of 16 bits
 * @channel_scales: a weight can have a scale for each channel
 * @block_scales: a weight can have several scales along an axis
 * @power_of_two_scales: each tensor, biases included, has one scale, and it is a power of two
 * @integer_weights: weights are integers with static ranges around them, whose rounding can be chosen
 * @weights_only: weights are stored small, activations stay float
 * @packed_matrices: weights lie in the operators of ONNX Runtime for 2, 4 and 8 bits
 * @half_arithmetic: it is computed in float16; @stays_float: nothing is changed
 * @dynamic_ranges: ranges of activations can be found while the network runs
 * @standard_integers: activations with static ranges become integers in operators of the standard
 * @has_pairs: pairs of QuantizeLinear and DequantizeLinear, which settings and rules may shape
 * @integer_operators: operators read and write integers of one type
 * @integer_products: products of integers, all else in float
 * @integer_kernels: ONNX Runtime may put kernels on integers in the place of what is written
 * @fuses_nodes: a tensor between two nodes can stay float
 * @all_operators: every operator that it has is quantized, not only the usual ones
 * @amd_operators: operators of AMD's domains are written
 * @extends_standard: operators of the standard where it has the type, which may have no scales, otherwise AMD's
 * @onnxruntime: written for ONNX Runtime, whose kernels and times can be told beforehand
 */
typedef struct
{
  VnFormat      format;
  const char   *id;                     /* "qdq" */
  VnDTypeSet    activations, weights;
  const char   *summary;
  int           opset, vendor_opset;
  gboolean      has_scales, channel_scales, block_scales, power_of_two_scales;
  gboolean      integer_weights, weights_only, packed_matrices, half_arithmetic, stays_float;
  gboolean      dynamic_ranges, standard_integers;
  gboolean      has_pairs, integer_operators, integer_products, integer_kernels;
  gboolean      fuses_nodes, all_operators;
  gboolean      amd_operators, extends_standard;
  gboolean      onnxruntime;
} VnFormatTraits;

/* Which of the gboolean fields is meant. */
#define VN_FORMAT_TRAIT(field) G_STRUCT_OFFSET (VnFormatTraits, field)

const VnFormatTraits *vn_format_get_traits   (VnFormat         format);
VnFormat              vn_format_find         (gsize            trait);
char                 *vn_format_dup_names    (gsize            trait);
gboolean              vn_format_check_number (VnFormat         format,
                                              GError         **error);
gboolean              vn_format_check_type   (VnFormat         format,
                                              gboolean         weight,
                                              const char      *name,
                                              VnDType          dtype,
                                              GError         **error);
const VnFormatTraits *vn_recipe_get_format   (const VnRecipe  *self);
gboolean              vn_format_check_recipe (const VnRecipe  *recipe,
                                              GError         **error);
gboolean              vn_dtype_is_rounded    (VnDType          dtype);     /* no scale: values are only rounded */

G_END_DECLS
