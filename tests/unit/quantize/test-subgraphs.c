/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Graphs inside nodes: what their tensors are called, how they become networks of their own and come back, and what a recipe
 * makes of them. What ONNX Runtime computes from the results is compared in tests/oracle/subgraphs.py. */

#include "quantize-fixture.h"

#include "vn-error.h"
#include "vn-validate.h"

#include <string.h>

static const VnShape image = { 4, { 1, 2, 4, 4 } };

static VnValue *
inner_value (VnGraph    *graph,
             const char *name)
{
  VnValue *value = vn_graph_find_value (graph, name);

  return value != NULL ? value : vn_graph_add_value (graph, name, VN_DTYPE_F32, &image);
}

static void
inner_weight (VnGraph    *graph,
              const char *name)
{
  const float values[] = { 0.5f, -1, 0.25f, 0.75f };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_tensor_new_copy (VN_DTYPE_F32, &VN_SHAPE (2, 2, 1, 1), values, &error);

  g_assert_no_error (error);
  vn_graph_add_initializer (graph, name, tensor);
}

static VnNode *
inner_conv (VnGraph    *graph,
            const char *name,
            const char *x,
            const char *weight,
            const char *y)
{
  VnValue *inputs[2], *output;

  if (vn_graph_find_value (graph, weight) == NULL)
    inner_weight (graph, weight);
  inputs[0] = inner_value (graph, x);
  inputs[1] = inner_value (graph, weight);
  output = inner_value (graph, y);
  return vn_graph_add_node (graph, name, "", "Conv", inputs, 2, &output, 1);
}

static VnGraph *
add_body (VnNode     *node,
          const char *attribute)
{
  VnAttr *attr = vn_attr_new (attribute, VN_ATTR_GRAPH);

  attr->graph = vn_graph_new (node->graph->model, node->graph, node);
  vn_node_set_attr (node, attr);
  return attr->graph;
}

static VnGraph *
get_body (const VnModel *model,
          const char    *node,
          const char    *attribute)
{
  return vn_node_get_attr (vn_graph_find_node (model->graph, node), attribute)->graph;
}

/* x -conv0-> u; If: u -t1 (weight of the main graph)-> p -t2-> q, or u -e1-> r; b -conv9-> y */
static Fixture *
make_if (void)
{
  Fixture *f = fixture_new (13);
  VnGraph *yes, *no;
  VnNode *holder;

  fixture_input (f, "x", image);
  vn_graph_add_input (f->model->graph, "flag", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  fixture_weight (f, "w.shared", VN_SHAPE (2, 2, 1, 1), -1, 1);
  inner_conv (f->model->graph, "conv0", "x", "w.0", "u");
  holder = fixture_node (f, "If", "If_0", "flag", "b");
  yes = add_body (holder, "then_branch");
  inner_conv (yes, "t1", "u", "w.shared", "p");
  inner_conv (yes, "t2", "p", "w.t", "q");
  vn_graph_set_output (yes, 0, inner_value (yes, "q"));
  no = add_body (holder, "else_branch");
  inner_conv (no, "e1", "u", "w.e", "r");
  vn_graph_set_output (no, 0, inner_value (no, "r"));
  inner_conv (f->model->graph, "conv9", "b", "w.9", "y");
  fixture_output (f, "y");
  fixture_complete (f);
  fixture_range (f, "u", -2, 3);
  fixture_range (f, "If_0:then_branch/p", -1, 4);
  fixture_range (f, "If_0:then_branch/q", -5, 1);
  return f;
}

static VnRecipe *
make_recipe (const char *id,
             const char *text)
{
  VnRecipe *recipe = vn_recipe_new ("cpu");
  g_autoptr(GError) error = NULL;

  vn_recipe_set (recipe, "subgraphs", "true", &error);
  g_assert_no_error (error);
  if (id != NULL)
    vn_recipe_set (recipe, id, text, &error);
  g_assert_no_error (error);
  return recipe;
}

static guint
count_nodes (const VnGraph *graph,
             const char    *op_type)
{
  guint n = 0;

  for (guint i = 0; i < graph->nodes->len; i++)
    n += vn_node_is (g_ptr_array_index (graph->nodes, i), op_type);
  return n;
}

static VnModel *
quantize (Fixture        *f,
          const VnRecipe *recipe,
          VnNotes        *notes)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnQuantPlan) plan = fixture_resolve (f, recipe, notes, &error);
  VnModel *model;

  g_assert_no_error (error);
  model = vn_quantize_write (f->model, recipe, plan, NULL, &error);
  g_assert_no_error (error);
  g_assert_true (vn_model_validate (model, VN_VALIDATE_STRUCTURE, NULL, &error));
  return model;
}

