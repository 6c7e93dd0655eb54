/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What another precision of some nodes would gain and cost, told from what is known already: before anything is run. */

#include "vn-bench-rules.h"

G_BEGIN_DECLS

/**
 * VnPrecisionGain:
 * @gain_db: of the outputs, about; NaN: where error starts was not measured
 * @bytes: that the file grows by
 */
typedef struct
{
  double gain_db;
  gint64 bytes;
} VnPrecisionGain;

gboolean vn_precision_gain_estimate (VnBench         *bench,
                                     const guint     *nodes,
                                     guint            n,
                                     VnNodePrecision  precision,
                                     VnPrecisionGain *gain);
char    *vn_precision_gain_dup_text (const VnPrecisionGain *self);

G_END_DECLS
