/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “verify”: samples are written into a temporary folder, onnxruntime runs them in another process, and what it writes
 * is compared with our own outputs of the same samples. */
#include "vn-verify-job.h"
#include "vn-job-input.h"
#include "verify-folder.h"
#include "verify-encode.h"
#include "verify-process.h"
#include "verify-sums.h"

#include "vn-find-parts.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-sample-loop.h"

#include <math.h>

#define OPTIMIZED "optimized.onnx"   /* in the temporary folder */
#define USUAL_SAMPLES 8
#define USUAL_RUNS 20
#define USUAL_TIMEOUT 300

/* Beside another job nobody waits longer than a moment for it. */
#define FEW_SAMPLES 4
#define FEW_SECONDS 1.0
#define SHORT_TIMEOUT 60
#define LONG_RUN 0.25      /* seconds; of runs that are longer half the samples are run */

typedef struct
{
  VnVerifySettings  settings;      /* owns what it points to */
  VnNotes          *notes;
  VnModel          *model;         /* that is run here */
  VnDataset        *dataset;
  GArray           *samples;       /* of guint: of @dataset; once they are written, those that can be read */
  GHashTable       *shapes;
  VnPlan           *plan;
  VnParts          *parts;         /* nullable: of the outputs */
  char             *folder;
  VnVerification   *found;
  VnRuntimeForecast *kernels;      /* nullable: as they were found there */
  VnRun            *result;        /* nullable: of which @settings.model is the export */
  VnRun            *verified;      /* nullable: @result with all that */
  gboolean          is_asked;
} VnVerifyJob;

static const VnJobKind verify_job_kind;

/* ---- the temporary folder ---- */

static void
verify_job_remove_folder (VnVerifyJob *self)
{
  if (self->folder != NULL)
    vn_verify_folder_remove (self->folder);
  g_clear_pointer (&self->folder, g_free);
}

/* ---- samples ---- */

/* Of a run a few of those that its error was measured on; all that there are of others. */
static void
verify_job_choose_samples (VnVerifyJob *self)
{
  const VnRun *result = self->result;
  const guint n = vn_dataset_get_n (self->dataset);
  g_autoptr(GArray) calibration = NULL;
  g_autoptr(GArray) measured = NULL;

  if (result != NULL && result->data != NULL)
    vn_job_split_samples (result->data, n, result->settings.n_calibration, &calibration, &measured);
  else
    vn_dataset_split (n, n, NULL, &measured);
  vn_dataset_split (measured->len, self->settings.n_samples, NULL, &self->samples);
  for (guint i = 0; i < self->samples->len; i++)
    g_array_index (self->samples, guint, i) = g_array_index (measured, guint, g_array_index (self->samples, guint, i));
}

/* As they are opened for @dataset. */
static VnSamples
verify_job_get_samples (const VnVerifyJob *self,
                        VnDataset         *dataset,
                        const VnProgress  *progress)
{
  return (VnSamples) { .shapes = self->shapes, .dataset = dataset, .indices = (const guint *) (gpointer) self->samples->data,
                       .n = self->samples->len, .n_threads = self->settings.n_threads, .progress = progress };
}

/* Of the samples of this job, as @model takes them; %NULL with an error if it does not take them, or cannot be run here. */
static VnParts *
verify_job_look_for_parts (const VnVerifyJob  *self,
                           VnModel            *model,
                           VnDataset          *dataset,
                           GCancellable       *cancellable,
                           GError            **error)
{
  const VnSamples run = verify_job_get_samples (self, dataset, NULL);

  return vn_find_parts (model, &run, NULL, cancellable, error);
}

