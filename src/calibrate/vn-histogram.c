/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A bin is the set of finite, nonzero floats that share their upper 16 bits: sign, exponent and 7 bits of mantissa, so
 * a bin is at most 1/128 of its value wide. Page p holds the 128 bins of sign p / 256 and exponent p % 256. Exponent
 * 255 (infinities, NaN) has no page: those are only counted. */

#include "vn-histogram-private.h"

#include "vn-memory.h"

#include <math.h>

#define N_EXPONENTS (VN_HISTOGRAM_PAGES / 2)

static guint64 * const no_pages[VN_HISTOGRAM_TABLE_PAGES];

/**
 * vn_histogram_new:
 *
 * Returns: (transfer full): a histogram that has seen nothing
 */
VnHistogram *
vn_histogram_new (void)
{
  VnHistogram *self = g_new0 (VnHistogram, 1);

  for (guint t = 0; t < G_N_ELEMENTS (self->tables); t++)
    self->tables[t] = no_pages;
  self->min = INFINITY;
  self->max = -INFINITY;
  return self;
}

/*< private >
 * vn_histogram_clear:
 *
 * Makes it one that has seen nothing.
 */
void
vn_histogram_clear (VnHistogram *self)
{
  VnHistogram none = { .min = INFINITY, .max = -INFINITY };

  VN_HISTOGRAM_FOREACH_PAGE (self, p)
    g_clear_pointer (&((guint64 **) self->tables[p / VN_HISTOGRAM_TABLE_PAGES])[p % VN_HISTOGRAM_TABLE_PAGES], g_free);
  vn_position_votes_clear (&self->votes);
  vn_channel_ranges_clear (&self->channels);
  vn_range_memo_free (self->ranges);
  memcpy (none.tables, self->tables, sizeof none.tables);
  *self = none;
}

/**
 * vn_histogram_free:
 * @self: (nullable) (transfer full): what to free
 */
void
vn_histogram_free (VnHistogram *self)
{
  if (self == NULL)
    return;
  vn_histogram_clear (self);
  for (guint t = 0; t < G_N_ELEMENTS (self->tables); t++)
    if (self->tables[t] != no_pages)
      g_free ((guint64 **) self->tables[t]);
  g_free (self);
}

/*< private >
 * vn_histogram_set_page:
 * @counts: (nullable) (transfer full): counters; let go of when there is no memory for a table, as vn_memory_check() tells
 *
 * Returns: (transfer full) (nullable): what was there
 */
guint64 *
vn_histogram_set_page (VnHistogram *self,
                       guint        page,
                       guint64     *counts)
{
  const guint64 bit = G_GUINT64_CONSTANT (1) << page % 64;
  guint64 * const **place = &self->tables[page / VN_HISTOGRAM_TABLE_PAGES];
  guint64 **pages, *before;

  if (*place == no_pages)
    {
      guint64 **table = counts != NULL ? vn_try_new0 (guint64 *, VN_HISTOGRAM_TABLE_PAGES, NULL) : NULL;

      if (table == NULL)
        {
          g_free (counts);
          return NULL;
        }
      *place = table;
    }
  pages = (guint64 **) *place;
  before = pages[page % VN_HISTOGRAM_TABLE_PAGES];
  pages[page % VN_HISTOGRAM_TABLE_PAGES] = counts;
  self->used[page / 64] = counts != NULL ? self->used[page / 64] | bit : self->used[page / 64] & ~bit;
  return before;
}

/*< private >
 * vn_histogram_make_page:
 *
 * Returns: (transfer none): counters, all 0
 */
guint64 *
vn_histogram_make_page (VnHistogram *self,
                        guint        page)
{
  static _Thread_local guint64 lost[VN_HISTOGRAM_PAGE_BINS];

  guint64 *counts = vn_try_new0 (guint64, VN_HISTOGRAM_PAGE_BINS, NULL);

  if (counts != NULL)
    vn_histogram_set_page (self, page, counts);
  counts = vn_histogram_get_page (self, page);
  return counts != NULL ? counts : lost;
}

