/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules as people made them: which are told as one, and by which name. */
#include "vn-graph-edit.h"
#include "vn-recipe.h"

/* What was said of several nodes at once is one, whatever they are called; what differs, or names more than a node, is not. */
static void
test_rule_sets (void)
{
  static const struct { const char *pattern; VnDType activation; } rules[] = {
    { "/head/a", VN_DTYPE_U16 }, { "/head/b", VN_DTYPE_U16 }, { "Relu #2", VN_DTYPE_S16 }, { "/stem", VN_DTYPE_S16 },
    { "/stem", VN_DTYPE_S8 },
    { "type:Relu", VN_DTYPE_S8 }, { "/head/*", VN_DTYPE_S8 }, { "nobody", VN_DTYPE_S8 },
  };
  static const struct { guint first, n, n_nodes; const char *title; } expected[] = {
    { 0, 2, 2, "head" }, { 2, 2, 2, "Relu #2 and Conv /stem" }, { 4, 1, 1, "Conv /stem" }, { 5, 1, 1, "type:Relu" }, { 6, 1, 2,
    "/head/*" },
    { 7, 1, 0, "nobody" },
  };
  static const char * const names[] = { "/head/a", "/head/b", "", "/stem" };
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  VnValue *last = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4));
  g_autoptr(GPtrArray) sets = NULL, alone = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *value = g_strdup_printf ("v%u", i);
      VnValue *out = vn_graph_add_value (model->graph, value, VN_DTYPE_F32, &VN_SHAPE (1, 4));

      vn_graph_add_node (model->graph, names[i], "", *names[i] != '\0' ? "Conv" : "Relu", &last, 1, &out, 1);
      last = out;
    }
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    {
      VnOverride *rule = vn_override_new ();

      rule->pattern = g_strdup (rules[i].pattern);
      rule->activation = rules[i].activation;
      rule->enabled = i != 1;
      g_ptr_array_add (recipe->overrides, rule);
    }
  ((VnOverride *) g_ptr_array_index (recipe->overrides, 0))->enabled = FALSE;
  sets = vn_recipe_list_rule_sets (recipe, model->graph);
  g_assert_cmpuint (sets->len, ==, G_N_ELEMENTS (expected));
  for (guint i = 0; i < sets->len; i++)
    {
      const VnRuleSet *set = g_ptr_array_index (sets, i);

      g_assert_cmpstr (set->title, ==, expected[i].title);
      g_assert_cmpuint (set->first, ==, expected[i].first);
      g_assert_cmpuint (set->n, ==, expected[i].n);
      g_assert_cmpuint (set->nodes->len, ==, expected[i].n_nodes);
      g_assert_true (set->enabled == (i > 0));
    }
  g_assert_cmpuint (g_array_index (((VnRuleSet *) sets->pdata[1])->nodes, guint, 0), ==, 2);
  alone = vn_recipe_list_rule_sets (recipe, NULL);
  g_assert_cmpuint (alone->len, ==, G_N_ELEMENTS (rules));
}

/* Rules about tensors are named by how many they cover and where these are. */
static void
test_tensors (void)
{
  static const struct { const char *tensors[4], *title; } cases[] = {
    { { "/head/a_out", "/head/b_out", "/head/w" }, "3 tensors of head" }, { { "/head/*" }, "3 tensors of head" },
    { { "/head/a_out", "stem_out" }, "2 tensors, from /head/a to /stem" }, { { "stem_out" }, "Output of Conv /stem" },
    { { "gone" }, "gone" }, { { "/neck/x", "/neck/y" }, "2 tensors of neck" },
  };
  static const char * const names[] = { "/head/a", "/head/b", "/stem" }, * const outputs[] = { "/head/a_out", "/head/b_out",
                                                                                              "stem_out" };
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnValue *last = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4));
  VnValue *weight = vn_graph_add_value (model->graph, "/head/w", VN_DTYPE_F32, &VN_SHAPE (1, 4));

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      VnValue *out = vn_graph_add_value (model->graph, outputs[i], VN_DTYPE_F32, &VN_SHAPE (1, 4)), *inputs[] = { last, weight };

      vn_graph_add_node (model->graph, names[i], "", "Conv", inputs, i == 1 ? 2 : 1, &out, 1);
      last = out;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
      g_autoptr(GPtrArray) sets = NULL;
      VnOverride *rule = vn_override_new ();

      rule->tensors = g_strdupv ((char **) cases[i].tensors);
      g_ptr_array_add (recipe->overrides, rule);
      sets = vn_recipe_list_rule_sets (recipe, model->graph);
      g_assert_cmpuint (sets->len, ==, 1);
      g_assert_cmpstr (((VnRuleSet *) sets->pdata[0])->title, ==, cases[i].title);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/recipe/rule-sets", test_rule_sets);
  g_test_add_func ("/recipe/rule-sets/tensors", test_tensors);
  return g_test_run ();
}
