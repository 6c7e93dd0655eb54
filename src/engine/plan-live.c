/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks of memory by when they live: which of those added live at the same time as another? A tree halves the steps again and
 * again; a block stands at the few parts of it that make up its life, and a question looks only at parts that it shares. */
#include "vn-plan-private.h"

struct _VnLive
{
  guint     n_leaves;   /* a power of two, at least the number of steps */
  GArray  **parts;      /* of guint; part 1 is everything, 2 i and 2 i + 1 the halves of i; NULL: none */
  gboolean *used;       /* by part: something stands at it or below */
  guint    *asked;      /* by id: the question that has found it */
  guint     n_asked;
};

/**
 * vn_live_new:
 * @n_steps: when something may live
 * @n_ids: what may be added is below it
 */
VnLive *
vn_live_new (guint n_steps,
             guint n_ids)
{
  VnLive *self = g_new0 (VnLive, 1);

  for (self->n_leaves = 1; self->n_leaves < n_steps; self->n_leaves *= 2)
    ;
  self->parts = g_new0 (GArray *, 2 * (gsize) self->n_leaves);
  self->used = g_new0 (gboolean, 2 * (gsize) self->n_leaves);
  self->asked = g_new0 (guint, MAX (n_ids, 1));
  return self;
}

void
vn_live_free (VnLive *self)
{
  for (gsize i = 1; i < 2 * (gsize) self->n_leaves; i++)
    if (self->parts[i] != NULL)
      g_array_unref (self->parts[i]);
  g_free (self->parts);
  g_free (self->used);
  g_free (self->asked);
  g_free (self);
}

/* @part has the steps from @from on, @n of them. */
static void
plan_live_add (VnLive *self,
               guint   part,
               guint   from,
               guint   n,
               guint   first,
               guint   last,
               guint   id)
{
  if (last < from || first >= from + n)
    return;
  self->used[part] = TRUE;
  if (first <= from && from + n - 1 <= last)
    {
      if (self->parts[part] == NULL)
        self->parts[part] = g_array_new (FALSE, FALSE, sizeof (guint));
      g_array_append_val (self->parts[part], id);
      return;
    }
  plan_live_add (self, 2 * part, from, n / 2, first, last, id);
  plan_live_add (self, 2 * part + 1, from + n / 2, n / 2, first, last, id);
}

static void
plan_live_find (VnLive *self,
                guint   part,
                guint   from,
                guint   n,
                guint   first,
                guint   last,
                GArray *found)
{
  const GArray *here = self->parts[part];

  if (!self->used[part] || last < from || first >= from + n)
    return;
  for (guint i = 0; here != NULL && i < here->len; i++)
    {
      guint id = g_array_index (here, guint, i);

      if (self->asked[id] == self->n_asked)
        continue;
      self->asked[id] = self->n_asked;
      g_array_append_val (found, id);
    }
  if (n == 1)
    return;
  plan_live_find (self, 2 * part, from, n / 2, first, last, found);
  plan_live_find (self, 2 * part + 1, from + n / 2, n / 2, first, last, found);
}

/**
 * vn_live_add:
 * @first: step that begins its life
 * @last: step that ends it, not before @first
 */
void
vn_live_add (VnLive *self,
             guint   id,
             guint   first,
             guint   last)
{
  plan_live_add (self, 1, 0, self->n_leaves, first, last, id);
}

/**
 * vn_live_find:
 * @found: (element-type guint): becomes those that live in one of the steps from @first to @last, in no order
 */
void
vn_live_find (VnLive *self,
              guint   first,
              guint   last,
              GArray *found)
{
  g_array_set_size (found, 0);
  self->n_asked++;
  plan_live_find (self, 1, 0, self->n_leaves, first, last, found);
}
