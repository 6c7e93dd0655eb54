/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overlays and selecting in the window: counts agree wherever nodes are counted, a key of the legend travels, Enter walks through
 * what a search found, two runs can be told apart, and a leak is closed by its button. */
#include "vn-graph-view.h"
#include "vn-legend.h"
#include "vn-node-item.h"
#include "vn-nodes-page.h"
#include "vn-outline.h"
#include "vn-node-set.h"
#include "vn-rules.h"
#include "vn-swatch.h"
#include "vn-query-chips.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <string.h>

static gboolean
has_origins (gpointer data)
{
  VnRun *result = vn_bench_get_shown (VN_BENCH (data));

  return vn_window_fixture_is_idle (data) && vn_bench_get_origins_job (VN_BENCH (data)) == NULL && result != NULL;
}

static gpointer
find (Fixture *fixture,
      GType    type)
{
  return vn_test_find (GTK_WIDGET (fixture->window), type, NULL);
}

static void
set_overlay (Fixture    *fixture,
             const char *id)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "graph.overlay", "s", id);
  vn_test_settle (250);
}

/* The button of a key, by its line; NULL: no node counts to it. */
static GtkWidget *
find_key (Fixture *fixture,
          guint    band)
{
  GtkWidget *keys = vn_test_find (find (fixture, VN_TYPE_LEGEND), GTK_TYPE_GRID, NULL);

  for (GtkWidget *key = gtk_widget_get_first_child (keys); key != NULL; key = gtk_widget_get_next_sibling (key))
    if (GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (key), "band")) == band)
      return key;
  return NULL;
}

static guint
get_key_count (GtkWidget *key)
{
  return (guint) g_ascii_strtoull (gtk_label_get_label (g_object_get_data (G_OBJECT (key), "count")), NULL, 10);
}

/* The number in the title of a chip of the table: "Bad  5". */
static guint
get_chip_count (Fixture    *fixture,
                const char *title)
{
  GtkWidget *box = gtk_widget_get_first_child (find (fixture, VN_TYPE_NODES_PAGE));
  g_autofree char *prefix = g_strdup_printf ("%s  ", title);
  g_autoptr(GPtrArray) queue = g_ptr_array_new ();

  for (g_ptr_array_add (queue, box); queue->len > 0;)
    {
      GtkWidget *widget = g_ptr_array_steal_index (queue, queue->len - 1);
      const char *label = GTK_IS_TOGGLE_BUTTON (widget) ? gtk_button_get_label (GTK_BUTTON (widget)) : NULL;

      if (label != NULL && g_str_has_prefix (label, prefix))
        return (guint) g_ascii_strtoull (label + strlen (prefix), NULL, 10);
      for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL; child = gtk_widget_get_next_sibling (child))
        g_ptr_array_add (queue, child);
    }
  g_assert_not_reached ();
  return 0;
}

/* Legend, table, and what a key selects. */
static void
check_counts (Fixture *fixture)
{
  static const char * const titles[VN_N_BANDS] = { "Fine", "Borderline", "Bad" };
  VnOverlay *overlay = vn_graph_view_get_overlay (find (fixture, VN_TYPE_GRAPH_VIEW));
  guint n = 0, n_rated = 0;

  g_assert_nonnull (overlay);
  for (guint band = 0; band < VN_N_BANDS; band++)
    {
      GtkWidget *key = find_key (fixture, band);
      guint count = get_key_count (key);

      g_test_message ("%s: legend %u, table %u", titles[band], count, get_chip_count (fixture, titles[band]));
      g_assert_cmpuint (count, ==, vn_overlay_count_band (overlay, band));
      g_assert_cmpuint (count, ==, get_chip_count (fixture, titles[band]));
      n += count;
      if (count == 0)
        continue;
      g_signal_emit_by_name (key, "clicked");
      g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, count);
    }
  for (guint i = 0; i < g_list_model_get_n_items (vn_document_get_nodes (fixture->document)); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (vn_document_get_nodes (fixture->document), i);

      n_rated += vn_node_item_is_rated (item);
      g_assert_false (vn_node_item_is_rated (item) && vn_node_item_is_float (item));
    }
  g_assert_cmpuint (n, ==, n_rated);
  g_assert_cmpuint (n, >, 0);
}

