/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The project in the window: saving it, its runs, drafts of work that was left, and what is said about them. */
#include "vn-window-private.h"

#include "vn-compare-page.h"
#include "vn-compat.h"
#include "vn-draft.h"
#include "vn-i18n.h"

/* ---- save ---- */

static void
window_project_save_to (VnWindow   *self,
                        const char *path)
{
  g_autoptr(GError) error = NULL;

  if (vn_bench_save_project (VN_BENCH (self->document), path, &error))
    vn_toasts_show (self->toast, _("Saved. From now on, the project is saved automatically."), NULL, NULL);
  else
    vn_toasts_show_error (self->toast, _("The project could not be saved"), error);
}

static void
window_project_chosen (GFile    *file,
                       gpointer  data)
{
  if (g_file_peek_path (file) != NULL)
    window_project_save_to (data, g_file_peek_path (file));
}

static void
window_project_action_save_as (GtkWidget  *widget,
                               const char *name,
                               GVariant   *parameter)
{
  g_autofree char *suggestion = vn_bench_dup_file_path (VN_BENCH (VN_WINDOW (widget)->document), VN_PROJECT_SUFFIX);

  vn_choose_file (widget, VN_CHOOSE_SAVE_OTHER, suggestion, window_project_chosen, widget, NULL);
}

static void
window_project_action_save (GtkWidget  *widget,
                            const char *name,
                            GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  const char *path = vn_bench_get_project_path (VN_BENCH (self->document));

  if (path != NULL)
    window_project_save_to (self, path);
  else
    window_project_action_save_as (widget, name, parameter);
}

/* ---- runs ---- */

static void
window_project_action_restore_run (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  vn_bench_restore_run (VN_BENCH (VN_WINDOW (widget)->document), g_variant_get_string (parameter, NULL));
}

static void
window_project_action_compare_run (GtkWidget  *widget,
                                   const char *name,
                                   GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);

  if (vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  vn_window_show_page (self, "compare");
  vn_compare_page_show_run (VN_COMPARE_PAGE (self->view_pages[VN_WINDOW_PAGE_compare]), g_variant_get_string (parameter, NULL));
}

static void
window_project_action_remove_run (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  const char *id = g_variant_get_string (parameter, NULL);
  VnProjectRun *run = vn_bench_find_run (VN_BENCH (self->document), id);
  g_autofree char *title = run != NULL ? vn_project_run_dup_title (run) : NULL;
  g_autofree char *text = g_strdup_printf (_("Run “%s” removed"), title);

  if (run == NULL)
    return;
  vn_bench_remove_run (VN_BENCH (self->document), id);
  vn_toasts_show (self->toast, text, _("Undo"), "win.return-run");
}

static void
window_project_action_return_run (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  vn_bench_return_run (VN_BENCH (VN_WINDOW (widget)->document));
}

static void
window_project_renamed (VnWindow   *self,
                        const char *response,
                        GtkWidget  *dialog)
{
  GtkEditable *entry = g_object_get_data (G_OBJECT (dialog), "vn-entry");
  const char *id = g_object_get_data (G_OBJECT (dialog), "vn-run");

  if (g_str_equal (response, "rename"))
    vn_bench_rename_run (VN_BENCH (self->document), id, gtk_editable_get_text (entry));
}

