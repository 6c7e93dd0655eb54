/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be exported of a bench, and the job that writes it.
 *
 * To add a file that the window exports: a line here, written by what `bench_export_add()` there makes of it: rows of
 * the step Export follow; a form of the picture of the graph also in `src/app/graph/vn-graph-picture.c` and
 * `src/app/widgets/vn-compat.c`. */
#include "bench-private.h"

#include "vn-error.h"
#include "vn-export-job.h"
#include "vn-export-settings.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-layer-file.h"
#include "vn-report.h"

#include <string.h>

/* ---- the kinds ---- */

static const VnExportKind before_reports[] = {
  { "model", VN_QUANTIZED_SUFFIX, N_("Quantized model"), VN_EXPORT_MODEL, TRUE },
};

static const VnExportKind behind_reports[] = {
  { "png", "-graph.png", N_("PNG, in pixels"), VN_EXPORT_PICTURE, FALSE },
  { "svg", "-graph.svg", N_("SVG, for web pages and drawing programs"), VN_EXPORT_PICTURE, FALSE },
  { "graph-pdf", "-graph.pdf", N_("PDF, for printing"), VN_EXPORT_PICTURE, FALSE },
  { "project", NULL, N_("Project, to continue in Vernier"), VN_EXPORT_WORK, FALSE },
  { "script", NULL, N_("Python script, to repeat it with onnxruntime.quantization"), VN_EXPORT_WORK, FALSE },
};

/* Reports are those of their printers. */
static GArray *
bench_export_make_kinds (void)
{
  GArray *kinds = g_array_new (FALSE, FALSE, sizeof (VnExportKind));
  guint n;
  const VnReportPrinter *printers = vn_report_printer_list (&n);

  g_array_append_vals (kinds, before_reports, G_N_ELEMENTS (before_reports));
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *ending = g_strconcat ("-report", strrchr (printers[i].file, '.'), NULL);
      const VnExportKind kind = { printers[i].id, g_intern_string (ending), printers[i].title, VN_EXPORT_REPORT,
                                  g_str_equal (printers[i].id, "html") };

      g_array_append_val (kinds, kind);
    }
  for (guint i = 0; i < G_N_ELEMENTS (behind_reports); i++)
    {
      VnExportKind kind = behind_reports[i];

      if (kind.ending == NULL)
        kind.ending = vn_bench_get_save_ending (kind.id);
      g_array_append_val (kinds, kind);
    }
  return kinds;
}

static GArray *
bench_export_get_kinds (void)
{
  static GArray *kinds;

  if (kinds == NULL)
    kinds = bench_export_make_kinds ();
  return kinds;
}

/**
 * vn_bench_count_exports:
 *
 * Returns: how many kinds of files there are
 */
guint
vn_bench_count_exports (void)
{
  return bench_export_get_kinds ()->len;
}

const VnExportKind *
vn_bench_get_export (guint i)
{
  g_return_val_if_fail (i < vn_bench_count_exports (), NULL);

  return &g_array_index (bench_export_get_kinds (), VnExportKind, i);
}

/**
 * vn_bench_find_export:
 *
 * Returns: (transfer none) (nullable): the kind of that id
 */
const VnExportKind *
vn_bench_find_export (const char *id)
{
  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < vn_bench_count_exports (); i++)
    if (g_str_equal (vn_bench_get_export (i)->id, id))
      return vn_bench_get_export (i);
  return NULL;
}

/**
 * vn_bench_can_export:
 *
 * Returns: whether there is something of this kind
 */
gboolean
vn_bench_can_export (VnBench            *self,
                     const VnExportKind *kind)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && kind != NULL, FALSE);

  if (kind->group == VN_EXPORT_PICTURE)
    return self->subject->model != NULL && self->hooks.picture != NULL;
  if (kind->group == VN_EXPORT_WORK)
    return self->subject->model != NULL && self->subject->model->path != NULL;
  return self->shown.run != NULL;
}

/* ---- files of what was decided ---- */

typedef struct
{
  VnModel    *model;
  VnRecipe   *recipe;
  VnDataSpec *data;    /* nullable */
  VnNotes    *run;     /* nullable: of the run with these settings */
} Script;

static void
bench_export_free_script (gpointer data)
{
  Script *self = data;

  vn_model_unref (self->model);
  vn_recipe_free (self->recipe);
  g_clear_pointer (&self->data, vn_data_spec_free);
  g_clear_pointer (&self->run, vn_notes_unref);
  g_free (self);
}

