/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a graph view shows: the whole scene, or what is left of it while groups are closed; waits for the layout. */
#include "vn-graph-content.h"

#define SYNC_NODES    1500    /* laid out in a few milliseconds: no thread */
#define TITLE_HEIGHT    30.

G_DEFINE_FINAL_TYPE (VnGraphContent, vn_graph_content, G_TYPE_OBJECT)

/* ---- which box, which nodes ---- */

/**
 * vn_graph_content_get_nodes:
 * @box: (not nullable): a box
 * @n: (out): how many
 *
 * Returns: (transfer none): the nodes that it stands for; maybe @box itself
 */
const guint *
vn_graph_content_get_nodes (VnGraphContent *self,
                            const guint    *box,
                            guint          *n)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self) && box != NULL && n != NULL, NULL);

  *n = 1;
  return self->fold != NULL ? vn_fold_get_nodes (self->fold, *box, n) : box;
}

/**
 * vn_graph_content_get_node:
 * @box: or %VN_SCENE_NONE
 *
 * Returns: the node that speaks for a box, whatever is open, or %VN_SCENE_NONE
 */
guint
vn_graph_content_get_node (VnGraphContent *self,
                           guint           box)
{
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), VN_SCENE_NONE);

  return box != VN_SCENE_NONE ? vn_graph_content_get_nodes (self, &box, &n)[0] : VN_SCENE_NONE;
}

/**
 * vn_graph_content_get_n_nodes:
 *
 * Returns: how many nodes there are, seen or not
 */
guint
vn_graph_content_get_n_nodes (VnGraphContent *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), 0);

  return self->whole != NULL ? vn_scene_get_n_nodes (self->whole) : 0;
}

/**
 * vn_graph_content_get_n_boxes:
 *
 * Returns: how many boxes are shown
 */
guint
vn_graph_content_get_n_boxes (VnGraphContent *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), 0);

  return self->scene != NULL ? vn_scene_get_n_nodes (self->scene) : 0;
}

/**
 * vn_graph_content_get_box:
 *
 * Returns: the box that stands for a node, or %VN_SCENE_NONE where there is no such node
 */
guint
vn_graph_content_get_box (VnGraphContent *self,
                          guint           node)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), VN_SCENE_NONE);

  if (self->whole == NULL || node >= vn_scene_get_n_nodes (self->whole))
    return VN_SCENE_NONE;
  return self->fold != NULL ? vn_fold_get_box (self->fold, node) : node;
}

/**
 * vn_graph_content_is_group:
 * @box: or %VN_SCENE_NONE
 *
 * Returns: whether it is a closed group
 */
gboolean
vn_graph_content_is_group (VnGraphContent *self,
                           guint           box)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), FALSE);

  return box != VN_SCENE_NONE && vn_scene_get_node (self->scene, box)->kind == VN_SCENE_GROUP;
}

/**
 * vn_graph_content_get_group:
 *
 * Returns: the closed group a box stands for, or else the open one it is in; the root if it is in none
 */
guint
vn_graph_content_get_group (VnGraphContent *self,
                            guint           box)
{
  const VnSceneNode *data;
  guint n;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), VN_GROUPS_ROOT);

  if (self->fold == NULL || box == VN_SCENE_NONE)
    return VN_GROUPS_ROOT;
  data = vn_scene_get_node (self->scene, box);
  if (data->kind == VN_SCENE_GROUP)
    return data->source;
  return vn_groups_of_node (self->groups, vn_fold_get_nodes (self->fold, box, &n)[0]);
}

/**
 * vn_graph_content_get_parent:
 *
 * Returns: the open group that a box stands in
 */
guint
vn_graph_content_get_parent (VnGraphContent *self,
                             guint           box)
{
  guint group;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), VN_GROUPS_ROOT);

  group = vn_graph_content_get_group (self, box);
  if (self->fold != NULL && vn_scene_get_node (self->scene, box)->kind == VN_SCENE_GROUP)
    return vn_groups_get (self->groups, group)->parent;
  return group;
}

