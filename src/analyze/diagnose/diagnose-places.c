/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which cures can do something about a tensor: what their place of vn-cures.def asks of the nodes around it. */
#include "diagnose-culprit.h"

#include "vn-bias-correct.h"

/* Nodes that hand on, one behind the other. */
#define MAX_DEPTH 6u

typedef gboolean (*Test) (const VnNode *node);

/* ---- what a node is ---- */

static const VnTensor *
places_get_weight (const VnNode *node)
{
  const VnValue *weight = vn_node_get_input (node, 1);

  return weight != NULL ? vn_value_get_constant (weight) : NULL;
}

static gboolean
places_is_layer (const VnNode *node)
{
  const VnTensor *weight = places_get_weight (node);

  return (vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm") ||
          vn_node_is (node, "MatMul")) &&
         weight != NULL && vn_dtype_is_float (weight->dtype);
}

static gboolean
places_is_depthwise (const VnNode *node)
{
  return vn_node_is (node, "Conv") && places_is_layer (node) && vn_node_get_int (node, "group", 1) > 1 &&
         places_get_weight (node)->shape.rank >= 3 && places_get_weight (node)->shape.dims[1] == 1;
}

/* Whether what a node gives is what it reads, but for a clamp, a factor, an offset or another order. */
static gboolean
places_hands_on (const VnNode *node)
{
  static const char * const types[] = { "Add", "BatchNormalization", "Clip", "Div", "Flatten", "Identity", "LeakyRelu", "MaxPool",
                                        "Mul",
                                        "PRelu", "Pad", "Relu", "Reshape", "Slice", "Squeeze", "Sub", "Transpose", "Unsqueeze",
                                        NULL };
  guint n = 0;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (node, i);

      n += input != NULL && !vn_value_is_constant (input);
    }
  return n == 1 && *node->domain == '\0' && g_strv_contains (types, node->op_type);
}

static const VnValue *
places_get_data (const VnNode *node)
{
  const VnValue *first = vn_node_get_input (node, 0);

  return first != NULL && !vn_value_is_constant (first) ? first : vn_node_get_input (node, 1);
}

/* ---- where such nodes are ---- */

/* Among what computes the value, and of a constant what reads it. */
static gboolean
places_is_behind (const VnValue *value,
                  Test           test)
{
  const VnNode *node = value->producer;

  for (guint i = 0; vn_value_is_constant (value) && i < value->uses->len; i++)
    if (test (g_array_index (value->uses, VnUse, i).node))
      return TRUE;
  for (guint depth = 0; node != NULL && depth < MAX_DEPTH; depth++)
    {
      if (test (node))
        return TRUE;
      node = places_hands_on (node) ? places_get_data (node)->producer : NULL;
    }
  return FALSE;
}

static gboolean
places_is_ahead (const VnValue *value,
                 Test           test,
                 guint          depth)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (test (node) || (depth > 0 && places_hands_on (node) && places_is_ahead (vn_node_get_output (node, 0), test, depth - 1)))
        return TRUE;
    }
  return FALSE;
}

static gboolean
places_has (VnCurePlace    place,
            const VnValue *value)
{
  switch (place)
    {
    case VN_PLACE_ANYWHERE:
      return TRUE;
    case VN_PLACE_OF_LAYER:
      return places_is_behind (value, places_is_layer);
    case VN_PLACE_OF_BIAS:
      return places_is_behind (value, vn_bias_is_layer);
    case VN_PLACE_TO_LAYER:
      return places_is_ahead (value, places_is_layer, MAX_DEPTH);
    case VN_PLACE_TO_DEPTHWISE:
      return places_is_ahead (value, places_is_depthwise, MAX_DEPTH);
    case VN_PLACE_AT_LAYER:
      return places_is_behind (value, places_is_layer) || places_is_ahead (value, places_is_layer, MAX_DEPTH);
    default:
      g_return_val_if_reached (TRUE);
    }
}

/*< private >
 * _vn_culprit_find_unfit:
 *
 * Returns: a bit for each cure, by its line, that can do nothing about the tensor: 0 for the run
 */
guint64
_vn_culprit_find_unfit (const VnCulprit *self)
{
  guint64 unfit = 0;

  g_return_val_if_fail (self != NULL, 0);

  for (guint i = 0; self->value != NULL && i < VN_N_CURES; i++)
    if (!places_has (vn_cure_get_place ((VnCure) i), self->value))
      unfit |= G_GUINT64_CONSTANT (1) << i;
  return unfit;
}
