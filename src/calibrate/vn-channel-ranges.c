/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranges of channels: where those of one tensor differ much, one scale for all of them serves none. */
#include "vn-channel-ranges.h"

#include "vn-memory.h"
#include "vn-multiversion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/**
 * vn_channel_ranges_clear:
 */
void
vn_channel_ranges_clear (VnChannelRanges *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->low, g_free);
  g_clear_pointer (&self->high, g_free);
  self->n = 0;
}

/**
 * vn_channel_ranges_are_known:
 *
 * Returns: whether there is a range for each channel
 */
gboolean
vn_channel_ranges_are_known (const VnChannelRanges *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->n > 0 && self->n != G_MAXUINT;
}

static void
channel_ranges_give_up (VnChannelRanges *self)
{
  vn_channel_ranges_clear (self);
  self->n = G_MAXUINT;
}

/**
 * vn_channel_ranges_resize:
 * @self: without channels so far
 *
 * Makes room for @n channels that have seen nothing.
 *
 * Returns: %FALSE if memory is refused
 */
gboolean
vn_channel_ranges_resize (VnChannelRanges *self,
                          guint            n)
{
  g_return_val_if_fail (self->n == 0, FALSE);

  self->low = vn_try_new (float, n, NULL);
  self->high = vn_try_new (float, n, NULL);
  if (self->low == NULL || self->high == NULL)
    {
      vn_channel_ranges_clear (self);
      return FALSE;
    }
  self->n = n;
  for (guint c = 0; c < n; c++)
    {
      self->low[c] = INFINITY;
      self->high[c] = -INFINITY;
    }
  return TRUE;
}

#define LANES 16

/* What is not finite says nothing. */
static VN_MULTIVERSION void
channel_ranges_scan_run (const float *x,
                         gsize        n,
                         float       *low,
                         float       *high)
{
  float least[LANES], most[LANES];
  gsize i = 0;

  for (guint k = 0; k < LANES; k++)
    {
      least[k] = *low;
      most[k] = *high;
    }
  for (; i + LANES <= n; i += LANES)
    for (guint k = 0; k < LANES; k++)
      {
        float value = x[i + k] + 0.0f;   /* one of both zeros, so that the order of samples is not seen */
        gboolean finite = fabsf (value) < INFINITY;

        least[k] = finite && value < least[k] ? value : least[k];
        most[k] = finite && value > most[k] ? value : most[k];
      }
  for (; i < n; i++)
    {
      float value = x[i] + 0.0f;
      gboolean finite = fabsf (value) < INFINITY;

      least[0] = finite && value < least[0] ? value : least[0];
      most[0] = finite && value > most[0] ? value : most[0];
    }
  for (guint k = 0; k < LANES; k++)
    {
      *low = least[k] < *low ? least[k] : *low;
      *high = most[k] > *high ? most[k] : *high;
    }
}

/* The same of one number for each channel. */
static VN_MULTIVERSION void
channel_ranges_scan_row (const float *x,
                         gsize        n,
                         float       *low,
                         float       *high)
{
  for (gsize c = 0; c < n; c++)
    {
      float value = x[c] + 0.0f;
      gboolean finite = fabsf (value) < INFINITY;

      low[c] = finite && value < low[c] ? value : low[c];
      high[c] = finite && value > high[c] ? value : high[c];
    }
}

/**
 * vn_channel_ranges_prepare:
 * @n_channels: of a tensor that is to be looked at
 *
 * Returns: whether there is a range for each of its channels, to be widened
 */
gboolean
vn_channel_ranges_prepare (VnChannelRanges *self,
                           gsize            n_channels)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (self->n == G_MAXUINT || n_channels == 0)
    return FALSE;
  if (n_channels > VN_CHANNEL_RANGES_MOST || (self->n != 0 && self->n != n_channels))
    {
      channel_ranges_give_up (self);
      return FALSE;
    }
  return self->n != 0 || vn_channel_ranges_resize (self, (guint) n_channels);
}

/**
 * vn_channel_ranges_scan:
 * @x: @n_first x @n_channels x @n_inner numbers
 *
 * Widens the ranges to what is in @x.
 */
