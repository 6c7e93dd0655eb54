/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-attend.h"

G_BEGIN_DECLS

/**
 * VnRotary: pairs of numbers of each row turned by the angle of the row's position.
 * @batch, @length, @heads, @depth: sizes; a row has @depth numbers
 * @half: pairs of a row that are turned; the others stay
 * @interleaved: a pair lies side by side, or else @half apart
 * @cos, @sin: @half numbers for each position
 * @positions: (nullable): for each sample and row; with one element, the position of every first row; without, each
 *   row of each sample has its own angles
 * @n_positions: how many positions @cos and @sin have
 */
typedef struct
{
  gsize           batch, length, heads, depth, half;
  VnHeads         x, y;
  gboolean        interleaved;
  const float    *cos, *sin;
  const VnTensor *positions;
  gsize           n_positions;
} VnRotary;

gboolean vn_rotary_check (const VnRotary     *self,
                          VnOpContext        *ctx,
                          GError            **error);
void     vn_rotary_run   (const VnRotary     *self,
                          const VnOpContext  *ctx);
void     vn_rotary_row   (const VnRotary     *self,
                          const float        *x,
                          float              *y,
                          gsize               position);

G_END_DECLS
