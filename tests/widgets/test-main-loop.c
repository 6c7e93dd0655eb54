/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large networks are opened, looked at on every page, quantized, kept in a project that is opened again, and closed. As a
 * benchmark ($VN_BENCHMARK) they are much larger, and the main loop is watched: nothing keeps it longer than somebody notices. */
#include "large-model.h"
#include "loop-watch.h"
#include "vn-graph-view.h"
#include "vn-later.h"
#include "vn-outline.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <math.h>

#define MOST_ROUNDS 3u
#define FEW_NODES   1600    /* more than what vn_later() does at once */
#define SETTLE_MS 700    /* animations, and what waits for a calm moment */

/* As a test, or as a benchmark. */
static guint
choose (guint few,
        guint many)
{
  return g_getenv ("VN_BENCHMARK") != NULL ? many : few;
}

static void
watch (void)
{
  if (choose (FALSE, TRUE))
    loop_watch_start ();
}

static VnGraphView *
get_view (Fixture *fixture)
{
  return VN_GRAPH_VIEW (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL));
}

static gboolean
is_shown (gpointer data)
{
  Fixture *fixture = data;
  VnScene *scene = vn_graph_view_get_scene (get_view (fixture));
  VnModel *model = vn_bench_get_model (VN_BENCH (fixture->document));
  guint n_pills = 0;

  if (model == NULL || scene == NULL || !vn_window_fixture_is_idle (fixture->document))
    return FALSE;
  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    n_pills += vn_scene_node_is_pill (vn_scene_get_node (scene, i));
  return vn_scene_get_n_nodes (scene) - n_pills == model->graph->nodes->len;
}

static void
open_file (Fixture    *fixture,
           const char *path)
{
  g_autoptr(GFile) file = g_file_new_for_path (path);

  vn_window_open_file (fixture->window, file);
  vn_test_settle (50);
  g_assert_true (vn_test_wait (is_shown, fixture, SECONDS));
  vn_test_settle (SETTLE_MS);
  g_assert_cmpuint (fixture->n_failed, ==, 0);
}

static void
show_page (Fixture    *fixture,
           const char *name)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.show-page", "s", name);
  vn_test_settle (SETTLE_MS);
}

static void
show_pages (Fixture *fixture)
{
  loop_watch_begin ("to page Nodes");
  show_page (fixture, "nodes");
  loop_watch_begin ("to page Compare");
  show_page (fixture, "compare");
  loop_watch_begin ("to page Graph");
  show_page (fixture, "graph");
}

static void
count (gpointer data)
{
  ++*(guint *) data;
}

static gboolean
is_counted (gpointer data)
{
  return *(guint *) data > 0;
}

static void
begin_folding (VnGraphView *view,
               const char  *step,
               guint       *n)
{
  *n = 0;
  g_signal_handlers_disconnect_by_data (view, n);
  g_signal_connect_swapped (view, "folding-changed", G_CALLBACK (count), n);
  loop_watch_begin (step);
}

static void
end_folding (VnGraphView *view,
             guint       *n)
{
  g_assert_true (vn_test_wait (is_counted, n, SECONDS));
  g_signal_handlers_disconnect_by_data (view, n);
  vn_test_settle (SETTLE_MS);
}

static guint
find_closed (VnGraphView *view)
{
  VnScene *shown = vn_graph_view_get_shown (view);

  for (guint i = 0; i < vn_scene_get_n_nodes (shown); i++)
    if (vn_scene_get_node (shown, i)->kind == VN_SCENE_GROUP)
      return vn_scene_get_node (shown, i)->source;
  g_assert_not_reached ();
}

static void
open_groups (Fixture *fixture)
{
  VnGraphView *view = get_view (fixture);
  guint n, group;

  begin_folding (view, "expanding all groups", &n);
  vn_graph_view_expand_all (view);
  end_folding (view, &n);
  loop_watch_begin ("zooming to the whole network");
  vn_graph_view_zoom_to_fit (view);
  vn_test_settle (SETTLE_MS);
  begin_folding (view, "no groups", &n);
  vn_graph_view_set_grouped (view, FALSE);
  end_folding (view, &n);
  begin_folding (view, "groups again", &n);
  vn_graph_view_set_grouped (view, TRUE);
  end_folding (view, &n);
  group = find_closed (view);
  begin_folding (view, "expanding one group", &n);
  vn_graph_view_expand (view, group);
  end_folding (view, &n);
}

/* They come in turns. */
static gboolean
has_edges (gpointer data)
{
  GtkWidget *window = GTK_WIDGET (((Fixture *) data)->window);

  return vn_test_find (window, ADW_TYPE_ACTION_ROW, "in 1") != NULL &&
         vn_test_find (window, ADW_TYPE_ACTION_ROW, "out 1") != NULL;
}

static void
select_nodes (Fixture *fixture)
{
  GtkWidget *outline = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_OUTLINE, NULL);
  GtkEditable *search = GTK_EDITABLE (vn_test_find (outline, GTK_TYPE_SEARCH_ENTRY, NULL));

  loop_watch_begin ("searching");
  gtk_editable_set_text (search, "mat");
  vn_test_settle (SETTLE_MS);
  loop_watch_begin ("selecting all that was found");
  gtk_selection_model_select_all (gtk_list_view_get_model (GTK_LIST_VIEW (vn_test_find (outline, GTK_TYPE_LIST_VIEW, NULL))));
  vn_test_settle (SETTLE_MS);
  g_assert_true (vn_test_wait (has_edges, fixture, SECONDS));
  loop_watch_begin ("ending the search");
  gtk_editable_set_text (search, "");
  vn_test_settle (SETTLE_MS);
  loop_watch_begin ("selecting all nodes");
  vn_document_select_all (fixture->document);
  vn_test_settle (SETTLE_MS);
  loop_watch_begin ("selecting one node");
  vn_document_select_one (fixture->document, 70);
  vn_test_settle (SETTLE_MS);
}

