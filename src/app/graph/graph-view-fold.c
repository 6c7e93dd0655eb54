/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups that open and close, seen to do so: boxes slide from where they were, and the group stays under the pointer. */
#include "vn-graph-view-private.h"

#include <math.h>

#define MOST_BOXES 2500    /* more cannot be moved within a frame */

typedef struct
{
  VnGraphView   *view;
  VnFold        *fold;      /* what was shown */
  VnGraphLayout *layout;
} Before;

static const VnGraphLayoutFrame *
graph_view_fold_find_frame (VnGraphLayout *layout,
                            guint          group)
{
  for (guint i = 0; i < vn_graph_layout_get_n_frames (layout); i++)
    if (vn_graph_layout_get_frame (layout, i)->group == group)
      return vn_graph_layout_get_frame (layout, i);
  return NULL;
}

/* Any node of a group. */
static guint
graph_view_fold_any_node (const VnGroups *groups,
                          guint           group)
{
  guint n;
  VnGroupChild child = { TRUE, group };

  while (child.is_group)
    child = vn_groups_get_children (groups, child.index, &n)[0];
  return child.index;
}

/* Where something was that is inside of @frame now, when that was a closed box at @box. */
static VnRect
graph_view_fold_map (VnRect        to,
                     const VnRect *frame,
                     const VnRect *box)
{
  double sx = box->width / MAX (frame->width, 1), sy = box->height / MAX (frame->height, 1);
  VnRect from = { box->x + (to.x - frame->x) * sx, box->y + (to.y - frame->y) * sy, to.width * sx, to.height * sy };

  return from;
}

/* Where a box or frame was that holds @node, and is group @group, or a node. */
static VnRect
graph_view_fold_find_from (const Before *before,
                           guint         node,
                           guint         group,
                           VnRect        to)
{
  guint box = vn_fold_get_box (before->fold, node);
  const VnSceneNode *data = vn_scene_get_node (vn_fold_get_scene (before->fold), box);
  const VnRect *rect = vn_graph_layout_get_box (before->layout, box);
  const VnGraphLayoutFrame *frame = group != VN_SCENE_NONE ? graph_view_fold_find_frame (before->layout, group) : NULL;

  if (frame != NULL)
    return frame->box;
  if (data->kind != VN_SCENE_GROUP || data->source == group)
    return *rect;
  frame = graph_view_fold_find_frame (before->view->layout, data->source);
  return frame != NULL ? graph_view_fold_map (to, &frame->box, rect) : *rect;
}

static void
graph_view_fold_find_all (const Before *before)
{
  VnGraphView *view = before->view;
  guint n_boxes = vn_scene_get_n_nodes (view->scene), n_frames = vn_graph_layout_get_n_frames (view->layout);

  view->folding.from = g_new (VnRect, n_boxes + 1);
  view->folding.frames_from = g_new (VnRect, n_frames + 1);
  for (guint i = 0; i < n_boxes; i++)
    {
      const VnSceneNode *data = vn_scene_get_node (view->scene, i);
      guint n;

      view->folding.from[i] = graph_view_fold_find_from (before, vn_fold_get_nodes (view->fold, i, &n)[0],
                                                         data->kind == VN_SCENE_GROUP ? data->source : VN_SCENE_NONE,
                                                         *vn_graph_layout_get_box (view->layout, i));
    }
  for (guint i = 0; i < n_frames; i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (view->layout, i);

      view->folding.frames_from[i] = graph_view_fold_find_from (before, graph_view_fold_any_node (view->groups, frame->group),
                                                                frame->group, frame->box);
    }
}

