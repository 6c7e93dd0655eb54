/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-calibrate.h"
#include "vn-histogram-private.h"

#include "vn-i18n.h"

G_BEGIN_DECLS

gboolean     vn_range_check          (const VnHistogram      *histogram,
                                      GError                **error);
guint        vn_range_get_bits       (const VnRangeSettings  *settings);
VnHistogram *vn_histogram_fold_signs (const VnHistogram      *self);

G_END_DECLS
