/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wizard step: samples, how they are preprocessed, and the sizes that the model leaves open. */
#include "vn-step-data.h"

#include "vn-adaptive-bin.h"
#include "vn-compat.h"
#include "vn-data-card.h"
#include "vn-data-files.h"
#include "vn-data-words.h"
#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-input-rows.h"
#include "vn-input-sizes.h"
#include "vn-model-metadata.h"
#include "vn-preprocess-rows.h"
#include "vn-preview-grid.h"
#include "vn-rows.h"
#include "vn-target-rows.h"
#include "vn-text-rows.h"
#include "vn-values-chart.h"

#include <string.h>

#define NARROW 800              /* below, the pictures stand under the settings */
#define REFRESH_DELAY_MS 150

struct _VnStepData
{
  VnWizardStep     parent_instance;

  VnDataset       *dataset;      /* of the document's data, or NULL */
  char            *problem;      /* why there is none */
  char            *failure;      /* nullable: why the last run on them has failed, if other sizes of inputs may help */
  char            *size_input;   /* nullable: whose size may be at fault for either */
  GCancellable    *opening;      /* while the samples are opened and looked at */
  VnNotes         *notes;        /* of opening them; nullable */
  VnDataLook      *look;         /* what was found, or NULL */
  VnDataSpec      *looked_at;    /* the samples that the card was about; nullable */
  char            *folder_path;  /* the last real folder, while random values are on */
  VnPreviews      *pictures;
  guint            refresh_timeout;
  gboolean         busy;

  GtkWidget       *clamp, *columns;
  GtkLabel        *heading, *explanation;
  GtkWidget       *previews_head;
  AdwActionRow    *folder, *count_row, *held_row;
  GtkImage        *folder_icon;
  GtkButton       *change, *change_folder;
  GtkSpinButton   *count, *held;
  GtkSwitch       *random;
  VnPreprocessRows *preprocessing;
  VnInputRows     *inputs;
  VnInputSizes    *sizes;
  VnDataCard      *card;
  VnDataFiles     *files;
  VnTextRows      *texts;
  VnTargetRows    *targets;
  VnValuesChart   *values;
  GtkLabel        *previews_title, *previews_count, *waiting;
  GtkToggleButton *network, *original;
  GtkFlowBox      *previews;
};

G_DEFINE_FINAL_TYPE (VnStepData, vn_step_data, VN_TYPE_WIZARD_STEP)

static VnDocument *
step_data_get_document (VnStepData *self)
{
  return vn_wizard_step_get_document (VN_WIZARD_STEP (self));
}

static const VnDataWords *
step_data_get_words (VnStepData *self)
{
  return vn_data_words_find (vn_bench_get_model (VN_BENCH (step_data_get_document (self))), self->dataset);
}

static void
step_data_show_folder (VnStepData       *self,
                       const VnDataSpec *data)
{
  gboolean random = vn_data_spec_is_random (data), by_input;
  g_autofree char *base = NULL, *where = NULL, *count = NULL, *subtitle = NULL;
  guint n = self->dataset != NULL ? vn_dataset_get_n (self->dataset) : 0;

  if (data == NULL || random)
    {
      adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->folder), random ? _("Random values") : _("No samples chosen"));
      adw_action_row_set_subtitle (self->folder, random ? "" : _(step_data_get_words (self)->choose));
      return;
    }
  by_input = strchr (data->path, '=') != NULL && !g_file_test (data->path, G_FILE_TEST_EXISTS);
  base = by_input ? g_strdup (_("Samples by input")) : g_path_get_basename (data->path);
  where = by_input ? g_strdup (_("as chosen below")) : vn_format_path (data->path);
  count = g_strdup_printf (ngettext ("%u sample", "%u samples", n), n);
  if (self->problem != NULL)
    subtitle = g_strdup (where);   /* the card says why */
  else
    subtitle = g_strdup_printf ("%s · %s", where, self->dataset != NULL ? count : _("reading…"));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->folder), base);
  adw_action_row_set_subtitle (self->folder, subtitle);
}

