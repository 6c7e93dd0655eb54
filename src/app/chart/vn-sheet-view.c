/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that shows a page of a report: drawn into pixels by a thread, so that nothing waits for a large network. */
#include "vn-sheet-view.h"

#include "vn-i18n.h"
#include "vn-thread.h"

#include <math.h>

struct _VnSheetView
{
  GtkWidget        parent_instance;

  cairo_surface_t *drawn;      /* nullable */
  double           width, height;
  GdkTexture      *texture;    /* (nullable): of @drawn, or of what was shown before it */
  gboolean         is_fresh;   /* @texture is of @drawn */
  GCancellable    *drawing;    /* (nullable): a texture is on its way */
  int              drawing_width;
  gboolean         near;

  GArray          *links;      /* (nullable): of VnReportLink */
  int              at;         /* of the link that has the focus; -1: none */
};

enum { NODE_ACTIVATED, N_SIGNALS };

static guint sheet_view_signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (VnSheetView, vn_sheet_view, GTK_TYPE_WIDGET)

/* ---- pixels ---- */

typedef struct
{
  cairo_surface_t *drawn;
  int              width, height;
  double           scale;
} Drawing;

static void
sheet_view_free_drawing (gpointer data)
{
  Drawing *self = data;

  cairo_surface_destroy (self->drawn);
  g_free (self);
}

/* One recording is played by one thread at a time. */
static void
sheet_view_play (const Drawing *self,
                 cairo_t       *cr)
{
  static GMutex lock;

  g_mutex_lock (&lock);
  cairo_set_source_rgb (cr, 1, 1, 1);
  cairo_paint (cr);
  cairo_scale (cr, self->scale, self->scale);
  cairo_set_source_surface (cr, self->drawn, 0, 0);
  cairo_paint (cr);
  g_mutex_unlock (&lock);
}

static void
sheet_view_unref_pixels (gpointer data)
{
  cairo_surface_destroy (data);
}

static void
sheet_view_draw (GTask        *task,
                 gpointer      source,
                 gpointer      data,
                 GCancellable *cancellable)
{
  const Drawing *self = data;
  cairo_surface_t *pixels;
  g_autoptr(GBytes) bytes = NULL;
  cairo_t *cr;

  if (g_task_return_error_if_cancelled (task))
    return;
  pixels = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, self->width, self->height);
  cr = cairo_create (pixels);
  sheet_view_play (self, cr);
  cairo_destroy (cr);
  cairo_surface_flush (pixels);
  if (cairo_surface_status (pixels) != CAIRO_STATUS_SUCCESS)
    {
      g_task_return_new_error (task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", cairo_status_to_string (cairo_surface_status (pixels)));
      cairo_surface_destroy (pixels);
      return;
    }
  bytes = g_bytes_new_with_free_func (cairo_image_surface_get_data (pixels),
                                      (gsize) cairo_image_surface_get_stride (pixels) * (gsize) self->height,
                                      sheet_view_unref_pixels, pixels);
  g_task_return_pointer (task, gdk_memory_texture_new (self->width, self->height, GDK_MEMORY_DEFAULT, bytes,
                                                       (gsize) cairo_image_surface_get_stride (pixels)), g_object_unref);
}

