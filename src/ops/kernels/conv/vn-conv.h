/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-epilogue.h"
#include "vn-sliding-window.h"

G_BEGIN_DECLS

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

gboolean vn_conv_check_channels  (VnOpContext       *ctx,
                                  const VnShape     *x,
                                  const VnShape     *w,
                                  gint64             groups,
                                  GError           **error);
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
