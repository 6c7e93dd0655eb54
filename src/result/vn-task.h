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

/**
 * VnKept: how much of the answers of a first network another keeps.
 * @task: of the first, by what its outputs look like
 * @n_samples: that were compared; 0: nothing is told
 * @n: detections, or samples that were classified, of the first; classes that a mask shows
 * @n_kept: of @n, those of the other as well; 0 for a mask
 * @n_added: detections of the other alone
 * @share: from 0 to 1; NaN if the first has nothing to be kept
 */
typedef struct
{
  VnTask task;
  guint    n_samples;
  guint64  n, n_kept, n_added;
  double   share;
} VnKept;

const char *vn_task_get_id         (VnTask      task);
const char *vn_task_get_measure_id (VnTask      task);
const char *vn_task_get_title      (VnTask      task);
const char *vn_task_get_name          (VnTask      task);
const char *vn_task_get_rule       (VnTask      task);
gboolean    vn_task_find           (const char   *id,
                                      VnTask     *task);
gboolean    vn_kept_is_known         (const VnKept *self);
char       *vn_kept_dup_figures       (const VnKept *self);
char       *vn_kept_dup_text         (const VnKept *self);

G_END_DECLS
