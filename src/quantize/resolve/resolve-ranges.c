/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The range of an activation: imported, guaranteed by its operator, or found in statistics. */
#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"

#include <math.h>

/*< private >
 * vn_resolver_get_rule:
 * @index: of a rule of the recipe, or -1
 *
 * Returns: (transfer none) (nullable): the rule
 */
const VnOverride *
vn_resolver_get_rule (VnResolver *self,
                      int         index)
{
  g_return_val_if_fail (self != NULL, NULL);

  return index >= 0 ? g_ptr_array_index (self->scheme.rules, (guint) index) : NULL;
}

/*< private >
 * vn_resolver_get_imported_type:
 *
 * What a rule says comes first, then what is imported, then the recipe.
 *
 * Returns: the type that is imported for @value, or @otherwise
 */
VnDType
vn_resolver_get_imported_type (VnResolver    *self,
                               const VnValue *value,
                               VnDType        otherwise)
{
  const VnEncoding *imported;

  g_return_val_if_fail (self != NULL, VN_DTYPE_UNDEFINED);

  imported = vn_resolver_get_encoding (self, value);
  return imported != NULL && imported->dtype != VN_DTYPE_UNDEFINED ? imported->dtype : otherwise;
}

/*< private >
 * vn_resolver_get_activation_type:
 *
 * Returns: the type that @value gets as an activation
 */
VnDType
vn_resolver_get_activation_type (VnResolver    *self,
                                 const VnValue *value)
{
  const VnOverride *rule;

  g_return_val_if_fail (self != NULL, VN_DTYPE_UNDEFINED);

  rule = vn_resolver_get_rule (self, vn_resolver_get_annotation (self, value)->activation_rule);
  return rule != NULL ? rule->activation : vn_resolver_get_imported_type (self, value, self->activation);
}

/*< private >
 * vn_resolver_is_symmetric:
 *
 * What is never negative gains a bit from a zero point at its lower end.
 *
 * Returns: whether the zero point of @value lies in the middle
 */
gboolean
vn_resolver_is_symmetric (VnResolver    *self,
                          const VnValue *value)
{
  const VnOverride *rule;
  const VnNode *node;
  VnTensor *low;
  gboolean symmetric;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  rule = vn_resolver_get_tensor_rule (self, value);
  node = value->producer;
  low = node != NULL && vn_node_is (node, "Clip") && vn_node_get_input (node, 1) != NULL
        ? vn_value_get_constant (vn_node_get_input (node, 1)) : NULL;
  symmetric = self->scheme.activations.symmetric;
  if (self->scheme.activations.unsigned_relu && node != NULL &&
      (vn_node_is (node, "Relu") || (low != NULL && low->n_elements == 1 && vn_tensor_get_double (low, 0) == 0) ||
       (vn_node_is (node, "Clip") && vn_node_get_attr (node, "min") != NULL && vn_node_get_float (node, "min", 0) == 0)))
    symmetric = FALSE;
  return rule != NULL ? vn_answer_or (rule->symmetric, symmetric) : symmetric;
}

static void
resolve_ranges_centre_range (VnRange *range)
{
  range->max = MAX (fabs (range->min), fabs (range->max));
  range->min = -range->max;
}

/* The range of a tensor by the method that holds for it. */
static gboolean
resolve_ranges_observed_range (VnResolver     *self,
                               const VnValue  *value,
                               const char     *method_id,
                               double          percentile,
                               VnDType         dtype,
                               gboolean        symmetric,
                               VnRange        *range,
                               char          **winner,
                               GError        **error)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnHistogram *histogram = self->lookup (value->name, self->lookup_data);
  const VnRangeMethod *method = vn_range_method_find (method_id, error);
  g_autoptr(VnHistogram) within = NULL;
  VnRangeSettings settings = vn_quant_get_range_settings (&self->scheme.activations, percentile, dtype, symmetric, FALSE);

  if (method == NULL)
    return FALSE;
  if (histogram == NULL && self->imported != NULL)
    {
      g_autofree char *files = g_strjoinv ("”, “", self->scheme.activations.encodings);

      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("No range is known for “%s”: add it to “%s”, or also calibrate with samples"), value->name, files);
      return FALSE;
    }
  if (histogram == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("The statistics have no range for “%s”; calibrate this model again"), value->name);
      return FALSE;
    }
  if (annotation->mask == VN_MASK_CUT)
    histogram = within = vn_histogram_new_within (histogram, annotation->mask_min, annotation->mask_max);
  if (histogram->min > histogram->max)
    {
      if (self->notes != NULL)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "no-values", value->name,
                      _("“%s” was empty in every sample"), value->name);
      *range = (VnRange) { 0, 0 };
      return TRUE;
    }
  if (!vn_range_method_find_range (method, histogram, &settings, range, winner, error))
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return FALSE;
    }
  if (self->scheme.activations.centered)
    resolve_ranges_centre_range (range);
  return TRUE;
}