/* ---- names ---- */

static void
check_key (const VnGraph *graph,
           const char    *name,
           const char    *key)
{
  g_autofree char *found = vn_value_dup_key (vn_graph_find_value (graph, name));

  g_assert_cmpstr (found, ==, key);
}

static void
test_keys (void)
{
  g_autoptr(Fixture) f = make_if ();
  VnGraph *yes = get_body (f->model, "If_0", "then_branch"), *inner;
  VnValue *flag = vn_graph_find_value (f->model->graph, "flag"), *out = inner_value (yes, "deep");
  VnNode *second = vn_graph_add_node (yes, "If_1", "", "If", &flag, 1, &out, 1);
  VnNode *third = vn_graph_add_node (yes, NULL, "", "If", &flag, 1, NULL, 0);
  VnNode *fourth = vn_graph_add_node (yes, NULL, "", "If", &flag, 1, NULL, 0);

  inner = add_body (second, "else_branch");
  inner_value (inner, "z");
  check_key (f->model->graph, "u", "u");
  check_key (yes, "p", "If_0:then_branch/p");
  check_key (yes, "u", "u");       /* it is the one outside */
  check_key (inner, "z", "If_0:then_branch/If_1:else_branch/z");

  /* two nodes of one name, a value outside that is called like one inside */
  inner_value (add_body (third, "then_branch"), "k");
  inner_value (add_body (fourth, "then_branch"), "k");
  g_free (third->name), g_free (fourth->name);
  third->name = g_strdup ("same"), fourth->name = g_strdup ("same");
  check_key (vn_node_get_attr (third, "then_branch")->graph, "k", "If_0:then_branch/same#3:then_branch/k");
  check_key (vn_node_get_attr (fourth, "then_branch")->graph, "k", "If_0:then_branch/same#4:then_branch/k");
  vn_graph_add_value (f->model->graph, "If_0:then_branch/p", VN_DTYPE_F32, &image);
  check_key (yes, "p", "/If_0:then_branch/p");
}

/* ---- networks of their own ---- */

static void
test_round_trip (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnModel) copy = vn_model_copy (f->model);
  VnNode *holder = vn_graph_find_node (copy->graph, "If_0");
  VnGraph *yes = get_body (copy, "If_0", "then_branch");
  g_autoptr(GHashTable) originals = g_hash_table_new (NULL, NULL), outer = g_hash_table_new (NULL, NULL);
  g_autoptr(VnModel) own = vn_model_new_from_body (yes, originals);
  g_autofree char *before = vn_model_dup_digest (f->model), *after = NULL;
  g_autoptr(GError) error = NULL;
  const VnValue *weight;

  g_assert_nonnull (own);
  g_assert_cmpuint (own->graph->inputs->len, ==, 1);
  g_assert_cmpstr (((const VnValue *) g_ptr_array_index (own->graph->inputs, 0))->name, ==, "u");
  weight = vn_graph_find_value (own->graph, "w.shared");
  g_assert_nonnull (weight->initializer);
  g_assert_true (g_hash_table_lookup (originals, weight) == vn_graph_find_value (copy->graph, "w.shared"));
  g_assert_true (vn_model_validate (own, VN_VALIDATE_STRUCTURE, NULL, &error));

  g_hash_table_insert (outer, vn_graph_find_value (own->graph, "u"), vn_graph_find_value (copy->graph, "u"));
  g_hash_table_insert (outer, vn_graph_find_value (own->graph, "w.shared"), vn_graph_find_value (copy->graph, "w.shared"));
  vn_node_set_body (holder, "then_branch", own->graph, outer);
  g_assert_true (vn_model_validate (copy, VN_VALIDATE_STRUCTURE, NULL, &error));
  after = vn_model_dup_digest (copy);
  g_assert_cmpstr (after, ==, before);
  g_assert_cmpuint (vn_graph_find_value (copy->graph, "u")->uses->len, ==, 2);

  /* a name that is taken outside is changed */
  g_hash_table_remove_all (outer);
  g_hash_table_insert (outer, vn_graph_find_value (own->graph, "u"), vn_graph_find_value (copy->graph, "u"));
  vn_node_set_body (holder, "then_branch", own->graph, outer);
  yes = get_body (copy, "If_0", "then_branch");
  g_assert_null (g_hash_table_lookup (yes->by_name, "w.shared"));
  g_assert_nonnull (g_hash_table_lookup (yes->by_name, "w.shared_1"));
}