/**
 * vn_graph_content_find_frame:
 *
 * Returns: the innermost open group whose title is at a point; %VN_SCENE_NONE: none
 */
guint
vn_graph_content_find_frame (VnGraphContent *self,
                             VnPoint         world)
{
  guint found = VN_SCENE_NONE;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self), VN_SCENE_NONE);

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
static VnOverlay *
content_make_overlay (VnGraphContent *self)
{
  if (self->whole_overlay == NULL)
    return NULL;
  return self->fold != NULL ? vn_fold_make_overlay (self->fold, self->whole_overlay) : vn_overlay_ref (self->whole_overlay);
}

/* ---- showing ---- */

/* Who looks at what was shown until now may do so until everybody has been told. */
static void
content_show (VnGraphContent *self,
              VnScene        *whole,
              VnFold         *fold,
              VnGraphLayout  *layout)
{
  VnScene *shown = fold != NULL ? vn_fold_get_scene (fold) : whole;
  g_autoptr(VnScene) old_whole = g_steal_pointer (&self->whole), old_scene = g_steal_pointer (&self->scene);
  g_autoptr(VnFold) old_fold = g_steal_pointer (&self->fold);
  g_autoptr(VnGraphLayout) old_layout = g_steal_pointer (&self->layout);
  g_autoptr(VnGraphIndex) old_index = g_steal_pointer (&self->index);
  g_autoptr(VnOverlay) old_overlay = g_steal_pointer (&self->overlay);

  self->whole = whole != NULL ? vn_scene_ref (whole) : NULL;
  self->scene = shown != NULL ? vn_scene_ref (shown) : NULL;
  self->fold = fold != NULL ? vn_fold_ref (fold) : NULL;
  self->layout = layout != NULL ? vn_graph_layout_ref (layout) : NULL;
  self->index = layout != NULL ? vn_graph_index_new (layout) : NULL;
  self->overlay = content_make_overlay (self);
  g_signal_emit_by_name (self, "shown");
}

/* A network that was not shown before. */
static void
content_open (VnGraphContent *self,
              VnScene        *whole,
              VnFold         *fold,
              VnGraphLayout  *layout)
{
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  self->whole_overlay = g_steal_pointer (&self->pending_overlay);
  content_show (self, whole, fold, layout);
  g_signal_emit_by_name (self, "opened");
}

/* The same network with other groups open. */
static void
content_refold (VnGraphContent *self,
                VnFold         *fold,
                VnGraphLayout  *layout)
{
  g_autoptr(VnFold) fold_before = self->fold != NULL ? vn_fold_ref (self->fold) : NULL;
  g_autoptr(VnGraphLayout) layout_before = self->layout != NULL ? vn_graph_layout_ref (self->layout) : NULL;
  g_autoptr(VnScene) whole = vn_scene_ref (self->whole);
  VnGraphBefore before = { fold_before, layout_before, self->pending_anchor, self->pending_travel };

  content_show (self, whole, fold, layout);
  self->pending_travel = VN_SCENE_NONE;
  g_signal_emit_by_name (self, "refolded", &before);
}

/* ---- layout ---- */

static void
content_failed (VnGraphContent *self,
                GError         *error)
{
  vn_graph_content_cancel (self);
  g_signal_emit_by_name (self, "failed", error->message);
}

static void
content_laid_out (VnGraphContent *self,
                  VnGraphLayout  *layout)
{
  g_autoptr(VnScene) whole = g_steal_pointer (&self->pending);
  g_autoptr(VnFold) fold = g_steal_pointer (&self->pending_fold);

  g_clear_object (&self->cancellable);
  if (self->opens)
    content_open (self, whole, fold, layout);
  else
    content_refold (self, fold, layout);
}

