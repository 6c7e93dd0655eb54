/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-onnx.h"
#include "vn-validate.h"

struct _VnOpenJob
{
  VnJob    parent_instance;
  char    *path;
  VnModel *model;
};

G_DEFINE_FINAL_TYPE (VnOpenJob, vn_open_job, VN_TYPE_JOB)

static gboolean
vn_open_job_run (VnJob         *job,
                 GCancellable  *cancellable,
                 GError       **error)
{
  VnOpenJob *self = VN_OPEN_JOB (job);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) inference = NULL;

  vn_job_begin_phase (job, _("Reading"), 0, 0.5);
  model = vn_onnx_read_file (self->path, error);
  if (model == NULL)
    return FALSE;
  vn_job_begin_phase (job, _("Checking"), 0.5, 0.7);
  if (!vn_model_validate (model, VN_VALIDATE_CONTENTS, model->notes, error))
    {
      g_prefix_error (error, "%s: ", self->path);
      return FALSE;
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  vn_job_begin_phase (job, _("Inferring shapes"), 0.7, 1);
  /* A network whose shapes cannot work is still worth looking at; running it is refused later, with the same words. */
  if (!vn_model_infer_types (model, NULL, model->notes, &inference))
    vn_notes_add (model->notes, VN_NOTE_PROBLEM, "shapes", NULL, "%s", inference->message);
  self->model = g_steal_pointer (&model);
  return TRUE;
}

static void
vn_open_job_finalize (GObject *object)
{
  VnOpenJob *self = VN_OPEN_JOB (object);

  g_free (self->path);
  g_clear_pointer (&self->model, vn_model_unref);
  G_OBJECT_CLASS (vn_open_job_parent_class)->finalize (object);
}

static void
vn_open_job_class_init (VnOpenJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_open_job_finalize;
  VN_JOB_CLASS (klass)->run = vn_open_job_run;
}

static void
vn_open_job_init (VnOpenJob *self)
{
}

/**
 * vn_open_job_new:
 * @path: an ONNX file
 *
 * Returns: (transfer full): a job that reads, checks and types a model
 */
VnJob *
vn_open_job_new (const char *path)
{
  VnOpenJob *self = g_object_new (VN_TYPE_OPEN_JOB, NULL);
  g_autofree char *base = g_path_get_basename (path);
  g_autofree char *title = g_strdup_printf (_("Opening “%s”"), base);

  self->path = g_strdup (path);
  vn_job_set_title (VN_JOB (self), title);
  return VN_JOB (self);
}

/**
 * vn_open_job_get_model:
 *
 * Returns: (transfer none) (nullable): the model, once the job has succeeded
 */
VnModel *
vn_open_job_get_model (VnOpenJob *self)
{
  return self->model;
}
