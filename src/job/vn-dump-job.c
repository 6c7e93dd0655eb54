/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “dump”: one sample through a network, every tensor into a file. */
#include "vn-jobs.h"

#include "vn-file.h"
#include "vn-file-hold.h"
#include "vn-i18n.h"
#include "vn-json.h"

#include <glib/gstdio.h>
#include <json-glib/json-glib.h>

typedef struct
{
  VnDumpSettings  settings;      /* owns what it points to */
  VnDump         *dump;
  VnNotes        *notes;
} VnDumpJob;

static const VnJobKind dump_job_kind;

/* ---- the folder ---- */

static gboolean
dump_job_is_empty (const char *path)
{
  g_autoptr(GDir) dir = g_dir_open (path, 0, NULL);

  return dir != NULL && g_dir_read_name (dir) == NULL;
}

/* Made before anything runs; what stands in it is somebody's results. */
static gboolean
dump_job_make_folder (const VnDumpSettings  *settings,
                      GError               **error)
{
  if (g_file_test (settings->folder, G_FILE_TEST_IS_DIR) && !settings->replace && !dump_job_is_empty (settings->folder))
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
                   _("The folder “%s” is not empty: choose another one, or overwrite its files with --force"), settings->folder);
      return FALSE;
    }
  return vn_file_make_folder (settings->folder, error);
}

/* Nothing that is read lies among the files that are written. */
static gboolean
dump_job_check_files (VnDumpJob  *self,
                      GError    **error)
{
  const VnDumpSettings *settings = &self->settings;
  g_autoptr(VnFileSet) files = settings->files != NULL ? vn_file_set_ref (settings->files) : vn_file_set_new ();

  vn_model_add_files (settings->model, files);
  vn_data_spec_add_files (settings->data, files);
  vn_dump_add_outputs (self->dump, settings->folder, files);
  vn_file_set_writes_in (files, settings->folder, VN_DUMP_INDEX, _("the dump"));
  return vn_file_set_check (files, error);
}

/* ---- the list of files ---- */

static void
dump_job_add_numbers (JsonBuilder    *json,
                      const char     *key,
                      const VnTensor *tensor)
{
  if (tensor == NULL)
    return;
  vn_json_begin_array (json, key);
  for (gsize i = 0; i < tensor->n_elements; i++)
    if (vn_dtype_is_float (tensor->dtype))
      json_builder_add_double_value (json, vn_tensor_get_double (tensor, i));
    else
      json_builder_add_int_value (json, vn_tensor_get_s64 (tensor, i));
  json_builder_end_array (json);
}

static void
dump_job_add_file (JsonBuilder      *json,
                   const VnDumpFile *file)
{
  json_builder_begin_object (json);
  vn_json_add_text (json, "file", file->file);
  vn_json_add_text (json, "tensor", file->value);
  vn_json_add_text (json, "node", file->node);
  vn_json_add_text (json, "type", file->op_type);
  vn_json_add_bool (json, "quantized", file->quantized);
  vn_json_add_text (json, "dtype", vn_dtype_get_name (file->dtype));
  vn_json_begin_array (json, "shape");
  for (int i = 0; i < file->shape.rank; i++)
    json_builder_add_int_value (json, file->shape.dims[i]);
  json_builder_end_array (json);
  dump_job_add_numbers (json, "scale", file->scale);
  dump_job_add_numbers (json, "zero_point", file->zero_point);
  if (file->scale != NULL && file->scale->n_elements > 1)
    {
      vn_json_add_int (json, "axis", file->axis);
    }
  json_builder_end_object (json);
}

/* Written last: where it is, the dump is complete. */
static gboolean
dump_job_write_index (VnDumpJob  *self,
                      GError    **error)
{
  g_autoptr(JsonBuilder) json = json_builder_new ();
  g_autoptr(JsonGenerator) generator = json_generator_new ();
  g_autoptr(JsonNode) root = NULL;
  g_autofree char *path = g_build_filename (self->settings.folder, VN_DUMP_INDEX, NULL);
  g_autofree char *text = NULL;
  gsize size;

  json_builder_begin_object (json);
  vn_json_begin_array (json, "tensors");
  for (guint i = 0; i < vn_dump_get_n (self->dump); i++)
    dump_job_add_file (json, vn_dump_get (self->dump, i));
  json_builder_end_array (json);
  json_builder_end_object (json);
  root = json_builder_get_root (json);
  json_generator_set_root (generator, root);
  json_generator_set_pretty (generator, TRUE);
  text = json_generator_to_data (generator, &size);
  return vn_file_write_all (path, text, size, error);
}

