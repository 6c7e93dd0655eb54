/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counterparts of nodes in what tools make of a network, and tensors cut into pictures. */
#include "engine-fixture.h"

#include "vn-node-match.h"
#include "vn-tensor-view.h"

#include <math.h>

#define MANY 50000

static guint
find (const VnModel *model,
      const char    *name)
{
  const VnNode *node = vn_graph_find_node (model->graph, name);

  g_assert_nonnull (node);
  return node->index;
}

static void
check (const VnNodeMatch *match,
       guint              side,
       guint              node,
       VnMatchState       state,
       guint              other)
{
  const VnMatchedNode *matched = vn_node_match_get (match, side, node);

  g_assert_cmpint (matched->state, ==, state);
  g_assert_cmpuint (matched->other, ==, other);
}

/* With the input and the constants that the networks here share. */
static VnModel *
make_start (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 8, 8));
  add_floats (model, "w", VN_SHAPE (4, 4, 1, 1), 0.5f, 0.1f);
  add_floats (model, "s", VN_SHAPE (1), 0.1f, 0);
  return model;
}

static VnModel *
make_float (void)
{
  VnModel *model = make_start ();

  add_node (model, "Conv", "conv", "x w", "a");
  add_node (model, "Relu", "relu", "a", "b");
  add_node (model, "Sigmoid", "sigmoid", "b", "c");
  add_node (model, "Add", "add", "c s", "d");
  add_node (model, "Mul", "mul", "d s", "y");
  set_outputs (model, "y");
  return model;
}

/* With pairs of conversions, as exporters write them; the Relu is gone. */
static VnModel *
make_pairs (void)
{
  VnModel *model = make_start ();

  add_node (model, "QuantizeLinear", "xq", "x s", "x_q");
  add_node (model, "DequantizeLinear", "xd", "x_q s", "x_d");
  add_node (model, "Conv", "conv", "x_d w", "b");
  add_node (model, "QuantizeLinear", "bq", "b s", "b_q");
  add_node (model, "DequantizeLinear", "bd", "b_q s", "b_d");
  add_node (model, "Sigmoid", "sigmoid", "b_d", "c");
  add_node (model, "Add", "renamed", "c s", "other");
  add_node (model, "Div", "mul", "other s", "y");
  set_outputs (model, "y");
  return model;
}

static void
test_pairs (void)
{
  g_autoptr(VnModel) first = make_float ();
  g_autoptr(VnModel) second = make_pairs ();
  g_autoptr(VnNodeMatch) match = vn_node_match_new (first, second);

  check (match, 0, find (first, "conv"), VN_MATCH_SAME, find (second, "conv"));
  check (match, 1, find (second, "conv"), VN_MATCH_SAME, find (first, "conv"));
  check (match, 0, find (first, "relu"), VN_MATCH_ALONE, find (second, "conv"));
  check (match, 0, find (first, "sigmoid"), VN_MATCH_SAME, find (second, "sigmoid"));
  check (match, 0, find (first, "add"), VN_MATCH_SAME, find (second, "renamed"));
  check (match, 0, find (first, "mul"), VN_MATCH_ALONE, VN_MATCH_NONE);
  check (match, 1, find (second, "mul"), VN_MATCH_ALONE, VN_MATCH_NONE);
  check (match, 1, find (second, "bq"), VN_MATCH_ALONE, find (first, "conv"));
  check (match, 1, find (second, "bd"), VN_MATCH_ALONE, find (first, "conv"));
  check (match, 1, find (second, "xq"), VN_MATCH_ALONE, find (first, "conv"));
  g_assert_cmpuint (vn_node_match_count (match, 1, VN_MATCH_ALONE), ==, 5);
  g_assert_cmpstr (g_hash_table_lookup (vn_node_match_get_values (match), "b"), ==, "b_d");
  g_assert_cmpstr (g_hash_table_lookup (vn_node_match_get_values (match), "d"), ==, "other");
  g_assert_false (g_hash_table_contains (vn_node_match_get_values (match), "a"));
}

/* Operators on whole numbers, with names as ONNX Runtime gives them: the clamp's tensor is what the convolution gives. */
static void
test_integers (void)
{
  g_autoptr(VnModel) first = make_float ();
  g_autoptr(VnModel) second = vn_model_new (8, 13);
  g_autoptr(VnNodeMatch) match = NULL;

  vn_graph_add_input (second->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 4, 8, 8));
  add_floats (second, "s", VN_SHAPE (1), 0.1f, 0);
  add_node (second, "QuantizeLinear", "xq", "x s", "x_quantized");
  add_node (second, "QLinearConv", "conv_quant", "x_quantized s s s s s s s", "a_quantized");
  add_node (second, "com.microsoft:QLinearSigmoid", "sigmoid_quant", "a_quantized s s s", "c_quantized");
  add_node (second, "DequantizeLinear", "cd", "c_quantized s", "c");
  set_outputs (second, "c");
  match = vn_node_match_new (first, second);
  check (match, 0, find (first, "conv"), VN_MATCH_CHANGED, find (second, "conv_quant"));
  check (match, 0, find (first, "sigmoid"), VN_MATCH_CHANGED, find (second, "sigmoid_quant"));
  check (match, 1, find (second, "cd"), VN_MATCH_ALONE, find (first, "sigmoid"));
  g_assert_cmpstr (g_hash_table_lookup (vn_node_match_get_values (match), "b"), ==, "a_quantized");
  g_assert_false (g_hash_table_contains (vn_node_match_get_values (match), "a"));
}

