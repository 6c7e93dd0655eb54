/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ranges that were found for a histogram whose counts are final. A repair resolves the same recipe many times, and a search
 * among thousands of ranges gives the same each time. */

#include "vn-range-private.h"

#define MOST 8      /* settings that are remembered of one histogram */

typedef struct
{
  const VnRangeMethod *method;
  VnRangeSettings      settings;
  VnRange              range;
  char                *winner;      /* nullable: a method without a contest */
} Entry;

struct _VnRangeMemo
{
  GMutex lock;
  guint  n, next;       /* the next one is written over once there are MOST */
  Entry *entries;       /* @n of them */
};

static gboolean
range_memo_is_same (const VnRangeSettings *a,
                    const VnRangeSettings *b)
{
  return a->percentile == b->percentile && !a->symmetric == !b->symmetric && !a->two_sided == !b->two_sided &&
         a->bits == b->bits &&
         a->qmin == b->qmin && a->qmax == b->qmax;
}

/*< private >
 * vn_range_memo_new:
 *
 * Returns: (transfer full): without a range
 */
VnRangeMemo *
vn_range_memo_new (void)
{
  VnRangeMemo *self = g_new0 (VnRangeMemo, 1);

  g_mutex_init (&self->lock);
  return self;
}

/*< private >
 * vn_range_memo_free:
 * @self: (nullable) (transfer full): what to free
 */
void
vn_range_memo_free (VnRangeMemo *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->n; i++)
    g_free (self->entries[i].winner);
  g_mutex_clear (&self->lock);
  g_free (self->entries);
  g_free (self);
}

static gboolean
range_memo_find (VnRangeMemo           *self,
                 const VnRangeMethod   *method,
                 const VnRangeSettings *settings,
                 VnRange               *range,
                 char                 **winner)
{
  gboolean found = FALSE;

  g_mutex_lock (&self->lock);
  for (guint i = 0; i < self->n && !found; i++)
    {
      const Entry *entry = &self->entries[i];

      found = entry->method == method && range_memo_is_same (&entry->settings, settings);
      if (found)
        {
          *range = entry->range;
          *winner = g_strdup (entry->winner);
        }
    }
  g_mutex_unlock (&self->lock);
  return found;
}

static void
range_memo_add (VnRangeMemo           *self,
                const VnRangeMethod   *method,
                const VnRangeSettings *settings,
                const VnRange         *range,
                const char            *winner)
{
  g_mutex_lock (&self->lock);
  if (self->n < MOST)
    {
      self->entries = g_renew (Entry, self->entries, ++self->n);
      self->entries[self->next].winner = NULL;
    }
  g_free (self->entries[self->next].winner);
  self->entries[self->next] = (Entry) { method, *settings, *range, g_strdup (winner) };
  self->next = (self->next + 1) % MOST;
  g_mutex_unlock (&self->lock);
}

/**
 * vn_range_method_find_range:
 * @histogram: what was seen
 * @range: (out): as @range of the method gives it
 * @winner: (nullable) (out) (transfer full) (nullable): as @contest of the method gives it; %NULL where there is none
 *
 * Finds the range for what a histogram has seen. Histograms of statistics remember it: asked again, they answer at once.
 * Threads may ask at the same time.
 *
 * Returns: %FALSE with the method's error
 */
gboolean
vn_range_method_find_range (const VnRangeMethod    *self,
                            const VnHistogram      *histogram,
                            const VnRangeSettings  *settings,
                            VnRange                *range,
                            char                  **winner,
                            GError                **error)
{
  g_autofree char *found = NULL;
  VnRangeMemo *memo;

  g_return_val_if_fail (self != NULL && histogram != NULL && settings != NULL && range != NULL, FALSE);

  memo = histogram->ranges;
  if (memo == NULL || !range_memo_find (memo, self, settings, range, &found))
    {
      if (self->contest != NULL ? !self->contest (histogram, settings, range, &found, error)
                                : !self->range (histogram, settings, range, error))
        return FALSE;
      if (memo != NULL)
        range_memo_add (memo, self, settings, range, found);
    }
  if (winner != NULL)
    *winner = g_steal_pointer (&found);
  return TRUE;
}
