/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Relu and Clip: whether the quantized range in front of them cuts off what they would.
 *
 * Deviations from onnxruntime.quantization, each because the peer's result would be wrong:
 *  - a Clip whose bounds leave out 0 stays: a quantized range always holds 0, so it cannot replace the clamp;
 *  - a clamp whose result is to stay float, or has a range given by a rule, stays;
 *  - a clamp stays where the range of its result ends further out: because scales are powers of two, or somebody gave it;
 *  - a clamp whose result has more than 8 bits stays: runtimes without kernels for these, OpenVINO for one, take such pairs
 *    away and compute in float, and nothing would be clamped. */

#include "vn-resolver.h"

#include <math.h>

/* A bound of a clamp: attribute of that name, or input @i; @fallback if there is none. FALSE: not known now. */
static gboolean
resolve_annotate_clamp_get_bound (const VnNode *node,
                                  const char   *attribute,
                                  guint         i,
                                  double        fallback,
                                  double       *bound)
{
  const VnValue *value = vn_node_get_input (node, i);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (value == NULL)
    *bound = vn_node_get_float (node, attribute, (float) fallback);
  else if (tensor != NULL && tensor->n_elements == 1)
    *bound = vn_tensor_get_double (tensor, 0);
  else
    return FALSE;
  return TRUE;
}

/* A saturating range can stand for the clamp only if it may end where the clamp ends: it always holds 0. */
static gboolean
resolve_annotate_clamp_bounds_hold_zero (const VnNode *node)
{
  double low, high;

  if (resolve_annotate_clamp_get_bound (node, "min", 1, -INFINITY, &low) && low > 0)
    return FALSE;
  return !(resolve_annotate_clamp_get_bound (node, "max", 2, INFINITY, &high) && high < 0);
}

/* ---- wide types ---- */

#define DEEPEST 8     /* nodes that hand on, one behind the other */

static gboolean
resolve_annotate_clamp_has_wide_rule (VnResolver   *self,
                                      const VnNode *node)
{
  const VnOverride *rule = node->graph == self->graph ? vn_resolver_get_rule (self, self->quant_nodes[node->index].rule) : NULL;

  return rule != NULL && rule->activation != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (rule->activation) > 8;
}

/* Whether @value may get more than 8 bits: all whose rules say so count, as these are not yet weighed against each other. */
static gboolean
resolve_annotate_clamp_is_wide (VnResolver    *self,
                                const VnValue *value,
                                guint          depth)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);

  if (vn_dtype_get_bits (vn_resolver_get_imported_type (self, value, self->activation)) > 8 ||
      (rule != NULL && rule->activation != VN_DTYPE_UNDEFINED && vn_dtype_get_bits (rule->activation) > 8) ||
      (value->producer != NULL && resolve_annotate_clamp_has_wide_rule (self, value->producer)))
    return TRUE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      const VnOp *op = node->graph == self->graph ? self->quant_nodes[node->index].op : NULL;

      if (resolve_annotate_clamp_has_wide_rule (self, node))
        return TRUE;
      for (guint k = 0; op != NULL && op->quant.role == VN_QUANT_PASSTHROUGH && depth < DEEPEST && k < node->outputs->len; k++)
        if (vn_node_get_output (node, k) != NULL && resolve_annotate_clamp_is_wide (self, vn_node_get_output (node, k),
                                                                                    depth + 1))
          return TRUE;
    }
  return FALSE;
}

static gboolean
resolve_annotate_clamp_converts (VnResolver    *self,
                                 const VnValue *value)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);

  return rule != NULL && rule->convert != VN_DTYPE_UNDEFINED;
}

/* Then it need not end where the clamp does. */
static gboolean
resolve_annotate_clamp_has_imported_range (VnResolver    *self,
                                           const VnValue *value)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);

  return rule != NULL && (rule->symmetric == VN_YES || rule->min != NULL || rule->max != NULL || rule->scales != NULL);
}

/* ---- ranges that are wider than the clamp ---- */

typedef struct
{
  double low, high;
} Bounds;

/* Half a step beyond an end is no integer. */
static gboolean
resolve_annotate_clamp_is_beyond (const Bounds  *bounds,
                                  const VnRange *range,
                                  double         step)
{
  return range->min < bounds->low - step / 2 || range->max > bounds->high + step / 2;
}

static gboolean
resolve_annotate_clamp_is_given_beyond (VnResolver    *self,
                                        const Bounds  *bounds,
                                        const VnValue *value,
                                        VnDType        dtype)
{
  const VnEncoding *given = vn_resolver_find_given (self, value);
  gint64 qmin, qmax;
  VnRange range;

  return given != NULL && vn_quant_get_levels (dtype, FALSE, FALSE, &qmin, &qmax) &&
         vn_encoding_get_range (given, value->name, dtype, &range, NULL) &&
         resolve_annotate_clamp_is_beyond (bounds, &range, (range.max - range.min) / (double) (qmax - qmin));
}

