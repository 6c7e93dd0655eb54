/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “verify”: samples are written into a temporary folder, a runtime runs them in another process, and what it writes is
 * compared with our own outputs of the same samples. */
#include "verify-job-private.h"
#include "verify-folder.h"
#include "verify-sums.h"

#include "vn-i18n.h"

#include <math.h>

#define USUAL_SAMPLES 8
#define USUAL_RUNS 20
#define USUAL_TIMEOUT 300

/* Beside another job nobody waits longer than a moment for it. */
#define FEW_SAMPLES 4
#define FEW_SECONDS 1.0
#define LONG_RUN 0.25      /* seconds; of runs that are longer half the samples are run */

static const VnJobKind verify_job_kind;

/* ---- the temporary folder ---- */

static void
verify_job_remove_folder (VnVerifyJob *self)
{
  if (self->folder != NULL)
    vn_verify_folder_remove (self->folder);
  g_clear_pointer (&self->folder, g_free);
}

static gboolean
vn_verify_job_prepare (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);

  if (!vn_verify_samples_open (self, cancellable, error))
    return FALSE;
  self->folder = g_dir_make_tmp ("vernier-verify-XXXXXX", error);
  return self->folder != NULL && vn_verify_samples_write (self, cancellable, error);
}

static gboolean
vn_verify_job_run_there (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  return vn_verify_run_there (vn_job_get_state (job, &verify_job_kind), cancellable, error);
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
  const VnSamples samples = vn_verify_samples_get (self, &progress);
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

static gboolean
vn_verify_job_read_kernels (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnVerifyJob *self = vn_job_get_state (job, &verify_job_kind);

  vn_verify_run_read_kernels (self);
  if (self->result != NULL)
    self->verified = vn_job_take_verification (self->result, self->found, self->kernels);
  return TRUE;
}

/* ---- the job ---- */

static const VnStage stages[] = {
  { "prepare", N_("Writing the samples"),   10, NULL, vn_verify_job_prepare },
  { "runtime", N_("Running the export"),  60, NULL, vn_verify_job_run_there },
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
  g_clear_pointer (&self->sizes, g_hash_table_unref);
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

/* What is not for another runtime, or for one that is not here, is for the usual one. */
static void
verify_job_choose_runtimes (VnVerifyJob           *self,
                            const VnTargetRuntime *runtime,
                            gboolean               or_usual)
{
  const VnTargetRuntime *usual = vn_target_runtime_get_default ();

  self->runtimes[0] = runtime != NULL ? runtime : usual;
  self->runtimes[1] = usual;
  self->n_runtimes = self->runtimes[0] != usual && or_usual ? 2 : 1;
}

/**
 * vn_verify_job_new:
 * @settings: copied, with references to what it points to; numbers that are 0 are the usual ones
 *
 * Returns: (transfer full): a job that runs an export in a runtime, in a process of its own, and compares its outputs with ours
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
  verify_job_choose_runtimes (self, settings->runtime, settings->or_usual);
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
                                  .float_path = source != NULL && g_file_test (source, G_FILE_TEST_IS_REGULAR) ? source : NULL,
                                  .runtime = vn_verify_runtime_for (result), .or_usual = !is_asked };
  if (!is_asked)
    {
      settings.n_samples = result->forecast != NULL && result->forecast->float_seconds > LONG_RUN ? FEW_SAMPLES / 2 : FEW_SAMPLES;
      settings.seconds = FEW_SECONDS;
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
 * Returns: (transfer none) (nullable): the forecast with the kernels that the runtime really chose, if its graph could be had
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