/* What is to be decided, and the values of the input. */
static void
step_data_show_look (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));

  if (self->problem != NULL)
    vn_data_card_show_problem (self->card, _("The samples cannot be used"), self->problem, self->size_input != NULL);
  else if (self->failure != NULL)
    vn_data_card_show_problem (self->card, _("The last run failed"), self->failure, TRUE);
  else
    vn_data_card_show_look (self->card, self->look, self->notes, gtk_widget_get_visible (GTK_WIDGET (self->preprocessing)));
  vn_values_chart_set (self->values, self->look != NULL ? &self->look->values : NULL,
                       self->dataset != NULL && vn_dataset_is_image (self->dataset),
                       data != NULL ? data->preprocess.color : VN_COLOR_RGB);
}

/* How many are used at all, and are left for the check of the error. */
static void
step_data_show_held (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  guint most = vn_bench_get_n_samples (VN_BENCH (step_data_get_document (self)));
  guint n = self->dataset != NULL ? vn_dataset_get_n (self->dataset) : 0, held;
  g_autofree char *used = NULL, *text = NULL;

  if (most > 0 && n > most)
    n = most;
  else if (n > 0 && !vn_data_spec_is_random (data))
    used = g_strdup_printf (ngettext ("all %u available, including held-out samples",
                                      "all %u available, including held-out samples", n), n);
  adw_action_row_set_subtitle (self->count_row, used != NULL ? used : _("evenly spaced, including held-out samples"));
  held = data != NULL && n > 0 ? vn_data_spec_count_held_out (data, n) : 0;
  if (n == 0)
    text = g_strdup (_("evenly spaced, not used for calibration"));
  else if (held > 0)
    text = g_strdup_printf (ngettext ("%u of %u: used to measure the error, not for calibration",
                                      "%u of %u: used to measure the error, not for calibration", held), held, n);
  else
    text = g_strdup (_("none: the error is measured on calibration samples"));
  adw_action_row_set_subtitle (self->held_row, text);
}

static void
step_data_show_previews (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  gboolean as_network = gtk_toggle_button_get_active (self->network);
  gboolean pictures = self->dataset != NULL && vn_dataset_is_image (self->dataset);
  guint n = pictures ? vn_dataset_get_n (self->dataset) : 0;
  g_autofree char *count = n > 0 ? g_strdup_printf (_("%u of %u"), MIN (n, 12), n) : g_strdup ("");

  gtk_label_set_label (self->previews_title, as_network ? _("After preprocessing") : _("Original"));
  gtk_label_set_label (self->previews_count, count);
  vn_previews_show (self->pictures, self->dataset, as_network, data != NULL && data->preprocess.fit == VN_FIT_STRETCH);
}

static void
step_data_show_kind (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  const VnDataWords *words = step_data_get_words (self);
  const gboolean pictures = vn_data_words_are_pictures (words),
                 needs_samples = vn_recipe_needs_samples (vn_bench_get_recipe (VN_BENCH (step_data_get_document (self))));
  GtkWidget *seen[] = { GTK_WIDGET (self->previews), self->previews_head };

  gtk_label_set_label (self->heading, _(words->heading));
  gtk_label_set_label (self->explanation, _(needs_samples ? words->usual : words->optional));
  gtk_image_set_from_icon_name (self->folder_icon, words->icon);
  gtk_widget_set_visible (GTK_WIDGET (self->change_folder), words->takes_files);
  vn_text_rows_show (self->texts, words->takes_files);
  gtk_widget_set_visible (GTK_WIDGET (self->preprocessing), pictures);
  for (guint i = 0; i < G_N_ELEMENTS (seen); i++)
    gtk_widget_set_visible (seen[i], pictures && data != NULL && !vn_data_spec_is_random (data));
  gtk_label_set_label (self->waiting, _(words->drop));
  gtk_widget_set_visible (GTK_WIDGET (self->waiting), data == NULL);
}

static void
step_data_show_samples (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));

  step_data_show_folder (self, data);
  step_data_show_held (self);
  step_data_show_kind (self);
  vn_input_rows_show (self->inputs, self->dataset, vn_data_words_are_pictures (step_data_get_words (self)));
  vn_input_sizes_update (self->sizes);
  vn_data_files_show (self->files, self->dataset);
  step_data_show_look (self);
  step_data_show_previews (self);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
