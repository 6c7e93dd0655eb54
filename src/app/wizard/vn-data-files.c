/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that say more of the samples: labels for accuracy, settings from elsewhere, and a script that prepares them. */
#include "vn-data-files.h"

#include "vn-button-names.h"
#include "vn-compat.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-load-preprocess.h"
#include "vn-model-metadata.h"
#include "vn-rows.h"

#include <string.h>

#define MOST_SCRIPT (1u << 20)     /* bytes that are looked at for functions */

struct _VnDataFiles
{
  AdwBin        parent_instance;

  VnDocument   *document;
  gboolean      busy;

  AdwActionRow *labels;
  GtkWidget    *no_labels;
  AdwEntryRow  *script;
  GtkWidget    *box, *buttons;
};

G_DEFINE_FINAL_TYPE (VnDataFiles, vn_data_files, ADW_TYPE_BIN)

static void
data_files_fail (VnDataFiles  *self,
                 const char   *title,
                 const GError *error)
{
  vn_bench_report_error (VN_BENCH (self->document), title, error);
}

/* ---- labels ---- */

/* There are none; how the file of the network calls the classes. */
static char *
data_files_write_names (VnDataFiles *self)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (self->document));
  g_autoptr(VnModelMetadata) metadata = model != NULL ? vn_model_metadata_read (model) : NULL;
  g_autofree char *some = NULL;

  if (metadata == NULL || metadata->n_names == 0)
    return g_strdup (_("None: accuracy is not measured"));
  some = metadata->n_names > 3 ? g_strdup_printf ("%s, %s, %s …", metadata->names[0], metadata->names[1], metadata->names[2])
         : g_strjoinv (", ", metadata->names);
  return g_strdup_printf (ngettext ("None: accuracy is not measured. The metadata of the model name %u class: %s",
                                    "None: accuracy is not measured. The metadata of the model name %u classes: %s",
                                    metadata->n_names), metadata->n_names, some);
}

static void
data_files_show_labels (VnDataFiles      *self,
                        const VnDataSpec *data,
                        VnDataset        *dataset)
{
  guint n = dataset != NULL ? vn_dataset_get_n_classes (dataset) : 0;
  g_autofree char *text = NULL;

  if (data != NULL && data->labels != NULL)
    text = vn_format_path (data->labels);
  else if (n > 1)
    text = g_strdup_printf (ngettext ("%u class, by folder", "%u classes, by folder", n), n);
  else
    text = data_files_write_names (self);
  adw_action_row_set_subtitle (self->labels, text);
  gtk_widget_set_visible (self->no_labels, data != NULL && data->labels != NULL);
}

/**
 * vn_data_files_set_labels:
 * @path: (nullable): a file with the name of a class a line, or a sample and its class a line; %NULL: as folders say
 */
void
vn_data_files_set_labels (VnDataFiles *self,
                          const char  *path)
{
  g_autoptr(VnDataSpec) data = NULL;

  g_return_if_fail (VN_IS_DATA_FILES (self));

  if (vn_bench_get_data (VN_BENCH (self->document)) == NULL)
    return;
  data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (self->document)));
  g_free (data->labels);
  data->labels = g_strdup (path);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

static void
data_files_labels_chosen (GFile    *file,
                          gpointer  self)
{
  if (g_file_peek_path (file) != NULL)
    vn_data_files_set_labels (self, g_file_peek_path (file));
}

static void
data_files_choose_labels (VnDataFiles *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_LABELS, NULL, data_files_labels_chosen, g_object_ref (self), g_object_unref);
}

static void
data_files_drop_labels (VnDataFiles *self)
{
  vn_data_files_set_labels (self, NULL);
}

/* ---- settings from a file ---- */

/**
 * vn_data_files_load:
 * @path: a project, a run, the settings of samples, or a configuration of another quantizer
 *
 * The samples are prepared as the file says.
 */
void
vn_data_files_load (VnDataFiles *self,
                    const char  *path)
{
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GError) error = NULL;

  g_return_if_fail (VN_IS_DATA_FILES (self) && path != NULL);

  if (vn_bench_get_data (VN_BENCH (self->document)) == NULL || vn_bench_get_model (VN_BENCH (self->document)) == NULL)
    return;
  data = vn_load_preprocess (path, vn_bench_get_data (VN_BENCH (self->document)), vn_bench_get_model (VN_BENCH (self->document)),
                             &error);
  if (data == NULL)
    data_files_fail (self, _("Preprocessing was not loaded"), error);
  else
    vn_bench_set_data (VN_BENCH (self->document), data);
}

static void
data_files_file_chosen (GFile    *file,
                        gpointer  self)
{
  if (g_file_peek_path (file) != NULL)
    vn_data_files_load (self, g_file_peek_path (file));
}

static void
data_files_choose_file (VnDataFiles *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_PREPROCESSING, NULL, data_files_file_chosen, g_object_ref (self), g_object_unref);
}

/* ---- a script ---- */

/* The first function of the script that is not meant for itself alone; NULL: there is none. */
static char *
data_files_find_function (const char  *path,
                          GError     **error)
{
  g_autofree char *text = NULL;
  g_auto(GStrv) lines = NULL;
  gsize length;

  if (!g_file_get_contents (path, &text, &length, error))
    return NULL;
  text[MIN (length, MOST_SCRIPT)] = '\0';
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "def ") && g_ascii_isalpha (lines[i][4]))
      return g_strndup (lines[i] + 4, strcspn (lines[i] + 4, " ("));
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("“%s” defines no function: it needs one that takes a path and returns an array"), path);
  return NULL;
}

