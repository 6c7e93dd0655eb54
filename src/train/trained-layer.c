/* SPDX-License-Identifier: GPL-3.0-or-later */
/* AdaRound starts between two integers, at the weight itself unless second-order rounding went elsewhere; AdaQuant moves weights,
 * which are rounded on the way (Hubara et al., "Accurate Post Training Quantization With Small Calibration Sets", 2021). */
#include "trained-layer.h"

#include "vn-memory.h"
#include "vn-quant-math.h"

#include <math.h>
#include <string.h>

/* Where weights start that were rounded to an integer further away: just so that they are still rounded to that. */
#define EDGE 0.45f
#define INSIDE 0.25f

/* The share of a step where AdaRound starts for an integer that is further away than one step. */
#define FAR_SHARE 0.1f

/* How much slower scales are trained than weights: an octave is a long way. */
#define SCALE_RATE 0.1

void
vn_trained_layer_free (VnTrainedLayer *self)
{
  if (self == NULL)
    return;
  g_free (self->label);
  g_clear_pointer (&self->wanted, vn_tensor_unref);
  vn_fake_quantizer_free (self->grid);
  vn_fake_quantizer_free (self->bias_grid);
  g_free (self->steps);
  g_free (self->below);
  g_free (self->best_steps);
  g_free (self->first_scales);
  g_free (self->octaves);
  g_free (self->best_octaves);
  g_free (self->bias_values);
  g_free (self->best_bias);
  g_free (self->octave_gradients);
  g_free (self->scratch);
  vn_adam_clear (&self->adam);
  vn_adam_clear (&self->scale_adam);
  vn_adam_clear (&self->bias_adam);
  g_free (self);
}

/* ---- where it starts ---- */

static void
trained_layer_start_step (VnTrainedLayer *self,
                          gsize           i,
                          float           wanted,
                          float           now)
{
  gsize at = vn_fake_quantizer_find_scale (self->grid, i);
  float scale = self->grid->scales[at], low = self->grid->low[at], high = self->grid->high[at];
  float there = CLAMP (rintf (now / scale), low, high), away = wanted / scale - there, below, share;

  if (!vn_train_rounds (self->train))
    {
      self->steps[i] = there + CLAMP (away, -INSIDE, INSIDE);
      return;
    }
  below = away < 0 ? there - 1 : there;
  share = fabsf (away) < 1 ? there + away - below : away < 0 ? 1 - FAR_SHARE : FAR_SHARE;
  self->below[i] = below;
  self->steps[i] = (float) vn_adaround_invert ((double) (away < 0 ? MAX (share, 1 - EDGE) : MIN (share, EDGE)));
}

static gboolean
trained_layer_alloc (VnTrainedLayer  *self,
                     GError         **error)
{
  gsize n_scales = self->grid->n;

  self->first_scales = vn_try_new0 (float, n_scales, error);
  self->octaves = self->first_scales != NULL ? vn_try_new0 (float, n_scales, error) : NULL;
  self->best_octaves = self->octaves != NULL ? vn_try_new0 (float, n_scales, error) : NULL;
  self->octave_gradients = self->best_octaves != NULL ? vn_try_new0 (double, n_scales, error) : NULL;
  self->steps = self->octave_gradients != NULL ? vn_try_new0 (float, self->n, error) : NULL;
  self->best_steps = self->steps != NULL ? vn_try_new0 (float, self->n, error) : NULL;
  self->below = self->best_steps != NULL ? vn_try_new0 (float, vn_train_rounds (self->train) ? self->n : 1, error) : NULL;
  self->scratch = self->below != NULL ? vn_try_new0 (float, MAX (self->n, n_scales), error) : NULL;
  return self->scratch != NULL && vn_adam_init (&self->adam, self->n, error) && vn_adam_init (&self->scale_adam, n_scales, error);
}

/* Biases of 32 bit are rounded too finely to count. */
static gboolean
trained_layer_add_bias (VnTrainedLayer             *self,
                        const VnTrainedLayerInput  *input,
                        GError                    **error)
{
  VnValue *bias = vn_node_get_input (input->node, 2);
  const VnQuantRow *row = input->bias_row;

  if (self->train == VN_TRAIN_THRESHOLDS || bias == NULL || bias->initializer == NULL ||
      bias->initializer->dtype != VN_DTYPE_F32 ||
      bias->uses->len != 1 || bias->is_output || (row != NULL && row->beta != 1.f))
    return TRUE;
  self->bias = bias;
  self->n_bias = bias->initializer->n_elements;
  if (vn_quant_row_has_integers (row) && vn_dtype_get_bits (row->tensor.dtype) <= 16)
    {
      self->bias_grid = vn_fake_quantizer_new (row, &bias->initializer->shape, error);
      if (self->bias_grid == NULL)
        return FALSE;
    }
  self->bias_values = vn_try_new (float, self->n_bias, error);
  self->best_bias = self->bias_values != NULL ? vn_try_new (float, self->n_bias, error) : NULL;
  if (self->best_bias == NULL)
    return FALSE;
  for (gsize i = 0; i < self->n_bias; i++)
    self->bias_values[i] = (float) vn_tensor_get_double (bias->initializer, i);
  return vn_adam_init (&self->bias_adam, self->n_bias, error);
}

