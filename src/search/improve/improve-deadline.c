/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread sleeps until the time has come, or nobody waits for it any more. */
#include "improve-deadline.h"

struct _VnImproveDeadline
{
  GCancellable *outer, *cancellable;
  gulong        handler;
  gint64        end;
  GThread      *thread;
  GMutex        lock;
  GCond         done;
  gboolean      is_done;
  int           is_over;        /* atomic */
};

static gpointer
deadline_wait (gpointer data)
{
  VnImproveDeadline *self = data;
  gboolean waits = TRUE;

  g_mutex_lock (&self->lock);
  while (!self->is_done && waits)
    waits = g_cond_wait_until (&self->done, &self->lock, self->end);
  if (!self->is_done)
    g_atomic_int_set (&self->is_over, TRUE);
  g_mutex_unlock (&self->lock);
  if (g_atomic_int_get (&self->is_over))
    g_cancellable_cancel (self->cancellable);
  return NULL;
}

static void
deadline_outer_cancelled (GCancellable *outer,
                          GCancellable *cancellable)
{
  g_cancellable_cancel (cancellable);
}

/**
 * vn_improve_deadline_new:
 * @outer: (nullable): cancels the work before its time
 * @seconds: from now
 */
VnImproveDeadline *
vn_improve_deadline_new (GCancellable *outer,
                         double        seconds)
{
  VnImproveDeadline *self = g_new0 (VnImproveDeadline, 1);

  g_mutex_init (&self->lock);
  g_cond_init (&self->done);
  self->cancellable = g_cancellable_new ();
  self->end = g_get_monotonic_time () + (gint64) (MAX (seconds, 0) * G_USEC_PER_SEC);
  if (outer != NULL)
    {
      self->outer = g_object_ref (outer);
      self->handler = g_cancellable_connect (outer, G_CALLBACK (deadline_outer_cancelled), g_object_ref (self->cancellable),
                                             g_object_unref);
    }
  self->thread = g_thread_new ("deadline", deadline_wait, self);
  return self;
}

void
vn_improve_deadline_free (VnImproveDeadline *self)
{
  if (self == NULL)
    return;
  g_mutex_lock (&self->lock);
  self->is_done = TRUE;
  g_cond_signal (&self->done);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  if (self->outer != NULL)
    g_cancellable_disconnect (self->outer, self->handler);
  g_clear_object (&self->outer);
  g_object_unref (self->cancellable);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->done);
  g_free (self);
}

/**
 * vn_improve_deadline_get_cancellable:
 *
 * Returns: (transfer none): for the work
 */
GCancellable *
vn_improve_deadline_get_cancellable (VnImproveDeadline *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return self->cancellable;
}

/**
 * vn_improve_deadline_is_over:
 *
 * Returns: whether the time has come
 */
gboolean
vn_improve_deadline_is_over (const VnImproveDeadline *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_atomic_int_get (&self->is_over);
}
