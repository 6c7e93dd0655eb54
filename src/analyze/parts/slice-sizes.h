/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How large the numbers are in each slice of a tensor, and what parts that makes. */
#pragma once

#include "vn-parts.h"
#include "vn-tensor.h"

G_BEGIN_DECLS

/**
 * VnSliceSizes: of one tensor, over samples.
 * @shape: of the first sample
 * @axes: (element-type GArray): by axis: log2 of the RMS of each slice, a row for each sample; -INFINITY: all are zero; %NULL for
 *   an axis that is no candidate
 * @n_samples: rows
 * @are_shares: every number is between 0 and 1
 */
typedef struct
{
  VnShape  shape;
  GArray  *axes[VN_MAX_RANK];
  guint    n_samples;
  gboolean are_shares;
} VnSliceSizes;

void         vn_slice_sizes_clear    (VnSliceSizes       *self);
void         vn_slice_sizes_add      (VnSliceSizes       *self,
                                      const VnTensor     *tensor);
VnPartition *vn_slice_sizes_split    (const VnSliceSizes *self);
VnPartition *vn_slice_sizes_split_at (const VnSliceSizes *self,
                                      guint               axis,
                                      const guint        *lengths,
                                      guint               n);

G_END_DECLS
