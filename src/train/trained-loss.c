/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of a block forward and back, and what is learned from them written into it. */
#include "trained-steps-private.h"

#include <math.h>

/* ---- one sample ---- */

static guint64
trained_loss_mix (guint64 bits)   /* Steele et al., SplitMix64 */
{
  bits = (bits ^ (bits >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  bits = (bits ^ (bits >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return bits ^ (bits >> 31);
}

/* What the block reads, with some numbers as the float network has them: Wei et al., "QDrop" (2022). */
static VnTensor *
trained_loss_mix_input (VnTrainSteps *self,
                        guint         item,
                        VnTensor     *read,
                        VnTensor     *in_float,
                        GError      **error)
{
  guint64 least = (guint64) (self->scheme->float_inputs * 4294967296.);
  VnTensor *mixed;

  if (read->dtype != VN_DTYPE_F32 || in_float->dtype != VN_DTYPE_F32 || read->n_elements != in_float->n_elements)
    return vn_tensor_ref (read);
  mixed = vn_tensor_new_copy (VN_DTYPE_F32, &read->shape, read->data, error);
  for (gsize i = 0; mixed != NULL && i < mixed->n_elements; i++)
    if ((trained_loss_mix (((guint64) self->seeds[item] << 32) + i) & 0xffffffff) < least)
      ((float *) mixed->data)[i] = ((const float *) in_float->data)[i];
  return mixed;
}

gboolean
vn_train_steps_forward (VnTrainSteps *self,
                        VnBlockRun   *run,
                        guint         item,
                        GError      **error)
{
  guint sample = self->items[item], n = self->read->n_values;
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, n + 1);
  gboolean mixes = self->learns && self->float_read != NULL, good = TRUE;

  for (guint i = 0; i < n && good; i++)
    {
      VnTensor *read = self->read->tensors[sample][i];

      inputs[i] = mixes ? trained_loss_mix_input (self, item, read, self->float_read->tensors[sample][i], error)
                  : vn_tensor_ref (read);
      good = inputs[i] != NULL;
    }
  good = good && vn_block_run_forward (run, inputs, error);
  vn_tensor_clear_all (inputs, n);
  return good;
}

/* Energy of the error, as it counts; the gradient of that times @factor, if it is wanted. */
static double
trained_loss_compare (const VnTensor          *found,
                      const VnTensor          *wanted,
                      const VnTrainImportance *counts,
                      double                   factor,
                      float                   *gradient)
{
  const float *x = found->data, *y = wanted->data;
  double sum = 0;

  for (gsize i = 0; i < found->n_elements; i += counts->inner)
    {
      double count = counts->by[i / counts->inner % counts->n], squares = 0;
      float slope = (float) (2 * factor * count);

      for (gsize k = i; k < MIN (i + counts->inner, found->n_elements); k++)
        {
          float away = x[k] - y[k];

          squares += (double) away * (double) away;
          if (gradient != NULL)
            gradient[k] = away * slope;
        }
      sum += count * squares;
    }
  return sum;
}

gboolean
vn_train_steps_run_item (VnBlockRun *run,
                         guint       item,
                         gpointer    data,
                         GError    **error)
{
  VnTrainSteps *self = data;
  guint n = self->wanted->n_values;
  double loss = 0;

  if (!vn_train_steps_forward (self, run, item, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    {
      const VnTensor *found = vn_block_run_get_output (run, i), *wanted = self->wanted->tensors[self->items[item]][i];
      VnTensor *gradient;

      if (found == NULL || found->dtype != VN_DTYPE_F32 || wanted->dtype != VN_DTYPE_F32 ||
          found->n_elements != wanted->n_elements)
        continue;
      gradient = self->learns ? vn_block_run_get_output_gradient (run, i, error) : NULL;
      if (self->learns && gradient == NULL)
        return FALSE;
      loss += trained_loss_compare (found, wanted, &self->counts[i], self->scale / self->n_items, gradient != NULL
                                    ? gradient->data : NULL);
    }
  self->losses[item] = loss;
  return !self->learns || vn_block_run_backward (run, error);
}

/* ---- what is stored ---- */

void
vn_train_steps_write (VnTrainSteps *self,
                      gboolean      hard)
{
  VnTrainedBlock *block = self->block;

  for (guint i = 0; i < block->layers->len; i++)
    {
      VnTrainedLayer *layer = g_ptr_array_index (block->layers, i);

      vn_trained_layer_write (layer, hard, vn_block_get_constant (block->block, layer->weight)->data,
                              layer->bias != NULL ? vn_block_get_constant (block->block, layer->bias)->data : NULL);
    }
  for (guint i = 0; i < block->scales->len; i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (block->scales, i);

      if (scale->learns)
        scale->grid->scales[0] = scale->first * exp2f (scale->kind == VN_SCALE_POWER_OF_TWO
                                                       ? rintf (scale->octave) : scale->octave);
    }
}

void
vn_train_steps_keep (VnTrainSteps *self)
{
  VnTrainedBlock *block = self->block;

  for (guint i = 0; i < block->layers->len; i++)
    vn_trained_layer_keep (g_ptr_array_index (block->layers, i));
  for (guint i = 0; i < block->scales->len; i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (block->scales, i);

      scale->best = scale->octave;
    }
}

void
vn_train_steps_take_best (VnTrainSteps *self)
{
  VnTrainedBlock *block = self->block;

  for (guint i = 0; i < block->layers->len; i++)
    vn_trained_layer_take_best (g_ptr_array_index (block->layers, i));
  for (guint i = 0; i < block->scales->len; i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (block->scales, i);

      scale->octave = scale->best;
    }
  vn_train_steps_write (self, TRUE);
}

/* The mean loss of what would be stored. */
gboolean
vn_train_steps_measure (VnTrainSteps *self,
                        const guint  *items,
                        guint         n_items,
                        double       *loss,
                        GError      **error)
{
  const VnTrainState *state = self->block->state;

  vn_train_steps_write (self, TRUE);
  self->learns = FALSE;
  self->items = items;
  self->n_items = n_items;
  if (!vn_block_step (self->block->block, self->n_items, state->n_threads, vn_train_steps_run_item, self, state->cancellable,
                      error))
    return FALSE;
  *loss = 0;
  for (guint i = 0; i < self->n_items; i++)
    *loss += self->losses[i] / self->n_items;
  return TRUE;
}

/* On samples that are not trained with. */
gboolean
vn_train_steps_judge (VnTrainSteps *self,
                      double       *loss,
                      GError      **error)
{
  return vn_train_steps_measure (self, self->order + self->n_trained, self->n_judged, loss, error);
}
