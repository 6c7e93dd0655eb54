/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading one sample: each input from its file, and those that are filled by what goes with the others. */
#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

#include <string.h>

/* VnSource.load for samples that are files. */
gboolean
vn_dataset_load_file (const VnDataset  *self,
                      guint             i,
                      guint             input,
                      VnTensor        **tensor,
                      GError          **error)
{
  const VnSample *sample = g_ptr_array_index (self->samples, i);
  const char *path = sample->paths[input];
  const VnInputSpec *spec = &self->inputs[input];
  const VnPreprocess *preprocess = vn_data_spec_get_preprocess (self->spec, spec->name);
  const char *script = vn_data_spec_get_script (self->spec, spec->name);
  g_autoptr(VnTensor) raw = NULL;

  if (script != NULL)
    {
      *tensor = vn_script_load (g_hash_table_lookup (self->scripts, script), self->spec, spec, preprocess, path, error);
      return *tensor != NULL;
    }
  if (vn_file_is_picture (path))
    {
      *tensor = vn_picture_plan_load (&self->pictures[input], preprocess, path, error);
      return *tensor != NULL;
    }
  raw = sample->n_parts > 1 && vn_file_kind (path) == VN_FILE_WAV
        ? vn_wav_read (path, spec, sample->part, sample->n_parts, error)
        : vn_tensor_file_read (path, spec, vn_data_spec_get_raw_type (self->spec, spec->name), error);
  if (raw == NULL)
    return FALSE;
  *tensor = vn_tensor_fit (raw, &self->inputs[input], error);
  if (*tensor == NULL)
    g_prefix_error (error, "“%s”: ", path);
  return *tensor != NULL;
}

/**
 * vn_dataset_leave_out:
 * @i: a sample that vn_dataset_load() could not read
 * @bad: (transfer full): why
 * @notes: (nullable)
 *
 * A bad sample is no reason to stop: it is named in @notes and left out. When memory was refused or somebody cancelled,
 * it is not the sample's fault.
 *
 * Returns: %FALSE with @bad in @error if the work must stop
 */
gboolean
vn_dataset_leave_out (VnDataset  *self,
                      guint       i,
                      GError     *bad,
                      VnNotes    *notes,
                      GError    **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (vn_error_is_memory (bad) || g_error_matches (bad, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    {
      g_propagate_error (error, bad);
      return FALSE;
    }
  vn_notes_add (notes, VN_NOTE_WARNING, "sample-unreadable", vn_dataset_get_name (self, i), _("Skipped: %s"), bad->message);
  g_error_free (bad);
  return TRUE;
}

/* An archive need not have what can be filled; then nothing is loaded. */
static gboolean
dataset_load_input (const VnDataset  *self,
                    guint             i,
                    guint             input,
                    VnTensor        **tensor,
                    GError          **error)
{
  g_autoptr(GError) reason = NULL;

  if (self->source->load (self, i, input, tensor, &reason) ||
      (vn_dataset_may_fill (self, input) && input != self->main_input &&
       g_error_matches (reason, VN_ERROR, VN_ERROR_MISSING_DATA)))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

/**
 * vn_dataset_load:
 * @i: 0 .. vn_dataset_get_n() - 1
 * @tensors: (out) (array): one per input, set to tensors the caller owns; untouched on failure
 *
 * Reads and prepares sample @i. The same sample gives the same bits, in any order and from any thread.
 *
 * Returns: %FALSE with an error that names the file and the reason
 */
gboolean
vn_dataset_load (VnDataset  *self,
                 guint       i,
                 VnTensor  **tensors,
                 GError    **error)
{
  g_autofree VnTensor **loaded = NULL;
  gboolean good = TRUE;

  g_return_val_if_fail (self != NULL && i < self->samples->len, FALSE);

  if (vn_dataset_take_kept (self, i, tensors))
    return TRUE;
  loaded = g_new0 (VnTensor *, self->n_inputs + 1);
  for (guint k = 0; good && k < self->n_inputs; k++)
    good = vn_dataset_is_filled (self, i, k) || dataset_load_input (self, i, k, &loaded[k], error);
  for (guint k = 0; good && k < self->n_inputs; k++)   /* with what goes with those that are there */
    if (loaded[k] == NULL)
      good = (loaded[k] = vn_dataset_fill (self, i, k, loaded, error)) != NULL;
  if (good)
    {
      vn_dataset_put_kept (self, i, loaded);
      memcpy (tensors, loaded, self->n_inputs * sizeof *tensors);
    }
  else
    {
      vn_message_make_valid (error);
      vn_tensor_clear_all (loaded, self->n_inputs);
    }
  return good;
}
