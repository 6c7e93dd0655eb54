/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws a channel of a tensor at its own pixels: grey, or violet to orange for a difference. What is larger than the widget is
 * shown by every so many elements. */
#include "vn-tensor-picture.h"

#include "vn-heat.h"

#include <adwaita.h>
#include <math.h>

#define MOST_PIXELS 1024   /* in each direction */

struct _VnTensorPicture
{
  GtkWidget  parent_instance;

  guint      width, height;     /* pixels; 0: nothing is shown */
  guint      step;              /* elements of the tensor for a pixel, in each direction */
  float     *levels;            /* 0 … 1, or −1 … 1 for a difference; NaN: no element, or not finite */
  gboolean   is_difference;
  cairo_surface_t *surface;     /* nullable: made when first drawn */
  gboolean   has_hover;
  guint      row, column;       /* pixels */
  int            least;           /* width and height that it asks for; 0: as beside others */
};

G_DEFINE_FINAL_TYPE (VnTensorPicture, vn_tensor_picture, GTK_TYPE_WIDGET)

/* ---- drawing ---- */

static guint32
tensor_picture_get_color (VnTensorPicture *self,
                          gboolean         dark,
                          float            level)
{
  VnColor color;

  if (isnan (level))
    return 0;
  if (self->is_difference)
    color = vn_heat_difference (dark, level);
  else
    color = (VnColor) { 0.05 + 0.95 * level, 0.05 + 0.95 * level, 0.05 + 0.95 * level };
  return 0xff000000u | (guint32) lround (color.r * 255) << 16 | (guint32) lround (color.g * 255) << 8 |
         (guint32) lround (color.b * 255);
}

static void
tensor_picture_make_surface (VnTensorPicture *self)
{
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  guint8 *data;
  int stride;

  self->surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, (int) self->width, (int) self->height);
  if (cairo_surface_status (self->surface) != CAIRO_STATUS_SUCCESS)
    return;
  data = cairo_image_surface_get_data (self->surface);
  stride = cairo_image_surface_get_stride (self->surface);
  for (guint row = 0; row < self->height; row++)
    for (guint column = 0; column < self->width; column++)
      ((guint32 *) (gpointer) (data + (gsize) row * (gsize) stride))[column] =
        tensor_picture_get_color (self, dark, self->levels[(gsize) row * self->width + column]);
  cairo_surface_mark_dirty (self->surface);
}

/* Pixels are square where there is room for that; else they fill the widget. */
static graphene_rect_t
tensor_picture_get_frame (VnTensorPicture *self)
{
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)), height = (float) gtk_widget_get_height (GTK_WIDGET (self));
  float scale = MIN (width / (float) self->width, height / (float) self->height);
  float w = MAX ((float) self->width * scale, MIN (width, 12)), h = MAX ((float) self->height * scale, MIN (height, 12));

  return GRAPHENE_RECT_INIT (floorf ((width - w) / 2), 0, w, h);
}

static void
vn_tensor_picture_snapshot (GtkWidget   *widget,
                            GtkSnapshot *snapshot)
{
  VnTensorPicture *self = VN_TENSOR_PICTURE (widget);
  graphene_rect_t frame, pixel;
  float w, h;
  cairo_t *cr;

  if (self->width == 0)
    return;
  if (self->surface == NULL)
    tensor_picture_make_surface (self);
  frame = tensor_picture_get_frame (self);
  cr = gtk_snapshot_append_cairo (snapshot, &frame);
  cairo_translate (cr, frame.origin.x, frame.origin.y);
  cairo_scale (cr, frame.size.width / self->width, frame.size.height / self->height);
  cairo_set_source_surface (cr, self->surface, 0, 0);
  cairo_pattern_set_filter (cairo_get_source (cr), CAIRO_FILTER_NEAREST);
  cairo_paint (cr);
  cairo_destroy (cr);
  if (!self->has_hover)
    return;
  w = frame.size.width / (float) self->width;
  h = frame.size.height / (float) self->height;
  pixel = GRAPHENE_RECT_INIT (frame.origin.x + (float) self->column * w - 1, frame.origin.y + (float) self->row * h - 1, w + 2,
                              h + 2);
  gtk_snapshot_append_border (snapshot, &GSK_ROUNDED_RECT_INIT (pixel.origin.x, pixel.origin.y, pixel.size.width,
                                                                pixel.size.height),
                              (float[4]) { 2, 2, 2, 2 }, (GdkRGBA[4]) { { 0.21f, 0.52f, 0.89f, 1 }, { 0.21f, 0.52f, 0.89f, 1 },
                                                                       { 0.21f, 0.52f, 0.89f, 1 }, { 0.21f, 0.52f, 0.89f, 1 } });
}

static void
tensor_picture_style_changed (VnTensorPicture *self)
{
  g_clear_pointer (&self->surface, cairo_surface_destroy);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- pointer ---- */

static void
tensor_picture_take_hover (VnTensorPicture *self,
                           gboolean         has_hover,
                           guint            row,
                           guint            column)
{
  if (has_hover == self->has_hover && row == self->row && column == self->column)
    return;
  self->has_hover = has_hover;
  self->row = row;
  self->column = column;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "hover-changed");
}

