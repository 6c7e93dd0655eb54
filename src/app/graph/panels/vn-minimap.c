/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The minimap: draws what the graph view shows once, small enough to be seen whole, and over it the part that is seen. */
#include "vn-minimap.h"

#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define WIDTH    160
#define HEIGHT   206
#define MARGIN     8.
#define MOST_ZOOM  0.4    /* blocks, not text */
#define LEAST_FRAME 6.    /* pixels of the part that is seen */

struct _VnMinimap
{
  GtkWidget        parent_instance;

  VnGraphView     *view;        /* borrowed: both are in one window */
  VnGraphPainter  *painter;
  cairo_surface_t *picture;     /* NULL: to be drawn again */
  VnGraphCamera    camera;
  VnPoint          drag_start;
  guint            update;      /* idle source */
};

G_DEFINE_FINAL_TYPE (VnMinimap, vn_minimap, GTK_TYPE_WIDGET)

static VnRect
minimap_get_seen (VnMinimap *self)
{
  VnGraphCamera camera = vn_graph_view_get_camera (self->view);

  return (VnRect) { camera.origin.x, camera.origin.y, gtk_widget_get_width (GTK_WIDGET (self->view)) / camera.zoom,
                    gtk_widget_get_height (GTK_WIDGET (self->view)) / camera.zoom };
}

/* While all can be seen there is nothing to find. */
static gboolean
minimap_is_needed (VnMinimap *self)
{
  VnGraphLayout *layout = self->view != NULL ? vn_graph_view_get_layout (self->view) : NULL;
  VnRect bounds, seen;

  if (layout == NULL || vn_graph_layout_get_n_nodes (layout) == 0 || gtk_widget_get_width (GTK_WIDGET (self->view)) <= 0)
    return FALSE;
  bounds = vn_graph_layout_get_bounds (layout);
  seen = minimap_get_seen (self);
  return bounds.x < seen.x || bounds.y < seen.y || bounds.x + bounds.width > seen.x + seen.width
         || bounds.y + bounds.height > seen.y + seen.height;
}

static gboolean
minimap_update_visible (gpointer data)
{
  VnMinimap *self = data;

  self->update = 0;
  gtk_widget_set_visible (GTK_WIDGET (self), minimap_is_needed (self));
  return G_SOURCE_REMOVE;
}

/* The view may be just getting its size: what that means for the minimap's own has to wait. */
static void
minimap_camera_changed (VnMinimap *self)
{
  if (self->update == 0 && gtk_widget_get_visible (GTK_WIDGET (self)) != minimap_is_needed (self))
    self->update = g_idle_add (minimap_update_visible, self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
minimap_content_changed (VnMinimap *self)
{
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  minimap_camera_changed (self);
}

/* Content is given to the painter only while it draws: nothing is kept of a network that is gone. */
static void
minimap_draw_picture (VnMinimap *self)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  VnGraphLayout *layout = vn_graph_view_get_layout (self->view);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  VnGraphTheme theme;
  cairo_t *cr;

  vn_graph_theme_init (&theme, adw_style_manager_get_dark (manager), adw_style_manager_get_high_contrast (manager));
  self->camera = vn_graph_camera_fit (vn_graph_layout_get_bounds (layout), WIDTH, HEIGHT, MARGIN, MOST_ZOOM);
  self->picture = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, WIDTH * scale, HEIGHT * scale);
  cairo_surface_set_device_scale (self->picture, scale, scale);
  cr = cairo_create (self->picture);
  vn_graph_painter_set_theme (self->painter, &theme);
  vn_graph_painter_set_content (self->painter, vn_graph_view_get_shown (self->view), layout,
                                vn_graph_view_get_index (self->view));
  vn_graph_painter_set_overlay (self->painter, vn_graph_view_get_shown_overlay (self->view));
  vn_graph_painter_draw (self->painter, cr, self->camera, WIDTH, HEIGHT);
  vn_graph_painter_set_overlay (self->painter, NULL);
  vn_graph_painter_set_content (self->painter, NULL, NULL, NULL);
  cairo_destroy (cr);
}

