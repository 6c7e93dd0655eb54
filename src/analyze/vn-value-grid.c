/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads from a quantized network, of whatever tool, the scale and zero point of an activation. */
#include "vn-value-grid.h"

#include "vn-op.h"

#include <string.h>

#define MOST_STEPS 64

/* Operators on whole numbers: which input is the scale of what they give; the zero point stands behind it. */
static const struct { const char *op_type; guint scale; } operators[] = {
  { "QuantizeLinear", 1 }, { "ExtendedQuantizeLinear", 1 },
  { "QLinearConv", 6 }, { "QLinearMatMul", 6 }, { "QLinearAdd", 6 }, { "QLinearMul", 6 }, { "QGemm", 7 },
  { "QLinearAveragePool", 3 }, { "QLinearGlobalAveragePool", 3 }, { "QLinearSigmoid", 3 }, { "QLinearLeakyRelu", 3 },
  { "QLinearSoftmax", 3 }, { "QLinearReduceMean", 3 }, { "QLinearConcat", 0 }, { "QLinearWhere", 7 },
};

static gboolean
value_grid_take (const VnNode *node,
                 guint         scale,
                 VnValueGrid  *grid)
{
  const VnValue *zero_value = vn_node_get_input (node, scale + 1);
  const VnTensor *factor = vn_node_get_input (node, scale) != NULL
                           ? vn_value_get_constant (vn_node_get_input (node, scale)) : NULL;
  const VnTensor *zero = zero_value != NULL ? vn_value_get_constant (zero_value) : NULL;

  if (factor == NULL || factor->n_elements != 1 || (zero != NULL && zero->n_elements != 1))
    return FALSE;
  grid->scale = vn_tensor_get_double (factor, 0);
  grid->zero_point = zero != NULL ? vn_tensor_get_s64 (zero, 0) : 0;
  grid->dtype = zero != NULL ? zero->dtype : VN_DTYPE_U8;
  return grid->scale > 0;
}

/* Gives elements of its first input. */
static gboolean
value_grid_moves (const VnNode *node)
{
  return vn_op_family (node) == VN_FAMILY_SHAPE || vn_node_is (node, "MaxPool") || vn_node_is (node, "Identity");
}

/**
 * vn_value_find_grid:
 * @grid: (out caller-allocates)
 *
 * Returns: %FALSE: @value is not one of whole numbers by one scale, nor what they stand for
 */
gboolean
vn_value_find_grid (const VnValue *value,
                    VnValueGrid   *grid)
{
  const VnNode *node;

  g_return_val_if_fail (value != NULL && grid != NULL, FALSE);

  node = value->producer;
  for (guint step = 0; node != NULL && step < MOST_STEPS; step++)
    {
      if (vn_node_dequantizes (node))
        {
          grid->holds_integers = FALSE;
          return value_grid_take (node, 1, grid);
        }
      for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
        if (g_str_equal (node->op_type, operators[i].op_type))
          {
            grid->holds_integers = TRUE;
            return value_grid_take (node, operators[i].scale, grid);
          }
      if (!value_grid_moves (node) || vn_node_get_input (node, 0) == NULL)
        return FALSE;
      node = vn_node_get_input (node, 0)->producer;
    }
  return FALSE;
}
