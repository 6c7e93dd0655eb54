/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-conv.h"
#include "vn-tile.h"

G_BEGIN_DECLS

/**
 * VnStage: work space of a convolution: input lines with padding, and the block of pixels packed from them.
 * @straight: panels whose vectors each lie in one line are not packed: the tile reads them where they are
 * @columns: output pixels in a block, a multiple of @max_columns; the last block may have up to @capacity
 * @phase: room for the columns of one remainder modulo the stride
 * @pitch: floats of one line; @channel: floats of one channel
 */
typedef struct
{
  const VnConv *conv;
  gboolean      direct;      /* 1x1 without stride and padding */
  gboolean      straight;
  gsize         max_columns, columns, capacity, n_blocks;
  gsize         phase, pitch, channel, lines;
  gsize         lines_bytes, block_bytes;
} VnStage;

gboolean vn_stage_init (VnStage       *self,
                        const VnConv  *conv,
                        gsize          max_columns,
                        gsize          lanes,
                        gsize          columns);
gsize    vn_stage_panel (const VnStage *self,
                         gsize          n);
void     vn_stage_offsets (const VnStage *self,
                           gsize         *offsets);
gboolean vn_stage_find (const VnStage *self,
                        const float   *x,
                        const float   *lines,
                        gsize          first,
                        gsize          at,
                        gsize          n,
                        const float  **vectors);
void     vn_stage_pack (const VnStage *self,
                        const float   *x,
                        gsize          first,
                        gsize          n,
                        float         *lines,
                        float         *to);

G_END_DECLS
