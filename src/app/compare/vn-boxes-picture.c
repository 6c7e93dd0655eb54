/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a sample as the network sees it, and boxes over it. */
#include "vn-boxes-picture.h"

#include "vn-color.h"
#include "vn-i18n.h"

#define LINE_WIDTH   2.
#define LABEL_HEIGHT 15.
#define LABEL_MARGIN 4.
#define LEAST_HEIGHT 120

typedef enum { BOX_KEPT, BOX_LOST, BOX_ADDED } BoxKind;

/* Told apart by their lines, too. */
static const struct { guint32 color; double dashes[2]; int n_dashes; const char *word; } kinds[] = {
  [BOX_KEPT] = { 0x1c71d8, { 0 }, 0, NULL },
  [BOX_LOST] = { 0xc01c28, { 6, 4 }, 2, N_("lost") },
  [BOX_ADDED] = { 0xa35200, { 1.5, 3 }, 2, N_("added") },
};

typedef struct { VnDetection box; BoxKind kind; } Drawn;

struct _VnBoxesPicture
{
  GtkWidget   parent_instance;

  GdkTexture *texture;      /* nullable */
  GArray     *boxes;        /* of Drawn */
  gint64      height, width;
};

G_DEFINE_FINAL_TYPE (VnBoxesPicture, vn_boxes_picture, GTK_TYPE_WIDGET)

static void
boxes_picture_draw_label (VnBoxesPicture *self,
                          cairo_t        *cr,
                          const Drawn    *drawn,
                          double          x,
                          double          y)
{
  g_autofree char *score = g_strdup_printf ("%.2f", drawn->box.score), *text = NULL;
  g_autoptr(PangoLayout) layout = NULL;
  VnColor color = vn_color_from_hex (kinds[drawn->kind].color);
  int width, height;

  text = kinds[drawn->kind].word != NULL ? g_strdup_printf ("%s %s", _(kinds[drawn->kind].word), score) : g_strdup (score);
  layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  pango_layout_get_pixel_size (layout, &width, &height);
  y = MAX (y - LABEL_HEIGHT, 0);
  cairo_rectangle (cr, x - LINE_WIDTH / 2, y, width * 0.8 + 2 * LABEL_MARGIN, LABEL_HEIGHT);
  cairo_set_source_rgb (cr, color.r, color.g, color.b);
  cairo_fill (cr);
  cairo_save (cr);
  cairo_translate (cr, x + LABEL_MARGIN, y + (LABEL_HEIGHT - 0.8 * height) / 2);
  cairo_scale (cr, 0.8, 0.8);
  cairo_set_source_rgb (cr, 1, 1, 1);
  pango_cairo_show_layout (cr, layout);
  cairo_restore (cr);
}

static void
boxes_picture_draw (VnBoxesPicture        *self,
                    cairo_t               *cr,
                    const graphene_rect_t *place)
{
  double scale_x = place->size.width / (double) self->width, scale_y = place->size.height / (double) self->height;

  cairo_rectangle (cr, place->origin.x, place->origin.y, place->size.width, place->size.height);
  cairo_clip (cr);
  for (guint i = 0; i < self->boxes->len; i++)
    {
      const Drawn *drawn = &g_array_index (self->boxes, Drawn, i);
      VnColor color = vn_color_from_hex (kinds[drawn->kind].color);
      double x = place->origin.x + drawn->box.x1 * scale_x, y = place->origin.y + drawn->box.y1 * scale_y;

      cairo_rectangle (cr, x, y, (drawn->box.x2 - drawn->box.x1) * scale_x, (drawn->box.y2 - drawn->box.y1) * scale_y);
      cairo_set_source_rgba (cr, 1, 1, 1, 0.7);
      cairo_set_line_width (cr, LINE_WIDTH + 2);
      cairo_set_dash (cr, NULL, 0, 0);
      cairo_stroke_preserve (cr);
      cairo_set_source_rgb (cr, color.r, color.g, color.b);
      cairo_set_line_width (cr, LINE_WIDTH);
      cairo_set_dash (cr, kinds[drawn->kind].dashes, kinds[drawn->kind].n_dashes, 0);
      cairo_stroke (cr);
    }
  cairo_set_dash (cr, NULL, 0, 0);
  for (guint i = 0; i < self->boxes->len; i++)
    {
      const Drawn *drawn = &g_array_index (self->boxes, Drawn, i);

      boxes_picture_draw_label (self, cr, drawn, place->origin.x + drawn->box.x1 * scale_x,
                                place->origin.y + drawn->box.y1 * scale_y);
    }
}

