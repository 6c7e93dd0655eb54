/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the main job share. */
#pragma once

#include "quantize-costs.h"
#include "vn-calibration-private.h"
#include "vn-idle-settings-private.h"

#include "vn-jobs.h"

G_BEGIN_DECLS

typedef struct
{
  VnJob             *job;             /* whose state it is */
  VnQuantizeSettings settings;      /* owns what it points to */
  VnJobInput         input;
  VnStats           *stats;         /* nullable: from files */
  VnModel           *corrected;     /* nullable: the prepared network with corrected biases */
  /* nullable: the prepared network with weights that were rounded by what samples say, or trained */
  VnModel           *rounded;
  VnUntrained        untrained;     /* of a network that is trained */
  VnQuantizeFacts    facts;
  guint              n_parts;       /* of the samples, each left out in turn to be measured; 0: none is */
  gboolean           ran_parts;     /* the samples: what they left took too much memory to be kept if it is not there */
  char              *kept_rounding;   /* nullable: where finished layers are kept */
  VnRun             *draft;         /* what the stages fill, until all have succeeded */
  VnRun             *result;
} VnQuantizeJob;

/* quantize-train.c */
gboolean         _vn_quantize_job_check_clock     (const VnRecipe              *recipe,
                                                   GError                     **error);
const VnModel   *_vn_quantize_job_get_float       (VnQuantizeJob               *self);
gboolean         _vn_quantize_job_write           (VnQuantizeJob               *self,
                                                   VnModel                     *float_model,
                                                   GError                     **error);
gboolean         _vn_quantize_job_train           (VnQuantizeJob               *self,
                                                   GCancellable                *cancellable,
                                                   GError                     **error);

/* quantize-measure.c */
gboolean         _vn_quantize_job_check_task      (const VnRecipe              *recipe,
                                                   GError                     **error);
gboolean         _vn_quantize_job_compare         (VnQuantizeJob               *self,
                                                   GCancellable                *cancellable,
                                                   GError                     **error);
VnContributions *_vn_quantize_job_measure_origins (VnQuantizeJob               *self,
                                                   const VnRun                 *result,
                                                   VnNotes                     *notes,
                                                   const VnContributionOptions *options,    /* nullable */
                                                   const VnProgress            *progress,   /* nullable */
                                                   GCancellable                *cancellable,
                                                   GError                     **error);
gboolean         _vn_quantize_job_find_origins    (VnQuantizeJob               *self,
                                                   GCancellable                *cancellable,
                                                   GError                     **error);

G_END_DECLS