/**
 * vn_trained_layer_new:
 *
 * Returns: (transfer full) (nullable): %NULL with an error if memory is short
 */
VnTrainedLayer *
vn_trained_layer_new (const VnTrainedLayerInput  *input,
                      GError                    **error)
{
  g_autoptr(VnTrainedLayer) self = NULL;
  VnTensor *now;

  g_return_val_if_fail (input != NULL && input->node != NULL && input->row != NULL, NULL);

  self = g_new0 (VnTrainedLayer, 1);
  self->weight = vn_node_get_input (input->node, 1);
  self->label = vn_node_dup_label (input->node);
  self->wanted = vn_tensor_ref (input->wanted);
  self->train = input->train;
  self->trains_scales = input->trains_scales && vn_train_scales (input->train) && !vn_train_rounds (input->train);
  self->power_of_two = input->power_of_two;
  now = self->weight->initializer;
  self->n = now->n_elements;
  self->grid = vn_fake_quantizer_new (input->row, &now->shape, error);
  if (self->grid == NULL || !trained_layer_alloc (self, error) || !trained_layer_add_bias (self, input, error))
    return NULL;
  memcpy (self->first_scales, self->grid->scales, self->grid->n * sizeof (float));
  for (gsize i = 0; i < self->n; i++)
    trained_layer_start_step (self, i, (float) vn_tensor_get_double (input->wanted, i), (float) vn_tensor_get_double (now, i));
  vn_trained_layer_keep (self);
  return g_steal_pointer (&self);
}

/* ---- what it is at present ---- */

static void
trained_layer_write_rounded (const VnTrainedLayer *self,
                             gboolean              hard,
                             float                *weights)
{
  for (gsize i = 0; i < self->n; i++)
    {
      gsize at = vn_fake_quantizer_find_scale (self->grid, i);
      double share = vn_adaround_share ((double) self->steps[i]);
      float step = self->below[i] + (float) (hard ? (share < 0.5 ? 0 : 1) : share);

      weights[i] = CLAMP (step, self->grid->low[at], self->grid->high[at]) * self->grid->scales[at];
    }
}

/* Weights before they are rounded. */
static void
trained_layer_fill_scratch (VnTrainedLayer *self)
{
  for (gsize i = 0; i < self->n; i++)
    self->scratch[i] = self->steps[i] * self->first_scales[vn_fake_quantizer_find_scale (self->grid, i)];
}

/**
 * vn_trained_layer_write:
 * @hard: as they would be stored; else with AdaRound between two integers
 * @weights: (out): values of the grid
 * @bias: (out) (nullable)
 */
void
vn_trained_layer_write (VnTrainedLayer *self,
                        gboolean        hard,
                        float          *weights,
                        float          *bias)
{
  g_return_if_fail (self != NULL && weights != NULL);

  if (vn_train_rounds (self->train))
    trained_layer_write_rounded (self, hard, weights);
  else
    {
      trained_layer_fill_scratch (self);
      vn_fake_quantizer_forward (self->grid, self->n, self->scratch, weights);
    }
  if (self->bias == NULL || bias == NULL)
    return;
  if (self->bias_grid != NULL)
    vn_fake_quantizer_forward (self->bias_grid, self->n_bias, self->bias_values, bias);
  else
    memcpy (bias, self->bias_values, self->n_bias * sizeof (float));
}

/* ---- learning ---- */

