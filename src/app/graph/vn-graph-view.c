/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The widget that shows a network: takes scene and overlay, waits for the layout, draws, and announces what the user
 * does. */
#include "vn-graph-view-private.h"

#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define FADE_NODES      3000
#define MANY_NODES       800    /* more take longer than a frame to paint */
#define FRAME_BUDGET   0.004    /* seconds of painting in a frame, beside the some 7 ms that a display server takes for it */
#define MEASURE_SECONDS 1.6     /* once round a box */

G_DEFINE_FINAL_TYPE (VnGraphView, vn_graph_view, GTK_TYPE_WIDGET)

enum { PROP_0, PROP_ZOOM, N_PROPS };

static GParamSpec *props[N_PROPS];

/* ---- theme ---- */

static void
graph_view_update_theme (VnGraphView *self)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  g_autofree char *font_name = NULL;
  PangoFontDescription *font;
  VnGraphTheme theme;

  vn_graph_theme_init (&theme, adw_style_manager_get_dark (manager),
                       adw_style_manager_get_high_contrast (manager));
  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-font-name", &font_name, NULL);
  font = pango_font_description_from_string (font_name != NULL ? font_name : "Cantarell 11");
  if (pango_font_description_get_family (font) != NULL)
    theme.font = pango_font_description_get_family (font);
  vn_graph_painter_set_theme (self->painter, &theme);
  vn_graph_tiles_invalidate (self->tiles);
  pango_font_description_free (font);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- what is shown ---- */

/**
 * vn_graph_view_get_scene:
 *
 * Returns: (transfer none) (nullable): the network, with all its nodes
 */
VnScene *
vn_graph_view_get_scene (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->whole;
}

/**
 * vn_graph_view_get_shown:
 *
 * Returns: (transfer none) (nullable): what is seen of it: closed groups are one box each
 */
VnScene *
vn_graph_view_get_shown (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->scene;
}

/**
 * vn_graph_view_get_layout:
 *
 * Returns: (transfer none) (nullable): the layout of what is shown
 */
VnGraphLayout *
vn_graph_view_get_layout (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->layout;
}

/**
 * vn_graph_view_get_index:
 *
 * Returns: (transfer none) (nullable): the index of what is shown
 */
VnGraphIndex *
vn_graph_view_get_index (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->index;
}

/**
 * vn_graph_view_get_shown_overlay:
 *
 * Returns: (transfer none) (nullable): the overlay of what is shown
 */
VnOverlay *
vn_graph_view_get_shown_overlay (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->overlay;
}

/* ---- overlay ---- */

static gboolean
graph_view_fade_tick (GtkWidget     *widget,
                      GdkFrameClock *clock,
                      gpointer       user_data)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  double t;

  if (self->fade_start == 0)
    self->fade_start = now;
  t = (now - self->fade_start) / (FADE_MS * 1000.);
  gtk_widget_queue_draw (widget);
  if (t < 1)
    {
      vn_graph_painter_set_fade (self->painter, self->fade_from, 1 - pow (1 - t, 3));
      return G_SOURCE_CONTINUE;
    }
  vn_graph_painter_set_fade (self->painter, NULL, 1);
  vn_graph_tiles_invalidate (self->tiles);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  self->fade_tick = 0;
  return G_SOURCE_REMOVE;
}

static void
graph_view_start_fade (VnGraphView *self,
                       VnOverlay   *from)
{
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  self->fade_from = from != NULL ? vn_overlay_ref (from) : NULL;
  self->fade_start = 0;
  vn_graph_painter_set_fade (self->painter, from, 0);
  if (self->fade_tick == 0)
    self->fade_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_fade_tick, NULL, NULL);
}

/**
 * vn_graph_view_set_overlay:
 * @overlay: (nullable): as many nodes as the scene set last
 *
 * Colours the nodes. A change is seen to happen: the fills fade over in 200 ms.
 */
void
vn_graph_view_set_overlay (VnGraphView *self,
                           VnOverlay   *overlay)
{
  g_autoptr(VnOverlay) old = NULL;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  if (self->pending != NULL && self->pending != self->whole)
    {
      g_clear_pointer (&self->pending_overlay, vn_overlay_unref);
      self->pending_overlay = overlay != NULL ? vn_overlay_ref (overlay) : NULL;
      return;
    }
  g_return_if_fail (overlay == NULL || self->whole == NULL
                    || vn_overlay_get_n (overlay) == vn_scene_get_n_nodes (self->whole));
  if (overlay != NULL)
    vn_overlay_ref (overlay);
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  self->whole_overlay = overlay;
  old = self->overlay;
  self->overlay = vn_graph_view_make_overlay (self);
  vn_graph_painter_set_overlay (self->painter, self->overlay);
  vn_graph_tiles_invalidate (self->tiles);
  if (self->scene != NULL && vn_scene_get_n_nodes (self->scene) <= FADE_NODES
      && vn_graph_view_animates (self))
    graph_view_start_fade (self, old);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "content-changed");
}

/**
 * vn_graph_view_get_overlay:
 *
 * Returns: (transfer none) (nullable): the overlay of all nodes
 */
