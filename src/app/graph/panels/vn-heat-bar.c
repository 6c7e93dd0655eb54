/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error scale under the graph: a bar with two handles (fine and bad) that the user can move by pointer and
 * keyboard. */
#include "vn-heat-bar.h"

#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define BAR_HEIGHT     12
#define SCALE_HEIGHT   20    /* ticks and figures above the bar, and again below */
#define HANDLE_WIDTH   10
#define HANDLE_HEIGHT  12
#define TOUCH_WIDTH    20    /* of a handle's widget */
#define STEP           0.5   /* dB an arrow key moves */
#define LEAST_APART    1.

enum { FINE, BAD, N_HANDLES };

struct _VnHeatBar
{
  GtkWidget      parent_instance;

  GtkWidget     *handles[N_HANDLES];
  VnMetric       metric;
  double         value[N_HANDLES];      /* on the axis */
  double         start[N_HANDLES];      /* where they go back to */
  double         best, worst;           /* ends of the axis */
  double         drag_from;
  double         threshold;             /* NaN: none is being dragged */
};

G_DEFINE_FINAL_TYPE (VnHeatBar, vn_heat_bar, GTK_TYPE_WIDGET)

static double
heat_bar_place_of (VnHeatBar *self,
                   double     axis)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - TOUCH_WIDTH;

  return TOUCH_WIDTH / 2. + width * (self->best - axis) / (self->best - self->worst);
}

static void
heat_bar_format_value (VnHeatBar *self,
                       double     axis,
                       char      *text,
                       gsize      size)
{
  double value = vn_heat_from_axis (self->metric, axis);
  VnMetricScale scale = vn_metric_get_info (self->metric)->scale;

  if (scale == VN_SCALE_DB)
    g_snprintf (text, size, "%s%g", value < 0 ? "\u2212" : "", fabs (value));
  else if (scale == VN_SCALE_SHARE)
    g_snprintf (text, size, "%.3g\u00a0%%", 100 * value);
  else
    g_snprintf (text, size, "%.*g", scale == VN_SCALE_COSINE ? 6 : 3, value);
}

static void
heat_bar_describe_handle (VnHeatBar *self,
                          guint      which)
{
  g_autofree char *text = NULL;
  gboolean decibels = vn_metric_get_info (self->metric)->scale == VN_SCALE_DB;
  char value[32], ratio[32];

  heat_bar_format_value (self, self->value[which], value, sizeof value);
  g_snprintf (ratio, sizeof ratio, "%.3g", pow (10, -self->value[which] / 10));
  if (decibels && which == FINE)
    text = g_strdup_printf (_("Fine above %s\u00a0dB (noise under %s)"), value, ratio);
  else if (decibels)
    text = g_strdup_printf (_("Bad below %s\u00a0dB (noise over %s)"), value, ratio);
  else if (vn_metric_is_higher_better (self->metric))
    text = g_strdup_printf (which == FINE ? _("Fine above %s") : _("Bad below %s"), value);
  else
    text = g_strdup_printf (which == FINE ? _("Fine under %s") : _("Bad over %s"), value);
  gtk_widget_set_tooltip_text (self->handles[which], text);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self->handles[which]),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, which == FINE ? _("Fine") : _("Bad"),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, self->worst,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, self->best,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, self->value[which],
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text,
                                  -1);
}

