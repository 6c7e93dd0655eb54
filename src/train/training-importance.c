/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The diagonal of the Gauss-Newton matrix, as Li et al., "BRECQ" (2021), weigh by that of Fisher: gradients of outputs times
 * random signs, squared (Hutchinson's estimate). By channel, as single numbers would say more of the samples than of the network.
 * */
#include "training-importance.h"

#include "training-cut.h"
#include "vn-train-block.h"

#include <math.h>

/* Samples that are looked at, at most. */
#define MOST_SAMPLES 16

/* What is added to each channel, as a share of the mean: gradients are those of small errors, and of few samples. */
#define DAMPING 0.1

typedef struct
{
  VnBlock     *block;
  VnTrainTaps  read;
  GPtrArray   *values;       /* of VnValue: what is looked at */
  GHashTable  *found;        /* by name: VnTrainImportance */
  GRand       *random;
  guint        sample;
} Importance;

static void
importance_clear (Importance *self)
{
  g_clear_pointer (&self->block, vn_block_free);
  vn_train_taps_clear (&self->read);
  g_clear_pointer (&self->values, g_ptr_array_unref);
  g_clear_pointer (&self->found, g_hash_table_unref);
  g_clear_pointer (&self->random, g_rand_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Importance, importance_clear)

static void
importance_free_one (gpointer data)
{
  VnTrainImportance *self = data;

  g_free (self->by);
  g_free (self);
}

/* Random signs, so that each output counts by its own energy. */
static gboolean
importance_write_output (Importance  *self,
                         VnBlockRun  *run,
                         guint        i,
                         GError     **error)
{
  const VnTensor *output = vn_block_run_get_output (run, i);
  VnTensor *gradient;
  double energy = 0;
  float size;

  if (output->dtype != VN_DTYPE_F32)
    return TRUE;
  gradient = vn_block_run_get_output_gradient (run, i, error);
  if (gradient == NULL)
    return FALSE;
  for (gsize e = 0; e < output->n_elements; e++)
    energy += (double) ((const float *) output->data)[e] * (double) ((const float *) output->data)[e];
  size = energy > 0 && isfinite (energy) ? (float) (1 / sqrt (energy)) : 0;
  for (gsize e = 0; e < output->n_elements; e++)
    ((float *) gradient->data)[e] = g_rand_boolean (self->random) ? size : -size;
  return TRUE;
}

/* Channels of pictures are the second axis, those of sequences the last. */
static VnTrainImportance *
importance_take (Importance     *self,
                 const VnValue  *value,
                 const VnTensor *gradient)
{
  VnTrainImportance *one = g_hash_table_lookup (self->found, value->name);
  int rank = gradient->shape.rank, axis = rank >= 4 ? 1 : rank - 1;

  if (one != NULL)
    return one->n == (gsize) (axis >= 0 ? gradient->shape.dims[axis] : 1) ? one : NULL;
  one = g_new0 (VnTrainImportance, 1);
  one->n = axis >= 0 ? (gsize) gradient->shape.dims[axis] : 1;
  one->inner = axis >= 0 ? (gsize) vn_shape_count (&gradient->shape, axis + 1, rank) : 1;
  one->by = g_new0 (double, MAX (one->n, 1));
  g_hash_table_insert (self->found, g_strdup (value->name), one);
  return one;
}

static void
importance_add (Importance     *self,
                const VnValue  *value,
                const VnTensor *gradient)
{
  VnTrainImportance *one = importance_take (self, value, gradient);
  const float *g = gradient->data;
  double share;

  if (one == NULL || gradient->n_elements == 0)
    return;
  share = (double) one->n / (double) gradient->n_elements / MIN (self->read.n, MOST_SAMPLES);
  for (gsize i = 0; i < gradient->n_elements; i += one->inner)
    {
      double sum = 0;

      for (gsize k = i; k < i + one->inner; k++)
        sum += (double) g[k] * (double) g[k];
      one->by[i / one->inner % one->n] += sum * share;
    }
}

static gboolean
importance_run_item (VnBlockRun  *run,
                     guint        item,
                     gpointer     data,
                     GError     **error)
{
  Importance *self = data;

  if (!vn_block_run_forward (run, self->read.tensors[self->sample], error))
    return FALSE;
  for (guint i = 0; i < vn_block_get_n_outputs (self->block); i++)
    if (!importance_write_output (self, run, i, error))
      return FALSE;
  if (!vn_block_run_backward (run, error))
    return FALSE;
  for (guint i = 0; i < self->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->values, i);
      const VnTensor *gradient = vn_block_run_get_gradient (run, value);

      if (gradient != NULL)
        importance_add (self, value, gradient);
    }
  return TRUE;
}

static gboolean
importance_add_part (Importance         *self,
                     const VnGraph      *graph,
                     const VnTrainPart  *part,
                     GError            **error)
{
  g_autoptr(VnBlock) block = vn_block_new (graph, part->nodes, NULL, error);

  for (guint i = 0; block != NULL && i < vn_block_get_n_outputs (block); i++)
    {
      VnValue *value = vn_block_get_output (block, i);

      if (value->type.dtype != VN_DTYPE_F32)
        continue;
      g_ptr_array_add (self->values, value);
      if (!vn_block_want_gradient (self->block, value, error))
        return FALSE;
    }
  return block != NULL;
}

/* What all channels count in the mean stands for what is not known of one. */
static void
importance_damp (GHashTable *found)
{
  GHashTableIter iter;
  gpointer data;

  g_hash_table_iter_init (&iter, found);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    {
      const VnTrainImportance *one = data;
      double mean = 0;

      for (gsize c = 0; c < one->n; c++)
        mean += one->by[c] / (double) one->n;
      for (gsize c = 0; c < one->n; c++)
        one->by[c] += DAMPING * mean;
      if (!(mean > 0) || !isfinite (mean))
        g_hash_table_iter_remove (&iter);
    }
}

/**
 * vn_train_importance_measure:
 * @model: the float network
 * @parts: (element-type VnTrainPart): of its nodes: what they compute for others is looked at
 * @seed: of the signs
 *
 * Returns: (transfer full) (nullable) (element-type utf8 VnTrainImportance): by name of a tensor; %NULL with an error if
 *   gradients cannot be brought back through the network, or memory is short
 */
GHashTable *
vn_train_importance_measure (VnModel            *model,
                             GPtrArray          *parts,
                             const VnTrainFeed  *feed,
                             GHashTable         *shapes,
                             guint               seed,
                             GCancellable       *cancellable,
                             GError            **error)
{
  g_auto(Importance) self = { 0 };
  g_autoptr(GPtrArray) inputs = g_ptr_array_new ();

  g_return_val_if_fail (model != NULL && parts != NULL && feed != NULL, NULL);

  self.values = g_ptr_array_new ();
  self.found = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, importance_free_one);
  self.random = g_rand_new_with_seed (seed);
  self.block = vn_block_new (model->graph, model->graph->nodes, NULL, error);
  for (guint i = 0; self.block != NULL && i < parts->len; i++)
    if (!importance_add_part (&self, model->graph, g_ptr_array_index (parts, i), error))
      return NULL;
  for (guint i = 0; self.block != NULL && i < vn_block_get_n_inputs (self.block); i++)
    g_ptr_array_add (inputs, vn_block_get_input (self.block, i));
  if (self.block == NULL || !vn_train_taps_init (&self.read, model, inputs, feed, shapes, G_MAXSIZE, cancellable, error))
    return NULL;
  for (guint k = 0; k < MIN (self.read.n, MOST_SAMPLES); k++)
    {
      self.sample = (guint) ((guint64) k * self.read.n / MIN (self.read.n, MOST_SAMPLES));
      if (!vn_block_step (self.block, 1, 1, importance_run_item, &self, cancellable, error))
        return NULL;
    }
  importance_damp (self.found);
  return g_steal_pointer (&self.found);
}
