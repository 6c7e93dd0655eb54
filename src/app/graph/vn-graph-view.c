/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The widget that shows a network: has its parts, draws what they hold, and passes on what they tell. */
#include "vn-graph-view-private.h"

#include "vn-graph-words.h"
#include "vn-i18n.h"

#include <adwaita.h>
#include <math.h>

#define FADE_NODES      3000
#define FADE_MS          200
#define MANY_NODES       800    /* more take longer than a frame to paint */
#define HEAD_RANKS         3    /* of a network, that are first seen whole */
#define FRAME_BUDGET   0.004    /* seconds of painting in a frame, beside the some 7 ms that a display server takes for it */

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
  vn_graph_painter_set_theme (self->parts.painter, &theme);
  vn_graph_tiles_invalidate (self->parts.tiles);
  pango_font_description_free (font);
  gtk_widget_queue_draw (GTK_WIDGET (self));
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
      vn_graph_painter_set_fade (self->parts.painter, self->fade_from, 1 - pow (1 - t, 3));
      return G_SOURCE_CONTINUE;
    }
  vn_graph_painter_set_fade (self->parts.painter, NULL, 1);
  vn_graph_tiles_invalidate (self->parts.tiles);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  self->fade_tick = 0;
  return G_SOURCE_REMOVE;
}

/* Colors that fade are of the boxes that were shown until now. */
static void
graph_view_end_fade (VnGraphView *self)
{
  if (self->fade_tick == 0)
    return;
  gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->fade_tick);
  self->fade_tick = 0;
  vn_graph_painter_set_fade (self->parts.painter, NULL, 1);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
}

static void
graph_view_start_fade (VnGraphView *self,
                       VnOverlay   *from)
{
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  self->fade_from = from != NULL ? vn_overlay_ref (from) : NULL;
  self->fade_start = 0;
  vn_graph_painter_set_fade (self->parts.painter, from, 0);
  if (self->fade_tick == 0)
    self->fade_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_fade_tick, NULL, NULL);
}

/* A change is seen to happen: the fills fade over in 200 ms. */
static void
graph_view_overlay_changed (VnGraphView *self,
                            VnOverlay   *before)
{
  VnGraphContent *content = self->parts.content;

  vn_graph_painter_set_overlay (self->parts.painter, content->overlay);
  vn_graph_tiles_invalidate (self->parts.tiles);
  if (content->scene != NULL && vn_scene_get_n_nodes (content->scene) <= FADE_NODES &&
      vn_viewport_animates (self->parts.viewport))
    graph_view_start_fade (self, before);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "content-changed");
}

/* ---- what the parts tell ---- */

/* The first ranks: what a network begins with. */
static VnRect
graph_view_measure_head (const VnGraphLayout *layout)
{
  VnRect head = *vn_graph_layout_get_box (layout, 0);

  for (guint i = 0; i < vn_graph_layout_get_n_nodes (layout); i++)
    {
      const VnRect *box = vn_graph_layout_get_box (layout, i);
      double x = MIN (head.x, box->x), y = MIN (head.y, box->y);

      if (vn_graph_layout_get_rank (layout, i) < HEAD_RANKS)
        head = (VnRect) { x, y, MAX (head.x + head.width, box->x + box->width) - x,
                          MAX (head.y + head.height, box->y + box->height) - y };
    }
  return head;
}

static void
graph_view_shown (VnGraphView *self)
{
  const VnGraphContent *content = self->parts.content;
  VnGraphPainter *painter = self->parts.painter;
  VnGraphLayout *layout = content->layout;
  VnRect bounds = layout != NULL ? vn_graph_layout_get_bounds (layout) : (VnRect) { 0 };
  gboolean has_boxes = layout != NULL && vn_graph_layout_get_n_nodes (layout) > 0;
  VnRect head = has_boxes ? graph_view_measure_head (layout) : (VnRect) { 0 };

  vn_graph_folding_stop (self->folding);
  graph_view_end_fade (self);
  vn_viewport_set_content (self->parts.viewport, layout != NULL ? &bounds : NULL, has_boxes ? &head : NULL,
                           has_boxes ? vn_graph_layout_get_box (layout, 0) : NULL);
  vn_graph_painter_set_content (painter, NULL, NULL, NULL);
  vn_graph_painter_set_overlay (painter, NULL);
  vn_graph_painter_set_content (painter, content->scene, layout, content->index);
  vn_graph_painter_set_groups (painter, content->fold != NULL ? content->groups : NULL);
  vn_graph_painter_set_overlay (painter, content->overlay);
  vn_graph_tiles_invalidate (self->parts.tiles);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "content-changed");
}

