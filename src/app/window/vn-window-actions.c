/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actions of the window: what they do, and which of them can be used now. */
#include "vn-window-private.h"

#include "vn-compat.h"
#include "vn-copy-text.h"
#include "vn-i18n.h"
#include "vn-places.h"

static void
window_actions_action_help (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  g_autofree char *folder = vn_help_find ();
  g_autofree char *path = folder != NULL ? g_build_filename (folder, "index.html", NULL) : NULL;

  if (path == NULL)
    vn_toasts_show (VN_WINDOW (widget)->toast, _("The help is not installed."), NULL, NULL);
  else
    vn_show_file (widget, path);
}

static void
window_actions_action_undo (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  const char *title = vn_bench_undo (VN_BENCH (self->document));

  if (title != NULL)
    {
      g_autofree char *text = g_strdup_printf (_("Undone: %s"), title);

      vn_toasts_show (self->toast, text, NULL, NULL);
    }
}

static void
window_actions_action_redo (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  vn_bench_redo (VN_BENCH (VN_WINDOW (widget)->document));
}

static void
window_actions_action_quantize (GtkWidget  *widget,
                                const char *name,
                                GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  vn_wizard_begin (self->wizard, NULL);
  gtk_stack_set_visible_child_name (self->pages, "wizard");
}

static void
window_actions_action_change_target (GtkWidget  *widget,
                                     const char *name,
                                     GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  vn_wizard_begin (self->wizard, g_str_equal (name, "win.change-samples") ? "data" : "target");
  gtk_stack_set_visible_child_name (self->pages, "wizard");
}

static void
window_actions_action_mixed_precision (GtkWidget  *widget,
                                       const char *name,
                                       GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  gtk_stack_set_visible_child_name (self->pages, "wizard");
  vn_wizard_show_curve (self->wizard);
}

static void
window_actions_action_edit_size (GtkWidget  *widget,
                                 const char *name,
                                 GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  gtk_stack_set_visible_child_name (self->pages, "wizard");
  vn_wizard_edit_size (self->wizard, g_variant_get_string (parameter, NULL));
}

static void
window_actions_action_leave_wizard (GtkWidget  *widget,
                                    const char *name,
                                    GVariant   *parameter)
{
  vn_window_show_page (VN_WINDOW (widget), "graph");
}

static void
window_actions_action_cancel (GtkWidget  *widget,
                              const char *name,
                              GVariant   *parameter)
{
  vn_bench_cancel (VN_BENCH (VN_WINDOW (widget)->document));
}

static void
window_actions_set_precision (VnWindow        *self,
                              VnNodePrecision  precision)
{
  guint n = vn_document_set_precision (self->document, vn_document_get_selection (self->document), precision);
  g_autofree char *text = NULL;

  if (n == 0)
    {
      vn_toasts_show (self->toast, precision == VN_NODE_AS_RECIPE ? _("No rules apply to these nodes only.")
                                                            : _("The selected nodes already have this setting."),
                       NULL, NULL);
      return;
    }
  text = vn_bench_get_precision_title (precision, n);
  vn_toasts_show (self->toast, text, _("Undo"), "win.undo");
}

static void
window_actions_action_exclude (GtkWidget  *widget,
                               const char *name,
                               GVariant   *parameter)
{
  window_actions_set_precision (VN_WINDOW (widget), g_str_has_suffix (name, "exclude") ? VN_NODE_FLOAT : VN_NODE_AS_RECIPE);
}

static VnNodePrecision
window_actions_parse_precision (GVariant *parameter)
{
  static const struct { const char *id; VnNodePrecision precision; } choices[] = {
    { "8", VN_NODE_8_BIT },
    { "16", VN_NODE_16_BIT },
    { "float", VN_NODE_FLOAT },
  };

  for (guint i = 0; i < G_N_ELEMENTS (choices); i++)
    if (g_str_equal (g_variant_get_string (parameter, NULL), choices[i].id))
      return choices[i].precision;
  return VN_NODE_AS_RECIPE;
}