static void
sheet_view_take_texture (GObject      *source,
                         GAsyncResult *result,
                         gpointer      data)
{
  VnSheetView *self = VN_SHEET_VIEW (source);
  GdkTexture *texture = g_task_propagate_pointer (G_TASK (result), NULL);

  if (g_cancellable_is_cancelled (g_task_get_cancellable (G_TASK (result))))
    {
      g_clear_object (&texture);
      return;
    }
  g_clear_object (&self->drawing);
  if (texture == NULL)
    return;
  g_clear_object (&self->texture);
  self->texture = texture;
  self->is_fresh = TRUE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
sheet_view_stop (VnSheetView *self)
{
  if (self->drawing != NULL)
    g_cancellable_cancel (self->drawing);
  g_clear_object (&self->drawing);
}

static int
sheet_view_get_pixels (VnSheetView *self)
{
  return gtk_widget_get_width (GTK_WIDGET (self)) * gtk_widget_get_scale_factor (GTK_WIDGET (self));
}

/**
 * vn_sheet_view_is_sharp:
 *
 * Returns: whether the page is seen as it is, in all its pixels
 */
gboolean
vn_sheet_view_is_sharp (VnSheetView *self)
{
  g_return_val_if_fail (VN_IS_SHEET_VIEW (self), FALSE);

  return self->texture != NULL && self->is_fresh && gdk_texture_get_width (self->texture) == sheet_view_get_pixels (self);
}

static void
sheet_view_begin (VnSheetView *self)
{
  const int width = sheet_view_get_pixels (self);
  g_autoptr(GTask) task = NULL;
  Drawing *drawing;

  if (!self->near || self->drawn == NULL || width <= 0 || vn_sheet_view_is_sharp (self) ||
      (self->drawing != NULL && self->drawing_width == width))
    return;
  sheet_view_stop (self);
  drawing = g_new0 (Drawing, 1);
  *drawing = (Drawing) { cairo_surface_reference (self->drawn), width,
                         gtk_widget_get_height (GTK_WIDGET (self)) * gtk_widget_get_scale_factor (GTK_WIDGET (self)),
                         width / self->width };
  self->drawing = g_cancellable_new ();
  self->drawing_width = width;
  task = g_task_new (self, self->drawing, sheet_view_take_texture, NULL);
  g_task_set_task_data (task, drawing, sheet_view_free_drawing);
  /* a pool of threads: while a window is being resized, many are begun and given up */
  vn_thread_run_pooled (task, sheet_view_draw);
}

/* ---- links ---- */

static double
sheet_view_get_scale (VnSheetView *self)
{
  return self->width > 0 ? gtk_widget_get_width (GTK_WIDGET (self)) / self->width : 1;
}

static const VnReportLink *
sheet_view_get_link (VnSheetView *self,
                     int          i)
{
  return self->links != NULL && i >= 0 && i < (int) self->links->len ? &g_array_index (self->links, VnReportLink, i) : NULL;
}

/* The smallest one there: boxes lie above what they are in. */
static const VnReportLink *
sheet_view_find_link (VnSheetView *self,
                      double       x,
                      double       y)
{
  const double scale = sheet_view_get_scale (self);
  const VnReportLink *found = NULL, *link;

  for (int i = 0; (link = sheet_view_get_link (self, i)) != NULL; i++)
    if (x >= link->x * scale && x < (link->x + link->width) * scale && y >= link->y * scale &&
        y < (link->y + link->height) * scale &&
        (found == NULL || link->width * link->height < found->width * found->height))
      found = link;
  return found;
}

static void
sheet_view_clicked (VnSheetView *self,
                    int          n_press,
                    double       x,
                    double       y)
{
  const VnReportLink *link = sheet_view_find_link (self, x, y);

  if (link != NULL)
    g_signal_emit (self, sheet_view_signals[NODE_ACTIVATED], 0, link->node);
}

static void
sheet_view_hovered (VnSheetView *self,
                    double       x,
                    double       y)
{
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), sheet_view_find_link (self, x, y) != NULL ? "pointer" : NULL);
}

static gboolean
vn_sheet_view_query_tooltip (GtkWidget  *widget,
                             int         x,
                             int         y,
                             gboolean    by_keyboard,
                             GtkTooltip *tooltip)
{
  VnSheetView *self = VN_SHEET_VIEW (widget);
  const VnReportLink *link = by_keyboard ? sheet_view_get_link (self, self->at) : sheet_view_find_link (self, x, y);
  const double scale = sheet_view_get_scale (self);

  if (link == NULL)
    return FALSE;
  gtk_tooltip_set_text (tooltip, link->title);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle) { (int) (link->x * scale), (int) (link->y * scale),
                                                       (int) ceil (link->width * scale),
                                                       (int) ceil (link->height * scale) });
  return TRUE;
}

