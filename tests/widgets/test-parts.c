/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small widgets by themselves: charts draw what they are given and nothing without it, and say it in words; a row of sizes takes
 * only what agrees with the model; a list and the document keep one selection; a target is one step that can be undone. */
#include "vn-beside-chart.h"
#include "vn-graph-page.h"
#include "vn-graph-view.h"
#include "vn-input-sizes.h"
#include "vn-nodes-page.h"
#include "vn-onnx.h"
#include "vn-picture-view.h"
#include "vn-selection-link.h"
#include "vn-values-chart.h"
#include "vn-wizard.h"
#include "vn-wizard-step.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <math.h>
#include <string.h>

#define WIDTH  300
#define HEIGHT 160

/* How many pixels a widget of a window of its own covers at all. */
static guint
count_drawn (GtkWidget *window,
             GtkWidget *widget)
{
  g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new (widget);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  GskRenderNode *node;
  g_autoptr(GdkTexture) texture = NULL;
  g_autofree guint32 *pixels = g_new0 (guint32, WIDTH * HEIGHT);
  guint n = 0;

  vn_test_settle (100);
  gdk_paintable_snapshot (paintable, snapshot, gdk_paintable_get_intrinsic_width (paintable),
                          gdk_paintable_get_intrinsic_height (paintable));
  node = gtk_snapshot_free_to_node (snapshot);
  if (node == NULL)
    return 0;
  texture = gsk_renderer_render_texture (gtk_native_get_renderer (GTK_NATIVE (window)), node,
                                         &GRAPHENE_RECT_INIT (0, 0, WIDTH, HEIGHT));
  gdk_texture_download (texture, (guchar *) pixels, WIDTH * sizeof *pixels);
  gsk_render_node_unref (node);
  for (guint i = 0; i < WIDTH * HEIGHT; i++)
    n += pixels[i] != 0;
  return n;
}

static GtkWidget *
show (GtkWidget *widget)
{
  GtkWidget *window = gtk_window_new ();

  gtk_window_set_default_size (GTK_WINDOW (window), WIDTH, HEIGHT);
  gtk_window_set_child (GTK_WINDOW (window), widget);
  gtk_window_present (GTK_WINDOW (window));
  vn_test_settle (200);
  return window;
}

/* ---- charts ---- */

static void
test_beside (void)
{
  GtkWidget *chart = vn_beside_chart_new (), *window = show (chart);
  g_autofree VnTensorValues *values = g_new0 (VnTensorValues, 1);
  guint few, many;

  g_assert_cmpuint (count_drawn (window, chart), ==, 0);
  values->low = -1;
  values->high = 1;
  values->bars[VN_TENSOR_BARS / 2] = 10;
  values->n_levels = 1;
  values->levels[0] = 0.25;
  values->counts[0] = 10;
  vn_beside_chart_set (VN_BESIDE_CHART (chart), values);
  few = count_drawn (window, chart);
  for (guint i = 0; i < VN_TENSOR_BARS; i++)
    values->bars[i] = 10;
  vn_beside_chart_set (VN_BESIDE_CHART (chart), values);
  many = count_drawn (window, chart);
  g_assert_cmpuint (few, >, 100);
  g_assert_cmpuint (many, >, few * 3);
  vn_beside_chart_set (VN_BESIDE_CHART (chart), NULL);
  g_assert_cmpuint (count_drawn (window, chart), ==, 0);
  gtk_window_destroy (GTK_WINDOW (window));
}

static VnPicture *
make_points (void)
{
  static const VnPicturePoint points[] = {
    { 0, 1, 0.5, FALSE, FALSE, FALSE, NULL }, { 1, 2, 0.5, TRUE, FALSE, FALSE, NULL }, { 2, NAN, 0.5, FALSE, FALSE, FALSE, NULL }
  };
  VnPictureAxes axes = { "place", "error", NULL, 0, TRUE, FALSE, NULL, 0 };

  return vn_picture_new_points (&axes, points, G_N_ELEMENTS (points));
}

static void
test_picture (void)
{
  GtkWidget *view = vn_picture_view_new (), *window = show (view);
  g_autoptr(VnPicture) picture = make_points ();

  g_assert_cmpuint (count_drawn (window, view), ==, 0);
  vn_picture_view_set (VN_PICTURE_VIEW (view), picture, "two points");
  g_assert_cmpuint (count_drawn (window, view), >, 100);
  g_assert_cmpint (gtk_drawing_area_get_content_height (GTK_DRAWING_AREA (view)), ==,
                   (int) ceil (vn_picture_get_height (picture, 400)));
  gtk_test_accessible_assert_role (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_ROLE_IMG);
  gtk_test_accessible_assert_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, "two points");
  vn_picture_view_set (VN_PICTURE_VIEW (view), NULL, NULL);
  g_assert_cmpuint (count_drawn (window, view), ==, 0);
  gtk_window_destroy (GTK_WINDOW (window));
}

