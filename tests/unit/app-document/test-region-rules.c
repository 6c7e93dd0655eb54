/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules by edges: which nodes lie between them, what is not enclosed, which rule decides, and the rules in words. */
#include "branching-graph.h"
#include "vn-node-set.h"
#include "vn-rules.h"

#include <string.h>

static char **
split (const char *names)
{
  return names != NULL ? g_strsplit (names, " ", -1) : NULL;
}

static VnOverride *
make_rule (const char *from,
           const char *to,
           const char *pattern)
{
  VnOverride *rule = vn_override_new ();

  rule->in_edges = split (from);
  rule->out_edges = split (to);
  rule->pattern = g_strdup (pattern);
  rule->exclude = TRUE;
  return rule;
}

static char *
join (char **names)
{
  return names != NULL ? g_strjoinv (" ", names) : g_strdup ("");
}

/* @leak: the tensor that is named; NULL: none */
static void
test_nodes (void)
{
  static const struct { const char *from, *to, *pattern, *nodes, *leak; } cases[] = {
    { "stem", "sum", NULL, "left right sum", "right" },       /* the graph inside choice reads right */
    { "stem", "sum right", NULL, "left right sum", NULL },
    { "left", "sum", NULL, "sum", "right" },
    { "left right", "sum", NULL, "sum", NULL },
    { "stem", "left", NULL, "left", NULL },
    { "x", "tail", NULL, "stem left right sum tail", "right" },
    { "x", "tail right", NULL, "stem left right sum tail", NULL },
    { "y", "alone", NULL, "alone", NULL },
    { "stem", "sum right", "type:Relu", "right", NULL },
    { "stem", "sum right", "type:Tanh", "", NULL },
    { NULL, NULL, "type:Relu", "stem right", NULL },
    { NULL, NULL, "left", "left", NULL },
    { NULL, NULL, NULL, "", NULL },
    { "nowhere", "sum", NULL, "", "nowhere" },
    { "tail", "stem", NULL, "", "between" },                  /* nothing lies between */
  };
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnOverride *rule = make_rule (cases[i].from, cases[i].to, cases[i].pattern);
      g_autoptr(GtkBitset) nodes = vn_node_set_of_rule (rule, model->graph);
      g_autofree char *names = branching_graph_dup_names (model->graph, nodes);
      g_autofree char *leak = vn_rule_describe_leak (rule, model->graph);

      g_test_message ("%s … %s, %s: “%s”; %s", cases[i].from, cases[i].to, cases[i].pattern, names, leak);
      g_assert_cmpstr (names, ==, cases[i].nodes);
      g_assert_true ((leak != NULL) == (cases[i].leak != NULL));
      g_assert_true (leak == NULL || strstr (leak, cases[i].leak) != NULL);
      vn_override_free (rule);
    }
}

/* Each leak is named with the node it goes to, and naming them as edges one after the other closes the region. */
static void
test_leaks (void)
{
  g_autoptr(VnModel) model = branching_graph_new ();
  g_autoptr(GError) error = NULL;
  VnOverride *rule = make_rule ("left", "sum", NULL), *none = make_rule (NULL, NULL, "left"),
  *wrong = make_rule ("nowhere", "sum", NULL);
  g_autoptr(GPtrArray) leaks = vn_rule_list_leaks (rule, model->graph, &error), no_region = NULL, closed = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(GtkBitset) nodes = vn_node_set_of_rule (rule, model->graph);
  g_autofree char *text = NULL;
  const VnRuleLeak *leak;

  g_assert_no_error (error);
  g_assert_cmpuint (leaks->len, ==, 1);
  leak = g_ptr_array_index (leaks, 0);
  g_assert_cmpstr (leak->value, ==, "right");
  g_assert_cmpstr (leak->node, ==, "sum");
  g_assert_true (leak->enters);
  text = vn_rule_leak_dup_text (leak);
  g_assert_nonnull (strstr (text, "sum"));

  no_region = vn_rule_list_leaks (none, model->graph, &error);
  g_assert_cmpuint (no_region->len, ==, 0);
  g_assert_null (vn_rule_list_leaks (wrong, model->graph, &error));
  g_assert_nonnull (error);
  g_ptr_array_set_size (recipe->overrides, 0);
  g_ptr_array_add (recipe->overrides, rule);
  g_assert_cmpint (vn_node_set_find_region (nodes, recipe, model->graph), ==, 0);
  vn_rule_add_edge (rule, leak->value, leak->enters);
  closed = vn_rule_list_leaks (rule, model->graph, NULL);
  g_assert_cmpuint (closed->len, ==, 0);
  gtk_bitset_add (nodes, 0);
  g_assert_cmpint (vn_node_set_find_region (nodes, recipe, model->graph), ==, -1);
  vn_override_free (none);
  vn_override_free (wrong);
}

