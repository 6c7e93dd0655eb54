/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which value stands for a node of the opened model, through folding, renaming and writing. */

#include "vn-identity.h"

/* Nodes of one input and one output, in a row; each makes a value called as it is, with "_out". */
static VnModel *
make_chain (const char * const *names)
{
  VnModel *model = vn_model_new (8, 13);
  VnValue *value = vn_graph_add_input (model->graph, "in", VN_DTYPE_F32, &VN_SHAPE (1, 4));

  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *output = g_strconcat (names[i], "_out", NULL);
      VnValue *next = vn_graph_add_value (model->graph, output, VN_DTYPE_F32, &VN_SHAPE (1, 4));

      vn_graph_add_node (model->graph, names[i], "", "Relu", &value, 1, &next, 1);
      value = next;
    }
  vn_graph_set_output (model->graph, 0, value);
  return model;
}

/* "bn" went into "scale", which then went into "conv"; "gone" has no heir; "conv" was rewritten and gives another value. */
static void
test_folded (void)
{
  static const struct { const char *node, *prepared, *quantized; } cases[] = {
    { "conv", "conv2_out", NULL },
    { "scale", "conv2_out", NULL },
    { "bn", "conv2_out", NULL },
    { "relu", "relu_out", "relu_out_dq" },
    { "gone", NULL, NULL },
  };
  g_autoptr(VnModel) source = make_chain ((const char * const []) { "conv", "scale", "bn", "relu", "gone", NULL });
  g_autoptr(VnModel) prepared = make_chain ((const char * const []) { "conv2", "relu", NULL });
  VnEditLog *edits = vn_edit_log_new ();
  g_autoptr(GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(VnIdentityMap) map = NULL;

  g_hash_table_insert (names, "relu_out", "relu_out_dq");
  vn_edit_log_add (edits, "fold", "bn", "scale", "into the scale");
  vn_edit_log_add (edits, "fold", "scale", "conv", "into the convolution");
  vn_edit_log_add (edits, "replace", "conv", "conv2", "by another");
  map = vn_identity_map_new (source, prepared, edits, NULL, names);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      const VnNode *node = vn_graph_find_node (source->graph, cases[i].node);
      const VnIdentity *identity = vn_identity_map_get (map, node);

      g_test_message ("%s", cases[i].node);
      g_assert_nonnull (identity);
      g_assert_cmpstr (identity->source, ==, vn_node_get_output (node, 0)->name);
      g_assert_cmpstr (identity->prepared, ==, cases[i].prepared);
      g_assert_cmpstr (identity->rounded, ==, cases[i].prepared);
      g_assert_cmpstr (identity->quantized, ==, cases[i].quantized);
    }
  vn_edit_log_unref (edits);
}

/* From any of the names back to the node. */
static void
test_back (void)
{
  g_autoptr(VnModel) source = make_chain ((const char * const []) { "conv", "bn", "relu", NULL });
  g_autoptr(VnModel) prepared = make_chain ((const char * const []) { "conv", "relu", NULL });
  VnEditLog *edits = vn_edit_log_new ();
  g_autoptr(GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr(VnIdentityMap) map = NULL;

  g_hash_table_insert (names, "relu_out", "relu_out_dq");
  vn_edit_log_add (edits, "fold", "bn", "conv", "into the convolution");
  map = vn_identity_map_new (source, prepared, edits, NULL, names);
  g_assert_cmpstr (vn_identity_map_find_node (map, "relu_out_dq")->name, ==, "relu");
  g_assert_cmpstr (vn_identity_map_find_node (map, "relu_out")->name, ==, "relu");
  g_assert_cmpstr (vn_identity_map_find_node (map, "bn_out")->name, ==, "bn");
  g_assert_cmpstr (vn_identity_map_find_node (map, "conv_out")->name, ==, "conv");
  g_assert_null (vn_identity_map_find_node (map, "in"));
  g_assert_null (vn_identity_map_get (map, g_ptr_array_index (prepared->graph->nodes, 0)));
  vn_edit_log_unref (edits);
}

/* A name that was given again does not lead back: entries count in their order. */
static void
test_order (void)
{
  g_autoptr(VnModel) source = make_chain ((const char * const []) { "a", "b", NULL });
  g_autoptr(VnModel) prepared = make_chain ((const char * const []) { "b2", "c", NULL });
  VnEditLog *edits = vn_edit_log_new ();
  g_autoptr(VnIdentityMap) map = NULL;

  vn_edit_log_add (edits, "fold", "c", "b2", "an older c");
  vn_edit_log_add (edits, "fold", "a", "c", "into the new c");
  vn_edit_log_add (edits, "fold", "b", "b2", "replaced");
  map = vn_identity_map_new (source, prepared, edits, NULL, NULL);
  g_assert_cmpstr (vn_identity_map_get (map, vn_graph_find_node (source->graph, "a"))->prepared, ==, "c_out");
  g_assert_cmpstr (vn_identity_map_get (map, vn_graph_find_node (source->graph, "b"))->prepared, ==, "b2_out");
  vn_edit_log_unref (edits);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/identity/folded", test_folded);
  g_test_add_func ("/identity/back", test_back);
  g_test_add_func ("/identity/order", test_order);
  return g_test_run ();
}
