/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spatial index of a layout: a grid whose cells list the boxes, edges and stubs that meet them. */
#include "vn-graph-index.h"

#include <math.h>
#include <string.h>

#define CELL        512.
#define MAX_CELLS   (1 << 16)
#define CURVE_STEPS 12

typedef struct { guint cell, item; } Entry;

/* Cells in one compressed table: items of cell c in items[first[c] … first[c + 1]), ascending. */
typedef struct { guint *first, *items; } Table;

struct _VnGraphIndex
{
  VnGraphLayout *layout;
  VnRect    bounds;
  double    cell;
  guint     columns, rows;
  Table     nodes, edges, stubs;
};

typedef struct { guint x0, y0, x1, y1; } Cells;

static gboolean
graph_index_rects_meet (const VnRect *a,
                        const VnRect *b)
{
  return a->x <= b->x + b->width && b->x <= a->x + a->width
         && a->y <= b->y + b->height && b->y <= a->y + a->height;
}

static guint
graph_index_cell_of (double place,
                     double cell,
                     guint  n)
{
  return (guint) CLAMP (floor (place / cell), 0, n - 1.);
}

static Cells
graph_index_cells_of (const VnGraphIndex *self,
                      VnRect              area)
{
  double x = area.x - self->bounds.x, y = area.y - self->bounds.y;

  return (Cells) { graph_index_cell_of (x, self->cell, self->columns), graph_index_cell_of (y, self->cell, self->rows),
                   graph_index_cell_of (x + area.width, self->cell, self->columns),
                   graph_index_cell_of (y + area.height, self->cell, self->rows) };
}

static void
graph_index_add_entries (const VnGraphIndex *self,
                         GArray             *entries,
                         VnRect              area,
                         guint               item)
{
  Cells cells = graph_index_cells_of (self, area);

  for (guint y = cells.y0; y <= cells.y1; y++)
    for (guint x = cells.x0; x <= cells.x1; x++)
      {
        Entry entry = { y * self->columns + x, item };

        if (entries->len == 0 || memcmp (&g_array_index (entries, Entry, entries->len - 1), &entry,
                                         sizeof entry) != 0)
          g_array_append_val (entries, entry);
      }
}

/**
 * vn_route_turns:
 * @i: odd: where a curve begins
 *
 * Returns: whether the line before the curve or the one after it runs upwards: the line goes on in the next column
 */
gboolean
vn_route_turns (const VnPoint *points,
                guint          n_points,
                guint          i)
{
  g_return_val_if_fail (points != NULL && i % 2 == 1 && i + 1 < n_points, FALSE);

  return points[i].y < points[i - 1].y || (i + 2 < n_points && points[i + 2].y < points[i + 1].y);
}

/**
 * vn_route_controls:
 * @points: as vn_graph_layout_get_route() returns them
 * @i: odd: where the curve begins
 * @c1: (out): control point next to its beginning
 * @c2: (out): control point next to its end
 *
 * Tangents are vertical, of half the distance but 14 … 60 px, and never past the other end: the curve stays between the two
 * heights. Where the line turns back it goes that far beyond them.
 */
void
vn_route_controls (const VnPoint *points,
                   guint          n_points,
                   guint          i,
                   VnPoint       *c1,
                   VnPoint       *c2)
{
  VnPoint from, to;
  double dy, reach;

  g_return_if_fail (points != NULL && i % 2 == 1 && i + 1 < n_points && c1 != NULL && c2 != NULL);

  from = points[i];
  to = points[i + 1];
  if (vn_route_turns (points, n_points, i))
    {
      reach = MIN (14 + fabs (to.x - from.x) / 10, VN_ROUTE_TURN);
      *c1 = (VnPoint) { from.x, from.y + (from.y < points[i - 1].y ? -reach : reach) };
      *c2 = (VnPoint) { to.x, to.y + (from.y < points[i - 1].y ? -reach : reach) };
      return;
    }
  dy = to.y - from.y;
  reach = CLAMP (hypot (to.x - from.x, dy) / 2, 14, 60);
  reach = MIN (reach, MAX (dy, 0));
  *c1 = (VnPoint) { from.x, from.y + reach };
  *c2 = (VnPoint) { to.x, to.y - reach };
}

