/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-channel-stats.h"
#include "vn-jobs.h"

G_BEGIN_DECLS

/* What calibrating and quantizing have in common: the same network, samples and statistics come out of both. */

VnModel       *vn_job_prepare       (const VnModel    *source,
                                     const VnRecipe   *recipe,
                                     GHashTable       *input_shapes,
                                     VnEditLog        *edits,
                                     VnNotes          *notes,
                                     GCancellable     *cancellable,
                                     GError          **error);
gboolean       vn_job_needs_samples_to_equalize (const VnRecipe *recipe);
GArray        *vn_job_take_samples  (GArray           *samples,
                                     gint64            n);
gboolean       vn_job_equalize      (VnJob            *job,
                                     const VnRecipe   *recipe,
                                     VnModel          *prepared,
                                     const VnChannelRun *data,
                                     GArray           *samples,
                                     VnEditLog        *edits,
                                     GCancellable     *cancellable,
                                     GError          **error);
gboolean       vn_job_check_is_float (const VnModel   *model,
                                     GError          **error);
gboolean       vn_job_split_samples (guint             n,
                                     guint             n_held,
                                     guint             n_calibration,
                                     GArray          **calibration,
                                     GArray          **held_out);
VnStatsOrigin *vn_job_make_origin   (const VnModel    *source,
                                     const VnModel    *prepared,
                                     const VnDataSpec *data);

/**
 * VnCalibration: one run over samples.
 * @samples: indices into @dataset
 * @taps: what to observe; see vn_quantize_list_values()
 * @keep: (nullable): a file: what was learned so far is kept beside it while the run lasts
 * @base: (nullable): what an interrupted run has left of these samples
 * @rank: of @n_ranks processes that share what @base lacks: then @base is not in what is kept and returned, and having no
 *   sample that can be used is no error
 */
typedef struct
{
  VnModel             *prepared;
  GHashTable          *shapes;
  GPtrArray           *taps;
  VnDataset           *dataset;
  GArray              *samples;
  const VnStatsOrigin *origin;
  guint                n_threads;
  const char          *keep;
  double               keep_seconds;   /* how often; 0: as it seems fit */
  VnStats             *base;
  guint                rank, n_ranks;
} VnCalibration;

VnStats       *vn_job_calibrate     (VnJob               *job,
                                     const VnCalibration *calibration,
                                     VnNotes             *notes,
                                     GCancellable        *cancellable,
                                     GError             **error);
VnStats       *vn_job_load_stats    (const char * const  *paths,
                                     const VnStatsOrigin *origin,
                                     VnNotes             *notes,
                                     GError             **error);

G_END_DECLS
