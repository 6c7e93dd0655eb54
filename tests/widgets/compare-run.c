/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long the compare page takes for networks of many nodes: until both are painted, for a selection that both show, and to move
 * both.
 *
 *   run-headless.sh compare-run [NODES]
 *
 * Time on the wall, and of the processor where that is what counts: on a machine that does nothing else. */
#include "large-model.h"
#include "vn-compare-page.h"
#include "vn-compare-pane.h"
#include "vn-onnx.h"
#include "widget-fixture.h"

#include <glib/gstdio.h>
#include <math.h>
#include <time.h>

#define WAIT_SECONDS 120
#define N_STEPS 200

static double
get_seconds (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

typedef struct
{
  VnGraphView *views[2];
  double       longest;    /* processor seconds of one turn of the main loop */
} Speed;

static gboolean
is_painted (Speed *speed)
{
  for (guint i = 0; i < 2; i++)
    if (vn_graph_view_get_layout (speed->views[i]) == NULL || vn_graph_view_get_overlay (speed->views[i]) == NULL)
      return FALSE;
  return TRUE;
}

static void
turn (Speed *speed)
{
  double before = get_seconds (CLOCK_THREAD_CPUTIME_ID);

  g_main_context_iteration (NULL, FALSE);
  speed->longest = MAX (speed->longest, get_seconds (CLOCK_THREAD_CPUTIME_ID) - before);
  g_usleep (200);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static void
tell (const char *what,
      double     *times,
      guint       n)
{
  qsort (times, n, sizeof *times, compare_doubles);
  g_print ("%s: p50 %.2f ms, p99 %.2f ms, most %.2f ms of processor time\n", what, 1000 * times[n / 2],
           1000 * times[n * 99 / 100], 1000 * times[n - 1]);
}

static void
measure_steps (Speed *speed)
{
  double selected[N_STEPS], moved[N_STEPS];
  guint n = vn_scene_get_n_nodes (vn_graph_view_get_scene (speed->views[0]));

  for (guint i = 0; i < N_STEPS; i++)
    {
      guint node = 1 + (guint) ((guint64) i * (n - 2) / N_STEPS);
      double begun = get_seconds (CLOCK_THREAD_CPUTIME_ID);
      VnGraphCamera camera;

      vn_graph_view_select (speed->views[i % 2], &node, 1, FALSE);
      selected[i] = get_seconds (CLOCK_THREAD_CPUTIME_ID) - begun;
      camera = vn_graph_view_get_camera (speed->views[0]);
      camera.origin.y += 40;
      begun = get_seconds (CLOCK_THREAD_CPUTIME_ID);
      vn_graph_view_set_camera (speed->views[0], camera);
      moved[i] = get_seconds (CLOCK_THREAD_CPUTIME_ID) - begun;
    }
  tell ("selection in both", selected, N_STEPS);
  tell ("moving both", moved, N_STEPS);
}

int
main (int    argc,
      char **argv)
{
  guint n = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 50000;
  g_autofree char *folder = g_dir_make_tmp ("vernier-compare-XXXXXX", NULL);
  g_autofree char *first = g_build_filename (folder, "first.onnx", NULL),
  *second = g_build_filename (folder, "second.onnx", NULL);
  g_autoptr(VnDocument) document = NULL;
  g_autoptr(VnModel) model = NULL;
  g_autoptr(GError) error = NULL;
  GtkWidget *window, *page;
  Speed speed = { { NULL, NULL }, 0 };
  double begun;

  vn_test_widgets_init (&argc, &argv);
  large_model_write (first, n, FALSE);
  large_model_write (second, n, TRUE);
  model = vn_onnx_read_file (first, &error);
  g_assert_no_error (error);
  document = vn_document_new ();
  vn_bench_set_model (VN_BENCH (document), model);
  window = gtk_window_new ();
  page = g_object_new (VN_TYPE_COMPARE_PAGE, NULL);
  vn_page_set_document (VN_PAGE (page), document);
  gtk_window_set_child (GTK_WINDOW (window), page);
  gtk_window_set_default_size (GTK_WINDOW (window), 1600, 900);
  gtk_window_present (GTK_WINDOW (window));
  vn_test_settle (500);
  begun = get_seconds (CLOCK_MONOTONIC);
  vn_compare_page_open_file (VN_COMPARE_PAGE (page), second, 1);
  for (guint i = 0; i < 2; i++)
    {
      GtkWidget *pane = vn_test_find (page, VN_TYPE_COMPARE_PANE, NULL);

      if (i == 1)
        pane = gtk_widget_get_next_sibling (gtk_widget_get_next_sibling (pane));
      speed.views[i] = vn_compare_pane_get_view (VN_COMPARE_PANE (pane));
    }
  while (!is_painted (&speed) && get_seconds (CLOCK_MONOTONIC) - begun < WAIT_SECONDS)
    turn (&speed);
  g_assert_true (is_painted (&speed));
  gtk_test_widget_wait_for_draw (window);
  g_print ("%u nodes: both painted after %.0f ms; the main loop computed for at most %.0f ms at a time\n", n,
           1000 * (get_seconds (CLOCK_MONOTONIC) - begun), 1000 * speed.longest);
  vn_test_settle (500);
  vn_test_screenshot (window, "compare-large");
  measure_steps (&speed);
  gtk_window_destroy (GTK_WINDOW (window));
  g_unlink (first);
  g_unlink (second);
  g_rmdir (folder);
  return 0;
}