static void
heat_bar_update (VnHeatBar *self)
{
  heat_bar_describe_handle (self, FINE);
  heat_bar_describe_handle (self, BAD);
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* Moves one handle; the other stays, so it may not pass. */
static void
heat_bar_move_handle (VnHeatBar *self,
                      guint      which,
                      double     axis)
{
  double low = which == FINE ? self->value[BAD] + LEAST_APART : self->worst;
  double high = which == FINE ? self->best : self->value[FINE] - LEAST_APART;

  axis = CLAMP (round (axis / STEP) * STEP, low, high);
  if (axis == self->value[which])
    return;
  self->value[which] = axis;
  heat_bar_update (self);
  g_signal_emit_by_name (self, "handles-changed");
}

static guint
heat_bar_which_handle (VnHeatBar          *self,
                       GtkEventController *controller)
{
  return gtk_event_controller_get_widget (controller) == self->handles[FINE] ? FINE : BAD;
}

/* ---- input ---- */

static void
heat_bar_drag_begin (GtkGestureDrag *gesture,
                     double          x,
                     double          y,
                     VnHeatBar      *self)
{
  guint which = heat_bar_which_handle (self, GTK_EVENT_CONTROLLER (gesture));

  gtk_widget_grab_focus (self->handles[which]);
  self->drag_from = self->value[which];
}

static void
heat_bar_drag_update (GtkGestureDrag *gesture,
                      double          dx,
                      double          dy,
                      VnHeatBar      *self)
{
  guint which = heat_bar_which_handle (self, GTK_EVENT_CONTROLLER (gesture));
  double start_x = 0, start_y = 0, width = gtk_widget_get_width (GTK_WIDGET (self)) - TOUCH_WIDTH;
  double shift = heat_bar_place_of (self, self->drag_from) - heat_bar_place_of (self, self->value[which]);

  /* the handle's widget moves with it: offsets count from where it was when the drag began */
  gtk_gesture_drag_get_start_point (gesture, &start_x, &start_y);
  heat_bar_move_handle (self, which, self->drag_from - (dx - shift) / width * (self->best - self->worst));
}

static gboolean
heat_bar_key_pressed (GtkEventControllerKey *controller,
                      guint                  keyval,
                      guint                  keycode,
                      GdkModifierType        modifiers,
                      VnHeatBar             *self)
{
  guint which = heat_bar_which_handle (self, GTK_EVENT_CONTROLLER (controller));
  double step = modifiers & GDK_SHIFT_MASK ? 10 * STEP : STEP;

  switch (keyval)
    {
    case GDK_KEY_Left:
    case GDK_KEY_Up:
    case GDK_KEY_KP_Left:
    case GDK_KEY_KP_Up:
      heat_bar_move_handle (self, which, self->value[which] + step);
      return TRUE;
    case GDK_KEY_Right:
    case GDK_KEY_Down:
    case GDK_KEY_KP_Right:
    case GDK_KEY_KP_Down:
      heat_bar_move_handle (self, which, self->value[which] - step);
      return TRUE;
    case GDK_KEY_Home:
      heat_bar_move_handle (self, which, self->start[which]);
      return TRUE;
    default:
      return FALSE;
    }
}

static void
heat_bar_pressed (GtkGestureClick *gesture,
                  int              n_press,
                  double           x,
                  double           y,
                  VnHeatBar       *self)
{
  if (n_press != 2)
    return;
  self->value[FINE] = self->start[FINE];
  self->value[BAD] = self->start[BAD];
  heat_bar_update (self);
  g_signal_emit_by_name (self, "handles-changed");
}

/* ---- threshold ---- */

static void
heat_bar_set_threshold (VnHeatBar *self,
                        double     x,
                        gboolean   is_over)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self)) - TOUCH_WIDTH;
  double axis = self->best - (CLAMP (x, TOUCH_WIDTH / 2., TOUCH_WIDTH / 2. + width) - TOUCH_WIDTH / 2.) / width
                             * (self->best - self->worst);

  axis = round (axis / STEP) * STEP;
  self->threshold = is_over ? NAN : axis;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "threshold-dragged", axis, is_over);
}

static void
heat_bar_threshold_begin (GtkGestureDrag *gesture,
                          double          x,
                          double          y,
                          VnHeatBar      *self)
{
  if (gtk_widget_pick (GTK_WIDGET (self), x, y, GTK_PICK_DEFAULT) != GTK_WIDGET (self))
    gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
}

static void
heat_bar_threshold_update (GtkGestureDrag *gesture,
                           double          dx,
                           double          dy,
                           VnHeatBar      *self)
{
  double x = 0, y = 0;

  gtk_gesture_drag_get_start_point (gesture, &x, &y);
  if (!isnan (self->threshold) || fabs (dx) > 3)
    heat_bar_set_threshold (self, x + dx, FALSE);
}

static void
heat_bar_threshold_end (GtkGestureDrag *gesture,
                        double          dx,
                        double          dy,
                        VnHeatBar      *self)
{
  double x = 0, y = 0;

  gtk_gesture_drag_get_start_point (gesture, &x, &y);
  if (!isnan (self->threshold))
    heat_bar_set_threshold (self, x + dx, TRUE);
}

/* ---- drawing ---- */

/* What is dragged: all that is worse is marked. */
static void
heat_bar_draw_threshold (VnHeatBar *self,
                         cairo_t   *cr)
{
  VnColor accent = vn_color_from_hex (0x3584e4);
  double x, end = gtk_widget_get_width (GTK_WIDGET (self)) - TOUCH_WIDTH / 2.;

  if (isnan (self->threshold))
    return;
  x = heat_bar_place_of (self, self->threshold);
  cairo_set_source_rgb (cr, accent.r, accent.g, accent.b);
  cairo_rectangle (cr, x - 1, SCALE_HEIGHT - 5, 2, BAR_HEIGHT + 10);
  cairo_rectangle (cr, x, SCALE_HEIGHT + BAR_HEIGHT + 1, MAX (end - x, 0), 3);
  cairo_fill (cr);
}

