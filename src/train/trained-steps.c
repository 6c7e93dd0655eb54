/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of training a block: some samples forward and backward, then everything that learns is moved a little. What is stored
 * in the end is looked at again and again on samples that were not trained with, and the best of that is taken. */
#include "trained-steps-private.h"

#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>
#include <string.h>

/* Steps and learning rates that suit what is trained, unless the recipe says otherwise. */
#define ROUNDING_STEPS 400
#define WEIGHT_STEPS 400
#define SCALE_STEPS 200
#define ROUNDING_RATE 0.05
#define WEIGHT_RATE 0.02
#define SCALE_RATE 0.02
#define TENSOR_RATE 0.005   /* of the scales of what is computed: each counts more than that of a channel of weights */

/* The part of the steps in which rates rise: many weights start equally far from where they are rounded to the next integer, and
 * would come there at once, as long as the optimizer knows no more than the signs of their gradients. */
#define RISE 0.1
#define FIRST_RATE 0.1

/* One in so many samples is not trained with, but judged by; not more than so many, and not more with their copies. */
#define HELD_OUT 6
#define MOST_HELD_OUT 8

/* How far behind its time, as a part of it, training may be before it hurries. */
#define LATE 0.05

/* How often what would be stored is looked at; and by when it must be better than at the beginning for training to go on. */
#define LOOKS 20
#define PATIENCE 0.6

/* AdaRound: steps without regularizer, its exponents, and its weight beside the error, where that of a recipe is 0.01. */
#define WARM 0.2
#define FIRST_BETA 20
#define LAST_BETA 2
#define PULL 100

/* How far biases are moved where weights are moved by a step of their grid, as a share of what the layer computes. */
#define BIAS_STEP 0.02

static void
steps_clear (VnTrainSteps *self)
{
  g_free (self->order);
  g_clear_pointer (&self->random, g_rand_free);
  g_free (self->seeds);
  g_free (self->losses);
  for (guint i = 0; self->counts != NULL && i < self->wanted->n_values; i++)
    g_free (self->counts[i].by);
  g_free (self->counts);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnTrainSteps, steps_clear)

guint
vn_train_get_steps (const VnTrainScheme *scheme)
{
  g_return_val_if_fail (scheme != NULL, 0);

  if (scheme->steps > 0)
    return scheme->steps;
  return vn_train_rounds (scheme->kind) ? ROUNDING_STEPS : vn_train_weights (scheme->kind) ? WEIGHT_STEPS : SCALE_STEPS;
}

static double
trained_steps_get_rate (const VnTrainScheme *scheme)
{
  if (scheme->rate > 0)
    return scheme->rate;
  return vn_train_rounds (scheme->kind) ? ROUNDING_RATE : vn_train_weights (scheme->kind) ? WEIGHT_RATE : SCALE_RATE;
}

static double
trained_steps_get_tensor_rate (const VnTrainScheme *scheme)
{
  return scheme->kind == VN_TRAIN_THRESHOLDS && scheme->rate > 0 ? scheme->rate : TENSOR_RATE;
}

/* ---- all that learns ---- */

static void
trained_steps_learn_scales (VnTrainSteps *self,
                            double        rate)
{
  VnTrainedBlock *block = self->block;

  for (guint i = 0; i < block->scales->len; i++)
    {
      VnTrainedScale *scale = g_ptr_array_index (block->scales, i);
      float gradient = 0;

      if (!scale->learns)
        continue;
      for (guint k = 0; k < scale->hooks->len; k++)
        gradient += vn_block_get_hook_gradients (block->block, g_array_index (scale->hooks, guint, k))[0];
      vn_adam_step (&scale->adam, &scale->octave, &gradient, rate);
    }
}

