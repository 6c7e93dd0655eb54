/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window: its pages and panels, and what it shows of the document. */
#include "vn-window-private.h"

#include "vn-button-names.h"
#include "vn-i18n.h"
#include "vn-overlay-choice.h"
#include "vn-settings.h"

#define SPINNER_DELAY_MS 300

#define VN_PAGE(id, ...) GType vn_##id##_page_get_type (void);
#include "vn-pages.def"
#undef VN_PAGE

static const struct
{
  const char *id, *title, *icon;
  gboolean    has_panels;
  GType     (*get_type) (void);
} window_pages[] = {
#define VN_PAGE(id, title, icon, has_panels) { #id, title, icon, has_panels, vn_##id##_page_get_type },
#include "vn-pages.def"
#undef VN_PAGE
};

static const VnWindowPart * const window_parts[] = {
#define VN_WINDOW_PART(id) &vn_window_part_##id,
#include "vn-window-parts.def"
#undef VN_WINDOW_PART
};

G_DEFINE_FINAL_TYPE (VnWindow, vn_window, ADW_TYPE_APPLICATION_WINDOW)

static void
window_remember_file (const char *path,
                      const char *mime)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  char app_name[] = "Vernier", app_exec[] = "vernier %f";
  GtkRecentData data = { .mime_type = (char *) mime, .app_name = app_name, .app_exec = app_exec };

  if (uri != NULL)
    gtk_recent_manager_add_full (gtk_recent_manager_get_default (), uri, &data);
}

static void
window_model_changed (VnWindow *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  const VnGenaiFolder *folder = vn_bench_get_folder (VN_BENCH (self->document));
  g_autofree char *title = vn_bench_dup_title (VN_BENCH (self->document));

  gtk_window_set_title (GTK_WINDOW (self), title);
  adw_view_switcher_title_set_title (self->switcher, title);
  if (model == NULL)
    return;
  gtk_stack_set_visible_child_name (self->pages, "main");
  adw_view_stack_set_visible_child_name (self->views, "graph");
  if (model->path != NULL && !vn_bench_is_demo (VN_BENCH (self->document)) &&
      !vn_bench_is_opening_project (VN_BENCH (self->document)))
    window_remember_file (folder != NULL ? folder->path : model->path,
                          folder != NULL ? "inode/directory" : "application/x-onnx");
}

/* A project that has a file is remembered in place of its model. */
static void
window_project_changed (VnWindow *self)
{
  const char *path = vn_bench_get_project_path (VN_BENCH (self->document));

  if (path != NULL && g_file_test (path, G_FILE_TEST_IS_REGULAR))
    window_remember_file (path, "application/x-vernier-project");
}

/* What a size is at fault for is told beside it, a click away. */
static void
window_document_failed (VnWindow       *self,
                        const VnNotice *notice)
{
  const char *input = vn_bench_find_size (VN_BENCH (self->document), notice->error);

  if (vn_window_is_empty (self))
    vn_empty_page_show_failure (self->empty, notice->text, notice->error->message);
  else if (input != NULL)
    vn_toasts_show_target (self->toast, notice->text, _("Set Input Size"), "win.edit-size", g_variant_new_string (input));
  else
    vn_toasts_show_error (self->toast, notice->text, notice->error);
}

static void
window_document_reported (VnWindow       *self,
                          const VnNotice *notice)
{
  vn_toasts_show (self->toast, notice->text, NULL, NULL);
}

static void
window_document_done (VnWindow       *self,
                      const VnNotice *notice)
{
  if (*notice->text != 0 && gtk_stack_get_visible_child (self->pages) != GTK_WIDGET (self->wizard))
    vn_job_bar_announce (self->job_bar, notice->text);
}

static gboolean
window_spin (gpointer data)
{
  VnWindow *self = data;

  self->spinner_timeout = 0;
  gtk_spinner_start (self->empty_spinner);
  gtk_spinner_start (self->main_spinner);
  return G_SOURCE_REMOVE;
}

static void
window_job_changed (VnWindow *self)
{
  g_clear_handle_id (&self->spinner_timeout, g_source_remove);
  if (vn_bench_get_job (VN_BENCH (self->document)) != NULL)
    self->spinner_timeout = g_timeout_add (SPINNER_DELAY_MS, window_spin, self);
  else
    {
      gtk_spinner_stop (self->empty_spinner);
      gtk_spinner_stop (self->main_spinner);
    }
}

/* The switch above the panel tells how many rules that shows. */
static void
window_rules_changed (VnWindow *self)
{
  g_autofree char *title = NULL;
  guint n;

  g_object_get (self->recipe_panel, "n-rules", &n, NULL);
  title = n > 0 ? g_strdup_printf (_("Recipe  %u"), n) : g_strdup (_("Recipe"));
  gtk_stack_page_set_title (self->recipe_page, title);
}

