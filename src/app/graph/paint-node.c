/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes and pills, near and middle. */
#include "vn-graph-painter-private.h"

#include "vn-i18n.h"

#include <math.h>

#define LEFT_MARGIN   13.
#define RIGHT_MARGIN   9.
#define BADGE_HEIGHT  15.
#define BADGE_MIN     24.
#define HATCH_STEP     7.
#define LEAST_PAIR_ZOOM 0.6    /* its text is no smaller than 6.6 pixels */

typedef struct
{
  double width, inner_width, alpha;
  double dashes[4];
  int    n_dashes;
} Outline;

static const Outline outlines[] = {
  [VN_PRECISION_NONE]  = { 1, 0, 0.38, { 0 }, 0 },
  [VN_PRECISION_8]     = { 1, 0, 0.38, { 0 }, 0 },
  [VN_PRECISION_WIDE]  = { 1.2, 1, 0.62, { 0 }, 0 },
  [VN_PRECISION_HALF]  = { 1.5, 0, 0.70, { 8, 4 }, 2 },
  [VN_PRECISION_FLOAT] = { 1.7, 0, 0.75, { 0, 4 }, 2 },
  [VN_PRECISION_4]     = { 1.3, 0, 0.60, { 9, 3, 1.5, 3 }, 4 },
};

/* ---- box ---- */

static void
paint_hatch (Paint      *paint,
             const Look *look)
{
  const VnRect *box = &look->box;

  cairo_save (paint->cr);
  vn_paint_rounded (paint, *box, BOX_RADIUS, 0);
  cairo_clip (paint->cr);
  for (double x = box->x - box->height; x < box->x + box->width; x += HATCH_STEP)
    {
      cairo_move_to (paint->cr, x, box->y + box->height);
      cairo_line_to (paint->cr, x + box->height, box->y);
    }
  cairo_set_line_width (paint->cr, 1);
  vn_paint_set_color (paint, paint->self->theme.ink, 0.13);
  cairo_stroke (paint->cr);
  cairo_restore (paint->cr);
}

/* The strip that the box and its leftmost pixels have in common. */
static void
paint_family (Paint      *paint,
              const Look *look)
{
  const VnGraphTheme *theme = &paint->self->theme;
  const VnRect *box = &look->box;
  double width = theme->high_contrast ? 8 : FAMILY_EDGE, r = BOX_RADIUS;
  double angle = acos (1 - width / r);

  cairo_new_path (paint->cr);
  cairo_arc (paint->cr, box->x + r, box->y + r, r, G_PI, G_PI + angle);
  cairo_arc (paint->cr, box->x + r, box->y + box->height - r, r, G_PI - angle, G_PI);
  cairo_close_path (paint->cr);
  vn_paint_set_color (paint, theme->family[look->node->family], 1);
  cairo_fill (paint->cr);
}

