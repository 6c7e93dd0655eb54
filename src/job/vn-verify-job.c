/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “verify”: samples are written into a temporary folder, onnxruntime runs them in another process, and what it writes is
 * compared with our own outputs of the same samples. */
#include "vn-verify-job.h"
#include "vn-job-input.h"
#include "verify-folder.h"
#include "verify-process.h"

#include "vn-error.h"
#include "vn-part-sums.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-onnx.h"

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
#define COPIES 3           /* of the weights: as files are read, as kernels hold them, and what is computed */

struct _VnVerifyJob
{
  VnJob             parent_instance;
  VnVerifySettings  settings;      /* owns what it points to */
  VnNotes          *notes;
  VnModel          *model;         /* that is run here */
  VnDataset        *dataset;
  GArray           *samples;       /* of guint: of @dataset */
  GHashTable       *shapes;
  VnPlan           *plan;
  VnParts          *parts;         /* nullable: of the outputs */
  char             *folder;
  VnVerification   *found;
  VnRuntimeForecast *kernels;      /* nullable: as they were found there */
  VnResult         *result;        /* nullable: of which @settings.model is the export */
  VnResult         *verified;      /* nullable: @result with all that */
  gboolean          is_asked;
};

G_DEFINE_FINAL_TYPE (VnVerifyJob, vn_verify_job, VN_TYPE_JOB)

/* ---- the temporary folder ---- */

static void
verify_job_remove_folder (VnVerifyJob *self)
{
  if (self->folder != NULL)
    vn_verify_folder_remove (self->folder);
  g_clear_pointer (&self->folder, g_free);
}

static char *
verify_job_dup_path (const VnVerifyJob *self,
                     const char        *prefix,
                     guint              sample,
                     guint              i)
{
  g_autofree char *name = g_strdup_printf ("%s%u-%u.npy", prefix, sample, i);

  return g_build_filename (self->folder, name, NULL);
}

static void
verify_job_clear_tensors (VnTensor **tensors,
                          guint      n)
{
  for (guint i = 0; i < n; i++)
    g_clear_pointer (&tensors[i], vn_tensor_unref);
}

/* ---- samples ---- */

/* Of a run a few of those that its error was measured on; all that there are of others. */
static void
verify_job_choose_samples (VnVerifyJob *self)
{
  const VnResult *result = self->result;
  const guint n = vn_dataset_get_n (self->dataset);
  g_autoptr(GArray) calibration = NULL;
  g_autoptr(GArray) measured = NULL;

  if (result != NULL && result->data != NULL)
    vn_job_split_samples (result->data, n, result->run.n_calibration, &calibration, &measured);
  else
    vn_dataset_split (n, n, NULL, &measured);
  vn_dataset_split (measured->len, self->settings.n_samples, NULL, &self->samples);
  for (guint i = 0; i < self->samples->len; i++)
    g_array_index (self->samples, guint, i) = g_array_index (measured, guint, g_array_index (self->samples, guint, i));
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
  if (self->result != NULL && self->result->errors != NULL)
    self->parts = vn_error_table_list_parts (self->result->errors);
  verify_job_choose_samples (self);
  self->found->n_samples = self->samples->len;
  return self->plan != NULL;
}