/* Each page remembers which of the side panels it shows. */
static void
window_views_changed (VnWindow *self)
{
  GtkWidget *visible = adw_view_stack_get_visible_child (self->views);
  guint page = 0;

  while (page < VN_WINDOW_N_PAGES && GTK_WIDGET (self->view_pages[page]) != visible)
    page++;
  if (page == VN_WINDOW_N_PAGES || page == self->page)
    return;
  vn_window_set_panels (self, page);
}

static void
window_update_actions (VnWindow *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (window_parts); i++)
    if (window_parts[i]->update != NULL)
      window_parts[i]->update (self);
}

static void
window_page_changed (VnWindow *self)
{
  gboolean wizard = gtk_stack_get_visible_child (self->pages) == GTK_WIDGET (self->wizard);

  gtk_widget_set_visible (GTK_WIDGET (self->job_bar), !wizard);
  gtk_widget_set_visible (self->switcher_bar, gtk_stack_get_visible_child (self->pages)
                          == gtk_stack_get_child_by_name (self->pages, "main"));
  window_update_actions (self);
}

/**
 * vn_window_show_page:
 * @name: id of vn-pages.def
 */
void
vn_window_show_page (VnWindow   *self,
                     const char *name)
{
  g_return_if_fail (VN_IS_WINDOW (self));

  gtk_stack_set_visible_child_name (self->pages, "main");
  adw_view_stack_set_visible_child_name (self->views, name);
}

/**
 * vn_window_reveal_selection:
 *
 * Every page that can brings the selected node into view.
 */
void
vn_window_reveal_selection (VnWindow *self)
{
  g_return_if_fail (VN_IS_WINDOW (self));

  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    vn_page_reveal_selection (self->view_pages[i]);
}

static void
vn_window_dispose (GObject *object)
{
  VnWindow *self = VN_WINDOW (object);

  g_clear_handle_id (&self->spinner_timeout, g_source_remove);
  g_clear_handle_id (&self->draft_source, g_source_remove);
  if (self->document != NULL)
    {
      vn_bench_flush (VN_BENCH (self->document));
      g_signal_handlers_disconnect_by_data (self->document, self);
      vn_bench_cancel (VN_BENCH (self->document));
      vn_bench_leave_weights (VN_BENCH (self->document));
    }
  g_clear_object (&self->document);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_WINDOW);
  g_clear_object (&self->toast);
  G_OBJECT_CLASS (vn_window_parent_class)->dispose (object);
}

static gboolean
vn_window_close_request (GtkWindow *window)
{
  GSettings *settings = vn_settings_get ();
  int width, height;

  if (settings != NULL)
    {
      gtk_window_get_default_size (window, &width, &height);
      g_settings_set_int (settings, "window-width", MAX (width, 360));
      g_settings_set_int (settings, "window-height", MAX (height, 300));
      g_settings_set_boolean (settings, "window-maximized", gtk_window_is_maximized (window));
    }
  return GTK_WINDOW_CLASS (vn_window_parent_class)->close_request (window);
}

static void
window_bind_children (GtkWidgetClass *klass)
{
  gtk_widget_class_bind_template_child (klass, VnWindow, colors_menu);
  gtk_widget_class_bind_template_child (klass, VnWindow, pages);
  gtk_widget_class_bind_template_child (klass, VnWindow, toasts);
  gtk_widget_class_bind_template_child (klass, VnWindow, views);
  gtk_widget_class_bind_template_child (klass, VnWindow, left_flap);
  gtk_widget_class_bind_template_child (klass, VnWindow, right_flap);
  gtk_widget_class_bind_template_child (klass, VnWindow, empty);
  gtk_widget_class_bind_template_child (klass, VnWindow, outline);
  gtk_widget_class_bind_template_child (klass, VnWindow, recipe_panel);
  gtk_widget_class_bind_template_child (klass, VnWindow, side_stack);
  gtk_widget_class_bind_template_child (klass, VnWindow, recipe_page);
  gtk_widget_class_bind_template_child (klass, VnWindow, inspector);
  gtk_widget_class_bind_template_child (klass, VnWindow, wizard);
  gtk_widget_class_bind_template_child (klass, VnWindow, changed_bar);
  gtk_widget_class_bind_template_child (klass, VnWindow, expected_bar);
  gtk_widget_class_bind_template_child (klass, VnWindow, job_bar);
  gtk_widget_class_bind_template_child (klass, VnWindow, open_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, quantize_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, around_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, around_label);
  gtk_widget_class_bind_template_child (klass, VnWindow, export_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, undo_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, redo_button);
  gtk_widget_class_bind_template_child (klass, VnWindow, page_items);
  gtk_widget_class_bind_template_child (klass, VnWindow, header);
  gtk_widget_class_bind_template_child (klass, VnWindow, switcher);
  gtk_widget_class_bind_template_child (klass, VnWindow, switcher_bar);
  gtk_widget_class_bind_template_child (klass, VnWindow, empty_spinner);
  gtk_widget_class_bind_template_child (klass, VnWindow, main_spinner);
  gtk_widget_class_bind_template_child (klass, VnWindow, drop_revealer);
  gtk_widget_class_bind_template_child (klass, VnWindow, drop_label);
}

