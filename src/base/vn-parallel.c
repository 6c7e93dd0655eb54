/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parallel loop, and the pool of threads that serves it. */
#include "vn-parallel.h"

#include "vn-float-mode.h"

typedef struct
{
  gsize           next;          /* atomic */
  gsize           n_items;
  VnParallelFunc  func;
  gpointer        data;
  GCancellable   *cancellable;
  gboolean        flushes;       /* how the calling thread takes subnormal numbers */
  GMutex          lock;
  gsize           failed_item;
  GError         *error;
  gint            stop;          /* atomic */
} Loop;

/* ---- threads that wait for work ---- */

/* Operators split their work hundreds of times per run of a network: starting a thread each time would cost more than
 * many of them take. Threads are made when needed and kept. Handing work over takes no lock: waking a thread, or
 * waiting for a lock it holds, may take longer than the work. */
typedef enum
{
  POOL_IDLE,
  POOL_GIVEN,    /* there is a task, which can still be taken back */
  POOL_TAKEN,    /* it is being worked on */
} PoolState;

typedef struct
{
  gint    state;     /* atomic */
  gint    n_asleep;  /* atomic: who waits in @wake for another state: the thread, and who has given it work */
  Loop   *loop;      /* written in POOL_IDLE by whoever has taken the thread from the pool */
  guint   worker;
  GMutex  lock;
  GCond   wake;
} PoolThread;

static GMutex pool_lock;
static GPtrArray *pool_idle;   /* of PoolThread */
static gint n_spinning[2];     /* atomic: how many look for work, and for the end of what they gave */

static guint default_limit;    /* 0: none */

/**
 * vn_parallel_limit_default_threads:
 * @n_threads: at most so many are used where nobody says how many; 0: as many as there are processors
 *
 * To be called before anything is computed: who has asked once goes on with the answer.
 */
void
vn_parallel_limit_default_threads (guint n_threads)
{
  default_limit = n_threads;
}

/**
 * vn_parallel_default_threads:
 *
 * Returns: the number of processors this process may use, at least 1
 */
guint
vn_parallel_default_threads (void)
{
  static gsize n;   /* asking costs a system call, and small loops ask several times */

  if (g_once_init_enter (&n))
    g_once_init_leave (&n, CLAMP (g_get_num_processors (), 1, default_limit > 0 ? default_limit : G_MAXUINT));
  return (guint) n;
}

/* The error of the lowest item wins, so that a failure reads the same
 * whatever the threads did. */
