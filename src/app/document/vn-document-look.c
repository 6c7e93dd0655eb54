/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A look at the samples before they are calibrated on, in a thread of its own. */
#include "vn-document-private.h"
#include "vn-thread.h"

/* What a thread looks at. */
typedef struct
{
  VnModel    *model;
  VnDataset  *dataset;
  GHashTable *sizes;      /* nullable */
} Looking;

static void
document_look_free (gpointer data)
{
  Looking *self = data;

  vn_model_unref (self->model);
  vn_dataset_unref (self->dataset);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_free (self);
}

static void
document_look_in_thread (GTask        *task,
                         gpointer      source,
                         gpointer      task_data,
                         GCancellable *cancellable)
{
  Looking *self = task_data;
  GError *error = NULL;
  VnDataLook *look = vn_data_look (self->model, self->model, self->sizes, self->dataset, cancellable, &error);

  if (look != NULL)
    g_task_return_pointer (task, look, (GDestroyNotify) vn_data_look_free);
  else
    g_task_return_error (task, error);
}

/**
 * vn_document_look_async:
 * @dataset: as vn_document_open_dataset_finish() gave it last
 * @callback: called in the main context; it calls vn_document_look_finish()
 *
 * Looks whether the samples are likely to be what the network was trained on, in the background. There is a model.
 */
void
vn_document_look_async (VnDocument          *self,
                        VnDataset           *dataset,
                        GCancellable        *cancellable,
                        GAsyncReadyCallback  callback,
                        gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  Looking *looking;

  g_return_if_fail (VN_IS_DOCUMENT (self) && self->model != NULL && dataset != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  looking = g_new0 (Looking, 1);
  looking->model = vn_model_ref (self->model);
  looking->dataset = vn_dataset_ref (dataset);
  looking->sizes = self->sizes != NULL ? g_hash_table_ref (self->sizes) : NULL;
  g_task_set_task_data (task, looking, document_look_free);
  vn_thread_run_task (task, document_look_in_thread);
}

/**
 * vn_document_look_finish:
 *
 * Returns: (transfer full) (nullable): what was found; %NULL if it was cancelled
 */
VnDataLook *
vn_document_look_finish (VnDocument    *self,
                         GAsyncResult  *result,
                         GError       **error)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