static void
vn_window_class_init (VnWindowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_window_dispose;
  GTK_WINDOW_CLASS (klass)->close_request = vn_window_close_request;
  g_type_ensure (VN_TYPE_EMPTY_PAGE);
  g_type_ensure (VN_TYPE_OUTLINE);
  g_type_ensure (VN_TYPE_RECIPE_PANEL);
  g_type_ensure (VN_TYPE_INSPECTOR);
  g_type_ensure (VN_TYPE_WIZARD);
  g_type_ensure (VN_TYPE_JOB_BAR);
  g_type_ensure (VN_TYPE_EXPECTED_BAR);
  g_type_ensure (VN_TYPE_CHANGED_BAR);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-window.ui");
  window_bind_children (widget_class);
  for (guint i = 0; i < G_N_ELEMENTS (window_parts); i++)
    if (window_parts[i]->install != NULL)
      window_parts[i]->install (widget_class);
  gtk_widget_class_add_binding_action (widget_class, GDK_KEY_Escape, 0, "win.leave-wizard", NULL);
}

static const char * const window_page_ids[] = {
#define VN_PAGE(id, ...) #id,
#include "vn-pages.def"
#undef VN_PAGE
};

static void
window_connect_document (VnWindow *self)
{
  static const struct { const char *signal; GCallback callback; } signals[] = {
    { "changed::model", G_CALLBACK (window_model_changed) },
    { "changed::runs", G_CALLBACK (window_project_changed) },
    { "notice::failed", G_CALLBACK (window_document_failed) },
    { "notice::done", G_CALLBACK (window_document_done) },
    { "notice::report", G_CALLBACK (window_document_reported) },
    { "work-changed", G_CALLBACK (window_job_changed) },
    { "changed::model", G_CALLBACK (window_update_actions) },
    { "changed::recipe", G_CALLBACK (window_update_actions) },
    { "changed::run", G_CALLBACK (window_update_actions) },
    { "selection-changed", G_CALLBACK (window_update_actions) },
    { "work-changed", G_CALLBACK (window_update_actions) },
  };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_swapped (self->document, signals[i].signal, signals[i].callback, self);
  vn_empty_page_update (self->empty);
  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    {
      vn_page_set_document (self->view_pages[i], self->document);
      gtk_widget_insert_action_group (GTK_WIDGET (self), window_page_ids[i], vn_page_get_actions (self->view_pages[i]));
    }
  vn_outline_set_document (self->outline, self->document);
  g_signal_connect_swapped (self->recipe_panel, "notify::n-rules", G_CALLBACK (window_rules_changed), self);
  vn_recipe_panel_set_document (self->recipe_panel, self->document);
  vn_inspector_set_document (self->inspector, self->document);
  vn_wizard_set_document (self->wizard, self->document);
  vn_changed_bar_set_document (self->changed_bar, self->document);
  vn_expected_bar_set_document (self->expected_bar, self->document);
  vn_job_bar_set_document (self->job_bar, self->document);
}

static void
window_add_page_item (VnWindow *self,
                      guint     page)
{
  g_autoptr(GMenuItem) item = g_menu_item_new (_(window_pages[page].title), NULL);

  g_menu_item_set_action_and_target (item, "win.show-page", "s", window_pages[page].id);
  g_menu_append_item (self->page_items, item);
}

static void
window_add_pages (VnWindow *self)
{
  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    {
      self->view_pages[i] = g_object_new (window_pages[i].get_type (), NULL);
      self->panels[i][0] = self->panels[i][1] = window_pages[i].has_panels;
      adw_view_stack_add_titled_with_icon (self->views, GTK_WIDGET (self->view_pages[i]), window_pages[i].id,
                                           _(window_pages[i].title), window_pages[i].icon);
      window_add_page_item (self, i);
    }
}

