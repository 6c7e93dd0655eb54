/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files appear whole or not at all. Pages that are released come back as they were, and only those of mapped files are
 * released. */
#include "vn-file.h"
#include "vn-file-lock.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_PAGES 16

static gsize
page_size (void)
{
  return (gsize) sysconf (_SC_PAGESIZE);
}

static guint
n_present (const char *data)
{
  unsigned char present[N_PAGES];
  guint n = 0;

  g_assert_cmpint (mincore ((gpointer) data, N_PAGES * page_size (), present), ==, 0);
  for (guint i = 0; i < N_PAGES; i++)
    n += present[i] & 1;
  return n;
}

static gsize
resident_bytes (void)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) || (line = strstr (text, "RssFile:")) == NULL)
    return 0;
  return (gsize) g_ascii_strtoull (line + strlen ("RssFile:"), NULL, 10) * 1024;
}

static void
test_release (void)
{
  gsize size = 4096 * page_size (), before, after;
  g_autofree char *content = g_malloc (size);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vernier-file-XXXXXX", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = NULL;
  const char *data;
  int fd = g_mkstemp (path);

  for (gsize i = 0; i < size; i++)
    content[i] = (char) (i * 7 + i / 4096);
  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (vn_file_write_all (path, content, size, &error));
  bytes = vn_file_map (path, &error);
  g_assert_no_error (error);
  g_unlink (path);
  data = g_bytes_get_data (bytes, NULL);
  g_assert_cmpmem (data, g_bytes_get_size (bytes), content, size);

  before = resident_bytes ();
  vn_file_release_pages (data + 1, size - 2);
  after = resident_bytes ();
  g_test_message ("%" G_GSIZE_FORMAT " bytes of files before, %" G_GSIZE_FORMAT " after", before, after);
  if (before > 0)
    g_assert_cmpuint (after + size / 2, <, before);
  g_assert_cmpmem (data, g_bytes_get_size (bytes), content, size);
}

/* Releasing memory that is no file would clear it. */
static void
test_other_memory (void)
{
  gsize size = N_PAGES * page_size ();
  char *memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  g_assert_true (memory != MAP_FAILED);
  memset (memory, 5, size);
  vn_file_release_pages (memory, size);
  g_assert_cmpuint (n_present (memory), ==, N_PAGES);
  for (gsize i = 0; i < size; i++)
    g_assert_cmpint (memory[i], ==, 5);
  vn_file_release_pages (NULL, 0);
  munmap (memory, size);
}

/* ---- writing ---- */

typedef struct
{
  char *folder, *file, *link;
} Place;

static void
place_setup (Place         *self,
             gconstpointer  data)
{
  self->folder = g_dir_make_tmp ("vernier-file-XXXXXX", NULL);
  self->file = g_build_filename (self->folder, "file", NULL);
  self->link = g_build_filename (self->folder, "link", NULL);
}

static void
place_teardown (Place         *self,
                gconstpointer  data)
{
  g_unlink (self->file);
  g_unlink (self->link);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->file);
  g_free (self->link);
}

static guint
count_files (Place *self)
{
  g_autoptr(GDir) dir = g_dir_open (self->folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
check_content (Place      *self,
               const char *expected)
{
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (self->file, &text, NULL, NULL));
  g_assert_cmpstr (text, ==, expected);
}

static void
write_text (const char *path,
            const char *text)
{
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_file_write_all (path, text, strlen (text), &error));
  g_assert_no_error (error);
}

static void
test_replace (Place         *self,
              gconstpointer  data)
{
  struct stat info;

  write_text (self->file, "old and long");
  check_content (self, "old and long");
  g_assert_cmpint (g_chmod (self->file, 0604), ==, 0);
  g_assert_cmpint (symlink ("file", self->link), ==, 0);
  write_text (self->link, "new");
  check_content (self, "new");
  g_assert_true (g_file_test (self->link, G_FILE_TEST_IS_SYMLINK));
  g_assert_cmpint (stat (self->file, &info), ==, 0);
  g_assert_cmpint (info.st_mode & 07777, ==, 0604);
  g_assert_cmpuint (count_files (self), ==, 2);
}

/* What was allowed to run as somebody else was another content. */
static void
test_setuid (Place         *self,
             gconstpointer  data)
{
  static const mode_t modes[] = { 04755, 02775, 06711, 01777, 0755 };
  struct stat info;

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      write_text (self->file, "old");
      g_assert_cmpint (g_chmod (self->file, modes[i]), ==, 0);
      write_text (self->file, "new");
      g_assert_cmpint (stat (self->file, &info), ==, 0);
      g_assert_cmpint (info.st_mode & 07777, ==, modes[i] & 0777);
    }
}

static gpointer
cancel_soon (gpointer data)
{
  g_usleep (20000);
  g_cancellable_cancel (data);
  return NULL;
}

static gpointer
read_soon (gpointer data)
{
  char *text = NULL;

  g_usleep (20000);
  g_assert_true (g_file_get_contents (data, &text, NULL, NULL));
  return text;
}

