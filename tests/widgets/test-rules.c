/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of regions, settings and files of settings in the window. */
#include "vn-project-file.h"
#include "vn-recipe-panel.h"
#include "vn-rule-groups.h"
#include "vn-rule-row.h"
#include "vn-node-set.h"
#include "vn-rules.h"
#include "vn-settings-dialog.h"
#include "widget-fixture.h"
#include "window-fixture.h"

#include <glib/gstdio.h>
#include <string.h>

/* The two branches and the sum of them. */
static GtkBitset *
select_branches (Fixture *fixture)
{
  static const char * const labels[] = { "/left/conv", "/right/conv", "/add" };
  GtkBitset *nodes = gtk_bitset_new_empty ();

  for (guint i = 0; i < G_N_ELEMENTS (labels); i++)
    gtk_bitset_add (nodes, vn_window_fixture_get_item (fixture, labels[i])->index);
  vn_document_select (fixture->document, nodes);
  return nodes;
}

static const VnOverride *
get_rule (Fixture *fixture,
          guint    i)
{
  const VnRecipe *recipe = vn_bench_get_recipe (VN_BENCH (fixture->document));

  g_assert_cmpuint (i, <, recipe->overrides->len);
  return g_ptr_array_index (recipe->overrides, i);
}

static void
test_region (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr(GtkBitset) nodes = NULL, meant = NULL;
  const VnOverride *rule;

  vn_window_fixture_open_model (fixture);
  nodes = select_branches (fixture);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.set-region", "s", "float");
  rule = get_rule (fixture, 0);
  g_assert_cmpstr (rule->in_edges[0], ==, "/stem/relu");
  g_assert_null (rule->in_edges[1]);
  g_assert_cmpstr (rule->out_edges[0], ==, "sum");
  g_assert_null (rule->out_edges[1]);
  g_assert_true (rule->exclude);
  meant = vn_node_set_of_rule (rule, vn_bench_get_model (VN_BENCH (fixture->document))->graph);
  g_assert_true (gtk_bitset_equals (meant, nodes));
  g_assert_null (vn_rule_describe_leak (rule, vn_bench_get_model (VN_BENCH (fixture->document))->graph));
  g_assert_true (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_false (vn_window_fixture_get_item (fixture, "/stem/conv")->excluded);

  vn_window_fixture_quantize (fixture);
  g_assert_false (vn_quant_plan_is_node_quantized (vn_bench_get_shown (VN_BENCH (fixture->document))->plan, "/left/conv"));
  g_assert_true (vn_quant_plan_is_node_quantized (vn_bench_get_shown (VN_BENCH (fixture->document))->plan, "/stem/conv"));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-region");

  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 0);
  g_assert_false (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
}

/* Of overlapping rules the last one decides, and they can change places. */
static void
test_order (Fixture       *fixture,
            gconstpointer  data)
{
  g_autoptr(GtkBitset) nodes = NULL, left = gtk_bitset_new_empty ();

  vn_window_fixture_open_model (fixture);
  nodes = select_branches (fixture);
  g_assert_true (vn_document_add_region (fixture->document, nodes, VN_NODE_FLOAT));
  gtk_bitset_add (left, vn_window_fixture_get_item (fixture, "/left/conv")->index);
  g_assert_true (vn_document_add_region (fixture->document, left, VN_NODE_16_BIT));
  g_assert_false (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_true (vn_window_fixture_get_item (fixture, "/right/conv")->excluded);

  vn_bench_move_rules (VN_BENCH (fixture->document), 1, 1, 0);
  g_assert_true (get_rule (fixture, 1)->exclude);
  g_assert_true (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_false (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
}

static GtkWidget *
get_rules_list (Fixture *fixture)
{
  GtkWidget *panel = vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_RECIPE_PANEL, NULL);
  GtkWidget *first = vn_test_find (panel, GTK_TYPE_LIST_BOX, NULL);
  GtkWidget *parent = gtk_widget_get_parent (first);
  guint n = 0;

  for (GtkWidget *child = gtk_widget_get_first_child (parent); child != NULL; child = gtk_widget_get_next_sibling (child))
    if (GTK_IS_LIST_BOX (child) && ++n == 2)
      return child;
  return NULL;
}

static guint
count_rows (GtkWidget *list)
{
  guint n = 0;

  while (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), (int) n) != NULL)
    n++;
  return n;
}

static const char *
get_row_title (GtkWidget *list,
               guint      i)
{
  return adw_preferences_row_get_title (ADW_PREFERENCES_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), (int) i)));
}

