/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of exporting: the quantized model, reports, and what else is to be written. */
#include "vn-export-job.h"
#include "vn-verify-job.h"

#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-report.h"

#include <errno.h>
#include <glib/gstdio.h>

/* @printer: (nullable): NULL: as vn_report_export() takes @path */
typedef struct
{
  const VnReportPrinter *printer;
  char                  *path;
} Report;

/* @from: (nullable): what it is a copy of; @what: for messages */
typedef struct
{
  char           *path, *from, *what;
  VnExportFunc    func;
  gpointer        data;
  GDestroyNotify  destroy;
} File;

typedef struct
{
  char       *from;
  VnCopyFunc  func;
} Copy;

typedef struct
{
  VnRun     *result;        /* nullable */
  char      *model_path, *python;
  char      *folder;        /* nullable: made for the model */
  gboolean   verifies, is_asked;
  GPtrArray *reports;       /* of Report */
  GPtrArray *others;        /* of File */
  GPtrArray *written;       /* of char */
  VnOnnxWriteOptions write;
  VnFileSet *files;
} VnExportJob;

static const VnJobKind export_job_kind;

static void
export_job_free_report (gpointer data)
{
  Report *self = data;

  g_free (self->path);
  g_free (self);
}

static void
export_job_free_file (gpointer data)
{
  File *self = data;

  if (self->destroy != NULL)
    self->destroy (self->data);
  g_free (self->path);
  g_free (self->from);
  g_free (self->what);
  g_free (self);
}

static void
export_job_free_copy (gpointer data)
{
  Copy *self = data;

  g_free (self->from);
  g_free (self);
}

static gboolean
vn_export_job_wants_model (VnJob *job)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);

  return self->model_path != NULL;
}

/* The file with the weights, if there is one of the usual name: of a language model nearly all bytes. Of an older model there is
 * none left. */
static void
export_job_add_weights (VnExportJob *self)
{
  g_autofree char *path = g_strconcat (self->model_path, ".data", NULL);

  if (self->write.external_name == NULL && !self->write.external_each && g_file_test (path, G_FILE_TEST_IS_REGULAR))
    g_ptr_array_add (self->written, g_steal_pointer (&path));
}

static gboolean
vn_export_job_write_model (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);
  g_autoptr(VnModel) written = vn_model_share_transposed (self->result->quantized);

  for (guint i = 0; i < self->reports->len; i++)
    if (!vn_report_expect_memory (((Report *) g_ptr_array_index (self->reports, i))->path, error))
      return FALSE;
  if (!vn_onnx_write_file (written, self->model_path, &self->write, cancellable, error))
    return FALSE;
  g_ptr_array_add (self->written, g_strdup (self->model_path));
  export_job_add_weights (self);
  return TRUE;
}

/* ---- verifying ---- */

static gboolean
vn_export_job_wants_verify (VnJob *job)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);

  return self->verifies;
}

static void
export_job_take (VnExportJob *self,
                 VnRun       *result)
{
  vn_run_unref (self->result);
  self->result = vn_run_ref (result);
}

/* What was written stays, whatever ONNX Runtime makes of it, and the report tells what came of it. */
static gboolean
vn_export_job_verify (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);
  g_autoptr(VnJob) verify = vn_verify_job_new_for_result (self->result, self->model_path, self->python, self->is_asked);
  g_autoptr(VnRun) unverified = NULL;
  g_autoptr(GError) reason = NULL;

  if ((self->is_asked || vn_verify_job_suits (self->result, &reason)) && vn_job_run (verify, cancellable, &reason))
    export_job_take (self, vn_verify_job_get_verified (verify));
  else if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  else
    unverified = vn_job_note_unverified (self->result, reason, self->is_asked);
  if (unverified != NULL)
    export_job_take (self, unverified);
  return TRUE;
}

/* ---- the reports ---- */

static gboolean
vn_export_job_wants_report (VnJob *job)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);

  return self->reports->len > 0;
}

static gboolean
vn_export_job_write_report (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);
  const VnProgress progress = vn_job_get_reporter (job);
  g_autoptr(VnReportModel) model = vn_report_model_new (self->result, VN_REPORT_LAYOUT_REPORT);

  for (guint i = 0; i < self->reports->len; i++)
    {
      const Report *report = g_ptr_array_index (self->reports, i);

      vn_progress_report (&progress, NULL, i, self->reports->len);
      if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
          !(report->printer != NULL ? vn_report_write (model, report->printer, report->path, error)
            : vn_report_export (model, report->path, error)))
        return FALSE;
      g_ptr_array_add (self->written, g_strdup (report->path));
    }
  return TRUE;
}

/* ---- other files ---- */

static gboolean
vn_export_job_wants_others (VnJob *job)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);

  return self->others->len > 0;
}

