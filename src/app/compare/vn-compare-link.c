/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mirrors camera, pointer, selection and open groups from one graph view to the other. Where the networks are laid out
 * differently, the other view looks at what stands for the nodes in the middle of this one. */
#include "vn-compare-link.h"

#include <math.h>
#include <string.h>

struct _VnCompareLink
{
  VnGraphView *views[2];
  VnNodeMatch *match;         /* nullable */
  gboolean     together;
  gboolean     busy;          /* passing something from one to the other */
  GArray      *visible;       /* of guint, scratch */
  GBytes      *opened[2];     /* nullable: groups of each view that were opened because the other's were */
  int          width, height; /* of the second view, when it last moved */
  VnPoint      shift;         /* of the second world to the first, when last known */
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

static VnPoint
compare_link_get_middle (VnGraphView *view)
{
  VnGraphCamera camera = vn_graph_view_get_camera (view);

  return (VnPoint) { camera.origin.x + gtk_widget_get_width (GTK_WIDGET (view)) / 2. / camera.zoom,
                     camera.origin.y + gtk_widget_get_height (GTK_WIDGET (view)) / 2. / camera.zoom };
}

static gboolean
compare_link_get_box_middle (VnGraphView *view,
                             guint        node,
                             VnPoint     *middle)
{
  VnRect box;

  if (!vn_graph_view_get_place (view, node, &box))
    return FALSE;
  *middle = (VnPoint) { box.x + box.width / 2, box.y + box.height / 2 };
  return TRUE;
}

/* How far what stands for the nodes in sight lies from them: the nearer to the middle the more a node says, and at the border
 * nothing, so that nothing jumps while the view moves. */
static gboolean
compare_link_find_shift (VnCompareLink *self,
                         guint          side,
                         VnPoint       *shift)
{
  VnGraphView *view = self->views[side], *other = self->views[1 - side];
  VnPoint middle = compare_link_get_middle (view), sum = { 0, 0 };
  double zoom = vn_graph_view_get_zoom (view), total = 0;
  double wide = MAX (gtk_widget_get_width (GTK_WIDGET (view)) / 2. / zoom, 1),
  high = MAX (gtk_widget_get_height (GTK_WIDGET (view)) / 2. / zoom, 1);

  vn_graph_view_list_visible (view, self->visible);
  for (guint i = 0; i < self->visible->len; i++)
    {
      guint node = g_array_index (self->visible, guint, i), mapped = vn_compare_link_map (self, side, node);
      VnPoint at, to;
      double far, weight;

      if (mapped == VN_SCENE_NONE || !compare_link_get_box_middle (view, node, &at) ||
          !compare_link_get_box_middle (other, mapped, &to))
        continue;
      far = hypot ((at.x - middle.x) / wide, (at.y - middle.y) / high);
      weight = far < 1 ? (1 - far * far) * (1 - far * far) / (far * far + 0.003) : 0;
      sum.x += weight * (to.x - at.x);
      sum.y += weight * (to.y - at.y);
      total += weight;
    }
  if (!(total > 0))
    return FALSE;
  *shift = (VnPoint) { sum.x / total, sum.y / total };
  return TRUE;
}

static void
compare_link_mirror_camera (VnCompareLink *self,
                            guint          side)
{
  VnGraphView *view = self->views[side], *other = self->views[1 - side];
  VnGraphCamera camera = vn_graph_view_get_camera (view);
  VnPoint middle = compare_link_get_middle (view), shift = { 0, 0 };

  if (self->busy || !self->together || vn_graph_view_get_layout (view) == NULL || vn_graph_view_get_layout (other) == NULL ||
      gtk_widget_get_width (GTK_WIDGET (other)) <= 0)
    return;
  if (vn_graph_view_get_layout (view) != vn_graph_view_get_layout (other))
    {
      if (compare_link_find_shift (self, side, &shift))
        self->shift = side == 0 ? (VnPoint) { -shift.x, -shift.y } : shift;
      else
        shift = side == 0 ? (VnPoint) { -self->shift.x, -self->shift.y } : self->shift;
    }
  self->busy = TRUE;
  vn_graph_view_set_camera (other, (VnGraphCamera) { camera.zoom,
                                                     { middle.x + shift.x
                                                       - gtk_widget_get_width (GTK_WIDGET (other)) / 2. / camera.zoom,
                                                       middle.y + shift.y
                                                       - gtk_widget_get_height (GTK_WIDGET (other)) / 2. / camera.zoom } });
  self->busy = FALSE;
}

static void
compare_link_mirror_hover (VnCompareLink *self,
                           guint          side)
{
  vn_graph_view_set_hover_node (self->views[1 - side],
                                vn_compare_link_map (self, side, vn_graph_view_get_hover_node (self->views[side])));
}

/* ---- groups ---- */

/* A node in a group that has one in the other network, and that one. */
static guint
compare_link_map_any_node (VnCompareLink *self,
                           guint          side,
                           guint          group)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (vn_graph_view_get_groups (self->views[side]), group, &n);

