/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-node-index.h"
#include "vn-subgraph.h"
#include "vn-validate.h"

/* x -> a -> b -> y, with a skip from a to y: y = Add (b, a) */
static VnModel *
make_skip (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3));
  VnValue *a = vn_graph_add_value (graph, "a", VN_DTYPE_F32, NULL);
  VnValue *b = vn_graph_add_value (graph, "b", VN_DTYPE_F32, NULL);
  VnValue *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  VnValue *sum[] = { b, a };

  vn_graph_add_node (graph, "relu", "", "Relu", &x, 1, &a, 1);
  vn_graph_add_node (graph, "exp", "", "Exp", &a, 1, &b, 1);
  vn_graph_add_node (graph, "add", "", "Add", sum, 2, &y, 1);
  vn_graph_set_output (graph, 0, y);
  return model;
}

static VnNode *
find (VnModel    *model,
      const char *name)
{
  VnNode *node = vn_graph_find_node (model->graph, name);

  g_assert_nonnull (node);
  return node;
}

/* Every link must be there in both directions. */
static void
assert_consistent (VnGraph *graph)
{
  guint n_uses = 0, n_inputs = 0;

  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);

      g_assert_cmpuint (value->id, ==, i);
      g_assert_true (g_hash_table_lookup (graph->by_name, value->name) == value);
      if (value->producer != NULL)
        g_assert_true (vn_node_get_output (value->producer, value->output_index) == value);
      for (guint u = 0; u < value->uses->len; u++)
        {
          const VnUse *use = &g_array_index (value->uses, VnUse, u);

          g_assert_true (vn_node_get_input (use->node, use->index) == value);
        }
      n_uses += value->uses->len;
    }
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);

      g_assert_cmpuint (node->index, ==, i);
      for (guint k = 0; k < node->inputs->len; k++)
        n_inputs += vn_node_get_input (node, k) != NULL;
    }
  g_assert_cmpuint (n_uses, ==, n_inputs);
}

static void
test_edit (void)
{
  g_autoptr(VnModel) model = make_skip ();
  VnGraph *graph = model->graph;
  VnNode *relu = find (model, "relu"), *add = find (model, "add");
  VnValue *a = vn_graph_find_value (graph, "a");
  VnValue *inserted = vn_graph_add_value (graph, "a", VN_DTYPE_F32, NULL);
  VnNode *identity = vn_graph_insert_node (graph, find (model, "exp"), "relu", "", "Identity", &a, 1, &inserted, 1);

  g_assert_cmpstr (inserted->name, ==, "a_2");
  g_assert_cmpstr (identity->name, ==, "relu_2");
  g_assert_cmpuint (identity->index, ==, 1);
  vn_value_replace_uses (a, inserted, identity);
  assert_consistent (graph);
  g_assert_cmpuint (a->uses->len, ==, 1);
  g_assert_true (vn_node_get_input (add, 1) == inserted);

  vn_value_replace_uses (inserted, a, NULL);
  vn_graph_remove_node (graph, identity);
  vn_graph_remove_value (graph, inserted);
  assert_consistent (graph);
  g_assert_cmpuint (a->uses->len, ==, 2);
  g_assert_true (a->producer == relu);
}

static void
test_copy (void)
{
  g_autoptr(VnModel) model = make_skip ();
  g_autoptr(VnTensor) weight = vn_tensor_new_f32 (&VN_SHAPE (1), (float[]) { 2 });
  VnValue *w = vn_graph_add_initializer (model->graph, "w", weight);
  g_autoptr(VnModel) copy = NULL;

  vn_node_set_input (find (model, "add"), 1, w);
  vn_node_set_ints (find (model, "exp"), "axes", (gint64[]) { 1, 2 }, 2);
  copy = vn_model_copy (model);
  assert_consistent (copy->graph);
  g_assert_true (vn_graph_find_value (copy->graph, "w")->initializer == weight);
  g_assert_cmpuint (copy->graph->outputs->len, ==, 1);

  vn_graph_remove_node (copy->graph, find (copy, "add"));
  g_assert_cmpuint (model->graph->nodes->len, ==, 3);
  assert_consistent (model->graph);
}

