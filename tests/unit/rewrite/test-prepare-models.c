/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Real networks: a prepared model is valid, preparing it again changes nothing, and onnxruntime computes the same with
 * it as with the original. Large ones take part with -m slow only. */
#include "vn-error.h"
#include "vn-onnx.h"
#include "vn-pass.h"
#include "vn-validate.h"

#include <glib/gstdio.h>
#include <string.h>

#define MOST_BYTES 600000   /* without -m slow */

static GPtrArray *models;   /* of path */
static char *scratch;

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(char * const *) a, *(char * const *) b);
}

static void
collect (const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      GStatBuf info;

      if (g_str_has_suffix (name, ".onnx") && g_stat (path, &info) == 0 && (g_test_slow () || info.st_size <= MOST_BYTES))
        g_ptr_array_add (models, g_steal_pointer (&path));
    }
  g_ptr_array_sort (models, compare_paths);
}

static char *
copy_path (guint    i,
           gboolean optimize)
{
  g_autofree char *name = g_strdup_printf ("%u%s.onnx", i, optimize ? "-optimized" : "");

  return g_build_filename (scratch, name, NULL);
}

static VnModel *
prepare (const VnModel  *model,
         gboolean        optimize,
         VnEditLog      *log,
         GError        **error)
{
  const VnPrepareOptions options = { .target_opset = 17, .optimize = optimize };

  return vn_prepare_model_with (model, &options, log, NULL, NULL, error);
}

/* As before quantizing, or with everything that optimizes. */
static void
test_prepare (gconstpointer data)
{
  gboolean optimize = GPOINTER_TO_INT (data);
  guint n_failed = 0;

  for (guint i = 0; i < models->len; i++)
    {
      const char *path = g_ptr_array_index (models, i);
      g_autofree char *copy = copy_path (i, optimize);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
      g_autoptr(VnEditLog) log = vn_edit_log_new ();
      g_autoptr(VnEditLog) none = vn_edit_log_new ();
      g_autoptr(GBytes) before = vn_onnx_write_bytes (model, NULL);
      g_autoptr(GBytes) after = NULL;
      gint64 start = g_get_monotonic_time ();
      g_autoptr(VnModel) prepared = prepare (model, optimize, log, &error);
      g_autoptr(VnModel) twice = NULL;
      g_autofree char *text = NULL;
      double ms = (double) (g_get_monotonic_time () - start) / 1e3;

      after = vn_onnx_write_bytes (model, NULL);
      g_assert_true (g_bytes_equal (before, after));
      if (prepared == NULL)
        {
          g_test_message ("%s: %s", path, error->message);
          n_failed++;
          continue;
        }
      g_test_message ("%s: %u edits, %u -> %u nodes, %.1f ms", path, vn_edit_log_get_n (log), model->graph->nodes->len,
                      prepared->graph->nodes->len, ms);
      g_assert_true (vn_model_validate (prepared, VN_VALIDATE_SIZES, NULL, &error));
      g_assert_no_error (error);
      g_assert_true (vn_onnx_write_file (prepared, copy, NULL, NULL, &error));
      twice = prepare (prepared, optimize, none, &error);
      g_assert_no_error (error);
      text = vn_edit_log_to_text (none);
      g_assert_cmpstr (text, ==, "");
    }
  g_assert_cmpuint (n_failed, ==, 0);
}

/* One process for all that test_prepare() wrote. */
static void
test_compare (void)
{
  const char *python = g_getenv ("VN_ORACLE_PYTHON");
  g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL;
  g_autofree char *err = NULL;
  int status;

  if (python == NULL || *python == '\0')
    {
      g_test_skip ("VN_ORACLE_PYTHON names no Python with onnxruntime");
      return;
    }
  g_ptr_array_add (argv, g_strdup (python));
  g_ptr_array_add (argv, g_strdup (TEST_DIR "/compare-runs.py"));
  for (guint i = 0; i < 2 * models->len; i++)
    {
      g_autofree char *copy = copy_path (i / 2, i % 2 == 1);

      if (!g_file_test (copy, G_FILE_TEST_EXISTS))
        continue;
      g_ptr_array_add (argv, g_strdup (g_ptr_array_index (models, i / 2)));
      g_ptr_array_add (argv, g_steal_pointer (&copy));
    }
  g_ptr_array_add (argv, NULL);
  g_assert_true (g_spawn_sync (NULL, (char **) argv->pdata, NULL, 0, NULL, NULL, &out, &err, &status, &error));
  g_assert_no_error (error);
  g_test_message ("%s%s", out, err);
  g_assert_cmpint (status, ==, 0);
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
  if (argc > 1)
    for (int i = 1; i < argc; i++)
      g_ptr_array_add (models, g_strdup (argv[i]));
  else
    collect (folder);
  g_assert_cmpuint (models->len, >, 0);
  scratch = g_dir_make_tmp ("vn-prepare-XXXXXX", NULL);
  g_test_add_data_func ("/rewrite/models/prepare", GINT_TO_POINTER (FALSE), test_prepare);
  g_test_add_data_func ("/rewrite/models/optimize", GINT_TO_POINTER (TRUE), test_prepare);
  g_test_add_func ("/rewrite/models/compare", test_compare);
  result = g_test_run ();
  remove_scratch ();
  g_free (scratch);
  g_ptr_array_unref (models);
  return result;
}
