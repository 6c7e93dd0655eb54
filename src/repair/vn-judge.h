/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What decides whether a change helps: the error of the outputs, and what is kept of the answers, on samples that were not
 * calibrated with. */
#pragma once

#include "vn-part-sums.h"
#include "vn-plan.h"
#include "vn-samples.h"
#include "vn-task.h"

G_BEGIN_DECLS

/**
 * VnRepairSamples: samples that repairs work with.
 * @shapes: (nullable): as vn_model_infer_types()
 * @n_threads: 0: all processors; results are the same bits for any number
 * @near_copies: how often a judge runs each sample at most, itself counted, with copies that differ as little as they can; 0: as
 *   it seems fit, with copies that differ more
 * @once: a judge runs each sample once, without copies: nearly as good a figure in a part of the time
 * @parts: (nullable): of the outputs: they are judged by the worst of them
 */
typedef struct
{
  GHashTable   *shapes;
  VnDataset    *dataset;
  const guint  *indices;
  guint         n;
  guint         n_threads;
  VnNotes      *notes;      /* nullable */
  guint         near_copies;
  gboolean      once;
  VnParts      *parts;
} VnRepairSamples;

/* @progress: (nullable): told after each sample */
static inline VnSamples
vn_repair_samples_get (const VnRepairSamples *self,
                       const VnProgress      *progress)
{
  return (VnSamples) { .dataset = self->dataset, .shapes = self->shapes, .indices = self->indices, .n = self->n,
                       .n_threads = self->n_threads, .progress = progress, .notes = self->notes };
}

/**
 * VnJudge: the outputs of the float network, kept to compare others with.
 */
typedef struct _VnJudge VnJudge;

/**
 * VnJudgement: how near the outputs of a network are to the float ones.
 * @sqnr_db: signal to quantization noise of each output over all samples, of its worst part, in dB, averaged over the outputs;
 *   between -200 and 200. 200 also where no output is of float32
 * @kept: what is kept of the answers of the float network, on the samples themselves; its task is %VN_TASK_OTHER where none is
 * known
 * @each: (element-type double): the same of each sample, and of its copies, in the same order for all networks; %NULL if
 * @hopeless
 * @sums: what @sqnr_db is computed from
 * @hopeless: so much worse than another one on a part of the samples that the others were not run: @sqnr_db is estimated, and
 *   nobody knows @kept
 */
typedef struct
{
  double      sqnr_db;
  GArray     *each;
  VnKept      kept;
  VnErrorSum *sums;
  gboolean    hopeless;
} VnJudgement;

VnJudge *vn_judge_new     (VnModel                *model,
                           const VnRepairSamples  *samples,
                           GCancellable           *cancellable,
                           GError                **error);
void     vn_judge_free    (VnJudge                *self);
guint    vn_judge_get_n_copies (VnJudge             *self);      /* how often each is run, itself counted */
guint    vn_judge_get_n   (VnJudge                *self);      /* samples, without their copies */
gboolean vn_judge_measure (VnJudge                *self,
                           VnModel                *model,
                           VnJudgement            *judgement,
                           GCancellable           *cancellable,
                           GError                **error);
gboolean vn_judge_measure_against (VnJudge             *self,
                                 VnModel                *model,
                                 const VnJudgement      *best,
                                 double                  least_gain,
                                 VnJudgement            *judgement,
                                 GCancellable           *cancellable,
                                 GError                **error);

void     vn_judgement_clear     (VnJudgement            *self);
void     vn_judgement_take      (VnJudgement            *self,
                                 VnJudgement            *from);
int      vn_judgement_compare_answers (const VnJudgement *self,
                                       const VnJudgement *before);
double   vn_judgement_get_error (const VnJudgement      *self,
                                 const VnJudgement      *before);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnJudge, vn_judge_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnJudgement, vn_judgement_clear)

G_END_DECLS
