/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics: from samples, and from files. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

/**
 * VnCalibration: one run over samples.
 * @samples: of guint: those to run; indices into the data set of @input
 * @n_all: @samples are one part of so many; 0: there are no others
 * @taps: what to observe; see vn_quantize_list_values()
 * @keep: (nullable): a file: what was learned so far is kept beside it while the run lasts
 * @base: (nullable): what an interrupted run has left of these samples
 * @n_parts: more than 1: the samples are run in so many parts, which the statistics keep, unless these take too much memory
 * @rank: of @n_ranks processes that share what @base lacks: then @base is not in what is kept and returned, and having no
 *   sample that can be used is no error
 */
typedef struct
{
  const VnJobInput *input;
  GPtrArray        *taps;
  GArray           *samples;
  guint             n_all;
  const char       *keep;
  double            keep_seconds;   /* how often; 0: as it seems fit */
  VnStats          *base;
  guint             n_parts;
  guint             rank, n_ranks;
} VnCalibration;

VnStats       *vn_job_calibrate     (VnJob               *job,
                                     const VnCalibration *calibration,
                                     GCancellable        *cancellable,
                                     GError             **error);
VnStats       *vn_job_load_stats    (const char * const  *paths,
                                     const VnJobInput    *input,
                                     GCancellable        *cancellable,
                                     GError             **error);

G_END_DECLS