/* The overlays of the graph, by the table that its legend has; last the one of a file that is to be opened. */
static void
window_add_colors (VnWindow *self)
{
  g_autoptr(GMenu) files = g_menu_new ();

  for (guint i = 0; i < VN_CHOICE_FILE; i++)
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) i);
      g_autoptr(GMenuItem) item = g_menu_item_new (_(info->title), NULL);

      g_menu_item_set_action_and_target (item, "graph.overlay", "s", info->id);
      g_menu_append_item (self->colors_menu, item);
    }
  g_menu_append (files, _("_From File…"), "graph.open-numbers");
  g_menu_append_section (self->colors_menu, NULL, G_MENU_MODEL (files));
}

/* A bar that floats at the foot of the page is not covered. */
static void
window_place_toasts (VnWindow *self)
{
  GtkRevealer *foot = vn_page_get_foot (self->view_pages[self->page]);
  gboolean is_main = g_strcmp0 (gtk_stack_get_visible_child_name (self->pages), "main") == 0;

  vn_toasts_set_above_bar (self->toast, is_main && foot != NULL && gtk_revealer_get_reveal_child (foot));
}

static void
window_init_toasts (VnWindow *self)
{
  self->toast = vn_toasts_new (self->toasts);
  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    {
      GtkRevealer *foot = vn_page_get_foot (self->view_pages[i]);

      if (foot != NULL)
        g_signal_connect_object (foot, "notify::reveal-child", G_CALLBACK (window_place_toasts), self, G_CONNECT_SWAPPED);
    }
  g_signal_connect_object (self->views, "notify::visible-child", G_CALLBACK (window_place_toasts), self,
                           G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  g_signal_connect_object (self->pages, "notify::visible-child", G_CALLBACK (window_place_toasts), self, G_CONNECT_SWAPPED);
}

/* Not every file system tells what happens to its files. */
static void
window_active_changed (VnWindow *self)
{
  if (gtk_window_is_active (GTK_WINDOW (self)))
    vn_bench_look_at_files (VN_BENCH (self->document));
}

static gboolean
window_make_rest (gpointer data)
{
  VnWindow *self = data;

  if (!gtk_widget_in_destruction (data) && self->wizard != NULL)
    vn_wizard_make_steps (self->wizard);
  return G_SOURCE_REMOVE;
}

static void
window_painted (GdkFrameClock *clock,
                VnWindow      *self)
{
  if (self->has_painted)
    return;
  self->has_painted = TRUE;
  g_idle_add_full (G_PRIORITY_LOW, window_make_rest, g_object_ref (self), g_object_unref);
}

/* What is not seen at once is made when the window has been painted. */
static void
window_realized (VnWindow *self)
{
  g_signal_connect_object (gtk_widget_get_frame_clock (GTK_WIDGET (self)), "after-paint", G_CALLBACK (window_painted), self, 0);
}

static void
vn_window_init (VnWindow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  vn_window_insert_bin (self);   /* while there is little in it to be moved */
  window_add_colors (self);
  window_add_pages (self);
  self->document = vn_document_new ();
  gtk_window_set_default_size (GTK_WINDOW (self), vn_settings_get_int ("window-width", 1440),
                               vn_settings_get_int ("window-height", 900));
  if (vn_settings_get_bool ("window-maximized", FALSE))
    gtk_window_maximize (GTK_WINDOW (self));
  window_connect_document (self);
  adw_split_button_set_menu_model (self->open_button, vn_empty_page_get_menu (self->empty));
  g_signal_connect_swapped (self->views, "notify::visible-child", G_CALLBACK (window_views_changed), self);
  g_signal_connect_swapped (self->pages, "notify::visible-child", G_CALLBACK (window_page_changed), self);
  g_signal_connect (self, "notify::is-active", G_CALLBACK (window_active_changed), NULL);
  g_signal_connect (self, "realize", G_CALLBACK (window_realized), NULL);
  vn_window_init_folds (self);
  window_init_toasts (self);
  for (guint i = 0; i < G_N_ELEMENTS (window_parts); i++)
    if (window_parts[i]->init != NULL)
      window_parts[i]->init (self);
  window_page_changed (self);
  vn_button_names_set (GTK_WIDGET (self));
}

VnWindow *
vn_window_new (GtkApplication *app)
{
  g_return_val_if_fail (GTK_IS_APPLICATION (app), NULL);

  return g_object_new (VN_TYPE_WINDOW, "application", app, NULL);
}

VnDocument *
vn_window_get_document (VnWindow *self)
{
  g_return_val_if_fail (VN_IS_WINDOW (self), NULL);

  return self->document;
}

/**
 * vn_window_is_empty:
 *
 * Returns: whether nothing is open in it and nothing is being opened
 */
gboolean
vn_window_is_empty (VnWindow *self)
{
  g_return_val_if_fail (VN_IS_WINDOW (self), FALSE);

  return vn_bench_get_model (VN_BENCH (self->document)) == NULL && vn_bench_get_job (VN_BENCH (self->document)) == NULL;
}
