/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page that compares: its tools, and selections of both sides that follow each other and the document. */
#include "compare-page-private.h"

#include "vn-compare-selection.h"
#include "vn-compare-sources.h"
#include "vn-compat.h"
#include "vn-settings.h"

#define LOWER_HEIGHT 352     /* of the lower pane */
#define LOWER_SHARE    0.45  /* of the page, in a window that is not high enough for that */

static void compare_page_init_interface (VnPageInterface *interface);

G_DEFINE_FINAL_TYPE_WITH_CODE (VnComparePage, vn_compare_page, ADW_TYPE_BIN,
                               G_IMPLEMENT_INTERFACE (VN_TYPE_PAGE, compare_page_init_interface))

/* ---- selection ---- */

static void
compare_page_selected (VnComparePage *self,
                       guint          side)
{
  g_autoptr(GtkBitset) selection = NULL;

  /* a side that is emptied, or gets another network, has selected nothing */
  if (self->busy || self->document == NULL || vn_compare_pane_get_scene (self->panes[side]) == NULL ||
      vn_graph_view_get_scene (vn_compare_pane_get_view (self->panes[side])) != vn_compare_pane_get_scene (self->panes[side]))
    return;
  self->busy = TRUE;
  vn_compare_link_mirror_selection (self->link, side);
  selection = vn_compare_selection_read (self->panes[side]);
  vn_document_select (self->document, selection);
  self->busy = FALSE;
}

static void
compare_page_first_selected (VnComparePage *self)
{
  compare_page_selected (self, 0);
}

static void
compare_page_second_selected (VnComparePage *self)
{
  compare_page_selected (self, 1);
}

/* A click selects first and focuses then: the focus says which node is looked at. */
static void
compare_page_focused (VnComparePage *self,
                      guint          side)
{
  VnGraphView *view = vn_compare_pane_get_view (self->panes[side]), *other = vn_compare_pane_get_view (self->panes[1 - side]);

  if (self->busy || vn_graph_view_get_scene (view) == NULL)
    return;
  self->busy = TRUE;
  vn_graph_view_set_focus_node (other, vn_compare_link_map (self->link, side, vn_graph_view_get_focus_node (view)));
  self->busy = FALSE;
  vn_compare_page_show_node (self, side);
}

static void
compare_page_first_focused (VnComparePage *self)
{
  compare_page_focused (self, 0);
}

static void
compare_page_second_focused (VnComparePage *self)
{
  compare_page_focused (self, 1);
}

static void
compare_page_view_ready (VnComparePage *self)
{
  vn_compare_page_show_selection (self);
  vn_compare_link_align (self->link);
  vn_compare_page_travel_to_selection (self);
}

static void
compare_page_travel (VnGraphView *view,
                     guint        node)
{
  vn_graph_view_zoom_to_node (view, node);
}

/* ---- sources ---- */

static void
compare_page_file_chosen (GFile    *file,
                          gpointer  data)
{
  VnComparePage *self = data;
  g_autofree char *path = g_file_get_path (file);

  if (path != NULL && self->document != NULL && vn_bench_get_model (VN_BENCH (self->document)) != NULL)
    vn_compare_page_open_file (self, path, self->open_side);
}

static void
compare_page_ask_file (VnComparePage *self,
                       guint          side)
{
  self->open_side = side;
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_MODEL, NULL, compare_page_file_chosen, g_object_ref (self), g_object_unref);
}

static void
compare_page_ask_first (VnComparePage *self)
{
  compare_page_ask_file (self, 0);
}

static void
compare_page_ask_second (VnComparePage *self)
{
  compare_page_ask_file (self, 1);
}

/* Of a run that was kept the networks are made once more. */
static void
compare_page_rebuild (VnComparePage *self)
{
  for (guint i = 0; i < 2; i++)
    {
      VnCompareSource *source = vn_compare_pane_get_source (self->panes[i]);

      if (source != NULL && source->model != NULL && !vn_compared_model_has_network (source->model))
        vn_compare_source_rebuild (source);
    }
}

/* ---- tools ---- */

static void
compare_page_together_toggled (VnComparePage *self)
{
  vn_compare_link_set_together (self->link, gtk_toggle_button_get_active (self->together));
}

/* The switch of the graph page. */
static void
compare_page_columns_toggled (VnComparePage *self)
{
  vn_compare_link_set_page (self->link, gtk_toggle_button_get_active (self->columns) ? VN_GRAPH_COLUMNS_PAGE : 0);
}

