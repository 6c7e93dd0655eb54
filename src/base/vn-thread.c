/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of a task on a thread of its own: one that cannot be started is an error, where g_task_run_in_thread() would wait for ever. */
#include "vn-thread.h"

#include "vn-error.h"
#include "vn-i18n.h"

typedef struct
{
  GTask *task;
  GTaskThreadFunc work;
} Work;

static gpointer
thread_main (gpointer data)
{
  Work *self = data;

  self->work (self->task, g_task_get_source_object (self->task), g_task_get_task_data (self->task), g_task_get_cancellable (self->task));
  g_object_unref (self->task);
  g_free (self);
  return NULL;
}

/**
 * vn_thread_run_task:
 * @task: its work must return something, as for g_task_run_in_thread()
 * @work: what to do
 *
 * Starts the work at once, whatever else is running. The task fails with %VN_ERROR_MEMORY if the system gives no thread.
 */
void
vn_thread_run_task (GTask           *task,
                    GTaskThreadFunc  work)
{
  Work *self;
  GThread *thread;

  g_return_if_fail (G_IS_TASK (task) && work != NULL);

  self = g_new (Work, 1);
  *self = (Work) { g_object_ref (task), work };
  thread = g_thread_try_new ("vn-task", thread_main, self, NULL);
  if (thread != NULL)
    {
      g_thread_unref (thread);
      return;
    }
  g_free (self);
  g_task_return_new_error (task, VN_ERROR, VN_ERROR_MEMORY, _("Out of memory: no thread could be started. Nothing was written."));
  g_object_unref (task);
}
