/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work of a task on a thread of its own: one that cannot be started is an error, where g_task_run_in_thread() would wait for
 * ever. */
#include "vn-thread.h"

#include "vn-error.h"
#include "vn-i18n.h"

#define MOST_POOLED 8

typedef struct
{
  GTask           *task;
  GTaskThreadFunc  work;
  GMutex           lock;
  gboolean         completed;   /* nobody else may hold the task any more */
  gatomicrefcount  ref;
} Work;

static void
thread_unref_work (gpointer data,
                   GClosure *closure)
{
  Work *self = data;

  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_mutex_clear (&self->lock);
  g_free (self);
}

/* In the context of the task, which holds it. */
static void
thread_completed (GTask      *task,
                  GParamSpec *pspec,
                  gpointer    data)
{
  Work *self = data;

  g_mutex_lock (&self->lock);
  self->completed = TRUE;
  g_mutex_unlock (&self->lock);
}

static gboolean
thread_drop (gpointer data)
{
  return G_SOURCE_REMOVE;
}

/* What a task speaks of, a widget, may end only where it lives. The task is let go here while others hold it, else there. */
static void
thread_let_go (Work *self)
{
  g_autoptr(GSource) source = NULL;
  gboolean completed;

  g_mutex_lock (&self->lock);
  completed = self->completed;
  if (!completed)
    g_object_unref (self->task);
  g_mutex_unlock (&self->lock);
  if (!completed)
    return;
  source = g_idle_source_new ();
  g_source_set_priority (source, G_PRIORITY_HIGH);
  g_source_set_callback (source, thread_drop, self->task, g_object_unref);
  g_source_attach (source, g_task_get_context (self->task));
}

static gpointer
thread_main (gpointer data)
{
  Work *self = data;

  self->work (self->task, g_task_get_source_object (self->task), g_task_get_task_data (self->task),
              g_task_get_cancellable (self->task));
  thread_let_go (self);
  thread_unref_work (self, NULL);
  return NULL;
}

static Work *
thread_new_work (GTask           *task,
                 GTaskThreadFunc  func)
{
  Work *self = g_new0 (Work, 1);

  self->task = g_object_ref (task);
  self->work = func;
  g_mutex_init (&self->lock);
  g_atomic_ref_count_init (&self->ref);
  g_atomic_ref_count_inc (&self->ref);
  g_signal_connect_data (task, "notify::completed", G_CALLBACK (thread_completed), self, thread_unref_work, 0);
  return self;
}

static void
thread_run_pooled (gpointer data,
                   gpointer unused)
{
  Work *self = data;

  if (!g_task_return_error_if_cancelled (self->task))
    thread_main (self);
  else
    {
      thread_let_go (self);
      thread_unref_work (self, NULL);
    }
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

  self = thread_new_work (task, work);
  thread = g_thread_try_new ("vn-task", thread_main, self, NULL);
  if (thread != NULL)
    {
      g_thread_unref (thread);
      return;
    }
  thread_unref_work (self, NULL);
  g_task_return_new_error (task, VN_ERROR, VN_ERROR_MEMORY, _("Out of memory: could not start a thread. Nothing was written."));
  g_object_unref (task);
}

/**
 * vn_thread_run_pooled:
 * @task: its work must return something, as for g_task_run_in_thread()
 * @work: what to do; not called if the task is cancelled before its turn
 *
 * As vn_thread_run_task(), on one of a few threads: for work that may be asked for many times at once.
 */
void
vn_thread_run_pooled (GTask           *task,
                      GTaskThreadFunc  work)
{
  static GThreadPool *pool;

  g_return_if_fail (G_IS_TASK (task) && work != NULL);

  if (g_once_init_enter (&pool))
    g_once_init_leave (&pool, g_thread_pool_new (thread_run_pooled, NULL, MOST_POOLED, FALSE, NULL));
  g_thread_pool_push (pool, thread_new_work (task, work), NULL);
}