step_data_looked (GObject      *source,
                  GAsyncResult *result,
                  gpointer      user_data)
{
  g_autoptr(VnStepData) self = user_data;
  g_autoptr(VnDataLook) look = vn_bench_look_finish (VN_BENCH (VN_DOCUMENT (source)), result, NULL);

  if (look == NULL || g_task_get_cancellable (G_TASK (result)) != self->opening)
    return;
  g_clear_object (&self->opening);
  self->look = g_steal_pointer (&look);
  step_data_show_look (self);
  vn_wizard_step_changed (VN_WIZARD_STEP (self));
}

static void
step_data_samples_opened (GObject      *source,
                          GAsyncResult *result,
                          gpointer      user_data)
{
  g_autoptr(VnStepData) self = user_data;
  g_autoptr(VnNotes) notes = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = vn_bench_open_dataset_finish (VN_BENCH (VN_DOCUMENT (source)), result, &notes, &error);

  if (g_task_get_cancellable (G_TASK (result)) != self->opening)   /* others are wanted by now, or nobody looks */
    return;
  if (dataset == NULL)
    g_clear_object (&self->opening);
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    return;
  self->dataset = g_steal_pointer (&dataset);
  self->notes = g_steal_pointer (&notes);
  if (error != NULL)
    {
      self->problem = g_strdup (error->message);
      g_free (self->size_input);
      self->size_input = g_strdup (vn_bench_find_size (VN_BENCH (VN_DOCUMENT (source)), error));
    }
  step_data_show_samples (self);
  if (self->dataset != NULL)
    vn_bench_look_async (VN_BENCH (VN_DOCUMENT (source)), self->dataset, self->opening, step_data_looked, g_object_ref (self));
}

static void
step_data_stop_opening (VnStepData *self)
{
  g_cancellable_cancel (self->opening);
  g_clear_object (&self->opening);
}

/* What the user decided to keep was said of these samples alone. */
static void
step_data_forget_kept (VnStepData       *self,
                       const VnDataSpec *data)
{
  const VnDataSpec *before = self->looked_at;

  if (before == NULL || data == NULL || !g_str_equal (before->path, data->path) ||
      g_strcmp0 (before->script, data->script) != 0 ||
      !vn_preprocess_equal (&before->preprocess, &data->preprocess))
    vn_data_card_forget (self->card);
  g_clear_pointer (&self->looked_at, vn_data_spec_free);
  self->looked_at = data != NULL ? vn_data_spec_copy (data) : NULL;
}

static gboolean
step_data_refresh (gpointer user_data)
{
  VnStepData *self = user_data;
  VnDocument *document = step_data_get_document (self);
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (document));

  self->refresh_timeout = 0;
  step_data_stop_opening (self);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->problem, g_free);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_clear_pointer (&self->look, vn_data_look_free);
  step_data_forget_kept (self, data);
  if (data == NULL || vn_bench_get_model (VN_BENCH (document)) == NULL)
    {
      step_data_show_samples (self);
      return G_SOURCE_REMOVE;
    }
  step_data_show_folder (self, data);
  self->opening = g_cancellable_new ();
  vn_bench_open_dataset_async (VN_BENCH (document), data, self->opening, step_data_samples_opened, g_object_ref (self));
  return G_SOURCE_REMOVE;
}

/* Where the preprocessing comes from, if the file of the network says it. */
static void
step_data_show_metadata (VnStepData       *self,
                         const VnDataSpec *data)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (step_data_get_document (self)));
  g_autoptr(VnModelMetadata) metadata = model != NULL ? vn_model_metadata_read (model) : NULL;
  g_autofree char *words = NULL, *text = NULL;
  VnPreprocessParts parts;

  if (metadata != NULL && metadata->parts != 0)
    {
      parts = data != NULL ? vn_model_metadata_match (metadata, &data->preprocess) : metadata->parts;
      words = vn_preprocess_describe (&metadata->preprocess, metadata->parts);
      text = parts == metadata->parts ? g_strdup_printf (_("From the metadata of the model: %s"), words)
             : g_strdup_printf (_("The metadata of the model specify: %s"), words);
    }
  vn_preprocess_rows_show_origin (self->preprocessing, text);
}