static void
compare_page_fit_clicked (VnComparePage *self)
{
  vn_compare_link_fit (self->link);
}

/* The lower pane shows a table, what is answered to the samples, or the tensor that is looked at. */
static void
compare_page_lower_toggled (VnComparePage   *self,
                            GtkToggleButton *button)
{
  GtkToggleButton *other = button == self->as_table ? self->as_answers : self->as_table;
  gboolean is_on = gtk_toggle_button_get_active (button);

  if (is_on)
    {
      gtk_toggle_button_set_active (other, FALSE);
      gtk_toggle_button_set_active (self->fold, FALSE);
    }
  gtk_stack_set_visible_child (self->lower, gtk_toggle_button_get_active (self->as_table) ? GTK_WIDGET (self->table)
                               : gtk_toggle_button_get_active (self->as_answers) ? GTK_WIDGET (self->answers)
                               : GTK_WIDGET (self->tensor));
}

/* Answers are kept of the last whole run alone. */
static void
compare_page_update_answers (VnComparePage *self)
{
  gboolean has_answers;

  vn_answers_view_set_run (self->answers, vn_bench_get_confirmed (VN_BENCH (self->document)));
  has_answers = vn_answers_view_has_answers (self->answers);
  gtk_widget_set_visible (GTK_WIDGET (self->as_answers), has_answers);
  if (!has_answers)
    gtk_toggle_button_set_active (self->as_answers, FALSE);
}

static void
compare_page_fold_toggled (VnComparePage *self)
{
  gboolean folded = gtk_toggle_button_get_active (self->fold);

  gtk_widget_set_visible (GTK_WIDGET (self->lower), !folded);
  gtk_button_set_icon_name (GTK_BUTTON (self->fold), folded ? "pan-up-symbolic" : "pan-down-symbolic");
}

static void
compare_page_toggle (GtkWidget  *widget,
                     const char *name,
                     GVariant   *parameter)
{
  VnComparePage *self = VN_COMPARE_PAGE (widget);
  GtkToggleButton *button = g_str_has_suffix (name, "together") ? self->together : g_str_has_suffix (name, "table")
                            ? self->as_table : g_str_has_suffix (name, "answers") ? self->as_answers : self->fold;

  if (!gtk_widget_get_visible (GTK_WIDGET (button)) || !gtk_widget_get_mapped (widget))
    return;
  gtk_toggle_button_set_active (button, !gtk_toggle_button_get_active (button));
  if (button == self->as_answers && gtk_toggle_button_get_active (button))
    vn_answers_view_focus_list (self->answers);
}

static void
compare_page_open_action (GtkWidget  *widget,
                          const char *name,
                          GVariant   *parameter)
{
  compare_page_ask_second (VN_COMPARE_PAGE (widget));
}

/* The tools float on the line between the two graphs. */
static gboolean
compare_page_place_tools (VnComparePage *self,
                          GtkWidget     *child,
                          GdkRectangle  *place)
{
  GtkRequisition size;

  if (child != self->tools)
    return FALSE;
  gtk_widget_get_preferred_size (child, NULL, &size);
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_set_foot (self->panes[i], size.height + 12);
  place->width = size.width;
  place->height = size.height;
  place->x = CLAMP (gtk_paned_get_position (self->upper) - size.width / 2, 0,
                    MAX (gtk_widget_get_width (GTK_WIDGET (self->overlay)) - size.width, 0));
  place->y = MAX (gtk_widget_get_height (GTK_WIDGET (self->overlay)) - size.height - 12, 0);
  return TRUE;
}

static gboolean
compare_page_align (GtkWidget     *widget,
                    GdkFrameClock *clock,
                    gpointer       data)
{
  VnComparePage *self = VN_COMPARE_PAGE (widget);

  self->align_tick = 0;
  gtk_widget_queue_allocate (GTK_WIDGET (self->overlay));
  vn_compare_link_align (self->link);
  vn_compare_page_travel_to_selection (self);
  return G_SOURCE_REMOVE;
}

