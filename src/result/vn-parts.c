/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of tensors: what they are, and how they are called. */
#include "vn-parts.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <string.h>

struct _VnParts
{
  gatomicrefcount ref;
  GHashTable     *by_value;   /* of VnPartition */
};

/**
 * vn_partition_new:
 *
 * Returns: (transfer full): one whose slices all belong to part 0, to be filled by whoever made it
 */
VnPartition *
vn_partition_new (guint axis,
                  guint n_slices,
                  guint n_parts)
{
  VnPartition *self = g_new (VnPartition, 1);

  *self = (VnPartition) { axis, n_slices, n_parts, g_new0 (guint8, n_slices + 1) };
  return self;
}

/**
 * vn_partition_new_range:
 * @axis: of the tensor it is for
 * @first, @n: slices of @from
 *
 * Returns: (transfer full) (nullable): how these alone are divided; %NULL if they are all of one part
 */
VnPartition *
vn_partition_new_range (const VnPartition *from,
                        guint              axis,
                        guint              first,
                        guint              n)
{
  guint8 number[VN_MOST_PARTS] = { 0 };
  VnPartition *self;

  g_return_val_if_fail (from != NULL && n > 0 && first + n <= from->n_slices, NULL);

  self = vn_partition_new (axis, n, 0);
  for (guint i = first; i < first + n; i++)
    number[from->part_of[i]] = 1;
  for (guint p = 0; p < from->n_parts; p++)
    if (number[p] != 0)
      number[p] = (guint8) self->n_parts++;
  for (guint i = 0; i < n; i++)
    self->part_of[i] = number[from->part_of[first + i]];
  if (self->n_parts < 2)
    g_clear_pointer (&self, vn_partition_free);
  return self;
}

void
vn_partition_free (VnPartition *self)
{
  g_free (self->part_of);
  g_free (self);
}

/**
 * vn_partition_dup_slices:
 *
 * Returns: (transfer full): the slices of @part, from 0 on: “0-3, 16-21”
 */
char *
vn_partition_dup_slices (const VnPartition *self,
                         guint              part)
{
  g_autoptr(GString) text = g_string_new (NULL);

  g_return_val_if_fail (self != NULL && part < self->n_parts, NULL);

  for (guint i = 0, last; i < self->n_slices; i = last + 1)
    {
      last = i;
      if (self->part_of[i] != part)
        continue;
      while (last + 1 < self->n_slices && self->part_of[last + 1] == part)
        last++;
      g_string_append_printf (text, "%s%u", text->len > 0 ? ", " : "", i);
      if (last > i)
        g_string_append_printf (text, "-%u", last);
    }
  return g_strdup (text->str);
}

/**
 * vn_partition_add:
 * @slices: as of vn_partition_dup_slices(), or from anywhere: they become the next part
 *
 * Slices that nothing was said of belong to the first part, and the axis is as long as the last one asks for.
 *
 * Returns: %FALSE if that is no list of slices, or there are too many parts; @self is not to be used then
 */
gboolean
vn_partition_add (VnPartition *self,
                  const char  *slices)
{
  g_auto(GStrv) runs = NULL;

  g_return_val_if_fail (self != NULL && slices != NULL, FALSE);

  runs = g_strsplit (slices, ", ", 0);
  for (guint r = 0; runs[r] != NULL; r++)
    {
      char *dash = strchr (runs[r], '-');
      guint64 first, last;

      if (dash != NULL)
        *dash = '\0';
      if (!g_ascii_string_to_unsigned (runs[r], 10, 0, VN_MOST_SLICES - 1, &first, NULL) ||
          !g_ascii_string_to_unsigned (dash != NULL ? dash + 1 : runs[r], 10, first, VN_MOST_SLICES - 1, &last, NULL))
        return FALSE;
      if (last >= self->n_slices)
        {
          self->part_of = g_realloc (self->part_of, last + 2);
          memset (self->part_of + self->n_slices, 0, last + 2 - self->n_slices);
          self->n_slices = (guint) last + 1;
        }
      memset (self->part_of + first, (int) self->n_parts, last - first + 1);
    }
  return ++self->n_parts <= VN_MOST_PARTS;
}

/**
 * vn_parts_new:
 *
 * Returns: (transfer full): an empty one, to be filled before anybody else sees it
 */
VnParts *
vn_parts_new (void)
{
  VnParts *self = g_new (VnParts, 1);

  g_atomic_ref_count_init (&self->ref);
  self->by_value = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) vn_partition_free);
  return self;
}

VnParts *
vn_parts_ref (VnParts *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  g_atomic_ref_count_inc (&self->ref);
  return self;
}

void
vn_parts_unref (VnParts *self)
{
  if (!g_atomic_ref_count_dec (&self->ref))
    return;
  g_hash_table_unref (self->by_value);
  g_free (self);
}

/**
 * vn_parts_take:
 * @partition: (transfer full): of @value
 */
void
vn_parts_take (VnParts     *self,
               const char  *value,
               VnPartition *partition)
{
  g_return_if_fail (self != NULL && value != NULL && partition != NULL);

  g_hash_table_replace (self->by_value, g_strdup (value), partition);
}

/**
 * vn_parts_get:
 * @self: (nullable): nobody has looked for parts
 *
 * Returns: (transfer none) (nullable): how @value is divided; %NULL: it is not
 */
const VnPartition *
vn_parts_get (VnParts    *self,
              const char *value)
{
  g_return_val_if_fail (value != NULL, NULL);

  return self != NULL ? g_hash_table_lookup (self->by_value, value) : NULL;
}

guint
vn_parts_get_n (VnParts *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return g_hash_table_size (self->by_value);
}

/**
 * vn_error_part_copy:
 *
 * Returns: (transfer full): a part of its own
 */
VnErrorPart *
vn_error_part_copy (const VnErrorPart *self)
{
  VnErrorPart *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  copy->slices = g_strdup (self->slices);
  return copy;
}

void
vn_error_part_free (VnErrorPart *self)
{
  g_free (self->slices);
  g_free (self);
}

/**
 * vn_error_part_dup_title:
 *
 * Returns: (transfer full): “channels 4–21 (up to 0.9)”
 */
char *
vn_error_part_dup_title (const VnErrorPart *self)
{
  g_autofree char *size = NULL;
  g_autoptr(GString) slices = NULL;

  g_return_val_if_fail (self != NULL, NULL);

  size = vn_format_number (self->size, 2);
  slices = g_string_new (self->slices);
  g_string_replace (slices, "-", "–", 0);
  if (strpbrk (self->slices, ",-") == NULL)
    return self->axis == 1 ? g_strdup_printf (_("channel %s (up to %s)"), slices->str, size)
                           : g_strdup_printf (_("slice %s of axis %u (up to %s)"), slices->str, self->axis, size);
  if (self->axis == 1)
    return g_strdup_printf (_("channels %s (up to %s)"), slices->str, size);
  return g_strdup_printf (_("slices %s of axis %u (up to %s)"), slices->str, self->axis, size);
}