/* The line round a box, by its precision. */
void
vn_paint_outline (Paint      *paint,
                  const Look *look)
{
  gboolean high_contrast = paint->self->theme.high_contrast;
  const Outline *outline = &outlines[look->is_excluded ? VN_PRECISION_FLOAT : look->node->precision];
  double width = MAX (outline->width, paint->px) * (high_contrast ? 2 : 1);
  double alpha = look->is_bad ? MAX (outline->alpha, 0.7) : outline->alpha;

  vn_paint_rounded (paint, look->box, BOX_RADIUS, -width / 2);
  if (outline->n_dashes > 0)
    cairo_set_dash (paint->cr, outline->dashes, outline->n_dashes, 0);
  if (outline->n_dashes > 0 && outline->dashes[0] == 0)
    cairo_set_line_cap (paint->cr, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_width (paint->cr, width);
  vn_paint_set_ink (paint, alpha);
  cairo_stroke (paint->cr);
  cairo_set_dash (paint->cr, NULL, 0, 0);
  cairo_set_line_cap (paint->cr, CAIRO_LINE_CAP_BUTT);
  if (outline->inner_width == 0)
    return;

  width = MAX (outline->inner_width, paint->px);
  vn_paint_rounded (paint, look->box, BOX_RADIUS, -(3 + width / 2));
  cairo_set_line_width (paint->cr, width);
  cairo_stroke (paint->cr);
}

static void
paint_box (Paint      *paint,
           const Look *look)
{
  vn_paint_rounded (paint, look->box, BOX_RADIUS, 0);
  vn_paint_set_color (paint, look->fill, 1);
  cairo_fill (paint->cr);
  if (look->is_excluded)
    paint_hatch (paint, look);
  paint_family (paint, look);
  vn_paint_outline (paint, look);
}

/* ---- parts ---- */

/* Four ticks ending at @right, centred about @middle; sizes multiplied by @scale. */
void
vn_paint_ticks (Paint      *paint,
                const Look *look,
                double      right,
                double      middle,
                double      scale)
{
  guint filled = look->item->measured ? look->item->ticks : 0;

  for (guint i = 0; i < 4; i++)
    {
      double x = right - (TICKS_WIDTH - i * 2 * TICK_WIDTH) * scale;

      vn_paint_set_color (paint, look->text, i < filled ? 1 : 0.22);
      cairo_rectangle (paint->cr, x, middle - TICK_HEIGHT / 2 * scale, TICK_WIDTH * scale,
                       TICK_HEIGHT * scale);
      cairo_fill (paint->cr);
    }
}

static void
paint_node_badge_path (Paint       *paint,
                       VnScenePrecision  precision,
                       VnRect       box)
{
  switch (precision)
    {
    case VN_PRECISION_HALF:
    case VN_PRECISION_FLOAT:
      vn_paint_rounded (paint, box, box.height / 2, -0.5);
      break;

    case VN_PRECISION_4:
      cairo_move_to (paint->cr, box.x + 0.5, box.y + 0.5);
      cairo_line_to (paint->cr, box.x + box.width - 5, box.y + 0.5);
      cairo_line_to (paint->cr, box.x + box.width - 0.5, box.y + 5);
      cairo_line_to (paint->cr, box.x + box.width - 0.5, box.y + box.height - 0.5);
      cairo_line_to (paint->cr, box.x + 0.5, box.y + box.height - 0.5);
      cairo_close_path (paint->cr);
      break;

    case VN_PRECISION_WIDE:
    case VN_PRECISION_8:
    case VN_PRECISION_NONE:
    default:
      vn_paint_rounded (paint, box, 3.5, precision == VN_PRECISION_WIDE ? 0 : -0.5);
    }
}

/* Returns: width of the badge that ends at @right, 0 if the node has none. */
static double
paint_badge (Paint      *paint,
             const Look *look,
             double      right,
             double      middle)
{
  VnScenePrecision precision = look->is_excluded ? VN_PRECISION_FLOAT : look->node->precision;
  gboolean filled = precision == VN_PRECISION_WIDE;
  VnRect box = { .height = BADGE_HEIGHT };
  PangoLayout *layout;
  double width;

  if (look->node->badge == NULL)
    return 0;

  layout = vn_paint_text (paint, TEXT_BADGE, look->node->badge, 0, &width);
  box.width = MAX (width + 9, BADGE_MIN);
  box.x = right - box.width;
  box.y = middle - BADGE_HEIGHT / 2;
  paint_node_badge_path (paint, precision, box);
  vn_paint_set_color (paint, look->text, filled ? 1 : vn_graph_theme_alpha (&paint->self->theme, 0.75));
  if (filled)
    {
      cairo_fill (paint->cr);
    }
  else
    {
      static const double dashes[2][2] = { { 3, 2 }, { 0, 2.6 } };

      cairo_set_line_width (paint->cr, precision == VN_PRECISION_FLOAT ? 1.2 : 1);
      if (precision == VN_PRECISION_HALF || precision == VN_PRECISION_FLOAT)
        cairo_set_dash (paint->cr, dashes[precision == VN_PRECISION_FLOAT], 2, 0);
      cairo_set_line_cap (paint->cr, precision == VN_PRECISION_FLOAT ? CAIRO_LINE_CAP_ROUND
                          : CAIRO_LINE_CAP_BUTT);
      cairo_stroke (paint->cr);
      cairo_set_dash (paint->cr, NULL, 0, 0);
      cairo_set_line_cap (paint->cr, CAIRO_LINE_CAP_BUTT);
    }
  vn_paint_set_color (paint, filled ? vn_color_get_text (look->text) : look->text, 1);
  vn_paint_show_middle (paint, layout, box.x + (box.width - width) / 2, middle);
  return box.width;
}

/* Of an amount, such as bytes of weights, most nodes have none: nothing is shown there. */
static gboolean
paint_has_nothing (Paint      *paint,
                   const Look *look)
{
  return look->item->measured && look->item->amount <= 0 && paint->self->overlay != NULL &&
         vn_overlay_get_kind (paint->self->overlay) == VN_OVERLAY_AMOUNT;
}

/* Ticks and value, ending at @right with baseline @baseline. Returns: their left end. */
double
vn_paint_value (Paint      *paint,
                const Look *look,
                double      right,
                double      baseline,
                gboolean    with_unit)
{
  const char *unit = with_unit ? vn_overlay_get_unit (paint->self->overlay) : "";
  const VnOverlayItem *item = look->item;
  PangoLayout *layout;
  char text[48];
  double width;

  if (paint_has_nothing (paint, look))
    return right;
  if (!item->measured)
    g_strlcpy (text, "–", sizeof text);
  else if (*unit != '\0' && !item->is_nan)
    g_snprintf (text, sizeof text, "%s\u00a0%s", item->value, unit);
  else
    g_strlcpy (text, item->value, sizeof text);
  layout = vn_paint_text (paint, TEXT_VALUE, text, 0, &width);
  vn_paint_set_color (paint, look->text, item->measured ? 1 : look->dim);
  vn_paint_show (paint, layout, right - width, baseline);
  vn_paint_ticks (paint, look, right - width - 6, baseline - 4, 1);
  return right - width - 6 - TICKS_WIDTH;
}

/* ---- whole nodes ---- */

static void
paint_full_text (Paint      *paint,
                 const Look *look)
{
  const VnSceneNode *node = look->node;
  double left = look->box.x + LEFT_MARGIN, right = look->box.x + look->box.width - RIGHT_MARGIN;
  double y = look->box.y;
  double end, width;
  PangoLayout *layout;

  end = right - paint_badge (paint, look, right, y + 15.5) - 6;
  vn_paint_set_color (paint, look->text, 1);
  layout = vn_paint_text (paint, TEXT_OP, node->op, end - left, &width);
  vn_paint_show (paint, layout, left, y + 20);
  if (node->detail != NULL && end - left - width > 24)
    {
      vn_paint_set_color (paint, look->text, look->dim);
      layout = vn_paint_text (paint, TEXT_SMALL, node->detail, end - left - width - 6, NULL);
      vn_paint_show (paint, layout, left + width + 6, y + 20);
    }

  vn_paint_set_color (paint, look->text, look->dim);
  vn_paint_show (paint, vn_paint_text (paint, TEXT_NAME, node->name, right - left, NULL), left, y + 37);
  end = right;
  if (look->is_excluded)
    {
      layout = vn_paint_text (paint, TEXT_SMALL, _("not quantized"), 0, &width);
      vn_paint_show (paint, layout, right - width, y + 54);
      end = right - width;
    }
  else if (look->item != NULL)
    {
      end = vn_paint_value (paint, look, right, y + 54, TRUE);
    }
  if (node->shape != NULL)
    {
      vn_paint_set_color (paint, look->text, look->dim);
      vn_paint_show (paint, vn_paint_text (paint, TEXT_SMALL, node->shape, end - 8 - left, NULL), left,
                     y + 54);
    }
}

static void
paint_slim_text (Paint      *paint,
                 const Look *look)
{
  double left = look->box.x + LEFT_MARGIN, right = look->box.x + look->box.width - RIGHT_MARGIN;
  double y = look->box.y, width;
  PangoLayout *layout;

  if (look->node->differs || look->is_excluded)
    {
      width = paint_badge (paint, look, right, y + 15);
      right -= width > 0 ? width + 7 : 0;
    }
  if (look->item != NULL && !look->is_excluded)
    right = vn_paint_value (paint, look, right, y + 19, FALSE);
  vn_paint_set_color (paint, look->text, 1);
  layout = vn_paint_text (paint, TEXT_OP, look->node->op, right - 6 - left, &width);
  vn_paint_show_middle (paint, layout, left, y + 15);
  if (look->node->family != VN_FAMILY_CONVERSION || look->node->detail == NULL || right - left - width < 30)
    return;
  /* what a conversion does is its scale */
  vn_paint_set_color (paint, look->text, look->dim);
  layout = vn_paint_text (paint, TEXT_SMALL, look->node->detail, right - left - width - 6, NULL);
  vn_paint_show_middle (paint, layout, left + width + 6, y + 15);
}

/* The operator in screen pixels, whatever the zoom. */
void
vn_paint_middle_text (Paint      *paint,
                      const Look *look)
{
  double zoom = paint->camera.zoom, scale = paint->px;
  double left = look->box.x + LEFT_MARGIN * MAX (zoom, 0.7) * scale;
  double right = look->box.x + look->box.width - 6 * scale, middle = look->box.y + look->box.height / 2;
  gboolean shows_badge = paint->self->overlay != NULL
                         && vn_overlay_get_kind (paint->self->overlay) == VN_OVERLAY_PRECISION;
  PangoLayout *layout;

  if (shows_badge)
    right -= paint_badge (paint, look, right, middle) + 4 * scale;
  if (look->item != NULL && !look->is_excluded && !paint_has_nothing (paint, look))
    {
      double height = 8 + 2 * (zoom - 0.45) / 0.45;

      vn_paint_ticks (paint, look, right, middle, height / TICK_HEIGHT * scale);
      right -= TICKS_WIDTH * height / TICK_HEIGHT * scale + 5 * scale;
    }
  cairo_save (paint->cr);
  cairo_translate (paint->cr, left, middle);
  cairo_scale (paint->cr, scale, scale);
  vn_paint_set_color (paint, look->text, 1);
  layout = vn_paint_text (paint, TEXT_OP_MIDDLE, look->node->op, MAX ((right - left) * zoom, 8), NULL);
  vn_paint_show_middle (paint, layout, 0, 0);
  cairo_restore (paint->cr);
}

static void
paint_middle_pill_text (Paint      *paint,
                        const Look *look)
{
  double width;
  PangoLayout *name = vn_paint_text (paint, TEXT_OP_MIDDLE, look->node->name,
                                     MAX (look->box.width * paint->camera.zoom - 12, 8), &width);

  cairo_save (paint->cr);
  cairo_translate (paint->cr, look->box.x + look->box.width / 2, look->box.y + look->box.height / 2);
  cairo_scale (paint->cr, paint->px, paint->px);
  vn_paint_set_color (paint, look->text, 1);
  vn_paint_show_middle (paint, name, -width / 2, 0);
  cairo_restore (paint->cr);
}

/* A pair: small, so that what it stands between is read as in the float network. */
static void
paint_pair (Paint      *paint,
            const Look *look)
{
  VnColor family = paint->self->theme.family[look->node->family];
  double middle = look->box.y + look->box.height / 2, width;
  PangoLayout *text;

  vn_paint_rounded (paint, look->box, look->box.height / 2, -0.5);
  vn_paint_set_color (paint, vn_color_mix (paint->self->theme.canvas, family, 0.16), 1);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, MAX (1, paint->px) * (paint->self->theme.high_contrast ? 2 : 1));
  vn_paint_set_color (paint, family, 1);
  cairo_stroke (paint->cr);
  if (paint->level == VN_GRAPH_MIDDLE && paint->camera.zoom < LEAST_PAIR_ZOOM)
    return;
  text = vn_paint_text (paint, TEXT_SMALL, look->node->detail, look->box.width - 12, &width);
  vn_paint_set_ink (paint, 0.9);
  vn_paint_show_middle (paint, text, look->box.x + (look->box.width - width) / 2, middle);
}

