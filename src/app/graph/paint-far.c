/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes from far: blocks on whole pixels, grouped by colour so that thousands cost few cairo calls. They
 * are drawn from good to bad: where several fall on the same pixels the worst one shows. */
#include "vn-graph-painter-private.h"

#include <math.h>
#include <string.h>

#define LEAST_HEIGHT    3.   /* in pixels: below, blocks sit on rows of that height */
#define OUTLINE_HEIGHT  4.5
#define BARE_SHADE      0.15 /* ink in the fill of blocks too low for an outline: white ones must be seen */
#define INNER_HEIGHT   12.
#define NAME_HEIGHT    10    /* in pixels: of blocks that have room for a name */
#define NAME_WIDTH     30
#define FAR_MARGIN      3

typedef struct
{
  int      key;       /* colour and order: larger is drawn later */
  int      x, y, width, height;
  VnColor  fill;
  guint8   precision, mark, family;
  const VnSceneNode *node;
  gboolean is_bad, is_excluded, has_outline;
} FarRect;

static int
paint_far_compare_rects (gconstpointer a,
                         gconstpointer b)
{
  const FarRect *ra = a, *rb = b;

  return ra->key - rb->key;
}

static FarRect
far_rect (Paint *paint,
          guint  node)
{
  Look look = vn_paint_look (paint, node);
  double zoom = paint->camera.zoom;
  double x = (look.box.x - paint->camera.origin.x) * zoom, y = (look.box.y - paint->camera.origin.y) * zoom;
  double width = look.box.width * zoom, height = look.box.height * zoom;
  FarRect rect = { .fill = look.fill, .is_bad = look.is_bad, .is_excluded = look.is_excluded };

  /* by the true height, not the rounded one: boxes of one size must look alike */
  rect.has_outline = height >= OUTLINE_HEIGHT;
  if (height < LEAST_HEIGHT)
    {
      y = floor (y / LEAST_HEIGHT) * LEAST_HEIGHT;
      height = LEAST_HEIGHT;
    }
  rect.x = (int) lround (x);
  rect.y = (int) lround (y);
  rect.width = MAX ((int) lround (x + width) - rect.x, 2);
  rect.height = MAX ((int) lround (y + height) - rect.y, 2);
  rect.precision = (guint8) look.node->precision;
  rect.mark = (guint8) look.mark;
  rect.family = (guint8) look.node->family;
  rect.node = look.node;
  if (look.item != NULL && look.item->measured && !look.is_excluded)
    rect.key = 3 + (look.item->is_nan ? 255 : (int) (CLAMP (fabs ((double) look.item->t), 0, 1) * 255))
               + (look.item->t < 0 ? 256 : 0);
  else
    rect.key = vn_scene_node_is_pill (look.node) ? 0 : look.is_excluded ? 2 : 1;
  if (look.is_bad)
    rect.key += 512;
  return rect;
}

static void
paint_far_add_rect (Paint         *paint,
                    const FarRect *rect,
                    int            grow)
{
  int width = rect->width + 2 * grow, height = rect->height + 2 * grow;

  if (width > 0 && height > 0)
    cairo_rectangle (paint->cr, rect->x - grow, rect->y - grow, width, height);
}

/* All rects of one colour: an outline block, then the fill one pixel smaller. */
static void
paint_plain (Paint         *paint,
             const FarRect *rects,
             guint          n)
{
  const VnGraphTheme *theme = &paint->self->theme;
  VnColor outline = vn_color_mix (rects[0].fill, theme->ink, vn_graph_theme_alpha (theme, 0.35));

  for (guint i = 0; i < n; i++)
    if (!rects[i].has_outline)
      paint_far_add_rect (paint, &rects[i], 0);
  vn_paint_set_color (paint, vn_color_mix (rects[0].fill, theme->ink, BARE_SHADE), 1);
  cairo_fill (paint->cr);
  for (guint i = 0; i < n; i++)
    if (rects[i].has_outline)
      paint_far_add_rect (paint, &rects[i], 0);
  vn_paint_set_color (paint, outline, 1);
  cairo_fill (paint->cr);
  for (guint i = 0; i < n; i++)
    if (rects[i].has_outline)
      paint_far_add_rect (paint, &rects[i], -1);
  vn_paint_set_color (paint, rects[0].fill, 1);
  cairo_fill (paint->cr);
}

static void
paint_bad (Paint         *paint,
           const FarRect *rects,
           guint          n)
{
  const VnGraphTheme *theme = &paint->self->theme;
  VnColor ring = vn_color_mix (theme->canvas, theme->ink, vn_graph_theme_alpha (theme, 0.8));

  for (guint i = 0; i < n; i++)
    paint_far_add_rect (paint, &rects[i], 2);
  vn_paint_set_color (paint, ring, 1);
  cairo_fill (paint->cr);
  for (guint i = 0; i < n; i++)
    paint_far_add_rect (paint, &rects[i], 1);
  vn_paint_set_color (paint, rects[0].fill, 1);
  cairo_fill (paint->cr);
}