/* With a node left in float, with handles that were moved, and without origins. */
static void
test_counts (Fixture       *fixture,
             gconstpointer  data)
{
  vn_window_fixture_write_model (fixture->model_path, FALSE);     /* with a constant in it */
  vn_window_fixture_open_model (fixture);
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "Conv #4")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  g_assert_cmpuint (get_chip_count (fixture, "Not quantized"), >, 0);
  for (guint choice = 0; choice < VN_N_CHOICES; choice++)
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) choice);

      if (info->kind != VN_OVERLAY_ERROR || choice == VN_CHOICE_LOCAL)
        continue;
      set_overlay (fixture, info->id);
      g_test_message ("%s", info->id);
      check_counts (fixture);
    }
  set_overlay (fixture, "cumulative");
  vn_document_set_handles (fixture->document, VN_METRIC_SQNR, (VnHeatHandles) { 60, 45 });
  g_assert_cmpuint (get_chip_count (fixture, "Bad"), >, 0);
}

/* NULL: the test is skipped. */
static char *
find_network (const char *name)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_SHARED") != NULL ? g_getenv ("VN_SHARED") : "../shared", "models", name,
                                            NULL);

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  g_test_skip ("no folder with networks");
  return NULL;
}

static void
check_network (Fixture    *fixture,
               const char *name)
{
  g_autofree char *path = find_network (name);

  if (path == NULL)
    return;
  vn_bench_open (VN_BENCH (fixture->document), path);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_window_fixture_quantize (fixture);
  vn_test_settle (500);
  g_test_message ("%s", name);
  set_overlay (fixture, "cumulative");
  check_counts (fixture);
}

static void
test_counts_flowers (Fixture       *fixture,
                     gconstpointer  data)
{
  check_network (fixture, "cls_mobilenetv2_035_128_flowers.onnx");
}

static void
test_counts_bert (Fixture       *fixture,
                  gconstpointer  data)
{
  check_network (fixture, "txt_bert_toy_op12_unsorted.onnx");
}

static void
test_counts_quantized (Fixture       *fixture,
                       gconstpointer  data)
{
  g_autofree char *path = find_network ("kws_micro_qdq.onnx");

  if (path == NULL)
    return;
  vn_bench_open (VN_BENCH (fixture->document), path);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_test_settle (500);
  for (guint band = 0; band < VN_N_BANDS; band++)
    g_assert_cmpuint (get_key_count (find_key (fixture, band)), ==, 0);
  g_assert_cmpuint (get_chip_count (fixture, "Fine") + get_chip_count (fixture, "Borderline") + get_chip_count (fixture, "Bad"),
                    ==, 0);
  g_assert_cmpuint (get_chip_count (fixture, "Not quantized"), ==, 0);      /* nothing was left in float: nothing was decided */
  g_assert_cmpuint (get_chip_count (fixture, "All"), ==, g_list_model_get_n_items (vn_document_get_nodes (fixture->document)));
}

/* A key selects and travels; again it goes to the next, and all stay selected. */
static void
test_travel (Fixture       *fixture,
             gconstpointer  data)
{
  VnGraphView *view;
  GtkWidget *key = NULL;
  guint first, n, band;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  set_overlay (fixture, "precision");
  view = find (fixture, VN_TYPE_GRAPH_VIEW);
  for (band = 0; band < 6; band++)
    if ((key = find_key (fixture, band)) != NULL && get_key_count (key) > 2)
      break;
  g_assert_nonnull (key);
  n = get_key_count (key);
  g_signal_emit_by_name (key, "clicked");
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, n);
  first = vn_graph_view_get_focus_node (view);
  g_assert_cmpuint (first, !=, VN_SCENE_NONE);
  g_signal_emit_by_name (key, "clicked");
  g_assert_cmpuint (vn_graph_view_get_focus_node (view), !=, first);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "graph.previous-selected", NULL);
  g_assert_cmpuint (vn_graph_view_get_focus_node (view), ==, first);
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, n);
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-travel");
}

