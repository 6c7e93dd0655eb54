/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: which files are written, where, and what they are called. */
#include "vn-step-export.h"

#include "vn-compat.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-verify-job.h"

#include <glib/gstdio.h>
#include <string.h>

/**
 * File: a row.
 * @is_named: by the user; else its name follows that of the model
 */
typedef struct
{
  const VnExportKind *kind;
  GtkCheckButton     *check;
  GtkEditable        *name;
  GtkWidget          *replaces;
  gboolean            is_named;
} File;

struct _VnStepExport
{
  VnWizardStep  parent_instance;

  char         *folder;
  GArray       *files;       /* of File, by kind */
  gboolean      naming;      /* it is not the user who changes names */
  gboolean      exporting;   /* what is written next is ours */
  char         *first;       /* (nullable): of what was written */

  AdwActionRow *folder_row;
  GtkButton    *choose_folder, *open_folder;
  GtkBox       *groups;
  GtkSwitch    *whole, *verify;
  GtkWidget    *whole_row;
  AdwComboRow  *colours;
  GtkWidget    *done;
  GtkLabel     *done_text;
};

G_DEFINE_FINAL_TYPE (VnStepExport, vn_step_export, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_export_get_document (VnStepExport *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

static File *
step_export_get_file (VnStepExport *self,
                      guint         i)
{
  return &g_array_index (self->files, File, i);
}

/* ---- names ---- */

static char *
step_export_dup_path (VnStepExport *self,
                      const File   *file)
{
  return g_build_filename (self->folder != NULL ? self->folder : ".", gtk_editable_get_text (file->name), NULL);
}

static gboolean
step_export_is_wanted (const File *file)
{
  return gtk_check_button_get_active (file->check);
}

/* Without what the name of a quantized model ends with. */
static char *
step_export_dup_stem (VnStepExport *self)
{
  static const char * const endings[] = { VN_QUANTIZED_SUFFIX, ".onnx", VN_QUANTIZED_FOLDER };
  char *stem = g_strdup (gtk_editable_get_text (step_export_get_file (self, 0)->name));

  for (guint i = 0; i < G_N_ELEMENTS (endings); i++)
    if (g_str_has_suffix (stem, endings[i]) && strlen (stem) > strlen (endings[i]))
      {
        stem[strlen (stem) - strlen (endings[i])] = '\0';
        break;
      }
  return stem;
}

static void
step_export_follow_model (VnStepExport *self)
{
  g_autofree char *stem = step_export_dup_stem (self);

  self->naming = TRUE;
  for (guint i = 1; i < self->files->len; i++)
    {
      File *file = step_export_get_file (self, i);
      g_autofree char *name = g_strconcat (stem, file->kind->ending, NULL);

      if (!file->is_named)
        gtk_editable_set_text (file->name, name);
    }
  self->naming = FALSE;
}

static void
step_export_show_whole (VnStepExport *self)
{
  VnBench *bench = VN_BENCH (step_export_get_document (self));

  gtk_widget_set_visible (self->whole_row, vn_bench_get_folder (bench) != NULL);
  gtk_switch_set_active (self->whole, vn_bench_exports_folder (bench,
                                                               gtk_editable_get_text (step_export_get_file (self, 0)->name)));
}

static void
step_export_update (VnStepExport *self)
{
  g_autofree char *shown = self->folder != NULL ? vn_format_path (self->folder) : g_strdup (""),
  *escaped = g_markup_escape_text (shown, -1);

  adw_action_row_set_subtitle (self->folder_row, escaped);
  for (guint i = 0; i < self->files->len; i++)
    {
      File *file = step_export_get_file (self, i);
      g_autofree char *path = step_export_dup_path (self, file);

      gtk_widget_set_sensitive (GTK_WIDGET (file->check),
                                vn_bench_can_export (VN_BENCH (step_export_get_document (self)), file->kind));
      gtk_widget_set_visible (file->replaces, step_export_is_wanted (file) && *gtk_editable_get_text (file->name) != '\0' &&
                                              g_file_test (path, G_FILE_TEST_EXISTS));
    }
  step_export_show_whole (self);
  gtk_widget_set_sensitive (self->whole_row, step_export_is_wanted (step_export_get_file (self, 0)));
  gtk_widget_set_sensitive (GTK_WIDGET (self->verify), step_export_is_wanted (step_export_get_file (self, 0)));
  gtk_widget_set_visible (self->done, FALSE);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
step_export_toggled (VnStepExport *self)
{
  if (step_export_get_document (self) != NULL)
    step_export_update (self);
}

static void
step_export_renamed (VnStepExport *self,
                     GtkEditable  *name)
{
  if (self->naming)
    return;
  for (guint i = 0; i < self->files->len; i++)
    if (step_export_get_file (self, i)->name == name)
      step_export_get_file (self, i)->is_named = TRUE;
  if (step_export_get_file (self, 0)->name == name)
    step_export_follow_model (self);
  step_export_update (self);
}

static void
step_export_name_model (VnStepExport *self,
                        const char   *name)
{
  self->naming = TRUE;
  gtk_editable_set_text (step_export_get_file (self, 0)->name, name);
  self->naming = FALSE;
  step_export_follow_model (self);
}

/* A folder gets all that the opened one has; a name with the ending of a model only that. */
static void
step_export_whole_changed (VnStepExport *self)
{
  const gboolean is_whole = gtk_switch_get_active (self->whole);
  g_autofree char *stem = step_export_dup_stem (self),
  *name = g_strconcat (stem, is_whole ? VN_QUANTIZED_FOLDER : VN_QUANTIZED_SUFFIX, NULL);

  if (vn_bench_exports_folder (VN_BENCH (step_export_get_document (self)),
                               gtk_editable_get_text (step_export_get_file (self, 0)->name)) != is_whole)
    step_export_name_model (self, name);
  step_export_update (self);
}

/* Beside the opened file or folder, where that can be written; else in the documents folder. */
static void
step_export_model_changed (VnStepExport *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (step_export_get_document (self)));
  g_autofree char *path = vn_bench_dup_export_path (VN_BENCH (step_export_get_document (self))),
  *name = g_path_get_basename (path);

  if (model == NULL)
    return;
  g_free (self->folder);
  self->folder = vn_bench_dup_folder (VN_BENCH (step_export_get_document (self)));
  for (guint i = 0; i < self->files->len; i++)
    step_export_get_file (self, i)->is_named = FALSE;
  step_export_name_model (self, name);
  step_export_update (self);
}

/**
 * vn_step_export_set_model_path:
 * @path: where the model is to be written; the other files are written beside it, and called like it unless they have names of
 * their own
 */
void
vn_step_export_set_model_path (VnStepExport *self,
                               const char   *path)
{
  g_autofree char *name = NULL;

  g_return_if_fail (VN_IS_STEP_EXPORT (self) && path != NULL);

  name = g_path_get_basename (path);
  g_free (self->folder);
  self->folder = g_path_get_dirname (path);
  step_export_name_model (self, name);
  step_export_update (self);
}

/**
 * vn_step_export_choose:
 * @id: of a #VnExportKind
 * @wanted: whether it is written
 * @name: (nullable): what the file is called; %NULL: as it is
 */
void
vn_step_export_choose (VnStepExport *self,
                       const char   *id,
                       gboolean      wanted,
                       const char   *name)
{
  g_return_if_fail (VN_IS_STEP_EXPORT (self) && id != NULL);

  for (guint i = 0; i < self->files->len; i++)
    {
      File *file = step_export_get_file (self, i);

      if (!g_str_equal (file->kind->id, id))
        continue;
      gtk_check_button_set_active (file->check, wanted);
      if (name != NULL)
        gtk_editable_set_text (file->name, name);
    }
}

static void
step_export_folder_chosen (GFile    *file,
                           gpointer  data)
{
  VnStepExport *self = data;

  if (g_file_peek_path (file) == NULL)
    return;
  g_free (self->folder);
  self->folder = g_file_get_path (file);
  step_export_update (self);
}

static void
step_export_ask_folder (VnStepExport *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_EXPORT_FOLDER, NULL, step_export_folder_chosen, g_object_ref (self),
                  g_object_unref);
}

static void
step_export_show_folder (VnStepExport *self)
{
  if (self->first != NULL)
    vn_show_in_folder (GTK_WIDGET (self), self->first);
}

/* ---- what was written ---- */

/* What came of running it in its runtime, if that was asked for. */
static char *
step_export_dup_measured (VnStepExport *self)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (step_export_get_document (self)));
  g_autofree char *text = NULL;

  if (!gtk_switch_get_active (self->verify) || result == NULL)
    return NULL;
  for (guint i = 0; i < vn_notes_get_n (result->notes); i++)
    if (g_str_equal (vn_notes_get (result->notes, i)->code, VN_NOTE_CODE_NOT_VERIFIED))
      return g_strdup (vn_notes_get (result->notes, i)->text);
  if (result->verification == NULL)
    return NULL;
  text = vn_verification_dup_text (result->verification);
  return g_strdup_printf (_("Measured in %s %s: %s"), result->verification->runtime->title, result->verification->version, text);
}

