/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The outline: how names of nodes become a tree. */
#include "vn-graph-edit.h"
#include "vn-scope.h"

static VnModel *
make_model (const char *names)
{
  g_auto(GStrv) list = g_strsplit (names, " ", -1);
  VnModel *model = vn_model_new (8, 17);
  VnShape shape = VN_SHAPE (4);
  VnValue *value = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &shape);

  for (guint i = 0; list[i] != NULL; i++)
    {
      g_autofree char *tensor = g_strdup_printf ("t%u", i);
      VnValue *output = vn_graph_add_value (model->graph, tensor, VN_DTYPE_F32, &shape);

      vn_graph_add_node (model->graph, g_str_equal (list[i], "-") ? NULL : list[i], "", "Relu", &value, 1, &output, 1);
      value = output;
    }
  vn_graph_set_output (model->graph, 0, value);
  return model;
}

static GListModel *
make_items (const VnModel *model)
{
  GListStore *items = g_list_store_new (VN_TYPE_NODE_ITEM);

  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      g_autoptr(VnNodeItem) item = vn_node_item_new (g_ptr_array_index (model->graph->nodes, i));

      g_list_store_append (items, item);
    }
  return G_LIST_MODEL (items);
}

/* "name{0 1}": scopes with what is in them, nodes by their indices. */
static void
write_tree (VnScope *scope,
            GString *text)
{
  GListModel *children = vn_scope_get_children (scope);

  for (guint i = 0; i < g_list_model_get_n_items (children); i++)
    {
      g_autoptr(GObject) child = g_list_model_get_item (children, i);

      g_string_append (text, i > 0 ? " " : "");
      if (VN_IS_NODE_ITEM (child))
        {
          g_string_append_printf (text, "%u", VN_NODE_ITEM (child)->index);
          continue;
        }
      g_string_append_printf (text, "%s{", vn_scope_get_name (VN_SCOPE (child)));
      write_tree (VN_SCOPE (child), text);
      g_string_append_c (text, '}');
    }
}

static void
test_tree (void)
{
  static const struct { const char *names, *tree; } cases[] = {
    { "a", "0" },
    { "a b", "0 1" },
    { "- -", "0 1" },                                    /* without names: on top, though their tensors have some */
    { "/m/a /m/b", "m{0 1}" },
    { "m/a m/b", "m{0 1}" },
    { "m.a m.b", "m{0 1}" },                             /* points, where there is no slash */
    { "m/v1.a m/v1.b", "m{0 1}" },
    { "/m/a", "0" },                                     /* a scope of one node is that node */
    { "/m/n/a /m/n/b", "m/n{0 1}" },                     /* a scope of one scope takes its name */
    { "/m/n/a /m/n/b /m/c", "m{n{0 1} 2}" },
    { "/m/n/a /m/c /m/n/b", "m{n{0 2} 1}" },             /* where its first node is */
    { "/m/a /k/a /m/b /k/b", "m{0 2} k{1 3}" },
    { "//m//a /m/b", "m{0 1}" },
    { "/m/a - /m/b", "m{0 2} 1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (cases[i].names);
      g_autoptr(GListModel) items = make_items (model);
      g_autoptr(VnScope) root = vn_scope_new_for_nodes (items);
      g_autoptr(GString) text = g_string_new (NULL);

      write_tree (root, text);
      g_test_message ("%s: %s", cases[i].names, text->str);
      g_assert_cmpstr (text->str, ==, cases[i].tree);
      g_assert_cmpuint (gtk_bitset_get_size (vn_scope_get_nodes (root)), ==, model->graph->nodes->len);
    }
}

static void
test_nodes (void)
{
  g_autoptr(VnModel) model = make_model ("/m/n/a /m/c /m/n/b /d");
  g_autoptr(GListModel) items = make_items (model);
  g_autoptr(VnScope) root = vn_scope_new_for_nodes (items);
  g_autoptr(VnScope) m = g_list_model_get_item (vn_scope_get_children (root), 0);
  g_autoptr(VnScope) n = g_list_model_get_item (vn_scope_get_children (m), 0);

  g_assert_cmpstr (vn_scope_get_name (n), ==, "n");
  g_assert_cmpuint (gtk_bitset_get_size (vn_scope_get_nodes (m)), ==, 3);
  g_assert_cmpuint (gtk_bitset_get_size (vn_scope_get_nodes (n)), ==, 2);
  g_assert_true (gtk_bitset_contains (vn_scope_get_nodes (n), 0));
  g_assert_true (gtk_bitset_contains (vn_scope_get_nodes (n), 2));
}

/* Of the nodes that were measured and are quantized, also where a figure is not a number. */
static void
test_worst (void)
{
  static const VnErrorRow row;
  static const struct { double sqnr[4]; guint measured, excluded; int worst, worst_of_m; } cases[] = {
    { { 40, 30, 20, 10 }, 0x0, 0x0, -1, -1 },
    { { 40, 30, 20, 10 }, 0xf, 0x0, 3, 2 },
    { { 40, 30, 20, 10 }, 0x3, 0x0, 1, 1 },
    { { 40, 30, 20, 10 }, 0xf, 0xc, 1, 1 },
    { { 40, 30, 20, 10 }, 0x8, 0x0, 3, -1 },
    { { 40, -INFINITY, 20, 10 }, 0xf, 0x0, 1, 1 },
  };
  g_autoptr(VnModel) model = make_model ("/m/n/a /m/c /m/n/b /d");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GListModel) items = make_items (model);
      g_autoptr(VnScope) root = NULL, m = NULL;
      VnNodeItem *worst, *worst_of_m;

      for (guint k = 0; k < 4; k++)
        {
          g_autoptr(VnNodeItem) item = g_list_model_get_item (items, k);

          item->measured = (cases[i].measured >> k & 1) != 0;
          item->rated = item->measured && (cases[i].excluded >> k & 1) == 0 ? &row : NULL;
          item->metric = VN_METRIC_SQNR;
          item->metrics[VN_METRIC_SQNR] = cases[i].sqnr[k];
        }
      root = vn_scope_new_for_nodes (items);
      m = g_list_model_get_item (vn_scope_get_children (root), 0);
      worst = vn_scope_get_worst (root);
      worst_of_m = vn_scope_get_worst (m);
      g_assert_cmpint (worst != NULL ? (int) worst->index : -1, ==, cases[i].worst);
      g_assert_cmpint (worst_of_m != NULL ? (int) worst_of_m->index : -1, ==, cases[i].worst_of_m);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/scope/tree", test_tree);
  g_test_add_func ("/scope/nodes", test_nodes);
  g_test_add_func ("/scope/worst", test_worst);
  return g_test_run ();
}