static gboolean
heat_bar_is_dark (void)
{
  return adw_style_manager_get_dark (adw_style_manager_get_default ());
}

static void
heat_bar_rounded (cairo_t *cr,
                  double   x,
                  double   y,
                  double   width,
                  double   height,
                  double   radius)
{
  cairo_new_sub_path (cr);
  cairo_arc (cr, x + width - radius, y + radius, radius, -G_PI_2, 0);
  cairo_arc (cr, x + width - radius, y + height - radius, radius, 0, G_PI_2);
  cairo_arc (cr, x + radius, y + height - radius, radius, G_PI_2, G_PI);
  cairo_arc (cr, x + radius, y + radius, radius, G_PI, 3 * G_PI_2);
  cairo_close_path (cr);
}

static void
heat_bar_draw_handle (GtkDrawingArea *area,
                      cairo_t        *cr,
                      int             width,
                      int             height,
                      gpointer        user_data)
{
  double x = (width - HANDLE_WIDTH) / 2., y = (height - HANDLE_HEIGHT) / 2.;
  gboolean focused = gtk_widget_has_focus (GTK_WIDGET (area)), dark = heat_bar_is_dark ();
  VnColor accent = vn_color_from_hex (0x3584e4);

  cairo_set_source_rgb (cr, dark ? 1 : 0, dark ? 1 : 0, dark ? 1 : 0);
  cairo_set_line_width (cr, 1.5);
  cairo_move_to (cr, width / 2., y - 4);
  cairo_line_to (cr, width / 2., y + HANDLE_HEIGHT + 4);
  cairo_stroke (cr);
  heat_bar_rounded (cr, x + 0.75, y + 0.75, HANDLE_WIDTH - 1.5, HANDLE_HEIGHT - 1.5, (HANDLE_WIDTH - 1.5) / 2);
  cairo_set_source_rgb (cr, dark ? 0.9 : 1, dark ? 0.9 : 1, dark ? 0.9 : 1);
  cairo_fill_preserve (cr);
  cairo_set_source_rgb (cr, 0, 0, 0);
  if (focused)
    cairo_set_source_rgb (cr, accent.r, accent.g, accent.b);
  cairo_set_line_width (cr, focused ? 2.5 : 1.5);
  cairo_stroke (cr);
}

static void
heat_bar_draw_figure (VnHeatBar   *self,
                      cairo_t     *cr,
                      PangoLayout *layout,
                      const char  *text,
                      double       x,
                      double       y)
{
  int width, height;
  double all = gtk_widget_get_width (GTK_WIDGET (self));

  pango_layout_set_text (layout, text, -1);
  pango_layout_get_pixel_size (layout, &width, &height);
  cairo_move_to (cr, CLAMP (x - width / 2., 0, all - width), y);
  pango_cairo_show_layout (cr, layout);
}

/* A vernier: ticks every unit, longer every five and ten, from both sides towards the bar. */
static void
heat_bar_draw_ticks (VnHeatBar *self,
                     cairo_t   *cr)
{
  double top = SCALE_HEIGHT, bottom = SCALE_HEIGHT + BAR_HEIGHT;
  gboolean is_coarse = self->best - self->worst > 60;

  cairo_set_line_width (cr, 1);
  for (int axis = (int) self->worst; axis <= (int) self->best; axis += is_coarse ? 5 : 1)
    {
      double length = axis % 10 == 0 ? 5 : axis % 5 == 0 ? 4 : 2;
      double x = floor (heat_bar_place_of (self, axis)) + 0.5;

      cairo_move_to (cr, x, top - 1);
      cairo_line_to (cr, x, top - 1 - length);
      cairo_move_to (cr, x, bottom + 1);
      cairo_line_to (cr, x, bottom + 1 + length);
    }
  cairo_stroke (cr);
}

