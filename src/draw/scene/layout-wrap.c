/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A long layout folded into columns, that are read like those of a page. A line that goes on in the next column leaves its own at
 * the foot, runs up between both and enters the next one from above; a frame that goes on has its title there again. */
#include "layout-wrap.h"

#include <math.h>
#include <string.h>

#define BEGINS 2    /* points: so near to its own beginning an edge that leaves a column comes from its node, or from its lane */

/* A line that leaves a column: those that leave at one place share it. Drawn with the edge that comes there from further up, else
 * with the first. */
typedef struct { double exit, x; gboolean is_drawn; } Lane;

/**
 * Column:
 * @left, @right, @top, @bottom: of what is in it, in the layout as it was
 * @by: how far it is moved
 * @foot: where lines leave it, in the new layout
 * @n_open: frames in one another that go on in the next column
 * @lanes: of Lane, to the next column, from right to left by where they leave
 */
typedef struct
{
  double  left, right, top, bottom;
  VnPoint by;
  double  foot;
  guint   n_open;
  GArray *lanes;
} Column;

typedef struct
{
  const VnGraphLayout *from;
  VnGraphLayout       *to;
  WrapCuts             cuts;
  Column              *columns;
  guint               *nesting;     /* by frame: in how many that are cut as well it is; G_MAXUINT: it is not cut */
} Wrap;

/* ---- what is in a column ---- */

static void
wrap_grow (Column *column,
           VnRect  box)
{
  column->left = MIN (column->left, box.x);
  column->right = MAX (column->right, box.x + box.width);
  column->top = MIN (column->top, box.y);
  column->bottom = MAX (column->bottom, box.y + box.height);
}

static guint
wrap_column_of (const Wrap   *self,
                const VnRect *box)
{
  return vn_wrap_find_column (&self->cuts, box->y + box->height / 2);
}

static void
wrap_add_lane (Column  *column,
               double   exit,
               gboolean is_drawn)
{
  Lane lane = { .exit = exit, .is_drawn = is_drawn };

  for (guint i = 0; i < column->lanes->len; i++)
    if (g_array_index (column->lanes, Lane, i).exit == exit)
      {
        g_array_index (column->lanes, Lane, i).is_drawn |= is_drawn;
        return;
      }
  g_array_append_val (column->lanes, lane);
}

static int
wrap_compare_lanes (gconstpointer a,
                    gconstpointer b)
{
  const Lane *la = a, *lb = b;

  return (la->exit < lb->exit) - (la->exit > lb->exit);
}

static Lane *
wrap_find_lane (Column *column,
                double  exit)
{
  guint low = 0, high = column->lanes->len - 1;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (g_array_index (column->lanes, Lane, middle).exit <= exit)
        high = middle;
      else
        low = middle + 1;
    }
  return &g_array_index (column->lanes, Lane, low);
}

/* Where an edge leaves its columns, and where it passes what stands in them. */
static void
wrap_measure_route (Wrap  *self,
                    guint  edge)
{
  const VnPoint *points = &g_array_index (self->from->points, VnPoint, self->from->route_first[edge]);
  guint n = self->from->route_first[edge + 1] - self->from->route_first[edge], was = 0;

  for (guint i = 0; i < n; i++)
    {
      guint at = vn_wrap_find_column (&self->cuts, points[i].y);

      was = i > 0 ? was : at;
      self->columns[at].left = MIN (self->columns[at].left, points[i].x);
      self->columns[at].right = MAX (self->columns[at].right, points[i].x);
      for (guint k = was; k < at; k++)
        {
          double exit = k == was ? points[i - 1].x : points[i].x;

          self->columns[k].left = MIN (self->columns[k].left, exit);
          self->columns[k].right = MAX (self->columns[k].right, exit);
          wrap_add_lane (&self->columns[k], exit, i > self->from->own_start[edge] + BEGINS || k > was);
        }
      was = at;
    }
}

static gboolean
wrap_is_cut (const Wrap   *self,
             const VnRect *frame,
             guint        *first,
             guint        *last)
{
  *first = vn_wrap_find_column (&self->cuts, frame->y + 1);
  *last = vn_wrap_find_column (&self->cuts, frame->y + frame->height - 1);
  return *first != *last;
}