/* From the folder on. */
static char *
step_export_dup_shown (VnStepExport *self,
                       const char   *path)
{
  const gsize n = self->folder != NULL ? strlen (self->folder) : 0;

  if (n > 0 && strncmp (path, self->folder, n) == 0 && path[n] == G_DIR_SEPARATOR)
    return g_filename_display_name (path + n + 1);
  return g_filename_display_basename (path);
}

static void
step_export_written (VnStepExport   *self,
                     const VnNotice *notice)
{
  GPtrArray *paths = notice->paths;
  g_autoptr(GString) text = g_string_new (NULL);
  g_autofree char *shown = vn_format_path (self->folder), *measured = NULL;

  if (!self->exporting)
    return;
  self->exporting = FALSE;
  step_export_update (self);
  for (guint i = 0; i < self->files->len; i++)
    gtk_widget_set_visible (step_export_get_file (self, i)->replaces, FALSE);   /* they are what was just written */
  g_free (self->first);
  self->first = paths->len > 0 ? g_strdup (g_ptr_array_index (paths, 0)) : NULL;
  g_string_append_printf (text, ngettext ("%u file written to %s:", "%u files written to %s:", paths->len), paths->len, shown);
  for (guint i = 0; i < paths->len; i++)
    {
      g_autofree char *name = step_export_dup_shown (self, g_ptr_array_index (paths, i));
      GStatBuf info;
      g_autofree char *size = g_stat (g_ptr_array_index (paths, i), &info) == 0
                              ? vn_format_bytes ((guint64) info.st_size) : g_strdup ("");

      g_string_append_printf (text, "\n%s · %s", name, size);
    }
  measured = step_export_dup_measured (self);
  if (measured != NULL)
    g_string_append_printf (text, "\n%s", measured);
  gtk_label_set_label (self->done_text, text->str);
  gtk_widget_set_visible (self->done, TRUE);
  gtk_widget_grab_focus (GTK_WIDGET (self->open_folder));   /* brings it into view */
}

