/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “prepare”: float to float, and written. */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-pass.h"
#include "vn-quantize.h"

typedef struct
{
  VnPrepareSettings  settings;   /* owns what it points to, but for the options of files */
  VnFileSet         *files;
  VnModel           *prepared;   /* until it is written */
  VnModel           *result;
  VnEditLog         *edits;
  VnNotes           *notes;
} VnPrepareJob;

static const VnJobKind prepare_job_kind;

static void
prepare_job_note_opset (VnPrepareJob *self)
{
  gint64 wanted = self->settings.options.target_opset, found = vn_model_get_opset (self->prepared, "");

  if (wanted > 0 && wanted < found)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "opset-not-lowered", NULL,
                  _("The opset stays at %lld: it can be raised, but not lowered"), (long long) found);
}

/* "remove-qdq" knows pairs; operators that compute with integers themselves it leaves. */
static void
prepare_job_note_quantized (VnPrepareJob *self)
{
  const char * const *passes = self->settings.options.passes;
  guint n;

  if (passes == NULL || !g_strv_contains (passes, "remove-qdq") || (n = vn_quantize_count_quantized (self->prepared)) == 0)
    return;
  vn_notes_add (self->notes, VN_NOTE_WARNING, "still-quantized", NULL,
                ngettext ("%u node still works on quantized tensors: only Q/DQ pairs, FixNeuron and similar operators "
                          "can be removed",
                          "%u nodes still work on quantized tensors: only Q/DQ pairs, FixNeuron and similar operators "
                          "can be removed", n), n);
}

static gboolean
vn_prepare_job_prepare (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnPrepareJob *self = vn_job_get_state (job, &prepare_job_kind);
  guint mark = vn_memory_mark ();

  vn_model_add_files (self->settings.model, self->files);
  if (!vn_onnx_add_outputs (self->files, self->settings.model, self->settings.path, &self->settings.write,
                            _("the prepared model"), error) ||
      !vn_file_set_check (self->files, error))
    return FALSE;
  self->settings.write.files = self->files;
  self->prepared = vn_prepare_model_with (self->settings.model, &self->settings.options, self->edits, self->notes, cancellable,
                                          error);
  if (self->prepared != NULL)
    {
      vn_quantize_note_types (self->prepared, self->settings.model, self->notes);
      prepare_job_note_opset (self);
      prepare_job_note_quantized (self);
    }
  return self->prepared != NULL && vn_memory_check (mark, error);
}

static gboolean
vn_prepare_job_write (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnPrepareJob *self = vn_job_get_state (job, &prepare_job_kind);
  g_autoptr(VnModel) written = vn_model_share_transposed (self->prepared);

  if (!vn_onnx_write_file (written, self->settings.path, &self->settings.write, cancellable, error))
    return FALSE;
  self->result = g_steal_pointer (&self->prepared);
  return TRUE;
}

static const VnStage stages[] = {
  { "prepare", N_("Preparing"),         70, NULL, vn_prepare_job_prepare },
  { "write",   N_("Writing the model"), 30, NULL, vn_prepare_job_write },
  { NULL },
};

static void
prepare_job_clear (gpointer data)
{
  VnPrepareJob *self = data;

  vn_model_unref (self->settings.model);
  g_strfreev ((char **) self->settings.options.passes);
  g_clear_pointer (&self->settings.options.input_shapes, g_hash_table_unref);
  g_free ((char *) self->settings.path);
  g_clear_pointer (&self->prepared, vn_model_unref);
  g_clear_pointer (&self->result, vn_model_unref);
  vn_edit_log_unref (self->edits);
  vn_notes_unref (self->notes);
  vn_file_set_unref (self->files);
}

static const VnJobKind prepare_job_kind = {
  .id = VN_JOB_PREPARE,
  .state_size = sizeof (VnPrepareJob),
  .stages = stages,
  .clear = prepare_job_clear,
};

/**
 * vn_prepare_job_new:
 * @settings: copied; the names in its options of files must outlive the job
 *
 * Returns: (transfer full): a job that prepares a model and writes it
 */
VnJob *
vn_prepare_job_new (const VnPrepareSettings *settings)
{
  VnJob *job;
  VnPrepareJob *self;

  g_return_val_if_fail (settings != NULL, NULL);

  job = vn_job_new (&prepare_job_kind);
  self = vn_job_get_state (job, &prepare_job_kind);
  self->edits = vn_edit_log_new ();
  self->notes = vn_notes_new ();
  self->files = vn_file_set_new ();
  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  vn_job_add_source (job, settings->model);
  self->settings.path = g_strdup (settings->path);
  self->settings.options.passes = (const char * const *) g_strdupv ((char **) settings->options.passes);
  if (settings->options.input_shapes != NULL)
    g_hash_table_ref (settings->options.input_shapes);
  return job;
}

/**
 * vn_prepare_job_get_model:
 *
 * Returns: (transfer none) (nullable): the prepared model, once the job has succeeded
 */
VnModel *
vn_prepare_job_get_model (VnJob *job)
{
  VnPrepareJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_PREPARE), NULL);

  self = vn_job_get_state (job, &prepare_job_kind);
  return self->result;
}

/**
 * vn_prepare_job_get_edits:
 *
 * Returns: (transfer none): what was changed
 */
VnEditLog *
vn_prepare_job_get_edits (VnJob *job)
{
  VnPrepareJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_PREPARE), NULL);

  self = vn_job_get_state (job, &prepare_job_kind);
  return self->edits;
}

/**
 * vn_prepare_job_get_notes:
 *
 * Returns: (transfer none): what is worth knowing
 */
VnNotes *
vn_prepare_job_get_notes (VnJob *job)
{
  VnPrepareJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_PREPARE), NULL);

  self = vn_job_get_state (job, &prepare_job_kind);
  return self->notes;
}