/* This is not kept for it, or it would tell a page that is gone that it is ready: its end cancels what is being laid out. */
static void
content_done (GObject      *source,
              GAsyncResult *result,
              gpointer      user_data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_new_finish (result, &error);
  VnGraphContent *self = user_data;

  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  if (layout == NULL)
    content_failed (self, error);
  else
    content_laid_out (self, layout);
}

/**
 * vn_graph_content_cancel:
 *
 * Gives up what is being laid out.
 */
void
vn_graph_content_cancel (VnGraphContent *self)
{
  g_return_if_fail (VN_IS_GRAPH_CONTENT (self));

  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  g_clear_object (&self->cancellable);
  g_clear_pointer (&self->pending, vn_scene_unref);
  g_clear_pointer (&self->pending_fold, vn_fold_unref);
  g_clear_pointer (&self->pending_overlay, vn_overlay_unref);
}

static void
content_lay_out_async (VnGraphContent *self)
{
  self->cancellable = g_cancellable_new ();
  if (self->alignment != NULL)
    vn_alignment_lay_out_async (self->alignment, self->side, self->pending_fold, self->page, self->cancellable, content_done,
                                self);
  else if (self->pending_fold != NULL)
    vn_fold_lay_out_async (self->pending_fold, self->places, self->page, self->cancellable, content_done, self);
  else
    vn_graph_layout_new_async (self->pending, self->page, self->cancellable, content_done, self);
}

/* Returns: (transfer full) (nullable): the layout of what is pending. */
static VnGraphLayout *
content_lay_out_now (VnGraphContent  *self,
                     GError         **error)
{
  g_autoptr(VnGraphLayout) layout = NULL;

  if (self->alignment != NULL)
    return vn_alignment_lay_out (self->alignment, self->side, self->pending_fold, self->page, NULL, error);
  layout = self->pending_fold != NULL ? vn_fold_lay_out (self->pending_fold, self->places, NULL, error)
                                      : vn_graph_layout_new_for_scene (self->pending, NULL, error);
  return layout != NULL ? vn_graph_layout_wrap (layout, self->page) : NULL;
}

/* Lays out what self->open wants to be seen of @whole, and then shows it: as a network that was not shown before, or as the same
 * one. */
static void
content_lay_out (VnGraphContent *self,
                 VnScene        *whole,
                 gboolean        opens)
{
  g_autoptr(VnGraphLayout) layout = NULL;
  g_autoptr(GError) error = NULL;

  self->pending = vn_scene_ref (whole);
  self->opens = opens;
  if (self->open != NULL)
    self->pending_fold = vn_fold_new (whole, self->groups, self->open);
  if (vn_scene_get_n_nodes (self->pending_fold != NULL ? vn_fold_get_scene (self->pending_fold) : whole) > SYNC_NODES)
    {
      content_lay_out_async (self);
      return;
    }
  layout = content_lay_out_now (self, &error);
  if (layout == NULL)
    content_failed (self, error);
  else
    content_laid_out (self, layout);
}

/* The same network with other precisions: places and selection stay. */
static void
content_replace (VnGraphContent *self,
                 VnScene        *whole)
{
  g_autoptr(VnGraphLayout) layout = vn_graph_layout_ref (self->layout);
  g_autoptr(VnFold) fold = self->fold != NULL ? vn_fold_renew (self->fold, whole) : NULL;

  content_show (self, whole, fold, layout);
}

static void
content_clear (VnGraphContent *self)
{
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  content_show (self, NULL, NULL, NULL);
  g_signal_emit_by_name (self, "cleared");
}

static void
content_set_groups (VnGraphContent *self,
                    VnScene        *whole,
                    VnGroups       *groups)
{
  gboolean useful = groups != NULL && vn_groups_get_n (groups) > 1;

  if (useful)
    vn_groups_ref (groups);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_pointer (&self->places, vn_fold_places_unref);
  g_clear_pointer (&self->open, g_free);
  self->groups = useful ? groups : NULL;
  self->places = useful ? vn_fold_places_new () : NULL;
  if (useful && vn_groups_get (groups, VN_GROUPS_ROOT)->n_nodes > VN_GRAPH_GROUPED_NODES)
    self->open = vn_groups_dup_open (groups, VN_GRAPH_OPEN_BOXES);
}

