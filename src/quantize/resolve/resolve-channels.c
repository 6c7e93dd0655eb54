/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Activations with a scale for each channel: what only depthwise convolutions read, as these never add channels up.
 *
 * Where a convolution writes the tensor, the scales cost nothing: with v the tensor, s[c] its scales and s one scale for
 * all, the network as written holds v[c] s / s[c], which has the scale s. The convolution in front has s / s[c] in the scales of
 * its weights and biases, those behind have s[c] / s in theirs: all integers are those of scales per channel. A clamp between,
 * which the range of the tensor replaces, is a clamp at the end of the range of each channel. */
#include "vn-resolver.h"

#include "vn-error.h"
#include "vn-memory.h"

#include <math.h>

static gboolean
resolve_channels_is_depthwise (const VnUse *use)
{
  const VnValue *weight = use->index == 0 && vn_node_is (use->node, "Conv") ? vn_node_get_input (use->node, 1) : NULL;
  gint64 group = vn_node_get_int (use->node, "group", 1);

  return weight != NULL && weight->initializer != NULL && weight->initializer->shape.rank >= 3 && group > 1 &&
         weight->initializer->shape.dims[1] == 1 && weight->initializer->shape.dims[0] % group == 0;
}

static gboolean
resolve_channels_has_other_users (VnResolver    *self,
                                  const VnValue *value,
                                  guint          n_channels)
{
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnUse *use = &g_array_index (value->uses, VnUse, i);

      if (use->node->graph != self->graph || !resolve_channels_is_depthwise (use) ||
          vn_node_get_int (use->node, "group", 1) != (gint64) n_channels)
        return TRUE;
    }
  return value->uses->len == 0 || value->is_output || g_hash_table_contains (self->captured, value);
}

/* Whether a rule says something about the tensor that holds for all its channels. */
static gboolean
resolve_channels_is_given (VnResolver         *self,
                           const VnAnnotation *annotation)
{
  const VnOverride *rule = annotation->tensor_rule >= 0 ? vn_resolver_get_rule (self, annotation->tensor_rule) : NULL;

  return rule != NULL && rule->activation_channels == VN_AS_RECIPE && rule->balance_channels == VN_AS_RECIPE;
}

/* The ranges of the channels of a tensor that may have a scale for each, or %NULL. */
static const VnChannelRanges *
resolve_channels_get_ranges (VnResolver       *self,
                             const VnValue    *value,
                             const VnQuantRow *row)
{
  const VnAnnotation *annotation = vn_resolver_get_annotation (self, value);
  const VnHistogram *histogram = self->lookup (value->name, self->lookup_data);

  if (row == NULL || !row->tensor.quantized || row->tensor.role != VN_TENSOR_ACTIVATION || row->tensor.shares != NULL ||
      row->converted != NULL || !vn_dtype_is_integer (row->tensor.dtype) || row->tensor.scale->n_elements != 1 ||
      annotation->unit_range || resolve_channels_is_given (self, annotation) || vn_resolver_get_encoding (self, value) != NULL ||
      histogram == NULL || !vn_channel_ranges_are_known (&histogram->channels) ||
      resolve_channels_has_other_users (self, value, histogram->channels.n))
    return NULL;
  return &histogram->channels;
}

/* ---- in the weights of neighbours ---- */

/* The node that computes what @value holds, a clamp that vanishes not counted. */
static const VnNode *
resolve_channels_find_producer (VnResolver    *self,
                                const VnValue *value)
{
  const VnNode *node = value->producer;
  const VnValue *input = node != NULL ? vn_node_get_input (node, 0) : NULL;

  if (input != NULL && vn_resolver_get_annotation (self, input)->absorbed_into == value)
    return input->uses->len == 1 && !input->is_output ? input->producer : NULL;
  return node;
}

/* The weight of a convolution, if it has a scale for each channel of the result and is its own. */
static VnQuantRow *
resolve_channels_find_weight (VnResolver   *self,
                              VnQuantPlan  *plan,
                              const VnNode *node,
                              guint         n_least)
{
  const VnValue *weight = node != NULL && vn_node_is (node, "Conv") ? vn_node_get_input (node, 1) : NULL;
  VnQuantRow *row = weight != NULL && weight->initializer != NULL && weight->uses->len == 1 && !weight->is_output
                  ? vn_quant_plan_find_row (plan, weight->name) : NULL;

  return row != NULL && row->tensor.quantized && row->tensor.axis == 0 && row->block == 0 && row->stored_scale == NULL &&
         vn_dtype_is_integer (row->tensor.dtype) && row->tensor.scale->n_elements % n_least == 0 ? row : NULL;
}

