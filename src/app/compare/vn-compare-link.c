/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mirrors camera, pointer, selection and open groups from one graph view to the other, while both are laid out as one. */
#include "vn-compare-link.h"

#include <string.h>

struct _VnCompareLink
{
  VnGraphView *views[2];
  VnNodeMatch *match;         /* nullable */
  gboolean     together;
  gboolean     busy;          /* passing something from one to the other */
  gboolean     is_whole;      /* nobody has moved them since they were shown as a whole */
  GBytes      *opened[2];     /* nullable: groups of each view that were opened because the other's were */
  int          width[2], height[2];   /* of each view, when it last moved */
};

/* ---- nodes ---- */

/**
 * vn_compare_link_map:
 * @side: of @node: 0 or 1
 * @node: of the scene of that view
 *
 * Looks into two tables, whatever the size of the networks.
 *
 * Returns: the node of the other scene that stands for it, or %VN_SCENE_NONE
 */
guint
vn_compare_link_map (VnCompareLink *self,
                     guint          side,
                     guint          node)
{
  VnScene *from, *to;
  const VnSceneNode *box;
  guint other;

  g_return_val_if_fail (self != NULL && side < 2, VN_SCENE_NONE);

  from = vn_graph_view_get_scene (self->views[side]);
  to = vn_graph_view_get_scene (self->views[1 - side]);
  if (self->match == NULL || from == NULL || to == NULL || node == VN_SCENE_NONE || node >= vn_scene_get_n_nodes (from))
    return VN_SCENE_NONE;
  box = vn_scene_get_node (from, node);
  if (box->kind == VN_SCENE_INPUT || box->kind == VN_SCENE_OUTPUT)
    return vn_scene_find_node (to, box->id);
  if (box->kind != VN_SCENE_NODE || box->source >= vn_node_match_get_n (self->match, side))
    return VN_SCENE_NONE;
  other = vn_node_match_get (self->match, side, box->source)->other;
  return other != VN_MATCH_NONE ? vn_scene_find_source (to, other) : VN_SCENE_NONE;
}

/* ---- camera ---- */

static gboolean
compare_link_is_aligned (VnCompareLink *self)
{
  return self->match != NULL && vn_graph_view_get_alignment (self->views[0]) != NULL &&
         vn_graph_view_get_alignment (self->views[0]) == vn_graph_view_get_alignment (self->views[1]) &&
         vn_graph_view_get_layout (self->views[0]) != NULL && vn_graph_view_get_layout (self->views[1]) != NULL;
}

/* The side that has less room for what both show. */
static guint
compare_link_find_leader (VnCompareLink *self)
{
  return vn_graph_view_get_fit (self->views[1]) < vn_graph_view_get_fit (self->views[0]) ? 1 : 0;
}

/* The middles of both views show the same place. */
static void
compare_link_mirror_camera (VnCompareLink *self,
                            guint          side)
{
  GtkWidget *view = GTK_WIDGET (self->views[side]), *other = GTK_WIDGET (self->views[1 - side]);
  VnGraphCamera camera;

  if (self->busy || !self->together || !compare_link_is_aligned (self) || gtk_widget_get_width (other) <= 0 ||
      gtk_widget_get_width (view) <= 0)
    return;
  self->busy = TRUE;
  if (self->is_whole && !vn_graph_view_is_moving (self->views[side]))
    vn_graph_view_go_home (self->views[side]);
  camera = vn_graph_view_get_camera (self->views[side]);
  camera.origin.x += (gtk_widget_get_width (view) - gtk_widget_get_width (other)) / 2. / camera.zoom;
  camera.origin.y += (gtk_widget_get_height (view) - gtk_widget_get_height (other)) / 2. / camera.zoom;
  vn_graph_view_set_camera (self->views[1 - side], camera);
  if (self->is_whole)
    vn_graph_view_make_home (self->views[1 - side]);
  self->busy = FALSE;
}

/* Where nobody has moved them, or the room has changed, the side with less room leads; on the way to somewhere, who is. */
static void
compare_link_moved (VnCompareLink *self,
                    guint          side)
{
  GtkWidget *view = GTK_WIDGET (self->views[side]);
  gboolean resized = gtk_widget_get_width (view) != self->width[side] || gtk_widget_get_height (view) != self->height[side];

  if (self->busy)
    return;
  self->width[side] = gtk_widget_get_width (view);
  self->height[side] = gtk_widget_get_height (view);
  if (vn_graph_view_is_home (self->views[side]))
    self->is_whole = TRUE;
  else if (!resized)
    self->is_whole = FALSE;
  if (vn_graph_view_is_moving (self->views[side]))
    compare_link_mirror_camera (self, side);
  else
    compare_link_mirror_camera (self, self->is_whole ? compare_link_find_leader (self) : resized ? 0 : side);
}