static gboolean
verify_job_write_sample (VnVerifyJob  *self,
                         guint         sample,
                         GError      **error)
{
  guint n = vn_plan_get_n_inputs (self->plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  gboolean good = vn_dataset_load (self->dataset, g_array_index (self->samples, guint, sample), inputs, error);

  for (guint i = 0; i < n && good; i++)
    {
      g_autofree char *path = verify_job_dup_path (self, "", sample, i);

      good = vn_npy_write (path, inputs[i], error);
    }
  verify_job_clear_tensors (inputs, n);
  return good;
}

static gboolean
vn_verify_job_prepare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnVerifyJob *self = VN_VERIFY_JOB (job);

  if (!verify_job_open_samples (self, cancellable, error))
    return FALSE;
  self->folder = g_dir_make_tmp ("vernier-verify-XXXXXX", error);
  if (self->folder == NULL)
    return FALSE;
  for (guint i = 0; i < self->found->n_samples; i++)
    if (g_cancellable_set_error_if_cancelled (cancellable, error) || !verify_job_write_sample (self, i, error))
      return FALSE;
  return TRUE;
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
  VnVerifyJob *self = VN_VERIFY_JOB (job);
  const VnVerifySettings *settings = &self->settings;
  g_autofree char *written = settings->path == NULL ? g_build_filename (self->folder, "export.onnx", NULL) : NULL;
  g_autofree char *source = NULL;
  g_autofree char *name = settings->path != NULL ? g_strdup_printf ("“%s”", settings->path) : g_strdup (_("the export"));
  g_autofree char *optimized = g_build_filename (self->folder, OPTIMIZED, NULL);
  g_autoptr(GPtrArray) names = g_ptr_array_new ();
  VnVerifyRequest request = { .folder = self->folder,
                              .model = written != NULL ? written : settings->path, .float_model = settings->float_path, .inputs = names,
                              .optimized = optimized, .n_samples = self->found->n_samples, .n_runs = settings->n_runs, .timeout = settings->timeout,
                              .name = name, .seconds = settings->seconds, .is_asked = self->is_asked };
  VnVerifyReply reply = { NULL };

  verify_job_choose (settings, &request);
  if (written != NULL && !vn_onnx_write_file (settings->model, written, NULL, cancellable, error))
    return FALSE;
  if (!verify_job_write_float (self, &source, cancellable, error))
    return FALSE;
  if (source != NULL)
    request.float_model = source;
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

/* One output: ours against theirs, and both against that of the float network, as onnxruntime computes it. */
typedef struct
{
  VnErrorSum between[1 + VN_MOST_PARTS], ours[1 + VN_MOST_PARTS], theirs[1 + VN_MOST_PARTS];
  VnErrorSum exact[1 + VN_MOST_PARTS], exactly[1 + VN_MOST_PARTS];   /* the first and the last of theirs with kernels that do not saturate, if there are such files */
} Sums;

static const VnPartition *
verify_job_get_partition (const VnVerifyJob *self,
                          guint              output)
{
  return vn_parts_get (self->parts, vn_plan_get_output (self->plan, output)->name);
}

static VnTensor *
verify_job_read_output (const VnVerifyJob  *self,
                        const char         *prefix,
                        guint               sample,
                        guint               output,
                        GError            **error)
{
  g_autofree char *path = verify_job_dup_path (self, prefix, sample, output);
  g_autoptr(VnTensor) read = vn_npy_read (path, error);

  return read != NULL ? vn_tensor_convert (read, VN_DTYPE_F32, error) : NULL;
}

static gboolean
verify_job_add_output (VnVerifyJob  *self,
                       guint         sample,
                       guint         output,
                       VnTensor     *ours,
                       Sums         *sums,
                       GError      **error)
{
  g_autoptr(VnTensor) mine = vn_tensor_convert (ours, VN_DTYPE_F32, error);
  g_autoptr(VnTensor) other = mine != NULL ? verify_job_read_output (self, "out-", sample, output, error) : NULL;
  g_autoptr(VnTensor) wanted = self->settings.float_path != NULL ? verify_job_read_output (self, "float-", sample, output, NULL) : NULL;
  g_autoptr(VnTensor) exact = self->found->saturates ? verify_job_read_output (self, "exact-", sample, output, NULL) : NULL;
  const VnPartition *partition = verify_job_get_partition (self, output);
  gboolean is_exact;

  if (other == NULL)
    return FALSE;
  if (!vn_shape_equal (&mine->shape, &other->shape))
    {
      g_autofree char *a = vn_shape_to_string (&mine->shape, "×"), *b = vn_shape_to_string (&other->shape, "×");

      g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("Output “%s” has %s elements here, %s in ONNX Runtime"),
                   vn_plan_get_output (self->plan, output)->name, a, b);
      return FALSE;
    }
  vn_part_sums_add (sums->between, partition, &mine->shape, mine->data, other->data);
  is_exact = exact != NULL && vn_shape_equal (&mine->shape, &exact->shape);
  if (is_exact)
    vn_part_sums_add (sums->exact, partition, &mine->shape, mine->data, exact->data);
  if (wanted == NULL || !vn_shape_equal (&mine->shape, &wanted->shape))
    return TRUE;
  vn_part_sums_add (sums->ours, partition, &mine->shape, wanted->data, mine->data);
  vn_part_sums_add (sums->theirs, partition, &mine->shape, wanted->data, other->data);
  if (is_exact)
    vn_part_sums_add (sums->exactly, partition, &mine->shape, wanted->data, exact->data);
  return TRUE;
}