/* A value that hides one outside, which a graph further inside reads: nothing tells the two apart by name. */
static void
test_hidden_name (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL);
  g_autoptr(VnModel) model = NULL;

  vn_graph_add_named (get_body (f->model, "If_0", "then_branch"), "u", FALSE);
  model = quantize (f, recipe, NULL);
  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 0);
}

/* A file may give an attribute twice: the first one counts. */
static void
test_attribute_twice (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL);
  g_autoptr(VnModel) model = NULL;
  VnNode *holder = vn_graph_find_node (f->model->graph, "If_0");
  VnAttr *again = vn_attr_new ("then_branch", VN_ATTR_GRAPH);

  again->graph = vn_graph_new (f->model, f->model->graph, holder);
  inner_conv (again->graph, "t3", "u", "w.again", "p");
  vn_graph_set_output (again->graph, 0, inner_value (again->graph, "p"));
  g_ptr_array_add (holder->attrs, again);
  model = quantize (f, recipe, NULL);
  holder = vn_graph_find_node (model->graph, "If_0");
  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 3);
  g_assert_cmpuint (count_nodes (((const VnAttr *) g_ptr_array_index (holder->attrs, 2))->graph, "QuantizeLinear"), ==, 0);
}

/* ---- quantizing ---- */

static float
get_scale (const VnGraph *graph,
           const char    *base)
{
  for (guint i = 0; i < graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (graph->initializers, i);

      if (g_str_has_prefix (value->name, base))
        return ((const float *) value->initializer->data)[0];
    }
  return 0;
}

static void
test_quantized (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL);
  g_autoptr(VnModel) model = NULL;
  const VnGraph *yes, *no;

  fixture_range (f, "If_0:else_branch/r", -1, 1);
  model = quantize (f, recipe, NULL);
  yes = get_body (model, "If_0", "then_branch");
  no = get_body (model, "If_0", "else_branch");
  g_assert_cmpuint (count_nodes (yes, "QuantizeLinear"), ==, 3);
  g_assert_cmpuint (count_nodes (yes, "DequantizeLinear"), ==, 5);
  g_assert_cmpuint (count_nodes (no, "QuantizeLinear"), ==, 2);
  g_assert_cmpfloat (get_scale (yes, "p_scale"), ==, 5 / 255.f);
  g_assert_cmpfloat (get_scale (yes, "q_scale"), ==, 6 / 255.f);
  g_assert_cmpfloat (get_scale (model->graph, "u_scale"), ==, 5 / 255.f);
  g_assert_cmpfloat (get_scale (yes, "u_scale"), ==, 5 / 255.f);
  g_assert_null (vn_graph_find_value (model->graph, "w.shared"));   /* the only reader has integers now */
  g_assert_nonnull (vn_graph_find_value (yes, "w.shared_quantized"));
}

static void
test_off (void)
{
  static const struct { const char *id, *text; } settings[] = { { "subgraphs", "false" }, { "input-nodes", "conv9" } };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr(Fixture) f = make_if ();
      g_autoptr(VnRecipe) recipe = make_recipe (settings[i].id, settings[i].text);
      g_autoptr(VnModel) model = quantize (f, recipe, NULL);
      g_autoptr(GPtrArray) values = vn_quantize_list_values (f->model, recipe);

      g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 0);
      for (guint k = 0; k < values->len; k++)
        g_assert_true (i > 0 || ((const VnValue *) g_ptr_array_index (values, k))->graph == f->model->graph);
    }
}

