/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chart of mixed precision, drawn as in reports, with points to select and to apply. */
#include "vn-curve-view.h"

#include "vn-i18n.h"
#include "vn-picture.h"

#include <adwaita.h>
#include <math.h>

#define NEAR 14.0         /* pixels: what is clicked */
#define LEAST_WIDTH 320

struct _VnCurveView
{
  GtkDrawingArea  parent_instance;

  VnCurve        *curve;      /* (nullable) */
  VnCurveCost     cost;
  VnPicture      *picture;    /* (nullable) */
  GArray         *order;      /* of guint: points from left to right */
  int             selected, in_force;
};

G_DEFINE_FINAL_TYPE (VnCurveView, vn_curve_view, GTK_TYPE_DRAWING_AREA)

enum { SELECTED, ACTIVATED, N_SIGNALS };
static guint signals[N_SIGNALS];

/* ---- points ---- */

/**
 * vn_curve_view_locate_point:
 * @point: index in the curve
 * @x, @y: (out): where it is drawn now
 *
 * Returns: whether it is
 */
gboolean
vn_curve_view_locate_point (VnCurveView *self,
                            guint        point,
                            double      *x,
                            double      *y)
{
  g_return_val_if_fail (VN_IS_CURVE_VIEW (self) && x != NULL && y != NULL, FALSE);

  return self->picture != NULL && vn_picture_locate_point (self->picture, point, gtk_widget_get_width (GTK_WIDGET (self)), x, y);
}

/**
 * vn_curve_view_find_point:
 *
 * Returns: the point next to (@x, @y); -1: none is near
 */
int
vn_curve_view_find_point (VnCurveView *self,
                          double       x,
                          double       y)
{
  double nearest = NEAR;
  int found = -1;

  g_return_val_if_fail (VN_IS_CURVE_VIEW (self), -1);

  for (guint i = 0; i < self->order->len; i++)
    {
      const guint point = g_array_index (self->order, guint, i);
      double at_x, at_y;

      if (vn_curve_view_locate_point (self, point, &at_x, &at_y) && hypot (at_x - x, at_y - y) < nearest)
        {
          nearest = hypot (at_x - x, at_y - y);
          found = (int) point;
        }
    }
  return found;
}

/* Where @point is in the order from left to right; -1: nowhere. */
static int
curve_view_find_place (VnCurveView *self,
                       int          point)
{
  for (guint i = 0; i < self->order->len; i++)
    if ((int) g_array_index (self->order, guint, i) == point)
      return (int) i;
  return -1;
}

static int
curve_view_compare (gconstpointer a,
                    gconstpointer b,
                    gpointer      data)
{
  const VnCurveView *self = data;
  const guint first = *(const guint *) a, second = *(const guint *) b;
  const double x = vn_curve_point_get_cost (vn_curve_get (self->curve, first), self->cost);
  const double y = vn_curve_point_get_cost (vn_curve_get (self->curve, second), self->cost);

  return x < y ? -1 : x > y ? 1 : (int) first - (int) second;
}

static void
curve_view_sort (VnCurveView *self)
{
  g_array_set_size (self->order, 0);
  for (guint i = 0; self->curve != NULL && i < vn_curve_get_n (self->curve); i++)
    {
      double x, y;

      if (vn_picture_locate_point (self->picture, i, LEAST_WIDTH, &x, &y))
        g_array_append_val (self->order, i);
    }
  g_array_sort_with_data (self->order, curve_view_compare, self);
}

/* ---- drawing ---- */

static void
curve_view_draw_ring (VnCurveView *self,
                      VnPen       *pen,
                      int          point,
                      double       radius,
                      double       width,
                      VnShade      shade)
{
  const VnStroke ring = { .line = shade, .width = width };
  double x, y;

  if (point >= 0 && vn_curve_view_locate_point (self, (guint) point, &x, &y))
    vn_pen_circle (pen, x, y, radius, &ring);
}

static void
curve_view_draw (GtkDrawingArea *area,
                 cairo_t        *cr,
                 int             width,
                 int             height,
                 gpointer        data)
{
  VnCurveView *self = VN_CURVE_VIEW (area);
  const gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr(VnPen) pen = NULL;

  if (self->picture == NULL)
    return;
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  vn_picture_draw (self->picture, pen, width);
  curve_view_draw_ring (self, pen, self->in_force, 7, 1.6, VN_INK (0.9));
  curve_view_draw_ring (self, pen, self->selected, 10, gtk_widget_has_focus (GTK_WIDGET (self)) ? 3 : 1.6, VN_SHADE (ACCENT, 1));
}

/* ---- selecting ---- */

static void
curve_view_describe (VnCurveView *self)
{
  g_autofree char *text = self->selected >= 0 ? vn_curve_point_dup_text (vn_curve_get (self->curve, (guint) self->selected))
                          : g_strdup ("");
  const int place = curve_view_find_place (self, self->selected);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, 0.0,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, MAX ((double) self->order->len - 1, 0),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, (double) MAX (place, 0),
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}

int
vn_curve_view_get_selected (VnCurveView *self)
{
  g_return_val_if_fail (VN_IS_CURVE_VIEW (self), -1);

  return self->selected;
}

