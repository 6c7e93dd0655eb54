/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page with the graph: connects the graph view, its legend and the bar of the selection with the document. */
#include "vn-graph-page.h"

#include "vn-format.h"
#include "vn-graph-view.h"
#include "vn-i18n.h"
#include "vn-legend.h"
#include "vn-minimap.h"
#include "vn-scene-builder.h"
#include "vn-subgraph.h"

#define THREAD_NODES 1500    /* smaller models are prepared in a few milliseconds */

struct _VnGraphPage
{
  AdwBin         parent_instance;

  VnDocument    *document;
  VnScene       *scene;         /* of the document's model and result, or NULL */
  VnModel       *grouped;       /* borrowed: whose nodes @groups are of; only to be compared */
  VnGroups      *groups;        /* or NULL */
  GCancellable  *grouping;      /* a large model is being prepared */
  gboolean       busy;          /* passing a selection from one side to the other */

  VnGraphView   *view;
  VnLegend      *legend;
  VnMinimap     *minimap;
  GSimpleActionGroup *actions;
  GtkPopover    *context;
  GtkRevealer   *bar;
  GtkLabel      *bar_label, *zoom_label;
  GtkButton     *zoom_out, *zoom_in, *zoom_original, *zoom_fit;
};

static void graph_page_init_interface (VnPageInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnGraphPage, vn_graph_page, ADW_TYPE_BIN,
                               G_IMPLEMENT_INTERFACE (VN_TYPE_PAGE, graph_page_init_interface))

static VnOverlay *
graph_page_build_overlay (VnGraphPage *self)
{
  VnModel *model = vn_document_get_model (self->document);
  VnResult *result = vn_document_get_result (self->document);

  if (self->scene == NULL || result == NULL)
    return NULL;
  switch (vn_legend_get_kind (self->legend))
    {
    case VN_OVERLAY_ERROR:
      return vn_scene_build_overlay (self->scene, model, result, vn_legend_get_metric (self->legend),
                                     vn_legend_get_handles (self->legend));
    case VN_OVERLAY_PRECISION:
      return vn_overlay_new (VN_OVERLAY_PRECISION, vn_scene_get_n_nodes (self->scene), NULL);
    case VN_OVERLAY_KERNELS:
      return vn_scene_build_kernels (self->scene, model, result);
    case VN_OVERLAY_AMOUNT:
    case VN_OVERLAY_NONE:
      break;
    }
  return NULL;
}

static void
graph_page_update_overlay (VnGraphPage *self)
{
  g_autoptr(VnOverlay) overlay = graph_page_build_overlay (self);

  vn_graph_view_set_overlay (self->view, overlay);
  vn_legend_set_overlay (self->legend, overlay);
}

static void
graph_page_legend_changed (VnGraphPage *self)
{
  if (self->document == NULL)
    return;
  if (vn_legend_get_kind (self->legend) == VN_OVERLAY_ERROR)
    vn_document_set_metric (self->document, vn_legend_get_metric (self->legend));
  graph_page_update_overlay (self);
}

static void
graph_page_metric_changed (VnGraphPage *self)
{
  VnMetric metric = vn_document_get_metric (self->document);

  if (vn_legend_get_kind (self->legend) != VN_OVERLAY_ERROR || vn_legend_get_metric (self->legend) == metric)
    return;
  vn_legend_set_metric (self->legend, metric);
  graph_page_update_overlay (self);
}

/* Metrics without a scale of their own take their handles from the spread of the network. */
static void
graph_page_update_legend (VnGraphPage *self)
{
  VnModel *model = vn_document_get_model (self->document);
  VnResult *result = vn_document_get_result (self->document);
  gboolean measured = self->scene != NULL && result != NULL && result->errors != NULL;

  vn_legend_set_measured (self->legend, measured);
  vn_legend_set_runtime (self->legend, result != NULL ? result->forecast : NULL, result != NULL ? result->verification : NULL);
  for (guint i = 0; measured && i < VN_N_METRICS; i++)
    vn_legend_set_defaults (self->legend, (VnMetric) i,
                            vn_scene_default_handles (self->scene, model, result, (VnMetric) i));
}

static VnBand
graph_page_get_band (const VnOverlayItem *item)
{
  if (item->is_bad || item->is_nan)
    return VN_BAND_BAD;
  return item->ticks >= 2 ? VN_BAND_WATCH : VN_BAND_FINE;
}

static void
graph_page_select_band (VnGraphPage *self,
                        guint        band)
{
  VnOverlay *overlay = vn_graph_view_get_overlay (self->view);
  g_autoptr(GtkBitset) selection = gtk_bitset_new_empty ();

  for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
    {
      const VnOverlayItem *item = vn_overlay_get (overlay, i);
      const VnSceneNode *node = vn_scene_get_node (self->scene, i);

      if (item->measured && node->kind == VN_SCENE_NODE && graph_page_get_band (item) == band)
        gtk_bitset_add (selection, node->source);
    }
  vn_document_select (self->document, selection);
}

