/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hostile-learning.h"

#include "vn-graph-edit.h"

#include <string.h>

static gint64
some_number (GRand *rand,
             int    end)
{
  static const gint64 odd[] = { -1, 100, G_MAXINT32, G_MAXINT64, G_MININT64 };

  return g_rand_int_range (rand, 0, 12) == 0 ? odd[g_rand_int_range (rand, 0, G_N_ELEMENTS (odd))]
         : g_rand_int_range (rand, 0, end);
}

static VnDType
some_dtype (GRand *rand)
{
  static const VnDType dtypes[] = { VN_DTYPE_F32, VN_DTYPE_S64, VN_DTYPE_STRING, VN_DTYPE_F64, VN_DTYPE_U4, VN_DTYPE_S16 };

  return dtypes[g_rand_int_range (rand, 0, G_N_ELEMENTS (dtypes))];
}

static void
set_words (GRand      *rand,
           VnNode     *node,
           const char *name,
           guint       n)
{
  static const char * const words[] = { "BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_EQ", "a", "" };
  VnAttr *attr = vn_attr_new (name, VN_ATTR_STRINGS);

  for (guint i = 0; i < n; i++)
    {
      const char *word = words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))];

      g_ptr_array_add (attr->strings, g_bytes_new (word, strlen (word)));
    }
  vn_node_set_attr (node, attr);
}

static void
set_some_ints (GRand      *rand,
               VnNode     *node,
               const char *name,
               guint       n)
{
  gint64 values[8];

  for (guint i = 0; i < n; i++)
    values[i] = some_number (rand, 3);
  vn_node_set_ints (node, name, values, n);
}

static void
set_some_floats (GRand      *rand,
                 VnNode     *node,
                 const char *name,
                 guint       n)
{
  VnAttr *attr = vn_attr_new (name, VN_ATTR_FLOATS);

  for (guint i = 0; i < n; i++)
    {
      float value = (float) g_rand_double_range (rand, -2, 2);

      g_array_append_val (attr->floats, value);
    }
  vn_node_set_attr (node, attr);
}

static void
set_tensor (GRand      *rand,
            VnNode     *node,
            const char *name,
            VnDType     dtype,
            guint       n)
{
  VnAttr *attr = vn_attr_new (name, VN_ATTR_TENSOR);

  attr->tensor = vn_tensor_new (dtype, &VN_SHAPE (n), NULL);
  g_assert_nonnull (attr->tensor);
  for (gsize i = 0; dtype != VN_DTYPE_STRING && i < attr->tensor->n_bytes; i++)
    ((guint8 *) attr->tensor->data)[i] = (guint8) (g_rand_int (rand) % (dtype == VN_DTYPE_U8 ? 8 : 256));
  vn_node_set_attr (node, attr);
}

/* Lists that make sense, but for the numbers in them. */
static void
set_sound_lists (GRand  *rand,
                 VnNode *node)
{
  static const gint64 zeros[] = { 0, 0, 0, 0 }, places[] = { 0, 1, 2, 3 };
  guint columns = (guint) g_rand_int_range (rand, 1, 4);

  vn_node_set_ints (node, "nodes_treeids", zeros, 4);
  vn_node_set_ints (node, "nodes_nodeids", places, 4);
  set_words (rand, node, "nodes_modes", 4);
  set_some_floats (rand, node, "nodes_values", 4);
  for (guint i = 0; i < 3; i++)
    set_some_ints (rand, node, (const char * const[]) { "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids" }[i], 4);
  vn_node_set_ints (node, "class_treeids", zeros, 2);
  vn_node_set_ints (node, "target_treeids", zeros, 2);
  for (guint i = 0; i < 4; i++)
    set_some_ints (rand, node, (const char * const[]) { "class_ids", "class_nodeids", "target_ids", "target_nodeids" }[i], 2);
  set_some_floats (rand, node, "class_weights", 2);
  set_some_floats (rand, node, "target_weights", 2);
  vn_node_set_int (node, "n_targets", g_rand_int_range (rand, 1, 4));
  vn_node_set_ints (node, "classlabels_int64s", places, 3);
  vn_node_set_ints (node, "classlabels_ints", places, 2);
  vn_node_set_ints (node, "vectors_per_class", (const gint64[]) { 1, 1 }, 2);
  vn_node_set_int (node, "n_supports", 2);
  vn_node_set_int (node, "targets", 2);
  set_some_floats (rand, node, "coefficients", g_str_has_prefix (node->op_type, "SVM") ? 2 : 2 * columns);
  set_some_floats (rand, node, "intercepts", 2);
  set_some_floats (rand, node, "support_vectors", 2 * columns);
  set_some_floats (rand, node, "kernel_params", 3);
  set_some_floats (rand, node, "rho", 1);
  set_some_floats (rand, node, "prob_a", 1);
  set_some_floats (rand, node, "prob_b", 1);
  set_tensor (rand, node, "membership_values", VN_DTYPE_F32, 4);
}