static void
step_export_job_failed (VnStepExport *self)
{
  self->exporting = FALSE;
}

static void
step_export_job_changed (VnStepExport *self)
{
  if (vn_bench_get_job (VN_BENCH (step_export_get_document (self))) == NULL)
    self->exporting = FALSE;   /* it was cancelled */
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

/* ---- going on ---- */

static void
step_export_begin (gpointer data)
{
  VnStepExport *self = data;
  VnDocument *document = step_export_get_document (self);
  g_autoptr(GArray) wanted = g_array_new (FALSE, FALSE, sizeof (VnExportFile));
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < self->files->len; i++)
    {
      const File *file = step_export_get_file (self, i);
      VnExportFile one = { file->kind, NULL, (int) adw_combo_row_get_selected (self->colours) - 1 };

      if (!step_export_is_wanted (file))
        continue;
      g_ptr_array_add (paths, step_export_dup_path (self, file));
      one.path = g_ptr_array_index (paths, paths->len - 1);
      g_array_append_val (wanted, one);
    }
  gtk_widget_set_visible (self->done, FALSE);
  self->exporting = vn_bench_export_files (VN_BENCH (document), (const VnExportFile *) (gpointer) wanted->data, wanted->len,
                                           gtk_switch_get_active (self->verify), &error);
  if (error != NULL)
    vn_bench_report_error (VN_BENCH (document), vn_job_id_get_failure (VN_JOB_EXPORT), error);
}

static void
vn_step_export_next (VnWizardStep *step)
{
  VnStepExport *self = VN_STEP_EXPORT (step);
  g_autoptr(GPtrArray) there = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < self->files->len; i++)
    {
      const File *file = step_export_get_file (self, i);
      g_autofree char *path = step_export_dup_path (self, file);

      if (step_export_is_wanted (file) && g_file_test (path, G_FILE_TEST_EXISTS))
        g_ptr_array_add (there, g_steal_pointer (&path));
    }
  if (there->len > 0)
    vn_ask_replace (GTK_WIDGET (self), there, step_export_begin, self);
  else
    step_export_begin (self);
}

