/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every entry of the operator table must satisfy. */
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-op.h"

#include <string.h>

static const VnOp * const *ops;
static guint n_ops;

static gboolean
is_same (const VnOp *a,
         const VnOp *b)
{
  return g_str_equal (a->type, b->type) && g_str_equal (a->domain, b->domain);
}

static void
test_entries (void)
{
  g_assert_cmpuint (n_ops, >, 100);
  for (guint i = 0; i < n_ops; i++)
    {
      const VnOp *op = ops[i];

      g_test_message ("%s.%s %u", op->domain, op->type, op->since);
      g_assert_cmpuint (op->since, >, 0);
      g_assert_true (op->until == 0 || op->until >= op->since);
      g_assert_cmpuint (op->min_inputs, <=, op->max_inputs);
      g_assert_cmpuint (op->max_inputs, <=, VN_OP_MAX_INPUTS);
      g_assert_cmpuint (op->max_outputs, >=, 1);   /* all outputs of a recurrent network may be left out */
      g_assert_cmpuint (op->min_outputs, <=, op->max_outputs);
      g_assert_true (op->infer != NULL && op->run != NULL);
      g_assert_true ((op->prepare == NULL) == (op->release == NULL));
      if (op->max_inputs > 0)
        {
          g_assert_cmpint (op->quant.weight_input, <, op->max_inputs);
          g_assert_cmpint (op->quant.bias_input, <, op->max_inputs);
        }
      if (op->quant.role == VN_QUANT_COMPUTE || op->quant.role == VN_QUANT_MATMUL)
        g_assert_cmpint (op->quant.weight_input, >=, 0);
      if (op->aliases)
        g_assert_cmpuint (op->max_inputs, >=, 1);
    }
}

/* Versions of one operator must not overlap, or the order of the table would matter. */
static void
test_versions (void)
{
  for (guint i = 0; i < n_ops; i++)
    for (guint k = i + 1; k < n_ops; k++)
      if (is_same (ops[i], ops[k]))
        {
          const VnOp *first = ops[i]->since < ops[k]->since ? ops[i] : ops[k];
          const VnOp *second = first == ops[i] ? ops[k] : ops[i];

          g_test_message ("%s %u and %u", first->type, first->since, second->since);
          g_assert_cmpuint (first->until, !=, 0);
          g_assert_cmpuint (first->until, <, second->since);
        }
}

/* Versions of one operator are one operator to a quantizer. */
static void
test_traits (void)
{
  for (guint i = 0; i < n_ops; i++)
    for (guint k = i + 1; k < n_ops; k++)
      if (is_same (ops[i], ops[k]))
        {
          g_test_message ("%s %u and %u", ops[i]->type, ops[i]->since, ops[k]->since);
          g_assert_cmpint (ops[i]->quant.role, ==, ops[k]->quant.role);
          g_assert_cmpint (ops[i]->family, ==, ops[k]->family);
        }
}

/* The union of the two registries of onnxruntime.quantization that its static quantization takes by default. It
 * leaves out early versions of some. */
static void
test_default_set (void)
{
  static const char * const names[] = {
    "Add", "ArgMax", "AveragePool", "BatchNormalization", "Clip", "Concat", "Conv", "ConvTranspose", "CumSum",
    "Flatten", "Gather", "GatherElements", "Gemm", "GlobalAveragePool", "InstanceNormalization", "LayerNormalization",
    "LeakyRelu", "MatMul", "MaxPool", "Mul", "Pad", "Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split",
    "Squeeze", "TopK", "Transpose", "Unsqueeze", "Where", NULL
  };

  for (guint i = 0; i < n_ops; i++)
    if (*ops[i]->domain == '\0')
      {
        g_test_message ("%s %u", ops[i]->type, ops[i]->since);
        if (ops[i]->until == 0 || ops[i]->quant.in_ort_default)
          g_assert_cmpint (ops[i]->quant.in_ort_default, ==, g_strv_contains (names, ops[i]->type));
      }
}

static void
test_lookup (void)
{
  static const struct { const char *domain, *type; gint64 opset; gboolean found; } cases[] = {
    { "", "Conv", 1, TRUE }, { "", "Conv", 99, TRUE }, { "", "conv", 11, FALSE }, { "com.microsoft", "Conv", 1, FALSE },
    { "com.microsoft", "FusedConv", 1, TRUE }, { "", "Gelu", 19, FALSE }, { "", "Gelu", 20, TRUE },
    { "", "Clip", 10, TRUE }, { "", "Clip", 11, TRUE }, { "", "", 11, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      const VnOp *op = vn_op_lookup (cases[i].domain, cases[i].type, cases[i].opset, &error);

      g_test_message ("%s %d", cases[i].type, (int) cases[i].opset);
      g_assert_cmpint (op != NULL, ==, cases[i].found);
      if (op == NULL)
        g_assert_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED);
    }
  g_assert_true (vn_op_lookup ("", "Clip", 10, NULL) != vn_op_lookup ("", "Clip", 11, NULL));
}

static void
test_family (void)
{
  static const struct { const char *domain, *type; VnOpFamily family; } cases[] = {
    { "", "Conv", VN_FAMILY_COMPUTE }, { "", "Relu", VN_FAMILY_ACTIVATION }, { "", "MaxPool", VN_FAMILY_POOL_NORM },
    { "", "LSTM", VN_FAMILY_COMPUTE }, { "com.microsoft", "Attention", VN_FAMILY_COMPUTE },
    { "", "RoiAlign", VN_FAMILY_POOL_NORM }, { "", "NoSuchOperator", VN_FAMILY_OTHER },
  };
  g_autoptr(VnModel) model = vn_model_new (8, 17);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      VnValue *x = vn_graph_add_value (model->graph, NULL, VN_DTYPE_F32, NULL);
      VnValue *y = vn_graph_add_value (model->graph, NULL, VN_DTYPE_F32, NULL);
      VnNode *node = vn_graph_add_node (model->graph, NULL, cases[i].domain, cases[i].type, &x, 1, &y, 1);

      g_test_message ("%s", cases[i].type);
      g_assert_cmpint (vn_op_family (node), ==, cases[i].family);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  ops = vn_op_list (&n_ops);
  g_test_add_func ("/ops/table/entries", test_entries);
  g_test_add_func ("/ops/table/versions", test_versions);
  g_test_add_func ("/ops/table/traits", test_traits);
  g_test_add_func ("/ops/table/default-set", test_default_set);
  g_test_add_func ("/ops/table/lookup", test_lookup);
  g_test_add_func ("/ops/table/family", test_family);
  return g_test_run ();
}
