/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From places to boxes and routes. Within the height of a rank every edge runs straight down, in its
 * node's column or in its lane; it moves sideways only in the gaps between ranks, where there are no
 * boxes. */
#include "vn-graph-layout-private.h"

#include <math.h>

#define GAP_PLAIN    20.
#define GAP_FAN      34.
#define GAP_WIDEST   64.
#define STRAIGHT_DX  26.    /* what counts as straight: an input beside the middle */

typedef struct { double *top, *bottom, *middle; } Bands;   /* by rank; the middle of what has not grown */

typedef struct { guint edge; const Vertex *from; double x; } Port;

static int
layout_route_compare_ports (gconstpointer a,
                            gconstpointer b)
{
  const Port *pa = a, *pb = b;

  if (pa->from->x != pb->from->x)
    return pa->from->x < pb->from->x ? -1 : 1;
  return pa->edge < pb->edge ? -1 : pa->edge > pb->edge;
}

/* Gaps depend on places before anything grew, so that what is above stays where it is. */
static void
layout_route_make_bands (const Work *work,
                         const Work *placed,
                         Bands      *bands)
{
  g_autofree double *spread = g_new0 (double, work->n_ranks + 1);
  g_autofree double *height = g_new0 (double, work->n_ranks + 1);
  g_autofree double *grown = g_new0 (double, work->n_ranks + 1);
  double y = 0;

  bands->top = g_new0 (double, work->n_ranks + 1);
  bands->bottom = g_new0 (double, work->n_ranks + 1);
  bands->middle = g_new0 (double, work->n_ranks + 1);
  for (guint v = 0; v < work->vertices->len; v++)
    {
      const Vertex *vertex = VERTEX (work, v);

      height[vertex->rank] = MAX (height[vertex->rank], vertex->height);
      grown[vertex->rank] = MAX (grown[vertex->rank], vertex->grown);
    }
  for (guint i = 0; i < work->segments->len; i++)
    {
      const Segment *segment = &g_array_index (work->segments, Segment, i);
      const Vertex *top = VERTEX (placed, segment->top);
      double dx = fabs (top->x - VERTEX (placed, segment->bottom)->x);

      spread[top->rank] = MAX (spread[top->rank], dx);
    }
  for (guint rank = 0; rank < work->n_ranks; rank++)
    {
      double gap = GAP_PLAIN;

      if (spread[rank] > STRAIGHT_DX)
        gap = round (MIN (GAP_FAN + spread[rank] / 24, GAP_WIDEST));
      bands->top[rank] = y;
      bands->middle[rank] = y + height[rank] / 2;
      bands->bottom[rank] = y + MAX (height[rank], grown[rank]);
      y = bands->bottom[rank] + gap;
    }
}

static void
layout_route_grow (VnRect *bounds,
                   VnRect  box)
{
  double x1 = MAX (bounds->x + bounds->width, box.x + box.width);
  double y1 = MAX (bounds->y + bounds->height, box.y + box.height);

  bounds->x = MIN (bounds->x, box.x);
  bounds->y = MIN (bounds->y, box.y);
  bounds->width = x1 - bounds->x;
  bounds->height = y1 - bounds->y;
}

static VnRect
layout_route_vertex_box (const Vertex *vertex,
                         const Bands  *bands)
{
  if (vertex->grown > 0)
    return (VnRect) { vertex->x - vertex->left, bands->top[vertex->rank], vertex->left + vertex->right, vertex->grown };
  return (VnRect) { vertex->x - vertex->width / 2, round (bands->middle[vertex->rank] - vertex->height / 2), vertex->width,
                    vertex->height };
}

/* Inputs of a node 22 px apart, in the order they come from; one that comes straight down enters in the
 * middle. */
static void
layout_route_spread_ports (GArray       *ports,
                           const Vertex *to)
{
  double step = PORT_STEP, middle = (ports->len - 1) / 2., least = 1;

  g_array_sort (ports, layout_route_compare_ports);
  if (ports->len > 1)
    step = MIN (step, (to->width - 2 * PORT_STEP) / (ports->len - 1));
  for (guint i = 0; i < ports->len; i++)
    {
      double dx = fabs (g_array_index (ports, Port, i).from->x - to->x);

      if (dx < least && (ports->len < 4 || i * 2 + 1 == ports->len))
        {
          least = dx;
          middle = i;
        }
    }
  for (guint i = 0; i < ports->len; i++)
    g_array_index (ports, Port, i).x = to->x + round ((i - middle) * step);
}

static guint
layout_route_last_vertex (const Work *work,
                          guint       edge)
{
  const Link *link = &work->links[edge];

  return link->n_lanes > 0 ? link->first_lane + link->n_lanes - 1 : work->input->edges[edge].from;
}

/* The x at which each edge enters its target. */
static double *
layout_route_find_ports (const Work *work)
{
  const VnGraphLayoutInput *input = work->input;
  double *x = g_new0 (double, input->n_edges + 1);
  g_autofree GArray **by_node = g_new0 (GArray *, input->n_nodes + 1);
  g_autofree guint *stub_of = g_new0 (guint, input->n_edges + 1);

  for (guint i = 0; i < work->stubs->len; i++)
    {
      const StubVertex *stub = &g_array_index (work->stubs, StubVertex, i);

      if (!stub->at_source)
        stub_of[stub->edge] = stub->vertex;
    }
  for (guint i = 0; i < input->n_edges; i++)
    {
      guint from = work->links[i].is_cut ? stub_of[i] : layout_route_last_vertex (work, i);
      Port port = { .edge = i, .from = VERTEX (work, from) };
      GArray **ports = &by_node[input->edges[i].to];

      if (*ports == NULL)
        *ports = g_array_new (FALSE, FALSE, sizeof (Port));
      g_array_append_val (*ports, port);
    }
  for (guint node = 0; node < input->n_nodes; node++)
    {
      if (by_node[node] == NULL)
        continue;
      layout_route_spread_ports (by_node[node], VERTEX (work, node));
      for (guint i = 0; i < by_node[node]->len; i++)
        {
          guint edge = g_array_index (by_node[node], Port, i).edge;
          gboolean is_grown = VERTEX (work, node)->grown > 0 && work->enter != NULL;

          x[edge] = is_grown ? VERTEX (work, node)->x + work->enter[edge] : g_array_index (by_node[node], Port, i).x;
        }
      g_array_unref (by_node[node]);
    }
  return x;
}

