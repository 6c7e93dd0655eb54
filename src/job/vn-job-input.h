/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The network and the samples that calibrating and quantizing start from: the same come out for both. */
#pragma once

#include "vn-compare.h"
#include "vn-find-parts.h"
#include "vn-jobs.h"
#include "vn-judge.h"
#include "vn-training.h"

G_BEGIN_DECLS

/**
 * VnJobInput: what a job works on.
 * @model, @data, @recipe, @given_shapes, @edits, @notes: borrowed from the job
 * @data: (nullable): there are no samples
 * @given_shapes: (nullable): sizes of inputs that the user gave
 * @known: (nullable): borrowed: @data opened before, which may keep samples
 * @n_calibration: samples to calibrate on; 0: all but those held out
 * @kept_rounding: (nullable): borrowed: where layers that second-order rounding has finished are kept
 * @draft: what is made is only tried: repairs are judged by as few runs as will do
 * @whole_counts: statistics are to serve any other recipe, too
 * @train_seconds: that training may take at most; 0: what @recipe says
 * @prepared: from vn_job_input_prepare() on: the float network that is quantized
 * @fixed_shapes: (nullable): sizes that @prepared has in place of open ones, as @recipe asks: vn_job_input_get_shapes()
 * @dataset, @shapes, @calibration, @measured: from then on, if there are samples; @shapes may be %NULL
 * @parts: (nullable): of @prepared, once somebody has looked for them: vn_job_input_find_parts()
 * @reference, @preparation: (nullable): the model as opened, and errors of the outputs of @prepared, where these differ:
 *   vn_job_input_find_reference()
 * @apart: no sample is both in @calibration and in @measured
 * @origin: from vn_job_input_make_origin() on
 */
typedef struct
{
  VnModel          *model;
  const VnDataSpec *data;
  const VnRecipe   *recipe;
  GHashTable       *given_shapes;
  VnDataset        *known;
  guint             n_calibration;
  guint             n_threads;
  const char       *kept_rounding;
  gboolean          draft;
  gboolean          whole_counts;
  double            train_seconds;
  VnEditLog        *edits;
  VnNotes          *notes;

  VnModel          *prepared;
  VnDataset        *dataset;
  GHashTable       *shapes, *fixed_shapes;
  GArray           *calibration, *measured;   /* of guint */
  VnParts          *parts;
  VnModel          *reference;
  VnErrorTable     *preparation;
  gboolean          apart;
  VnStatsOrigin    *origin;
} VnJobInput;

gboolean       vn_job_input_validate       (const VnJobInput *self,
                                            GError          **error);
gboolean       vn_job_input_prepare        (VnJobInput       *self,
                                            GCancellable     *cancellable,
                                            GError          **error);
GHashTable    *vn_job_input_get_shapes     (const VnJobInput *self,
                                            const VnRecipe   *recipe);
GHashTable    *vn_job_input_list_given     (const VnJobInput *self);
gboolean       vn_job_input_wants_equalize (const VnJobInput *self);
gboolean       vn_job_input_equalize       (VnJobInput       *self,
                                            VnJob            *job,
                                            GCancellable     *cancellable,
                                            GError          **error);
gboolean       vn_job_input_check          (VnJobInput       *self,
                                            gboolean          calibrates,
                                            GCancellable     *cancellable,
                                            GError          **error);
gboolean       vn_job_input_find_parts     (VnJobInput       *self,
                                            const VnProgress *progress,   /* nullable */
                                            GCancellable     *cancellable,
                                            GError          **error);
void           vn_job_input_make_origin    (VnJobInput       *self);
gboolean       vn_job_input_check_stats    (const VnJobInput *self,
                                            VnStats          *stats,
                                            const char       *path,
                                            GCancellable     *cancellable,
                                            GError          **error);
gboolean       vn_job_input_owns_stats     (const VnJobInput *self,
                                            VnStats          *stats,
                                            GCancellable     *cancellable);
void           vn_job_input_clear          (VnJobInput       *self);

/* ---- vn-job-reference.c ---- */

/* Samples that tell whether preparation changes anything. */
#define VN_REFERENCE_SAMPLES 3u

gboolean       vn_job_input_find_reference (VnJobInput       *self,
                                            GArray           *samples,
                                            const VnProgress *progress,   /* nullable */
                                            GCancellable     *cancellable,
                                            GError          **error);
VnModel       *vn_job_input_get_reference  (const VnJobInput *self);
VnErrorTable  *vn_job_input_measure_outputs (const VnJobInput       *self,
                                             VnErrorTable           *errors,
                                             VnModel                *quantized,
                                             const VnCompareOptions *options,
                                             const VnProgress       *progress,   /* nullable */
                                             GCancellable           *cancellable,
                                             GError                **error);