/* ---- the job ---- */

static gboolean
vn_dump_job_plan (VnJob         *job,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnDumpJob *self = vn_job_get_state (job, &dump_job_kind);
  const VnDumpSettings *settings = &self->settings;
  g_autoptr(VnModel) model = vn_model_to_runnable (settings->model, cancellable, error);
  g_autoptr(GHashTable) shapes = NULL;

  if (model == NULL || !vn_model_size_for_run (model, settings->data, settings->input_shapes, &shapes, self->notes, error))
    return FALSE;
  self->dump = vn_dump_new (model, shapes, settings->floats, self->notes, error);
  return self->dump != NULL && dump_job_check_files (self, error) && dump_job_make_folder (settings, error);
}

static gboolean
dump_job_run_sample (VnDumpJob     *self,
                     GCancellable  *cancellable,
                     GError       **error)
{
  const VnDumpSettings *settings = &self->settings;
  VnPlan *plan = vn_dump_get_plan (self->dump);
  guint n = vn_plan_get_n_inputs (plan);
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  gboolean good = vn_plan_load_sample (plan, settings->data, settings->inputs, inputs, error) &&
                  vn_dump_run (self->dump, inputs, settings->folder, settings->n_threads, cancellable, error);

  for (guint i = 0; i < n; i++)
    g_clear_pointer (&inputs[i], vn_tensor_unref);
  return good;
}

static gboolean
vn_dump_job_write (VnJob         *job,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnDumpJob *self = vn_job_get_state (job, &dump_job_kind);
  g_autofree char *index = g_build_filename (self->settings.folder, VN_DUMP_INDEX, NULL);

  g_unlink (index);   /* of an older dump, which is no longer complete */
  if (!dump_job_run_sample (self, cancellable, error))
    return FALSE;
  vn_notes_sort (self->notes);
  return dump_job_write_index (self, error);
}

static const VnStage stages[] = {
  { "plan", N_("Planning"), 10, NULL, vn_dump_job_plan },
  { "dump", N_("Dumping"),  90, NULL, vn_dump_job_write },
  { NULL },
};

static void
dump_job_clear (gpointer data)
{
  VnDumpJob *self = data;

  vn_model_unref (self->settings.model);
  vn_data_spec_free (self->settings.data);
  g_clear_pointer (&self->settings.inputs, g_hash_table_unref);
  g_clear_pointer (&self->settings.input_shapes, g_hash_table_unref);
  g_free ((char *) self->settings.folder);
  g_clear_pointer (&self->settings.files, vn_file_set_unref);
  g_clear_pointer (&self->dump, vn_dump_free);
  vn_notes_unref (self->notes);
}

static const VnJobKind dump_job_kind = {
  .id = VN_JOB_DUMP,
  .state_size = sizeof (VnDumpJob),
  .stages = stages,
  .clear = dump_job_clear,
};

/**
 * vn_dump_job_new:
 * @settings: copied, with references to what it points to
 *
 * Returns: (transfer full): a job that runs one sample and writes the tensors of a quantized network into a folder, with
 *   a list of them, %VN_DUMP_INDEX
 */
VnJob *
vn_dump_job_new (const VnDumpSettings *settings)
{
  VnJob *job;
  VnDumpJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&dump_job_kind);
  self = vn_job_get_state (job, &dump_job_kind);
  self->notes = vn_notes_new ();
  self->settings = *settings;
  vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.data = settings->data != NULL ? vn_data_spec_copy (settings->data) : NULL;
  self->settings.inputs = settings->inputs != NULL ? g_hash_table_ref (settings->inputs) : NULL;
  self->settings.input_shapes = settings->input_shapes != NULL ? g_hash_table_ref (settings->input_shapes) : NULL;
  self->settings.folder = g_strdup (settings->folder);
  self->settings.files = settings->files != NULL ? vn_file_set_ref (settings->files) : NULL;
  return job;
}

VnDump *
vn_dump_job_get_dump (VnJob *job)
{
  VnDumpJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_DUMP), NULL);

  self = vn_job_get_state (job, &dump_job_kind);
  return self->dump;
}

VnNotes *
vn_dump_job_get_notes (VnJob *job)
{
  VnDumpJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_DUMP), NULL);

  self = vn_job_get_state (job, &dump_job_kind);
  return self->notes;
}