/* Appends the vertical piece at x from top to bottom, joining it to the piece above where that runs on
 * straight. */
static void
layout_route_append_piece (VnGraphLayout *layout,
                           guint     first,
                           gboolean  apart,
                           double    x,
                           double    top,
                           double    bottom)
{
  VnPoint points[2] = { { x, top }, { x, bottom } };

  if (!apart && layout->points->len > first)
    {
      VnPoint *last = &g_array_index (layout->points, VnPoint, layout->points->len - 1);

      if (last->x == x)
        {
          last->y = bottom;
          return;
        }
    }
  g_array_append_vals (layout->points, points, 2);
}

/* The x at which an edge leaves its node. */
static double
layout_route_find_exit (const Work *work,
                        guint       edge)
{
  const Vertex *from = VERTEX (work, work->input->edges[edge].from);

  return from->grown > 0 && work->leave != NULL ? from->x + work->leave[edge] : from->x;
}

static void
route_edge (const Work  *work,
            VnGraphLayout    *layout,
            const Bands *bands,
            guint        edge,
            double       port)
{
  const VnGraphLayoutEdge *ends = &work->input->edges[edge];
  const Link *link = &work->links[edge];
  const VnRect *from = &layout->boxes[ends->from], *to = &layout->boxes[ends->to];
  guint first = layout->points->len, n;
  double entry = bands->top[work->node_rank[ends->to]];

  if (link->is_cut)
    return;

  layout_route_append_piece (layout, first, FALSE, layout_route_find_exit (work, edge), from->y + from->height,
                             bands->bottom[work->node_rank[ends->from]]);
  for (guint i = 0; i < link->n_lanes; i++)
    {
      const Vertex *lane = VERTEX (work, link->first_lane + i);

      layout_route_append_piece (layout, first, FALSE, lane->x, bands->top[lane->rank], bands->bottom[lane->rank]);
    }
  /* the last piece of a shared lane must be found again to be drawn alone */
  layout_route_append_piece (layout, first, link->shared, port, entry, to->y);

  n = layout->points->len - first;
  if (link->shared)
    layout->own_start[edge] = n - 3;
}

static void
layout_route_add_stub (const Work       *work,
                       VnGraphLayout         *layout,
                       const Bands      *bands,
                       const StubVertex *from,
                       double            port)
{
  const VnGraphLayoutEdge *edge = &work->input->edges[from->edge];
  const Vertex *vertex = VERTEX (work, from->vertex);
  VnGraphLayoutStub stub = { .edge = from->edge, .n_edges = from->n_edges, .at_source = from->at_source };

  stub.box = layout_route_vertex_box (vertex, bands);
  if (from->at_source)
    {
      const VnRect *box = &layout->boxes[edge->from];
      double x = layout_route_find_exit (work, from->edge);

      stub.box.y = bands->top[vertex->rank];
      stub.route[0] = (VnPoint) { x, box->y + box->height };
      stub.route[1] = (VnPoint) { x, bands->bottom[work->node_rank[edge->from]] };
      stub.route[2] = stub.route[3] = (VnPoint) { vertex->x, stub.box.y };
    }
  else
    {
      const VnRect *box = &layout->boxes[edge->to];

      stub.box.y = bands->bottom[vertex->rank] - vertex->height;
      stub.route[0] = stub.route[1] = (VnPoint) { vertex->x, bands->bottom[vertex->rank] };
      stub.route[2] = (VnPoint) { port, bands->top[work->node_rank[edge->to]] };
      stub.route[3] = (VnPoint) { port, box->y };
    }
  g_array_append_val (layout->stubs, stub);
  layout_route_grow (&layout->bounds, stub.box);
}

/* Fills boxes, routes, stubs and bounds of @layout. @placed: the same before anything grew. */
void
vn_graph_layout_route (const Work    *work,
                       const Work    *placed,
                       VnGraphLayout *layout)
{
  g_autofree double *ports = layout_route_find_ports (work);
  Bands bands;

  layout_route_make_bands (work, placed, &bands);
  for (guint i = 0; i < layout->n_nodes; i++)
    {
      layout->boxes[i] = layout_route_vertex_box (VERTEX (work, i), &bands);
      if (i == 0)
        layout->bounds = layout->boxes[0];
      layout_route_grow (&layout->bounds, layout->boxes[i]);
    }
  for (guint v = layout->n_nodes; v < work->vertices->len; v++)
    layout_route_grow (&layout->bounds, layout_route_vertex_box (VERTEX (work, v), &bands));
  for (guint i = 0; i < layout->n_edges; i++)
    {
      layout->route_first[i] = layout->points->len;
      route_edge (work, layout, &bands, i, ports[i]);
    }
  layout->route_first[layout->n_edges] = layout->points->len;
  for (guint i = 0; i < work->stubs->len; i++)
    {
      const StubVertex *stub = &g_array_index (work->stubs, StubVertex, i);

      layout_route_add_stub (work, layout, &bands, stub, ports[stub->edge]);
    }
  g_free (bands.top);
  g_free (bands.bottom);
  g_free (bands.middle);
}