void
vn_channel_ranges_scan (VnChannelRanges *self,
                        const float     *x,
                        gsize            n_first,
                        gsize            n_channels,
                        gsize            n_inner)
{
  g_return_if_fail (self != NULL);

  if (!vn_channel_ranges_prepare (self, n_channels))
    return;
  for (gsize i = 0; n_inner == 1 && i < n_first; i++)
    channel_ranges_scan_row (x + i * n_channels, n_channels, self->low, self->high);
  for (gsize i = 0; n_inner > 1 && i < n_first * n_channels; i++)
    channel_ranges_scan_run (x + i * n_inner, n_inner, &self->low[i % n_channels], &self->high[i % n_channels]);
}

/**
 * vn_channel_ranges_merge:
 *
 * Afterwards @self is what it would be had it scanned what both have.
 */
void
vn_channel_ranges_merge (VnChannelRanges       *self,
                         const VnChannelRanges *from)
{
  g_return_if_fail (self != NULL);

  if (from->n == 0 || self->n == G_MAXUINT)
    return;
  if (from->n == G_MAXUINT || (self->n != 0 && self->n != from->n))
    {
      channel_ranges_give_up (self);
      return;
    }
  if (self->n == 0 && !vn_channel_ranges_resize (self, from->n))
    return;
  for (guint c = 0; c < self->n; c++)
    {
      self->low[c] = MIN (self->low[c], from->low[c]);
      self->high[c] = MAX (self->high[c], from->high[c]);
    }
}

/**
 * vn_channel_ranges_equal:
 */
gboolean
vn_channel_ranges_equal (const VnChannelRanges *a,
                         const VnChannelRanges *b)
{
  g_return_val_if_fail (a != NULL, FALSE);

  if (a->n != b->n || !vn_channel_ranges_are_known (a))
    return a->n == b->n;
  return memcmp (a->low, b->low, a->n * sizeof *a->low) == 0 && memcmp (a->high, b->high, a->n * sizeof *a->high) == 0;
}

/* ---- channels that stand out ---- */

/**
 * vn_channel_ranges_get_reach:
 *
 * Returns: the largest magnitude in a channel; 0 if it has seen nothing
 */
double
vn_channel_ranges_get_reach (const VnChannelRanges *self,
                             guint                  channel)
{
  double reach;

  g_return_val_if_fail (self != NULL && vn_channel_ranges_are_known (self) && channel < self->n, 0);

  reach = fmax (-(double) self->low[channel], (double) self->high[channel]);
  return isfinite (reach) && self->low[channel] <= self->high[channel] ? reach : 0;
}

static int
channel_ranges_compare (gconstpointer a,
                        gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

/**
 * vn_channel_ranges_find_outlier:
 * @outlier: (out): what stands out
 *
 * Returns: %FALSE if no channel reaches more than %VN_CHANNEL_OUTLIER times as far as the median, or there are fewer than three
 */
gboolean
vn_channel_ranges_find_outlier (const VnChannelRanges *self,
                                VnChannelOutlier      *outlier)
{
  g_autofree double *sorted = NULL;

  g_return_val_if_fail (self != NULL && outlier != NULL, FALSE);

  *outlier = (VnChannelOutlier) { 0 };
  if (!vn_channel_ranges_are_known (self) || self->n < 3 || (sorted = vn_try_new (double, self->n, NULL)) == NULL)
    return FALSE;
  for (guint c = 0; c < self->n; c++)
    sorted[c] = vn_channel_ranges_get_reach (self, c);
  qsort (sorted, self->n, sizeof *sorted, channel_ranges_compare);
  outlier->limit = VN_CHANNEL_OUTLIER * sorted[self->n / 2];
  for (guint c = 0; c < self->n; c++)
    {
      double reach = vn_channel_ranges_get_reach (self, c);

      if (reach > outlier->reach)
        {
          outlier->reach = reach;
          outlier->channel = c;
        }
      if (reach > outlier->limit)
        outlier->n++;
      else
        outlier->others = fmax (outlier->others, reach);
    }
  return outlier->limit > 0 && outlier->n > 0;
}