static VnModel *
make_chain (const char *prefix)
{
  VnModel *model = vn_model_new (8, 13);
  g_autofree char *last = g_strdup ("x");

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1));
  for (guint i = 0; i < MANY; i++)
    {
      g_autofree char *output = g_strdup_printf ("%s%u", prefix, i);

      add_node (model, i % 2 == 0 ? "Neg" : "Exp", "", last, output);
      g_free (last);
      last = g_steal_pointer (&output);
    }
  set_outputs (model, last);
  return model;
}

/* What the pointer is over is mirrored at every movement: the counterpart of a node lies at its own index, nothing is
 * searched. */
static void
test_many (void)
{
  g_autoptr(VnModel) first = make_chain ("a");
  g_autoptr(VnModel) second = make_chain ("b");
  g_autoptr(VnNodeMatch) match = vn_node_match_new (first, second);
  const VnMatchedNode *base = vn_node_match_get (match, 0, 0);

  g_assert_cmpuint (vn_node_match_get_n (match, 0), ==, MANY);
  g_assert_cmpuint (vn_node_match_count (match, 0, VN_MATCH_SAME), ==, MANY);
  for (guint i = 0; i < MANY; i++)
    {
      g_assert_true (vn_node_match_get (match, 0, i) == base + i);
      g_assert_cmpuint (base[i].other, ==, i);
    }
}

static void
test_same (void)
{
  g_autoptr(VnNodeMatch) match = vn_node_match_new_same (3);

  vn_node_match_set_state (match, 1, VN_MATCH_CHANGED);
  check (match, 0, 1, VN_MATCH_CHANGED, 1);
  check (match, 1, 1, VN_MATCH_CHANGED, 1);
  check (match, 1, 2, VN_MATCH_SAME, 2);
}

static void
check_layout (VnShape  shape,
              gboolean is_weight,
              int      axis,
              gsize    n_channels,
              gsize    n_rows,
              gsize    n_columns)
{
  VnTensorLayout layout;
  g_autofree guint8 *seen = NULL;
  gsize n = 0, count = 0;

  vn_tensor_layout_init (&layout, &shape, is_weight, axis);
  g_assert_true (vn_shape_n_elements (&shape, &n));
  g_assert_cmpuint (layout.n_elements, ==, n);
  g_assert_cmpuint (layout.n_channels, ==, n_channels);
  g_assert_cmpuint (layout.n_rows, ==, n_rows);
  g_assert_cmpuint (layout.n_columns, ==, n_columns);
  seen = g_new0 (guint8, n + 1);
  for (gsize channel = 0; channel < (layout.is_whole ? 1 : n_channels); channel++)
    for (gsize row = 0; row < n_rows; row++)
      for (gsize column = 0; column < n_columns; column++)
        {
          gsize index;

          if (!vn_tensor_layout_get_index (&layout, channel, row, column, &index))
            continue;
          g_assert_cmpuint (seen[index]++, ==, 0);
          count++;
        }
  g_assert_cmpuint (count, ==, n);
}

/* Every element of one sample has its place in one picture. */
static void
test_layouts (void)
{
  check_layout (VN_SHAPE (1, 6, 5, 7), FALSE, 0, 6, 5, 7);
  check_layout (VN_SHAPE (1, 6, 2, 5, 7), FALSE, 0, 6, 10, 7);
  check_layout (VN_SHAPE (1, 12, 8), FALSE, 0, 8, 12, 8);
  check_layout (VN_SHAPE (1, 10), FALSE, 0, 10, 3, 4);
  check_layout (VN_SHAPE (9), FALSE, 0, 9, 3, 3);
  check_layout (VN_SHAPE (4, 3, 3, 3), TRUE, 0, 4, 3, 9);
  check_layout (VN_SHAPE (4, 3, 2, 2), TRUE, 1, 3, 4, 4);
  check_layout (VN_SHAPE (5, 7), TRUE, 1, 7, 5, 7);
}

static void
test_values (void)
{
  VnTensorLayout layout;
  VnTensorErrors errors;
  VnTensorValues values;
  VnValueGrid grid = { 0.5, 0, VN_DTYPE_S4, FALSE };
  float first[24], second[24];

  vn_tensor_layout_init (&layout, &VN_SHAPE (1, 2, 3, 4), FALSE, 0);
  for (guint i = 0; i < 24; i++)
    {
      first[i] = i < 12 ? 0.1f * (float) i : 10;
      second[i] = i < 12 ? 0.5f * roundf (first[i] * 2) : 3.5f;
    }
  g_assert_true (vn_tensor_errors_init (&errors, &layout, NULL));
  vn_tensor_errors_add (&errors, &layout, first, second, &grid);
  g_assert_cmpuint (errors.n_clipped, ==, 12);
  g_assert_cmpfloat_with_epsilon (errors.channels[1].max_error, 6.5, 1e-6);
  g_assert_cmpfloat (errors.channels[0].max_error, <=, 0.2501);
  g_assert_cmpfloat_with_epsilon (errors.all.dd, errors.channels[0].dd + errors.channels[1].dd, 1e-9);
  vn_tensor_errors_clear (&errors);
  g_assert_true (vn_tensor_values_init (&values, &layout, 0, first, second, NULL));
  g_assert_cmpuint (values.n_distinct, ==, 3);      /* 0, 0.5, 1 */
  g_assert_cmpfloat_with_epsilon (values.levels[1], 0.5, 1e-6);
  g_assert_cmpuint (values.counts[0] + values.counts[1] + values.counts[2], ==, 12);
  g_assert_cmpfloat_with_epsilon (values.high, 1.1, 1e-6);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/node-match/pairs", test_pairs);
  g_test_add_func ("/node-match/integers", test_integers);
  g_test_add_func ("/node-match/many", test_many);
  g_test_add_func ("/node-match/same", test_same);
  g_test_add_func ("/tensor-view/layouts", test_layouts);
  g_test_add_func ("/tensor-view/values", test_values);
  return g_test_run ();
}
