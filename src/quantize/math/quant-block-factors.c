/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Scales of blocks as products (LPBQ of Qualcomm's tools): that of the channel, a float, times an integer of 4 bits for each
 * block. With M the highest level, L = 15 and a the largest magnitude of a channel:
 *
 *   channel  s = a / (M L)
 *   block    f = the least of 1 .. L with M f s >= all magnitudes of the block */

#include "vn-quant-math.h"

#include "vn-error.h"
#include "vn-memory.h"
#include "vn-parallel.h"

#include <math.h>

#define LARGEST_FACTOR 15
#define LEAST_RANGE 1e-4f    /* of a channel that is all 0: runtimes divide by its scale */

typedef struct
{
  const float *x;
  gsize        n_channels, length, block, n_blocks;
  gsize        channel_step, step;     /* between channels, and between numbers of one */
  float        high;
  float       *scales;                 /* by channel */
  guint8      *factors;                /* as the scales of blocks lie */
  gsize        factor_channel_step, factor_step;
} BlockFactors;

static guint8
block_factors_find (const BlockFactors *self,
                    const float        *x,
                    float               scale)
{
  float magnitude = 0;

  for (gsize i = 0; i < self->block; i++)
    magnitude = MAX (magnitude, fabsf (x[i]));
  return (guint8) CLAMP (ceilf (magnitude / (self->high * scale)), 1.f, (float) LARGEST_FACTOR);
}

static gboolean
block_factors_of_channel (gsize      item,
                          guint      worker,
                          gpointer   data,
                          GError   **error)
{
  const BlockFactors *self = data;
  g_autofree float *x = vn_try_new (float, self->length, error);
  float magnitude = 0;

  if (x == NULL)
    return FALSE;
  for (gsize i = 0; i < self->length; i++)
    {
      x[i] = self->x[item * self->channel_step + i * self->step];
      magnitude = MAX (magnitude, fabsf (x[i]));
    }
  self->scales[item] = MAX (magnitude, LEAST_RANGE) / (self->high * LARGEST_FACTOR);
  for (gsize b = 0; b < self->n_blocks; b++)
    self->factors[item * self->factor_channel_step + b * self->factor_step] =
      block_factors_find (self, x + b * self->block, self->scales[item]);
  return TRUE;
}

static void
block_factors_init (BlockFactors  *self,
                    const VnShape *shape,
                    int            axis,
                    gint64         block,
                    VnDType        dtype)
{
  gint64 low = 0, high = 0;

  vn_dtype_integer_range (dtype, &low, &high);
  self->high = (float) high;
  self->n_channels = (gsize) shape->dims[1 - axis];
  self->length = (gsize) shape->dims[axis];
  self->block = (gsize) block;
  self->n_blocks = self->length / self->block;
  self->channel_step = axis == 0 ? 1 : self->length;
  self->step = axis == 0 ? self->n_channels : 1;
  self->factor_channel_step = axis == 0 ? 1 : self->n_blocks;
  self->factor_step = axis == 0 ? self->n_channels : 1;
}

/*< private >
 * vn_quant_block_factors:
 * @data: float32, a matrix, finite
 * @axis: along which the blocks run; the other one is that of the channels
 * @block: how many numbers of @axis have one scale; divides it
 * @dtype: a signed integer type
 * @channel_scale: (out): float32, one for each channel
 * @factors: (out): uint8, 1 to 15, of the shape of @data with the number of blocks on @axis
 */
gboolean
vn_quant_block_factors (VnTensor  *data,
                        int        axis,
                        gint64     block,
                        VnDType    dtype,
                        VnTensor **channel_scale,
                        VnTensor **factors,
                        GError   **error)
{
  g_autoptr(VnTensor) aligned = NULL, scales = NULL, integers = NULL;
  BlockFactors self = { 0 };
  VnShape shape;

  g_return_val_if_fail (data != NULL && data->shape.rank == 2, FALSE);
  g_return_val_if_fail (block > 0 && data->shape.dims[axis] % block == 0, FALSE);

  block_factors_init (&self, &data->shape, axis, block, dtype);
  shape = data->shape;
  shape.dims[axis] = (gint64) self.n_blocks;
  aligned = vn_tensor_get_aligned (data, error);
  scales = aligned != NULL ? vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) self.n_channels), error) : NULL;
  integers = scales != NULL ? vn_tensor_new (VN_DTYPE_U8, &shape, error) : NULL;
  if (integers == NULL)
    return FALSE;
  self.x = aligned->data;
  self.scales = scales->data;
  self.factors = integers->data;
  if (!vn_parallel_for (0, self.n_channels, block_factors_of_channel, &self, NULL, error))
    return FALSE;
  *channel_scale = g_steal_pointer (&scales);
  *factors = g_steal_pointer (&integers);
  return TRUE;
}

/*< private >
 * vn_quant_multiply_factors:
 * @channel_scale: as vn_quant_block_factors() makes it
 * @factors: likewise
 * @axis: along which the blocks run
 *
 * Returns: (transfer full): float32, the scales of the blocks, as DequantizeLinear computes them
 */
VnTensor *
vn_quant_multiply_factors (VnTensor        *channel_scale,
                           const VnTensor  *factors,
                           int              axis,
                           GError         **error)
{
  VnTensor *scale;
  gsize n_last;

  g_return_val_if_fail (channel_scale != NULL && factors != NULL && factors->shape.rank == 2, NULL);

  scale = vn_tensor_new (VN_DTYPE_F32, &factors->shape, error);
  n_last = (gsize) factors->shape.dims[1];
  for (gsize i = 0; scale != NULL && i < factors->n_elements; i++)
    ((float *) scale->data)[i] = (float) ((const guint8 *) factors->data)[i] *
                                 ((const float *) channel_scale->data)[axis == 0 ? i % n_last : i / n_last];
  return scale;
}
