/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that draws error by channel; pointer and arrow keys choose a channel. */
#include "vn-channels-chart.h"

#include "vn-chart-beside.h"
#include "vn-format.h"
#include "vn-i18n.h"

#include <adwaita.h>

struct _VnChannelsChart
{
  GtkDrawingArea parent_instance;

  GArray        *sqnr, *t;      /* of double */
  guint          chosen;
  double         lines[2];
};

G_DEFINE_FINAL_TYPE (VnChannelsChart, vn_channels_chart, GTK_TYPE_DRAWING_AREA)

static VnChartChannels
channels_chart_get (VnChannelsChart *self)
{
  return (VnChartChannels) { (const double *) (gpointer) self->t->data, self->t->len, self->chosen, self->lines, 2 };
}

static void
channels_chart_draw (GtkDrawingArea *area,
                     cairo_t        *cr,
                     int             width,
                     int             height,
                     gpointer        data)
{
  VnChannelsChart *self = VN_CHANNELS_CHART (area);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  VnChartChannels channels = channels_chart_get (self);
  g_autoptr(VnPen) pen = NULL;

  if (channels.n == 0)
    return;
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  vn_chart_draw_channels (pen, width, height, &channels);
}

static void
channels_chart_choose (VnChannelsChart *self,
                       guint            channel)
{
  if (channel >= self->t->len)
    return;
  vn_channels_chart_set_chosen (self, channel);
  g_signal_emit_by_name (self, "channel-chosen", channel);
}

static void
channels_chart_pressed (VnChannelsChart *self,
                        int              n_press,
                        double           x,
                        double           y)
{
  VnChartChannels channels = channels_chart_get (self);
  guint channel;

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (vn_chart_channel_at (&channels, gtk_widget_get_width (GTK_WIDGET (self)), x, &channel))
    channels_chart_choose (self, channel);
}

static gboolean
channels_chart_key (VnChannelsChart *self,
                    guint            keyval,
                    guint            keycode,
                    GdkModifierType  state)
{
  if (keyval == GDK_KEY_Left && self->chosen > 0)
    channels_chart_choose (self, self->chosen - 1);
  else if (keyval == GDK_KEY_Right)
    channels_chart_choose (self, self->chosen + 1);
  else
    return FALSE;
  return TRUE;
}

static gboolean
vn_channels_chart_query_tooltip (GtkWidget  *widget,
                                 int         x,
                                 int         y,
                                 gboolean    keyboard,
                                 GtkTooltip *tooltip)
{
  VnChannelsChart *self = VN_CHANNELS_CHART (widget);
  VnChartChannels channels = channels_chart_get (self);
  g_autofree char *db = NULL, *text = NULL;
  guint channel = self->chosen;

  if (channels.n == 0 || (!keyboard && !vn_chart_channel_at (&channels, gtk_widget_get_width (widget), x, &channel)))
    return FALSE;
  db = vn_format_db (g_array_index (self->sqnr, double, channel));
  text = g_strdup_printf (_("Channel %u: %s"), channel, db);
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
vn_channels_chart_finalize (GObject *object)
{
  VnChannelsChart *self = VN_CHANNELS_CHART (object);

  g_array_unref (self->sqnr);
  g_array_unref (self->t);
  G_OBJECT_CLASS (vn_channels_chart_parent_class)->finalize (object);
}

static void
vn_channels_chart_class_init (VnChannelsChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = vn_channels_chart_finalize;
  widget_class->query_tooltip = vn_channels_chart_query_tooltip;
  g_signal_new ("channel-chosen", VN_TYPE_CHANNELS_CHART, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_channels_chart_init (VnChannelsChart *self)
{
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  self->sqnr = g_array_new (FALSE, FALSE, sizeof (double));
  self->t = g_array_new (FALSE, FALSE, sizeof (double));
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), channels_chart_draw, NULL, NULL);
  g_signal_connect_swapped (click, "pressed", G_CALLBACK (channels_chart_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (channels_chart_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark", G_CALLBACK (gtk_widget_queue_draw), self,
                           G_CONNECT_SWAPPED);
}

/**
 * vn_channels_chart_set:
 * @sqnr: (array length=n) (nullable): signal to noise of each channel
 * @handles: where lines stand
 */
void
vn_channels_chart_set (VnChannelsChart *self,
                       const double    *sqnr,
                       guint            n,
                       VnHeatHandles    handles)
{
  g_return_if_fail (VN_IS_CHANNELS_CHART (self) && (sqnr != NULL || n == 0));

  g_array_set_size (self->sqnr, 0);
  g_array_set_size (self->t, 0);
  for (guint i = 0; i < n; i++)
    {
      double t = vn_heat_t (sqnr[i], handles);

      g_array_append_val (self->sqnr, sqnr[i]);
      g_array_append_val (self->t, t);
    }
  self->lines[0] = vn_heat_t (handles.fine, handles);
  self->lines[1] = vn_heat_t (handles.bad, handles);
  self->chosen = MIN (self->chosen, n > 0 ? n - 1 : 0);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
vn_channels_chart_set_chosen (VnChannelsChart *self,
                              guint            channel)
{
  g_return_if_fail (VN_IS_CHANNELS_CHART (self));

  self->chosen = channel;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