static void
compare_link_mirror_hover (VnCompareLink *self,
                           guint          side)
{
  vn_graph_view_set_hover_node (self->views[1 - side],
                                vn_compare_link_map (self, side, vn_graph_view_get_hover_node (self->views[side])));
}

/* ---- groups ---- */

/* Both have the same groups by number. */
static void
compare_link_mirror_groups (VnCompareLink *self,
                            guint          side)
{
  VnGraphView *other = self->views[1 - side];
  const guint8 *open = vn_graph_view_get_open (self->views[side]);
  gsize n;

  if (!compare_link_is_aligned (self) || vn_graph_view_get_groups (self->views[side]) == NULL ||
      vn_graph_view_get_groups (other) == NULL)
    return;
  n = open != NULL ? vn_groups_get_n (vn_graph_view_get_groups (self->views[side])) : 0;
  if (self->opened[side] != NULL && g_bytes_get_size (self->opened[side]) == n && n > 0 &&
      memcmp (g_bytes_get_data (self->opened[side], NULL), open, n) == 0)
    return;   /* it follows the other already */
  g_clear_pointer (&self->opened[side], g_bytes_unref);
  g_clear_pointer (&self->opened[1 - side], g_bytes_unref);
  if (open != NULL)
    self->opened[1 - side] = g_bytes_new (open, n);
  vn_graph_view_hold_camera (other, self->together);
  vn_graph_view_set_grouped (other, open != NULL);
  if (open != NULL)
    vn_graph_view_set_open_groups (other, open);
  vn_graph_view_hold_camera (other, FALSE);
}

static void
compare_link_first_folded (VnCompareLink *self)
{
  compare_link_mirror_groups (self, 0);
  vn_compare_link_align (self);
}

static void
compare_link_second_folded (VnCompareLink *self)
{
  compare_link_mirror_groups (self, 1);
  vn_compare_link_align (self);
}

/* ---- signals ---- */

static void
compare_link_first_moved (VnCompareLink *self)
{
  compare_link_moved (self, 0);
}

static void
compare_link_second_moved (VnCompareLink *self)
{
  compare_link_moved (self, 1);
}

static void
compare_link_first_hovered (VnCompareLink *self)
{
  compare_link_mirror_hover (self, 0);
}

static void
compare_link_second_hovered (VnCompareLink *self)
{
  compare_link_mirror_hover (self, 1);
}

/* ---- public ---- */

/**
 * vn_compare_link_new:
 *
 * Returns: (transfer full): mirrors as soon as there is a match
 */
VnCompareLink *
vn_compare_link_new (VnGraphView *first,
                     VnGraphView *second)
{
  VnCompareLink *self;

  g_return_val_if_fail (VN_IS_GRAPH_VIEW (first) && VN_IS_GRAPH_VIEW (second), NULL);

  self = g_new0 (VnCompareLink, 1);
  self->views[0] = g_object_ref (first);
  self->views[1] = g_object_ref (second);
  self->together = TRUE;
  self->is_whole = TRUE;
  g_signal_connect_swapped (first, "camera-changed", G_CALLBACK (compare_link_first_moved), self);
  g_signal_connect_swapped (second, "camera-changed", G_CALLBACK (compare_link_second_moved), self);
  g_signal_connect_swapped (first, "folding-changed", G_CALLBACK (compare_link_first_folded), self);
  g_signal_connect_swapped (second, "folding-changed", G_CALLBACK (compare_link_second_folded), self);
  g_signal_connect_swapped (first, "hover-changed", G_CALLBACK (compare_link_first_hovered), self);
  g_signal_connect_swapped (second, "hover-changed", G_CALLBACK (compare_link_second_hovered), self);
  return self;
}

void
vn_compare_link_free (VnCompareLink *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < 2; i++)
    {
      g_signal_handlers_disconnect_by_data (self->views[i], self);
      g_clear_pointer (&self->opened[i], g_bytes_unref);
      g_object_unref (self->views[i]);
    }
  g_clear_pointer (&self->match, vn_node_match_unref);
  g_free (self);
}

