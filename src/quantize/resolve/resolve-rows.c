/* SPDX-License-Identifier: GPL-3.0-or-later */

/* From annotations to rows: types, ranges, scales, zero points. */

#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-progress.h"

#include <math.h>
#include <string.h>

static VnDType
resolve_rows_make_unsigned (VnDType dtype)
{
  switch (vn_dtype_get_bits (dtype))
    {
    case 4:
      return VN_DTYPE_U4;
    case 8:
      return VN_DTYPE_U8;
    case 16:
      return VN_DTYPE_U16;
    default:
      return dtype;
    }
}

static VnDType
resolve_rows_weight_type (VnResolver    *self,
                          const VnValue *value)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnOverride *rule = vn_resolver_get_rule (self, annotation->weight_rule);

  if (rule == NULL && vn_dtype_get_bits (self->scheme.weights.dtype) < 8 &&
      (annotation->at_least_byte || (self->scheme.weights.integer_blocks && annotation->block == 0)))
    return self->scheme.weights.symmetric && !annotation->is_unsigned ? VN_DTYPE_S8 : VN_DTYPE_U8;
  if (rule != NULL)
    return rule->weight;
  return vn_resolver_get_imported_type (self, value,
                                        annotation->is_unsigned && vn_dtype_is_integer (self->scheme.weights.dtype)
                                        ? resolve_rows_make_unsigned (self->scheme.weights.dtype) : self->scheme.weights.dtype);
}

static gboolean
resolve_rows_set_scalar_params (VnQuantRow  *row,
                                float        scale,
                                gint64       zero_point,
                                GError     **error)
{
  row->tensor.scale = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &scale);
  row->tensor.zero_point = vn_quant_integer_tensor (row->tensor.dtype, &VN_SHAPE_SCALAR, &zero_point, error);
  return row->tensor.zero_point != NULL;
}

/* A type that values are only rounded to: scale 1, so that whoever multiplies by it does no harm. */
static gboolean
resolve_rows_set_no_params (VnQuantRow  *row,
                            GError     **error)
{
  const float one = 1;
  VnDType dtype = vn_dtype_is_block (row->tensor.dtype) ? VN_DTYPE_F32 : row->tensor.dtype;

  row->tensor.scale = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &one);
  row->tensor.zero_point = vn_tensor_new (dtype, &VN_SHAPE_SCALAR, error);
  if (row->tensor.zero_point == NULL)
    return FALSE;
  memset (row->tensor.zero_point->data, 0, row->tensor.zero_point->n_bytes);
  return TRUE;
}

/* ---- activations ---- */

/* Ranges are for the reader only here, except that float16 ends. */
static gboolean
resolve_rows_fill_rounded (VnResolver     *self,
                           const VnValue  *value,
                           VnQuantRow     *row,
                           GError        **error)
{
  const VnHistogram *histogram = self->lookup != NULL ? self->lookup (value->name, self->lookup_data) : NULL;
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);

  if (histogram != NULL && histogram->min <= histogram->max)
    {
      row->tensor.min = histogram->min;
      row->tensor.max = histogram->max;
    }
  if (row->tensor.dtype == VN_DTYPE_F16 && MAX (-row->tensor.min, row->tensor.max) > 65504 && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "too-large", value->name,
                  _("“%s” reaches %g, but the largest float16 is 65504; larger values become infinite"), value->name,
                  MAX (-row->tensor.min, row->tensor.max));
  row->tensor.method = g_strdup ("none");
  row->tensor.rule = vn_resolver_dup_rule (self, annotation->activation_rule, row->tensor.dtype);
  return resolve_rows_set_no_params (row, error);
}