static gboolean
verify_job_compare_sample (VnVerifyJob   *self,
                           VnRunner      *runner,
                           guint          sample,
                           Sums          *sums,
                           GCancellable  *cancellable,
                           GError       **error)
{
  guint n_inputs = vn_plan_get_n_inputs (self->plan), n_outputs = vn_plan_get_n_outputs (self->plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n_inputs + 1);
  g_autofree VnTensor **outputs = g_new0 (VnTensor *, n_outputs + 1);
  gboolean good = vn_dataset_load (self->dataset, g_array_index (self->samples, guint, sample), inputs, error) &&
                  vn_runner_run (runner, inputs, outputs, cancellable, error);

  for (guint i = 0; i < n_outputs && good; i++)
    good = verify_job_add_output (self, sample, i, outputs[i], &sums[i], error);
  verify_job_clear_tensors (inputs, n_inputs);
  verify_job_clear_tensors (outputs, n_outputs);
  return good;
}

static double
verify_job_get_db (const VnErrorSum *sum)
{
  return sum->n > 0 ? vn_error_sum_sqnr (sum) : NAN;
}

static void
verify_job_init_sums (Sums  *sums,
                      guint  n)
{
  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < sizeof *sums / sizeof (VnErrorSum); k++)
      vn_error_sum_init (&((VnErrorSum *) &sums[i])[k]);
}

/* The part of an output that is worst in ONNX Runtime, which speaks for the output; 0: it has no parts */
static guint
verify_job_find_worst (const VnVerifyJob *self,
                       const Sums        *sums,
                       guint              output)
{
  const VnErrorSum *errors = sums->theirs[0].n > 0 ? sums->theirs : sums->between;
  guint n = vn_part_sums_count (verify_job_get_partition (self, output)), worst = n > 1 ? 1 : 0;

  for (guint i = 2; i < n; i++)
    if (errors[i].n > 0 && vn_error_sum_bounded_sqnr (&errors[i]) < vn_error_sum_bounded_sqnr (&errors[worst]))
      worst = i;
  return worst;
}

/* Of all outputs: with kernels that do not saturate. */
static void
verify_job_take_exact (VnVerifyJob *self,
                       const Sums  *sums,
                       guint        n)
{
  VnVerification *found = self->found;

  found->exact_agrees = n > 0;
  found->exact_db = INFINITY;
  for (guint i = 0; i < n; i++)
    {
      guint part = verify_job_find_worst (self, &sums[i], i);
      const VnVerifiedOutput output = { .sqnr_db = verify_job_get_db (&sums[i].exact[part]), .our_db = verify_job_get_db (&sums[i].ours[part]),
                                        .their_db = verify_job_get_db (&sums[i].exactly[part]) };

      found->exact_agrees = found->exact_agrees && sums[i].exact[part].n > 0 && vn_verified_output_judge (&output) != VN_AGREEMENT_OTHER;
      found->exact_db = sums[i].exact[part].n > 0 ? MIN (found->exact_db, output.sqnr_db) : NAN;
    }
  if (!found->exact_agrees && isinf (found->exact_db))
    found->exact_db = NAN;
}

