/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime does with QuantizeLinear and DequantizeLinear before and after it looks for kernels on integers. */
#include "vn-runtime-private.h"

#include <float.h>
#include <math.h>

/* ---- propagation through operators that move numbers ---- */

static gboolean
pairs_can_pass (const VnNode *node)
{
  static const char * const types[] = { "MaxPool", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Slice", NULL };

  return g_str_equal (node->domain, "") && g_strv_contains (types, node->op_type) &&
         (!g_str_equal (node->op_type, "MaxPool") || vn_model_get_opset (node->graph->model, "") >= 12);
}

/* Between @value and @uses of it, with the parameters of @like; the network's output @value keeps its name. */
static void
pairs_insert (VnRuntimeGraph *self,
              const VnNode   *like,
              VnDType         dtype,
              VnValue        *value,
              const GArray   *uses)
{
  VnNode *q, *producer = value->producer;
  VnValue *before = value;

  if (value->is_output)
    {
      guint index = value->output_index;

      before = vn_graph_add_value (self->graph, value->name, vn_runtime_get_dtype (value), vn_runtime_get_shape (value));
      vn_node_set_output (producer, index, before);
    }
  q = vn_runtime_add_half_pair (self, like, "QuantizeLinear", before, dtype);
  if (value->is_output)
    vn_node_set_output (vn_runtime_add_half_pair (self, like, "DequantizeLinear", vn_node_get_output (q, 0), VN_DTYPE_F32), 0,
                        value);
  for (guint i = 0; i < uses->len; i++)
    {
      const VnUse *use = &g_array_index (uses, VnUse, i);
      VnNode *dq = vn_runtime_add_half_pair (self, like, "DequantizeLinear", vn_node_get_output (q, 0), VN_DTYPE_F32);

      vn_node_set_input (use->node, use->index, vn_node_get_output (dq, 0));
    }
}

/* Behind @node, which moves what @dq makes; who reads that now is to be looked at next, the first of them first. */
static void
pairs_push_behind (VnRuntimeGraph *self,
                   const VnNode   *dq,
                   const VnNode   *node,
                   GPtrArray      *next)
{
  VnValue *value = vn_node_get_output (node, 0);
  g_autoptr(GArray) uses = NULL;

  if (!pairs_can_pass (node) || value == NULL || (value->is_output && value->uses->len > 0))
    return;
  uses = vn_uses_copy (value->uses);
  for (guint i = uses->len; i-- > 0; )
    if (vn_runtime_is_q (g_array_index (uses, VnUse, i).node) || g_array_index (uses, VnUse, i).node->graph != self->graph)
      g_array_remove_index (uses, i);
  if (uses->len == 0 && !value->is_output)
    return;
  pairs_insert (self, dq, vn_runtime_get_dtype (vn_node_get_input (dq, 0)), value, uses);
  for (guint i = uses->len; i-- > 0;)
    g_ptr_array_add (next, g_array_index (uses, VnUse, i).node);
}

/* Behind @node, and behind all that do the same behind it: as many as a network has nodes, so that calls do not go down. */
static void
pairs_push_forward (VnRuntimeGraph *self,
                    const VnNode   *dq,
                    const VnNode   *node)
{
  g_autoptr(GPtrArray) next = g_ptr_array_new ();

  g_ptr_array_add (next, (gpointer) node);
  while (next->len > 0)
    pairs_push_behind (self, dq, g_ptr_array_steal_index (next, next->len - 1), next);
}

static void
pairs_push_backward (VnRuntimeGraph *self,
                     const VnNode   *q)
{
  VnValue *value = vn_node_get_input (q, 0);
  VnDType dtype = vn_runtime_get_dtype (vn_node_get_output (q, 0));

  if (vn_runtime_only_reader (value, NULL) != q)
    return;
  for (VnNode *node = value->producer; node != NULL && pairs_can_pass (node); )
    {
      g_autoptr(GArray) uses = g_array_new (FALSE, FALSE, sizeof (VnUse));
      VnUse use = { node, 0 };
      VnNode *producer = vn_runtime_get_producer (node, 0);

      value = vn_node_get_input (node, 0);
      if (producer == NULL ? !value->is_input : vn_runtime_only_reader (value, NULL) != node || vn_runtime_is_dq (producer))
        return;
      g_array_append_val (uses, use);
      pairs_insert (self, q, dtype, value, uses);
      node = producer;
    }
}

gboolean
vn_runtime_propagate (VnRuntimeGraph  *self,
                      GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const VnNode *reader = vn_runtime_is_dq (node) ? vn_runtime_only_reader (vn_node_get_output (node, 0), NULL) : NULL;

      if (reader != NULL && vn_runtime_has_one_scale (self, node))
        pairs_push_forward (self, node, reader);
    }
  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    if (vn_runtime_is_q (g_ptr_array_index (nodes, i)) && vn_runtime_has_one_scale (self, g_ptr_array_index (nodes, i)))
      pairs_push_backward (self, g_ptr_array_index (nodes, i));
  return nodes != NULL;
}