static gboolean
vn_export_job_write_others (VnJob         *job,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);
  const VnProgress progress = vn_job_get_reporter (job);

  for (guint i = 0; i < self->others->len; i++)
    {
      const File *file = g_ptr_array_index (self->others, i);

      vn_progress_report (&progress, NULL, i, self->others->len);
      if (g_cancellable_set_error_if_cancelled (cancellable, error) || !file->func (file->data, file->path, cancellable, error))
        return FALSE;
      g_ptr_array_add (self->written, g_strdup (file->path));
    }
  return TRUE;
}

/* ---- check ---- */

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

  if (report != NULL && !vn_report_check_form (report, error))
    return FALSE;
  vn_report_add_outputs (set, report);
  return vn_onnx_add_outputs (set, source, model_path, options, _("the quantized model"), error);
}

static void
export_job_add_file (VnFileSet  *files,
                     const File *file)
{
  g_autofree char *folder = g_path_get_dirname (file->path), *name = g_path_get_basename (file->path);

  if (file->from == NULL)
    {
      vn_file_set_writes (files, file->path, file->what);
      return;
    }
  vn_file_set_reads (files, file->from, file->what);
  vn_file_set_writes_in (files, folder, name, file->what);
}

/* Nothing that the result was made from may be replaced by it. */
static gboolean
vn_export_job_check (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnExportJob *self = vn_job_get_state (job, &export_job_kind);
  VnRun *result = self->result;

  if (!vn_job_check_sources (job, error))
    return FALSE;
  if (self->folder != NULL && g_mkdir_with_parents (self->folder, 0777) != 0)
    {
      vn_file_fail (error, _("Cannot write"), self->folder, errno);
      return FALSE;
    }
  self->write.files = self->files;
  for (guint i = 0; i < self->others->len; i++)
    {
      const File *file = g_ptr_array_index (self->others, i);

      export_job_add_file (self->files, file);
    }
  for (guint i = 0; i < self->reports->len; i++)
    {
      const Report *report = g_ptr_array_index (self->reports, i);

      if (report->printer != NULL)
        vn_file_set_writes (self->files, report->path, _("the report"));
      else
        vn_report_add_outputs (self->files, report->path);
    }
  if (result == NULL)
    return vn_file_set_check (self->files, error);
  vn_model_add_files (result->source, self->files);
  vn_data_spec_add_files (result->data, self->files);
  if (result->recipe != NULL)
    vn_recipe_add_files (result->recipe, self->files);
  return (self->model_path == NULL || vn_onnx_add_outputs (self->files, result->source, self->model_path, &self->write,
                                                           _("the quantized model"), error)) &&
         vn_file_set_check (self->files, error);
}

static const VnStage stages[] = {
  { "check",  N_("Checking"),            1, NULL,                       vn_export_job_check },
  { "write",  N_("Writing the model"),  90, vn_export_job_wants_model,  vn_export_job_write_model },
  { "verify", N_("Running the export"), 200, vn_export_job_wants_verify, vn_export_job_verify },
  { "report", N_("Writing the report"), 10, vn_export_job_wants_report, vn_export_job_write_report },
  { "others", N_("Writing the other files"), 20, vn_export_job_wants_others, vn_export_job_write_others },
  { NULL },
};

static void
export_job_clear (gpointer data)
{
  VnExportJob *self = data;

  g_clear_pointer (&self->result, vn_run_unref);
  g_ptr_array_unref (self->reports);
  g_ptr_array_unref (self->others);
  g_ptr_array_unref (self->written);
  g_free (self->model_path);
  g_free (self->python);
  if (self->folder != NULL)
    g_rmdir (self->folder);   /* where it got nothing */
  g_free (self->folder);
  vn_file_set_unref (self->files);
}

static const VnJobKind export_job_kind = {
  .id = VN_JOB_EXPORT,
  .state_size = sizeof (VnExportJob),
  .stages = stages,
  .clear = export_job_clear,
};

/**
 * vn_export_job_new:
 * @result: (nullable): %NULL: there is neither a model nor a report to be written
 * @model_path: (nullable): file for the quantized model
 * @report: (nullable): file or folder for the report, as vn_report_export() takes it
 *
 * Returns: (transfer full): a job that writes them. A file that stood there is replaced only by a complete new one.
 */
VnJob *
vn_export_job_new (VnRun      *result,
                   const char *model_path,
                   const char *report)
{
  VnJob *job;
  VnExportJob *self;

  g_return_val_if_fail (result != NULL || (model_path == NULL && report == NULL), NULL);

  job = vn_job_new (&export_job_kind);
  self = vn_job_get_state (job, &export_job_kind);
  self->files = vn_file_set_new ();
  self->reports = g_ptr_array_new_with_free_func (export_job_free_report);
  self->others = g_ptr_array_new_with_free_func (export_job_free_file);
  self->written = g_ptr_array_new_with_free_func (g_free);
  self->result = result != NULL ? vn_run_ref (result) : NULL;
  self->model_path = g_strdup (model_path);
  if (report != NULL)
    vn_export_job_add_report (job, NULL, report);
  vn_job_add_source (job, result != NULL ? result->source : NULL);
  return job;
}

