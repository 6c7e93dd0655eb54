/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A widget that draws a histogram with ranges over it, with the painter of the report's charts, and moves the ends of one of
 * them. */
#include "vn-histogram-view.h"

#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-range-grip.h"

#include <adwaita.h>
#include <math.h>

#define HIT_DISTANCE 8.0
#define NO_END (-1)

struct _VnHistogramView
{
  GtkDrawingArea     parent_instance;

  const VnHistogram *histogram;    /* kept alive by @owner */
  gpointer           owner;
  GDestroyNotify     owner_free;
  GArray            *ranges;       /* of VnChartRange */
  gboolean           movable;
  VnRangeGrip       *grips[2];     /* of the lower and of the upper end */
  int                end;          /* that is being moved, or NO_END */
  gboolean           dragged;      /* by the pointer, not by keys */
  double             before[2];    /* the range before that */
  double             drag_from;    /* place of the end when the drag began */
};

G_DEFINE_FINAL_TYPE (VnHistogramView, vn_histogram_view, GTK_TYPE_DRAWING_AREA)

static VnChartRange *
histogram_view_get_current (VnHistogramView *self)
{
  for (guint i = 0; i < self->ranges->len; i++)
    if (g_array_index (self->ranges, VnChartRange, i).is_current)
      return &g_array_index (self->ranges, VnChartRange, i);
  return NULL;
}

/* While an end is moved the chart keeps its scale. */
static void
histogram_view_get_span (VnHistogramView *self,
                         double          *low,
                         double          *high)
{
  VnChartRange *current = histogram_view_get_current (self), now = { 0 };

  if (current != NULL && self->end != NO_END)
    {
      now = *current;
      current->min = self->before[0];
      current->max = self->before[1];
    }
  vn_chart_histogram_get_span (self->histogram, (const VnChartRange *) (gpointer) self->ranges->data, self->ranges->len, low,
                               high);
  if (current != NULL && self->end != NO_END)
    *current = now;
}

static void
histogram_view_draw (GtkDrawingArea *area,
                     cairo_t        *cr,
                     int             width,
                     int             height,
                     gpointer        data)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (area);
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  g_autoptr(VnPen) pen = NULL;
  double low, high;

  if (self->histogram == NULL)
    return;
  pen = vn_pen_new_cairo (cr, dark ? &vn_pen_theme_dark : &vn_pen_theme_light);
  histogram_view_get_span (self, &low, &high);
  vn_chart_histogram_between (pen, width, height, self->histogram, low, high,
                              (const VnChartRange *) (gpointer) self->ranges->data, self->ranges->len);
}

static gboolean
histogram_view_can_move (VnHistogramView *self)
{
  return self->movable && self->histogram != NULL && histogram_view_get_current (self) != NULL;
}

/**
 * vn_histogram_view_get_place:
 * @x: (out): where @value lies in the widget
 *
 * Returns: %FALSE if nothing is shown
 */
gboolean
vn_histogram_view_get_place (VnHistogramView *self,
                             double           value,
                             double          *x)
{
  double low, high;

  g_return_val_if_fail (VN_IS_HISTOGRAM_VIEW (self) && x != NULL, FALSE);

  if (self->histogram == NULL)
    return FALSE;
  histogram_view_get_span (self, &low, &high);
  *x = (value - low) / (high - low) * gtk_widget_get_width (GTK_WIDGET (self));
  return TRUE;
}