/* Nothing that is known of boxes fits those that are shown now. */
static void
graph_view_forget_boxes (VnGraphView *self)
{
  vn_graph_tiles_clear (self->parts.tiles);
  vn_graph_hover_reset (self->parts.hover);
}

static void
graph_view_opened (VnGraphView *self)
{
  self->wants_home = self->holds_camera = FALSE;
  graph_view_forget_boxes (self);
  vn_viewport_clear_trail (self->parts.viewport);
  vn_graph_selection_reset (self->parts.selection);
  vn_viewport_go_home (self->parts.viewport);
  g_signal_emit_by_name (self, "ready");
  g_signal_emit_by_name (self, "folding-changed");
  g_signal_emit_by_name (self, "selection-changed");
}

static void
graph_view_cleared (VnGraphView *self)
{
  graph_view_forget_boxes (self);
  vn_graph_selection_reset (self->parts.selection);
  g_signal_emit_by_name (self, "selection-changed");
}

static void
graph_view_refolded (VnGraphView         *self,
                     const VnGraphBefore *before)
{
  graph_view_forget_boxes (self);
  vn_viewport_clear_trail (self->parts.viewport);
  vn_graph_selection_refold (self->parts.selection, before->fold);
  if (before->layout != NULL)
    vn_graph_folding_start (self->folding, before, !self->wants_home && !self->holds_camera);
  if (self->wants_home)
    vn_viewport_go_home (self->parts.viewport);
  self->wants_home = self->holds_camera = FALSE;
  g_signal_emit_by_name (self, "folding-changed");
  if (before->travel != VN_SCENE_NONE)
    vn_graph_parts_zoom_to_box (&self->parts, vn_graph_content_get_box (self->parts.content, before->travel));
}

static void
graph_view_failed (VnGraphView *self,
                   const char  *message)
{
  g_signal_emit_by_name (self, "failed", message);
}

static void
graph_view_moved (VnGraphView *self,
                  gboolean     zoomed)
{
  if (zoomed)
    g_object_notify_by_pspec (G_OBJECT (self), props[PROP_ZOOM]);
  vn_graph_hover_update (self->parts.hover);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit_by_name (self, "camera-changed");
}

static void
graph_view_hover_changed (VnGraphView *self,
                          gboolean     other_node)
{
  gtk_widget_trigger_tooltip_query (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
  if (other_node)
    g_signal_emit_by_name (self, "hover-changed");
}

static void
graph_view_selection_changed (VnGraphView *self)
{
  g_signal_emit_by_name (self, "selection-changed");
}

static void
graph_view_describe (VnGraphView *self,
                     const char  *label)
{
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, label != NULL ? label : "", -1);
}

static void
graph_view_focus_changed (VnGraphView *self)
{
  guint box = self->parts.selection->focus;
  g_autofree char *label = box != VN_SCENE_NONE ? vn_graph_words_dup_box (&self->parts, box) : NULL;

  graph_view_describe (self, label);
  g_signal_emit_by_name (self, "focus-changed");
}

static void
graph_view_edge_changed (VnGraphView *self)
{
  g_autofree char *label = vn_graph_words_dup_edge (&self->parts, self->parts.selection->edge);

  graph_view_describe (self, label);
}

static void
graph_view_activated (VnGraphView *self,
                      guint        node)
{
  g_signal_emit_by_name (self, "node-activated", node);
}

