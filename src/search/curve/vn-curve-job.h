/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job that quantizes with mixed precision: the whole curve of error over cost, and the point of it that is wanted. */
#pragma once

#include "vn-curve.h"
#include "vn-jobs.h"

G_BEGIN_DECLS

/**
 * VnCurveSettings:
 * @quantize: where it starts; samples must be there
 * @cost: what accuracy is paid with; %VN_N_CURVE_COSTS: size if that is limited, else multiplications
 * @target_db: signal to noise of the outputs that is wanted, at least cost; NaN: none
 * @most_bytes: of the export; 0: any
 * @most_float: share of the multiplications that may be done otherwise than on integers of 8 bit, 0 to 1; NaN: any
 *
 * With neither a target nor limits the result is what @quantize asks for, with its curve.
 */
typedef struct
{
  VnQuantizeSettings quantize;
  VnCurveCost        cost;
  double             target_db, most_float;
  guint64            most_bytes;
} VnCurveSettings;

VnJob    *vn_curve_job_new        (const VnCurveSettings *settings);
VnRun    *vn_curve_job_get_result (VnJob                 *job);        /* borrowed; after success; has the curve */

G_END_DECLS