/* Where a row begins in its list; below 0 before it has a place. */
static float
get_row_top (GtkWidget *list,
             int        i)
{
  GtkWidget *row = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), i));
  graphene_rect_t bounds;

  return row != NULL && gtk_widget_get_height (row) > 0 && gtk_widget_compute_bounds (row, list, &bounds)
         ? graphene_rect_get_y (&bounds) : -1;
}

/* Two rows have their places, one below the other: where something is dropped is found by them. */
static gboolean
is_laid_out (gpointer fixture)
{
  GtkWidget *list = get_rules_list (fixture);

  return count_rows (list) == 2 && get_row_top (list, 0) >= 0 && get_row_top (list, 1) > get_row_top (list, 0);
}

/* Row @from of the list is dropped on row @onto, @share of whose height is above. */
static void
drop_row (Fixture *fixture,
          int      from,
          int      onto,
          double   share)
{
  GtkWidget *list;
  g_auto(GValue) value = G_VALUE_INIT;
  gboolean taken = FALSE;

  g_assert_true (vn_test_wait (is_laid_out, fixture, SECONDS));
  list = get_rules_list (fixture);
  g_value_init (&value, VN_TYPE_RULE_ROW);
  g_value_set_object (&value, gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), from));
  g_signal_emit_by_name (vn_test_find_controller (list, GTK_TYPE_DROP_TARGET), "drop", &value, 10.,
                         get_row_top (list, onto)
                         + share * gtk_widget_get_height (GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), onto))),
                         &taken);
  g_assert_true (taken);
}

static gboolean
is_exclusion_first (gpointer fixture)
{
  return get_rule (fixture, 0)->exclude && !get_rule (fixture, 1)->exclude;
}

static gboolean
is_exclusion_last (gpointer fixture)
{
  return !get_rule (fixture, 0)->exclude && get_rule (fixture, 1)->exclude;
}

/* A row that is dropped above another comes before it, and below it behind. */
static void
test_drop (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(GtkBitset) nodes = NULL, stem = gtk_bitset_new_empty ();

  vn_window_fixture_open_model (fixture);
  nodes = select_branches (fixture);
  g_assert_true (vn_document_add_region (fixture->document, nodes, VN_NODE_FLOAT));
  gtk_bitset_add (stem, vn_window_fixture_get_item (fixture, "/stem/conv")->index);
  g_assert_true (vn_document_add_region (fixture->document, stem, VN_NODE_16_BIT));
  gtk_stack_set_visible_child_name (GTK_STACK (gtk_widget_get_ancestor (get_rules_list (fixture), GTK_TYPE_STACK)), "recipe");
  g_assert_true (is_exclusion_first (fixture));
  drop_row (fixture, 1, 0, 0.05);
  g_assert_true (vn_test_wait (is_exclusion_last, fixture, SECONDS));
  drop_row (fixture, 0, 0, 0.25);   /* where it is */
  vn_test_settle (300);
  g_assert_true (is_exclusion_last (fixture));
  drop_row (fixture, 0, 1, 0.95);
  g_assert_true (vn_test_wait (is_exclusion_first, fixture, SECONDS));
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_true (!get_rule (fixture, 0)->exclude);
}