static gboolean
vn_verify_job_compare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnVerifyJob *self = VN_VERIFY_JOB (job);
  VnProgress progress = vn_job_get_reporter (job);
  guint n = vn_plan_get_n_outputs (self->plan);
  g_autofree Sums *sums = g_new0 (Sums, n + 1);
  g_autoptr(VnRunner) runner = vn_runner_new (self->plan, error);

  if (runner == NULL)
    return FALSE;
  vn_runner_set_threads (runner, MAX (self->settings.n_threads, 1));
  verify_job_init_sums (sums, n);
  for (guint i = 0; i < self->found->n_samples; i++)
    {
      vn_progress_report (&progress, _("samples"), i, self->found->n_samples);
      if (!verify_job_compare_sample (self, runner, i, sums, cancellable, error))
        return FALSE;
    }
  for (guint i = 0; i < n; i++)
    {
      guint part = verify_job_find_worst (self, &sums[i], i);
      const VnVerifiedOutput output = { .name = vn_plan_get_output (self->plan, i)->name,
                                        .sqnr_db = vn_error_sum_sqnr (&sums[i].between[part]),
                                        .our_db = verify_job_get_db (&sums[i].ours[part]), .their_db = verify_job_get_db (&sums[i].theirs[part]),
                                        .largest = sums[i].between[part].max_error };

      vn_verification_add (self->found, &output);
    }
  if (self->found->saturates)
    verify_job_take_exact (self, sums, n);
  return TRUE;
}

/* ---- kernels ---- */

/* Two products of 8 bit by 7 fit into 16: weights that use fewer of their bits, as "reduce-range" makes them, let no sum saturate. */
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
  VnVerifyJob *self = VN_VERIFY_JOB (job);
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
  gboolean good = VN_JOB_CLASS (vn_verify_job_parent_class)->run (job, cancellable, error);

  verify_job_remove_folder (VN_VERIFY_JOB (job));
  return good;
}

static void
vn_verify_job_finalize (GObject *object)
{
  VnVerifyJob *self = VN_VERIFY_JOB (object);

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
  vn_runtime_forecast_free (self->kernels);
  g_clear_pointer (&self->result, vn_result_unref);
  g_clear_pointer (&self->verified, vn_result_unref);
  G_OBJECT_CLASS (vn_verify_job_parent_class)->finalize (object);
}

static void
vn_verify_job_class_init (VnVerifyJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_verify_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_verify_job_run;
  VN_JOB_CLASS (klass)->stages = stages;
}

static void
vn_verify_job_init (VnVerifyJob *self)
{
  self->notes = vn_notes_new ();
  self->found = vn_verification_new ();
}

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
 * Returns: (transfer full): a job that runs an export in onnxruntime, in a process of its own, and compares its outputs with ours and its
 *   time with that of the float network
 */
