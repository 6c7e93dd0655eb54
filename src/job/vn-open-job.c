/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of opening a model: read, checked, types inferred; and of looking at its weights, where that was left for later. */
#include "vn-jobs.h"

#include "vn-i18n.h"
#include "vn-node-index.h"
#include "vn-onnx.h"
#include "vn-ort-backend.h"
#include "vn-validate.h"

typedef struct
{
  char      *path;
  VnBackend *backend;
  gboolean   leaves_weights;
  VnModel   *opened;   /* until all is done */
  VnModel   *model;
} VnOpenJob;

static const VnJobKind open_job_kind;

static gboolean
vn_open_job_read (VnJob         *job,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnOpenJob *self = vn_job_get_state (job, &open_job_kind);

  self->opened = vn_onnx_read_file (self->path, error);
  vn_job_add_source (job, self->opened);
  return self->opened != NULL;
}

static gboolean
vn_open_job_check (VnJob         *job,
                   GCancellable  *cancellable,
                   GError       **error)
{
  VnOpenJob *self = vn_job_get_state (job, &open_job_kind);

  if (vn_model_validate (self->opened, self->leaves_weights ? VN_VALIDATE_NAMES : VN_VALIDATE_CONTENTS, self->opened->notes,
                         error))
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
  VnOpenJob *self = vn_job_get_state (job, &open_job_kind);
  g_autoptr(GError) inference = NULL;

  vn_model_set_backend (self->opened, self->backend);
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
open_job_clear (gpointer data)
{
  VnOpenJob *self = data;

  g_free (self->path);
  g_clear_object (&self->backend);
  g_clear_pointer (&self->opened, vn_model_unref);
  g_clear_pointer (&self->model, vn_model_unref);
}

static const VnJobKind open_job_kind = {
  .id = VN_JOB_OPEN,
  .state_size = sizeof (VnOpenJob),
  .stages = stages,
  .clear = open_job_clear,
};

/**
 * vn_open_job_new:
 * @path: an ONNX file
 *
 * Returns: (transfer full): a job that reads, checks and types a model
 */
VnJob *
vn_open_job_new (const char *path)
{
  VnJob *job;
  VnOpenJob *self;
  g_autofree char *base = NULL;
  g_autofree char *title = NULL;

  g_return_val_if_fail (path != NULL, NULL);

  job = vn_job_new (&open_job_kind);
  self = vn_job_get_state (job, &open_job_kind);
  base = g_path_get_basename (path);
  title = g_strdup_printf (_("Opening “%s”"), base);
  self->path = g_strdup (path);
  self->backend = vn_ort_backend_new (NULL);
  vn_job_set_title (job, title);
  return job;
}

/**
 * vn_open_job_set_backend:
 * @backend: (nullable): what runs what we have no kernel for; otherwise that is ONNX Runtime, where it can be found
 */
void
vn_open_job_set_backend (VnJob     *job,
                         VnBackend *backend)
{
  VnOpenJob *self;

  g_return_if_fail (vn_job_is (job, VN_JOB_OPEN));

  self = vn_job_get_state (job, &open_job_kind);
  g_set_object (&self->backend, backend);
}

/**
 * vn_open_job_leave_weights:
 *
 * To be called before it runs: weights are not read, however many gigabytes they are. vn_weights_job_new() does so behind.
 */
void
vn_open_job_leave_weights (VnJob *job)
{
  VnOpenJob *self;

  g_return_if_fail (vn_job_is (job, VN_JOB_OPEN));

  self = vn_job_get_state (job, &open_job_kind);
  self->leaves_weights = TRUE;
}

/**
 * vn_open_job_get_model:
 *
 * Returns: (transfer none) (nullable): the model, once the job has succeeded
 */
VnModel *
vn_open_job_get_model (VnJob *job)
{
  VnOpenJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_OPEN), NULL);

  self = vn_job_get_state (job, &open_job_kind);
  return self->model;
}

/* ---- weights ---- */

typedef struct
{
  VnModel *model;
  VnNotes *notes;
} VnWeightsJob;

static const VnJobKind open_weights_kind;

typedef struct
{
  VnProgress    progress;
  GCancellable *cancellable;
} WeightsReader;

static gboolean
open_weights_go_on (gpointer data,
                    guint64  done,
                    guint64  total)
{
  const WeightsReader *self = data;

  vn_progress_report (&self->progress, NULL, done, total);
  return !g_cancellable_is_cancelled (self->cancellable);
}

static gboolean
vn_open_job_check_weights (VnJob         *job,
                           GCancellable  *cancellable,
                           GError       **error)
{
  VnWeightsJob *self = vn_job_get_state (job, &open_weights_kind);
  WeightsReader reader = { vn_job_get_reporter (job), cancellable };

  vn_model_validate_weights (self->model, self->notes, open_weights_go_on, &reader);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

static const VnStage open_weights_stages[] = {
  { "weights", N_("Checking weights"), 1, NULL, vn_open_job_check_weights },
  { NULL },
};

static void
open_weights_clear (gpointer data)
{
  VnWeightsJob *self = data;

  vn_model_unref (self->model);
  vn_notes_unref (self->notes);
}

static gboolean
open_weights_can_be_left (VnJob *job)
{
  return TRUE;
}

static const VnJobKind open_weights_kind = {
  .id = VN_JOB_WEIGHTS,
  .state_size = sizeof (VnWeightsJob),
  .stages = open_weights_stages,
  .clear = open_weights_clear,
  .can_be_left = open_weights_can_be_left,
};

/**
 * vn_weights_job_new:
 * @model: opened by a job that left its weights for later: vn_open_job_leave_weights()
 *
 * Returns: (transfer full): a job that looks for NaN and infinities in the weights of @model, which it only reads
 */
VnJob *
vn_weights_job_new (VnModel *model)
{
  VnJob *job;
  VnWeightsJob *self;

  g_return_val_if_fail (model != NULL, NULL);

  job = vn_job_new (&open_weights_kind);
  self = vn_job_get_state (job, &open_weights_kind);
  self->model = vn_model_ref (model);
  self->notes = vn_notes_new ();
  vn_job_add_source (job, model);
  return job;
}

/**
 * vn_weights_job_get_notes:
 *
 * Returns: (transfer none): what it has found, once it has succeeded
 */
VnNotes *
vn_weights_job_get_notes (VnJob *job)
{
  VnWeightsJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_WEIGHTS), NULL);

  self = vn_job_get_state (job, &open_weights_kind);
  return self->notes;
}
