/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How far the outputs of networks are from those of the first one, by the rule of the figure of merit: output by output, part by
 * part. */

#include "vn-dataset.h"
#include "vn-error-sum.h"
#include "vn-error-table.h"
#include "vn-plan.h"
#include "vn-tensor.h"

G_BEGIN_DECLS

typedef struct _EvaluateOutputs EvaluateOutputs;

EvaluateOutputs *evaluate_outputs_new    (const char * const    *names,
                                          guint                  n,
                                          VnParts               *parts,       /* nullable */
                                          gsize                  n_answers);
void             evaluate_outputs_free   (EvaluateOutputs       *self);
void             evaluate_outputs_leave_out_caches (EvaluateOutputs *self,
                                          VnPlan                *plan);
void             evaluate_outputs_add    (EvaluateOutputs       *self,
                                          gsize                  answer,
                                          VnTensor * const      *first,
                                          const char * const    *names,
                                          guint                  n,
                                          VnTensor * const      *outputs);
const VnErrorSum *evaluate_outputs_get  (const EvaluateOutputs *self,
                                          gsize                  answer,
                                          gsize                 *n_sums);
void             evaluate_outputs_take   (EvaluateOutputs       *self,
                                          gsize                  answer,
                                          VnErrorSum            *sums);
VnErrorTable    *evaluate_outputs_sum_up (const EvaluateOutputs *self,
                                          gsize                  start,
                                          gsize                  step);
int              evaluate_outputs_find_rank (const VnTensor     *tensor,
                                          gsize                  n,
                                          gsize                  wanted);
gboolean         evaluate_outputs_widen  (VnTensor             **outputs,
                                          guint                  n,
                                          GError               **error);
gboolean         evaluate_outputs_are_classes (const VnModel    *model,
                                          VnDataset             *dataset);
gboolean         evaluate_outputs_are_computed (const VnModel   *model);
const char     **evaluate_outputs_list_names (VnPlan            *plan);

G_END_DECLS