/* What the first layer seems made for is said in words, too, and only where that is known. */
static void
test_values (void)
{
  static const struct { double suits_low, suits_high; const char *words; } cases[] = {
    { -1, 1, "Values from \u22122\u00a0\u2026\u00a02; \u22121\u00a0\u2026\u00a01, which the first layer seems to expect" },
    { NAN, NAN, "Values from \u22122\u00a0\u2026\u00a02" },
  };
  GtkWidget *chart = g_object_new (VN_TYPE_VALUES_CHART, NULL), *window = show (chart);
  GtkWidget *view = vn_test_find (chart, VN_TYPE_PICTURE_VIEW, NULL);
  g_autofree VnDataValues *values = g_new0 (VnDataValues, 1);

  g_assert_false (gtk_widget_get_visible (chart));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      values->n_channels = 3;
      values->low = -2;
      values->high = 2;
      values->suits_low = cases[i].suits_low;
      values->suits_high = cases[i].suits_high;
      for (guint bin = 0; bin < VN_DATA_LOOK_BINS; bin++)
        values->counts[0][bin] = bin;
      vn_values_chart_set (VN_VALUES_CHART (chart), values, TRUE, VN_COLOR_RGB);
      g_assert_true (gtk_widget_get_visible (chart));
      g_assert_cmpuint (count_drawn (window, view), >, 100);
      gtk_test_accessible_assert_property (GTK_ACCESSIBLE (view), GTK_ACCESSIBLE_PROPERTY_LABEL, cases[i].words);
    }
  vn_values_chart_set (VN_VALUES_CHART (chart), NULL, FALSE, VN_COLOR_RGB);
  g_assert_false (gtk_widget_get_visible (chart));
  gtk_window_destroy (GTK_WINDOW (window));
}

/* ---- with a document ---- */

/* A network whose picture may be of any size. */
static void
write_open_model (const char *path)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  VnShape shape = VN_SHAPE (1, 3, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN);
  VnValue *input = vn_graph_add_input (model->graph, "image", VN_DTYPE_F32, &shape);
  VnValue *output = vn_graph_add_value (model->graph, "result", VN_DTYPE_F32, &shape);

  vn_graph_add_node (model->graph, "relu", "", "Relu", &input, 1, &output, 1);
  vn_graph_set_output (model->graph, 0, output);
  g_assert_true (vn_onnx_write_file (model, path, NULL, NULL, &error));
  g_assert_no_error (error);
}

static gboolean
has_open_model (gpointer data)
{
  VnModel *model = vn_bench_get_model (VN_BENCH (data));

  return model != NULL && model->graph->nodes->len == 1 && vn_window_fixture_is_idle (data);
}

static void
open_open_model (Fixture *fixture)
{
  g_autoptr(GFile) file = g_file_new_for_path (fixture->model_path);

  write_open_model (fixture->model_path);
  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (has_open_model, fixture->document, SECONDS));
  vn_test_settle (500);
}

static gboolean
writes_shape (VnGraphView *view,
              const char  *shape)
{
  VnScene *scene = vn_graph_view_get_scene (view);

  for (guint i = 0; i < vn_scene_get_n_nodes (scene); i++)
    if (g_strcmp0 (vn_scene_get_node (scene, i)->shape, shape) == 0)
      return TRUE;
  return FALSE;
}

static void
test_sizes (Fixture       *fixture,
            gconstpointer  data)
{
  static const struct { const char *text; gboolean fits; } cases[] = {
    { "1×3×8×8", TRUE }, { "1×4×8×8", FALSE }, { "1×3×8", FALSE }, { "many", FALSE }, { "1x3x20x30", TRUE },
  };
  GtkWidget *sizes = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_INPUT_SIZES, NULL), *row, *view;
  gint64 last = 0;

  g_assert_nonnull (sizes);
  vn_window_fixture_open_model (fixture);
  g_assert_false (gtk_widget_get_visible (sizes));     /* nothing is open */
  open_open_model (fixture);
  g_assert_true (gtk_widget_get_visible (sizes));
  row = vn_test_find (sizes, ADW_TYPE_ENTRY_ROW, "image");
  g_assert_nonnull (row);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      gtk_editable_set_text (GTK_EDITABLE (row), cases[i].text);
      g_signal_emit_by_name (row, "apply");
      g_assert_cmpint (gtk_widget_has_css_class (row, "error"), ==, !cases[i].fits);
      if (cases[i].fits)
        last = vn_bench_get_size (VN_BENCH (fixture->document), "image")->dims[3];
      g_assert_cmpint (vn_bench_get_size (VN_BENCH (fixture->document), "image")->dims[3], ==, last);
    }
  g_assert_cmpint (last, ==, 30);
  view = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_VIEW, NULL);
  vn_test_settle (300);
  g_assert_true (writes_shape (VN_GRAPH_VIEW (view), "1×3×20×30"));
}

