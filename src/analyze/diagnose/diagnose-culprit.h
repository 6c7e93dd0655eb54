/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules of a diagnosis look at; the rules themselves are in diagnose-*.c. */
#pragma once

#include "vn-run.h"

G_BEGIN_DECLS

/**
 * VnCulprit: a tensor of the prepared network, or the run if all but @result is %NULL.
 * @contribution: (nullable): what it costs, if that was measured
 * @value: (nullable): of a bias that was copied there is none
 * @node: (nullable): what computes it; of a constant, what reads it first
 * @plan: how it is quantized
 * @histogram: (nullable): of an activation
 * @constant: (nullable): the floats of a weight or bias
 */
typedef struct
{
  VnRun                *result;
  const VnContribution *contribution;
  const VnValue        *value;
  const VnNode         *node;
  const VnTensorPlan   *plan;
  const VnHistogram    *histogram;
  VnTensor             *constant;
} VnCulprit;

#define VN_REASON(SYMBOL, function, id, scope, cures, title) char *_vn_diagnose_##function (const VnCulprit *culprit);
#include "vn-reasons.def"
#undef VN_REASON

/* The channels of a tensor by their size: the largest absolute value of each. */
typedef struct
{
  guint   n, largest;      /* @largest: number of that channel */
  float  *widths;
  double  width;           /* of the largest */
  double  small;           /* of those that are not always 0, a quarter is smaller */
} VnChannelWidths;

guint64            _vn_culprit_find_unfit       (const VnCulprit   *self);
const VnValue     *_vn_culprit_follow           (const VnCulprit   *self);
gboolean           _vn_culprit_measure_channels (const VnHistogram *histogram,
                                                 VnChannelWidths   *widths);
void               _vn_channel_widths_clear     (VnChannelWidths   *self);
double             _vn_culprit_get_step         (const VnCulprit   *self);
const VnHistogram *_vn_culprit_get_histogram    (const VnCulprit   *self,
                                                 const VnValue     *value);
const VnNode      *_vn_culprit_find_join        (const VnValue     *value);
double             _vn_histogram_get_width      (const VnHistogram *self);
double             _vn_histogram_get_power      (const VnHistogram *self);
double             _vn_culprit_get_column_width (const VnTensor    *weight,
                                                 const VnNode      *reader,
                                                 guint              channel,
                                                 guint              n_channels);
gboolean           _vn_culprit_get_live_range   (const VnCulprit   *self,
                                                 VnRange           *range);
gboolean           _vn_culprit_get_bulk_range   (const VnCulprit   *self,
                                                 VnRange           *range);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnChannelWidths, _vn_channel_widths_clear)

G_END_DECLS