/**
 * vn_histogram_merge:
 * @self: receives the counts
 * @from: another histogram, of the same tensor seen elsewhere
 *
 * Afterwards @self is what it would be had it scanned the elements of both: counts are added, so any order of merging
 * gives the same bits.
 */
void
vn_histogram_merge (VnHistogram       *self,
                    const VnHistogram *from)
{
  g_return_if_fail (self != NULL && from != NULL);

  self->n += from->n;
  self->n_nan += from->n_nan;
  self->n_pos_inf += from->n_pos_inf;
  self->n_neg_inf += from->n_neg_inf;
  self->n_zero += from->n_zero;
  self->min = MIN (self->min, from->min);
  self->max = MAX (self->max, from->max);
  vn_sample_sums_merge (&self->samples, &from->samples);
  vn_position_votes_merge (&self->votes, &from->votes);
  vn_channel_ranges_merge (&self->channels, &from->channels);

  VN_HISTOGRAM_FOREACH_PAGE (from, p)
    {
      const guint64 *counts = vn_histogram_get_page (from, p);
      guint64 *page = vn_histogram_page (self, p);

      for (guint m = 0; m < VN_HISTOGRAM_PAGE_BINS; m++)
        page[m] += counts[m];
    }
}

/*< private >
 * vn_histogram_take:
 * @from: (transfer full): what to merge; faster than merging a copy, as pages change owner
 */
void
vn_histogram_take (VnHistogram *self,
                   VnHistogram *from)
{
  VN_HISTOGRAM_FOREACH_PAGE (from, p)
    if (vn_histogram_get_page (self, p) == NULL)
      vn_histogram_set_page (self, p, vn_histogram_set_page (from, p, NULL));
  vn_histogram_merge (self, from);
  vn_histogram_free (from);
}

static gboolean
histogram_page_equal (const guint64 *a,
                      const guint64 *b)
{
  static const guint64 none[VN_HISTOGRAM_PAGE_BINS];

  return memcmp (a != NULL ? a : none, b != NULL ? b : none, sizeof none) == 0;
}

/**
 * vn_histogram_equal:
 *
 * Returns: whether both hold the same counts, bits of minimum and maximum, sums over samples, votes and ranges of channels
 */
gboolean
vn_histogram_equal (const VnHistogram *a,
                    const VnHistogram *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->n != b->n || a->n_nan != b->n_nan || a->n_pos_inf != b->n_pos_inf ||
      a->n_neg_inf != b->n_neg_inf || a->n_zero != b->n_zero ||
      vn_float_bits (a->min) != vn_float_bits (b->min) ||
      vn_float_bits (a->max) != vn_float_bits (b->max) ||
      memcmp (&a->samples, &b->samples, sizeof a->samples) != 0 || !vn_position_votes_equal (&a->votes, &b->votes) ||
      !vn_channel_ranges_equal (&a->channels, &b->channels))
    return FALSE;
  for (guint p = 0; p < VN_HISTOGRAM_PAGES; p++)
    if (!histogram_page_equal (vn_histogram_get_page (a, p), vn_histogram_get_page (b, p)))
      return FALSE;
  return TRUE;
}

gsize
vn_histogram_get_bytes (const VnHistogram *self)
{
  gsize bytes = sizeof *self + self->votes.n * sizeof *self->votes.votes;

  for (guint t = 0; t < G_N_ELEMENTS (self->tables); t++)
    if (self->tables[t] != no_pages)
      bytes += VN_HISTOGRAM_TABLE_PAGES * sizeof *self->tables[t];
  VN_HISTOGRAM_FOREACH_PAGE (self, p)
    bytes += VN_HISTOGRAM_PAGE_BINS * sizeof (guint64);
  if (vn_channel_ranges_are_known (&self->channels))
    bytes += 2 * self->channels.n * sizeof (float);
  return bytes;
}

