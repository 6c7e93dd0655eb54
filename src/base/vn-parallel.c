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
  gint            n_helpers;     /* pool threads that still work on it; changed under pool_lock, atomic */
  GCond           helpers_done;
} Loop;

typedef struct
{
  Loop  *loop;
  guint  worker;
} Worker;

/* ---- threads that wait for work ---- */

/* Operators split their work hundreds of times per run of a network: starting a thread each time would cost more than
 * many of them take. Threads are made when needed and kept. */
typedef struct
{
  GCond    wake;
  Worker   task;      /* task.loop is NULL: nothing to do */
  gboolean started;   /* the task is being worked on: it can no longer be taken back */
} PoolThread;

static GMutex pool_lock;
static GPtrArray *pool_idle;   /* of PoolThread */

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

/* How long a thread looks for work, or for the end of it, before it sleeps. Waking a thread may take longer than the
 * pauses between two operators. */
#define SPIN_USEC 60

static inline void
relax (void)
{
#if defined (__x86_64__)
  __builtin_ia32_pause ();
#endif
}

static gboolean
spin_goes_on (gint64 *until)
{
  for (int i = 0; i < 32; i++)
    relax ();
  if (*until == 0)
    *until = g_get_monotonic_time () + (vn_parallel_default_threads () > 1 ? SPIN_USEC : 0);
  return g_get_monotonic_time () < *until;
}

static gpointer
pool_main (gpointer data)
{
  PoolThread *self = data;

  g_mutex_lock (&pool_lock);
  while (TRUE)
    {
      Worker task;
      gint64 until = 0;

      g_mutex_unlock (&pool_lock);
      while (g_atomic_pointer_get (&self->task.loop) == NULL && spin_goes_on (&until))
        ;
      g_mutex_lock (&pool_lock);
      while (self->task.loop == NULL)
        g_cond_wait (&self->wake, &pool_lock);
      self->started = TRUE;
      task = self->task;
      g_mutex_unlock (&pool_lock);

      worker_main (&task);

      g_mutex_lock (&pool_lock);
      self->task.loop = NULL;
      g_ptr_array_add (pool_idle, self);
      if (g_atomic_int_dec_and_test (&task.loop->n_helpers))
        g_cond_signal (&task.loop->helpers_done);
    }
  return NULL;
}

/* With the lock held. A thread that cannot be started costs speed, not the result: NULL. */
static PoolThread *
pool_take (void)
{
  PoolThread *self;
  GThread *thread;

  if (pool_idle == NULL)
    pool_idle = g_ptr_array_new ();
  if (pool_idle->len > 0)
    return g_ptr_array_steal_index_fast (pool_idle, pool_idle->len - 1);

  self = g_new0 (PoolThread, 1);
  g_cond_init (&self->wake);
  thread = g_thread_try_new ("vn-worker", pool_main, self, NULL);
  if (thread == NULL)
    {
      g_free (self);
      return NULL;
    }
  g_thread_unref (thread);
  return self;
}

static void
start_helpers (Loop        *loop,
               PoolThread **helpers,
               guint        n_threads)
{
  g_mutex_lock (&pool_lock);
  for (guint i = 1; i < n_threads; i++)
    {
      helpers[i] = pool_take ();
      if (helpers[i] == NULL)
        continue;
      helpers[i]->task.worker = i;
      helpers[i]->started = FALSE;
      g_atomic_pointer_set (&helpers[i]->task.loop, loop);
      g_atomic_int_inc (&loop->n_helpers);
      g_cond_signal (&helpers[i]->wake);
    }
  g_mutex_unlock (&pool_lock);
}

/* All items are taken: helpers that did not even begin are sent back, the others are waited for. */
static void
finish_helpers (Loop        *loop,
                PoolThread **helpers,
                guint        n_threads)
{
  gint64 until = 0;

  g_mutex_lock (&pool_lock);
  for (guint i = 1; i < n_threads; i++)
    if (helpers[i] != NULL && helpers[i]->task.loop == loop && !helpers[i]->started)
      {
        helpers[i]->task.loop = NULL;
        g_ptr_array_add (pool_idle, helpers[i]);
        g_atomic_int_add (&loop->n_helpers, -1);
      }
  g_mutex_unlock (&pool_lock);
  while (g_atomic_int_get (&loop->n_helpers) > 0 && spin_goes_on (&until))
    ;
  g_mutex_lock (&pool_lock);
  while (loop->n_helpers > 0)
    g_cond_wait (&loop->helpers_done, &pool_lock);
  g_mutex_unlock (&pool_lock);
}

/**
 * vn_parallel_for:
 * @n_threads: how many workers at most; 0 means vn_parallel_default_threads()
 * @n_items: how many items
 * @func: called once for each item, items handed out in ascending order
 * @cancellable: (nullable): looked at before each item
 *
 * Runs @func over all items and returns when the last has ended. The calling
 * thread is worker 0; with one worker no other thread takes part. Loops may be
 * nested.
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
  g_autofree PoolThread **helpers = NULL;
  Worker self = { &loop, 0 };

  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  n_threads = (guint) MIN ((gsize) n_threads, MAX (n_items, 1));
  helpers = g_new0 (PoolThread *, n_threads);
  g_mutex_init (&loop.lock);
  g_cond_init (&loop.helpers_done);

  if (n_threads > 1)
    start_helpers (&loop, helpers, n_threads);
  worker_main (&self);
  if (n_threads > 1)
    finish_helpers (&loop, helpers, n_threads);

  g_cond_clear (&loop.helpers_done);
  g_mutex_clear (&loop.lock);
  if (loop.error != NULL)
    {
      g_propagate_error (error, loop.error);
      return FALSE;
    }
  return TRUE;
}
