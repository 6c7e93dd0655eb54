/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sizes of inputs that the model leaves open: those the user gave, else those of the first sample. */
#include "vn-document-private.h"

#include "vn-evaluate.h"
#include "vn-i18n.h"
#include "vn-open-inputs.h"
#include "vn-thread.h"

/**
 * vn_document_dup_given_shapes:
 * @data: (nullable): %NULL: nothing is run
 *
 * Returns: (transfer full) (nullable): what a run on @data is given; for random values nothing is open
 */
GHashTable *
vn_document_dup_given_shapes (VnDocument       *self,
                              const VnDataSpec *data)
{
  g_autoptr(GHashTable) shapes = vn_open_inputs_new ();
  GHashTableIter iter;
  gpointer name, shape;

  if (self->input_shapes == NULL)
    return NULL;
  if (data == NULL || !vn_data_spec_is_random (data))
    return g_hash_table_ref (self->input_shapes);
  g_hash_table_iter_init (&iter, self->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    {
      VnShape guess = vn_open_inputs_guess (shape);

      g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (&guess, sizeof guess));
    }
  return g_steal_pointer (&shapes);
}

/* What a thread opens samples with, and what came out. */
typedef struct
{
  VnModel    *model;
  VnDataSpec *data;
  GHashTable *given;
  guint       serial;     /* of the document's data */

  VnDataset  *dataset;
  GHashTable *sizes;
  VnNotes    *notes;
} Opening;

static void
document_sizes_opening_free (gpointer data)
{
  Opening *self = data;

  vn_model_unref (self->model);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->given, g_hash_table_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  vn_notes_unref (self->notes);
  g_free (self);
}

static void
document_sizes_open_in_thread (GTask        *task,
                               gpointer      source,
                               gpointer      task_data,
                               GCancellable *cancellable)
{
  Opening *self = task_data;
  GError *error = NULL;
  g_autoptr(VnLabels) labels = NULL;

  self->dataset = vn_model_open_data (self->model, self->data, self->given, &self->sizes, self->notes, &error);
  if (self->dataset != NULL && vn_dataset_get_labels (self->dataset) != NULL)
    {
      g_autoptr(VnNotes) unheard = vn_notes_new ();

      labels = vn_labels_new (self->dataset, vn_dataset_get_labels (self->dataset), unheard, &error);
    }
  if (error == NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * vn_document_open_dataset_async:
 * @data: where the samples are
 * @callback: called in the main context; it calls vn_document_open_dataset_finish()
 *
 * Lists the samples as the model's inputs ask for them, in the background. Where sizes are open the first sample is read,
 * and vn_document_get_size() says what came out; nothing else is decoded. There is a model.
 */
void
vn_document_open_dataset_async (VnDocument          *self,
                                const VnDataSpec    *data,
                                GCancellable        *cancellable,
                                GAsyncReadyCallback  callback,
                                gpointer             user_data)
{
  g_autoptr(GTask) task = g_task_new (self, cancellable, callback, user_data);
  Opening *opening;

  g_return_if_fail (self->model != NULL);

  opening = g_new0 (Opening, 1);
  opening->model = vn_model_ref (self->model);
  opening->data = vn_data_spec_copy (data);
  if (vn_data_spec_is_random (data))
    opening->data->max_samples = self->n_samples;   /* as many as are asked for; of files it is told how many there are */
  opening->given = vn_document_dup_given_shapes (self, data);
  opening->serial = self->data_serial;
  opening->notes = vn_notes_new ();
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_task_set_task_data (task, opening, document_sizes_opening_free);
  vn_thread_run_task (task, document_sizes_open_in_thread);
}

/**
 * vn_document_open_dataset_finish:
 * @notes: (out) (transfer full) (optional): what came from the first sample
 *
 * Returns: (transfer full) (nullable): the samples, or %NULL with @error set; %G_IO_ERROR_CANCELLED also if the document
 *   has other samples by now
 */
VnDataset *
vn_document_open_dataset_finish (VnDocument    *self,
                                 GAsyncResult  *result,
                                 VnNotes      **notes,
                                 GError       **error)
{
  Opening *opening = g_task_get_task_data (G_TASK (result));

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  if (!g_task_propagate_boolean (G_TASK (result), error))
    return NULL;
  if (opening->serial != self->data_serial || opening->model != self->model)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("The samples have changed"));
      return NULL;
    }
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  self->sizes = g_steal_pointer (&opening->sizes);
  if (notes != NULL)
    *notes = vn_notes_ref (opening->notes);
  return g_steal_pointer (&opening->dataset);
}

