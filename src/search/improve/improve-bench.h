/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where “--auto” tries recipes: one network, its statistics, and the float outputs of the samples that recipes are judged by.
 * A try only resolves, writes and runs what is written. */
#pragma once

#include "vn-improve-job.h"
#include "vn-job-input.h"

#include "vn-contributions.h"
#include "vn-judge.h"
#include "vn-runtime.h"

G_BEGIN_DECLS

/**
 * VnImproveBench:
 * @input: prepared for the recipe that all tries start from
 * @stats: of its prepared network
 * @float_forecast: of the prepared network in ONNX Runtime
 * @digest: (nullable): of the network that @input makes, without what samples say, once somebody has asked
 * @rounded: (nullable): the prepared network with the weights that recipes get which ask for such
 * @corrected: (nullable): the same with biases: for weights rounded to the nearest, and for others
 */
typedef struct
{
  VnJob      *job;         /* borrowed: told how far it is */
  VnJobInput  input;
  VnStats    *stats;
  VnJudge    *judge;
  VnRuntimeForecast *float_forecast;
  char       *digest;
  VnModel    *rounded, *corrected[2];
} VnImproveBench;

/**
 * VnImprovePrice: what an export costs where it is to run
 * @ratio: how long it takes in ONNX Runtime beside the float network; NaN: that cannot be told, or it is for another processor
 * @integer_share: of the multiplications that are done on integers, 0 to 1; NaN: that cannot be told
 * @wide_share: of the multiplications whose activations have 16 bit, where the target has such kernels; else NaN
 * @size: bytes of weights and constants beside those of the float network
 */
typedef struct
{
  double ratio, integer_share, wide_share, size;
} VnImprovePrice;

/**
 * VnImproveLimit: what an export may cost.
 * @ratio, @wide_share: at most
 * @integer_share: at least
 * @size, @won_ratio: of these it must keep to one, or there is little reason to quantize: size, or time beside the float
 * network's
 */
typedef struct
{
  double ratio, integer_share, wide_share, size, won_ratio;
} VnImproveLimit;

/**
 * VnImproveTrial: what a recipe comes to.
 * @model: what would be exported, until it is measured
 * @bytes: of weights and constants
 * @digest: of @model, once somebody needs it; stays when that is measured
 */
typedef struct
{
  VnModel       *model;
  char          *digest;
  VnJudgement    judgement;
  VnImprovePrice price;
  gsize          bytes;
} VnImproveTrial;

VnImproveBench  *vn_improve_bench_new     (VnJob                    *job,
                                           const VnQuantizeSettings *settings,
                                           VnRun                    *plain,
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
VnImprovePrice   vn_improve_bench_look_ahead (const VnImproveBench    *self,
                                           const VnRecipe           *recipe,
                                           VnModel                  *model);
gboolean         vn_improve_bench_forecast (VnImproveBench          *self,
                                           const VnRecipe           *recipe,
                                           VnImproveTrial           *trial,
                                           GError                  **error);
gboolean         vn_improve_bench_is_same_network (VnImproveBench   *self,
                                           const VnRecipe         *recipe,
                                           gboolean               *same,
                                           GCancellable           *cancellable,
                                           GError                **error);
gboolean         vn_improve_bench_measure (VnImproveBench           *self,
                                           VnImproveTrial           *trial,
                                           GCancellable             *cancellable,
                                           GError                  **error);
gboolean         vn_improve_bench_try     (VnImproveBench           *self,
                                           const VnRecipe           *recipe,
                                           VnImproveTrial           *trial,
                                           GCancellable             *cancellable,
                                           GError                  **error);
VnDataset       *vn_improve_open_samples  (const VnQuantizeSettings *settings,
                                           const VnRun              *plain,
                                           GError                  **error);
guint            vn_improve_count_learned (const VnQuantizeSettings *settings,
                                           const VnRun              *plain);
VnContributions *vn_improve_bench_find_origins (VnImproveBench      *self,
                                                const VnRecipe      *recipe,
                                                GCancellable        *cancellable,
                                                GError             **error);

double           vn_improve_price_get_time (const VnImprovePrice *self);
VnImproveLimit   vn_improve_limit_make    (const VnImprovePrice  *plain,
                                           gboolean               accuracy_first);
VnImproveOutcome vn_improve_limit_check   (const VnImproveLimit  *self,
                                           const VnImprovePrice  *price);

void             vn_improve_trial_clear   (VnImproveTrial           *self);
void             vn_improve_trial_take    (VnImproveTrial           *self,
                                           VnImproveTrial           *from);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnImproveBench, vn_improve_bench_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnImproveTrial, vn_improve_trial_clear)

G_END_DECLS