static gboolean
wrap_holds (const VnRect *frame,
            const VnRect *box)
{
  double x = box->x + box->width / 2, y = box->y + box->height / 2;

  return x >= frame->x && x <= frame->x + frame->width && y >= frame->y && y <= frame->y + frame->height;
}

/* Frames come outer ones first. */
static void
wrap_measure_frames (Wrap *self)
{
  const GArray *frames = self->from->frames;

  self->nesting = g_new (guint, frames->len + 1);
  for (guint i = 0; i < frames->len; i++)
    {
      const VnRect *box = &g_array_index (frames, VnGraphLayoutFrame, i).box;
      guint first, last;

      self->nesting[i] = G_MAXUINT;
      if (!wrap_is_cut (self, box, &first, &last))
        {
          wrap_grow (&self->columns[first], *box);
          continue;
        }
      self->nesting[i] = 0;
      for (guint k = 0; k < i; k++)
        if (self->nesting[k] != G_MAXUINT && wrap_holds (&g_array_index (frames, VnGraphLayoutFrame, k).box, box))
          self->nesting[i]++;
      for (guint k = first; k < last; k++)
        self->columns[k].n_open = MAX (self->columns[k].n_open, self->nesting[i] + 1);
      self->columns[first].top = MIN (self->columns[first].top, box->y);
      self->columns[last].bottom = MAX (self->columns[last].bottom, box->y + box->height);
    }
}

static void
wrap_measure (Wrap *self)
{
  const VnGraphLayout *from = self->from;

  for (guint i = 0; i < self->cuts.n_columns; i++)
    self->columns[i] = (Column) { .left = G_MAXDOUBLE, .right = -G_MAXDOUBLE, .top = G_MAXDOUBLE, .bottom = -G_MAXDOUBLE,
                                  .lanes = g_array_new (FALSE, FALSE, sizeof (Lane)) };
  for (guint i = 0; i < from->n_nodes; i++)
    wrap_grow (&self->columns[wrap_column_of (self, &from->boxes[i])], from->boxes[i]);
  for (guint i = 0; i < from->stubs->len; i++)
    {
      const VnRect *box = &g_array_index (from->stubs, VnGraphLayoutStub, i).box;

      wrap_grow (&self->columns[wrap_column_of (self, box)], *box);
    }
  for (guint i = 0; i < from->n_edges; i++)
    wrap_measure_route (self, i);
  wrap_measure_frames (self);
}

/* ---- where columns go ---- */

/* The first column stays where it was. */
static void
wrap_place_columns (Wrap *self)
{
  double x = 0;

  for (guint i = 0; i < self->cuts.n_columns; i++)
    {
      Column *column = &self->columns[i];
      guint n_before = i > 0 ? self->columns[i - 1].n_open : 0;
      double margin = WRAP_MARGIN * MAX (column->n_open, n_before);

      column->by.x = i > 0 ? round (x + margin - column->left) : 0;
      column->by.y = round (self->from->bounds.y + n_before * WRAP_TITLE - column->top);
      column->foot = column->bottom + column->by.y + column->n_open * WRAP_MARGIN + WRAP_REACH;
      x = column->right + column->by.x + margin + WRAP_SIDE;
      g_array_sort (column->lanes, wrap_compare_lanes);
      for (guint k = 0; k < column->lanes->len; k++)
        {
          g_array_index (column->lanes, Lane, k).x = round (x);
          x += WRAP_LINE;
        }
      x += WRAP_SIDE - (column->lanes->len > 0 ? WRAP_LINE : 0);
    }
}

/* ---- what goes there ---- */

static VnRect
wrap_move (const Wrap *self,
           guint       column,
           VnRect      box)
{
  const VnPoint *by = &self->columns[column].by;

  return (VnRect) { box.x + by->x, box.y + by->y, box.width, box.height };
}

static void
wrap_add_point (Wrap  *self,
                double x,
                double y)
{
  VnPoint point = { x, y };

  g_array_append_val (self->to->points, point);
}

