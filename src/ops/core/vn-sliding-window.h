/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How the kernel of a convolution or a pooling slides over spatial axes. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/**
 * VnSlidingWindow: how a kernel slides over 1 to 3 spatial axes; shared by convolutions and poolings.
 *
 * All arrays are depth, height, width; axes an operator does not have come first and are 1 wide (kernel 1, stride 1,
 * no padding). Sizes of data that are not known yet are %VN_DIM_UNKNOWN.
 */
typedef struct
{
  int    n_spatial;
  gint64 kernel[3], stride[3], dilation[3];
  gint64 begin[3], end[3];   /* padding */
  gint64 in[3], out[3];
} VnSlidingWindow;

gboolean vn_sliding_window_init   (VnSlidingWindow      *self,
                                   VnOpContext   *ctx,
                                   const VnShape *x,
                                   const gint64  *kernel,
                                   gboolean       ceil_mode,
                                   GError       **error);
gboolean vn_sliding_window_init_pool (VnSlidingWindow  *self,
                                      VnOpContext      *ctx,
                                      const VnShape    *x,
                                      GError          **error);
gboolean vn_sliding_window_get_kernel (VnOpContext   *ctx,
                                       const VnShape *w,
                                       int            n_spatial,
                                       gint64        *kernel,
                                       GError       **error);
void     vn_sliding_window_get_output (const VnSlidingWindow *self,
                                       VnShape        *shape);
gint64   vn_sliding_window_get_volume (const gint64    sizes[3]);
gboolean vn_sliding_window_get_ints   (VnOpContext    *ctx,
                                       const char     *name,
                                       int             n,
                                       gint64          min,
                                       gint64          fallback,
                                       gint64         *values,
                                       GError        **error);

/* ---- of ConvTranspose (op-conv-transpose.c) ---- */

gboolean vn_conv_transpose_init_window (VnSlidingWindow *self,
                                        VnOpContext     *ctx,
                                        const VnShape   *x,
                                        const VnShape   *w,
                                        GError         **error);

G_END_DECLS