/* Opens the drop-down @chip, and checks or clears what stands there as @value. */
static void
choose (GtkWidget  *outline,
        guint       chip,
        const char *value,
        gboolean    active)
{
  GtkWidget *button = vn_test_find (vn_test_find (outline, VN_TYPE_QUERY_CHIPS, NULL), GTK_TYPE_MENU_BUTTON, NULL), *label,
  *check;

  for (guint i = 0; i < chip; i++)
    button = gtk_widget_get_next_sibling (button);
  gtk_menu_button_popup (GTK_MENU_BUTTON (button));
  vn_test_settle (300);
  label = vn_test_find (GTK_WIDGET (gtk_menu_button_get_popover (GTK_MENU_BUTTON (button))), GTK_TYPE_LABEL, value);
  g_assert_nonnull (label);
  check = gtk_widget_get_ancestor (label, GTK_TYPE_CHECK_BUTTON);
  g_assert_true (gtk_check_button_get_active (GTK_CHECK_BUTTON (check)) != active);
  gtk_check_button_set_active (GTK_CHECK_BUTTON (check), active);
  gtk_menu_button_popdown (GTK_MENU_BUTTON (button));
  vn_test_settle (300);
}

/* Enter goes from one to the next of what was found. */
static void
test_search (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWidget *outline, *search, *all;
  GtkBitset *selection;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  outline = find (fixture, VN_TYPE_OUTLINE);
  search = vn_test_find (outline, GTK_TYPE_SEARCH_ENTRY, NULL);
  all = vn_test_find (outline, GTK_TYPE_BUTTON, "Select All");
  gtk_editable_set_text (GTK_EDITABLE (search), "type:Conv");
  vn_test_settle (400);
  g_assert_nonnull (vn_test_find (outline, GTK_TYPE_LABEL, "3 found"));
  g_signal_emit_by_name (search, "activate");
  selection = vn_document_get_selection (fixture->document);
  g_assert_cmpuint (gtk_bitset_get_minimum (selection), ==, vn_window_fixture_get_item (fixture, "/stem/conv")->index);
  g_signal_emit_by_name (search, "activate");
  selection = vn_document_get_selection (fixture->document);
  g_assert_cmpuint (gtk_bitset_get_minimum (selection), ==, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  g_assert_nonnull (vn_test_find (outline, GTK_TYPE_LABEL, "2 of 3"));
  g_signal_emit_by_name (search, "previous-match");
  selection = vn_document_get_selection (fixture->document);
  g_assert_cmpuint (gtk_bitset_get_minimum (selection), ==, vn_window_fixture_get_item (fixture, "/stem/conv")->index);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-search");
  g_signal_emit_by_name (all, "clicked");
  g_assert_cmpuint (gtk_bitset_get_size (vn_document_get_selection (fixture->document)), ==, 3);
  choose (outline, 0, "Conv", FALSE);
  choose (outline, 0, "Add", TRUE);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (search)), ==, "type:Add");
  choose (outline, 1, "U8", TRUE);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (search)), ==, "precision:U8 type:Add");
  vn_test_settle (400);
  g_assert_nonnull (vn_test_find (outline, GTK_TYPE_LABEL, "1 found"));
  choose (outline, 0, "Add", FALSE);
  choose (outline, 1, "U8", FALSE);
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (search)), ==, "");
  gtk_editable_set_text (GTK_EDITABLE (search), "sqnr<");
  vn_test_settle (400);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-search-problem");
  g_assert_nonnull (vn_test_find (outline, ADW_TYPE_STATUS_PAGE, NULL));
  g_assert_nonnull (strstr (adw_status_page_get_description (ADW_STATUS_PAGE (vn_test_find (outline, ADW_TYPE_STATUS_PAGE,
                                                                                            NULL))),
                            "sqnr&lt;20"));
}

/* Opens or closes all rows of the outline that hold others. */
static void
fold_outline (GtkWidget *outline,
              gboolean   expanded)
{
  GtkWidget *list = vn_test_find (outline, GTK_TYPE_LIST_VIEW, NULL);
  GListModel *rows = G_LIST_MODEL (gtk_list_view_get_model (GTK_LIST_VIEW (list)));
  guint n = 0;

  for (guint i = 0; i < g_list_model_get_n_items (rows); i++)
    {
      g_autoptr(GtkTreeListRow) row = g_list_model_get_item (rows, i);

      n += gtk_tree_list_row_is_expandable (row);
      gtk_tree_list_row_set_expanded (row, expanded);
    }
  g_assert_cmpuint (n, >, 0);
  vn_test_settle (200);
}

static void
edit_and_undo (Fixture *fixture)
{
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  vn_test_settle (50);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
}

/* A row of the outline hears of its node for as long as it shows it: what was searched for, folded and cleared since then is not
 * told of changes any more, and what is on the screen tells the changed network. */
