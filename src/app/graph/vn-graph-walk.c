/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where arrow keys lead from a box: along edges, or to what stands beside it. */
#include "vn-graph-walk.h"

#include <gdk/gdkkeysyms.h>
#include <math.h>

static double
graph_walk_middle_x (VnGraphContent *self,
                     guint           node)
{
  const VnRect *box = vn_graph_layout_get_box (self->layout, node);

  return box->x + box->width / 2;
}

static guint
graph_walk_along_edges (VnGraphContent *self,
                        guint           node,
                        gboolean        upwards)
{
  guint n, best = VN_SCENE_NONE;
  const guint *edges = upwards ? vn_scene_get_in_edges (self->scene, node, &n)
                               : vn_scene_get_out_edges (self->scene, node, &n);
  double least = G_MAXDOUBLE;

  for (guint i = 0; i < n; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (self->scene, edges[i]);
      guint other = upwards ? edge->from : edge->to;
      double distance = fabs (graph_walk_middle_x (self, other) - graph_walk_middle_x (self, node))
                        + 1000. * abs ((int) vn_graph_layout_get_rank (self->layout, other)
                                       - (int) vn_graph_layout_get_rank (self->layout, node));

      if (distance < least)
        {
          least = distance;
          best = other;
        }
    }
  return best;
}

/* The nearest box to the left or right that a horizontal line through the node would meet, or its nearest
 * neighbour there. */
static guint
graph_walk_beside (VnGraphContent *self,
                   guint           node,
                   gboolean        leftwards)
{
  const VnRect *box = vn_graph_layout_get_box (self->layout, node);
  VnRect bounds = vn_graph_layout_get_bounds (self->layout);
  VnRect area = { bounds.x, box->y - 24, bounds.width, box->height + 48 };
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  guint best = VN_SCENE_NONE;
  double least = G_MAXDOUBLE;

  vn_graph_index_find_nodes (self->index, area, nodes);
  for (guint i = 0; i < nodes->len; i++)
    {
      guint other = g_array_index (nodes, guint, i);
      double dx = (graph_walk_middle_x (self, other) - graph_walk_middle_x (self, node)) * (leftwards ? -1 : 1);

      if (vn_graph_layout_get_rank (self->layout, other) != vn_graph_layout_get_rank (self->layout, node))
        dx += dx > 0 ? 1e5 : 0;
      if (dx <= 1 || dx >= least)
        continue;
      least = dx;
      best = other;
    }
  return best;
}

/**
 * vn_graph_walk:
 * @node: a box
 * @keyval: an arrow key
 *
 * Returns: the box where the key leads from @node, or %VN_SCENE_NONE
 */
guint
vn_graph_walk (VnGraphContent *self,
               guint           node,
               guint           keyval)
{
  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self) && self->layout != NULL, VN_SCENE_NONE);

  switch (keyval)
    {
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      return graph_walk_along_edges (self, node, TRUE);
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      return graph_walk_along_edges (self, node, FALSE);
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      return graph_walk_beside (self, node, TRUE);
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
    default:
      return graph_walk_beside (self, node, FALSE);
    }
}

/**
 * vn_graph_walk_to_end:
 *
 * Returns: the first or the last box as they are read, the leftmost of them; %VN_SCENE_NONE: there is none
 */
guint
vn_graph_walk_to_end (VnGraphContent *self,
                      gboolean        last)
{
  guint n, best = VN_SCENE_NONE;

  g_return_val_if_fail (VN_IS_GRAPH_CONTENT (self) && self->layout != NULL, VN_SCENE_NONE);

  n = vn_graph_layout_get_n_nodes (self->layout);
  for (guint i = 0; i < n; i++)
    {
      guint rank = vn_graph_layout_get_rank (self->layout, i), other = best != VN_SCENE_NONE
                                                                       ? vn_graph_layout_get_rank (self->layout, best) : rank;

      if (best == VN_SCENE_NONE || (rank == other ? graph_walk_middle_x (self, i) < graph_walk_middle_x (self, best)
                                                  : (rank > other) == last))
        best = i;
    }
  return best;
}
