/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups that open and close, seen to do so: boxes slide from where they were, and the group stays under the pointer. */
#include "vn-graph-folding.h"

#include <math.h>

#define MOST_BOXES 2500    /* more cannot be moved within a frame */
#define FOLD_MS     250

/**
 * VnGraphFolding:
 * @from, @frames_from: (nullable): where boxes and frames of the new layout come from; %NULL: nothing is under way
 * @layout, @index: what is drawn meanwhile
 * @shift: of the camera, so that the group stays under the pointer
 */
struct _VnGraphFolding
{
  const VnGraphParts *parts;
  VnGraphContent     *content;     /* that of @parts */
  guint               tick;
  gint64              start;
  VnRect             *from, *frames_from;
  VnGraphLayout      *layout;
  VnGraphIndex       *index;
  VnPoint             shift;
  double              shifted;
};

typedef struct
{
  VnGraphContent *content;
  VnFold         *fold;      /* what was shown */
  VnGraphLayout  *layout;
} Before;

static const VnGraphLayoutFrame *
graph_folding_find_frame (VnGraphLayout *layout,
                          guint          group)
{
  for (guint i = 0; i < vn_graph_layout_get_n_frames (layout); i++)
    if (vn_graph_layout_get_frame (layout, i)->group == group)
      return vn_graph_layout_get_frame (layout, i);
  return NULL;
}