/* The type stays visible by its color while there is room for it beside the fill. */
static void
paint_families (Paint         *paint,
                const FarRect *rects,
                guint          n)
{
  int width = (int) lround (FAMILY_EDGE * paint->camera.zoom);

  for (guint family = 0; width > 0 && family < G_N_ELEMENTS (paint->self->theme.family); family++)
    {
      for (guint i = 0; i < n; i++)
        if (rects[i].family == family && rects[i].has_outline && rects[i].node->kind == VN_SCENE_NODE)
          cairo_rectangle (paint->cr, rects[i].x, rects[i].y, width, rects[i].height);
      vn_paint_set_color (paint, paint->self->theme.family[family], 1);
      cairo_fill (paint->cr);
    }
}

/* What a block is, where it is large enough to be read. */
static void
paint_far_name (Paint         *paint,
                const FarRect *rect)
{
  double space = rect->width - 2 * FAR_MARGIN, width;
  PangoLayout *layout;

  if (rect->height < NAME_HEIGHT || space < NAME_WIDTH || rect->node->kind == VN_SCENE_PAIR)
    return;
  layout = vn_paint_text (paint, TEXT_FAR, vn_scene_node_is_pill (rect->node) ? rect->node->name : rect->node->op, space, &width);
  vn_paint_set_color (paint, vn_color_get_text (rect->fill), 1);
  vn_paint_show_middle (paint, layout, rect->x + (rect->width - MIN (width, space)) / 2, rect->y + rect->height / 2.0);
}

/* What stays visible of the precision while there is room. */
static void
paint_details (Paint         *paint,
               const FarRect *rects,
               guint          n)
{
  static const double dots[] = { 0, 3 };

  cairo_set_line_width (paint->cr, 1);
  for (guint i = 0; i < n; i++)
    {
      const FarRect *rect = &rects[i];

      if (rect->height < INNER_HEIGHT && !(rect->is_excluded && rect->has_outline))
        continue;
      if (rect->is_excluded)
        {
          cairo_set_dash (paint->cr, dots, 2, 0);
          cairo_set_line_cap (paint->cr, CAIRO_LINE_CAP_ROUND);
          cairo_rectangle (paint->cr, rect->x + 0.5, rect->y + 0.5, rect->width - 1, rect->height - 1);
          vn_paint_set_ink (paint, 0.75);
          cairo_stroke (paint->cr);
          cairo_set_dash (paint->cr, NULL, 0, 0);
          cairo_set_line_cap (paint->cr, CAIRO_LINE_CAP_BUTT);
        }
      else if (rect->precision == VN_PRECISION_WIDE)
        {
          cairo_rectangle (paint->cr, rect->x + 2.5, rect->y + 2.5, rect->width - 5, rect->height - 5);
          vn_paint_set_ink (paint, 0.62);
          cairo_stroke (paint->cr);
        }
    }
}

/* Draws nodes as blocks. */
void
vn_paint_far_nodes (Paint        *paint,
                    const GArray *nodes)
{
  VnGraphPainter *self = paint->self;
  guint bad;

  if (self->rects == NULL)
    self->rects = g_array_new (FALSE, FALSE, sizeof (FarRect));
  g_array_set_size (self->rects, nodes->len);
  for (guint i = 0; i < nodes->len; i++)
    g_array_index (self->rects, FarRect, i) = far_rect (paint, g_array_index (nodes, guint, i));
  g_array_sort (self->rects, paint_far_compare_rects);

  cairo_save (paint->cr);
  cairo_set_matrix (paint->cr, &paint->pixels);
  cairo_set_antialias (paint->cr, CAIRO_ANTIALIAS_NONE);
  for (guint i = 0, n; i < nodes->len; i += n)
    {
      const FarRect *rects = &g_array_index (self->rects, FarRect, i);

      /* while overlays are faded into one another, one key holds several colours */
      for (n = 1; i + n < nodes->len && rects[n].key == rects[0].key
                  && memcmp (&rects[n].fill, &rects[0].fill, sizeof (VnColor)) == 0; n++)
        continue;
      if (rects[0].is_bad)
        paint_bad (paint, rects, n);
      else
        paint_plain (paint, rects, n);
    }
  paint_families (paint, (const FarRect *) self->rects->data, nodes->len);
  cairo_set_antialias (paint->cr, CAIRO_ANTIALIAS_DEFAULT);
  for (bad = nodes->len; bad > 0 && g_array_index (self->rects, FarRect, bad - 1).is_bad; bad--)
    continue;
  paint_details (paint, (const FarRect *) self->rects->data, bad);
  for (guint i = 0; i < nodes->len; i++)
    {
      const FarRect *rect = &g_array_index (self->rects, FarRect, i);

      paint_far_name (paint, rect);
      vn_paint_far_mark (paint, (VnSceneMark) rect->mark, rect->x, rect->y, rect->width, rect->height);
    }
  cairo_restore (paint->cr);
}
