/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that change while they are mapped: what is gone reads as zeros and is told, and no other fault is taken for that. */
#include "vn-file.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#define N_PAGES 64
#define N_THREADS 8

typedef struct
{
  char   *folder, *path, *other;
  char   *content;
  gsize   page, size;
  GBytes *bytes;
} Place;

static void
write_file (const char *path,
            const char *content,
            gsize       size)
{
  int fd = g_open (path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, content, size), ==, (gssize) size);
  close (fd);
}

static void
set_up (Place         *self,
        gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  self->folder = g_dir_make_tmp ("vernier-map-XXXXXX", NULL);
  self->path = g_build_filename (self->folder, "file", NULL);
  self->other = g_build_filename (self->folder, "other", NULL);
  self->page = (gsize) sysconf (_SC_PAGESIZE);
  self->size = N_PAGES * self->page - 100;
  self->content = g_malloc (self->size);
  memset (self->content, 'x', self->size);
  write_file (self->path, self->content, self->size);
  self->bytes = vn_file_map (self->path, &error);
  g_assert_no_error (error);
  vn_file_watch_map (self->bytes);
}

static void
tear_down (Place         *self,
           gconstpointer  data)
{
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_unlink (self->path);
  g_unlink (self->other);
  g_assert_cmpint (g_rmdir (self->folder), ==, 0);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->other);
  g_free (self->content);
}

