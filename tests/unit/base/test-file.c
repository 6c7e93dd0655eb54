/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that are released come back as they were, and only those of mapped files are released. */
#include "vn-file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
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

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/file/release", test_release);
  g_test_add_func ("/base/file/other-memory", test_other_memory);
  return g_test_run ();
}
