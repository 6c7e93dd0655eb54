/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Straight through where nothing is cut off (Bengio et al.); by the scale as Esser et al., "Learned Step Size Quantization"
 * (2020), taken by its logarithm as Jain et al., "Trained Quantization Thresholds" (2020): one step is as large for small scales
 * as for large. */
#include "vn-fake-quantizer.h"

#include "vn-error.h"
#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-quant-math.h"

/* What is added and taken off again rounds to the nearest integer, ties to even, below 2^22. */
#define ROUNDER 12582912.f

static VnFakeQuantizer *
fake_quantizer_new (gsize n)
{
  VnFakeQuantizer *self = g_new0 (VnFakeQuantizer, 1);

  self->n = n;
  self->inner = self->channels = 1;
  self->scales = g_try_new (float, n);
  self->low = g_try_new (float, n);
  self->high = g_try_new (float, n);
  if (self->scales == NULL || self->low == NULL || self->high == NULL)
    g_clear_pointer (&self, vn_fake_quantizer_free);
  return self;
}

void
vn_fake_quantizer_free (VnFakeQuantizer *self)
{
  if (self == NULL)
    return;
  g_free (self->where);
  g_free (self->scales);
  g_free (self->low);
  g_free (self->high);
  g_free (self);
}

/**
 * vn_fake_quantizer_new_plain:
 *
 * Returns: (transfer full): a grid of one scale
 */
VnFakeQuantizer *
vn_fake_quantizer_new_plain (float scale,
                             float low,
                             float high)
{
  VnFakeQuantizer *self = fake_quantizer_new (1);

  g_return_val_if_fail (self != NULL && scale > 0 && low <= high, NULL);

  self->scales[0] = scale;
  self->low[0] = low;
  self->high[0] = high;
  return self;
}

static gboolean
fake_quantizer_place (VnFakeQuantizer   *self,
                      const VnQuantRow  *row,
                      const VnShape     *shape,
                      GError           **error)
{
  int axis = row->tensor.axis;
  gsize n = (gsize) vn_shape_count (shape, 0, shape->rank);

  if (self->n == 1 || axis < 0 || axis >= shape->rank)
    return TRUE;
  self->inner = (gsize) vn_shape_count (shape, axis + 1, shape->rank);
  self->channels = self->n;
  if (row->block == 0)
    return TRUE;
  self->where = vn_try_new (guint32, n, error);
  for (gsize i = 0; self->where != NULL && i < n; i++)
    self->where[i] = (guint32) vn_quant_row_find_scale (row, shape, i);
  return self->where != NULL;
}

/**
 * vn_fake_quantizer_new:
 * @row: has integers
 * @shape: of the tensor
 *
 * Returns: (transfer full) (nullable): the grid that @row says; %NULL with an error if memory is short, or the grid has no levels
 */
VnFakeQuantizer *
vn_fake_quantizer_new (const VnQuantRow  *row,
                       const VnShape     *shape,
                       GError           **error)
{
  g_autoptr(VnFakeQuantizer) self = NULL;
  gint64 low, high;

  g_return_val_if_fail (vn_quant_row_has_integers (row) && shape != NULL, NULL);

  self = fake_quantizer_new (row->tensor.scale->n_elements);
  if (self == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_MEMORY, "");
      return NULL;
    }
  if (!vn_tensor_plan_get_levels (&row->tensor, &low, &high) ||
      !fake_quantizer_place (self, row, shape, error))
    return NULL;
  for (gsize i = 0; i < self->n; i++)
    {
      double zero = (double) vn_tensor_get_s64 (row->tensor.zero_point, MIN (i, row->tensor.zero_point->n_elements - 1));

      self->scales[i] = ((const float *) row->tensor.scale->data)[i];
      self->low[i] = (float) ((double) low - zero);
      self->high[i] = (float) ((double) high - zero);
    }
  return g_steal_pointer (&self);
}

/**
 * vn_fake_quantizer_find_scale:
 *
 * Returns: number of the scale of element @i
 */
gsize
vn_fake_quantizer_find_scale (const VnFakeQuantizer *self,
                              gsize                  i)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->where != NULL ? self->where[i] : self->n == 1 ? 0 : i / self->inner % self->channels;
}

/* How many elements from @i on have the same scale for certain. */
static gsize
fake_quantizer_count_run (const VnFakeQuantizer *self,
                          gsize                  i,
                          gsize                  n)
{
  return self->where != NULL ? 1 : self->n == 1 ? n : MIN (n - i, self->inner - i % self->inner);
}

VN_MULTIVERSION static void
fake_quantizer_round_run (const float *x,
                          float       *y,
                          gsize        n,
                          float        scale,
                          float        low,
                          float        high)
{
  for (gsize i = 0; i < n; i++)
    {
      float t = x[i] / scale;

      t = t < low ? low : t;
      t = t > high ? high : t;
      y[i] = ((t + ROUNDER) - ROUNDER) * scale;
    }
}

VN_MULTIVERSION static void
fake_quantizer_cut_run (const float *x,
                        float       *gradient,
                        gsize        n,
                        float        scale,
                        float        low,
                        float        high)
{
  float least = low * scale, most = high * scale;

  for (gsize i = 0; i < n; i++)
    gradient[i] = x[i] < least || x[i] > most ? 0.f : gradient[i];
}

#define LANES 8

/* The sum over one run, of what a change of the scale by an octave costs, but for a factor. */
VN_MULTIVERSION static double
fake_quantizer_sum_run (const float *x,
                        const float *gradient,
                        gsize        n,
                        float        scale,
                        float        low,
                        float        high)
{
  float sums[LANES] = { 0 };
  double sum = 0;

  for (gsize i = 0; i < n; i++)
    {
      float t = x[i] / scale, cut = t < low ? low : t > high ? high : t, rounded = (cut + ROUNDER) - ROUNDER;

      sums[i % LANES] += gradient[i] * (t < low || t > high ? rounded : rounded - t);
    }
  for (guint i = 0; i < LANES; i++)
    sum += (double) sums[i];
  return sum;
}

/**
 * vn_fake_quantizer_forward:
 * @x, @y: (array length=n): may be the same
 */
void
vn_fake_quantizer_forward (const VnFakeQuantizer *self,
                           gsize                  n,
                           const float           *x,
                           float                 *y)
{
  g_return_if_fail (self != NULL);

  for (gsize i = 0, run; i < n; i += run)
    {
      gsize at = vn_fake_quantizer_find_scale (self, i);

      run = fake_quantizer_count_run (self, i, n);
      fake_quantizer_round_run (x + i, y + i, run, self->scales[at], self->low[at], self->high[at]);
    }
}

/**
 * vn_fake_quantizer_backward:
 * @x: what was rounded
 * @gradient: (inout) (array length=n): by the result; becomes that by @x
 * @octaves: (inout) (nullable): for each scale, that by its logarithm to base 2 is added
 */
void
vn_fake_quantizer_backward (const VnFakeQuantizer *self,
                            gsize                  n,
                            const float           *x,
                            float                 *gradient,
                            double                *octaves)
{
  g_return_if_fail (self != NULL);

  for (gsize i = 0, run; i < n; i += run)
    {
      gsize at = vn_fake_quantizer_find_scale (self, i);
      float scale = self->scales[at];

      run = fake_quantizer_count_run (self, i, n);
      if (octaves != NULL)
        octaves[at] += G_LN2 * (double) scale * fake_quantizer_sum_run (x + i, gradient + i, run, scale, self->low[at],
                                                                        self->high[at]);
      fake_quantizer_cut_run (x + i, gradient + i, run, scale, self->low[at], self->high[at]);
    }
}
