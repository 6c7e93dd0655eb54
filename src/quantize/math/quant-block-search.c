/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Scale and minimum of blocks, searched for: of 20 ranges about that of a block, each makes levels; the scale and the minimum
 * that fit these best, by weighted least squares, are kept where the weighted error becomes smaller. With M = 2^bits - 1 and
 * weights w = sqrt (mean x^2) + |x|, for levels q = round ((x - min) * (M - 1 + 0.1 i) / (max - min)):
 *
 *   D = sum w sum w q^2 - (sum w q)^2
 *   scale = (sum w sum w q x - sum w x sum w q) / D,   min = (sum w q^2 sum w x - sum w q sum w q x) / D
 *
 * The search is that of llama.cpp's k-quants in the form that onnxruntime.quantization gives it (quant_tensor_k_quant_cpu() of
 * its neural_compressor): a range that is kept is where the next one begins. It is carried out in float in the order of NumPy,
 * which sums rows of up to 128 numbers in 8 parts and longer ones by halves, and columns, which is what it has where there is one
 * block in a row, from first to last: scales and zero points are equal to the last bit. A block is filled up with zeros, which
 * count. Blocks lie side by side in the lanes of vectors. */

#include "quant-block-lanes.h"

#include "vn-memory.h"
#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>
#include <string.h>

#define PARTS 8                    /* of a sum */
#define LONGEST_SUM 128            /* in one go */
#define MOST_HALVES 32             /* on the way to it */
#define TRIES 20
#define GROUPS_PER_ITEM 64         /* groups of blocks that a thread takes at a time */

typedef struct { Lanes a, b, c; } Sums;

/* LANES blocks. @n: numbers of a block. @in_turn: they are summed one after the other. */
typedef struct
{
  gsize    n;
  gboolean in_turn;
  float    highest;                  /* level */
  Lanes   *x, *w, *q;
  gboolean has_importance;           /* in @w before it is weighed */
  Lanes    scale, min, inverse;
} Group;

/* @importance: (nullable): by place along the axis of the blocks */
typedef struct
{
  VnBlockCut   cut;
  const float *x, *importance;
  float       *scales;
  VnTensor    *zeros;
} Search;

/* The level of a number, with the minimum and the factor that are in place. NaN stays one. */
VN_INLINE void
block_search_set_level (const Group *self,
                        gsize        i,
                        Lanes       *q)
{
  const Lanes least = ALL (0), most = ALL (self->highest), rounding = ALL (ROUNDING);
  Lanes x = self->inverse * ROUNDED (self->x[i] - self->min);

  x = PICK (x < least, least, x);
  x = PICK (x > most, most, x);
  *q = ROUNDED (x + rounding) - rounding;
}

/* ---- sums in NumPy's order ---- */

VN_INLINE void
block_search_add (Sums       *to,
                  const Sums *from)
{
  to->a += from->a;
  to->b += from->b;
  to->c += from->c;
}

/* Neighbors, then neighbors of these: the sum is the first. */
VN_INLINE void
block_search_add_parts (Sums *parts)
{
  for (gsize step = 1; step < PARTS; step *= 2)
    for (gsize j = 0; j < PARTS; j += 2 * step)
      block_search_add (&parts[j], &parts[j + step]);
}

VN_INLINE void
block_search_square (const Group *self,
                     gsize        i,
                     Sums        *to)
{
  *to = (Sums) { ROUNDED (self->x[i] * self->x[i]) };
}

VN_INLINE void
block_search_weight (const Group *self,
                     gsize        i,
                     Sums        *to)
{
  *to = (Sums) { self->w[i], ROUNDED (self->w[i] * self->x[i]) };
}

VN_INLINE void
block_search_level (const Group *self,
                    gsize        i,
                    Sums        *to)
{
  Lanes q, wq;

  block_search_set_level (self, i, &q);
  self->q[i] = q;
  wq = ROUNDED (self->w[i] * q);
  *to = (Sums) { wq, ROUNDED (wq * q), ROUNDED (wq * self->x[i]) };
}

/* With the scale and the minimum that are in place. */
VN_INLINE void
block_search_error (const Group *self,
                    gsize        i,
                    Sums        *to)
{
  const Lanes d = ROUNDED (self->scale * self->q[i]) + self->min - self->x[i];

  *to = (Sums) { ROUNDED (self->w[i] * ROUNDED (d * d)) };
}