static void
test_sort (void)
{
  g_autoptr(VnModel) model = make_skip ();
  g_autoptr(GPtrArray) backwards = g_ptr_array_new ();
  g_autoptr(GPtrArray) order = NULL;
  g_autoptr(GError) error = NULL;

  for (guint i = model->graph->nodes->len; i > 0; i--)
    g_ptr_array_add (backwards, g_ptr_array_index (model->graph->nodes, i - 1));
  vn_graph_reorder (model->graph, backwards);
  order = vn_graph_sort (model->graph, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (((VnNode *) order->pdata[0])->name, ==, "relu");
  g_assert_cmpstr (((VnNode *) order->pdata[1])->name, ==, "exp");
  g_assert_cmpstr (((VnNode *) order->pdata[2])->name, ==, "add");

  vn_node_set_input (find (model, "relu"), 0, vn_graph_find_value (model->graph, "b"));
  g_assert_null (vn_graph_sort (model->graph, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
}

static void
test_sort_subgraph_use (void)
{
  g_autoptr(VnModel) model = make_skip ();
  VnGraph *graph = model->graph;
  VnNode *relu = find (model, "relu");
  VnAttr *attr = vn_attr_new ("then_branch", VN_ATTR_GRAPH);
  VnValue *inner, *y = vn_graph_find_value (graph, "y");
  VnNode *branch = vn_graph_insert_node (graph, relu, "if", "", "If", NULL, 0, NULL, 0);
  g_autoptr(GPtrArray) order = NULL;

  attr->graph = vn_graph_new (model, graph, branch);
  inner = vn_graph_add_value (attr->graph, "inner", VN_DTYPE_F32, NULL);
  vn_graph_add_node (attr->graph, NULL, "", "Neg", &y, 1, &inner, 1);
  vn_node_set_attr (branch, attr);
  order = vn_graph_sort (graph, NULL);
  g_assert_true (order->pdata[3] == branch);

  vn_graph_remove_node (graph, branch);
  g_assert_cmpuint (y->uses->len, ==, 0);
  assert_consistent (graph);
}

/* A new name hides none outside, and is hidden by none inside, however deep. */
static void
test_unique_name (void)
{
  g_autoptr(VnModel) model = make_skip ();
  VnGraph *graph = model->graph, *body, *branch;
  VnNode *loop = vn_graph_add_node (graph, "loop", "", "Loop", NULL, 0, NULL, 0), *choice;
  VnAttr *attr = vn_attr_new ("body", VN_ATTR_GRAPH), *inner = vn_attr_new ("branches", VN_ATTR_GRAPHS);
  g_autoptr(VnModel) copy = NULL;

  attr->graph = body = vn_graph_new (model, graph, loop);
  vn_node_set_attr (loop, attr);
  choice = vn_graph_add_node (body, "choice", "", "If", NULL, 0, NULL, 0);
  branch = vn_graph_new (model, body, choice);
  g_ptr_array_add (inner->graphs, branch);
  vn_node_set_attr (choice, inner);
  vn_graph_add_value (body, "a_scale", VN_DTYPE_F32, NULL);
  g_assert_cmpstr (vn_graph_add_value (branch, "a_scale", VN_DTYPE_F32, NULL)->name, ==, "a_scale_2");
  g_assert_cmpstr (vn_graph_add_named (branch, "a", TRUE)->name, ==, "a");
  copy = vn_model_copy (model);

  g_assert_cmpstr (vn_graph_add_value (graph, "a_scale", VN_DTYPE_F32, NULL)->name, ==, "a_scale_3");
  g_assert_cmpstr (vn_graph_add_value (body, "a", VN_DTYPE_F32, NULL)->name, ==, "a_2");
  g_assert_cmpstr (vn_graph_add_value (copy->graph, "a_scale", VN_DTYPE_F32, NULL)->name, ==, "a_scale_3");

  vn_graph_remove_node (body, choice);
  g_assert_cmpstr (vn_graph_add_value (body, "a_scale_2", VN_DTYPE_F32, NULL)->name, ==, "a_scale_2");
  vn_graph_remove_node (graph, loop);
  g_assert_cmpstr (vn_graph_add_value (graph, "a_scale", VN_DTYPE_F32, NULL)->name, ==, "a_scale");
  assert_consistent (graph);
}

static char *
find_first_free (VnGraph * const *graphs,
                 guint            n_graphs,
                 const char      *base)
{
  char *name = g_strdup (base);

  for (guint i = 2;; i++)
    {
      guint taken = 0;

      for (guint g = 0; g < n_graphs; g++)
        taken += g_hash_table_contains (graphs[g]->by_name, name);
      if (taken == 0)
        return name;
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, i);
    }
}

/* However names come and go in graphs inside each other: the first free one is given. */
static void
test_first_free_name (void)
{
  static const char * const bases[] = { "w", "w_2", "w_2_3", "v_07" };
  g_autoptr(VnModel) model = make_skip ();
  VnGraph *graphs[3] = { model->graph };
  g_autoptr(GPtrArray) values = g_ptr_array_new ();
  guint n_gone = 0;

  for (guint g = 1; g < G_N_ELEMENTS (graphs); g++)
    {
      VnAttr *attr = vn_attr_new ("body", VN_ATTR_GRAPH);
      VnNode *loop = vn_graph_add_node (graphs[g - 1], "loop", "", "Loop", NULL, 0, NULL, 0);

      attr->graph = graphs[g] = vn_graph_new (model, graphs[g - 1], loop);
      vn_node_set_attr (loop, attr);
    }
  for (guint i = 0; i < 3000; i++)
    {
      VnGraph *graph = graphs[g_test_rand_int_range (0, G_N_ELEMENTS (graphs))];
      const char *base = bases[g_test_rand_int_range (0, G_N_ELEMENTS (bases))];
      const int what = g_test_rand_int_range (0, 10);
      g_autofree char *expected = find_first_free (graphs, G_N_ELEMENTS (graphs), base);
      VnValue *value = values->len > 0 ? values->pdata[g_test_rand_int_range (0, (int) values->len)] : NULL;

      if (what < 6 || value == NULL)
        {
          value = vn_graph_add_value (graph, base, VN_DTYPE_F32, NULL);
          g_assert_cmpstr (value->name, ==, expected);
          g_ptr_array_add (values, value);
        }
      else if (what < 7)
        vn_graph_rename_value (value->graph, value, expected);
      else
        {
          g_ptr_array_remove_fast (values, value);
          vn_graph_remove_value (value->graph, value);
          n_gone++;
        }
    }
  g_assert_cmpuint (n_gone, >, 500);
}

static void
test_boundary (void)
{
  g_autoptr(VnModel) model = make_skip ();
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr(GPtrArray) captured = NULL;
  g_autoptr(GError) error = NULL;
  const char *in[] = { "a", NULL }, *out[] = { "y", NULL }, *wrong[] = { "nowhere", NULL };
  VnBoundary boundary;

  g_ptr_array_add (nodes, find (model, "exp"));
  vn_boundary_of_nodes (&boundary, model->graph, nodes);
  g_assert_cmpuint (boundary.in_edges->len, ==, 1);
  g_assert_cmpstr (((VnValue *) boundary.in_edges->pdata[0])->name, ==, "a");
  g_assert_cmpuint (boundary.out_edges->len, ==, 1);
  g_assert_cmpstr (((VnValue *) boundary.out_edges->pdata[0])->name, ==, "b");
  vn_boundary_clear (&boundary);

  captured = vn_graph_capture (model->graph, in, out, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (captured->len, ==, 2);
  g_assert_null (vn_graph_capture (model->graph, wrong, out, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  g_clear_error (&error);
  g_assert_null (vn_graph_capture (model->graph, out, in, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

static void
test_validate (void)
{
  g_autoptr(VnModel) model = make_skip ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnTensor) bad = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { 1.f, 0.f / 0.f });

  g_assert_true (vn_model_validate (model, VN_VALIDATE_CONTENTS, notes, &error));
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 0);
  vn_graph_add_initializer (model->graph, "w", bad);
  g_assert_true (vn_model_validate (model, VN_VALIDATE_CONTENTS, notes, &error));
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 2);

  vn_node_set_input (find (model, "add"), 1, vn_graph_add_value (model->graph, "dangling", VN_DTYPE_F32, NULL));
  g_assert_false (vn_model_validate (model, VN_VALIDATE_STRUCTURE, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
  g_assert_nonnull (strstr (error->message, "dangling"));
}

/* ---- many edits ---- */

static VnModel *
make_chain (guint n)
{
  VnModel *model = vn_model_new (8, 13);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3));
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (1), (float[]) { 1 });

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("v%u", i), *weight = g_strdup_printf ("w%u", i);
      VnValue *inputs[] = { value, vn_graph_add_initializer (model->graph, weight, tensor) };

      value = vn_graph_add_value (model->graph, name, VN_DTYPE_F32, NULL);
      vn_graph_add_node (model->graph, i % 3 > 0 ? name : NULL, "", "Add", inputs, 2, &value, 1);
    }
  vn_graph_set_output (model->graph, 0, value);
  return model;
}

/* Takes a node out, its weight too, or makes the weight anew. */
static void
drop_node (VnGraph *graph,
           VnNode  *node,
           guint    how)
{
  VnValue *input = vn_node_get_input (node, 0), *weight = vn_node_get_input (node, 1), *output = vn_node_get_output (node, 0);
  g_autoptr(VnTensor) tensor = weight != NULL && weight->initializer != NULL ? vn_tensor_ref (weight->initializer) : NULL;

  if (weight == NULL || output->is_output)
    return;
  vn_value_replace_uses (output, input, node);
  vn_graph_remove_node (graph, node);
  vn_graph_remove_value (graph, output);
  if (how % 3 > 0)
    vn_graph_set_initializer (graph, weight, NULL);
  if (how % 3 == 1)
    vn_graph_set_initializer (graph, weight, tensor);
  if (how % 3 != 1)
    vn_graph_remove_value (graph, weight);
}

static void
add_node_at (VnGraph *graph,
             VnNode  *before,
             guint    i)
{
  g_autofree char *name = g_strdup_printf ("new%u", i);
  VnValue *input = vn_node_get_input (before, 0), *value = vn_graph_add_value (graph, name, VN_DTYPE_F32, NULL);

  vn_graph_insert_node (graph, before, i % 2 > 0 ? name : NULL, "", "Relu", &input, 1, &value, 1);
  vn_node_set_input (before, 0, value);
}

/* The same edits, wherever they fall; what is told meanwhile is collected. */
static void
edit_at_random (VnModel *model,
                guint    n,
                GString *told)
{
  g_autoptr(GRand) random = g_rand_new_with_seed (7);

  for (guint i = 0; i < n; i++)
    {
      VnGraph *graph = model->graph;
      VnNode *node = vn_graph_get_node (graph, (guint) g_rand_int_range (random, 0, (gint32) vn_graph_get_n_nodes (graph)));
      VnNode *next = vn_node_get_next (node);
      g_autofree char *label = vn_node_dup_label (node);

      g_string_append_printf (told, "%s %u %s\n", label, vn_node_get_index (node), next != NULL ? next->op_type : "-");
      g_assert_true (vn_graph_get_node (graph, vn_node_get_index (node)) == node);
      if (g_rand_int_range (random, 0, 3) == 0)
        drop_node (graph, node, i);
      else
        add_node_at (graph, node, i);
      if (i % 50 == 49)
        {
          g_autoptr(GPtrArray) order = vn_graph_sort (graph, NULL);   /* reads the lists */

          g_string_append_printf (told, "%u sorted\n", order->len);
        }
    }
}

static void
test_many_edits (void)
{
  g_autoptr(VnModel) model = make_chain (200), same = vn_model_copy (model);
  g_autoptr(GString) told = g_string_new (NULL), expected = g_string_new (NULL);
  g_autofree char *digest = NULL, *expected_digest = NULL;

  edit_at_random (same, 500, expected);
  vn_model_begin_edits (model);
  vn_model_begin_edits (model);
  edit_at_random (model, 500, told);
  vn_model_end_edits (model);
  vn_model_end_edits (model);
  g_assert_cmpstr (told->str, ==, expected->str);
  assert_consistent (model->graph);
  g_assert_cmpuint (model->graph->values->len, ==, same->graph->values->len);
  for (guint i = 0; i < model->graph->values->len; i++)
    g_assert_cmpstr (((VnValue *) model->graph->values->pdata[i])->name, ==, ((VnValue *) same->graph->values->pdata[i])->name);
  digest = vn_model_dup_digest (model);                    /* nodes and initializers in their order */
  expected_digest = vn_model_dup_digest (same);
  g_assert_cmpstr (digest, ==, expected_digest);
}

/* A model that goes, and a graph inside a node that goes, while they are edited. */
static void
test_edits_unfinished (void)
{
  VnModel *model = make_chain (20);
  VnNode *node = vn_graph_get_node (model->graph, 3);
  VnAttr *attr = vn_attr_new ("body", VN_ATTR_GRAPH);
  VnValue *value;

  attr->graph = vn_graph_new (model, model->graph, node);
  value = vn_graph_add_input (attr->graph, "inner", VN_DTYPE_F32, NULL);
  vn_node_set_attr (node, attr);
  vn_model_begin_edits (model);
  vn_graph_insert_node (attr->graph, vn_graph_add_node (attr->graph, NULL, "", "Relu", &value, 1, NULL, 0), NULL, "", "Exp",
                        &value, 1,
                        NULL, 0);
  drop_node (model->graph, vn_graph_get_node (model->graph, 5), 0);
  drop_node (model->graph, node, 0);
  vn_model_end_edits (model);
  assert_consistent (model->graph);
  vn_model_unref (model);
}

static void
test_edit_log (void)
{
  g_autoptr(VnEditLog) log = vn_edit_log_new ();
  g_autofree char *text = NULL;

  vn_edit_log_set_pass (log, "fold-bn");
  vn_edit_log_add (log, "fold", "/bn", "/conv", "into %s", "/conv");
  text = vn_edit_log_to_text (log);
  g_assert_cmpstr (text, ==, "fold-bn: fold /bn: into /conv\n");
}

/* Nodes of one name, one of no name that is called as another one is, and a new name that is taken already. */
static void
test_separate_names (void)
{
  static const char * const given[] = { "c", "c", "c_2", "", "Relu #3", "c" };
  static const char * const wanted[] = { "c", "c_3", "c_2", "Relu #3_2", "Relu #3", "c_4" };
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnNotes) notes = vn_notes_new ();
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3));

  for (guint i = 0; i < G_N_ELEMENTS (given); i++)
    {
      VnValue *next = vn_graph_add_value (model->graph, NULL, VN_DTYPE_F32, NULL);
      VnNode *node = vn_graph_add_node (model->graph, NULL, "", "Relu", &value, 1, &next, 1);

      g_free (node->name);
      node->name = g_strdup (given[i]);
      value = next;
    }
  vn_graph_set_output (model->graph, 0, value);
  vn_model_separate_names (model, notes);
  for (guint i = 0; i < G_N_ELEMENTS (wanted); i++)
    {
      g_autofree char *label = vn_node_dup_label (vn_graph_get_node (model->graph, i));

      g_assert_cmpstr (label, ==, wanted[i]);
    }
  g_assert_cmpuint (vn_notes_get_n (notes), ==, 3);
}

