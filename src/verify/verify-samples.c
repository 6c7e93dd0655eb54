/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Verifying: which samples are run in the runtime, and what of them is written for it. */
#include "verify-job-private.h"
#include "vn-job-input.h"
#include "verify-folder.h"

#include "vn-find-parts.h"
#include "vn-i18n.h"
#include "vn-onnx.h"

/* ---- opening them ---- */

/* Of a run a few of those that its error was measured on; all that there are of others. */
static void
verify_samples_choose (VnVerifyJob *self)
{
  const VnRun *result = self->result;
  const guint n = vn_dataset_get_n (self->dataset);
  g_autoptr(GArray) calibration = NULL;
  g_autoptr(GArray) measured = NULL;

  if (result != NULL && result->data != NULL)
    vn_job_split_samples (result->data, self->dataset, result->settings.n_calibration, &calibration, &measured);
  else
    vn_dataset_split (n, n, NULL, &measured);
  vn_dataset_split (measured->len, self->settings.n_samples, NULL, &self->samples);
  for (guint i = 0; i < self->samples->len; i++)
    g_array_index (self->samples, guint, i) = g_array_index (measured, guint, g_array_index (self->samples, guint, i));
}

/* As they are opened for @dataset. */
static VnSamples
verify_samples_of (const VnVerifyJob *self,
                   VnDataset         *dataset,
                   const VnProgress  *progress)
{
  return (VnSamples) { .shapes = self->shapes, .dataset = dataset, .indices = (const guint *) (gpointer) self->samples->data,
                       .n = self->samples->len, .n_threads = self->settings.n_threads, .progress = progress };
}

/* Of the samples of this job, as @model takes them; %NULL with an error if it does not take them, or cannot be run here. */
static VnParts *
verify_samples_look_for_parts (const VnVerifyJob  *self,
                               VnModel            *model,
                               VnDataset          *dataset,
                               GCancellable       *cancellable,
                               GError            **error)
{
  const VnSamples run = verify_samples_of (self, dataset, NULL);

  return vn_find_parts (model, &run, NULL, cancellable, error);
}

static VnParts *
verify_samples_look_at_float (const VnVerifyJob *self,
                              GCancellable      *cancellable)
{
  g_autoptr(VnModel) source = self->settings.float_path != NULL ? vn_onnx_read_file (self->settings.float_path, NULL) : NULL;
  g_autoptr(VnModel) model = source != NULL ? vn_model_to_float (source, cancellable, NULL) : NULL;
  g_autoptr(VnDataSpec) data = self->settings.data != NULL
                               ? vn_data_spec_copy (self->settings.data) : vn_data_spec_new (VN_DATA_RANDOM);
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataset) dataset = NULL;

  data->max_samples = vn_dataset_get_n (self->dataset);
  dataset = model != NULL ? vn_model_open_data (model, data, self->settings.input_shapes, &shapes, NULL, NULL) : NULL;
  return dataset != NULL && vn_dataset_get_n (dataset) == vn_dataset_get_n (self->dataset)
           ? verify_samples_look_for_parts (self, model, dataset, cancellable, NULL) : NULL;
}

/* A run has found its parts; of a file the float network tells them, or else the export, where they are as large. */
static gboolean
verify_samples_find_parts (VnVerifyJob   *self,
                           GCancellable  *cancellable,
                           GError       **error)
{
  if (self->result != NULL)
    {
      self->parts = self->result->errors != NULL ? vn_error_table_list_parts (self->result->errors) : NULL;
      return TRUE;
    }
  self->parts = verify_samples_look_at_float (self, cancellable);
  if (self->parts == NULL && g_cancellable_set_error_if_cancelled (cancellable, error))
    return FALSE;
  if (self->parts == NULL)
    self->parts = verify_samples_look_for_parts (self, self->model, self->dataset, cancellable, error);
  return self->parts != NULL;
}

/*< private >
 * vn_verify_samples_open:
 *
 * Opens what the export is run with here, and chooses samples.
 */