/* ---- weights and biases in float ---- */

static gboolean
pairs_lead_to_q (const VnNode *node)
{
  const VnNode *next = node;

  do
    next = vn_runtime_only_reader (vn_node_get_output (next, 0), NULL);
  while (next != NULL && (vn_node_is (next, "Relu") || vn_node_is (next, "Clip")));
  return vn_runtime_is_q (next);
}

static void
pairs_dequantize_constant (VnRuntimeGraph *self,
                           VnNode         *node,
                           guint           input,
                           const VnNode   *like,
                           VnDType         dtype)
{
  VnValue *constant = vn_node_get_input (node, input);
  VnValue *integers = vn_graph_add_value (self->graph, constant->name, dtype, vn_runtime_get_shape (constant));
  VnNode *dq = vn_runtime_add_half_pair (self, like, "DequantizeLinear", integers, VN_DTYPE_F32);

  g_hash_table_add (self->folded, integers);
  vn_node_set_input (node, input, vn_node_get_output (dq, 0));
}

/* Between quantizers, ONNX Runtime quantizes weights and biases by itself. */
gboolean
vn_runtime_quantize_rest (VnRuntimeGraph  *self,
                          GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnNode *dq = vn_runtime_get_producer (node, 0), *weight = node->inputs->len > 1
                         ? vn_runtime_get_producer (node, 1) : NULL;
      const VnValue *bias = vn_node_get_input (node, 2);

      if (!(vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm")) ||
          !vn_runtime_is_dq (dq) ||
          !vn_runtime_has_one_scale (self, dq) || !pairs_lead_to_q (node) ||
          (bias != NULL && !vn_runtime_is_constant (self, bias)))
        continue;
      if (!vn_runtime_is_dq (weight) && !vn_runtime_is_constant (self, vn_node_get_input (node, 1)))
        continue;
      if (!vn_runtime_is_dq (weight))
        pairs_dequantize_constant (self, node, 1, dq, VN_DTYPE_S8);
      if (bias != NULL)
        pairs_dequantize_constant (self, node, 2, dq, VN_DTYPE_S32);
    }
  return nodes != NULL;
}

/* ---- one DequantizeLinear for each reader ---- */

gboolean
vn_runtime_split_pairs (VnRuntimeGraph  *self,
                        GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const VnValue *value = vn_runtime_is_dq (node) ? vn_node_get_output (node, 0) : NULL;
      g_autoptr(GArray) uses = value != NULL ? vn_uses_copy (value->uses) : NULL;
      gboolean kept = value != NULL && value->is_output;

      for (guint u = 0; uses != NULL && u < uses->len; u++)
        kept = kept || g_array_index (uses, VnUse, u).node->graph != self->graph;
      for (guint u = kept ? 0 : 1; uses != NULL && u < uses->len; u++)
        {
          const VnUse *use = &g_array_index (uses, VnUse, u);
          VnNode *dq;

          if (use->node->graph != self->graph)
            continue;
          dq = vn_runtime_add_half_pair (self, node, node->op_type, vn_node_get_input (node, 0), vn_runtime_get_dtype (value));
          vn_node_set_input (use->node, use->index, vn_node_get_output (dq, 0));
        }
    }
  return nodes != NULL;
}

/* ---- clamps in front of a QuantizeLinear ---- */

static double
pairs_get_bound (const VnNode *clip,
                 guint         input,
                 double        fallback)
{
  const VnValue *value = vn_node_get_input (clip, input);
  const VnTensor *tensor = value != NULL ? vn_value_get_constant (value) : NULL;
  const char *attr = input == 1 ? "min" : "max";

  if (value != NULL)
    return tensor != NULL && tensor->n_elements == 1 ? vn_tensor_get_double (tensor, 0) : NAN;
  return vn_node_get_float (clip, attr, (float) fallback);
}

