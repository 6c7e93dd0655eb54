/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Channels that were divided by factors in front are given back by a DequantizeLinear of the same integers, which has the
 * factors in its scales. That is as fast as two steps; a QuantizeLinear with such scales is not, by far. */

#include "vn-quant-write.h"

#include "vn-graph-edit.h"
#include "vn-quant-math.h"

/* ONNX Runtime makes one operator on integers of some nodes between conversions, and fails if the scales in front are not one:
 * what such a node reads stays a product. So does what several read, as each would have a conversion of its own. */
static gboolean
write_restored_may_have_scales (const VnValue *value)
{
  static const char * const safe[] = { "Conv", "ConvTranspose", "HardSigmoid", "HardSwish", NULL };

  return value->uses->len == 0 ||
         (value->uses->len == 1 && g_strv_contains (safe, g_array_index (value->uses, VnUse, 0).node->op_type));
}

/* @node if it is a conversion whose parameters can have a channel each. */
static VnNode *
write_restored_find_conversion (VnNode *node)
{
  const VnValue *scale = node != NULL ? vn_node_get_input (node, 1) : NULL, *zero_point = node != NULL
                         ? vn_node_get_input (node, 2) : NULL;

  return scale != NULL && scale->initializer != NULL && scale->initializer->n_elements == 1 &&
         scale->initializer->dtype == VN_DTYPE_F32 &&
         zero_point != NULL && zero_point->initializer != NULL ? node : NULL;
}

static VnTensor *
write_restored_make_scales (const VnTensor  *scale,
                            const VnTensor  *factors,
                            GError         **error)
{
  VnTensor *scales = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) factors->n_elements), error);

  for (gsize c = 0; scales != NULL && c < scales->n_elements; c++)
    ((float *) scales->data)[c] = (float) (vn_tensor_get_double (scale, 0) * vn_tensor_get_double (factors, c));
  return scales;
}

static VnTensor *
write_restored_repeat (const VnTensor  *zero_point,
                       gsize            n,
                       GError         **error)
{
  VnTensor *all = vn_tensor_new (zero_point->dtype, &VN_SHAPE ((gint64) n), error);

  for (gsize c = 0; all != NULL && c < n; c++)
    vn_quant_store_integer (all, c, vn_tensor_get_s64 (zero_point, 0));
  return all;
}

/* The axis of the channels: the one along which there are several factors. */
static int
write_restored_find_axis (const VnTensor *factors)
{
  int axis = 1;

  for (int i = 0; i < factors->shape.rank; i++)
    axis = factors->shape.dims[i] > 1 ? i : axis;
  return axis;
}

/* Gives a conversion that stands at @before scales of its own, one per channel: those of @like times the factors of @node. */
static VnNode *
write_restored_add_conversion (const VnNode  *node,
                               const VnNode  *like,
                               VnNode        *before,
                               VnValue       *input,
                               const char    *base,
                               GError       **error)
{
  VnGraph *graph = node->graph;
  g_autoptr(VnTensor) scales = write_restored_make_scales (vn_node_get_input (like, 1)->initializer,
                                                           vn_node_get_input (node, 1)->initializer, error);
  g_autoptr(VnTensor) zero_points = scales != NULL
                                    ? write_restored_repeat (vn_node_get_input (like, 2)->initializer, scales->n_elements, error)
                                    : NULL;
  g_autofree char *name = g_strconcat (base, "_", like->op_type, NULL);
  VnValue *inputs[3] = { input };
  VnNode *made;

  if (zero_points == NULL)
    return NULL;
  inputs[1] = vn_quant_add_constant (graph, base, "_scale", scales);
  inputs[2] = vn_quant_add_constant (graph, base, "_zero_point", zero_points);
  made = vn_graph_insert_node (graph, before, name, like->domain, like->op_type, inputs, 3, NULL, 0);
  vn_node_set_int (made, "axis", write_restored_find_axis (vn_node_get_input (node, 1)->initializer));
  return made;
}

static gboolean
write_restored_give_back (VnNode  *node,
                          GError **error)
{
  VnGraph *graph = node->graph;
  VnNode *from = write_restored_find_conversion (vn_node_get_input (node, 0)->producer), *made;
  VnValue *output = vn_node_get_output (node, 0), *old = vn_node_get_input (node, 0);

  if (from == NULL || !g_str_equal (from->op_type, "DequantizeLinear") || !write_restored_may_have_scales (output))
    return TRUE;
  made = write_restored_add_conversion (node, from, node, vn_node_get_input (from, 0), output->name, error);
  if (made == NULL)
    return FALSE;
  vn_graph_remove_node (graph, node);
  vn_node_set_output (made, 0, output);
  if (old->uses->len == 0 && !old->is_output)
    {
      vn_graph_remove_node (graph, from);
      vn_graph_remove_value (graph, old);
    }
  return TRUE;
}

/*< private >
 * vn_quant_write_restored:
 *
 * Makes one conversion of each product that gives channels back, and the conversion in front of it.
 */
gboolean
vn_quant_write_restored (VnModel  *model,
                         GError  **error)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();

  g_return_val_if_fail (model != NULL, FALSE);

  vn_graph_settle (model->graph);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    if (((const VnNode *) g_ptr_array_index (model->graph->nodes, i))->channels != VN_CHANNELS_PLAIN)
      g_ptr_array_add (nodes, g_ptr_array_index (model->graph->nodes, i));
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (node->channels == VN_CHANNELS_RESTORE && !write_restored_give_back (node, error))
        return FALSE;
    }
  return TRUE;
}