  for (guint i = 0; i < n; i++)
    {
      guint mapped = children[i].is_group ? compare_link_map_any_node (self, side, children[i].index)
                                          : vn_compare_link_map (self, side, children[i].index);

      if (mapped != VN_SCENE_NONE)
        return mapped;
    }
  return VN_SCENE_NONE;
}

/* The group of the other view that has the same name, or else holds as deep below what stands for a node of this one. */
static guint
compare_link_map_group (VnCompareLink *self,
                        guint          side,
                        guint          group)
{
  const VnGroup *data = vn_groups_get (vn_graph_view_get_groups (self->views[side]), group);
  VnGroups *others = vn_graph_view_get_groups (self->views[1 - side]);
  guint mapped = vn_groups_find (others, data->id), at;

  if (mapped != VN_SCENE_NONE)
    return mapped;
  mapped = compare_link_map_any_node (self, side, group);
  if (mapped == VN_SCENE_NONE)
    return VN_SCENE_NONE;
  for (at = vn_groups_of_node (others, mapped); vn_groups_get (others, at)->depth > data->depth;
       at = vn_groups_get (others, at)->parent)
    ;
  return vn_groups_get (others, at)->depth == data->depth ? at : VN_SCENE_NONE;
}

/* Groups that only one network has stay as they are. */
static void
compare_link_mirror_groups (VnCompareLink *self,
                            guint          side)
{
  VnGraphView *other = self->views[1 - side];
  VnGroups *groups = vn_graph_view_get_groups (self->views[side]), *others = vn_graph_view_get_groups (other);
  const guint8 *open = vn_graph_view_get_open (self->views[side]), *now = vn_graph_view_get_open (other);
  g_autofree guint8 *wanted = NULL;
  gsize n;

  if (self->match == NULL || groups == NULL || others == NULL || open == NULL || now == NULL)
    return;
  n = vn_groups_get_n (groups);
  if (self->opened[side] != NULL && g_bytes_get_size (self->opened[side]) == n &&
      memcmp (g_bytes_get_data (self->opened[side], NULL), open, n) == 0)
    return;   /* it follows the other already */
  wanted = g_memdup2 (now, vn_groups_get_n (others));
  for (guint i = 1; i < n; i++)
    {
      guint mapped = compare_link_map_group (self, side, i);

      if (mapped != VN_SCENE_NONE && mapped != VN_GROUPS_ROOT)
        wanted[mapped] = open[i];
    }
  g_clear_pointer (&self->opened[side], g_bytes_unref);
  g_clear_pointer (&self->opened[1 - side], g_bytes_unref);
  self->opened[1 - side] = g_bytes_new (wanted, vn_groups_get_n (others));
  vn_graph_view_set_open_groups (other, wanted);
}

static void
compare_link_first_folded (VnCompareLink *self)
{
  compare_link_mirror_groups (self, 0);
  compare_link_mirror_camera (self, 0);
}

static void
compare_link_second_folded (VnCompareLink *self)
{
  compare_link_mirror_groups (self, 1);
  compare_link_mirror_camera (self, 0);
}

/* ---- signals ---- */

static void
compare_link_first_moved (VnCompareLink *self)
{
  compare_link_mirror_camera (self, 0);
}

static void
compare_link_second_moved (VnCompareLink *self)
{
  GtkWidget *view = GTK_WIDGET (self->views[1]);
  gboolean resized = gtk_widget_get_width (view) != self->width || gtk_widget_get_height (view) != self->height;

  self->width = gtk_widget_get_width (view);
  self->height = gtk_widget_get_height (view);
  /* Where nobody has moved it, the first one leads. */
  compare_link_mirror_camera (self, resized || vn_graph_view_is_home (self->views[1]) ? 0 : 1);
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
  self->visible = g_array_new (FALSE, FALSE, sizeof (guint));
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
  g_array_unref (self->visible);
  g_free (self);
}

/**
 * vn_compare_link_set_match:
 * @match: (nullable): of the models whose scenes the views show; %NULL: nothing is mirrored
 */
void
vn_compare_link_set_match (VnCompareLink *self,
                           VnNodeMatch   *match)
{
  g_return_if_fail (self != NULL);

  if (match != NULL)
    vn_node_match_ref (match);
  g_clear_pointer (&self->match, vn_node_match_unref);
  self->match = match;
  self->shift = (VnPoint) { 0, 0 };
  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&self->opened[i], g_bytes_unref);
  if (match == NULL)
    return;
  compare_link_mirror_groups (self, 0);
  compare_link_mirror_camera (self, 0);
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
  compare_link_mirror_camera (self, 0);
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
 * Shows the whole of both networks: together at the smaller of their sizes.
 */
void
vn_compare_link_fit (VnCompareLink *self)
{
  g_return_if_fail (self != NULL);

  vn_graph_view_zoom_to_fit (self->views[0]);
  if (!self->together)
    vn_graph_view_zoom_to_fit (self->views[1]);
}

/**
 * vn_compare_link_align:
 *
 * The second view looks where the first one does: after their sizes have changed.
 */
void
vn_compare_link_align (VnCompareLink *self)
{
  g_return_if_fail (self != NULL);

  compare_link_mirror_camera (self, 0);
}
