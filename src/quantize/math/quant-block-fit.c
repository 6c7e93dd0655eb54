/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Scale and zero point of blocks, searched for by the squared error: of ranges about that of a block, each with the zero points
 * next to its own, the scale is fitted to the levels that it gives, and the best is kept. With weights w, integers q less
 * the zero point, and numbers x:
 *
 *   scale = sum w q x / sum w q^2,   error = sum w (scale q - x)^2
 *
 * Symmetric ones have no zero point to choose. The range that one begins with is a candidate, so that no block gets worse.
 *
 * Or the zero point alone is found with the scale of the range, as Badri and Shaji do in "Half-Quadratic Quantization of Large
 * Machine Learning Models" (2023), for the norm p = 0.7 of the errors: with the error e of the largest weights left out of
 * account,
 *
 *   e = sign (d) max (|d| - |d|^(p - 1) / beta, 0), d = x - scale (q - zero),   zero = mean (q - (x - e) / scale)
 *
 * in turn, beta growing. It is no integer. */

#include "quant-block-lanes.h"

#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>

#define FITS 1
#define HQQ_STEPS 20
#define HQQ_NORM 0.7f
#define HQQ_BETA 10.f
#define HQQ_GROWTH 1.01f
#define HQQ_WORTH 0.9999f
#define GROUPS_PER_ITEM 64         /* groups of blocks that a thread takes at a time */

/* Shares of the range: of the same error the first is taken. */
static const float candidates[] = { 1, 0.97f, 0.94f, 0.91f, 0.88f, 0.85f, 0.82f, 0.79f, 0.76f, 0.73f, 0.7f, 1.03f };

/* LANES blocks. @low, @high: least and largest integer */
typedef struct
{
  gsize  n;
  float  low, high;
  Lanes *x, *w;
  Lanes  scale, zero;
} Group;

typedef struct
{
  VnBlockCut   cut;
  const float *x, *importance;
  float       *scales;
  VnTensor    *zeros;
  gboolean     symmetric, hqq;
} Fit;

/* Integer less zero point, for one number of each block. */
#define BLOCK_FIT_LEVEL(self, i, inverse, zero, q)                                                     \
  do                                                                                                   \
    {                                                                                                  \
      const Lanes low_ = ALL ((self)->low), high_ = ALL ((self)->high), rounding_ = ALL (ROUNDING);    \
      Lanes level_ = ROUNDED (ROUNDED ((self)->x[i] * inverse) + rounding_) - rounding_ + zero;        \
                                                                                                       \
      level_ = PICK (level_ > low_, level_, low_);    /* NaN becomes the least */                      \
      level_ = PICK (level_ < high_, level_, high_);                                                   \
      q = level_ - zero;                                                                               \
    }                                                                                                  \
  while (0)

/* @error: (out): with scale and zero point as they are. @fitted: (out): the scale that fits the levels best, or as it was */
VN_INLINE void
block_fit_measure (const Group *self,
                   const Lanes *zero,
                   const Lanes *scale,
                   Lanes       *error,
                   Lanes       *fitted)
{
  const Lanes inverse = ALL (1) / *scale, none = ALL (0);
  Lanes above = none, below = none, sum = none;

  for (gsize i = 0; i < self->n; i++)
    {
      Lanes q, wq, d;

      BLOCK_FIT_LEVEL (self, i, inverse, *zero, q);
      d = ROUNDED (*scale * q) - self->x[i];
      sum += ROUNDED (self->w[i] * ROUNDED (d * d));
      wq = ROUNDED (self->w[i] * q);
      above += ROUNDED (wq * self->x[i]);
      below += ROUNDED (wq * q);
    }
  *error = sum;
  *fitted = above / below;
  *fitted = PICK ((below > none) & (ROUNDED (*fitted * *scale) > none), *fitted, *scale);   /* of the same sign, and no NaN */
}

/* A range with a zero point: as it is, and fitted. */
VN_INLINE void
block_fit_try (Group       *self,
               const Lanes *first_scale,
               const Lanes *zero,
               Lanes       *least)
{
  Lanes scale = *first_scale, fitted, error;
  Mask better;

  for (guint i = 0; i <= FITS; i++)
    {
      block_fit_measure (self, zero, &scale, &error, &fitted);
      better = error < *least;
      *least = PICK (better, error, *least);
      self->scale = PICK (better, scale, self->scale);
      self->zero = PICK (better, *zero, self->zero);
      scale = fitted;
    }
}

VN_MULTIVERSION
static void
block_fit_run (Group    *self,
               gboolean  symmetric)
{
  const Lanes scale = self->scale, zero = self->zero, low = ALL (self->low), high = ALL (self->high), rounding = ALL (ROUNDING);
  Lanes least = ALL (INFINITY);

  for (guint c = 0; c < G_N_ELEMENTS (candidates); c++)
    for (int step = symmetric ? 0 : -1; step <= (symmetric ? 0 : 1); step++)
      {
        const Lanes share = ALL (candidates[c]), tried = scale * share;
        Lanes to = symmetric ? zero : ROUNDED ((zero - low) / share + rounding) - rounding + low + ALL ((float) step);

        to = PICK (to < low, low, to);
        to = PICK (to > high, high, to);
        block_fit_try (self, &tried, &to, &least);
      }
}

/* ---- HQQ ---- */

/* What of the differences @d is larger than noise. @least: differences below it have none */
VN_INLINE void
block_fit_shrink (const Lanes *d,
                  float        beta,
                  float        least,
                  Lanes       *e)
{
  *e = ALL (0);
  for (gsize l = 0; l < LANES; l++)
    {
      const float size = fabsf ((*d)[l]);

      if (size > least)
        (*e)[l] = copysignf (size - powf (size, HQQ_NORM - 1) / beta, (*d)[l]);
    }
}