/* What was done to a selection is one row, which tells what it gained, can be moved by keys, and goes as one. */
static void
test_groups (Fixture       *fixture,
             gconstpointer  data)
{
  g_autoptr(GtkBitset) nodes = NULL;
  GtkWidget *list = get_rules_list (fixture);
  g_autoptr(GPtrArray) groups = NULL;
  const VnRuleGroup *group;
  const VnEffect *effect;
  const char *text;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  nodes = select_branches (fixture);
  g_assert_cmpuint (vn_document_set_precision (fixture->document, nodes, VN_NODE_16_BIT), ==, 3);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_document_select_one (fixture->document, vn_window_fixture_get_item (fixture, "/stem/conv")->index);
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_test_settle (200);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 4);
  g_assert_cmpuint (count_rows (list), ==, 2);
  g_assert_cmpstr (get_row_title (list, 0), ==, "Conv /left/conv to Add /add");
  g_assert_cmpstr (get_row_title (list, 1), ==, "Conv /stem/conv");
  text = adw_action_row_get_subtitle (ADW_ACTION_ROW (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 1)));
  g_assert_nonnull (strstr (text, "dB"));

  groups = vn_rule_groups_list (vn_bench_get_recipe (VN_BENCH (fixture->document)),
                                vn_bench_get_model (VN_BENCH (fixture->document)));
  group = g_ptr_array_index (groups, 1);
  effect = vn_bench_find_effect (VN_BENCH (fixture->document), group->key);
  g_assert_nonnull (effect);
  g_assert_true (effect->measured);
  g_assert_true (effect->after_db != effect->before_db);

  vn_bench_move_rules (VN_BENCH (fixture->document), group->first, group->n, 0);
  vn_test_settle (200);
  g_assert_cmpstr (get_row_title (list, 0), ==, "Conv /stem/conv");
  g_assert_cmpuint (count_rows (list), ==, 2);
  vn_bench_remove_rules (VN_BENCH (fixture->document), 1, 3);
  vn_test_settle (200);
  g_assert_cmpuint (count_rows (list), ==, 1);
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 1);
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_cmpuint (vn_bench_get_recipe (VN_BENCH (fixture->document))->overrides->len, ==, 4);
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
}

/* What is pressed while the keyboard is on the row @at. */
static gboolean
press_on_row (Fixture         *fixture,
              guint            at,
              guint            keyval,
              GdkModifierType  state)
{
  GtkListBoxRow *row = gtk_list_box_get_row_at_index (GTK_LIST_BOX (get_rules_list (fixture)), (int) at);
  g_autoptr(GListModel) controllers = gtk_widget_observe_controllers (GTK_WIDGET (row));
  gboolean taken = FALSE;

  for (guint i = 0; i < g_list_model_get_n_items (controllers) && !taken; i++)
    {
      g_autoptr(GtkEventController) controller = g_list_model_get_item (controllers, i);

      if (GTK_IS_EVENT_CONTROLLER_KEY (controller))
        g_signal_emit_by_name (controller, "key-pressed", keyval, 0u, state, &taken);
    }
  vn_test_settle (200);
  return taken;
}

static void
add_two_rules (Fixture *fixture)
{
  g_autoptr(GtkBitset) nodes = NULL, stem = gtk_bitset_new_empty ();

  vn_window_fixture_open_model (fixture);
  nodes = select_branches (fixture);
  g_assert_true (vn_document_add_region (fixture->document, nodes, VN_NODE_FLOAT));
  gtk_bitset_add (stem, vn_window_fixture_get_item (fixture, "/stem/conv")->index);
  g_assert_true (vn_document_add_region (fixture->document, stem, VN_NODE_16_BIT));
  vn_test_settle (200);
}