/*< private >
 * vn_resolver_get_method:
 * @value: an activation
 *
 * Returns: id of the method its range is found by; "fixed": the operator guarantees it
 */
const char *
vn_resolver_get_method (VnResolver    *self,
                        const VnValue *value)
{
  const VnAnnotation *annotation;
  const VnOverride *rule;

  g_return_val_if_fail (self != NULL, NULL);

  annotation = vn_resolver_get_annotation (self, value);
  rule = vn_resolver_get_rule (self, annotation->method_rule);
  if (annotation->unit_range)
    return "fixed";

  return rule != NULL ? rule->method : self->scheme.activations.method;
}

/* By what a search for ranges has found. */
static void
resolve_ranges_multiply (VnResolver    *self,
                         const VnValue *value,
                         VnRange       *range)
{
  float low = 1, high = 1;

  vn_range_factors_apply (self->factors, value->name, vn_dtype_get_bits (vn_resolver_get_activation_type (self, value)), 1, &low,
                          &high);
  range->min *= (double) low;
  range->max *= (double) high;
}

/* What the processor presumes of an operator's results, whatever they are. */
static gboolean
resolve_ranges_find_fixed (VnResolver    *self,
                           const VnValue *value,
                           VnRange       *range)
{
  const VnHistogram *seen = self->lookup != NULL ? self->lookup (value->name, self->lookup_data) : NULL;
  double step;

  if (value->producer == NULL ||
      !vn_recipe_get_fixed_range (self->recipe, value->producer->op_type, vn_resolver_get_activation_type (self, value),
                                  &range->min, &range->max))
    return FALSE;
  step = (range->max - range->min) / 128;
  if (seen != NULL && (seen->min < range->min - step || seen->max > range->max + step) && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "fixed-range", value->name,
                  _("“%s” ranges from %g to %g, but the target expects %g to %g: values outside are clipped"), value->name,
                  seen->min, seen->max, range->min, range->max);
  return TRUE;
}

/*< private >
 * vn_resolver_find_range:
 * @value: an activation
 * @winner: (out) (nullable): which method was the best, where the method tries several
 *
 * Its range by the method that holds for it, before a rule about the tensor changes it.
 */
gboolean
vn_resolver_find_range (VnResolver     *self,
                        const VnValue  *value,
                        VnRange        *range,
                        char          **winner,
                        GError        **error)
{
  const VnAnnotation *annotation;
  const VnOverride *rule;
  const VnEncoding *imported;

  g_return_val_if_fail (self != NULL && value != NULL, FALSE);

  annotation = vn_resolver_get_annotation (self, value);
  rule = vn_resolver_get_rule (self, annotation->percentile_rule);
  imported = vn_resolver_get_encoding (self, value);
  if (imported != NULL)
    return vn_encoding_get_range (imported, value->name, vn_resolver_get_activation_type (self, value), range, error);
  if (resolve_ranges_find_fixed (self, value, range))
    return TRUE;
  if (annotation->unit_range)
    {
      *range = (VnRange) { annotation->unit_min, annotation->unit_max };
      return TRUE;
    }
  if (!resolve_ranges_observed_range (self, annotation->range_from != NULL ? annotation->range_from : value,
                                      vn_resolver_get_method (self, value),
                                    rule != NULL ? rule->percentile : self->scheme.activations.percentile,
                                    vn_resolver_get_activation_type (self, value),
                                    vn_resolver_is_symmetric (self, value), range, winner, error))
    return FALSE;
  resolve_ranges_multiply (self, value, range);
  if (self->scheme.activations.limits_gates)
    vn_quant_limit_gate (value, range);
  return TRUE;
}
