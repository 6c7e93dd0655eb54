/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Which tensors are quantized, and how they hang together: the rules of onnxruntime.quantization's QDQ mode, walked in
 * the order of the nodes because some of them depend on what earlier nodes decided.
 *
 * Known deviations, each because the peer's result would be wrong:
 *  - a Clip whose bounds leave out 0 stays: a quantized range always holds 0, so it cannot replace the clamp;
 *  - a factor beta of a bias is folded into the bias (the peer drops it);
 *  - a constant of MatMul has a scale per channel only if it is the right one and a matrix: ONNX Runtime's integer kernel
 *    fails on others;
 *  - a tensor nobody reads gets no Q/DQ pair. */

#include "vn-quantize-private.h"

#include <math.h>
#include <string.h>

typedef gboolean (*MarkFunc) (VnResolver *self, const VnNode *node, const VnOp *op);

static gboolean mark_clamp       (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_compute     (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_gather      (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_generic     (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_matmul      (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_norm        (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_pad         (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_passthrough (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_split       (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_where       (VnResolver *self, const VnNode *node, const VnOp *op);

static gboolean mark_average_pool (VnResolver *self, const VnNode *node, const VnOp *op);
static gboolean mark_global_pool  (VnResolver *self, const VnNode *node, const VnOp *op);

/* How a role is marked. Unknown and opaque operators that a rule asks for are treated as generic ones. */
static const MarkFunc by_role[] = {
  [VN_QUANT_OPAQUE]      = mark_generic,
  [VN_QUANT_COMPUTE]     = mark_compute,
  [VN_QUANT_MATMUL]      = mark_matmul,
  [VN_QUANT_GENERIC]     = mark_generic,
  [VN_QUANT_CLAMP]       = mark_clamp,
  [VN_QUANT_PASSTHROUGH] = mark_passthrough,
  [VN_QUANT_NORM]        = mark_norm,
};

/* What the peer does for one operator only; everything else goes by the role.
 * @since: first opset in which the operator computes on 8 bit data
 * @conversion: the tensor on its other side is quantized already
 * @unit_range: its fixed range replaces the observed one (the peer does so for this operator only) */
static const struct
{
  const char *type;
  MarkFunc    mark;
  gint64      since;
  gboolean    conversion;
  gboolean    unit_range;
} peer_rules[] = {
  { "AveragePool",      mark_average_pool, 1, FALSE, FALSE },   /* its operator of integers has a grid of its own */
  { "GlobalAveragePool", mark_global_pool, 1, FALSE, FALSE },
  { "MaxPool",          NULL,        12, FALSE, FALSE },
  { "Resize",           NULL,        11, FALSE, FALSE },
  { "Gather",           mark_gather, 1,  FALSE, FALSE },   /* constant data are quantized, too */
  { "GatherElements",   mark_gather, 1,  FALSE, FALSE },
  { "Split",            mark_split,  1,  FALSE, FALSE },   /* quantizes its input; all outputs share */
  { "Pad",              mark_pad,    1,  FALSE, FALSE },   /* shares only if the padding is in the range */
  { "Where",            mark_where,  1,  FALSE, FALSE },   /* only if both branches are quantized */
  { "Softmax",          NULL,        1,  FALSE, TRUE },
  { "QuantizeLinear",   NULL,        1,  TRUE,  FALSE },
  { "DequantizeLinear", NULL,        1,  TRUE,  FALSE },
};

static int
find_peer_rule (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (peer_rules); i++)
    {
      if (g_str_equal (peer_rules[i].type, node->op_type))
        return (int) i;
    }
  return -1;
}

/*< private >
 * vn_quant_is_conversion:
 *
 * Returns: whether @node converts between float and integers itself
 */
gboolean
vn_quant_is_conversion (const VnNode *node)
{
  int i = find_peer_rule (node);

  return i >= 0 && peer_rules[i].conversion;
}

/*< private >
 * vn_quant_get_since:
 *
 * Returns: the first opset in which @node can work on quantized data
 */
gint64
vn_quant_get_since (const VnNode *node)
{
  int i = find_peer_rule (node);

  return i >= 0 ? peer_rules[i].since : 1;
}

/*< private >
 * vn_quant_has_unit_range:
 *
 * Returns: whether the output's range is the operator's, not what the samples showed
 */
gboolean
vn_quant_has_unit_range (const VnNode *node)
{
  int i = find_peer_rule (node);

  return i >= 0 && peer_rules[i].unit_range;
}

/* ---- the verbs ---- */

static gboolean
is_marked (VnResolver    *self,
           const VnValue *value)
{
  return value != NULL && value->graph == self->graph && vn_resolver_mark_of (self, value)->marked;
}

static gboolean
mark_activation (VnResolver    *self,
                 const VnValue *value)
{
  if (!vn_resolver_can_quantize (self, value))
    return FALSE;

  vn_resolver_mark_of (self, value)->marked = TRUE;
  return TRUE;
}

/* @output takes the parameters of @input, even if it was marked before. */
static gboolean
mark_shared (VnResolver    *self,
             const VnNode  *node,
             const VnValue *output,
             const VnValue *input)
{
  VnQuantMark *mark;

  if (!vn_resolver_can_quantize (self, output) || output->initializer != NULL)
    return FALSE;

  mark = vn_resolver_mark_of (self, output);
  mark->marked = TRUE;
  mark->provider = input;
  mark->provider_node = node;
  return TRUE;
}

/* @axis: of the output channels, may be counted from the end; out of range: one scale for all */
static gboolean
mark_weight (VnResolver    *self,
             const VnValue *value,
             int            axis)
{
  VnQuantMark *mark;
  int rank;

  if (!vn_resolver_can_quantize (self, value))
    return FALSE;
  if (value->initializer == NULL)
    return mark_activation (self, value);

  mark = vn_resolver_mark_of (self, value);
  rank = value->initializer->shape.rank;
  axis = axis < 0 ? axis + rank : axis;
  if (self->recipe->per_channel && axis >= 0 && axis < rank)
    {
      mark->axis = axis;
      mark->as_weight = TRUE;
    }
  else if (!mark->marked)
    mark->as_weight = TRUE;
  mark->marked = TRUE;
  return TRUE;
}

/* A weight with a scale for each index of @axis, whatever the recipe says. */
static gboolean
mark_scaled (VnResolver    *self,
             const VnValue *value,
             int            axis)
{
  VnQuantMark *mark;

  if (!vn_resolver_can_quantize (self, value) || value->initializer == NULL)
    return FALSE;
  mark = vn_resolver_mark_of (self, value);
  mark->marked = mark->as_weight = TRUE;
  mark->axis = axis;
  return TRUE;
}

/* ---- biases ---- */

/* The number behind @prefix in the names of initializers, as large as they come; -1: none */
static gint64
largest_suffix (VnResolver *self,
                const char *prefix)
{
  gint64 largest = -1;

  for (guint i = 0; i < self->graph->initializers->len; i++)
    {
      const VnValue *value = g_ptr_array_index (self->graph->initializers, i);
      const char *rest = g_str_has_prefix (value->name, prefix) ? value->name + strlen (prefix) : "";
      gint64 number;

      if (*rest != '\0' && g_ascii_string_to_signed (rest, 10, 0, G_MAXINT32, &number, NULL))
        largest = MAX (largest, number);
    }
  return largest;
}

static char *
name_copy (VnResolver    *self,
           const VnValue *bias)
{
  for (gint64 number = largest_suffix (self, bias->name) + 1;; number++)
    {
      char *name = g_strdup_printf ("%s%" G_GINT64_FORMAT, bias->name, number);

      if (vn_graph_find_value (self->graph, name) == NULL && g_hash_table_add (self->copy_names, g_strdup (name)))
        return name;
      g_free (name);
    }
}

/* A bias gets the scale of the node it belongs to: whoever else reads it needs a copy of its own. */
static gboolean
needs_copy (VnResolver    *self,
            const VnValue *bias,
            float          beta)
{
  guint n_uses = vn_quant_count_uses (bias);

  if (is_marked (self, bias) || (beta != 1 && n_uses > 1) || n_uses < bias->uses->len || bias->is_output)
    return TRUE;
  for (guint i = 0; i < self->biases->len; i++)
    {
      if (g_array_index (self->biases, VnQuantBias, i).bias == bias)
        return TRUE;
    }
  for (guint i = 0; i < bias->uses->len; i++)
    {
      const VnNode *user = g_array_index (bias->uses, VnUse, i).node;

      if (user->graph == self->graph &&
          (self->quant_nodes[user->index].exclude_rule >= 0 || self->quant_nodes[user->index].tail))
        return TRUE;
    }
  return FALSE;
}

static void
mark_bias (VnResolver    *self,
           const VnNode  *node,
           int            input,
           const VnValue *x,
           const VnValue *weight)
{
  const VnValue *bias = input >= 0 ? vn_node_get_input (node, (guint) input) : NULL;
  VnQuantBias entry;

  if (bias == NULL || bias->graph != self->graph || bias->initializer == NULL ||
      bias->initializer->dtype != VN_DTYPE_F32 || !is_marked (self, x) || !is_marked (self, weight))
    return;

  entry = (VnQuantBias) { node, (guint) input, bias, x, weight, vn_node_get_float (node, "beta", 1), NULL };
  entry.name = needs_copy (self, bias, entry.beta) ? name_copy (self, bias) : g_strdup (bias->name);
  g_array_append_val (self->biases, entry);
}

/* ---- by role ---- */

static gboolean
mark_generic (VnResolver   *self,
              const VnNode *node,
              const VnOp   *op)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    any |= mark_activation (self, vn_node_get_input (node, i));
  for (guint i = 0; i < node->outputs->len; i++)
    any |= mark_activation (self, vn_node_get_output (node, i));
  return any;
}

static gboolean
mark_compute (VnResolver   *self,
              const VnNode *node,
              const VnOp   *op)
{
  const VnValue *x = vn_node_get_input (node, 0);
  const VnValue *weight = op->quant.weight_input >= 0 ? vn_node_get_input (node, (guint) op->quant.weight_input) : NULL;
  int axis = op->quant.channel_axis;
  gboolean any;

  if (vn_node_get_int (node, "transB", 0) > 0)
    axis = 1 - axis;
  any = mark_activation (self, x);
  any |= mark_activation (self, vn_node_get_output (node, 0));
  any |= mark_weight (self, weight, axis);
  mark_bias (self, node, op->quant.bias_input, x, weight);
  return any;
}

static gboolean
mark_matmul (VnResolver   *self,
             const VnNode *node,
             const VnOp   *op)
{
  gboolean any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);
      gboolean is_matrix = value != NULL && value->initializer != NULL && value->initializer->shape.rank == 2;

      any |= mark_weight (self, value, i == 1 && is_matrix ? op->quant.channel_axis : G_MAXINT8);
    }
  return mark_activation (self, vn_node_get_output (node, 0)) || any;
}

static gboolean
mark_norm (VnResolver   *self,
           const VnNode *node,
           const VnOp   *op)
{
  const VnValue *x = vn_node_get_input (node, 0), *scale = vn_node_get_input (node, 1);
  gboolean any = mark_activation (self, x);

  any |= mark_weight (self, scale, 1);
  mark_bias (self, node, 2, x, scale);
  for (guint i = 0; i < node->outputs->len; i++)
    any |= mark_activation (self, vn_node_get_output (node, i));
  return any;
}

static gboolean
mark_passthrough (VnResolver   *self,
                  const VnNode *node,
                  const VnOp   *op)
{
  const VnValue *input = vn_node_get_input (node, 0);

  return is_marked (self, input) && mark_shared (self, node, vn_node_get_output (node, 0), input);
}

/* ---- Relu and Clip ---- */

/* A bound of a clamp: attribute of that name, or input @i; @fallback if there is none. FALSE: not known now. */
static gboolean
get_bound (const VnNode *node,
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
bounds_hold_zero (const VnNode *node)
{
  double low, high;

  if (get_bound (node, "min", 1, -INFINITY, &low) && low > 0)
    return FALSE;
  return !(get_bound (node, "max", 2, INFINITY, &high) && high < 0);
}

/* A type without range cuts nothing off. Rules are not resolved yet: any that names such a type counts. */
static gboolean
always_saturates (const VnRecipe *recipe)
{
  if (!vn_dtype_is_integer (recipe->activation))
    return FALSE;
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->activation != VN_DTYPE_UNDEFINED && !vn_dtype_is_integer (rule->activation))
        return FALSE;
    }
  return TRUE;
}

/* What graphs inside nodes use stays as it is: they read the value before it is quantized. */
static gboolean
can_absorb (VnResolver    *self,
            const VnNode  *clamp,
            const VnValue *input,
            const VnValue *output)
{
  return !self->recipe->symmetric_activations &&
         always_saturates (self->recipe) &&
         input->producer != NULL &&
         input->uses->len == 1 &&
         !input->is_output &&
         !g_hash_table_contains (self->captured, input) &&
         output != NULL &&
         !g_hash_table_contains (self->captured, output) &&
         vn_resolver_can_quantize (self, output) &&
         bounds_hold_zero (clamp);
}

static gboolean
mark_clamp (VnResolver   *self,
            const VnNode *node,
            const VnOp   *op)
{
  const VnValue *input = vn_node_get_input (node, 0), *output = vn_node_get_output (node, 0);

  if (!is_marked (self, input))
    return FALSE;

  if (can_absorb (self, node, input, output))
    {
      VnQuantMark *mark = vn_resolver_mark_of (self, input);

      mark->marked = FALSE;
      mark->provider = NULL;
      mark->absorbed_into = output;
      g_ptr_array_add (self->clamps, (gpointer) node);
    }
  mark_activation (self, output);
  return TRUE;
}

/* ---- single operators ---- */

static gboolean
mark_gather (VnResolver   *self,
             const VnNode *node,
             const VnOp   *op)
{
  const VnValue *data = vn_node_get_input (node, 0);

  if (data != NULL && data->initializer != NULL)
    mark_activation (self, data);
  else if (self->recipe->format == VN_FORMAT_QOPERATOR)
    return FALSE;
  return mark_passthrough (self, node, op);
}

static gboolean
mark_average_pool (VnResolver   *self,
                   const VnNode *node,
                   const VnOp   *op)
{
  return self->recipe->format == VN_FORMAT_QOPERATOR ? mark_generic (self, node, op) : mark_passthrough (self, node, op);
}

/* As an operator of integers only if what it reads is integers already. */
static gboolean
mark_global_pool (VnResolver   *self,
                  const VnNode *node,
                  const VnOp   *op)
{
  if (self->recipe->format == VN_FORMAT_QOPERATOR && !is_marked (self, vn_node_get_input (node, 0)))
    return FALSE;
  return mark_generic (self, node, op);
}

static gboolean
mark_split (VnResolver   *self,
            const VnNode *node,
            const VnOp   *op)
{
  const VnValue *data = vn_node_get_input (node, 0);

  if (!mark_activation (self, data))
    return FALSE;
  for (guint i = 0; i < node->outputs->len; i++)
    mark_shared (self, node, vn_node_get_output (node, i), data);
  return TRUE;
}

/* Whether what Pad fills in is surely inside the range of its input (which holds 0). */
static gboolean
pads_within_range (VnResolver   *self,
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
mark_pad (VnResolver   *self,
          const VnNode *node,
          const VnOp   *op)
{
  const VnValue *output = vn_node_get_output (node, 0);
  gboolean any = FALSE;

  for (guint i = 0; i < node->inputs->len; i++)
    any |= mark_activation (self, vn_node_get_input (node, i));
  if (is_marked (self, vn_node_get_input (node, 0)) && pads_within_range (self, node))
    return mark_shared (self, node, output, vn_node_get_input (node, 0)) || any;
  return mark_activation (self, output) || any;
}

static gboolean
mark_where (VnResolver   *self,
            const VnNode *node,
            const VnOp   *op)
{
  if (!is_marked (self, vn_node_get_input (node, 1)) || !is_marked (self, vn_node_get_input (node, 2)))
    return FALSE;
  return mark_activation (self, vn_node_get_output (node, 0));
}

/* Integers only go into the product: the weight, and with ranges from samples the data. Convolutions have one scale, as
 * runtimes multiply them with one only. */
static gboolean
mark_integer (VnResolver   *self,
              const VnNode *node)
{
  const VnValue *weight = vn_node_get_input (node, 1);
  int rank = weight != NULL && weight->initializer != NULL ? weight->initializer->shape.rank : 0;
  gboolean any;

  if (vn_node_is (node, "Gather"))
    return mark_activation (self, vn_node_get_input (node, 0));
  if (vn_node_is (node, "LSTM"))
    {
      int axis = self->recipe->per_channel && weight->initializer->shape.dims[0] == 1 ? 1 : 0;

      any = mark_scaled (self, weight, axis);
      return mark_scaled (self, vn_node_get_input (node, 2), axis) && any;
    }
  any = mark_weight (self, weight, vn_node_is (node, "Conv") || rank != 2 ? G_MAXINT8
                                   : vn_node_get_int (node, "transB", 0) > 0 ? 0 : 1);
  if (!self->recipe->dynamic)
    any &= mark_activation (self, vn_node_get_input (node, 0));
  return any;
}

static gboolean
mark_node (VnResolver   *self,
           const VnNode *node)
{
  const VnOp *op = self->quant_nodes[node->index].op;
  int rule = find_peer_rule (node);

  if (self->recipe->format == VN_FORMAT_INTEGER)
    return mark_integer (self, node);
  if (rule >= 0 && self->opset < peer_rules[rule].since)
    return FALSE;
  if (rule >= 0 && peer_rules[rule].mark != NULL)
    return peer_rules[rule].mark (self, node, op);
  return by_role[op != NULL ? op->quant.role : VN_QUANT_OPAQUE] (self, node, op);
}

/* Parameters cannot be taken from a tensor with a scale per channel, or with the type of weights. */
static void
drop_impossible_shares (VnResolver *self)
{
  for (guint i = 0; i < self->graph->values->len; i++)
    {
      VnQuantMark *mark = &self->marks[i];
      const VnQuantMark *root;

      if (!mark->marked || mark->provider == NULL)
        continue;
      root = vn_resolver_mark_of (self, vn_resolver_root (self, g_ptr_array_index (self->graph->values, i)));
      if (root->axis >= 0 || root->as_weight)
        mark->provider = NULL;
    }
}

/* A bias that a later node uses as data, too. */
static void
rename_shared_biases (VnResolver *self)
{
  for (guint i = 0; i < self->biases->len; i++)
    {
      VnQuantBias *bias = &g_array_index (self->biases, VnQuantBias, i);

      if (!is_marked (self, bias->bias) || !g_str_equal (bias->name, bias->bias->name))
        continue;
      g_free (bias->name);
      bias->name = name_copy (self, bias->bias);
    }
}

/*< private >
 * vn_resolver_mark:
 *
 * Walks the nodes and decides which tensors are quantized.
 */
void
vn_resolver_mark (VnResolver *self)
{
  for (guint i = 0; i < self->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (self->nodes, i);
      VnQuantNode *info = &self->quant_nodes[node->index];

      if (info->selected)
        info->marked = mark_node (self, node);
    }
  drop_impossible_shares (self);
  rename_shared_biases (self);
}