static VnRect
graph_index_span (VnPoint a,
                  VnPoint b)
{
  return (VnRect) { MIN (a.x, b.x), MIN (a.y, b.y), fabs (a.x - b.x), fabs (a.y - b.y) };
}

static void
graph_index_fill_table (const VnGraphIndex *self,
                        Table              *table,
                        GArray             *entries)
{
  guint n_cells = self->columns * self->rows;
  g_autofree guint *fill = g_new0 (guint, n_cells + 1);

  table->first = g_new0 (guint, n_cells + 1);
  table->items = g_new0 (guint, entries->len + 1);
  for (guint i = 0; i < entries->len; i++)
    table->first[g_array_index (entries, Entry, i).cell + 1]++;
  for (guint i = 0; i < n_cells; i++)
    table->first[i + 1] += table->first[i];
  for (guint i = 0; i < entries->len; i++)
    {
      Entry entry = g_array_index (entries, Entry, i);

      table->items[table->first[entry.cell] + fill[entry.cell]++] = entry.item;
    }
}

static void
index_nodes (VnGraphIndex *self)
{
  g_autoptr(GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));

  for (guint i = 0; i < vn_graph_layout_get_n_nodes (self->layout); i++)
    graph_index_add_entries (self, entries, *vn_graph_layout_get_box (self->layout, i), i);
  graph_index_fill_table (self, &self->nodes, entries);
}

static void
index_edges (VnGraphIndex *self)
{
  g_autoptr(GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));

  for (guint i = 0; i < vn_graph_layout_get_n_edges (self->layout); i++)
    {
      guint n;
      const VnPoint *points = vn_graph_layout_get_route (self->layout, i, &n, NULL);

      for (guint k = 0; k + 1 < n; k++)
        {
          VnRect span = graph_index_span (points[k], points[k + 1]);

          if (k % 2 == 1 && vn_route_turns (points, n, k))
            span = (VnRect) { span.x, span.y - VN_ROUTE_TURN, span.width, span.height + 2 * VN_ROUTE_TURN };
          graph_index_add_entries (self, entries, span, i);
        }
    }
  graph_index_fill_table (self, &self->edges, entries);
}

static void
index_stubs (VnGraphIndex *self)
{
  g_autoptr(GArray) entries = g_array_new (FALSE, FALSE, sizeof (Entry));

  for (guint i = 0; i < vn_graph_layout_get_n_stubs (self->layout); i++)
    {
      const VnGraphLayoutStub *stub = vn_graph_layout_get_stub (self->layout, i);

      graph_index_add_entries (self, entries, stub->box, i);
      graph_index_add_entries (self, entries, graph_index_span (stub->route[0], stub->route[3]), i);
    }
  graph_index_fill_table (self, &self->stubs, entries);
}

/**
 * vn_graph_index_new:
 *
 * Returns: (transfer full): the index of @layout, of which it takes a reference
 */
VnGraphIndex *
vn_graph_index_new (VnGraphLayout *layout)
{
  VnGraphIndex *self = g_new0 (VnGraphIndex, 1);

  g_return_val_if_fail (layout != NULL, NULL);

  self->layout = vn_graph_layout_ref (layout);
  self->bounds = vn_graph_layout_get_bounds (layout);
  self->cell = CELL;
  while ((self->bounds.width / self->cell + 1) * (self->bounds.height / self->cell + 1) > MAX_CELLS)
    self->cell *= 2;
  self->columns = (guint) (self->bounds.width / self->cell) + 1;
  self->rows = (guint) (self->bounds.height / self->cell) + 1;
  index_nodes (self);
  index_edges (self);
  index_stubs (self);
  return self;
}