static void
assert_refused (Place *self)
{
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_file_check_map (self->bytes, FALSE, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
  g_test_message ("%s", error->message);
  g_assert_nonnull (strstr (error->message, self->path));
  g_assert_nonnull (strstr (error->message, "changed while it was being read"));
  g_assert_false (vn_file_is_current (self->bytes));
}

/* ---- cut off ---- */

static gpointer
sum_up (gpointer data)
{
  Place *self = data;
  const char *at = g_bytes_get_data (self->bytes, NULL);
  gsize n = 0;

  for (gsize i = 0; i < self->size; i++)
    n += at[i] == 'x';
  return GSIZE_TO_POINTER (n);
}

static void
test_cut_off (Place         *self,
              gconstpointer  data)
{
  guint mark = vn_file_mark_lost ();
  g_autoptr(GError) error = NULL;
  GThread *threads[N_THREADS];

  g_assert_cmpint (truncate (self->path, (off_t) (3 * self->page + 7)), ==, 0);
  for (guint i = 0; i < N_THREADS; i++)
    threads[i] = g_thread_new (NULL, sum_up, self);
  for (guint i = 0; i < N_THREADS; i++)
    g_assert_cmpuint (GPOINTER_TO_SIZE (g_thread_join (threads[i])), ==, 3 * self->page + 7);
  assert_refused (self);
  g_assert_false (vn_file_check_lost (mark, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);
  g_assert_nonnull (strstr (error->message, self->path));
  g_clear_error (&error);
  g_assert_true (vn_file_check_lost (vn_file_mark_lost (), NULL));

  /* Whoever asks later learns of it, too. */
  g_clear_pointer (&self->bytes, g_bytes_unref);
  g_assert_false (vn_file_check_lost (mark, &error));
  g_assert_nonnull (strstr (error->message, self->path));
}

/* Noticed also if nobody has read there. */
static void
test_shorter (Place         *self,
              gconstpointer  data)
{
  g_assert_cmpint (truncate (self->path, (off_t) self->page), ==, 0);
  assert_refused (self);
}

/* ---- written into ---- */

static void
test_written_into (Place         *self,
                   gconstpointer  data)
{
  g_autoptr(GError) error = NULL;
  int fd;

  g_assert_true (vn_file_check_map (self->bytes, TRUE, &error));
  g_assert_true (vn_file_is_current (self->bytes));

  /* Touched only, or written with what it had: the same. */
  g_usleep (20000);
  g_assert_cmpint (g_utime (self->path, NULL), ==, 0);
  g_assert_true (vn_file_check_map (self->bytes, TRUE, &error));
  write_file (self->path, self->content, self->size);
  g_assert_true (vn_file_check_map (self->bytes, TRUE, &error));
  g_assert_true (vn_file_is_current (self->bytes));

  fd = g_open (self->path, O_WRONLY, 0);
  g_assert_cmpint (pwrite (fd, "y", 1, (off_t) (self->size - 3)), ==, 1);
  close (fd);
  assert_refused (self);
}

static void
test_replaced (Place         *self,
               gconstpointer  data)
{
  g_autoptr(GError) error = NULL;

  write_file (self->other, self->content, self->size);
  g_assert_cmpint (g_rename (self->other, self->path), ==, 0);
  g_assert_true (vn_file_check_map (self->bytes, FALSE, &error));
  g_assert_true (vn_file_is_current (self->bytes));
  g_assert_false (vn_file_check_map (self->bytes, TRUE, &error));
  g_assert_error (error, G_FILE_ERROR, G_FILE_ERROR_IO);

  self->content[5] = 'y';
  write_file (self->other, self->content, self->size);
  g_assert_cmpint (g_rename (self->other, self->path), ==, 0);
  g_assert_true (vn_file_check_map (self->bytes, FALSE, NULL));
  g_assert_false (vn_file_is_current (self->bytes));
  g_assert_cmpuint (GPOINTER_TO_SIZE (sum_up (self)), ==, self->size);
  g_unlink (self->path);
  g_assert_true (vn_file_check_map (self->bytes, FALSE, NULL));
}

/* Memory that is no file, and parts of one. */
static void
test_others (Place         *self,
             gconstpointer  data)
{
  g_autoptr(GBytes) memory = g_bytes_new ("abc", 3);
  g_autoptr(GBytes) part = g_bytes_new_from_bytes (self->bytes, self->page, 10);

  g_assert_true (vn_file_check_map (memory, TRUE, NULL));
  vn_file_watch_map (memory);
  g_assert_true (vn_file_is_current (memory));
  g_assert_true (vn_file_check_map (part, TRUE, NULL));
  g_assert_cmpint (truncate (self->path, 10), ==, 0);
  g_assert_false (vn_file_check_map (part, TRUE, NULL));
}

/* More files than a table of the handler takes: the last of them is found as well. */
static void
test_many (Place         *self,
           gconstpointer  data)
{
  g_autoptr(GPtrArray) maps = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  guint mark = vn_file_mark_lost ();

  for (guint i = 0; i < 600; i++)
    g_ptr_array_add (maps, vn_file_map (self->path, NULL));
  g_assert_cmpint (truncate (self->path, 0), ==, 0);
  for (guint i = 0; i < maps->len; i += 599)
    g_assert_cmpint (((const char *) g_bytes_get_data (maps->pdata[i], NULL))[0], ==, 0);
  g_assert_cmpuint (vn_file_mark_lost (), ==, mark + 2);
}

/* ---- made of a whole file ---- */

static guint n_made;
static int fails, cuts;

static gpointer
make_of_file (const char  *text,
              gssize       length,
              const char  *name,
              GError     **error)
{
  if (cuts)
    g_assert_cmpint (truncate (name, 1), ==, 0);
  if (fails)
    {
      g_set_error (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s is wrong", name);
      return NULL;
    }
  n_made++;
  return g_strndup (text, length);
}

static void
free_made (gpointer made)
{
  n_made--;
  g_free (made);
}

/* What was made of a file that changed is freed, and what was said of it is not told: it may be of the change. */
static void
test_parse (Place         *self,
            gconstpointer  data)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr(GError) error = NULL;
      char *made;

      write_file (self->path, self->content, self->size);
      fails = i % 2;
      cuts = i / 2;
      made = vn_file_parse (self->path, make_of_file, free_made, &error);
      if (i == 0)
        {
          g_assert_no_error (error);
          g_assert_cmpuint (n_made, ==, 1);
          g_assert_cmpmem (made, strlen (made), self->content, self->size);
          free_made (made);
          continue;
        }
      g_assert_null (made);
      g_assert_cmpuint (n_made, ==, 0);
      g_assert_error (error, G_FILE_ERROR, (i == 1 ? G_FILE_ERROR_INVAL : G_FILE_ERROR_IO));
    }
  g_assert_null (vn_file_parse (self->folder, make_of_file, free_made, NULL));
}

/* ---- other faults ---- */

static volatile char *foreign;
static volatile gint n_earlier;

static void
earlier_handler (int number)
{
  n_earlier++;
  if (n_earlier == 2)
    _exit (0);
}

static void
map_foreign (Place *self)
{
  int fd = g_open (self->path, O_RDONLY, 0);

  foreign = mmap (NULL, self->size, PROT_READ, MAP_PRIVATE, fd, 0);
  close (fd);
  g_assert_cmpint (truncate (self->path, 0), ==, 0);
}

/* A fault of somebody else ends the process as it would without; the handler that was there before is called. */
static int
run_child (Place *self,
           guint  which)
{
  int status;
  pid_t child = fork ();

  if (child != 0)
    {
      g_assert_cmpint (waitpid (child, &status, 0), ==, child);
      return status;
    }
  if (which == 0)
    kill (getpid (), SIGBUS);
  else
    {
      map_foreign (self);
      (void) foreign[1];
    }
  _exit (0);
}

static void
test_foreign (Place         *self,
              gconstpointer  data)
{
  for (guint which = 0; which < 2; which++)
    {
      int status = run_child (self, which);

      /* A sanitizer has a handler of its own, which ends the process otherwise. */
      g_assert_cmpint (status, !=, 0);
      if (WIFSIGNALED (status))
        g_assert_cmpint (WTERMSIG (status), ==, SIGBUS);
    }
}

/* In a process of its own, as the handler is set with the first file that is mapped. */
static void
test_earlier (void)
{
  if (g_test_subprocess ())
    {
      Place self = { 0 };

      signal (SIGBUS, earlier_handler);
      set_up (&self, NULL);
      kill (getpid (), SIGBUS);
      g_assert_cmpint (n_earlier, ==, 1);
      map_foreign (&self);
      g_unlink (self.path);
      g_rmdir (self.folder);
      (void) foreign[1];
      _exit (1);
    }
  g_test_trap_subprocess (NULL, 0, 0);
  g_test_trap_assert_passed ();
}

#define PLACE_TEST(name, func) g_test_add (name, Place, NULL, set_up, func, tear_down)

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/file-map/earlier", test_earlier);
  PLACE_TEST ("/base/file-map/cut-off", test_cut_off);
  PLACE_TEST ("/base/file-map/shorter", test_shorter);
  PLACE_TEST ("/base/file-map/written-into", test_written_into);
  PLACE_TEST ("/base/file-map/replaced", test_replaced);
  PLACE_TEST ("/base/file-map/others", test_others);
  PLACE_TEST ("/base/file-map/many", test_many);
  PLACE_TEST ("/base/file-map/parse", test_parse);
  PLACE_TEST ("/base/file-map/foreign", test_foreign);
  return g_test_run ();
}
