/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files: written so that they appear whole or not at all; how they are named. */
#include "vn-file.h"

#include "vn-file-hold.h"
#include "vn-i18n.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40
#define MAX_TRIES 100
#define WAIT_MSEC 50      /* between looks whether a pipe has a reader, or somebody has cancelled */
#define ESCAPED "file:"   /* in front of a name that is not UTF-8, or begins so itself */

struct _VnFileWriter
{
  char    *path;
  char    *temporary;   /* nullable: name of an unfinished file to remove */
  gboolean is_stream;   /* a device or pipe */
  int      fd;
};

/**
 * vn_file_fail:
 * @what: what cannot be done, translated: “Cannot write”
 * @code: of errno
 */
void
vn_file_fail (GError     **error,
              const char  *what,
              const char  *path,
              int          code)
{
  g_autofree char *shown = NULL;

  g_return_if_fail (what != NULL && path != NULL);

  shown = g_filename_display_name (path);
  g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (code), "%s “%s”: %s", what, shown, g_strerror (code));
}

/* A device or a pipe is written to, never replaced. */
static gboolean
file_is_stream (const char *path)
{
  struct stat info;

  return stat (path, &info) == 0 && (S_ISCHR (info.st_mode) || S_ISFIFO (info.st_mode) || S_ISSOCK (info.st_mode));
}

/**
 * vn_file_follow_links:
 *
 * A link stays a link when it is written to: the file it leads to is the one to replace, even if there is none yet.
 *
 * Returns: (transfer full): the path of that file
 */
char *
vn_file_follow_links (const char *path)
{
  char *at;

  g_return_val_if_fail (path != NULL, NULL);

  at = g_strdup (path);
  for (guint i = 0; i < MAX_LINKS && !file_is_stream (at); i++)
    {
      g_autofree char *target = g_file_read_link (at, NULL);
      g_autofree char *folder = NULL;

      if (target == NULL)
        return at;
      folder = g_path_get_dirname (at);
      g_free (at);
      at = g_path_is_absolute (target) ? g_steal_pointer (&target) : g_build_filename (folder, target, NULL);
    }
  return at;
}

/* But for setuid and its kin: they were given to what was in there. */
static void
file_keep_permissions (int         fd,
                       const char *path)
{
  struct stat old;

  if (stat (path, &old) == 0 && S_ISREG (old.st_mode) && fchmod (fd, old.st_mode & 0777) != 0)
    g_debug ("%s keeps default permissions", path);
}