/* A bias must become integers of the product's scale, or there must be none. */
static gboolean
resolve_channels_takes_bias (VnResolver   *self,
                             const VnNode *node)
{
  return vn_node_get_input (node, 2) == NULL ||
         (g_hash_table_contains (self->with_bias, node) && self->scheme.biases.quantized &&
          self->scheme.biases.dtype == VN_DTYPE_UNDEFINED && self->scheme.biases.most_steps == 0);
}

static gboolean
resolve_channels_can_fold (VnResolver    *self,
                           VnQuantPlan   *plan,
                           const VnValue *value,
                           guint          n)
{
  const VnNode *producer = resolve_channels_find_producer (self, value);
  VnQuantRow *front = resolve_channels_find_weight (self, plan, producer, n);
  const VnQuantRow *read = front != NULL ? vn_quant_plan_find_row (plan, vn_node_get_input (producer, 0)->name) : NULL;

  if (front == NULL || front->tensor.scale->n_elements != n || read == NULL || !read->tensor.quantized ||
      (read->tensor.axis >= 0 && read->tensor.factors == NULL) || !resolve_channels_takes_bias (self, producer))
    return FALSE;
  for (guint i = 0; i < value->uses->len; i++)
    {
      const VnNode *user = g_array_index (value->uses, VnUse, i).node;

      if (resolve_channels_find_weight (self, plan, user, n) == NULL || !resolve_channels_takes_bias (self, user))
        return FALSE;
    }
  return TRUE;
}

/* Scales that hold each channel with the zero point of all: the geometric mean of what its samples need and what all need, which
 * leaves room for what no sample has shown; none is larger than that of all. */
static VnTensor *
resolve_channels_make_scales (const VnScaleScheme   *scheme,
                              const VnQuantRow      *row,
                              const VnChannelRanges *channels,
                              GError               **error)
{
  const float scale = *(const float *) row->tensor.scale->data;
  const double zero = (double) vn_tensor_get_s64 (row->tensor.zero_point, 0);
  VnTensor *scales = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) channels->n), error);
  gint64 qmin, qmax;

  vn_dtype_integer_range (row->tensor.dtype, &qmin, &qmax);
  for (guint c = 0; scales != NULL && c < channels->n; c++)
    {
      double low = MIN ((double) channels->low[c], 0), high = MAX ((double) channels->high[c], 0), wanted = 0;

      if (channels->low[c] <= channels->high[c] && zero > (double) qmin)
        wanted = low / ((double) qmin - zero);
      if (channels->low[c] <= channels->high[c] && zero < (double) qmax)
        wanted = MAX (wanted, high / ((double) qmax - zero));
      ((float *) scales->data)[c] = wanted > 0 && wanted < (double) scale
                                    ? (float) ((double) scale * sqrt (wanted / (double) scale)) : scale;
      if (!(((float *) scales->data)[c] > 0))
        ((float *) scales->data)[c] = scale;
      ((float *) scales->data)[c] = MIN (vn_quant_raise_scale (scheme, row->tensor.method, ((float *) scales->data)[c]), scale);
    }
  return scales;
}

/* @scales of a weight, times or divided by the factor of the channel that each belongs to. */
static VnTensor *
resolve_channels_move_factors (const VnTensor  *scales,
                               const VnTensor  *factors,
                               gboolean         divide,
                               GError         **error)
{
  VnTensor *moved = vn_tensor_new (VN_DTYPE_F32, &scales->shape, error);
  gsize each = scales->n_elements / factors->n_elements;

  for (gsize i = 0; moved != NULL && i < moved->n_elements; i++)
    {
      float factor = ((const float *) factors->data)[i / each], scale = ((const float *) scales->data)[i];

      ((float *) moved->data)[i] = divide ? scale / factor : scale * factor;
    }
  return moved;
}

