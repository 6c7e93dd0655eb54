/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-kernel.h"

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

G_END_DECLS