static void
graph_page_set_view_selection (VnGraphPage *self)
{
  GtkBitset *selection = vn_document_get_selection (self->document);
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));
  GtkBitsetIter iter;
  guint index;

  if (self->busy || self->scene == NULL)
    return;
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    {
      guint node = vn_scene_find_source (self->scene, index);

      if (node != VN_SCENE_NONE)
        g_array_append_val (nodes, node);
    }
  self->busy = TRUE;
  vn_graph_view_select (self->view, (const guint *) (gpointer) nodes->data, nodes->len, FALSE);
  if (nodes->len == 1)
    vn_graph_view_set_focus_node (self->view, g_array_index (nodes, guint, 0));
  self->busy = FALSE;
}

static void
graph_page_view_selection_changed (VnGraphPage *self)
{
  g_autoptr(GArray) nodes = NULL;
  g_autoptr(GtkBitset) selection = NULL;

  if (self->busy || self->scene == NULL)
    return;
  nodes = vn_graph_view_dup_selection (self->view);
  selection = gtk_bitset_new_empty ();
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnSceneNode *node = vn_scene_get_node (self->scene, g_array_index (nodes, guint, i));

      if (node->kind == VN_SCENE_NODE)
        gtk_bitset_add (selection, node->source);
    }
  self->busy = TRUE;
  vn_document_select (self->document, selection);
  self->busy = FALSE;
}

static char **
graph_page_list_names (GPtrArray *values)
{
  char **names = g_new0 (char *, values->len + 1);

  for (guint i = 0; i < values->len; i++)
    names[i] = g_strdup (((VnValue *) g_ptr_array_index (values, i))->name);
  return names;
}

/* The edges that enter and leave the selected nodes, as a recipe would name them. */
static void
graph_page_update_boundary (VnGraphPage *self,
                            guint       *n_in,
                            guint       *n_out)
{
  VnModel *model = vn_document_get_model (self->document);
  GtkBitset *selection = vn_document_get_selection (self->document);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_auto(GStrv) in_names = NULL, out_names = NULL;
  VnBoundary boundary = { 0 };
  GtkBitsetIter iter;
  guint index;

  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok;
       ok = gtk_bitset_iter_next (&iter, &index))
    g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, index));
  vn_boundary_of_nodes (&boundary, model->graph, nodes);
  *n_in = boundary.in_edges->len;
  *n_out = boundary.out_edges->len;
  in_names = graph_page_list_names (boundary.in_edges);
  out_names = graph_page_list_names (boundary.out_edges);
  if (nodes->len > 1)
    vn_graph_view_set_boundary (self->view, (const char * const *) in_names,
                                (const char * const *) out_names);
  else
    vn_graph_view_set_boundary (self->view, NULL, NULL);
  vn_boundary_clear (&boundary);
}

static void
graph_page_update_bar (VnGraphPage *self)
{
  guint n = (guint) gtk_bitset_get_size (vn_document_get_selection (self->document));
  guint n_in = 0, n_out = 0;
  g_autofree char *count = NULL, *rest = NULL, *markup = NULL;

  if (vn_document_get_model (self->document) != NULL)
    graph_page_update_boundary (self, &n_in, &n_out);
  gtk_revealer_set_reveal_child (self->bar, n > 1);
  if (n < 2)
    return;
  count = g_strdup_printf (ngettext ("%u node", "%u nodes", n), n);
  rest = g_strdup_printf (_("%u in · %u out"), n_in, n_out);
  markup = g_markup_printf_escaped ("<b>%s</b> · %s", count, rest);
  gtk_label_set_markup (self->bar_label, markup);
}

static void
graph_page_selection_changed (VnGraphPage *self)
{
  graph_page_set_view_selection (self);
  graph_page_update_bar (self);
}

/* ---- groups ---- */

static void
graph_page_set_enabled (VnGraphPage *self,
                        const char  *name,
                        gboolean     enabled)
{
  g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self->actions), name)), enabled);
}

static void
graph_page_update_actions (VnGraphPage *self)
{
  gboolean can_group = self->groups != NULL && vn_groups_get_n (self->groups) > 1;
  GAction *action = g_action_map_lookup_action (G_ACTION_MAP (self->actions), "groups");

  g_simple_action_set_state (G_SIMPLE_ACTION (action), g_variant_new_boolean (vn_graph_view_get_grouped (self->view)));
  graph_page_set_enabled (self, "groups", can_group);
  graph_page_set_enabled (self, "expand-all", can_group);
  graph_page_set_enabled (self, "collapse-all", can_group);
  graph_page_set_enabled (self, "expand", vn_graph_view_can_expand (self->view));
  graph_page_set_enabled (self, "collapse", vn_graph_view_can_collapse (self->view));
}