VnOverlay *
vn_graph_view_get_overlay (VnGraphView *self)
{
  g_return_val_if_fail (VN_IS_GRAPH_VIEW (self), NULL);

  return self->whole_overlay;
}

static gboolean
graph_view_measuring_tick (GtkWidget     *widget,
                           GdkFrameClock *clock,
                           gpointer       user_data)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);

  self->state.phase = fmod (gdk_frame_clock_get_frame_time (clock) / (MEASURE_SECONDS * 1e6), 1);
  gtk_widget_queue_draw (widget);
  return G_SOURCE_CONTINUE;
}

/**
 * vn_graph_view_set_measuring:
 * @n_nodes: 0: none
 *
 * Marks nodes whose error is being measured.
 */
void
vn_graph_view_set_measuring (VnGraphView *self,
                             const guint *nodes,
                             guint        n_nodes)
{
  guint n, n_boxes;

  g_return_if_fail (VN_IS_GRAPH_VIEW (self));

  n = self->whole != NULL ? vn_scene_get_n_nodes (self->whole) : 0;
  n_boxes = self->scene != NULL ? vn_scene_get_n_nodes (self->scene) : 0;
  g_clear_pointer (&self->measuring, g_free);
  if (self->measuring_tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->measuring_tick);
  self->measuring_tick = 0;
  if (n_nodes > 0)
    {
      self->measuring = g_new0 (guint8, n_boxes + 1);
      for (guint i = 0; i < n_nodes; i++)
        if (nodes[i] < n)
          self->measuring[vn_graph_view_get_box (self, nodes[i])] = 1;
      if (vn_graph_view_animates (self))
        self->measuring_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_measuring_tick, NULL, NULL);
    }
  self->state.measuring = self->measuring;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* ---- widget ---- */

static gboolean
graph_view_prefetch (gpointer user_data)
{
  VnGraphView *self = user_data;

  if (gtk_widget_get_mapped (GTK_WIDGET (self)) && vn_graph_tiles_prefetch (self->tiles))
    return G_SOURCE_CONTINUE;
  self->prefetch = 0;
  return G_SOURCE_REMOVE;
}

static gboolean
graph_view_redraw (GtkWidget     *widget,
                   GdkFrameClock *clock,
                   gpointer       user_data)
{
  gtk_widget_queue_draw (widget);
  return G_SOURCE_REMOVE;
}

static guint
graph_view_count_visible (VnGraphView *self,
                          double       width,
                          double       height)
{
  double zoom = self->camera.zoom;
  VnRect area = { self->camera.origin.x, self->camera.origin.y, width / zoom, height / zoom };
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  if (self->index != NULL)
    vn_graph_index_find_nodes (self->index, area, nodes);
  return nodes->len;
}

/* Pieces serve while the zoom stands still; while it changes few boxes are painted afresh, and many are
 * shown scaled. */
static void
graph_view_draw_network (VnGraphView   *self,
                         cairo_t       *cr,
                         VnGraphCamera  camera,
                         int            width,
                         int            height)
{
  gboolean zooms = self->flight.tick != 0 && self->flight.from.zoom != self->flight.to.zoom;
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));

  if (zooms && graph_view_count_visible (self, width, height) > MANY_NODES
      && vn_graph_tiles_draw_scaled (self->tiles, cr, camera, width, height))
    return;
  if (zooms || self->fade_tick != 0 || self->folding.tick != 0)
    {
      vn_graph_painter_draw (self->painter, cr, camera, width, height);
      return;
    }
  if (!vn_graph_tiles_draw (self->tiles, cr, camera, width, height, scale, FRAME_BUDGET))
    gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_redraw, NULL, NULL);
  else if (self->prefetch == 0)
    self->prefetch = g_idle_add_full (G_PRIORITY_LOW, graph_view_prefetch, self, NULL);
}

static void
vn_graph_view_snapshot (GtkWidget   *widget,
                        GtkSnapshot *snapshot)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  VnGraphCamera camera = vn_graph_camera_snap (self->camera, gtk_widget_get_scale_factor (widget));

  cairo_rectangle (cr, 0, 0, width, height);
  cairo_clip (cr);
  graph_view_draw_network (self, cr, camera, width, height);
  vn_graph_painter_draw_state (self->painter, cr, camera, width, height, &self->state);
  cairo_destroy (cr);
}

static void
vn_graph_view_size_allocate (GtkWidget *widget,
                             int        width,
                             int        height,
                             int        baseline)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);

  if (width > 0 && (self->needs_home || vn_graph_view_is_home (self)))
    vn_graph_view_go_home (self);
  else
    g_signal_emit_by_name (self, "camera-changed");
}

static void
vn_graph_view_measure (GtkWidget      *widget,
                       GtkOrientation  orientation,
                       int             for_size,
                       int            *minimum,
                       int            *natural,
                       int            *minimum_baseline,
                       int            *natural_baseline)
{
  *minimum = 120;
  *natural = 600;
}

