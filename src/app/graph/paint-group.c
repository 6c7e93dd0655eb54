/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups: closed ones as a stack of boxes that shows its worst node, open ones as a frame with a title. */
#include "vn-graph-painter-private.h"

#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define LIP            4.
#define LIP_INSET      5.
#define STRIP          4.
#define LEFT_MARGIN   13.
#define RIGHT_MARGIN   9.
#define CHEVRON        4.
#define FRAME_RADIUS  14.
#define MOST_SCALE     1.5    /* of the title of a frame */
#define TITLE_ZOOM     0.2    /* below, titles of frames would be larger than what they stand over */

/* ---- closed ---- */

static VnRect
paint_group_body (const VnRect *box)
{
  return (VnRect) { box->x, box->y, box->width, box->height - 2 * LIP };
}

static void
paint_group_lips (Paint        *paint,
                  const Look   *look,
                  const VnRect *body)
{
  const VnGraphTheme *theme = &paint->self->theme;

  for (guint i = 2; i > 0; i--)
    {
      VnRect lip = { body->x + i * LIP_INSET, body->y + i * LIP, body->width - 2 * i * LIP_INSET, body->height };

      vn_paint_rounded (paint, lip, BOX_RADIUS, -0.5);
      vn_paint_set_color (paint, vn_color_mix (theme->canvas, look->fill, i == 1 ? 0.7 : 0.4), 1);
      cairo_fill_preserve (paint->cr);
      cairo_set_line_width (paint->cr, MAX (1, paint->px));
      vn_paint_set_ink (paint, 0.3);
      cairo_stroke (paint->cr);
    }
}

static VnColor
paint_group_cell_color (Paint               *paint,
                        const VnOverlayItem *item)
{
  VnOverlayKind kind = vn_overlay_get_kind (paint->self->overlay);

  if (kind == VN_OVERLAY_DIFFERENCE)
    return vn_heat_difference (paint->self->theme.dark, item->is_nan ? 1 : item->t);
  return vn_heat_color (kind == VN_OVERLAY_ERROR ? VN_HEAT_ERROR : VN_HEAT_AMOUNT, paint->self->theme.dark,
                        item->is_nan ? 1 : item->t);
}

/* One cell a node along the foot; where there are more than pixels, the worst of those that fall together. */
static void
paint_group_strip (Paint        *paint,
                   const Look   *look,
                   const VnRect *body)
{
  const VnOverlayNote *note = look->note;
  guint n_cells;

  if (note == NULL || note->n_items == 0)
    return;
  n_cells = MIN (note->n_items, (guint) MAX (body->width / paint->px, 1));
  cairo_save (paint->cr);
  vn_paint_rounded (paint, *body, BOX_RADIUS, -1);
  cairo_clip (paint->cr);
  for (guint cell = 0, i = 0; cell < n_cells; cell++)
    {
      const VnOverlayItem *worst = &note->items[i];
      guint end = (guint) ((guint64) (cell + 1) * note->n_items / n_cells);

      for (; i < end; i++)
        if (note->items[i].is_nan || (!worst->is_nan && note->items[i].t > worst->t))
          worst = &note->items[i];
      vn_paint_set_color (paint, paint_group_cell_color (paint, worst), 1);
      cairo_rectangle (paint->cr, body->x + cell * body->width / n_cells, body->y + body->height - STRIP - 1,
                       body->width / n_cells + 0.25 * paint->px, STRIP);
      cairo_fill (paint->cr);
    }
  vn_paint_set_color (paint, look->text, 0.25);
  cairo_rectangle (paint->cr, body->x, body->y + body->height - STRIP - 2, body->width, 1);
  cairo_fill (paint->cr);
  cairo_restore (paint->cr);
}

/* Points right while closed, down while open; (x, y) is its middle. */
static void
paint_group_chevron (Paint    *paint,
                     double    x,
                     double    y,
                     double    size,
                     gboolean  is_open)
{
  double a = size / 2, b = size;

  if (is_open)
    {
      cairo_move_to (paint->cr, x - b, y - a);
      cairo_line_to (paint->cr, x, y + a);
      cairo_line_to (paint->cr, x + b, y - a);
    }
  else
    {
      cairo_move_to (paint->cr, x - a, y - b);
      cairo_line_to (paint->cr, x + a, y);
      cairo_line_to (paint->cr, x - a, y + b);
    }
  cairo_set_line_width (paint->cr, 0.45 * size);
  cairo_stroke (paint->cr);
}

