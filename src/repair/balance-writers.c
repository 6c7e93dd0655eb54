/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is free to be divided: what convolutions, products and normalizations write, as constants of theirs take the factors. */
#include "balance-graph.h"

/* Normalizations: which input is the scale, and which the bias; -1: none. */
static const struct
{
  const char *domain, *op_type;
  int         scale, bias;
} writers_norms[] = {
#define VN_BALANCE_NORM(domain, op_type, scale, bias) { domain, op_type, scale, bias },
#include "balance-norms.def"
#undef VN_BALANCE_NORM
};

static const VnTensor *
writers_get_constant (const VnNode *node,
                      int           input)
{
  const VnValue *value = input >= 0 ? vn_node_get_input (node, (guint) input) : NULL;

  return value != NULL && value->initializer != NULL && value->initializer->dtype == VN_DTYPE_F32 && !value->is_output
         ? value->initializer : NULL;
}

/* Whether an input is a vector of constants along the last axis, one for each of @n channels. */
static gboolean
writers_is_vector (const VnNode *node,
                   int           input,
                   gint64        n)
{
  const VnTensor *constant = writers_get_constant (node, input);

  return constant != NULL && constant->shape.rank > 0 && constant->n_elements == (gsize) n &&
         constant->shape.dims[constant->shape.rank - 1] == n;
}

/* A bias that is there must take the factors, too. */
static gboolean
writers_set_bias (const VnNode    *node,
                  int              bias,
                  gint64           n,
                  VnBalanceWriter *writer)
{
  writer->bias = bias >= 0 && vn_node_get_input (node, (guint) bias) != NULL ? bias : -1;
  return writer->bias < 0 || writers_is_vector (node, bias, n);
}

static gboolean
writers_find_product (const VnNode    *node,
                      gint64           n,
                      VnBalanceWriter *writer)
{
  const VnTensor *weight = writers_get_constant (node, 1);
  gboolean transposed = vn_node_get_int (node, "transB", 0) != 0;

  if (weight == NULL || weight->shape.rank != 2 || weight->shape.dims[transposed ? 0 : 1] != n)
    return FALSE;
  writer->weight = 1;
  writer->inner = transposed ? (gsize) weight->shape.dims[1] : 1;
  return writers_set_bias (node, 2, n, writer);
}

static gboolean
writers_find_convolution (const VnNode    *node,
                          gint64           n,
                          VnBalanceWriter *writer)
{
  const VnTensor *weight = writers_get_constant (node, 1);
  gboolean rows = vn_node_is (node, "Conv");

  if (weight == NULL || weight->shape.rank < 3 || (!rows && vn_node_get_int (node, "group", 1) != 1) ||
      weight->shape.dims[rows ? 0 : 1] != n || (vn_node_get_input (node, 2) != NULL && writers_get_constant (node, 2) == NULL))
    return FALSE;
  *writer = (VnBalanceWriter) { 1, vn_node_get_input (node, 2) != NULL ? 2 : -1,
                                (gsize) vn_shape_count (&weight->shape, rows ? 1 : 2, weight->shape.rank) };
  return TRUE;
}

static gboolean
writers_find_norm (const VnNode    *node,
                   gint64           n,
                   VnBalanceWriter *writer)
{
  for (gsize i = 0; i < G_N_ELEMENTS (writers_norms); i++)
    if (g_str_equal (node->op_type, writers_norms[i].op_type) && g_str_equal (node->domain, writers_norms[i].domain))
      {
        writer->weight = writers_norms[i].scale;
        writer->inner = 1;
        return writers_is_vector (node, writer->weight, n) && writers_set_bias (node, writers_norms[i].bias, n, writer);
      }
  return FALSE;
}

static gint64
writers_get_last (const VnValue *value)
{
  return value != NULL && value->type.shape.rank > 0 ? value->type.shape.dims[value->type.shape.rank - 1] : 0;
}

/* One number for all channels, as 1 / deviation. */
static gboolean
writers_is_number (const VnValue *value)
{
  return value->producer != NULL && value->type.shape.rank > 1 && writers_get_last (value) == 1;
}

/* x / deviation, or x times what is one number for all channels. */
static gboolean
writers_normalizes (const VnValue *value)
{
  const VnNode *node = value->producer;
  const VnValue *a = node != NULL ? vn_node_get_input (node, 0) : NULL, *b = node != NULL ? vn_node_get_input (node, 1) : NULL;

  return node != NULL && (vn_node_is (node, "Div") || vn_node_is (node, "Mul")) && a != NULL && b != NULL &&
         !vn_value_is_constant (a) &&
         !vn_value_is_constant (b) && (writers_get_last (a) == 1) != (writers_get_last (b) == 1);
}

/*< private >
 * vn_balance_find_scale:
 *
 * Returns: which input of @node is the scale of a normalization that is spelled out, along the last axis, also where it is
 *   multiplied by 1 / deviation first, as TensorFlow does; -1: it is no such product
 */
int
vn_balance_find_scale (const VnNode *node)
{
  const VnValue *output;

  g_return_val_if_fail (node != NULL, -1);

  output = vn_node_get_output (node, 0);
  for (int i = 0; i < 2 && vn_node_is (node, "Mul") && output != NULL; i++)
    {
      const VnValue *normalized = vn_node_get_input (node, 1 - (guint) i);

      if (normalized != NULL && writers_is_vector (node, i, writers_get_last (output)) &&
          (writers_normalizes (normalized) || (writers_get_last (output) > 1 && writers_is_number (normalized))))
        return i;
    }
  return -1;
}

static gboolean
writers_find_layer (const VnValue   *value,
                    int              axis,
                    VnBalanceWriter *writer)
{
  const VnNode *node = value->producer;
  gint64 n = value->type.shape.dims[axis];

  if (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose"))
    return axis == 1 && writers_find_convolution (node, n, writer);
  return (vn_node_is (node, "Gemm") || vn_node_is (node, "MatMul")) && axis == value->type.shape.rank - 1 &&
         writers_find_product (node, n, writer);
}

/*< private >
 * vn_balance_find_writer:
 * @axis: of the channels of @value
 * @writer: (out)
 *
 * Returns: whether constants of the convolution, product or normalization that writes @value can take its factors
 */
gboolean
vn_balance_find_writer (const VnValue   *value,
                        int              axis,
                        VnBalanceWriter *writer)
{
  g_return_val_if_fail (value != NULL && writer != NULL, FALSE);

  *writer = (VnBalanceWriter) { -1, -1, 1 };
  if (value->producer == NULL || value->output_index != 0 || value->type.shape.rank < 2)
    return FALSE;
  if (writers_find_layer (value, axis, writer))
    return TRUE;
  if (axis != value->type.shape.rank - 1)
    return FALSE;
  if (vn_node_is (value->producer, "Mul"))
    return (writer->weight = vn_balance_find_scale (value->producer)) >= 0;
  return writers_find_norm (value->producer, value->type.shape.dims[axis], writer);
}

/*< private >
 * vn_balance_is_written_by_layer:
 * @axis: of the channels of @value
 *
 * Returns: whether a convolution or product with constant weights, and a constant bias or none, writes @value
 */
gboolean
vn_balance_is_written_by_layer (const VnValue *value,
                                int            axis)
{
  VnBalanceWriter writer;

  g_return_val_if_fail (value != NULL, FALSE);

  return value->producer != NULL && value->output_index == 0 && value->type.shape.rank >= 2 &&
         writers_find_layer (value, axis, &writer);
}
