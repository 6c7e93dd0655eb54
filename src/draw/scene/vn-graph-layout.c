/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout as a whole: runs the stages (ranks, order, places, routes), and hands out the result. */
#include "vn-graph-layout-private.h"

#include <string.h>

static void
graph_layout_work_clear (Work *work)
{
  g_free (work->node_rank);
  g_clear_pointer (&work->vertices, g_array_unref);
  g_clear_pointer (&work->segments, g_array_unref);
  g_clear_pointer (&work->stubs, g_array_unref);
  g_free (work->links);
  g_free (work->order);
  g_free (work->rank_first);
  g_free (work->up);
  g_free (work->up_first);
  g_free (work->down);
  g_free (work->down_first);
}

/* Nothing in it but room. */
VnGraphLayout *
vn_graph_layout_alloc (guint n_nodes,
                       guint n_edges)
{
  VnGraphLayout *self = g_new0 (VnGraphLayout, 1);

  g_atomic_ref_count_init (&self->ref);
  self->n_nodes = n_nodes;
  self->n_edges = n_edges;
  self->boxes = g_new0 (VnRect, n_nodes + 1);
  self->ranks = g_new0 (guint, n_nodes + 1);
  self->points = g_array_new (FALSE, FALSE, sizeof (VnPoint));
  self->route_first = g_new0 (guint, n_edges + 1);
  self->own_start = g_new0 (guint, n_edges + 1);
  self->stubs = g_array_new (FALSE, TRUE, sizeof (VnGraphLayoutStub));
  self->frames = g_array_new (FALSE, TRUE, sizeof (VnGraphLayoutFrame));
  return self;
}

/* ---- plan ---- */

struct _VnGraphPlan
{
  VnGraphLayoutInput input;
  Work               work;
};

/* Everything but the routes; @input is copied. */
VnGraphPlan *
vn_graph_plan_new (const VnGraphLayoutInput  *input,
                   GCancellable              *cancellable,
                   GError                   **error)
{
  VnGraphPlan *self;

  g_return_val_if_fail (input != NULL, NULL);

  self = g_new0 (VnGraphPlan, 1);
  self->input = *input;
  self->input.nodes = g_memdup2 (input->nodes, sizeof *input->nodes * input->n_nodes);
  self->input.edges = g_memdup2 (input->edges, sizeof *input->edges * input->n_edges);
  self->work = (Work) { .input = &self->input, .cancellable = cancellable };
  if (vn_graph_layout_rank_nodes (&self->work, error))
    {
      vn_graph_layout_build_ranks (&self->work);
      if (vn_graph_layout_order_ranks (&self->work, error) && vn_graph_layout_place (&self->work, error))
        {
          self->work.cancellable = NULL;
          return self;
        }
    }
  vn_graph_plan_free (self);
  return NULL;
}

void
vn_graph_plan_free (VnGraphPlan *self)
{
  if (self == NULL)
    return;

  graph_layout_work_clear (&self->work);
  g_free ((gpointer) self->input.nodes);
  g_free ((gpointer) self->input.edges);
  g_free (self);
}

/* What has grown takes the free room about it; what is right of it in its rank makes room, and nothing else. */
static void
graph_layout_grow (Work         *work,
                   const Growth *growth)
{
  for (guint v = 0; v < work->vertices->len; v++)
    {
      Vertex *vertex = VERTEX (work, v);
      gboolean is_grown = v < work->input->n_nodes && growth[v].height > 0;

      vertex->left = is_grown ? growth[v].left : vertex->width / 2;
      vertex->right = is_grown ? growth[v].right : vertex->width / 2;
      vertex->grown = is_grown ? growth[v].height : 0;
    }
  for (guint rank = 0; rank < work->n_ranks; rank++)
    for (guint i = work->rank_first[rank] + 1; i < work->rank_first[rank + 1]; i++)
      {
        const Vertex *left = VERTEX (work, work->order[i - 1]);
        Vertex *vertex = VERTEX (work, work->order[i]);
        double gap = vn_graph_layout_separation (left, vertex) - (left->width + vertex->width) / 2;

        vertex->x = MAX (vertex->x, left->x + left->right + gap + vertex->left);
      }
}