static void
vn_step_export_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "changed::model", G_CALLBACK (step_export_model_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notice::written", G_CALLBACK (step_export_written), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notice::failed", G_CALLBACK (step_export_job_failed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "work-changed", G_CALLBACK (step_export_job_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::run", G_CALLBACK (step_export_update), step, G_CONNECT_SWAPPED);
  step_export_model_changed (VN_STEP_EXPORT (step));
}

/* The network that is being worked on, or its folder, is not written over. */
static gboolean
step_export_is_model (VnStepExport *self,
                      const char   *name)
{
  VnBench *bench = VN_BENCH (step_export_get_document (self));
  const VnModel *model = vn_bench_get_model (bench);
  const VnGenaiFolder *folder = vn_bench_get_folder (bench);
  g_autofree char *path = self->folder != NULL ? g_build_filename (self->folder, name, NULL) : NULL;
  g_autofree char *own = model != NULL && model->path != NULL ? g_canonicalize_filename (model->path, NULL) : NULL;
  g_autofree char *written = path != NULL ? g_canonicalize_filename (path, NULL) : NULL;

  return written != NULL && (g_strcmp0 (own, written) == 0 || (folder != NULL && g_str_equal (folder->path, written)));
}

/* What is wrong with the names, if anything. */
static const char *
step_export_find_fault (VnStepExport *self)
{
  g_autoptr(GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < self->files->len; i++)
    {
      const File *file = step_export_get_file (self, i);
      const char *name = gtk_editable_get_text (file->name);

      if (!step_export_is_wanted (file))
        continue;
      if (*name == '\0')
        return _("A file has no name");
      if (strchr (name, G_DIR_SEPARATOR) != NULL)
        return _("Names cannot have a “/”");
      if (!g_hash_table_add (names, (gpointer) name))
        return _("Two files have the same name");
      if (step_export_is_model (self, name))
        return _("The open model has this name");
    }
  return g_hash_table_size (names) == 0 ? _("No file is chosen") : NULL;
}

static char *
vn_step_export_dup_blocker (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  if (vn_bench_get_shown (VN_BENCH (document)) == NULL)
    return g_strdup (_("Not calibrated yet"));
  return g_strdup (vn_bench_get_job (VN_BENCH (document)) != NULL
                   ? _("Still working") : step_export_find_fault (VN_STEP_EXPORT (step)));
}

/* What is in the folder may have changed. */
static void
vn_step_export_enter (VnWizardStep *step)
{
  VnStepExport *self = VN_STEP_EXPORT (step);

  if (!gtk_widget_get_visible (self->done))
    step_export_update (self);
}

/* ---- the page ---- */

static void
vn_step_export_dispose (GObject *object)
{
  VnStepExport *self = VN_STEP_EXPORT (object);

  g_clear_pointer (&self->folder, g_free);
  g_clear_pointer (&self->first, g_free);
  gtk_widget_dispose_template (GTK_WIDGET (self), VN_TYPE_STEP_EXPORT);
  G_OBJECT_CLASS (vn_step_export_parent_class)->dispose (object);
}

static void
vn_step_export_finalize (GObject *object)
{
  g_array_unref (VN_STEP_EXPORT (object)->files);
  G_OBJECT_CLASS (vn_step_export_parent_class)->finalize (object);
}

static void
vn_step_export_class_init (VnStepExportClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_export_dispose;
  G_OBJECT_CLASS (klass)->finalize = vn_step_export_finalize;
  step_class->document_set = vn_step_export_document_set;
  step_class->enter = vn_step_export_enter;
  step_class->dup_blocker = vn_step_export_dup_blocker;
  step_class->next = vn_step_export_next;
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-export.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, folder_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, choose_folder);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, open_folder);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, groups);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, done);
  gtk_widget_class_bind_template_child (widget_class, VnStepExport, done_text);
}

