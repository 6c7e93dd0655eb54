/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rules about tensors: what TensorQuantOverrides is to onnxruntime.quantization. The last rule that names a tensor is the
 * one that counts. Numbers stand in the recipe as text: one, or one per channel.
 *
 * Known deviations:
 *  - one minimum or maximum holds for all channels of a constant (the peer: for the first one only);
 *  - nodes that are not quantized read what the others read (the peer: the float tensor where it converts);
 *  - a rule about a tensor that takes the parameters of another is reported (the peer: ignored). */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-former.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <float.h>
#include <math.h>

/* ---- numbers ---- */

static gboolean
resolve_tensor_rules_check_params (const VnQuantRow  *row,
                                   gsize              n,
                                   const double      *scales,
                                   const double      *zero_points,
                                   GError           **error)
{
  gint64 low = 0, high = 0;     /* floats of 8 bit have no zero point but 0 */

  if (vn_dtype_is_rounded (row->tensor.dtype))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s”: a rule sets the scale %g, but %s has no scale, as values are only rounded to it; remove "
                     "the scale, or choose another type"),
                   row->tensor.name, scales[0], vn_dtype_get_name (row->tensor.dtype));
      return FALSE;
    }
  vn_dtype_integer_range (row->tensor.dtype, &low, &high);
  for (gsize i = 0; i < n; i++)
    {
      if (!((float) scales[i] >= FLT_MIN))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s”: a rule sets the scale %g; it must be positive"),
                       row->tensor.name, scales[i]);
          return FALSE;
        }
      if (!(zero_points[i] >= (double) low && zero_points[i] <= (double) high && rint (zero_points[i]) == zero_points[i]))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                       _("“%s”: a rule sets the zero point %g, but the range of %s is %lld to %lld"), row->tensor.name,
                       zero_points[i], vn_dtype_get_name (row->tensor.dtype), (long long) low, (long long) high);
          return FALSE;
        }
    }
  return TRUE;
}

/*< private >
 * vn_quant_parse_params:
 * @n: 1, or number of channels
 * @row: type and axis are set
 *
 * Takes scale and zero point from a rule.
 */
gboolean
vn_quant_parse_params (char       **scales,
                       char       **zero_points,
                       gsize        n,
                       VnQuantRow  *row,
                       GError     **error)
{
  g_autofree double *numbers = vn_try_new (double, 2 * n, error);
  VnShape shape;

  g_return_val_if_fail (row != NULL, FALSE);

  shape = row->tensor.axis < 0 ? VN_SHAPE_SCALAR : VN_SHAPE ((gint64) n);
  if (numbers == NULL || !vn_recipe_parse_numbers (scales, n, row->tensor.name, numbers, error) ||
      !vn_recipe_parse_numbers (zero_points, n, row->tensor.name, numbers + n, error) ||
      !resolve_tensor_rules_check_params (row, n, numbers, numbers + n, error))
    return FALSE;
  if ((row->tensor.scale = vn_tensor_new (VN_DTYPE_F32, &shape, error)) == NULL ||
      (row->tensor.zero_point = vn_tensor_new (row->tensor.dtype, &shape, error)) == NULL)
    return FALSE;
  for (gsize i = 0; i < n; i++)
    {
      ((float *) row->tensor.scale->data)[i] = (float) numbers[i];
      vn_quant_store_integer (row->tensor.zero_point, i, (gint64) numbers[n + i]);
    }
  return TRUE;
}

/* ---- which rule speaks about a tensor ---- */

static gboolean
resolve_tensor_rules_name_in_list (char       **list,
                                   const char  *name)
{
  for (guint i = 0; list[i] != NULL; i++)
    if (vn_pattern_matches_text (list[i], name))
      return TRUE;
  return FALSE;
}

/* Whether one of the names that preparation took away is meant, whose numbers @value holds. */
static gboolean
resolve_tensor_rules_names_former (VnResolver     *self,
                                   char          **list,
                                   const VnValue  *value)
{
  GPtrArray *names = vn_graph_list_same (self->graph, value->name);

  for (guint i = 0; names != NULL && i < names->len; i++)
    if (resolve_tensor_rules_name_in_list (list, names->pdata[i]))
      return TRUE;
  return FALSE;
}

static guint
resolve_tensor_rules_apply_rule (VnResolver       *self,
                                 const VnOverride *rule,
                                 int               index,
                                 gboolean          former)
{
  guint n = 0;

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);

      if (former ? !resolve_tensor_rules_names_former (self, rule->tensors, value)
                 : !resolve_tensor_rules_name_in_list (rule->tensors, value->name))
        continue;
      self->annotations[i].tensor_rule = index;
      self->annotations[i].keep_float = rule->exclude;
      n++;
    }
  return n;
}

static gboolean
resolve_tensor_rules_list_means (const VnGraph *graph,
                                 gpointer       list)
{
  for (guint i = 0; i < graph->values->len; i++)
    if (resolve_tensor_rules_name_in_list (list, ((const VnValue *) g_ptr_array_index (graph->values, i))->name))
      return TRUE;
  return FALSE;
}

/*< private >
 * vn_resolver_set_tensor_rules:
 *
 * Before marking: which rule speaks about each tensor.
 */