/* One bin to @func, cut to the exact minimum and maximum. */
static void
histogram_emit_bin (const VnHistogram *self,
                    guint              page,
                    guint              m,
                    VnBinFunc          func,
                    gpointer           data)
{
  guint32 low = (guint32) (page * VN_HISTOGRAM_PAGE_BINS + m) << 16;
  float near = vn_float_from_bits (low);
  float far = vn_float_from_bits (low | 0xffff);
  VnBin bin = { .lo = MIN (near, far), .hi = MAX (near, far), .count = vn_histogram_get_page (self, page)[m] };

  bin.lo = MAX (bin.lo, self->min);
  bin.hi = MIN (bin.hi, self->max);
  func (&bin, data);
}

/**
 * vn_histogram_foreach:
 * @func: called for every bin that is not empty, from the most negative to the largest value
 *
 * Zeros of either sign are one bin from 0 to 0. The outermost bins end at the exact minimum and maximum. NaN and
 * infinities are not reported. An empty histogram gives no call.
 */
void
vn_histogram_foreach (const VnHistogram *self,
                      VnBinFunc          func,
                      gpointer           data)
{
  g_return_if_fail (self != NULL);

  for (guint e = N_EXPONENTS; e-- > 0;)
    {
      const guint64 *counts = vn_histogram_get_page (self, N_EXPONENTS + e);

      for (guint m = counts != NULL ? VN_HISTOGRAM_PAGE_BINS : 0; m-- > 0;)
        if (counts[m] > 0)
          histogram_emit_bin (self, N_EXPONENTS + e, m, func, data);
    }

  if (self->n_zero > 0)
    func (&(VnBin) { .lo = 0, .hi = 0, .count = self->n_zero }, data);

  for (guint e = 0; e < N_EXPONENTS; e++)
    {
      const guint64 *counts = vn_histogram_get_page (self, e);

      for (guint m = 0; counts != NULL && m < VN_HISTOGRAM_PAGE_BINS; m++)
        if (counts[m] > 0)
          histogram_emit_bin (self, e, m, func, data);
    }
}

typedef struct
{
  double  lo, hi, width;
  double *counts;
  guint   bins;
} Linear;

static void
histogram_add_point (const Linear *linear,
                     double        at,
                     double        count)
{
  double i = floor ((at - linear->lo) / linear->width);

  if (at < linear->lo || at > linear->hi)
    return;
  linear->counts[(guint) CLAMP (i, 0, linear->bins - 1.0)] += count;
}

static void
histogram_add_linear (const VnBin *bin,
                      gpointer     data)
{
  const Linear *linear = data;
  double from = ((double) bin->lo - linear->lo) / linear->width;
  double to = ((double) bin->hi - linear->lo) / linear->width;
  double per_bin = (double) bin->count / (to - from);
  guint first, last;

  if (!(to > from) || !isfinite (per_bin))
    {
      histogram_add_point (linear, bin->lo, (double) bin->count);
      return;
    }
  if (to < 0 || from > linear->bins)
    return;

  first = (guint) CLAMP (floor (from), 0, linear->bins - 1.0);
  last = (guint) CLAMP (floor (to), 0, linear->bins - 1.0);
  for (guint i = first; i <= last; i++)
    linear->counts[i] += per_bin * MAX (0, MIN (to, i + 1.0) - MAX (from, (double) i));
}

/**
 * vn_histogram_linear:
 * @lo: lower edge of the first bin
 * @hi: upper edge of the last bin, above @lo
 * @counts: (array length=bins): overwritten
 * @bins: how many bins of equal width
 *
 * Converts to bins of equal width. The mass of a source bin is spread evenly over its values, so counts are not whole
 * numbers; zeros fall into the bin that holds 0. An empty range gives zeros.
 */
void
vn_histogram_linear (const VnHistogram *self,
                     double             lo,
                     double             hi,
                     double            *counts,
                     guint              bins)
{
  Linear linear = { .lo = lo, .hi = hi, .width = (hi - lo) / bins, .counts = counts, .bins = bins };

  g_return_if_fail (self != NULL);

  memset (counts, 0, bins * sizeof *counts);
  if (bins > 0 && linear.width > 0 && isfinite (linear.width))
    vn_histogram_foreach (self, histogram_add_linear, &linear);
}
