/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The document: model, samples, recipe, result and selection of one window, and signals for whoever shows them. */
#include "vn-document-private.h"

#include "vn-drop.h"
#include "vn-i18n.h"
#include "vn-node-item.h"
#include "vn-node-sizes.h"
#include "vn-open-inputs.h"
#include "vn-rules.h"
#include "vn-settings.h"

#include <string.h>

#define DEFAULT_SAMPLES 100

guint vn_document_signals[VN_N_SIGNALS];

G_DEFINE_FINAL_TYPE (VnDocument, vn_document, G_TYPE_OBJECT)

static void
document_drop_result (VnResult **result)
{
  vn_drop_large (g_steal_pointer (result), (GDestroyNotify) vn_result_unref);
}

static void
document_forget_known (gpointer result)
{
  vn_drop_large (result, (GDestroyNotify) vn_result_unref);
}

static void
vn_document_dispose (GObject *object)
{
  VnDocument *self = VN_DOCUMENT (object);

  self->again = FALSE;
  if (self->cancellable != NULL)
    g_cancellable_cancel (self->cancellable);
  if (self->origins_cancellable != NULL)
    g_cancellable_cancel (self->origins_cancellable);
  if (self->known != NULL)
    vn_document_forget_expected (self);
  g_clear_pointer (&self->known, g_ptr_array_unref);
  g_clear_object (&self->origins);
  vn_document_drop_verifying (self);
  vn_document_cancel_install (self);
  g_clear_object (&self->installing);
  g_clear_object (&self->installing_cancellable);
  g_clear_object (&self->improved);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->effects, g_ptr_array_unref);
  g_clear_object (&self->origins_cancellable);
  g_clear_object (&self->nodes);
  document_drop_result (&self->result);
  g_clear_pointer (&self->result_recipe, vn_recipe_free);
  document_drop_result (&self->past);
  g_clear_handle_id (&self->keep_source, g_source_remove);
  vn_document_unwatch_files (self);
  g_clear_pointer (&self->removed_runs, g_ptr_array_unref);
  g_clear_pointer (&self->project_path, g_free);
  g_clear_pointer (&self->opening, g_free);
  g_clear_pointer (&self->digest, g_free);
  g_clear_pointer (&self->draft, vn_draft_unref);
  g_clear_pointer (&self->runs, g_ptr_array_unref);
  vn_drop_large (g_steal_pointer (&self->model), (GDestroyNotify) vn_model_unref);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_clear_pointer (&self->recipe, vn_recipe_free);
  g_clear_pointer (&self->project, vn_project_free);
  g_clear_pointer (&self->history, vn_history_free);
  g_clear_pointer (&self->selection, gtk_bitset_unref);
  g_clear_pointer (&self->tensor, g_free);
  g_clear_object (&self->job);
  g_clear_object (&self->cancellable);
  G_OBJECT_CLASS (vn_document_parent_class)->dispose (object);
}