/**
 * vn_graph_content_set_network:
 * @scene: (nullable): sealed; %NULL: nothing is shown any more
 * @groups: (nullable): of a scene of the same geometry
 *
 * Shows a network, a large one in groups. It is laid out first, on a worker thread if much is to be seen; the old one stays until
 * then. A scene of the same geometry takes over places, overlay and what is open at once. Emits shown and opened, or failed.
 */
void
vn_graph_content_set_network (VnGraphContent *self,
                              VnScene        *scene,
                              VnGroups       *groups)
{
  g_return_if_fail (VN_IS_GRAPH_CONTENT (self));
  g_return_if_fail (groups == NULL || (scene != NULL && vn_groups_get_n_nodes (groups) == vn_scene_get_n_nodes (scene)));

  if (scene != NULL && self->whole != NULL && vn_scene_same_geometry (self->whole, scene)
      && (groups == self->groups || self->groups == NULL))
    {
      gboolean refolds = self->pending != NULL && !self->opens;

      vn_graph_content_cancel (self);
      content_replace (self, scene);
      if (refolds)
        content_lay_out (self, scene, FALSE);
      return;
    }
  vn_graph_content_cancel (self);
  g_clear_pointer (&self->alignment, vn_alignment_unref);
  if (scene == NULL)
    {
      content_set_groups (self, NULL, NULL);
      content_clear (self);
      return;
    }
  content_set_groups (self, scene, groups);
  content_lay_out (self, scene, TRUE);
}

/**
 * vn_graph_content_set_alignment:
 * @side: 0 or 1: whose scene is shown
 * @open: (nullable): by group of the alignment whether it is open; %NULL: groups are not shown
 *
 * As vn_graph_content_set_network(), laid out together with the network beside it, in the groups of both. Of the network that is
 * shown already selection and overlay stay.
 */
void
vn_graph_content_set_alignment (VnGraphContent *self,
                                VnAlignment    *alignment,
                                guint           side,
                                const guint8   *open)
{
  g_autoptr(VnOverlay) overlay = NULL;
  VnScene *scene;
  gboolean opens;

  g_return_if_fail (VN_IS_GRAPH_CONTENT (self) && alignment != NULL && side < 2);
  scene = vn_alignment_get_scene (alignment, side);
  opens = scene != self->whole;
  if (scene == self->pending)
    overlay = g_steal_pointer (&self->pending_overlay);
  vn_alignment_ref (alignment);
  vn_graph_content_cancel (self);
  self->pending_overlay = g_steal_pointer (&overlay);
  g_clear_pointer (&self->alignment, vn_alignment_unref);
  self->alignment = alignment;
  self->side = side;
  content_set_groups (self, scene, vn_alignment_get_groups (alignment, side));
  g_clear_pointer (&self->open, g_free);
  if (self->groups != NULL && open != NULL)
    self->open = g_memdup2 (open, vn_groups_get_n (self->groups));
  self->pending_anchor = VN_SCENE_NONE;
  content_lay_out (self, scene, opens);
}

/**
 * vn_graph_content_take_open:
 * @open: (transfer full) (nullable): by group; %NULL: groups are not shown
 * @anchor: the group that is not to jump, or %VN_SCENE_NONE
 *
 * Lays out what is seen when other groups are open, and then shows it.
 */
