/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks of GLib by those of the system, for builds with ThreadSanitizer: GLib's own are not compiled for it, so that it sees data
 * behind them as used by several threads at once. */
#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* A static lock begins as zero. */
static void *
locks_get (gpointer *place,
           void     *(*make) (void),
           void      (*end) (void *))
{
  void *present = __atomic_load_n (place, __ATOMIC_ACQUIRE), *made;

  if (present != NULL)
    return present;
  made = make ();
  if (__atomic_compare_exchange_n (place, &present, made, FALSE, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return made;
  end (made);
  return present;
}

static void *
locks_make_mutex (void)
{
  pthread_mutex_t *self = malloc (sizeof *self);

  if (self == NULL || pthread_mutex_init (self, NULL) != 0)
    abort ();
  return self;
}

static void
locks_end_mutex (void *self)
{
  pthread_mutex_destroy (self);
  free (self);
}

static void *
locks_make_cond (void)
{
  pthread_cond_t *self = malloc (sizeof *self);
  pthread_condattr_t monotonic;

  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  if (self == NULL || pthread_cond_init (self, &monotonic) != 0)
    abort ();
  pthread_condattr_destroy (&monotonic);
  return self;
}

static void
locks_end_cond (void *self)
{
  pthread_cond_destroy (self);
  free (self);
}

static pthread_mutex_t *
locks_get_mutex (GMutex *mutex)
{
  return locks_get (&mutex->p, locks_make_mutex, locks_end_mutex);
}

static pthread_cond_t *
locks_get_cond (GCond *cond)
{
  return locks_get (&cond->p, locks_make_cond, locks_end_cond);
}

void
g_mutex_init (GMutex *mutex)
{
  mutex->p = locks_make_mutex ();
}

void
g_mutex_clear (GMutex *mutex)
{
  /* not freed: what orders its last use is a reference count of GLib, which is not seen */
  __atomic_store_n (&mutex->p, NULL, __ATOMIC_RELEASE);
}

void
g_mutex_lock (GMutex *mutex)
{
  pthread_mutex_lock (locks_get_mutex (mutex));
}

void
g_mutex_unlock (GMutex *mutex)
{
  pthread_mutex_unlock (locks_get_mutex (mutex));
}

gboolean
g_mutex_trylock (GMutex *mutex)
{
  return pthread_mutex_trylock (locks_get_mutex (mutex)) == 0;
}

void
g_cond_init (GCond *cond)
{
  cond->p = locks_make_cond ();
}

void
g_cond_clear (GCond *cond)
{
  __atomic_store_n (&cond->p, NULL, __ATOMIC_RELEASE);
}

void
g_cond_wait (GCond  *cond,
             GMutex *mutex)
{
  pthread_cond_wait (locks_get_cond (cond), locks_get_mutex (mutex));
}

gboolean
g_cond_wait_until (GCond  *cond,
                   GMutex *mutex,
                   gint64  end_time)
{
  const struct timespec until = { end_time / G_USEC_PER_SEC, end_time % G_USEC_PER_SEC * 1000 };

  return pthread_cond_timedwait (locks_get_cond (cond), locks_get_mutex (mutex), &until) != ETIMEDOUT;
}

void
g_cond_signal (GCond *cond)
{
  pthread_cond_signal (locks_get_cond (cond));
}

void
g_cond_broadcast (GCond *cond)
{
  pthread_cond_broadcast (locks_get_cond (cond));
}