void
vn_resolver_set_tensor_rules (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  for (guint r = 0; r < self->scheme.rules->len; r++)
    {
      const VnOverride *rule = g_ptr_array_index (self->scheme.rules, r);

      if (!rule->enabled || !vn_override_is_for_tensors (rule) ||
          resolve_tensor_rules_apply_rule (self, rule, (int) r, FALSE) > 0 ||
          (self->scope == NULL && resolve_tensor_rules_apply_rule (self, rule, (int) r, TRUE) > 0) || self->notes == NULL ||
          self->scope != NULL || vn_resolver_is_meant_inside (self, resolve_tensor_rules_list_means, rule->tensors))
        continue;
      vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-matches-nothing", rule->tensors[0],
                    _("Rule %u (%s) matches no tensor of the prepared model"), r + 1, rule->tensors[0]);
    }
}

static gboolean
resolve_tensor_rules_replace_numbers (char       **list,
                                      const char  *name,
                                      gsize        n,
                                      float       *numbers,
                                      GError     **error)
{
  g_autofree double *imported = NULL;

  if (list == NULL)
    return TRUE;
  if ((imported = vn_try_new (double, n, error)) == NULL || !vn_recipe_parse_numbers (list, n, name, imported, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    numbers[i] = (float) imported[i];
  return TRUE;
}

/*< private >
 * vn_quant_rule_range:
 * @rule: (nullable): about the tensor
 * @n: channels
 * @min, @max: (inout) (array length=n): replaced by what the rule says
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if the rule gives too many numbers, or a range that ends before it begins
 */
gboolean
vn_quant_rule_range (const VnOverride  *rule,
                     const char        *name,
                     gsize              n,
                     float             *min,
                     float             *max,
                     GError           **error)
{
  if (rule == NULL || (rule->min == NULL && rule->max == NULL))
    return TRUE;
  if (!resolve_tensor_rules_replace_numbers (rule->min, name, n, min, error) ||
      !resolve_tensor_rules_replace_numbers (rule->max, name, n, max, error))
    return FALSE;
  for (gsize i = 0; i < n; i++)
    if (min[i] > max[i])
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                     _("“%s”: the range from %g to %g is not allowed; the minimum must not be larger than the maximum"), name,
                     (double) min[i], (double) max[i]);
        return FALSE;
      }
  return TRUE;
}

/* ---- another type for some readers ---- */

static gboolean
resolve_tensor_rules_find_receivers (VnResolver        *self,
                                     const VnOverride  *rule,
                                     const VnValue     *value,
                                     gboolean          *receives)
{
  gboolean any = FALSE;

  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *node = g_array_index (value->uses, VnUse, i).node;
      g_autofree char *label = vn_node_dup_label (node);

      for (guint k = 0; node->graph == self->graph && rule->receivers != NULL && rule->receivers[k] != NULL; k++)
        receives[node->index] |= vn_pattern_matches_node (rule->receivers[k], node, label);
      if (node->graph != self->graph)
        continue;
      receives[node->index] |= rule->receivers == NULL;
      any |= receives[node->index];
    }
  return any || (value->is_output && rule->receivers == NULL);
}

static gboolean
resolve_tensor_rules_fill_converted_params (VnResolver     *self,
                                            const VnValue  *value,
                                            VnQuantRow     *converted,
                                            GError        **error)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);
  gboolean symmetric = vn_answer_or (rule->convert_symmetric, self->scheme.activations.symmetric);
  const VnOverride second = { .min = rule->convert_min, .max = rule->convert_max };
  VnRange range;
  gint64 zero_point;
  float min, max, scale;

  if (rule->convert_scale != NULL)
    return vn_quant_parse_params (rule->convert_scale, rule->convert_zero_point, 1, converted, error);
  if (!vn_resolver_find_range (self, value, &range, NULL, error))
    return FALSE;
  min = (float) range.min;
  max = (float) range.max;
  if (!vn_quant_rule_range (&second, value->name, 1, &min, &max, error))
    return FALSE;
  converted->tensor.min = min;
  converted->tensor.max = max;
  if (!vn_quant_make_params (&self->scheme.scales, vn_resolver_get_method (self, value), &(VnRange) { min, max },
                             converted->tensor.dtype, symmetric, FALSE, &scale, &zero_point, error))
    return FALSE;
  converted->tensor.scale = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &scale);
  converted->tensor.zero_point = vn_quant_integer_tensor (converted->tensor.dtype, &VN_SHAPE_SCALAR, &zero_point, error);
  return converted->tensor.zero_point != NULL;
}

/*< private >
 * vn_resolver_fill_converted:
 * @value: an activation with a rule that names another type
 * @row: its row
 *
 * Adds the type, scale and zero point that some readers see.
 */
gboolean
vn_resolver_fill_converted (VnResolver     *self,
                            const VnValue  *value,
                            VnQuantRow     *row,
                            GError        **error)
{
  const VnOverride *rule;

  g_return_val_if_fail (self != NULL && value != NULL && row != NULL, FALSE);

  rule = vn_resolver_get_tensor_rule (self, value);
  row->receives = g_new0 (gboolean, self->graph->nodes->len + 1);
  if (!resolve_tensor_rules_find_receivers (self, rule, value, row->receives))
    {
      if (self->notes != NULL)
        vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-without-receivers", value->name,
                      _("None of the consumers in a rule reads “%s”"), value->name);
      return TRUE;
    }
  row->converted = vn_quant_row_new (value->name, VN_TENSOR_ACTIVATION);
  row->converted->tensor.quantized = TRUE;
  row->converted->tensor.dtype = rule->convert;
  return resolve_tensor_rules_fill_converted_params (self, value, row->converted, error);
}
