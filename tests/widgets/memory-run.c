/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What memory the window takes while a network is opened, calibrated and quantized with pictures, and what it keeps.
 *
 *   run-headless.sh memory-run MODEL FOLDER [SAMPLES] */
#include "vn-memory.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <stdio.h>
#include <string.h>

#define SETTLE_MS 2000

static double
read_status (const char *field)
{
  g_autofree char *status = NULL;
  const char *at;

  if (!g_file_get_contents ("/proc/self/status", &status, NULL, NULL))
    return 0;
  at = strstr (status, field);
  return at != NULL ? g_ascii_strtod (at + strlen (field) + 1, NULL) / 1024 : 0;
}

/* The peak is told of what was done last. */
static void
tell (const char *what)
{
  g_print ("%-44s %5.0f MB, at most %5.0f MB\n", what, read_status ("VmRSS"), read_status ("VmHWM"));
  g_file_set_contents ("/proc/self/clear_refs", "5", 1, NULL);
}

static gboolean
is_calm (gpointer document)
{
  return vn_window_fixture_is_idle (document) && vn_bench_get_origins_job (VN_BENCH (document)) == NULL;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(VnDataSpec) data = NULL;
  g_autoptr(GError) error = NULL;
  Fixture fixture = { 0 };

  if (argc < 3)
    {
      g_printerr ("usage: memory-run MODEL FOLDER [SAMPLES]\n");
      return 77;
    }
  vn_memory_keep_frames ();
  vn_window_fixture_init (&argc, &argv);
  vn_window_fixture_set_up (&fixture, NULL);
  tell ("an empty window");
  g_free (fixture.model_path);
  fixture.model_path = g_strdup (argv[1]);
  vn_window_fixture_open_model (&fixture);
  vn_test_settle (SETTLE_MS);
  tell ("a model opened");
  data = vn_data_spec_new (argv[2]);
  vn_bench_set_n_samples (VN_BENCH (fixture.document), argc > 3 ? (guint) g_ascii_strtoull (argv[3], NULL, 10) : 12);
  vn_bench_set_data (VN_BENCH (fixture.document), data);
  vn_test_settle (SETTLE_MS);
  tell ("samples looked at");
  if (!vn_bench_quantize (VN_BENCH (fixture.document), &error))
    g_error ("%s", error->message);
  vn_test_wait (vn_window_fixture_is_idle, fixture.document, 600);
  tell ("quantized");
  vn_test_wait (is_calm, fixture.document, 600);
  tell ("where the error starts found");
  vn_test_settle (SETTLE_MS);
  tell ("a while later");
  vn_bench_set_model (VN_BENCH (fixture.document), NULL);
  vn_test_settle (SETTLE_MS);
  tell ("nothing open");
  vn_window_fixture_tear_down (&fixture, NULL);
  return 0;
}
