/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout of one of two networks that are laid out as one: its own boxes, lines and frames, where they are in that. */
#include "align-private.h"

#include <string.h>

/**
 * Part:
 * @boxes: by box that is shown: the one in the layout of the whole that has its place
 * @ways: by edge that is shown: edges of the layout of the whole that it goes along
 * @edge_in: by edge of the layout of the whole: that of the scene that is shown, where it is one or begins or ends with it
 */
typedef struct
{
  const AlignWhole    *whole;
  guint                side;
  const VnScene       *scene, *whole_scene;   /* what is shown */
  const VnFold        *fold, *whole_fold;     /* nullable, both */
  const VnGraphLayout *from;
  VnGraphLayout       *to;
  guint               *boxes, *edge_in;
  GArray             **ways;
} Part;

static void
align_part_map_boxes (Part *self)
{
  guint n = vn_scene_get_n_nodes (self->scene);

  self->boxes = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      guint n_nodes, node = self->fold != NULL ? vn_fold_get_nodes (self->fold, i, &n_nodes)[0] : i;

      node = self->whole->nodes[self->side][node];
      self->boxes[i] = self->whole_fold != NULL ? vn_fold_get_box (self->whole_fold, node) : node;
    }
}

/* What is seen of an edge's way: not what is inside of closed groups. */
static GArray *
align_part_list_way (const Part *self,
                     guint       edge)
{
  const guint *first = self->whole->way_first[self->side];
  GArray *way = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = first[edge]; i < first[edge + 1]; i++)
    {
      guint at = g_array_index (self->whole->ways[self->side], guint, i);

      at = self->whole_fold != NULL ? self->whole_fold->edge_of[at] : at;
      if (at != VN_SCENE_NONE)
        g_array_append_val (way, at);
    }
  return way;
}

static void
align_part_map_edges (Part  *self,
                      guint  n_of_side)
{
  guint n = vn_scene_get_n_edges (self->scene);

  self->ways = g_new0 (GArray *, n + 1);
  self->edge_in = g_new (guint, self->from->n_edges + 1);
  memset (self->edge_in, 0xff, sizeof (guint) * (self->from->n_edges + 1));
  for (guint i = 0; i < n_of_side; i++)
    {
      guint shown = self->fold != NULL ? self->fold->edge_of[i] : i;
      GArray *way;

      if (shown == VN_SCENE_NONE || self->ways[shown] != NULL)
        continue;
      self->ways[shown] = way = align_part_list_way (self, i);
      if (way->len == 0)
        continue;
      self->edge_in[g_array_index (way, guint, 0)] = shown;
      self->edge_in[g_array_index (way, guint, way->len - 1)] = shown;
    }
}

/* Its own size, in the middle of the place. */
static VnRect
align_part_place (const Part *self,
                  guint       box)
{
  const VnSceneNode *node = vn_scene_get_node (self->scene, box);
  VnRect place = self->from->boxes[self->boxes[box]];
  double width, height;

  if (node->kind == VN_SCENE_GROUP)
    return place;
  vn_scene_node_get_size (node, &width, &height);
  return (VnRect) { place.x + (place.width - width) / 2, place.y + (place.height - height) / 2, width, height };
}

/* Nothing is left out or smaller, and the order is the same. */
static gboolean
align_part_is_whole (const Part *self)
{
  if (self->from->n_nodes != vn_scene_get_n_nodes (self->scene) || self->from->n_edges != vn_scene_get_n_edges (self->scene))
    return FALSE;
  for (guint i = 0; i < self->from->n_nodes; i++)
    if (self->boxes[i] != i || align_part_place (self, i).height != self->from->boxes[i].height ||
        align_part_place (self, i).width != self->from->boxes[i].width)
      return FALSE;
  for (guint i = 0; i < self->from->n_edges; i++)
    if (self->ways[i]->len != 1 || g_array_index (self->ways[i], guint, 0) != i)
      return FALSE;
  return TRUE;
}

/* How many points of two lines of the new layout are the same, from their beginning. */
static guint
align_part_count_common (const Part *self,
                         guint       a,
                         guint       b)
{
  guint n_a, n_b, n = 0;
  const VnPoint *pa = vn_graph_layout_get_route (self->to, a, &n_a, NULL),
  *pb = vn_graph_layout_get_route (self->to, b, &n_b, NULL);

  while (n < MIN (n_a, n_b) && pa[n].x == pb[n].x && pa[n].y == pb[n].y)
    n++;
  return n;
}

/* A piece that an earlier line has in common with one is drawn with the earlier one. */
static guint
align_part_find_own_start (const Part *self,
                           guint       edge)
{
  const VnSceneEdge *data = vn_scene_get_edge (self->scene, edge);
  const GArray *way = self->ways[edge];
  guint n, found = 0, most = way->len == 1 ? self->from->own_start[g_array_index (way, guint, 0)] : G_MAXUINT;
  const guint *siblings = vn_scene_get_out_edges (self->scene, data->from, &n);

  for (guint i = 0; found <= most && i < n && siblings[i] < edge; i++)
    if (vn_scene_get_edge (self->scene, siblings[i])->output == data->output)
      found = MAX (found, align_part_count_common (self, siblings[i], edge));
  return found > 0 ? MIN (found - 1, most) : 0;
}

