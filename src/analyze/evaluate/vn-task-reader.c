/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which task outputs speak of: the first of vn-tasks.def that recognizes them. */
#include "vn-task-reader.h"

#include <math.h>

static const VnTaskReader * const readers[] = {
  NULL,
#define VN_TASK(SYMBOL, name, ...) &vn_task_##name,
#include "vn-tasks.def"
#undef VN_TASK
};

/**
 * vn_task_get_reader:
 *
 * Returns: (nullable): what reads answers of @task; %NULL for %VN_TASK_OTHER
 */
const VnTaskReader *
vn_task_get_reader (VnTask task)
{
  g_return_val_if_fail (task < VN_N_TASKS, NULL);

  return readers[task];
}

/**
 * vn_task_recognize:
 * @layout: (out) (nullable): how they are laid out, for g_free()
 *
 * Returns: what the outputs look like
 */
VnTask
vn_task_recognize (const VnTaskOutputs  *outputs,
                   gpointer               *layout)
{
  g_return_val_if_fail (outputs != NULL && layout != NULL, VN_TASK_OTHER);

  *layout = NULL;
  for (guint task = VN_TASK_OTHER + 1; task < VN_N_TASKS; task++)
    if ((*layout = readers[task]->recognize (outputs)) != NULL)
      return (VnTask) task;
  return VN_TASK_OTHER;
}

/**
 * vn_task_find_picture:
 * @outputs: its height and width are set
 *
 * A network of one picture has one input of four axes, of which the second or the last counts at most four channels.
 */
void
vn_task_find_picture (VnTaskOutputs  *outputs,
                      VnTensor * const *inputs,
                      guint             n_inputs)
{
  const VnShape *shape;

  g_return_if_fail (outputs != NULL);

  outputs->height = outputs->width = 0;
  if (n_inputs != 1 || vn_tensor_is_container (inputs[0]) || inputs[0]->shape.rank != 4)
    return;
  shape = &inputs[0]->shape;
  if (shape->dims[1] <= 4 || shape->dims[3] <= 4)
    {
      gboolean last = shape->dims[1] > 4;

      outputs->height = shape->dims[last ? 1 : 2];
      outputs->width = shape->dims[last ? 2 : 3];
    }
}

void
vn_kept_sum_clear (VnKeptSum *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->classes, g_array_unref);
  *self = (VnKeptSum) { 0 };
}

/**
 * vn_kept_sum_finish:
 * @kept: (out): the share of what there was to be kept; of masks the mean overlap of the classes that either shows
 */
void
vn_kept_sum_finish (const VnKeptSum *self,
                    VnTask         task,
                    VnKept          *kept)
{
  double overlap = 0;

  g_return_if_fail (self != NULL && kept != NULL);

  *kept = (VnKept) { task, self->n_samples, self->n, self->n_kept, self->n_added, NAN };
  for (guint i = 0; self->classes != NULL && i < self->classes->len; i++)
    {
      const VnClassOverlap *class = &g_array_index (self->classes, VnClassOverlap, i);

      if (class->either == 0)
        continue;
      overlap += (double) class->both / (double) class->either;
      kept->n++;
    }
  if (kept->n > 0)
    kept->share = (self->classes != NULL ? overlap : (double) self->n_kept) / (double) kept->n;
}