/**
 * vn_curve_view_select:
 * @point: index in the curve; -1, or one that is not drawn: none
 */
void
vn_curve_view_select (VnCurveView *self,
                      int          point)
{
  g_return_if_fail (VN_IS_CURVE_VIEW (self));

  if (curve_view_find_place (self, point) < 0)
    point = -1;
  if (point == self->selected)
    return;
  self->selected = point;
  curve_view_describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[SELECTED], 0);
}

static gboolean
curve_view_walk (VnCurveView *self,
                 guint        key)
{
  const int last = (int) self->order->len - 1;
  int place = curve_view_find_place (self, self->selected);

  if (last < 0)
    return FALSE;
  if (key == GDK_KEY_Home)
    place = 0;
  else if (key == GDK_KEY_End)
    place = last;
  else if (key == GDK_KEY_Left || key == GDK_KEY_Down)
    place = place < 0 ? last : MAX (place - 1, 0);
  else if (key == GDK_KEY_Right || key == GDK_KEY_Up)
    place = MIN (place + 1, last);
  else
    return FALSE;
  vn_curve_view_select (self, (int) g_array_index (self->order, guint, place));
  return TRUE;
}

static gboolean
curve_view_key_pressed (VnCurveView     *self,
                        guint            key,
                        guint            code,
                        GdkModifierType  state)
{
  if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK)) != 0)
    return FALSE;
  if (key != GDK_KEY_Return && key != GDK_KEY_KP_Enter && key != GDK_KEY_space)
    return curve_view_walk (self, key);
  if (self->selected >= 0)
    g_signal_emit (self, signals[ACTIVATED], 0);
  return self->selected >= 0;
}

static void
curve_view_pressed (VnCurveView *self,
                    int          n_press,
                    double       x,
                    double       y)
{
  const int point = vn_curve_view_find_point (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (point < 0)
    return;
  vn_curve_view_select (self, point);
  if (n_press == 2)
    g_signal_emit (self, signals[ACTIVATED], 0);
}

static gboolean
curve_view_query_tooltip (GtkWidget  *widget,
                          int         x,
                          int         y,
                          gboolean    by_keyboard,
                          GtkTooltip *tooltip)
{
  VnCurveView *self = VN_CURVE_VIEW (widget);
  const int point = by_keyboard ? self->selected : vn_curve_view_find_point (self, x, y);
  g_autofree char *text = point >= 0 ? vn_curve_point_dup_text (vn_curve_get (self->curve, (guint) point)) : NULL;

  if (text != NULL)
    gtk_tooltip_set_text (tooltip, text);
  return text != NULL;
}

/**
 * vn_curve_view_set:
 * @curve: (nullable)
 * @cost: of the axis
 * @in_force: the point that is the present recipe; -1: none
 */
void
vn_curve_view_set (VnCurveView *self,
                   VnCurve     *curve,
                   VnCurveCost  cost,
                   int          in_force)
{
  g_return_if_fail (VN_IS_CURVE_VIEW (self));

  if (curve != self->curve)
    self->selected = -1;
  if (curve != NULL)
    vn_curve_ref (curve);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->picture, vn_picture_unref);
  self->curve = curve;
  self->cost = cost;
  self->in_force = in_force;
  self->picture = curve != NULL ? vn_picture_new_curve (curve, cost) : NULL;
  curve_view_sort (self);
  if (self->picture != NULL)
    gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self),
                                         (int) ceil (vn_picture_get_height (self->picture, LEAST_WIDTH)));
  if (curve_view_find_place (self, self->selected) < 0)
    self->selected = -1;
  curve_view_describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[SELECTED], 0);
}

/* ---- the object ---- */

static void
vn_curve_view_finalize (GObject *object)
{
  VnCurveView *self = VN_CURVE_VIEW (object);

  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->picture, vn_picture_unref);
  g_array_unref (self->order);
  G_OBJECT_CLASS (vn_curve_view_parent_class)->finalize (object);
}

static void
vn_curve_view_class_init (VnCurveViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = vn_curve_view_finalize;
  widget_class->query_tooltip = curve_view_query_tooltip;
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
  signals[SELECTED] = g_signal_new ("selected", VN_TYPE_CURVE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  signals[ACTIVATED] = g_signal_new ("activated", VN_TYPE_CURVE_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
vn_curve_view_init (VnCurveView *self)
{
  GtkEventController *keys = gtk_event_controller_key_new (), *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->order = g_array_new (FALSE, FALSE, sizeof (guint));
  self->selected = self->in_force = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_drawing_area_set_content_width (GTK_DRAWING_AREA (self), LEAST_WIDTH);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), curve_view_draw, NULL, NULL);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (curve_view_key_pressed), self);
  g_signal_connect_swapped (click, "pressed", G_CALLBACK (curve_view_pressed), self);
  g_signal_connect_swapped (focus, "enter", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (gtk_widget_queue_draw), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Mixed Precision: Error Versus Cost"),
                                  -1);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

GtkWidget *
vn_curve_view_new (void)
{
  return g_object_new (VN_TYPE_CURVE_VIEW, NULL);
}
