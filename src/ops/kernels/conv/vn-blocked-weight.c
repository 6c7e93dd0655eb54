/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What convolutions of blocked data have in common: the packed weight, and what is done to their results. */
#include "vn-blocked-private.h"

#include "vn-memory.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

static void
blocked_weight_pack (VnBlockedWeight *self,
                     const float     *w,
                     const float     *b)
{
  const gsize step = vn_blocked_weight_get_step (self), last = vn_blocked_weight_count_panels (self) - 1;

  for (gsize o = 0; o < self->channels; o++)
    {
      gsize block = o / self->lanes, panel = MIN (block / step, last), first = panel * step;
      gsize vectors = vn_blocked_weight_count_blocks (self, panel);
      float *to = self->weights + first * self->lanes * self->depth + o - first * self->lanes;

      for (gsize k = 0; k < self->depth; k++)
        to[k * vectors * self->lanes] = w[o * self->depth + k];
      if (b != NULL)
        self->bias[o] = b[o];
    }
}

/**
 * vn_blocked_weight_new:
 * @w: weight, float32, not empty
 * @b: (nullable): bias
 * @together: blocks whose vectors lie side by side, at most
 *
 * Returns: (transfer full) (nullable): the weight in blocks of output channels; lanes without a channel are 0. %NULL
 *   with %VN_ERROR_MEMORY
 */
VnBlockedWeight *
vn_blocked_weight_new (const VnTensor  *w,
                       const VnTensor  *b,
                       gsize            lanes,
                       gsize            together,
                       GError         **error)
{
  VnBlockedWeight *self = g_new0 (VnBlockedWeight, 1);
  gsize bytes = 0;

  self->lanes = lanes;
  self->together = together;
  self->channels = (gsize) w->shape.dims[0];
  self->n_blocks = vn_blocked_count (self->channels, lanes);
  self->depth = w->n_elements / self->channels;
  if (!vn_checked_mul (self->n_blocks * lanes * sizeof (float), self->depth + 1, &bytes) ||
      (self->memory = vn_memory_try_aligned (bytes, bytes >= (4u << 20) ? 2u << 20 : 64)) == NULL)
    {
      vn_memory_set_error (bytes, error);
      g_free (self);
      return NULL;
    }
  madvise (self->memory, bytes, MADV_HUGEPAGE);
  memset (self->memory, 0, bytes);
  self->weights = self->memory;
  self->bias = self->weights + self->n_blocks * lanes * self->depth;
  blocked_weight_pack (self, w->data, b != NULL ? b->data : NULL);
  return self;
}

void
vn_blocked_weight_free (VnBlockedWeight *self)
{
  free (self->memory);
  g_free (self);
}

/**
 * vn_blocked_finish:
 * @epilogue: what is left to do: without bias and factors
 * @y: results, in the memory that starts at epilogue->base
 *
 * Does to pixels of one block what vn_epilogue_apply() does to rows of channels.
 */
void
vn_blocked_finish (const VnEpilogue *epilogue,
                   gsize             lanes,
                   float            *y,
                   gsize             n_pixels)
{
  vn_epilogue_apply (epilogue, y, 0, 1, n_pixels * lanes, 0);
}

/**
 * vn_blocked_take_scale:
 * @memory: for 2 x n_blocks x lanes floats
 * @scale: (out caller-allocated): what the innermost loop multiplies by and adds, if anything; in @memory
 *
 * Takes factors and shifts out of @epilogue; those of lanes without a channel are 0.
 */
void
vn_blocked_take_scale (VnEpilogue            *epilogue,
                       const VnBlockedWeight *weight,
                       float                 *memory,
                       VnBlockedScale        *scale)
{
  const gsize n = weight->n_blocks * weight->lanes, n_channels = weight->channels;

  *scale = (VnBlockedScale) { NULL, NULL };
  if (epilogue->factors == NULL)
    return;
  memset (memory, 0, 2 * n * sizeof (float));
  memcpy (memory, epilogue->factors, n_channels * sizeof (float));
  memcpy (memory + n, epilogue->shifts, n_channels * sizeof (float));
  epilogue->factors = epilogue->shifts = NULL;
  *scale = (VnBlockedScale) { memory, memory + n };
}

/**
 * vn_blocked_take_sum:
 *
 * Returns: (nullable): what the innermost loop adds to the results itself, after the scale; it is taken out of @epilogue
 */
const float *
vn_blocked_take_sum (VnEpilogue *epilogue)
{
  const float *sum = epilogue->sum;

  epilogue->sum = NULL;
  return sum;
}

/**
 * vn_blocked_take_clamp:
 * @low, @high: (out): what the innermost loop clamps to
 *
 * Leaves in @epilogue what is to be done after that.
 */
void
vn_blocked_take_clamp (VnEpilogue *epilogue,
                       float      *low,
                       float      *high)
{
  epilogue->bias = NULL;
  *low = (float) -INFINITY;
  *high = (float) INFINITY;
  if (!vn_epilogue_is_clamp (epilogue) || !epilogue->map.active)
    return;
  *low = epilogue->map.min;
  *high = epilogue->map.max;
  epilogue->map.active = FALSE;
}
