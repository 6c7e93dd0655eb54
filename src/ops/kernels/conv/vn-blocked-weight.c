/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What convolutions of blocked data have in common: the packed weight, and what is done to their results. */
#include "vn-blocked-private.h"

#include "vn-memory.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

static void
blocked_weight_pack (VnBlockedWeight *self,
                     gsize            together,
                     const float     *w,
                     const float     *b)
{
  for (gsize o = 0; o < self->channels; o++)
    {
      gsize block = o / self->lanes, first = block / together * together;
      gsize vectors = MIN (together, self->n_blocks - first);
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
 * @together: blocks whose vectors lie side by side
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
  blocked_weight_pack (self, together, w->data, b != NULL ? b->data : NULL);
  return self;
}

void
vn_blocked_weight_free (VnBlockedWeight *self)
{
  free (self->memory);
  g_free (self);
}

VN_MULTIVERSION
static void
blocked_weight_scale (float       *y,
                      const float *factors,
                      const float *shifts,
                      gsize        lanes,
                      gsize        n)
{
  for (gsize i = 0; i < n; i++, y += lanes)
    for (gsize c = 0; c < lanes; c++)
      y[c] = y[c] * factors[c] + shifts[c];
}

/**
 * vn_blocked_finish:
 * @epilogue: what is left to do: without bias
 * @first_channel: of the block
 * @n_channels: of all blocks
 * @y: results, in the memory that starts at epilogue->base
 *
 * Does to pixels of one block what vn_epilogue_apply() does to rows of channels.
 */
void
vn_blocked_finish (const VnEpilogue *epilogue,
                   gsize             lanes,
                   gsize             first_channel,
                   gsize             n_channels,
                   float            *y,
                   gsize             n_pixels)
{
  float factors[VN_BLOCKED_MAX_LANES] = { 0 }, shifts[VN_BLOCKED_MAX_LANES] = { 0 };
  VnEpilogue rest = *epilogue;

  if (epilogue->factors != NULL)
    {
      memcpy (factors, epilogue->factors + first_channel, MIN (lanes, n_channels - first_channel) * sizeof (float));
      memcpy (shifts, epilogue->shifts + first_channel, MIN (lanes, n_channels - first_channel) * sizeof (float));
      blocked_weight_scale (y, factors, shifts, lanes, n_pixels);
    }
  rest.factors = rest.shifts = NULL;
  vn_epilogue_apply (&rest, y, 0, 1, n_pixels * lanes, 0);
}

/**
 * vn_blocked_take_sum:
 *
 * Returns: (nullable): what the innermost loop can add to the results itself; it is taken out of @epilogue
 */
const float *
vn_blocked_take_sum (VnEpilogue *epilogue)
{
  const float *sum = epilogue->factors == NULL ? epilogue->sum : NULL;

  if (sum != NULL)
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
