/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast the canvas is in a window: until a network is painted, and frame by frame while it is moved and zoomed.
 *
 *   run-headless.sh graph-run [NODES...]
 *
 * A frame is what the frame clock does from "before-paint" to "after-paint": layout, snapshot, rendering and handing over to the
 * display server. It is told in time on the wall, which counts on a machine that does nothing else, and in processor time of the
 * main thread. What a window of that size costs that is filled with one colour, frame by frame, is told first: nothing is
 * quicker. */
#include "large-model.h"
#include "vn-graph-view.h"
#include "vn-memory.h"
#include "vn-onnx.h"
#include "vn-scene-builder.h"

#include <adwaita.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define WAIT_SECONDS 60
#define N_FRAMES     240
#define STEP         24.    /* pixels that a frame pans */
#define WIDTH        1600
#define HEIGHT       900

typedef struct
{
  GtkWidget   *window;
  VnGraphView *view;
  GArray      *wall, *cpu;       /* of double: of each frame, in milliseconds */
  double       wall_begun, cpu_begun;
  double       painted_at;       /* when the network was first painted; 0: it is not */
  double       longest;          /* turn of the main loop, in milliseconds of processor time */
  guint        frame;
  gboolean     is_zooming;
} Run;

static double
get_milliseconds (clockid_t clock)
{
  struct timespec time;

  clock_gettime (clock, &time);
  return (double) time.tv_sec * 1e3 + (double) time.tv_nsec / 1e6;
}

static void
on_before_paint (GdkFrameClock *clock,
                 Run           *run)
{
  run->wall_begun = get_milliseconds (CLOCK_MONOTONIC);
  run->cpu_begun = get_milliseconds (CLOCK_THREAD_CPUTIME_ID);
}

static void
on_after_paint (GdkFrameClock *clock,
                Run           *run)
{
  double wall = get_milliseconds (CLOCK_MONOTONIC), took = wall - run->wall_begun;
  double cpu = get_milliseconds (CLOCK_THREAD_CPUTIME_ID) - run->cpu_begun;

  g_array_append_val (run->wall, took);
  g_array_append_val (run->cpu, cpu);
  if (run->painted_at == 0 && vn_graph_view_get_index (run->view) != NULL)
    run->painted_at = wall;
}

static void
turn (Run *run)
{
  double begun = get_milliseconds (CLOCK_THREAD_CPUTIME_ID);

  g_main_context_iteration (NULL, TRUE);
  run->longest = MAX (run->longest, get_milliseconds (CLOCK_THREAD_CPUTIME_ID) - begun);
}