static void
graph_page_show_groups (GSimpleAction *action,
                        GVariant      *value,
                        gpointer       data)
{
  VnGraphPage *self = data;

  vn_graph_view_set_grouped (self->view, g_variant_get_boolean (value));
  graph_page_update_actions (self);
}

static void
graph_page_change_groups (GSimpleAction *action,
                          GVariant      *parameter,
                          gpointer       data)
{
  VnGraphPage *self = data;
  const char *name = g_action_get_name (G_ACTION (action));

  if (g_str_equal (name, "expand-all"))
    vn_graph_view_expand_all (self->view);
  else if (g_str_equal (name, "collapse-all"))
    vn_graph_view_collapse_all (self->view);
  else if (g_str_equal (name, "expand"))
    vn_graph_view_expand_focus (self->view);
  else
    vn_graph_view_collapse_focus (self->view);
}

static GActionGroup *
graph_page_get_actions (VnPage *page)
{
  return G_ACTION_GROUP (VN_GRAPH_PAGE (page)->actions);
}

static void
graph_page_add_actions (VnGraphPage *self)
{
  static const GActionEntry entries[] = {
    { "groups", NULL, NULL, "false", graph_page_show_groups, { 0 } },
    { "expand-all", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "collapse-all", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "expand", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "collapse", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
  };

  self->actions = g_simple_action_group_new ();
  g_action_map_add_action_entries (G_ACTION_MAP (self->actions), entries, G_N_ELEMENTS (entries), self);
  graph_page_update_actions (self);
  g_signal_connect_swapped (self->view, "folding-changed", G_CALLBACK (graph_page_update_actions), self);
  g_signal_connect_swapped (self->view, "focus-changed", G_CALLBACK (graph_page_update_actions), self);
}

/* ---- scene ---- */

static void
graph_page_show_scene (VnGraphPage *self)
{
  vn_graph_view_set_network (self->view, self->scene, self->groups);
  graph_page_update_actions (self);
  graph_page_update_legend (self);
  graph_page_update_overlay (self);
  graph_page_set_view_selection (self);
}

static void
graph_page_grouped (GObject      *source,
                    GAsyncResult *result,
                    gpointer      data)
{
  g_autoptr(VnGraphPage) self = data;
  g_autoptr(VnGroups) groups = NULL;
  g_autoptr(VnScene) scene = vn_scene_build_grouped_finish (result, &groups, NULL);

  if (scene == NULL)
    return;
  g_clear_object (&self->grouping);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  self->scene = g_steal_pointer (&scene);
  self->groups = g_steal_pointer (&groups);
  self->grouped = vn_document_get_model (self->document);
  graph_page_show_scene (self);
}

/* A large model is not waited for; what was shown before stays until then. */
static gboolean
graph_page_start_grouping (VnGraphPage *self,
                           VnModel     *model)
{
  if (model == NULL || model->graph->nodes->len < THREAD_NODES)
    return FALSE;
  self->grouping = g_cancellable_new ();
  vn_scene_build_grouped_async (model, vn_document_get_result (self->document), self->groups, self->grouping, graph_page_grouped,
                                g_object_ref (self));
  return TRUE;
}

/* Boxes keep their places when only precisions have changed: the canvas sees that itself. */
static void
graph_page_scene_changed (VnGraphPage *self)
{
  VnModel *model = vn_document_get_model (self->document);

  if (self->grouping != NULL)
    g_cancellable_cancel (self->grouping);
  g_clear_object (&self->grouping);
  if (model != self->grouped)
    {
      g_clear_pointer (&self->scene, vn_scene_unref);
      g_clear_pointer (&self->groups, vn_groups_unref);
      self->grouped = NULL;
    }
  if (graph_page_start_grouping (self, model))
    return;
  g_clear_pointer (&self->scene, vn_scene_unref);
  if (model != NULL)
    self->scene = vn_scene_build (model, vn_document_get_result (self->document));
  if (model != NULL && self->groups == NULL)
    self->groups = vn_groups_new (self->scene);
  self->grouped = model;
  graph_page_show_scene (self);
}

static void
graph_page_zoom_changed (VnGraphPage *self)
{
  g_autofree char *text = g_strdup_printf ("%.0f\u00a0%%", 100 * vn_graph_view_get_zoom (self->view));

  gtk_label_set_label (self->zoom_label, text);
}

static void
graph_page_zoom_original (VnGraphPage *self)
{
  vn_graph_view_set_zoom (self->view, 1);
}

static void
graph_page_layout_failed (VnGraphPage *self,
                          const char  *message)
{
  g_autoptr(GError) error = g_error_new_literal (G_IO_ERROR, G_IO_ERROR_FAILED, message);

  g_signal_emit_by_name (self->document, "failed", _("The network could not be laid out"), error);
}

static void
graph_page_set_document (VnPage     *page,
                         VnDocument *document)
{
  VnGraphPage *self = VN_GRAPH_PAGE (page);

  self->document = g_object_ref (document);
  g_signal_connect_object (document, "result-changed", G_CALLBACK (graph_page_scene_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "metric-changed", G_CALLBACK (graph_page_metric_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (graph_page_selection_changed), self,
                           G_CONNECT_SWAPPED);
}

/* Travels to the selected node. */
static void
graph_page_reveal_selection (VnPage *page)
{
  VnGraphPage *self = VN_GRAPH_PAGE (page);
  GtkBitset *selection = vn_document_get_selection (self->document);
  guint node;

  if (self->scene == NULL || gtk_bitset_is_empty (selection))
    return;
  node = vn_scene_find_source (self->scene, gtk_bitset_get_minimum (selection));
  if (node != VN_SCENE_NONE)
    vn_graph_view_zoom_to_node (self->view, node);
}

static void
graph_page_show_context_menu (VnGraphPage *self,
                              guint        node,
                              double       x,
                              double       y)
{
  graphene_point_t at;
  GdkRectangle where;

  if (!gtk_widget_compute_point (GTK_WIDGET (self->view), GTK_WIDGET (self),
                                 &GRAPHENE_POINT_INIT ((float) x, (float) y), &at))
    return;
  where = (GdkRectangle) { (int) at.x, (int) at.y, 1, 1 };
  gtk_popover_set_pointing_to (self->context, &where);
  gtk_popover_popup (self->context);
}

static void
graph_page_quantize_clicked (VnGraphPage *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.quantize", NULL);
}

static void
graph_page_init_interface (VnPageInterface *interface)
{
  interface->set_document = graph_page_set_document;
  interface->reveal_selection = graph_page_reveal_selection;
  interface->get_actions = graph_page_get_actions;
}

static void
vn_graph_page_dispose (GObject *object)
{
  VnGraphPage *self = VN_GRAPH_PAGE (object);

  self->busy = TRUE;
  g_clear_object (&self->actions);
  if (self->grouping != NULL)
    g_cancellable_cancel (self->grouping);
  g_clear_object (&self->grouping);
  if (self->context != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->context));
  self->context = NULL;
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_GRAPH_PAGE);
  G_OBJECT_CLASS (vn_graph_page_parent_class)->dispose (object);
}

static void
vn_graph_page_class_init (VnGraphPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_graph_page_dispose;
  g_type_ensure (VN_TYPE_GRAPH_VIEW);
  g_type_ensure (VN_TYPE_LEGEND);
  g_type_ensure (VN_TYPE_MINIMAP);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-graph-page.ui");
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, view);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, legend);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, minimap);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, context);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, bar);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, bar_label);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_label);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_out);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_in);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_original);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_fit);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Delete, 0, "win.exclude", NULL);
}

