/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the graph view shows: the whole scene, or what is left of it while groups are closed; waits for the layout. */
#include "vn-graph-view-private.h"

#define SYNC_NODES    1500    /* laid out in a few milliseconds: no thread */
#define GROUPED_NODES  300    /* larger networks are shown in groups at first */
#define TITLE_HEIGHT    30.

/* ---- which box, which nodes ---- */

/* Returns: (transfer none): the nodes of the whole scene that a box stands for. */
const guint *
vn_graph_view_get_nodes (VnGraphView *self,
                         const guint *box,
                         guint       *n)
{
  *n = 1;
  return self->fold != NULL ? vn_fold_get_nodes (self->fold, *box, n) : box;
}

guint
vn_graph_view_get_box (VnGraphView *self,
                       guint        node)
{
  if (self->whole == NULL || node >= vn_scene_get_n_nodes (self->whole))
    return VN_SCENE_NONE;
  return self->fold != NULL ? vn_fold_get_box (self->fold, node) : node;
}

/* The closed group a box stands for, or else the open one it is in; the root if it is in none. */
guint
vn_graph_view_get_group (VnGraphView *self,
                         guint        box)
{
  const VnSceneNode *data;
  guint n;

  if (self->fold == NULL || box == VN_SCENE_NONE)
    return VN_GROUPS_ROOT;
  data = vn_scene_get_node (self->scene, box);
  if (data->kind == VN_SCENE_GROUP)
    return data->source;
  return vn_groups_of_node (self->groups, vn_fold_get_nodes (self->fold, box, &n)[0]);
}

/* The open group that a box stands in. */
guint
vn_graph_view_get_parent (VnGraphView *self,
                          guint        box)
{
  guint group = vn_graph_view_get_group (self, box);

  if (self->fold != NULL && vn_scene_get_node (self->scene, box)->kind == VN_SCENE_GROUP)
    return vn_groups_get (self->groups, group)->parent;
  return group;
}

/* The innermost open group whose title is at a point; VN_SCENE_NONE: none. */
guint
vn_graph_view_find_frame (VnGraphView *self,
                          VnPoint      world)
{
  guint found = VN_SCENE_NONE;

  for (guint i = 0; self->fold != NULL && i < vn_graph_layout_get_n_frames (self->layout); i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (self->layout, i);

      if (world.x >= frame->box.x && world.x <= frame->box.x + frame->box.width && world.y >= frame->box.y
          && world.y <= frame->box.y + TITLE_HEIGHT)
        found = frame->group;
    }
  return found;
}

/* Returns: (transfer full) (nullable): the overlay of the whole scene, made for what is shown. */
VnOverlay *
vn_graph_view_make_overlay (VnGraphView *self)
{
  if (self->whole_overlay == NULL)
    return NULL;
  return self->fold != NULL ? vn_fold_make_overlay (self->fold, self->whole_overlay) : vn_overlay_ref (self->whole_overlay);
}

/* ---- showing ---- */

static void
graph_view_scene_show (VnGraphView   *self,
                       VnScene       *whole,
                       VnFold        *fold,
                       VnGraphLayout *layout)
{
  VnScene *shown = fold != NULL ? vn_fold_get_scene (fold) : whole;

  vn_graph_painter_set_content (self->painter, NULL, NULL, NULL);
  vn_graph_painter_set_overlay (self->painter, NULL);
  g_clear_pointer (&self->index, vn_graph_index_free);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  g_clear_pointer (&self->overlay, vn_overlay_unref);
  if (whole != NULL)
    vn_scene_ref (whole);
  if (shown != NULL)
    vn_scene_ref (shown);
  if (fold != NULL)
    vn_fold_ref (fold);
  g_clear_pointer (&self->fold, vn_fold_unref);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->whole, vn_scene_unref);
  self->whole = whole;
  self->scene = shown;
  self->fold = fold;
  self->layout = layout != NULL ? vn_graph_layout_ref (layout) : NULL;
  self->overlay = vn_graph_view_make_overlay (self);
  if (layout != NULL)
    self->index = vn_graph_index_new (layout);
  vn_graph_painter_set_content (self->painter, shown, layout, self->index);
  vn_graph_painter_set_groups (self->painter, fold != NULL ? self->groups : NULL);
  vn_graph_painter_set_overlay (self->painter, self->overlay);
  vn_graph_tiles_invalidate (self->tiles);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "content-changed");
}

/* A network that was not shown before. */
static void
graph_view_scene_open (VnGraphView   *self,
                       VnScene       *whole,
                       VnFold        *fold,
                       VnGraphLayout *layout)
{
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  self->whole_overlay = g_steal_pointer (&self->pending_overlay);
  graph_view_scene_show (self, whole, fold, layout);
  vn_graph_tiles_clear (self->tiles);
  g_array_set_size (self->trail, 0);
  vn_graph_view_reset_selection (self);
  vn_graph_view_go_home (self);
  g_signal_emit_by_name (self, "ready");
  g_signal_emit_by_name (self, "folding-changed");
  g_signal_emit_by_name (self, "selection-changed");
}

