/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of what is kept: those of different samples added, and handed to other processes. */
#include "vn-task-reader.h"

#include <string.h>

/* n_samples, n, n_kept, n_added, classes, items. */
#define CLASS_TYPE "(tt)"
#define ITEM_TYPE "(udayay)"
#define SUM_TYPE VN_KEPT_SUM_TYPE

static void
kept_sum_merge_classes (VnKeptSum    *self,
                        const GArray *from)
{
  const guint n = self->classes != NULL ? self->classes->len : 0;

  if (self->classes == NULL)
    self->classes = g_array_new (FALSE, TRUE, sizeof (VnClassOverlap));
  g_array_set_size (self->classes, MAX (n, from->len));
  for (guint i = 0; i < from->len; i++)
    {
      VnClassOverlap *to = &g_array_index (self->classes, VnClassOverlap, i);
      const VnClassOverlap *more = &g_array_index (from, VnClassOverlap, i);

      to->both += more->both;
      to->either += more->either;
    }
}

/**
 * vn_kept_sum_merge:
 * @from: of other samples; its items are taken out of it
 */
void
vn_kept_sum_merge (VnKeptSum *self,
                   VnKeptSum *from)
{
  g_return_if_fail (self != NULL && from != NULL);

  self->n_samples += from->n_samples;
  self->n += from->n;
  self->n_kept += from->n_kept;
  self->n_added += from->n_added;
  if (from->classes != NULL)
    kept_sum_merge_classes (self, from->classes);
  for (guint i = 0; from->items != NULL && i < from->items->len; i++)
    vn_kept_sum_add_item (self, &g_array_index (from->items, VnKeptItem, i));
  g_clear_pointer (&from->items, g_array_unref);
}

/* ---- for other processes ---- */

static GVariant *
kept_sum_pack_floats (const GArray *array)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, array != NULL ? array->data : NULL, array != NULL
                                    ? array->len * sizeof (float) : 0, 1);
}

/**
 * vn_kept_sum_pack:
 *
 * Returns: (transfer floating): of %VN_KEPT_SUM_TYPE, for a process on the same kind of machine
 */
GVariant *
vn_kept_sum_pack (const VnKeptSum *self)
{
  GVariantBuilder classes, items;

  g_return_val_if_fail (self != NULL, NULL);

  g_variant_builder_init (&classes, G_VARIANT_TYPE ("a" CLASS_TYPE));
  for (guint i = 0; self->classes != NULL && i < self->classes->len; i++)
    {
      const VnClassOverlap *overlap = &g_array_index (self->classes, VnClassOverlap, i);

      g_variant_builder_add (&classes, CLASS_TYPE, overlap->both, overlap->either);
    }
  g_variant_builder_init (&items, G_VARIANT_TYPE ("a" ITEM_TYPE));
  for (guint i = 0; self->items != NULL && i < self->items->len; i++)
    {
      const VnKeptItem *item = &g_array_index (self->items, VnKeptItem, i);

      g_variant_builder_add (&items, "(ud@ay@ay)", item->item, item->value, kept_sum_pack_floats (item->first),
                             kept_sum_pack_floats (item->other));
    }
  return g_variant_new (SUM_TYPE, self->n_samples, self->n, self->n_kept, self->n_added, &classes, &items);
}

static GArray *
kept_sum_unpack_floats (GVariant *packed)
{
  gsize n;
  gconstpointer bytes = g_variant_get_fixed_array (packed, &n, 1);
  GArray *array = n > 0 ? g_array_new (FALSE, FALSE, sizeof (float)) : NULL;

  if (array == NULL)
    return NULL;
  g_array_set_size (array, (guint) (n / sizeof (float)));
  memcpy (array->data, bytes, array->len * sizeof (float));
  return array;
}

/**
 * vn_kept_sum_unpack:
 * @self: (out): vn_kept_sum_clear()
 * @packed: of vn_kept_sum_pack()
 */
void
vn_kept_sum_unpack (VnKeptSum *self,
                    GVariant  *packed)
{
  g_autoptr(GVariantIter) classes = NULL, items = NULL;
  VnClassOverlap overlap;
  VnKeptItem item = { 0 };
  GVariant *first, *other;

  g_return_if_fail (self != NULL && packed != NULL);

  *self = (VnKeptSum) { 0 };
  g_variant_get (packed, SUM_TYPE, &self->n_samples, &self->n, &self->n_kept, &self->n_added, &classes, &items);
  if (g_variant_iter_n_children (classes) > 0)
    self->classes = g_array_new (FALSE, TRUE, sizeof (VnClassOverlap));
  while (g_variant_iter_next (classes, CLASS_TYPE, &overlap.both, &overlap.either))
    g_array_append_val (self->classes, overlap);
  while (g_variant_iter_next (items, "(ud@ay@ay)", &item.item, &item.value, &first, &other))
    {
      item.first = kept_sum_unpack_floats (first);
      item.other = kept_sum_unpack_floats (other);
      vn_kept_sum_add_item (self, &item);
      g_variant_unref (first);
      g_variant_unref (other);
    }
}