static void
heat_bar_draw_figures (VnHeatBar *self,
                       cairo_t   *cr)
{
  g_autoptr(PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  PangoAttrList *attrs = pango_attr_list_new ();
  char text[32];
  int decade = self->best - self->worst > 60 ? 20 : 10;
  VnMetricScale scale = vn_metric_get_info (self->metric)->scale;

  pango_attr_list_insert (attrs, pango_attr_scale_new (0.77));
  pango_attr_list_insert (attrs, pango_attr_font_features_new ("tnum"));
  pango_layout_set_attributes (layout, attrs);
  pango_attr_list_unref (attrs);
  for (int axis = (int) self->worst; axis <= (int) self->best; axis += decade)
    {
      heat_bar_format_value (self, axis, text, sizeof text);
      heat_bar_draw_figure (self, cr, layout, text, heat_bar_place_of (self, axis), -1);
      if (scale == VN_SCALE_DB || scale == VN_SCALE_RATIO)
        {
          if (scale == VN_SCALE_DB)
            g_snprintf (text, sizeof text, "%.3g", pow (10, -axis / 10.));
          else
            g_snprintf (text, sizeof text, "%d\u00a0dB", axis);
          heat_bar_draw_figure (self, cr, layout, text, heat_bar_place_of (self, axis), SCALE_HEIGHT + BAR_HEIGHT + 5);
        }
    }
}

static void
heat_bar_draw (VnHeatBar *self,
               cairo_t   *cr)
{
  VnHeatHandles handles = { self->value[FINE], self->value[BAD] };
  double left = TOUCH_WIDTH / 2., width = gtk_widget_get_width (GTK_WIDGET (self)) - TOUCH_WIDTH;

  cairo_save (cr);
  heat_bar_rounded (cr, left, SCALE_HEIGHT, width, BAR_HEIGHT, 3);
  cairo_clip (cr);
  for (int x = 0; x < (int) ceil (width); x++)
    {
      double axis = self->best - (x + 0.5) / width * (self->best - self->worst);
      VnColor color = vn_heat_color (VN_HEAT_ERROR, heat_bar_is_dark (), vn_heat_t (axis, handles));

      cairo_set_source_rgb (cr, color.r, color.g, color.b);
      cairo_rectangle (cr, left + x, SCALE_HEIGHT, 1, BAR_HEIGHT);
      cairo_fill (cr);
    }
  cairo_restore (cr);
  heat_bar_rounded (cr, left + 0.5, SCALE_HEIGHT + 0.5, width - 1, BAR_HEIGHT - 1, 2.5);
  cairo_set_line_width (cr, 1);
}

static void
vn_heat_bar_snapshot (GtkWidget   *widget,
                      GtkSnapshot *snapshot)
{
  VnHeatBar *self = VN_HEAT_BAR (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, -2, width, height + 4));
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &ink);
  heat_bar_draw (self, cr);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.4);
  cairo_stroke (cr);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.55);
  heat_bar_draw_ticks (self, cr);
  cairo_set_source_rgba (cr, ink.red, ink.green, ink.blue, 0.8);
  heat_bar_draw_figures (self, cr);
  heat_bar_draw_threshold (self, cr);
  cairo_destroy (cr);
  for (guint i = 0; i < N_HANDLES; i++)
    gtk_widget_snapshot_child (widget, self->handles[i], snapshot);
}

static void
vn_heat_bar_measure (GtkWidget      *widget,
                     GtkOrientation  orientation,
                     int             for_size,
                     int            *minimum,
                     int            *natural,
                     int            *minimum_baseline,
                     int            *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 200 : 2 * SCALE_HEIGHT + BAR_HEIGHT;
  for (guint i = 0; i < N_HANDLES; i++)
    gtk_widget_measure (VN_HEAT_BAR (widget)->handles[i], orientation, -1, NULL, NULL, NULL, NULL);
}

static void
vn_heat_bar_size_allocate (GtkWidget *widget,
                           int        width,
                           int        height,
                           int        baseline)
{
  VnHeatBar *self = VN_HEAT_BAR (widget);

  for (guint i = 0; i < N_HANDLES; i++)
    {
      double middle = heat_bar_place_of (self, CLAMP (self->value[i], self->worst, self->best));
      int x = (int) lround (middle - TOUCH_WIDTH / 2.);

      gtk_widget_size_allocate (self->handles[i],
                                &(GtkAllocation) { x, SCALE_HEIGHT - 6, TOUCH_WIDTH, BAR_HEIGHT + 12 }, -1);
    }
}

/* ---- object ---- */

static void
vn_heat_bar_dispose (GObject *object)
{
  VnHeatBar *self = VN_HEAT_BAR (object);

  for (guint i = 0; i < N_HANDLES; i++)
    g_clear_pointer (&self->handles[i], gtk_widget_unparent);
  G_OBJECT_CLASS (vn_heat_bar_parent_class)->dispose (object);
}