/* F2 makes an entry of the row; what is entered is stored, and can be undone. */
static void
test_rename (Fixture       *fixture,
             gconstpointer  data)
{
  GtkWidget *list = get_rules_list (fixture), *entry;
  g_autofree char *before = NULL;

  add_two_rules (fixture);
  before = g_strdup (get_row_title (list, 0));
  g_assert_true (press_on_row (fixture, 0, GDK_KEY_F2, 0));
  entry = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 0));
  g_assert_true (ADW_IS_ENTRY_ROW (entry));
  g_assert_cmpstr (gtk_editable_get_text (GTK_EDITABLE (entry)), ==, before);
  gtk_editable_set_text (GTK_EDITABLE (entry), "Both <b>branches</b>");
  g_signal_emit_by_name (entry, "entry-activated");
  vn_test_settle (200);
  g_assert_cmpstr (get_row_title (list, 0), ==, "Both <b>branches</b>");
  g_assert_cmpstr (get_rule (fixture, 0)->name, ==, "Both <b>branches</b>");
  g_assert_cmpstr (vn_bench_undo (VN_BENCH (fixture->document)), ==, "Rule renamed");
  vn_test_settle (200);
  g_assert_cmpstr (get_row_title (list, 0), ==, before);
  g_assert_nonnull (vn_bench_redo (VN_BENCH (fixture->document)));
  g_assert_cmpstr (get_rule (fixture, 0)->name, ==, "Both <b>branches</b>");
  g_assert_true (vn_bench_rename_rules (VN_BENCH (fixture->document), 0, 1, NULL));
  g_assert_null (get_rule (fixture, 0)->name);
  g_assert_false (vn_bench_rename_rules (VN_BENCH (fixture->document), 1, 2, "x"));
}

/* A rule that got a name after the run does not make that run one of the past, and it is known by its name there. */
static void
test_named_result (Fixture       *fixture,
                   gconstpointer  data)
{
  VnRun *result;

  add_two_rules (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_bench_rename_rules (VN_BENCH (fixture->document), 0, 1, "Branches"));
  g_assert_true (vn_window_fixture_is_idle (fixture->document));
  result = vn_bench_get_shown (VN_BENCH (fixture->document));
  g_assert_cmpstr (((const VnOverride *) g_ptr_array_index (result->recipe->overrides, 0))->name, ==, "Branches");
  g_assert_false (vn_bench_is_stale (VN_BENCH (fixture->document)));
  g_assert_nonnull (vn_run_get_identity (result));
}

/* All that can be done with a rule by keys; each step can be undone. */
static void
test_keys (Fixture       *fixture,
           gconstpointer  data)
{
  GtkWidget *list = get_rules_list (fixture);
  g_autofree char *first = NULL, *second = NULL;

  add_two_rules (fixture);
  first = g_strdup (get_row_title (list, 0));
  second = g_strdup (get_row_title (list, 1));
  g_assert_true (press_on_row (fixture, 0, GDK_KEY_Up, GDK_ALT_MASK));   /* there is no place above */
  g_assert_true (press_on_row (fixture, 0, GDK_KEY_Down, GDK_ALT_MASK));
  g_assert_cmpstr (get_row_title (list, 0), ==, second);
  g_assert_true (press_on_row (fixture, 1, GDK_KEY_Up, GDK_ALT_MASK));
  g_assert_cmpstr (get_row_title (list, 0), ==, first);
  g_assert_true (press_on_row (fixture, 0, GDK_KEY_Delete, 0));
  g_assert_cmpuint (count_rows (list), ==, 1);
  g_assert_cmpstr (get_row_title (list, 0), ==, second);
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  vn_test_settle (200);
  g_assert_cmpstr (get_row_title (list, 0), ==, first);
  g_assert_false (press_on_row (fixture, 0, GDK_KEY_Down, 0));   /* that is to go to the next row */
}

/* The row that has the keyboard shows its nodes on the graph; one that is about nothing says so. */
static void
test_reach (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *list = get_rules_list (fixture), *row;
  g_autoptr(GtkBitset) nodes = NULL;
  VnRecipe *recipe;

  add_two_rules (fixture);
  nodes = select_branches (fixture);
  recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  vn_recipe_add_exclude (recipe, "type:Softmax");
  vn_bench_edit_recipe (VN_BENCH (fixture->document), recipe, "nothing");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.select-none", NULL);
  vn_window_show_page (fixture->window, "graph");
  vn_test_settle (300);
  row = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 2));
  g_assert_true (gtk_widget_has_css_class (row, "matches-nothing"));
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "matches no node"));
  row = GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 0));
  g_assert_nonnull (strstr (adw_action_row_get_subtitle (ADW_ACTION_ROW (row)), "3 nodes"));
  gtk_stack_set_visible_child_name (GTK_STACK (gtk_widget_get_ancestor (list, GTK_TYPE_STACK)), "recipe");
  vn_test_settle (300);
  /* rows may have been made anew */
  gtk_widget_grab_focus (GTK_WIDGET (gtk_list_box_get_row_at_index (GTK_LIST_BOX (list), 0)));
  g_assert_true (gtk_bitset_equals (vn_document_get_selection (fixture->document), nodes));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-rules");
}

