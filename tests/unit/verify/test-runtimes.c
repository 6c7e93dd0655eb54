/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runtimes of the table: each has its part of the script, its targets name it, and an interpreter that answers wrongly, or
 * not at all, does no harm. */
#include "verify-folder.h"
#include "verify-script.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-verify-job.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
test_table (void)
{
  guint n, n_targets, n_named = 0;
  const VnTargetRuntime *runtimes = vn_target_runtime_list (&n);
  const VnPreset * const *targets = vn_target_list (&n_targets);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *script = vn_verify_script_new (&runtimes[i]), *import = g_strdup_printf ("import %s", runtimes[i].module);

      g_test_message ("%s", runtimes[i].id);
      g_assert_true (vn_target_runtime_find (runtimes[i].id, NULL) == &runtimes[i]);
      g_assert_cmpuint (vn_target_runtime_get_index (&runtimes[i]), ==, i);
      g_assert_nonnull (strstr (script, import));
      g_assert_nonnull (strstr (script, "class Runtime"));
      g_assert_nonnull (strstr (script, "reply.json"));
      g_assert_nonnull (strstr (runtimes[i].requirements, runtimes[i].package));
      g_assert_cmpuint (runtimes[i].patience, >, 0);
    }
  for (guint i = 0; i < n_targets; i++)
    if (targets[i]->runtime != NULL)
      {
        g_assert_nonnull (vn_target_runtime_of (targets[i]));
        n_named++;
      }
  g_assert_cmpuint (n_named, >, n);
  g_assert_null (vn_target_runtime_find ("nothing", NULL));
}

static VnModel *
make_model (void)
{
  const VnShape shape = { .rank = 2, .dims = { 1, 4 } };
  VnModel *model = vn_model_new (8, 17);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape),
  *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &shape);

  vn_graph_add_node (model->graph, "relu", "", "Relu", &x, 1, &y, 1);
  vn_graph_set_output (model->graph, 0, y);
  return model;
}

/* A Python that gives the inputs back as outputs, and this reply. */
static char *
write_python (const char *folder,
              const char *reply)
{
  g_autofree char *text = g_strdup_printf ("#!/bin/sh\nfor last; do :; done\ncd \"$last\" || exit 1\n"
                                           "for f in [0-9]*-0.npy; do cp \"$f\" \"out-$f\"; done\n%s\n", reply);
  char *path = g_build_filename (folder, "python", NULL);

  g_assert_true (g_file_set_contents_full (path, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  return path;
}

#define SAYS(text) "cat >reply.json <<'END'\n" text "\nEND"

static void
test_replies (void)
{
  static const struct
  {
    const char *what, *reply;
    gboolean    good;
    int         code;        /* of VnVerifyError; -1: another error */
    const char *said;        /* (nullable): is in the message */
  } cases[] = {
    { "nothing but a version", SAYS ("{ \"version\": \"1.2\" }"), TRUE, 0, NULL },
    { "figures", SAYS ("{ \"version\": \"1.2\", \"load_seconds\": 0.5, \"seconds\": 0.25, \"float_seconds\": 0.5 }"), TRUE, 0,
      NULL },
    { "of other kinds", SAYS ("{ \"version\": [], \"load_seconds\": {}, \"seconds\": \"x\", \"facts\": 3, \"saturates\": 7 }"),
      TRUE, 0, NULL },
    { "negative", SAYS ("{ \"version\": \"1\", \"seconds\": -1.5, \"load_seconds\": 1e999 }"), TRUE, 0, NULL },
    { "no JSON", SAYS ("<html>"), FALSE, -1, "OpenVINO" },
    { "a list", SAYS ("[1, 2]"), FALSE, -1, "OpenVINO" },
    { "too long", "head -c 80000000 /dev/zero >reply.json", FALSE, -1, "OpenVINO" },
    { "a folder", "mkdir reply.json", FALSE, -1, "OpenVINO" },
    { "a crash", "echo 'Illegal instruction' >&2; kill -9 $$", FALSE, -1, "Illegal instruction" },
    { "no package", SAYS ("{ \"stage\": \"import\", \"error\": \"No module\" }"), FALSE, VN_VERIFY_ERROR_MISSING, "pip install" },
    { "refused", SAYS ("{ \"stage\": \"load\", \"error\": \"no kernel\" }"), FALSE, VN_VERIFY_ERROR_REFUSED, "no kernel" },
    { "an error of another kind", SAYS ("{ \"stage\": 3, \"error\": [] }"), FALSE, VN_VERIFY_ERROR_REFUSED, NULL },
    { "hangs", "sleep 60", FALSE, -1, "--timeout" },
  };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *folder = g_dir_make_tmp ("vn-python-XXXXXX", NULL), *python = write_python (folder, cases[i].reply);
      const VnVerifySettings settings = { .model = model, .python = python, .n_samples = 1, .n_runs = 1,
                                          .timeout = strstr (cases[i].reply, "sleep") != NULL ? 1 : 60,
                                          .runtime = vn_target_runtime_find ("openvino", NULL) };
      g_autoptr(VnJob) job = vn_verify_job_new (&settings);
      g_autoptr(GError) error = NULL;
      const gboolean good = vn_job_run (job, NULL, &error);
      const VnVerification *found = vn_verify_job_get_result (job);

      g_test_message ("%s: %s", cases[i].what, error != NULL ? error->message : "good");
      g_assert_cmpint (good, ==, cases[i].good);
      if (good)
        {
          g_assert_cmpstr (found->runtime->id, ==, "openvino");
          g_assert_true (isfinite (found->seconds) && found->seconds >= 0 && isfinite (found->load_seconds));
        }
      else if (cases[i].code >= 0)
        g_assert_error (error, VN_VERIFY_ERROR, cases[i].code);
      else
        g_assert_false (g_error_matches (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED));
      if (cases[i].said != NULL)
        g_assert_nonnull (strstr (error->message, cases[i].said));
      vn_verify_folder_remove (folder);
    }
}

/* What is not there is another's, where that is allowed: the first that answers is told. */
static void
test_otherwise (void)
{
  static const char reply[] =
    "if grep -q openvino /proc/$$/cmdline; then echo '{ \"stage\": \"import\", \"error\": \"none\" }' >reply.json;\n"
    "else echo '{ \"version\": \"9\" }' >reply.json; fi";
  g_autofree char *folder = g_dir_make_tmp ("vn-python-XXXXXX", NULL), *python = write_python (folder, reply);
  g_autoptr(VnModel) model = make_model ();

  for (guint usual = 0; usual < 2; usual++)
    {
      const VnVerifySettings settings = { .model = model, .python = python, .n_samples = 1, .n_runs = 1, .timeout = 60,
                                          .runtime = vn_target_runtime_find ("openvino", NULL), .or_usual = usual == 1 };
      g_autoptr(VnJob) job = vn_verify_job_new (&settings);
      g_autoptr(GError) error = NULL;

      g_assert_cmpint (vn_job_run (job, NULL, &error), ==, usual == 1);
      if (usual == 0)
        g_assert_error (error, VN_VERIFY_ERROR, VN_VERIFY_ERROR_MISSING);
      else
        g_assert_true (vn_verify_job_get_result (job)->runtime == vn_target_runtime_get_default ());
    }
  vn_verify_folder_remove (folder);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_unsetenv ("VN_OPENVINO_PYTHON");
  g_test_add_func ("/runtimes/table", test_table);
  g_test_add_func ("/runtimes/replies", test_replies);
  g_test_add_func ("/runtimes/otherwise", test_otherwise);
  return g_test_run ();
}