/* Sums of a term. A stack of them, of which each stands for twice as many numbers as the next, makes halves of halves. */
#define BLOCK_SEARCH_SUM(name, term)                                                     \
  VN_INLINE void                                                                         \
  name (const Group *self,                                                               \
        Sums        *to)                                                                 \
  {                                                                                      \
    Sums stack[MOST_HALVES], parts[PARTS], sum, more;                                    \
    guint depth = 0;                                                                     \
                                                                                         \
    term (self, 0, to);                                                                  \
    for (gsize i = 1; self->in_turn && i < self->n; i++)                                 \
      {                                                                                  \
        term (self, i, &more);                                                           \
        block_search_add (to, &more);                                                    \
      }                                                                                  \
    for (gsize first = 0; !self->in_turn && first < self->n; first += LONGEST_SUM)       \
      {                                                                                  \
        const gsize last = MIN (first + LONGEST_SUM, self->n);                           \
                                                                                         \
        for (gsize j = 0; j < PARTS; j++)                                                \
          {                                                                              \
            term (self, first + j, &sum);                                                \
            for (gsize i = first + j + PARTS; i < last; i += PARTS)                      \
              {                                                                          \
                term (self, i, &more);                                                   \
                block_search_add (&sum, &more);                                          \
              }                                                                          \
            parts[j] = sum;                                                              \
          }                                                                              \
        block_search_add_parts (parts);                                                  \
        stack[depth++] = *to = parts[0];                                                 \
        for (gsize k = first / LONGEST_SUM + 1; k % 2 == 0; k /= 2, depth--)             \
          block_search_add (&stack[depth - 2], &stack[depth - 1]);                       \
      }                                                                                  \
    if (!self->in_turn && self->n > LONGEST_SUM)                                         \
      *to = stack[0];                                                                    \
  }

BLOCK_SEARCH_SUM (block_search_sum_squares, block_search_square)
BLOCK_SEARCH_SUM (block_search_sum_weights, block_search_weight)
BLOCK_SEARCH_SUM (block_search_sum_levels, block_search_level)
BLOCK_SEARCH_SUM (block_search_sum_errors, block_search_error)
#undef BLOCK_SEARCH_SUM

/* ---- the search ---- */

VN_INLINE void
block_search_weigh (Group *self)
{
  const Mask sign = (Mask) ALL (-0.f);
  Lanes root;
  Sums sums;

  block_search_sum_squares (self, &sums);
  root = sums.a / ALL ((float) self->n);
  for (guint l = 0; l < LANES; l++)
    root[l] = sqrtf (root[l]);
  for (gsize i = 0; i < self->n; i++)
    {
      const Lanes plain = root + (Lanes) (~sign & (Mask) self->x[i]);

      self->w[i] = self->has_importance ? plain * self->w[i] : plain;
    }
}

/* A try: better levels, scale and minimum take the place of those before. @fixed: sums of weights, and of weights times x */
VN_INLINE void
block_search_try (Group       *self,
                  const Sums  *fixed,
                  float        factor,
                  const Lanes *max,
                  Lanes       *least)
{
  const Lanes scale = self->scale, min = self->min;
  Sums sums, error;
  Lanes divisor;
  Mask better;

  self->inverse = PICK (min != *max, ALL (factor) / (*max - min), ALL (1));
  block_search_sum_levels (self, &sums);
  divisor = ROUNDED (fixed->a * sums.b) - ROUNDED (sums.a * sums.a);
  self->scale = (ROUNDED (fixed->a * sums.c) - ROUNDED (fixed->b * sums.a)) / divisor;
  self->min = (ROUNDED (sums.b * fixed->b) - ROUNDED (sums.a * sums.c)) / divisor;
  block_search_sum_errors (self, &error);
  better = error.a < *least;
  *least = PICK (better, error.a, *least);
  self->scale = PICK (better, self->scale, scale);
  self->min = PICK (better, self->min, min);
}

VN_MULTIVERSION
static void
block_search_run (Group *self)
{
  Lanes max = self->x[0];
  Sums fixed, least;

  block_search_weigh (self);
  block_search_sum_weights (self, &fixed);
  self->min = self->x[0];
  for (gsize i = 1; i < self->n; i++)
    {
      self->min = PICK (self->x[i] < self->min, self->x[i], self->min);
      max = PICK (self->x[i] > max, self->x[i], max);
    }
  self->inverse = PICK (self->min != max, ALL (self->highest) / (max - self->min), ALL (1));
  self->scale = ALL (1) / self->inverse;
  for (gsize i = 0; i < self->n; i++)
    block_search_set_level (self, i, &self->q[i]);
  block_search_sum_errors (self, &least);
  for (guint i = 0; i < TRIES; i++)
    block_search_try (self, &fixed, (float) (-1 + 0.1 * i + self->highest), &max, &least.a);
}