/* While nodes are selected, their bar is at the foot of the page, and what is told stands above it. */
static void
test_toast (Fixture       *fixture,
            gconstpointer  data)
{
  GtkWidget *toasts = vn_test_find (GTK_WIDGET (fixture->window), ADW_TYPE_TOAST_OVERLAY, NULL);
  g_autoptr(GtkBitset) nodes = NULL;

  vn_window_fixture_open_model (fixture);
  g_assert_false (gtk_widget_has_css_class (toasts, "above-bar"));
  nodes = select_branches (fixture);
  vn_test_settle (200);
  g_assert_true (gtk_widget_has_css_class (toasts, "above-bar"));
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.exclude", NULL);
  vn_test_settle (600);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-toast");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.select-none", NULL);
  g_assert_false (gtk_widget_has_css_class (toasts, "above-bar"));
}

/* An edge that is missing is named. */
static void
test_leak (Fixture       *fixture,
           gconstpointer  data)
{
  VnOverride *rule = vn_override_new ();
  VnRecipe *recipe;
  g_autofree char *leak = NULL;

  vn_window_fixture_open_model (fixture);
  rule->in_edges = g_strsplit ("/left/conv", ",", -1);
  rule->out_edges = g_strsplit ("sum", ",", -1);
  rule->exclude = TRUE;
  leak = vn_rule_describe_leak (rule, vn_bench_get_model (VN_BENCH (fixture->document))->graph);
  g_test_message ("%s", leak);
  g_assert_nonnull (strstr (leak, "/right/conv"));
  recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  g_ptr_array_add (recipe->overrides, rule);
  vn_bench_edit_recipe (VN_BENCH (fixture->document), recipe, "missing edge");
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-leak");
}

static gboolean
is_per_tensor (gpointer data)
{
  return !vn_bench_get_recipe (VN_BENCH (data))->per_channel;
}

static void
test_settings (Fixture       *fixture,
               gconstpointer  data)
{
  GtkWidget *dialog, *row;

  vn_window_fixture_open_model (fixture);
  dialog = vn_settings_dialog_new (GTK_WINDOW (fixture->window), fixture->document);
  gtk_window_present (GTK_WINDOW (dialog));
  vn_test_settle (300);
  vn_test_screenshot (dialog, "small-settings");
  g_assert_true (vn_bench_get_recipe (VN_BENCH (fixture->document))->per_channel);
  row = gtk_widget_get_ancestor (vn_test_find (dialog, GTK_TYPE_LABEL, "Per-channel scales"), ADW_TYPE_ACTION_ROW);
  adw_action_row_activate (ADW_ACTION_ROW (row));
  g_assert_true (vn_test_wait (is_per_tensor, fixture->document, SECONDS));   /* the switch takes its time */
  g_assert_nonnull (vn_bench_undo (VN_BENCH (fixture->document)));
  g_assert_true (vn_bench_get_recipe (VN_BENCH (fixture->document))->per_channel);
  row = gtk_widget_get_ancestor (vn_test_find (dialog, GTK_TYPE_LABEL, "Simulated operators"), ADW_TYPE_ENTRY_ROW);
  g_assert_false (gtk_widget_get_sensitive (row));   /* without “simulate-npu” it changes nothing */
  gtk_window_destroy (GTK_WINDOW (dialog));
}

