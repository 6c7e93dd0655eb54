/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The match of two networks as a task of a thread. */
#include "vn-compare-match.h"

#include "vn-thread.h"

typedef struct
{
  VnComparedModel    *models[2];
  VnNodeMatch        *match;      /* nullable */
  VnCompareMatchFunc  func;
} Matching;

static void
compare_match_free (gpointer data)
{
  Matching *self = data;

  vn_compared_model_unref (self->models[0]);
  vn_compared_model_unref (self->models[1]);
  g_clear_pointer (&self->match, vn_node_match_unref);
  g_free (self);
}

static void
compare_match_run (GTask        *task,
                   gpointer      source,
                   gpointer      data,
                   GCancellable *cancellable)
{
  Matching *self = data;

  self->match = vn_compared_model_match (self->models[0], self->models[1]);
  g_task_return_boolean (task, TRUE);
}

static void
compare_match_done (GObject      *owner,
                    GAsyncResult *async,
                    gpointer      data)
{
  Matching *self = g_task_get_task_data (G_TASK (async));

  if (g_task_propagate_boolean (G_TASK (async), NULL) && !g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (async))))
    self->func (owner, self->match);
}

/**
 * vn_compare_match_begin:
 * @owner: is there until @func was called
 * @func: called in the main thread; not at all if it was cancelled
 *
 * Returns: (transfer full): ends it
 */
GCancellable *
vn_compare_match_begin (GObject            *owner,
                        VnComparedModel    *first,
                        VnComparedModel    *second,
                        VnCompareMatchFunc  func)
{
  GCancellable *cancellable;
  g_autoptr(GTask) task = NULL;
  Matching *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && first != NULL && second != NULL && func != NULL, NULL);

  cancellable = g_cancellable_new ();
  self = g_new0 (Matching, 1);
  *self = (Matching) { { vn_compared_model_ref (first), vn_compared_model_ref (second) }, NULL, func };
  task = g_task_new (owner, cancellable, compare_match_done, NULL);
  g_task_set_task_data (task, self, compare_match_free);
  vn_thread_run_task (task, compare_match_run);
  return cancellable;
}
