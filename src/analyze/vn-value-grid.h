/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnValueGrid: what an activation of a quantized network can be: (q - @zero_point) @scale for whole q.
 * @dtype: of the whole numbers
 * @holds_integers: the value holds q; else the floats that they stand for
 */
typedef struct
{
  double   scale;
  gint64   zero_point;
  VnDType  dtype;
  gboolean holds_integers;
} VnValueGrid;

gboolean vn_value_find_grid (const VnValue *value,
                             VnValueGrid   *grid);

G_END_DECLS