static void
parallel_loop_fail (Loop   *loop,
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

static void
parallel_work (Loop  *loop,
               guint  worker)
{
  const guint mode = vn_float_mode_begin (loop->flushes);

  if (loop->cancellable != NULL)
    g_cancellable_push_current (loop->cancellable);
  while (!g_atomic_int_get (&loop->stop))
    {
      GError *error = NULL;
      gsize item = __atomic_fetch_add (&loop->next, 1, __ATOMIC_RELAXED);

      if (item >= loop->n_items)
        break;
      if (g_cancellable_set_error_if_cancelled (loop->cancellable, &error) ||
          !loop->func (item, worker, loop->data, &error))
        parallel_loop_fail (loop, item, error);
    }
  if (loop->cancellable != NULL)
    g_cancellable_pop_current (loop->cancellable);
  vn_float_mode_end (mode);
}

/* How long a thread looks for work, or for the end of it, before it sleeps: longer than the pauses between two
 * operators that share their work. */
#define SPIN_USEC 1000
#define SPINS_PER_LOOK 16

static inline void
parallel_relax (void)
{
#if defined (__x86_64__)
  __builtin_ia32_pause ();
#endif
}

/* Fewer threads than there are processors do so: others have work to do. Who looks for work and who waits for the end of
 * it are counted apart: often a thread begins with the one before another has noticed that its own waiting is over, and
 * waking it for the next loop would take longer than many loops do. */
static gboolean
parallel_spin_until (PoolThread *self,
                     PoolState   state)
{
  gint *n = &n_spinning[state == POOL_GIVEN ? 0 : 1];
  gboolean reached = FALSE;

  if (g_atomic_int_add (n, 1) + 1 < (gint) vn_parallel_default_threads ())
    {
      gint64 end = g_get_monotonic_time () + SPIN_USEC;

      do
        for (guint i = 0; i < SPINS_PER_LOOK && !reached; i++)
          {
            parallel_relax ();
            reached = g_atomic_int_get (&self->state) == (gint) state;
          }
      while (!reached && g_get_monotonic_time () < end);
    }
  g_atomic_int_add (n, -1);
  return reached;
}

static void
parallel_wait_until (PoolThread *self,
                     PoolState   state)
{
  if (g_atomic_int_get (&self->state) == (gint) state || parallel_spin_until (self, state))
    return;
  g_mutex_lock (&self->lock);
  g_atomic_int_inc (&self->n_asleep);
  while (g_atomic_int_get (&self->state) != (gint) state)
    g_cond_wait (&self->wake, &self->lock);
  g_atomic_int_add (&self->n_asleep, -1);
  g_mutex_unlock (&self->lock);
}

static void
parallel_set_state (PoolThread *self,
                    PoolState   state)
{
  g_atomic_int_set (&self->state, (gint) state);
  if (g_atomic_int_get (&self->n_asleep) == 0)
    return;
  g_mutex_lock (&self->lock);
  g_cond_broadcast (&self->wake);
  g_mutex_unlock (&self->lock);
}

static gpointer
parallel_pool_main (gpointer data)
{
  PoolThread *self = data;

  while (TRUE)
    {
      parallel_wait_until (self, POOL_GIVEN);
      if (!g_atomic_int_compare_and_exchange (&self->state, POOL_GIVEN, POOL_TAKEN))
        continue;
      parallel_work (self->loop, self->worker);
      parallel_set_state (self, POOL_IDLE);
    }
  return NULL;
}

/* A thread that cannot be started costs speed, not the result: NULL. */
static PoolThread *
parallel_pool_take (void)
{
  PoolThread *self = NULL;
  GThread *thread;

  g_mutex_lock (&pool_lock);
  if (pool_idle != NULL && pool_idle->len > 0)
    self = g_ptr_array_steal_index_fast (pool_idle, pool_idle->len - 1);
  g_mutex_unlock (&pool_lock);
  if (self != NULL)
    return self;

  self = g_new0 (PoolThread, 1);
  g_mutex_init (&self->lock);
  g_cond_init (&self->wake);
  thread = g_thread_try_new ("vn-worker", parallel_pool_main, self, NULL);
  if (thread == NULL)
    {
      g_free (self);
      return NULL;
    }
  g_thread_unref (thread);
  return self;
}

static void
parallel_pool_give_back (PoolThread *self)
{
  g_mutex_lock (&pool_lock);
  if (pool_idle == NULL)
    pool_idle = g_ptr_array_new ();
  g_ptr_array_add (pool_idle, self);
  g_mutex_unlock (&pool_lock);
}

static void
parallel_start_helpers (Loop        *loop,
                        PoolThread **helpers,
                        guint        n_threads)
{
  for (guint i = 1; i < n_threads; i++)
    {
      helpers[i] = parallel_pool_take ();
      if (helpers[i] == NULL)
        continue;
      helpers[i]->loop = loop;
      helpers[i]->worker = i;
      parallel_set_state (helpers[i], POOL_GIVEN);
    }
}

/* All items are taken: helpers that did not even begin are called back, the others are waited for. */
static void
parallel_finish_helpers (PoolThread **helpers,
                         guint        n_threads)
{
  for (guint i = 1; i < n_threads; i++)
    {
      if (helpers[i] == NULL)
        continue;
      if (!g_atomic_int_compare_and_exchange (&helpers[i]->state, POOL_GIVEN, POOL_IDLE))
        parallel_wait_until (helpers[i], POOL_IDLE);
      parallel_pool_give_back (helpers[i]);
    }
}

/**
 * vn_parallel_for:
 * @n_threads: how many workers at most; 0 means vn_parallel_default_threads()
 * @n_items: how many items
 * @func: called once for each item, items handed out in ascending order
 * @cancellable: (nullable): looked at before each item; while @func runs it is the thread's current one
 *
 * Runs @func over all items and returns when the last has ended. The calling
 * thread is worker 0; with one worker no other thread takes part. Loops may be
 * nested. All take subnormal numbers as the calling thread does (vn-float-mode.h).
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
  Loop loop = {
    .n_items = n_items, .func = func, .data = data, .cancellable = cancellable, .flushes = vn_float_mode_flushes (),
  };
  g_autofree PoolThread **helpers = NULL;

  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  n_threads = (guint) MIN ((gsize) n_threads, MAX (n_items, 1));
  helpers = g_new0 (PoolThread *, n_threads);
  g_mutex_init (&loop.lock);

  if (n_threads > 1)
    parallel_start_helpers (&loop, helpers, n_threads);
  parallel_work (&loop, 0);
  if (n_threads > 1)
    parallel_finish_helpers (helpers, n_threads);

  g_mutex_clear (&loop.lock);
  if (loop.error != NULL)
    {
      g_propagate_error (error, loop.error);
      return FALSE;
    }
  return TRUE;
}
