/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a layout is cut into columns: between ranks, where few lines pass and few frames are open, so that the columns are much
 * of one height and the page shows all of them as large as it can. */
#include "layout-wrap.h"

#include <math.h>
#include <stdlib.h>

#define PAGE_HEIGHT  800.    /* pixels: how large a network would be seen decides whether it is cut at all */
#define READABLE       0.6
#define LEAST_GAIN     1.3   /* in size, else one column is better */
#define MOST_TRIES    24
#define SHORTEST       0.6   /* column, of what was wanted */
#define LONGEST        1.2
#define LINE_COST      0.04  /* of a line that is cut, where a column that is empty costs 1 */
#define FRAME_COST     0.06

typedef struct { double from, to; } Span;

/**
 * Band: what stands between two gaps.
 * @left, @right: what it reaches to, lines as well
 * @gap: the height in the middle of the gap below it
 * @n_lines, @n_frames: that pass that gap
 */
typedef struct
{
  double top, bottom, left, right, gap;
  int    n_lines, n_frames;
} Band;

static int
wrap_compare_spans (gconstpointer a,
                    gconstpointer b)
{
  const Span *sa = a, *sb = b;

  if (sa->from != sb->from)
    return sa->from < sb->from ? -1 : 1;
  return (sa->to > sb->to) - (sa->to < sb->to);
}

/* Heights that are not to be cut: boxes, stubs with the line to their node, titles and lower borders of frames. */
static GArray *
wrap_list_spans (const VnGraphLayout *layout)
{
  GArray *spans = g_array_new (FALSE, FALSE, sizeof (Span));

  for (guint i = 0; i < layout->n_nodes; i++)
    {
      Span span = { layout->boxes[i].y, layout->boxes[i].y + layout->boxes[i].height };

      g_array_append_val (spans, span);
    }
  for (guint i = 0; i < layout->stubs->len; i++)
    {
      const VnGraphLayoutStub *stub = &g_array_index (layout->stubs, VnGraphLayoutStub, i);
      Span span = { MIN (stub->box.y, stub->route[0].y), MAX (stub->box.y + stub->box.height, stub->route[3].y) };

      g_array_append_val (spans, span);
    }
  for (guint i = 0; i < layout->frames->len; i++)
    {
      const VnRect *box = &g_array_index (layout->frames, VnGraphLayoutFrame, i).box;
      Span title = { box->y - 1, box->y + WRAP_TITLE }, foot = { box->y + box->height - WRAP_MARGIN, box->y + box->height + 1 };

      g_array_append_val (spans, title);
      g_array_append_val (spans, foot);
    }
  g_array_sort (spans, wrap_compare_spans);
  return spans;
}

static GArray *
wrap_make_bands (const VnGraphLayout *layout)
{
  g_autoptr(GArray) spans = wrap_list_spans (layout);
  GArray *bands = g_array_new (FALSE, TRUE, sizeof (Band));
  Band band = { .left = G_MAXDOUBLE, .right = -G_MAXDOUBLE };

  for (guint i = 0; i < spans->len; i++)
    {
      const Span *span = &g_array_index (spans, Span, i);

      if (i > 0 && span->from > band.bottom + 1)
        {
          band.gap = (band.bottom + span->from) / 2;
          g_array_append_val (bands, band);
          band.top = span->from;
          band.bottom = span->to;
          continue;
        }
      band.top = i > 0 ? band.top : span->from;
      band.bottom = i > 0 ? MAX (band.bottom, span->to) : span->to;
    }
  band.gap = G_MAXDOUBLE;
  g_array_append_val (bands, band);
  return bands;
}

