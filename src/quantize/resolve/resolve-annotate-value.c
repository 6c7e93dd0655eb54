/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether one value may be quantized, and that it is: what all of annotating builds on. */
#include "vn-resolver.h"

/*< private >
 * vn_resolver_is_annotated:
 * @value: (nullable)
 */
gboolean
vn_resolver_is_annotated (VnResolver    *self,
                          const VnValue *value)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return value != NULL && value->graph == self->graph && vn_resolver_get_annotation (self, value)->annotated;
}

/* Whether something is divided by @value, or by its root: the variance of a decomposed layer normalization. */
static gboolean
resolve_annotate_is_divisor (const VnValue *value,
                             guint          depth)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if ((vn_node_is (use->node, "Div") && use->index == 1) || vn_node_is (use->node, "Reciprocal"))
        return TRUE;
      if (vn_node_is (use->node, "Sqrt") && depth < 4 &&
          resolve_annotate_is_divisor (vn_node_get_output (use->node, 0), depth + 1))
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_resolver_is_divisor:
 *
 * Returns: whether @value stays float because something is divided by it, and in a type whose elements share an exponent
 *   it could become 0
 */
gboolean
vn_resolver_is_divisor (VnResolver    *self,
                        const VnValue *value)
{
  g_return_val_if_fail (self != NULL, FALSE);

  /* where elements share an exponent, small numbers next to large ones may become 0, and nothing ends what grows by that */
  return self->scheme.activations.shares_exponents && resolve_annotate_is_divisor (value, 0);
}

/* A single number that is computed has no axis along which blocks could lie. */
static gboolean
resolve_annotate_has_no_axis (VnResolver    *self,
                              const VnValue *value)
{
  return value->initializer == NULL && value->type.shape.rank == 0 && self->scheme.activations.shares_exponents;
}

/*< private >
 * vn_resolver_may_annotate:
 * @value: (nullable)
 *
 * Returns: whether @value can be quantized, and nobody said that it is to stay float
 */
gboolean
vn_resolver_may_annotate (VnResolver    *self,
                          const VnValue *value)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_resolver_can_quantize (self, value) && !vn_resolver_get_annotation (self, value)->keep_float &&
         !vn_resolver_is_divisor (self, value) && !resolve_annotate_has_no_axis (self, value);
}

static gboolean
resolve_annotate_list_matches (char       **list,
                               const char  *text)
{
  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    if (vn_pattern_matches_text (list[i], text))
      return TRUE;
  return FALSE;
}

/*< private >
 * vn_resolver_keeps_outputs_float:
 *
 * Returns: whether results of @node stay float, because of its type or by a rule: some runtimes want those of products so
 */
gboolean
vn_resolver_keeps_outputs_float (VnResolver   *self,
                                 const VnNode *node)
{
  const VnOverride *rule;

  g_return_val_if_fail (self != NULL && node != NULL, FALSE);

  rule = vn_resolver_get_rule (self, self->quant_nodes[node->index].rule);
  return (rule != NULL && rule->float_results) ||
         resolve_annotate_list_matches (self->scheme.placement.float_output_types, node->op_type);
}

/*< private >
 * vn_resolver_annotate_value:
 * @value: (nullable)
 *
 * Marks @value as quantized, with parameters of its own.
 *
 * Returns: whether it can be
 */
gboolean
vn_resolver_annotate_value (VnResolver    *self,
                            const VnValue *value)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_resolver_may_annotate (self, value))
    return FALSE;

  vn_resolver_get_annotation (self, value)->annotated = TRUE;
  return TRUE;
}

/*< private >
 * vn_resolver_annotate_output:
 * @i: which output
 *
 * Marks the @i-th result of @node as quantized, with parameters of its own.
 *
 * Returns: whether it can be
 */
gboolean
vn_resolver_annotate_output (VnResolver   *self,
                             const VnNode *node,
                             guint         i)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return !vn_resolver_keeps_outputs_float (self, node) && vn_resolver_annotate_value (self, vn_node_get_output (node, i));
}
