/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--auto”, for the files that it is made of. */
#pragma once

#include "improve-origins.h"
#include "improve-times.h"

#include "vn-improve-job.h"

G_BEGIN_DECLS

typedef struct
{
  VnJob             *job;             /* whose state it is */
  VnImproveSettings  settings;      /* owns what it points to */
  VnQuantizeSettings trial;         /* borrows: the same with fewer samples to calibrate on; others are left to judge by */
  VnRun             *whole;         /* the plain run, from all samples */
  VnRun             *plain;         /* what tries start from: of the network that is quantized now */
  VnImproveBench    *bench;
  VnRecipe          *recipe;        /* the best so far, and what it comes to */
  VnImproveTrial     best;
  VnImproveTrial     simple;        /* what it comes to without repairs that are made for it alone, once somebody has asked */
  GPtrArray         *earlier;       /* of VnRecipe: what was the best before, the last one last */
  VnImproveLimit     most;          /* that an export may cost; grows by what was kept while nothing was usable */
  VnRun             *result;
  VnImproveTimes     times;
  gint64             began;
  GPtrArray         *tries;         /* of VnImproveTry */
} VnImproveJob;

/* ---- vn-improve-job.c ---- */

VnImproveJob    *_vn_improve_job_get_state (VnJob               *job);

/* ---- improve-judge.c ---- */

void             vn_improve_add_try     (VnImproveJob          *self,
                                         const VnImproveStep   *step,
                                         VnImproveOutcome       outcome,
                                         const VnImproveTrial  *trial,     /* nullable */
                                         const GError          *reason);   /* nullable */
VnImproveLimit   vn_improve_get_limit   (const VnImproveJob    *self);
VnImproveOutcome vn_improve_check_price (const VnImproveJob    *self,
                                         const VnImprovePrice  *price);
gboolean         vn_improve_judge       (VnImproveJob          *self,
                                         const VnImproveStep   *step,
                                         const VnRecipe        *recipe,
                                         VnImproveTrial        *trial);
void             vn_improve_take_remade (VnImproveJob          *self,
                                         VnImproveTrial        *trial);
VnImproveTry    *vn_improve_step_back   (VnImproveJob          *self);
gboolean         vn_improve_is_in_vain  (const VnImproveJob    *self);
void             vn_improve_settle      (VnImproveJob          *self);
void             vn_improve_give_up     (VnImproveJob          *self);

/* ---- improve-kinds.c ---- */

double           vn_improve_get_seconds (const VnImproveJob    *self);
VnRun           *vn_improve_run         (const VnQuantizeSettings *settings,
                                         const VnRecipe        *recipe,
                                         VnStats               *earlier,   /* nullable */
                                         GCancellable          *cancellable,
                                         GError               **error);
gboolean         vn_improve_make        (VnImproveBench        *bench,
                                         VnImproveKind          kind,
                                         const VnRecipe        *recipe,
                                         GCancellable          *cancellable,
                                         GError               **error);
gboolean         vn_improve_try         (VnImproveJob          *self,
                                         const VnImproveStep   *step,
                                         GCancellable          *cancellable,
                                         GError               **error);

/* ---- improve-finish.c ---- */

gboolean         vn_improve_finish      (VnImproveJob          *self,
                                         GCancellable          *cancellable,
                                         GError               **error);

G_END_DECLS