/* A selection becomes edges, which enclose just that. */
static void
test_of_selection (void)
{
  static const struct { const char *nodes, *from, *to; } cases[] = {
    { "left", "stem", "left" },
    { "left right sum", "stem", "right sum" },
    { "sum", "left right", "sum" },
    { "stem", "x", "stem" },
    { "stem sum", "x left right", "stem sum" },
    { "tail alone", "sum y", "tail alone" },
    { "stem left right sum tail", "x", "right tail" },
  };
  g_autoptr(VnModel) model = branching_graph_new ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GtkBitset) nodes = branching_graph_find (model->graph, cases[i].nodes);
      VnOverride *rule = vn_node_set_make_region (nodes, model->graph);
      g_autoptr(GtkBitset) found = vn_node_set_of_rule (rule, model->graph);
      g_autofree char *from = join (rule->in_edges), *to = join (rule->out_edges);
      g_autofree char *again = branching_graph_dup_names (model->graph, found);

      g_test_message ("“%s”: %s … %s: “%s”", cases[i].nodes, from, to, again);
      g_assert_cmpstr (from, ==, cases[i].from);
      g_assert_cmpstr (to, ==, cases[i].to);
      g_assert_cmpstr (again, ==, cases[i].nodes);
      vn_override_free (rule);
    }
}

/* The last rule that is switched on and speaks of a node. */
static void
test_deciding (void)
{
  /* stem left right sum tail alone choice */
  static const int expected[2][7] = { { 0, 2, 1, 1, -1, -1, -1 }, { 0, 1, 1, 1, -1, -1, -1 } };
  g_autoptr(VnModel) model = branching_graph_new ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");

  g_assert_cmpuint (model->graph->nodes->len, ==, 7);
  g_ptr_array_set_size (recipe->overrides, 0);
  g_ptr_array_add (recipe->overrides, make_rule (NULL, NULL, "type:Relu"));
  g_ptr_array_add (recipe->overrides, make_rule ("stem", "sum", NULL));
  g_ptr_array_add (recipe->overrides, make_rule (NULL, NULL, "left"));
  g_ptr_array_add (recipe->overrides, make_rule ("nowhere", "sum", NULL));
  for (guint k = 0; k < 2; k++)
    {
      g_autofree int *deciding = NULL;

      ((VnOverride *) g_ptr_array_index (recipe->overrides, 2))->enabled = k == 0;
      deciding = vn_recipe_find_rules_of_nodes (recipe, model->graph);
      for (guint i = 0; i < 7; i++)
        g_assert_cmpint (deciding[i], ==, expected[k][i]);
    }
}

static void
test_words (void)
{
  static const struct { const char *from, *to, *pattern, *tensors, *subject; } cases[] = {
    { "a", "b c", NULL, NULL, "a … b, c" },
    { "a", NULL, NULL, NULL, "a … " },
    { "a", "b", "type:Conv", NULL, "a … b, type:Conv" },
    { NULL, NULL, "/head/*", NULL, "/head/*" },
    { NULL, NULL, NULL, "p q", "p, q" },
    { NULL, NULL, NULL, NULL, "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnOverride *rule = make_rule (cases[i].from, cases[i].to, cases[i].pattern);
      g_autofree char *subject = NULL, *effect = NULL, *other = NULL, *none = NULL;

      rule->tensors = split (cases[i].tensors);
      subject = vn_override_dup_subject (rule);
      g_assert_cmpstr (subject, ==, cases[i].subject);
      effect = vn_override_dup_effect (rule);
      g_assert_cmpstr (effect, ==, "float");
      rule->exclude = FALSE;
      none = vn_override_dup_effect (rule);
      g_assert_cmpstr (none, ==, "target default");
      rule->activation = VN_DTYPE_U16;
      rule->weight = VN_DTYPE_S8;
      other = vn_override_dup_effect (rule);
      g_assert_cmpstr (other, ==, "uint16 weights int8");
      vn_override_free (rule);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/region-rules/nodes", test_nodes);
  g_test_add_func ("/region-rules/leaks", test_leaks);
  g_test_add_func ("/region-rules/of-selection", test_of_selection);
  g_test_add_func ("/region-rules/deciding", test_deciding);
  g_test_add_func ("/region-rules/words", test_words);
  return g_test_run ();
}
