/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scales that are powers of two: training moves weights between integers, but rarely a scale by half an octave, so neighbours are
 * tried. */
#include "trained-steps-private.h"

/* What another power of two must lower the loss to: there are few samples. */
#define OCTAVE_GAIN 0.99

/* Keeps an octave, of a tensor or a layer, that lowers the loss of samples that are trained with, and of others: no small step
 * leads there. */
static gboolean
trained_octaves_try_octave (VnTrainSteps   *self,
                            VnTrainedScale *scale,    /* nullable */
                            VnTrainedLayer *layer,    /* nullable */
                            float           octave,
                            double         *loss,
                            GError        **error)
{
  double found, judged = 0;

  if (scale != NULL)
    scale->octave = octave;
  else
    vn_trained_layer_set_octave (layer, octave);
  if (!vn_train_steps_measure (self, self->order, MIN (self->n_trained, VN_TRAIN_MOST_JUDGED), &found, error) ||
      (found < *loss * OCTAVE_GAIN && !vn_train_steps_judge (self, &judged, error)))
    return FALSE;
  if (found < *loss * OCTAVE_GAIN && judged < self->block->after)
    {
      *loss = found;
      self->block->after = judged;
      vn_train_steps_keep (self);
    }
  else
    vn_train_steps_take_best (self);
  return TRUE;
}

static gboolean
trained_octaves_try_octaves (VnTrainSteps   *self,
                             VnTrainedScale *scale,
                             VnTrainedLayer *layer,
                             double         *loss,
                             GError        **error)
{
  double before = *loss;

  if (!trained_octaves_try_octave (self, scale, layer, -1, loss, error))
    return FALSE;
  return *loss < before || trained_octaves_try_octave (self, scale, layer, 1, loss, error);
}

/*< private >
 * vn_train_steps_search_octaves:
 *
 * Tries the powers of two next to each scale.
 *
 * Returns: %FALSE with an error if the block cannot be run
 */
gboolean
vn_train_steps_search_octaves (VnTrainSteps *self,
                               GError      **error)
{
  VnTrainedBlock *block = self->block;
  double loss;

  if (!vn_train_steps_measure (self, self->order, MIN (self->n_trained, VN_TRAIN_MOST_JUDGED), &loss, error))
    return FALSE;
  for (guint i = 0; i < block->scales->len && !vn_train_state_is_stopped (block->state); i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (block->scales, i);

      if (scale->learns && scale->kind == VN_SCALE_POWER_OF_TWO && !trained_octaves_try_octaves (self, scale, NULL, &loss, error))
        return FALSE;
    }
  for (guint i = 0; i < block->layers->len && !vn_train_state_is_stopped (block->state); i++)
    {
      VnTrainedLayer *layer = g_ptr_array_index (block->layers, i);

      if (layer->trains_scales && layer->power_of_two && layer->grid->n == 1 &&
          !trained_octaves_try_octaves (self, NULL, layer, &loss, error))
        return FALSE;
    }
  return TRUE;
}
