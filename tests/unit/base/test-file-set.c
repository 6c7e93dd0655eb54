/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which file a path means: by links, by other ways to it, and before it is there. */
#include "vn-file-set.h"

#include "vn-error.h"
#include "vn-file.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

typedef struct
{
  const char *reads, *writes, *writes_too;   /* @reads and @writes_too: nullable */
  gboolean    refused;
} Case;

static const Case cases[] = {
  { "a", "a", NULL, TRUE },
  { "a", "b", NULL, FALSE },
  { "a", "./sub/../a", NULL, TRUE },
  { "a", "link", NULL, TRUE },
  { "link", "a", NULL, TRUE },
  { "a", "hard", NULL, TRUE },
  { "a", "sub/up/a", NULL, TRUE },
  { NULL, "new", "new", TRUE },
  { NULL, "new", "./sub/../new", TRUE },
  { NULL, "new", "sub/up/new", TRUE },
  { NULL, "new", "dangling", TRUE },
  { NULL, "new", "sub/new", FALSE },
  { NULL, "/dev/null", "/dev/null", FALSE },
  { "/dev/null", "/dev/null", NULL, FALSE },
};

static void
test_cases (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnFileSet) set = vn_file_set_new ();
      g_autoptr(GError) error = NULL;

      vn_file_set_reads (set, cases[i].reads, "read");
      vn_file_set_writes (set, cases[i].writes, "first");
      vn_file_set_writes (set, cases[i].writes_too, "second");
      g_test_message ("%u: %s, %s, %s", i, cases[i].reads, cases[i].writes, cases[i].writes_too);
      g_assert_cmpint (vn_file_set_check (set, &error), ==, !cases[i].refused);
      if (cases[i].refused)
        g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
      else
        g_assert_no_error (error);
    }
}

/* Folders that are made later are no obstacle; what will be in them has its identity already. */
static void
test_later_folder (void)
{
  g_autoptr(VnFileSet) set = vn_file_set_new ();
  g_autoptr(GError) error = NULL;

  vn_file_set_writes_in (set, "later/deep", "x", "first");
  g_assert_true (vn_file_set_check (set, &error));
  g_assert_no_error (error);
  g_assert_true (vn_file_set_has_other (set, "later/other/../deep/x", "second"));
  g_assert_false (vn_file_set_has_other (set, "later/deep/x", "first"));
  g_assert_false (vn_file_set_has_other (set, "later/deep/y", "second"));
  vn_file_set_writes_in (set, "sub/../later/deep", "x", "second");
  g_assert_false (vn_file_set_check (set, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

static gboolean
is_sample (const char *name)
{
  return g_str_has_suffix (name, ".png");
}

/* Only what is read in a folder is kept from being replaced. */
static void
test_folder (void)
{
  static const struct { const char *path; gboolean good; } targets[] = {
    { "sub/sample.png", FALSE }, { "sub/other.txt", TRUE }, { "sub/new.png", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      g_autoptr(VnFileSet) set = vn_file_set_new ();

      vn_file_set_reads_folder (set, ".", is_sample, "a sample");
      vn_file_set_writes (set, targets[i].path, "it");
      g_assert_cmpint (vn_file_set_check (set, NULL), ==, targets[i].good);
    }
}

static void
add_late (VnFileSet *set,
          gpointer   data)
{
  vn_file_set_reads (set, "a", "late");
  ++*(guint *) data;
}

static void
test_late (void)
{
  g_autoptr(VnFileSet) set = vn_file_set_new ();
  guint n = 0;

  vn_file_set_reads_later (set, add_late, &n, NULL);
  vn_file_set_writes (set, "new", "first");
  g_assert_true (vn_file_set_check (set, NULL));
  g_assert_cmpuint (n, ==, 0);
  vn_file_set_writes (set, "link", "second");
  g_assert_false (vn_file_set_check (set, NULL));
  g_assert_false (vn_file_set_check (set, NULL));
  g_assert_cmpuint (n, ==, 1);
}

static void
test_not_writable (void)
{
  g_autoptr(VnFileSet) set = vn_file_set_new ();
  g_autoptr(GError) error = NULL;

  vn_file_set_writes (set, "no/such/folder/x", "it");
  g_assert_false (vn_file_set_check (set, &error));
  g_assert_cmpuint (error->domain, ==, G_FILE_ERROR);
}

/* Folders that are made when they are missing are made somewhere. */
static void
test_not_makable (void)
{
  static const struct { const char *folder; gboolean good; } folders[] = {
    { "no/such/folder", TRUE },
    { "a", FALSE },               /* a file */
    { "a/below", FALSE },
    { "a/far/below", FALSE },
    { "/proc/1/no/such", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (folders); i++)
    {
      g_autoptr(VnFileSet) set = vn_file_set_new ();
      g_autoptr(GError) error = NULL;

      vn_file_set_writes_in (set, folders[i].folder, "x", "it");
      g_test_message ("%s", folders[i].folder);
      /* The superuser may write into /proc until it tries. */
      if (i == 4 && g_access ("/proc/1", W_OK) == 0)
        continue;
      g_assert_true (vn_file_set_check (set, &error) == folders[i].good);
      g_assert_true ((error == NULL) == folders[i].good);
    }
}

int
main (int   argc,
      char *argv[])
{
  static const char * const made[] = { "a", "hard", "link", "dangling", "sub/up", "sub/sample.png", "sub/other.txt", "sub" };
  g_autofree char *folder = g_dir_make_tmp ("vn-file-set-XXXXXX", NULL);
  int result;

  g_test_init (&argc, &argv, NULL);
  g_assert_cmpint (g_chdir (folder), ==, 0);
  g_assert_cmpint (g_mkdir ("sub", 0777), ==, 0);
  g_assert_true (vn_file_write_all ("a", "a", 1, NULL));
  g_assert_true (vn_file_write_all ("sub/sample.png", "s", 1, NULL));
  g_assert_true (vn_file_write_all ("sub/other.txt", "o", 1, NULL));
  g_assert_cmpint (link ("a", "hard") | symlink ("a", "link") | symlink ("new", "dangling") | symlink ("..", "sub/up"), ==, 0);

  g_test_add_func ("/file-set/cases", test_cases);
  g_test_add_func ("/file-set/later-folder", test_later_folder);
  g_test_add_func ("/file-set/folder", test_folder);
  g_test_add_func ("/file-set/late", test_late);
  g_test_add_func ("/file-set/not-writable", test_not_writable);
  g_test_add_func ("/file-set/not-makable", test_not_makable);
  result = g_test_run ();

  for (guint i = 0; i < G_N_ELEMENTS (made); i++)
    g_remove (made[i]);
  g_assert_cmpint (g_chdir ("/"), ==, 0);
  g_rmdir (folder);
  return result;
}