static VnParts *
verify_job_look_at_float (const VnVerifyJob *self,
                          GCancellable      *cancellable)
{
  g_autoptr(VnModel) source = self->settings.float_path != NULL ? vn_onnx_read_file (self->settings.float_path, NULL) : NULL;
  g_autoptr(VnModel) model = source != NULL ? vn_model_to_float (source, cancellable, NULL) : NULL;
  g_autoptr(VnDataSpec) data = self->settings.data != NULL
                               ? vn_data_spec_copy (self->settings.data) : vn_data_spec_new (VN_DATA_RANDOM);
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataset) dataset = NULL;

  data->max_samples = vn_dataset_get_n (self->dataset);
  dataset = model != NULL ? vn_model_open_data (model, data, self->settings.input_shapes, &shapes, NULL, NULL) : NULL;
  return dataset != NULL && vn_dataset_get_n (dataset) == vn_dataset_get_n (self->dataset)
           ? verify_job_look_for_parts (self, model, dataset, cancellable, NULL) : NULL;
}

/* A run has found its parts; of a file the float network tells them, or else the export, where they are as large. */
static gboolean
verify_job_find_parts (VnVerifyJob   *self,
                       GCancellable  *cancellable,
                       GError       **error)
{
  if (self->result != NULL)
    {
      self->parts = self->result->errors != NULL ? vn_error_table_list_parts (self->result->errors) : NULL;
      return TRUE;
    }
  self->parts = verify_job_look_at_float (self, cancellable);
  if (self->parts == NULL && g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (self->parts == NULL)
    self->parts = verify_job_look_for_parts (self, self->model, self->dataset, cancellable, error);
  return self->parts != NULL;
}

static gboolean
verify_job_open_samples (VnVerifyJob   *self,
                         GCancellable  *cancellable,
                         GError       **error)
{
  const VnVerifySettings *settings = &self->settings;
  g_autoptr(VnDataSpec) data = settings->data != NULL ? vn_data_spec_copy (settings->data) : vn_data_spec_new (VN_DATA_RANDOM);
  VnPlanOptions options = { 0 };

  if ((self->result == NULL || self->result->data == NULL) && (data->max_samples == 0 || data->max_samples > settings->n_samples))
    data->max_samples = settings->n_samples;
  self->model = vn_model_to_runnable (settings->model, cancellable, error);
  if (self->model == NULL)
    return FALSE;
  self->dataset = vn_model_open_data (self->model, data, settings->input_shapes, &self->shapes, self->notes, error);
  if (self->dataset == NULL)
    return FALSE;
  options.input_shapes = self->shapes;
  self->plan = vn_plan_new (self->model, &options, self->notes, error);
  if (self->plan == NULL)
    return FALSE;
  verify_job_choose_samples (self);
  return verify_job_find_parts (self, cancellable, error);
}

/* ---- writing them ---- */

typedef struct
{
  VnVerifyJob *job;
  GArray      *written;    /* of guint: of the dataset; the place is their number in the folder */
} Writing;

static gboolean
verify_job_write_sample (gpointer       worker,
                         guint          item,
                         VnTensor     **inputs,
                         gpointer       data,
                         GCancellable  *cancellable,
                         GError       **error)
{
  Writing *writing = data;
  VnVerifyJob *self = writing->job;

  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autofree char *path = vn_verify_folder_dup_tensor (self->folder, "", writing->written->len, i);

      if (!vn_npy_write (path, inputs[i], error))
        return FALSE;
    }
  g_array_append_val (writing->written, g_array_index (self->samples, guint, item));
  return TRUE;
}

/* Those that cannot be read are left out. */
static gboolean
verify_job_write_samples (VnVerifyJob   *self,
                          GCancellable  *cancellable,
                          GError       **error)
{
  static const VnSampleFuncs funcs = { NULL, verify_job_write_sample, NULL };
  g_autoptr(GArray) written = g_array_new (FALSE, FALSE, sizeof (guint));
  Writing writing = { self, written };
  VnSamples samples = verify_job_get_samples (self, self->dataset, NULL);
  g_autoptr(VnSampleLoop) loop = NULL;

  samples.notes = self->notes;
  loop = vn_sample_loop_new (&samples, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &writing, error);
  if (loop == NULL || !vn_sample_loop_run (loop, 0, samples.n, cancellable, error) || !vn_sample_loop_check_read (loop, error))
    return FALSE;
  g_array_unref (self->samples);
  self->samples = g_steal_pointer (&written);
  self->found->n_samples = self->samples->len;
  return TRUE;
}

