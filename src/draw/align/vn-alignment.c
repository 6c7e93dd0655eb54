/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two networks laid out as one: what both are together is grouped and laid out once, and each shows its part of that. */
#include "vn-alignment.h"

#include "align-private.h"
#include "vn-thread.h"

#include <string.h>

struct _VnAlignment
{
  gatomicrefcount ref;
  VnScene        *sides[2];
  VnGroups       *side_groups[2];
  AlignWhole      whole;
  VnGroups       *groups;
  VnFoldPlaces   *places;

  GMutex          lock;        /* of what was laid out last */
  VnFold         *fold;        /* nullable: no groups are shown */
  double          page;
  VnGraphLayout  *layout;      /* nullable */
};

/**
 * vn_alignment_new:
 * @first, @second: sealed
 * @counterparts: by node of @first: what stands for it in @second, or %VN_SCENE_NONE
 *
 * Finds the groups of both as one. Takes as long as vn_groups_new() for both together.
 *
 * Returns: (transfer full): to lay out both
 */
VnAlignment *
vn_alignment_new (VnScene     *first,
                  VnScene     *second,
                  const guint *counterparts)
{
  VnAlignment *self;

  g_return_val_if_fail (first != NULL && second != NULL && counterparts != NULL, NULL);

  self = g_new0 (VnAlignment, 1);
  g_atomic_ref_count_init (&self->ref);
  g_mutex_init (&self->lock);
  self->sides[0] = vn_scene_ref (first);
  self->sides[1] = vn_scene_ref (second);
  vn_align_whole_init (&self->whole, self->sides, counterparts);
  self->groups = vn_groups_new (self->whole.scene);
  self->places = vn_fold_places_new ();
  for (guint i = 0; i < 2; i++)
    self->side_groups[i] = vn_groups_new_part (self->groups, self->sides[i], self->whole.nodes[i]);
  return self;
}

/**
 * vn_alignment_ref:
 *
 * Returns: (transfer full): @self
 */
