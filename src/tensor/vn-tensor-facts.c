/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a look at all bytes of a tensor tells. Weights of gigabytes are asked for it by several: each page of a file costs as
 * much to be mapped as to be looked at, so that all is found out in one pass, and kept with what cannot change. */
#include "vn-tensor.h"

#include "vn-multiversion.h"
#include "vn-parallel.h"

#include <math.h>
#include <string.h>

/* Bytes that one thread looks at in one go, and those of them that are looked at twice while they are near the processor. */
#define PART ((gsize) 1 << 20)
#define CHUNK ((gsize) 1 << 14)

#define LANES 32

typedef struct
{
  const VnTensor *tensor;
  VnTensorFacts  *parts;
} Looking;

/* By the bits: those of an infinite number are 0x7f800000 without the sign, those of NaN are more. */
VN_MULTIVERSION
static void
tensor_facts_count_floats (const float *x,
                           gsize        n,
                           guint32     *n_nan,
                           guint32     *n_infinite)
{
  guint32 nan_count = 0, infinite_count = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint32 bits;

      memcpy (&bits, &x[i], sizeof bits);
      bits &= 0x7fffffff;
      nan_count += bits > 0x7f800000;
      infinite_count += bits == 0x7f800000;
    }
  *n_nan = nan_count;
  *n_infinite = infinite_count;
}

/* @infinite: the bits of an infinite number */
VN_MULTIVERSION
static void
tensor_facts_count_halves (const guint16 *x,
                           gsize          n,
                           guint16        infinite,
                           guint32       *n_nan,
                           guint32       *n_infinite)
{
  guint32 nan_count = 0, infinite_count = 0;

  for (gsize i = 0; i < n; i++)
    {
      guint16 bits = x[i] & 0x7fff;

      nan_count += bits > infinite;
      infinite_count += bits == infinite;
    }
  *n_nan = nan_count;
  *n_infinite = infinite_count;
}

static void
tensor_facts_count_doubles (const double *x,
                            gsize         n,
                            guint32      *n_nan,
                            guint32      *n_infinite)
{
  *n_nan = *n_infinite = 0;
  for (gsize i = 0; i < n; i++)
    {
      *n_nan += isnan (x[i]) != 0;
      *n_infinite += isinf (x[i]) != 0;
    }
}

/* In lanes, as no compiler may change the order of comparisons of floats. */
VN_MULTIVERSION
static guint32
tensor_facts_find_ends (const float *x,
                        gsize        n,
                        float       *min,
                        float       *max)
{
  float low[LANES], high[LANES];
  guint32 n_bad[LANES] = { 0 };
  gsize i = 0;

  for (guint l = 0; l < LANES; l++)
    {
      low[l] = INFINITY;
      high[l] = -INFINITY;
    }
  for (; i + LANES <= n; i += LANES)
    for (guint l = 0; l < LANES; l++)
      {
        low[l] = x[i + l] < low[l] ? x[i + l] : low[l];
        high[l] = x[i + l] > high[l] ? x[i + l] : high[l];
        n_bad[l] += !(fabsf (x[i + l]) < INFINITY);
      }
  for (; i < n; i++)
    {
      low[0] = x[i] < low[0] ? x[i] : low[0];
      high[0] = x[i] > high[0] ? x[i] : high[0];
      n_bad[0] += !(fabsf (x[i]) < INFINITY);
    }
  for (guint l = 1; l < LANES; l++)
    {
      low[0] = MIN (low[0], low[l]);
      high[0] = MAX (high[0], high[l]);
      n_bad[0] += n_bad[l];
    }
  *min = low[0] + 0.f;     /* no negative zero, whatever the order was */
  *max = high[0] + 0.f;
  return n_bad[0];
}

/*< private >
 * vn_floats_find_ends:
 * @min, @max: (out): INFINITY and -INFINITY where there is no number; where some are not finite, nothing that counts
 *
 * Returns: how many are not finite
 */
guint32
vn_floats_find_ends (const float *x,
                     gsize        n,
                     float       *min,
                     float       *max)
{
  return tensor_facts_find_ends (x, n, min, max);
}

/* Ends of the finite ones among others. */
static void
tensor_facts_find_finite_ends (const float *x,
                               gsize        n,
                               float       *min,
                               float       *max)
{
  *min = INFINITY;
  *max = -INFINITY;
  for (gsize i = 0; i < n; i++)
    if (isfinite (x[i]))
      {
        *min = MIN (*min, x[i]);
        *max = MAX (*max, x[i]);
      }
}

