/* SPDX-License-Identifier: GPL-3.0-or-later */

/* QLinearOps whose inputs are quantized while the network runs: Conv and MatMul become
 *
 *   x -> DynamicQuantizeLinear -> QLinearConv or QLinearMatMul with the stored weight -> DequantizeLinear
 *
 * and everything else stays float. The result has the scale and zero point of the plan, as ranges of results have to be
 * known before; who reads it and is written like this takes the integers as they are.
 *
 * QLinearConv adds its bias to the sum of products, so it must be int32 with the scale of x times that of the weight,
 * which is known while running only. A float Add behind would not do, as the range of the result is that with the bias.
 * So the bias is quantized there, too: B = Cast (Clip (Round (bias / (scale of x * scale of w)))). It saturates where x is
 * some 2^31 times smaller than the bias. */

#include "vn-write-integer-private.h"

#include "vn-graph-edit.h"

/* The ends of int32 that a float can hold: casting what lies beyond is undefined. */
#define LEAST_BIAS (-2147483648.f)
#define LARGEST_BIAS 2147483520.f

static gboolean
write_qlinear_is_single_tensor (const VnNode *node,
                                guint         i)
{
  const VnValue *value = vn_node_get_input (node, i);

  if (value == NULL || value->graph != node->graph)
    return FALSE;
  if (value->initializer != NULL)
    return value->initializer->dtype == VN_DTYPE_F32 && value->initializer->n_elements > 0;
  return value->type.kind == VN_TYPE_TENSOR && value->type.dtype == VN_DTYPE_F32;
}

/*< private >
 * vn_integer_has_qlinear:
 *
 * Returns: whether @node can be written as an operator of integers whose inputs are quantized while it runs: a Conv by a
 *   constant, or a MatMul whose left side is not constant
 */
gboolean
vn_integer_has_qlinear (const VnNode *node)
{
  const VnValue *x = vn_node_get_input (node, 0), *w = vn_node_get_input (node, 1);

  if (!(vn_node_is (node, "Conv") || vn_node_is (node, "MatMul")) || !write_qlinear_is_single_tensor (node, 0) ||
      !write_qlinear_is_single_tensor (node, 1) || x->initializer != NULL)
    return FALSE;
  return vn_node_is (node, "MatMul") || w->initializer != NULL;
}

static const VnIntegerOperand *
write_qlinear_get_operand (VnIntegerWriter  *self,
                           VnNode           *node,
                           VnValue          *value,
                           GError          **error)
{
  if (value->initializer != NULL)
    return vn_integer_get_weight (self, value, FALSE, error);
  return vn_integer_get_activation (self, node, value);
}

static VnValue *
write_qlinear_add_step (VnIntegerWriter *self,
                        VnNode          *before,
                        const char      *base,
                        const char      *suffix,
                        const char      *op_type,
                        VnValue        **inputs,
                        guint            n)
{
  VnValue *output = vn_quant_add_value (self->graph, base, suffix, VN_DTYPE_F32, NULL);

  vn_integer_add_node (self, before, output->name, "_node", op_type, inputs, n, &output, 1);
  return output;
}

static VnValue *
write_qlinear_quantize_bias (VnIntegerWriter        *self,
                             VnNode                 *node,
                             const VnIntegerOperand *x,
                             const VnIntegerOperand *w)
{
  const float ends[] = { LEAST_BIAS, LARGEST_BIAS };
  g_autofree char *base = g_strconcat (vn_node_get_output (node, 0)->name, "_bias", NULL);
  g_autoptr(VnTensor) least = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &ends[0]);
  g_autoptr(VnTensor) largest = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &ends[1]);
  VnValue *scale = write_qlinear_add_step (self, node, base, "_scale", "Mul", (VnValue *[]) { x->scale, w->scale }, 2);
  VnValue *ratio = write_qlinear_add_step (self, node, base, "_ratio", "Div",
                                           (VnValue *[]) { vn_node_get_input (node, 2), scale }, 2);
  VnValue *rounded = write_qlinear_add_step (self, node, base, "_rounded", "Round", &ratio, 1);
  VnValue *limits[] = { rounded, vn_quant_add_constant (self->graph, base, "_least", least),
                        vn_quant_add_constant (self->graph, base, "_largest", largest) };
  VnValue *clamped = write_qlinear_add_step (self, node, base, "_clamped", "Clip", limits, 3);
  VnValue *output = vn_quant_add_value (self->graph, base, "_quantized", VN_DTYPE_S32, NULL);
  VnNode *cast = vn_integer_add_node (self, node, output->name, "_node", "Cast", &clamped, 1, &output, 1);

  vn_node_set_int (cast, "to", VN_DTYPE_S32);
  return output;
}

