/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sounds that are longer than what the network takes at once: each file is several samples, as many from each. A network that
 * keeps a state hears a sound piece by piece; where it does not say how long a piece is, that is the usual time. */
#include "vn-dataset-private.h"

#include "vn-i18n.h"
#include "vn-input-role.h"

#define FRAME_MS 32          /* about, of networks that keep a state */
#define LEAST_RATE 1000u

static gboolean
dataset_sounds_is_sound (const VnDataset *self,
                         const VnSample  *sample)
{
  return sample->paths != NULL && vn_file_kind (sample->paths[self->main_input]) == VN_FILE_WAV &&
         vn_data_spec_get_script (self->spec, self->inputs[self->main_input].name) == NULL;
}

static gboolean
dataset_sounds_has_state (const VnDataset *self)
{
  for (guint k = 0; k < self->n_inputs; k++)
    if (vn_input_role_find (&self->inputs[k]) == VN_INPUT_STATE)
      return TRUE;
  return FALSE;
}

/* The power of two next below FRAME_MS: 512 at 16 kHz, 256 at 8 kHz. */
static gint64
dataset_sounds_choose_frame (guint rate)
{
  gint64 frame = 1;

  while (2 * frame * 1000 <= (gint64) MAX (rate, LEAST_RATE) * FRAME_MS)
    frame *= 2;
  return frame;
}

/* The axis of time is the last that is open. */
static void
dataset_sounds_fix_frame (VnDataset *self,
                          guint      rate,
                          VnNotes   *notes)
{
  VnInputSpec *input = &self->inputs[self->main_input];
  int axis = input->shape.rank - 1;

  while (axis > 0 && input->shape.dims[axis] >= 0)
    axis--;
  if (axis <= 0 || !dataset_sounds_has_state (self))
    return;
  input->shape.dims[axis] = dataset_sounds_choose_frame (rate);
  if (notes != NULL)
    vn_notes_add (notes, VN_NOTE_INFO, "data-sound-frame", input->name,
                  _("The frame size is dynamic: %lld values are used, %.0f ms at %u Hz; set another with the input size"),
                  (long long) input->shape.dims[axis], 1000.0 * (double) input->shape.dims[axis] / rate, rate);
}

/* Beside files for other inputs a sound is one sample. */
static guint
dataset_sounds_count_parts (const VnDataset *self,
                            const VnSample  *sample)
{
  for (guint k = 0; k < self->n_inputs; k++)
    if (k != self->main_input && sample->paths[k][0] != '\0')
      return 1;
  return MAX (vn_wav_count_frames (sample->paths[self->main_input], &self->inputs[self->main_input]), 1);
}

static void
dataset_sounds_add_parts (VnDataset      *self,
                          const VnSample *sample,
                          guint           n)
{
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = n > 1 ? g_strdup_printf ("%s #%u", sample->name, i) : g_strdup (sample->name);
      VnSample *part;

      vn_dataset_add (self, name, sample->label, sample->paths);
      part = self->samples->pdata[self->samples->len - 1];
      part->part = i;
      part->n_parts = n;
    }
}

/*< private >
 * vn_dataset_cut_sounds:
 * @notes: (nullable): told how
 *
 * Each .wav file becomes as many samples as it holds of what the network takes at once, but at most %VN_WAV_FRAMES.
 */
void
vn_dataset_cut_sounds (VnDataset *self,
                       VnNotes   *notes)
{
  g_autoptr(GPtrArray) files = NULL;
  const VnSample *first;
  gsize wanted;

  g_return_if_fail (self != NULL && self->samples->len > 0);

  first = self->samples->pdata[0];
  if (!dataset_sounds_is_sound (self, first))
    return;
  if (vn_wav_count_wanted (&self->inputs[self->main_input]) == 0)
    dataset_sounds_fix_frame (self, vn_wav_read_rate (first->paths[self->main_input]), notes);
  wanted = vn_wav_count_wanted (&self->inputs[self->main_input]);
  if (wanted == 0)
    return;
  files = g_steal_pointer (&self->samples);
  self->samples = g_ptr_array_new_with_free_func (vn_sample_free);
  for (guint i = 0; i < files->len; i++)
    dataset_sounds_add_parts (self, files->pdata[i], dataset_sounds_is_sound (self, files->pdata[i])
                                                     ? dataset_sounds_count_parts (self, files->pdata[i]) : 1);
  if (self->samples->len > files->len)
    self->sound_part = wanted;
  if (notes != NULL && self->samples->len > files->len)
    vn_notes_add (notes, VN_NOTE_INFO, "data-sound-parts", NULL,
                  _("Sounds longer than the %zu values that the model takes are cut: up to %u parts of each are samples, the "
                    "loudest of stretches of equal length"), wanted, VN_WAV_FRAMES);
}

/**
 * vn_dataset_get_sound_part:
 *
 * Returns: values of a sound that a sample has, where sounds are cut; 0: they are not
 */
gsize
vn_dataset_get_sound_part (VnDataset *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->sound_part;
}
