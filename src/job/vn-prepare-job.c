/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-jobs.h"

#include "vn-i18n.h"

struct _VnPrepareJob
{
  VnJob              parent_instance;
  VnPrepareSettings  settings;   /* owns what it points to, but for the options of files */
  VnModel           *result;
  VnEditLog         *edits;
  VnNotes           *notes;
};

G_DEFINE_FINAL_TYPE (VnPrepareJob, vn_prepare_job, VN_TYPE_JOB)

static gboolean
vn_prepare_job_run (VnJob         *job,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnPrepareJob *self = VN_PREPARE_JOB (job);
  g_autoptr(VnModel) prepared = NULL;

  vn_job_begin_phase (job, _("Preparing"), 0, 0.7);
  prepared = vn_prepare_model_with (self->settings.model, &self->settings.options, self->edits, self->notes, cancellable,
                                    error);
  if (prepared == NULL)
    return FALSE;
  vn_job_begin_phase (job, _("Writing the model"), 0.7, 1);
  if (!vn_onnx_write_file (prepared, self->settings.path, &self->settings.write, cancellable, error))
    return FALSE;
  self->result = g_steal_pointer (&prepared);
  return TRUE;
}

static void
vn_prepare_job_finalize (GObject *object)
{
  VnPrepareJob *self = VN_PREPARE_JOB (object);

  vn_model_unref (self->settings.model);
  g_strfreev ((char **) self->settings.options.passes);
  g_clear_pointer (&self->settings.options.input_shapes, g_hash_table_unref);
  g_free ((char *) self->settings.path);
  g_clear_pointer (&self->result, vn_model_unref);
  vn_edit_log_free (self->edits);
  vn_notes_unref (self->notes);
  G_OBJECT_CLASS (vn_prepare_job_parent_class)->finalize (object);
}

static void
vn_prepare_job_class_init (VnPrepareJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_prepare_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_prepare_job_run;
}

static void
vn_prepare_job_init (VnPrepareJob *self)
{
  self->edits = vn_edit_log_new ();
  self->notes = vn_notes_new ();
}

/**
 * vn_prepare_job_new:
 * @settings: copied; the names in its options of files must outlive the job
 *
 * Returns: (transfer full): a job that prepares a model and writes it
 */
VnJob *
vn_prepare_job_new (const VnPrepareSettings *settings)
{
  VnPrepareJob *self = g_object_new (VN_TYPE_PREPARE_JOB, NULL);

  self->settings = *settings;
  self->settings.model = vn_model_ref (settings->model);
  self->settings.path = g_strdup (settings->path);
  self->settings.options.passes = (const char * const *) g_strdupv ((char **) settings->options.passes);
  if (settings->options.input_shapes != NULL)
    g_hash_table_ref (settings->options.input_shapes);
  vn_job_set_title (VN_JOB (self), _("Preparing"));
  return VN_JOB (self);
}

/**
 * vn_prepare_job_get_model:
 *
 * Returns: (transfer none) (nullable): the prepared model, once the job has succeeded
 */
VnModel *
vn_prepare_job_get_model (VnPrepareJob *self)
{
  return self->result;
}

/**
 * vn_prepare_job_get_edits:
 *
 * Returns: (transfer none): what was changed
 */
VnEditLog *
vn_prepare_job_get_edits (VnPrepareJob *self)
{
  return self->edits;
}

/**
 * vn_prepare_job_get_notes:
 *
 * Returns: (transfer none): what is worth knowing
 */
VnNotes *
vn_prepare_job_get_notes (VnPrepareJob *self)
{
  return self->notes;
}