/* @zero: (inout). @error: (out): of that which was given */
VN_INLINE void
block_fit_step_hqq (const Group *self,
                    float        beta,
                    Lanes       *zero,
                    Lanes       *error)
{
  const Lanes inverse = ALL (1) / self->scale, low = ALL (self->low), high = ALL (self->high), rounding = ALL (ROUNDING);
  const Lanes none = ALL (0);
  const float least = powf (beta, -1 / (2 - HQQ_NORM));
  Lanes sum = none, n = none, all = none;

  for (gsize i = 0; i < self->n; i++)
    {
      Lanes level = ROUNDED (ROUNDED (ROUNDED (self->x[i] * inverse) + *zero) + rounding) - rounding, d, e;

      level = PICK (level > low, level, low);
      level = PICK (level < high, level, high);
      d = self->x[i] - ROUNDED (self->scale * (level - *zero));
      block_fit_shrink (&d, beta, least, &e);
      all += ROUNDED (self->w[i] * PICK (d < none, -d, d));
      sum += ROUNDED (self->w[i] * (level - ROUNDED ((self->x[i] - e) * inverse)));
      n += self->w[i];
    }
  *error = all;
  *zero = sum / n;
}

VN_MULTIVERSION
static void
block_fit_run_hqq (Group *self)
{
  Lanes zero = self->zero, least = ALL (INFINITY), best = zero;
  float beta = HQQ_BETA;

  for (guint i = 0; i < HQQ_STEPS; i++, beta *= HQQ_GROWTH)
    {
      const Lanes tried = zero;
      Lanes error;
      Mask better;

      block_fit_step_hqq (self, beta, &zero, &error);
      better = error < ROUNDED (least * ALL (HQQ_WORTH));   /* where as many numbers lie above as below it hardly changes */
      least = PICK (better, error, least);
      best = PICK (better, tried, best);
    }
  self->zero = best;
}

/* ---- all blocks ---- */

static gboolean
block_fit_item (gsize      item,
                guint      worker,
                gpointer   data,
                GError   **error)
{
  const Fit *self = data;
  const VnBlockCut *cut = &self->cut;
  const gsize n = cut->outer * cut->n_blocks * cut->inner, step = GROUPS_PER_ITEM * LANES;
  Lanes *room = vn_memory_try_aligned (2 * cut->block * sizeof (Lanes), sizeof (Lanes));
  Group group = { .n = cut->block, .low = (float) -cut->shift, .high = (float) (cut->highest - cut->shift), .x = room,
                  .w = room + cut->block };

  if (room == NULL)
    {
      vn_memory_set_error (2 * cut->block * sizeof (Lanes), error);
      return FALSE;
    }
  for (gsize first = item * step; first < MIN (n, (item + 1) * step); first += LANES)
    {
      const gsize count = MIN (LANES, n - first);

      vn_block_lanes_load (cut, self->x, first, count, cut->block, (float *) group.x);
      vn_block_lanes_load_weights (cut, self->importance, first, count, cut->block, (float *) group.w);
      for (gsize l = 0; l < LANES; l++)
        {
          group.scale[l] = l < count ? self->scales[first + l] : 0;
          group.zero[l] = l < count ? (float) vn_tensor_get_double (self->zeros, first + l) : 0;
        }
      if (self->hqq)
        block_fit_run_hqq (&group);
      else
        block_fit_run (&group, self->symmetric);
      for (gsize l = 0; l < count; l++)
        if (self->scales[first + l] != 0)    /* a block of zeros */
          {
            self->scales[first + l] = group.scale[l];
            if (self->hqq)
              ((float *) self->zeros->data)[first + l] = group.zero[l];
            else
              vn_quant_store_integer (self->zeros, first + l, (gint64) group.zero[l]);
          }
    }
  free (room);
  return TRUE;
}

/*< private >
 * vn_quant_fit_blocks:
 * @data: float32, finite, not empty
 * @axis: along which the blocks run
 * @block: how many numbers of @axis have one scale; at the end of the axis they may be fewer
 * @dtype: an integer type of at most 8 bits
 * @symmetric: zero points stay as they are
 * @method: %VN_BLOCK_METHOD_MSE; or %VN_BLOCK_METHOD_HQQ, which changes zero points alone: they must be float32
 * @importance: (nullable) (array): of each place along @axis: errors there count so often
 * @scale, @zero_point: (inout): as vn_quant_block_params() has found them; become those of the least squared error
 */
gboolean
vn_quant_fit_blocks (VnTensor     *data,
                     int           axis,
                     gint64        block,
                     VnDType       dtype,
                     gboolean      symmetric,
                     VnBlockMethod method,
                     const float  *importance,
                     VnTensor     *scale,
                     VnTensor     *zero_point,
                     GError      **error)
{
  g_autoptr(VnTensor) aligned = NULL;
  Fit self = { .importance = importance, .symmetric = symmetric, .hqq = method == VN_BLOCK_METHOD_HQQ, .zeros = zero_point };
  gsize n_groups;

  g_return_val_if_fail (data != NULL && scale != NULL && zero_point != NULL, FALSE);

  aligned = vn_tensor_get_aligned (data, error);
  if (aligned == NULL)
    return FALSE;
  self.cut = vn_quant_cut_blocks (&data->shape, axis, block, dtype);
  self.x = aligned->data;
  self.scales = scale->data;
  n_groups = scale->n_elements / LANES + (scale->n_elements % LANES != 0);
  return vn_parallel_for (n_groups > GROUPS_PER_ITEM ? 0 : 1, n_groups / GROUPS_PER_ITEM + (n_groups % GROUPS_PER_ITEM != 0),
                          block_fit_item, &self, NULL, error);
}