VnModel       *vn_job_prepare              (const VnModel    *source,
                                            const VnRecipe   *recipe,
                                            GHashTable       *input_shapes,
                                            VnEditLog        *edits,
                                            VnNotes          *notes,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-correct-biases.c ---- */

VnModel       *vn_job_correct_biases       (const VnJobInput *self,
                                            VnJob            *job,
                                            const VnModel    *rounded,    /* nullable */
                                            VnStats          *stats,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-balance-network.c ---- */

gboolean       vn_job_wants_balance        (const VnRecipe   *recipe);
gboolean       vn_job_balances_alike       (const VnRecipe   *a,
                                            const VnRecipe   *b);
gboolean       vn_job_balance_channels     (VnJobInput       *self,
                                            VnJob            *job,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-measure-importance.c ---- */

VnStats       *vn_job_measure_importance   (const VnJobInput *self,
                                            VnStats          *stats,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-measure-noise.c ---- */

gboolean       vn_job_wants_noise          (const VnJobInput *self);
VnStats       *vn_job_measure_noise        (const VnJobInput *self,
                                            VnJob            *job,
                                            VnStats          *stats,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-round-weights.c ---- */

VnRecipe      *vn_job_make_pairs_recipe    (const VnRecipe   *recipe);
guint          vn_job_count_rounding_samples (const VnJobInput *self,
                                              const VnRecipe   *recipe);
VnModel       *vn_job_round_weights        (const VnJobInput *self,
                                            VnJob            *job,
                                            VnStats          *stats,
                                            GCancellable     *cancellable,
                                            GError          **error);
VnModel       *vn_job_take_rounded         (const VnJobInput *self,
                                            const VnModel    *corrected,  /* nullable */
                                            const VnModel    *rounded);   /* nullable */

/* ---- vn-train-network.c ---- */

gboolean       vn_job_train                (const VnJobInput *self,
                                            VnJob            *job,
                                            const VnModel    *corrected,  /* nullable */
                                            const VnModel    *rounded,    /* nullable */
                                            VnStats          *stats,
                                            VnTrainResult    *result,
                                            VnRepairGain     *gain,
                                            GCancellable     *cancellable,
                                            GError          **error);
void           vn_job_note_training        (const VnJobInput *self,
                                            const VnRepairGain *gain);

/* ---- vn-job-explain.c ---- */

void           vn_job_explain_open_sizes   (const VnModel     *model,
                                            const VnDataSpec  *data,      /* nullable */
                                            GHashTable        *given,     /* nullable */
                                            GError           **error);
void           vn_job_explain_failure      (const VnJobInput *self,
                                            GError          **error);

/* ---- vn-coverage.c ---- */

gsize          vn_job_count_bytes          (const VnModel     *model,
                                            GError           **error);
VnModel       *vn_job_write_quantized      (const VnJobInput  *self,
                                            const VnModel     *written,
                                            VnQuantPlan       *plan,
                                            GHashTable       **value_names,
                                            GError           **error);

/* ---- vn-search-ranges.c ---- */

VnStats       *vn_job_search_ranges        (const VnJobInput *self,
                                            VnJob            *job,
                                            VnStats          *stats,
                                            GCancellable     *cancellable,
                                            GError          **error);

/* ---- vn-job-samples.c ---- */

/* Samples that changes of a repair are judged by, if there are as many; and that rounding each matrix alone is measured on, which
 * need not tell more than an order. */
#define VN_JUDGED_SAMPLES 16
#define VN_NOISE_SAMPLES 8u

GArray        *vn_job_take_samples         (GArray           *samples,
                                            gint64            n);
GArray        *vn_job_take_part            (GArray           *samples,
                                            guint             part,
                                            guint             n_parts);
guint          vn_job_count_unseen         (const VnJobInput *self);
GArray        *vn_job_list_judged          (const VnJobInput *self,
                                            GArray           *used,       /* nullable */
                                            guint             n);
VnRepairSamples vn_job_get_samples         (const VnJobInput *self,
                                            const GArray     *indices);   /* borrowed by it */
VnJudge       *vn_job_make_judge           (const VnJobInput *self,
                                            GArray           *used,       /* nullable */
                                            guint             n,
                                            GCancellable     *cancellable,
                                            GError          **error);
void           vn_job_choose_measured      (VnJobInput       *self,
                                            VnStats          *stats);     /* nullable */
void           vn_job_note_overlap         (const VnJobInput *self);
void           vn_job_note_measured        (const VnJobInput *self,
                                            const VnStats    *stats);     /* nullable */
gboolean       vn_job_split_samples        (const VnDataSpec *data,
                                            VnDataset        *dataset,
                                            guint             n_calibration,
                                            GArray          **calibration,
                                            GArray          **measured);
VnStatsOrigin *vn_job_make_origin          (const VnModel    *source,
                                            const VnModel    *prepared,
                                            const VnDataSpec *data,
                                            const char       *samples);

G_END_DECLS
