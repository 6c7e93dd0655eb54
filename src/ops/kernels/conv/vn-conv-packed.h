/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-conv.h"
#include "vn-tile.h"

G_BEGIN_DECLS

/**
 * VnConvPacked: the weight of a convolution in the order in which the innermost loop reads it.
 * @panels: by group, then by tile->rows output channels: depth x tile->rows, missing channels are 0
 */
typedef struct
{
  const VnTile *tile;
  gsize         groups, channels, depth, n_panels;   /* of one group */
  float        *panels;
  float        *bias;       /* of all panels of all groups */
  gpointer      memory;
} VnConvPacked;

VnConvPacked *vn_conv_packed_new     (const VnTile       *tile,
                                      gsize               groups,
                                      const VnTensor     *w,
                                      const VnTensor     *b,
                                      GError            **error);
void          vn_conv_packed_free    (VnConvPacked       *self);
gboolean      vn_conv_packed_fits    (const VnConv       *conv);
gboolean      vn_conv_packed_scratch (const VnConv       *conv,
                                      const VnTile       *tile,
                                      gsize              *bytes);
void          vn_conv_packed_run     (const VnConvPacked *self,
                                      const VnConv       *conv,
                                      const VnOpContext  *ctx,
                                      const VnEpilogue   *epilogue,
                                      const float        *x,
                                      float              *y);

G_END_DECLS