/* ---- blocks of a tensor ---- */

static void
block_search_store (const Search *self,
                    gsize         first,
                    gsize         n_blocks,
                    const Group  *group)
{
  for (gsize l = 0; l < n_blocks; l++)
    {
      const float zero = rintf (-group->min[l] / group->scale[l]);

      self->scales[first + l] = group->scale[l];
      vn_quant_store_integer (self->zeros, first + l,
                              (zero > 0 ? (gint64) MIN (zero, group->highest) : 0) - self->cut.shift);
    }
}

static gboolean
block_search_item (gsize     item,
                   guint     worker,
                   gpointer  data,
                   GError  **error)
{
  const Search *self = data;
  const gsize n = self->cut.outer * self->cut.n_blocks * self->cut.inner, step = GROUPS_PER_ITEM * LANES;
  Lanes *room = vn_memory_try_aligned (3 * self->cut.block * sizeof (Lanes), sizeof (Lanes));
  Group group = { .n = self->cut.block, .in_turn = self->cut.n_blocks == 1 && n > 1, .highest = (float) self->cut.highest,
                  .x = room, .w = room + self->cut.block, .q = room + 2 * self->cut.block,
                  .has_importance = self->importance != NULL };

  if (room == NULL)
    {
      vn_memory_set_error (3 * self->cut.block * sizeof (Lanes), error);
      return FALSE;
    }
  for (gsize first = item * step; first < MIN (n, (item + 1) * step); first += LANES)
    {
      const gsize count = MIN (LANES, n - first);

      vn_block_lanes_load (&self->cut, self->x, first, count, self->cut.block, (float *) group.x);
      if (group.has_importance)
        vn_block_lanes_load_weights (&self->cut, self->importance, first, count, self->cut.block, (float *) group.w);
      block_search_run (&group);
      block_search_store (self, first, count, &group);
    }
  free (room);
  return TRUE;
}

/*< private >
 * vn_quant_search_blocks:
 * @data: float32, finite, not empty, ends less than the greatest float apart
 * @axis: along which the blocks run
 * @block: how many numbers of @axis have one scale, a power of two from 16 on; what is missing at the end counts as 0
 * @dtype: an integer type of at most 8 bits
 * @importance: (nullable) (array): of each place along @axis: errors there count so often
 * @scale: (out): float32, of the shape of @data with the number of blocks on @axis
 * @zero_point: (out): of type @dtype, as many
 *
 * The integers are those of vn_quant_quantize_blocks() with %VN_BLOCK_EXACT.
 */
gboolean
vn_quant_search_blocks (VnTensor   *data,
                        int         axis,
                        gint64      block,
                        VnDType     dtype,
                        const float *importance,
                        VnTensor  **scale,
                        VnTensor  **zero_point,
                        GError    **error)
{
  g_autoptr(VnTensor) aligned = NULL, scales = NULL, zeros = NULL;
  Search self = { 0 };
  VnShape shape;
  gsize n_groups;

  g_return_val_if_fail (data != NULL && block >= 2 * PARTS && (block & (block - 1)) == 0, FALSE);

  aligned = vn_tensor_get_aligned (data, error);
  if (aligned == NULL)
    return FALSE;
  self.cut = vn_quant_cut_blocks (&data->shape, axis, block, dtype);
  self.cut.block = (gsize) block;
  shape = data->shape;
  shape.dims[axis] = (gint64) self.cut.n_blocks;
  if ((scales = vn_tensor_new (VN_DTYPE_F32, &shape, error)) == NULL || (zeros = vn_tensor_new (dtype, &shape, error)) == NULL)
    return FALSE;
  memset (zeros->data, 0, zeros->n_bytes);
  self.x = aligned->data;
  self.importance = importance;
  self.scales = scales->data;
  self.zeros = zeros;
  n_groups = scales->n_elements / LANES + (scales->n_elements % LANES != 0);
  if (!vn_parallel_for (n_groups > GROUPS_PER_ITEM ? 0 : 1, n_groups / GROUPS_PER_ITEM + (n_groups % GROUPS_PER_ITEM != 0),
                        block_search_item, &self, NULL, error))
    return FALSE;
  *scale = g_steal_pointer (&scales);
  *zero_point = g_steal_pointer (&zeros);
  return TRUE;
}