static void
test_search_and_edit (Fixture       *fixture,
                      gconstpointer  data)
{
  GtkWidget *outline, *search;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  outline = find (fixture, VN_TYPE_OUTLINE);
  search = vn_test_find (outline, GTK_TYPE_SEARCH_ENTRY, NULL);
  for (guint round = 0; round < 3; round++)
    {
      fold_outline (outline, TRUE);
      gtk_editable_set_text (GTK_EDITABLE (search), "type:Conv");
      vn_test_settle (400);
      g_signal_emit_by_name (search, "activate");
      edit_and_undo (fixture);
      gtk_editable_set_text (GTK_EDITABLE (search), "");
      vn_test_settle (400);
      edit_and_undo (fixture);
      fold_outline (outline, TRUE);
      fold_outline (outline, FALSE);
      edit_and_undo (fixture);
    }
  g_assert_nonnull (vn_test_find (outline, GTK_TYPE_LABEL, "Add"));
}

static gboolean
has_two_runs (gpointer data)
{
  return has_origins (data) && vn_bench_get_expecting (VN_BENCH (data)) == VN_EXPECTING_NOTHING &&
         vn_bench_get_runs (VN_BENCH (data))->len >= 2;
}

static gboolean
has_difference (gpointer data)
{
  VnOverlay *overlay = vn_graph_view_get_overlay (data);

  return overlay != NULL && vn_overlay_get_kind (overlay) == VN_OVERLAY_DIFFERENCE;
}

/* Two runs: what 16 bit gained is told node by node; the other way round it is the loss. */
static void
test_difference (Fixture       *fixture,
                 gconstpointer  data)
{
  VnGraphView *view;
  VnScene *scene;
  guint index, node;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  set_overlay (fixture, "difference");
  view = find (fixture, VN_TYPE_GRAPH_VIEW);
  g_assert_false (has_difference (view));           /* there is one run alone */
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-difference-none");
  index = vn_window_fixture_get_item (fixture, "/left/conv")->index;
  vn_document_select_all (fixture->document);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-precision", "s", "16");
  g_assert_true (vn_test_wait (has_two_runs, fixture->document, SECONDS));
  g_assert_true (vn_test_wait (has_difference, view, SECONDS));
  scene = vn_graph_view_get_scene (view);
  node = vn_scene_find_source (scene, index);
  g_test_message ("%s: %s", vn_scene_get_node (scene, node)->name,
                  vn_overlay_get (vn_graph_view_get_overlay (view), node)->value);
  g_assert_cmpfloat (vn_overlay_get (vn_graph_view_get_overlay (view), node)->t, <, 0);
  g_assert_cmpint (*vn_overlay_get (vn_graph_view_get_overlay (view), node)->value, ==, '+');
  g_assert_cmpuint (vn_overlay_count_band (vn_graph_view_get_overlay (view), 0), >, 2);
  vn_document_select_one (fixture->document, G_MAXUINT);
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-difference");
}

/* A picture of each overlay. */
static void
test_overlays (Fixture       *fixture,
               gconstpointer  data)
{
  VnGraphView *view;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_test_wait (has_origins, fixture->document, SECONDS));
  view = find (fixture, VN_TYPE_GRAPH_VIEW);
  for (guint choice = 0; choice < VN_CHOICE_FILE; choice++)     /* that one: test-numbers.c */
    {
      const VnOverlayChoiceInfo *info = vn_overlay_choice_get_info ((VnOverlayChoice) choice);
      g_autofree char *name = g_strdup_printf ("overlay-%s", info->id);
      VnOverlay *overlay;
      guint n = 0;

      set_overlay (fixture, info->id);
      overlay = vn_graph_view_get_overlay (view);
      for (guint i = 0; overlay != NULL && i < vn_overlay_get_n (overlay); i++)
        n += vn_overlay_get (overlay, i)->measured;
      g_test_message ("%s: %u nodes", info->id, n);
      g_assert_cmpint (n > 0, ==, choice != VN_CHOICE_NONE && choice != VN_CHOICE_DIFFERENCE);
      vn_test_screenshot (GTK_WIDGET (fixture->window), name);
    }
}

static VnOverride *
get_last_rule (Fixture *fixture)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (fixture->document));

  return g_ptr_array_index (recipe->overrides, recipe->overrides->len - 1);
}