static void
test_one_selection (Fixture       *fixture,
                    gconstpointer  data)
{
  GtkWidget *page = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_NODES_PAGE, NULL), *table;
  g_autoptr(GtkBitset) both = NULL, shown = NULL;
  GtkSelectionModel *rows;

  vn_window_fixture_open_model (fixture);
  vn_window_show_page (fixture->window, "nodes");
  vn_test_settle (300);
  table = vn_test_find (page, GTK_TYPE_COLUMN_VIEW, NULL);
  rows = gtk_column_view_get_model (GTK_COLUMN_VIEW (table));
  gtk_selection_model_select_item (rows, 1, TRUE);
  gtk_selection_model_select_item (rows, 3, FALSE);
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, 2);
  both = gtk_bitset_copy (vn_document_get_selection (fixture->document));
  vn_document_select_one (fixture->document, 0);
  shown = gtk_selection_model_get_selection (rows);
  g_assert_cmpuint (gtk_bitset_get_size (shown), ==, 1);
  vn_document_select (fixture->document, both);
  g_assert_true (gtk_selection_model_is_selected (rows, 1) && gtk_selection_model_is_selected (rows, 3));
}

/* The page Graph follows the document: a model, what is selected in it, another model. */
static void
test_graph_page (Fixture       *fixture,
                 gconstpointer  data)
{
  GtkWidget *page = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_GRAPH_PAGE, NULL);
  VnGraphView *view = VN_GRAPH_VIEW (vn_test_find (page, VN_TYPE_GRAPH_VIEW, NULL));
  g_autoptr(GArray) selected = NULL;
  GtkWidget *label;

  vn_window_fixture_open_model (fixture);
  vn_test_settle (500);
  g_assert_cmpuint (vn_scene_get_n_nodes (vn_graph_view_get_scene (view)), ==, 6 + 2);     /* and an input, an output */
  vn_document_select_one (fixture->document, 2);
  vn_test_settle (300);
  selected = vn_graph_view_dup_selection (view);
  g_assert_cmpuint (selected->len, ==, 1);
  label = vn_test_find (page, GTK_TYPE_LABEL, "100\u00a0%");
  vn_graph_view_zoom_in (view);
  vn_test_settle (400);
  g_assert_nonnull (label);
  g_assert_cmpstr (gtk_label_get_label (GTK_LABEL (label)), !=, "100\u00a0%");
  open_open_model (fixture);
  g_assert_cmpuint (vn_scene_get_n_nodes (vn_graph_view_get_scene (view)), ==, 1 + 2);
}

/* Another target is one step back; rules for single nodes stay. */
static void
test_target (Fixture       *fixture,
             gconstpointer  data)
{
  VnWizard *wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  GtkWidget *step = vn_test_find (GTK_WIDGET (wizard), g_type_from_name ("VnStepTarget"), NULL), *row;
  g_autofree char *before = NULL, *answer = NULL;
  const VnPreset *other = vn_preset_find ("a16w8", NULL);

  vn_window_fixture_open_model (fixture);
  vn_document_select_one (fixture->document, 0);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  vn_wizard_begin (wizard, "target");
  vn_test_settle (300);
  before = g_strdup (vn_bench_get_recipe (VN_BENCH (fixture->document))->preset);
  row = vn_test_find (step, ADW_TYPE_ACTION_ROW, other->title);
  g_assert_nonnull (row);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (vn_test_find (row, GTK_TYPE_CHECK_BUTTON, NULL)), TRUE);
  g_assert_cmpstr (vn_bench_get_recipe (VN_BENCH (fixture->document))->preset, ==, "a16w8");
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  answer = vn_wizard_step_dup_answer (VN_WIZARD_STEP (step));
  g_assert_cmpstr (answer, ==, other->title);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_cmpstr (vn_bench_get_recipe (VN_BENCH (fixture->document))->preset, ==, before);
  row = vn_test_find (step, ADW_TYPE_ACTION_ROW, vn_preset_find (before, NULL)->title);
  g_assert_true (gtk_check_button_get_active (GTK_CHECK_BUTTON (vn_test_find (row, GTK_TYPE_CHECK_BUTTON, NULL))));
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*test) (Fixture *fixture, gconstpointer data); } tests[] = {
    { "/parts/sizes", test_sizes },
    { "/parts/one-selection", test_one_selection },
    { "/parts/graph-page", test_graph_page },
    { "/parts/target", test_target },
  };

  vn_window_fixture_init (&argc, &argv);
  g_test_add_func ("/parts/beside", test_beside);
  g_test_add_func ("/parts/picture", test_picture);
  g_test_add_func ("/parts/values", test_values);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].test, vn_window_fixture_tear_down);
  return g_test_run ();
}