static void
tensor_picture_motion (VnTensorPicture *self,
                       double           x,
                       double           y)
{
  graphene_rect_t frame;

  if (self->width == 0)
    return;
  frame = tensor_picture_get_frame (self);
  x = (x - frame.origin.x) / frame.size.width * self->width;
  y = (y - frame.origin.y) / frame.size.height * self->height;
  if (x >= 0 && y >= 0 && x < self->width && y < self->height)
    tensor_picture_take_hover (self, TRUE, (guint) y, (guint) x);
  else
    tensor_picture_take_hover (self, FALSE, 0, 0);
}

static void
tensor_picture_leave (VnTensorPicture *self)
{
  tensor_picture_take_hover (self, FALSE, 0, 0);
}

/* ---- widget ---- */

static void
vn_tensor_picture_measure (GtkWidget      *widget,
                           GtkOrientation  orientation,
                           int             for_size,
                           int            *minimum,
                           int            *natural,
                           int            *minimum_baseline,
                           int            *natural_baseline)
{
  VnTensorPicture *self = VN_TENSOR_PICTURE (widget);

  *minimum = self->least > 0 ? self->least : 120;
  *natural = self->least > 0 ? self->least : 188;
}

static void
vn_tensor_picture_finalize (GObject *object)
{
  VnTensorPicture *self = VN_TENSOR_PICTURE (object);

  g_clear_pointer (&self->surface, cairo_surface_destroy);
  g_free (self->levels);
  G_OBJECT_CLASS (vn_tensor_picture_parent_class)->finalize (object);
}

static void
vn_tensor_picture_class_init (VnTensorPictureClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = vn_tensor_picture_finalize;
  widget_class->snapshot = vn_tensor_picture_snapshot;
  widget_class->measure = vn_tensor_picture_measure;
  g_signal_new ("hover-changed", VN_TYPE_TENSOR_PICTURE, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_tensor_picture_init (VnTensorPicture *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();

  g_signal_connect_swapped (motion, "motion", G_CALLBACK (tensor_picture_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (tensor_picture_leave), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (tensor_picture_style_changed), self,
                           G_CONNECT_SWAPPED);
}

GtkWidget *
vn_tensor_picture_new (void)
{
  return g_object_new (VN_TYPE_TENSOR_PICTURE, NULL);
}

/**
 * vn_tensor_picture_set_least:
 * @least: width and height that it asks for; 0: what the pane beside others needs
 */
void
vn_tensor_picture_set_least (VnTensorPicture *self,
                             int              least)
{
  g_return_if_fail (VN_IS_TENSOR_PICTURE (self) && least >= 0);

  self->least = least;
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

static void
tensor_picture_clear (VnTensorPicture *self)
{
  self->width = self->height = 0;
  self->has_hover = FALSE;
  g_clear_pointer (&self->surface, cairo_surface_destroy);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/**
 * vn_tensor_picture_set:
 * @layout: of the tensor
 * @values: its elements
 * @minus: (nullable): subtracted from them: the difference is shown
 * @low, @high: what is drawn darkest and lightest; of a difference the largest to either side
 */
void
vn_tensor_picture_set (VnTensorPicture      *self,
                       const VnTensorLayout *layout,
                       gsize                 channel,
                       const float          *values,
                       const float          *minus,
                       double                low,
                       double                high)
{
  gsize most;

  g_return_if_fail (VN_IS_TENSOR_PICTURE (self) && layout != NULL && values != NULL);

  tensor_picture_clear (self);
  most = MAX (layout->n_rows, layout->n_columns);
  if (layout->n_rows == 0 || layout->n_columns == 0)
    return;
  self->step = (guint) ((most + MOST_PIXELS - 1) / MOST_PIXELS);
  self->width = (guint) ((layout->n_columns + self->step - 1) / self->step);
  self->height = (guint) ((layout->n_rows + self->step - 1) / self->step);
  self->is_difference = minus != NULL;
  g_free (self->levels);
  self->levels = g_new (float, (gsize) self->width * self->height);
  for (guint row = 0; row < self->height; row++)
    for (guint column = 0; column < self->width; column++)
      {
        float *level = &self->levels[(gsize) row * self->width + column];
        gsize index;

        *level = NAN;
        if (!vn_tensor_layout_get_index (layout, channel, (gsize) row * self->step, (gsize) column * self->step, &index))
          continue;
        if (minus != NULL)
          *level = high > 0 ? (float) CLAMP ((values[index] - minus[index]) / high, -1, 1) : 0;
        else
          *level = high > low ? (float) CLAMP ((values[index] - low) / (high - low), 0, 1) : 0.5f;
      }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/**
 * vn_tensor_picture_get_hover:
 * @row, @column: (out): of the tensor's picture
 *
 * Returns: %FALSE: the pointer is not over a pixel
 */
gboolean
vn_tensor_picture_get_hover (VnTensorPicture *self,
                             guint           *row,
                             guint           *column)
{
  g_return_val_if_fail (VN_IS_TENSOR_PICTURE (self) && row != NULL && column != NULL, FALSE);

  *row = self->row * self->step;
  *column = self->column * self->step;
  return self->has_hover && self->width > 0;
}

/**
 * vn_tensor_picture_set_hover:
 * @row, @column: of the tensor's picture
 *
 * Marks a pixel, as if the pointer were over it. Emits nothing.
 */
void
vn_tensor_picture_set_hover (VnTensorPicture *self,
                             gboolean         has_hover,
                             guint            row,
                             guint            column)
{
  g_return_if_fail (VN_IS_TENSOR_PICTURE (self));

  self->has_hover = has_hover && self->width > 0;
  self->row = self->step > 0 ? row / self->step : 0;
  self->column = self->step > 0 ? column / self->step : 0;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