/* Groups that were there before are open or closed as the first view had them. */
static guint8 *
compare_link_dup_open (VnCompareLink *self,
                       VnAlignment   *alignment)
{
  VnGroups *before = vn_graph_view_get_groups (self->views[0]), *now = vn_alignment_get_groups (alignment, 0);
  const guint8 *open = vn_graph_view_get_alignment (self->views[0]) != NULL ? vn_graph_view_get_open (self->views[0]) : NULL;
  guint8 *dup;

  if (open == NULL && vn_alignment_get_n_nodes (alignment) <= VN_GRAPH_GROUPED_NODES)
    return NULL;
  dup = vn_alignment_dup_open (alignment, VN_GRAPH_OPEN_BOXES);
  for (guint i = 1; open != NULL && i < vn_groups_get_n (now); i++)
    {
      guint known = vn_groups_find (before, vn_groups_get (now, i)->id);

      if (known != VN_SCENE_NONE)
        dup[i] = open[known];
    }
  return dup;
}

static void
compare_link_show (VnCompareLink *self,
                   VnAlignment   *alignment)
{
  g_autofree guint8 *open = compare_link_dup_open (self, alignment);

  for (guint i = 0; i < 2; i++)
    {
      vn_graph_view_hold_camera (self->views[i], self->together && i == 1);
      vn_graph_view_set_alignment (self->views[i], alignment, i, open);
      vn_graph_view_hold_camera (self->views[i], FALSE);
    }
}

/**
 * vn_compare_link_set_page:
 * @page: as vn_graph_view_set_page() takes it
 *
 * Folds long networks into columns, on both sides.
 */
void
vn_compare_link_set_page (VnCompareLink *self,
                          double         page)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < 2; i++)
    {
      vn_graph_view_hold_camera (self->views[i], self->together && i == 1);
      vn_graph_view_set_page (self->views[i], page);
      vn_graph_view_hold_camera (self->views[i], FALSE);
    }
  vn_compare_link_align (self);
}

/**
 * vn_compare_link_set_match:
 * @match: (nullable): of the models whose scenes @alignment has; %NULL: nothing is mirrored
 * @alignment: (nullable): is shown by the views
 */
void
vn_compare_link_set_match (VnCompareLink *self,
                           VnNodeMatch   *match,
                           VnAlignment   *alignment)
{
  g_return_if_fail (self != NULL && (match != NULL) == (alignment != NULL));

  if (match != NULL)
    vn_node_match_ref (match);
  g_clear_pointer (&self->match, vn_node_match_unref);
  self->match = match;
  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&self->opened[i], g_bytes_unref);
  if (match == NULL)
    return;
  compare_link_show (self, alignment);
  vn_compare_link_align (self);
}

/**
 * vn_compare_link_set_together:
 * @together: whether both views move when one does
 */
void
vn_compare_link_set_together (VnCompareLink *self,
                              gboolean       together)
{
  g_return_if_fail (self != NULL);

  self->together = together;
  vn_compare_link_align (self);
}

/**
 * vn_compare_link_mirror_selection:
 * @from: 0 or 1: the view that has the selection
 *
 * Selects in the other view what stands for it.
 */
void
vn_compare_link_mirror_selection (VnCompareLink *self,
                                  guint          from)
{
  g_autoptr(GArray) nodes = NULL, mapped = g_array_new (FALSE, FALSE, sizeof (guint));
  guint focus;

  g_return_if_fail (self != NULL && from < 2);

  nodes = vn_graph_view_dup_selection (self->views[from]);
  for (guint i = 0; i < nodes->len; i++)
    {
      guint other = vn_compare_link_map (self, from, g_array_index (nodes, guint, i));

      if (other != VN_SCENE_NONE)
        g_array_append_val (mapped, other);
    }
  focus = vn_compare_link_map (self, from, vn_graph_view_get_focus_node (self->views[from]));
  vn_graph_view_select (self->views[1 - from], (const guint *) (gpointer) mapped->data, mapped->len, FALSE);
  vn_graph_view_set_focus_node (self->views[1 - from], focus);
}

/**
 * vn_compare_link_fit:
 *
 * Shows the whole of both networks: together at the smaller of their sizes, for both are as large as the larger one.
 */
void
vn_compare_link_fit (VnCompareLink *self)
{
  g_return_if_fail (self != NULL);

  if (self->together && compare_link_is_aligned (self))
    {
      vn_graph_view_zoom_to_fit (self->views[compare_link_find_leader (self)]);
      return;
    }
  for (guint i = 0; i < 2; i++)
    vn_graph_view_zoom_to_fit (self->views[i]);
}

/**
 * vn_compare_link_align:
 *
 * The second view looks where the first one does, or both show the whole: after their sizes have changed.
 */
void
vn_compare_link_align (VnCompareLink *self)
{
  g_return_if_fail (self != NULL);

  compare_link_mirror_camera (self, self->is_whole ? compare_link_find_leader (self) : 0);
}