static gboolean
vn_verify_job_prepare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);

  if (!verify_job_open_samples (self, cancellable, error))
    return FALSE;
  self->folder = g_dir_make_tmp ("vernier-verify-XXXXXX", error);
  return self->folder != NULL && verify_job_write_samples (self, cancellable, error);
}

/* ---- ONNX Runtime ---- */

static const char *
verify_job_get_variable (const char *name)
{
  const char *value = g_getenv (name);

  return value != NULL && *value != '\0' ? value : NULL;
}

/* What is named in the call comes before what the environment names. */
static void
verify_job_choose (const VnVerifySettings *settings,
                   VnVerifyRequest        *request)
{
  const char *python = settings->python != NULL && *settings->python != '\0' ? settings->python : NULL;

  request->library = verify_job_get_variable ("VN_ORT_LIBRARY");
  if (python == NULL && request->library == NULL)
    python = verify_job_get_variable ("VN_PYTHON");
  request->is_python_given = python != NULL;
  request->python = python != NULL ? python : "python3";
}

/* The network that a result was made of, unless it is still in the file that it was opened from. */
static gboolean
verify_job_write_float (VnVerifyJob   *self,
                        char         **path,
                        GCancellable  *cancellable,
                        GError       **error)
{
  if (self->settings.float_path != NULL || self->result == NULL)
    return TRUE;
  *path = g_build_filename (self->folder, "float.onnx", NULL);
  self->settings.float_path = g_strdup (*path);
  return vn_onnx_write_file (self->result->source, *path, NULL, cancellable, error);
}

static gboolean
vn_verify_job_run_there (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);
  const VnVerifySettings *settings = &self->settings;
  g_autofree char *written = settings->path == NULL ? g_build_filename (self->folder, "export.onnx", NULL) : NULL;
  g_autofree char *source = NULL, *encoded = NULL, *encoded_float = NULL;
  g_autofree char *name = settings->path != NULL ? g_strdup_printf ("“%s”", settings->path) : g_strdup (_("the export"));
  g_autofree char *optimized = g_build_filename (self->folder, OPTIMIZED, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new ();
  VnVerifyRequest request = { .folder = self->folder,
                              .model = written != NULL ? written : settings->path, .float_model = settings->float_path,
                              .inputs = names,
                              .optimized = optimized, .n_samples = self->found->n_samples, .n_runs = settings->n_runs,
                              .timeout = settings->timeout,
                              .name = name, .seconds = settings->seconds, .is_asked = self->is_asked };
  VnVerifyReply reply = { NULL };

  verify_job_choose (settings, &request);
  if (written != NULL && !vn_onnx_write_file (settings->model, written, NULL, cancellable, error))
    return FALSE;
  if (!verify_job_write_float (self, &source, cancellable, error))
    return FALSE;
  if (source != NULL)
    request.float_model = source;
  if (!vn_verify_encode (self->folder, "encoded.onnx", &request.model, &encoded, cancellable, error) ||
      !vn_verify_encode (self->folder, "encoded-float.onnx", &request.float_model, &encoded_float, cancellable, error))
    return FALSE;
  for (guint i = 0; i < vn_plan_get_n_inputs (self->plan); i++)
    g_ptr_array_add (names, vn_plan_get_input (self->plan, i)->name);
  if (!vn_verify_process_run (&request, &reply, cancellable, error))
    return FALSE;
  self->found->version = reply.version;
  self->found->load_seconds = reply.load_seconds;
  self->found->seconds = reply.seconds;
  self->found->float_seconds = reply.float_seconds;
  self->found->saturates = reply.saturates;
  return TRUE;
}