static void
graph_view_fold_show (VnGraphView *self,
                      double       progress)
{
  VnGraphLayout *layout = vn_graph_layout_blend (self->layout, self->folding.from, self->folding.frames_from, self->scene,
                                                 progress);
  VnGraphIndex *index = vn_graph_index_new (layout);

  vn_graph_painter_set_content (self->painter, self->scene, layout, index);
  g_clear_pointer (&self->folding.index, vn_graph_index_free);
  g_clear_pointer (&self->folding.layout, vn_graph_layout_unref);
  self->folding.layout = layout;
  self->folding.index = index;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
graph_view_fold_shift (VnGraphView *self,
                       double       progress)
{
  VnGraphCamera camera = self->camera;
  double step = progress - self->folding.shifted;

  self->folding.shifted = progress;
  camera.origin.x += step * self->folding.shift.x;
  camera.origin.y += step * self->folding.shift.y;
  if (step != 0)
    vn_graph_view_move (self, camera);
}

/* Ends the animation where it leads to. */
void
vn_graph_view_unfold (VnGraphView *self)
{
  if (self->folding.from == NULL)
    return;

  if (self->folding.tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->folding.tick);
  self->folding.tick = 0;
  vn_graph_painter_set_content (self->painter, self->scene, self->layout, self->index);
  g_clear_pointer (&self->folding.index, vn_graph_index_free);
  g_clear_pointer (&self->folding.layout, vn_graph_layout_unref);
  g_clear_pointer (&self->folding.from, g_free);
  g_clear_pointer (&self->folding.frames_from, g_free);
  vn_graph_tiles_invalidate (self->tiles);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
graph_view_fold_tick (GtkWidget     *widget,
                      GdkFrameClock *clock,
                      gpointer       user_data)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  double t, eased;

  if (self->folding.start == 0)
    self->folding.start = now;
  t = MIN ((now - self->folding.start) / (FOLD_MS * 1000.), 1);
  eased = 1 - pow (1 - t, 3);
  graph_view_fold_shift (self, eased);
  if (t < 1)
    {
      graph_view_fold_show (self, eased);
      return G_SOURCE_CONTINUE;
    }
  self->folding.tick = 0;
  vn_graph_view_unfold (self);
  return G_SOURCE_REMOVE;
}

/* Where a group is, open or closed: the middle of its upper side when closed. */
static gboolean
graph_view_fold_find_anchor (VnFold        *fold,
                             VnGraphLayout *layout,
                             guint          group,
                             VnPoint       *anchor)
{
  const VnGraphLayoutFrame *frame = graph_view_fold_find_frame (layout, group);
  guint box;
  const VnRect *rect;

  if (frame != NULL)
    {
      *anchor = frame->anchor;
      return TRUE;
    }
  box = vn_fold_get_box (fold, graph_view_fold_any_node (vn_fold_get_groups (fold), group));
  rect = vn_graph_layout_get_box (layout, box);
  *anchor = (VnPoint) { rect->x + rect->width / 2, rect->y };
  return vn_scene_get_node (vn_fold_get_scene (fold), box)->kind == VN_SCENE_GROUP;
}

/* Goes over from what was shown to what is shown now. */
void
vn_graph_view_start_folding (VnGraphView   *self,
                             VnFold        *before,
                             VnGraphLayout *layout,
                             guint          anchor)
{
  Before data = { self, before, layout };
  VnPoint was, is;

  self->folding.start = 0;
  self->folding.shifted = 0;
  self->folding.shift = (VnPoint) { 0, 0 };
  if (anchor != VN_SCENE_NONE && graph_view_fold_find_anchor (before, layout, anchor, &was)
      && graph_view_fold_find_anchor (self->fold, self->layout, anchor, &is))
    self->folding.shift = (VnPoint) { is.x - was.x, is.y - was.y };
  if (!vn_graph_view_animates (self) || vn_scene_get_n_nodes (self->scene) > MOST_BOXES)
    {
      graph_view_fold_shift (self, 1);
      return;
    }
  graph_view_fold_find_all (&data);
  graph_view_fold_show (self, 0);
  self->folding.tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_fold_tick, NULL, NULL);
}