/* An unfinished file without a name vanishes with the process that writes it, however that ends. */
static int
file_open_nameless (const char *path)
{
#ifdef O_TMPFILE
  g_autofree char *folder = g_path_get_dirname (path);

  return g_open (folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
#else
  return -1;
#endif
}

/* Where the file system has no files without names. */
static gboolean
file_open_named (VnFileWriter *self)
{
  self->temporary = g_strdup_printf ("%s.XXXXXX", self->path);
  self->fd = g_mkstemp_full (self->temporary, O_RDWR | O_CLOEXEC, 0666);
  if (self->fd < 0)
    g_clear_pointer (&self->temporary, g_free);
  return self->fd >= 0;
}

static gboolean
file_is_cancelled (void)
{
  if (!g_cancellable_is_cancelled (g_cancellable_get_current ()))
    return FALSE;
  errno = ECANCELED;
  return TRUE;
}

/* A pipe may have no reader yet, and one that reads slowly: neither may keep us from being cancelled. */
static gboolean
file_open_stream (VnFileWriter *self)
{
  struct stat info;
  const gboolean is_pipe = stat (self->path, &info) == 0 && S_ISFIFO (info.st_mode);

  while (!file_is_cancelled ())
    {
      self->fd = g_open (self->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
      if (self->fd >= 0 || !is_pipe || (errno != ENXIO && errno != EINTR))
        return self->fd >= 0;
      g_usleep (WAIT_MSEC * 1000);
    }
  return FALSE;
}

static gboolean
file_open_output (VnFileWriter *self)
{
  if (self->is_stream)
    return file_open_stream (self);
  if (g_file_test (self->path, G_FILE_TEST_IS_DIR))
    {
      errno = EISDIR;
      return FALSE;
    }
  self->fd = file_open_nameless (self->path);
  if (self->fd < 0 && !file_open_named (self))
    return FALSE;
  file_keep_permissions (self->fd, self->path);
  return TRUE;
}

static void
file_fail_write (const char  *path,
                 int          code,
                 GError     **error)
{
  if (code == ECANCELED)
    g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error);
  else
    vn_file_fail (error, _("Cannot write"), path, code);
}

/**
 * vn_file_writer_new:
 * @path: where the file shall appear. If it is a link, the file it leads to is replaced; a device or pipe is written
 *   to as it is.
 *
 * A pipe is waited for until somebody reads from it, or the thread's current cancellable (g_cancellable_push_current()) ends
 * that.
 *
 * Returns: (transfer full) (nullable): a writer, or %NULL if no file can be
 *   made in that folder
 */
VnFileWriter *
vn_file_writer_new (const char  *path,
                    GError     **error)
{
  g_autoptr(VnFileWriter) self = g_new0 (VnFileWriter, 1);

  g_return_val_if_fail (path != NULL, NULL);

  self->fd = -1;
  self->path = vn_file_follow_links (path);
  self->is_stream = file_is_stream (self->path);
  if (file_open_output (self))
    return g_steal_pointer (&self);
  file_fail_write (path, errno, error);
  return NULL;
}

/**
 * vn_file_check_target:
 * @path: a file that shall be written at the end of long work
 *
 * Returns: %FALSE if it is already clear that it cannot be written
 */
gboolean
vn_file_check_target (const char  *path,
                      GError     **error)
{
  g_autofree char *target = NULL;
  g_autofree char *folder = NULL;
  int code = 0;

  g_return_val_if_fail (path != NULL, FALSE);

  target = vn_file_follow_links (path);
  folder = g_path_get_dirname (target);
  if (g_file_test (target, G_FILE_TEST_IS_DIR) || g_str_has_suffix (target, "/"))
    code = EISDIR;
  else if (g_file_test (folder, G_FILE_TEST_EXISTS) && !g_file_test (folder, G_FILE_TEST_IS_DIR))
    code = ENOTDIR;
  else if (g_access (file_is_stream (target) ? target : folder, W_OK) != 0)
    code = errno;
  if (code != 0)
    vn_file_fail (error, _("Cannot write"), path, code);
  return code == 0;
}

/* FALSE: cancelled. */
static gboolean
file_wait_writable (VnFileWriter *self)
{
  GPollFD one = { .fd = self->fd, .events = G_IO_OUT };

  while (!file_is_cancelled ())
    if (g_poll (&one, 1, WAIT_MSEC) > 0)
      return TRUE;
  return FALSE;
}

gboolean
vn_file_writer_write (VnFileWriter   *self,
                      gconstpointer   data,
                      gsize           size,
                      GError        **error)
{
  const char *at = data;

  g_return_val_if_fail (self != NULL, FALSE);

  while (size > 0)
    {
      ssize_t n = write (self->fd, at, MIN (size, (gsize) 1 << 30));

      if (n < 0 && (errno == EINTR || (errno == EAGAIN && file_wait_writable (self))))
        continue;
      if (n <= 0)
        {
          file_fail_write (self->path, n < 0 ? errno : ENOSPC, error);
          return FALSE;
        }
      at += n;
      size -= n;
    }
  return TRUE;
}

/* Gives a file without a name its own, or if that is taken one beside it, which is renamed at once. */
static gboolean
file_link_nameless (VnFileWriter *self)
{
  g_autofree char *source = g_strdup_printf ("/proc/self/fd/%d", self->fd);

  if (linkat (AT_FDCWD, source, AT_FDCWD, self->path, AT_SYMLINK_FOLLOW) == 0)
    return TRUE;
  for (guint i = 0; errno == EEXIST && i < MAX_TRIES; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s.%06x", self->path, g_random_int () & 0xffffff);

      if (linkat (AT_FDCWD, source, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0)
        continue;
      self->temporary = g_steal_pointer (&name);
      return TRUE;
    }
  return FALSE;
}

/* Where such a file cannot be given a name after all. */
static gboolean
file_copy_nameless (VnFileWriter *self)
{
  int from = self->fd;
  off_t at = 0;
  ssize_t n = 0;

  if (!file_open_named (self))
    {
      self->fd = from;
      return FALSE;
    }
  file_keep_permissions (self->fd, self->path);
  do
    n = sendfile (self->fd, from, &at, 1 << 30);
  while (n > 0 || (n < 0 && errno == EINTR));
  close (from);
  return n == 0 && fsync (self->fd) == 0;
}

static gboolean
file_put_in_place (VnFileWriter *self)
{
  int fd;

  if (self->is_stream)
    {
      fd = self->fd;
      self->fd = -1;
      return close (fd) == 0;
    }
  if (fsync (self->fd) != 0)
    return FALSE;
  if (self->temporary == NULL && !file_link_nameless (self) && !file_copy_nameless (self))
    return FALSE;
  fd = self->fd;
  self->fd = -1;
  if (close (fd) != 0)
    return FALSE;
  if (self->temporary != NULL && g_rename (self->temporary, self->path) != 0)
    return FALSE;
  g_clear_pointer (&self->temporary, g_free);
  return TRUE;
}

static gboolean
file_place (gpointer   data,
            GError   **error)
{
  VnFileWriter *self = data;

  if (file_put_in_place (self))
    return TRUE;
  vn_file_fail (error, _("Cannot write"), self->path, errno);
  return FALSE;
}

static void
file_drop (gpointer data)
{
  vn_file_writer_free (data);
}

/* Hands what the writer has to those that wait for their names. */
static gboolean
file_wait (VnFileWriter *self)
{
  VnFileWriter *waiting;

  if (self->is_stream || !vn_file_hold_has_room (self->path) || fsync (self->fd) != 0)
    return FALSE;
  waiting = g_memdup2 (self, sizeof *self);
  *self = (VnFileWriter) { .fd = -1 };
  vn_file_hold_add (waiting, file_place, file_drop);
  return TRUE;
}

/**
 * vn_file_writer_commit:
 *
 * Brings the data to the disk and the file to its name, or where files wait for each other only to the disk: vn_file_hold().
 *
 * Returns: %FALSE if that failed; an older file of that name is then untouched
 */
gboolean
vn_file_writer_commit (VnFileWriter  *self,
                       GError       **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return file_wait (self) || file_place (self, error);
}

void
vn_file_writer_free (VnFileWriter *self)
{
  if (self->fd >= 0)
    close (self->fd);
  if (self->temporary != NULL)
    g_unlink (self->temporary);
  g_free (self->temporary);
  g_free (self->path);
  g_free (self);
}

gboolean
vn_file_write_all (const char     *path,
                   gconstpointer   data,
                   gsize           size,
                   GError        **error)
{
  g_autoptr(VnFileWriter) writer = NULL;

  g_return_val_if_fail (path != NULL, FALSE);

  writer = vn_file_writer_new (path, error);
  return writer != NULL &&
         vn_file_writer_write (writer, data, size, error) &&
         vn_file_writer_commit (writer, error);
}

/**
 * vn_file_dup_short:
 * @path: of a file or folder that another file in @folder names
 *
 * Returns: (transfer full): @path relative to @folder if it lies below, so that both can be moved together; absolute if not.
 *   Always valid UTF-8: other names begin with “file:” and have what is no letter or digit as %XX
 */
char *
vn_file_dup_short (const char *path,
                   const char *folder)
{
  g_autofree char *whole = NULL, *base = NULL, *escaped = NULL;
  const char *shortest;
  gsize n;

  g_return_val_if_fail (path != NULL && folder != NULL, NULL);

  whole = g_canonicalize_filename (path, NULL);
  base = g_canonicalize_filename (folder, NULL);
  n = strlen (base);
  shortest = g_str_has_prefix (whole, base) && whole[n] == '/' ? whole + n + 1 : whole;
  if (g_utf8_validate (shortest, -1, NULL) && !g_str_has_prefix (shortest, ESCAPED))
    return g_strdup (shortest);
  escaped = g_uri_escape_bytes ((const guint8 *) shortest, strlen (shortest), "/");
  return g_strconcat (ESCAPED, escaped, NULL);
}

/**
 * vn_file_dup_long:
 * @name: of vn_file_dup_short(), or written by somebody
 * @folder: of the file that names it
 *
 * Returns: (transfer full): the absolute path
 */
char *
vn_file_dup_long (const char *name,
                  const char *folder)
{
  g_autofree char *plain = NULL;

  g_return_val_if_fail (name != NULL && folder != NULL, NULL);

  if (g_str_has_prefix (name, ESCAPED))
    plain = g_uri_unescape_string (name + strlen (ESCAPED), NULL);
  return g_canonicalize_filename (plain != NULL ? plain : name, folder);
}

static char *standard_input;

/**
 * vn_file_set_standard_input:
 * @path: a file with what came on the standard input
 */
void
vn_file_set_standard_input (const char *path)
{
  g_return_if_fail (path != NULL);

  g_free (standard_input);
  standard_input = g_strdup (path);
}

/**
 * vn_file_is_standard_input:
 * @path: (nullable)
 *
 * Returns: whether the command line calls the file “-”
 */
gboolean
vn_file_is_standard_input (const char *path)
{
  return standard_input != NULL && g_strcmp0 (path, standard_input) == 0;
}