/* A line that begins or ends at the place of a box does so at the box, which may be smaller. */
static void
align_part_end_at_boxes (Part    *self,
                         guint    edge,
                         VnPoint *first,
                         VnPoint *last)
{
  const VnSceneEdge *data = vn_scene_get_edge (self->scene, edge);
  const VnRect *from = &self->to->boxes[data->from], *to = &self->to->boxes[data->to];
  const VnRect *from_place = &self->from->boxes[self->boxes[data->from]], *to_place = &self->from->boxes[self->boxes[data->to]];

  if (first->y == from_place->y + from_place->height)
    first->y = from->y + from->height;
  if (last->y == to_place->y)
    last->y = to->y;
}

/* Nothing, if a piece of its way is cut. */
static void
align_part_add_route (Part *self,
                      guint edge)
{
  const GArray *way = self->ways[edge];
  GArray *points = self->to->points;
  guint first = points->len;

  for (guint i = 0; i < way->len; i++)
    {
      guint n;
      const VnPoint *piece = vn_graph_layout_get_route (self->from, g_array_index (way, guint, i), &n, NULL);

      if (n == 0)
        {
          g_array_set_size (points, first);
          return;
        }
      g_array_append_vals (points, piece, n);
    }
  if (points->len > first)
    align_part_end_at_boxes (self, edge, &g_array_index (points, VnPoint, first),
                             &g_array_index (points, VnPoint, points->len - 1));
}

static void
align_part_add_routes (Part *self)
{
  for (guint i = 0; i < self->to->n_edges; i++)
    {
      self->to->route_first[i] = self->to->points->len;
      align_part_add_route (self, i);
      self->to->route_first[i + 1] = self->to->points->len;
      self->to->own_start[i] = align_part_find_own_start (self, i);
    }
}

/* Of a stub at a source: how many edges of its tensor are here, and the first of them. */
static guint
align_part_count_cut (const Part *self,
                      guint       edge,
                      guint      *first)
{
  const VnSceneEdge *data = vn_scene_get_edge (self->whole_scene, edge);
  guint n, n_cut = 0, n_points;
  const guint *siblings = vn_scene_get_out_edges (self->whole_scene, data->from, &n);

  for (guint i = 0; i < n; i++)
    {
      guint here = self->edge_in[siblings[i]];

      vn_graph_layout_get_route (self->from, siblings[i], &n_points, NULL);
      if (n_points > 0 || here == VN_SCENE_NONE || vn_scene_get_edge (self->whole_scene, siblings[i])->output != data->output)
        continue;
      if (n_cut++ == 0 || siblings[i] == edge)
        *first = here;
    }
  return n_cut;
}

static void
align_part_add_stubs (Part *self)
{
  for (guint i = 0; i < self->from->stubs->len; i++)
    {
      VnGraphLayoutStub stub = g_array_index (self->from->stubs, VnGraphLayoutStub, i);
      guint edge = self->edge_in[stub.edge];

      if (stub.at_source)
        stub.n_edges = align_part_count_cut (self, stub.edge, &edge);
      if (edge == VN_SCENE_NONE)
        continue;
      stub.edge = edge;
      g_array_append_val (self->to->stubs, stub);
    }
}

static void
align_part_add_frames (Part *self)
{
  for (guint i = 0; i < self->from->frames->len; i++)
    {
      const VnGraphLayoutFrame *frame = &g_array_index (self->from->frames, VnGraphLayoutFrame, i);

      if (vn_groups_get (self->fold->groups, frame->group)->n_nodes > 0)
        g_array_append_val (self->to->frames, *frame);
    }
}

static void
align_part_fill (Part *self)
{
  VnGraphLayout *to = self->to;

  to->n_ranks = self->from->n_ranks;
  to->crossings = self->from->crossings;
  to->bounds = self->from->bounds;
  for (guint i = 0; i < to->n_nodes; i++)
    {
      to->boxes[i] = align_part_place (self, i);
      to->ranks[i] = self->from->ranks[self->boxes[i]];
    }
  align_part_add_routes (self);
  align_part_add_stubs (self);
  align_part_add_frames (self);
}

/* @scene: what is shown of that side, by @fold if there is one; @layout: of the whole, with the same groups open.
 * Returns: (transfer full): its layout: as large as that of the whole; that itself if nothing of it is left out */
VnGraphLayout *
vn_align_part_new (const AlignWhole *whole,
                   guint             side,
                   VnScene          *scene,
                   const VnFold     *fold,
                   const VnFold     *whole_fold,
                   VnGraphLayout    *layout)
{
  Part part = { .whole = whole, .side = side, .scene = scene, .fold = fold, .whole_fold = whole_fold, .from = layout };
  const VnScene *all;

  g_return_val_if_fail (whole != NULL && scene != NULL && layout != NULL && (fold != NULL) == (whole_fold != NULL), NULL);

  part.whole_scene = whole_fold != NULL ? vn_fold_get_scene (whole_fold) : whole->scene;
  all = fold != NULL ? fold->whole : scene;
  align_part_map_boxes (&part);
  align_part_map_edges (&part, vn_scene_get_n_edges (all));
  if (align_part_is_whole (&part))
    {
      part.to = vn_graph_layout_ref (layout);
    }
  else
    {
      part.to = vn_graph_layout_alloc (vn_scene_get_n_nodes (scene), vn_scene_get_n_edges (scene));
      align_part_fill (&part);
    }
  g_free (part.boxes);
  for (guint i = 0; i < vn_scene_get_n_edges (scene); i++)
    g_clear_pointer (&part.ways[i], g_array_unref);
  g_free (part.ways);
  g_free (part.edge_in);
  return part.to;
}