static void
data_changed (VnStepData *self)
{
  VnDocument *document = step_data_get_document (self);
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (document));
  VnPreprocess plain;

  self->busy = TRUE;
  g_clear_pointer (&self->failure, g_free);
  g_clear_pointer (&self->size_input, g_free);
  vn_preprocess_init (&plain);
  vn_preprocess_rows_show (self->preprocessing, data != NULL ? &data->preprocess : &plain);
  step_data_show_metadata (self, data);
  gtk_spin_button_set_value (self->count, vn_bench_get_n_samples (VN_BENCH (document)));
  gtk_spin_button_set_value (self->held, data != NULL ? data->held_out : VN_HELD_OUT_USUAL);
  gtk_switch_set_active (self->random, vn_data_spec_is_random (data));
  gtk_widget_set_sensitive (GTK_WIDGET (self->preprocessing), data != NULL && !vn_data_spec_is_random (data));
  vn_data_files_show (self->files, self->dataset);
  self->busy = FALSE;
  if (self->refresh_timeout == 0)
    self->refresh_timeout = g_timeout_add (REFRESH_DELAY_MS, step_data_refresh, self);
}

static void
step_data_set_path (VnStepData *self,
                    const char *path)
{
  vn_document_use_folder (step_data_get_document (self), path);
}

static void
step_data_folder_chosen (GFile    *file,
                         gpointer  data)
{
  if (g_file_peek_path (file) != NULL)
    step_data_set_path (data, g_file_peek_path (file));
}

static void
step_data_change_clicked (VnStepData *self)
{
  vn_choose_file (GTK_WIDGET (self), step_data_get_words (self)->takes_files ? VN_CHOOSE_SAMPLE : VN_CHOOSE_FOLDER, NULL,
                  step_data_folder_chosen, g_object_ref (self), g_object_unref);
}

static void
step_data_change_folder_clicked (VnStepData *self)
{
  vn_choose_file (GTK_WIDGET (self), VN_CHOOSE_FOLDER, NULL, step_data_folder_chosen, g_object_ref (self), g_object_unref);
}

static void
step_data_go_to_preprocessing (VnStepData *self)
{
  gtk_widget_child_focus (GTK_WIDGET (self->preprocessing), GTK_DIR_TAB_FORWARD);
}

static void
step_data_go_to_sizes (VnStepData *self)
{
  if (self->size_input == NULL || !vn_input_sizes_edit (self->sizes, self->size_input))
    gtk_widget_child_focus (GTK_WIDGET (self->sizes), GTK_DIR_TAB_FORWARD);
}

/**
 * vn_step_data_edit_size:
 * @input: with open dims; to be called when the page is shown
 *
 * Goes to the row of its size.
 */
void
vn_step_data_edit_size (VnStepData *self,
                        const char *input)
{
  g_return_if_fail (VN_IS_STEP_DATA (self) && input != NULL);

  vn_input_sizes_edit (self->sizes, input);
}

/* What a size is at fault for is told where it can be changed, until something is. */
static void
step_data_run_failed (VnStepData     *self,
                      const VnNotice *notice)
{
  const char *input = vn_bench_find_size (VN_BENCH (step_data_get_document (self)), notice->error);

  if (input == NULL)
    return;
  g_free (self->failure);
  self->failure = g_strdup (notice->error->message);
  g_free (self->size_input);
  self->size_input = g_strdup (input);
  step_data_show_look (self);
}

static void
step_data_random_toggled (VnStepData *self)
{
  const VnDataSpec *data = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  g_autofree char *path = NULL;

  if (self->busy)
    return;
  if (gtk_switch_get_active (self->random))
    {
      g_free (self->folder_path);
      self->folder_path = data != NULL ? g_strdup (data->path) : NULL;
      step_data_set_path (self, VN_DATA_RANDOM);
      return;
    }
  path = g_steal_pointer (&self->folder_path);
  if (path != NULL)
    step_data_set_path (self, path);
  else
    vn_bench_set_data (VN_BENCH (step_data_get_document (self)), NULL);
}