/* The node that speaks for the focus, whatever is open. */
static guint
graph_view_scene_focus_node (VnGraphView *self)
{
  guint n;

  return self->state.focus_node != VN_SCENE_NONE ? vn_graph_view_get_nodes (self, &self->state.focus_node, &n)[0]
                                                 : VN_SCENE_NONE;
}

/* The same network with other groups open. */
static void
graph_view_scene_refold (VnGraphView   *self,
                         VnFold        *fold,
                         VnGraphLayout *layout)
{
  g_autoptr(VnFold) before = self->fold != NULL ? vn_fold_ref (self->fold) : NULL;
  g_autoptr(VnGraphLayout) layout_before = self->layout != NULL ? vn_graph_layout_ref (self->layout) : NULL;
  g_autoptr(VnScene) whole = vn_scene_ref (self->whole);
  guint focus = graph_view_scene_focus_node (self), travel = self->pending_travel;

  vn_graph_view_unfold (self);
  graph_view_scene_show (self, whole, fold, layout);
  vn_graph_tiles_clear (self->tiles);
  g_array_set_size (self->trail, 0);
  vn_graph_view_refold_selection (self);
  self->state.focus_node = VN_SCENE_NONE;
  if (focus != VN_SCENE_NONE)
    vn_graph_view_focus_box (self, vn_graph_view_get_box (self, focus));
  if (before != NULL && fold != NULL && layout_before != NULL)
    vn_graph_view_start_folding (self, before, layout_before, travel == VN_SCENE_NONE ? self->pending_anchor : VN_SCENE_NONE);
  self->pending_travel = VN_SCENE_NONE;
  g_signal_emit_by_name (self, "folding-changed");
  if (travel != VN_SCENE_NONE)
    vn_graph_view_zoom_to_box (self, vn_graph_view_get_box (self, travel));
}

/* ---- layout ---- */

static void
graph_view_scene_failed (VnGraphView *self,
                         GError      *error)
{
  vn_graph_view_cancel (self);
  g_signal_emit_by_name (self, "failed", error->message);
}

static void
graph_view_scene_laid_out (VnGraphView   *self,
                           VnGraphLayout *layout)
{
  g_autoptr(VnScene) whole = g_steal_pointer (&self->pending);
  g_autoptr(VnFold) fold = g_steal_pointer (&self->pending_fold);

  g_clear_object (&self->cancellable);
  if (whole == self->whole)
    graph_view_scene_refold (self, fold, layout);
  else
    graph_view_scene_open (self, whole, fold, layout);
}

/* The view is not kept for this, or it would tell a page that is gone that it is ready: its end cancels what is being laid out. */
static void
graph_view_scene_done (GObject      *source,
                       GAsyncResult *result,
                       gpointer      user_data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_new_finish (result, &error);
  VnGraphView *self = user_data;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (layout == NULL)
    graph_view_scene_failed (self, error);
  else
    graph_view_scene_laid_out (self, layout);
}

/* Gives up what is being laid out. */
void
vn_graph_view_cancel (VnGraphView *self)
{
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->pending, vn_scene_unref);
  g_clear_pointer (&self->pending_fold, vn_fold_unref);
  g_clear_pointer (&self->pending_overlay, vn_overlay_unref);
}

/* Lays out what self->open wants to be seen of @whole, and then shows it. */
static void
graph_view_scene_lay_out (VnGraphView *self,
                          VnScene     *whole)
{
  g_autoptr(VnGraphLayout) layout = NULL;
  g_autoptr(GError) error = NULL;
  VnScene *shown = whole;

  self->pending = vn_scene_ref (whole);
  if (self->open != NULL)
    {
      self->pending_fold = vn_fold_new (whole, self->groups, self->open);
      shown = vn_fold_get_scene (self->pending_fold);
    }
  if (vn_scene_get_n_nodes (shown) > SYNC_NODES)
    {
      self->cancellable = g_cancellable_new ();
      if (self->pending_fold != NULL)
        vn_fold_lay_out_async (self->pending_fold, self->places, self->cancellable, graph_view_scene_done, self);
      else
        vn_graph_layout_new_async (whole, self->cancellable, graph_view_scene_done, self);
      return;
    }
  layout = self->pending_fold != NULL ? vn_fold_lay_out (self->pending_fold, self->places, NULL, &error)
                                      : vn_graph_layout_new_for_scene (whole, NULL, &error);
  if (layout == NULL)
    graph_view_scene_failed (self, error);
  else
    graph_view_scene_laid_out (self, layout);
}

/* The same network with other precisions: places and selection stay. */
static void
graph_view_scene_replace (VnGraphView *self,
                          VnScene     *whole)
{
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_ref (self->layout);
  g_autoptr(VnFold) fold = self->fold != NULL ? vn_fold_renew (self->fold, whole) : NULL;

  vn_graph_view_unfold (self);
  graph_view_scene_show (self, whole, fold, layout);
}

