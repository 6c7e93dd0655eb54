/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Going through the taps of a sample in the order they are computed, when not all that they are fits into the budget: what a tap
 * and those next to it need is computed, and what is needed last of all that is known makes room. */
#include "contribution-window.h"

#include <string.h>

/**
 * VnProbeWindow:
 * @sources: (element-type GArray): by tap: those that it is computed from
 * @needs: (element-type GArray): by place in the order: taps that are needed there
 * @uses: (element-type GArray): by tap: the places where it is needed
 * @n_past: by tap: how many of them are behind
 * @marks: by tap: the last place that was seen to need it, plus 1
 */
struct _VnProbeWindow
{
  VnProbeSample *sample;
  GPtrArray     *sources, *needs, *uses;
  guint         *n_past, *marks;
};

void
vn_probe_window_free (VnProbeWindow *self)
{
  if (self == NULL)
    return;
  g_clear_pointer (&self->sources, g_ptr_array_unref);
  g_clear_pointer (&self->needs, g_ptr_array_unref);
  g_clear_pointer (&self->uses, g_ptr_array_unref);
  g_free (self->n_past);
  g_free (self->marks);
  g_free (self);
}

static GPtrArray *
contribution_make_lists (guint n)
{
  GPtrArray *lists = g_ptr_array_new_full (n, (GDestroyNotify) g_array_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (lists, g_array_new (FALSE, FALSE, sizeof (guint)));
  return lists;
}

static void
contribution_need (VnProbeWindow *self,
                   guint          place,
                   guint          tap)
{
  if (!self->sample->is_seen[tap] || self->marks[tap] == place + 1)
    return;
  self->marks[tap] = place + 1;
  g_array_append_val ((GArray *) g_ptr_array_index (self->needs, place), tap);
  g_array_append_val ((GArray *) g_ptr_array_index (self->uses, tap), place);
}

static void
contribution_need_all (VnProbeWindow *self,
                       guint          place,
                       const GArray  *taps)
{
  for (guint i = 0; i < taps->len; i++)
    contribution_need (self, place, g_array_index (taps, guint, i));
}

/* What a layer with another weight reads, what comes next, and what else that reads. */
static void
contribution_list_needs (VnProbeWindow *self)
{
  guint n_taps = self->sources->len;
  g_autoptr(GPtrArray) next = contribution_make_lists (n_taps);
  const GArray *order = self->sample->order;

  for (guint t = 0; t < n_taps; t++)
    {
      const GArray *sources = g_ptr_array_index (self->sources, t);

      for (guint i = 0; i < sources->len && self->sample->is_seen[t]; i++)
        g_array_append_val ((GArray *) g_ptr_array_index (next, g_array_index (sources, guint, i)), t);
    }
  for (guint k = 0; k < order->len; k++)
    {
      guint tap = g_array_index (order, guint, k);
      const GArray *follow = g_ptr_array_index (next, tap);

      contribution_need (self, k, tap);
      contribution_need_all (self, k, g_ptr_array_index (self->sources, tap));
      contribution_need_all (self, k, follow);
      for (guint i = 0; i < follow->len; i++)
        contribution_need_all (self, k, g_ptr_array_index (self->sources, g_array_index (follow, guint, i)));
    }
}

/**
 * vn_probe_window_new:
 * @sample: has been run
 *
 * Returns: (transfer full) (nullable): %NULL with an error if the plan cannot be made for the sizes of the sample
 */
VnProbeWindow *
vn_probe_window_new (VnProbeSample  *sample,
                     GError        **error)
{
  g_autoptr(VnProbeWindow) self = g_new0 (VnProbeWindow, 1);
  guint n;

  g_return_val_if_fail (sample != NULL, NULL);

  self->sample = sample;
  self->sources = vn_plan_list_sources (sample->plan, sample->inputs, error);
  if (self->sources == NULL)
    return NULL;
  n = self->sources->len;
  self->needs = contribution_make_lists (sample->order->len);
  self->uses = contribution_make_lists (n);
  self->n_past = g_new0 (guint, n + 1);
  self->marks = g_new0 (guint, n + 1);
  contribution_list_needs (self);
  memset (self->marks, 0, n * sizeof *self->marks);
  return g_steal_pointer (&self);
}

/* The place after @place where a tap is needed again. */
static guint
contribution_find_use (VnProbeWindow *self,
                       guint          tap,
                       guint          place)
{
  const GArray *uses = g_ptr_array_index (self->uses, tap);
  guint *past = &self->n_past[tap];

  while (*past < uses->len && g_array_index (uses, guint, *past) <= place)
    ++*past;
  return *past < uses->len ? g_array_index (uses, guint, *past) : G_MAXUINT;
}

/* %FALSE: all that is known is needed now. */
static gboolean
contribution_make_room (VnProbeWindow *self,
                        guint          place)
{
  int farthest = -1;
  guint use = 0;

  for (guint t = 0; t < self->uses->len; t++)
    if (self->sample->known[t] != NULL && self->marks[t] != place + 1 && contribution_find_use (self, t, place) >= use)
      {
        farthest = (int) t;
        use = contribution_find_use (self, t, place);
      }
  if (farthest >= 0)
    vn_probe_sample_drop (self->sample, (guint) farthest);
  return farthest >= 0;
}

/**
 * vn_probe_window_move:
 * @place: in the order of the sample, after the one before
 *
 * Makes known what is needed there, and forgets other taps until the rest fits into the budget.
 */
gboolean
vn_probe_window_move (VnProbeWindow  *self,
                      guint           place,
                      VnRunner       *runner,
                      GCancellable   *cancellable,
                      GError        **error)
{
  g_autoptr(GArray) missing = NULL;
  g_autofree VnTensor **fetched = NULL;
  const GArray *needs;

  g_return_val_if_fail (self != NULL && place < self->needs->len, FALSE);

  needs = g_ptr_array_index (self->needs, place);
  missing = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < needs->len; i++)
    {
      guint tap = g_array_index (needs, guint, i);

      self->marks[tap] = place + 1;
      if (self->sample->known[tap] == NULL)
        g_array_append_val (missing, tap);
    }
  fetched = g_new0 (VnTensor *, missing->len + 1);
  if (missing->len > 0 && !vn_probe_sample_fetch (self->sample, runner, (const guint *) (gpointer) missing->data, missing->len,
                                                  fetched,
                                                  cancellable, error))
    return FALSE;
  for (guint i = 0; i < missing->len; i++)
    {
      self->sample->known[g_array_index (missing, guint, i)] = fetched[i];
      self->sample->n_held += fetched[i] != NULL ? fetched[i]->n_bytes : 0;
    }
  while (self->sample->n_held > self->sample->budget && contribution_make_room (self, place))
    ;
  return TRUE;
}
