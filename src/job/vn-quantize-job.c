/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The main job: prepare, calibrate, resolve, write, compare. */
#include "vn-calibration-private.h"

#include "vn-bias-correct.h"
#include "vn-data-check.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-onnx.h"

struct _VnQuantizeJob
{
  VnJob              parent_instance;
  VnQuantizeSettings settings;      /* owns what it points to */
  VnResult          *result;

  VnDataset         *dataset;
  GHashTable        *shapes;        /* nullable: those of the settings, or of the first sample */
  GArray            *calibration, *held_out;   /* of guint */
  gboolean           apart;         /* they have none in common */
  VnStatsOrigin     *origin;        /* nullable */
  VnStats           *stats;         /* nullable: from files */
};

G_DEFINE_FINAL_TYPE (VnQuantizeJob, vn_quantize_job, VN_TYPE_JOB)

static double
seconds_since (gint64 start)
{
  return (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;
}

/* To measure the error on: of those held out as ever, or else of all, the samples that @stats have not seen. */
static gboolean
hold_out_unseen (VnQuantizeJob *self,
                 VnStats       *stats,
                 GArray        *candidates)
{
  g_autoptr(GArray) unseen = g_array_new (FALSE, FALSE, sizeof (guint));
  guint n_held = self->settings.n_held_out;

  for (guint i = 0; i < candidates->len && (n_held == 0 || unseen->len < n_held); i++)
    {
      guint sample = g_array_index (candidates, guint, i);

      if (!vn_stats_has_sample (stats, G_MAXUINT, vn_dataset_get_name (self->dataset, sample)))
        g_array_append_val (unseen, sample);
    }
  if (unseen->len == 0)
    return FALSE;
  g_array_unref (self->held_out);
  self->held_out = g_steal_pointer (&unseen);
  return TRUE;
}

#define MOST_HELD_OUT 20

static guint
usual_n_held_out (guint n)
{
  return n < 5 ? 0 : MIN (n / 5, MOST_HELD_OUT);
}

static gboolean
open_data (VnQuantizeJob  *self,
           VnResult       *result,
           GError        **error)
{
  guint n;

  if (self->settings.data == NULL)
    {
      self->shapes = self->settings.input_shapes != NULL ? g_hash_table_ref (self->settings.input_shapes) : NULL;
      return TRUE;
    }
  self->dataset = vn_model_open_data (result->prepared, self->settings.data, self->settings.input_shapes, &self->shapes,
                                      result->notes, error);
  if (self->dataset == NULL)
    return FALSE;
  n = vn_dataset_get_n (self->dataset);
  if (self->settings.n_held_out == VN_HOLD_OUT_USUAL)
    self->settings.n_held_out = usual_n_held_out (n);
  self->apart = vn_job_split_samples (n, self->settings.n_held_out, self->settings.n_calibration, &self->calibration,
                                      &self->held_out);
  return TRUE;
}

static gboolean
check_data (VnQuantizeJob  *self,
            VnResult       *result,
            GCancellable   *cancellable,
            GError        **error)
{
  VnStats *stats = self->stats;
  gboolean apart = self->apart;
  guint n;

  if (self->dataset == NULL)
    return TRUE;
  n = vn_dataset_get_n (self->dataset);
  if (stats != NULL)
    apart = hold_out_unseen (self, stats, self->held_out) || hold_out_unseen (self, stats, self->calibration);
  /* The same samples serve for both, and the reader of the figures has to know. */
  if (!apart && self->settings.n_held_out > 0 && !self->settings.skip_compare && stats != NULL)
    vn_notes_add (result->notes, VN_NOTE_WARNING, "no-held-out", NULL,
                  _("All %u samples are in the statistics: the error is measured on samples used for calibration"), n);
  else if (!apart && self->settings.n_held_out > 0 && !self->settings.skip_compare)
    vn_notes_add (result->notes, VN_NOTE_WARNING, "no-held-out", NULL,
                  _("Only %u samples: the error is measured on the samples used for calibration"), n);
  result->n_calibration = self->calibration->len;
  result->n_held_out = self->held_out->len;
  return g_str_equal (self->settings.data->path, "random") ||
         vn_data_check (result->source, result->prepared, self->shapes, self->dataset,
                        self->stats == NULL && vn_recipe_needs_samples (self->settings.recipe), result->notes, cancellable, error);
}

static gboolean
load_stats (VnQuantizeJob  *self,
            VnResult       *result,
            GError        **error)
{
  if (self->settings.stats != NULL || self->settings.save_stats != NULL)
    self->origin = vn_job_make_origin (result->source, result->prepared, self->settings.data);
  if (self->settings.stats == NULL)
    return TRUE;
  self->stats = vn_job_load_stats (self->settings.stats, self->origin, result->notes, error);
  return self->stats != NULL;
}

static gboolean
prepare (VnQuantizeJob  *self,
         VnResult       *result,
         GCancellable   *cancellable,
         GError        **error)
{
  gint64 start = g_get_monotonic_time ();
  VnChannelRun run = { .n_threads = self->settings.n_threads, .notes = result->notes };

  vn_job_begin_phase (VN_JOB (self), _("Preparing"), 0, 0.05);
  result->edits = vn_edit_log_new ();
  result->prepared = vn_job_prepare (result->source, self->settings.recipe, self->settings.input_shapes, result->edits,
                                     result->notes, cancellable, error);
  if (result->prepared == NULL || !open_data (self, result, error))
    return FALSE;
  run.shapes = self->shapes;
  run.dataset = self->dataset;
  if (!vn_job_equalize (VN_JOB (self), self->settings.recipe, result->prepared, &run, self->calibration, result->edits,
                        cancellable, error) ||
      !load_stats (self, result, error))
    return FALSE;
  result->prepare_seconds = seconds_since (start);
  return check_data (self, result, cancellable, error);
}

/* The first value that @stats lack, of those that can be known. */
static const char *
find_missing (const VnModel *prepared,
              VnStats       *stats,
              GPtrArray     *taps)
{
  g_autofree gboolean *lost = vn_graph_find_lost (prepared->graph);

  for (guint i = 0; i < taps->len; i++)
    {
      const VnValue *value = g_ptr_array_index (taps, i);

      if (!lost[value->id] && vn_stats_get (stats, value->name) == NULL)
        return value->name;
    }
  return NULL;
}

static void
take_stats (VnResult *result,
            VnStats  *stats)
{
  vn_graph_note_unsupported (result->prepared->graph, result->notes);
  result->stats = vn_stats_ref (stats);
  result->n_calibration = vn_stats_get_n_samples (stats);
}

/* Statistics from files must hold every value: there may be no samples to make them anew. */
static gboolean
use_loaded (VnQuantizeJob  *self,
            VnResult       *result,
            GPtrArray      *taps,
            GError        **error)
{
  const char *missing = find_missing (result->prepared, self->stats, taps);

  if (missing != NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("The statistics say nothing of “%s”: the network was prepared otherwise for them, perhaps to another "
                     "opset; calibrate with the options that are given here"), missing);
      return FALSE;
    }
  take_stats (result, self->stats);
  return TRUE;
}