static int
compare_doubles (gconstpointer a,
                 gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static double
get_share (GArray *sorted,
           guint   percent)
{
  return g_array_index (sorted, double, MIN (sorted->len * percent / 100, sorted->len - 1));
}

static void
tell (Run        *run,
      const char *what)
{
  g_array_sort (run->wall, compare_doubles);
  g_array_sort (run->cpu, compare_doubles);
  g_print ("  %-26s p50 %5.1f  p99 %5.1f  most %5.1f ms; of processor time p50 %5.1f  p99 %5.1f ms; turn at most %.0f ms; %u "
           "frames\n", what,
           get_share (run->wall, 50), get_share (run->wall, 99), get_share (run->wall, 100), get_share (run->cpu, 50),
           get_share (run->cpu, 99), run->longest, run->wall->len);
}

static void
forget (Run *run)
{
  g_array_set_size (run->wall, 0);
  g_array_set_size (run->cpu, 0);
  run->longest = 0;
  run->frame = 0;
}

static gboolean
on_settled (gpointer data)
{
  *(gboolean *) data = TRUE;
  return G_SOURCE_REMOVE;
}

static void
settle (guint milliseconds)
{
  gboolean is_over = FALSE;

  g_timeout_add (milliseconds, on_settled, &is_over);
  while (!is_over)
    g_main_context_iteration (NULL, TRUE);
}

/* Down and back up, a little to the side; or in and out again in steps, as the wheel does it. */
static gboolean
move (GtkWidget     *widget,
      GdkFrameClock *clock,
      gpointer       data)
{
  Run *run = data;
  VnGraphCamera camera = vn_graph_view_get_camera (run->view);
  gboolean first_half = run->frame % 120 < 60;

  if (run->is_zooming && run->frame % 6 == 0)
    {
      if (first_half)
        vn_graph_view_zoom_out (run->view);
      else
        vn_graph_view_zoom_in (run->view);
    }
  else if (!run->is_zooming)
    {
      camera.origin.y += (first_half ? STEP : -STEP) / camera.zoom;
      camera.origin.x += (first_half ? STEP : -STEP) / 4 / camera.zoom;
      vn_graph_view_set_camera (run->view, camera);
    }
  return ++run->frame < N_FRAMES;
}

static void
measure (Run        *run,
         const char *what,
         gboolean    is_zooming)
{
  settle (300);
  forget (run);
  run->is_zooming = is_zooming;
  gtk_widget_add_tick_callback (GTK_WIDGET (run->view), move, run, NULL);
  while (run->frame < N_FRAMES)
    turn (run);
  tell (run, what);
}

static void
set_zoom (Run    *run,
          double  zoom)
{
  VnGraphCamera camera = vn_graph_view_get_camera (run->view);
  VnRect bounds = vn_graph_layout_get_bounds (vn_graph_view_get_layout (run->view));
  double width = gtk_widget_get_width (GTK_WIDGET (run->view)), height = gtk_widget_get_height (GTK_WIDGET (run->view));

  camera.zoom = zoom > 0 ? zoom : MIN (MIN (width / bounds.width, height / bounds.height), 1);
  camera.origin = (VnPoint) { bounds.x + bounds.width / 2 - width / 2 / camera.zoom,
                              bounds.y + bounds.height / 2 - height / 2 / camera.zoom };
  vn_graph_view_set_camera (run->view, camera);
}

static void
measure_all (Run        *run,
             const char *state)
{
  static const struct { const char *name; double zoom; } zooms[] = { { "100 %", 1 }, { "25 %", 0.25 }, { "whole", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    for (guint zooming = 0; zooming < 2; zooming++)
      {
        g_autofree char *what = g_strdup_printf ("%s, %s, %s", state, zooms[i].name, zooming ? "zooming" : "panning");

        set_zoom (run, zooms[i].zoom);
        measure (run, what, zooming);
      }
}

static void
on_built (GObject      *source,
          GAsyncResult *result,
          gpointer      data)
{
  Run *run = data;
  g_autoptr(VnGroups) groups = NULL;
  g_autoptr(VnScene) scene = vn_scene_build_grouped_finish (result, &groups, NULL);

  vn_graph_view_set_network (run->view, scene, groups);
}

/* Errors as of a quantized network, so that there is something to colour. */
static void
set_overlay (Run *run)
{
  guint n = vn_scene_get_n_nodes (vn_graph_view_get_scene (run->view));
  g_autoptr(VnOverlay) overlay = vn_overlay_new (VN_OVERLAY_ERROR, n, "dB");

  for (guint i = 0; i < n; i++)
    {
      VnOverlayItem item = { .measured = TRUE, .t = (float) (i % 17) / 16, .ticks = i % 5, .is_bad = i % 5 == 4 };

      g_snprintf (item.value, sizeof item.value, "%u.%u", 10 + i % 40, i % 10);
      vn_overlay_set (overlay, i, &item);
    }
  vn_graph_view_set_overlay (run->view, overlay);
}

static void
wait_for_index (Run *run)
{
  gint64 end = g_get_monotonic_time () + WAIT_SECONDS * G_USEC_PER_SEC;

  while (run->painted_at == 0 && g_get_monotonic_time () < end)
    turn (run);
  if (run->painted_at == 0)
    g_error ("Not painted after %u s", WAIT_SECONDS);
}

static void
unfold_columns (Run *run)
{
  vn_graph_view_set_page (run->view, 0);
}

static void
fold_columns (Run *run)
{
  vn_graph_view_set_page (run->view, VN_GRAPH_COLUMNS_PAGE);
}

static void
close_group (Run *run)
{
  vn_graph_view_collapse (run->view, 1);
}

static void
open_group (Run *run)
{
  vn_graph_view_expand (run->view, 1);
}

static void
fit (Run *run)
{
  vn_graph_view_zoom_to_fit (run->view);
}

static void
search (Run *run)
{
  vn_graph_view_zoom_to_node (run->view, vn_scene_get_n_nodes (vn_graph_view_get_scene (run->view)) / 2);
}

static void
close_all (Run *run)
{
  vn_graph_view_collapse_all (run->view);
}

static void
open_all (Run *run)
{
  vn_graph_view_expand_all (run->view);
}

/* The longest turn of the main loop, in processor time, from what is asked for until it is seen and nothing moves any more. */
static void
measure_changes (Run *run)
{
  static const struct { const char *name; void (*change) (Run *run); } changes[] = {
    { "to one column", unfold_columns }, { "to columns", fold_columns }, { "closing a group", close_group },
    { "opening a group", open_group }, { "to the whole", fit }, { "to a node", search }, { "closing all", close_all },
    { "opening all", open_all },
  };

  for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
    {
      double begun, end;

      settle (300);
      begun = get_milliseconds (CLOCK_THREAD_CPUTIME_ID);
      changes[i].change (run);
      run->longest = get_milliseconds (CLOCK_THREAD_CPUTIME_ID) - begun;
      for (end = get_milliseconds (CLOCK_MONOTONIC) + 1500; get_milliseconds (CLOCK_MONOTONIC) < end;)
        {
          g_main_context_wakeup (NULL);
          turn (run);
        }
      g_print ("  %-26s turn at most %.0f ms; %u boxes\n", changes[i].name, run->longest,
               vn_scene_get_n_nodes (vn_graph_view_get_shown (run->view)));
    }
}

static void
expand (Run *run)
{
  guint n_shown = vn_scene_get_n_nodes (vn_graph_view_get_shown (run->view));
  double begun = get_milliseconds (CLOCK_MONOTONIC);

  vn_graph_view_expand_all (run->view);
  while (vn_scene_get_n_nodes (vn_graph_view_get_shown (run->view)) == n_shown &&
         get_milliseconds (CLOCK_MONOTONIC) - begun < WAIT_SECONDS * 1e3)
    turn (run);
  g_print ("  expanded after %.0f ms: %u boxes instead of %u\n", get_milliseconds (CLOCK_MONOTONIC) - begun,
           vn_scene_get_n_nodes (vn_graph_view_get_shown (run->view)), n_shown);
}

static void
fill (GtkDrawingArea *area,
      cairo_t        *cr,
      int             width,
      int             height,
      gpointer        data)
{
  const Run *run = data;

  cairo_set_source_rgb (cr, run->frame % 2, 0.5, 0.5);
  cairo_paint (cr);
}

static gboolean
fill_again (GtkWidget     *widget,
            GdkFrameClock *clock,
            gpointer       data)
{
  Run *run = data;

  gtk_widget_queue_draw (widget);
  return ++run->frame < N_FRAMES;
}

/* A window that shows nothing: what the toolkit and the display server take for themselves. */
static void
measure_floor (void)
{
  Run run = { .painted_at = 1, .wall = g_array_new (FALSE, FALSE, sizeof (double)),
              .cpu = g_array_new (FALSE, FALSE, sizeof (double)) };
  GtkWidget *area = gtk_drawing_area_new ();
  GdkFrameClock *clock;

  run.window = gtk_window_new ();
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (area), fill, &run, NULL);
  gtk_window_set_child (GTK_WINDOW (run.window), area);
  gtk_window_set_default_size (GTK_WINDOW (run.window), WIDTH, HEIGHT);
  gtk_window_present (GTK_WINDOW (run.window));
  settle (300);
  clock = gtk_widget_get_frame_clock (run.window);
  g_signal_connect (clock, "before-paint", G_CALLBACK (on_before_paint), &run);
  g_signal_connect_after (clock, "after-paint", G_CALLBACK (on_after_paint), &run);
  forget (&run);
  gtk_widget_add_tick_callback (area, fill_again, &run, NULL);
  while (run.frame < N_FRAMES)
    turn (&run);
  tell (&run, "one colour");
  g_signal_handlers_disconnect_by_data (clock, &run);
  gtk_window_destroy (GTK_WINDOW (run.window));
  g_array_unref (run.wall);
  g_array_unref (run.cpu);
}

static void
run_one (guint n_nodes)
{
  g_autofree char *folder = g_dir_make_tmp ("vernier-graph-XXXXXX", NULL), *path = g_build_filename (folder, "large.onnx", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;
  Run run = { .wall = g_array_new (FALSE, FALSE, sizeof (double)), .cpu = g_array_new (FALSE, FALSE, sizeof (double)) };
  GdkFrameClock *clock;
  double begun;

  large_model_write (path, n_nodes, FALSE);
  model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  run.window = gtk_window_new ();
  run.view = VN_GRAPH_VIEW (vn_graph_view_new ());
  gtk_window_set_child (GTK_WINDOW (run.window), GTK_WIDGET (run.view));
  gtk_window_set_default_size (GTK_WINDOW (run.window), WIDTH, HEIGHT);
  gtk_window_present (GTK_WINDOW (run.window));
  settle (300);
  clock = gtk_widget_get_frame_clock (run.window);
  g_signal_connect (clock, "before-paint", G_CALLBACK (on_before_paint), &run);
  g_signal_connect_after (clock, "after-paint", G_CALLBACK (on_after_paint), &run);
  begun = get_milliseconds (CLOCK_MONOTONIC);
  vn_scene_build_grouped_async (model, NULL, VN_PAIRS_UNFOLDED, NULL, NULL, NULL, on_built, &run);
  wait_for_index (&run);
  g_print ("%u nodes: painted %.0f ms after its file was read; the main loop computed for at most %.0f ms at a time\n", n_nodes,
           run.painted_at - begun, run.longest);
  set_overlay (&run);
  measure_all (&run, "folded");
  forget (&run);
  expand (&run);
  measure_all (&run, "expanded");
  fold_columns (&run);
  settle (2000);
  measure_all (&run, "in columns");
  measure_changes (&run);
  g_signal_handlers_disconnect_by_data (clock, &run);
  gtk_window_destroy (GTK_WINDOW (run.window));
  g_array_unref (run.wall);
  g_array_unref (run.cpu);
  g_unlink (path);
  g_rmdir (folder);
}

int
main (int    argc,
      char **argv)
{
  static const guint sizes[] = { 1000, 10000, 50000 };

  vn_memory_keep_frames ();
  if (!gtk_init_check ())
    {
      g_print ("no display\n");
      return 77;
    }
  adw_init ();
  measure_floor ();
  for (int i = 1; i < argc; i++)
    run_one ((guint) g_ascii_strtoull (argv[i], NULL, 10));
  for (guint i = 0; argc == 1 && i < G_N_ELEMENTS (sizes); i++)
    run_one (sizes[i]);
  return 0;
}
