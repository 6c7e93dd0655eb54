/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files in the window: its actions that choose some, which are read and written by the document, and how that went. */
#include "vn-window-private.h"

#include "vn-compat.h"
#include "vn-error.h"
#include "vn-graph-page.h"
#include "vn-i18n.h"
#include "vn-node-data.h"
#include "vn-project-file.h"
#include "vn-report.h"
#include "vn-settings-dialog.h"

#include <string.h>

/* ---- open ---- */

#define LOST_PROJECT "vn-lost-project"    /* path of one whose model is looked for */

static void
window_files_model_located (GFile    *model,
                            gpointer  data)
{
  VnWindow *self = data;
  g_autofree char *path = g_object_steal_data (G_OBJECT (self), LOST_PROJECT);
  g_autoptr(GError) error = NULL;

  if (path != NULL && g_file_peek_path (model) != NULL &&
      !vn_bench_open_project (VN_BENCH (self->document), path, g_file_peek_path (model), &error))
    vn_toasts_show_error (self->toast, _("The project could not be opened"), error);
}

static void
window_files_locate_model (gpointer window)
{
  vn_choose_file (window, VN_CHOOSE_MODEL, NULL, window_files_model_located, window, NULL);
}

static void
window_files_open_project (VnWindow   *self,
                           const char *path)
{
  g_autoptr(GError) error = NULL;

  if (vn_bench_open_project (VN_BENCH (self->document), path, NULL, &error))
    return;
  if (!g_error_matches (error, VN_ERROR, VN_ERROR_MISSING_DATA))
    {
      vn_toasts_show_error (self->toast, _("The project could not be opened"), error);
      return;
    }
  g_object_set_data_full (G_OBJECT (self), LOST_PROJECT, g_strdup (path), g_free);
  vn_ask_where (GTK_WIDGET (self), error->message, window_files_locate_model, self);
}

static void
window_files_open_settings (VnWindow   *self,
                            const char *path)
{
  g_autoptr(GError) error = NULL;

  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    vn_toasts_show (self->toast, _("Open a model first: a recipe needs one."), NULL, NULL);
  else if (!vn_bench_open_settings (VN_BENCH (self->document), path, &error))
    vn_toasts_show_error (self->toast, _("The recipe could not be opened"), error);
  else
    vn_toasts_show (self->toast, _("Recipe opened"), _("Undo"), "win.undo");
}

static void
window_files_open_numbers (VnWindow   *self,
                           const char *path)
{
  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    {
      vn_toasts_show (self->toast, _("Open a model first: values of nodes need one."), NULL, NULL);
      return;
    }
  vn_window_show_page (self, "graph");
  for (guint i = 0; i < VN_WINDOW_N_PAGES; i++)
    if (VN_IS_GRAPH_PAGE (self->view_pages[i]))
      vn_graph_page_open_numbers (VN_GRAPH_PAGE (self->view_pages[i]), path);
}

/* Whatever is given of the folder of a language model, but for other networks in there: the folder. */
static char *
window_files_dup_path (GFile *file)
{
  g_autoptr(GFile) parent = g_file_get_parent (file);
  g_autofree char *name = g_file_get_basename (file);
  const gboolean is_config = parent != NULL && g_file_peek_path (parent) != NULL &&
                             g_strcmp0 (name, VN_GENAI_CONFIG) == 0;

  return is_config ? g_file_get_path (parent) : g_file_get_path (file);
}

/**
 * vn_window_open_file:
 * @file: a model or the folder of one, a project, or settings or values of nodes for the open model
 */
void
vn_window_open_file (VnWindow *self,
                     GFile    *file)
{
  g_autofree char *path = NULL;

  g_return_if_fail (VN_IS_WINDOW (self));
  g_return_if_fail (G_IS_FILE (file));

  path = window_files_dup_path (file);
  if (path == NULL)
    vn_toasts_show (self->toast, _("Only files on this computer can be opened."), NULL, NULL);
  else if (vn_project_is_file (path))
    window_files_open_project (self, path);
  else if (vn_node_data_is_file (path))
    window_files_open_numbers (self, path);
  else if (g_str_has_suffix (path, ".json"))
    window_files_open_settings (self, path);
  else
    vn_bench_open (VN_BENCH (self->document), path);
}

static void
window_files_open_chosen (GFile    *file,
                          gpointer  data)
{
  vn_window_open_file (data, file);
}

static void
window_files_action_open (GtkWidget  *widget,
                          const char *name,
                          GVariant   *parameter)
{
  vn_choose_file (widget, VN_CHOOSE_MODEL, NULL, window_files_open_chosen, widget, NULL);
}

