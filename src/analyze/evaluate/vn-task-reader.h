/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Telling by their shapes and ranges what a network's outputs are, and comparing what two networks say. */

#include "vn-task.h"
#include "vn-tensor.h"

G_BEGIN_DECLS

/**
 * VnTaskOutputs: what a network gave for one sample.
 * @height, @width: of its picture; 0: it takes none, or several
 * @n_classes: of the samples; 0: not known
 */
typedef struct
{
  VnTensor * const *tensors;
  guint             n;
  gint64            height, width;
  guint             n_classes;
} VnTaskOutputs;

/* Pixels of one class, by the first network and the other: of both, and of either. */
typedef struct { guint64 both, either; } VnClassOverlap;

/**
 * VnKeptSum: what was kept of all samples so far. Whole numbers only: no order of adding shows.
 * @classes: (nullable) (element-type VnClassOverlap): of masks
 */
typedef struct
{
  guint   n_samples;
  guint64 n, n_kept, n_added;
  GArray *classes;
} VnKeptSum;

/**
 * VnTaskReader: the answers of one task.
 * @recognize: how the outputs are laid out, for g_free(); %NULL: they are of another task
 * @read: the answer in outputs that are laid out so; %NULL: these are not, or there is no memory
 * @compare: adds what @other keeps of @first
 */
typedef struct
{
  gpointer (*recognize) (const VnTaskOutputs *outputs);
  gpointer (*read)      (gconstpointer          layout,
                         const VnTaskOutputs *outputs);
  void     (*free)      (gpointer               answer);
  void     (*compare)   (gconstpointer          first,
                         gconstpointer          other,
                         VnKeptSum             *sum);
} VnTaskReader;

#define VN_TASK(SYMBOL, name, ...) extern const VnTaskReader vn_task_##name;
#include "vn-tasks.def"
#undef VN_TASK

const VnTaskReader *vn_task_get_reader  (VnTask               task);
VnTask              vn_task_recognize   (const VnTaskOutputs *outputs,
                                             gpointer              *layout);
void                  vn_task_find_picture (VnTaskOutputs      *outputs,
                                             VnTensor * const      *inputs,
                                             guint                  n_inputs);
void                  vn_kept_sum_clear     (VnKeptSum             *self);
void                  vn_kept_sum_finish    (const VnKeptSum       *self,
                                             VnTask               task,
                                             VnKept                *kept);

/* Of the outputs of a classifier: which has the scores (-1: none), and how many there are for one picture. */
int                   vn_task_find_scores (const VnTaskOutputs *outputs,
                                             gsize                 *n_scores);

G_END_DECLS
