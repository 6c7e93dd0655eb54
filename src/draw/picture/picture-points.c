/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A chart of points on two axes: error along the network, and what a smaller error costs. */
#include "vn-picture-private.h"

#include <math.h>

#define HEIGHT 170.0
#define LEFT    44.0
#define RIGHT   12.0
#define TOP     22.0
#define BOTTOM  34.0
#define SMALL   10.0      /* of text */

typedef struct
{
  VnPicturePoint point;
  char          *title;
  guint          index;      /* in what was given */
} Point;

typedef struct
{
  VnPicture picture;
  char     *x_title, *y_title, *top, *x_first, *x_last;
  double   *lines;
  guint     n_lines;
  gboolean  is_joined, x_hidden, shades_last, y_falls;
  GArray   *points;          /* of Point */
  double    x_low, x_high, y_low, y_high, height;
} Points;

/* Where what is drawn. */
typedef struct
{
  const Points *self;
  VnPen        *pen;
  double        width;
} Chart;

static double
points_x (const Chart *chart,
          double       x)
{
  return LEFT + (x - chart->self->x_low) / (chart->self->x_high - chart->self->x_low) * (chart->width - LEFT - RIGHT);
}

static double
points_y (const Chart *chart,
          double       y)
{
  if (isinf (y))
    return TOP;
  return chart->self->height - BOTTOM - (y - chart->self->y_low) / (chart->self->y_high
                                                                    - chart->self->y_low) * (chart->self->height - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, for about @n of them. */
static double
points_step (double low,
             double high,
             guint  n)
{
  const double raw = (high - low) / n, power = pow (10, floor (log10 (raw)));

  return raw <= power ? power : raw <= 2 * power ? 2 * power : raw <= 5 * power ? 5 * power : 10 * power;
}

static void
points_write_number (const Chart *chart,
                     double       x,
                     double       y,
                     VnAnchor     anchor,
                     double       number)
{
  char text[32];

  g_snprintf (text, sizeof text, "%s%.4g", number < 0 ? "\u2212" : "", fabs (number));
  vn_pen_text (chart->pen, x, y, (VnFont) { SMALL, FALSE, anchor }, VN_INK (0.65), text);
}

/* What points at the upper edge are, beside the first of them. */
static void
points_draw_top (const Chart *chart)
{
  for (guint i = 0; chart->self->top != NULL && i < chart->self->points->len; i++)
    {
      const VnPicturePoint *at = &g_array_index (chart->self->points, Point, i).point;
      const double x = points_x (chart, at->x);

      if (!isinf (at->y))
        continue;
      vn_pen_text (chart->pen, x + (x > chart->width / 2 ? 4 : -4), TOP - 8,
                   (VnFont) { SMALL, FALSE, x > chart->width / 2 ? VN_ANCHOR_END : VN_ANCHOR_START }, VN_INK (0.65),
                   chart->self->top);
      return;
    }
}

/* Below the last line. */
static void
points_draw_ground (const Chart *chart)
{
  const VnStroke ground = { .fill = VN_INK (0.05) };
  const Points *self = chart->self;
  double top;

  if (!self->shades_last || self->n_lines == 0)
    return;
  top = points_y (chart, self->lines[self->n_lines - 1]);
  vn_pen_rect (chart->pen, LEFT, top, chart->width - RIGHT - LEFT, self->height - BOTTOM - top, 0, &ground);
}

static void
points_write_ends (const Chart *chart)
{
  const Points *self = chart->self;
  const double y = self->height - BOTTOM + 14;

  if (self->x_first != NULL)
    vn_pen_text (chart->pen, LEFT, y, (VnFont) { SMALL, FALSE, VN_ANCHOR_START }, VN_INK (0.65), self->x_first);
  if (self->x_last != NULL)
    vn_pen_text (chart->pen, chart->width - RIGHT, y, (VnFont) { SMALL, FALSE, VN_ANCHOR_END }, VN_INK (0.65), self->x_last);
}

static void
points_draw_height (const Chart *chart,
                    double       y,
                    double       number)
{
  const VnStroke grid = { .line = VN_INK (0.16), .width = 1 };

  vn_pen_move (chart->pen, LEFT, points_y (chart, y));
  vn_pen_line (chart->pen, chart->width - RIGHT, points_y (chart, y));
  vn_pen_paint (chart->pen, &grid);
  points_write_number (chart, LEFT - 6, points_y (chart, y) + 3.5, VN_ANCHOR_END, number);
}

/* 1, 2 and 5 times powers of ten; these alone where there are many. */
static void
points_draw_falling_heights (const Chart *chart)
{
  static const double parts[] = { 1, 2, 5 };
  const Points *self = chart->self;
  const guint n = self->y_high - self->y_low > 2 ? 1 : G_N_ELEMENTS (parts);

  for (double power = floor (-self->y_high); power <= -self->y_low; power++)
    for (guint i = 0; i < n; i++)
      {
        const double number = parts[i] * pow (10, power), y = -log10 (number);

        if (y >= self->y_low && y <= self->y_high)
          points_draw_height (chart, y, number);
      }
}

static void
points_draw_heights (const Chart *chart)
{
  const Points *self = chart->self;
  const double step = points_step (self->y_low, self->y_high, 5);

  for (double y = ceil (self->y_low / step) * step; y <= self->y_high + step / 1e6; y += step)
    points_draw_height (chart, y, fabs (y) < step / 1e6 ? 0 : y);
}

static void
points_draw_axes (const Chart *chart)
{
  static const double dash[] = { 3, 3 };
  const Points *self = chart->self;
  const VnStroke line = { .line = VN_INK (0.55), .width = 1, .dashes = dash, .n_dashes = 2 };
  const double x_step = points_step (self->x_low, self->x_high, 6);

  points_draw_ground (chart);
  (self->y_falls ? points_draw_falling_heights : points_draw_heights) (chart);
  for (double x = ceil (self->x_low / x_step) * x_step; !self->x_hidden && x <= self->x_high + x_step / 1e6; x += x_step)
    points_write_number (chart, points_x (chart, x), self->height - BOTTOM + 14, VN_ANCHOR_MIDDLE, fabs (x) < x_step / 1e6
                         ? 0 : x);
  for (guint i = 0; i < self->n_lines; i++)
    {
      vn_pen_move (chart->pen, LEFT, points_y (chart, self->lines[i]));
      vn_pen_line (chart->pen, chart->width - RIGHT, points_y (chart, self->lines[i]));
      vn_pen_paint (chart->pen, &line);
    }
  points_draw_top (chart);
  points_write_ends (chart);
  vn_pen_text (chart->pen, 0, SMALL + 1, (VnFont) { SMALL, FALSE, VN_ANCHOR_START }, VN_INK (0.65), self->y_title);
  vn_pen_text (chart->pen, (LEFT + chart->width - RIGHT) / 2, self->height - 4, (VnFont) { SMALL, FALSE, VN_ANCHOR_MIDDLE },
               VN_INK (0.65),
               self->x_title);
}

static double
points_get_height (VnPicture *picture,
                   double     width)
{
  return ((const Points *) picture)->height;
}

static void
points_draw_point (const Chart *chart,
                   const Point *point)
{
  const VnPicturePoint *at = &point->point;
  const VnShade filled = at->t < 0 ? VN_SHADE (ACCENT, 1) : VN_SHADE_AT (ERROR, at->t);
  const VnStroke stroke = { .fill = at->is_hollow ? VN_SHADE (CANVAS, 1) : filled, .line = VN_INK (at->is_marked ? 1 : 0.55),
                            .width = at->is_marked ? 1.8 : 1 };
  const double radius = at->is_marked ? 4.2 : 3;

  if (point->title != NULL)
    vn_pen_begin (chart->pen, NULL, point->title);
  if (at->is_square)
    vn_pen_rect (chart->pen, points_x (chart, at->x) - radius, points_y (chart, at->y) - radius, 2 * radius, 2 * radius, 0,
                 &stroke);
  else
    vn_pen_circle (chart->pen, points_x (chart, at->x), points_y (chart, at->y), radius, &stroke);
  if (point->title != NULL)
    vn_pen_end (chart->pen);
}

static void
points_draw (VnPicture *picture,
             VnPen     *pen,
             double     width)
{
  const Points *self = (const Points *) picture;
  const Chart chart = { self, pen, width };
  const VnStroke join = { .line = VN_INK (0.4), .width = 1.2 };

  points_draw_axes (&chart);
  for (guint i = 0; self->is_joined && i < self->points->len; i++)
    {
      const VnPicturePoint *at = &g_array_index (self->points, Point, i).point;

      (i == 0 ? vn_pen_move : vn_pen_line) (pen, points_x (&chart, at->x), points_y (&chart, at->y));
    }
  if (self->is_joined && self->points->len > 1)
    vn_pen_paint (pen, &join);
  for (guint i = 0; i < self->points->len; i++)
    points_draw_point (&chart, &g_array_index (self->points, Point, i));
}

static void
points_free (VnPicture *picture)
{
  Points *self = (Points *) picture;

  g_free (self->x_title);
  g_free (self->y_title);
  g_free (self->top);
  g_free (self->x_first);
  g_free (self->x_last);
  g_free (self->lines);
  g_array_unref (self->points);
}

static const VnPictureKind kind = { FALSE, points_get_height, points_draw, points_free };

static void
points_clear_point (gpointer point)
{
  g_free (((Point *) point)->title);
}

/* Names may be of any length. */
static char *
points_dup_title (const char *title)
{
  g_autofree char *clean = title != NULL ? vn_pen_dup_clean (title) : NULL;

  return clean != NULL ? vn_pen_shorten (clean, 1, FALSE, 60) : NULL;
}

static void
points_widen (double *low,
              double *high,
              double  value)
{
  if (!isfinite (value))
    return;
  *low = MIN (*low, value);
  *high = MAX (*high, value);
}

/* More room where all lie in a line. */
static void
points_open (double *low,
             double *high,
             double  least)
{
  const double middle = isfinite (*low) ? *low : 0;

  if (*high > *low)
    return;
  *low = middle - MAX (fabs (middle) * 0.1, least);
  *high = middle + MAX (fabs (middle) * 0.1, least);
}

/* Room for all points and lines. */
static void
points_find_span (Points *self)
{
  gboolean any_above = FALSE;

  self->x_low = self->y_low = INFINITY;
  self->x_high = self->y_high = -INFINITY;
  for (guint i = 0; i < self->points->len; i++)
    {
      const VnPicturePoint *at = &g_array_index (self->points, Point, i).point;

      points_widen (&self->x_low, &self->x_high, at->x);
      points_widen (&self->y_low, &self->y_high, at->y);
      any_above = any_above || isinf (at->y);
    }
  for (guint i = 0; i < self->n_lines; i++)
    points_widen (&self->y_low, &self->y_high, self->lines[i]);
  points_open (&self->x_low, &self->x_high, 0.5);
  points_open (&self->y_low, &self->y_high, 1);
  self->x_low -= 0.02 * (self->x_high - self->x_low);
  self->x_high += 0.02 * (self->x_high - self->x_low);
  self->y_low -= 0.06 * (self->y_high - self->y_low);
  self->y_high += (any_above ? 0.2 : 0.06) * (self->y_high - self->y_low);
}

/**
 * vn_picture_new_points:
 * @points: (array length=n_points): copied, drawn in this order
 *
 * Returns: (transfer full): a chart of points
 */
VnPicture *
vn_picture_new_points (const VnPictureAxes  *axes,
                       const VnPicturePoint *points,
                       guint                 n_points)
{
  Points *self;

  g_return_val_if_fail (axes != NULL && (points != NULL || n_points == 0), NULL);

  self = _vn_picture_alloc (&kind, sizeof *self);
  self->x_title = g_strdup (axes->x_title);
  self->y_title = g_strdup (axes->y_title);
  self->top = g_strdup (axes->top);
  self->lines = g_memdup2 (axes->lines, axes->n_lines * sizeof *axes->lines);
  self->n_lines = axes->n_lines;
  self->is_joined = axes->is_joined;
  self->x_hidden = axes->x_hidden;
  self->x_first = g_strdup (axes->x_first);
  self->x_last = g_strdup (axes->x_last);
  self->shades_last = axes->shades_last;
  self->y_falls = axes->y_falls;
  self->height = axes->height > 0 ? axes->height : HEIGHT;
  self->points = g_array_new (FALSE, FALSE, sizeof (Point));
  g_array_set_clear_func (self->points, points_clear_point);
  for (guint i = 0; i < n_points; i++)
    {
      Point point = { points[i], points_dup_title (points[i].title), i };

      if (isfinite (points[i].x) && (isfinite (points[i].y) || points[i].y > 0))
        g_array_append_val (self->points, point);
      else
        points_clear_point (&point);
    }
  points_find_span (self);
  return &self->picture;
}

/**
 * vn_picture_locate_point:
 * @self: of vn_picture_new_points() or vn_picture_new_curve()
 * @i: index of a point in what was given
 * @width: that it is drawn at
 * @x, @y: (out): where the middle of the point is then; untouched if there is none
 *
 * Returns: whether it is drawn
 */
gboolean
vn_picture_locate_point (VnPicture *self,
                         guint      i,
                         double     width,
                         double    *x,
                         double    *y)
{
  const Points *points = (const Points *) self;

  g_return_val_if_fail (self != NULL && self->kind == &kind && x != NULL && y != NULL, FALSE);

  for (guint k = 0; k < points->points->len; k++)
    {
      const Point *point = &g_array_index (points->points, Point, k);
      const Chart chart = { points, NULL, width };

      if (point->index != i)
        continue;
      *x = points_x (&chart, point->point.x);
      *y = points_y (&chart, point->point.y);
      return TRUE;
    }
  return FALSE;
}