static void
window_actions_action_set_precision (GtkWidget  *widget,
                                     const char *name,
                                     GVariant   *parameter)
{
  window_actions_set_precision (VN_WINDOW (widget), window_actions_parse_precision (parameter));
}

static void
window_actions_action_set_region (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  VnNodePrecision precision = window_actions_parse_precision (parameter);
  GtkBitset *nodes = vn_document_get_selection (self->document);
  g_autofree char *text = NULL;

  if (precision == VN_NODE_AS_RECIPE || !vn_document_add_region (self->document, nodes, precision))
    {
      vn_toasts_show (self->toast, _("No tensor enters or leaves the selected nodes."), NULL, NULL);
      return;
    }
  text = vn_bench_get_precision_title (precision, (guint) gtk_bitset_get_size (nodes));
  vn_toasts_show (self->toast, text, _("Undo"), "win.undo");
}

static void
window_actions_action_add_edge (GtkWidget  *widget,
                                const char *name,
                                GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  const char *value;
  guint rule;
  gboolean enters;
  g_autofree char *text = NULL;

  g_variant_get (parameter, "(u&sb)", &rule, &value, &enters);
  if (!vn_bench_add_edge (VN_BENCH (self->document), rule, value, enters))
    return;
  text = g_strdup_printf (_("“%s” is now an edge of the region"), value);
  vn_toasts_show (self->toast, text, _("Undo"), "win.undo");
}

static void
window_actions_action_show_in_graph (GtkWidget  *widget,
                                     const char *name,
                                     GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  vn_window_show_page (self, "graph");
  vn_window_reveal_selection (self);
}

static void
window_actions_action_rename_rule (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  vn_window_show_recipe (self);
  if (!vn_recipe_panel_rename_selected (self->recipe_panel))
    vn_toasts_show (self->toast, _("No rule applies to all of the selected nodes."), NULL, NULL);
}

static void
window_actions_action_select_node (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  vn_document_select_one (self->document, g_variant_get_uint32 (parameter));
  vn_window_show_page (self, "graph");
  vn_window_reveal_selection (self);
}

static void
window_actions_action_walk (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_document_select_next (self->document, g_str_has_prefix (name, "win.next")))
    vn_window_reveal_selection (self);
}

static void
window_actions_action_walk_bad (GtkWidget  *widget,
                                const char *name,
                                GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_document_select_next_bad (self->document, g_str_has_prefix (name, "win.next")))
    vn_window_reveal_selection (self);
  else
    vn_toasts_show (self->toast, _("No node is rated bad."), NULL, NULL);
}

static void
window_actions_action_find (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_page_focus_search (self->view_pages[self->page]))
    return;
  vn_window_show_outline (self);
  vn_outline_focus_search (self->outline);
}

static void
window_actions_action_toggle_panel (GtkWidget  *widget,
                                    const char *name,
                                    GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  AdwFlap *flap = g_str_has_suffix (name, "outline") ? self->left_flap : self->right_flap;

  adw_flap_set_reveal_flap (flap, !adw_flap_get_reveal_flap (flap));
}

static void
window_actions_action_about_operator (GtkWidget  *widget,
                                      const char *name,
                                      GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  adw_flap_set_reveal_flap (self->right_flap, TRUE);
  vn_inspector_show_about (self->inspector);
}

static void
window_actions_action_show_page (GtkWidget  *widget,
                                 const char *name,
                                 GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_bench_get_model (VN_BENCH (self->document)) != NULL)
    vn_window_show_page (self, g_variant_get_string (parameter, NULL));
}

/* A file beside the model that is open: the page asks which. */
static void
window_actions_action_compare_file (GtkWidget  *widget,
                                    const char *name,
                                    GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  vn_window_show_page (self, "compare");
  gtk_widget_activate_action (GTK_WIDGET (self->view_pages[VN_WINDOW_PAGE_compare]), "compare.open-file", NULL);
}

static void
window_actions_action_select_all (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  vn_document_select_all (VN_WINDOW (widget)->document);
}