static void
vn_document_class_init (VnDocumentClass *klass)
{
  static const char * const plain[] = {
    [VN_SIGNAL_MODEL] = "model-changed",
    [VN_SIGNAL_DATA] = "data-changed",
    [VN_SIGNAL_RECIPE] = "recipe-changed",
    [VN_SIGNAL_RESULT] = "result-changed",
    [VN_SIGNAL_SELECTION] = "selection-changed",
    [VN_SIGNAL_METRIC] = "metric-changed",
    [VN_SIGNAL_JOB] = "job-changed",
    [VN_SIGNAL_ORIGINS] = "origins-changed",
    [VN_SIGNAL_EXPECTED] = "expected-changed",
    [VN_SIGNAL_FORESEEN] = "foreseen-changed",
    [VN_SIGNAL_RUNS] = "runs-changed",
    [VN_SIGNAL_FILES] = "files-changed",
  };

  G_OBJECT_CLASS (klass)->dispose = vn_document_dispose;
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (plain[i] != NULL)
      vn_document_signals[i] = g_signal_new (plain[i], VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
  vn_document_signals[VN_SIGNAL_FAILED] = g_signal_new ("failed", VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0,
                                                        NULL, NULL, NULL, G_TYPE_NONE, 2,
                                                        G_TYPE_STRING, G_TYPE_ERROR);
  vn_document_signals[VN_SIGNAL_DONE] = g_signal_new ("done", VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0,
                                                      NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  vn_document_signals[VN_SIGNAL_NOTICE] = g_signal_new ("notice", VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0,
                                                        NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
  vn_document_signals[VN_SIGNAL_LEFT] = g_signal_new ("left", VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                                      G_TYPE_NONE, 2, G_TYPE_STRING, G_TYPE_STRING);
  vn_document_signals[VN_SIGNAL_WRITTEN] = g_signal_new ("written", VN_TYPE_DOCUMENT, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                                         G_TYPE_NONE, 1, G_TYPE_PTR_ARRAY);
}

/* Whatever these tell of a project keeps. */
static void
document_watch (VnDocument *self)
{
  static const guint kept[] = { VN_SIGNAL_DATA, VN_SIGNAL_RECIPE };

  for (guint i = 0; i < G_N_ELEMENTS (kept); i++)
    g_signal_connect (self, g_signal_name (vn_document_signals[kept[i]]), G_CALLBACK (vn_document_touch), NULL);
}

static void
vn_document_init (VnDocument *self)
{
  g_autofree char *preset = vn_settings_dup_string ("preset", "cpu");

  self->nodes = g_list_store_new (VN_TYPE_NODE_ITEM);
  self->n_samples = (guint) vn_settings_get_int ("samples", DEFAULT_SAMPLES);
  self->recipe = vn_recipe_new (vn_preset_find (preset, NULL) != NULL ? preset : NULL);
  self->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);
  self->removed_runs = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);
  self->known = g_ptr_array_new_with_free_func (document_forget_known);
  self->history = vn_history_new ();
  self->effects = vn_document_effects_new ();
  self->selection = gtk_bitset_new_empty ();
  document_watch (self);
}

VnDocument *
vn_document_new (void)
{
  return g_object_new (VN_TYPE_DOCUMENT, NULL);
}

static void
document_emit (VnDocument *self,
               guint       signal)
{
  g_signal_emit (self, vn_document_signals[signal], 0);
}

VnModel *
vn_document_get_model (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->model;
}

/**
 * vn_document_tell:
 * @text: one sentence for the user
 *
 * Has it shown by whoever shows the document.
 */
void
vn_document_tell (VnDocument *self,
                  const char *text)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (text != NULL);

  g_signal_emit (self, vn_document_signals[VN_SIGNAL_NOTICE], 0, text);
}

/**
 * vn_document_renew_model:
 * @model: (nullable): an opened model
 *
 * Shows @model. What was found out about the model before it is dropped; recipe, history, samples and project are kept.
 */