static void
test_files (Fixture       *fixture,
            gconstpointer  data)
{
  g_autofree char *recipe_path = g_build_filename (fixture->folder, "r.json", NULL);
  g_autofree char *wrong_path = g_build_filename (fixture->folder, "wrong.json", NULL);
  g_autofree char *project_path = g_build_filename (fixture->folder, "p.vernier", NULL);
  g_autoptr(GFile) recipe_file = g_file_new_for_path (recipe_path), wrong = g_file_new_for_path (wrong_path);
  g_autoptr(GFile) project_file = g_file_new_for_path (project_path);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("a16w8");
  g_autoptr(VnDataSpec) samples = vn_data_spec_new ("random");
  g_autoptr(VnProject) project = NULL;
  g_autoptr(GError) error = NULL;

  vn_window_fixture_open_model (fixture);
  g_assert_true (vn_recipe_save (recipe, recipe_path, &error));
  vn_window_open_file (fixture->window, recipe_file);
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), recipe));
  g_assert_true (g_file_set_contents (wrong_path, "{\"vernier-recipe\": 1, \"format\": \"qdx\"}", -1, NULL));
  vn_window_open_file (fixture->window, wrong);
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), recipe));

  vn_recipe_add_exclude (recipe, "/head/*");
  project = vn_project_new (fixture->model_path, NULL, samples, recipe);
  g_assert_true (vn_project_save (project, project_path, &error));
  vn_bench_set_model (VN_BENCH (fixture->document), NULL);
  vn_window_open_file (fixture->window, project_file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), recipe));
  g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->path, ==, "random");
  g_assert_true (vn_window_fixture_get_item (fixture, "/head/relu")->excluded);
}

/* What is saved can be opened again; scripts and configurations have their text. */
static void
test_save (Fixture       *fixture,
           gconstpointer  data)
{
  static const struct { const char *kind, *name, *text; } kinds[] = {
    { "project", "small.vernier", "random" },
    { "recipe", "small.recipe.json", "vernier-recipe" },
    { "script", "small_quantize.py", "import" },
    { "xquant", "small.xquant.json", "calibration_parameters" },
  };
  g_autoptr(VnDataSpec) samples = vn_data_spec_new ("random");
  g_autoptr(GtkBitset) nodes = NULL;
  g_autoptr(VnRecipe) recipe = NULL;
  g_autofree char *project = g_build_filename (fixture->folder, "small.vernier", NULL);
  g_autoptr(GError) error = NULL;

  vn_window_fixture_open_model (fixture);
  vn_bench_set_data (VN_BENCH (fixture->document), samples);
  nodes = select_branches (fixture);
  g_assert_cmpuint (vn_document_set_precision (fixture->document, nodes, VN_NODE_FLOAT), ==, 3);
  recipe = vn_recipe_copy (vn_bench_get_recipe (VN_BENCH (fixture->document)));
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *path = vn_bench_dup_save_path (VN_BENCH (fixture->document), kinds[i].kind);
      g_autofree char *name = g_path_get_basename (path), *folder = g_path_get_dirname (path);
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autofree char *text = NULL;

      g_assert_cmpstr (name, ==, kinds[i].name);
      g_assert_cmpstr (folder, ==, fixture->folder);   /* beside the model */
      g_assert_true (vn_bench_save (VN_BENCH (fixture->document), kinds[i].kind, path, notes, &error));
      g_assert_no_error (error);
      g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
      g_assert_nonnull (strstr (text, kinds[i].text));
    }
  vn_bench_set_model (VN_BENCH (fixture->document), NULL);
  g_assert_true (vn_bench_open_project (VN_BENCH (fixture->document), project, NULL, &error));
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_true (vn_recipe_equal (vn_bench_get_recipe (VN_BENCH (fixture->document)), recipe));
  g_assert_cmpstr (vn_bench_get_data (VN_BENCH (fixture->document))->path, ==, "random");
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/rules/region", test_region },
    { "/rules/order", test_order },
    { "/rules/drop", test_drop },
    { "/rules/groups", test_groups },
    { "/rules/rename", test_rename },
    { "/rules/named-result", test_named_result },
    { "/rules/keys", test_keys },
    { "/rules/reach", test_reach },
    { "/rules/toast", test_toast },
    { "/rules/leak", test_leak },
    { "/rules/settings", test_settings },
    { "/rules/files", test_files },
    { "/rules/save", test_save },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
