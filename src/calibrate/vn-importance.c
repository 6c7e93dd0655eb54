/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of squares of input channels, and noise, by name of the weight that they are multiplied by, or that is rounded. */
#include "vn-importance.h"

#include "vn-memory.h"

#include <math.h>

/* A channel that no sample has reached counts as little as this share of the mean: its weights stay near what they were. */
#define LEAST_SHARE 1e-6

typedef struct
{
  gsize   n_channels;
  double *sums;
} ChannelSums;

struct _VnImportance
{
  gatomicrefcount ref;
  GHashTable     *by_weight;   /* of ChannelSums */
  GHashTable     *noise;       /* of double */
};

static void
importance_free_sums (gpointer data)
{
  ChannelSums *sums = data;

  g_free (sums->sums);
  g_free (sums);
}

/**
 * vn_importance_new:
 *
 * Returns: (transfer full): that of no weight
 */
VnImportance *
vn_importance_new (void)
{
  VnImportance *self = g_new0 (VnImportance, 1);

  g_atomic_ref_count_init (&self->ref);
  self->by_weight = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, importance_free_sums);
  self->noise = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  return self;
}

/**
 * vn_importance_copy:
 * @self: (nullable): %NULL: that of no weight
 *
 * Returns: (transfer full): one to change
 */
VnImportance *
vn_importance_copy (const VnImportance *self)
{
  VnImportance *copy = vn_importance_new ();
  GHashTableIter iter;
  gpointer weight, value;

  if (self == NULL)
    return copy;
  g_hash_table_iter_init (&iter, self->by_weight);
  while (g_hash_table_iter_next (&iter, &weight, &value))
    {
      const ChannelSums *sums = value;
      ChannelSums *own = g_new (ChannelSums, 1);

      *own = (ChannelSums) { sums->n_channels, g_memdup2 (sums->sums, sums->n_channels * sizeof (double)) };
      g_hash_table_insert (copy->by_weight, g_strdup (weight), own);
    }
  g_hash_table_iter_init (&iter, self->noise);
  while (g_hash_table_iter_next (&iter, &weight, &value))
    vn_importance_set_noise (copy, weight, *(double *) value);
  return copy;
}

VnImportance *
vn_importance_ref (VnImportance *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_importance_unref (VnImportance *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_hash_table_unref (self->by_weight);
  g_hash_table_unref (self->noise);
  g_free (self);
}

/* @sums: (out): (transfer none): those of @weight */
static gboolean
importance_find_sums (VnImportance  *self,
                      const char    *weight,
                      gsize          n_channels,
                      ChannelSums  **sums,
                      GError       **error)
{
  double *zeros;

  *sums = g_hash_table_lookup (self->by_weight, weight);
  if (*sums != NULL)
    return TRUE;
  zeros = vn_try_new0 (double, n_channels, error);
  if (zeros == NULL)
    return FALSE;
  *sums = g_new (ChannelSums, 1);
  **sums = (ChannelSums) { n_channels, zeros };
  g_hash_table_insert (self->by_weight, g_strdup (weight), *sums);
  return TRUE;
}

/**
 * vn_importance_add:
 * @sums: (array length=n_channels): of squares of what the channels of @weight were multiplied by, finite
 * @n_channels: the same for one weight; others are passed over
 *
 * A weight that several nodes read gets the sums of all.
 *
 * Returns: %FALSE if memory is short
 */
gboolean
vn_importance_add (VnImportance  *self,
                   const char    *weight,
                   const double  *sums,
                   gsize          n_channels,
                   GError       **error)
{
  ChannelSums *known;

  g_return_val_if_fail (self != NULL && weight != NULL && sums != NULL, FALSE);

  if (!importance_find_sums (self, weight, n_channels, &known, error))
    return FALSE;
  for (gsize c = 0; c < n_channels && known->n_channels == n_channels; c++)
    known->sums[c] += sums[c];
  return TRUE;
}

/**
 * vn_importance_dup:
 * @n_channels: numbers of an output channel of the weight
 *
 * Returns: (transfer full) (nullable): one for each channel, 1 on the average, above 0; %NULL without an error: nothing is known
 */
float *
vn_importance_dup (const VnImportance  *self,
                   const char          *weight,
                   gsize                n_channels,
                   GError             **error)
{
  const ChannelSums *sums;
  double all = 0;
  float *shares;

  g_return_val_if_fail (self != NULL && weight != NULL, NULL);

  sums = g_hash_table_lookup (self->by_weight, weight);
  for (gsize c = 0; sums != NULL && c < sums->n_channels; c++)
    all += sums->sums[c];
  if (sums == NULL || sums->n_channels != n_channels || !(all > 0))
    return NULL;
  shares = vn_try_new (float, n_channels, error);
  for (gsize c = 0; c < n_channels && shares != NULL; c++)
    shares[c] = (float) fmax (sums->sums[c] / all * (double) n_channels, LEAST_SHARE);
  return shares;
}

/**
 * vn_importance_set_noise:
 * @noise: noise to signal of the outputs when nothing but @weight is rounded, 0 or more
 */
void
vn_importance_set_noise (VnImportance *self,
                         const char   *weight,
                         double        noise)
{
  g_return_if_fail (self != NULL && weight != NULL && noise >= 0);

  g_hash_table_insert (self->noise, g_strdup (weight), g_memdup2 (&noise, sizeof noise));
}

/**
 * vn_importance_get_noise:
 *
 * Returns: what vn_importance_set_noise() said; NaN: nothing is known
 */
double
vn_importance_get_noise (const VnImportance *self,
                         const char         *weight)
{
  const double *noise;

  g_return_val_if_fail (self != NULL && weight != NULL, NAN);

  noise = g_hash_table_lookup (self->noise, weight);
  return noise != NULL ? *noise : (double) NAN;
}

/**
 * vn_importance_has_noise:
 *
 * Returns: whether vn_importance_set_noise() was called
 */
gboolean
vn_importance_has_noise (const VnImportance *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_hash_table_size (self->noise) > 0;
}

/**
 * vn_importance_has_channels:
 *
 * Returns: whether vn_importance_add() was called
 */
gboolean
vn_importance_has_channels (const VnImportance *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return g_hash_table_size (self->by_weight) > 0;
}