static gboolean
run_samples (VnQuantizeJob  *self,
             VnResult       *result,
             GPtrArray      *taps,
             GCancellable   *cancellable,
             GError        **error)
{
  VnCalibration calibration = { .prepared = result->prepared, .shapes = self->shapes, .taps = taps,
                                .dataset = self->dataset, .samples = self->calibration, .origin = self->origin,
                                .n_threads = self->settings.n_threads, .keep = self->settings.save_stats,
                                .keep_seconds = self->settings.keep_seconds,
                                .base = self->settings.base };
  gint64 start = g_get_monotonic_time ();

  result->stats = vn_job_calibrate (VN_JOB (self), &calibration, result->notes, cancellable, error);
  result->calibrate_seconds = seconds_since (start);
  if (result->stats == NULL)
    return FALSE;
  result->n_calibration = vn_stats_get_n_samples (result->stats);
  if (self->settings.save_stats == NULL)
    return TRUE;
  return vn_stats_save (result->stats, self->settings.save_stats, error) &&
         vn_calibrate_clear_parts (self->settings.save_stats, error);
}

/* Whether values of the same name hold the same numbers in what both recipes prepare. */
static gboolean
prepare_alike (const VnRecipe *a,
               const VnRecipe *b)
{
  if (a->simulate_npu != b->simulate_npu || a->clip6_to_relu != b->clip6_to_relu || a->equalize != b->equalize)
    return FALSE;
  return a->equalize == VN_BALANCE_OFF ||
         (a->equalize_steps == b->equalize_steps && a->equalize_threshold == b->equalize_threshold &&
          a->equalize_append_bias == b->equalize_append_bias && a->equalize_difference == b->equalize_difference &&
          a->equalize_level == b->equalize_level && a->equalize_activations == b->equalize_activations &&
          a->correction_samples == b->correction_samples);
}