static void
tensor_facts_add_floats (VnTensorFacts *self,
                         const float   *x,
                         gsize          n)
{
  float min, max;

  if (tensor_facts_find_ends (x, n, &min, &max) > 0)
    {
      guint32 n_nan, n_infinite;

      tensor_facts_find_finite_ends (x, n, &min, &max);
      tensor_facts_count_floats (x, n, &n_nan, &n_infinite);
      self->n_nan += n_nan;
      self->n_infinite += n_infinite;
    }
  self->min = MIN (self->min, min);
  self->max = MAX (self->max, max);
}

/* @x: aligned */
static void
tensor_facts_add_numbers (VnTensorFacts *self,
                          VnDType        dtype,
                          gconstpointer  x,
                          gsize          n_bytes)
{
  guint32 n_nan = 0, n_infinite = 0;

  if (dtype == VN_DTYPE_F32)
    tensor_facts_add_floats (self, x, n_bytes / sizeof (float));
  else if (dtype == VN_DTYPE_F16 || dtype == VN_DTYPE_BF16)
    tensor_facts_count_halves (x, n_bytes / 2, dtype == VN_DTYPE_F16 ? 0x7c00 : 0x7f80, &n_nan, &n_infinite);
  else if (dtype == VN_DTYPE_F64)
    tensor_facts_count_doubles (x, n_bytes / sizeof (double), &n_nan, &n_infinite);
  self->n_nan += n_nan;
  self->n_infinite += n_infinite;
}

static gboolean
tensor_facts_look_at_part (gsize     item,
                           guint     worker,
                           gpointer  data,
                           GError  **error)
{
  const Looking *self = data;
  const VnTensor *tensor = self->tensor;
  const gboolean aligned = vn_tensor_is_aligned (tensor);
  const gsize end = MIN ((item + 1) * PART, tensor->n_bytes);
  VnTensorFacts *facts = &self->parts[item];

  *facts = (VnTensorFacts) { .min = INFINITY, .max = -INFINITY };
  for (gsize first = item * PART; first < end; first += CHUNK)
    {
      const guint8 *bytes = (const guint8 *) tensor->data + first;
      const gsize n = MIN (CHUNK, end - first);
      double copy[CHUNK / sizeof (double)];

      vn_digest_add (&facts->digest, bytes, n);
      if (!aligned)
        memcpy (copy, bytes, n);
      tensor_facts_add_numbers (facts, tensor->dtype, aligned ? (gconstpointer) bytes : copy, n);
    }
  return TRUE;
}

static void
tensor_facts_join (VnTensorFacts       *self,
                   const VnTensorFacts *part)
{
  self->n_nan += part->n_nan;
  self->n_infinite += part->n_infinite;
  self->min = MIN (self->min, part->min);
  self->max = MAX (self->max, part->max);
  vn_digest_add (&self->digest, part->digest.lanes, sizeof part->digest.lanes);
}

static void
tensor_facts_find (const VnTensor *tensor,
                   VnTensorFacts  *facts)
{
  const gsize n_parts = tensor->n_bytes / PART + (tensor->n_bytes % PART != 0);
  g_autofree VnTensorFacts *parts = g_new (VnTensorFacts, MAX (n_parts, 1));
  Looking looking = { tensor, parts };

  *facts = (VnTensorFacts) { .min = INFINITY, .max = -INFINITY };
  vn_parallel_for (n_parts > 1 ? 0 : 1, n_parts, tensor_facts_look_at_part, &looking, NULL, NULL);
  for (gsize i = 0; i < n_parts; i++)
    tensor_facts_join (facts, &parts[i]);
  if (facts->min > facts->max)
    facts->min = facts->max = 0;
}

/* Of what takes a while. A view is read-only from the beginning; other tensors may be written to by who made them. */
static gboolean
tensor_facts_are_kept (const VnTensor *self)
{
  return self->n_bytes >= PART && self->owner_free == (GDestroyNotify) g_bytes_unref;
}

/**
 * vn_tensor_get_facts:
 * @self: no container, not of strings
 * @facts: (out):
 *
 * Large tensors are looked through by several threads, and their pages released (see vn_tensor_release_pages()). Facts of large
 * views are found out once.
 */
void
vn_tensor_get_facts (const VnTensor *self,
                     VnTensorFacts  *facts)
{
  gpointer *place = &((VnTensor *) self)->facts;     /* no part of what the tensor holds */
  VnTensorFacts *kept;

  g_return_if_fail (self != NULL && facts != NULL && self->dtype != VN_DTYPE_STRING);

  kept = g_atomic_pointer_get (place);
  if (kept != NULL)
    {
      *facts = *kept;
      return;
    }
  tensor_facts_find (self, facts);
  vn_tensor_release_pages (self);
  if (!tensor_facts_are_kept (self))
    return;
  kept = g_memdup2 (facts, sizeof *facts);
  if (!g_atomic_pointer_compare_and_exchange (place, NULL, kept))
    g_free (kept);
}