/* The band at a height, or above it if that is in a gap. */
static guint
wrap_find_band (const GArray *bands,
                double        y)
{
  guint low = 0, high = bands->len - 1;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (y <= g_array_index (bands, Band, middle).gap)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

static void
wrap_widen (GArray *bands,
            double  from,
            double  to,
            double  left,
            double  right)
{
  guint last = wrap_find_band (bands, to);

  for (guint i = wrap_find_band (bands, from); i <= last; i++)
    {
      Band *band = &g_array_index (bands, Band, i);

      band->left = MIN (band->left, left);
      band->right = MAX (band->right, right);
    }
}

static void
wrap_measure_widths (const VnGraphLayout *layout,
                     GArray              *bands)
{
  for (guint i = 0; i < layout->n_nodes; i++)
    {
      const VnRect *box = &layout->boxes[i];

      wrap_widen (bands, box->y, box->y, box->x, box->x + box->width);
    }
  for (guint i = 0; i < layout->stubs->len; i++)
    {
      const VnRect *box = &g_array_index (layout->stubs, VnGraphLayoutStub, i).box;

      wrap_widen (bands, box->y, box->y, box->x, box->x + box->width);
    }
  for (guint i = 0; i < layout->n_edges; i++)
    for (guint k = layout->route_first[i] + layout->own_start[i] / 2 * 2; k + 1 < layout->route_first[i + 1]; k += 2)
      {
        const VnPoint *points = &g_array_index (layout->points, VnPoint, k);

        wrap_widen (bands, points[0].y, points[1].y, points[0].x, points[0].x);
      }
}

/* Lines are counted where they are drawn: those that share a lane once. */
static void
wrap_count (const VnGraphLayout *layout,
            GArray              *bands)
{
  for (guint i = 0; i < layout->n_edges; i++)
    {
      guint first = layout->route_first[i], end = layout->route_first[i + 1];

      if (first == end)
        continue;
      g_array_index (bands, Band,
                     wrap_find_band (bands, g_array_index (layout->points, VnPoint, first + layout->own_start[i]).y)).n_lines++;
      g_array_index (bands, Band, wrap_find_band (bands, g_array_index (layout->points, VnPoint, end - 1).y)).n_lines--;
    }
  for (guint i = 0; i < layout->frames->len; i++)
    {
      const VnRect *box = &g_array_index (layout->frames, VnGraphLayoutFrame, i).box;

      g_array_index (bands, Band, wrap_find_band (bands, box->y + 1)).n_frames++;
      g_array_index (bands, Band, wrap_find_band (bands, box->y + box->height - 1)).n_frames--;
    }
  for (guint i = 1; i < bands->len; i++)
    {
      g_array_index (bands, Band, i).n_lines += g_array_index (bands, Band, i - 1).n_lines;
      g_array_index (bands, Band, i).n_frames += g_array_index (bands, Band, i - 1).n_frames;
    }
}

/* The best last band of the column that begins with @first and should be @height high. */
static guint
wrap_end_column (const GArray *bands,
                 guint         first,
                 double        height)
{
  double top = g_array_index (bands, Band, first).top, least = G_MAXDOUBLE;
  guint best = first;

  for (guint i = first; i + 1 < bands->len; i++)
    {
      const Band *band = &g_array_index (bands, Band, i);
      double share = (band->bottom - top) / height, off = share - 1, cost;

      if (share > LONGEST && i > first)
        break;
      cost = off * off * 4 + LINE_COST * band->n_lines + FRAME_COST * band->n_frames;
      if (i > first && share < SHORTEST)
        cost += 10 * (SHORTEST - share);
      if (cost < least || i == first)
        {
          least = cost;
          best = i;
        }
    }
  return best;
}

/* How large the page shows what is cut into columns of about that height; fills in where the columns end. */
static double
wrap_try (const GArray *bands,
          double        height,
          double        page,
          GArray       *ends)
{
  double width = 0, highest = 0;
  guint first = 0;

  g_array_set_size (ends, 0);
  while (first < bands->len)
    {
      guint last = bands->len - 1;
      double left = G_MAXDOUBLE, right = -G_MAXDOUBLE, top = g_array_index (bands, Band, first).top, tall;
      const Band *end;

      if (g_array_index (bands, Band, last).bottom - top > height * LONGEST)
        last = wrap_end_column (bands, first, height);
      end = &g_array_index (bands, Band, last);
      for (guint i = first; i <= last; i++)
        {
          left = MIN (left, g_array_index (bands, Band, i).left);
          right = MAX (right, g_array_index (bands, Band, i).right);
        }
      tall = end->bottom - top + end->n_frames * (WRAP_TITLE + WRAP_MARGIN);
      highest = MAX (highest, tall);
      width += MAX (right - left, 0) + 2 * end->n_frames * WRAP_MARGIN;
      if (last + 1 < bands->len)
        width += 2 * WRAP_SIDE + MAX (end->n_lines - 1, 0) * WRAP_LINE;
      g_array_append_val (ends, last);
      first = last + 1;
    }
  if (ends->len > 1)
    highest += 2 * WRAP_BEND;
  return MIN (1, MIN (page * PAGE_HEIGHT / MAX (width, 1), PAGE_HEIGHT / MAX (highest, 1)));
}

/* The number of columns that would fill the page if all were as wide as the bands are on average. */
static double
wrap_guess (const GArray *bands,
            double        page)
{
  const Band *last = &g_array_index (bands, Band, bands->len - 1);
  double height = last->bottom - g_array_index (bands, Band, 0).top, width = 0;

  for (guint i = 0; i < bands->len; i++)
    {
      const Band *band = &g_array_index (bands, Band, i);

      width += MAX (band->right - band->left, 0) * (band->bottom - band->top) / height;
    }
  return sqrt (page * height / (width + 2 * WRAP_SIDE + WRAP_LINE));
}

/**
 * vn_wrap_find_cuts:
 * @page: width of the page by its height
 * @cuts: (out): where to cut; its cuts are freed by the caller
 *
 * Returns: %FALSE if the layout is better left as it is
 */
gboolean
vn_wrap_find_cuts (const VnGraphLayout *layout,
                   double               page,
                   WrapCuts            *cuts)
{
  double plain, most, guess, height;
  g_autoptr(GArray) bands = NULL, ends = g_array_new (FALSE, FALSE, sizeof (guint)), best = NULL;

  g_return_val_if_fail (layout != NULL && page > 0 && cuts != NULL, FALSE);

  plain = MIN (page * PAGE_HEIGHT / MAX (layout->bounds.width, 1), PAGE_HEIGHT / MAX (layout->bounds.height, 1));
  most = plain * LEAST_GAIN;
  if (layout->n_nodes == 0 || plain >= READABLE)
    return FALSE;
  bands = wrap_make_bands (layout);
  if (bands->len < 2)
    return FALSE;
  wrap_measure_widths (layout, bands);
  wrap_count (layout, bands);
  guess = wrap_guess (bands, page);
  height = g_array_index (bands, Band, bands->len - 1).bottom - g_array_index (bands, Band, 0).top;
  for (guint i = 0; i < MOST_TRIES; i++)
    {
      double n = guess * (0.4 + 1.3 * i / (MOST_TRIES - 1)), zoom;

      if (n < 1.5)
        continue;
      zoom = wrap_try (bands, height / n, page, ends);
      if (ends->len < 2 || zoom <= most * 1.005)
        continue;
      most = zoom;
      g_clear_pointer (&best, g_array_unref);
      best = g_array_copy (ends);
    }
  if (best == NULL)
    return FALSE;
  cuts->n_columns = best->len;
  cuts->cuts = g_new (double, best->len);
  for (guint i = 0; i + 1 < best->len; i++)
    cuts->cuts[i] = g_array_index (bands, Band, g_array_index (best, guint, i)).gap;
  return TRUE;
}

/**
 * vn_wrap_find_column:
 *
 * Returns: the column that a height of the layout is in
 */
guint
vn_wrap_find_column (const WrapCuts *cuts,
                     double          y)
{
  guint low = 0, high;

  g_return_val_if_fail (cuts != NULL && cuts->n_columns > 0, 0);

  high = cuts->n_columns - 1;
  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (y <= cuts->cuts[middle])
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}