static void
minimap_draw_seen (VnMinimap *self,
                   cairo_t   *cr)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  VnRect seen = minimap_get_seen (self);
  double zoom = self->camera.zoom, x = (seen.x - self->camera.origin.x) * zoom, y = (seen.y - self->camera.origin.y) * zoom;
  double width = MAX (seen.width * zoom, LEAST_FRAME), height = MAX (seen.height * zoom, LEAST_FRAME);
  VnGraphTheme theme;

  vn_graph_theme_init (&theme, adw_style_manager_get_dark (manager), adw_style_manager_get_high_contrast (manager));
  cairo_rectangle (cr, 0, 0, WIDTH, HEIGHT);
  cairo_rectangle (cr, x, y, width, height);
  cairo_set_fill_rule (cr, CAIRO_FILL_RULE_EVEN_ODD);
  cairo_set_source_rgba (cr, 0, 0, 0, theme.dark ? 0.28 : 0.09);
  cairo_fill (cr);
  cairo_rectangle (cr, CLAMP (x, 1, WIDTH - 3), CLAMP (y, 1, HEIGHT - 3), MIN (width, WIDTH - 1 - MAX (x, 1)),
                   MIN (height, HEIGHT - 1 - MAX (y, 1)));
  cairo_set_line_width (cr, 2);
  cairo_set_source_rgb (cr, theme.accent.r, theme.accent.g, theme.accent.b);
  cairo_stroke (cr);
}

static void
vn_minimap_snapshot (GtkWidget   *widget,
                     GtkSnapshot *snapshot)
{
  VnMinimap *self = VN_MINIMAP (widget);
  cairo_t *cr;

  if (!minimap_is_needed (self))
    return;
  if (self->picture == NULL)
    minimap_draw_picture (self);
  cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, WIDTH, HEIGHT));
  cairo_rectangle (cr, 0, 0, WIDTH, HEIGHT);
  cairo_clip (cr);
  cairo_set_source_surface (cr, self->picture, 0, 0);
  cairo_paint (cr);
  minimap_draw_seen (self, cr);
  cairo_destroy (cr);
}

static void
vn_minimap_measure (GtkWidget      *widget,
                    GtkOrientation  orientation,
                    int             for_size,
                    int            *minimum,
                    int            *natural,
                    int            *minimum_baseline,
                    int            *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : HEIGHT;
}

static void
minimap_go_to (VnMinimap *self,
               double     x,
               double     y)
{
  vn_graph_view_center_on (self->view, (VnPoint) { self->camera.origin.x + x / self->camera.zoom,
                                                   self->camera.origin.y + y / self->camera.zoom });
}

static void
minimap_drag_begin (VnMinimap *self,
                    double     x,
                    double     y)
{
  self->drag_start = (VnPoint) { x, y };
  if (self->picture != NULL)
    minimap_go_to (self, x, y);
}

static void
minimap_drag_update (VnMinimap *self,
                     double     dx,
                     double     dy)
{
  if (self->picture != NULL && hypot (dx, dy) > 2)
    minimap_go_to (self, self->drag_start.x + dx, self->drag_start.y + dy);
}

static void
vn_minimap_dispose (GObject *object)
{
  VnMinimap *self = VN_MINIMAP (object);

  self->view = NULL;
  g_clear_handle_id (&self->update, g_source_remove);
  g_clear_pointer (&self->picture, cairo_surface_destroy);
  g_clear_pointer (&self->painter, vn_graph_painter_free);
  G_OBJECT_CLASS (vn_minimap_parent_class)->dispose (object);
}

static void
vn_minimap_class_init (VnMinimapClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_minimap_dispose;
  widget_class->snapshot = vn_minimap_snapshot;
  widget_class->measure = vn_minimap_measure;
  gtk_widget_class_set_css_name (widget_class, "minimap");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
vn_minimap_init (VnMinimap *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  AdwStyleManager *manager = adw_style_manager_get_default ();

  self->painter = vn_graph_painter_new ();
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, _("The whole model"), -1);
  g_signal_connect_swapped (drag, "drag-begin", G_CALLBACK (minimap_drag_begin), self);
  g_signal_connect_swapped (drag, "drag-update", G_CALLBACK (minimap_drag_update), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  g_signal_connect_object (manager, "notify::dark", G_CALLBACK (minimap_content_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (manager, "notify::high-contrast", G_CALLBACK (minimap_content_changed), self, G_CONNECT_SWAPPED);
}

/**
 * vn_minimap_new:
 *
 * Returns: (transfer floating): a minimap of nothing
 */
GtkWidget *
vn_minimap_new (void)
{
  return g_object_new (VN_TYPE_MINIMAP, NULL);
}

/**
 * vn_minimap_set_view:
 * @view: in the same window
 *
 * Shows what @view shows, and what part of it is seen. To be called once.
 */
void
vn_minimap_set_view (VnMinimap   *self,
                     VnGraphView *view)
{
  g_return_if_fail (VN_IS_MINIMAP (self));
  g_return_if_fail (VN_IS_GRAPH_VIEW (view));

  self->view = view;
  g_signal_connect_object (view, "camera-changed", G_CALLBACK (minimap_camera_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (view, "content-changed", G_CALLBACK (minimap_content_changed), self, G_CONNECT_SWAPPED);
  minimap_content_changed (self);
}