/* @script: (nullable): FILE.py:FUNCTION */
static void
data_files_use_script (VnDataFiles *self,
                       const char  *script)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_copy (vn_bench_get_data (VN_BENCH (self->document)));

  g_free (data->script);
  data->script = g_strdup (script);
  vn_data_spec_trust (data);
  vn_bench_set_data (VN_BENCH (self->document), data);
}

/**
 * vn_data_files_set_script:
 * @path: a Python file; its first function prepares the samples. The user wants that: it runs at once
 */
void
vn_data_files_set_script (VnDataFiles *self,
                          const char  *path)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *function = NULL, *script = NULL;

  g_return_if_fail (VN_IS_DATA_FILES (self) && path != NULL);

  if (vn_bench_get_data (VN_BENCH (self->document)) == NULL)
    return;
  function = data_files_find_function (path, &error);
  if (function == NULL)
    {
      data_files_fail (self, _("The script cannot be used"), error);
      return;
    }
  script = g_strdup_printf ("%s:%s", path, function);
  data_files_use_script (self, script);
}

static void
data_files_script_chosen (GFile    *file,
                          gpointer  self)
{
  if (g_file_peek_path (file) != NULL)
    vn_data_files_set_script (self, g_file_peek_path (file));
}

static void
data_files_choose_script (VnDataFiles *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_SCRIPT, NULL, data_files_script_chosen, g_object_ref (self), g_object_unref);
}

/* Nothing written: the settings prepare the samples again. */
static void
data_files_script_applied (VnDataFiles *self)
{
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->script));

  if (self->busy || vn_bench_get_data (VN_BENCH (self->document)) == NULL)
    return;
  if (*text != '\0' && !vn_data_spec_is_script (text))
    {
      gtk_widget_add_css_class (GTK_WIDGET (self->script), "error");
      return;
    }
  data_files_use_script (self, *text != '\0' ? text : NULL);
}

/* ---- all together ---- */

/**
 * vn_data_files_show:
 * @dataset: (nullable): the samples as they were opened; %NULL: not yet
 */
void
vn_data_files_show (VnDataFiles *self,
                    VnDataset   *dataset)
{
  const VnDataSpec *data;

  g_return_if_fail (VN_IS_DATA_FILES (self));

  data = vn_bench_get_data (VN_BENCH (self->document));
  self->busy = TRUE;
  gtk_widget_set_sensitive (self->box, data != NULL && !vn_data_spec_is_random (data));
  data_files_show_labels (self, data, dataset);
  gtk_widget_set_visible (GTK_WIDGET (self->script), data != NULL && data->script != NULL);
  gtk_widget_remove_css_class (GTK_WIDGET (self->script), "error");
  gtk_editable_set_text (GTK_EDITABLE (self->script), data != NULL && data->script != NULL ? data->script : "");
  self->busy = FALSE;
}

/**
 * vn_data_files_set_document:
 *
 * To be called once.
 */
void
vn_data_files_set_document (VnDataFiles *self,
                            VnDocument  *document)
{
  g_return_if_fail (VN_IS_DATA_FILES (self) && VN_IS_DOCUMENT (document) && self->document == NULL);

  self->document = g_object_ref (document);
}

static void
vn_data_files_dispose (GObject *object)
{
  g_clear_object (&VN_DATA_FILES (object)->document);
  G_OBJECT_CLASS (vn_data_files_parent_class)->dispose (object);
}

static void
vn_data_files_class_init (VnDataFilesClass *klass)
{
  G_OBJECT_CLASS (klass)->dispose = vn_data_files_dispose;
}

static GtkWidget *
data_files_make_button (VnDataFiles *self,
                        const char  *label,
                        GCallback    clicked)
{
  GtkWidget *button = vn_button_new_with_mnemonic (label);

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  g_signal_connect_swapped (button, "clicked", clicked, self);
  return button;
}

static void
vn_data_files_init (VnDataFiles *self)
{
  GtkWidget *list = gtk_list_box_new ();

  self->box = gtk_box_new (GTK_ORIENTATION_VERTICAL, 12);
  self->buttons = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 8);
  self->labels = ADW_ACTION_ROW (adw_action_row_new ());
  adw_preferences_row_set_use_markup (ADW_PREFERENCES_ROW (self->labels), FALSE);
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->labels), _("Labels"));
  self->no_labels = data_files_make_button (self, _("_Remove"), G_CALLBACK (data_files_drop_labels));
  adw_action_row_add_suffix (self->labels, self->no_labels);
  adw_action_row_add_suffix (self->labels, data_files_make_button (self, _("Choose…"), G_CALLBACK (data_files_choose_labels)));
  self->script = ADW_ENTRY_ROW (adw_entry_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->script), _("Python script: file and function"));
  adw_entry_row_set_show_apply_button (self->script, TRUE);
  g_signal_connect_swapped (self->script, "apply", G_CALLBACK (data_files_script_applied), self);
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  gtk_accessible_update_property (GTK_ACCESSIBLE (list), GTK_ACCESSIBLE_PROPERTY_LABEL, _("Labels"), -1);
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->labels));
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->script));
  gtk_box_append (GTK_BOX (self->buttons), data_files_make_button (self, _("Load from _File…"),
                                                                   G_CALLBACK (data_files_choose_file)));
  gtk_box_append (GTK_BOX (self->buttons), data_files_make_button (self, _("Python _Script…"),
                                                                   G_CALLBACK (data_files_choose_script)));
  gtk_box_append (GTK_BOX (self->box), self->buttons);
  gtk_box_append (GTK_BOX (self->box), list);
  adw_bin_set_child (ADW_BIN (self), self->box);
}
