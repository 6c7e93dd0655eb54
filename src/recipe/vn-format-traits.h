/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What each format of quantized networks can hold, from vn-formats.def. */

#include "vn-recipe.h"

G_BEGIN_DECLS

/* Types by what has them. */
#define VN_QUANT_BYTES     (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8))
#define VN_QUANT_INTEGERS  (VN_QUANT_BYTES | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16))
#define VN_QUANT_NIBBLES   (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4))
#define VN_QUANT_FLOAT8    (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E5M2))
#define VN_QUANT_HALVES    (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16))
#define VN_QUANT_BLOCKS    (VN_DTYPE_BIT (BFP16) | VN_DTYPE_BIT (MX4) | VN_DTYPE_BIT (MX6) | VN_DTYPE_BIT (MX9) | \
                            VN_DTYPE_BIT (MXINT8) | VN_DTYPE_BIT (MXFP8E5M2) | VN_DTYPE_BIT (MXFP8E4M3) | \
                            VN_DTYPE_BIT (MXFP6E3M2) | VN_DTYPE_BIT (MXFP6E2M3) | VN_DTYPE_BIT (MXFP4))
#define VN_QUANT_EXTENDED  (VN_QUANT_INTEGERS | VN_QUANT_NIBBLES | VN_QUANT_FLOAT8 | VN_QUANT_HALVES | VN_QUANT_BLOCKS | \
                            VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32))
#define VN_QUANT_FIXED     (VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16))
#define VN_QUANT_ACTIVATION_TYPES VN_QUANT_EXTENDED
#define VN_QUANT_WEIGHT_TYPES VN_QUANT_EXTENDED
#define VN_QUANT_PAIR_TYPES (VN_QUANT_INTEGERS | VN_QUANT_NIBBLES | VN_QUANT_FLOAT8)    /* that QuantizeLinear makes */

/* What a recipe and resolving have to know of a format; code asks for these, never for a format by its name. */
typedef enum
{
  VN_FORMAT_HAS_PAIRS      = 1 << 0,   /* pairs of QuantizeLinear and DequantizeLinear, which settings and rules may shape */
  VN_FORMAT_HAS_FUSED      = 1 << 1,   /* a tensor between two nodes can stay float */
  VN_FORMAT_HAS_BLOCKS     = 1 << 2,   /* several scales along an axis of a weight */
  VN_FORMAT_HAS_DYNAMIC    = 1 << 3,   /* ranges of activations can be found while the network runs */
  VN_FORMAT_HAS_VENDORS    = 1 << 4,   /* operators of a vendor’s domain instead of the standard’s */
  VN_FORMAT_IS_OPERATORS   = 1 << 5,   /* operators that read and write integers of one type */
  VN_FORMAT_IS_PRODUCTS    = 1 << 6,   /* products of integers, all else in float */
  VN_FORMAT_IS_FIXED_POINT = 1 << 7,   /* one scale for each tensor, biases included, and it is a power of two */
  VN_FORMAT_IS_WEIGHT_ONLY = 1 << 8,   /* weights are stored small, activations stay float */
  VN_FORMAT_IS_NBITS       = 1 << 9,   /* weights lie in the operators of ONNX Runtime for 4 and 8 bits */
  VN_FORMAT_IS_HALF        = 1 << 10,  /* floats of 16 bits */
  VN_FORMAT_COMPUTES_HALF  = 1 << 11,  /* and computed with as such */
  VN_FORMAT_TAKES_ALL      = 1 << 12,  /* every operator that it has is quantized, not only the usual ones */
  VN_FORMAT_HAS_ROUNDING   = 1 << 13,  /* weights are integers whose rounding can be chosen */
  VN_FORMAT_HAS_FORECAST   = 1 << 14,  /* written for ONNX Runtime, whose kernels and times can be told beforehand */
} VnFormatFlags;

/* A line of vn-formats.def. */
typedef struct
{
  VnFormat      format;
  const char   *id;                     /* "qdq" */
  VnDTypeSet    activations, weights;   /* types it can hold */
  VnFormatFlags flags;
  const char   *summary;                /* N_() */
} VnFormatTraits;

const VnFormatTraits *vn_format_get_traits   (VnFormat         format);
gboolean              vn_format_is           (VnFormat         format,
                                              VnFormatFlags    flag);
VnFormat              vn_format_find         (VnFormatFlags    flag);
char                 *vn_format_dup_names    (VnFormatFlags    flag);
gboolean              vn_format_check_number (VnFormat         format,
                                              GError         **error);
gboolean              vn_format_check_type   (VnFormat         format,
                                              gboolean         weight,
                                              const char      *name,
                                              VnDType          dtype,
                                              GError         **error);
gboolean              vn_format_check_recipe (const VnRecipe  *recipe,
                                              GError         **error);
gboolean              vn_dtype_is_rounded    (VnDType          dtype);     /* no scale: values are only rounded */

G_END_DECLS
