/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How the values of the tensors that cost most are spread: what stays of their histograms when the statistics are gone. */

#include "vn-run.h"

G_BEGIN_DECLS

#define VN_SPREAD_BINS 96u
#define VN_SPREADS      6u    /* tensors that are worth it */

/**
 * VnSpread: one tensor of the prepared network.
 * @node: vn_node_dup_label() of what computes it or has it as a weight; "" for an input
 * @low, @high: the least and the largest value
 * @counts: how many values lie in each of as many parts of equal width between them; whole numbers
 * @range_min, @range_max: what is quantized of them; @range_min is not less than @range_max where there is no such range
 */
typedef struct
{
  char         *tensor, *node;
  VnTensorRole  role;
  double        low, high, range_min, range_max;
  double        counts[VN_SPREAD_BINS];
} VnSpread;

VnSpread  *vn_spread_copy      (const VnSpread *self);
void       vn_spread_free      (VnSpread       *self);
GPtrArray *vn_run_list_spreads (VnRun          *result);

G_END_DECLS