static gboolean
resolve_channels_fold (VnResolver             *self,
                       VnQuantPlan            *plan,
                       const VnValue          *value,
                       const VnChannelRanges  *channels,
                       VnQuantRow             *row,
                       GError                **error)
{
  VnQuantRow *front = resolve_channels_find_weight (self, plan, resolve_channels_find_producer (self, value), channels->n);
  const float scale = *(const float *) row->tensor.scale->data;
  VnTensor *scales = resolve_channels_make_scales (&self->scheme.scales, row, channels, error);

  if (scales == NULL)
    return FALSE;
  row->stored_scale = row->tensor.scale;
  row->tensor.scale = scales;
  row->tensor.axis = 1;
  row->tensor.factors = vn_tensor_new (VN_DTYPE_F32, &scales->shape, error);
  if (row->tensor.factors == NULL)
    return FALSE;
  for (guint c = 0; c < channels->n; c++)
    ((float *) row->tensor.factors->data)[c] = ((float *) scales->data)[c] / scale;
  front->stored_scale = resolve_channels_move_factors (front->tensor.scale, row->tensor.factors, TRUE, error);
  for (guint i = 0; i < value->uses->len && front->stored_scale != NULL; i++)
    {
      VnQuantRow *behind = resolve_channels_find_weight (self, plan, g_array_index (value->uses, VnUse, i).node, channels->n);

      behind->stored_scale = resolve_channels_move_factors (behind->tensor.scale, row->tensor.factors, FALSE, error);
      if (behind->stored_scale == NULL)
        return FALSE;
    }
  return front->stored_scale != NULL;
}

/* ---- in the pair itself ---- */

/* ONNX Runtime makes one operator of a node between pairs, which has one scale for its result. */
static gboolean
resolve_channels_stays_float (VnResolver    *self,
                              const VnValue *value)
{
  const VnNode *producer = resolve_channels_find_producer (self, value);

  for (guint i = 0; producer != NULL && i < producer->inputs->len; i++)
    {
      const VnValue *input = vn_node_get_input (producer, i);

      if (input != NULL && !vn_value_is_constant (input) && !vn_resolver_get_annotation (self, input)->annotated)
        return TRUE;
    }
  return producer == NULL;
}

/* A channel that was never seen gets the range of one that holds nothing but zeros. */
static gboolean
resolve_channels_fill (VnResolver             *self,
                       const VnChannelRanges  *channels,
                       VnQuantRow             *row,
                       GError                **error)
{
  g_autofree float *scales = vn_try_new (float, channels->n, error);
  g_autofree gint64 *zero_points = scales != NULL ? vn_try_new (gint64, channels->n, error) : NULL;
  VnShape shape = VN_SHAPE ((gint64) channels->n);

  if (zero_points == NULL)
    return FALSE;
  for (guint c = 0; c < channels->n; c++)
    {
      gboolean seen = channels->low[c] <= channels->high[c];
      VnRange range = { seen ? (double) channels->low[c] : 0, seen ? (double) channels->high[c] : 0 };

      if (!vn_quant_make_params (&self->scheme.scales, "minmax", &range, row->tensor.dtype, self->scheme.activations.symmetric,
                                 FALSE,
                                 &scales[c], &zero_points[c], error))
        return FALSE;
    }
  row->tensor.axis = 1;
  vn_tensor_unref (row->tensor.scale);
  vn_tensor_unref (row->tensor.zero_point);
  row->tensor.zero_point = NULL;
  row->tensor.scale = vn_tensor_new_copy (VN_DTYPE_F32, &shape, scales, error);
  if (row->tensor.scale != NULL)
    row->tensor.zero_point = vn_quant_integer_tensor (row->tensor.dtype, &shape, zero_points, error);
  return row->tensor.zero_point != NULL;
}

/*< private >
 * vn_resolver_fill_channels:
 *
 * Gives activations that only depthwise convolutions read a scale for each channel, as far as the recipe asks for it. Weights
 * have their rows, biases not yet.
 */
gboolean
vn_resolver_fill_channels (VnResolver   *self,
                           VnQuantPlan  *plan,
                           GError      **error)
{
  g_autofree int *rules = NULL;

  g_return_val_if_fail (self != NULL, FALSE);

  if (!self->scheme.activations.may_have_channels || self->opset < 13 || self->lookup == NULL)
    return TRUE;
  rules = vn_recipe_list_for_values (self->recipe, VN_LAYER_ACTIVATION_CHANNELS, self->graph);
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->values, i);
      VnActivationChannels wanted = rules[value->id] != VN_AS_RECIPE ? (VnActivationChannels) rules[value->id] - 1
                                                                     : self->scheme.activations.channels;
      VnQuantRow *row = wanted != VN_ACTIVATION_CHANNELS_OFF ? vn_quant_plan_find_row (plan, value->name) : NULL;
      const VnChannelRanges *channels = resolve_channels_get_ranges (self, value, row);

      if (channels == NULL)
        continue;
      if (resolve_channels_can_fold (self, plan, value, channels->n))
        {
          if (!resolve_channels_fold (self, plan, value, channels, row, error))
            return FALSE;
        }
      else if (wanted == VN_ACTIVATION_CHANNELS_DEPTHWISE && resolve_channels_stays_float (self, value) &&
               !resolve_channels_fill (self, channels, row, error))
        return FALSE;
    }
  return TRUE;
}