/* A scale is never larger than that of all that the clamp lets through, as rounding keeps the order. */
static gboolean
resolve_annotate_clamp_is_rounded_beyond (VnResolver   *self,
                                          const Bounds *bounds,
                                          VnDType       dtype)
{
  const VnRangeMethod *method = self->scheme.scales.method;
  VnPowerRounding rounding;
  gint64 qmin, qmax, zero_point;
  float scale;

  if (isinf (bounds->high) && bounds->low == 0)   /* the zero point is the lowest integer */
    return FALSE;
  if (self->scheme.activations.tries_larger)
    return !isinf (bounds->low) || !isinf (bounds->high);
  if (method == NULL || !vn_quant_get_rounding (&self->scheme.scales, method, &rounding))
    return FALSE;
  if (isinf (bounds->low) || isinf (bounds->high))
    return !isinf (bounds->low) || !isinf (bounds->high);
  return !vn_quant_make_params (&self->scheme.scales, method->id, &(VnRange) { bounds->low, bounds->high }, dtype, FALSE, FALSE,
                                &scale, &zero_point, NULL) ||
         !vn_quant_get_levels (dtype, FALSE, FALSE, &qmin, &qmax) ||
         resolve_annotate_clamp_is_beyond (bounds, &(VnRange) { (double) (qmin - zero_point) * (double) scale,
                                                                (double) (qmax - zero_point) * (double) scale }, (double) scale);
}

/* Whether what the clamp gives may have integers that lie beyond its bounds. */
static gboolean
resolve_annotate_clamp_is_wider (VnResolver    *self,
                                 const VnNode  *node,
                                 const VnValue *output)
{
  const VnDType dtype = vn_resolver_get_imported_type (self, output, self->activation);
  Bounds bounds = { 0, INFINITY };

  if (vn_node_is (node, "Clip") && (!resolve_annotate_clamp_get_bound (node, "min", 1, -INFINITY, &bounds.low) ||
                                    !resolve_annotate_clamp_get_bound (node, "max", 2, INFINITY, &bounds.high)))
    return FALSE;   /* its bounds are not known, and it stays */
  return resolve_annotate_clamp_is_given_beyond (self, &bounds, output, dtype) ||
         resolve_annotate_clamp_is_rounded_beyond (self, &bounds, dtype);
}

/* What graphs inside nodes use stays as it is: they read the value before it is quantized. */
static gboolean
resolve_annotate_clamp_can_absorb (VnResolver    *self,
                                   const VnNode  *clamp,
                                   const VnValue *input,
                                   const VnValue *output)
{
  return !self->scheme.activations.symmetric &&
         self->scheme.activations.all_integers &&
         !self->scheme.placement.keep_clamps &&
         !resolve_annotate_clamp_converts (self, input) &&
         !resolve_annotate_clamp_converts (self, output) &&
         !resolve_annotate_clamp_has_imported_range (self, output) &&
         input->producer != NULL &&
         input->uses->len == 1 &&
         !input->is_output &&
         !g_hash_table_contains (self->captured, input) &&
         output != NULL &&
         !g_hash_table_contains (self->captured, output) &&
         vn_resolver_may_annotate (self, output) &&
         resolve_annotate_clamp_bounds_hold_zero (clamp);
}

/*< private >
 * vn_resolver_annotate_clamp:
 * @op: unused, like all that annotate a role
 *
 * Marks what a Relu or Clip gives, and takes the node away where the range before it can do its work; where that is not to
 * be, for the width of the type or the ends of the range alone, both of its tensors have the same parameters.
 *
 * Returns: whether the node works on quantized data
 */
gboolean
vn_resolver_annotate_clamp (VnResolver   *self,
                            const VnNode *node,
                            const VnOp   *op)
{
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (node, 0);

  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_resolver_is_annotated (self, input))
    return FALSE;

  if (resolve_annotate_clamp_can_absorb (self, node, input, output) && !vn_resolver_keeps_outputs_float (self, node))
    {
      VnAnnotation *annotation = vn_resolver_get_annotation (self, input);
      gboolean wider = resolve_annotate_clamp_is_wider (self, node, output);

      annotation->provider = NULL;
      if (wider && vn_resolver_find_given (self, input) != NULL)
        ;   /* which holds */
      else if (wider || resolve_annotate_clamp_is_wide (self, input, 0) || resolve_annotate_clamp_is_wide (self, output, 0))
        {
          annotation->provider = output;      /* of the type that rules about either ask for, with the same grid */
          annotation->provider_node = node;
        }
      else
        {
          annotation->annotated = FALSE;
          annotation->absorbed_into = output;
          g_ptr_array_add (self->clamps, (gpointer) node);
        }
    }
  vn_resolver_annotate_output (self, node, 0);
  return TRUE;
}
