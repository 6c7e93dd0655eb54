/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page with the graph: connects the graph view, its legend and the bar of the selection with the document. */
#include "graph-page-private.h"

#include "vn-format.h"
#include "vn-graph-picture.h"
#include "vn-i18n.h"
#include "vn-precision-menu.h"
#include "vn-settings.h"

#define MOST_SYMBOLS 6       /* that are explained on the canvas */
#define THREAD_NODES 1500    /* smaller models are prepared in a few milliseconds */

static void graph_page_init_interface (VnPageInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnGraphPage, vn_graph_page, ADW_TYPE_BIN,
                               G_IMPLEMENT_INTERFACE (VN_TYPE_PAGE, graph_page_init_interface))

/* ---- groups and pairs ---- */

static void
graph_page_show_columns (GSimpleAction *action,
                         GVariant      *value,
                         gpointer       data)
{
  VnGraphPage *self = data;

  g_simple_action_set_state (action, value);
  vn_settings_set_bool ("columns", g_variant_get_boolean (value));
  vn_graph_view_set_page (self->view, g_variant_get_boolean (value) ? VN_GRAPH_COLUMNS_PAGE : 0);
}

static void
graph_page_columns_changed (VnGraphPage *self)
{
  g_action_group_change_action_state (G_ACTION_GROUP (self->actions), "columns",
                                      g_variant_new_boolean (vn_settings_get_bool ("columns", TRUE)));
}

static void graph_page_fold_pairs (GSimpleAction *action,
                                   GVariant      *value,
                                   gpointer       data);

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
  graph_page_set_enabled (self, "open-numbers", self->scene != NULL);
  graph_page_set_enabled (self, "groups", can_group);
  graph_page_set_enabled (self, "fold-pairs", self->has_pairs);
  graph_page_set_enabled (self, "expand-all", can_group);
  graph_page_set_enabled (self, "collapse-all", can_group);
  graph_page_set_enabled (self, "expand", vn_graph_view_can_expand (self->view));
  graph_page_set_enabled (self, "collapse", vn_graph_view_can_collapse (self->view));
}

static void
graph_page_change_overlay (GSimpleAction *action,
                           GVariant      *value,
                           gpointer       data)
{
  vn_graph_page_choose_overlay (data, g_variant_get_string (value, NULL));
}

static void
graph_page_change_lasso (GSimpleAction *action,
                         GVariant      *value,
                         gpointer       data)
{
  vn_graph_view_set_lasso (((VnGraphPage *) data)->view, g_variant_get_boolean (value));
  g_simple_action_set_state (action, value);
}

static void
graph_page_go_to_selected (GSimpleAction *action,
                           GVariant      *parameter,
                           gpointer       data)
{
  vn_graph_page_travel (data, g_str_has_prefix (g_action_get_name (G_ACTION (action)), "next") ? 1 : -1);
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
    { "fold-pairs", NULL, NULL, "true", graph_page_fold_pairs, { 0 } },
    { "columns", NULL, NULL, "true", graph_page_show_columns, { 0 } },
    { "expand-all", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "collapse-all", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "expand", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "collapse", graph_page_change_groups, NULL, NULL, NULL, { 0 } },
    { "overlay", NULL, "s", "'contribution'", graph_page_change_overlay, { 0 } },
    { "open-numbers", vn_graph_page_ask_numbers, NULL, NULL, NULL, { 0 } },
    { "lasso", NULL, NULL, "false", graph_page_change_lasso, { 0 } },
    { "next-selected", graph_page_go_to_selected, NULL, NULL, NULL, { 0 } },
    { "previous-selected", graph_page_go_to_selected, NULL, NULL, NULL, { 0 } },
  };

  self->actions = g_simple_action_group_new ();
  g_action_map_add_action_entries (G_ACTION_MAP (self->actions), entries, G_N_ELEMENTS (entries), self);
  g_simple_action_set_state (G_SIMPLE_ACTION (g_action_map_lookup_action (G_ACTION_MAP (self->actions), "fold-pairs")),
                             g_variant_new_boolean (vn_settings_get_bool ("fold-pairs", TRUE)));
  graph_page_columns_changed (self);
  if (vn_settings_get () != NULL)
    g_signal_connect_object (vn_settings_get (), "changed::columns", G_CALLBACK (graph_page_columns_changed), self,
                             G_CONNECT_SWAPPED);
  graph_page_update_actions (self);
  g_signal_connect_object (self->view, "folding-changed", G_CALLBACK (graph_page_update_actions), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "focus-changed", G_CALLBACK (graph_page_update_actions), self, G_CONNECT_SWAPPED);
}