static gboolean
compare_page_limit_lower (GtkWidget     *widget,
                          GdkFrameClock *clock,
                          gpointer       data)
{
  VnComparePage *self = VN_COMPARE_PAGE (widget);

  self->limit_tick = 0;
  gtk_widget_set_size_request (GTK_WIDGET (self->lower), -1,
                               MIN (LOWER_HEIGHT, (int) (LOWER_SHARE * gtk_widget_get_height (GTK_WIDGET (self->whole)))));
  return G_SOURCE_REMOVE;
}

/* The page has another height. Not while it is being laid out. */
static void
compare_page_height_changed (VnComparePage *self)
{
  if (self->limit_tick == 0)
    self->limit_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), compare_page_limit_lower, NULL, NULL);
}

/* Of the new sizes the views know in the next frame. */
static void
compare_page_divider_moved (VnComparePage *self)
{
  if (self->align_tick == 0)
    self->align_tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), compare_page_align, NULL, NULL);
}

/* ---- page ---- */

static void
compare_page_set_document (VnPage     *page,
                           VnDocument *document)
{
  VnComparePage *self = VN_COMPARE_PAGE (page);

  self->document = g_object_ref (document);
  vn_compare_tensor_set_document (self->tensor, document);
  vn_answers_view_set_document (self->answers, document);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (compare_page_update_answers), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::model", G_CALLBACK (vn_compare_page_model_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (vn_compare_page_sources_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::runs", G_CALLBACK (vn_compare_page_sources_changed), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "selection-changed", G_CALLBACK (vn_compare_page_show_selection), self, G_CONNECT_SWAPPED);
  vn_compare_page_update_sources (self);
}

static void
compare_page_reveal_selection (VnPage *page)
{
  VnComparePage *self = VN_COMPARE_PAGE (page);

  self->wants_travel = TRUE;
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    vn_compare_page_travel_to_selection (self);
}

static void
compare_page_init_interface (VnPageInterface *interface)
{
  interface->set_document = compare_page_set_document;
  interface->reveal_selection = compare_page_reveal_selection;
}

static void
vn_compare_page_map (GtkWidget *widget)
{
  VnComparePage *self = VN_COMPARE_PAGE (widget);

  GTK_WIDGET_CLASS (vn_compare_page_parent_class)->map (widget);
  self->wants_travel = TRUE;
  for (guint i = 0; i < 2; i++)
    vn_compare_pane_show (self->panes[i], TRUE);
}

/* What nobody sees is neither loaded nor run. */
static void
vn_compare_page_unmap (GtkWidget *widget)
{
  VnComparePage *self = VN_COMPARE_PAGE (widget);

  for (guint i = 0; i < 2; i++)
    vn_compare_pane_show (self->panes[i], FALSE);
  GTK_WIDGET_CLASS (vn_compare_page_parent_class)->unmap (widget);
}

static void
vn_compare_page_dispose (GObject *object)
{
  VnComparePage *self = VN_COMPARE_PAGE (object);

  self->busy = TRUE;
  vn_compare_page_stop_matching (self);
  vn_compare_page_stop_loading (self);
  g_clear_pointer (&self->link, vn_compare_link_free);
  g_clear_pointer (&self->match, vn_node_match_unref);
  g_clear_object (&self->sources);
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_COMPARE_PAGE);
  G_OBJECT_CLASS (vn_compare_page_parent_class)->dispose (object);
}

