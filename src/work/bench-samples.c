/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samples of a bench: which, how many, and the sizes of inputs that the model leaves open; opening them, and a look at
 * them. */
#include "bench-private.h"

#include "vn-error.h"
#include "vn-evaluate.h"
#include "vn-i18n.h"
#include "vn-model-metadata.h"
#include "vn-open-inputs.h"
#include "vn-thread.h"

#include <string.h>

/*< private >
 * vn_bench_set_subject:
 * @subject: (transfer full): the same network with other samples or sizes: nothing that was measured is about them
 */
void
vn_bench_set_subject (VnBench   *self,
                      VnSubject *subject)
{
  guint run = self->shown.expected != NULL ? VN_CHANGED_RUN : 0;

  vn_bench_hold (self);
  vn_bench_let_go (self, self->subject, (GDestroyNotify) vn_subject_unref);
  self->subject = subject;
  g_clear_pointer (&self->found.curve, vn_curve_unref);
  vn_bench_forget_expected (self);
  vn_bench_changed (self, VN_CHANGED_DATA | VN_CHANGED_EXPECTED | run);
  vn_bench_release (self);
}

/**
 * vn_bench_set_data:
 * @data: (nullable): where the samples are and how they are read; copied
 *
 * The next run calibrates anew.
 */
void
vn_bench_set_data (VnBench          *self,
                   const VnDataSpec *data)
{
  g_return_if_fail (VN_IS_BENCH (self));

  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  vn_bench_set_subject (self, vn_subject_with_data (self->subject, data, self->subject->n_samples));
}

/**
 * vn_bench_set_n_samples:
 * @n: samples to use; 0: all
 */
void
vn_bench_set_n_samples (VnBench *self,
                        guint    n)
{
  g_return_if_fail (VN_IS_BENCH (self));

  if (self->subject->n_samples != n)
    vn_bench_set_subject (self, vn_subject_with_data (self->subject, self->subject->data, n));
}

/**
 * vn_bench_use_folder:
 * @path: a folder of samples
 * @held_out: samples to hold out where none were chosen before, as in VnDataSpec
 *
 * Takes the samples from there, prepared as the present ones; the first ones as the metadata of the model have it.
 */
void
vn_bench_use_folder (VnBench    *self,
                     const char *path,
                     int         held_out)
{
  g_autoptr(VnDataSpec) data = NULL;
  const VnDataSpec *present;

  g_return_if_fail (VN_IS_BENCH (self));
  g_return_if_fail (path != NULL);

  present = self->subject->data;
  data = present != NULL ? vn_data_spec_copy (present) : vn_data_spec_new (path);
  if (present == NULL)
    data->held_out = held_out;
  g_free (data->path);
  data->path = g_strdup (path);
  if (present == NULL && self->subject->model != NULL)
    vn_data_spec_take_metadata (data, self->subject->model, VN_PREPROCESS_ALL);
  vn_bench_set_data (self, data);
}

/* ---- sizes ---- */

/**
 * vn_bench_get_input_shapes:
 *
 * Returns: (transfer none) (nullable) (element-type utf8 VnShape): the inputs that have open dims, with the sizes the
 *   user gave; what is open still is %VN_DIM_UNKNOWN
 */
GHashTable *
vn_bench_get_input_shapes (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return self->subject->input_shapes;
}

/**
 * vn_bench_dup_given_shapes:
 * @data: that something is run on
 *
 * Returns: (transfer full) (nullable): sizes of inputs for it; for random values nothing is open
 */
GHashTable *
vn_bench_dup_given_shapes (VnBench          *self,
                           const VnDataSpec *data)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && data != NULL, NULL);

  return vn_subject_dup_given_shapes (self->subject, data);
}

/**
 * vn_bench_get_size:
 * @name: an input with open dims
 *
 * Returns: (transfer none): its size as the samples were opened last, else as the user gave it
 */
const VnShape *
vn_bench_get_size (VnBench    *self,
                   const char *name)
{
  const VnShape *shape;

  g_return_val_if_fail (VN_IS_BENCH (self) && name != NULL, NULL);

  shape = self->found.sizes != NULL ? g_hash_table_lookup (self->found.sizes, name) : NULL;
  return shape != NULL ? shape : g_hash_table_lookup (self->subject->input_shapes, name);
}

/**
 * vn_bench_dup_known_sizes:
 *
 * Returns: (transfer full) (nullable) (element-type utf8 VnShape): of the inputs that have open dims those whose size is known:
 *   from the samples, or as the user gave it; %NULL: none
 */
GHashTable *
vn_bench_dup_known_sizes (VnBench *self)
{
  g_autoptr(GHashTable) known = vn_open_inputs_new ();
  GHashTableIter iter;
  gpointer name;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  if (self->subject->input_shapes == NULL)
    return NULL;
  g_hash_table_iter_init (&iter, self->subject->input_shapes);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      const VnShape *size = vn_bench_get_size (self, name);

      if (vn_shape_is_static (size))
        g_hash_table_insert (known, g_strdup (name), g_memdup2 (size, sizeof *size));
    }
  return g_hash_table_size (known) > 0 ? g_steal_pointer (&known) : NULL;
}

