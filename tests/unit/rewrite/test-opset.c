/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old forms of operators, converted to several opsets: onnxruntime computes the same before and after. */
#include "vn-onnx.h"
#include "vn-pass.h"

#include <glib/gstdio.h>
#include <string.h>


static const gint64 targets[] = { 13, 17, 18, 21 };

static char *folder;
static const char *python;

static char *
run_python (GPtrArray *argv,
            int       *status)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *err = NULL;
  char *out = NULL;

  g_ptr_array_add (argv, NULL);
  g_assert_true (g_spawn_sync (NULL, (char **) argv->pdata, NULL, 0, NULL, NULL, &out, &err, status, &error));
  g_assert_no_error (error);
  if (*status != 0)
    g_test_message ("%s", err);
  return out;
}

static void
make_models (void)
{
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *out = NULL;
  int status;

  g_ptr_array_add (argv, (gpointer) python);
  g_ptr_array_add (argv, (gpointer) TEST_DIR "/make-old-models.py");
  g_ptr_array_add (argv, folder);
  out = run_python (argv, &status);
  g_assert_cmpint (status, ==, 0);
}

static gboolean
convert (const char *name,
         gint64      target,
         GPtrArray  *pairs)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  g_autofree char *changed = g_strdup_printf ("%s.%d", path, (int) target);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) read = vn_onnx_read_file (path, &error);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnEditLog) log = vn_edit_log_new ();
  VnPassContext ctx = { .log = log, .target_opset = target };

  g_assert_no_error (error);
  if (vn_model_get_opset (read, "") >= target)
    return FALSE;
  model = vn_model_copy (read);
  ctx.model = model;
  g_assert_true (vn_pass_run ("opset", &ctx, &error) || (g_test_message ("%s: %s", name, error->message), FALSE));
  g_assert_no_error (error);
  g_assert_cmpint (vn_model_get_opset (model, ""), ==, target);
  g_assert_cmpuint (vn_edit_log_get_n (log), >, 0);
  g_assert_true (vn_onnx_write_file (model, changed, NULL, NULL, &error));
  g_ptr_array_add (pairs, g_steal_pointer (&path));
  g_ptr_array_add (pairs, g_steal_pointer (&changed));
  return TRUE;
}

static void
test_target (gconstpointer data)
{
  gint64 target = *(const gint64 *) data;
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  g_autoptr(GPtrArray) pairs = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GPtrArray) argv = g_ptr_array_new ();
  g_autofree char *out = NULL;
  const char *name;
  int status;

  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".onnx"))
      convert (name, target, pairs);
  g_assert_cmpuint (pairs->len, >, 100);
  g_ptr_array_add (argv, (gpointer) python);
  g_ptr_array_add (argv, (gpointer) TEST_DIR "/compare-runs.py");
  for (guint i = 0; i < pairs->len; i++)
    g_ptr_array_add (argv, g_ptr_array_index (pairs, i));
  out = run_python (argv, &status);
  g_test_message ("%s", out);
  g_assert_cmpint (status, ==, 0);
}

static void
remove_folder (void)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      g_unlink (path);
    }
  g_rmdir (folder);
}

int
main (int   argc,
      char *argv[])
{
  int result;

  g_test_init (&argc, &argv, NULL);
  python = g_getenv ("VN_ORACLE_PYTHON");
  if (python == NULL || *python == '\0')
    {
      g_print ("1..0 # SKIP VN_ORACLE_PYTHON names no Python with onnxruntime\n");
      return EXIT_SUCCESS;
    }
  folder = g_dir_make_tmp ("vn-opset-XXXXXX", NULL);
  make_models ();
  for (guint i = 0; i < G_N_ELEMENTS (targets); i++)
    {
      g_autofree char *name = g_strdup_printf ("/rewrite/opset/%d", (int) targets[i]);

      g_test_add_data_func (name, &targets[i], test_target);
    }
  result = g_test_run ();
  remove_folder ();
  g_free (folder);
  return result;
}