void
vn_graph_content_take_open (VnGraphContent *self,
                            guint8         *open,
                            guint           anchor)
{
  g_autoptr(VnScene) whole = NULL;
  gboolean opens;

  g_return_if_fail (VN_IS_GRAPH_CONTENT (self));

  g_free (self->open);
  self->open = open;
  opens = self->pending != NULL && self->opens;
  if (opens)   /* comes with what is open now */
    {
      g_autoptr(VnOverlay) overlay = g_steal_pointer (&self->pending_overlay);

      whole = vn_scene_ref (self->pending);
      vn_graph_content_cancel (self);
      self->pending_overlay = g_steal_pointer (&overlay);
    }
  else
    {
      if (self->whole == NULL)
        return;
      whole = vn_scene_ref (self->whole);
      vn_graph_content_cancel (self);
    }
  self->pending_anchor = anchor;
  content_lay_out (self, whole, opens);
}

/**
 * vn_graph_content_set_page:
 * @page: width by height of the page that long networks are folded into columns for; 0: they are one column
 *
 * Lays out what is shown for that page, and then shows it.
 */
void
vn_graph_content_set_page (VnGraphContent *self,
                           double          page)
{
  g_return_if_fail (VN_IS_GRAPH_CONTENT (self) && page >= 0);

  if (self->page == page)
    return;
  self->page = page;
  if (self->whole != NULL || self->pending != NULL)
    vn_graph_content_take_open (self, self->open != NULL ? g_memdup2 (self->open, vn_groups_get_n (self->groups)) : NULL,
                                VN_SCENE_NONE);
}

/**
 * vn_graph_content_set_overlay:
 * @overlay: (nullable): as many nodes as the scene set last
 *
 * Colors the nodes; those of a network that is still being laid out when it is shown.
 */
void
vn_graph_content_set_overlay (VnGraphContent *self,
                              VnOverlay      *overlay)
{
  g_autoptr(VnOverlay) before = NULL;

  g_return_if_fail (VN_IS_GRAPH_CONTENT (self));

  if (self->pending != NULL && self->opens)
    {
      g_clear_pointer (&self->pending_overlay, vn_overlay_unref);
      self->pending_overlay = overlay != NULL ? vn_overlay_ref (overlay) : NULL;
      return;
    }
  g_return_if_fail (overlay == NULL || self->whole == NULL
                    || vn_overlay_get_n (overlay) == vn_scene_get_n_nodes (self->whole));
  if (overlay != NULL)
    vn_overlay_ref (overlay);
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  self->whole_overlay = overlay;
  before = self->overlay;
  self->overlay = content_make_overlay (self);
  g_signal_emit_by_name (self, "overlay-changed", before);
}

static void
vn_graph_content_dispose (GObject *object)
{
  vn_graph_content_cancel (VN_GRAPH_CONTENT (object));
  G_OBJECT_CLASS (vn_graph_content_parent_class)->dispose (object);
}

static void
vn_graph_content_finalize (GObject *object)
{
  VnGraphContent *self = VN_GRAPH_CONTENT (object);

  vn_graph_index_free (self->index);
  g_clear_pointer (&self->alignment, vn_alignment_unref);
  g_clear_pointer (&self->fold, vn_fold_unref);
  g_clear_pointer (&self->places, vn_fold_places_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_pointer (&self->whole, vn_scene_unref);
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  g_free (self->open);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  g_clear_pointer (&self->overlay, vn_overlay_unref);
  G_OBJECT_CLASS (vn_graph_content_parent_class)->finalize (object);
}

static void
vn_graph_content_class_init (VnGraphContentClass *klass)
{
  GType type = VN_TYPE_GRAPH_CONTENT;

  G_OBJECT_CLASS (klass)->dispose = vn_graph_content_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_graph_content_finalize;
  g_signal_new ("shown", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("opened", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("cleared", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("refolded", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
  g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  g_signal_new ("overlay-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
vn_graph_content_init (VnGraphContent *self)
{
  self->pending_anchor = self->pending_travel = VN_SCENE_NONE;
}

/**
 * vn_graph_content_new:
 *
 * Returns: (transfer full): nothing to show yet
 */
VnGraphContent *
vn_graph_content_new (void)
{
  return g_object_new (VN_TYPE_GRAPH_CONTENT, NULL);
}