static gboolean
resolve_rows_fill_activation (VnResolver     *self,
                              const VnValue  *value,
                              VnQuantRow     *row,
                              GError        **error)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnEncoding *imported = vn_resolver_get_encoding (self, value);
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);
  const VnQuantRow *outer = vn_resolver_find_outer_row (self, value);
  const char *method = vn_resolver_get_method (self, value);
  g_autofree char *winner = NULL;
  VnRange range;
  gint64 zero_point;
  float scale, min, max;

  row->tensor.dtype = vn_resolver_get_activation_type (self, value);
  if (outer != NULL && outer->tensor.dtype == row->tensor.dtype)
    {
      vn_quant_row_take (row, outer, NULL);
      row->tensor.rule = g_strdup_printf (_("shares the parameters of “%s”"), value->name);
      return TRUE;
    }
  if (vn_dtype_is_rounded (row->tensor.dtype))
    return rule != NULL && rule->scales != NULL ? vn_quant_parse_params (rule->scales, rule->zero_points, 1, row, error)
                                                : resolve_rows_fill_rounded (self, value, row, error);
  if (!vn_resolver_find_range (self, value, &range, &winner, error))
    return FALSE;
  min = (float) range.min;
  max = (float) range.max;
  if (!vn_quant_rule_range (rule, value->name, 1, &min, &max, error))
    return FALSE;

  row->tensor.min = min;
  row->tensor.max = max;
  row->tensor.method = imported != NULL ? g_strdup ("imported")
                     : winner != NULL ? g_strdup_printf ("%s: %s", method, winner) : g_strdup (method);
  row->tensor.rule = vn_resolver_dup_rule (self, MAX (MAX (annotation->activation_rule, annotation->method_rule),
                                                      annotation->tensor_rule),
                                           row->tensor.dtype);
  if (rule != NULL && rule->scales != NULL)
    return vn_quant_parse_params (rule->scales, rule->zero_points, 1, row, error);
  if (imported != NULL && vn_encoding_fits (imported, row->tensor.dtype))
    return resolve_rows_set_scalar_params (row, imported->scale, imported->zero_point, error);
  if (annotation->unit_range && self->scheme.format->integer_operators)
    vn_quant_softmax_params (row->tensor.dtype, &scale, &zero_point);
  else if (!vn_quant_make_params (&self->scheme.scales, method, &(VnRange) { min, max }, row->tensor.dtype,
                                  vn_resolver_is_symmetric (self, value), FALSE, &scale, &zero_point, error))
    return FALSE;
  return resolve_rows_set_scalar_params (row, scale, zero_point, error);
}

/* ---- constants ---- */

static gboolean
resolve_rows_set_channel_params (VnResolver    *self,
                                 const VnValue *value,
                                 VnQuantRow    *row,
                                 const float   *min,
                                 const float   *max,
                                 gsize          n,
                                 gboolean       symmetric,
                                 gboolean       reduce_range,
                                 GError       **error)
{
  g_autofree float *scales = vn_try_new (float, n, error);
  g_autofree gint64 *zero_points = vn_try_new (gint64, n, error);
  VnShape shape = row->tensor.axis < 0 ? VN_SHAPE_SCALAR : VN_SHAPE ((gint64) n);

  if (scales == NULL || zero_points == NULL)
    return FALSE;
  row->tensor.min = n > 0 ? min[0] : 0;
  row->tensor.max = n > 0 ? max[0] : 0;
  for (gsize i = 0; i < n; i++)
    {
      row->tensor.min = MIN (row->tensor.min, min[i]);
      row->tensor.max = MAX (row->tensor.max, max[i]);
      if (vn_dtype_is_rounded (row->tensor.dtype))
        continue;
      if (!vn_quant_make_params (&self->scheme.scales, row->tensor.method, &(VnRange) { min[i], max[i] }, row->tensor.dtype,
                                 symmetric, reduce_range, &scales[i], &zero_points[i], error))
        return FALSE;
      scales[i] = vn_quant_adjust_scale (&self->scheme.scales, value, row->tensor.axis >= 0, scales[i]);
    }
  if (vn_dtype_is_rounded (row->tensor.dtype))
    {
      row->tensor.axis = -1;
      return resolve_rows_set_no_params (row, error);
    }
  row->tensor.scale = vn_tensor_new_copy (VN_DTYPE_F32, &shape, scales, error);
  if (row->tensor.scale == NULL)
    return FALSE;
  row->tensor.zero_point = vn_quant_integer_tensor (row->tensor.dtype, &shape, zero_points, error);
  return row->tensor.zero_point != NULL;
}

/* Other methods than the whole range; the type of the row is known. */
static gboolean
resolve_rows_choose_constant_ranges (VnResolver     *self,
                                     const VnValue  *value,
                                     VnQuantRow     *row,
                                     gboolean        symmetric,
                                     gboolean        reduce_range,
                                     float          *min,
                                     float          *max,
                                     GError        **error)
{
  const VnRangeMethod *method = vn_range_method_find (row->tensor.method, error);
  const VnRangeSettings settings = vn_quant_get_range_settings (&self->scheme.activations, self->scheme.activations.percentile,
                                                                row->tensor.dtype,
                                                                symmetric, reduce_range);

  if (method == NULL || g_str_equal (method->id, "minmax"))
    return method != NULL;
  if (vn_quant_method_ranges (value->initializer, row->tensor.axis, method, &settings, min, max, error))
    return TRUE;
  g_prefix_error (error, "“%s”: ", value->name);
  return FALSE;
}

