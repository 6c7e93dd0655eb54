/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the range methods share: checks, grids of levels, symmetric ranges and their errors. */

#include "vn-calibrate.h"
#include "vn-histogram-private.h"

#include "vn-i18n.h"

G_BEGIN_DECLS

#define VN_RANGE(name) extern const VnRangeMethod vn_range_##name;
#include "vn-ranges.def"
#undef VN_RANGE

/* The levels of a type, laid over a range: x' = (q - zero) * scale for q from qmin to qmax. */
typedef struct
{
  double scale, zero, qmin, qmax;
} VnRangeGrid;

gboolean     vn_range_check            (const VnHistogram      *histogram,
                                        GError                **error);
gboolean     vn_range_check_percentile (const VnRangeSettings  *settings,
                                        GError                **error);
guint        vn_range_get_bits         (const VnRangeSettings  *settings);
double       vn_range_get_steps        (const VnRangeSettings  *settings);
gboolean     vn_range_is_one_sided     (const VnHistogram      *histogram,
                                        const VnRangeSettings  *settings);
void         vn_range_make_symmetric   (VnRange                *range,
                                        const VnRangeSettings  *settings);
void         vn_range_clip             (VnRange                *range,
                                        double                  min,
                                        double                  max);
void         vn_range_raise_scale      (VnRange                *range,
                                        const VnRangeSettings  *settings,
                                        double                  min_scale);
void         vn_range_get_grid         (const VnRange          *range,
                                        const VnRangeSettings  *settings,
                                        VnRangeGrid            *grid);
void         vn_range_from_grid        (VnRange                *range,
                                        const VnRangeGrid      *grid);
double       vn_range_get_error        (const VnRoundingTable  *table,
                                        const VnRange          *range,
                                        const VnRangeSettings  *settings,
                                        double                  enough);
void         vn_range_get_average      (const VnHistogram      *histogram,
                                        double                  percentile,
                                        VnRange                *range);
double       vn_range_aciq_threshold   (gboolean                gauss,
                                        guint                   bits);
int          vn_range_find_position    (const VnHistogram      *histogram,
                                        const VnRoundingTable  *table,
                                        double                  low,
                                        double                  high);
VnHistogram *vn_histogram_fold_signs   (const VnHistogram      *self);

G_END_DECLS
