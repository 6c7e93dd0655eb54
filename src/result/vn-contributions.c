/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what tensors cost; vn_contribution_measure() fills it. */
#include "vn-contributions.h"

struct _VnContributions
{
  gatomicrefcount ref;
  GArray         *items;   /* of VnContribution */
};

static void
contributions_clear_item (gpointer data)
{
  VnContribution *self = data;

  g_free (self->name);
  g_free (self->node);
}

/**
 * vn_contributions_new_empty:
 *
 * Returns: (transfer full): a list to be filled
 */
VnContributions *
vn_contributions_new_empty (void)
{
  VnContributions *self = g_new0 (VnContributions, 1);

  g_atomic_ref_count_init (&self->ref);
  self->items = g_array_new (FALSE, FALSE, sizeof (VnContribution));
  g_array_set_clear_func (self->items, contributions_clear_item);
  return self;
}

/**
 * vn_contributions_add:
 * @item: (transfer full): its strings change owner
 */
void
vn_contributions_add (VnContributions *self,
                      VnContribution  *item)
{
  g_return_if_fail (self != NULL && item != NULL);

  g_array_append_vals (self->items, item, 1);
}

VnContributions *
vn_contributions_ref (VnContributions *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_contributions_unref (VnContributions *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_array_unref (self->items);
  g_free (self);
}

guint
vn_contributions_get_n (VnContributions *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->items->len;
}

/**
 * vn_contributions_get:
 *
 * Returns: (transfer none): tensor @i
 */
const VnContribution *
vn_contributions_get (VnContributions *self,
                      guint            i)
{
  g_return_val_if_fail (self != NULL && i < self->items->len, NULL);

  return &g_array_index (self->items, VnContribution, i);
}

static gint
contributions_compare_shares (gconstpointer a,
                             gconstpointer b,
                             gpointer      data)
{
  const VnContribution *items = data;
  guint i = *(const guint *) a, k = *(const guint *) b;

  if (items[i].share != items[k].share)
    return items[i].share > items[k].share ? -1 : 1;
  return i < k ? -1 : 1;
}

/**
 * vn_contributions_sort:
 *
 * Returns: (transfer full) (element-type guint): numbers of the tensors, those with the largest share first
 */
GArray *
vn_contributions_sort (VnContributions *self)
{
  GArray *order;

  g_return_val_if_fail (self != NULL, NULL);

  order = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < self->items->len; i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, contributions_compare_shares, self->items->data);
  return order;
}