/* The next of the rows: boxes of a network are too many to be gone through by keys. -1: there is none */
static int
sheet_view_find_next (VnSheetView *self,
                      int          at,
                      int          step)
{
  const VnReportLink *link;

  for (at += step; (link = sheet_view_get_link (self, at)) != NULL; at += step)
    if (link->weight >= VN_REPORT_ROW_WEIGHT)
      return at;
  return -1;
}

static void
sheet_view_set_at (VnSheetView *self,
                   int          at)
{
  const VnReportLink *link = sheet_view_get_link (self, at);

  self->at = at;
  if (link != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, link->title, -1);
  else
    gtk_accessible_reset_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Tab goes from row to row before it leaves the page. */
static gboolean
vn_sheet_view_focus (GtkWidget        *widget,
                     GtkDirectionType  direction)
{
  VnSheetView *self = VN_SHEET_VIEW (widget);
  const int step = direction == GTK_DIR_TAB_FORWARD ? 1 : direction == GTK_DIR_TAB_BACKWARD ? -1 : 0;
  const int n = self->links != NULL ? (int) self->links->len : 0;
  int at = -1;

  if (gtk_widget_has_focus (widget) && step != 0)
    at = sheet_view_find_next (self, self->at, step);
  else if (!gtk_widget_has_focus (widget) && step < 0)
    at = sheet_view_find_next (self, n, -1);
  if (gtk_widget_has_focus (widget) && at < 0)
    {
      sheet_view_set_at (self, -1);
      return FALSE;
    }
  sheet_view_set_at (self, at);
  return gtk_widget_has_focus (widget) || gtk_widget_grab_focus (widget);
}

static gboolean
sheet_view_activate (GtkWidget *widget,
                     GVariant  *args,
                     gpointer   data)
{
  VnSheetView *self = VN_SHEET_VIEW (widget);
  const VnReportLink *link = sheet_view_get_link (self, self->at);

  if (link != NULL)
    g_signal_emit (self, sheet_view_signals[NODE_ACTIVATED], 0, link->node);
  return link != NULL;
}

static void
sheet_view_draw_focus (VnSheetView *self,
                       GtkSnapshot *snapshot)
{
  const VnReportLink *link = gtk_widget_has_focus (GTK_WIDGET (self)) ? sheet_view_get_link (self, self->at) : NULL;
  const float scale = (float) sheet_view_get_scale (self), width[4] = { 2, 2, 2, 2 };
  const GdkRGBA blue = { 0.208f, 0.518f, 0.894f, 0.8f };
  const GdkRGBA colors[4] = { blue, blue, blue, blue };
  GskRoundedRect outline;

  if (link == NULL)
    return;
  gsk_rounded_rect_init_from_rect (&outline, &GRAPHENE_RECT_INIT ((float) link->x * scale - 4, (float) link->y * scale - 1,
                                                                  (float) link->width * scale + 8, (float) link->height * scale
                                                                  + 2), 4);
  gtk_snapshot_append_border (snapshot, &outline, width, colors);
}

/* ---- the widget ---- */

static void
vn_sheet_view_measure (GtkWidget      *widget,
                       GtkOrientation  orientation,
                       int             for_size,
                       int            *minimum,
                       int            *natural,
                       int            *minimum_baseline,
                       int            *natural_baseline)
{
  VnSheetView *self = VN_SHEET_VIEW (widget);
  const double ratio = self->width > 0 ? self->height / self->width : 0;

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      *minimum = 200;
      *natural = 900;
    }
  else
    *minimum = *natural = (int) round (ratio * (for_size >= 0 ? for_size : 200));
}

