/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handle of an end of a range, a slider for assistive technology. */
#include "vn-range-grip.h"

#define MANY_PIXELS 10

struct _VnRangeGrip
{
  GtkWidget parent_instance;
};

G_DEFINE_FINAL_TYPE (VnRangeGrip, vn_range_grip, GTK_TYPE_WIDGET)

static gboolean
range_grip_key (VnRangeGrip     *self,
                guint            keyval,
                guint            keycode,
                GdkModifierType  state)
{
  int pixels = (state & GDK_SHIFT_MASK) != 0 ? MANY_PIXELS : 1;

  switch (keyval)
    {
    case GDK_KEY_Left: case GDK_KEY_KP_Left:
      g_signal_emit_by_name (self, "step", -pixels);
      return TRUE;
    case GDK_KEY_Right: case GDK_KEY_KP_Right:
      g_signal_emit_by_name (self, "step", pixels);
      return TRUE;
    case GDK_KEY_Return: case GDK_KEY_KP_Enter:
      g_signal_emit_by_name (self, "set");
      return TRUE;
    case GDK_KEY_Escape:
      g_signal_emit_by_name (self, "give-up");
      return TRUE;
    default:
      return FALSE;
    }
}

static void
range_grip_left (VnRangeGrip *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "set");
}

static void
vn_range_grip_snapshot (GtkWidget   *widget,
                        GtkSnapshot *snapshot)
{
  const float width = (float) gtk_widget_get_width (widget), height = (float) gtk_widget_get_height (widget);
  const gboolean focused = gtk_widget_has_visible_focus (widget);
  const graphene_rect_t area = GRAPHENE_RECT_INIT (0, 0, width, height);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (-3, -3, width + 6, height + 6));
  GdkRGBA accent, ground;
  GtkStyleContext *context = gtk_widget_get_style_context (widget);

  if (!gtk_style_context_lookup_color (context, "accent_bg_color", &accent))
    accent = (GdkRGBA) { 0.21f, 0.52f, 0.89f, 1 };
  if (!gtk_style_context_lookup_color (context, "popover_bg_color", &ground))
    ground = (GdkRGBA) { 1, 1, 1, 1 };
  for (int ring = focused ? 1 : 0; ring >= 0; ring--)
    {
      double by = ring > 0 ? 2.5 : 0, radius = 4 + by;

      cairo_new_path (cr);
      cairo_arc (cr, area.size.width + by - radius - 0.5, radius - by + 0.5, radius, -G_PI / 2, 0);
      cairo_arc (cr, area.size.width + by - radius - 0.5, area.size.height + by - radius - 0.5, radius, 0, G_PI / 2);
      cairo_arc (cr, radius - by + 0.5, area.size.height + by - radius - 0.5, radius, G_PI / 2, G_PI);
      cairo_arc (cr, radius - by + 0.5, radius - by + 0.5, radius, G_PI, 1.5 * G_PI);
      cairo_close_path (cr);
      accent.alpha = ring > 0 ? 0.5f : 1;
      if (ring == 0)
        {
          gdk_cairo_set_source_rgba (cr, &ground);
          cairo_fill_preserve (cr);
        }
      gdk_cairo_set_source_rgba (cr, &accent);
      cairo_set_line_width (cr, ring > 0 ? 1.5 : 1.6);
      cairo_stroke (cr);
    }
  for (int i = 0; i < 2; i++)
    {
      cairo_move_to (cr, width / 2 - 1.25 + 2.5 * i, height / 2 - 4);
      cairo_line_to (cr, width / 2 - 1.25 + 2.5 * i, height / 2 + 4);
    }
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
vn_range_grip_measure (GtkWidget      *widget,
                       GtkOrientation  orientation,
                       int             for_size,
                       int            *minimum,
                       int            *natural,
                       int            *minimum_baseline,
                       int            *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? VN_RANGE_GRIP_WIDTH : VN_RANGE_GRIP_HEIGHT;
}

static void
vn_range_grip_class_init (VnRangeGripClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = vn_range_grip_snapshot;
  widget_class->measure = vn_range_grip_measure;
  g_signal_new ("step", VN_TYPE_RANGE_GRIP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_INT);
  g_signal_new ("set", VN_TYPE_RANGE_GRIP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("give-up", VN_TYPE_RANGE_GRIP, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_SLIDER);
}

static void
vn_range_grip_init (VnRangeGrip *self)
{
  GtkEventController *keys = gtk_event_controller_key_new (), *focus = gtk_event_controller_focus_new ();

  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "ew-resize");
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (range_grip_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect_swapped (focus, "enter", G_CALLBACK (gtk_widget_queue_draw), self);
  g_signal_connect_swapped (focus, "leave", G_CALLBACK (range_grip_left), self);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
}

/**
 * vn_range_grip_new:
 * @label: what it moves
 */
GtkWidget *
vn_range_grip_new (const char *label)
{
  GtkWidget *self = g_object_new (VN_TYPE_RANGE_GRIP, NULL);

  gtk_widget_set_tooltip_text (self, label);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return self;
}

/**
 * vn_range_grip_set_value:
 * @least, @most: between which it can be moved
 * @text: @value in words
 */
void
vn_range_grip_set_value (VnRangeGrip *self,
                         double       value,
                         double       least,
                         double       most,
                         const char  *text)
{
  g_return_if_fail (VN_IS_RANGE_GRIP (self) && text != NULL);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_VALUE_MIN, least,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_MAX, most,
                                  GTK_ACCESSIBLE_PROPERTY_VALUE_NOW, value, GTK_ACCESSIBLE_PROPERTY_VALUE_TEXT, text, -1);
}
