/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The main job: prepare, calibrate, resolve, write, compare. */
#include "vn-jobs.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-pass.h"

struct _VnQuantizeJob
{
  VnJob              parent_instance;
  VnQuantizeSettings settings;      /* owns what it points to */
  VnResult          *result;

  VnDataset         *dataset;
  GHashTable        *shapes;        /* nullable: those of the settings, or of the first sample */
  GArray            *calibration, *held_out;   /* of guint */
};

G_DEFINE_FINAL_TYPE (VnQuantizeJob, vn_quantize_job, VN_TYPE_JOB)

static double
seconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

/* As spread evenly over the samples that are left as the held-out ones were. */
static void
thin_out (GArray *indices,
          guint   n)
{
  guint *items = (guint *) (gpointer) indices->data;

  if (n == 0 || n >= indices->len)
    return;
  for (guint i = 0; i < n; i++)
    items[i] = items[(guint64) i * indices->len / n];
  g_array_set_size (indices, n);
}

static gboolean
open_data (VnQuantizeJob  *self,
           VnResult       *result,
           GError        **error)
{
  guint n, n_held = self->settings.n_held_out;

  self->dataset = vn_model_open_data (result->prepared, self->settings.data, self->settings.input_shapes, &self->shapes,
                                      result->notes, error);
  if (self->dataset == NULL)
    return FALSE;
  n = vn_dataset_get_n (self->dataset);
  if (n < 2 * MAX (n_held, 1) || n_held == 0)
    {
      /* Too few to hold any out: the same samples serve for both, and the reader of the figures has to know. */
      vn_dataset_split (n, 0, &self->calibration, &self->held_out);
      g_array_unref (self->held_out);
      self->held_out = g_array_copy (self->calibration);
      if (n_held > 0 && !self->settings.skip_compare)
        vn_notes_add (result->notes, VN_NOTE_WARNING, "no-held-out", NULL,
                      _("Only %u samples: the error is measured on the samples used for calibration"), n);
    }
  else
    vn_dataset_split (n, n_held, &self->calibration, &self->held_out);
  thin_out (self->calibration, self->settings.n_calibration);
  if (n_held > 0)
    thin_out (self->held_out, n_held);
  result->n_calibration = self->calibration->len;
  result->n_held_out = self->held_out->len;
  return TRUE;
}

/* Nodes without a name get what lists and rules call them, before preparation moves them to other places. */
static VnModel *
name_nodes (const VnModel *source)
{
  VnModel *named = vn_model_copy (source);

  for (guint i = 0; i < named->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (named->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);

      if (*node->name == '\0')
        {
          g_free (node->name);
          node->name = g_steal_pointer (&label);
        }
    }
  return named;
}

static gboolean
prepare (VnQuantizeJob  *self,
         VnResult       *result,
         GCancellable   *cancellable,
         GError        **error)
{
  const VnRecipe *recipe = self->settings.recipe;
  gint64 opset = vn_quantize_get_opset (result->source, recipe);
  gint64 start = g_get_monotonic_time ();
  g_autoptr(VnModel) named = name_nodes (result->source);

  vn_job_begin_phase (VN_JOB (self), _("Preparing"), 0, 0.05);
  result->edits = vn_edit_log_new ();
  result->prepared = vn_prepare_model (named, opset, self->settings.input_shapes, result->edits, result->notes,
                                       cancellable, error);
  result->prepare_seconds = seconds_since (start);
  return result->prepared != NULL && open_data (self, result, error);
}

/* Statistics of an earlier run serve again if they hold every value this recipe needs. */
static gboolean
reuse_stats (VnQuantizeJob *self,
             VnResult      *result,
             GPtrArray     *taps)
{
  VnStats *stats = self->settings.previous != NULL ? self->settings.previous->stats : NULL;
  g_autofree gboolean *lost = NULL;

  if (stats == NULL)
    return FALSE;
  lost = vn_graph_find_lost (result->prepared->graph);
  for (guint i = 0; i < taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (taps, i);

      if (!lost[value->id] && vn_stats_get (stats, value->name) == NULL)
        return FALSE;
    }
  vn_graph_note_unsupported (result->prepared->graph, result->notes);
  result->stats = vn_stats_ref (stats);
  result->n_calibration = vn_stats_get_n_samples (stats);
  return TRUE;
}

static gboolean
calibrate (VnQuantizeJob  *self,
           VnResult       *result,
           GCancellable   *cancellable,
           GError        **error)
{
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (result->prepared, self->settings.recipe);
  VnPlanOptions plan_options = { .input_shapes = self->shapes, .taps = taps, .skip_unsupported = TRUE };
  VnCalibrateOptions options = { (const guint *) (gpointer) self->calibration->data, self->calibration->len,
                                 self->settings.n_threads };
  VnProgress progress = vn_job_get_reporter (VN_JOB (self));
  g_autoptr(VnPlan) plan = NULL;
  gint64 start = g_get_monotonic_time ();

  vn_job_begin_phase (VN_JOB (self), _("Calibrating"), 0.05, self->settings.skip_compare ? 0.95 : 0.6);
  if (reuse_stats (self, result, taps))
    return TRUE;
  plan = vn_plan_new (result->prepared, &plan_options, result->notes, error);
  if (plan == NULL)
    return FALSE;
  result->stats = vn_calibrate (plan, taps, self->dataset, &options, &progress, result->notes, cancellable, error);
  result->calibrate_seconds = seconds_since (start);
  if (result->stats != NULL)
    result->n_calibration = vn_stats_get_n_samples (result->stats);
  return result->stats != NULL;
}