gboolean
vn_verify_samples_open (VnVerifyJob   *self,
                        GCancellable  *cancellable,
                        GError       **error)
{
  const VnVerifySettings *settings;
  g_autoptr(VnDataSpec) data = NULL;
  VnPlanOptions options = { 0 };

  g_return_val_if_fail (self != NULL, FALSE);

  settings = &self->settings;
  data = settings->data != NULL ? vn_data_spec_copy (settings->data) : vn_data_spec_new (VN_DATA_RANDOM);
  if ((self->result == NULL || self->result->data == NULL) && (data->max_samples == 0 || data->max_samples > settings->n_samples))
    data->max_samples = settings->n_samples;
  self->model = vn_model_to_runnable (settings->model, cancellable, error);
  if (self->model == NULL)
    return FALSE;
  self->dataset = vn_model_open_data (self->model, data, settings->input_shapes, &self->shapes, self->notes, error);
  if (self->dataset == NULL)
    return FALSE;
  options.input_shapes = self->shapes;
  self->plan = vn_plan_new (self->model, &options, self->notes, error);
  if (self->plan == NULL)
    return FALSE;
  verify_samples_choose (self);
  return verify_samples_find_parts (self, cancellable, error);
}

/* ---- writing them ---- */

/* @written: (element-type guint): of the dataset; the place is their number in the folder
 * @n_other: left out, as the runtime takes one size and theirs is another than that of the first */
typedef struct
{
  VnVerifyJob *job;
  GArray      *written;
  guint        n_other;
} Writing;

/* Whether it has the sizes of the first. */
static gboolean
verify_samples_fits (VnVerifyJob  *self,
                     VnTensor    **inputs)
{
  const gboolean is_first = self->sizes == NULL;

  if (is_first)
    self->sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  for (guint i = 0; inputs[i] != NULL; i++)
    {
      const char *name = vn_plan_get_input (self->plan, i)->name;
      const VnShape *shape = g_hash_table_lookup (self->sizes, name);

      if (is_first)
        g_hash_table_insert (self->sizes, g_strdup (name), g_memdup2 (&inputs[i]->shape, sizeof inputs[i]->shape));
      else if (shape == NULL || !vn_shape_equal (shape, &inputs[i]->shape))
        return FALSE;
    }
  return TRUE;
}

static gboolean
verify_samples_write_one (gpointer       worker,
                          guint          item,
                          VnTensor     **inputs,
                          gpointer       data,
                          GCancellable  *cancellable,
                          GError       **error)
{
  Writing *writing = data;
  VnVerifyJob *self = writing->job;

  if (!verify_samples_fits (self, inputs) && (self->runtimes[0]->traits & VN_TARGET_RUNTIME_STATIC) != 0)
    {
      writing->n_other++;
      return TRUE;
    }
  for (guint i = 0; inputs[i] != NULL; i++)
    {
      g_autofree char *path = vn_verify_folder_dup_tensor (self->folder, "", writing->written->len, i);

      if (!vn_npy_write (path, inputs[i], error))
        return FALSE;
    }
  g_array_append_val (writing->written, g_array_index (self->samples, guint, item));
  return TRUE;
}

/*< private >
 * vn_verify_samples_get:
 * @progress: (nullable):
 *
 * Returns: those that were chosen, or, once they are written, those that were
 */
VnSamples
vn_verify_samples_get (const VnVerifyJob *self,
                       const VnProgress  *progress)
{
  g_return_val_if_fail (self != NULL, ((VnSamples) { .n = 0 }));

  return verify_samples_of (self, self->dataset, progress);
}

/*< private >
 * vn_verify_samples_write:
 *
 * Writes the samples into the folder. Those that cannot be read are left out, and those of other sizes where the runtime takes
 * one size.
 */
gboolean
vn_verify_samples_write (VnVerifyJob   *self,
                         GCancellable  *cancellable,
                         GError       **error)
{
  static const VnSampleFuncs funcs = { NULL, verify_samples_write_one, NULL };
  g_autoptr(GArray) written = g_array_new (FALSE, FALSE, sizeof (guint));
  Writing writing = { self, written, 0 };
  VnSamples samples;
  g_autoptr(VnSampleLoop) loop = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  samples = verify_samples_of (self, self->dataset, NULL);
  samples.notes = self->notes;
  loop = vn_sample_loop_new (&samples, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, &writing, error);
  if (loop == NULL || !vn_sample_loop_run (loop, 0, samples.n, cancellable, error) || !vn_sample_loop_check_read (loop, error))
    return FALSE;
  if (writing.n_other > 0)
    vn_notes_add (self->notes, VN_NOTE_INFO, "runtime-sizes", NULL,
                  ngettext ("%s takes inputs of one size: %u sample of another size than the first was skipped",
                            "%s takes inputs of one size: %u samples of other sizes than the first were skipped",
                            writing.n_other), self->runtimes[0]->title, writing.n_other);
  g_array_unref (self->samples);
  self->samples = g_steal_pointer (&written);
  self->found->n_samples = self->samples->len;
  return TRUE;
}