/* As many uses of two values as there are nodes, added and taken from the front, the back and anywhere: their order is that of a
 * list from which single ones are taken out. */
static void
assert_uses (const VnValue *value,
             const GArray  *expected)
{
  g_assert_cmpuint (value->uses->len, ==, expected->len);
  for (guint i = 0; i < expected->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i), *wanted = &g_array_index (expected, VnUse, i);

      g_assert_true (use->node == wanted->node && use->index == wanted->index);
    }
}

static void
test_many_uses (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GArray) expected = g_array_new (FALSE, FALSE, sizeof (VnUse));
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  VnValue *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, NULL);
  VnValue *other = vn_graph_add_input (model->graph, "o", VN_DTYPE_F32, NULL);
  guint n_taken = 0;

  for (guint step = 0; step < 3000; step++)
    {
      const guint wish = step % 1000 < 300 ? 3 : (guint) g_rand_int_range (rand, 0, 4);

      if (wish == 3 || expected->len == 0)
        {
          VnNode *node = vn_graph_add_node (model->graph, NULL, "", "Add", (VnValue *[]) { x, x }, 2, NULL, 0);

          for (guint i = 0; i < 2; i++)
            {
              const VnUse use = { node, i };

              g_array_append_val (expected, use);
            }
        }
      else
        {
          const guint last = expected->len - 1;
          const guint at = wish == 0 ? 0 : wish == 1 ? last : (guint) g_rand_int_range (rand, 0, (int) last + 1);
          const VnUse use = g_array_index (expected, VnUse, at);

          vn_node_set_input (use.node, use.index, n_taken++ % 2 == 0 ? other : NULL);
          g_array_remove_index (expected, at);
        }
      assert_uses (x, expected);
    }
  g_assert_cmpuint (n_taken, >, 1000);
  g_assert_cmpuint (other->uses->len, ==, (n_taken + 1) / 2);
  assert_consistent (model->graph);
  vn_value_replace_uses (x, other, NULL);
  g_assert_cmpuint (x->uses->len, ==, 0);
  g_assert_cmpuint (other->uses->len, ==, (n_taken + 1) / 2 + expected->len);
  assert_consistent (model->graph);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/model/edit", test_edit);
  g_test_add_func ("/model/copy", test_copy);
  g_test_add_func ("/model/sort", test_sort);
  g_test_add_func ("/model/sort-subgraph-use", test_sort_subgraph_use);
  g_test_add_func ("/model/unique-name", test_unique_name);
  g_test_add_func ("/model/first-free-name", test_first_free_name);
  g_test_add_func ("/model/separate-names", test_separate_names);
  g_test_add_func ("/model/boundary", test_boundary);
  g_test_add_func ("/model/validate", test_validate);
  g_test_add_func ("/model/edit-log", test_edit_log);
  g_test_add_func ("/model/many-edits", test_many_edits);
  g_test_add_func ("/model/many-uses", test_many_uses);
  g_test_add_func ("/model/edits-unfinished", test_edits_unfinished);
  return g_test_run ();
}