/* Returns: how many steps took too long, this time and each time before */
static guint
run_once (Fixture    *fixture,
          const char *opening,
          const char *path)
{
  watch ();
  loop_watch_begin (opening);
  open_file (fixture, path);
  show_pages (fixture);
  open_groups (fixture);
  select_nodes (fixture);
  loop_watch_tell ();
  return loop_watch_end ();
}

static void
run (Fixture    *fixture,
     const char *opening,
     const char *path)
{
  guint n = 1;

  loop_watch_forget ();
  for (guint round = 0; round < MOST_ROUNDS && n > 0; round++)
    n = run_once (fixture, opening, path);
  g_assert_cmpuint (n, ==, 0);
}

/* Of ../shared, or as many nodes as it has. */
static void
test_transformer (Fixture       *fixture,
                  gconstpointer  data)
{
  const char *shared = g_getenv ("VN_SHARED");
  g_autofree char *path = g_build_filename (shared != NULL ? shared : "", "models", "graph_tfbert_qa_3836nodes.onnx", NULL);

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    {
      g_free (path);
      path = g_build_filename (fixture->folder, "transformer.onnx", NULL);
      large_model_write (path, 3836, FALSE);
    }
  run (fixture, "opening 3,836 nodes", path);
}

static void
test_large (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "large.onnx", NULL);

  large_model_write (path, choose (FEW_NODES, 10000), FALSE);
  run (fixture, "opening a large network", path);
}

static gboolean
has_result (gpointer data)
{
  return vn_bench_get_shown (VN_BENCH (data)) != NULL;
}

static guint
run_result (Fixture *fixture)
{
  g_autofree char *path = g_build_filename (fixture->folder, "large.onnx", NULL);
  g_autofree char *project = g_build_filename (fixture->folder, "a.vernier", NULL);
  g_autoptr(GError) error = NULL;
  VnWindow *second;

  large_model_write (path, choose (FEW_NODES, 4000), FALSE);
  open_file (fixture, path);
  watch ();
  loop_watch_begin ("quantizing");
  vn_window_fixture_quantize (fixture);
  vn_test_settle (SETTLE_MS);
  show_pages (fixture);
  open_groups (fixture);
  loop_watch_begin ("saving the project");
  vn_bench_save_project (VN_BENCH (fixture->document), project, &error);
  g_assert_no_error (error);
  vn_test_settle (1300);
  loop_watch_pause ();
  second = vn_window_new (gtk_window_get_application (GTK_WINDOW (fixture->window)));
  gtk_window_present (GTK_WINDOW (second));
  vn_test_settle (SETTLE_MS);
  loop_watch_begin ("closing the window");
  loop_watch_allow (200);   /* GTK takes all widgets down at once, in a window that nobody sees any more */
  gtk_window_destroy (GTK_WINDOW (fixture->window));
  fixture->window = second;
  fixture->document = vn_window_get_document (second);
  vn_test_settle (SETTLE_MS);
  loop_watch_begin ("opening a project with a result");
  open_file (fixture, project);
  g_assert_true (vn_test_wait (has_result, fixture->document, SECONDS));
  vn_test_settle (SETTLE_MS);
  show_pages (fixture);
  loop_watch_tell ();
  return loop_watch_end ();
}

static void
test_result (Fixture       *fixture,
             gconstpointer  data)
{
  guint n = 1;

  loop_watch_forget ();
  for (guint round = 0; round < MOST_ROUNDS && n > 0; round++)
    n = run_result (fixture);
  g_assert_cmpuint (n, ==, 0);
}

static guint n_called;

static void
count_call (gpointer object)
{
  n_called++;
}

static gboolean
is_called (gpointer data)
{
  return n_called > 0;
}

/* What waits for an object that is gone does not stand in the way of another in its place. */
static void
test_later (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "large.onnx", NULL);
  g_autoptr(GObject) second = NULL;

  large_model_write (path, choose (FEW_NODES, 2000), FALSE);
  open_file (fixture, path);
  n_called = 0;
  for (guint i = 0; i < 100; i++)
    {
      GObject *first;
      gpointer place;

      g_clear_object (&second);
      first = g_object_new (G_TYPE_OBJECT, NULL);
      place = first;
      vn_later (first, fixture->document, count_call);
      g_object_unref (first);
      second = g_object_new (G_TYPE_OBJECT, NULL);
      if (second == place)
        break;
      g_test_message ("another place");
    }
  vn_later (second, fixture->document, count_call);
  vn_later (second, fixture->document, count_call);
  g_assert_true (vn_test_wait (is_called, NULL, SECONDS));
  vn_test_settle (SETTLE_MS);
  g_assert_cmpuint (n_called, ==, 1);
}

int
main (int    argc,
      char **argv)
{
  vn_window_fixture_init (&argc, &argv);
  if (choose (FALSE, TRUE))
    g_test_add ("/main-loop/transformer", Fixture, NULL, vn_window_fixture_set_up, test_transformer, vn_window_fixture_tear_down);
  g_test_add ("/main-loop/large", Fixture, NULL, vn_window_fixture_set_up, test_large, vn_window_fixture_tear_down);
  g_test_add ("/main-loop/result", Fixture, NULL, vn_window_fixture_set_up, test_result, vn_window_fixture_tear_down);
  g_test_add ("/main-loop/later", Fixture, NULL, vn_window_fixture_set_up, test_later, vn_window_fixture_tear_down);
  return g_test_run ();
}
