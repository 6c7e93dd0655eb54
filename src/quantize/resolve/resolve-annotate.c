/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which tensors are quantized, and how they hang together: the rules of onnxruntime.quantization's QDQ mode, walked in
 * the order of the nodes because some of them depend on what earlier nodes decided.
 *
 * Known deviations, each because the peer's result would be wrong:
 *  - a factor beta of a bias is folded into the bias (the peer drops it);
 *  - a constant of MatMul has a scale per channel only if it is the right one and a matrix: ONNX Runtime's integer kernel
 *    fails on others;
 *  - a tensor nobody reads gets no Q/DQ pair. */

#include "vn-resolver.h"

#include "vn-i18n.h"

#include <string.h>

typedef gboolean (*MarkFunc) (VnResolver *self, const VnNode *node, const VnOp *op);

static gboolean annotate_compute     (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_gather      (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_generic     (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_matmul      (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_norm        (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_pad         (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_passthrough (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_split       (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_where       (VnResolver *self, const VnNode *node, const VnOp *op);

static gboolean annotate_average_pool (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean annotate_global_pool  (VnResolver *self, const VnNode *node, const VnOp *op);

/* How a role is annotated. Unknown and opaque operators that a rule asks for are treated as generic ones. */
static const MarkFunc by_role[] = {
  [VN_QUANT_OPAQUE]      = annotate_generic,
  [VN_QUANT_COMPUTE]     = annotate_compute,
  [VN_QUANT_MATMUL]      = annotate_matmul,
  [VN_QUANT_GENERIC]     = annotate_generic,
  [VN_QUANT_CLAMP]       = vn_resolver_annotate_clamp,
  [VN_QUANT_PASSTHROUGH] = annotate_passthrough,
  [VN_QUANT_NORM]        = annotate_norm,
};

/* What the peer annotates otherwise than the role says. */
static const struct { const char *type; MarkFunc annotation; } by_type[] = {
  { "AveragePool",       annotate_average_pool },   /* its operator of integers has a grid of its own */
  { "GlobalAveragePool", annotate_global_pool },
  { "Gather",            annotate_gather },         /* constant data are quantized, too */
  { "GatherElements",    annotate_gather },
  { "Split",             annotate_split },          /* quantizes its input; all outputs share */
  { "Pad",               annotate_pad },            /* shares only if the padding is in the range */
  { "Where",             annotate_where },          /* only if both branches are quantized */
};

/* What annotates @node: by its type if the peer has a rule for that, otherwise by its role. */
static MarkFunc
resolve_annotate_find (const VnNode *node,
                       const VnOp   *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (by_type); i++)
    if (g_str_equal (by_type[i].type, node->op_type))
      return by_type[i].annotation;
  return by_role[op != NULL ? op->quant.role : VN_QUANT_OPAQUE];
}

/* @output takes the parameters of @input, even if it was annotated before. */
static gboolean
annotate_shared (VnResolver    *self,
                 const VnNode  *node,
                 const VnValue *output,
                 const VnValue *input)
{
  VnAnnotation *annotation;

  if (!vn_resolver_may_annotate (self, output) || output->initializer != NULL || vn_resolver_keeps_outputs_float (self, node))
    return FALSE;

  annotation = vn_resolver_get_annotation (self, output);
  annotation->annotated = TRUE;
  annotation->provider = input;
  annotation->provider_node = node;
  return TRUE;
}

/* Axis of the channels of a constant, or -1: one scale for all. @axis: of the output channels as the operator has them, may
 * be counted from the end, may be out of range */
static int
resolve_annotate_choose_axis (VnResolver    *self,
                              const VnValue *value,
                              int            axis)
{
  const VnOverride *rule = vn_resolver_get_tensor_rule (self, value);
  const VnEncoding *imported = vn_resolver_get_encoding (self, value);
  int rank = value->initializer->shape.rank;
  gboolean per_channel = imported != NULL && imported->has_params ? imported->n > 0
                         : self->scheme.weights.per_channel && vn_quant_is_used_by (value, self->scheme.weights.channel_types,
                                                                                    TRUE);

  if (rule != NULL && rule->axis != VN_AXIS_AS_RECIPE)
    {
      axis = (int) rule->axis;
      per_channel = TRUE;
    }
  if (rule != NULL)
    per_channel = vn_answer_or (rule->per_channel, per_channel);
  axis = axis < 0 ? axis + rank : axis;
  return per_channel && axis >= 0 && axis < rank ? axis : -1;
}

static void
resolve_annotate_note_one_scale (VnResolver    *self,
                                 const VnValue *weight)
{
  vn_resolver_get_annotation (self, weight)->one_scale = TRUE;
  if (self->notes != NULL)
    vn_notes_add (self->notes, VN_NOTE_INFO, "one-scale", weight->name,
                  _("“%s” has a single scale, not one per channel: its consumers have their channels along different axes"),
                  weight->name);
}

/* @axis: of the output channels, may be counted from the end; out of range: one scale for all */
static gboolean
annotate_weight (VnResolver    *self,
                 const VnValue *value,
                 int            axis)
{
  VnAnnotation *annotation;

  if (!vn_resolver_may_annotate (self, value))
    return FALSE;
  if (value->initializer == NULL)
    return vn_resolver_annotate_value (self, value);

  annotation = vn_resolver_get_annotation (self, value);
  axis = resolve_annotate_choose_axis (self, value, axis);
  if (axis >= 0 && annotation->axis >= 0 && annotation->axis != axis && vn_recipe_has_kernels (self->recipe))
    {
      annotation->axis = -1;
      resolve_annotate_note_one_scale (self, value);
    }
  else if (axis >= 0 && !annotation->one_scale)
    {
      annotation->axis = axis;
      annotation->as_weight = TRUE;
    }
  else if (!annotation->annotated)
    annotation->as_weight = TRUE;
  annotation->annotated = TRUE;
  return TRUE;
}

/* A weight with a scale for each index of @axis, whatever the recipe says. */
static gboolean
annotate_scaled (VnResolver    *self,
                 const VnValue *value,
                 int            axis)
{
  VnAnnotation *annotation;

  if (!vn_resolver_can_quantize (self, value) || value->initializer == NULL)
    return FALSE;
  annotation = vn_resolver_get_annotation (self, value);
  annotation->annotated = annotation->as_weight = TRUE;
  annotation->axis = axis;
  return TRUE;
}

/* ---- biases ---- */

/* A bias that a rule speaks of is quantized as a weight, as are all where scales are shifted: each needs one of its own. */
static gboolean
annotate_bias (VnResolver    *self,
               const VnNode  *node,
               int            input,
               const VnValue *x,
               const VnValue *weight)
{
  const VnValue *bias = input >= 0 ? vn_node_get_input (node, (guint) input) : NULL;

  if (self->scheme.npu)
    return self->scheme.biases.quantized && annotate_weight (self, bias, G_MAXINT8);
  if (bias != NULL && vn_resolver_get_tensor_rule (self, bias) != NULL && vn_node_get_float (node, "beta", 1) == 1)
    return annotate_weight (self, bias, 0);
  if (bias != NULL)
    vn_resolver_annotate_bias (self, node, input, x, weight);
  return FALSE;
}

/* ---- by role ---- */

static gboolean
annotate_generic (VnResolver   *self,
                  const VnNode *node,
                  const VnOp   *op)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    any |= vn_resolver_annotate_value (self, vn_node_get_input (node, i));
  for (guint i = 0; i < node->outputs->len; i++)
    any |= vn_resolver_annotate_output (self, node, i);
  return any;
}

static gboolean
annotate_compute (VnResolver   *self,
                  const VnNode *node,
                  const VnOp   *op)
{
  const VnValue *x = vn_node_get_input (node, 0);
  const VnValue *weight = op->quant.weight_input >= 0 ? vn_node_get_input (node, (guint) op->quant.weight_input) : NULL;
  int axis = op->quant.channel_axis;
  gboolean any;

  if (!vn_recipe_get_channel_axis (self->recipe, node->op_type, &axis) && vn_node_get_int (node, "transB", 0) > 0)
    axis = 1 - axis;
  any = vn_resolver_annotate_value (self, x);
  any |= vn_resolver_annotate_output (self, node, 0);
  any |= annotate_weight (self, weight, axis);
  if (weight != NULL)
    vn_resolver_annotate_blocks (self, node, weight);
  any |= annotate_bias (self, node, op->quant.bias_input, x, weight);
  return any;
}

static gboolean
annotate_matmul (VnResolver   *self,
                 const VnNode *node,
                 const VnOp   *op)
{
  int axis = op->quant.channel_axis;
  gboolean has_axis = vn_recipe_get_channel_axis (self->recipe, node->op_type, &axis), any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      gboolean is_matrix = value != NULL && value->initializer != NULL && value->initializer->shape.rank == 2;

      any |= vn_resolver_takes_weight (self, node, i)
             ? annotate_weight (self, value, i == 1 && (is_matrix || has_axis) ? axis : G_MAXINT8)
                                                      : vn_resolver_annotate_value (self, value);
      if (i == 1 && value != NULL)
        vn_resolver_annotate_blocks (self, node, value);
    }
  return vn_resolver_annotate_output (self, node, 0) || any;
}

static gboolean
annotate_norm (VnResolver   *self,
               const VnNode *node,
               const VnOp   *op)
{
  const VnValue *x = vn_node_get_input (node, 0), *scale = vn_node_get_input (node, 1);
  gboolean any = vn_resolver_annotate_value (self, x);

  if (self->scheme.placement.norms)
    {
      any |= annotate_weight (self, scale, 1);
      if (scale != NULL)
        vn_resolver_get_annotation (self, scale)->is_unsigned = self->scheme.placement.unsigned_norms;
      any |= annotate_bias (self, node, 2, x, scale);
    }
  for (guint i = 0; i < node->outputs->len; i++)
    any |= vn_resolver_annotate_output (self, node, i);
  return any;
}

static gboolean
annotate_passthrough (VnResolver   *self,
                      const VnNode *node,
                      const VnOp   *op)
{
  const VnValue *input = vn_node_get_input (node, 0);
  gboolean any = self->scheme.placement.through_passthrough && vn_resolver_annotate_value (self, input);

  return vn_resolver_is_annotated (self, input) && (annotate_shared (self, node, vn_node_get_output (node, 0), input) || any);
}

/* ---- single operators ---- */

static gboolean
annotate_gather (VnResolver   *self,
                 const VnNode *node,
                 const VnOp   *op)
{
  const VnValue *data = vn_node_get_input (node, 0);

  if (data != NULL && data->initializer != NULL)
    vn_resolver_annotate_value (self, data);
  else if (self->scheme.format->integer_operators)
    return FALSE;
  return annotate_passthrough (self, node, op);
}

static gboolean
annotate_average_pool (VnResolver   *self,
                       const VnNode *node,
                       const VnOp   *op)
{
  return self->scheme.format->integer_operators ? annotate_generic (self, node, op) : annotate_passthrough (self, node, op);
}

/* As an operator of integers only if what it reads is integers already. */
static gboolean
annotate_global_pool (VnResolver   *self,
                      const VnNode *node,
                      const VnOp   *op)
{
  if (self->scheme.format->integer_operators && !vn_resolver_is_annotated (self, vn_node_get_input (node, 0)))
    return FALSE;
  return annotate_generic (self, node, op);
}

static gboolean
annotate_split (VnResolver   *self,
                const VnNode *node,
                const VnOp   *op)
{
  const VnValue *data = vn_node_get_input (node, 0);

  if (!vn_resolver_annotate_value (self, data))
    return FALSE;
  for (guint i = 0; i < node->outputs->len; i++)
    annotate_shared (self, node, vn_node_get_output (node, i), data);
  return TRUE;
}

/* Whether what Pad fills in is surely inside the range of its input (which holds 0). */
static gboolean
resolve_annotate_pads_within_range (VnResolver   *self,
                                    const VnNode *node)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");
  const VnValue *value = vn_node_get_input (node, 2);
  VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;

  if (!g_str_equal (mode, "constant"))
    return TRUE;
  if (self->opset < 11)
    return vn_node_get_float (node, "value", 0) == 0;
  return value == NULL || (tensor != NULL && tensor->n_elements == 1 && vn_tensor_get_double (tensor, 0) == 0);
}

static gboolean
annotate_pad (VnResolver   *self,
              const VnNode *node,
              const VnOp   *op)
{
  const VnValue *output = vn_node_get_output (node, 0);
  gboolean any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    any |= vn_resolver_annotate_value (self, vn_node_get_input (node, i));
  if (vn_resolver_is_annotated (self, vn_node_get_input (node, 0)) &&
      (resolve_annotate_pads_within_range (self, node) ||
       (output != NULL && vn_resolver_get_annotation (self, output)->mask == VN_MASK_CUT)))
    return annotate_shared (self, node, output, vn_node_get_input (node, 0)) || any;
  return vn_resolver_annotate_output (self, node, 0) || any;
}

static gboolean
annotate_where (VnResolver   *self,
                const VnNode *node,
                const VnOp   *op)
{
  for (guint i = 1; i <= 2 && self->scheme.placement.through_passthrough; i++)
    vn_resolver_annotate_value (self, vn_node_get_input (node, i));
  if (!vn_resolver_is_annotated (self, vn_node_get_input (node, 1)) ||
      !vn_resolver_is_annotated (self, vn_node_get_input (node, 2)))
    return FALSE;
  return vn_resolver_annotate_output (self, node, 0);
}

/* One weight whose readers have their channels along different axes, or none, has one scale. */
static gboolean
annotate_integer_weight (VnResolver    *self,
                         const VnNode  *node,
                         const VnValue *weight)
{
  gboolean again = vn_resolver_is_annotated (self, weight);
  int before = again ? vn_resolver_get_annotation (self, weight)->axis : -1;
  int axis = weight != NULL && weight->initializer != NULL && weight->initializer->shape.rank >= 2
             ? vn_quant_get_channel_axis (node) : G_MAXINT8;
  gboolean annotated = vn_node_is (node, "Gather")
                       ? vn_resolver_annotate_value (self, weight) : annotate_weight (self, weight, axis);
  VnAnnotation *annotation = annotated ? vn_resolver_get_annotation (self, weight) : NULL;

  if (!again || annotation == NULL || weight->initializer == NULL ||
      (annotation->axis == before && (before < 0 || !vn_node_is (node, "Gather"))))
    return annotated;
  annotation->axis = -1;
  resolve_annotate_note_one_scale (self, weight);
  return TRUE;
}

/* Whether a rule about tensors leaves @value in float; nullable. */
static gboolean
annotate_is_excluded (VnResolver    *self,
                      const VnValue *value)
{
  const VnAnnotation *annotation = value != NULL && value->graph == self->graph ? vn_resolver_get_annotation (self, value) : NULL;

  return annotation != NULL && annotation->tensor_rule >= 0 && annotation->keep_float;
}

/* DynamicQuantizeLSTM has both of its weights as integers. */
static gboolean
annotate_integer_lstm (VnResolver   *self,
                       const VnNode *node)
{
  const VnValue *weight = vn_node_get_input (node, 1), *recurrence = vn_node_get_input (node, 2);
  const int axis = self->scheme.weights.per_channel && weight->initializer->shape.dims[0] == 1 ? 1 : 0;

  if (!vn_resolver_may_annotate (self, weight) || !vn_resolver_may_annotate (self, recurrence))
    return FALSE;
  return annotate_scaled (self, weight, axis) && annotate_scaled (self, recurrence, axis);
}

/* Integers only go into the product: the weight, and with ranges from samples the data. */
static gboolean
annotate_integer (VnResolver   *self,
                  const VnNode *node)
{
  const VnValue *data = vn_node_get_input (node, 0), *weight = vn_node_get_input (node, 1);

  if (vn_node_is (node, "Gather"))
    return annotate_integer_weight (self, node, data);
  if (annotate_is_excluded (self, data))
    return FALSE;
  if (vn_node_is (node, "LSTM"))
    return annotate_integer_lstm (self, node);
  if (!vn_resolver_may_annotate (self, weight) ||
      (!self->scheme.activations.dynamic && !vn_resolver_may_annotate (self, data)))
    return FALSE;
  return annotate_integer_weight (self, node, weight) &&
         (self->scheme.activations.dynamic || vn_resolver_annotate_value (self, data));
}

/* Integers that are made while the network runs go in, integers of a known range come out. */
static gboolean
annotate_qlinear (VnResolver   *self,
                  const VnNode *node)
{
  const VnValue *weight = vn_node_get_input (node, 1);
  gboolean is_constant = weight->initializer != NULL;
  int axis = vn_node_is (node, "Conv") ? 0 : is_constant && weight->initializer->shape.rank == 2 ? 1 : G_MAXINT8;

  if (!vn_resolver_may_annotate (self, vn_node_get_input (node, 0)) || !vn_resolver_may_annotate (self, weight) ||
      !vn_resolver_may_annotate (self, vn_node_get_output (node, 0)) || vn_resolver_keeps_outputs_float (self, node))
    return FALSE;
  if (is_constant)
    annotate_weight (self, weight, axis);
  return vn_resolver_annotate_output (self, node, 0);
}

static gboolean
annotate_node (VnResolver   *self,
               const VnNode *node)
{
  const VnOp *op = self->quant_nodes[node->index].op;

  if (self->scheme.format->integer_products)
    return annotate_integer (self, node);
  if (self->scheme.format->integer_operators && self->scheme.activations.dynamic)
    return annotate_qlinear (self, node);
  if (self->scheme.format->weights_only)
    return vn_resolver_annotate_weight_only (self, node);
  if (self->opset < vn_quant_get_since (node))
    return FALSE;
  return resolve_annotate_find (node, op) (self, node, op);
}

/* vn_resolver_root(), of values that share one with another, and so on, as many as a network has nodes: @known has, by value, the
 * roots of those that were looked at. */
static const VnValue *
resolve_annotate_find_root (VnResolver           *self,
                            const VnValue        *value,
                            const VnValue * const *known)
{
  const VnValue *provider = vn_resolver_get_annotation (self, value)->provider;

  while (provider != NULL && known[provider->id] == NULL && vn_resolver_get_annotation (self, provider)->absorbed_into == NULL)
    {
      value = provider;
      provider = vn_resolver_get_annotation (self, value)->provider;
    }
  return provider != NULL && known[provider->id] != NULL ? known[provider->id] : vn_resolver_root (self, value);
}

/* Parameters cannot be taken from a tensor with a scale per channel, or with the type of weights. */
static void
resolve_annotate_drop_impossible_shares (VnResolver *self)
{
  g_autofree const VnValue **known = g_new0 (const VnValue *, self->graph->values->len + 1);

  for (guint i = 0; i < self->graph->values->len; i++)
    {
      VnAnnotation *annotation = &self->annotations[i];
      const VnValue *value = g_ptr_array_index (self->graph->values, i), *source;
      const VnAnnotation *root;

      if (!annotation->annotated || annotation->provider == NULL)
        continue;
      source = annotation->absorbed_into != NULL ? vn_resolver_root (self, value)
                                                 : resolve_annotate_find_root (self, value, known);
      root = vn_resolver_get_annotation (self, source);
      if (root->axis >= 0 || root->as_weight)
        annotation->provider = NULL;
      if (annotation->absorbed_into == NULL)
        known[i] = annotation->provider != NULL ? source : value;
    }
}

/*< private >
 * vn_resolver_annotate:
 *
 * Walks the nodes and decides which tensors are quantized.
 */
void
vn_resolver_annotate (VnResolver *self)
{
  g_return_if_fail (self != NULL);

  vn_resolver_keep_forms (self);
  for (guint i = 0; i < self->nodes->len; i++)   /* what they write is not rounded */
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);

      if (node->channels == VN_CHANNELS_RESTORE || node->channels == VN_CHANNELS_BETWEEN)
        vn_resolver_get_annotation (self, vn_node_get_output (node, 0))->keep_float = TRUE;
    }
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      VnQuantNode *info = &self->quant_nodes[node->index];

      if (info->selected && node->channels == VN_CHANNELS_DIVIDE)
        info->annotated = vn_resolver_annotate_output (self, node, 0);
      else if (info->selected && node->channels == VN_CHANNELS_PLAIN)
        info->annotated = annotate_node (self, node);
    }
  resolve_annotate_drop_impossible_shares (self);
  vn_resolver_rename_shared_biases (self);
  if (self->scheme.placement.residuals)
    vn_resolver_annotate_residuals (self);
  vn_resolver_fuse (self);
}
