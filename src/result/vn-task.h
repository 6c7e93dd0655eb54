/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a network does, and how much of its answers another network keeps. */

#include <glib.h>

G_BEGIN_DECLS

typedef enum
{
  VN_TASK_OTHER,
#define VN_TASK(SYMBOL, ...) VN_TASK_##SYMBOL,
#include "vn-tasks.def"
#undef VN_TASK
  VN_N_TASKS
} VnTask;

/* What is told of a task beside the share: nothing, VnKept.n_added, or VnKept.mean. */
typedef enum { VN_TASK_SECOND_NONE, VN_TASK_SECOND_ADDED, VN_TASK_SECOND_MEAN } VnTaskSecond;

/* What some tasks tell beside the share and the mean. */
typedef enum
{
#define VN_KEPT_FIGURE(SYMBOL, ...) VN_KEPT_FIGURE_##SYMBOL,
#include "vn-kept-figures.def"
#undef VN_KEPT_FIGURE
  VN_N_KEPT_FIGURES
} VnKeptFigure;

/**
 * VnKept: how much of the answers of a first network another keeps.
 * @task: of the first, by what its outputs look like
 * @n_samples: that were compared; 0: nothing is told
 * @n: what the first says: detections, keypoints, tokens, lines of text, or samples; classes that a mask shows
 * @n_kept: of @n, what the other says as well; 0 for a mask
 * @n_added: what the other alone says
 * @share: from 0 to 1; NaN if the first has nothing to be kept
 * @mean: over all that was compared: KL divergence of tokens in nats (0 and more), cosine of embeddings (-1 to 1); NaN if there
 *   was nothing; of no meaning for other tasks
 * @has_figures: @figures are known; NaN: those that are not (vn_kept_get_figure())
 */
typedef struct
{
  VnTask   task;
  guint    n_samples;
  guint64  n, n_kept, n_added;
  double   share, mean;
  gboolean has_figures;
  double   figures[VN_N_KEPT_FIGURES];
} VnKept;

const char  *vn_task_get_id           (VnTask        task);
const char  *vn_task_get_measure_id   (VnTask        task);
const char  *vn_task_get_title        (VnTask        task);
const char  *vn_task_get_name         (VnTask        task);
const char  *vn_task_get_counted      (VnTask        task);
VnTaskSecond vn_task_get_second       (VnTask        task);
const char  *vn_task_get_second_id    (VnTask        task);
const char  *vn_task_get_second_title (VnTask        task);
const char  *vn_task_get_rule         (VnTask        task);
gboolean     vn_task_find             (const char   *id,
                                       VnTask       *task);
char        *vn_task_dup_ids          (void);
gboolean     vn_kept_is_known         (const VnKept *self);
double       vn_kept_get_loss         (const VnKept *self,
                                       double       *chance);
int          vn_kept_compare          (const VnKept *self,
                                       const VnKept *before);
double       vn_kept_get_figure       (const VnKept *self,
                                       VnKeptFigure  figure);
void         vn_kept_set_figure       (VnKept       *self,
                                       VnKeptFigure  figure,
                                       double        value);
const char  *vn_kept_figure_get_id    (VnKeptFigure  figure);
const char  *vn_kept_figure_get_title (VnKeptFigure  figure);
const char  *vn_kept_figure_get_measure (VnKeptFigure figure,
                                       gboolean     *of_first);
char        *vn_kept_dup_mean         (const VnKept *self);
char        *vn_kept_dup_perplexity   (const VnKept *self);
char        *vn_kept_dup_figures      (const VnKept *self);
char        *vn_kept_dup_text         (const VnKept *self);

G_END_DECLS