static void
vn_graph_page_init (VnGraphPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_parent (GTK_WIDGET (self->context), GTK_WIDGET (self));
  g_signal_connect_swapped (self->view, "context-menu", G_CALLBACK (graph_page_show_context_menu), self);
  g_signal_connect_swapped (self->view, "selection-changed", G_CALLBACK (graph_page_view_selection_changed), self);
  g_signal_connect_swapped (self->view, "failed", G_CALLBACK (graph_page_layout_failed), self);
  g_signal_connect_swapped (self->view, "notify::zoom", G_CALLBACK (graph_page_zoom_changed), self);
  g_signal_connect_swapped (self->zoom_in, "clicked", G_CALLBACK (vn_graph_view_zoom_in), self->view);
  g_signal_connect_swapped (self->zoom_out, "clicked", G_CALLBACK (vn_graph_view_zoom_out), self->view);
  g_signal_connect_swapped (self->zoom_fit, "clicked", G_CALLBACK (vn_graph_view_zoom_to_fit), self->view);
  g_signal_connect_swapped (self->zoom_original, "clicked", G_CALLBACK (graph_page_zoom_original), self);
  g_signal_connect_swapped (self->legend, "overlay-changed", G_CALLBACK (graph_page_legend_changed), self);
  g_signal_connect_swapped (self->legend, "handles-changed", G_CALLBACK (graph_page_update_overlay), self);
  g_signal_connect_swapped (self->legend, "band-activated", G_CALLBACK (graph_page_select_band), self);
  g_signal_connect_swapped (self->legend, "quantize", G_CALLBACK (graph_page_quantize_clicked), self);
  vn_minimap_set_view (self->minimap, self->view);
  graph_page_add_actions (self);
  graph_page_zoom_changed (self);
}