static void
window_actions_action_select_none (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  g_autoptr(GtkBitset) none = gtk_bitset_new_empty ();

  vn_document_select_tensor (VN_WINDOW (widget)->document, NULL);
  vn_document_select (VN_WINDOW (widget)->document, none);
}

static void
window_actions_action_grow_selection (GtkWidget  *widget,
                                      const char *name,
                                      GVariant   *parameter)
{
  vn_document_grow_selection (VN_WINDOW (widget)->document, g_variant_get_string (parameter, NULL));
}

/* The nodes that are selected, or the tensor. */
static char *
window_actions_dup_copied (VnDocument *document,
                           VnCopyKind  kind)
{
  const VnModel *model = vn_bench_get_model (VN_BENCH (document));
  GtkBitset *selection = vn_document_get_selection (document);
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  const VnValue *value;
  GtkBitsetIter iter;
  guint index;

  if (model == NULL)
    return NULL;
  if (vn_document_get_tensor (document) != NULL)
    {
      value = vn_graph_find_value (model->graph, vn_document_get_tensor (document));
      return value != NULL ? vn_copy_tensor (value, kind) : NULL;
    }
  for (gboolean ok = gtk_bitset_iter_init_first (&iter, selection, &index); ok; ok = gtk_bitset_iter_next (&iter, &index))
    g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, index));
  return nodes->len > 0 ? vn_copy_nodes (vn_bench_get_recipe (VN_BENCH (document)), (const VnNode * const *) nodes->pdata,
                                         nodes->len, kind) : NULL;
}

static void
window_actions_action_copy (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  VnCopyKind kind;
  g_autofree char *text = vn_copy_kind_find (g_variant_get_string (parameter, NULL), &kind)
                          ? window_actions_dup_copied (self->document, kind) : NULL;

  if (text == NULL)
    return;
  gdk_clipboard_set_text (gtk_widget_get_clipboard (widget), text);
  vn_toasts_show (self->toast, _("Copied"), NULL, NULL);
}

