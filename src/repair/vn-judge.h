/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What decides whether a change helps: the error of the outputs on samples that were not calibrated with. */
#pragma once

#include "vn-dataset.h"
#include "vn-error-sum.h"
#include "vn-plan.h"
#include "vn-progress.h"

G_BEGIN_DECLS

/**
 * VnRepairSamples: samples that repairs work with.
 * @shapes: (nullable): as vn_model_infer_types()
 * @n_threads: 0: all processors; results are the same bits for any number
 */
typedef struct
{
  GHashTable   *shapes;
  VnDataset    *dataset;
  const guint  *indices;
  guint         n;
  guint         n_threads;
  VnNotes      *notes;      /* nullable */
} VnRepairSamples;

/**
 * VnJudge: the outputs of the float network, kept to compare others with.
 */
typedef struct _VnJudge VnJudge;

VnJudge *vn_judge_new     (VnModel                *model,
                           const VnRepairSamples  *samples,
                           GCancellable           *cancellable,
                           GError                **error);
void     vn_judge_free    (VnJudge                *self);
gboolean vn_judge_measure (VnJudge                *self,
                           VnModel                *model,
                           double                 *sqnr_db,
                           GCancellable           *cancellable,
                           GError                **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnJudge, vn_judge_free)

G_END_DECLS