/* Whether the ends of the integer type stand for no more than the clamp lets through. */
static gboolean
pairs_covers_clamp (const VnRuntimeGraph *self,
                    const VnNode         *clamp,
                    const VnNode         *q)
{
  const VnTensor *scale, *zero_point;
  gint64 low, high;
  double step, zero;

  if (!vn_runtime_has_one_scale (self, q) || vn_node_get_input (q, 2) == NULL)
    return FALSE;
  scale = vn_value_get_constant (vn_node_get_input (q, 1));
  zero_point = vn_value_get_constant (vn_node_get_input (q, 2));
  if (scale == NULL || zero_point == NULL || !vn_dtype_integer_range (zero_point->dtype, &low, &high))
    return FALSE;
  zero = vn_tensor_get_double (zero_point, 0);
  step = vn_tensor_get_double (scale, 0);
  if (vn_node_is (clamp, "Relu"))
    return zero == (double) low;
  return rint (pairs_get_bound (clamp, 1, -FLT_MAX) / step) + zero <= (double) low &&
         rint (pairs_get_bound (clamp, 2, FLT_MAX) / step) + zero >= (double) high;
}

gboolean
vn_runtime_drop_clamps (VnRuntimeGraph  *self,
                        GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const VnNode *q = vn_node_is (node, "Relu") || vn_node_is (node, "Clip")
                        ? vn_runtime_only_reader (vn_node_get_output (node, 0), NULL)
                                                                              : NULL;

      if (vn_runtime_is_q (q) && pairs_covers_clamp (self, node, q))
        vn_runtime_bypass (self, node);
    }
  return nodes != NULL;
}

/* ---- signed to unsigned ---- */

/* NULL: it is made by nodes that were folded, or there is no room */
static VnValue *
pairs_add_zero_point (VnRuntimeGraph *self,
                      const VnValue  *from)
{
  const VnTensor *zero_point = vn_value_get_constant (from);
  guint8 value = zero_point != NULL ? (guint8) (vn_tensor_get_double (zero_point, 0) + 128) : 0;
  g_autoptr(VnTensor) tensor = zero_point != NULL ? vn_tensor_new_copy (VN_DTYPE_U8, &zero_point->shape, &value, NULL) : NULL;

  return tensor != NULL ? vn_graph_add_initializer (self->graph, from->name, tensor) : NULL;
}

/* On x86 the kernels read unsigned numbers: a pair of one writer and one reader is turned, all else keeps its type. */
gboolean
vn_runtime_make_unsigned (VnRuntimeGraph  *self,
                          GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *q = g_ptr_array_index (nodes, i);
      VnNode *dq = vn_runtime_is_q (q) ? vn_runtime_only_reader (vn_node_get_output (q, 0), NULL) : NULL;
      const VnShape *shape;
      VnShape copy;
      VnValue *zero_point;

      if (!vn_runtime_is_dq (dq) || vn_runtime_get_dtype (vn_node_get_output (q, 0)) != VN_DTYPE_S8 ||
          !vn_runtime_has_one_scale (self, q) ||
          vn_node_get_input (q, 2) == NULL || vn_node_get_input (dq, 2) == NULL)
        continue;
      zero_point = pairs_add_zero_point (self, vn_node_get_input (q, 2));
      if (zero_point == NULL)
        continue;
      vn_node_set_input (q, 2, zero_point);
      vn_node_set_input (dq, 2, zero_point);
      shape = vn_runtime_get_shape (vn_node_get_output (q, 0));
      if (shape != NULL)
        copy = *shape;
      vn_value_set_type (vn_node_get_output (q, 0), VN_DTYPE_U8, shape != NULL ? &copy : NULL);
    }
  return nodes != NULL;
}

/* ---- pairs that undo each other ---- */

gboolean
vn_runtime_clean_up (VnRuntimeGraph  *self,
                     GError         **error)
{
  g_autoptr(GPtrArray) nodes = vn_runtime_list_nodes (self, error);

  for (guint i = 0; nodes != NULL && i < nodes->len; i++)
    {
      VnNode *dq = g_ptr_array_index (nodes, i);
      VnNode *q = vn_runtime_is_dq (dq) ? vn_runtime_only_reader (vn_node_get_output (dq, 0), NULL) : NULL;

      if (!vn_runtime_is_q (q) || vn_node_get_output (q, 0)->is_output || !vn_runtime_same_params (self, dq, q))
        continue;
      vn_value_replace_uses (vn_node_get_output (q, 0), vn_node_get_input (dq, 0), NULL);
      vn_runtime_bypass (self, q);
      vn_runtime_bypass (self, dq);
    }
  return nodes != NULL;
}