/* ---- comparing ---- */

typedef struct
{
  VnVerifyJob  *job;
  VnVerifySums *sums;     /* by output */
} Comparing;

static gpointer
verify_job_compare_start (guint      n_inside,
                          gpointer   data,
                          GError   **error)
{
  return vn_sample_runner_new (((Comparing *) data)->job->plan, n_inside, NULL, NULL, error);
}

static gboolean
verify_job_compare_sample (gpointer       runner,
                           guint          item,
                           VnTensor     **inputs,
                           gpointer       data,
                           GCancellable  *cancellable,
                           GError       **error)
{
  Comparing *self = data;
  const guint n_outputs = vn_plan_get_n_outputs (self->job->plan);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);
  gboolean good = vn_runner_run (runner, inputs, outputs, cancellable, error);

  for (guint i = 0; i < n_outputs && good; i++)
    good = vn_verify_sums_add (&self->sums[i], self->job->folder, item, i, outputs[i], error);
  vn_tensor_clear_all (outputs, n_outputs);
  return good;
}

static void
verify_job_report (VnVerifyJob        *self,
                   const VnVerifySums *sums)
{
  guint parts[2], n = vn_verify_sums_find (sums, parts);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnErrorPart) part = NULL;
      VnVerifiedOutput output;

      vn_verify_sums_report (sums, parts[i], &output, &part);
      vn_verification_add (self->found, &output);
    }
}

/* Of all outputs: with kernels that do not saturate. */
static void
verify_job_take_exact (VnVerifyJob         *self,
                       const VnVerifySums  *sums,
                       guint                n)
{
  VnVerification *found = self->found;

  found->exact_agrees = n > 0;
  found->exact_db = INFINITY;
  for (guint i = 0; i < n; i++)
    {
      guint parts[2], n_parts = vn_verify_sums_find (&sums[i], parts);

      for (guint k = 0; k < n_parts; k++)
        {
          VnVerifiedOutput output;
          const gboolean known = vn_verify_sums_report_exact (&sums[i], parts[k], &output);

          found->exact_agrees = found->exact_agrees && known && vn_verified_output_judge (&output) != VN_AGREEMENT_OTHER;
          found->exact_db = known ? MIN (found->exact_db, output.sqnr_db) : NAN;
        }
    }
  if (!found->exact_agrees && isinf (found->exact_db))
    found->exact_db = NAN;
}

