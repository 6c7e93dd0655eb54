/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that wait for each other: complete on the disk, they get their names when all are, or vanish with what was made for
 * them. */
#include "vn-file-hold.h"

#include "vn-i18n.h"

#include <errno.h>
#include <glib/gstdio.h>

/* What waits keeps a file open. */
#define MOST_WAITING 256

typedef struct
{
  gpointer         data;
  VnFilePlaceFunc  place;
  GDestroyNotify   drop;
} Waiting;

static struct
{
  GMutex     lock;
  gboolean   active;
  GPtrArray *waiting;   /* of Waiting */
  GPtrArray *made;      /* of char: files and folders that were not there, in the order they are made */
} hold;

static void
file_hold_free_waiting (gpointer data)
{
  Waiting *self = data;

  self->drop (self->data);
  g_free (self);
}

/**
 * vn_file_hold:
 * @active: whether files wait from now on
 *
 * A file that is committed while this is on is complete on the disk, but gets its name only by vn_file_hold_end(), together with
 * all others: the results of one command. Devices and pipes do not wait.
 */
void
vn_file_hold (gboolean active)
{
  g_mutex_lock (&hold.lock);
  if (hold.waiting == NULL)
    {
      hold.waiting = g_ptr_array_new_with_free_func (file_hold_free_waiting);
      hold.made = g_ptr_array_new_with_free_func (g_free);
    }
  hold.active = active;
  g_mutex_unlock (&hold.lock);
}

/**
 * vn_file_hold_is_active:
 *
 * Returns: what vn_file_hold() was told last
 */
gboolean
vn_file_hold_is_active (void)
{
  gboolean active;

  g_mutex_lock (&hold.lock);
  active = hold.active;
  g_mutex_unlock (&hold.lock);
  return active;
}

/**
 * vn_file_hold_note:
 * @path: of a file or folder that is about to be made at once
 *
 * If files wait, and nothing is there, it is removed where they are not kept.
 */
void
vn_file_hold_note (const char *path)
{
  g_return_if_fail (path != NULL);

  g_mutex_lock (&hold.lock);
  if (hold.active && !g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    g_ptr_array_add (hold.made, g_canonicalize_filename (path, NULL));
  g_mutex_unlock (&hold.lock);
}

/**
 * vn_file_hold_has_room:
 * @path: of a file that is complete
 *
 * Returns: whether it has to wait: vn_file_hold_add(). Where too many do already it is noted as one that is made at once.
 */
gboolean
vn_file_hold_has_room (const char *path)
{
  gboolean room;

  g_return_val_if_fail (path != NULL, FALSE);

  g_mutex_lock (&hold.lock);
  room = hold.active && hold.waiting->len < MOST_WAITING;
  g_mutex_unlock (&hold.lock);
  if (!room)
    vn_file_hold_note (path);
  return room;
}

/**
 * vn_file_hold_add:
 * @data: (transfer full): a file that waits
 * @place: gives it its name
 * @drop: frees @data, and the file if it has no name yet
 */
void
vn_file_hold_add (gpointer         data,
                  VnFilePlaceFunc  place,
                  GDestroyNotify   drop)
{
  Waiting *waiting = g_new (Waiting, 1);

  g_return_if_fail (place != NULL && drop != NULL);

  *waiting = (Waiting) { data, place, drop };
  g_mutex_lock (&hold.lock);
  g_ptr_array_add (hold.waiting, waiting);
  g_mutex_unlock (&hold.lock);
}

/**
 * vn_file_hold_end:
 * @keep: the command has done all it was asked for
 *
 * Gives the files that wait their names, in the order they came in; or drops them, and removes what was made for them.
 *
 * Returns: %FALSE if one could not be put in place; those in front of it then are
 */
gboolean
vn_file_hold_end (gboolean   keep,
                  GError   **error)
{
  gboolean done = TRUE;

  vn_file_hold (FALSE);
  for (guint i = 0; keep && done && i < hold.waiting->len; i++)
    {
      const Waiting *waiting = g_ptr_array_index (hold.waiting, i);

      done = waiting->place (waiting->data, error);
    }
  g_ptr_array_set_size (hold.waiting, 0);
  for (guint i = hold.made->len; (!keep || !done) && i > 0; i--)
    g_remove (g_ptr_array_index (hold.made, i - 1));
  g_ptr_array_set_size (hold.made, 0);
  return done;
}

/**
 * vn_file_make_folder:
 * @path: may be there already
 *
 * Makes a folder and those above it; if files wait they are noted.
 *
 * Returns: %FALSE with %G_FILE_ERROR if that is not possible
 */
gboolean
vn_file_make_folder (const char  *path,
                     GError     **error)
{
  g_autoptr(GPtrArray) missing = NULL;
  char *at;
  int code;

  g_return_val_if_fail (path != NULL, FALSE);

  missing = g_ptr_array_new_with_free_func (g_free);
  for (at = g_canonicalize_filename (path, NULL); !g_file_test (at, G_FILE_TEST_EXISTS); at = g_path_get_dirname (at))
    g_ptr_array_add (missing, at);
  g_free (at);
  for (guint i = missing->len; i > 0; i--)
    vn_file_hold_note (g_ptr_array_index (missing, i - 1));
  if (g_mkdir_with_parents (path, 0777) == 0)
    return TRUE;
  code = errno;
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), _("Cannot create the folder “%s”: %s"), path,
               g_strerror (code));
  return FALSE;
}