/* ---- scene ---- */

static VnPairsShown
graph_page_get_pairs (VnGraphPage *self)
{
  g_autoptr(GVariant) folds = g_action_group_get_action_state (G_ACTION_GROUP (self->actions), "fold-pairs");

  return g_variant_get_boolean (folds) ? VN_PAIRS_FOLDED : VN_PAIRS_UNFOLDED;
}

/* What the letters in shapes stand for. */
static void
graph_page_show_symbols (VnGraphPage *self)
{
  guint n = self->scene != NULL ? vn_scene_get_n_symbols (self->scene) : 0;
  g_autoptr(GString) lines = g_string_new (NULL);

  for (guint i = 0; i < MIN (n, MOST_SYMBOLS); i++)
    {
      const char *text, *letter = vn_scene_get_symbol (self->scene, i, &text);

      g_string_append_printf (lines, "%s%s = %s", i > 0 ? "\n" : "", letter, text);
    }
  if (n > MOST_SYMBOLS)
    g_string_append (lines, "\n…");
  gtk_label_set_label (self->symbols, lines->str);
  gtk_widget_set_visible (GTK_WIDGET (self->symbols), n > 0);
  vn_graph_view_panels_changed (self->view);
}

static void
graph_page_show_scene (VnGraphPage *self)
{
  graph_page_show_symbols (self);
  vn_graph_view_set_network (self->view, self->scene, self->groups);
  graph_page_update_actions (self);
  vn_graph_page_update_legend (self);
  vn_graph_page_update_overlay (self);
  vn_graph_page_show_selection (self);
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
  self->grouped = vn_bench_get_model (VN_BENCH (self->document));
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
  vn_scene_build_grouped_async (model, vn_bench_get_shown (VN_BENCH (self->document)), graph_page_get_pairs (self),
                                self->sizes, self->groups, self->grouping, graph_page_grouped, g_object_ref (self));
  return TRUE;
}

/* Boxes keep their places when only precisions have changed: the canvas sees that itself. */
static void
graph_page_scene_changed (VnGraphPage *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));

  if (self->grouping != NULL)
    g_cancellable_cancel (self->grouping);
  g_clear_object (&self->grouping);
  vn_graph_page_check_numbers (self);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  self->sizes = vn_bench_dup_known_sizes (VN_BENCH (self->document));
  if (model != self->grouped)
    {
      g_clear_pointer (&self->scene, vn_scene_unref);
      g_clear_pointer (&self->groups, vn_groups_unref);
      self->grouped = NULL;
      self->has_pairs = model != NULL && vn_quantize_count_quantized (model) > 0;
    }
  if (graph_page_start_grouping (self, model))
    return;
  g_clear_pointer (&self->scene, vn_scene_unref);
  if (model != NULL)
    self->scene = vn_scene_build_sized (model, vn_bench_get_shown (VN_BENCH (self->document)), graph_page_get_pairs (self),
                                        self->sizes);
  if (model != NULL && self->groups == NULL)
    self->groups = vn_groups_new (self->scene);
  self->grouped = model;
  graph_page_show_scene (self);
}

static gboolean
graph_page_same_sizes (GHashTable *a,
                       GHashTable *b)
{
  GHashTableIter iter;
  gpointer name, size;

  if (a == NULL || b == NULL || g_hash_table_size (a) != g_hash_table_size (b))
    return a == b;
  g_hash_table_iter_init (&iter, a);
  while (g_hash_table_iter_next (&iter, &name, &size))
    if (g_hash_table_lookup (b, name) == NULL || !vn_shape_equal (size, g_hash_table_lookup (b, name)))
      return FALSE;
  return TRUE;
}

