/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The arithmetic of quantizing: levels, scales, zero points, rounding. Knows no graph. */

#include "vn-quant-scheme.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

#define VN_MICROSOFT_DOMAIN "com.microsoft"

/* ---- quant-params.c ---- */

gboolean  vn_quant_get_levels        (VnDType         dtype,
                                      gboolean        symmetric,
                                      gboolean        reduce_range,
                                      gint64         *qmin,
                                      gint64         *qmax);
void      vn_quant_store_integer     (VnTensor       *tensor,
                                      gsize           i,
                                      gint64          value);
VnTensor *vn_quant_integer_tensor    (VnDType         dtype,
                                      const VnShape  *shape,
                                      const gint64   *values,
                                      GError        **error);
VnTensor *vn_quant_quantize_tensor   (VnTensor       *data,
                                      VnDType         dtype,
                                      const VnTensor *scale,
                                      const VnTensor *zero_point,
                                      int             axis,
                                      gboolean        narrow,
                                      GError        **error);
VnTensor *vn_quant_cut_to_narrow     (VnTensor           *data,
                                      const VnTensorPlan *row,
                                      GError            **error);
VnTensor *vn_quant_round_tensor      (VnTensor       *data,
                                      VnDType        *dtype,
                                      int             axis,
                                      GError        **error);
gboolean  vn_quant_data_range        (VnTensor       *data,
                                      int             axis,       /* -1: of all elements */
                                      float          *min,        /* one, or one per channel */
                                      float          *max,
                                      guint64        *n_infinite,
                                      GError        **error);
gboolean  vn_quant_widen_range       (double         *min,
                                      double         *max,
                                      double          minimum,
                                      GError        **error);
float     vn_quant_round_scale       (float           scale,
                                      VnPowerRounding rounding);
float     vn_quant_int16_scale       (float           scale);
float     vn_quant_int16_scale_up    (float           scale);
gboolean  vn_quant_raise_scales_for_bias (float           input_scale,
                                          float          *weight_scales,
                                          gsize           n,
                                          const float    *bias,
                                          gsize           n_bias,
                                          float           beta,
                                          gboolean        per_channel);

/* ---- quant-ranges.c ---- */

gboolean        vn_quant_get_rounding       (const VnScaleScheme *scheme,
                                             const VnRangeMethod *method,
                                             VnPowerRounding     *rounding);
void            vn_quant_raise_block_scales (const VnScaleScheme *scheme,
                                             float               *scales,
                                             gsize                n);
float           vn_quant_raise_scale        (const VnScaleScheme *scheme,
                                             const char          *method,    /* nullable */
                                             float                scale);
gboolean        vn_quant_make_params        (const VnScaleScheme *scheme,
                                             const char          *method,
                                             const VnRange       *range,
                                             VnDType              dtype,
                                             gboolean             symmetric,
                                             gboolean             reduce_range,
                                             float               *scale,
                                             gint64              *zero_point,
                                             GError             **error);
VnRangeSettings vn_quant_get_range_settings (const VnActivationScheme *scheme,
                                             double                    percentile,
                                             VnDType                   dtype,
                                             gboolean                  symmetric,
                                             gboolean                  reduce_range);
gboolean        vn_quant_method_ranges      (VnTensor               *data,
                                             int                     axis,
                                             const VnRangeMethod    *method,
                                             const VnRangeSettings  *settings,
                                             float                  *min,
                                             float                  *max,
                                             GError                **error);

/* ---- quant-blocks.c, quant-block-fit.c, quant-block-search.c ---- */

/**
 * VnBlockCut: how a tensor lies in blocks.
 * @outer, @length, @inner: elements of the axes before, of the axis of the blocks, of the axes behind
 * @block, @n_blocks: elements of a block and blocks, along the axis; the last block may be shorter
 * @middle, @highest: of the unsigned integers
 * @shift: what signed ones are less than these
 */
typedef struct
{
  gsize  outer, length, inner;
  gsize  block, n_blocks;
  gint64 middle, highest;
  gint64 shift;
} VnBlockCut;

/* How numbers become integers: what the zero point is added behind or before rounding to, halves away from 0, of a product with
 * 1 / scale in float; or before rounding, halves to even, of a quotient in double. */
typedef enum { VN_BLOCK_ZERO_LAST, VN_BLOCK_ZERO_FIRST, VN_BLOCK_EXACT } VnBlockRounding;

VnBlockCut vn_quant_cut_blocks     (const VnShape   *shape,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype);
gboolean  vn_quant_block_params    (VnTensor        *data,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype,
                                    gboolean         symmetric,
                                    VnTensor       **scale,
                                    VnTensor       **zero_point,
                                    GError         **error);
gboolean  vn_quant_fit_blocks      (VnTensor        *data,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype,
                                    gboolean         symmetric,
                                    VnBlockMethod    method,
                                    const float     *importance,   /* nullable */
                                    VnTensor        *scale,
                                    VnTensor        *zero_point,
                                    GError         **error);
gboolean  vn_quant_search_blocks   (VnTensor        *data,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype,
                                    const float     *importance,   /* nullable */
                                    VnTensor       **scale,
                                    VnTensor       **zero_point,
                                    GError         **error);

/* ---- quant-block-codes.c ---- */

#define VN_BLOCK_CODES 256   /* so many are read in one go */

/**
 * VnBlockCodes: how the numbers of a tensor in blocks become integers
 * @factors, @zeros: by block: 1 / scale, or 0, and the zero point of the unsigned type; with %VN_BLOCK_EXACT the scales
 */
typedef struct
{
  VnBlockCut      cut;
  VnTensor       *data;       /* owned */
  const float    *x;
  float          *factors, *zeros;
  VnBlockRounding rounding;
} VnBlockCodes;

gboolean  vn_block_codes_init      (VnBlockCodes    *self,
                                    VnTensor        *data,
                                    VnDType          dtype,
                                    const VnTensor  *scale,
                                    const VnTensor  *zero_point,
                                    int              axis,
                                    gint64           block,
                                    VnBlockRounding  rounding,
                                    GError         **error);
void      vn_block_codes_read      (const VnBlockCodes *self,
                                    gsize               first,
                                    gsize               n,
                                    guint8             *codes);
void      vn_block_codes_clear     (VnBlockCodes    *self);
VnTensor *vn_quant_quantize_blocks (VnTensor        *data,
                                    VnDType          dtype,
                                    const VnTensor  *scale,
                                    const VnTensor  *zero_point,
                                    int              axis,
                                    gint64           block,
                                    VnBlockRounding  rounding,
                                    GError         **error);

/* ---- quant-block-factors.c ---- */

gboolean  vn_quant_block_factors   (VnTensor        *data,
                                    int              axis,
                                    gint64           block,
                                    VnDType          dtype,
                                    VnTensor       **channel_scale,
                                    VnTensor       **factors,
                                    GError         **error);
VnTensor *vn_quant_multiply_factors (VnTensor       *channel_scale,
                                    const VnTensor  *factors,
                                    int              axis,
                                    GError         **error);

void            vn_quant_softmax_params     (VnDType                 dtype,
                                             float                  *scale,
                                             gint64                 *zero_point);

/* ---- quant-bias.c ---- */

VnDType      vn_quant_choose_bias    (const VnBiasScheme *scheme,
                                      const VnTensorPlan *x,
                                      const VnTensorPlan *weight,
                                      gboolean           *product);
float        vn_quant_own_bias_scale (const VnScaleScheme *scheme,
                                      VnDType              dtype,
                                      double               min,
                                      double               max);

G_END_DECLS