static void
trained_steps_learn (VnTrainSteps *self,
                     double        share)
{
  VnTrainedBlock *block = self->block;
  double decay = 0.5 * (1 + cos (G_PI * share)) * MIN (FIRST_RATE + share * (1 - FIRST_RATE) / RISE, 1);
  double rate = trained_steps_get_rate (self->scheme) * decay;
  double beta = vn_adaround_get_beta (share, WARM, FIRST_BETA, LAST_BETA);
  gsize n_weights = 1;

  for (guint i = 0; i < block->layers->len; i++)
    n_weights += ((const VnTrainedLayer *) g_ptr_array_index (block->layers, i))->n;
  for (guint i = 0; i < block->layers->len; i++)
    {
      VnTrainedLayer *layer = g_ptr_array_index (block->layers, i);

      vn_trained_layer_learn (layer, vn_block_get_gradient (block->block, layer->weight)->data,
                              layer->bias != NULL ? vn_block_get_gradient (block->block, layer->bias)->data : NULL,
                              rate, beta, self->scheme->regularization * PULL / (double) n_weights);
    }
  trained_steps_learn_scales (self, trained_steps_get_tensor_rate (self->scheme) * decay);
}

/* ---- steps ---- */

static void
trained_steps_shuffle (VnTrainSteps *self)
{
  for (guint i = self->n_trained; i-- > 1;)
    {
      guint k = (guint) g_rand_int_range (self->random, 0, (gint32) i + 1), swapped = self->order[i];

      self->order[i] = self->order[k];
      self->order[k] = swapped;
    }
  self->at = 0;
}

static gboolean
trained_steps_do (VnTrainSteps *self,
                  double        share,
                  GError      **error)
{
  const VnTrainState *state = self->block->state;

  self->n_items = MIN (self->scheme->batch, self->n_trained);
  if (self->at + self->n_items > self->n_trained)
    trained_steps_shuffle (self);
  self->items = self->order + self->at;
  self->at += self->n_items;
  for (guint i = 0; i < self->n_items; i++)
    self->seeds[i] = g_rand_int (self->random);
  self->learns = TRUE;
  vn_train_steps_write (self, FALSE);
  if (!vn_block_step (self->block->block, self->n_items, state->n_threads, vn_train_steps_run_item, self, state->cancellable,
                      error))
    return FALSE;
  trained_steps_learn (self, share);
  return TRUE;
}

static gboolean
trained_steps_look (VnTrainSteps *self,
                    GError      **error)
{
  VnTrainedBlock *block = self->block;
  double loss;

  if (!vn_train_steps_judge (self, &loss, error))
    return FALSE;
  if (loss < block->after)
    {
      block->after = loss;
      vn_train_steps_keep (self);
    }
  return TRUE;
}

/* ---- all steps ---- */

/* How much of the training is done: of its steps, or, if it is late, of its part of the time, so that it comes to its end in
 * time. Blocks that need less leave the rest to those behind them. As long as it is not late, the clock has no part in what comes
 * out. */
static double
trained_steps_get_share (const VnTrainSteps *self,
                         guint               i,
                         guint               n)
{
  const VnTrainState *state = self->block->state;
  double left = (double) (state->deadline - self->began), part = 2 * left / (state->n_left + 1), by_time;

  if (state->deadline == 0)
    return (double) i / n;
  by_time = (double) (g_get_monotonic_time () - self->began) / MAX (MIN (part, left), 1);
  return MAX ((double) i / n, (by_time - LATE) / (1 - LATE));
}

static gboolean
trained_steps_is_in_vain (const VnTrainSteps *self,
                          double              share)
{
  return self->scheme->stops_early && share > PATIENCE && self->block->after >= self->block->before;
}