static void
graph_index_table_clear (Table *table)
{
  g_free (table->first);
  g_free (table->items);
}

/**
 * vn_graph_index_free:
 *
 * Frees the index.
 */
void
vn_graph_index_free (VnGraphIndex *self)
{
  if (self == NULL)
    return;

  graph_index_table_clear (&self->nodes);
  graph_index_table_clear (&self->edges);
  graph_index_table_clear (&self->stubs);
  vn_graph_layout_unref (self->layout);
  g_free (self);
}

static int
graph_index_compare_guint (gconstpointer a,
                           gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

/* Items of all cells that the area meets, ascending, each once. */
static void
graph_index_collect (const VnGraphIndex *self,
                     const Table        *table,
                     VnRect              area,
                     GArray             *found)
{
  Cells cells = graph_index_cells_of (self, area);
  guint kept = 0;

  g_array_set_size (found, 0);
  if (!graph_index_rects_meet (&area, &self->bounds))
    return;

  for (guint y = cells.y0; y <= cells.y1; y++)
    for (guint x = cells.x0; x <= cells.x1; x++)
      {
        guint cell = y * self->columns + x;

        g_array_append_vals (found, table->items + table->first[cell],
                             table->first[cell + 1] - table->first[cell]);
      }
  if (found->len < 2)
    return;

  qsort (found->data, found->len, sizeof (guint), graph_index_compare_guint);
  for (guint i = 0; i < found->len; i++)
    {
      guint item = g_array_index (found, guint, i);

      if (kept == 0 || g_array_index (found, guint, kept - 1) != item)
        g_array_index (found, guint, kept++) = item;
    }
  g_array_set_size (found, kept);
}

/**
 * vn_graph_index_find_nodes:
 * @nodes: (element-type guint): replaced by the nodes whose boxes meet @area, ascending
 */
void
vn_graph_index_find_nodes (const VnGraphIndex *self,
                           VnRect              area,
                           GArray             *nodes)
{
  guint kept = 0;

  g_return_if_fail (self != NULL);

  graph_index_collect (self, &self->nodes, area, nodes);
  for (guint i = 0; i < nodes->len; i++)
    {
      guint node = g_array_index (nodes, guint, i);

      if (graph_index_rects_meet (vn_graph_layout_get_box (self->layout, node), &area))
        g_array_index (nodes, guint, kept++) = node;
    }
  g_array_set_size (nodes, kept);
}

/**
 * vn_graph_index_find_edges:
 * @edges: (element-type guint): replaced by the edges that may run through @area, ascending; some that pass
 *   close by are among them
 */
void
vn_graph_index_find_edges (const VnGraphIndex *self,
                           VnRect              area,
                           GArray             *edges)
{
  g_return_if_fail (self != NULL);

  graph_index_collect (self, &self->edges, area, edges);
}

/**
 * vn_graph_index_find_stubs:
 * @stubs: (element-type guint): replaced by the stubs that may be in @area, ascending
 */
void
vn_graph_index_find_stubs (const VnGraphIndex *self,
                           VnRect              area,
                           GArray             *stubs)
{
  g_return_if_fail (self != NULL);

  graph_index_collect (self, &self->stubs, area, stubs);
}

/**
 * vn_graph_index_node_at:
 *
 * Returns: the node under a point, or %VN_SCENE_NONE
 */
guint
vn_graph_index_node_at (const VnGraphIndex *self,
                        VnPoint             point)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  g_return_val_if_fail (self != NULL, 0);

  vn_graph_index_find_nodes (self, (VnRect) { point.x, point.y, 0, 0 }, nodes);
  return nodes->len > 0 ? g_array_index (nodes, guint, 0) : VN_SCENE_NONE;
}

