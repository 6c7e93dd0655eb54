/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the job that draws a curve share. */
#pragma once

#include "curve-choices.h"
#include "curve-fit.h"
#include "improve-bench.h"
#include "vn-curve-job.h"

G_BEGIN_DECLS

/* Choices that are measured to correct the prediction of the others. */
#define VN_CURVE_ANCHORS 16

/**
 * VnCurveJob: the state of a job that draws a curve.
 * @other_rounded: (nullable): weights that are rounded for the other type
 * @sums: VnCurvePoint -> VnCurveSums
 * @spares: (element-type VnCurvePoint): choices that are no points, to correct by where there are few points
 */
typedef struct
{
  VnJob             *job;             /* whose state it is */
  VnCurveSettings    settings;        /* owns what it points to */
  VnRun             *plain;
  VnImproveBench    *bench;
  VnContributions   *contributions, *other;
  VnModel           *other_rounded;
  VnRuntimeForecast *quantized, *floats;
  VnCurve           *curve;
  GHashTable        *sums;
  GPtrArray         *spares;
  VnCurveFit        *fit;
  GArray            *judged;          /* of guint: samples */
  guint              n_contributed;   /* how many of them, from the first, contributions are measured on */
  guint              n_copies;        /* how often each of these */
  VnRecipe          *chosen;
  VnRun             *result;
} VnCurveJob;

/* curve-round.c */
gboolean _vn_curve_job_round_other   (VnCurveJob      *self,
                                      const VnRecipe  *other,
                                      GCancellable    *cancellable,
                                      GError         **error);
gboolean _vn_curve_job_forecast      (VnCurveJob      *self,
                                      const VnRecipe  *recipe,
                                      VnImproveTrial  *trial,
                                      GError         **error);

/* curve-points.c */
void     _vn_curve_job_add_points    (VnCurveJob      *self,
                                      VnCurveChoices  *choices);

/* curve-measure.c */
gboolean _vn_curve_job_measure_point (VnCurveJob      *self,
                                      VnCurvePoint    *point,
                                      GCancellable    *cancellable,
                                      GError         **error);
gboolean _vn_curve_job_measure_some  (VnCurveJob      *self,
                                      GCancellable    *cancellable,
                                      GError         **error);

/* curve-wish.c */
gboolean _vn_curve_job_choose_point  (VnCurveJob      *self,
                                      GCancellable    *cancellable,
                                      GError         **error);

G_END_DECLS
