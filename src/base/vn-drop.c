/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives up what is large without waiting until its memory is freed. */
#include "vn-drop.h"

#include "vn-memory.h"

typedef struct
{
  gpointer       data;
  GDestroyNotify unref;
  gboolean       gives_back;
} Drop;

static gpointer
drop_run (gpointer data)
{
  Drop *self = data;

  if (self->data != NULL)
    self->unref (self->data);
  if (self->gives_back)
    vn_memory_give_back ();
  g_free (self);
  return NULL;
}

static void
drop_start (gpointer       data,
            GDestroyNotify unref,
            gboolean       gives_back)
{
  Drop *self = g_new (Drop, 1);
  GThread *thread;

  *self = (Drop) { data, unref, gives_back };
  thread = g_thread_try_new ("vernier-drop", drop_run, self, NULL);
  if (thread != NULL)
    g_thread_unref (thread);
  else
    drop_run (self);
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
  g_return_if_fail (unref != NULL);

  if (data != NULL)
    drop_start (data, unref, FALSE);
}

/**
 * vn_drop_large:
 * @data: (transfer full) (nullable): as of vn_drop()
 * @unref: drops a reference
 *
 * As vn_drop(), and gives the memory back to the system.
 */
void
vn_drop_large (gpointer       data,
               GDestroyNotify unref)
{
  g_return_if_fail (unref != NULL);

  if (data != NULL)
    drop_start (data, unref, TRUE);
}

/**
 * vn_drop_memory:
 *
 * Gives memory that was freed back to the system, on a thread of its own: to be called when long work is over.
 */
void
vn_drop_memory (void)
{
  drop_start (NULL, NULL, TRUE);
}