/**
 * vn_export_job_set_write_options:
 * @options: where weights go; the name in it must outlive the job
 *
 * Before the job runs.
 */
void
vn_export_job_set_write_options (VnJob                    *job,
                                 const VnOnnxWriteOptions *options)
{
  VnExportJob *self;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT));

  self = vn_job_get_state (job, &export_job_kind);
  self->write = *options;
}

/**
 * vn_export_job_set_verify:
 * @python: (nullable): as in VnVerifySettings
 * @is_asked: as of vn_verify_job_new_for_result()
 *
 * Lets the export be run in ONNX Runtime when it is written, before the report is. Where that fails the export stays, and a note
 * says why. Before the job runs.
 */
void
vn_export_job_set_verify (VnJob      *job,
                          const char *python,
                          gboolean    is_asked)
{
  VnExportJob *self;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT));

  self = vn_job_get_state (job, &export_job_kind);
  self->verifies = TRUE;
  self->is_asked = is_asked;
  g_free (self->python);
  self->python = g_strdup (python);
}

/**
 * vn_export_job_get_result:
 *
 * Returns: (transfer none) (nullable): what was exported, with what was measured of it in ONNX Runtime if that was asked for
 */
VnRun *
vn_export_job_get_result (VnJob *job)
{
  VnExportJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_EXPORT), NULL);

  self = vn_job_get_state (job, &export_job_kind);
  return self->result;
}

/**
 * vn_export_job_add_report:
 * @printer: (nullable): %NULL: @path is as vn_report_export() takes it
 * @path: of the file
 *
 * Before the job runs; it has a result.
 */
void
vn_export_job_add_report (VnJob                 *job,
                          const VnReportPrinter *printer,
                          const char            *path)
{
  VnExportJob *self;
  Report *report;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT) && path != NULL);

  self = vn_job_get_state (job, &export_job_kind);
  g_return_if_fail (self->result != NULL);

  report = g_new0 (Report, 1);
  *report = (Report) { printer, g_strdup (path) };
  g_ptr_array_add (self->reports, report);
}

/**
 * vn_export_job_add_file:
 * @path: of the file
 * @what: what it is, for messages: "the picture"
 * @func: writes it
 * @data: for @func
 * @destroy: (nullable): frees @data, with the job
 *
 * Before the job runs. Such files are written last, in this order.
 */
void
vn_export_job_add_file (VnJob          *job,
                        const char     *path,
                        const char     *what,
                        VnExportFunc    func,
                        gpointer        data,
                        GDestroyNotify  destroy)
{
  VnExportJob *self;
  File *file;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT) && path != NULL && what != NULL && func != NULL);

  self = vn_job_get_state (job, &export_job_kind);
  file = g_new0 (File, 1);
  *file = (File) { g_strdup (path), NULL, g_strdup (what), func, data, destroy };
  g_ptr_array_add (self->others, file);
}

static gboolean
export_job_copy (gpointer       data,
                 const char    *path,
                 GCancellable  *cancellable,
                 GError       **error)
{
  const Copy *copy = data;

  return copy->func (copy->from, path, cancellable, error);
}

/**
 * vn_export_job_add_copy:
 * @from: a file that is copied
 * @path: where it goes
 * @what: what it is, for messages
 * @func: copies it, and makes folders that are missing
 *
 * As vn_export_job_add_file(). Nothing that is read is replaced.
 */
void
vn_export_job_add_copy (VnJob        *job,
                        const char   *from,
                        const char   *path,
                        const char   *what,
                        VnCopyFunc    func)
{
  VnExportJob *self;
  Copy *copy;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT) && from != NULL);

  self = vn_job_get_state (job, &export_job_kind);
  copy = g_new0 (Copy, 1);
  *copy = (Copy) { g_strdup (from), func };
  vn_export_job_add_file (job, path, what, export_job_copy, copy, export_job_free_copy);
  ((File *) g_ptr_array_index (self->others, self->others->len - 1))->from = g_strdup (from);
}

/**
 * vn_export_job_make_folder:
 * @folder: made when the job runs, if it is not there; gone again if nothing was written into it
 */
void
vn_export_job_make_folder (VnJob      *job,
                           const char *folder)
{
  VnExportJob *self;

  g_return_if_fail (vn_job_is (job, VN_JOB_EXPORT) && folder != NULL);

  self = vn_job_get_state (job, &export_job_kind);
  g_free (self->folder);
  self->folder = g_strdup (folder);
}

/**
 * vn_export_job_get_written:
 *
 * Returns: (transfer none) (element-type filename): what was written, in that order; also after an error
 */
GPtrArray *
vn_export_job_get_written (VnJob *job)
{
  VnExportJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_EXPORT), NULL);

  self = vn_job_get_state (job, &export_job_kind);
  return self->written;
}
