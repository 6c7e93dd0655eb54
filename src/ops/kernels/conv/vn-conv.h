/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-sliding-window.h"

G_BEGIN_DECLS

/**
 * VnEpilogue: what is done to results while they are in the cache.
 * @bias: (nullable): added, one number per row
 * @factors, @shifts: (nullable): then the results of a row are multiplied and shifted
 * @sum: (nullable): then added, laid out as @base
 * @base: start of the results
 * @map: done last, if it is active
 */
typedef struct
{
  const float  *bias;
  const float  *factors, *shifts;
  const float  *sum;
  const float  *base;
  VnActivation  map;
} VnEpilogue;

void     vn_epilogue_set_fused (VnEpilogue         *self,
                                const VnOpContext  *ctx);
gboolean vn_epilogue_is_clamp  (const VnEpilogue   *self);
gboolean vn_epilogue_from_node (VnEpilogue         *self,
                                VnOpContext        *ctx,
                                GError            **error);
void     vn_epilogue_apply     (const VnEpilogue   *self,
                                float              *y,
                                gsize               row,
                                gsize               n_rows,
                                gsize               n_columns,
                                gsize               pitch);

/**
 * VnConv: a convolution with all sizes known. x: batch, groups * in_channels, spatial; w: groups * out_channels,
 * in_channels, kernel; y: batch, groups * out_channels, spatial.
 */
typedef struct
{
  VnSlidingWindow window;
  gsize    batch, groups;
  gsize    in_channels, out_channels;   /* of one group */
  gsize    in_size, out_size;           /* elements of one channel */
  gsize    depth;                       /* in_channels * kernel volume: products in one sum */
} VnConv;

gboolean vn_conv_init_sizes      (VnConv            *self,
                                  VnOpContext       *ctx,
                                  const VnShape     *x,
                                  const VnShape     *w,
                                  GError           **error);

gboolean vn_conv_gemm_scratch    (const VnConv      *self,
                                  gsize             *bytes);
void     vn_conv_gemm_run        (const VnConv      *self,
                                  const VnOpContext *ctx,
                                  const VnEpilogue  *epilogue,
                                  const float       *x,
                                  const float       *w,
                                  float             *y);

gboolean vn_conv_is_depthwise    (const VnConv      *self);
gboolean vn_conv_depthwise_scratch (const VnConv    *self,
                                  gsize             *bytes);
void     vn_conv_depthwise_run   (const VnConv      *self,
                                  const VnOpContext *ctx,
                                  const VnEpilogue  *epilogue,
                                  const float       *x,
                                  const float       *w,
                                  float             *y);

G_END_DECLS