/* Any node of a group. */
static guint
graph_folding_any_node (const VnGroups *groups,
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
graph_folding_map (VnRect        to,
                   const VnRect *frame,
                   const VnRect *box)
{
  double sx = box->width / MAX (frame->width, 1), sy = box->height / MAX (frame->height, 1);
  VnRect from = { box->x + (to.x - frame->x) * sx, box->y + (to.y - frame->y) * sy, to.width * sx, to.height * sy };

  return from;
}

/* Where a box or frame was that holds @node, and is group @group, or a node. */
static VnRect
graph_folding_find_from (const Before *before,
                         guint         node,
                         guint         group,
                         VnRect        to)
{
  guint box = vn_fold_get_box (before->fold, node);
  const VnSceneNode *data = vn_scene_get_node (vn_fold_get_scene (before->fold), box);
  const VnRect *rect = vn_graph_layout_get_box (before->layout, box);
  const VnGraphLayoutFrame *frame = group != VN_SCENE_NONE ? graph_folding_find_frame (before->layout, group) : NULL;

  if (frame != NULL)
    return frame->box;
  if (data->kind != VN_SCENE_GROUP || data->source == group)
    return *rect;
  frame = graph_folding_find_frame (before->content->layout, data->source);
  return frame != NULL ? graph_folding_map (to, &frame->box, rect) : *rect;
}

static void
graph_folding_find_all (VnGraphFolding *self,
                        const Before   *before)
{
  const VnGraphContent *content = before->content;
  guint n_boxes = vn_scene_get_n_nodes (content->scene), n_frames = vn_graph_layout_get_n_frames (content->layout);

  self->from = g_new (VnRect, n_boxes + 1);
  self->frames_from = g_new (VnRect, n_frames + 1);
  for (guint i = 0; i < n_boxes; i++)
    {
      const VnSceneNode *data = vn_scene_get_node (content->scene, i);
      guint n;

      self->from[i] = graph_folding_find_from (before, vn_fold_get_nodes (content->fold, i, &n)[0],
                                               data->kind == VN_SCENE_GROUP ? data->source : VN_SCENE_NONE,
                                               *vn_graph_layout_get_box (content->layout, i));
    }
  for (guint i = 0; i < n_frames; i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (content->layout, i);

      self->frames_from[i] = graph_folding_find_from (before, graph_folding_any_node (content->groups, frame->group),
                                                      frame->group, frame->box);
    }
}

static void
graph_folding_show (VnGraphFolding *self,
                    double          progress)
{
  VnGraphContent *content = self->content;
  VnGraphLayout *layout = vn_graph_layout_blend (content->layout, self->from, self->frames_from, content->scene, progress);
  VnGraphIndex *index = vn_graph_index_new (layout);

  vn_graph_painter_set_content (self->parts->painter, content->scene, layout, index);
  g_clear_pointer (&self->index, vn_graph_index_free);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  self->layout = layout;
  self->index = index;
  gtk_widget_queue_draw (self->parts->widget);
}

static void
graph_folding_shift (VnGraphFolding *self,
                     double          progress)
{
  VnGraphCamera camera = vn_viewport_get_camera (self->parts->viewport);
  double step = progress - self->shifted;

  self->shifted = progress;
  camera.origin.x += step * self->shift.x;
  camera.origin.y += step * self->shift.y;
  if (step != 0)
    vn_viewport_move (self->parts->viewport, camera);
}

/**
 * vn_graph_folding_stop:
 *
 * Ends the animation where it leads to.
 */
void
vn_graph_folding_stop (VnGraphFolding *self)
{
  VnGraphContent *content;

  g_return_if_fail (self != NULL);

  if (self->from == NULL)
    return;
  content = self->content;
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (self->parts->widget, self->tick);
  self->tick = 0;
  vn_graph_painter_set_content (self->parts->painter, content->scene, content->layout, content->index);
  g_clear_pointer (&self->index, vn_graph_index_free);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  g_clear_pointer (&self->from, g_free);
  g_clear_pointer (&self->frames_from, g_free);
  vn_graph_tiles_invalidate (self->parts->tiles);
  gtk_widget_queue_draw (self->parts->widget);
}

static gboolean
graph_folding_tick (GtkWidget     *widget,
                    GdkFrameClock *clock,
                    gpointer       user_data)
{
  VnGraphFolding *self = user_data;
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  double t, eased;

  if (self->start == 0)
    self->start = now;
  t = MIN ((now - self->start) / (FOLD_MS * 1000.), 1);
  eased = 1 - pow (1 - t, 3);
  graph_folding_shift (self, eased);
  if (t < 1)
    {
      graph_folding_show (self, eased);
      return G_SOURCE_CONTINUE;
    }
  self->tick = 0;
  vn_graph_folding_stop (self);
  return G_SOURCE_REMOVE;
}

/* Where a group is, open or closed: the middle of its upper side when closed. */
static gboolean
graph_folding_find_anchor (VnFold        *fold,
                           VnGraphLayout *layout,
                           guint          group,
                           VnPoint       *anchor)
{
  const VnGraphLayoutFrame *frame = graph_folding_find_frame (layout, group);
  guint box;
  const VnRect *rect;

  if (frame != NULL)
    {
      *anchor = frame->anchor;
      return TRUE;
    }
  box = vn_fold_get_box (fold, graph_folding_any_node (vn_fold_get_groups (fold), group));
  rect = vn_graph_layout_get_box (layout, box);
  *anchor = (VnPoint) { rect->x + rect->width / 2, rect->y };
  return vn_scene_get_node (vn_fold_get_scene (fold), box)->kind == VN_SCENE_GROUP;
}

static double
graph_folding_measure_distance (const VnRect *box,
                                VnPoint       point)
{
  return hypot (MAX (MAX (box->x - point.x, point.x - box->x - box->width), 0),
                MAX (MAX (box->y - point.y, point.y - box->y - box->height), 0));
}

/* The box that is next to a point. */
static guint
graph_folding_find_nearest (const VnGraphLayout *layout,
                            VnPoint              point)
{
  guint best = VN_SCENE_NONE;
  double least = G_MAXDOUBLE;

  for (guint i = 0; i < vn_graph_layout_get_n_nodes (layout); i++)
    {
      double distance = graph_folding_measure_distance (vn_graph_layout_get_box (layout, i), point);

      if (distance < least)
        {
          least = distance;
          best = i;
        }
    }
  return best;
}

/* How far what was in the middle of the view has moved; of a closed group its middle node speaks for it. */
static VnPoint
graph_folding_follow_middle (VnGraphFolding      *self,
                             const VnGraphBefore *before)
{
  VnRect area = vn_viewport_get_area (self->parts->viewport);
  guint box = graph_folding_find_nearest (before->layout, (VnPoint) { area.x + area.width / 2, area.y + area.height / 2 });
  guint node = box, n, now;
  const VnRect *was, *is;

  if (box == VN_SCENE_NONE)
    return (VnPoint) { 0, 0 };
  if (before->fold != NULL)
    {
      const guint *nodes = vn_fold_get_nodes (before->fold, box, &n);

      node = nodes[n / 2];
    }
  now = vn_graph_content_get_box (self->content, node);
  if (now == VN_SCENE_NONE || self->content->layout == NULL)
    return (VnPoint) { 0, 0 };
  was = vn_graph_layout_get_box (before->layout, box);
  is = vn_graph_layout_get_box (self->content->layout, now);
  return (VnPoint) { is->x + is->width / 2 - was->x - was->width / 2, is->y + is->height / 2 - was->y - was->height / 2 };
}

/* How far what is not to jump has moved: the group that was opened or closed, where it is seen, else what is in the middle. */
static VnPoint
graph_folding_find_shift (VnGraphFolding      *self,
                          const VnGraphBefore *before)
{
  VnRect area = vn_viewport_get_area (self->parts->viewport);
  VnPoint was, is;

  if (before->anchor != VN_SCENE_NONE && before->fold != NULL && self->content->fold != NULL &&
      graph_folding_find_anchor (before->fold, before->layout, before->anchor, &was) &&
      was.x >= area.x && was.x <= area.x + area.width && was.y >= area.y && was.y <= area.y + area.height &&
      graph_folding_find_anchor (self->content->fold, self->content->layout, before->anchor, &is))
    return (VnPoint) { is.x - was.x, is.y - was.y };
  return graph_folding_follow_middle (self, before);
}

/**
 * vn_graph_folding_start:
 * @before: what was shown
 * @moves_camera: whether the camera follows what is not to jump
 *
 * Goes over from what was shown to what is shown now: seen to happen where both have groups. The camera follows the group that
 * was opened or closed, or else what is in the middle of the view, unless it travels elsewhere or is moved by somebody else.
 */
void
vn_graph_folding_start (VnGraphFolding      *self,
                        const VnGraphBefore *before,
                        gboolean             moves_camera)
{
  Before data;

  g_return_if_fail (self != NULL && before != NULL && before->layout != NULL);

  data = (Before) { self->content, before->fold, before->layout };
  vn_viewport_stop (self->parts->viewport);
  self->start = 0;
  self->shifted = 0;
  self->shift = moves_camera && before->travel == VN_SCENE_NONE ? graph_folding_find_shift (self, before) : (VnPoint) { 0, 0 };
  if (before->fold == NULL || self->content->fold == NULL ||
      vn_fold_get_groups (before->fold) != self->content->groups || !vn_viewport_animates (self->parts->viewport) ||
      vn_scene_get_n_nodes (self->content->scene) > MOST_BOXES)
    {
      graph_folding_shift (self, 1);
      return;
    }
  graph_folding_find_all (self, &data);
  graph_folding_show (self, 0);
  self->tick = gtk_widget_add_tick_callback (self->parts->widget, graph_folding_tick, self, NULL);
}

/**
 * vn_graph_folding_is_running:
 *
 * Returns: whether boxes are moving
 */
gboolean
vn_graph_folding_is_running (VnGraphFolding *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->tick != 0;
}

/**
 * vn_graph_folding_new:
 * @parts: outlive this
 *
 * Returns: (transfer full): nothing moves yet
 */
VnGraphFolding *
vn_graph_folding_new (const VnGraphParts *parts)
{
  VnGraphFolding *self;

  g_return_val_if_fail (parts != NULL, NULL);

  self = g_new0 (VnGraphFolding, 1);
  self->parts = parts;
  self->content = parts->content;
  return self;
}

/**
 * vn_graph_folding_free:
 * @self: (nullable): stopped
 */
void
vn_graph_folding_free (VnGraphFolding *self)
{
  g_free (self);
}
