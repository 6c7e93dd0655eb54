/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seconds of runs and tries. */
#pragma once

#include "improve-steps.h"

G_BEGIN_DECLS

/**
 * VnImproveTimes: in seconds.
 * @run_seconds: that quantizing took
 * @compare_seconds: of these, comparing with the float network, which tries do without
 * @network_seconds: that the try of what the network is made with now took; 0: it is as in the plain run
 * @longest: by kind: of the longest try so far
 * @whole: how often what tries take for repairs the last run takes, which judges them by more runs
 */
typedef struct
{
  double run_seconds, compare_seconds, network_seconds, longest[VN_IMPROVE_TRAINING + 1], whole;
} VnImproveTimes;

double vn_improve_times_estimate_repairs (const VnImproveTimes *self,
                                          const VnRecipe       *recipe);
double vn_improve_times_estimate_last    (const VnImproveTimes *self,
                                          const VnRecipe       *recipe);
double vn_improve_times_estimate_try     (const VnImproveTimes *self,
                                          VnImproveKind         kind,
                                          const VnRecipe       *recipe);

G_END_DECLS