/* Statistics of an earlier run serve again if they hold every value this recipe needs. */
static gboolean
calibrate (VnQuantizeJob  *self,
           VnResult       *result,
           GCancellable   *cancellable,
           GError        **error)
{
  g_autoptr(GPtrArray) taps = vn_quantize_list_values (result->prepared, self->settings.recipe);
  const VnResult *previous = self->settings.previous;
  VnStats *earlier = previous != NULL && prepare_alike (previous->recipe, self->settings.recipe) ? previous->stats : NULL;

  vn_job_begin_phase (VN_JOB (self), _("Calibrating"), 0.05, self->settings.skip_compare ? 0.95 : 0.6);
  if (!vn_recipe_uses_samples (self->settings.recipe))
    {
      result->stats = vn_stats_new_empty ();
      result->n_calibration = 0;
      return TRUE;
    }
  if (self->stats != NULL)
    return use_loaded (self, result, taps, error);
  if (self->dataset == NULL)   /* all ranges are given, or none is needed, or resolving names the first that is missing */
    {
      g_autoptr(VnStats) nothing = vn_stats_new_empty ();

      take_stats (result, nothing);
      return TRUE;
    }
  if (earlier == NULL || find_missing (result->prepared, earlier, taps) != NULL)
    return run_samples (self, result, taps, cancellable, error);
  take_stats (result, earlier);
  return TRUE;
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

/* By XSlim's rule all layers of a block are measured at once, and each takes what those before it have shifted for its own
 * error: rounds that follow take that back, a layer at a time. */
#define XSLIM_ROUNDS 3

/* Errors are measured in floats: operators on integers are written as pairs for that. */
static GPtrArray *
measure_biases (VnQuantizeJob       *self,
                VnResult            *result,
                const VnModel       *corrected,
                const VnChannelRun  *run,
                GCancellable        *cancellable,
                GError             **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->settings.recipe);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GHashTable) value_names = NULL;
  g_autoptr(VnModel) model = NULL;
  VnBiasQuantized quantized;

  if (recipe->format == VN_FORMAT_QOPERATOR || recipe->format == VN_FORMAT_INTEGER)
    recipe->format = VN_FORMAT_QDQ;
  plan = vn_quantize_resolve (corrected, recipe, result->stats, NULL, error);
  model = plan != NULL ? vn_quantize_write (corrected, recipe, plan, &value_names, error) : NULL;
  quantized = (VnBiasQuantized) { model, value_names, plan };
  return model != NULL ? vn_bias_measure (result->prepared, &quantized, recipe->bias_correction, run, cancellable, error) : NULL;
}