/* Sizes of inputs were given, or are those of samples: shapes are written anew. */
static void
graph_page_data_changed (VnGraphPage *self)
{
  g_autoptr(GHashTable) sizes = vn_bench_dup_known_sizes (VN_BENCH (self->document));

  if (self->grouped == NULL || self->grouped != vn_bench_get_model (VN_BENCH (self->document)) ||
      graph_page_same_sizes (sizes, self->sizes))
    return;
  self->grouped = NULL;
  graph_page_scene_changed (self);
}

static void
graph_page_fold_pairs (GSimpleAction *action,
                       GVariant      *value,
                       gpointer       data)
{
  VnGraphPage *self = data;

  g_simple_action_set_state (action, value);
  vn_settings_set_bool ("fold-pairs", g_variant_get_boolean (value));
  self->grouped = NULL;
  graph_page_scene_changed (self);
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

  vn_bench_report_error (VN_BENCH (self->document), _("The graph could not be laid out"), error);
}

static gboolean
graph_page_write_picture (gpointer       data,
                          const char    *path,
                          GCancellable  *cancellable,
                          GError       **error)
{
  return vn_graph_picture_write (data, path, cancellable, error);
}

static void
graph_page_free_picture (gpointer data)
{
  vn_graph_picture_free (data);
}

static gboolean
graph_page_make_picture (gpointer     data,
                         const char  *form,
                         int          dark,
                         VnGraphShot *shot)
{
  *shot = (VnGraphShot) { graph_page_write_picture, vn_graph_picture_new (VN_GRAPH_PAGE (data)->view, form, dark),
                          graph_page_free_picture };
  return shot->data != NULL;
}

static void
graph_page_set_document (VnPage     *page,
                         VnDocument *document)
{
  VnGraphPage *self = VN_GRAPH_PAGE (page);

  self->document = g_object_ref (document);
  vn_bench_set_picture_func (VN_BENCH (document), graph_page_make_picture, self);
  vn_bench_set_group_func (VN_BENCH (document), vn_graph_page_dup_group_title, self);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (gtk_popover_popdown), self->leak, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (graph_page_scene_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::data", G_CALLBACK (graph_page_data_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "metric-changed", G_CALLBACK (vn_graph_page_metric_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (vn_graph_page_selection_changed), self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::runs", G_CALLBACK (vn_graph_page_update_overlay), self, G_CONNECT_SWAPPED);
  vn_precision_menu_connect (self->precision, document);
  vn_graph_page_restore_overlay (self);
}

/* Travels to the selected node. */
static void
graph_page_reveal_selection (VnPage *page)
{
  vn_graph_page_travel_here (VN_GRAPH_PAGE (page));
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
  vn_precision_menu_tell (gtk_popover_menu_get_menu_model (GTK_POPOVER_MENU (self->context)), self->document);
  gtk_popover_popup (self->context);
}

static void
graph_page_quantize_clicked (VnGraphPage *self)
{
  gtk_widget_activate_action (GTK_WIDGET (self), "win.quantize", NULL);
}

static GtkRevealer *
graph_page_get_foot (VnPage *page)
{
  return VN_GRAPH_PAGE (page)->bar;
}

static void
graph_page_init_interface (VnPageInterface *interface)
{
  interface->get_foot = graph_page_get_foot;
  interface->set_document = graph_page_set_document;
  interface->reveal_selection = graph_page_reveal_selection;
  interface->get_actions = graph_page_get_actions;
}

static void
vn_graph_page_dispose (GObject *object)
{
  VnGraphPage *self = VN_GRAPH_PAGE (object);

  self->busy = TRUE;
  if (self->view != NULL)
    vn_graph_view_set_panels_func (self->view, NULL, NULL);
  vn_graph_page_forget_overlay (self);
  vn_graph_page_drop_numbers (self);
  g_clear_object (&self->actions);
  if (self->grouping != NULL)
    g_cancellable_cancel (self->grouping);
  g_clear_object (&self->grouping);
  if (self->context != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->context));
  self->context = NULL;
  if (self->leak != NULL)
    gtk_widget_unparent (GTK_WIDGET (self->leak));
  self->leak = NULL;
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_clear_pointer (&self->scene, vn_scene_unref);
  g_clear_pointer (&self->groups, vn_groups_unref);
  if (self->document != NULL)
    {
      vn_bench_set_picture_func (VN_BENCH (self->document), NULL, NULL);
      vn_bench_set_group_func (VN_BENCH (self->document), NULL, NULL);
    }
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_GRAPH_PAGE);
  G_OBJECT_CLASS (vn_graph_page_parent_class)->dispose (object);
}

