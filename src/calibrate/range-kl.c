/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Two methods that compare the distribution before and after quantization by their Kullback-Leibler divergence
 * sum p ln (p / q).
 *
 * kl: after S. Migacz, "8-bit inference with TensorRT" (2017). 2048 bins of equal width of |x|. For each length i from
 * the number of levels to all bins, p is the first i bins with what lies beyond added to the last of them, q the first
 * i bins merged into as many groups as there are levels and spread again over the group's bins that are not empty.
 * The i of least divergence gives the threshold. Data of both signs share the levels between the signs. Zeros, which
 * any scale keeps, are left out: after ReLU they would outweigh everything else.
 *
 * entropy: what onnxruntime.quantization calls so. It does the same on 128 bins over -m .. m with m the greatest
 * magnitude, with 128 levels. With as many levels as bins there is a single candidate, the one that holds everything:
 * so its range is that of minmax, and this is what is returned here as well. */

#include "vn-range-private.h"

#include <math.h>

#define BINS 2048
#define TINY 1e-4      /* mass given to an empty bin, so that the logarithm exists */

/* Group @g of @levels over @n bins; the last one takes the rest. */
static void
group_span (guint  g,
            guint  levels,
            guint  n,
            guint *from,
            guint *to)
{
  guint size = n / levels;

  *from = g * size;
  *to = g == levels - 1 ? n : *from + size;
}

static double
group_divergence (const double *p,
                  const double *counts,
                  guint         from,
                  guint         to,
                  double        p_total,
                  double        q_total)
{
  double mass = 0;
  double sum = 0;
  guint n_used = 0;

  for (guint k = from; k < to; k++)
    {
      mass += counts[k];
      n_used += p[k] > 0;
    }
  for (guint k = from; k < to; k++)
    if (p[k] > 0)
      sum += p[k] / p_total * log (p[k] / p_total / (MAX (mass / n_used, TINY) / q_total));
  return sum;
}

/* Divergence when the first @n of @counts are kept; @p is room for as many. */
static double
divergence (const double *counts,
            guint         n,
            guint         levels,
            double        total,
            double       *p)
{
  double kept = 0;
  double sum = 0;

  for (guint k = 0; k < n; k++)
    {
      p[k] = counts[k];
      kept += counts[k];
    }
  p[n - 1] += total - kept;
  if (!(kept > 0))
    return INFINITY;
  for (guint g = 0; g < levels; g++)
    {
      guint from, to;

      group_span (g, levels, n, &from, &to);
      sum += group_divergence (p, counts, from, to, total, kept);
    }
  return sum;
}

static guint
best_length (const double *counts,
             guint         levels)
{
  g_autofree double *p = g_new (double, BINS);
  double total = 0;
  double least = INFINITY;
  guint best = BINS;

  for (guint k = 0; k < BINS; k++)
    total += counts[k];
  /* From long to short: of equals the one that clips least. */
  for (guint n = BINS; n >= levels; n--)
    {
      double candidate = divergence (counts, n, levels, total, p);

      if (candidate < least)
        {
          least = candidate;
          best = n;
        }
    }
  return best;
}

static gboolean
kl_range (const VnHistogram      *histogram,
          const VnRangeSettings  *settings,
          VnRange                *range,
          GError                **error)
{
  const guint bits = vn_range_get_bits (settings);
  const gboolean one_sided = !settings->symmetric && (histogram->min >= 0 || histogram->max <= 0);
  const guint levels = 1u << MIN (one_sided ? bits : bits - 1, 16);
  g_autoptr(VnHistogram) folded = NULL;
  g_autofree double *counts = NULL;
  double threshold;

  if (!vn_range_check (histogram, error))
    return FALSE;
  *range = (VnRange) { histogram->min, histogram->max };
  /* More levels than bins, or one value: nothing is gained by clipping. */
  if (levels >= BINS || histogram->min == histogram->max)
    return TRUE;

  folded = vn_histogram_fold_signs (histogram);
  folded->n_zero = 0;
  counts = g_new (double, BINS);
  vn_histogram_linear (folded, 0, folded->max, counts, BINS);
  threshold = folded->max * best_length (counts, levels) / BINS;
  range->min = MAX (range->min, -threshold);
  range->max = MIN (range->max, threshold);
  return TRUE;
}

static gboolean
entropy_range (const VnHistogram      *histogram,
               const VnRangeSettings  *settings,
               VnRange                *range,
               GError                **error)
{
  if (!vn_range_check (histogram, error))
    return FALSE;
  *range = (VnRange) { histogram->min, histogram->max };
  return TRUE;
}

static const VnParam no_params[] = {
  { NULL },
};

const VnRangeMethod vn_range_kl = {
  .id = "kl",
  .title = N_("KL divergence"),
  .summary = N_("Clips where the quantized distribution stays most like the original one"),
  .letter = 'K',
  .params = no_params,
  .range = kl_range,
};

const VnRangeMethod vn_range_entropy = {
  .id = "entropy",
  .title = N_("Entropy (ONNX Runtime)"),
  .summary = N_("As ONNX Runtime does it: with its 128 bins for 128 levels the whole range that was seen"),
  .letter = 'E',
  .params = no_params,
  .range = entropy_range,
};
