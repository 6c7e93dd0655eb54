/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding the source of samples and what goes into which input. */
#include "vn-dataset-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-message.h"

#define VN_SOURCE(name) extern const VnSource vn_source_##name;
#include "vn-sources.def"
#undef VN_SOURCE

static const VnSource * const sources[] = {
#define VN_SOURCE(name) &vn_source_##name,
#include "vn-sources.def"
#undef VN_SOURCE
};

/* @n of the samples, evenly spread, in their order. */
static void
dataset_open_thin_out (VnDataset *self,
                       guint      n)
{
  g_autoptr(GPtrArray) all = g_steal_pointer (&self->samples);

  self->samples = g_ptr_array_new_with_free_func (vn_sample_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (self->samples, g_steal_pointer (&all->pdata[(guint64) i * all->len / n]));
  g_ptr_array_set_free_func (all, NULL);
  for (guint i = 0; i < all->len; i++)
    g_clear_pointer ((VnSample **) &all->pdata[i], vn_sample_free);
}

/* Starts the user's Python where an input has it, so that what is wrong with it is one error and not one per sample. */
static gboolean
dataset_open_start_scripts (VnDataset  *self,
                            GError    **error)
{
  const VnSample *first = g_ptr_array_index (self->samples, 0);
  const gboolean may_run = vn_data_spec_may_run (self->spec);

  for (guint k = 0; k < self->n_inputs; k++)
    {
      const char *text = vn_data_spec_get_script (self->spec, self->inputs[k].name);
      VnScript *script;

      if (text == NULL || vn_dataset_is_filled (self, 0, k) ||
          (self->scripts != NULL && g_hash_table_contains (self->scripts, text)))
        continue;
      if (!may_run)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       _("A file names “%s” to preprocess the samples; it is not run unless you choose it yourself"), text);
          return FALSE;
        }
      if (first->paths == NULL)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       _("The preprocessing “%s” requires files, but the samples of “%s” are not files"), text, self->spec->path);
          return FALSE;
        }
      script = vn_script_new (VN_SCRIPT_PREPROCESS, text, self->spec->python, self->spec->timeout, g_cancellable_get_current (),
                              error);
      if (script == NULL)
        return FALSE;
      if (self->scripts == NULL)
        self->scripts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_script_free);
      g_hash_table_insert (self->scripts, g_strdup (text), script);
    }
  return TRUE;
}

/* Whether pictures go into input @k, by its settings or its script's; if by a script, the input need not be like one. */
static gboolean
dataset_open_plan_input (VnDataset  *self,
                         guint       k,
                         GError    **error)
{
  const VnPreprocess *preprocess = vn_data_spec_get_preprocess (self->spec, self->inputs[k].name);
  g_autoptr(GError) reason = NULL;

  if (vn_picture_plan_init (&self->pictures[k], &self->inputs[k], preprocess, &reason))
    {
      self->is_image |= k == self->main_input;
      return TRUE;
    }
  self->pictures[k] = (VnPicturePlan) { .channels = 0 };
  if (vn_data_spec_get_script (self->spec, self->inputs[k].name) != NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

/* Plans the inputs that pictures go into, so that one they do not fit is an error now and not one per sample. */
static gboolean
dataset_open_plan_pictures (VnDataset  *self,
                            GError    **error)
{
  for (guint k = 0; k < self->n_inputs; k++)
    for (guint i = 0; i < self->samples->len && self->pictures[k].channels == 0; i++)
      {
        const VnSample *sample = g_ptr_array_index (self->samples, i);

        if (sample->paths == NULL || sample->paths[k][0] == '\0' || !vn_file_is_picture (sample->paths[k]))
          continue;
        if (!dataset_open_plan_input (self, k, error))
          return FALSE;
      }
  return TRUE;
}

static const VnSource *
dataset_open_find_source (const VnDataset  *self,
                          GError          **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (sources); i++)
    if (sources[i]->claims (self))
      return sources[i];
  g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_NOENT,
               _("There is no file or folder “%s”; samples can also be “random”"), self->spec->path);
  return NULL;
}

static gboolean
dataset_open_fill (VnDataset  *self,
                   VnNotes    *notes,
                   GError    **error)
{
  guint most = self->spec->max_samples;

  if (self->n_inputs == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("The model has no inputs to feed samples to"));
      return FALSE;
    }
  self->source = dataset_open_find_source (self, error);
  if (!vn_dataset_check_window (self, error))
    return FALSE;
  if (self->source == NULL || !self->source->open (self, notes, error))
    return FALSE;
  vn_dataset_cut_sounds (self, notes);
  if (most > 0 && most < self->samples->len)
    dataset_open_thin_out (self, most);
  if (vn_dataset_get_path (self, 0) != NULL)
    self->sample_rate = vn_wav_read_rate (vn_dataset_get_path (self, 0));
  vn_dataset_find_lacking (self);
  if (notes != NULL)
    vn_dataset_note_filled (self, notes);
  return dataset_open_plan_pictures (self, error) && dataset_open_start_scripts (self, error);
}

/**
 * vn_dataset_open:
 * @spec: what and how; copied
 * @inputs: (array length=n_inputs): what the network takes, in its order; copied
 * @n_inputs: at least 1
 * @notes: (nullable): receives what was left out
 *
 * Finds the samples; nothing is decoded, so a damaged file shows only when it is loaded. Samples are in natural order
 * of their names, or in that of the list. Where the user's Python prepares them, it is started; the thread's current
 * cancellable (g_cancellable_push_current()) ends waiting for it, also when samples are loaded later.
 *
 * Returns: (transfer full) (nullable): the data set, never empty
 */
VnDataset *
vn_dataset_open (const VnDataSpec   *spec,
                 const VnInputSpec  *inputs,
                 guint               n_inputs,
                 VnNotes            *notes,
                 GError            **error)
{
  g_autoptr(VnDataset) self = NULL;

  g_return_val_if_fail (spec != NULL, NULL);

  self = vn_dataset_new (spec, inputs, n_inputs);
  if (dataset_open_fill (self, notes, error))
    return g_steal_pointer (&self);
  vn_message_make_valid (error);
  return NULL;
}