VnJob *
vn_verify_job_new (const VnVerifySettings *settings)
{
  VnVerifyJob *self;

  g_return_val_if_fail (settings != NULL && settings->model != NULL, NULL);

  self = g_object_new (VN_TYPE_VERIFY_JOB, NULL);
  self->settings = *settings;
  self->settings.path = verify_job_dup_absolute (settings->path);
  self->settings.float_path = verify_job_dup_absolute (settings->float_path);
  self->settings.python = g_strdup (settings->python);
  self->settings.model = vn_model_ref (settings->model);
  vn_job_add_source (VN_JOB (self), settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  self->settings.n_samples = settings->n_samples > 0 ? settings->n_samples : USUAL_SAMPLES;
  self->settings.n_runs = settings->n_runs > 0 ? settings->n_runs : USUAL_RUNS;
  self->settings.timeout = settings->timeout > 0 ? settings->timeout : USUAL_TIMEOUT;
  self->is_asked = TRUE;
  vn_job_set_title (VN_JOB (self), _("Verifying"));
  return VN_JOB (self);
}

/**
 * vn_verify_job_new_for_result:
 * @result: of a run; not changed
 * @path: (nullable): where its export was written to; %NULL: it is written for this
 * @python: (nullable): as in VnVerifySettings
 * @is_asked: the user asked for it, and waits; otherwise a little has to do
 *
 * Returns: (transfer full): a job that runs what @result exports on some of the samples that its error was measured on, beside the network
 *   that it was made of
 */
VnJob *
vn_verify_job_new_for_result (VnResult   *result,
                              const char *path,
                              const char *python,
                              gboolean    is_asked)
{
  const char *source;
  VnVerifySettings settings = { 0 };
  VnJob *self;

  g_return_val_if_fail (result != NULL && result->quantized != NULL, NULL);

  source = result->source->path;
  settings = (VnVerifySettings) { .path = path, .model = result->quantized, .data = result->data, .input_shapes = result->run.shapes, .python = python,
                                  .float_path = source != NULL && g_file_test (source, G_FILE_TEST_IS_REGULAR) ? source : NULL };
  if (!is_asked)
    {
      settings.n_samples = result->forecast != NULL && result->forecast->float_seconds > LONG_RUN ? FEW_SAMPLES / 2 : FEW_SAMPLES;
      settings.seconds = FEW_SECONDS;
      settings.timeout = SHORT_TIMEOUT;
    }
  self = vn_verify_job_new (&settings);
  VN_VERIFY_JOB (self)->result = vn_result_ref (result);
  VN_VERIFY_JOB (self)->is_asked = is_asked;
  return self;
}

/**
 * vn_verify_job_is_usual:
 *
 * Returns: whether exports are run in ONNX Runtime without being asked for, which the environment can switch off
 */
gboolean
vn_verify_job_is_usual (void)
{
  return verify_job_get_variable ("VN_NO_VERIFY") == NULL;
}

/**
 * vn_verify_job_lacks_runtime:
 *
 * Returns: whether this program has looked for an ONNX Runtime and found none: one that it installs itself would be used, as nobody has named
 *   another
 */
gboolean
vn_verify_job_lacks_runtime (void)
{
  return vn_verify_process_lacks_runtime ();
}

/* Operators that neither the standard nor ONNX Runtime has, and that are not spelled out in the file. */
static const VnNode *
verify_job_find_foreign (const VnModel *model)
{
  static const char * const known[] = { "", "ai.onnx", "ai.onnx.ml", "com.microsoft", NULL };

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, i);
      gboolean found = g_strv_contains (known, node->domain);

      for (guint k = 0; k < model->functions->len && !found; k++)
        {
          const VnFunction *function = g_ptr_array_index (model->functions, k);

          found = g_str_equal (function->name, node->op_type) && g_str_equal (function->domain, node->domain);
        }
      if (!found)
        return node;
    }
  return NULL;
}

/**
 * vn_verify_job_suits:
 * @result: of a run
 *
 * Returns: whether what it exports can be run in ONNX Runtime without being asked for; %FALSE with the reason: it is for another runtime, or
 *   too large
 */
gboolean
vn_verify_job_suits (VnResult  *result,
                     GError   **error)
{
  const VnNode *foreign;
  gsize need;

  g_return_val_if_fail (result != NULL && result->quantized != NULL, FALSE);

  foreign = verify_job_find_foreign (result->quantized);
  need = COPIES * (result->float_bytes + result->quantized_bytes);
  if (foreign != NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s of “%s” is an operator of another runtime"), foreign->op_type, foreign->domain);
  else if (need > vn_memory_get_budget ())
    {
      g_autofree char *size = vn_format_bytes (need);

      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("it would take about %s of memory; --verify, or the button Verify, does it all the same"), size);
    }
  else
    return TRUE;
  return FALSE;
}

VnVerification *
vn_verify_job_get_result (VnVerifyJob *self)
{
  g_return_val_if_fail (VN_IS_VERIFY_JOB (self), NULL);

  return self->found->version != NULL ? self->found : NULL;
}

/**
 * vn_verify_job_get_kernels:
 *
 * Returns: (transfer none) (nullable): the forecast with the kernels that ONNX Runtime really chose, if its graph could be had
 */
VnRuntimeForecast *
vn_verify_job_get_kernels (VnVerifyJob *self)
{
  g_return_val_if_fail (VN_IS_VERIFY_JOB (self), NULL);

  return self->kernels;
}

/**
 * vn_verify_job_get_verified:
 *
 * Returns: (transfer none) (nullable): the result of vn_verify_job_new_for_result() with what was measured, after success
 */
VnResult *
vn_verify_job_get_verified (VnVerifyJob *self)
{
  g_return_val_if_fail (VN_IS_VERIFY_JOB (self), NULL);

  return self->verified;
}

VnNotes *
vn_verify_job_get_notes (VnVerifyJob *self)
{
  g_return_val_if_fail (VN_IS_VERIFY_JOB (self), NULL);

  return self->notes;
}
