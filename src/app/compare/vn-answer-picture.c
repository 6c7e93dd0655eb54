/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a sample as the network sees it, and boxes or a mask over it. */
#include "vn-answer-picture.h"

#include "vn-answer-mask.h"
#include "vn-answer-words.h"
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

/* @name: (nullable): of its class */
typedef struct { VnDetection box; BoxKind kind; char *name; } Drawn;

struct _VnAnswerPicture
{
  GtkWidget   parent_instance;

  GdkTexture *texture;      /* nullable */
  GdkTexture *mask;         /* nullable */
  GArray     *boxes;        /* of Drawn */
  gint64      height, width;
};

G_DEFINE_FINAL_TYPE (VnAnswerPicture, vn_answer_picture, GTK_TYPE_WIDGET)

static void
answer_picture_draw_label (VnAnswerPicture *self,
                           cairo_t         *cr,
                           const Drawn     *drawn,
                           double           x,
                           double           y)
{
  const char *word = kinds[drawn->kind].word;
  g_autofree char *text = g_strdup_printf ("%s%s%s%s%.2f", word != NULL ? _(word) : "", word != NULL ? " " : "",
                                           drawn->name != NULL ? drawn->name : "", drawn->name != NULL ? " " : "",
                                           drawn->box.score);
  g_autoptr(PangoLayout) layout = NULL;
  VnColor color = vn_color_from_hex (kinds[drawn->kind].color);
  int width, height;

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
answer_picture_draw (VnAnswerPicture       *self,
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

      answer_picture_draw_label (self, cr, drawn, place->origin.x + drawn->box.x1 * scale_x,
                                place->origin.y + drawn->box.y1 * scale_y);
    }
}

static void
vn_answer_picture_snapshot (GtkWidget   *widget,
                            GtkSnapshot *snapshot)
{
  VnAnswerPicture *self = VN_ANSWER_PICTURE (widget);
  double width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget), scale;
  graphene_rect_t place;
  cairo_t *cr;

  if (self->width <= 0 || self->height <= 0 || width < 1 || height < 1)
    return;
  scale = MIN (width / (double) self->width, height / (double) self->height);
  graphene_rect_init (&place, 0, 0, (float) ((double) self->width * scale), (float) ((double) self->height * scale));
  if (self->texture != NULL)
    gtk_snapshot_append_texture (snapshot, self->texture, &place);
  if (self->mask != NULL)
    gtk_snapshot_append_texture (snapshot, self->mask, &place);
  cr = gtk_snapshot_append_cairo (snapshot, &place);
  answer_picture_draw (self, cr, &place);
  cairo_destroy (cr);
}

static void
vn_answer_picture_measure (GtkWidget     *widget,
                           GtkOrientation orientation,
                           int            for_size,
                           int           *minimum,
                           int           *natural,
                           int           *minimum_baseline,
                           int           *natural_baseline)
{
  *minimum = *natural = LEAST_HEIGHT;
  *minimum_baseline = *natural_baseline = -1;
}

static void
vn_answer_picture_finalize (GObject *object)
{
  VnAnswerPicture *self = VN_ANSWER_PICTURE (object);

  g_clear_object (&self->texture);
  g_clear_object (&self->mask);
  g_array_unref (self->boxes);
  G_OBJECT_CLASS (vn_answer_picture_parent_class)->finalize (object);
}

static void
vn_answer_picture_class_init (VnAnswerPictureClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = vn_answer_picture_finalize;
  widget_class->snapshot = vn_answer_picture_snapshot;
  widget_class->measure = vn_answer_picture_measure;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
answer_picture_clear_box (gpointer data)
{
  g_free (((Drawn *) data)->name);
}

static void
vn_answer_picture_init (VnAnswerPicture *self)
{
  self->boxes = g_array_new (FALSE, FALSE, sizeof (Drawn));
  g_array_set_clear_func (self->boxes, answer_picture_clear_box);
}

/**
 * vn_answer_picture_new:
 *
 * Returns: (transfer floating): nothing yet
 */
GtkWidget *
vn_answer_picture_new (void)
{
  return g_object_new (VN_TYPE_ANSWER_PICTURE, NULL);
}

static void
answer_picture_add (VnAnswerPicture      *self,
                    const VnDetection    *box,
                    BoxKind               kind,
                    const VnSampleAnswer *answer,
                    char * const         *names)
{
  Drawn drawn = { *box, kind, g_strdup (vn_sample_answer_find_name (answer, names, box->label)) };

  g_array_append_val (self->boxes, drawn);
}

/* Lost ones below, so that kept ones are seen whole. */
static void
answer_picture_add_boxes (VnAnswerPicture      *self,
                          const VnSampleAnswer *answer,
                          char * const         *names,
                          guint                 side)
{
  for (guint i = 0; side == 1 && i < answer->first->len; i++)
    if (g_array_index (answer->partners, guint, i) == VN_NO_PARTNER)
      answer_picture_add (self, &g_array_index (answer->first, VnDetection, i), BOX_LOST, answer, names);
  for (guint i = 0; side == 0 && i < answer->first->len; i++)
    answer_picture_add (self, &g_array_index (answer->first, VnDetection, i), BOX_KEPT, answer, names);
  for (guint i = 0; side == 1 && i < answer->other->len; i++)
    answer_picture_add (self, &g_array_index (answer->other, VnDetection, i),
                        vn_sample_answer_find_owner (answer, i) == VN_NO_PARTNER ? BOX_ADDED : BOX_KEPT, answer, names);
}

/* The sample is as large as the network sees it; one that is no picture has no size. */
static void
answer_picture_take_size (VnAnswerPicture      *self,
                          const VnSampleAnswer *answer)
{
  self->height = answer->height;
  self->width = answer->width;
  if (self->texture == NULL || (self->height > 0 && self->width > 0))
    return;
  self->height = gdk_texture_get_height (self->texture);
  self->width = gdk_texture_get_width (self->texture);
}

/**
 * vn_answer_picture_set:
 * @texture: (nullable): the sample as the network sees it; %NULL: it is no picture
 * @answer: copied as far as it is drawn
 * @names: (nullable): of classes
 * @side: 0: of the float network, 1: of the quantized one
 */
void
vn_answer_picture_set (VnAnswerPicture      *self,
                       GdkTexture           *texture,
                       const VnSampleAnswer *answer,
                       char * const         *names,
                       guint                 side)
{
  g_autofree char *text = NULL;

  g_return_if_fail (VN_IS_ANSWER_PICTURE (self) && answer != NULL && side < 2);

  g_set_object (&self->texture, texture);
  g_clear_object (&self->mask);
  answer_picture_take_size (self, answer);
  g_array_set_size (self->boxes, 0);
  if (answer->form == VN_ANSWER_BOXES)
    answer_picture_add_boxes (self, answer, names, side);
  else if (answer->form == VN_ANSWER_MASK)
    self->mask = vn_answer_mask_new (answer, names, side);
  text = vn_answer_words_dup_spoken (answer, names, side);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