static gboolean
vn_verify_job_compare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);
  static const VnSampleFuncs funcs = { verify_job_compare_start, verify_job_compare_sample, vn_sample_runner_stop };
  VnProgress progress = vn_job_get_reporter (job);
  const VnSamples samples = verify_job_get_samples (self, self->dataset, &progress);
  guint n = vn_plan_get_n_outputs (self->plan);
  g_autofree VnVerifySums *sums = g_new0 (VnVerifySums, n + 1);
  Comparing comparing = { self, sums };

  for (guint i = 0; i < n; i++)
    vn_verify_sums_init (&sums[i], vn_plan_get_output (self->plan, i)->name, self->parts, self->settings.float_path != NULL,
                         self->found->saturates);
  if (!vn_samples_each (&samples, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &comparing, cancellable, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    verify_job_report (self, &sums[i]);
  if (self->found->saturates)
    verify_job_take_exact (self, sums, n);
  return TRUE;
}

/* ---- kernels ---- */

/* Two products of 8 bit by 7 fit into 16: weights that use fewer of their bits, as "reduce-range" makes them, let no sum
 * saturate. */
static gboolean
verify_job_has_large_weights (const VnModel *model)
{
  for (guint i = 0; i < model->graph->initializers->len; i++)
    {
      const VnTensor *weight = ((const VnValue *) g_ptr_array_index (model->graph->initializers, i))->initializer;

      if (weight->dtype != VN_DTYPE_S8 || weight->shape.rank < 2)
        continue;
      for (gsize k = 0; k < weight->n_elements; k++)
        if (ABS ((int) ((const gint8 *) weight->data)[k]) > 64)
          return TRUE;
    }
  return FALSE;
}

/* They are told where the graph can be had and read; without it the forecast stays what it is. */
static gboolean
vn_verify_job_read_kernels (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);
  g_autofree char *path = g_build_filename (self->folder, OPTIMIZED, NULL);
  g_autoptr(VnModel) optimized = g_file_test (path, G_FILE_TEST_EXISTS) ? vn_onnx_read_file (path, NULL) : NULL;
  g_autoptr(VnRuntimeForecast) made = NULL;
  const VnRuntimeForecast *forecast = self->result != NULL ? self->result->forecast : NULL;

  if (forecast == NULL)
    forecast = made = vn_runtime_forecast_new (self->settings.model, self->settings.input_shapes, NULL, NULL);
  if (optimized != NULL && forecast != NULL)
    {
      self->kernels = vn_runtime_forecast_observe (forecast, optimized);
      self->found->integer_share = vn_runtime_forecast_integer_share (self->kernels);
    }
  /* Sums of integers saturate; where there are none, outputs differ for other reasons. */
  if ((forecast != NULL && vn_runtime_forecast_integer_share (self->kernels != NULL ? self->kernels : forecast) == 0) ||
      !verify_job_has_large_weights (self->settings.model))
    self->found->saturates = FALSE;
  if (self->result != NULL)
    self->verified = vn_job_take_verification (self->result, self->found, self->kernels);
  return TRUE;
}

/* ---- the job ---- */

static const VnStage stages[] = {
  { "prepare", N_("Writing the samples"),   10, NULL, vn_verify_job_prepare },
  { "runtime", N_("Running ONNX Runtime"),  60, NULL, vn_verify_job_run_there },
  { "compare", N_("Comparing the outputs"), 30, NULL, vn_verify_job_compare },
  { "kernels", N_("Reading the kernels"),    5, NULL, vn_verify_job_read_kernels },
  { NULL },
};

/* Nothing stays behind, however it ends. */
static gboolean
vn_verify_job_run (VnJob         *job,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);
  gboolean good = vn_job_run_stages (job, cancellable, error);

  verify_job_remove_folder (self);
  return good;
}

static void
verify_job_clear (gpointer data)
{
  VnVerifyJob *self = data;

  g_free ((char *) self->settings.path);
  g_free ((char *) self->settings.float_path);
  g_free ((char *) self->settings.python);
  vn_model_unref (self->settings.model);
  vn_data_spec_free (self->settings.data);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->plan, vn_plan_unref);
  g_clear_pointer (&self->parts, vn_parts_unref);
  g_clear_pointer (&self->shapes, g_hash_table_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->samples, g_array_unref);
  g_clear_pointer (&self->model, vn_model_unref);
  vn_notes_unref (self->notes);
  vn_verification_unref (self->found);
  vn_runtime_forecast_unref (self->kernels);
  g_clear_pointer (&self->result, vn_run_unref);
  g_clear_pointer (&self->verified, vn_run_unref);
}

static const VnJobKind verify_job_kind = {
  .id = VN_JOB_VERIFY,
  .state_size = sizeof (VnVerifyJob),
  .stages = stages,
  .clear = verify_job_clear,
  .run = vn_verify_job_run,
};

/* What another process can find, wherever it starts. */
static char *
verify_job_dup_absolute (const char *path)
{
  return path != NULL ? g_canonicalize_filename (path, NULL) : NULL;
}

/**
 * vn_verify_job_new:
 * @settings: copied, with references to what it points to; numbers that are 0 are the usual ones
 *
 * Returns: (transfer full): a job that runs an export in onnxruntime, in a process of its own, and compares its outputs with ours
 *   and its time with that of the float network
 */
