/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Why a tensor is as it is, in words. */

#include "vn-resolver.h"

#include "vn-i18n.h"

static char *
resolve_reason_dup_rule_subject (const VnOverride *rule)
{
  g_autofree char *from = NULL, *to = NULL;

  if (rule->pattern != NULL)
    return g_strdup (rule->pattern);
  if (rule->tensors != NULL)
    return g_strjoinv (", ", rule->tensors);
  from = rule->in_edges != NULL ? g_strjoinv (", ", rule->in_edges) : g_strdup ("");
  to = rule->out_edges != NULL ? g_strjoinv (", ", rule->out_edges) : g_strdup ("");
  return g_strdup_printf (_("from %s to %s"), from, to);
}

/*< private >
 * vn_resolver_dup_rule:
 * @rule: index of a rule, or -1: the preset
 * @dtype: what it decided
 *
 * Returns: (transfer full): "rule 2: type:Softmax" or "preset CPU, 8 bit"
 */
char *
vn_resolver_dup_rule (VnResolver *self,
                      int         rule,
                      VnDType     dtype)
{
  g_autofree char *subject = NULL;
  const VnPreset *preset;

  g_return_val_if_fail (self != NULL, NULL);

  if (rule >= 0)
    {
      subject = resolve_reason_dup_rule_subject (g_ptr_array_index (self->scheme.rules, (guint) rule));
      return g_strdup_printf (_("rule %d: %s"), rule + 1, subject);
    }

  preset = self->scheme.preset != NULL ? vn_preset_find (self->scheme.preset, NULL) : NULL;
  if (preset == NULL)
    return g_strdup_printf (_("recipe, %u bit"), vn_dtype_get_bits (dtype));
  return g_strdup_printf (_("preset %s, %u bit"), preset->id, vn_dtype_get_bits (dtype));
}

/* Why a node that may be quantized made nothing of @value. */
static char *
reason_of_selected (VnResolver    *self,
                    const VnNode  *node,
                    const VnValue *value)
{
  const VnQuantNode *info = &self->quant_nodes[node->index];
  const VnQuantTraits *traits = &info->op->quant;

  if (self->opset < vn_quant_get_since (node))
    return g_strdup_printf (_("%s supports integers only from opset %lld on"),
                            node->op_type, (long long) vn_quant_get_since (node));
  if (traits->bias_input >= 0 && vn_node_get_input (node, (guint) traits->bias_input) == value &&
      !self->scheme.biases.quantized)
    return g_strdup (_("the recipe leaves biases in float"));
  if (traits->bias_input >= 0 && vn_node_get_input (node, (guint) traits->bias_input) == value)
    return g_strdup_printf (_("it is the bias of %s, whose input or weight is not quantized here"), node->op_type);
  for (guint i = 0; self->scheme.placement.float_output_types != NULL && value->producer == node &&
                    self->scheme.placement.float_output_types[i] != NULL; i++)
    if (vn_pattern_matches_text (self->scheme.placement.float_output_types[i], node->op_type))
      return g_strdup_printf (_("the recipe leaves the outputs of %s in float"), node->op_type);
  if (value->producer == node && vn_resolver_keeps_outputs_float (self, node))
    return g_strdup_printf (_("a rule leaves the outputs of %s in float"), node->op_type);
  if (!info->annotated)
    return g_strdup_printf (_("%s only passes on what is quantized before it"), node->op_type);
  return g_strdup_printf (_("%s uses it as a parameter, not as data"), node->op_type);
}

static char *
reason_of_node (VnResolver    *self,
                const VnNode  *node,
                const VnValue *value)
{
  const VnQuantNode *info = &self->quant_nodes[node->index];

  if (info->exclude_rule >= 0)
    return vn_resolver_dup_rule (self, info->exclude_rule, VN_DTYPE_F32);
  if (info->tail)
    return g_strdup (_("it is after the point where the model is truncated"));
  if (vn_quant_is_conversion (node))
    return g_strdup (_("already quantized in the model"));
  if (info->placed_outside)
    return g_strdup (_("the recipe quantizes only other parts of the model"));
  if (info->mixed)
    return g_strdup (_("values of very different magnitude are joined here: with a single scale, the small ones would "
                       "be lost"));
  if (info->blind && !vn_op_has_kernel (node))
    return g_strdup_printf (_("%s is not supported, so its outputs have no range"), node->op_type);
  if (info->blind)
    return g_strdup (_("it depends on an unsupported node, so it has no range"));
  if (info->op == NULL || info->op->quant.role == VN_QUANT_OPAQUE || !info->selected)
    return g_strdup_printf (_("%s is not quantized unless a rule asks for it"), node->op_type);
  return reason_of_selected (self, node, value);
}

/*< private >
 * vn_resolver_dup_reason:
 * @value: a float tensor that stays float
 *
 * Returns: (transfer full): why
 */
char *
vn_resolver_dup_reason (VnResolver    *self,
                        const VnValue *value)
{
  const VnAnnotation *annotation;

  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  annotation = vn_resolver_get_annotation (self, value);
  if (annotation->mask == VN_MASK_NAN)
    return g_strdup (_("it had NaN values, which integers cannot represent"));
  if (annotation->mask == VN_MASK_FLOAT)
    return g_strdup (_("it contains infinities or stand-ins for them, as masks do: no levels would be left for other values"));
  if (annotation->keep_float)
    return annotation->tensor_rule >= 0 ? vn_resolver_dup_rule (self, annotation->tensor_rule, VN_DTYPE_F32)
                                  : g_strdup (_("the recipe leaves it in float"));
  if (vn_resolver_is_divisor (self, value))
    return g_strdup (_("it is a divisor: small values that share an exponent with large ones would become 0"));
  if (annotation->fused)
    return g_strdup (_("its producer and its consumer are fused on the target"));
  if (annotation->absorbed_into != NULL)
    return g_strdup_printf (_("the range of “%s” replaces the clip after it"), annotation->absorbed_into->name);
  if (!vn_quant_has_uses (value) && !value->is_output)
    return g_strdup (_("it has no consumers"));
  if (value->initializer != NULL && self->scheme.biases.quantized && g_hash_table_contains (self->bias_copies, value))
    return g_strdup (_("quantized nodes read copies of it"));
  if (value->producer != NULL)
    return reason_of_node (self, value->producer, value);
  if (value->is_input && value->is_output)
    return g_strdup (_("it is an input and an output of the model"));

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (node->graph == self->graph)
        return reason_of_node (self, node, value);
    }
  return g_strdup (_("it is used only in a subgraph"));
}