static void
step_data_take_numbers (GtkWidget *widget)
{
  VnStepData *self = VN_STEP_DATA (widget);
  VnBench *bench = VN_BENCH (step_data_get_document (self));
  const VnDataSpec *present = vn_bench_get_data (bench);
  g_autoptr(VnDataSpec) data = present != NULL ? vn_data_spec_copy (present) : NULL;

  vn_bench_set_n_samples (bench, (guint) gtk_spin_button_get_value_as_int (self->count));
  if (present == NULL || data->held_out == gtk_spin_button_get_value_as_int (self->held))
    return;
  data->held_out = gtk_spin_button_get_value_as_int (self->held);
  vn_bench_set_data (bench, data);
}

static void
step_data_numbers_changed (VnStepData *self)
{
  if (!self->busy)
    vn_widget_call_soon (GTK_WIDGET (self), step_data_take_numbers);
}

static void
step_data_cure_applied (VnStepData       *self,
                        const VnDataCure *cure)
{
  const VnDataSpec *present = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  g_autoptr(VnDataSpec) data = NULL;

  if (present == NULL)
    return;
  data = vn_data_spec_copy (present);
  if (data->inputs != NULL && g_hash_table_contains (data->inputs, cure->input))
    vn_data_spec_set_input (data, cure->input, &cure->settings, NULL);
  else
    data->preprocess = cure->settings;
  vn_bench_set_data (VN_BENCH (step_data_get_document (self)), data);
}

static void
step_data_preprocess_changed (VnStepData         *self,
                              const VnPreprocess *settings)
{
  const VnDataSpec *present = vn_bench_get_data (VN_BENCH (step_data_get_document (self)));
  g_autoptr(VnDataSpec) data = NULL;

  if (present == NULL)
    return;
  data = vn_data_spec_copy (present);
  data->preprocess = *settings;
  vn_bench_set_data (VN_BENCH (step_data_get_document (self)), data);
}

static void
step_data_view_toggled (VnStepData      *self,
                        GtkToggleButton *button)
{
  if (gtk_toggle_button_get_active (button))
    step_data_show_previews (self);
}

static void
vn_step_data_document_set (VnWizardStep *step)
{
  VnDocument *document = vn_wizard_step_get_document (step);

  g_signal_connect_object (document, "changed::data", G_CALLBACK (data_changed), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "changed::recipe", G_CALLBACK (step_data_show_kind), step, G_CONNECT_SWAPPED);
  g_signal_connect_object (document, "notice::failed", G_CALLBACK (step_data_run_failed), step, G_CONNECT_SWAPPED);
  vn_input_rows_set_document (VN_STEP_DATA (step)->inputs, document);
  vn_input_sizes_set_document (VN_STEP_DATA (step)->sizes, document);
  vn_data_files_set_document (VN_STEP_DATA (step)->files, document);
  vn_text_rows_set_document (VN_STEP_DATA (step)->texts, document);
  vn_target_rows_set_document (VN_STEP_DATA (step)->targets, document);
  data_changed (VN_STEP_DATA (step));
}

static char *
vn_step_data_dup_answer (VnWizardStep *step)
{
  VnStepData *self = VN_STEP_DATA (step);
  guint n = self->dataset != NULL ? vn_dataset_get_n (self->dataset) : 0;
  guint most = vn_bench_get_n_samples (VN_BENCH (vn_wizard_step_get_document (step)));

  if (most > 0)
    n = MIN (n, most);
  if (vn_bench_get_data (VN_BENCH (vn_wizard_step_get_document (step))) == NULL)
    return g_strdup (_("no samples"));
  return self->dataset != NULL ? g_strdup_printf (ngettext ("%u sample", "%u samples", n), n) : NULL;
}

static char *
vn_step_data_dup_blocker (VnWizardStep *step)
{
  VnStepData *self = VN_STEP_DATA (step);

  return self->problem != NULL ? g_strdup (_("The samples cannot be used")) : NULL;
}

static gboolean
vn_step_data_has_warning (VnWizardStep *step)
{
  VnStepData *self = VN_STEP_DATA (step);

  return self->problem != NULL || (self->look != NULL && vn_data_look_is_suspicious (self->look));
}