/* Returns: the sum of the regularizer. */
static double
trained_layer_learn_rounding (VnTrainedLayer *self,
                              const float    *weights,
                              double          rate,
                              double          beta,
                              double          pull)
{
  double sum = 0;

  for (gsize i = 0; i < self->n; i++)
    {
      gsize at = vn_fake_quantizer_find_scale (self->grid, i);
      double v = (double) self->steps[i], share = vn_adaround_share (v), step = (double) self->below[i] + share;
      double inside = step < (double) self->grid->low[at] || step > (double) self->grid->high[at] ? 0 : 1;

      self->scratch[i] = (float) (inside * (double) weights[i] * (double) self->grid->scales[at] * vn_adaround_slope (v) +
                                  (beta > 0 ? pull * vn_adaround_pull (v, beta) : 0));
      sum += beta > 0 ? 1 - pow (fabs (2 * share - 1), beta) : 0;
    }
  vn_adam_step (&self->adam, self->steps, self->scratch, rate);
  return sum;
}

static void
trained_layer_set_scales (VnTrainedLayer *self)
{
  for (gsize i = 0; i < self->grid->n && self->trains_scales; i++)
    self->grid->scales[i] = self->first_scales[i] * exp2f (self->power_of_two ? rintf (self->octaves[i]) : self->octaves[i]);
}

static void
trained_layer_learn_weights (VnTrainedLayer *self,
                             const float    *weights,
                             double          rate)
{
  g_autofree float *gradient = g_try_new (float, MAX (self->n, self->grid->n));

  if (gradient == NULL)
    return;
  trained_layer_fill_scratch (self);
  memcpy (gradient, weights, self->n * sizeof (float));
  memset (self->octave_gradients, 0, self->grid->n * sizeof (double));
  vn_fake_quantizer_backward (self->grid, self->n, self->scratch, gradient, self->trains_scales ? self->octave_gradients : NULL);
  if (vn_train_weights (self->train))
    {
      for (gsize i = 0; i < self->n; i++)
        gradient[i] *= self->first_scales[vn_fake_quantizer_find_scale (self->grid, i)];
      vn_adam_step (&self->adam, self->steps, gradient, rate);
    }
  if (!self->trains_scales)
    return;
  for (gsize i = 0; i < self->grid->n; i++)
    gradient[i] = (float) self->octave_gradients[i];
  vn_adam_step (&self->scale_adam, self->octaves, gradient, rate * SCALE_RATE);
  trained_layer_set_scales (self);
}

/**
 * vn_trained_layer_learn:
 * @weights, @bias: gradients by what vn_trained_layer_write() wrote
 * @rate: in steps of the grid
 * @beta, @pull: AdaRound: exponent (0: none yet) and weight of the regularizer
 *
 * Returns: the sum of the regularizer
 */
double
vn_trained_layer_learn (VnTrainedLayer *self,
                        const float    *weights,
                        const float    *bias,
                        double          rate,
                        double          beta,
                        double          pull)
{
  double sum = 0;

  g_return_val_if_fail (self != NULL && weights != NULL, 0);

  if (vn_train_rounds (self->train))
    sum = trained_layer_learn_rounding (self, weights, rate, beta, pull);
  else
    trained_layer_learn_weights (self, weights, rate);
  if (self->bias != NULL && bias != NULL)
    vn_adam_step (&self->bias_adam, self->bias_values, bias, rate * self->bias_step);
  return sum;
}

/**
 * vn_trained_layer_set_octave:
 * @octave: logarithm to base 2 of what all scales are multiplied by
 *
 * Takes other scales, and the float weights again, as integers of the scales before say little about them.
 */
void
vn_trained_layer_set_octave (VnTrainedLayer *self,
                             float           octave)
{
  g_return_if_fail (self != NULL && self->trains_scales);

  for (gsize i = 0; i < self->grid->n; i++)
    self->octaves[i] = octave;
  for (gsize i = 0; i < self->n; i++)
    self->steps[i] = (float) vn_tensor_get_double (self->wanted,
                                                   i) / self->first_scales[vn_fake_quantizer_find_scale (self->grid, i)];
  trained_layer_set_scales (self);
}

/* ---- the best so far ---- */

void
vn_trained_layer_keep (VnTrainedLayer *self)
{
  g_return_if_fail (self != NULL);

  memcpy (self->best_steps, self->steps, self->n * sizeof (float));
  memcpy (self->best_octaves, self->octaves, self->grid->n * sizeof (float));
  if (self->bias != NULL)
    memcpy (self->best_bias, self->bias_values, self->n_bias * sizeof (float));
}

void
vn_trained_layer_take_best (VnTrainedLayer *self)
{
  g_return_if_fail (self != NULL);

  memcpy (self->steps, self->best_steps, self->n * sizeof (float));
  memcpy (self->octaves, self->best_octaves, self->grid->n * sizeof (float));
  if (self->bias != NULL)
    memcpy (self->bias_values, self->best_bias, self->n_bias * sizeof (float));
  trained_layer_set_scales (self);
}