/**
 * vn_document_get_input_shapes:
 *
 * Returns: (transfer none) (nullable) (element-type utf8 VnShape): the inputs that have open dims, with the sizes the
 *   user gave; what is open still is %VN_DIM_UNKNOWN
 */
GHashTable *
vn_document_get_input_shapes (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  return self->input_shapes;
}

/**
 * vn_document_get_size:
 * @name: an input with open dims
 *
 * Returns: (transfer none): its size as the samples were opened last, else as the user gave it
 */
const VnShape *
vn_document_get_size (VnDocument *self,
                      const char *name)
{
  const VnShape *shape;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  shape = self->sizes != NULL ? g_hash_table_lookup (self->sizes, name) : NULL;
  return shape != NULL ? shape : g_hash_table_lookup (self->input_shapes, name);
}

/**
 * vn_document_dup_chosen_sizes:
 *
 * Returns: (transfer full) (element-type utf8 VnShape): of the inputs that have open dims those that the user gave a size
 */
GHashTable *
vn_document_dup_chosen_sizes (VnDocument *self)
{
  g_autoptr(GHashTable) declared = vn_open_inputs_list (self->model);
  GHashTable *chosen = vn_open_inputs_new ();
  GHashTableIter iter;
  gpointer name, shape;

  if (self->input_shapes == NULL || declared == NULL)
    return chosen;
  g_hash_table_iter_init (&iter, self->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    if (!vn_shape_equal (shape, g_hash_table_lookup (declared, name)))
      g_hash_table_insert (chosen, g_strdup (name), g_memdup2 (shape, sizeof (VnShape)));
  return chosen;
}

static gboolean
document_sizes_agree (const VnShape *declared,
                      const VnShape *shape)
{
  gboolean agree = declared != NULL && declared->rank == shape->rank;

  for (int i = 0; agree && i < shape->rank; i++)
    agree = declared->dims[i] < 0 || declared->dims[i] == shape->dims[i];
  return agree;
}

/**
 * vn_document_take_sizes:
 * @sizes: (nullable) (element-type utf8 VnShape): those of a project; what the model does not leave open any more is passed over
 */
void
vn_document_take_sizes (VnDocument *self,
                        GHashTable *sizes)
{
  GHashTableIter iter;
  gpointer name, shape;

  if (sizes == NULL || self->input_shapes == NULL)
    return;
  g_hash_table_iter_init (&iter, sizes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    if (document_sizes_agree (g_hash_table_lookup (self->input_shapes, name), shape))
      vn_document_set_input_shape (self, name, shape);
}

/**
 * vn_document_set_input_shape:
 * @name: an input with open dims
 * @shape: agrees with what the model fixes; %VN_DIM_UNKNOWN: to be taken from the first sample
 */
void
vn_document_set_input_shape (VnDocument    *self,
                             const char    *name,
                             const VnShape *shape)
{
  GHashTable *shapes = vn_open_inputs_new ();
  GHashTableIter iter;
  gpointer key, value;

  g_return_if_fail (self->input_shapes != NULL);
  /* A running job may hold the old table. */
  g_hash_table_iter_init (&iter, self->input_shapes);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (shapes, g_strdup (key), g_memdup2 (value, sizeof (VnShape)));
  g_hash_table_insert (shapes, g_strdup (name), g_memdup2 (shape, sizeof *shape));
  g_hash_table_unref (self->input_shapes);
  self->input_shapes = shapes;
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  vn_document_data_changed (self);
}