static void
paint_group_worst (Paint        *paint,
                   const Look   *look,
                   double        left,
                   double        right,
                   double        baseline)
{
  const VnOverlayNote *note = look->note;
  g_autofree char *origins = NULL;
  PangoLayout *layout;
  double width;

  if (note->n_origins > 0)
    {
      origins = g_strdup_printf (ngettext ("%u error source", "%u error sources", note->n_origins), note->n_origins);
      layout = vn_paint_text (paint, TEXT_VALUE, origins, 0, &width);
      vn_paint_set_color (paint, look->text, 1);
      vn_paint_show (paint, layout, right - width, baseline);
      right -= width + 8;
    }
  vn_paint_set_color (paint, look->text, look->dim);
  vn_paint_show (paint, vn_paint_text (paint, TEXT_NAME, note->name, right - left, NULL), left, baseline);
}

/* How many nodes there are: in words where the title leaves room for them, else the number. */
static PangoLayout *
paint_group_count (Paint             *paint,
                   const VnSceneNode *node,
                   double             room,
                   double            *width)
{
  PangoLayout *layout = vn_paint_text (paint, TEXT_SMALL, node->name, 0, width);
  char number[12] = "";
  double title;

  vn_paint_text (paint, TEXT_OP, node->op, 0, &title);
  if (title + *width <= room)
    return layout;
  g_strlcpy (number, node->name, MIN (sizeof number, strcspn (node->name, " ") + 1));
  return vn_paint_text (paint, TEXT_SMALL, number, 0, width);
}

static void
paint_group_text (Paint        *paint,
                  const Look   *look,
                  const VnRect *body)
{
  const VnSceneNode *node = look->node;
  double left = body->x + LEFT_MARGIN, right = body->x + body->width - RIGHT_MARGIN, y = body->y, width, end = right;
  double below = look->note != NULL ? 0 : 8;
  PangoLayout *layout;

  vn_paint_set_color (paint, look->text, 1);
  paint_group_chevron (paint, left + 2, y + 15.5, CHEVRON, FALSE);
  layout = paint_group_count (paint, node, right - left - 20, &width);
  vn_paint_set_color (paint, look->text, look->dim);
  vn_paint_show (paint, layout, right - width, y + 20);
  vn_paint_set_color (paint, look->text, 1);
  vn_paint_show (paint, vn_paint_text (paint, TEXT_OP, node->op, right - width - 8 - left - 12, NULL), left + 12, y + 20);

  vn_paint_set_color (paint, look->text, look->dim);
  if (node->detail != NULL)
    vn_paint_show (paint, vn_paint_text (paint, TEXT_SMALL, node->detail, right - left, NULL), left, y + 37 + below / 2);
  if (look->note != NULL)
    paint_group_worst (paint, look, left, right, y + 53);
  if (look->item != NULL && !look->is_excluded)
    end = vn_paint_value (paint, look, right, y + 69 - below, TRUE) - 8;
  vn_paint_set_color (paint, look->text, look->dim);
  if (node->shape != NULL)
    vn_paint_show (paint, vn_paint_text (paint, TEXT_SMALL, node->shape, end - left, NULL), left, y + 69 - below);
}

/* The title has the upper half for itself. */
static void
paint_group_middle_text (Paint      *paint,
                         const Look *look)
{
  Look upper = *look, lower = *look;

  upper.box.height = look->box.height / 2;
  upper.item = NULL;
  vn_paint_middle_text (paint, &upper);
  if (look->item != NULL && !look->is_excluded)
    vn_paint_ticks (paint, &lower, look->box.x + look->box.width - 6 * paint->px, look->box.y + 0.65 * look->box.height,
                    paint->px);
}