static void
vn_graph_view_get_property (GObject    *object,
                            guint       id,
                            GValue     *value,
                            GParamSpec *pspec)
{
  if (id == PROP_ZOOM)
    g_value_set_double (value, VN_GRAPH_VIEW (object)->camera.zoom);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_graph_view_set_property (GObject      *object,
                            guint         id,
                            const GValue *value,
                            GParamSpec   *pspec)
{
  if (id == PROP_ZOOM)
    vn_graph_view_set_zoom (VN_GRAPH_VIEW (object), g_value_get_double (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_graph_view_dispose (GObject *object)
{
  VnGraphView *self = VN_GRAPH_VIEW (object);

  vn_graph_view_cancel (self);
  vn_graph_view_unfold (self);
  vn_graph_view_stop (self);
  if (self->fade_tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->fade_tick);
  if (self->measuring_tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->measuring_tick);
  self->fade_tick = self->measuring_tick = 0;
  g_clear_handle_id (&self->prefetch, g_source_remove);
  G_OBJECT_CLASS (vn_graph_view_parent_class)->dispose (object);
}

static void
vn_graph_view_finalize (GObject *object)
{
  VnGraphView *self = VN_GRAPH_VIEW (object);

  vn_graph_tiles_free (self->tiles);
  vn_graph_painter_free (self->painter);
  vn_graph_index_free (self->index);
  g_clear_pointer (&self->fold, vn_fold_unref);
  g_clear_pointer (&self->places, vn_fold_places_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_pointer (&self->whole, vn_scene_unref);
  g_clear_pointer (&self->whole_overlay, vn_overlay_unref);
  g_free (self->open);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->layout, vn_graph_layout_unref);
  g_clear_pointer (&self->overlay, vn_overlay_unref);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  g_array_unref (self->trail);
  g_array_unref (self->regions);
  g_array_unref (self->chips);
  g_free (self->picked);
  g_free (self->tensor);
  g_free (self->selected);
  g_free (self->partly);
  g_free (self->measuring);
  g_free (self->band_base);
  g_clear_pointer (&self->lasso_line, g_array_unref);
  g_strfreev (self->in_values);
  g_strfreev (self->out_values);
  g_strfreev (self->leaks);
  G_OBJECT_CLASS (vn_graph_view_parent_class)->finalize (object);
}

static void
graph_view_add_signals (GType type)
{
  g_signal_new ("ready", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("failed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  g_signal_new ("selection-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("focus-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("hover-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("node-activated", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  g_signal_new ("content-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("camera-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("folding-changed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  g_signal_new ("leak-activated", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 4,
                G_TYPE_STRING, G_TYPE_BOOLEAN, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
  g_signal_new ("context-menu", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 3,
                G_TYPE_UINT, G_TYPE_DOUBLE, G_TYPE_DOUBLE);
}

static void
vn_graph_view_class_init (VnGraphViewClass *class)
{
  GObjectClass *object_class = G_OBJECT_CLASS (class);
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  object_class->get_property = vn_graph_view_get_property;
  object_class->set_property = vn_graph_view_set_property;
  object_class->dispose = vn_graph_view_dispose;
  object_class->finalize = vn_graph_view_finalize;
  widget_class->snapshot = vn_graph_view_snapshot;
  widget_class->measure = vn_graph_view_measure;
  widget_class->size_allocate = vn_graph_view_size_allocate;
  widget_class->query_tooltip = vn_graph_view_query_tooltip;
  props[PROP_ZOOM] =
    g_param_spec_double ("zoom", NULL, NULL, 1e-6, 100, 1,
                         G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
  g_object_class_install_properties (object_class, N_PROPS, props);
  graph_view_add_signals (VN_TYPE_GRAPH_VIEW);
  gtk_widget_class_set_css_name (widget_class, "graphview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
vn_graph_view_init (VnGraphView *self)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  GtkWidget *widget = GTK_WIDGET (self);

  self->camera.zoom = 1;
  self->pending_anchor = self->pending_travel = self->edge_home = VN_SCENE_NONE;
  self->painter = vn_graph_painter_new ();
  self->tiles = vn_graph_tiles_new (self->painter);
  self->trail = g_array_new (FALSE, FALSE, sizeof (VnGraphCamera));
  self->regions = g_array_new (FALSE, FALSE, sizeof (VnRect));
  self->chips = g_array_new (FALSE, FALSE, sizeof (VnGraphChip));
  self->hover_chip = VN_SCENE_NONE;
  vn_graph_view_reset_selection (self);
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_widget_set_vexpand (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, _("Network graph"),
                                  -1);
  vn_graph_view_add_controllers (self);
  g_signal_connect_object (manager, "notify::dark", G_CALLBACK (graph_view_update_theme), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (manager, "notify::high-contrast", G_CALLBACK (graph_view_update_theme), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (gtk_widget_get_settings (widget), "notify::gtk-font-name",
                           G_CALLBACK (graph_view_update_theme), self, G_CONNECT_SWAPPED);
  graph_view_update_theme (self);
}

/**
 * vn_graph_view_new:
 *
 * Returns: (transfer floating): an empty canvas
 */
GtkWidget *
vn_graph_view_new (void)
{
  return g_object_new (VN_TYPE_GRAPH_VIEW, NULL);
}