static void
window_files_folder_chosen (GFile    *file,
                            gpointer  data)
{
  VnWindow *self = data;
  g_autofree char *path = g_file_get_path (file), *name = NULL, *text = NULL;

  if (path == NULL || vn_genai_folder_is (path))
    {
      vn_window_open_file (self, file);
      return;
    }
  name = g_filename_display_basename (path);
  text = g_strdup_printf (_("“%s” has no %s: it is not the folder of a language model."), name, VN_GENAI_CONFIG);
  vn_toasts_show (self->toast, text, NULL, NULL);
}

static void
window_files_action_open_folder (GtkWidget  *widget,
                                 const char *name,
                                 GVariant   *parameter)
{
  vn_choose_file (widget, VN_CHOOSE_MODEL_FOLDER, NULL, window_files_folder_chosen, widget, NULL);
}

static void
window_files_action_open_uri (GtkWidget  *widget,
                              const char *name,
                              GVariant   *parameter)
{
  g_autoptr(GFile) file = g_file_new_for_uri (g_variant_get_string (parameter, NULL));

  vn_window_open_file (VN_WINDOW (widget), file);
}

static void
window_files_action_demo (GtkWidget  *widget,
                          const char *name,
                          GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (!vn_document_open_demo (self->document))
    vn_toasts_show (self->toast, _("The demo is not installed."), NULL, NULL);
}

static void
window_files_settings_chosen (GFile    *file,
                              gpointer  data)
{
  if (g_file_peek_path (file) != NULL)
    window_files_open_settings (data, g_file_peek_path (file));
}

static void
window_files_action_open_settings (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  vn_choose_file (widget, VN_CHOOSE_SETTINGS, NULL, window_files_settings_chosen, widget, NULL);
}

static void
window_files_action_all_settings (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  gtk_window_present (GTK_WINDOW (vn_settings_dialog_new (GTK_WINDOW (widget), VN_WINDOW (widget)->document)));
}

/* ---- save and export ---- */

/* What is to be saved, while the user says where. */
typedef struct
{
  VnWindow *window;   /* outlives its dialogs */
  char     *kind;
} Save;

static void
window_files_save_free (gpointer data)
{
  Save *self = data;

  g_free (self->kind);
  g_free (self);
}

static void
window_files_save_chosen (GFile    *file,
                          gpointer  data)
{
  const Save *save = data;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(GError) error = NULL;
  g_autofree char *lost = NULL;

  if (!vn_bench_save (VN_BENCH (save->window->document), save->kind, g_file_peek_path (file), notes, &error))
    {
      vn_toasts_show_error (save->window->toast, _("The file could not be saved"), error);
      return;
    }
  if (vn_notes_get_n (notes) > 0)
    lost = g_strdup_printf (_("Saved, but %s"), vn_notes_get (notes, 0)->text);
  vn_toasts_show (save->window->toast, lost != NULL ? lost : _("Saved"), NULL, NULL);
}

static void
window_files_action_save (GtkWidget  *widget,
                          const char *name,
                          GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  const char *kind = g_variant_get_string (parameter, NULL);
  g_autofree char *suggestion = vn_bench_dup_save_path (VN_BENCH (self->document), kind);
  Save *save = g_new0 (Save, 1);

  *save = (Save) { self, g_strdup (kind) };
  vn_choose_file (widget, VN_CHOOSE_SAVE_OTHER, suggestion, window_files_save_chosen, save, window_files_save_free);
}

static void
window_files_export_to (VnWindow   *self,
                        const char *model_path,
                        const char *report)
{
  g_autoptr(GError) error = NULL;

  if (!vn_bench_export (VN_BENCH (self->document), model_path, report, FALSE, &error))
    vn_toasts_show_error (self->toast, _("Export failed"), error);
}

static void
window_files_model_chosen (GFile    *file,
                           gpointer  data)
{
  window_files_export_to (data, g_file_peek_path (file), NULL);
}

static void
window_files_report_chosen (GFile    *file,
                            gpointer  data)
{
  window_files_export_to (data, NULL, g_file_peek_path (file));
}

static void
window_files_action_export_model (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  g_autofree char *suggestion = vn_bench_dup_export_path (VN_BENCH (VN_WINDOW (widget)->document));

  vn_choose_file (widget, VN_CHOOSE_SAVE_MODEL, suggestion, window_files_model_chosen, widget, NULL);
}

static void
window_files_ask_report (GtkWidget             *widget,
                         const VnReportPrinter *form)
{
  g_autofree char *ending = g_strconcat ("-report", strrchr (form->file, '.'), NULL);
  g_autofree char *suggestion = vn_bench_dup_file_path (VN_BENCH (VN_WINDOW (widget)->document), ending);

  vn_choose_file (widget, VN_CHOOSE_SAVE_REPORT, suggestion, window_files_report_chosen, widget, NULL);
}

static void
window_files_action_export_report (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  window_files_ask_report (widget, vn_report_printer_find ("html"));
}