void
vn_document_renew_model (VnDocument *self,
                         VnModel    *model)
{
  g_autoptr(GPtrArray) items = NULL;
  VnModel *old;   /* until nobody shows its nodes any more */

  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_cancel_origins (self);
  vn_document_drop_verifying (self);
  vn_document_forget_expected (self);
  items = g_ptr_array_new_with_free_func (g_object_unref);
  old = self->model;
  self->model = model != NULL ? vn_model_ref (model) : NULL;
  for (guint i = 0; model != NULL && i < model->graph->nodes->len; i++)
    g_ptr_array_add (items, vn_node_item_new (g_ptr_array_index (model->graph->nodes, i)));

  document_drop_result (&self->result);
  g_clear_pointer (&self->result_recipe, vn_recipe_free);
  document_drop_result (&self->past);
  g_ptr_array_set_size (self->effects, 0);
  g_clear_object (&self->improved);
  g_clear_pointer (&self->curve, vn_curve_unref);
  gtk_bitset_remove_all (self->selection);
  g_clear_pointer (&self->tensor, g_free);
  g_clear_pointer (&self->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_clear_pointer (&self->digest, g_free);
  self->input_shapes = vn_open_inputs_list (model);
  self->result_fits = FALSE;
  self->data_serial++;
  vn_document_watch_files (self);
  g_list_store_splice (self->nodes, 0, g_list_model_get_n_items (G_LIST_MODEL (self->nodes)),
                       items->pdata, items->len);
  document_emit (self, VN_SIGNAL_MODEL);
  document_emit (self, VN_SIGNAL_DATA);
  document_emit (self, VN_SIGNAL_RECIPE);
  document_emit (self, VN_SIGNAL_RESULT);
  document_emit (self, VN_SIGNAL_EXPECTED);
  document_emit (self, VN_SIGNAL_SELECTION);
  document_emit (self, VN_SIGNAL_RUNS);
  vn_drop_large (old, (GDestroyNotify) vn_model_unref);
}

/**
 * vn_document_set_model:
 * @model: (nullable): an opened model
 *
 * Shows @model. Result, runs, rules, history and selection of the model before it are dropped, its samples are kept
 * if they are to be chosen freely.
 */
void
vn_document_set_model (VnDocument *self,
                       VnModel    *model)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  vn_document_leave_project (self);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_ptr_array_set_size (self->runs, 0);
  vn_history_clear (self->history);
  g_ptr_array_set_size (self->recipe->overrides, 0);
  vn_document_renew_model (self, model);
  self->kept_changes = self->changes;   /* nothing was done yet */
}

GPtrArray *
vn_document_get_runs (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->runs;
}

/**
 * vn_document_set_runs:
 * @runs: (element-type VnProjectRun): those of a project that is about the model
 *
 * Takes them for those of the document; later ones come behind them.
 */
void
vn_document_set_runs (VnDocument *self,
                      GPtrArray  *runs)
{
  g_autoptr(GPtrArray) copy = NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail (runs != NULL);

  copy = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_project_run_unref);
  for (guint i = 0; i < runs->len; i++)
    g_ptr_array_add (copy, vn_project_run_ref (g_ptr_array_index (runs, i)));
  g_ptr_array_unref (self->runs);
  self->runs = g_steal_pointer (&copy);
  document_emit (self, VN_SIGNAL_RUNS);
}

/**
 * vn_document_dup_title:
 *
 * Returns: (transfer full): the file's name, or the program's when nothing is open
 */
char *
vn_document_dup_title (VnDocument *self)
{
  g_autofree char *base = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  if (self->model == NULL)
    return g_strdup (_("Vernier"));
  if (self->model->path == NULL)
    return g_strdup (self->model->graph->name != NULL && *self->model->graph->name != 0
                     ? self->model->graph->name : _("Unnamed Model"));
  base = g_path_get_basename (self->model->path);
  return g_filename_display_name (base);
}

/**
 * vn_document_dup_file_name:
 * @ending: what follows the model's name: "-quantized.onnx"
 *
 * Returns: (transfer full): a name for a file that is made of the model: "detector-quantized.onnx"
 */
char *
vn_document_dup_file_name (VnDocument *self,
                           const char *ending)
{
  g_autofree char *title = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  title = vn_document_dup_title (self);
  if (g_str_has_suffix (title, ".onnx"))
    title[strlen (title) - strlen (".onnx")] = '\0';
  return g_strconcat (title, ending, NULL);
}

GListModel *
vn_document_get_nodes (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return G_LIST_MODEL (self->nodes);
}

/**
 * vn_document_get_result:
 *
 * Returns: (transfer none) (nullable): what is to be shown: of the last whole run, or what the present recipe is expected to make of it,
 *   or what a run found that was brought back
 */
VnResult *
vn_document_get_result (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  if (self->expected != NULL)
    return self->expected;
  return self->past != NULL ? self->past : self->result;
}

/* Lists have the scale that the metric has in all networks: for one that has none they stay with the ratio until it is known. */
static VnMetric
document_get_list_metric (VnDocument *self)
{
  VnMetric metric = vn_document_get_metric (self);

  return vn_metric_get_info (metric)->scale != VN_SCALE_SIZE || self->has_handles[metric] ? metric : VN_METRIC_SQNR;
}