static VnModel *
correct_in_rounds (VnQuantizeJob       *self,
                   VnResult            *result,
                   const VnChannelRun  *run,
                   GCancellable        *cancellable,
                   GError             **error)
{
  VnBiasCorrection rule = self->settings.recipe->bias_correction;
  guint n = rule == VN_BIAS_CORRECTION_XSLIM ? XSLIM_ROUNDS : 1;
  g_autoptr(VnModel) corrected = vn_model_ref (result->prepared);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(GPtrArray) errors = measure_biases (self, result, corrected, run, cancellable, error);
      VnModel *next = errors != NULL ? vn_bias_correct (corrected, errors, rule, i == 0 ? result->edits : NULL, error) : NULL;

      if (next == NULL)
        return NULL;
      vn_model_unref (corrected);
      corrected = next;
    }
  return g_steal_pointer (&corrected);
}

/* (transfer full): the float network with corrected biases */
static VnModel *
correct_biases (VnQuantizeJob  *self,
                VnResult       *result,
                GCancellable   *cancellable,
                GError        **error)
{
  const VnRecipe *recipe = self->settings.recipe;
  VnProgress progress = vn_job_get_reporter (VN_JOB (self));
  g_autoptr(GArray) samples = NULL;
  VnChannelRun run = { .shapes = self->shapes, .dataset = self->dataset, .n_threads = self->settings.n_threads,
                       .title = _("Correcting biases"), .progress = &progress, .notes = result->notes };

  if (recipe->bias_correction == VN_BIAS_CORRECTION_OFF)
    return vn_model_ref (result->prepared);
  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Biases are to be corrected, which takes samples: give --data, or turn bias-correction off"));
      return NULL;
    }
  vn_job_begin_phase (VN_JOB (self), _("Correcting biases"), 0.6, 0.7);
  samples = vn_job_take_samples (self->calibration, recipe->correction_samples);
  run.samples = (const guint *) (gpointer) samples->data;
  run.n_samples = samples->len;
  return correct_in_rounds (self, result, &run, cancellable, error);
}

/* What is compared with is the float network as it was before its biases were corrected. */
static gboolean
write_quantized (VnQuantizeJob  *self,
                 VnResult       *result,
                 GCancellable   *cancellable,
                 GError        **error)
{
  const VnRecipe *recipe = self->settings.recipe;
  gint64 start = g_get_monotonic_time ();
  g_autoptr(VnModel) corrected = correct_biases (self, result, cancellable, error);

  if (corrected == NULL)
    return FALSE;
  vn_job_begin_phase (VN_JOB (self), _("Quantizing"), 0.7, 0.72);
  result->plan = vn_quantize_resolve (corrected, recipe, result->stats, result->notes, error);
  if (result->plan == NULL)
    return FALSE;
  result->quantized = vn_quantize_write (corrected, recipe, result->plan, &result->value_names, error);
  if (result->quantized == NULL || !vn_model_infer_types (result->quantized, self->settings.input_shapes, NULL, error))
    return FALSE;
  result->float_bytes = result->source->file_size;
  result->quantized_bytes = encoded_size (result->quantized, error);
  result->quantize_seconds = seconds_since (start);
  return result->quantized_bytes > 0;
}

/* What is run to measure the error: the result, or, as samples are float32, the same network with casts around it. */
static VnModel *
make_measurable (VnQuantizeJob  *self,
                 VnResult       *result,
                 GHashTable    **names,
                 GError        **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->settings.recipe);
  g_autoptr(VnModel) model = NULL;

  if (recipe->format != VN_FORMAT_FP16 || recipe->float_io)
    {
      *names = g_hash_table_ref (result->value_names);
      return vn_model_ref (result->quantized);
    }
  recipe->float_io = TRUE;
  model = vn_quantize_write (result->prepared, recipe, result->plan, names, error);
  return model != NULL && vn_model_infer_types (model, self->settings.input_shapes, NULL, error) ? g_steal_pointer (&model)
                                                                                                 : NULL;
}