static void
graph_view_leak_activated (VnGraphView *self,
                           const char  *tensor,
                           gboolean     enters,
                           double       x,
                           double       y)
{
  g_signal_emit_by_name (self, "leak-activated", tensor, enters, x, y);
}

static void
graph_view_menu_wanted (VnGraphView *self,
                        guint        node,
                        double       x,
                        double       y)
{
  g_signal_emit_by_name (self, "context-menu", node, x, y);
}

static void
graph_view_connect (VnGraphView *self)
{
  const VnGraphParts *parts = &self->parts;
  const struct { gpointer object; const char *signal; GCallback callback; } table[] = {
    { parts->viewport, "moved", G_CALLBACK (graph_view_moved) },
    { parts->content, "shown", G_CALLBACK (graph_view_shown) },
    { parts->content, "opened", G_CALLBACK (graph_view_opened) },
    { parts->content, "cleared", G_CALLBACK (graph_view_cleared) },
    { parts->content, "refolded", G_CALLBACK (graph_view_refolded) },
    { parts->content, "failed", G_CALLBACK (graph_view_failed) },
    { parts->content, "overlay-changed", G_CALLBACK (graph_view_overlay_changed) },
    { parts->selection, "changed", G_CALLBACK (graph_view_selection_changed) },
    { parts->selection, "focus-changed", G_CALLBACK (graph_view_focus_changed) },
    { parts->selection, "edge-changed", G_CALLBACK (graph_view_edge_changed) },
    { parts->selection, "marks-changed", G_CALLBACK (gtk_widget_queue_draw) },
    { parts->hover, "changed", G_CALLBACK (graph_view_hover_changed) },
    { self->input, "node-activated", G_CALLBACK (graph_view_activated) },
    { self->input, "leak-activated", G_CALLBACK (graph_view_leak_activated) },
    { self->input, "context-menu", G_CALLBACK (graph_view_menu_wanted) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    g_signal_connect_swapped (table[i].object, table[i].signal, table[i].callback, self);
}

/* ---- widget ---- */

static gboolean
graph_view_prefetch (gpointer user_data)
{
  VnGraphView *self = user_data;

  if (gtk_widget_get_mapped (GTK_WIDGET (self)) && vn_graph_tiles_prefetch (self->parts.tiles))
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
graph_view_count_visible (VnGraphView *self)
{
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  if (self->parts.content->index != NULL)
    vn_graph_index_find_nodes (self->parts.content->index, vn_viewport_get_area (self->parts.viewport), nodes);
  return nodes->len;
}

/* Pieces serve while the zoom stands still; while it changes few boxes are painted afresh, and many are
 * shown scaled. */
static void
graph_view_draw_network (VnGraphView  *self,
                         cairo_t      *cr,
                         VnGraphCamera camera,
                         int           width,
                         int           height)
{
  gboolean zooms = vn_viewport_is_zooming (self->parts.viewport);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));

  if (zooms && graph_view_count_visible (self) > MANY_NODES
      && vn_graph_tiles_draw_scaled (self->parts.tiles, cr, camera, width, height))
    return;
  if (zooms || self->fade_tick != 0 || vn_graph_folding_is_running (self->folding))
    {
      vn_graph_painter_draw (self->parts.painter, cr, camera, width, height);
      return;
    }
  if (!vn_graph_tiles_draw (self->parts.tiles, cr, camera, width, height, scale, FRAME_BUDGET))
    gtk_widget_add_tick_callback (GTK_WIDGET (self), graph_view_redraw, NULL, NULL);
  else if (self->prefetch == 0)
    self->prefetch = g_idle_add_full (G_PRIORITY_LOW, graph_view_prefetch, self, NULL);
}

static void
graph_view_get_state (VnGraphView  *self,
                      VnGraphState *state)
{
  vn_graph_state_init (state);
  vn_graph_selection_fill_state (self->parts.selection, state);
  vn_graph_hover_fill_state (self->parts.hover, state);
}

static void
vn_graph_view_snapshot (GtkWidget   *widget,
                        GtkSnapshot *snapshot)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  VnGraphCamera camera = vn_graph_camera_snap (vn_viewport_get_camera (self->parts.viewport),
                                               gtk_widget_get_scale_factor (widget));
  VnGraphState state;

  cairo_rectangle (cr, 0, 0, width, height);
  cairo_clip (cr);
  graph_view_draw_network (self, cr, camera, width, height);
  graph_view_get_state (self, &state);
  vn_graph_painter_draw_state (self->parts.painter, cr, camera, width, height, &state);
  cairo_destroy (cr);
}