/* From column @at into the next: out at @exit, in at @entry. Returns: the point from which a line that shares this is drawn. */
static guint
wrap_pass (Wrap  *self,
           guint  at,
           double exit,
           double entry,
           Lane **lane)
{
  Column *column = &self->columns[at], *next = &self->columns[at + 1];
  double head = self->from->bounds.y - WRAP_REACH;

  *lane = wrap_find_lane (column, exit);
  wrap_add_point (self, exit + column->by.x, column->foot);
  wrap_add_point (self, (*lane)->x, column->foot);
  wrap_add_point (self, (*lane)->x, head);
  wrap_add_point (self, entry + next->by.x, head);
  return self->to->points->len - 2;
}

static void
wrap_route (Wrap  *self,
            guint  edge)
{
  const VnGraphLayout *from = self->from;
  const VnPoint *points = &g_array_index (from->points, VnPoint, from->route_first[edge]);
  guint n = from->route_first[edge + 1] - from->route_first[edge], own = from->own_start[edge];
  guint start = self->to->points->len, drawn_from = 0, was = 0;

  self->to->route_first[edge] = start;
  for (guint i = 0; i < n; i++)
    {
      guint at = vn_wrap_find_column (&self->cuts, points[i].y);

      was = i > 0 ? was : at;
      if (i % 2 == 0 && was < at)
        g_array_set_size (self->to->points, self->to->points->len - 1);   /* it leaves further down */
      for (guint k = was; k < at; k++)
        {
          double exit = k == was ? points[i - 1].x : points[i].x;
          Lane *lane;
          guint shared = wrap_pass (self, k, exit, points[i].x, &lane);

          if (i > own && i <= own + BEGINS && k == was && lane->is_drawn)
            drawn_from = shared - start;
          lane->is_drawn |= i > own;
        }
      if (i % 2 == 1 || was == at)
        wrap_add_point (self, points[i].x + self->columns[at].by.x, points[i].y + self->columns[at].by.y);
      if (i == own)
        drawn_from = self->to->points->len - 1 - start;
      was = at;
    }
  self->to->own_start[edge] = drawn_from;
}

static void
wrap_stubs (Wrap *self)
{
  for (guint i = 0; i < self->from->stubs->len; i++)
    {
      VnGraphLayoutStub stub = g_array_index (self->from->stubs, VnGraphLayoutStub, i);
      guint at = wrap_column_of (self, &stub.box);

      stub.box = wrap_move (self, at, stub.box);
      for (guint k = 0; k < G_N_ELEMENTS (stub.route); k++)
        {
          stub.route[k].x += self->columns[at].by.x;
          stub.route[k].y += self->columns[at].by.y;
        }
      g_array_append_val (self->to->stubs, stub);
    }
}

/* How far from side to side what a frame holds in a column reaches. */
static void
wrap_measure_piece (const Wrap   *self,
                    const VnRect *frame,
                    guint         at,
                    double       *left,
                    double       *right)
{
  const VnGraphLayout *from = self->from;

  *left = G_MAXDOUBLE;
  *right = -G_MAXDOUBLE;
  for (guint i = 0; i < from->n_nodes + from->frames->len; i++)
    {
      const VnRect *box = i < from->n_nodes ? &from->boxes[i]
                                            : &g_array_index (from->frames, VnGraphLayoutFrame, i - from->n_nodes).box;

      if ((i >= from->n_nodes && self->nesting[i - from->n_nodes] != G_MAXUINT) || wrap_column_of (self, box) != at ||
          !wrap_holds (frame, box))
        continue;
      *left = MIN (*left, box->x);
      *right = MAX (*right, box->x + box->width);
    }
  for (guint i = 0; i < from->points->len; i++)
    {
      const VnPoint *point = &g_array_index (from->points, VnPoint, i);

      if (point->x < frame->x || point->x > frame->x + frame->width || point->y < frame->y ||
          point->y > frame->y + frame->height || vn_wrap_find_column (&self->cuts, point->y) != at)
        continue;
      *left = MIN (*left, point->x);
      *right = MAX (*right, point->x);
    }
  if (*left > *right)
    *left = *right = frame->x + frame->width / 2;
}