static void
window_project_action_rename_run (GtkWidget  *widget,
                                  const char *name,
                                  GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  VnProjectRun *run = vn_bench_find_run (VN_BENCH (self->document), g_variant_get_string (parameter, NULL));
  GtkWidget *dialog, *entry;
  g_autofree char *title = NULL;

  if (run == NULL)
    return;
  title = vn_project_run_dup_title (run);
  dialog = adw_message_dialog_new (GTK_WINDOW (self), _("Name of the Run"), NULL);
  entry = gtk_entry_new ();
  gtk_editable_set_text (GTK_EDITABLE (entry), title);
  gtk_entry_set_activates_default (GTK_ENTRY (entry), TRUE);
  gtk_accessible_update_property (GTK_ACCESSIBLE (entry), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Name of the Run"), -1);
  adw_message_dialog_set_extra_child (ADW_MESSAGE_DIALOG (dialog), entry);
  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _("_Cancel"), "rename", _("_Rename"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "rename", ADW_RESPONSE_SUGGESTED);
  adw_message_dialog_set_default_response (ADW_MESSAGE_DIALOG (dialog), "rename");
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_object_set_data (G_OBJECT (dialog), "vn-entry", entry);
  g_object_set_data_full (G_OBJECT (dialog), "vn-run", g_strdup (run->id), g_free);
  g_signal_connect_object (dialog, "response", G_CALLBACK (window_project_renamed), self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* ---- drafts ---- */

/* The button of a toast opens the draft at @path. */
static void
window_project_toast_draft (VnWindow   *self,
                            const char *text,
                            const char *button,
                            const char *path)
{
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);
  g_autoptr(GVariant) target = g_variant_ref_sink (g_variant_new_string (uri != NULL ? uri : ""));

  vn_toasts_show_target (self->toast, text, button, "win.open-uri", target);
}

static void
window_project_left (VnWindow       *self,
                     const VnNotice *notice)
{
  g_autofree char *text = g_strdup_printf (_("Your work on %s has been saved"), notice->text);

  window_project_toast_draft (self, text, _("Go Back"), notice->path);
}

/* The newest draft about the open model, which was opened by itself. */
static gboolean
window_project_find_draft (gpointer data)
{
  VnWindow *self = data;
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  g_autofree char *folder = vn_drafts_dup_folder ();
  g_autoptr(GPtrArray) drafts = vn_drafts_list (folder);

  self->draft_source = 0;
  for (guint i = 0; model != NULL && model->path != NULL && i < drafts->len; i++)
    {
      const char *path = g_ptr_array_index (drafts, i);
      g_autoptr(VnProject) project = vn_project_load (path, NULL);
      g_autofree char *whole = g_canonicalize_filename (model->path, NULL);

      if (project == NULL || !g_str_equal (project->model, whole))
        continue;
      window_project_toast_draft (self, _("There is unsaved earlier work on this model"), _("Continue"), path);
      break;
    }
  return G_SOURCE_REMOVE;
}

static void
window_project_model_changed (VnWindow *self)
{
  g_clear_handle_id (&self->draft_source, g_source_remove);
  if (vn_bench_get_model (VN_BENCH (self->document)) != NULL && !vn_bench_is_demo (VN_BENCH (self->document)) &&
      !vn_bench_is_opening_project (VN_BENCH (self->document)))
    self->draft_source = g_idle_add_full (G_PRIORITY_LOW, window_project_find_draft, self, NULL);
}

static void
window_project_discarded (VnWindow   *self,
                          const char *response,
                          GtkWidget  *dialog)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDraft) draft = NULL;

  if (!g_str_equal (response, "discard"))
    return;
  draft = vn_draft_open (g_object_get_data (G_OBJECT (dialog), "vn-draft"), &error);
  if (draft == NULL || !vn_draft_discard (draft, &error))
    vn_toasts_show_error (self->toast, _("The work could not be discarded"), error);
  g_clear_pointer (&draft, vn_draft_unref);
  vn_empty_page_update (self->empty);
}

static void
window_project_action_discard_draft (GtkWidget  *widget,
                                     const char *name,
                                     GVariant   *parameter)
{
  VnWindow *self = VN_WINDOW (widget);
  GtkWidget *dialog = adw_message_dialog_new (GTK_WINDOW (self), _("Discard This Work?"),
                                              _("Its rules and runs were not saved as a project and will be lost."));

  adw_message_dialog_add_responses (ADW_MESSAGE_DIALOG (dialog), "cancel", _("_Cancel"), "discard", _("_Discard"), NULL);
  adw_message_dialog_set_response_appearance (ADW_MESSAGE_DIALOG (dialog), "discard", ADW_RESPONSE_DESTRUCTIVE);
  adw_message_dialog_set_close_response (ADW_MESSAGE_DIALOG (dialog), "cancel");
  g_object_set_data_full (G_OBJECT (dialog), "vn-draft", g_variant_dup_string (parameter, NULL), g_free);
  g_signal_connect_object (dialog, "response", G_CALLBACK (window_project_discarded), self, G_CONNECT_SWAPPED);
  gtk_window_present (GTK_WINDOW (dialog));
}

/* Work that another window has left since is there to be taken up. */
static void
window_project_active_changed (VnWindow *self)
{
  if (gtk_window_is_active (GTK_WINDOW (self)) && vn_window_is_empty (self))
    vn_empty_page_update (self->empty);
}

/* ---- set up ---- */

static void
window_project_install (GtkWidgetClass *klass)
{
  static const struct { const char *name, *type; GtkWidgetActionActivateFunc func; } table[] = {
    { "win.save-project", NULL, window_project_action_save },
    { "win.save-project-as", NULL, window_project_action_save_as },
    { "win.restore-run", "s", window_project_action_restore_run },
    { "win.compare-run", "s", window_project_action_compare_run },
    { "win.rename-run", "s", window_project_action_rename_run },
    { "win.remove-run", "s", window_project_action_remove_run },
    { "win.return-run", NULL, window_project_action_return_run },
    { "win.discard-draft", "s", window_project_action_discard_draft },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    gtk_widget_class_install_action (klass, table[i].name, table[i].type, table[i].func);
}

/* A project needs a network that comes from a file. */
static void
window_project_update (VnWindow *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  gboolean can_save = model != NULL && model->path != NULL;

  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save-project", can_save);
  gtk_widget_action_set_enabled (GTK_WIDGET (self), "win.save-project-as", can_save);
}

/* Has the window tell of drafts. */
static void
window_project_init (VnWindow *self)
{
  g_signal_connect_swapped (self->document, "notice::left", G_CALLBACK (window_project_left), self);
  g_signal_connect_swapped (self->document, "changed::model", G_CALLBACK (window_project_model_changed), self);
  g_signal_connect (self, "notify::is-active", G_CALLBACK (window_project_active_changed), NULL);
}

const VnWindowPart vn_window_part_project = { window_project_install, window_project_init, window_project_update };