static void
paint_pill (Paint      *paint,
            const Look *look)
{
  const VnSceneNode *node = look->node;
  double middle = look->box.y + look->box.height / 2, space = look->box.width - 20;
  double name_width, shape_width = 0, x;
  PangoLayout *name, *shape = NULL;

  vn_paint_rounded (paint, look->box, look->box.height / 2, -0.5);
  vn_paint_set_color (paint, look->fill, 1);
  cairo_fill_preserve (paint->cr);
  cairo_set_line_width (paint->cr, MAX (1, paint->px) * (paint->self->theme.high_contrast ? 2 : 1));
  vn_paint_set_ink (paint, 0.38);
  cairo_stroke (paint->cr);
  if (paint->level == VN_GRAPH_MIDDLE)
    {
      paint_middle_pill_text (paint, look);
      return;
    }
  name = vn_paint_text (paint, TEXT_PILL, node->name, space, &name_width);
  if (node->shape != NULL && space - name_width > 30)
    {
      shape = vn_paint_text (paint, TEXT_SMALL, node->shape, space - name_width - 8, &shape_width);
      shape_width += 8;
    }
  x = look->box.x + (look->box.width - name_width - shape_width) / 2;
  vn_paint_set_color (paint, look->text, 1);
  vn_paint_show_middle (paint, name, x, middle);
  if (shape == NULL)
    return;
  vn_paint_set_color (paint, look->text, 0.68);
  vn_paint_show_middle (paint, shape, x + name_width + 8, middle);
}

/* Draws a node at near or middle level. */
void
vn_paint_node (Paint      *paint,
               const Look *look)
{
  if (vn_scene_node_is_pill (look->node))
    {
      paint_pill (paint, look);
      return;
    }
  if (look->node->kind == VN_SCENE_PAIR)
    {
      paint_pair (paint, look);
      return;
    }
  paint_box (paint, look);
  if (paint->level == VN_GRAPH_MIDDLE)
    vn_paint_middle_text (paint, look);
  else if (look->node->slim)
    paint_slim_text (paint, look);
  else
    paint_full_text (paint, look);
  vn_paint_mark (paint, look);
}
