/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Locks on folders, for files in them that several processes read, change and replace. */
#include "vn-file-lock.h"

#include "vn-file.h"
#include "vn-i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define WAIT_MSEC 20

struct _VnFileLock
{
  GArray *folders;    /* of int: descriptors */
};

static int
file_lock_compare (gconstpointer a,
                   gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/* Each once, and in the same order for everybody: two who want the same two do not wait for each other. */
static GPtrArray *
file_lock_list_folders (const char * const *paths)
{
  GPtrArray *folders = g_ptr_array_new_with_free_func (free);

  for (; *paths != NULL; paths++)
    {
      g_autofree char *file = vn_file_follow_links (*paths), *folder = g_path_get_dirname (file);
      char *real = realpath (folder, NULL);

      if (real != NULL && !g_ptr_array_find_with_equal_func (folders, real, g_str_equal, NULL))
        g_ptr_array_add (folders, real);
      else
        free (real);
    }
  g_ptr_array_sort (folders, file_lock_compare);
  return folders;
}

static gboolean
file_lock_wait (VnFileLock  *self,
                const char  *folder,
                gint64       deadline,
                GError     **error)
{
  const int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

  if (fd < 0)      /* who cannot look into it cannot write there, either */
    return TRUE;
  g_array_append_val (self->folders, fd);
  while (flock (fd, LOCK_EX | LOCK_NB) != 0)
    {
      if (errno != EWOULDBLOCK && errno != EINTR)   /* no locks there, as on some file systems of a network */
        return TRUE;
      if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error))
        return FALSE;
      if (g_get_monotonic_time () >= deadline)
        {
          g_autofree char *shown = g_filename_display_name (folder);

          g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
                       _("Another program has been writing in “%s” all the time; try again"), shown);
          return FALSE;
        }
      g_usleep (WAIT_MSEC * 1000);
    }
  return TRUE;
}

/**
 * vn_file_lock_new:
 * @paths: (array zero-terminated=1): files that will be read, and then replaced
 * @seconds: how long to wait for others
 *
 * Waits until nobody else has a lock on a folder that @paths are in; the thread's current cancellable ends that. Where the file
 * system knows no locks, or there is no folder, there is nothing to wait for. Not to be called by who has one already.
 *
 * Returns: (transfer full) (nullable): the right; %NULL with %G_FILE_ERROR_AGAIN after @seconds, or %G_IO_ERROR_CANCELLED
 */
VnFileLock *
vn_file_lock_new (const char * const  *paths,
                  guint                seconds,
                  GError             **error)
{
  const gint64 deadline = g_get_monotonic_time () + (gint64) seconds * G_USEC_PER_SEC;
  g_autoptr(VnFileLock) self = NULL;
  g_autoptr(GPtrArray) folders = NULL;

  g_return_val_if_fail (paths != NULL, NULL);

  self = g_new0 (VnFileLock, 1);
  self->folders = g_array_new (FALSE, FALSE, sizeof (int));
  folders = file_lock_list_folders (paths);
  for (guint i = 0; i < folders->len; i++)
    if (!file_lock_wait (self, g_ptr_array_index (folders, i), deadline, error))
      return NULL;
  return g_steal_pointer (&self);
}

/**
 * vn_file_lock_free:
 * @self: (nullable) (transfer full): what was written must be in its place
 */
void
vn_file_lock_free (VnFileLock *self)
{
  if (self == NULL)
    return;
  for (guint i = 0; i < self->folders->len; i++)
    close (g_array_index (self->folders, int, i));
  g_array_unref (self->folders);
  g_free (self);
}
