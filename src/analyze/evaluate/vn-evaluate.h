/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Labels of samples, and how many of them networks get right. */

#include "vn-task.h"
#include "vn-compare.h"
#include "vn-error-table.h"
#include "vn-user-metric.h"

G_BEGIN_DECLS

/* ---- what the samples show (vn-labels.c) ---- */

/**
 * VnLabels: the true class of each sample.
 * @classes: (element-type int): by sample: number of the class, or -1
 * @n_classes: how many there are; 0: numbers as a list gives them, how many there may be is not known
 * @numbers: (nullable) (element-type int): by class: the number that its folder has for a name; only if all have one
 * @max: highest of @classes
 * @given: a file names the classes: numbers are those of the outputs
 */
typedef struct
{
  GArray *classes;
  guint   n_classes;
  GArray *numbers;
  int     max;
  gboolean given;
} VnLabels;

VnLabels *vn_labels_new  (VnDataset       *dataset,
                          const VnModel   *model,
                          const char      *file,
                          VnNotes         *notes,
                          GError         **error);
void      vn_labels_free (VnLabels        *self);
int       vn_labels_get_number (const VnLabels *self,
                                guint           sample);
int       vn_labels_get  (const VnLabels  *self,
                          guint            sample,
                          gsize            n_outputs);

void      vn_labels_note_chance (const VnAccuracy *accuracy,
                                 VnNotes          *notes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnLabels, vn_labels_free)

/* ---- how networks answer ---- */

/**
 * VnContestant: a network and where its samples come from; several may share a data set.
 */
typedef struct
{
  VnModel    *model;
  GHashTable *shapes;      /* nullable */
  VnDataset  *dataset;
} VnContestant;

/**
 * VnScore: what a network made of the samples.
 * @n_outputs: among how many classes it chooses; 0: it does not classify
 * @n: samples that could be read
 * @n_labelled: of these, those whose class is known; of them @top1 and @top5 got it as the first, or among the first five
 * @kept: what it keeps of the answers of the first network, by whose outputs the task is told
 * @metrics: (nullable) (element-type VnMetricNumber): by the user's metric: means over the samples that have the number, and what
 *   its function “finish” makes of them all; behind them what the task tells beside the share, such as the perplexity
 * @errors: (nullable): of the outputs against those of the first network: a row for each; %NULL for the first one, and if none is
 *   like one of them. The figure of them all is vn_error_table_get_outputs_sqnr()
 * @answers: (nullable) (element-type VnSampleAnswer): what it keeps of the first network's answer to each sample, in the order of
 *   the data set; %NULL for the first one, empty where nothing is told of a sample alone
 */
typedef struct
{
  gsize      n_outputs;
  guint      n, n_labelled, top1, top5;
  VnKept     kept;
  GArray    *metrics;
  VnErrorTable *errors;
  GPtrArray    *answers;
} VnScore;

gboolean  vn_evaluate    (const VnContestant      *contestants,
                          guint                    n_contestants,
                          const VnLabels          *labels,
                          const VnCompareOptions  *options,
                          VnUserMetric            *metric,     /* nullable */
                          VnScore                 *scores,
                          const VnProgress        *progress,
                          VnNotes                 *notes,
                          GCancellable            *cancellable,
                          GError                 **error);
void      vn_score_clear (VnScore                 *self);

G_END_DECLS
