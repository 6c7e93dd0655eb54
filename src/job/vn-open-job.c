/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of opening a model: read, checked, types inferred. */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-onnx.h"
#include "vn-validate.h"

struct _VnOpenJob
{
  VnJob    parent_instance;
  char    *path;
  VnModel *opened;   /* until all is done */
  VnModel *model;
};

G_DEFINE_FINAL_TYPE (VnOpenJob, vn_open_job, VN_TYPE_JOB)

static gboolean
vn_open_job_read (VnJob         *job,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnOpenJob *self = VN_OPEN_JOB (job);

  self->opened = vn_onnx_read_file (self->path, error);
  vn_job_add_source (job, self->opened);
  return self->opened != NULL;
}

static gboolean
vn_open_job_check (VnJob         *job,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnOpenJob *self = VN_OPEN_JOB (job);

  if (vn_model_validate (self->opened, VN_VALIDATE_CONTENTS, self->opened->notes, error))
    {
      vn_model_separate_names (self->opened, self->opened->notes);
      return TRUE;
    }
  g_prefix_error (error, "%s: ", self->path);
  return FALSE;
}

/* A network whose shapes cannot work is still worth looking at; running it is refused later, with the same words. */
static gboolean
vn_open_job_infer (VnJob         *job,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnOpenJob *self = VN_OPEN_JOB (job);
  g_autoptr(GError) inference = NULL;

  if (!vn_model_infer_types (self->opened, NULL, self->opened->notes, &inference))
    vn_notes_add (self->opened->notes, VN_NOTE_PROBLEM, "shapes", NULL, "%s", inference->message);
  self->model = g_steal_pointer (&self->opened);
  return TRUE;
}

static const VnStage stages[] = {
  { "read",  N_("Reading"),          50, NULL, vn_open_job_read },
  { "check", N_("Checking"),         20, NULL, vn_open_job_check },
  { "infer", N_("Inferring shapes"), 30, NULL, vn_open_job_infer },
  { NULL },
};

static void
vn_open_job_finalize (GObject *object)
{
  VnOpenJob *self = VN_OPEN_JOB (object);

  g_free (self->path);
  g_clear_pointer (&self->opened, vn_model_unref);
  g_clear_pointer (&self->model, vn_model_unref);
  G_OBJECT_CLASS (vn_open_job_parent_class)->finalize (object);
}

static void
vn_open_job_class_init (VnOpenJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_open_job_finalize;
  VN_JOB_CLASS (klass)->stages = stages;
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
  VnOpenJob *self;
  g_autofree char *base = NULL;
  g_autofree char *title = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  self = g_object_new (VN_TYPE_OPEN_JOB, NULL);
  base = g_path_get_basename (path);
  title = g_strdup_printf (_("Opening “%s”"), base);
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
  g_return_val_if_fail (VN_IS_OPEN_JOB (self), NULL);

  return self->model;
}