static void
vn_step_data_dispose (GObject *object)
{
  VnStepData *self = VN_STEP_DATA (object);

  self->busy = TRUE;
  g_clear_handle_id (&self->refresh_timeout, g_source_remove);
  step_data_stop_opening (self);
  g_clear_pointer (&self->pictures, vn_previews_free);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->problem, g_free);
  g_clear_pointer (&self->failure, g_free);
  g_clear_pointer (&self->size_input, g_free);
  g_clear_pointer (&self->folder_path, g_free);
  g_clear_pointer (&self->notes, vn_notes_unref);
  g_clear_pointer (&self->look, vn_data_look_free);
  g_clear_pointer (&self->looked_at, vn_data_spec_free);
  gtk_widget_dispose_template (GTK_WIDGET (object), VN_TYPE_STEP_DATA);
  G_OBJECT_CLASS (vn_step_data_parent_class)->dispose (object);
}

static void
vn_step_data_class_init (VnStepDataClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);
  VnWizardStepClass *step_class = VN_WIZARD_STEP_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = vn_step_data_dispose;
  step_class->document_set = vn_step_data_document_set;
  step_class->dup_answer = vn_step_data_dup_answer;
  step_class->dup_blocker = vn_step_data_dup_blocker;
  step_class->has_warning = vn_step_data_has_warning;
  g_type_ensure (VN_TYPE_DATA_CARD);
  g_type_ensure (VN_TYPE_DATA_FILES);
  g_type_ensure (VN_TYPE_INPUT_ROWS);
  g_type_ensure (VN_TYPE_INPUT_SIZES);
  g_type_ensure (VN_TYPE_PREPROCESS_ROWS);
  g_type_ensure (VN_TYPE_TARGET_ROWS);
  g_type_ensure (VN_TYPE_TEXT_ROWS);
  g_type_ensure (VN_TYPE_VALUES_CHART);
  gtk_widget_class_set_template_from_resource (widget_class, "/io/github/vernier/Vernier/vn-step-data.ui");
  vn_wizard_step_declare_settings (widget_class);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, clamp);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, columns);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, heading);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, explanation);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, previews_head);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, waiting);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, folder);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, folder_icon);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, change);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, change_folder);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, count);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, held);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, count_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, held_row);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, random);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, card);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, files);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, texts);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, targets);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, values);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, inputs);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, sizes);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, preprocessing);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, previews_title);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, previews_count);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, network);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, original);
  gtk_widget_class_bind_template_child (widget_class, VnStepData, previews);
}

static void
vn_step_data_init (VnStepData *self)
{
  self->busy = TRUE;
  gtk_widget_init_template (GTK_WIDGET (self));
  g_object_set (vn_adaptive_bin_insert (self->clamp, "child", 0, NARROW), "box", self->columns, NULL);
  self->pictures = vn_previews_new (self->previews);
  g_signal_connect_swapped (self->change, "clicked", G_CALLBACK (step_data_change_clicked), self);
  g_signal_connect_swapped (self->change_folder, "clicked", G_CALLBACK (step_data_change_folder_clicked), self);
  g_signal_connect_swapped (self->count, "value-changed", G_CALLBACK (step_data_numbers_changed), self);
  vn_spin_button_name_lowest (self->count, _("All"));       /* as in a project: 0 is all, */
  g_signal_connect_swapped (self->held, "value-changed", G_CALLBACK (step_data_numbers_changed), self);
  vn_spin_button_name_lowest (self->held, _("Usual"));      /* and here -1 as many as are usual */
  g_signal_connect_swapped (self->card, "apply", G_CALLBACK (step_data_cure_applied), self);
  g_signal_connect_swapped (self->card, "preprocess", G_CALLBACK (step_data_go_to_preprocessing), self);
  g_signal_connect_swapped (self->card, "sizes", G_CALLBACK (step_data_go_to_sizes), self);
  g_signal_connect_swapped (self->card, "choose", G_CALLBACK (step_data_change_clicked), self);
  g_signal_connect_swapped (self->random, "notify::active", G_CALLBACK (step_data_random_toggled), self);
  g_signal_connect_swapped (self->preprocessing, "changed", G_CALLBACK (step_data_preprocess_changed), self);
  g_signal_connect_swapped (self->network, "toggled", G_CALLBACK (step_data_view_toggled), self);
  g_signal_connect_swapped (self->original, "toggled", G_CALLBACK (step_data_view_toggled), self);
  self->busy = FALSE;
}
