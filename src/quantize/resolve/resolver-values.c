/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a resolver knows of one value. */
#include "vn-resolver.h"

/*< private >
 * vn_resolver_get_annotation:
 * @value: of the graph that is resolved, not of an outer one
 */
VnAnnotation *
vn_resolver_get_annotation (VnResolver    *self,
                            const VnValue *value)
{
  g_return_val_if_fail (self != NULL && value != NULL, NULL);

  g_assert (value->graph == self->graph && value->id < self->graph->values->len);

  return &self->annotations[value->id];
}

static gboolean
resolver_only_quantized_by_others (const VnValue *value)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      if (!vn_quant_is_conversion (g_array_index (value->uses, VnUse, i).node))
        return FALSE;
    }
  return value->uses->len > 0 && !value->is_output;
}

/*< private >
 * vn_resolver_can_quantize:
 * @value: (nullable)
 *
 * Returns: whether @value is a float tensor of this graph that somebody reads and that is not yet quantized in the model.
 *   Readers inside nodes count if graphs there are quantized, too
 */
gboolean
vn_resolver_can_quantize (VnResolver    *self,
                          const VnValue *value)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (value == NULL || value->graph != self->graph)
    return FALSE;
  if (!(self->scheme.placement.subgraphs ? value->uses->len > 0 : vn_quant_has_uses (value)) && !value->is_output)
    return FALSE;
  if (value->initializer != NULL)
    return value->initializer->dtype == VN_DTYPE_F32;
  if (value->is_input && value->is_output)
    return FALSE;
  if (value->producer != NULL && vn_quant_is_conversion (value->producer))
    return FALSE;

  return value->type.kind == VN_TYPE_TENSOR &&
         value->type.dtype == VN_DTYPE_F32 &&
         !vn_value_is_constant (value) &&
         !resolver_only_quantized_by_others (value);
}

/*< private >
 * vn_resolver_root:
 * @value: an annotated value
 *
 * Returns: the tensor whose scale and zero point @value has in the end: @value itself unless it shares
 */
const VnValue *
vn_resolver_root (VnResolver    *self,
                  const VnValue *value)
{
  g_return_val_if_fail (self != NULL, NULL);

  for (;;)
    {
      const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);

      if (annotation->absorbed_into != NULL)
        value = annotation->absorbed_into;
      else if (annotation->provider != NULL)
        value = annotation->provider;
      else
        return value;
    }
}

/*< private >
 * vn_resolver_get_tensor_rule:
 * @value: (nullable)
 *
 * Returns: (transfer none) (nullable): the rule that says how @value is quantized
 */
const VnOverride *
vn_resolver_get_tensor_rule (VnResolver    *self,
                             const VnValue *value)
{
  const VnAnnotation *annotation;

  g_return_val_if_fail (self != NULL, NULL);

  annotation = value != NULL && value->graph == self->graph ? vn_resolver_get_annotation (self, value) : NULL;
  if (annotation == NULL || annotation->tensor_rule < 0 || annotation->keep_float)
    return NULL;
  return g_ptr_array_index (self->scheme.rules, (guint) annotation->tensor_rule);
}