static gboolean
compare (VnQuantizeJob  *self,
         VnResult       *result,
         GCancellable   *cancellable,
         GError        **error)
{
  g_autoptr(GHashTable) names = NULL;
  g_autoptr(VnModel) quantized = make_measurable (self, result, &names, error);
  VnCompareOptions options = { .value_names = names,
                               .plan = result->plan,
                               .samples = (const guint *) (gpointer) self->held_out->data,
                               .n_samples = self->held_out->len,
                               .n_threads = self->settings.n_threads };
  VnProgress progress = vn_job_get_reporter (VN_JOB (self));
  gint64 start = g_get_monotonic_time ();

  if (quantized == NULL)
    return FALSE;
  vn_job_begin_phase (VN_JOB (self), _("Measuring error"), 0.72, 0.97);
  result->errors = vn_compare (result->prepared, quantized, self->shapes, self->dataset, &options, &progress,
                               result->notes, cancellable, error);
  if (result->errors == NULL ||
      !vn_evaluate_top1 (result->prepared, quantized, self->shapes, self->dataset, &options,
                         &result->accuracy, cancellable, error))
    return FALSE;
  result->compare_seconds = seconds_since (start);
  return TRUE;
}

static gboolean
can_compare (VnQuantizeJob *self)
{
  return self->dataset != NULL && !self->settings.skip_compare;
}

/* Random values have no size of their own: what the network leaves open was taken as 1, with which many networks cannot run. */
static void
explain_open_sizes (VnQuantizeJob  *self,
                    GError        **error)
{
  const VnGraph *graph = self->settings.model->graph;

  if (self->settings.data == NULL || !g_str_equal (self->settings.data->path, "random") || self->settings.input_shapes != NULL)
    return;
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);
      const VnShape *shape = &input->type.shape;

      for (int d = 1; d < shape->rank && input->initializer == NULL; d++)
        if (shape->dims[d] < 0)
          {
            g_prefix_error (error, _("Input “%s” leaves sizes open, which random values take as 1; give them with --shape or --dim. "),
                            input->name);
            return;
          }
    }
}

static gboolean
vn_quantize_job_run (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnQuantizeJob *self = VN_QUANTIZE_JOB (job);
  g_autoptr(VnResult) result = vn_result_new ();

  if (!vn_recipe_validate (self->settings.recipe, error) || !vn_job_check_is_float (self->settings.model, error))
    return FALSE;
  result->notes = vn_notes_new ();
  result->source = vn_model_ref (self->settings.model);
  result->data = self->settings.data != NULL ? vn_data_spec_copy (self->settings.data) : NULL;
  result->recipe = vn_recipe_copy (self->settings.recipe);
  if (!prepare (self, result, cancellable, error) ||
      !calibrate (self, result, cancellable, error) ||
      !write_quantized (self, result, cancellable, error) ||
      (can_compare (self) && !compare (self, result, cancellable, error)))
    {
      if (!g_cancellable_is_cancelled (cancellable))
        explain_open_sizes (self, error);
      return FALSE;
    }
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
  g_clear_pointer (&self->origin, vn_stats_origin_free);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_strfreev ((char **) self->settings.stats);
  g_free ((char *) self->settings.save_stats);
  g_clear_pointer (&self->settings.base, vn_stats_unref);
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
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.recipe = vn_recipe_copy (settings->recipe);
  if (settings->input_shapes != NULL)
    g_hash_table_ref (settings->input_shapes);
  if (settings->previous != NULL)
    vn_result_ref (settings->previous);
  self->settings.stats = (const char * const *) g_strdupv ((char **) settings->stats);
  self->settings.save_stats = g_strdup (settings->save_stats);
  if (settings->base != NULL)
    vn_stats_ref (settings->base);
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

/**
 * vn_quantize_job_get_shapes:
 *
 * Returns: (transfer none) (nullable) (element-type utf8 VnShape): the sizes of the inputs that the job ran with, once it
 *   has succeeded; %NULL: all are fixed by the model
 */
GHashTable *
vn_quantize_job_get_shapes (VnQuantizeJob *self)
{
  return self->shapes;
}
