/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of those who read a value. Most values have one reader, which needs no memory of its own; a few have as many as
 * there are nodes, and lose them one by one, from the front for the most part. */
#include "vn-graph-private.h"

#include <string.h>

#define FIRST_ROOM 4

static VnUse *
uses_get_memory (const VnUses *self)
{
  return self->data - self->gone;
}

/**
 * vn_uses_init:
 *
 * Makes it empty; it stays where it is in memory from now on.
 */
void
vn_uses_init (VnUses *self)
{
  *self = (VnUses) { .data = &self->one, .room = 1 };
}

void
vn_uses_clear (VnUses *self)
{
  if (self->data != &self->one)
    g_free (uses_get_memory (self));
  vn_uses_init (self);
}

/* Room for one more; what was left free at the front is taken before there is more memory. */
static void
uses_grow (VnUses *self)
{
  VnUse *memory;

  if (self->data == &self->one)
    {
      self->data = g_new (VnUse, FIRST_ROOM);
      self->data[0] = self->one;
      self->room = FIRST_ROOM;
      return;
    }
  memory = uses_get_memory (self);
  memmove (memory, self->data, self->len * sizeof *memory);
  self->room += self->gone;
  if (self->gone <= self->len)
    {
      self->room = MAX (2 * self->len, FIRST_ROOM);
      memory = g_renew (VnUse, memory, self->room);
    }
  self->data = memory;
  self->gone = 0;
}

/**
 * vn_uses_add:
 *
 * Adds a use at the end.
 */
void
vn_uses_add (VnUses      *self,
             const VnUse *use)
{
  const VnUse added = *use;

  if (self->len == self->room)
    uses_grow (self);
  self->data[self->len++] = added;
}

/* The shorter part of the list moves. */
static void
uses_remove_at (VnUses *self,
                guint   i)
{
  if (i < self->len / 2)
    {
      memmove (self->data + 1, self->data, i * sizeof *self->data);
      self->data++;
      self->gone++;
      self->room--;
    }
  else
    memmove (self->data + i, self->data + i + 1, (self->len - i - 1) * sizeof *self->data);
  self->len--;
}

/**
 * vn_uses_remove:
 *
 * Removes the use that is input @index of @node, if there is one; the others keep their order. It is looked for from both ends.
 */
void
vn_uses_remove (VnUses       *self,
                const VnNode *node,
                guint         index)
{
  for (guint k = 0; k < self->len; k++)
    {
      const guint i = k % 2 == 0 ? k / 2 : self->len - 1 - k / 2;

      if (self->data[i].node == node && self->data[i].index == index)
        {
          uses_remove_at (self, i);
          return;
        }
    }
}

/**
 * vn_uses_copy:
 *
 * Returns: (transfer full) (element-type VnUse): the uses as they are now, for who changes them
 */
GArray *
vn_uses_copy (const VnUses *self)
{
  GArray *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_array_sized_new (FALSE, FALSE, sizeof (VnUse), self->len);
  g_array_append_vals (copy, self->data, self->len);
  return copy;
}
