/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives up what is large without waiting until its memory is freed. */
#include "vn-drop.h"

typedef struct
{
  gpointer       data;
  GDestroyNotify unref;
} Drop;

static gpointer
drop_run (gpointer data)
{
  Drop *self = data;

  self->unref (self->data);
  g_free (self);
  return NULL;
}

/**
 * vn_drop:
 * @data: (transfer full) (nullable): counts its references in a way that threads may share
 * @unref: drops one of them
 *
 * Drops a reference on a thread of its own: models and results of many nodes take longer to free than the main loop may be kept.
 */
void
vn_drop (gpointer       data,
         GDestroyNotify unref)
{
  Drop *self;

  g_return_if_fail (unref != NULL);

  if (data == NULL)
    return;
  self = g_new (Drop, 1);
  *self = (Drop) { data, unref };
  g_thread_unref (g_thread_new ("vernier-drop", drop_run, self));
}