VnAlignment *
vn_alignment_ref (VnAlignment *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_alignment_unref:
 *
 * Drops a reference; the last one frees the alignment.
 */
void
vn_alignment_unref (VnAlignment *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  for (guint i = 0; i < 2; i++)
    {
      vn_scene_unref (self->sides[i]);
      vn_groups_unref (self->side_groups[i]);
    }
  g_clear_pointer (&self->fold, vn_fold_unref);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  vn_align_whole_clear (&self->whole);
  vn_groups_unref (self->groups);
  vn_fold_places_unref (self->places);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/**
 * vn_alignment_get_scene:
 * @side: 0 or 1
 *
 * Returns: (transfer none): the scene of that side
 */
VnScene *
vn_alignment_get_scene (VnAlignment *self,
                        guint        side)
{
  g_return_val_if_fail (self != NULL && side < 2, NULL);

  return self->sides[side];
}

/**
 * vn_alignment_get_groups:
 * @side: 0 or 1
 *
 * Returns: (transfer none): the groups of that scene; both sides have the same ones by number, some maybe without nodes
 */
VnGroups *
vn_alignment_get_groups (VnAlignment *self,
                         guint        side)
{
  g_return_val_if_fail (self != NULL && side < 2, NULL);

  return self->side_groups[side];
}

/**
 * vn_alignment_dup_open:
 * @n_boxes: how many boxes may be seen, as far as that goes
 *
 * Returns: (transfer full): by group whether it is open at first, on both sides
 */
guint8 *
vn_alignment_dup_open (VnAlignment *self,
                       guint        n_boxes)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_groups_dup_open (self->groups, n_boxes);
}

/**
 * vn_alignment_get_n_nodes:
 *
 * Returns: how many nodes both have, pills included; counterparts are one
 */
guint
vn_alignment_get_n_nodes (VnAlignment *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return vn_scene_get_n_nodes (self->whole.scene);
}

/* Returns: (transfer full): of both with the groups of @open open; NULL: without groups. */
static VnGraphLayout *
alignment_lay_out_whole (VnAlignment   *self,
                         VnFold        *whole_fold,
                         double         page,
                         GCancellable  *cancellable,
                         GError       **error)
{
  g_autoptr(VnGraphLayout) plain = whole_fold != NULL
                                   ? vn_fold_lay_out (whole_fold, self->places, cancellable, error)
                                   : vn_graph_layout_new_for_scene (self->whole.scene, cancellable, error);

  return plain != NULL ? vn_graph_layout_wrap (plain, page) : NULL;
}

static gboolean
alignment_is_remembered (VnAlignment  *self,
                         const VnFold *fold,
                         double        page)
{
  if (self->layout == NULL || self->page != page || (fold != NULL) != (self->fold != NULL))
    return FALSE;
  return fold == NULL || memcmp (fold->open, self->fold->open, vn_groups_get_n (self->groups)) == 0;
}

/**
 * vn_alignment_lay_out:
 * @side: 0 or 1
 * @fold: (nullable): of the scene and the groups of that side; %NULL: groups are not shown
 * @page: as vn_graph_layout_wrap() takes it
 *
 * Lays out both sides with the groups that are open in @fold.
 *
 * Returns: (transfer full): the layout of what is shown of that side, with the bounds of both: what stands for each other has the
 *   same place in the layout of either side
 */
VnGraphLayout *
vn_alignment_lay_out (VnAlignment   *self,
                      guint          side,
                      VnFold        *fold,
                      double         page,
                      GCancellable  *cancellable,
                      GError       **error)
{
  g_autoptr(VnFold) whole_fold = NULL;
  g_autoptr(VnGraphLayout) layout = NULL;

  g_return_val_if_fail (self != NULL && side < 2, NULL);
  g_return_val_if_fail (fold == NULL || vn_fold_get_groups (fold) == self->side_groups[side], NULL);

  g_mutex_lock (&self->lock);
  if (alignment_is_remembered (self, fold, page))
    {
      layout = vn_graph_layout_ref (self->layout);
      whole_fold = self->fold != NULL ? vn_fold_ref (self->fold) : NULL;
    }
  g_mutex_unlock (&self->lock);
  if (layout == NULL)
    {
      whole_fold = fold != NULL ? vn_fold_new (self->whole.scene, self->groups, fold->open) : NULL;
      layout = alignment_lay_out_whole (self, whole_fold, page, cancellable, error);
      if (layout == NULL)
        return NULL;
      g_mutex_lock (&self->lock);
      g_clear_pointer (&self->fold, vn_fold_unref);
      g_clear_pointer (&self->layout, vn_graph_layout_unref);
      self->fold = whole_fold != NULL ? vn_fold_ref (whole_fold) : NULL;
      self->layout = vn_graph_layout_ref (layout);
      self->page = page;
      g_mutex_unlock (&self->lock);
    }
  return vn_align_part_new (&self->whole, side, fold != NULL ? vn_fold_get_scene (fold) : self->sides[side], fold, whole_fold,
                            layout);
}

/* ---- on a thread ---- */

typedef struct { VnAlignment *self; guint side; VnFold *fold; double page; } Task;

static void
alignment_free_task (gpointer data)
{
  Task *task = data;

  vn_alignment_unref (task->self);
  g_clear_pointer (&task->fold, vn_fold_unref);
  g_free (task);
}

static void
alignment_thread (GTask        *task,
                  gpointer      source_object,
                  gpointer      task_data,
                  GCancellable *cancellable)
{
  const Task *data = task_data;
  GError *error = NULL;
  VnGraphLayout *layout = vn_alignment_lay_out (data->self, data->side, data->fold, data->page, cancellable, &error);

  if (layout == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, layout, (GDestroyNotify) vn_graph_layout_unref);
}

/**
 * vn_alignment_lay_out_async:
 * @callback: called on the calling thread's main context; vn_graph_layout_new_finish() gives it the layout
 *
 * As vn_alignment_lay_out(), on a worker thread.
 */
void
vn_alignment_lay_out_async (VnAlignment         *self,
                            guint                side,
                            VnFold              *fold,
                            double               page,
                            GCancellable        *cancellable,
                            GAsyncReadyCallback  callback,
                            gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);
  Task *data;

  g_return_if_fail (self != NULL && side < 2 && page >= 0);

  data = g_new (Task, 1);
  *data = (Task) { vn_alignment_ref (self), side, fold != NULL ? vn_fold_ref (fold) : NULL, page };
  g_task_set_source_tag (task, vn_alignment_lay_out_async);
  g_task_set_task_data (task, data, alignment_free_task);
  vn_thread_run_task (task, alignment_thread);
}