static void
vn_heat_bar_class_init (VnHeatBarClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = vn_heat_bar_dispose;
  widget_class->snapshot = vn_heat_bar_snapshot;
  widget_class->measure = vn_heat_bar_measure;
  widget_class->size_allocate = vn_heat_bar_size_allocate;
  g_signal_new ("handles-changed", VN_TYPE_HEAT_BAR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("threshold-dragged", VN_TYPE_HEAT_BAR, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE,
                G_TYPE_BOOLEAN);
  gtk_widget_class_set_css_name (widget_class, "heatbar");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static GtkWidget *
heat_bar_make_handle (VnHeatBar *self)
{
  GtkWidget *handle = g_object_new (GTK_TYPE_DRAWING_AREA, "focusable", TRUE, "accessible-role",
                                    GTK_ACCESSIBLE_ROLE_SLIDER, NULL);
  GtkEventController *controller;

  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (handle), heat_bar_draw_handle, NULL, NULL);
  gtk_widget_set_cursor_from_name (handle, "ew-resize");
  g_signal_connect_swapped (handle, "notify::has-focus", G_CALLBACK (gtk_widget_queue_draw), handle);
  controller = GTK_EVENT_CONTROLLER (gtk_gesture_drag_new ());
  g_signal_connect (controller, "drag-begin", G_CALLBACK (heat_bar_drag_begin), self);
  g_signal_connect (controller, "drag-update", G_CALLBACK (heat_bar_drag_update), self);
  gtk_widget_add_controller (handle, controller);
  controller = gtk_event_controller_key_new ();
  g_signal_connect (controller, "key-pressed", G_CALLBACK (heat_bar_key_pressed), self);
  gtk_widget_add_controller (handle, controller);
  gtk_widget_set_parent (handle, GTK_WIDGET (self));
  return handle;
}

static void
vn_heat_bar_init (VnHeatBar *self)
{
  GtkEventController *click = GTK_EVENT_CONTROLLER (gtk_gesture_click_new ());
  GtkEventController *drag = GTK_EVENT_CONTROLLER (gtk_gesture_drag_new ());
  VnHeatHandles handles = vn_heat_default_handles (VN_METRIC_SQNR);

  self->threshold = NAN;
  for (guint i = 0; i < N_HANDLES; i++)
    self->handles[i] = heat_bar_make_handle (self);
  gtk_event_controller_set_propagation_phase (click, GTK_PHASE_CAPTURE);
  g_signal_connect (click, "pressed", G_CALLBACK (heat_bar_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), click);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (heat_bar_threshold_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (heat_bar_threshold_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (heat_bar_threshold_end), self);
  gtk_widget_add_controller (GTK_WIDGET (self), drag);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), _("Drag across the bar to select all worse nodes; drag a handle to "
                                                    "move the threshold"));
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
  vn_heat_bar_set_metric (self, VN_METRIC_SQNR, handles, handles);
}

/* ---- public ---- */

/**
 * vn_heat_bar_new:
 *
 * Returns: (transfer floating): the bar, for SQNR, with its handles at 20 and 10 dB
 */
GtkWidget *
vn_heat_bar_new (void)
{
  return g_object_new (VN_TYPE_HEAT_BAR, NULL);
}

/**
 * vn_heat_bar_set_metric:
 * @handles: where the handles stand now
 * @defaults: where a double click puts them; the axis reaches from 20 above "fine" to 10 below "bad" of these
 *
 * Shows a metric. No signal.
 */
void
vn_heat_bar_set_metric (VnHeatBar     *self,
                        VnMetric       metric,
                        VnHeatHandles  handles,
                        VnHeatHandles  defaults)
{
  g_return_if_fail (VN_IS_HEAT_BAR (self));

  self->metric = metric;
  self->start[FINE] = defaults.fine;
  self->start[BAD] = defaults.bad;
  self->best = ceil ((defaults.fine + 20) / 10) * 10;
  self->worst = floor ((defaults.bad - 10) / 10) * 10;
  if (vn_metric_get_info (metric)->scale == VN_SCALE_SHARE)   /* there is no more than the whole */
    self->worst = MAX (self->worst, 0);
  vn_heat_bar_set_handles (self, handles);
}

/**
 * vn_heat_bar_set_handles:
 *
 * Moves the handles. No signal.
 */
void
vn_heat_bar_set_handles (VnHeatBar     *self,
                         VnHeatHandles  handles)
{
  g_return_if_fail (VN_IS_HEAT_BAR (self));

  self->value[BAD] = handles.bad;
  self->value[FINE] = MAX (handles.fine, handles.bad + LEAST_APART);
  heat_bar_update (self);
}

/**
 * vn_heat_bar_get_handles:
 *
 * Returns: where the handles stand
 */
VnHeatHandles
vn_heat_bar_get_handles (VnHeatBar *self)
{
  g_return_val_if_fail (VN_IS_HEAT_BAR (self), ((VnHeatHandles) { 0 }));

  return (VnHeatHandles) { self->value[FINE], self->value[BAD] };
}