/* How large what the layers compute is decides how far their biases may move. */
static gboolean
trained_steps_measure_item (VnBlockRun  *run,
                            guint        item,
                            gpointer     data,
                            GError     **error)
{
  VnTrainSteps *self = data;
  VnTrainedBlock *block = self->block;

  if (!vn_train_steps_forward (self, run, item, error))
    return FALSE;
  for (guint i = 0; i < block->layers->len; i++)
    {
      VnTrainedLayer *layer = g_ptr_array_index (block->layers, i);
      const VnNode *node = g_array_index (layer->weight->uses, VnUse, 0).node;
      const VnTensor *computed = vn_block_run_get_value (run, vn_node_get_output (node, 0));
      double sum = 0;

      for (gsize k = 0; computed != NULL && k < computed->n_elements; k++)
        sum += (double) ((const float *) computed->data)[k] * (double) ((const float *) computed->data)[k];
      layer->bias_step = BIAS_STEP * sqrt (sum / (computed != NULL ? MAX (computed->n_elements, 1) : 1)) *
                         (vn_train_rounds (layer->train) ? WEIGHT_RATE / ROUNDING_RATE : 1);
    }
  return TRUE;
}

static gboolean
trained_steps_measure_layers (VnTrainSteps *self,
                              GError      **error)
{
  self->learns = FALSE;
  self->items = self->order;
  self->n_items = 1;
  return vn_block_step (self->block->block, 1, 1, trained_steps_measure_item, self, self->block->state->cancellable, error);
}

/* Whether a sample is not trained with: one here and there, as samples may be sorted, with all of its copies. */
static gboolean
trained_steps_is_held_out (guint group,
                           guint n_groups,
                           guint n_judged)
{
  return n_judged > 0 && group * n_judged / n_groups != (group + 1) * n_judged / n_groups;
}

static void
trained_steps_split (VnTrainSteps *self,
                     guint         n)
{
  guint copies = MAX (self->read->n_copies, 1), n_groups = (n + copies - 1) / copies;
  guint n_judged = MIN (n_groups / HELD_OUT, MOST_HELD_OUT), at = 0;

  self->order = g_new (guint, 2 * n + 1);
  for (guint i = 0; i < n; i++)
    if (!trained_steps_is_held_out (i / copies, n_groups, n_judged))
      self->order[at++] = i;
  self->n_trained = at;
  for (guint i = 0; i < n; i++)
    if (n_judged == 0 || trained_steps_is_held_out (i / copies, n_groups, n_judged))
      self->order[at++] = i;
  self->n_judged = MIN (at - self->n_trained, VN_TRAIN_MOST_JUDGED);
}

static double
trained_steps_measure_energy (const VnTrainSteps *self,
                              guint               output,
                              guint               n)
{
  double energy = 0;

  for (guint i = 0; i < n; i++)
    {
      const VnTensor *wanted = self->wanted->tensors[i][output];

      for (gsize e = 0; wanted->dtype == VN_DTYPE_F32 && e < wanted->n_elements; e++)
        energy += (double) ((const float *) wanted->data)[e] * (double) ((const float *) wanted->data)[e] / n;
    }
  return energy > 0 && isfinite (energy) ? energy : 1;
}

/* (nullable): what is known of how much an output counts */
static const VnTrainImportance *
trained_steps_find_importance (const VnTrainSteps *self,
                               guint               output)
{
  const VnTrainState *state = self->block->state;

  return state->importance != NULL ? g_hash_table_lookup (state->importance,
                                                          vn_block_get_output (self->block->block, output)->name) : NULL;
}

/* By the outputs of the network, if that is known of all; else each by its own energy. */
static void
trained_steps_weigh (VnTrainSteps *self,
                     guint         n)
{
  guint n_outputs = self->wanted->n_values;
  gboolean known = TRUE;

  for (guint k = 0; k < n_outputs; k++)
    known = known && (trained_steps_find_importance (self, k) != NULL || self->wanted->tensors[0][k]->dtype != VN_DTYPE_F32);
  self->counts = g_new0 (VnTrainImportance, n_outputs + 1);
  for (guint k = 0; k < n_outputs; k++)
    {
      const VnTrainImportance *from = known ? trained_steps_find_importance (self, k) : NULL;
      const VnTensor *wanted = self->wanted->tensors[0][k];

      self->counts[k] = from != NULL ? *from : (VnTrainImportance) { NULL, 1, MAX (wanted->n_elements, 1) };
      self->counts[k].by = g_new (double, MAX (self->counts[k].n, 1));
      if (from != NULL)
        memcpy (self->counts[k].by, from->by, from->n * sizeof (double));
      else
        self->counts[k].by[0] = 1 / (trained_steps_measure_energy (self, k, n) * n_outputs);
    }
}

