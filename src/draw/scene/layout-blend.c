/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A layout on its way from another one, for a change that is seen to happen. */
#include "vn-graph-layout-private.h"

#include <string.h>

static VnRect
layout_blend_mix (VnRect a,
                  VnRect b,
                  double t)
{
  return (VnRect) { a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.width + t * (b.width - a.width),
                    a.height + t * (b.height - a.height) };
}

/* How far the middle of a box still is from where it will be. */
static VnPoint
layout_blend_shift (const VnRect *now,
                    const VnRect *then)
{
  return (VnPoint) { now->x + now->width / 2 - then->x - then->width / 2, now->y + now->height / 2 - then->y - then->height / 2 };
}

/* The points of a line move as its ends do, those between in between. */
static void
layout_blend_points (VnPoint *points,
                     guint    n,
                     VnPoint  first,
                     VnPoint  last)
{
  for (guint i = 0; i < n; i++)
    {
      double t = n > 1 ? (i / 2) / MAX ((n / 2) - 1., 1) : 0;

      points[i].x += first.x + t * (last.x - first.x);
      points[i].y += first.y + t * (last.y - first.y);
    }
}

/**
 * vn_graph_layout_blend:
 * @from: where each box was
 * @frames_from: where each frame was
 * @scene: that it is the layout of
 * @progress: 0: there, 1: here
 *
 * Returns: (transfer full): a layout in between. Its lines follow the boxes and may touch others on the way.
 */
VnGraphLayout *
vn_graph_layout_blend (const VnGraphLayout *self,
                       const VnRect        *from,
                       const VnRect        *frames_from,
                       const VnScene       *scene,
                       double               progress)
{
  VnGraphLayout *layout;

  g_return_val_if_fail (self != NULL && from != NULL && frames_from != NULL && scene != NULL, NULL);

  layout = vn_graph_layout_alloc (self->n_nodes, self->n_edges);
  layout->n_ranks = self->n_ranks;
  layout->bounds = self->bounds;
  g_array_append_vals (layout->points, self->points->data, self->points->len);
  g_array_append_vals (layout->stubs, self->stubs->data, self->stubs->len);
  g_array_append_vals (layout->frames, self->frames->data, self->frames->len);
  for (guint i = 0; i < self->n_nodes; i++)
    {
      layout->boxes[i] = layout_blend_mix (from[i], self->boxes[i], progress);
      layout->ranks[i] = self->ranks[i];
    }
  memcpy (layout->route_first, self->route_first, sizeof (guint) * (self->n_edges + 1));
  for (guint i = 0; i < self->n_edges; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (scene, i);
      guint first = self->route_first[i];

      layout->own_start[i] = self->own_start[i];
      layout_blend_points (&g_array_index (layout->points, VnPoint, first), self->route_first[i + 1] - first,
                           layout_blend_shift (&layout->boxes[edge->from], &self->boxes[edge->from]),
                           layout_blend_shift (&layout->boxes[edge->to], &self->boxes[edge->to]));
    }
  for (guint i = 0; i < self->frames->len; i++)
    {
      VnGraphLayoutFrame *frame = &g_array_index (layout->frames, VnGraphLayoutFrame, i);

      frame->box = layout_blend_mix (frames_from[i], frame->box, progress);
    }
  for (guint i = 0; i < self->stubs->len; i++)
    {
      VnGraphLayoutStub *stub = &g_array_index (layout->stubs, VnGraphLayoutStub, i);
      const VnSceneEdge *edge = vn_scene_get_edge (scene, stub->edge);
      guint at = stub->at_source ? edge->from : edge->to;
      VnPoint shift = layout_blend_shift (&layout->boxes[at], &self->boxes[at]);

      stub->box.x += shift.x;
      stub->box.y += shift.y;
      layout_blend_points (stub->route, G_N_ELEMENTS (stub->route), shift, shift);
    }
  return layout;
}