static void
vn_compare_page_class_init (VnComparePageClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_compare_page_dispose;
  class->map = vn_compare_page_map;
  class->unmap = vn_compare_page_unmap;
  g_type_ensure (VN_TYPE_COMPARE_PANE);
  g_type_ensure (VN_TYPE_COMPARE_TENSOR);
  g_type_ensure (VN_TYPE_COMPARE_TABLE);
  g_type_ensure (VN_TYPE_ANSWERS_VIEW);
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_GROUP);
  gtk_widget_class_set_template_from_resource (class, "/io/github/vernier/Vernier/vn-compare-page.ui");
  gtk_widget_class_bind_template_child (class, VnComparePage, stack);
  gtk_widget_class_bind_template_child (class, VnComparePage, overlay);
  gtk_widget_class_bind_template_child (class, VnComparePage, upper);
  gtk_widget_class_bind_template_child (class, VnComparePage, whole);
  gtk_widget_class_bind_template_child_full (class, "first", FALSE, G_STRUCT_OFFSET (VnComparePage, panes));
  gtk_widget_class_bind_template_child_full (class, "second", FALSE,
                                             G_STRUCT_OFFSET (VnComparePage, panes) + sizeof (VnComparePane *));
  gtk_widget_class_bind_template_child (class, VnComparePage, tools);
  gtk_widget_class_bind_template_child (class, VnComparePage, together);
  gtk_widget_class_bind_template_child (class, VnComparePage, columns);
  gtk_widget_class_bind_template_child (class, VnComparePage, as_table);
  gtk_widget_class_bind_template_child (class, VnComparePage, as_answers);
  gtk_widget_class_bind_template_child (class, VnComparePage, answers);
  gtk_widget_class_bind_template_child (class, VnComparePage, fold);
  gtk_widget_class_bind_template_child (class, VnComparePage, fit);
  gtk_widget_class_bind_template_child (class, VnComparePage, lower);
  gtk_widget_class_bind_template_child (class, VnComparePage, tensor);
  gtk_widget_class_bind_template_child (class, VnComparePage, table);
  gtk_widget_class_bind_template_callback (class, compare_page_ask_second);
  gtk_widget_class_install_action (class, "compare.together", NULL, compare_page_toggle);
  gtk_widget_class_install_action (class, "compare.table", NULL, compare_page_toggle);
  gtk_widget_class_install_action (class, "compare.answers", NULL, compare_page_toggle);
  gtk_widget_class_install_action (class, "compare.fold", NULL, compare_page_toggle);
  gtk_widget_class_install_action (class, "compare.open-file", NULL, compare_page_open_action);
}

static void
compare_page_connect_panes (VnComparePage *self)
{
  static void (* const selected[]) (VnComparePage *) = { compare_page_first_selected, compare_page_second_selected };
  static void (* const focused[]) (VnComparePage *) = { compare_page_first_focused, compare_page_second_focused };
  static void (* const ask[]) (VnComparePage *) = { compare_page_ask_first, compare_page_ask_second };

  for (guint i = 0; i < 2; i++)
    {
      VnGraphView *view = vn_compare_pane_get_view (self->panes[i]);

      vn_compare_pane_set_beside (self->panes[i], self->panes[1 - i]);
      g_signal_connect_object (self->panes[i], "model-changed", G_CALLBACK (vn_compare_page_models_changed), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (self->panes[i], "source-chosen", G_CALLBACK (vn_compare_page_models_changed), self,
                               G_CONNECT_SWAPPED);
      g_signal_connect_object (self->panes[i], "open-file", G_CALLBACK (ask[i]), self, G_CONNECT_SWAPPED);
      g_signal_connect_object (view, "selection-changed", G_CALLBACK (selected[i]), self, G_CONNECT_SWAPPED);
      g_signal_connect_object (view, "focus-changed", G_CALLBACK (focused[i]), self, G_CONNECT_SWAPPED);
      g_signal_connect_object (view, "ready", G_CALLBACK (compare_page_view_ready), self, G_CONNECT_SWAPPED);
      g_signal_connect (view, "node-activated", G_CALLBACK (compare_page_travel), NULL);
    }
}

/* Wherever in the window the focus is. */
static void
compare_page_add_keys (VnComparePage *self)
{
  static const struct { guint key; const char *action; } keys[] = {
    { GDK_KEY_m, "compare.together" }, { GDK_KEY_t, "compare.table" }, { GDK_KEY_d, "compare.answers" },
    { GDK_KEY_l, "compare.fold" },
  };
  GtkEventController *controller = gtk_shortcut_controller_new ();

  gtk_shortcut_controller_set_scope (GTK_SHORTCUT_CONTROLLER (controller), GTK_SHORTCUT_SCOPE_MANAGED);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    gtk_shortcut_controller_add_shortcut (GTK_SHORTCUT_CONTROLLER (controller),
                                          gtk_shortcut_new (gtk_keyval_trigger_new (keys[i].key, GDK_ALT_MASK),
                                                            gtk_named_action_new (keys[i].action)));
  gtk_widget_add_controller (GTK_WIDGET (self), controller);
}

static void
vn_compare_page_init (VnComparePage *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->sources = g_list_store_new (VN_TYPE_COMPARE_SOURCE);
  self->link = vn_compare_link_new (vn_compare_pane_get_view (self->panes[0]), vn_compare_pane_get_view (self->panes[1]));
  compare_page_connect_panes (self);
  compare_page_add_keys (self);
  g_signal_connect_object (self->tensor, "rebuild", G_CALLBACK (compare_page_rebuild), self, G_CONNECT_SWAPPED);
  g_signal_connect_swapped (self->together, "toggled", G_CALLBACK (compare_page_together_toggled), self);
  g_signal_connect_swapped (self->columns, "toggled", G_CALLBACK (compare_page_columns_toggled), self);
  if (vn_settings_get () != NULL)
    g_settings_bind (vn_settings_get (), "columns", self->columns, "active", G_SETTINGS_BIND_DEFAULT);
  compare_page_columns_toggled (self);
  g_signal_connect_swapped (self->fit, "clicked", G_CALLBACK (compare_page_fit_clicked), self);
  g_signal_connect_swapped (self->as_table, "toggled", G_CALLBACK (compare_page_lower_toggled), self);
  g_signal_connect_swapped (self->as_answers, "toggled", G_CALLBACK (compare_page_lower_toggled), self);
  g_signal_connect_swapped (self->fold, "toggled", G_CALLBACK (compare_page_fold_toggled), self);
  g_signal_connect_swapped (self->overlay, "get-child-position", G_CALLBACK (compare_page_place_tools), self);
  g_signal_connect_swapped (self->whole, "notify::max-position", G_CALLBACK (compare_page_height_changed), self);
  g_signal_connect_swapped (self->upper, "notify::position", G_CALLBACK (compare_page_divider_moved), self);
}

/**
 * vn_compare_page_open_file:
 * @path: of an ONNX model
 * @side: 0 or 1: that shall show it
 *
 * Adds the file to what can be chosen, and shows it.
 */
void
vn_compare_page_open_file (VnComparePage *self,
                           const char    *path,
                           guint          side)
{
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func (g_object_unref);
  VnCompareSource *source;

  g_return_if_fail (VN_IS_COMPARE_PAGE (self) && path != NULL && side < 2 &&
                    vn_bench_get_model (VN_BENCH (self->document)) != NULL);

  source = vn_compare_source_new (self->document, VN_COMPARE_FILE, NULL, path);
  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->sources)); i++)
    g_ptr_array_add (list, g_list_model_get_item (G_LIST_MODEL (self->sources), i));
  g_ptr_array_insert (list, list->len > 0 ? (int) list->len - 1 : 0, source);
  vn_compare_page_set_lists (self, list);
  vn_compare_pane_set_source (self->panes[side], source);
  gtk_stack_set_visible_child_name (self->stack, "compare");
  vn_compare_page_models_changed (self);
}

