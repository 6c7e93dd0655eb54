/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What "quantize" writes: the model, its report, recipe, project and what other tools read; and what ONNX Runtime makes of the
 * model. */
#include "cmd-quantize.h"

#include "vn-cmd-project.h"
#include "vn-export-job.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-i18n.h"
#include "vn-jobs.h"
#include "vn-layer-file.h"
#include "vn-verify-job.h"

#include <string.h>

typedef char *(*ExportFunc) (const VnRecipe *, const VnModel *, const char *, const VnDataSpec *, VnNotes *, VnNotes *);

static gboolean
quantize_write_settings (const char  *file,
                         ExportFunc   func,
                         VnRun       *result,
                         const char  *model,
                         GError     **error)
{
  g_autofree char *text = NULL;

  if (file == NULL)
    return TRUE;
  text = func (result->recipe, result->source, model, result->data, result->notes, result->notes);
  return vn_file_write_all (file, text, strlen (text), error);
}

/* What writing needs beside the result.
 * @keep: where the run is kept, and what is printed of that
 * @folder, @model: that were given */
typedef struct
{
  VnCmdKeep           keep;
  const char         *python;
  VnOnnxWriteOptions  options;
  const VnCmdFolder  *folder;
  const VnModel      *model;
} Writing;

/* NULL with an error set if something could not be written; otherwise the result, with what verifying found. */
static VnRun *
quantize_write_export (VnRun          *result,
                       const char     *model_path,
                       const char     *report_path,
                       gboolean        verifies,
                       const Writing  *writing,
                       GError        **error)
{
  g_autoptr(VnJob) export = vn_export_job_new (result, model_path, report_path);

  vn_export_job_set_write_options (export, &writing->options);
  if (verifies)
    vn_export_job_set_verify (export, writing->python, vn_quantize_options.verify);
  return vn_cmd_run_job (export, error) ? vn_run_ref (vn_export_job_get_result (export)) : NULL;
}

/* What ONNX Runtime makes of it stands in all that is written. With --verify it is the file itself that is run, otherwise a
 * copy. */
static VnRun *
quantize_write_verify (VnRun          *result,
                       const Writing  *writing,
                       GError        **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;

  if (!options->verify && (options->no_verify || !vn_verify_job_is_usual ()))
    return vn_run_ref (result);
  return quantize_write_export (result, options->verify ? options->output : NULL, NULL, TRUE, writing, error);
}

/* ---- what the tool of the target is told ---- */

/* An export that is whole is not given up for that: a note says why there is no list. */
static gboolean
quantize_write_measure_layers (VnLayerFile  *layers,
                               VnNotes      *notes,
                               GError      **error)
{
  g_autoptr(VnJob) job = vn_layer_file_new_job (layers);
  g_autoptr(GError) reason = NULL;

  if (job == NULL || vn_cmd_run_job (job, &reason))
    {
      if (job != NULL)
        vn_layer_file_take (layers, vn_quantize_job_get_result (job));
      vn_layer_file_note (layers, notes);
      return TRUE;
    }
  if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_LAYERS, layers->list->tool, _("No list of sensitive layers was written: %s"),
                reason->message);
  return TRUE;
}

/* Which they are stands in all reports. */
static gboolean
quantize_write_find_layers (VnRun        *result,
                            VnLayerFile **layers,
                            GError      **error)
{
  const char *output = vn_quantize_options.output;

  *layers = output != NULL ? vn_layer_file_new (result, output, (guint) vn_cmd_options.threads) : NULL;
  return *layers == NULL || quantize_write_measure_layers (*layers, result->notes, error);
}

static gboolean
quantize_write_layers (VnRun        *result,
                       VnLayerFile  *layers,
                       GError      **error)
{
  g_autoptr(VnJob) job = NULL;

  if (layers == NULL || vn_layer_file_count (layers) == 0)
    return TRUE;
  job = vn_export_job_new (result, NULL, NULL);
  vn_layer_file_add (layers, job, NULL);
  return vn_cmd_run_job (job, error);
}

