/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Telling by their shapes and ranges what a network's outputs are, and comparing what two networks say. */

#include "vn-answers.h"
#include "vn-model.h"
#include "vn-task.h"
#include "vn-tensor.h"

G_BEGIN_DECLS

/**
 * VnTaskHint: what is known of the task before outputs are looked at.
 * @task: VN_TASK_OTHER: nothing, unless @is_given
 * @is_given: by the user: no other task is looked for
 * @n_classes: that the file of the network names; 0: not known
 */
typedef struct
{
  VnTask   task;
  gboolean is_given;
  guint    n_classes;
} VnTaskHint;

/**
 * VnTaskOutputs: what a network gave for one sample.
 * @names: (nullable): of @tensors
 * @inputs: (nullable): what it was given
 * @height, @width: of its picture; 0: it takes none, or several
 * @n_tokens: length of the texts that it takes as whole numbers, [texts, tokens]; 0: it takes none
 * @tokens: (nullable): these, if they are followed by one another: no network for pairs of texts, which is given their types
 * @n_seen: of the tokens at the beginning, those that another sample has been asked about: they are context
 * @mask: (nullable): an input of whole numbers, [texts, @n_tokens or more]: the last tokens count where it is not 0
 * @n_classes: of the samples; 0: not known
 * @hint: (nullable)
 */
typedef struct
{
  VnTensor * const   *tensors;
  guint               n;
  const char * const *names;
  VnTensor * const   *inputs;
  guint               n_inputs;
  gint64              height, width, n_tokens;
  const VnTensor     *tokens;
  guint               n_seen;
  const VnTensor     *mask;
  guint               n_classes;
  const VnTaskHint   *hint;
} VnTaskOutputs;

/* Pixels of one class, by the first network and the other: of both, and of either. */
typedef struct { guint64 both, either; } VnClassOverlap;

/* What is told of a sample by a number that is added, or by both answers, each with a reference. */
typedef struct
{
  guint   item;
  double  value;
  GArray *first, *other;
} VnKeptItem;

/**
 * VnKeptSum: what was kept of all samples so far. Whole numbers only, and items, sorted before they are added: no order of
 * adding shows.
 * @classes: (nullable) (element-type VnClassOverlap): of masks
 * @items: (nullable) (element-type VnKeptItem)
 */
typedef struct
{
  guint   n_samples;
  guint64 n, n_kept, n_added;
  GArray *classes, *items;
} VnKeptSum;

#define VN_KEPT_SUM_TYPE "(uttta(tt)a(udayay))"

/**
 * VnTaskReader: the answers of one task.
 * @measure: (nullable): appends to @numbers, of VnMetricNumber, what else is told of the other network, or of the first one alone
 * @recognize: how the outputs are laid out, for g_free(); %NULL: they are of another task
 * @read: the answer in outputs that are laid out so; %NULL: these are not, or there is no memory
 * @compare: adds what @other keeps of @first; @item: the place of the sample among the samples
 * @finish: (nullable): fills @kept, which has the whole numbers of @sum; without it the share is that of n_kept
 * @keep: (nullable): both answers to a sample, as they are shown: sets the form of @kept and what belongs to it; @layout: of the
 *   first; @most_pixels: that a mask may have. Without it nothing can be told of a sample alone
 */
typedef struct
{
  void     (*measure)   (const VnKeptSum     *sum,
                         gboolean             of_first,
                         GArray              *numbers);
  gpointer (*recognize) (const VnTaskOutputs *outputs);
  gpointer (*read)      (gconstpointer        layout,
                         const VnTaskOutputs *outputs);
  void     (*free)      (gpointer             answer);
  void     (*compare)   (gconstpointer        first,
                         gconstpointer        other,
                         guint                item,
                         VnKeptSum           *sum);
  void     (*finish)    (const VnKeptSum     *sum,
                         VnKept              *kept);
  void     (*keep)      (gconstpointer        layout,
                         gconstpointer        first,
                         gconstpointer        other,
                         guint                most_pixels,
                         VnSampleAnswer      *kept);
} VnTaskReader;

#define VN_TASK(SYMBOL, name, ...) extern const VnTaskReader vn_task_##name;
#include "vn-tasks.def"
#undef VN_TASK

const VnTaskReader *vn_task_get_reader    (VnTask               task);
VnTask              vn_task_recognize     (const VnTaskOutputs *outputs,
                                           gpointer            *layout);
gboolean            vn_task_is_given      (const VnTaskOutputs *outputs,
                                           VnTask               task);
void                vn_task_note_unread   (VnTask               task,
                                           const char          *asked,      /* nullable */
                                           const char          *subject,    /* nullable */
                                           VnNotes             *notes);
void                vn_task_hint_read     (VnTaskHint          *self,
                                           const VnModel       *model);
void                vn_task_find_inputs   (VnTaskOutputs       *outputs,
                                           VnTensor * const    *inputs,
                                           const char * const  *names,      /* nullable */
                                           guint                n_inputs);
gboolean            vn_task_name_has      (const VnTaskOutputs *outputs,
                                           guint                output,
                                           const char * const  *parts);
gboolean            vn_task_hands_on      (const VnTaskOutputs *outputs,
                                           guint                output);
void                vn_kept_sum_add_item  (VnKeptSum           *self,
                                           const VnKeptItem    *item);
void                vn_kept_sum_sort      (const VnKeptSum     *self);
void                vn_kept_sum_clear     (VnKeptSum           *self);
void                vn_kept_sum_merge     (VnKeptSum           *self,
                                           VnKeptSum           *from);
GVariant           *vn_kept_sum_pack      (const VnKeptSum     *self);
void                vn_kept_sum_unpack    (VnKeptSum           *self,
                                           GVariant            *packed);
void                vn_kept_sum_measure   (const VnKeptSum     *self,
                                           VnTask               task,
                                           gboolean             of_first,
                                           GArray              *numbers);    /* of VnMetricNumber */
void                vn_kept_sum_finish    (const VnKeptSum     *self,
                                           VnTask               task,
                                           VnKept              *kept);

/* Of the outputs of a classifier: which has the scores (-1: none), and how many there are for one picture. */
int                 vn_task_find_scores   (const VnTaskOutputs *outputs,
                                           gsize               *n_scores);

G_END_DECLS