static void
window_files_action_export_report_as (GtkWidget  *widget,
                                      const char *name,
                                      GVariant   *parameter)
{
  const VnReportPrinter *form = vn_report_printer_find (g_variant_get_string (parameter, NULL));

  if (form != NULL)
    window_files_ask_report (widget, form);
}

static void
window_files_picture_chosen (GFile    *file,
                             gpointer  data)
{
  VnWindow *self = data;
  const char *path = g_file_peek_path (file);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < vn_bench_count_exports (); i++)
    {
      const VnExportFile picture = { vn_bench_get_export (i), path, -1 };

      if (picture.kind->group != VN_EXPORT_PICTURE || !g_str_has_suffix (path, strrchr (picture.kind->ending, '.')))
        continue;
      if (!vn_bench_export_files (VN_BENCH (self->document), &picture, 1, FALSE, &error))
        vn_toasts_show_error (self->toast, _("Export failed"), error);
      return;
    }
  vn_toasts_show (self->toast, _("The file extension sets the image format: .png, .svg or .pdf."), NULL, NULL);
}

static void
window_files_action_export_picture (GtkWidget  *widget,
                                    const char *name,
                                    GVariant   *parameter)
{
  g_autofree char *suggestion = vn_bench_dup_file_path (VN_BENCH (VN_WINDOW (widget)->document),
                                                        vn_bench_find_export ("png")->ending);

  vn_choose_file (widget, VN_CHOOSE_SAVE_PICTURE, suggestion, window_files_picture_chosen, widget, NULL);
}

static void
window_files_action_show_in_folder (GtkWidget  *widget,
                                    const char *name,
                                    GVariant   *parameter)
{
  vn_show_in_folder (widget, g_variant_get_string (parameter, NULL));
}

/* The assistant lists them itself. */
static void
window_files_written (VnWindow       *self,
                      const VnNotice *notice)
{
  const GPtrArray *paths = notice->paths;
  g_autofree char *name = NULL, *text = NULL;

  if (paths->len == 0 || gtk_stack_get_visible_child (self->pages) == GTK_WIDGET (self->wizard))
    return;
  name = g_filename_display_basename (g_ptr_array_index (paths, 0));
  text = paths->len == 1 ? g_strdup_printf (_("Exported: %s"), name)
                         : g_strdup_printf (ngettext ("Exported: %s and %u more", "Exported: %s and %u more", paths->len - 1),
                                            name, paths->len - 1);
  vn_toasts_show_target (self->toast, text, _("Show in Folder"), "win.show-in-folder",
                         g_variant_new_string (g_ptr_array_index (paths, 0)));
}

/* ---- actions ---- */

static void
window_files_install (GtkWidgetClass *klass)
{
  static const struct { const char *name, *type; GtkWidgetActionActivateFunc func; } table[] = {
    { "win.open", NULL, window_files_action_open },
    { "win.open-folder", NULL, window_files_action_open_folder },
    { "win.open-uri", "s", window_files_action_open_uri },
    { "win.demo", NULL, window_files_action_demo },
    { "win.open-settings", NULL, window_files_action_open_settings },
    { "win.all-settings", NULL, window_files_action_all_settings },
    { "win.save", "s", window_files_action_save },
    { "win.export-model", NULL, window_files_action_export_model },
    { "win.export-report", NULL, window_files_action_export_report },
    { "win.export-report-as", "s", window_files_action_export_report_as },
    { "win.export-picture", NULL, window_files_action_export_picture },
    { "win.show-in-folder", "s", window_files_action_show_in_folder },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    gtk_widget_class_install_action (klass, table[i].name, table[i].type, table[i].func);
}

/* What speaks of a network needs one, and an export a result. */
static void
window_files_update (VnWindow *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  gboolean can_export = vn_bench_get_shown (VN_BENCH (self->document)) != NULL &&
                        vn_bench_get_job (VN_BENCH (self->document)) == NULL;

  gtk_widget_action_set_enabled (widget, "win.save", model != NULL && model->path != NULL);
  gtk_widget_action_set_enabled (widget, "win.open-settings", model != NULL);
  gtk_widget_action_set_enabled (widget, "win.all-settings", model != NULL);
  gtk_widget_action_set_enabled (widget, "win.export-model", can_export);
  gtk_widget_action_set_enabled (widget, "win.export-report", can_export);
  gtk_widget_action_set_enabled (widget, "win.export-report-as", can_export);
  gtk_widget_action_set_enabled (widget, "win.export-picture", model != NULL &&
                                 vn_bench_get_job (VN_BENCH (self->document)) == NULL);
}

static void
window_files_init (VnWindow *self)
{
  g_signal_connect_swapped (self->document, "notice::written", G_CALLBACK (window_files_written), self);
}

const VnWindowPart vn_window_part_files = { window_files_install, window_files_init, window_files_update };