VnJob *
vn_verify_job_new (const VnVerifySettings *settings)
{
  VnJob *job;
  VnVerifyJob *self;

  g_return_val_if_fail (settings != NULL && settings->model != NULL, NULL);

  job = vn_job_new (&verify_job_kind);
  self = vn_job_get_state (job, &verify_job_kind);
  self->notes = vn_notes_new ();
  self->found = vn_verification_new ();
  self->settings = *settings;
  self->settings.path = verify_job_dup_absolute (settings->path);
  self->settings.float_path = verify_job_dup_absolute (settings->float_path);
  self->settings.python = g_strdup (settings->python);
  self->settings.model = vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  self->settings.n_samples = settings->n_samples > 0 ? settings->n_samples : USUAL_SAMPLES;
  self->settings.n_runs = settings->n_runs > 0 ? settings->n_runs : USUAL_RUNS;
  self->settings.timeout = settings->timeout > 0 ? settings->timeout : USUAL_TIMEOUT;
  self->is_asked = TRUE;
  return job;
}

/**
 * vn_verify_job_new_for_result:
 * @result: of a run; not changed
 * @path: (nullable): where its export was written to; %NULL: it is written for this
 * @python: (nullable): as in VnVerifySettings
 * @is_asked: the user asked for it, and waits; otherwise a little has to do
 *
 * Returns: (transfer full): a job that runs what @result exports on some of the samples that its error was measured on, beside
 *   the network that it was made of
 */
VnJob *
vn_verify_job_new_for_result (VnRun      *result,
                              const char *path,
                              const char *python,
                              gboolean    is_asked)
{
  const char *source;
  VnVerifySettings settings = { 0 };
  VnJob *job;
  VnVerifyJob *self;

  g_return_val_if_fail (result != NULL && result->quantized != NULL, NULL);

  source = result->source->path;
  settings = (VnVerifySettings) { .path = path, .model = result->quantized, .data = result->data,
                                  .input_shapes = result->settings.shapes, .python = python,
                                  .float_path = source != NULL && g_file_test (source, G_FILE_TEST_IS_REGULAR) ? source : NULL };
  if (!is_asked)
    {
      settings.n_samples = result->forecast != NULL && result->forecast->float_seconds > LONG_RUN ? FEW_SAMPLES / 2 : FEW_SAMPLES;
      settings.seconds = FEW_SECONDS;
      settings.timeout = SHORT_TIMEOUT;
    }
  job = vn_verify_job_new (&settings);
  self = vn_job_get_state (job, &verify_job_kind);
  self->result = vn_run_ref (result);
  self->is_asked = is_asked;
  return job;
}

VnVerification *
vn_verify_job_get_result (VnJob *job)
{
  VnVerifyJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_VERIFY), NULL);

  self = vn_job_get_state (job, &verify_job_kind);
  return self->found->version != NULL ? self->found : NULL;
}

/**
 * vn_verify_job_get_kernels:
 *
 * Returns: (transfer none) (nullable): the forecast with the kernels that ONNX Runtime really chose, if its graph could be had
 */
VnRuntimeForecast *
vn_verify_job_get_kernels (VnJob *job)
{
  VnVerifyJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_VERIFY), NULL);

  self = vn_job_get_state (job, &verify_job_kind);
  return self->kernels;
}

/**
 * vn_verify_job_get_verified:
 *
 * Returns: (transfer none) (nullable): the result of vn_verify_job_new_for_result() with what was measured, after success
 */
VnRun *
vn_verify_job_get_verified (VnJob *job)
{
  VnVerifyJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_VERIFY), NULL);

  self = vn_job_get_state (job, &verify_job_kind);
  return self->verified;
}

VnNotes *
vn_verify_job_get_notes (VnJob *job)
{
  VnVerifyJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_VERIFY), NULL);

  self = vn_job_get_state (job, &verify_job_kind);
  return self->notes;
}