static void
histogram_view_update_grips (VnHistogramView *self)
{
  const VnChartRange *current = histogram_view_get_current (self);
  gboolean shown = histogram_view_can_move (self);
  double low, high;

  for (guint i = 0; i < 2; i++)
    gtk_widget_set_visible (GTK_WIDGET (self->grips[i]), shown);
  if (!shown)
    return;
  histogram_view_get_span (self, &low, &high);
  for (guint i = 0; i < 2; i++)
    {
      double value = i == 0 ? current->min : current->max;
      g_autofree char *text = vn_format_number (value, 4);

      vn_range_grip_set_value (self->grips[i], value, low, high, text);
    }
  gtk_widget_queue_allocate (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- moving an end ---- */

static void
histogram_view_begin (VnHistogramView *self,
                      int              end,
                      gboolean         dragged)
{
  const VnChartRange *current = histogram_view_get_current (self);

  if (self->end == NO_END)
    {
      self->before[0] = current->min;
      self->before[1] = current->max;
    }
  self->end = end;
  self->dragged = dragged;
}

/* The ends keep their order, and stay in what is shown. */
static void
histogram_view_move_to (VnHistogramView *self,
                        double           x)
{
  VnChartRange *current = histogram_view_get_current (self);
  double low, high, value;

  histogram_view_get_span (self, &low, &high);
  value = low + CLAMP (x / MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1), 0, 1) * (high - low);
  if (self->end == 0)
    current->min = MIN (value, current->max);
  else
    current->max = MAX (value, current->min);
  histogram_view_update_grips (self);
  g_signal_emit_by_name (self, "range-moved", current->min, current->max);
}

static void
histogram_view_set_moved (VnHistogramView *self)
{
  VnChartRange moved;

  if (self->end == NO_END)
    return;
  moved = *histogram_view_get_current (self);
  self->end = NO_END;
  histogram_view_update_grips (self);
  if (moved.min == self->before[0] && moved.max == self->before[1])
    g_signal_emit_by_name (self, "range-kept");
  else
    g_signal_emit_by_name (self, "range-set", moved.min, moved.max);
}

static void
histogram_view_give_up (VnHistogramView *self)
{
  VnChartRange *current = histogram_view_get_current (self);

  if (self->end == NO_END || current == NULL)
    return;
  current->min = self->before[0];
  current->max = self->before[1];
  self->end = NO_END;
  histogram_view_update_grips (self);
  g_signal_emit_by_name (self, "range-kept");
}

static void
histogram_view_stepped (VnRangeGrip     *grip,
                        int              pixels,
                        VnHistogramView *self)
{
  int end = grip == self->grips[0] ? 0 : 1;
  const VnChartRange *current = histogram_view_get_current (self);
  double x;

  if (!histogram_view_can_move (self) || (self->end != NO_END && self->dragged))
    return;
  histogram_view_begin (self, end, FALSE);
  if (vn_histogram_view_get_place (self, end == 0 ? current->min : current->max, &x))
    histogram_view_move_to (self, x + pixels);
}

/* Enter, or the focus goes to something else: the pointer, too, takes it. */
static void
histogram_view_grip_set (VnRangeGrip     *grip,
                         VnHistogramView *self)
{
  if (!self->dragged)
    histogram_view_set_moved (self);
}

static void
histogram_view_drag_begin (GtkGestureDrag  *gesture,
                           double           x,
                           double           y,
                           VnHistogramView *self)
{
  const VnChartRange *current = histogram_view_get_current (self);
  double places[2];
  int end;

  if (!histogram_view_can_move (self) || !vn_histogram_view_get_place (self, current->min, &places[0]) ||
      !vn_histogram_view_get_place (self, current->max, &places[1]))
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  end = fabs (x - places[0]) <= fabs (x - places[1]) ? 0 : 1;
  if (places[0] == places[1])
    end = x < places[0] ? 0 : 1;
  if (fabs (x - places[end]) > HIT_DISTANCE)
    {
      gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_DENIED);
      return;
    }
  gtk_gesture_set_state (GTK_GESTURE (gesture), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_grab_focus (GTK_WIDGET (self->grips[end]));
  histogram_view_begin (self, end, TRUE);
  self->drag_from = places[end];
}

static void
histogram_view_drag_update (GtkGestureDrag  *gesture,
                            double           dx,
                            double           dy,
                            VnHistogramView *self)
{
  if (self->end != NO_END && self->dragged)
    histogram_view_move_to (self, self->drag_from + dx);
}

static void
histogram_view_drag_end (GtkGestureDrag  *gesture,
                         double           dx,
                         double           dy,
                         VnHistogramView *self)
{
  if (self->dragged)
    histogram_view_set_moved (self);
  self->dragged = FALSE;
}

/* ---- widget ---- */

static void
vn_histogram_view_size_allocate (GtkWidget *widget,
                                 int        width,
                                 int        height,
                                 int        baseline)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (widget);
  const VnChartRange *current = histogram_view_get_current (self);

  GTK_WIDGET_CLASS (vn_histogram_view_parent_class)->size_allocate (widget, width, height, baseline);
  for (guint i = 0; i < 2 && histogram_view_can_move (self); i++)
    {
      double x = 0;

      vn_histogram_view_get_place (self, i == 0 ? current->min : current->max, &x);
      gtk_widget_measure (GTK_WIDGET (self->grips[i]), GTK_ORIENTATION_HORIZONTAL, -1, NULL, NULL, NULL, NULL);
      gtk_widget_size_allocate (GTK_WIDGET (self->grips[i]),
                                &(GtkAllocation) { (int) CLAMP (x - VN_RANGE_GRIP_WIDTH / 2, 0,
                                                                MAX (width - VN_RANGE_GRIP_WIDTH, 0)),
                                                   (height - VN_RANGE_GRIP_HEIGHT) / 2, VN_RANGE_GRIP_WIDTH,
                                                   VN_RANGE_GRIP_HEIGHT }, -1);
    }
}

static void
vn_histogram_view_snapshot (GtkWidget   *widget,
                            GtkSnapshot *snapshot)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (widget);

  GTK_WIDGET_CLASS (vn_histogram_view_parent_class)->snapshot (widget, snapshot);
  for (guint i = 0; i < 2 && histogram_view_can_move (self); i++)
    gtk_widget_snapshot_child (widget, GTK_WIDGET (self->grips[i]), snapshot);
}

