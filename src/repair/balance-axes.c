/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which axis of a tensor holds channels: the second, as convolutions have it, unless products of matrices or normalizations along
 * the last one show that it is that. */
#include "balance-graph.h"

static gboolean
axes_is_one_of (const VnNode       *node,
                const char * const *types)
{
  return *node->domain == '\0' && g_strv_contains (types, node->op_type);
}

/* Operators that have channels along the second axis. */
static gboolean
axes_is_spatial (const VnNode *node)
{
  static const char * const types[] = { "Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool",
                                        "LpPool",
                                        "BatchNormalization", "InstanceNormalization", "GroupNormalization", "Resize", "Upsample",
                                        "DepthToSpace", "SpaceToDepth", "LRN", NULL };

  return axes_is_one_of (node, types);
}

static gboolean
axes_is_elementwise (const VnNode *node)
{
  static const char * const types[] = { "Add", "Sub", "Mul", "Div", "Sum", "Pow", "Relu", "LeakyRelu", "Clip", "Sigmoid",
                                        "HardSigmoid", "HardSwish",
                                        "Tanh", "Erf", "Gelu", "Elu", "Softplus", "Exp", "Sqrt", "Neg", "Identity", "Dropout",
                                        NULL };

  return axes_is_one_of (node, types);
}

static gboolean
axes_is_of_norm (const VnNode *node)
{
  static const char * const types[] = { "LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization", NULL };
  const VnValue *input = vn_node_get_input (node, 0);
  gint64 axis = vn_node_get_int (node, "axis", -1);

  return (axes_is_one_of (node, types) && input != NULL && (axis == -1 || axis == input->type.shape.rank - 1)) ||
         (g_str_equal (node->domain, "com.microsoft") && g_str_has_suffix (node->op_type, "LayerNormalization"));
}

static gboolean
axes_is_of_weight (const VnNode *node)
{
  const VnValue *weight = vn_node_is (node, "MatMul") ? vn_node_get_input (node, 1) : NULL;

  return weight != NULL && weight->initializer != NULL && weight->initializer->shape.rank == 2;
}

/* Joining or cutting along the last axis. */
static gboolean
axes_is_of_parts (const VnNode *node)
{
  const VnValue *first = vn_node_get_input (node, 0);
  gint64 axis = vn_node_get_int (node, "axis", 0);

  return (vn_node_is (node, "Concat") || vn_node_is (node, "Split")) && first != NULL &&
         (axis == -1 || axis == first->type.shape.rank - 1);
}

static gboolean
axes_may_be_last (const VnValue *value)
{
  if (value == NULL || value->type.kind != VN_TYPE_TENSOR || value->type.shape.rank < 3 || vn_value_is_constant (value) ||
      (value->producer != NULL && axes_is_spatial (value->producer)))
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    if (axes_is_spatial (g_array_index (value->uses, VnUse, i).node))
      return FALSE;
  return TRUE;
}

static gboolean
axes_set_last (int           *axes,
               const VnValue *value)
{
  if (!axes_may_be_last (value) || axes[value->id] == value->type.shape.rank - 1)
    return FALSE;
  axes[value->id] = value->type.shape.rank - 1;
  return TRUE;
}

static gboolean
axes_is_last (const int     *axes,
              const VnValue *value)
{
  return value != NULL && value->type.shape.rank >= 3 && axes[value->id] == value->type.shape.rank - 1;
}

static void
axes_begin_at (int          *axes,
               const VnNode *node)
{
  if (vn_balance_find_scale (node) >= 0)
    axes_set_last (axes, vn_node_get_output (node, 0));
  if (axes_is_of_weight (node) || axes_is_of_norm (node))
    {
      axes_set_last (axes, vn_node_get_input (node, 0));
      axes_set_last (axes, vn_node_get_output (node, 0));
    }
}

/* Values of @list that have as many channels along the last axis as @like, or any number. */
static gboolean
axes_set_all (int             *axes,
              const GPtrArray *list,
              const VnValue   *like)
{
  gboolean changed = FALSE;

  for (guint i = 0; i < list->len; i++)
    {
      const VnValue *value = g_ptr_array_index (list, i);

      if (value != NULL && (like == NULL || (value->type.shape.rank == like->type.shape.rank &&
                                             value->type.shape.dims[value->type.shape.rank - 1]
                                             == like->type.shape.dims[like->type.shape.rank - 1])))
        changed = axes_set_last (axes, value) || changed;
    }
  return changed;
}

static gboolean
axes_spread_at (int          *axes,
                const VnNode *node)
{
  gboolean parts = axes_is_of_parts (node);
  const VnValue *last = NULL;

  if (!parts && !axes_is_elementwise (node))
    return FALSE;
  for (guint i = 0; i < node->inputs->len + node->outputs->len && last == NULL; i++)
    {
      const VnValue *value = i < node->inputs->len ? vn_node_get_input (node, i)
                             : vn_node_get_output (node, i - node->inputs->len);

      last = axes_is_last (axes, value) ? value : NULL;
    }
  if (last == NULL)
    return FALSE;
  return axes_set_all (axes, node->inputs, parts ? NULL : last) | axes_set_all (axes, node->outputs, parts ? NULL : last);
}

/*< private >
 * vn_balance_find_axes:
 *
 * Returns: (transfer full) (array): by VnValue.id: which axis holds channels; 0 of those that have less than two
 */
int *
vn_balance_find_axes (const VnGraph *graph)
{
  int *axes;
  gboolean changed = TRUE;

  g_return_val_if_fail (graph != NULL, NULL);

  axes = g_new0 (int, graph->values->len + 1);
  for (guint i = 0; i < graph->values->len; i++)
    axes[i] = ((const VnValue *) g_ptr_array_index (graph->values, i))->type.shape.rank >= 2 ? 1 : 0;
  for (guint i = 0; i < graph->nodes->len; i++)
    axes_begin_at (axes, g_ptr_array_index (graph->nodes, i));
  while (changed)
    {
      changed = FALSE;
      for (guint i = 0; i < graph->nodes->len; i++)
        changed = axes_spread_at (axes, g_ptr_array_index (graph->nodes, i)) || changed;
      for (guint i = graph->nodes->len; i-- > 0;)
        changed = axes_spread_at (axes, g_ptr_array_index (graph->nodes, i)) || changed;
    }
  return axes;
}