static gboolean
resolve_rows_fill_constant (VnResolver     *self,
                            const VnValue  *value,
                            VnQuantRow     *row,
                            GError        **error)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);
  const VnEncoding *imported = vn_resolver_get_encoding (self, value);
  VnTensor *data = value->initializer;
  gsize n = annotation->axis < 0 ? 1 : (gsize) data->shape.dims[annotation->axis];
  g_autofree float *min = vn_try_new (float, n + 1, error);
  g_autofree float *max = vn_try_new (float, n + 1, error);
  gboolean symmetric, reduce_range = self->scheme.weights.reduce_range;
  guint64 n_infinite;
  gint64 zero_point;

  if (min == NULL || max == NULL)
    return FALSE;
  row->tensor.dtype = annotation->experts != NULL ? vn_resolver_join_experts (self, value, resolve_rows_weight_type)
                      : annotation->as_weight ? resolve_rows_weight_type (self, value)
                      : vn_resolver_get_activation_type (self, value);
  row->tensor.rule = vn_resolver_dup_rule (self, MAX (annotation->as_weight
                                                      ? annotation->weight_rule : annotation->activation_rule,
                                                      annotation->tensor_rule), row->tensor.dtype);
  vn_resolver_check_factors (self, value, row->tensor.dtype);
  if (annotation->block > 0)
    return vn_resolver_fill_blocks (self, value, row, error);
  if (!vn_quant_data_range (data, annotation->axis, min, max, &n_infinite, error))
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return FALSE;
    }
  if (n_infinite > 0 && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "infinite-values", value->name,
                  _("“%s” contains infinite values; its range is that of the finite ones"), value->name);

  row->tensor.axis = annotation->axis;
  row->tensor.method = g_strdup (annotation->as_weight ? self->scheme.weights.method : "minmax");
  if (rule != NULL && rule->scales != NULL)
    return vn_quant_parse_params (rule->scales, rule->zero_points, n, row, error);
  if (imported != NULL && vn_encoding_fits (imported, row->tensor.dtype))
    return vn_encoding_fill_constant (imported, n, row, error);
  if (self->scheme.weights.keeps_integers && !annotation->as_weight && rule == NULL &&
      vn_quant_keeps_integers (data, row->tensor.dtype, &zero_point))
    {
      row->tensor.axis = -1;
      row->tensor.min = min[0];
      row->tensor.max = max[0];
      return resolve_rows_set_scalar_params (row, 1, zero_point, error);
    }
  /* integer kernels want the same zero point in every channel */
  symmetric = (annotation->axis >= 0 && !self->scheme.format->weights_only) ||
              (annotation->as_weight ? self->scheme.weights.symmetric : self->scheme.activations.symmetric);
  if (rule != NULL)
    {
      symmetric = vn_answer_or (rule->symmetric, symmetric);
      reduce_range = vn_answer_or (rule->reduce_range, reduce_range);
    }
  if (!vn_dtype_is_rounded (row->tensor.dtype) &&
      !resolve_rows_choose_constant_ranges (self, value, row, symmetric, reduce_range, min, max, error))
    return FALSE;
  if (annotation->as_weight)
    vn_range_factors_apply (self->factors, value->name, vn_dtype_get_bits (row->tensor.dtype), n, min, max);
  if (!vn_dtype_is_rounded (row->tensor.dtype) && !vn_quant_rule_range (rule, value->name, n, min, max, error))
    return FALSE;
  return resolve_rows_set_channel_params (self, value, row, min, max, n, symmetric, reduce_range, error);
}

/* ---- sharing ---- */

typedef struct
{
  const VnValue    *owner;    /* NULL: not known yet */
  const VnQuantRow *row;      /* of @owner, or the type that it was converted to */
} Provider;

/* Whose parameters @value takes: those of its root, unless a node on the way sees the type that another was converted
 * to. As many may share one with another as a network has nodes: @known has, by value, what was found before. */
static Provider
resolve_rows_find_provider (VnResolver     *self,
                            VnQuantPlan    *plan,
                            const VnValue  *value,
                            const Provider *known)
{
  while (known[value->id].owner == NULL)
    {
      const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
      const VnValue *owner = annotation->absorbed_into != NULL ? annotation->absorbed_into : annotation->provider != NULL
                             ? annotation->provider : value;
      const VnQuantRow *row = vn_quant_plan_find_row (plan, owner->name);

      if (owner == value)
        return (Provider) { owner, row };
      if (annotation->absorbed_into == NULL && vn_quant_row_for (row, annotation->provider_node) != row)
        return (Provider) { owner, row->converted };
      value = owner;
    }
  return known[value->id];
}

