/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-parallel.h"

typedef struct
{
  gsize           next;          /* atomic */
  gsize           n_items;
  VnParallelFunc  func;
  gpointer        data;
  GCancellable   *cancellable;
  GMutex          lock;
  gsize           failed_item;
  GError         *error;
  gint            stop;          /* atomic */
} Loop;

typedef struct
{
  Loop  *loop;
  guint  worker;
} Worker;

/**
 * vn_parallel_default_threads:
 *
 * Returns: the number of processors this process may use, at least 1
 */
guint
vn_parallel_default_threads (void)
{
  return MAX (1, g_get_num_processors ());
}

/* The error of the lowest item wins, so that a failure reads the same
 * whatever the threads did. */
static void
loop_fail (Loop   *loop,
           gsize   item,
           GError *error)
{
  g_mutex_lock (&loop->lock);
  if (loop->error == NULL || item < loop->failed_item)
    {
      g_clear_error (&loop->error);
      loop->error = g_steal_pointer (&error);
      loop->failed_item = item;
    }
  g_mutex_unlock (&loop->lock);
  g_clear_error (&error);
  g_atomic_int_set (&loop->stop, TRUE);
}

static gpointer
worker_main (gpointer data)
{
  Worker *self = data;
  Loop *loop = self->loop;

  while (!g_atomic_int_get (&loop->stop))
    {
      GError *error = NULL;
      gsize item = __atomic_fetch_add (&loop->next, 1, __ATOMIC_RELAXED);

      if (item >= loop->n_items)
        break;
      if (g_cancellable_set_error_if_cancelled (loop->cancellable, &error) ||
          !loop->func (item, self->worker, loop->data, &error))
        loop_fail (loop, item, error);
    }

  return NULL;
}

/**
 * vn_parallel_for:
 * @n_threads: how many workers at most; 0 means vn_parallel_default_threads()
 * @n_items: how many items
 * @func: called once for each item, items handed out in ascending order
 * @cancellable: (nullable): looked at before each item
 *
 * Runs @func over all items and returns when the last has ended. The calling
 * thread is worker 0; with one worker no thread is made.
 *
 * Returns: %FALSE if an item failed (the error of the lowest failed item) or
 *   the run was cancelled
 */
gboolean
vn_parallel_for (guint            n_threads,
                 gsize            n_items,
                 VnParallelFunc   func,
                 gpointer         data,
                 GCancellable    *cancellable,
                 GError         **error)
{
  Loop loop = { .n_items = n_items, .func = func, .data = data, .cancellable = cancellable };
  g_autofree Worker *workers = NULL;
  g_autofree GThread **threads = NULL;

  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  n_threads = (guint) MIN ((gsize) n_threads, MAX (n_items, 1));
  workers = g_new0 (Worker, n_threads);
  threads = g_new0 (GThread *, n_threads);
  g_mutex_init (&loop.lock);

  for (guint i = 0; i < n_threads; i++)
    workers[i] = (Worker) { &loop, i };
  /* A thread that cannot be started costs speed, not the result. */
  for (guint i = 1; i < n_threads; i++)
    threads[i] = g_thread_try_new ("vn-worker", worker_main, &workers[i], NULL);
  worker_main (&workers[0]);
  for (guint i = 1; i < n_threads; i++)
    if (threads[i] != NULL)
      g_thread_join (threads[i]);

  g_mutex_clear (&loop.lock);
  if (loop.error != NULL)
    {
      g_propagate_error (error, loop.error);
      return FALSE;
    }
  return TRUE;
}