/**
 * hostile_learning:
 *
 * Gives @node attributes of the operators of ai.onnx.ml at random: lists mostly of lengths that go together.
 */
void
hostile_learning (GRand  *rand,
                  VnNode *node)
{
  static const char * const nodes[] = { "nodes_treeids", "nodes_nodeids", "nodes_featureids", "nodes_truenodeids",
                                        "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs",
                                        "nodes_missing_value_tracks_true", "tree_roots" };
  static const char * const votes[] = { "class_ids", "class_treeids", "class_nodeids", "target_ids", "target_treeids",
                                        "target_nodeids", "leaf_targetids" };
  static const char * const lists[] = { "classlabels_ints", "classlabels_int64s", "cats_int64s", "keys_int64s", "values_int64s",
                                        "vectors_per_class", "inputdimensions", "imputed_value_int64s" };
  static const char * const values[] = { "coefficients", "intercepts", "support_vectors", "rho", "prob_a", "prob_b",
                                         "kernel_params", "base_values", "offset", "scale", "keys_floats", "values_floats",
                                         "imputed_value_floats" };
  static const char * const texts[] = { "classlabels_strings", "cats_strings", "keys_strings", "values_strings",
                                        "classes_strings" };
  static const char * const transforms[] = { "SOFTMAX", "LOGISTIC", "PROBIT", "SOFTMAX_ZERO" };
  guint n = (guint) g_rand_int_range (rand, 1, 5), n_votes = (guint) g_rand_int_range (rand, 1, 5);

  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    set_some_ints (rand, node, nodes[i], g_rand_int_range (rand, 0, 40) == 0 ? 2 : n);
  if (g_rand_boolean (rand))   /* names that are taken once */
    vn_node_set_ints (node, "nodes_nodeids", (const gint64[]) { 0, 1, 2, 3 }, n);
  for (guint i = 0; i < G_N_ELEMENTS (votes); i++)
    set_some_ints (rand, node, votes[i], g_rand_int_range (rand, 0, 40) == 0 ? 2 : n_votes);
  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    if (g_rand_boolean (rand))
      set_some_ints (rand, node, lists[i], (guint) g_rand_int_range (rand, 1, 5));
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    if (g_rand_boolean (rand))
      set_some_floats (rand, node, values[i], (guint) g_rand_int_range (rand, 1, 8));
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    if (g_rand_int_range (rand, 0, 3) == 0)
      set_words (rand, node, texts[i], (guint) g_rand_int_range (rand, 0, 5));
  set_words (rand, node, "nodes_modes", n);
  set_some_floats (rand, node, "nodes_values", n);
  set_some_floats (rand, node, "class_weights", n_votes);
  set_some_floats (rand, node, "target_weights", n_votes);
  set_tensor (rand, node, "nodes_splits", VN_DTYPE_F32, n);
  set_tensor (rand, node, "leaf_weights", VN_DTYPE_F64, n_votes);
  if (g_str_equal (node->op_type, "TreeEnsemble"))
    set_tensor (rand, node, "nodes_modes", VN_DTYPE_U8, n);
  if (g_rand_boolean (rand))
    set_tensor (rand, node, "membership_values", VN_DTYPE_F32, n);
  if (g_rand_boolean (rand))
    set_tensor (rand, node, g_rand_boolean (rand) ? "keys_tensor" : "values_tensor", some_dtype (rand), 3);
  if (g_rand_boolean (rand))
    set_tensor (rand, node, "default_tensor", some_dtype (rand), 1);
  vn_node_set_int (node, "n_supports", some_number (rand, 4));
  vn_node_set_int (node, "n_targets", some_number (rand, 4));
  if (g_rand_boolean (rand))
    set_sound_lists (rand, node);
  if (g_rand_boolean (rand))
    vn_node_set_string (node, "kernel_type", g_rand_boolean (rand) ? "RBF" : "POLY");
  if (!g_str_equal (node->op_type, "TreeEnsemble") && g_rand_boolean (rand))
    vn_node_set_string (node, "post_transform", transforms[g_rand_int_range (rand, 0, G_N_ELEMENTS (transforms))]);
}