static gboolean
trained_steps_begin (VnTrainSteps *self,
                     GError      **error)
{
  guint n = MIN (self->read->n, self->wanted->n);

  if (self->float_read != NULL)
    n = MIN (n, self->float_read->n);
  self->random = g_rand_new_with_seed (self->scheme->seed);
  self->losses = g_new0 (double, MAX (n, 1));
  self->seeds = g_new0 (guint32, MAX (n, 1));
  trained_steps_split (self, n);
  trained_steps_weigh (self, n);
  trained_steps_shuffle (self);
  return trained_steps_measure_layers (self, error);
}

/**
 * vn_trained_block_measure:
 *
 * Fills in @before, without training.
 */
gboolean
vn_trained_block_measure (VnTrainedBlock     *self,
                          const VnTrainTaps  *read,
                          const VnTrainTaps  *wanted,
                          GError            **error)
{
  g_auto(VnTrainSteps) steps = { .block = self, .read = read, .wanted = wanted };

  g_return_val_if_fail (self != NULL && read != NULL && wanted != NULL, FALSE);

  steps.scheme = &self->state->scheme;
  return trained_steps_begin (&steps, error) && vn_train_steps_judge (&steps, &self->before, error);
}

/**
 * vn_trained_block_train:
 * @read: what the block reads in the quantized network, @float_read in the float one
 * @wanted: what it computes in the float one
 * @done, @total: of the progress
 *
 * Trains until the steps are done, nothing is gained any more, or training is stopped. The best of that is in the layers and
 * scales.
 *
 * Returns: %FALSE with an error if the block cannot be run
 */
gboolean
vn_trained_block_train (VnTrainedBlock     *self,
                        const VnTrainTaps  *read,
                        const VnTrainTaps  *float_read,
                        const VnTrainTaps  *wanted,
                        const VnProgress   *progress,
                        guint64             done,
                        guint64             total,
                        GError            **error)
{
  g_auto(VnTrainSteps) steps = { .block = self, .read = read, .float_read = float_read, .wanted = wanted };
  gboolean good = TRUE;
  guint n, look;

  g_return_val_if_fail (self != NULL && read != NULL && wanted != NULL, FALSE);

  steps.scheme = &self->state->scheme;
  n = vn_train_get_steps (steps.scheme);
  look = MAX (n / LOOKS, 1);
  if (!trained_steps_begin (&steps, error) || !vn_train_steps_judge (&steps, &self->before, error))
    return FALSE;
  self->after = self->before;
  steps.scale = 1 / MAX (self->before, 1e-12);
  steps.began = g_get_monotonic_time ();
  good = vn_train_steps_search_octaves (&steps, error);
  for (guint i = 0; i < n && good && !vn_train_state_is_stopped (self->state); i++)
    {
      double share = trained_steps_get_share (&steps, i, n);

      if (share >= 1)
        break;
      good = trained_steps_do (&steps, share, error);
      self->n_steps += good;
      vn_progress_report (progress, _("steps"), done + i + 1, total);
      if (good && ((i + 1) % look == 0 || i + 1 == n))
        good = trained_steps_look (&steps, error);
      if (trained_steps_is_in_vain (&steps, share))
        break;
    }
  if (good && self->n_steps > 0 && self->n_steps < n && !vn_train_state_is_stopped (self->state))
    good = trained_steps_look (&steps, error);
  vn_train_steps_take_best (&steps);
  if (good || !vn_train_state_is_stopped (self->state))
    return good;
  g_clear_error (error);   /* what was best before it was stopped is there */
  return TRUE;
}
