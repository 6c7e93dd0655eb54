/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules of regions, settings and files of settings in the window. */
#include "vn-project-file.h"
#include "vn-recipe-panel.h"
#include "vn-rules.h"
#include "vn-settings-dialog.h"
#include "vn-wizard.h"
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
  const VnRecipe *recipe = vn_document_get_recipe (fixture->document);

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
  meant = vn_rule_dup_nodes (rule, vn_document_get_model (fixture->document)->graph);
  g_assert_true (gtk_bitset_equals (meant, nodes));
  g_assert_null (vn_rule_describe_leak (rule, vn_document_get_model (fixture->document)->graph));
  g_assert_true (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_false (vn_window_fixture_get_item (fixture, "/stem/conv")->excluded);

  vn_window_fixture_quantize (fixture);
  g_assert_false (vn_quant_plan_is_node_quantized (vn_document_get_result (fixture->document)->plan, "/left/conv"));
  g_assert_true (vn_quant_plan_is_node_quantized (vn_document_get_result (fixture->document)->plan, "/stem/conv"));
  vn_test_settle (300);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-region");

  g_assert_nonnull (vn_document_undo (fixture->document));
  g_assert_cmpuint (vn_document_get_recipe (fixture->document)->overrides->len, ==, 0);
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

  vn_document_move_rule (fixture->document, 1);
  g_assert_true (get_rule (fixture, 1)->exclude);
  g_assert_true (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
  g_assert_nonnull (vn_document_undo (fixture->document));
  g_assert_false (vn_window_fixture_get_item (fixture, "/left/conv")->excluded);
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
  leak = vn_rule_describe_leak (rule, vn_document_get_model (fixture->document)->graph);
  g_test_message ("%s", leak);
  g_assert_nonnull (strstr (leak, "/right/conv"));
  recipe = vn_recipe_copy (vn_document_get_recipe (fixture->document));
  g_ptr_array_add (recipe->overrides, rule);
  vn_document_edit_recipe (fixture->document, recipe, "leak");
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-leak");
}

static gboolean
is_per_tensor (gpointer data)
{
  return !vn_document_get_recipe (data)->per_channel;
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
  g_assert_true (vn_document_get_recipe (fixture->document)->per_channel);
  row = gtk_widget_get_ancestor (vn_test_find (dialog, GTK_TYPE_LABEL, "Scale per channel"), ADW_TYPE_ACTION_ROW);
  adw_action_row_activate (ADW_ACTION_ROW (row));
  g_assert_true (vn_test_wait (is_per_tensor, fixture->document, SECONDS));   /* the switch takes its time */
  g_assert_nonnull (vn_document_undo (fixture->document));
  g_assert_true (vn_document_get_recipe (fixture->document)->per_channel);
  row = gtk_widget_get_ancestor (vn_test_find (dialog, GTK_TYPE_LABEL, "Operators computed so"), ADW_TYPE_ENTRY_ROW);
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
  g_assert_true (vn_recipe_equal (vn_document_get_recipe (fixture->document), recipe));
  g_assert_true (g_file_set_contents (wrong_path, "{\"vernier-recipe\": 1, \"format\": \"qdx\"}", -1, NULL));
  vn_window_open_file (fixture->window, wrong);
  g_assert_true (vn_recipe_equal (vn_document_get_recipe (fixture->document), recipe));

  vn_recipe_add_exclude (recipe, "/head/*");
  project = vn_project_new (fixture->model_path, NULL, samples, recipe);
  g_assert_true (vn_project_save (project, project_path, &error));
  vn_document_set_model (fixture->document, NULL);
  vn_window_open_file (fixture->window, project_file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  g_assert_true (vn_recipe_equal (vn_document_get_recipe (fixture->document), recipe));
  g_assert_cmpstr (vn_document_get_data (fixture->document)->path, ==, "random");
  g_assert_true (vn_window_fixture_get_item (fixture, "/head/relu")->excluded);
}

/* What is quantized already is shown, and not quantized again. */
static void
test_quantized (Fixture       *fixture,
                gconstpointer  data)
{
  g_autofree char *path = g_build_filename (fixture->folder, "small.q.onnx", NULL);
  g_autoptr(GFile) file = g_file_new_for_path (path);
  g_autoptr(GError) error = NULL;
  VnWizard *wizard;

  vn_window_fixture_open_model (fixture);
  vn_window_fixture_quantize (fixture);
  g_assert_true (vn_document_export (fixture->document, path, NULL, &error));
  g_assert_true (vn_test_wait (vn_window_fixture_is_idle, fixture->document, SECONDS));
  vn_document_set_model (fixture->document, NULL);
  vn_window_open_file (fixture->window, file);
  g_assert_true (vn_test_wait (vn_window_fixture_has_model, fixture->document, SECONDS));
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-quantized");
  gtk_widget_activate_action (GTK_WIDGET (fixture->window), "win.quantize", NULL);
  wizard = VN_WIZARD (vn_test_find (GTK_WIDGET (fixture->window), VN_TYPE_WIZARD, NULL));
  vn_wizard_begin (wizard, NULL);
  vn_wizard_go_next (wizard);
  g_assert_cmpstr (vn_wizard_get_step (wizard), ==, "model");
  vn_test_settle (200);
  vn_test_screenshot (GTK_WIDGET (fixture->window), "small-quantized-wizard");
}

int
main (int    argc,
      char **argv)
{
  static const struct { const char *path; void (*func) (Fixture *, gconstpointer); } tests[] = {
    { "/rules/region", test_region },
    { "/rules/order", test_order },
    { "/rules/leak", test_leak },
    { "/rules/settings", test_settings },
    { "/rules/files", test_files },
    { "/rules/quantized", test_quantized },
  };

  vn_window_fixture_init (&argc, &argv);
  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    g_test_add (tests[i].path, Fixture, NULL, vn_window_fixture_set_up, tests[i].func, vn_window_fixture_tear_down);
  return g_test_run ();
}
