/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why quantizing costs what it costs, what can be done about it, and what that came to. */
#pragma once

#include "vn-headline.h"
#include "vn-quantize.h"

G_BEGIN_DECLS

typedef enum
{
#define VN_REASON(SYMBOL, ...) VN_REASON_##SYMBOL,
#include "vn-reasons.def"
#undef VN_REASON
  VN_N_REASONS
} VnReason;

typedef enum
{
#define VN_CURE(SYMBOL, ...) VN_CURE_##SYMBOL,
#include "vn-cures.def"
#undef VN_CURE
  VN_N_CURES
} VnCure;

/* What a reason speaks of: a line of vn-reasons.def says more. */
typedef enum { VN_SCOPE_RUN, VN_SCOPE_TENSOR, VN_SCOPE_OTHERWISE, VN_SCOPE_ASIDE } VnReasonScope;

/* What a cure changes. */
typedef enum { VN_CURES_RECIPE, VN_CURES_SAMPLES, VN_CURES_NOTHING } VnCureKind;

/* What has to be at a tensor: a line of vn-cures.def says more. */
typedef enum { VN_PLACE_ANYWHERE, VN_PLACE_OF_LAYER, VN_PLACE_OF_BIAS, VN_PLACE_TO_LAYER, VN_PLACE_TO_DEPTHWISE,
               VN_PLACE_AT_LAYER } VnCurePlace;

/**
 * VnFinding: one reason of one tensor, or of the run.
 * @rank: of the tensor by what it costs, from 1; 0: of the run, or of a tensor whose cost was not measured
 * @tensor: of the prepared network; "" for the run
 * @node: vn_node_dup_label() of what computes it or has it as a weight; "" for the run and for inputs
 * @share: of the outputs' error, as in VnContribution; 0 where it was not measured
 * @text: one translated sentence with the numbers
 * @unfit: a bit for each VnCure that can do nothing about the tensor
 */
typedef struct
{
  guint         rank;
  char         *tensor, *node;
  VnTensorRole  role;
  double        share;
  VnReason      reason;
  char         *text;
  guint64       unfit;
} VnFinding;

typedef enum
{
  VN_TRIAL_HELPED,
  VN_TRIAL_NO_HELP,       /* the outputs are no better */
  VN_TRIAL_IMPOSSIBLE,    /* the network cannot be quantized so */
  VN_TRIAL_TOLD,          /* nothing that a program can do */
  VN_TRIAL_NO_TIME,
  VN_N_TRIALS
} VnTrialState;

/**
 * VnCureTrial: what a cure came to, on held-out samples.
 * @tensor: whose cure it is; "" for the run
 * @before_db, @after_db: signal to noise of the outputs, averaged; NAN where nothing was measured
 * @before, @after: what verdicts rest on; nothing is known where nothing was measured
 * @before_bytes, @after_bytes: of the quantized network as written
 * @time_ratio: of the time that ONNX Runtime is forecast to take with the cure to the one without; NAN where that is not known
 * @recipe: (nullable): the recipe with the cure; %NULL where nothing was run
 * @problem: (nullable): why it cannot be done
 */
typedef struct
{
  char         *tensor;
  VnReason      reason;
  VnCure        cure;
  VnTrialState  state;
  double        before_db, after_db;
  VnHeadline    before, after;
  gsize         before_bytes, after_bytes;
  double        time_ratio;
  VnRecipe     *recipe;
  char         *problem;
} VnCureTrial;

/**
 * VnDiagnosis: findings, those of the run first, then by rank; and the trials in the order they were made.
 */
typedef struct _VnDiagnosis VnDiagnosis;

VnDiagnosis       *vn_diagnosis_new_empty   (void);
VnDiagnosis       *vn_diagnosis_ref         (VnDiagnosis   *self);
void               vn_diagnosis_unref       (VnDiagnosis   *self);
void               vn_diagnosis_add         (VnDiagnosis   *self,
                                             VnFinding     *finding);
guint              vn_diagnosis_get_n       (VnDiagnosis   *self);
const VnFinding   *vn_diagnosis_get         (VnDiagnosis   *self,
                                             guint          i);
void               vn_diagnosis_add_trial   (VnDiagnosis   *self,
                                             VnCureTrial   *trial);
guint              vn_diagnosis_get_n_trials (VnDiagnosis  *self);
const VnCureTrial *vn_diagnosis_get_trial   (VnDiagnosis   *self,
                                             guint          i);
const VnCureTrial *vn_diagnosis_find_best   (VnDiagnosis   *self);

const char        *vn_reason_get_id         (VnReason       self);
const char        *vn_reason_get_title      (VnReason       self);
VnReasonScope      vn_reason_get_scope      (VnReason       self);
GArray            *vn_reason_list_cures     (VnReason       self);
GArray            *vn_finding_list_cures    (const VnFinding *self);
const char        *vn_cure_get_id           (VnCure         self);
const char        *vn_cure_get_title        (VnCure         self);
VnCureKind         vn_cure_get_kind         (VnCure         self);
VnCurePlace        vn_cure_get_place        (VnCure         self);
gboolean           vn_cure_find             (const char    *id,
                                             VnCure        *cure);
const char        *vn_trial_state_get_id    (VnTrialState   self);
char              *vn_cure_trial_dup_text   (const VnCureTrial *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDiagnosis, vn_diagnosis_unref)

G_END_DECLS