static gsize
encoded_size (const VnModel  *model,
              GError        **error)
{
  g_autoptr(GBytes) bytes = NULL;

  if (vn_graph_weight_bytes (model->graph) > ((gsize) 1 << 30))
    return vn_graph_weight_bytes (model->graph);
  bytes = vn_onnx_write_bytes (model, error);
  return bytes != NULL ? g_bytes_get_size (bytes) : 0;
}

static gboolean
write_quantized (VnQuantizeJob  *self,
                 VnResult       *result,
                 GError        **error)
{
  const VnRecipe *recipe = self->settings.recipe;
  gint64 start = g_get_monotonic_time ();

  vn_job_begin_phase (VN_JOB (self), _("Quantizing"), 0.6, 0.65);
  result->plan = vn_quantize_resolve (result->prepared, recipe, result->stats, result->notes, error);
  if (result->plan == NULL)
    return FALSE;
  result->quantized = vn_quantize_write (result->prepared, recipe, result->plan, &result->value_names, error);
  if (result->quantized == NULL || !vn_model_infer_types (result->quantized, self->settings.input_shapes, NULL, error))
    return FALSE;
  result->float_bytes = result->source->file_size;
  result->quantized_bytes = encoded_size (result->quantized, error);
  result->quantize_seconds = seconds_since (start);
  return result->quantized_bytes > 0;
}

static gboolean
compare (VnQuantizeJob  *self,
         VnResult       *result,
         GCancellable   *cancellable,
         GError        **error)
{
  VnCompareOptions options = { .value_names = result->value_names,
                               .samples = (const guint *) (gpointer) self->held_out->data,
                               .n_samples = self->held_out->len,
                               .n_threads = self->settings.n_threads };
  VnProgress progress = vn_job_get_reporter (VN_JOB (self));
  gint64 start = g_get_monotonic_time ();

  vn_job_begin_phase (VN_JOB (self), _("Measuring error"), 0.65, 0.97);
  result->errors = vn_compare (result->prepared, result->quantized, self->shapes, self->dataset, &options, &progress,
                               result->notes, cancellable, error);
  if (result->errors == NULL ||
      !vn_evaluate_top1 (result->prepared, result->quantized, self->shapes, self->dataset, &options,
                         &result->accuracy, cancellable, error))
    return FALSE;
  result->compare_seconds = seconds_since (start);
  return TRUE;
}

/* A network that computes in integers would be quantized a second time, on top of its own errors. */
static gboolean
check_is_float (const VnModel  *model,
                GError        **error)
{
  guint n = vn_quantize_count_quantized (model);

  if (n == 0)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("This network is quantized already: %u of its %u nodes quantize tensors or compute with quantized ones. "
                 "Quantize the float network it was made from; comparing the two shows its error"),
               n, model->graph->nodes->len);
  return FALSE;
}

static gboolean
vn_quantize_job_run (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnQuantizeJob *self = VN_QUANTIZE_JOB (job);
  g_autoptr(VnResult) result = vn_result_new ();

  if (!vn_recipe_validate (self->settings.recipe, error) || !check_is_float (self->settings.model, error))
    return FALSE;
  result->notes = vn_notes_new ();
  result->source = vn_model_ref (self->settings.model);
  result->data = vn_data_spec_copy (self->settings.data);
  result->recipe = vn_recipe_copy (self->settings.recipe);
  if (!prepare (self, result, cancellable, error) ||
      !calibrate (self, result, cancellable, error) ||
      !write_quantized (self, result, error) ||
      (!self->settings.skip_compare && !compare (self, result, cancellable, error)))
    return FALSE;
  vn_notes_sort (result->notes);
  self->result = g_steal_pointer (&result);
  return TRUE;
}

static void
vn_quantize_job_finalize (GObject *object)
{
  VnQuantizeJob *self = VN_QUANTIZE_JOB (object);

  vn_model_unref (self->settings.model);
  vn_data_spec_free ((VnDataSpec *) self->settings.data);
  vn_recipe_free ((VnRecipe *) self->settings.recipe);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->settings.previous, vn_result_unref);
  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->calibration, g_array_unref);
  g_clear_pointer (&self->held_out, g_array_unref);
  G_OBJECT_CLASS (vn_quantize_job_parent_class)->finalize (object);
}

static void
vn_quantize_job_class_init (VnQuantizeJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_quantize_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_quantize_job_run;
}

static void
vn_quantize_job_init (VnQuantizeJob *self)
{
}

/**
 * vn_quantize_job_new:
 * @settings: copied; model, shapes and previous result are referenced
 *
 * Returns: (transfer full): the main job
 */
VnJob *
vn_quantize_job_new (const VnQuantizeSettings *settings)
{
  VnQuantizeJob *self = g_object_new (VN_TYPE_QUANTIZE_JOB, NULL);

  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  self->settings.data = vn_data_spec_copy (settings->data);
  self->settings.recipe = vn_recipe_copy (settings->recipe);
  if (settings->input_shapes != NULL)
    g_hash_table_ref (settings->input_shapes);
  if (settings->previous != NULL)
    vn_result_ref (settings->previous);
  vn_job_set_title (VN_JOB (self), _("Quantizing"));
  return VN_JOB (self);
}

/**
 * vn_quantize_job_get_result:
 *
 * Returns: (transfer none) (nullable): the result, once the job has succeeded
 */
VnResult *
vn_quantize_job_get_result (VnQuantizeJob *self)
{
  return self->result;
}