static void
vn_graph_view_size_allocate (GtkWidget *widget,
                             int        width,
                             int        height,
                             int        baseline)
{
  VnGraphView *self = VN_GRAPH_VIEW (widget);

  if (!vn_viewport_resized (self->parts.viewport))
    g_signal_emit_by_name (self, "camera-changed");
}

static void
vn_graph_view_measure (GtkWidget     *widget,
                       GtkOrientation orientation,
                       int            for_size,
                       int           *minimum,
                       int           *natural,
                       int           *minimum_baseline,
                       int           *natural_baseline)
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
    g_value_set_double (value, vn_viewport_get_camera (VN_GRAPH_VIEW (object)->parts.viewport).zoom);
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
    vn_viewport_set_zoom (VN_GRAPH_VIEW (object)->parts.viewport, g_value_get_double (value));
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_graph_view_dispose (GObject *object)
{
  VnGraphView *self = VN_GRAPH_VIEW (object);

  vn_graph_content_cancel (self->parts.content);
  vn_graph_folding_stop (self->folding);
  vn_viewport_stop (self->parts.viewport);
  if (self->fade_tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->fade_tick);
  self->fade_tick = 0;
  g_clear_handle_id (&self->prefetch, g_source_remove);
  G_OBJECT_CLASS (vn_graph_view_parent_class)->dispose (object);
}

static void
vn_graph_view_finalize (GObject *object)
{
  VnGraphView *self = VN_GRAPH_VIEW (object);
  VnGraphParts *parts = &self->parts;

  g_clear_object (&self->input);
  vn_graph_folding_free (self->folding);
  g_clear_object (&parts->hover);
  g_clear_object (&parts->selection);
  vn_graph_tiles_free (parts->tiles);
  vn_graph_painter_free (parts->painter);
  g_clear_object (&parts->content);
  g_clear_object (&parts->viewport);
  g_clear_pointer (&self->fade_from, vn_overlay_unref);
  G_OBJECT_CLASS (vn_graph_view_parent_class)->finalize (object);
}

static gboolean
vn_graph_view_query_tooltip (GtkWidget  *widget,
                             int         x,
                             int         y,
                             gboolean    keyboard,
                             GtkTooltip *tooltip)
{
  g_autofree char *text = keyboard ? NULL : vn_graph_words_dup_tooltip (&VN_GRAPH_VIEW (widget)->parts);

  if (text == NULL)
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
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
graph_view_make_parts (VnGraphView *self)
{
  VnGraphParts *parts = &self->parts;

  parts->widget = GTK_WIDGET (self);
  parts->painter = vn_graph_painter_new ();
  parts->tiles = vn_graph_tiles_new (parts->painter);
  parts->viewport = vn_viewport_new (parts->widget);
  parts->content = vn_graph_content_new ();
  parts->selection = vn_graph_selection_new (parts->content);
  parts->hover = vn_graph_hover_new (parts->painter, parts->viewport, parts->content, parts->selection);
  self->folding = vn_graph_folding_new (parts);
  self->input = vn_graph_input_new (parts);
  graph_view_connect (self);
}

static void
vn_graph_view_init (VnGraphView *self)
{
  AdwStyleManager *manager = adw_style_manager_get_default ();
  GtkWidget *widget = GTK_WIDGET (self);

  graph_view_make_parts (self);
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_hexpand (widget, TRUE);
  gtk_widget_set_vexpand (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, _("Network graph"),
                                  -1);
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