static double
graph_index_distance_to_line (VnPoint a,
                              VnPoint b,
                              VnPoint p)
{
  double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;

  t = CLAMP (t, 0, 1);
  return hypot (p.x - a.x - t * dx, p.y - a.y - t * dy);
}

static double
graph_index_distance_to_curve (const VnPoint *points,
                               guint          n_points,
                               guint          start,
                               VnPoint        p)
{
  VnPoint a = points[start], b = points[start + 1], c1, c2, last = a;
  double least = G_MAXDOUBLE;

  if (a.x == b.x)
    return graph_index_distance_to_line (a, b, p);

  vn_route_controls (points, n_points, start, &c1, &c2);
  for (guint i = 1; i <= CURVE_STEPS; i++)
    {
      double t = i / (double) CURVE_STEPS, u = 1 - t;
      VnPoint at = {
        u * u * u * a.x + 3 * u * u * t * c1.x + 3 * u * t * t * c2.x + t * t * t * b.x,
        u * u * u * a.y + 3 * u * u * t * c1.y + 3 * u * t * t * c2.y + t * t * t * b.y,
      };

      least = MIN (least, graph_index_distance_to_line (last, at, p));
      last = at;
    }
  return least;
}

/**
 * vn_route_distance:
 * @points: as vn_graph_layout_get_route() returns them
 *
 * Returns: distance of @point from the route, %G_MAXDOUBLE for an empty one
 */
double
vn_route_distance (const VnPoint *points,
                   guint          n_points,
                   VnPoint        point)
{
  double least = G_MAXDOUBLE;

  g_return_val_if_fail (points != NULL || n_points == 0, G_MAXDOUBLE);

  for (guint i = 0; i + 1 < n_points; i++)
    {
      double distance = i % 2 == 0 ? graph_index_distance_to_line (points[i], points[i + 1], point)
                                   : graph_index_distance_to_curve (points, n_points, i, point);

      least = MIN (least, distance);
    }
  return least;
}

/**
 * vn_graph_index_edge_at:
 * @distance: how far from the line still counts, in world units
 *
 * Returns: the nearest edge, the one with the lower index where several share a lane, or %VN_SCENE_NONE
 */
guint
vn_graph_index_edge_at (const VnGraphIndex *self,
                        VnPoint             point,
                        double              distance)
{
  g_autoptr(GArray) edges = g_array_new (FALSE, FALSE, sizeof (guint));
  guint best = VN_SCENE_NONE;

  g_return_val_if_fail (self != NULL, 0);

  vn_graph_index_find_edges (self,
                             (VnRect) { point.x - distance, point.y - distance, 2 * distance,
                                        2 * distance }, edges);
  for (guint i = 0; i < edges->len; i++)
    {
      guint edge = g_array_index (edges, guint, i), n;
      const VnPoint *points = vn_graph_layout_get_route (self->layout, edge, &n, NULL);
      double away = vn_route_distance (points, n, point);

      if (away <= distance && (best == VN_SCENE_NONE || away < distance))
        {
          distance = away;
          best = edge;
        }
    }
  return best;
}

/**
 * vn_graph_index_stub_at:
 *
 * Returns: the stub whose pill is under a point, or %VN_SCENE_NONE
 */
guint
vn_graph_index_stub_at (const VnGraphIndex *self,
                        VnPoint             point)
{
  g_autoptr(GArray) stubs = g_array_new (FALSE, FALSE, sizeof (guint));
  VnRect at = { point.x, point.y, 0, 0 };

  g_return_val_if_fail (self != NULL, 0);

  graph_index_collect (self, &self->stubs, at, stubs);
  for (guint i = 0; i < stubs->len; i++)
    {
      guint stub = g_array_index (stubs, guint, i);

      if (graph_index_rects_meet (&vn_graph_layout_get_stub (self->layout, stub)->box, &at))
        return stub;
    }
  return VN_SCENE_NONE;
}