static GtkWidget *
step_export_make_row (VnStepExport       *self,
                      const VnExportKind *kind)
{
  GtkWidget *row = adw_entry_row_new ();
  File file = { kind, GTK_CHECK_BUTTON (gtk_check_button_new ()), GTK_EDITABLE (row),
                gtk_image_new_from_icon_name ("dialog-warning-symbolic"), FALSE };

  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _(kind->title));
  gtk_check_button_set_active (file.check, kind->is_usual);
  gtk_widget_set_valign (GTK_WIDGET (file.check), GTK_ALIGN_CENTER);
  gtk_widget_set_tooltip_text (GTK_WIDGET (file.check), _(kind->title));
  gtk_accessible_update_property (GTK_ACCESSIBLE (file.check), GTK_ACCESSIBLE_PROPERTY_LABEL, _(kind->title), -1);
  adw_entry_row_add_prefix (ADW_ENTRY_ROW (row), GTK_WIDGET (file.check));
  gtk_widget_set_tooltip_text (file.replaces, _("This file exists: you will be asked before it is replaced"));
  gtk_widget_add_css_class (file.replaces, "warning");
  gtk_widget_set_visible (file.replaces, FALSE);
  adw_entry_row_add_suffix (ADW_ENTRY_ROW (row), file.replaces);
  g_array_append_val (self->files, file);
  g_signal_connect_swapped (file.check, "toggled", G_CALLBACK (step_export_toggled), self);
  g_signal_connect_swapped (row, "changed", G_CALLBACK (step_export_renamed), self);
  return row;
}

static GtkWidget *
step_export_make_switch (GtkSwitch  **found,
                         const char  *title,
                         const char  *subtitle)
{
  GtkWidget *row = adw_action_row_new ();

  *found = GTK_SWITCH (gtk_switch_new ());
  gtk_widget_set_valign (GTK_WIDGET (*found), GTK_ALIGN_CENTER);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title);
  adw_preferences_row_set_use_underline (ADW_PREFERENCES_ROW (row), TRUE);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle);
  adw_action_row_add_suffix (ADW_ACTION_ROW (row), GTK_WIDGET (*found));
  adw_action_row_set_activatable_widget (ADW_ACTION_ROW (row), GTK_WIDGET (*found));
  return row;
}

static GtkWidget *
step_export_make_whole (VnStepExport *self)
{
  self->whole_row = step_export_make_switch (&self->whole, _("_Folder for onnxruntime-genai"),
                                             _("Tokenizer, configuration and all other files of the opened folder are copied"));
  g_signal_connect_swapped (self->whole, "notify::active", G_CALLBACK (step_export_whole_changed), self);
  return self->whole_row;
}

static GtkWidget *
step_export_make_verify (VnStepExport *self)
{
  return step_export_make_switch (&self->verify, _("_Verify in the Runtime"),
                                  _("Checks whether the exported model loads, how well its outputs "
                                    "agree, and how long it takes"));
}

static GtkWidget *
step_export_make_colours (VnStepExport *self)
{
  const char * const names[] = { _("As shown"), _("Light"), _("Dark"), NULL };
  g_autoptr(GtkStringList) list = gtk_string_list_new (names);
  GtkWidget *row = adw_combo_row_new ();

  self->colours = ADW_COMBO_ROW (row);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), _("Colors"));
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), _("The graph with its errors, with groups as currently expanded"));
  adw_combo_row_set_model (self->colours, G_LIST_MODEL (list));
  return row;
}

static void
vn_step_export_init (VnStepExport *self)
{
  static const char * const titles[] = {
    [VN_EXPORT_MODEL] = N_("Model"),
    [VN_EXPORT_REPORT] = N_("Report"),
    [VN_EXPORT_PICTURE] = N_("Graph Image"),
    [VN_EXPORT_WORK] = N_("Settings and Scripts"),
  };
  GtkWidget *groups[G_N_ELEMENTS (titles)];

  gtk_widget_init_template (GTK_WIDGET (self));
  self->files = g_array_new (FALSE, FALSE, sizeof (File));
  for (guint i = 0; i < G_N_ELEMENTS (titles); i++)
    {
      groups[i] = adw_preferences_group_new ();
      adw_preferences_group_set_title (ADW_PREFERENCES_GROUP (groups[i]), _(titles[i]));
      gtk_box_append (self->groups, groups[i]);
    }
  for (guint i = 0; i < vn_bench_count_exports (); i++)
    {
      const VnExportKind *kind = vn_bench_get_export (i);

      adw_preferences_group_add (ADW_PREFERENCES_GROUP (groups[kind->group]), step_export_make_row (self, kind));
    }
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (groups[VN_EXPORT_MODEL]), step_export_make_whole (self));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (groups[VN_EXPORT_MODEL]), step_export_make_verify (self));
  adw_preferences_group_add (ADW_PREFERENCES_GROUP (groups[VN_EXPORT_PICTURE]), step_export_make_colours (self));
  g_signal_connect_swapped (self->choose_folder, "clicked", G_CALLBACK (step_export_ask_folder), self);
  g_signal_connect_swapped (self->open_folder, "clicked", G_CALLBACK (step_export_show_folder), self);
}