/* A pipe that nobody reads from, or no longer, does not keep us; one that somebody does gets all. */
static void
test_pipe (Place         *self,
           gconstpointer  data)
{
  const gsize size = 300000;
  g_autofree char *large = g_strnfill (size, 'x'), *text = NULL;

  g_assert_cmpint (mkfifo (self->file, 0600), ==, 0);
  for (guint has_reader = 0; has_reader < 2; has_reader++)
    {
      g_autoptr(GCancellable) cancellable = g_cancellable_new ();
      g_autoptr(GError) error = NULL;
      int fd = has_reader ? g_open (self->file, O_RDONLY | O_NONBLOCK, 0) : -1;
      GThread *thread = g_thread_new ("cancel", cancel_soon, cancellable);

      g_cancellable_push_current (cancellable);
      g_assert_false (vn_file_write_all (self->file, large, size, &error));
      g_cancellable_pop_current (cancellable);
      g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
      g_thread_join (thread);
      if (fd >= 0)
        close (fd);
    }
  {
    GThread *thread = g_thread_new ("read", read_soon, self->file);

    write_text (self->file, large);
    text = g_thread_join (thread);
    g_assert_cmpstr (text, ==, large);
  }
}

/* Others wait, for a while; files in one folder need one lock. */
static void
test_lock (Place         *self,
           gconstpointer  data)
{
  const char *paths[] = { self->link, self->file, NULL };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnFileLock) first = vn_file_lock_new (paths, 0, &error), second = NULL;
  const char *nowhere[] = { "/no/such/folder/file", NULL };
  g_autoptr(VnFileLock) none = vn_file_lock_new (nowhere, 0, &error);

  g_assert_no_error (error);
  g_assert_nonnull (first);
  g_assert_nonnull (none);
  g_assert_null (vn_file_lock_new (paths + 1, 0, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_AGAIN);
  g_clear_error (&error);
  g_cancellable_cancel (cancellable);
  g_cancellable_push_current (cancellable);
  g_assert_null (vn_file_lock_new (paths + 1, 1000, &error));
  g_cancellable_pop_current (cancellable);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_clear_error (&error);
  g_clear_pointer (&first, vn_file_lock_free);
  second = vn_file_lock_new (paths + 1, 0, &error);
  g_assert_no_error (error);
}

static void
test_unfinished (Place         *self,
                 gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnFileWriter) writer = NULL;

  write_text (self->file, "old");
  writer = vn_file_writer_new (self->file, &error);
  g_assert_no_error (error);
  g_assert_true (vn_file_writer_write (writer, "new", 3, &error));
  g_clear_pointer (&writer, vn_file_writer_free);
  check_content (self, "old");
  g_assert_cmpuint (count_files (self), ==, 1);
}

static gboolean
has_nameless_files (const char *folder)
{
#ifdef O_TMPFILE
  int fd = g_open (folder, O_TMPFILE | O_RDWR, 0600);

  if (fd >= 0)
    close (fd);
  return fd >= 0;
#else
  return FALSE;
#endif
}

static void
test_killed (Place         *self,
             gconstpointer  data)
{
  pid_t child;
  int status;

  if (!has_nameless_files (self->folder))
    {
      g_test_skip ("the file system has no files without names");
      return;
    }
  write_text (self->file, "old");
  child = fork ();
  if (child == 0)
    {
      VnFileWriter *writer = vn_file_writer_new (self->file, NULL);

      if (writer != NULL && vn_file_writer_write (writer, "new", 3, NULL))
        raise (SIGKILL);
      _exit (1);
    }
  g_assert_cmpint (waitpid (child, &status, 0), ==, child);
  g_assert_true (WIFSIGNALED (status));
  check_content (self, "old");
  g_assert_cmpuint (count_files (self), ==, 1);
}

static void
test_empty (Place         *self,
            gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = NULL;

  write_text (self->file, "");
  bytes = vn_file_map (self->file, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, 0);
  g_assert_nonnull (g_bytes_get_data (bytes, NULL));
}

static void
test_nowhere (Place         *self,
              gconstpointer  data)
{
  g_autofree char *inside = g_build_filename (self->file, "x", NULL);
  const char *paths[] = { self->folder, inside, "/nowhere/at/all/x" };

  write_text (self->file, "old");
  for (guint i = 0; i < G_N_ELEMENTS (paths); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_false (vn_file_write_all (paths[i], "new", 3, &error));
      g_assert_nonnull (error);
      g_assert_nonnull (strstr (error->message, paths[i]));
    }
  check_content (self, "old");
  g_assert_cmpuint (count_files (self), ==, 1);
}

#define PLACE_TEST(name, func) g_test_add (name, Place, NULL, place_setup, func, place_teardown)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/file/release", test_release);
  g_test_add_func ("/base/file/other-memory", test_other_memory);
  PLACE_TEST ("/base/file/replace", test_replace);
  PLACE_TEST ("/base/file/setuid", test_setuid);
  PLACE_TEST ("/base/file/pipe", test_pipe);
  PLACE_TEST ("/base/file/lock", test_lock);
  PLACE_TEST ("/base/file/unfinished", test_unfinished);
  PLACE_TEST ("/base/file/killed", test_killed);
  PLACE_TEST ("/base/file/empty", test_empty);
  PLACE_TEST ("/base/file/nowhere", test_nowhere);
  return g_test_run ();
}