/* An error that names an input is about that. */
static gboolean
bench_samples_is_named (const GError *error,
                        const char   *input)
{
  g_autofree char *quoted = g_strdup_printf ("“%s”", input);

  return strstr (error->message, quoted) != NULL;
}

/* Random values have the sizes that were given or guessed: what a network does not support then comes of these. */
static gboolean
bench_samples_is_of_size (VnBench      *self,
                          const GError *error)
{
  return g_error_matches (error, VN_ERROR, VN_ERROR_SHAPE) ||
         (vn_data_spec_is_random (self->subject->data) && g_error_matches (error, VN_ERROR, VN_ERROR_UNSUPPORTED));
}

/**
 * vn_bench_find_size:
 * @error: why a run failed, or samples cannot be used
 *
 * Returns: (transfer none) (nullable): the input with open dims whose size may be at fault: the one that is named, else the first
 *   whose size is still open, else the first; %NULL: another size would not help, or the model leaves none open
 */
const char *
vn_bench_find_size (VnBench      *self,
                    const GError *error)
{
  const char *open = NULL, *first = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self) && error != NULL, NULL);

  if (self->subject->input_shapes == NULL || !bench_samples_is_of_size (self, error))
    return NULL;
  for (guint i = 0; i < self->subject->model->graph->inputs->len; i++)
    {
      const char *name = ((const VnValue *) self->subject->model->graph->inputs->pdata[i])->name;

      if (!g_hash_table_contains (self->subject->input_shapes, name))
        continue;
      if (bench_samples_is_named (error, name))
        return name;
      first = first != NULL ? first : name;
      if (open == NULL && !vn_shape_is_static (vn_bench_get_size (self, name)))
        open = name;
    }
  return open != NULL ? open : first;
}

/**
 * vn_bench_set_input_shape:
 * @name: an input with open dims
 * @shape: agrees with what the model fixes; %VN_DIM_UNKNOWN: to be taken from the first sample
 */
void
vn_bench_set_input_shape (VnBench       *self,
                          const char    *name,
                          const VnShape *shape)
{
  g_return_if_fail (VN_IS_BENCH (self) && self->subject->input_shapes != NULL && name != NULL && shape != NULL);

  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  vn_bench_set_subject (self, vn_subject_with_input_shape (self->subject, name, shape));
}

static gboolean
bench_samples_agree (const VnShape *declared,
                     const VnShape *shape)
{
  gboolean agree = declared != NULL && declared->rank == shape->rank;

  for (int i = 0; agree && i < shape->rank; i++)
    agree = declared->dims[i] < 0 || declared->dims[i] == shape->dims[i];
  return agree;
}

/*< private >
 * vn_bench_take_sizes:
 * @sizes: (nullable) (element-type utf8 VnShape): those of a project; what the model does not leave open any more is passed over
 */
void
vn_bench_take_sizes (VnBench    *self,
                     GHashTable *sizes)
{
  GHashTableIter iter;
  gpointer name, shape;

  if (sizes == NULL || self->subject->input_shapes == NULL)
    return;
  g_hash_table_iter_init (&iter, sizes);
  while (g_hash_table_iter_next (&iter, &name, &shape))
    if (bench_samples_agree (g_hash_table_lookup (self->subject->input_shapes, name), shape))
      vn_bench_set_input_shape (self, name, shape);
}

/* ---- opening ---- */

/* What a thread opens samples with, and what came out. */
typedef struct
{
  VnSubject  *subject;
  VnDataSpec *data;
  GHashTable *given;

  VnDataset  *dataset;
  GHashTable *sizes;
  VnNotes    *notes;
} Opening;

static void
bench_samples_free_opening (gpointer data)
{
  Opening *self = data;

  vn_subject_unref (self->subject);
  vn_data_spec_free (self->data);
  g_clear_pointer (&self->given, g_hash_table_unref);
  g_clear_pointer (&self->dataset, vn_dataset_unref);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  vn_notes_unref (self->notes);
  g_free (self);
}

static void
bench_samples_open_in_thread (GTask        *task,
                              gpointer      source,
                              gpointer      task_data,
                              GCancellable *cancellable)
{
  Opening *self = task_data;
  GError *error = NULL;
  g_autoptr(VnLabels) labels = NULL;

  self->dataset = vn_model_open_data (self->subject->model, self->data, self->given, &self->sizes, self->notes, &error);
  if (self->dataset != NULL && vn_dataset_get_labels (self->dataset) != NULL)
    {
      g_autoptr(VnNotes) unheard = vn_notes_new ();

      labels = vn_labels_new (self->dataset, self->subject->model, vn_dataset_get_labels (self->dataset), unheard, &error);
    }
  if (error == NULL)
    g_task_return_boolean (task, TRUE);
  else
    g_task_return_error (task, error);
}