/* What the script cannot say stands in it. */
static char *
bench_export_comment (VnNotes    *notes,
                      const char *script)
{
  GString *text = g_string_new (script);

  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);
      g_autofree char *line = g_strdelimit (g_strdup (note->text), "\r\n", ' ');

      g_string_append_printf (text, "%s# %s%s%s\n", i == 0 ? "\n" : "", note->subject != NULL ? note->subject : "",
                              note->subject != NULL ? ": " : "", line);
    }
  return g_string_free (text, FALSE);
}

static gboolean
bench_export_write_script (gpointer       data,
                           const char    *path,
                           GCancellable  *cancellable,
                           GError       **error)
{
  const Script *self = data;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autofree char *script = vn_recipe_to_ort_script (self->recipe, self->model, self->model->path, self->data, self->run, notes);
  g_autofree char *text = bench_export_comment (notes, script);

  return vn_file_write_all (path, text, strlen (text), error);
}

static gboolean
bench_export_write_project (gpointer       data,
                            const char    *path,
                            GCancellable  *cancellable,
                            GError       **error)
{
  return vn_keeper_write_copy (data, error);
}

static void
bench_export_add_work (VnBench            *self,
                       VnJob              *job,
                       const VnExportFile *file)
{
  Script *script;

  if (g_str_equal (file->kind->id, "project"))
    {
      vn_export_job_add_file (job, file->path, _("the project"), bench_export_write_project,
                              vn_keeper_begin_copy (self->keeper, file->path),
                              vn_keeper_free_copy);
      return;
    }
  script = g_new0 (Script, 1);
  *script = (Script) { vn_model_ref (self->subject->model), vn_recipe_copy (self->recipe), self->subject->data != NULL
                       ? vn_data_spec_copy (self->subject->data) : NULL,
                       vn_bench_get_run_notes (self) };
  if (script->run != NULL)
    vn_notes_ref (script->run);
  vn_export_job_add_file (job, file->path, _("the script"), bench_export_write_script, script, bench_export_free_script);
}

/* ---- the job ---- */

/* What an earlier run found is kept, its network is not. */
static gboolean
bench_export_find_result (VnBench   *self,
                          gboolean   with_model,
                          VnRun    **result,
                          GError   **error)
{
  const gboolean is_past = !with_model && self->shown.past != NULL;

  *result = is_past ? self->shown.past : self->shown.run;
  return is_past || vn_bench_has_network (self, error);
}

static gboolean
bench_export_add (VnBench             *self,
                  VnJob               *job,
                  const VnExportFile  *file,
                  GError             **error)
{
  VnGraphShot shot;

  switch (file->kind->group)
    {
    case VN_EXPORT_MODEL:
      break;   /* it is what the job begins with */
    case VN_EXPORT_REPORT:
      vn_export_job_add_report (job, vn_report_printer_find (file->kind->id), file->path);
      break;
    case VN_EXPORT_WORK:
      bench_export_add_work (self, job, file);
      break;
    case VN_EXPORT_PICTURE:
      if (self->hooks.picture == NULL || !self->hooks.picture (self->hooks.picture_data, strrchr (file->kind->ending, '.') + 1,
                                                               file->dark, &shot))
        {
          g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("No graph is shown yet, so there is no image of it."));
          return FALSE;
        }
      vn_export_job_add_file (job, file->path, _("the graph image"), shot.func, shot.data, shot.destroy);
      break;
    }
  return TRUE;
}

/* The file that the network is written to; @path may be that of the folder it goes into. */
static char *
bench_export_dup_model (VnBench    *self,
                        const char *path)
{
  return vn_bench_exports_folder (self, path) ? g_build_filename (path, self->folder->name, NULL) : g_strdup (path);
}

/* Tokenizer, configuration and whatever else a language model has come along. */
static gboolean
bench_export_add_folder (VnBench     *self,
                         VnJob       *job,
                         const char  *path,
                         GError     **error)
{
  g_autoptr(GPtrArray) names = NULL;

  if (!vn_bench_exports_folder (self, path))
    return TRUE;
  names = vn_genai_folder_list_others (self->folder, self->subject->model, path, error);
  vn_export_job_make_folder (job, path);
  for (guint i = 0; names != NULL && i < names->len; i++)
    {
      g_autofree char *from = g_build_filename (self->folder->path, g_ptr_array_index (names, i), NULL),
      *to = g_build_filename (path, g_ptr_array_index (names, i), NULL);

      vn_export_job_add_copy (job, from, to, _("a file of the language model"), vn_genai_folder_copy_file);
    }
  return names != NULL;
}