static void
window_actions_install (GtkWidgetClass *klass)
{
  static const struct { const char *name, *type; GtkWidgetActionActivateFunc func; } table[] = {
    { "win.help", NULL, window_actions_action_help },
    { "win.undo", NULL, window_actions_action_undo },
    { "win.redo", NULL, window_actions_action_redo },
    { "win.quantize", NULL, window_actions_action_quantize },
    { "win.change-target", NULL, window_actions_action_change_target },
    { "win.mixed-precision", NULL, window_actions_action_mixed_precision },
    { "win.edit-size", "s", window_actions_action_edit_size },
    { "win.change-samples", NULL, window_actions_action_change_target },
    { "win.leave-wizard", NULL, window_actions_action_leave_wizard },
    { "win.cancel-job", NULL, window_actions_action_cancel },
    { "win.exclude", NULL, window_actions_action_exclude },
    { "win.restore", NULL, window_actions_action_exclude },
    { "win.set-precision", "s", window_actions_action_set_precision },
    { "win.set-region", "s", window_actions_action_set_region },
    { "win.add-edge", "(usb)", window_actions_action_add_edge },
    { "win.show-in-graph", NULL, window_actions_action_show_in_graph },
    { "win.rename-rule", NULL, window_actions_action_rename_rule },
    { "win.select-node", "u", window_actions_action_select_node },
    { "win.next-node", NULL, window_actions_action_walk },
    { "win.previous-node", NULL, window_actions_action_walk },
    { "win.next-bad", NULL, window_actions_action_walk_bad },
    { "win.previous-bad", NULL, window_actions_action_walk_bad },
    { "win.find", NULL, window_actions_action_find },
    { "win.toggle-outline", NULL, window_actions_action_toggle_panel },
    { "win.toggle-inspector", NULL, window_actions_action_toggle_panel },
    { "win.about-operator", NULL, window_actions_action_about_operator },
    { "win.show-page", "s", window_actions_action_show_page },
    { "win.compare-file", NULL, window_actions_action_compare_file },
    { "win.select-all", NULL, window_actions_action_select_all },
    { "win.select-none", NULL, window_actions_action_select_none },
    { "win.grow-selection", "s", window_actions_action_grow_selection },
    { "win.copy", "s", window_actions_action_copy },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    gtk_widget_class_install_action (klass, table[i].name, table[i].type, table[i].func);
}

/* The next thing to do stands out: first to quantize, then to export. */
static void
window_actions_suggest (VnWindow *self,
                        gboolean  has_result)
{
  gtk_widget_set_sensitive (self->export_button, has_result);
  gtk_widget_remove_css_class (has_result ? self->quantize_button : self->export_button, "suggested-action");
  gtk_widget_add_css_class (has_result ? self->export_button : self->quantize_button, "suggested-action");
}

static void
window_actions_update (VnWindow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  VnDocument *document = self->document;
  gboolean has_model = vn_bench_get_model (VN_BENCH (document)) != NULL;
  gboolean has_result = vn_bench_get_shown (VN_BENCH (document)) != NULL;
  gboolean busy = vn_bench_get_job (VN_BENCH (document)) != NULL || vn_bench_get_origins_job (VN_BENCH (document)) != NULL ||
                  vn_bench_get_weights_job (VN_BENCH (document)) != NULL;
  gboolean wizard = gtk_stack_get_visible_child (self->pages) == GTK_WIDGET (self->wizard);
  gboolean selected = !gtk_bitset_is_empty (vn_document_get_selection (document));

  window_actions_suggest (self, has_result);
  gtk_widget_action_set_enabled (widget, "win.undo", vn_bench_can_undo (VN_BENCH (document)));
  gtk_widget_action_set_enabled (widget, "win.redo", vn_bench_can_redo (VN_BENCH (document)));
  gtk_widget_action_set_enabled (widget, "win.quantize", has_model && !wizard);
  gtk_widget_action_set_enabled (widget, "win.leave-wizard", wizard);
  gtk_widget_action_set_enabled (widget, "win.change-target", has_model);
  gtk_widget_action_set_enabled (widget, "win.change-samples", has_model);
  gtk_widget_action_set_enabled (widget, "win.edit-size", has_model);
  gtk_widget_action_set_enabled (widget, "win.show-page", has_model);
  gtk_widget_action_set_enabled (widget, "win.select-all", has_model);
  gtk_widget_action_set_enabled (widget, "win.select-none", selected);
  gtk_widget_action_set_enabled (widget, "win.next-node", has_model);
  gtk_widget_action_set_enabled (widget, "win.previous-node", has_model);
  gtk_widget_action_set_enabled (widget, "win.mixed-precision", has_result);
  gtk_widget_action_set_enabled (widget, "win.cancel-job", busy);
  gtk_widget_action_set_enabled (widget, "win.about-operator",
                                 gtk_bitset_get_size (vn_document_get_selection (document)) == 1);
  gtk_widget_action_set_enabled (widget, "win.exclude", selected);
  gtk_widget_action_set_enabled (widget, "win.restore", selected);
  gtk_widget_action_set_enabled (widget, "win.set-precision", selected);
  gtk_widget_action_set_enabled (widget, "win.set-region", selected);
  gtk_widget_action_set_enabled (widget, "win.grow-selection", selected);
  gtk_widget_action_set_enabled (widget, "win.copy", selected || vn_document_get_tensor (document) != NULL);
  gtk_widget_action_set_enabled (widget, "win.show-in-graph", selected);
  gtk_widget_action_set_enabled (widget, "win.rename-rule", selected &&
                                 vn_bench_get_recipe (VN_BENCH (document))->overrides->len > 0);
  gtk_widget_action_set_enabled (widget, "win.add-edge", has_model);
  gtk_widget_action_set_enabled (widget, "win.find", has_model && !wizard);
  gtk_widget_action_set_enabled (widget, "win.compare-file", has_model);
  gtk_widget_action_set_enabled (widget, "win.next-bad", has_result);
  gtk_widget_action_set_enabled (widget, "win.previous-bad", has_result);
}

const VnWindowPart vn_window_part_actions = { .install = window_actions_install, .update = window_actions_update };
