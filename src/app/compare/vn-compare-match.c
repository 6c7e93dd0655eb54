/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The match of two networks, and how they are laid out as one, as a task of a thread. */
#include "vn-compare-match.h"

#include "vn-thread.h"

typedef struct
{
  VnComparedModel    *models[2];
  VnScene            *scenes[2];
  VnNodeMatch        *match;      /* nullable */
  VnAlignment        *alignment;  /* nullable */
  VnCompareMatchFunc  func;
} Matching;

static void
compare_match_free (gpointer data)
{
  Matching *self = data;

  for (guint i = 0; i < 2; i++)
    {
      vn_compared_model_unref (self->models[i]);
      vn_scene_unref (self->scenes[i]);
    }
  g_clear_pointer (&self->alignment, vn_alignment_unref);
  g_clear_pointer (&self->match, vn_node_match_unref);
  g_free (self);
}

/* The box that has the same place on the other side; pills by name. */
static guint
compare_match_find_counterpart (const Matching    *self,
                                const VnSceneNode *box)
{
  guint other = VN_SCENE_NONE;

  if (vn_scene_node_is_pill (box))
    {
      other = vn_scene_find_node (self->scenes[1], box->id);
    }
  else if (vn_scene_node_is_of_model (box) && box->source < vn_node_match_get_n (self->match, 0))
    {
      const VnMatchedNode *matched = vn_node_match_get (self->match, 0, box->source);

      if (matched->state != VN_MATCH_ALONE && matched->other != VN_MATCH_NONE)
        other = vn_scene_find_source (self->scenes[1], matched->other);
      if (other != VN_SCENE_NONE && vn_scene_get_node (self->scenes[1], other)->source != matched->other)
        other = VN_SCENE_NONE;   /* a box that stands for it and others */
    }
  return other != VN_SCENE_NONE && vn_scene_get_node (self->scenes[1], other)->kind == box->kind ? other : VN_SCENE_NONE;
}

static VnAlignment *
compare_match_align (const Matching *self)
{
  guint n = vn_scene_get_n_nodes (self->scenes[0]);
  g_autofree guint *counterparts = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    counterparts[i] = compare_match_find_counterpart (self, vn_scene_get_node (self->scenes[0], i));
  return vn_alignment_new (self->scenes[0], self->scenes[1], counterparts);
}

static void
compare_match_run (GTask        *task,
                   gpointer      source,
                   gpointer      data,
                   GCancellable *cancellable)
{
  Matching *self = data;

  self->match = vn_compared_model_match (self->models[0], self->models[1]);
  self->alignment = compare_match_align (self);
  g_task_return_boolean (task, TRUE);
}

static void
compare_match_done (GObject      *owner,
                    GAsyncResult *async,
                    gpointer      data)
{
  Matching *self = g_task_get_task_data (G_TASK (async));

  if (g_task_propagate_boolean (G_TASK (async), NULL) && !g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (async))))
    self->func (owner, self->match, self->alignment);
}

/**
 * vn_compare_match_begin:
 * @owner: is there until @func was called
 * @scenes: of both models
 * @func: called in the main thread; not at all if it was cancelled
 *
 * Returns: (transfer full): ends it
 */
GCancellable *
vn_compare_match_begin (GObject            *owner,
                        VnComparedModel    *first,
                        VnComparedModel    *second,
                        VnScene * const     scenes[2],
                        VnCompareMatchFunc  func)
{
  GCancellable *cancellable;
  g_autoptr(GTask) task = NULL;
  Matching *self;

  g_return_val_if_fail (G_IS_OBJECT (owner) && first != NULL && second != NULL && func != NULL, NULL);
  g_return_val_if_fail (scenes[0] != NULL && scenes[1] != NULL, NULL);

  cancellable = g_cancellable_new ();
  self = g_new0 (Matching, 1);
  *self = (Matching) { .models = { vn_compared_model_ref (first), vn_compared_model_ref (second) },
                       .scenes = { vn_scene_ref (scenes[0]), vn_scene_ref (scenes[1]) }, .func = func };
  task = g_task_new (owner, cancellable, compare_match_done, NULL);
  g_task_set_task_data (task, self, compare_match_free);
  vn_thread_run_task (task, compare_match_run);
  return cancellable;
}