/* Draws the routes. @growth, @enter and @leave may be NULL: nothing has grown. */
VnGraphLayout *
vn_graph_plan_lay_out (const VnGraphPlan *self,
                       const Growth      *growth,
                       const double      *enter,
                       const double      *leave)
{
  VnGraphLayout *layout;
  Work work;

  g_return_val_if_fail (self != NULL, NULL);

  work = self->work;
  layout = vn_graph_layout_alloc (self->input.n_nodes, self->input.n_edges);
  layout->n_ranks = work.n_ranks;
  layout->crossings = work.crossings;
  if (self->input.n_nodes > 0)
    memcpy (layout->ranks, work.node_rank, sizeof (guint) * self->input.n_nodes);
  if (growth == NULL)
    {
      vn_graph_layout_route (&work, &self->work, layout);
      return layout;
    }
  work.enter = enter;
  work.leave = leave;
  work.vertices = g_array_copy (self->work.vertices);
  graph_layout_grow (&work, growth);
  vn_graph_layout_route (&work, &self->work, layout);
  g_array_unref (work.vertices);
  return layout;
}

/* ---- layout ---- */

/**
 * vn_graph_layout_new:
 * @cancellable: (nullable): looked at often enough to stop within a fraction of a second
 *
 * Places nodes in ranks (longest path, then sources pulled down to what they feed), orders each rank for few
 * crossings (barycentre sweeps, then exchange of neighbours), finds x by isotonic regression of the wanted
 * places in each rank and straightens what runs down in a line. Edges that pass other ranks get lanes of
 * their own between the boxes; edges with the same source tensor share one.
 *
 * Returns: (transfer full): the layout; %NULL with %VN_ERROR_MALFORMED if the edges form a cycle or do not
 *   end at nodes
 */
VnGraphLayout *
vn_graph_layout_new (const VnGraphLayoutInput  *input,
                     GCancellable         *cancellable,
                     GError              **error)
{
  VnGraphPlan *plan;
  VnGraphLayout *self;

  g_return_val_if_fail (input != NULL, NULL);

  plan = vn_graph_plan_new (input, cancellable, error);
  if (plan == NULL)
    return NULL;
  self = vn_graph_plan_lay_out (plan, NULL, NULL, NULL);
  vn_graph_plan_free (plan);
  return self;
}

/**
 * vn_graph_layout_new_for_scene:
 *
 * Returns: (transfer full): the layout of a sealed scene, see vn_graph_layout_new()
 */
VnGraphLayout *
vn_graph_layout_new_for_scene (const VnScene  *scene,
                               GCancellable   *cancellable,
                               GError        **error)
{
  guint n_nodes, n_edges;
  g_autofree VnGraphLayoutNode *nodes = NULL;
  g_autofree VnGraphLayoutEdge *edges = NULL;
  VnGraphLayoutInput input;

  g_return_val_if_fail (scene != NULL, NULL);

  n_nodes = vn_scene_get_n_nodes (scene);
  n_edges = vn_scene_get_n_edges (scene);
  nodes = g_new0 (VnGraphLayoutNode, n_nodes + 1);
  edges = g_new (VnGraphLayoutEdge, n_edges + 1);
  input = (VnGraphLayoutInput) { .n_nodes = n_nodes, .nodes = nodes, .n_edges = n_edges, .edges = edges };
  for (guint i = 0; i < n_nodes; i++)
    vn_scene_node_get_size (vn_scene_get_node (scene, i), &nodes[i].width, &nodes[i].height);
  for (guint i = 0; i < n_edges; i++)
    {
      const VnSceneEdge *edge = vn_scene_get_edge (scene, i);

      edges[i] = (VnGraphLayoutEdge) { edge->from, edge->to, edge->output, edge->input };
    }
  return vn_graph_layout_new (&input, cancellable, error);
}

/**
 * vn_graph_layout_ref:
 *
 * Returns: (transfer full): @self
 */