/**
 * vn_bench_open_dataset_async:
 * @data: where the samples are
 * @callback: called in the main context; it calls vn_bench_open_dataset_finish()
 *
 * Lists the samples as the model's inputs ask for them, in the background. Where sizes are open the first sample is read,
 * and vn_bench_get_size() says what came out; nothing else is decoded. There is a model.
 */
void
vn_bench_open_dataset_async (VnBench             *self,
                             const VnDataSpec    *data,
                             GCancellable        *cancellable,
                             GAsyncReadyCallback  callback,
                             gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  Opening *opening;

  g_return_if_fail (VN_IS_BENCH (self) && self->subject->model != NULL && data != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  opening = g_new0 (Opening, 1);
  opening->subject = vn_subject_ref (self->subject);
  opening->data = vn_data_spec_copy (data);
  if (vn_data_spec_is_random (data))
    /* as many as are asked for; of files it is reported how many there are */
    opening->data->max_samples = self->subject->n_samples;
  opening->given = vn_subject_dup_given_shapes (self->subject, data);
  opening->notes = vn_notes_new ();
  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  g_task_set_task_data (task, opening, bench_samples_free_opening);
  vn_thread_run_task (task, bench_samples_open_in_thread);
}

/**
 * vn_bench_open_dataset_finish:
 * @notes: (out) (transfer full) (optional): what came from the first sample
 *
 * Returns: (transfer full) (nullable): the samples, or %NULL with @error set; %G_IO_ERROR_CANCELLED also if the bench
 *   has other samples by now
 */
VnDataset *
vn_bench_open_dataset_finish (VnBench       *self,
                              GAsyncResult  *result,
                              VnNotes      **notes,
                              GError       **error)
{
  Opening *opening;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  opening = g_task_get_task_data (G_TASK (result));
  if (!g_task_propagate_boolean (G_TASK (result), error))
    return NULL;
  if (opening->subject != self->subject)
    {
      g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_CANCELLED, _("The samples have changed"));
      return NULL;
    }
  g_clear_pointer (&self->found.sizes, g_hash_table_unref);
  self->found.sizes = g_steal_pointer (&opening->sizes);
  if (notes != NULL)
    *notes = vn_notes_ref (opening->notes);
  return g_steal_pointer (&opening->dataset);
}

/* ---- a look at them before they are calibrated on ---- */

typedef struct
{
  VnSubject  *subject;
  VnDataset  *dataset;
  GHashTable *sizes;      /* nullable */
} Looking;

static void
bench_samples_free_looking (gpointer data)
{
  Looking *self = data;

  vn_subject_unref (self->subject);
  vn_dataset_unref (self->dataset);
  g_clear_pointer (&self->sizes, g_hash_table_unref);
  g_free (self);
}

static void
bench_samples_look_in_thread (GTask        *task,
                              gpointer      source,
                              gpointer      task_data,
                              GCancellable *cancellable)
{
  Looking *self = task_data;
  GError *error = NULL;
  VnDataLook *look = vn_data_look (self->subject->model, self->subject->model, self->sizes, self->dataset, cancellable, &error);

  if (look != NULL)
    g_task_return_pointer (task, look, (GDestroyNotify) vn_data_look_free);
  else
    g_task_return_error (task, error);
}

/**
 * vn_bench_look_async:
 * @dataset: as vn_bench_open_dataset_finish() gave it last
 * @callback: called in the main context; it calls vn_bench_look_finish()
 *
 * Looks whether the samples are likely to be what the network was trained on, in the background. There is a model.
 */
void
vn_bench_look_async (VnBench             *self,
                     VnDataset           *dataset,
                     GCancellable        *cancellable,
                     GAsyncReadyCallback  callback,
                     gpointer             user_data)
{
  g_autoptr(GTask) task = NULL;
  Looking *looking;

  g_return_if_fail (VN_IS_BENCH (self) && self->subject->model != NULL && dataset != NULL);

  task = g_task_new (self, cancellable, callback, user_data);
  looking = g_new0 (Looking, 1);
  looking->subject = vn_subject_ref (self->subject);
  looking->dataset = vn_dataset_ref (dataset);
  looking->sizes = self->found.sizes != NULL ? g_hash_table_ref (self->found.sizes) : NULL;
  g_task_set_task_data (task, looking, bench_samples_free_looking);
  vn_thread_run_task (task, bench_samples_look_in_thread);
}

/**
 * vn_bench_look_finish:
 *
 * Returns: (transfer full) (nullable): what was found; %NULL if it was cancelled
 */
VnDataLook *
vn_bench_look_finish (VnBench       *self,
                      GAsyncResult  *result,
                      GError       **error)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return g_task_propagate_pointer (G_TASK (result), error);
}
