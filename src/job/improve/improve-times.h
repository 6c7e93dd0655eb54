/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seconds of runs and tries. */
#pragma once

#include "improve-steps.h"

G_BEGIN_DECLS

/**
 * VnImproveTimes: in seconds.
 * @run_seconds: that quantizing took
 * @longest: by kind: of the longest try so far
 */
typedef struct
{
  double run_seconds, longest[VN_IMPROVE_TRAINING + 1];
} VnImproveTimes;

double vn_improve_times_estimate_repairs (const VnImproveTimes *self,
                                          const VnRecipe       *recipe);
double vn_improve_times_estimate_last    (const VnImproveTimes *self,
                                          const VnRecipe       *recipe);
double vn_improve_times_estimate_try     (const VnImproveTimes *self,
                                          VnImproveKind         kind,
                                          const VnRecipe       *recipe);

G_END_DECLS
