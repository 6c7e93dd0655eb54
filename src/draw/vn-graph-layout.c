/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The layout as a whole: runs the stages (ranks, order, places, routes), on a worker thread if asked to, and hands
 * out the result. */
#include "vn-graph-layout-private.h"

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

static VnGraphLayout *
layout_alloc (const Work *work)
{
  VnGraphLayout *self = g_new0 (VnGraphLayout, 1);

  g_atomic_ref_count_init (&self->ref);
  self->n_nodes = work->input->n_nodes;
  self->n_edges = work->input->n_edges;
  self->n_ranks = work->n_ranks;
  self->crossings = work->crossings;
  self->boxes = g_new0 (VnRect, self->n_nodes + 1);
  self->ranks = g_memdup2 (work->node_rank, sizeof (guint) * MAX (self->n_nodes, 1));
  self->points = g_array_new (FALSE, FALSE, sizeof (VnPoint));
  self->route_first = g_new0 (guint, self->n_edges + 1);
  self->own_start = g_new0 (guint, self->n_edges + 1);
  self->stubs = g_array_new (FALSE, TRUE, sizeof (VnGraphLayoutStub));
  return self;
}

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
  Work work = { .input = input, .cancellable = cancellable };
  VnGraphLayout *self = NULL;

  g_return_val_if_fail (input != NULL, NULL);

  if (vn_graph_layout_rank_nodes (&work, error))
    {
      vn_graph_layout_build_ranks (&work);
      if (vn_graph_layout_order_ranks (&work, error) && vn_graph_layout_place (&work, error))
        {
          self = layout_alloc (&work);
          vn_graph_layout_route (&work, self);
        }
    }
  graph_layout_work_clear (&work);
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
  nodes = g_new (VnGraphLayoutNode, n_nodes + 1);
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

static void
layout_thread (GTask        *task,
               gpointer      source_object,
               gpointer      task_data,
               GCancellable *cancellable)
{
  GError *error = NULL;
  VnGraphLayout *layout = vn_graph_layout_new_for_scene (task_data, cancellable, &error);

  if (layout == NULL)
    g_task_return_error (task, error);
  else
    g_task_return_pointer (task, layout, (GDestroyNotify) vn_graph_layout_unref);
}

/**
 * vn_graph_layout_new_async:
 * @callback: called on the calling thread's main context
 *
 * As vn_graph_layout_new_for_scene(), on a worker thread.
 */
void
vn_graph_layout_new_async (VnScene             *scene,
                           GCancellable        *cancellable,
                           GAsyncReadyCallback  callback,
                           gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (NULL, cancellable, callback, user_data);

  g_return_if_fail (scene != NULL);

  g_task_set_source_tag (task, vn_graph_layout_new_async);
  g_task_set_task_data (task, vn_scene_ref (scene), (GDestroyNotify) vn_scene_unref);
  g_task_run_in_thread (task, layout_thread);
}

/**
 * vn_graph_layout_new_finish:
 *
 * Returns: (transfer full): the layout, or %NULL
 */
VnGraphLayout *
vn_graph_layout_new_finish (GAsyncResult  *result,
                            GError       **error)
{
  g_return_val_if_fail (G_IS_TASK (result), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
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