static void
vn_boxes_picture_snapshot (GtkWidget   *widget,
                           GtkSnapshot *snapshot)
{
  VnBoxesPicture *self = VN_BOXES_PICTURE (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget), scale;
  graphene_rect_t place;
  cairo_t *cr;

  if (self->width <= 0 || self->height <= 0 || width < 1 || height < 1)
    return;
  scale = MIN (width / (double) self->width, height / (double) self->height);
  graphene_rect_init (&place, 0, 0, (float) ((double) self->width * scale), (float) ((double) self->height * scale));
  if (self->texture != NULL)
    gtk_snapshot_append_texture (snapshot, self->texture, &place);
  cr = gtk_snapshot_append_cairo (snapshot, &place);
  boxes_picture_draw (self, cr, &place);
  cairo_destroy (cr);
}

static void
vn_boxes_picture_measure (GtkWidget      *widget,
                          GtkOrientation  orientation,
                          int             for_size,
                          int            *minimum,
                          int            *natural,
                          int            *minimum_baseline,
                          int            *natural_baseline)
{
  *minimum = *natural = LEAST_HEIGHT;
  *minimum_baseline = *natural_baseline = -1;
}

static void
vn_boxes_picture_finalize (GObject *object)
{
  VnBoxesPicture *self = VN_BOXES_PICTURE (object);

  g_clear_object (&self->texture);
  g_array_unref (self->boxes);
  G_OBJECT_CLASS (vn_boxes_picture_parent_class)->finalize (object);
}

static void
vn_boxes_picture_class_init (VnBoxesPictureClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = vn_boxes_picture_finalize;
  widget_class->snapshot = vn_boxes_picture_snapshot;
  widget_class->measure = vn_boxes_picture_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_boxes_picture_init (VnBoxesPicture *self)
{
  self->boxes = g_array_new (FALSE, FALSE, sizeof (Drawn));
}

/**
 * vn_boxes_picture_new:
 *
 * Returns: (transfer floating): nothing yet
 */
GtkWidget *
vn_boxes_picture_new (void)
{
  return g_object_new (VN_TYPE_BOXES_PICTURE, NULL);
}

static void
boxes_picture_add (VnBoxesPicture    *self,
                   const VnDetection *box,
                   BoxKind            kind)
{
  Drawn drawn = { *box, kind };

  g_array_append_val (self->boxes, drawn);
}

/**
 * vn_boxes_picture_set:
 * @texture: (nullable): the sample as the network sees it; %NULL: it is no picture
 * @answer: its boxes; copied
 * @side: 0: of the float network, 1: of the quantized one
 */
void
vn_boxes_picture_set (VnBoxesPicture       *self,
                      GdkTexture           *texture,
                      const VnSampleAnswer *answer,
                      guint                 side)
{
  g_autofree char *text = NULL;

  g_return_if_fail (VN_IS_BOXES_PICTURE (self) && answer != NULL && side < 2);

  g_set_object (&self->texture, texture);
  self->height = answer->height;
  self->width = answer->width;
  g_array_set_size (self->boxes, 0);
  for (guint i = 0; side == 1 && i < answer->first->len; i++)
    if (g_array_index (answer->partners, guint, i) == VN_NO_PARTNER)
      boxes_picture_add (self, &g_array_index (answer->first, VnDetection, i), BOX_LOST);
  for (guint i = 0; side == 0 && i < answer->first->len; i++)
    boxes_picture_add (self, &g_array_index (answer->first, VnDetection, i), BOX_KEPT);
  for (guint i = 0; side == 1 && i < answer->other->len; i++)
    boxes_picture_add (self, &g_array_index (answer->other, VnDetection, i),
                       vn_sample_answer_find_owner (answer, i) == VN_NO_PARTNER ? BOX_ADDED : BOX_KEPT);
  text = g_strdup_printf (ngettext ("%u box", "%u boxes", self->boxes->len), self->boxes->len);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
