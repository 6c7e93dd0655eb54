/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of factors of ranges, by name of the tensor. */
#include "vn-range-factors.h"

#include <string.h>

struct _VnRangeFactors
{
  gatomicrefcount ref;
  GHashTable     *by_tensor;   /* of VnRangeFactor */
  VnRangeFactor  *otherwise;   /* nullable: what holds for all others */
};

static void
range_factors_free_one (gpointer data)
{
  VnRangeFactor *factor = data;

  if (factor == NULL)
    return;
  g_free (factor->low);
  g_free (factor->high);
  g_free (factor);
}

static VnRangeFactor *
range_factors_new_one (guint        bits,
                       gsize        n,
                       const float *low,
                       const float *high)
{
  VnRangeFactor *factor = g_new0 (VnRangeFactor, 1);

  *factor = (VnRangeFactor) { bits, n, g_memdup2 (low, n * sizeof *low), g_memdup2 (high, n * sizeof *high) };
  return factor;
}

/**
 * vn_range_factors_new:
 *
 * Returns: (transfer full): an empty table
 */
VnRangeFactors *
vn_range_factors_new (void)
{
  VnRangeFactors *self = g_new0 (VnRangeFactors, 1);

  g_atomic_ref_count_init (&self->ref);
  self->by_tensor = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, range_factors_free_one);
  return self;
}

/**
 * vn_range_factors_new_uniform:
 *
 * Returns: (transfer full): a table that holds the same for all tensors and channels
 */
VnRangeFactors *
vn_range_factors_new_uniform (float low,
                              float high)
{
  VnRangeFactors *self = vn_range_factors_new ();

  self->otherwise = range_factors_new_one (0, 1, &low, &high);
  return self;
}

VnRangeFactors *
vn_range_factors_ref (VnRangeFactors *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_range_factors_unref (VnRangeFactors *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_hash_table_unref (self->by_tensor);
  range_factors_free_one (self->otherwise);
  g_free (self);
}

/**
 * vn_range_factors_set:
 * @bits: of the type that they hold for; 0: any
 * @low, @high: (array length=n): copied
 */
void
vn_range_factors_set (VnRangeFactors *self,
                      const char     *tensor,
                      guint           bits,
                      gsize           n,
                      const float    *low,
                      const float    *high)
{
  g_return_if_fail (self != NULL && tensor != NULL && n > 0 && low != NULL && high != NULL);

  g_hash_table_insert (self->by_tensor, g_strdup (tensor), range_factors_new_one (bits, n, low, high));
}

/**
 * vn_range_factors_get:
 *
 * Returns: (transfer none) (nullable): what holds for @tensor
 */
const VnRangeFactor *
vn_range_factors_get (const VnRangeFactors *self,
                      const char           *tensor)
{
  const VnRangeFactor *factor;

  g_return_val_if_fail (self != NULL && tensor != NULL, NULL);

  factor = g_hash_table_lookup (self->by_tensor, tensor);
  return factor != NULL ? factor : self->otherwise;
}

/**
 * vn_range_factors_apply:
 * @self: (nullable): nothing is known
 * @bits: of the type that the tensor gets
 * @n: channels
 * @low, @high: (inout) (array length=n): ends of the ranges
 *
 * Multiplies ranges by what holds for them; factors for another type, or another number of channels, do not.
 */
void
vn_range_factors_apply (const VnRangeFactors *self,
                        const char           *tensor,
                        guint                 bits,
                        gsize                 n,
                        float                *low,
                        float                *high)
{
  const VnRangeFactor *factor = self != NULL ? vn_range_factors_get (self, tensor) : NULL;

  if (factor == NULL || (factor->bits != 0 && factor->bits != bits) || (factor->n != 1 && factor->n != n))
    return;
  for (gsize i = 0; i < n; i++)
    {
      low[i] *= factor->low[factor->n == 1 ? 0 : i];
      high[i] *= factor->high[factor->n == 1 ? 0 : i];
    }
}