/* The model comes last, when all else is complete and waits for its name; only with --verify, which runs it, it comes first. */
static gboolean
quantize_write_all (VnRun         **result,
                    const Writing  *writing,
                    VnLayerFile   **layers,
                    GError        **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  g_autoptr(VnRun) written = quantize_write_verify (*result, writing, error);
  g_autoptr(VnRun) reported = NULL;
  g_autoptr(VnRun) last = NULL;

  if (written == NULL || !quantize_write_find_layers (written, layers, error))
    return FALSE;
  vn_cmd_hold_files ();
  reported = options->report != NULL ? quantize_write_export (written, NULL, options->report, FALSE, writing, error)
                                     : vn_run_ref (written);
  if (reported == NULL || (options->save_recipe != NULL && !vn_recipe_save (written->recipe, options->save_recipe, error)) ||
      !quantize_write_settings (options->export_script, vn_recipe_to_ort_script, written, writing->keep.model, error) ||
      !quantize_write_settings (options->export_xquant, vn_recipe_to_xquant, written, writing->keep.model, error) ||
      !quantize_write_layers (written, *layers, error) ||
      !vn_cmd_keep_run (&writing->keep, written, error) || !vn_cmd_folder_copy (writing->folder, writing->model, error))
    return FALSE;
  if (!options->verify && options->output != NULL)
    {
      vn_file_hold (FALSE);
      last = quantize_write_export (written, options->output, NULL, FALSE, writing, error);
      if (last == NULL)
        return FALSE;
    }
  vn_run_unref (*result);
  *result = g_steal_pointer (&written);
  return TRUE;
}

/**
 * vn_cmd_quantize_write:
 * @result: (inout): gets what verifying found
 * @python: (nullable): as in VnVerifySettings
 * @lines: gets what is printed of the run that projects keep
 * @layers: (out) (transfer full) (nullable): what the tool of the target is told
 *
 * Verifies the export, and writes all that the options name, together when the command has done all.
 */
gboolean
vn_cmd_quantize_write (VnRun                 **result,
                       const VnQuantizeInput  *input,
                       const char             *python,
                       GString                *lines,
                       VnLayerFile           **layers,
                       GError                **error)
{
  Writing writing;

  g_return_val_if_fail (result != NULL && *result != NULL && input != NULL && lines != NULL && layers != NULL, FALSE);

  writing = (Writing) { { .save = vn_quantize_options.save_project, .given = input->project != NULL ? input->given : NULL,
                          .model = input->path, .run = input->run, .lines = lines, .sizes = input->shapes },
                        python, input->write, &input->folder, input->model };
  return quantize_write_all (result, &writing, layers, error);
}

/**
 * vn_cmd_quantize_judge:
 *
 * Makes the command fail if ONNX Runtime does not give what was expected of the export, or was asked and could not, or if the
 * verdict is worse than was asked for. All is written and printed then.
 */
void
vn_cmd_quantize_judge (const VnRun *result)
{
  const VnVerification *found;
  g_autofree char *fault = NULL;
  g_autoptr(GError) reason = NULL;

  g_return_if_fail (result != NULL);

  found = result->verification;
  /* that sums saturate on this processor is no fault of the export */
  fault = found != NULL && !vn_verification_is_saturated (found) ? vn_verification_dup_fault (found) : NULL;
  if (fault != NULL)
    reason = g_error_new (VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED, _("%s. The written files were kept"), fault);
  else if (vn_quantize_options.verify && found == NULL)
    reason = g_error_new (VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING, _("The export could not be run in %s. "
                                                                      "The written files were kept"),
                          vn_verify_runtime_of (result)->title);
  if (reason != NULL)
    vn_cmd_fail (reason);
  vn_cmd_judge_verdict (result, vn_quantize_options.fail_unless);
}
