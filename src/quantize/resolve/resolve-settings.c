/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From which tensor a range is taken, and which rule decides type and method of each tensor. */

#include "vn-resolver.h"

/* ---- ranges ---- */

static gboolean
resolve_settings_is_calibrated (VnResolver    *self,
                                const VnValue *value)
{
  return value != NULL && value->initializer == NULL && vn_resolver_can_quantize (self, value);
}

/* What a clamp cuts off need not be represented by the tensor before it, if nobody else sees that. (The peer cuts graph
 * outputs, too, and so delivers them clamped.) */
static void
resolve_settings_take_range_of_clamp (VnResolver   *self,
                                      const VnNode *node)
{
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (node, 0);
  VnAnnotation *from, *to;

  if (!resolve_settings_is_calibrated (self, input) || !resolve_settings_is_calibrated (self, output) ||
      input->uses->len != 1 || input->is_output || g_hash_table_contains (self->captured, input))
    return;

  from = vn_resolver_get_annotation (self, output);
  to = vn_resolver_get_annotation (self, input);
  to->range_from = from->range_from != NULL ? from->range_from : output;
  to->unit_range = from->unit_range;
  to->unit_min = from->unit_min;
  to->unit_max = from->unit_max;
}

static void
resolve_settings_take_fixed_range (VnResolver   *self,
                                   const VnNode *node,
                                   const VnOp   *op)
{
  const VnValue *output = vn_node_get_output (node, 0);
  VnAnnotation *annotation;

  if (!resolve_settings_is_calibrated (self, output))
    return;

  annotation = vn_resolver_get_annotation (self, output);
  annotation->unit_range = TRUE;
  annotation->unit_min = op->quant.out_min;
  annotation->unit_max = op->quant.out_max;
}

/*< private >
 * vn_resolver_set_ranges:
 *
 * In the order of the nodes, as a clamp hands on what its output has at that moment.
 */
void
vn_resolver_set_ranges (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  /* float clamps stand behind operators of integers then */
  gboolean is_dynamic = self->scheme.format->integer_operators && self->scheme.activations.dynamic;

  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      const VnQuantNode *info = &self->quant_nodes[node->index];

      if ((!info->selected && !is_dynamic) || info->op == NULL)
        continue;
      if (info->op->quant.role == VN_QUANT_CLAMP)
        resolve_settings_take_range_of_clamp (self, node);
      else if (vn_quant_has_unit_range (node) && info->op->quant.out_max > info->op->quant.out_min)
        resolve_settings_take_fixed_range (self, node, info->op);
    }
}

/* ---- rules ---- */

/* A rule about a node speaks about the tensors it reads and writes. Where several speak about one tensor, the last in
 * the recipe wins; tensors that share parameters are spoken about together. */
static void
resolve_settings_apply_to_value (VnResolver       *self,
                                 const VnOverride *rule,
                                 int               index,
                                 const VnValue    *value)
{
  VnAnnotation *annotation;

  if (value == NULL || value->graph != self->graph)
    return;

  annotation = vn_resolver_get_annotation (self, vn_resolver_root (self, value));
  if (!annotation->annotated)
    return;
  if (rule->activation != VN_DTYPE_UNDEFINED)
    annotation->activation_rule = MAX (annotation->activation_rule, index);
  if (rule->weight != VN_DTYPE_UNDEFINED)
    annotation->weight_rule = MAX (annotation->weight_rule, index);
  if (rule->method != NULL)
    annotation->method_rule = MAX (annotation->method_rule, index);
  if (rule->percentile != 0)
    annotation->percentile_rule = MAX (annotation->percentile_rule, index);
}

/*< private >
 * vn_resolver_set_rules:
 *
 * After marking: which rule decides about each tensor.
 */
void
vn_resolver_set_rules (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      int index = self->quant_nodes[i].rule;
      const VnOverride *rule;

      if (index < 0 || !self->quant_nodes[i].selected)
        continue;
      rule = g_ptr_array_index (self->scheme.rules, (guint) index);
      for (guint k = 0; k < node->inputs->len; k++)
        resolve_settings_apply_to_value (self, rule, index, vn_node_get_input (node, k));
      for (guint k = 0; k < node->outputs->len; k++)
        resolve_settings_apply_to_value (self, rule, index, vn_node_get_output (node, k));
    }
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);

      if (rule != NULL && vn_resolver_root (self, value) == value)
        resolve_settings_apply_to_value (self, rule, self->annotations[i].tensor_rule, value);
    }
}
