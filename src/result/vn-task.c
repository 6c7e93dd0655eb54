/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of tasks, and the words for what is kept of their answers. */
#include "vn-task.h"

#include "vn-i18n.h"

#include <math.h>

static const struct
{
  const char *id, *measure, *title, *name, *rule;
} tasks[] = {
  { "other", NULL, NULL, NULL, NULL },
#define VN_TASK(SYMBOL, symbol, id, measure, title, name, rule) { id, measure, title, name, rule },
#include "vn-tasks.def"
#undef VN_TASK
};

/**
 * vn_task_get_id:
 *
 * Returns: the word for machines: “detection”
 */
const char *
vn_task_get_id (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].id;
}

/**
 * vn_task_get_measure_id:
 *
 * Returns: (nullable): what is measured, for machines: “detections-kept”; %NULL for another task
 */
const char *
vn_task_get_measure_id (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].measure;
}

/**
 * vn_task_get_title:
 *
 * Returns: (nullable): what is measured, translated: “Detections kept”; %NULL for another task
 */
const char *
vn_task_get_title (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].title != NULL ? _(tasks[task].title) : NULL;
}

/**
 * vn_task_get_name:
 *
 * Returns: (nullable): the same in half a sentence, translated: “detections kept”; %NULL for another task
 */
const char *
vn_task_get_name (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].name != NULL ? _(tasks[task].name) : NULL;
}

/**
 * vn_task_get_rule:
 *
 * Returns: (nullable): a translated sentence that says what counts; %NULL for another task
 */
const char *
vn_task_get_rule (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return tasks[task].rule != NULL ? _(tasks[task].rule) : NULL;
}

/**
 * vn_task_find:
 * @id: as of vn_task_get_id()
 * @task: (out): only set if there is one
 *
 * Returns: whether there is such a task
 */
gboolean
vn_task_find (const char *id,
              VnTask   *task)
{
  g_return_val_if_fail (id != NULL && task != NULL, FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (tasks); i++)
    if (g_str_equal (tasks[i].id, id))
      {
        *task = (VnTask) i;
        return TRUE;
      }
  return FALSE;
}

/**
 * vn_kept_is_known:
 *
 * Returns: whether it tells a share
 */
gboolean
vn_kept_is_known (const VnKept *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->task != VN_TASK_OTHER && self->n_samples > 0 && !isnan (self->share);
}

/**
 * vn_kept_dup_figures:
 * @self: a known one
 *
 * Returns: (transfer full): “97.1 % (34 of 35, 2 added)”
 */
char *
vn_kept_dup_figures (const VnKept *self)
{
  g_return_val_if_fail (self != NULL && vn_kept_is_known (self), NULL);

  if (self->task == VN_TASK_DETECTION)
    return g_strdup_printf (_("%.1f %% (%llu of %llu, %llu added)"), 100 * self->share, (unsigned long long) self->n_kept,
                            (unsigned long long) self->n, (unsigned long long) self->n_added);
  return g_strdup_printf ("%.1f %%", 100 * self->share);
}

/**
 * vn_kept_dup_text:
 * @self: a known one
 *
 * Returns: (transfer full): “detections kept: 97.1 % (34 of 35, 2 added)”
 */
char *
vn_kept_dup_text (const VnKept *self)
{
  g_autofree char *figures = NULL;

  g_return_val_if_fail (self != NULL && vn_kept_is_known (self), NULL);

  figures = vn_kept_dup_figures (self);
  return g_strdup_printf ("%s: %s", vn_task_get_name (self->task), figures);
}