/**
 * vn_compare_page_show_run:
 * @id: of a run of the document
 *
 * Shows it beside what the document shows; that itself beside the float network.
 */
void
vn_compare_page_show_run (VnComparePage *self,
                          const char    *id)
{
  g_autoptr(GPtrArray) list = NULL;
  VnCompareSource *first;

  g_return_if_fail (VN_IS_COMPARE_PAGE (self) && id != NULL);

  list = vn_compare_sources_list (self->document, G_LIST_MODEL (self->sources));
  first = vn_compare_sources_get_float (list);
  for (guint i = 0; i < list->len; i++)
    {
      VnCompareSource *source = g_ptr_array_index (list, i);

      if (source->kind == VN_COMPARE_RUN && g_str_equal (source->run->id, id) &&
          !vn_bench_is_shown (VN_BENCH (self->document), source->run))
        first = source;
    }
  vn_compare_page_set_lists (self, list);
  vn_compare_pane_set_source (self->panes[0], first);
  vn_compare_pane_set_source (self->panes[1], vn_compare_sources_get_present (list, self->document));
  vn_compare_page_choose (self, list);
}

/**
 * vn_compare_page_is_busy:
 *
 * Returns: whether something is being loaded, matched, measured or read
 */
gboolean
vn_compare_page_is_busy (VnComparePage *self)
{
  g_return_val_if_fail (VN_IS_COMPARE_PAGE (self), FALSE);

  if (self->matching != NULL || vn_compare_tensor_is_busy (self->tensor))
    return TRUE;
  for (guint i = 0; i < 2; i++)
    {
      VnCompareSource *source = vn_compare_pane_get_source (self->panes[i]);

      if (source != NULL && (vn_compare_source_is_busy (source) || vn_compare_pane_get_model (self->panes[i]) != source->model))
        return TRUE;
    }
  return FALSE;
}