/* The first that the node has; the inspector has all of them. */
static void
graph_page_open_body (VnGraphPage *self,
                      guint        node)
{
  vn_document_select_one (self->document, node);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.open-body", "s", "*");
}

static void
vn_graph_page_class_init (VnGraphPageClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_graph_page_dispose;
  g_type_ensure (VN_TYPE_GRAPH_VIEW);
  g_type_ensure (VN_TYPE_LEGEND);
  g_type_ensure (VN_TYPE_MINIMAP);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_F2, 0, "win.rename-rule", NULL);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-graph-page.ui");
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, view);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, legend);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, minimap);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, context);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, precision);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, bar);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, corner);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_box);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, bar_label);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, bar_place);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_label);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, symbols);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_out);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_in);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_original);
  gtk_widget_class_bind_template_child (widget_class, VnGraphPage, zoom_fit);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Delete, 0, "win.exclude", NULL);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_c, GDK_CONTROL_MASK, "win.copy", "s", "name");
}

/* What it told of may be mended: it is made anew for each leak. */
static void
graph_page_leak_closed (GtkPopover *leak)
{
  gtk_popover_set_child (leak, NULL);
}

static void
vn_graph_page_init (VnGraphPage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_parent (GTK_WIDGET (self->context), GTK_WIDGET (self));
  self->leak = GTK_POPOVER (gtk_popover_new ());
  gtk_popover_set_position (self->leak, GTK_POS_BOTTOM);
  g_signal_connect (self->leak, "closed", G_CALLBACK (graph_page_leak_closed), NULL);
  gtk_widget_set_parent (GTK_WIDGET (self->leak), GTK_WIDGET (self));
  g_signal_connect_object (self->view, "context-menu", G_CALLBACK (graph_page_show_context_menu), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "selection-changed", G_CALLBACK (vn_graph_page_take_selection), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "node-activated", G_CALLBACK (graph_page_open_body), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "leak-activated", G_CALLBACK (vn_graph_page_show_leak), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "failed", G_CALLBACK (graph_page_layout_failed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (self->view, "notify::zoom", G_CALLBACK (graph_page_zoom_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->zoom_in, "clicked", G_CALLBACK (vn_graph_view_zoom_in), self->view);
  g_signal_connect_swapped (self->zoom_out, "clicked", G_CALLBACK (vn_graph_view_zoom_out), self->view);
  g_signal_connect_swapped (self->zoom_fit, "clicked", G_CALLBACK (vn_graph_view_zoom_to_fit), self->view);
  g_signal_connect_swapped (self->zoom_original, "clicked", G_CALLBACK (graph_page_zoom_original), self);
  vn_graph_page_connect_legend (self);
  g_signal_connect_swapped (self->legend, "quantize", G_CALLBACK (graph_page_quantize_clicked), self);
  vn_minimap_set_view (self->minimap, self->view);
  g_signal_connect_swapped (gtk_widget_get_parent (self->corner), "get-child-position",
                            G_CALLBACK (vn_graph_page_place_panel), self);
  vn_graph_view_set_panels_func (self->view, vn_graph_page_list_panels, self);
  graph_page_add_actions (self);
  graph_page_zoom_changed (self);
}

/**
 * vn_graph_page_open_numbers:
 * @path: of Model Explorer's node data, a profile of ONNX Runtime, or a table of names and values
 *
 * Reads the file in the background, and colors the graph by it. A model must be open.
 */
void
vn_graph_page_open_numbers (VnGraphPage *self,
                            const char  *path)
{
  g_return_if_fail (VN_IS_GRAPH_PAGE (self) && path != NULL);
  g_return_if_fail (self->document != NULL && vn_bench_get_model (VN_BENCH (self->document)) != NULL);

  vn_graph_page_read_numbers (self, path);
}
