/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-conv.h"
#include "vn-tile.h"

G_BEGIN_DECLS

/**
 * VnStage: work space of a convolution: input lines with padding, and the block of pixels packed from them.
 * @columns: output pixels in a block, a multiple of @max_columns
 * @phase: room for the columns of one remainder modulo the stride
 * @pitch: floats of one line; @channel: floats of one channel
 */
typedef struct
{
  const VnConv *conv;
  gboolean      direct;      /* 1x1 without stride and padding */
  gsize         max_columns, columns;
  gsize         phase, pitch, channel, lines;
  gsize         lines_bytes, block_bytes;
} VnStage;

gboolean vn_stage_init (VnStage       *self,
                        const VnConv  *conv,
                        gsize          max_columns,
                        gsize          block_bytes);
void     vn_stage_pack (const VnStage *self,
                        const float   *x,
                        gsize          first,
                        gsize          n,
                        gsize          lanes,
                        float         *lines,
                        float         *to);

G_END_DECLS