static void
wrap_frame (Wrap  *self,
            guint  i)
{
  const VnGraphLayoutFrame *frame = &g_array_index (self->from->frames, VnGraphLayoutFrame, i);
  guint first, last, depth = self->nesting[i];

  if (!wrap_is_cut (self, &frame->box, &first, &last))
    {
      VnGraphLayoutFrame moved = *frame;

      moved.box = wrap_move (self, first, frame->box);
      moved.anchor.x += self->columns[first].by.x;
      moved.anchor.y += self->columns[first].by.y;
      g_array_append_val (self->to->frames, moved);
      return;
    }
  for (guint at = first; at <= last; at++)
    {
      const Column *column = &self->columns[at];
      guint n_before = at > first ? self->columns[at - 1].n_open : 0;
      double left, right, margin = WRAP_MARGIN * (MAX (MAX (column->n_open, n_before), depth + 1) - depth), least;
      double top = frame->box.y + column->by.y, bottom = top + frame->box.height;
      VnGraphLayoutFrame piece = *frame;

      if (at > first)
        top = self->from->bounds.y + depth * WRAP_TITLE;
      if (at < last)
        bottom = column->foot - WRAP_REACH - depth * WRAP_MARGIN;
      wrap_measure_piece (self, &frame->box, at, &left, &right);
      least = MAX (5 * WRAP_TITLE - (right - left) - 2 * margin, 0) / 2;
      piece.box = (VnRect) { left - margin - least + column->by.x, top, right - left + 2 * (margin + least), bottom - top };
      piece.anchor = (VnPoint) { frame->anchor.x + self->columns[first].by.x, frame->box.y + self->columns[first].by.y };
      g_array_append_val (self->to->frames, piece);
    }
}

static void
wrap_measure_bounds (Wrap *self)
{
  VnGraphLayout *to = self->to;
  double left = G_MAXDOUBLE, right = -G_MAXDOUBLE, bottom = -G_MAXDOUBLE;

  for (guint i = 0; i < self->cuts.n_columns; i++)
    {
      const Column *column = &self->columns[i];
      double margin = WRAP_MARGIN * MAX (column->n_open, i > 0 ? self->columns[i - 1].n_open : 0);

      left = MIN (left, column->left + column->by.x - margin);
      right = MAX (right, column->right + column->by.x + margin);
      bottom = MAX (bottom, column->foot + (column->lanes->len > 0 ? WRAP_BEND : -WRAP_REACH));
    }
  to->bounds.x = left;
  to->bounds.y = self->from->bounds.y - WRAP_REACH - WRAP_BEND;
  to->bounds.width = right - left;
  to->bounds.height = bottom - to->bounds.y;
}

/**
 * vn_graph_layout_wrap:
 * @page: width by height of the page that is to be filled; 0: the layout stays as it is
 *
 * Folds a layout that is too long to be read as a whole into columns.
 *
 * Returns: (transfer full): the same boxes, lines and frames in columns from left to right, each from top to bottom; @self if it
 *   is better as it is. A frame that is in several columns comes once for each, with the first one's anchor.
 */
VnGraphLayout *
vn_graph_layout_wrap (VnGraphLayout *self,
                      double         page)
{
  Wrap wrap = { .from = self };

  g_return_val_if_fail (self != NULL && page >= 0, NULL);

  if (page == 0 || !vn_wrap_find_cuts (self, page, &wrap.cuts))
    return vn_graph_layout_ref (self);
  wrap.columns = g_new0 (Column, wrap.cuts.n_columns);
  wrap_measure (&wrap);
  wrap_place_columns (&wrap);
  wrap.to = vn_graph_layout_alloc (self->n_nodes, self->n_edges);
  wrap.to->n_ranks = self->n_ranks;
  wrap.to->crossings = self->crossings;
  memcpy (wrap.to->ranks, self->ranks, sizeof (guint) * self->n_nodes);
  for (guint i = 0; i < self->n_nodes; i++)
    wrap.to->boxes[i] = wrap_move (&wrap, wrap_column_of (&wrap, &self->boxes[i]), self->boxes[i]);
  for (guint i = 0; i < self->n_edges; i++)
    wrap_route (&wrap, i);
  wrap.to->route_first[self->n_edges] = wrap.to->points->len;
  wrap_stubs (&wrap);
  for (guint i = 0; i < self->frames->len; i++)
    wrap_frame (&wrap, i);
  wrap_measure_bounds (&wrap);
  for (guint i = 0; i < wrap.cuts.n_columns; i++)
    g_array_unref (wrap.columns[i].lanes);
  g_free (wrap.columns);
  g_free (wrap.nesting);
  g_free (wrap.cuts.cuts);
  return wrap.to;
}