/* A click on the chip that sits where a tensor enters the selected region. */
static void
press_chip (Fixture    *fixture,
            const char *tensor)
{
  GtkWidget *view = find (fixture, VN_TYPE_GRAPH_VIEW);
  g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (view);
  gboolean is_pressed = FALSE;
  VnRect box;

  g_assert_true (vn_graph_view_get_chip (VN_GRAPH_VIEW (view), tensor, TRUE, &box));
  for (guint i = 0; i < g_list_model_get_n_items (controllers) && !is_pressed; i++)
    {
      g_autoptr(GtkEventController) item = g_list_model_get_item (controllers, i);

      is_pressed = GTK_IS_GESTURE_CLICK (item) && gtk_gesture_single_get_button (GTK_GESTURE_SINGLE (item)) == GDK_BUTTON_PRIMARY;
      if (is_pressed)
        g_signal_emit_by_name (item, "pressed", 1, box.x + box.width / 2, box.y + box.height / 2);
    }
  g_assert_true (is_pressed);
  vn_test_settle (300);
}

/* A region whose rule does not name all its edges: each leak has a button, which is one step to undo, and a chip on the graph
 * that leads to it. */
static void
test_leak (Fixture       *fixture,
           gconstpointer  data)
{
  VnRecipe *recipe;
  VnOverride *rule = vn_override_new ();
  g_autoptr(GtkBitset) nodes = NULL;
  GtkWidget *button;
  const char * const from[] = { "/left/conv", NULL }, * const to[] = { "/head/relu", NULL };

  vn_window_fixture_open_model (fixture);
  recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  rule->in_edges = g_strdupv ((char **) from);
  rule->out_edges = g_strdupv ((char **) to);
  rule->exclude = TRUE;
  g_ptr_array_add (recipe->overrides, rule);
  vn_bench_edit_recipe (VN_BENCH (fixture->document), recipe, "region");
  rule = get_last_rule (fixture);
  nodes = vn_node_set_of_rule (rule, vn_bench_get_model (VN_BENCH (fixture->document))->graph);
  g_assert_cmpuint (gtk_bitset_get_size (nodes), ==, 2);      /* the addition reads the other branch, too */
  vn_document_select (fixture->document, nodes);
  vn_test_settle (500);
  gtk_stack_set_visible_child_name (GTK_STACK (gtk_widget_get_ancestor (find (fixture, VN_TYPE_OUTLINE), GTK_TYPE_STACK)),
                                    "recipe");
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-leak");
  button = find (fixture, g_type_from_name ("VnInspector"));
  button = vn_test_find (button, GTK_TYPE_BUTTON, "Add the Missing Edge");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  vn_test_settle (300);
  rule = get_last_rule (fixture);
  g_assert_cmpuint (g_strv_length (rule->in_edges), ==, 2);
  g_assert_cmpstr (rule->in_edges[1], ==, "/right/conv");
  g_assert_null (vn_rule_describe_leak (rule, vn_bench_get_model (VN_BENCH (fixture->document))->graph));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.undo", NULL);
  rule = get_last_rule (fixture);
  g_assert_cmpuint (g_strv_length (rule->in_edges), ==, 1);
  vn_test_settle (300);
  press_chip (fixture, "/right/conv");
  vn_test_screenshot (GTK_WIDGET (fixture->window), "select-leak-chip");
  button = find (fixture, g_type_from_name ("VnGraphPage"));
  button = vn_test_find (button, GTK_TYPE_BUTTON, "Add the Missing Edge");
  g_assert_nonnull (button);
  g_signal_emit_by_name (button, "clicked");
  vn_test_settle (300);
  g_assert_cmpuint (g_strv_length (get_last_rule (fixture)->in_edges), ==, 2);
  g_assert_null (vn_test_find (find (fixture, g_type_from_name ("VnGraphPage")), GTK_TYPE_BUTTON, "Add the Missing Edge"));
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/select/counts", test_counts },
    { "/select/counts-bert", test_counts_bert },
    { "/select/counts-quantized", test_counts_quantized },
    { "/select/travel", test_travel },
    { "/select/search", test_search },
    { "/select/search-and-edit", test_search_and_edit },
    { "/select/difference", test_difference },
    { "/select/overlays", test_overlays },
    { "/select/leak", test_leak },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  if (g_test_slow ())
    g_test_add ("/select/counts-flowers", Fixture, NULL, vn_window_fixture_set_up, test_counts_flowers,
                vn_window_fixture_tear_down);
  return g_test_run ();
}