VnGraphLayout *
vn_graph_layout_ref (VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

/**
 * vn_graph_layout_unref:
 *
 * Drops a reference; the last one frees the layout.
 */
void
vn_graph_layout_unref (VnGraphLayout *self)
{
  g_return_if_fail (self != NULL);

  if (!g_atomic_ref_count_dec (&self->ref))
    return;

  g_free (self->boxes);
  g_free (self->ranks);
  g_array_unref (self->points);
  g_free (self->route_first);
  g_free (self->own_start);
  g_array_unref (self->stubs);
  g_array_unref (self->frames);
  g_free (self);
}

/**
 * vn_graph_layout_get_n_nodes:
 *
 * Returns: number of nodes
 */
guint
vn_graph_layout_get_n_nodes (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_nodes;
}

/**
 * vn_graph_layout_get_n_edges:
 *
 * Returns: number of edges, those cut included
 */
guint
vn_graph_layout_get_n_edges (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_edges;
}

/**
 * vn_graph_layout_get_n_ranks:
 *
 * Returns: number of ranks; 0 for an empty graph
 */
guint
vn_graph_layout_get_n_ranks (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n_ranks;
}

/**
 * vn_graph_layout_get_rank:
 *
 * Returns: rank of a node, 0 at the top
 */
guint
vn_graph_layout_get_rank (const VnGraphLayout *self,
                          guint           node)
{
  g_return_val_if_fail (node < self->n_nodes, 0);

  return self->ranks[node];
}

/**
 * vn_graph_layout_get_crossings:
 *
 * Returns: how many pairs of drawn edges cross between ranks; edges that share a lane count once
 */
guint64
vn_graph_layout_get_crossings (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->crossings;
}

/**
 * vn_graph_layout_get_bounds:
 *
 * Returns: the rectangle of all boxes, lanes and stubs, in world units
 */
VnRect
vn_graph_layout_get_bounds (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, ((VnRect) { 0 }));

  return self->bounds;
}

/**
 * vn_graph_layout_get_box:
 *
 * Returns: (transfer none): the box of a node, in world units
 */
const VnRect *
vn_graph_layout_get_box (const VnGraphLayout *self,
                         guint           node)
{
  g_return_val_if_fail (node < self->n_nodes, NULL);

  return &self->boxes[node];
}

/**
 * vn_graph_layout_get_route:
 * @n_points: (out): an even number; 0 for an edge that is cut
 * @own_start: (out) (optional): index of the point from which the edge is drawn if shared pieces are to be
 *   drawn once
 *
 * Returns: (transfer none): the edge's points. From each even point a vertical line leads to the next one,
 *   from there a curve with vertical tangents (or a line, if x is equal) to the following even one. The last
 *   point is the arrow's tip.
 */
const VnPoint *
vn_graph_layout_get_route (const VnGraphLayout *self,
                           guint           edge,
                           guint          *n_points,
                           guint          *own_start)
{
  g_return_val_if_fail (edge < self->n_edges, NULL);

  *n_points = self->route_first[edge + 1] - self->route_first[edge];
  if (own_start != NULL)
    *own_start = self->own_start[edge];
  return &g_array_index (self->points, VnPoint, self->route_first[edge]);
}

/**
 * vn_graph_layout_get_n_stubs:
 *
 * Returns: number of stubs
 */
guint
vn_graph_layout_get_n_stubs (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->stubs->len;
}

/**
 * vn_graph_layout_get_stub:
 *
 * Returns: (transfer none): stub @i
 */
const VnGraphLayoutStub *
vn_graph_layout_get_stub (const VnGraphLayout *self,
                          guint           i)
{
  g_return_val_if_fail (i < self->stubs->len, NULL);

  return &g_array_index (self->stubs, VnGraphLayoutStub, i);
}

/**
 * vn_graph_layout_get_n_frames:
 *
 * Returns: number of open groups
 */
guint
vn_graph_layout_get_n_frames (const VnGraphLayout *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->frames->len;
}

/**
 * vn_graph_layout_get_frame:
 *
 * Returns: (transfer none): frame @i; outer frames come before those in them
 */
const VnGraphLayoutFrame *
vn_graph_layout_get_frame (const VnGraphLayout *self,
                           guint                i)
{
  g_return_val_if_fail (self != NULL && i < self->frames->len, NULL);

  return &g_array_index (self->frames, VnGraphLayoutFrame, i);
}