/* Draws a closed group at near or middle level. */
void
vn_paint_group (Paint      *paint,
                const Look *look)
{
  Look body = *look;

  body.box = paint_group_body (&look->box);
  paint_group_lips (paint, look, &body.box);
  vn_paint_rounded (paint, body.box, BOX_RADIUS, 0);
  vn_paint_set_color (paint, look->fill, 1);
  cairo_fill (paint->cr);
  paint_group_strip (paint, look, &body.box);
  vn_paint_outline (paint, &body);
  if (paint->level == VN_GRAPH_NEAR)
    paint_group_text (paint, look, &body.box);
  else
    paint_group_middle_text (paint, &body);
}

/* ---- open ---- */

static void
paint_group_title (Paint                    *paint,
                   const VnGraphLayoutFrame *frame)
{
  const VnGroup *group = vn_groups_get (paint->self->groups, frame->group);
  double scale = CLAMP (0.85 * paint->px, 1, MOST_SCALE), width = frame->box.width / scale, used, count_width;
  PangoLayout *layout = vn_paint_text (paint, TEXT_OP, group->title, width - 40, &used), *count;
  g_autofree char *n_nodes = g_strdup_printf (ngettext ("%u node", "%u nodes", group->n_nodes), group->n_nodes);
  gboolean has_count = width - 44 - used > 60;

  cairo_save (paint->cr);
  cairo_translate (paint->cr, frame->box.x, frame->box.y);
  cairo_scale (paint->cr, scale, scale);
  count = vn_paint_text (paint, TEXT_SMALL, n_nodes, has_count ? width - 44 - used : 0, &count_width);
  /* lines pass behind it */
  vn_paint_rounded (paint, (VnRect) { 7, 5, used + 26 + (has_count ? count_width + 10 : 0), 20 }, 6, 0);
  vn_paint_set_color (paint, vn_color_mix (paint->self->theme.canvas, paint->self->theme.ink, 0.05), 0.9);
  cairo_fill (paint->cr);
  vn_paint_set_ink (paint, 0.8);
  paint_group_chevron (paint, 17, 15, CHEVRON, TRUE);
  vn_paint_show_middle (paint, layout, 28, 15);
  vn_paint_set_ink (paint, 0.6);
  if (has_count)
    vn_paint_show_middle (paint, count, 36 + used, 15);
  cairo_restore (paint->cr);
}

static gboolean
paint_group_meets (const VnRect *a,
                   const VnRect *b)
{
  return a->x <= b->x + b->width && b->x <= a->x + a->width && a->y <= b->y + b->height && b->y <= a->y + a->height;
}

/* Draws what lies behind all else: the frames of open groups. */
void
vn_paint_frames (Paint *paint)
{
  VnGraphPainter *self = paint->self;

  for (guint i = 0; self->groups != NULL && i < vn_graph_layout_get_n_frames (self->layout); i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (self->layout, i);

      if (!paint_group_meets (&frame->box, &paint->area))
        continue;
      vn_paint_rounded (paint, frame->box, FRAME_RADIUS, 0);
      vn_paint_set_color (paint, self->theme.ink, 0.015);
      cairo_fill_preserve (paint->cr);
      cairo_set_line_width (paint->cr, MAX (1, paint->px));
      vn_paint_set_ink (paint, 0.12);
      cairo_stroke (paint->cr);
    }
}

/* Draws the titles of open groups, over the lines that enter them. */
void
vn_paint_frame_titles (Paint *paint)
{
  VnGraphPainter *self = paint->self;

  if (self->groups == NULL || paint->camera.zoom < TITLE_ZOOM)
    return;
  for (guint i = 0; i < vn_graph_layout_get_n_frames (self->layout); i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (self->layout, i);

      if (paint_group_meets (&frame->box, &paint->area))
        paint_group_title (paint, frame);
    }
}

/* Draws what shows that a click on the title of an open group does something. */
void
vn_paint_frame_hover (Paint *paint,
                      guint  group)
{
  VnGraphPainter *self = paint->self;

  for (guint i = 0; i < vn_graph_layout_get_n_frames (self->layout); i++)
    {
      const VnGraphLayoutFrame *frame = vn_graph_layout_get_frame (self->layout, i);

      if (frame->group != group)
        continue;
      vn_paint_rounded (paint, frame->box, FRAME_RADIUS, 0);
      cairo_set_line_width (paint->cr, MAX (1.5, paint->px));
      vn_paint_set_ink (paint, 0.5);
      cairo_stroke (paint->cr);
    }
}