static void
test_list_values (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL);
  g_autoptr(GPtrArray) values = vn_quantize_list_values (f->model, recipe);
  g_autoptr(GString) keys = g_string_new (NULL);

  for (guint i = 0; i < values->len; i++)
    {
      g_autofree char *key = vn_value_dup_key (g_ptr_array_index (values, i));

      g_string_append_printf (keys, "%s%s", i > 0 ? " " : "", key);
    }
  g_assert_cmpstr (keys->str, ==, "x u If_0:then_branch/p If_0:then_branch/q If_0:else_branch/r b y");
}

/* No sample has come to the else branch. */
static void
test_unreached (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL), named = make_recipe ("only-nodes", "e1");
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnModel) model = quantize (f, recipe, notes);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;
  guint n = 0;

  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 3);
  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "else_branch"), "QuantizeLinear"), ==, 0);
  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    if (g_str_equal (vn_notes_get (notes, i)->code, "not-reached"))
      {
        g_assert_nonnull (strstr (vn_notes_get (notes, i)->text, "“else_branch” inside “If_0”"));
        n++;
      }
  g_assert_cmpuint (n, ==, 1);

  plan = fixture_resolve (f, named, NULL, &error);
  g_assert_null (plan);
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_assert_nonnull (strstr (error->message, "“e1”"));
}

/* Lists and rules hold for all graphs. */
static void
test_named (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) only = make_recipe ("only-nodes", "t2"), nosuch = make_recipe ("only-nodes", "t9");
  g_autoptr(VnRecipe) whole = make_recipe ("only-nodes", "If_0");
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnModel) model = quantize (f, only, notes), inside = quantize (f, whole, NULL);
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (vn_notes_get_n (notes), ==, 1);   /* what is quantized */
  g_assert_cmpuint (count_nodes (model->graph, "QuantizeLinear"), ==, 0);
  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 2);
  g_assert_nonnull (vn_graph_find_value (model->graph, "w.shared"));
  g_assert_cmpuint (count_nodes (inside->graph, "QuantizeLinear"), ==, 0);
  g_assert_cmpuint (count_nodes (get_body (inside, "If_0", "then_branch"), "QuantizeLinear"), ==, 3);
  plan = fixture_resolve (f, nosuch, NULL, &error);
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

/* An outer value that a graph returns as it is, and a graph without nodes. */
static void
test_returned (void)
{
  g_autoptr(Fixture) f = make_if ();
  g_autoptr(VnRecipe) recipe = make_recipe (NULL, NULL);
  g_autoptr(VnModel) model = NULL;
  VnGraph *no = get_body (f->model, "If_0", "else_branch");

  vn_graph_remove_node (no, g_ptr_array_index (no->nodes, 0));
  g_ptr_array_index (no->outputs, 0) = vn_graph_find_value (f->model->graph, "u");
  ((VnValue *) vn_graph_find_value (no, "r"))->is_output = FALSE;
  model = quantize (f, recipe, NULL);
  g_assert_cmpuint (count_nodes (get_body (model, "If_0", "then_branch"), "QuantizeLinear"), ==, 3);
  g_assert_cmpuint (get_body (model, "If_0", "else_branch")->nodes->len, ==, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/subgraphs/keys", test_keys);
  g_test_add_func ("/subgraphs/round-trip", test_round_trip);
  g_test_add_func ("/subgraphs/hidden-name", test_hidden_name);
  g_test_add_func ("/subgraphs/attribute-twice", test_attribute_twice);
  g_test_add_func ("/subgraphs/quantized", test_quantized);
  g_test_add_func ("/subgraphs/off", test_off);
  g_test_add_func ("/subgraphs/list-values", test_list_values);
  g_test_add_func ("/subgraphs/unreached", test_unreached);
  g_test_add_func ("/subgraphs/named", test_named);
  g_test_add_func ("/subgraphs/returned", test_returned);
  return g_test_run ();
}