/* What is known of @value stays so where all that it was found by is filled. */
static void
resolve_rows_keep_provider (VnResolver    *self,
                            const VnValue *value,
                            Provider       found,
                            Provider      *known)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnValue *next = annotation->absorbed_into == NULL ? annotation->provider : NULL;

  if (next != NULL && next->id < value->id &&
      (known[next->id].owner != NULL || vn_resolver_get_annotation (self, next)->provider == NULL) &&
      vn_resolver_get_annotation (self, next)->absorbed_into == NULL)
    known[value->id] = found;
}

static void
resolve_rows_fill_shared (VnResolver    *self,
                          VnQuantPlan   *plan,
                          const VnValue *value,
                          Provider      *known)
{
  const Provider provider = resolve_rows_find_provider (self, plan, value, known);
  const VnValue *owner = provider.owner;
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);
  VnQuantRow *row = vn_quant_plan_find_row (plan, value->name);

  resolve_rows_keep_provider (self, value, provider, known);
  vn_quant_row_take (row, provider.row, owner->name);
  row->shares_converted = vn_quant_plan_find_row (plan, owner->name) != provider.row;
  row->tensor.rule = g_strdup_printf (_("shares the parameters of “%s”"), owner->name);
  if (rule != NULL && rule->convert == VN_DTYPE_UNDEFINED && self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_WARNING, "rule-about-shared", value->name,
                  _("The rule for “%s” has no effect: it shares the parameters of “%s”"), value->name, owner->name);
}

/* ---- all ---- */

static VnTensorRole
resolve_rows_role_of (VnResolver        *self,
                      const VnValue     *value,
                      const VnAnnotation *annotation)
{
  return value->initializer != NULL ? VN_TENSOR_WEIGHT : VN_TENSOR_ACTIVATION;
}

static gboolean
resolve_rows_is_float (const VnValue *value)
{
  if (value->initializer != NULL)
    return value->initializer->dtype == VN_DTYPE_F32;
  return value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

static gboolean
resolve_rows_add_row (VnResolver     *self,
                      VnQuantPlan    *plan,
                      const VnValue  *value,
                      GError        **error)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  VnQuantRow *row = vn_quant_plan_add (plan, value->name, resolve_rows_role_of (self, value, annotation));

  if (!annotation->annotated)
    {
      row->tensor.rule = vn_resolver_dup_reason (self, value);
      return TRUE;
    }
  if (annotation->provider != NULL)   /* filled when its root is there */
    return TRUE;

  row->tensor.quantized = TRUE;
  return value->initializer != NULL ? resolve_rows_fill_constant (self, value, row, error)
                                    : resolve_rows_fill_activation (self, value, row, error);
}

/* Before sharing: who shares may take either type. */
static gboolean
resolve_rows_fill_all_converted (VnResolver   *self,
                                 VnQuantPlan  *plan,
                                 GError      **error)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);

      if (!self->annotations[i].annotated || rule == NULL || rule->convert == VN_DTYPE_UNDEFINED || value->initializer != NULL)
        continue;
      if (!vn_resolver_fill_converted (self, value, vn_quant_plan_find_row (plan, value->name), error))
        return FALSE;
    }
  return TRUE;
}

/*< private >
 * vn_resolver_fill_rows:
 *
 * Makes a row of every float tensor.
 *
 * Returns: %FALSE with %VN_ERROR_MISSING_DATA where statistics lack a tensor, %VN_ERROR_NUMERIC where they hold NaN, or if the
 *   thread's current cancellable ends it
 */
gboolean
vn_resolver_fill_rows (VnResolver   *self,
                       VnQuantPlan  *plan,
                       GError      **error)
{
  g_autofree Provider *known = NULL;
  const GPtrArray *values;

  g_return_val_if_fail (self != NULL, FALSE);

  values = self->graph->values;
  known = g_new0 (Provider, values->len + 1);
  for (guint i = 0; i < values->len; i++)
    {
      if (!resolve_rows_is_float (g_ptr_array_index (values, i)))
        continue;
      vn_progress_report_current (i, values->len);
      if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error) ||
          !resolve_rows_add_row (self, plan, g_ptr_array_index (values, i), error))
        return FALSE;
    }
  if (!resolve_rows_fill_all_converted (self, plan, error))
    return FALSE;
  for (guint i = 0; i < values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (values, i);

      if (self->annotations[i].annotated && self->annotations[i].provider != NULL)
        resolve_rows_fill_shared (self, plan, value, known);
    }
  vn_resolver_leave_experts (self, plan);
  vn_resolver_align (self, plan);
  if (!vn_resolver_fill_biases (self, plan, error))
    return FALSE;
  if (self->scheme.npu)
    vn_resolver_refine_positions (self, plan);
  return TRUE;
}
