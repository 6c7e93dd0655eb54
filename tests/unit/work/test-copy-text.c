/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is copied of nodes and tensors, and that a rule is one that the recipe reads again. */
#include "engine-fixture.h"

#include "vn-copy-text.h"
#include "vn-json.h"
#include "vn-recipe-rules.h"

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnNode *node;

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 4, 4));
  add_floats (model, "w", VN_SHAPE (3, 2, 1, 1), 0.3f, 0.07f);
  node = add_node (model, "Conv", "conv", "x w", "c");
  vn_node_set_int (node, "group", 1);
  add_node (model, "Relu", NULL, "c", "y");
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static char *
copy (const VnModel  *model,
      const VnRecipe *recipe,
      const char     *id)
{
  const VnNode *nodes[] = { g_ptr_array_index (model->graph->nodes, 0), g_ptr_array_index (model->graph->nodes, 1) };
  VnCopyKind kind;

  g_assert_true (vn_copy_kind_find (id, &kind));
  return vn_copy_nodes (recipe, nodes, 2, kind);
}

static void
test_nodes (void)
{
  static const struct { const char *id, *text; } cases[] = {
    { "name", "conv\nRelu #1" },
    { "type", "Conv float32[1,3,4,4]\nRelu float32[1,3,4,4]" },
  };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autofree char *json = NULL;
  g_autoptr(JsonNode) root = NULL;
  JsonObject *node;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = copy (model, recipe, cases[i].id);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
  json = copy (model, recipe, "json");
  root = vn_json_parse (json, -1, "copied", NULL);
  g_assert_cmpuint (json_array_get_length (json_node_get_array (root)), ==, 2);
  node = json_array_get_object_element (json_node_get_array (root), 0);
  g_assert_cmpstr (json_object_get_string_member (node, "operator"), ==, "Conv");
  g_assert_cmpint (json_object_get_int_member (json_object_get_object_member (node, "attributes"), "group"), ==, 1);
  g_assert_true (json_object_get_boolean_member (json_array_get_object_element (json_object_get_array_member (node, "inputs"), 1),
                                                 "constant"));
}

/* The rule that holds, or one that leaves the node in float. */
static void
test_rules (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autofree char *text = NULL, *once = NULL;
  g_auto(GStrv) lines = NULL;

  text = copy (model, recipe, "rule");
  lines = g_strsplit (text, "\n", -1);
  g_assert_cmpuint (g_strv_length (lines), ==, 2);
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(GError) error = NULL;
      VnOverride *rule = vn_override_from_json (lines[i], &error);

      g_assert_no_error (error);
      g_assert_true (rule->exclude);
      for (guint k = 0; k < 2; k++)
        g_assert_true (vn_override_matches (rule, g_ptr_array_index (model->graph->nodes, k)) == (i == k));
      vn_override_free (rule);
    }
  g_assert_cmpuint (recipe->overrides->len, ==, 0);
  vn_recipe_add_exclude (recipe, "*");
  once = copy (model, recipe, "rule");
  g_assert_null (strchr (once, '\n'));
}

static void
test_tensor (void)
{
  static const struct { VnCopyKind kind; const char *text; } cases[] = {
    { VN_COPY_NAME, "c" }, { VN_COPY_TYPE, "float32[1,3,4,4]" }, { VN_COPY_RULE, "c" },
  };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *text = vn_copy_tensor (vn_graph_find_value (model->graph, "c"), cases[i].kind);

      g_assert_cmpstr (text, ==, cases[i].text);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/copy-text/nodes", test_nodes);
  g_test_add_func ("/copy-text/rules", test_rules);
  g_test_add_func ("/copy-text/tensor", test_tensor);
  return g_test_run ();
}
