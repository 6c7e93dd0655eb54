/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples that were loaded once, for jobs that ask for the same ones dozens of times. */
#include "vn-dataset-private.h"

#include "vn-checked.h"

#include <string.h>

/**
 * VnKeptSamples:
 * @tensors: by sample, then by input (nullable): not loaded yet, or there was no room
 * @left: bytes there is room for
 */
struct _VnKeptSamples
{
  gatomicrefcount ref;
  GMutex          lock;
  VnTensor      **tensors;
  gsize           n;
  gsize           left;
};

static void
dataset_keep_unref (VnKeptSamples *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  vn_tensor_clear_all (self->tensors, self->n);
  g_free (self->tensors);
  g_mutex_clear (&self->lock);
  g_free (self);
}

/**
 * vn_dataset_keep:
 * @n_bytes: of samples at most
 *
 * From here on what is loaded stays in memory, and is not loaded again. To be called before other threads load.
 */
void
vn_dataset_keep (VnDataset *self,
                 gsize      n_bytes)
{
  gsize n;

  g_return_if_fail (self != NULL);

  if (self->kept != NULL || !vn_checked_mul (self->samples->len, self->n_inputs, &n))
    return;
  self->kept = g_new0 (VnKeptSamples, 1);
  g_atomic_ref_count_init (&self->kept->ref);
  g_mutex_init (&self->kept->lock);
  self->kept->tensors = g_new0 (VnTensor *, n + 1);
  self->kept->n = n;
  self->kept->left = n_bytes;
}

static gboolean
dataset_keep_is_same_input (const VnInputSpec *a,
                            const VnInputSpec *b)
{
  return g_str_equal (a->name, b->name) && a->dtype == b->dtype && vn_shape_equal (&a->shape, &b->shape) &&
         a->limit == b->limit && a->turned == b->turned && a->starts_recurrence == b->starts_recurrence &&
         a->beside_rate == b->beside_rate && a->by_name == b->by_name &&
         memcmp (a->symbols, b->symbols, sizeof a->symbols) == 0 && memcmp (a->is_past, b->is_past, sizeof a->is_past) == 0;
}

/**
 * vn_dataset_share_kept:
 * @other: opened for another network, with the same settings
 *
 * Takes what @other keeps, if the samples are the same and made for the same inputs.
 */
void
vn_dataset_share_kept (VnDataset *self,
                       VnDataset *other)
{
  g_return_if_fail (self != NULL && other != NULL);

  if (other->kept == NULL || self->kept != NULL || self->n_inputs != other->n_inputs || self->source != other->source ||
      self->samples->len != other->samples->len)
    return;
  for (guint k = 0; k < self->n_inputs; k++)
    if (!dataset_keep_is_same_input (&self->inputs[k], &other->inputs[k]) || self->lacks[k] != other->lacks[k])
      return;
  g_atomic_ref_count_inc (&other->kept->ref);
  self->kept = other->kept;
}

void
vn_dataset_clear_kept (VnDataset *self)
{
  g_clear_pointer (&self->kept, dataset_keep_unref);
}

/* Returns: whether all inputs of the sample were there. @tensors: (out) */
gboolean
vn_dataset_take_kept (const VnDataset *self,
                      guint            i,
                      VnTensor       **tensors)
{
  VnTensor **from;
  gboolean there = TRUE;

  if (self->kept == NULL)
    return FALSE;
  from = self->kept->tensors + (gsize) i * self->n_inputs;
  g_mutex_lock (&self->kept->lock);
  for (guint k = 0; k < self->n_inputs; k++)
    there = there && from[k] != NULL;
  for (guint k = 0; there && k < self->n_inputs; k++)
    tensors[k] = vn_tensor_ref (from[k]);
  g_mutex_unlock (&self->kept->lock);
  return there;
}

void
vn_dataset_put_kept (const VnDataset  *self,
                     guint             i,
                     VnTensor * const *tensors)
{
  VnTensor **to;
  gsize n_bytes = 0;

  if (self->kept == NULL)
    return;
  for (guint k = 0; k < self->n_inputs; k++)
    n_bytes += tensors[k]->n_bytes;
  to = self->kept->tensors + (gsize) i * self->n_inputs;
  g_mutex_lock (&self->kept->lock);
  if (to[0] == NULL && n_bytes <= self->kept->left)
    {
      for (guint k = 0; k < self->n_inputs; k++)
        to[k] = vn_tensor_ref (tensors[k]);
      self->kept->left -= n_bytes;
    }
  g_mutex_unlock (&self->kept->lock);
}