/* Everything the lists show about a node that is not in the model. */
void
vn_document_update_nodes (VnDocument *self)
{
  guint n = g_list_model_get_n_items (G_LIST_MODEL (self->nodes));
  g_autofree int *deciding = self->model != NULL ? vn_recipe_find_rules_of_nodes (self->recipe, self->model->graph) : NULL;
  VnMetric metric = document_get_list_metric (self);
  VnResult *result = vn_document_get_result (self);
  g_autoptr(GHashTable) local = vn_local_errors_new (result);
  VnHeatHandles handles = vn_heat_handles_for_run (VN_METRIC_CONTRIBUTION, result != NULL ? result->errors : NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (G_LIST_MODEL (self->nodes), i);

      vn_node_item_update (item, result, self->recipe, deciding[item->index], metric, handles);
      vn_node_item_set_local (item, local);
      if (self->has_handles[metric])
        vn_node_item_set_handles (item, self->handles[metric]);
    }
}

static void
document_result_changed (VnDocument *self,
                         VnMetric    metric)
{
  vn_document_update_nodes (self);
  document_emit (self, VN_SIGNAL_RESULT);
  if (vn_document_get_metric (self) != metric)
    document_emit (self, VN_SIGNAL_METRIC);
}

/* Of a whole run: nothing has to be expected of it any more. */
void
vn_document_set_result (VnDocument *self,
                        VnResult   *result)
{
  VnResult *old = self->result, *expected = g_steal_pointer (&self->expected), *past = g_steal_pointer (&self->past);
  VnMetric metric = vn_document_get_metric (self);

  vn_document_stop_expecting (self);
  vn_document_foresee (self, NULL);
  self->result = result != NULL ? vn_document_dup_named (self, result) : NULL;
  if (result != NULL && self->result_fits)
    vn_document_remember (self, self->result);
  document_result_changed (self, metric);
  document_emit (self, VN_SIGNAL_EXPECTED);
  document_drop_result (&old);
  document_drop_result (&expected);
  document_drop_result (&past);
}

/* Until a whole run tells. */
void
vn_document_show_expected (VnDocument *self,
                           VnResult   *expected)
{
  VnResult *old = self->expected;
  VnMetric metric = vn_document_get_metric (self);

  if (self->expected == expected)
    return;
  self->expected = expected != NULL ? vn_document_dup_named (self, expected) : NULL;
  document_result_changed (self, metric);
  document_drop_result (&old);
}

/**
 * vn_document_show_past:
 * @past: what a run found that the project keeps
 *
 * Shows that until there is a whole run.
 */
void
vn_document_show_past (VnDocument *self,
                       VnResult   *past)
{
  VnResult *old, *expected;
  VnMetric metric;

  g_return_if_fail (VN_IS_DOCUMENT (self) && past != NULL);

  metric = vn_document_get_metric (self);
  vn_document_stop_expecting (self);
  old = self->past;
  expected = g_steal_pointer (&self->expected);
  self->past = vn_document_dup_named (self, past);
  self->past_serial = self->data_serial;
  document_result_changed (self, metric);
  document_emit (self, VN_SIGNAL_EXPECTED);
  document_drop_result (&old);
  document_drop_result (&expected);
  vn_document_verify_usually (self);
}

static VnNotes *
document_get_result_notes (VnDocument *self)
{
  if (self->past != NULL)
    return self->past->notes;
  return self->result != NULL ? self->result->notes : NULL;
}

static guint
document_count_notes (VnNotes *notes)
{
  return notes != NULL ? vn_notes_get_n (notes) : 0;
}

/**
 * vn_document_get_n_notes:
 *
 * Returns: how many findings there are: those of the reader, then those of the last run
 */
guint
vn_document_get_n_notes (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), 0);

  return (self->model != NULL ? document_count_notes (self->model->notes) : 0) +
         document_count_notes (document_get_result_notes (self));
}