static void
vn_histogram_view_dispose (GObject *object)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (object);

  self->end = NO_END;      /* nobody is told any more */
  for (guint i = 0; i < 2; i++)
    {
      if (self->grips[i] != NULL)
        gtk_widget_unparent (GTK_WIDGET (self->grips[i]));
      self->grips[i] = NULL;
    }
  G_OBJECT_CLASS (vn_histogram_view_parent_class)->dispose (object);
}

static void
histogram_view_clear_owner (VnHistogramView *self)
{
  if (self->owner_free != NULL && self->owner != NULL)
    self->owner_free (self->owner);
  self->owner = NULL;
  self->histogram = NULL;
}

static void
vn_histogram_view_finalize (GObject *object)
{
  VnHistogramView *self = VN_HISTOGRAM_VIEW (object);

  histogram_view_clear_owner (self);
  g_array_unref (self->ranges);
  G_OBJECT_CLASS (vn_histogram_view_parent_class)->finalize (object);
}

static void
vn_histogram_view_class_init (VnHistogramViewClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_histogram_view_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_histogram_view_finalize;
  widget_class->size_allocate = vn_histogram_view_size_allocate;
  widget_class->snapshot = vn_histogram_view_snapshot;
  g_signal_new ("range-moved", VN_TYPE_HISTOGRAM_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE,
                G_TYPE_DOUBLE);
  g_signal_new ("range-set", VN_TYPE_HISTOGRAM_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 2, G_TYPE_DOUBLE,
                G_TYPE_DOUBLE);
  g_signal_new ("range-kept", VN_TYPE_HISTOGRAM_VIEW, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
histogram_view_add_grips (VnHistogramView *self)
{
  const char *labels[] = { _("Lower end of the range"), _("Upper end of the range") };
  GtkGesture *drag = gtk_gesture_drag_new ();

  for (guint i = 0; i < 2; i++)
    {
      GtkWidget *grip = vn_range_grip_new (labels[i]);

      self->grips[i] = VN_RANGE_GRIP (grip);
      gtk_widget_set_visible (grip, FALSE);
      gtk_widget_set_parent (grip, GTK_WIDGET (self));
      g_signal_connect_object (grip, "step", G_CALLBACK (histogram_view_stepped), self, 0);
      g_signal_connect_object (grip, "set", G_CALLBACK (histogram_view_grip_set), self, 0);
      g_signal_connect_object (grip, "give-up", G_CALLBACK (histogram_view_give_up), self, G_CONNECT_SWAPPED);
    }
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (drag), GTK_PHASE_CAPTURE);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (histogram_view_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (histogram_view_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (histogram_view_drag_end), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
}

static void
vn_histogram_view_init (VnHistogramView *self)
{
  self->ranges = g_array_new (FALSE, FALSE, sizeof (VnChartRange));
  self->end = NO_END;
  histogram_view_add_grips (self);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (self), histogram_view_draw, NULL, NULL);
  gtk_drawing_area_set_content_height (GTK_DRAWING_AREA (self), 128);
  g_signal_connect_object (adw_style_manager_get_default (), "notify::dark",
                           G_CALLBACK (gtk_widget_queue_draw), self, G_CONNECT_SWAPPED);
}

GtkWidget *
vn_histogram_view_new (void)
{
  return g_object_new (VN_TYPE_HISTOGRAM_VIEW, NULL);
}

/**
 * vn_histogram_view_set:
 * @histogram: (nullable): what is drawn
 * @owner: (transfer full) (nullable): what keeps @histogram alive; freed with @owner_free
 * @ranges: copied, but for the static titles
 */
void
vn_histogram_view_set (VnHistogramView    *self,
                       const VnHistogram  *histogram,
                       gpointer            owner,
                       GDestroyNotify      owner_free,
                       const VnChartRange *ranges,
                       guint               n_ranges)
{
  g_return_if_fail (VN_IS_HISTOGRAM_VIEW (self));

  histogram_view_clear_owner (self);
  self->histogram = histogram;
  self->owner = owner;
  self->owner_free = owner_free;
  g_array_set_size (self->ranges, 0);
  if (n_ranges > 0)
    g_array_append_vals (self->ranges, ranges, n_ranges);
  self->end = NO_END;
  histogram_view_update_grips (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/**
 * vn_histogram_view_set_movable:
 *
 * Whether the ends of the current range can be moved.
 */
void
vn_histogram_view_set_movable (VnHistogramView *self,
                               gboolean         movable)
{
  g_return_if_fail (VN_IS_HISTOGRAM_VIEW (self));

  self->movable = movable;
  histogram_view_update_grips (self);
}

/**
 * vn_histogram_view_is_moving:
 *
 * Returns: whether an end was moved and that is not decided yet
 */
gboolean
vn_histogram_view_is_moving (VnHistogramView *self)
{
  g_return_val_if_fail (VN_IS_HISTOGRAM_VIEW (self), FALSE);

  return self->end != NO_END;
}
