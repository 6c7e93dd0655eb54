/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of exporting: the quantized model and the report. */
#include "vn-jobs.h"
#include "vn-verify-job.h"

#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-report.h"

struct _VnExportJob
{
  VnJob     parent_instance;
  VnResult *result;
  char     *model_path, *report, *python;
  gboolean  verifies;
  VnOnnxWriteOptions write;
  VnFileSet *files;
};

G_DEFINE_FINAL_TYPE (VnExportJob, vn_export_job, VN_TYPE_JOB)

static gboolean
vn_export_job_wants_model (VnJob *job)
{
  return VN_EXPORT_JOB (job)->model_path != NULL;
}

static gboolean
vn_export_job_write_model (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnExportJob *self = VN_EXPORT_JOB (job);

  return (self->report == NULL || vn_report_expect_memory (self->report, error)) &&
         vn_onnx_write_file (self->result->quantized, self->model_path, &self->write, cancellable, error);
}

/* ---- verifying ---- */

static gboolean
vn_export_job_wants_verify (VnJob *job)
{
  return VN_EXPORT_JOB (job)->verifies;
}

static void
export_job_take (VnExportJob *self,
                 VnResult    *result)
{
  vn_result_unref (self->result);
  self->result = vn_result_ref (result);
}

/* What was written stays, whatever ONNX Runtime makes of it, and the report tells what came of it. */
static gboolean
vn_export_job_verify (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnExportJob *self = VN_EXPORT_JOB (job);
  g_autoptr(VnJob) verify = vn_verify_job_new_for_result (self->result, self->model_path, self->python);
  g_autoptr(VnResult) unverified = NULL;
  g_autoptr(GError) reason = NULL;

  if (vn_job_run (verify, cancellable, &reason))
    export_job_take (self, vn_verify_job_get_verified (VN_VERIFY_JOB (verify)));
  else if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  else
    unverified = vn_job_note_unverified (self->result, reason);
  if (unverified != NULL)
    export_job_take (self, unverified);
  return TRUE;
}

/* ---- the report ---- */

static gboolean
vn_export_job_wants_report (VnJob *job)
{
  return VN_EXPORT_JOB (job)->report != NULL;
}

static gboolean
vn_export_job_write_report (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnExportJob *self = VN_EXPORT_JOB (job);
  VnReportInput input;
  g_autoptr(VnReportModel) report = NULL;

  vn_report_input_init (&input, self->result);
  report = vn_report_model_new (&input, VN_REPORT_LAYOUT_REPORT);
  return vn_report_export (report, self->report, error);
}

/**
 * vn_export_add_outputs:
 * @set: told what an export writes
 * @source: the network that was quantized
 * @model_path: (nullable): as vn_export_job_new() takes it
 * @report: (nullable): as vn_export_job_new() takes it
 * @options: (nullable): where weights go
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the options name no file
 */
gboolean
vn_export_add_outputs (VnFileSet                 *set,
                       const VnModel             *source,
                       const char                *model_path,
                       const char                *report,
                       const VnOnnxWriteOptions  *options,
                       GError                   **error)
{
  g_return_val_if_fail (set != NULL, FALSE);

  vn_report_add_outputs (set, report);
  return vn_onnx_add_outputs (set, source, model_path, options, _("the quantized model"), error);
}

/* Nothing that the result was made from may be replaced by it. */
static gboolean
vn_export_job_check (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnExportJob *self = VN_EXPORT_JOB (job);
  VnResult *result = self->result;

  self->write.files = self->files;
  vn_model_add_files (result->source, self->files);
  vn_data_spec_add_files (result->data, self->files);
  if (result->recipe != NULL)
    vn_recipe_add_files (result->recipe, self->files);
  return vn_export_add_outputs (self->files, result->source, self->model_path, self->report, &self->write, error) &&
         vn_file_set_check (self->files, error);
}

static const VnStage stages[] = {
  { "check",  N_("Checking"),            1, NULL,                       vn_export_job_check },
  { "write",  N_("Writing the model"),  90, vn_export_job_wants_model,  vn_export_job_write_model },
  { "verify", N_("Running ONNX Runtime"), 200, vn_export_job_wants_verify, vn_export_job_verify },
  { "report", N_("Writing the report"), 10, vn_export_job_wants_report, vn_export_job_write_report },
  { NULL },
};

static void
vn_export_job_finalize (GObject *object)
{
  VnExportJob *self = VN_EXPORT_JOB (object);

  vn_result_unref (self->result);
  g_free (self->model_path);
  g_free (self->report);
  g_free (self->python);
  vn_file_set_unref (self->files);
  G_OBJECT_CLASS (vn_export_job_parent_class)->finalize (object);
}

static void
vn_export_job_class_init (VnExportJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_export_job_finalize;
  VN_JOB_CLASS (klass)->stages = stages;
}

static void
vn_export_job_init (VnExportJob *self)
{
  self->files = vn_file_set_new ();
}

/**
 * vn_export_job_new:
 * @model_path: (nullable): file for the quantized model
 * @report: (nullable): file or folder for the report, as vn_report_export() takes it
 *
 * Returns: (transfer full): a job that writes them. A file that stood there is replaced only by a complete new one.
 */
VnJob *
vn_export_job_new (VnResult   *result,
                   const char *model_path,
                   const char *report)
{
  VnExportJob *self;

  g_return_val_if_fail (result != NULL, NULL);

  self = g_object_new (VN_TYPE_EXPORT_JOB, NULL);
  self->result = vn_result_ref (result);
  self->model_path = g_strdup (model_path);
  self->report = g_strdup (report);
  vn_job_set_title (VN_JOB (self), _("Exporting"));
  return VN_JOB (self);
}

/**
 * vn_export_job_set_write_options:
 * @options: where weights go; the name in it must outlive the job
 *
 * Before the job runs.
 */
void
vn_export_job_set_write_options (VnExportJob              *self,
                                 const VnOnnxWriteOptions *options)
{
  g_return_if_fail (VN_IS_EXPORT_JOB (self));

  self->write = *options;
}

/**
 * vn_export_job_set_verify:
 * @python: (nullable): as in VnVerifySettings
 *
 * Lets the export be run in ONNX Runtime when it is written, before the report is. Where that fails the export stays, and a note says why.
 * Before the job runs.
 */
void
vn_export_job_set_verify (VnExportJob *self,
                          const char  *python)
{
  g_return_if_fail (VN_IS_EXPORT_JOB (self));

  self->verifies = TRUE;
  g_free (self->python);
  self->python = g_strdup (python);
}

/**
 * vn_export_job_get_result:
 *
 * Returns: (transfer none): what was exported, with what was measured of it in ONNX Runtime if that was asked for
 */
VnResult *
vn_export_job_get_result (VnExportJob *self)
{
  g_return_val_if_fail (VN_IS_EXPORT_JOB (self), NULL);

  return self->result;
}