static void
vn_sheet_view_snapshot (GtkWidget   *widget,
                        GtkSnapshot *snapshot)
{
  VnSheetView *self = VN_SHEET_VIEW (widget);
  const float width = (float) gtk_widget_get_width (widget);

  sheet_view_begin (self);
  if (self->texture == NULL)
    return;
  gtk_snapshot_append_texture (snapshot, self->texture,
                               &GRAPHENE_RECT_INIT (0, 0, width, width * (float) gdk_texture_get_height (self->texture) /
                                                                 (float) gdk_texture_get_width (self->texture)));
  sheet_view_draw_focus (self, snapshot);
}

static void
vn_sheet_view_dispose (GObject *object)
{
  VnSheetView *self = VN_SHEET_VIEW (object);

  sheet_view_stop (self);
  g_clear_object (&self->texture);
  g_clear_pointer (&self->drawn, cairo_surface_destroy);
  g_clear_pointer (&self->links, g_array_unref);
  G_OBJECT_CLASS (vn_sheet_view_parent_class)->dispose (object);
}

static GtkSizeRequestMode
vn_sheet_view_get_request_mode (GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
vn_sheet_view_class_init (VnSheetViewClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_sheet_view_dispose;
  class->measure = vn_sheet_view_measure;
  class->snapshot = vn_sheet_view_snapshot;
  class->focus = vn_sheet_view_focus;
  class->query_tooltip = vn_sheet_view_query_tooltip;
  class->get_request_mode = vn_sheet_view_get_request_mode;
  gtk_widget_class_set_css_name (class, "sheet");
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_IMG);
  gtk_widget_class_add_binding (class, GDK_KEY_Return, 0, sheet_view_activate, NULL);
  gtk_widget_class_add_binding (class, GDK_KEY_KP_Enter, 0, sheet_view_activate, NULL);
  gtk_widget_class_add_binding (class, GDK_KEY_space, 0, sheet_view_activate, NULL);

  /* node-activated (node): its index in the model as opened */
  sheet_view_signals[NODE_ACTIVATED] = g_signal_new ("node-activated", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL,
                                                     NULL, NULL,
                                                     G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
vn_sheet_view_init (VnSheetView *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();

  self->at = -1;
  g_signal_connect_swapped (click, "released", G_CALLBACK (sheet_view_clicked), self);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (sheet_view_hovered), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
}

GtkWidget *
vn_sheet_view_new (void)
{
  return g_object_new (VN_TYPE_SHEET_VIEW, NULL);
}

/**
 * vn_sheet_view_set_sheet:
 * @number: of the page, from 1
 * @n_sheets: how many there are
 *
 * What was shown before stays until this one is drawn.
 */
void
vn_sheet_view_set_sheet (VnSheetView         *self,
                         const VnReportSheet *sheet,
                         guint                number,
                         guint                n_sheets)
{
  g_autofree char *label = NULL;

  g_return_if_fail (VN_IS_SHEET_VIEW (self) && sheet != NULL);

  sheet_view_stop (self);
  g_clear_pointer (&self->drawn, cairo_surface_destroy);
  self->drawn = cairo_surface_reference (sheet->drawn);
  g_clear_pointer (&self->links, g_array_unref);
  self->links = g_array_ref (sheet->links);
  sheet_view_set_at (self, -1);
  self->width = sheet->width;
  self->height = sheet->height;
  self->is_fresh = FALSE;
  label = g_strdup_printf (_("Page %u of %u"), number, n_sheets);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label,
                                  GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, sheet->text, -1);
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/**
 * vn_sheet_view_set_near:
 * @near: it is seen, or soon will be
 */
void
vn_sheet_view_set_near (VnSheetView *self,
                        gboolean     near)
{
  g_return_if_fail (VN_IS_SHEET_VIEW (self));

  if (!self->near == !near)
    return;
  self->near = near;
  if (!near)
    {
      sheet_view_stop (self);
      g_clear_object (&self->texture);
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