/**
 * vn_bench_exports_folder:
 * @path: (nullable): where the model is to be exported to
 *
 * Returns: whether that becomes a folder with all that a language model has: what was opened is one, and @path has not the name
 *   of a model
 */
gboolean
vn_bench_exports_folder (VnBench    *self,
                         const char *path)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return self->folder != NULL && path != NULL && !g_str_has_suffix (path, ".onnx");
}

/**
 * vn_bench_dup_export_path:
 *
 * Returns: (transfer full): where the quantized model, or its folder, is proposed to go: "/home/ada/detector-quantized.onnx",
 *   "/home/ada/qwen-quantized"
 */
char *
vn_bench_dup_export_path (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_bench_dup_file_path (self, self->folder != NULL ? VN_QUANTIZED_FOLDER : VN_QUANTIZED_SUFFIX);
}

/* Beside the model: what the tool of its target is told. */
static void
bench_export_add_layers (VnJob      *job,
                         VnRun      *result,
                         const char *model_path)
{
  VnLayerFile *layers = model_path != NULL ? vn_layer_file_new (result, model_path, 0) : NULL;

  if (layers != NULL && layers->layers == NULL && layers->list->like == NULL)
    g_clear_pointer (&layers, vn_layer_file_free);   /* where error starts is not found yet */
  if (layers != NULL)
    vn_layer_file_add (layers, job, (GDestroyNotify) vn_layer_file_free);
}

/**
 * vn_bench_export_files:
 * @files: what is to be written, and where; models and reports need a result; of the model as vn_bench_exports_folder() takes it
 * @verify: run the model in ONNX Runtime, too: the result comes again with what was measured, or with a note why it could not be
 *
 * Begins to write them; a file that stands there is replaced by a complete new one.
 *
 * Returns: %FALSE if something of that is not there, or something else is going on
 */
gboolean
vn_bench_export_files (VnBench             *self,
                       const VnExportFile  *files,
                       guint                n_files,
                       gboolean             verify,
                       GError             **error)
{
  const char *model = NULL;
  gboolean needs_result = FALSE;
  VnRun *result = NULL;
  g_autoptr(VnJob) job = NULL;
  g_autofree char *network = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self) && files != NULL && self->subject->model != NULL, FALSE);

  for (guint i = 0; i < n_files; i++)
    {
      needs_result = needs_result || files[i].kind->group == VN_EXPORT_MODEL || files[i].kind->group == VN_EXPORT_REPORT;
      if (files[i].kind->group == VN_EXPORT_MODEL)
        model = files[i].path;
    }
  if (!vn_bench_is_idle (self, error) || (needs_result && !bench_export_find_result (self, model != NULL, &result, error)))
    return FALSE;
  network = bench_export_dup_model (self, model);
  job = vn_export_job_new (result, network, NULL);
  if (!bench_export_add_folder (self, job, model, error))
    return FALSE;
  for (guint i = 0; i < n_files; i++)
    if (!bench_export_add (self, job, &files[i], error))
      return FALSE;
  bench_export_add_layers (job, result, network);
  if (verify && model != NULL)
    {
      vn_bench_make_room (self);
      vn_export_job_set_verify (job, NULL, TRUE);
    }
  vn_bench_start (self, VN_WORK_EXPORT, g_steal_pointer (&job));
  return TRUE;
}

/**
 * vn_bench_export:
 * @model_path: (nullable): where the quantized model goes, as vn_bench_exports_folder() takes it
 * @report: (nullable): file or folder for the report: vn_report_export()
 * @verify: as for vn_bench_export_files()
 *
 * Returns: %FALSE if there is nothing to export, or something else is going on
 */
gboolean
vn_bench_export (VnBench     *self,
                 const char  *model_path,
                 const char  *report,
                 gboolean     verify,
                 GError     **error)
{
  VnRun *result;
  g_autoptr(VnJob) job = NULL;
  g_autofree char *network = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (!bench_export_find_result (self, model_path != NULL, &result, error) || !vn_bench_is_idle (self, error))
    return FALSE;
  network = bench_export_dup_model (self, model_path);
  job = vn_export_job_new (result, network, report);
  if (!bench_export_add_folder (self, job, model_path, error))
    return FALSE;
  bench_export_add_layers (job, result, network);
  if (verify)
    {
      vn_bench_make_room (self);
      vn_export_job_set_verify (job, NULL, TRUE);
    }
  vn_bench_start (self, VN_WORK_EXPORT, g_steal_pointer (&job));
  return TRUE;
}