static void
graph_view_scene_clear (VnGraphView *self)
{
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  graph_view_scene_show (self, NULL, NULL, NULL);
  vn_graph_tiles_clear (self->tiles);
  vn_graph_view_reset_selection (self);
  g_signal_emit_by_name (self, "selection-changed");
}

static void
graph_view_scene_set_groups (VnGraphView *self,
                             VnScene     *whole,
                             VnGroups    *groups)
{
  gboolean useful = groups != NULL && vn_groups_get_n (groups) > 1;

  if (useful)
    vn_groups_ref (groups);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_pointer (&self->places, vn_fold_places_unref);
  g_clear_pointer (&self->open, g_free);
  self->groups = useful ? groups : NULL;
  self->places = useful ? vn_fold_places_new () : NULL;
  if (useful && vn_groups_get (groups, VN_GROUPS_ROOT)->n_nodes > GROUPED_NODES)
    self->open = vn_groups_dup_open (groups, VN_GRAPH_VIEW_OPEN_BOXES);
}

/**
 * vn_graph_view_set_network:
 * @scene: (nullable): sealed; %NULL empties the view
 * @groups: (nullable): of a scene of the same geometry
 *
 * Shows a network, a large one in groups. It is laid out first, on a worker thread if much is to be seen; the old one stays until
 * then. A scene of the same geometry takes over places, selection, overlay and what is open at once. Emits ready, or failed.
 */
void
vn_graph_view_set_network (VnGraphView *self,
                           VnScene     *scene,
                           VnGroups    *groups)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));
  g_return_if_fail (groups == NULL || (scene != NULL && vn_groups_get_n_nodes (groups) == vn_scene_get_n_nodes (scene)));

  if (scene != NULL && self->whole != NULL && vn_scene_same_geometry (self->whole, scene)
      && (groups == self->groups || self->groups == NULL))
    {
      gboolean refolds = self->pending != NULL && self->pending == self->whole;

      vn_graph_view_cancel (self);
      graph_view_scene_replace (self, scene);
      if (refolds)
        graph_view_scene_lay_out (self, scene);
      return;
    }
  vn_graph_view_cancel (self);
  vn_graph_view_unfold (self);
  if (scene == NULL)
    {
      graph_view_scene_set_groups (self, NULL, NULL);
      graph_view_scene_clear (self);
      return;
    }
  graph_view_scene_set_groups (self, scene, groups);
  graph_view_scene_lay_out (self, scene);
}

/**
 * vn_graph_view_set_scene:
 * @scene: (nullable): sealed; %NULL empties the view
 *
 * As vn_graph_view_set_network(), without groups.
 */
void
vn_graph_view_set_scene (VnGraphView *self,
                         VnScene     *scene)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  vn_graph_view_set_network (self, scene, NULL);
}

/* Takes over @open. @anchor: the group that is not to jump. */
void
vn_graph_view_take_open (VnGraphView *self,
                         guint8      *open,
                         guint        anchor)
{
  g_autoptr(VnScene) whole = NULL;

  g_free (self->open);
  self->open = open;
  if (self->pending != NULL && self->pending != self->whole)   /* comes with what is open now */
    {
      g_autoptr(VnOverlay) overlay = g_steal_pointer (&self->pending_overlay);

      whole = vn_scene_ref (self->pending);
      vn_graph_view_cancel (self);
      self->pending_overlay = g_steal_pointer (&overlay);
    }
  else
    {
      if (self->whole == NULL)
        return;
      whole = vn_scene_ref (self->whole);
      vn_graph_view_cancel (self);
    }
  self->pending_anchor = anchor;
  graph_view_scene_lay_out (self, whole);
}

/**
 * vn_graph_view_set_network_like:
 * @scene: sealed
 * @groups: (nullable): of the scene
 * @other: shows a scene
 *
 * As vn_graph_view_set_network(), but a scene without closed groups of the same geometry as that of @other is not laid out again.
 */
void
vn_graph_view_set_network_like (VnGraphView *self,
                                VnScene     *scene,
                                VnGroups    *groups,
                                VnGraphView *other)
{
  g_return_if_fail (VN_IS_GRAPH_VIEW (self) && VN_IS_GRAPH_VIEW (other) && scene != NULL);

  if (other->whole == NULL || other->layout == NULL || other->pending != NULL || other->fold != NULL || self->open != NULL ||
      (groups != NULL && vn_groups_get (groups, VN_GROUPS_ROOT)->n_nodes > GROUPED_NODES) ||
      !vn_scene_same_geometry (other->whole, scene) || (self->whole != NULL && vn_scene_same_geometry (self->whole, scene)))
    {
      vn_graph_view_set_network (self, scene, groups);
      return;
    }
  vn_graph_view_cancel (self);
  graph_view_scene_set_groups (self, scene, groups);
  graph_view_scene_open (self, scene, NULL, other->layout);
}

/**
 * vn_graph_view_get_groups:
 *
 * Returns: (transfer none) (nullable): those of the network that is shown or being laid out
 */
VnGroups *
vn_graph_view_get_groups (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->groups;
}
