/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real networks: read -> write -> read gives the same, also in the eyes of Python's onnx. */
#include "vn-onnx.h"
#include "vn-validate.h"

#include <glib/gstdio.h>
#include <string.h>


static GPtrArray *models;   /* of path */
static char *scratch;

static void
collect (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_file_test (path, G_FILE_TEST_IS_DIR))
        collect (path);
      else if (g_str_has_suffix (name, ".onnx"))
        g_ptr_array_add (models, g_steal_pointer (&path));
    }
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char * const *) a, *(char * const *) b);
}

static char *
copy_path (guint i)
{
  g_autofree char *name = g_strdup_printf ("%u.onnx", i);

  return g_build_filename (scratch, name, NULL);
}

static void
test_reread (void)
{
  for (guint i = 0; i < models->len; i++)
    {
      const char *path = g_ptr_array_index (models, i);
      g_autofree char *copy = copy_path (i);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) first = vn_onnx_read_file (path, &error);
      g_autoptr(VnModel) second = NULL;
      g_autoptr(GBytes) a = NULL;
      g_autoptr(GBytes) b = NULL;

      g_test_message ("%s", path);
      g_assert_no_error (error);
      g_assert_true (vn_model_validate (first, VN_VALIDATE_SIZES, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (vn_onnx_write_file (first, copy, NULL, NULL, &error));
      g_assert_no_error (error);
      second = vn_onnx_read_file (copy, &error);
      g_assert_no_error (error);
      a = vn_onnx_write_bytes (first, &error);
      b = vn_onnx_write_bytes (second, &error);
      g_assert_no_error (error);
      g_assert_true (g_bytes_get_size (a) > 100);
      g_assert_true (g_bytes_equal (a, b));
    }
}

static void
test_copy (void)
{
  for (guint i = 0; i < models->len; i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = vn_onnx_read_file (g_ptr_array_index (models, i), &error);
      g_autoptr(VnModel) copy = vn_model_copy (model);
      g_autoptr(GBytes) a = vn_onnx_write_bytes (model, &error);
      g_autoptr(GBytes) b = NULL;

      g_clear_pointer (&model, vn_model_unref);
      b = vn_onnx_write_bytes (copy, &error);
      g_assert_no_error (error);
      g_test_message ("%s", (char *) g_ptr_array_index (models, i));
      g_assert_true (g_bytes_equal (a, b));
    }
}

static void
test_python (void)
{
  const char *python = g_getenv ("VN_ORACLE_PYTHON");
  g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  int status;

  if (python == NULL || *python == '\0')
    {
      g_test_skip ("VN_ORACLE_PYTHON names no Python with onnx");
      return;
    }
  g_ptr_array_add (argv, g_strdup (python));
  g_ptr_array_add (argv, g_strdup (TEST_DIR "/compare-models.py"));
  for (guint i = 0; i < models->len; i++)
    {
      g_ptr_array_add (argv, g_strdup (g_ptr_array_index (models, i)));
      g_ptr_array_add (argv, copy_path (i));
    }
  g_ptr_array_add (argv, NULL);
  g_assert_true (g_spawn_sync (NULL, (char **) argv->pdata, NULL, 0, NULL, NULL, &out, &err, &status, &error));
  g_assert_no_error (error);
  g_test_message ("%s%s", out, err);
  g_assert_cmpint (status, ==, 0);
}

/* How long until the largest model is open: the median of some runs, files in the page cache. */
static void
test_open_time (void)
{
  const char *largest = NULL;
  goffset size = 0;
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < models->len; i++)
    {
      GStatBuf info;

      if (g_stat (g_ptr_array_index (models, i), &info) == 0 && info.st_size > size)
        {
          size = info.st_size;
          largest = g_ptr_array_index (models, i);
        }
    }
  for (guint i = 0; i < 5; i++)
    {
      gint64 start = g_get_monotonic_time ();
      g_autoptr(VnModel) model = vn_onnx_read_file (largest, NULL);

      g_assert_nonnull (model);
      best = MIN (best, g_get_monotonic_time () - start);
    }
  g_test_message ("%s (%.1f MB): %.2f ms", largest, (double) size / 1e6, (double) best / 1e3);
  g_test_minimized_result ((double) best / 1e6, "opening %s", largest);
}

static void
remove_scratch (void)
{
  g_autoptr(GDir) dir = g_dir_open (scratch, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (scratch, name, NULL);

      g_unlink (path);
    }
  g_rmdir (scratch);
}

int
main (int   argc,
      char *argv[])
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *folder = NULL;
  int result;

  g_test_init (&argc, &argv, NULL);
  if (shared == NULL || *shared == '\0')
    {
      g_print ("1..0 # SKIP VN_SHARED names no folder with networks\n");
      return EXIT_SUCCESS;
    }
  models = g_ptr_array_new_with_free_func (g_free);
  folder = g_build_filename (shared, "models", NULL);
  collect (folder);
  g_ptr_array_sort (models, compare_paths);
  g_assert_cmpuint (models->len, >, 0);
  scratch = g_dir_make_tmp ("vn-onnx-XXXXXX", NULL);
  g_test_add_func ("/onnx/roundtrip/reread", test_reread);
  g_test_add_func ("/onnx/roundtrip/copy", test_copy);
  g_test_add_func ("/onnx/roundtrip/python", test_python);
  g_test_add_func ("/onnx/roundtrip/open-time", test_open_time);
  result = g_test_run ();
  remove_scratch ();
  g_free (scratch);
  g_ptr_array_unref (models);
  return result;
}