const VnNote *
vn_document_get_note (VnDocument *self,
                      guint       i)
{
  guint n_reader;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  n_reader = self->model != NULL ? document_count_notes (self->model->notes) : 0;
  if (i < n_reader)
    return vn_notes_get (self->model->notes, i);
  return vn_notes_get (document_get_result_notes (self), i - n_reader);
}

/**
 * vn_document_count_problems:
 *
 * Returns: findings that are warnings or worse
 */
guint
vn_document_count_problems (VnDocument *self)
{
  guint n;
  guint problems = 0;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), 0);

  n = vn_document_get_n_notes (self);
  for (guint i = 0; i < n; i++)
    problems += vn_document_get_note (self, i)->level != VN_NOTE_INFO;
  return problems;
}

const VnDataSpec *
vn_document_get_data (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->data;
}

/* Nothing that was measured is about the present samples. */
void
vn_document_data_changed (VnDocument *self)
{
  gboolean expected = self->expected != NULL;

  self->result_fits = FALSE;
  self->data_serial++;
  g_clear_pointer (&self->curve, vn_curve_unref);
  vn_document_forget_expected (self);
  if (expected)
    document_result_changed (self, vn_document_get_metric (self));
  document_emit (self, VN_SIGNAL_EXPECTED);
  document_emit (self, VN_SIGNAL_DATA);
}

/**
 * vn_document_set_data:
 * @data: (nullable): where the samples are and how they are read; copied
 *
 * The next run calibrates anew.
 */
void
vn_document_set_data (VnDocument       *self,
                      const VnDataSpec *data)
{
  VnDataSpec *copy = data != NULL ? vn_data_spec_copy (data) : NULL;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  self->data = copy;
  vn_document_data_changed (self);
}

guint
vn_document_get_n_samples (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), 0);

  return self->n_samples;
}

/**
 * vn_document_set_n_samples:
 * @n: samples to use; 0: all
 */
void
vn_document_set_n_samples (VnDocument *self,
                           guint       n)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));

  if (self->n_samples == n)
    return;
  self->n_samples = n;
  vn_document_data_changed (self);
}

/**
 * vn_document_get_metric:
 *
 * Returns: what the user has chosen; before that where error starts, as soon as that was measured, until then the signal to
 *   noise ratio
 */
VnMetric
vn_document_get_metric (VnDocument *self)
{
  VnResult *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), VN_METRIC_SQNR);

  if (self->metric_chosen)
    return self->metric;
  result = vn_document_get_result (self);
  return result != NULL && result->errors != NULL ? vn_error_table_get_weakest_metric (result->errors) : VN_METRIC_SQNR;
}

/**
 * vn_document_set_metric:
 *
 * Has graph and lists go by @metric from now on, whatever is measured.
 */
void
vn_document_set_metric (VnDocument *self,
                        VnMetric    metric)
{
  gboolean same;

  g_return_if_fail (VN_IS_DOCUMENT (self));

  same = vn_document_get_metric (self) == metric;
  self->metric = metric;
  self->metric_chosen = TRUE;
  if (same)
    return;
  vn_document_update_nodes (self);
  document_emit (self, VN_SIGNAL_METRIC);
}

/**
 * vn_document_set_handles:
 * @handles: where the user has put “fine” and “bad” of @metric
 *
 * Lists count nodes by the same handles as the legend does.
 */
void
vn_document_set_handles (VnDocument    *self,
                         VnMetric       metric,
                         VnHeatHandles  handles)
{
  g_return_if_fail (VN_IS_DOCUMENT (self));
  g_return_if_fail ((guint) metric < VN_N_METRICS);

  if (self->has_handles[metric] && self->handles[metric].fine == handles.fine && self->handles[metric].bad == handles.bad)
    return;
  self->handles[metric] = handles;
  self->has_handles[metric] = TRUE;
  vn_document_update_nodes (self);
  document_emit (self, VN_SIGNAL_METRIC);
}