/* The node writes integers, and a node behind it the float tensor of before. */
static void
write_result (VnIntegerWriter    *self,
              VnNode             *node,
              const VnTensorPlan *row,
              VnIntegerOperand   *result)
{
  VnValue *output = vn_node_get_output (node, 0);
  VnNode *next = vn_node_get_next (node);

  result->data = vn_quant_add_value (self->graph, output->name, "_quantized", row->dtype, &output->type.shape);
  result->scale = vn_quant_add_constant (self->graph, output->name, "_scale", row->scale);
  result->zero_point = vn_quant_add_constant (self->graph, output->name, "_zero_point", row->zero_point);
  vn_node_set_output (node, 0, result->data);
  vn_integer_add_node (self, next, output->name, "_DequantizeLinear", "DequantizeLinear",
                       (VnValue *[]) { result->data, result->scale, result->zero_point }, 3, &output, 1);
}

/*< private >
 * vn_integer_write_qlinear:
 * @node: one that vn_integer_has_qlinear() approves of, and whose result the plan quantizes
 *
 * Returns: %FALSE: memory
 */
gboolean
vn_integer_write_qlinear (VnIntegerWriter  *self,
                          VnNode           *node,
                          GError          **error)
{
  VnValue *output = vn_node_get_output (node, 0), *bias = NULL;
  gboolean is_conv = vn_node_is (node, "Conv");
  const VnIntegerOperand *operands[2];
  VnIntegerOperand *result;

  for (guint i = 0; i < 2; i++)
    if ((operands[i] = write_qlinear_get_operand (self, node, vn_node_get_input (node, i), error)) == NULL)
      return FALSE;
  if (is_conv && vn_node_get_input (node, 2) != NULL)
    bias = write_qlinear_quantize_bias (self, node, operands[0], operands[1]);

  result = g_new0 (VnIntegerOperand, 1);
  write_result (self, node, vn_quant_plan_find (self->plan, output->name), result);
  for (guint i = 0; i < 2; i++)
    {
      vn_node_set_input (node, 3 * i, operands[i]->data);
      vn_node_set_input (node, 3 * i + 1, operands[i]->scale);
      vn_node_set_input (node, 3 * i + 2, operands[i]->zero_point);
    }
  vn_node_set_input (node, 6, result->scale);
  vn_node_set_input (node, 7, result->zero_point);
  if (bias != NULL)
    vn_node_set_input (node, 8, bias);
  g_free (node->op_type);
  node->op_type = g_strdup (is_conv ? "QLinearConv" : "QLinearMatMul");
  g_hash_table_insert (self->activations, output, result);
  return TRUE;
}

/*< private >
 * vn_integer_drop_unread:
 * @captured: set of VnValue that graphs inside nodes use
 * @names: as vn_quantize_write() returns it
 *
 * Removes the float form of results that only operators of integers read; they are known by their integers then.
 */
void
vn_integer_drop_unread (VnIntegerWriter *self,
                        GHashTable      *captured,
                        GHashTable      *names)
{
  g_autoptr(GPtrArray) unread = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value, operand;

  g_hash_table_iter_init (&iter, self->activations);
  while (g_hash_table_iter_next (&iter, &value, &operand))
    {
      const VnValue *output = value;

      if (output->uses->len > 0 || output->is_output || output->producer == NULL ||
          !vn_node_is (output->producer, "DequantizeLinear") || g_hash_table_contains (captured, output))
        continue;
      g_hash_table_insert (names, g_strdup (output->name), g_strdup (((VnIntegerOperand *) operand)->data->name));
      g_ptr_array_add (unread, value);
    }
  for (guint i = 0; i < unread->len; i++)
    {
      VnValue *output = g_ptr_array_index (unread, i);

      vn_graph_remove_node (self->graph, output->producer);
      vn_graph_remove_value (self->graph, output);
    }
}
