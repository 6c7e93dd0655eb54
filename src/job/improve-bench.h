/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where “--auto” tries recipes: one network, its statistics, and the float outputs of the samples that recipes are judged by.
 * A try only resolves, writes and runs what is written. */
#pragma once

#include "vn-job-input.h"

#include "vn-contributions.h"
#include "vn-judge.h"

G_BEGIN_DECLS

/**
 * VnImproveBench:
 * @input: prepared for the recipe that all tries start from
 * @stats: of its prepared network
 * @rounded, @corrected: (nullable): the prepared network with the weights, and the biases, that recipes get which ask for such
 */
typedef struct
{
  VnJob      *job;         /* borrowed: told how far it is */
  VnJobInput  input;
  VnStats    *stats;
  VnJudge    *judge;
  VnModel    *rounded, *corrected;
} VnImproveBench;

VnImproveBench  *vn_improve_bench_new     (VnJob                    *job,
                                           const VnQuantizeSettings *settings,
                                           VnResult                 *plain,
                                           GCancellable             *cancellable,
                                           GError                  **error);
void             vn_improve_bench_free    (VnImproveBench           *self);
gboolean         vn_improve_bench_round   (VnImproveBench           *self,
                                           const VnRecipe           *recipe,
                                           GCancellable             *cancellable,
                                           GError                  **error);
gboolean         vn_improve_bench_correct (VnImproveBench           *self,
                                           const VnRecipe           *recipe,
                                           GCancellable             *cancellable,
                                           GError                  **error);
gboolean         vn_improve_bench_try     (VnImproveBench           *self,
                                           const VnRecipe           *recipe,
                                           VnJudgement              *trial,
                                           GCancellable             *cancellable,
                                           GError                  **error);
VnContributions *vn_improve_bench_find_origins (VnImproveBench      *self,
                                                const VnRecipe      *recipe,
                                                GCancellable        *cancellable,
                                                GError             **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnImproveBench, vn_improve_bench_free)

G_END_DECLS
