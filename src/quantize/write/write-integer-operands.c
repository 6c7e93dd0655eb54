/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integers that products read: activations and weights, each made once for all of their readers. */
#include "vn-write-integer-private.h"

#include "vn-error.h"
#include "vn-graph-edit.h"

/*< private >
 * vn_integer_add_node:
 * @base: with @suffix, the name of the node; empty: none
 *
 * Returns: (transfer none): a node of the standard in front of @before
 */
VnNode *
vn_integer_add_node (VnIntegerWriter  *self,
                     VnNode           *before,
                     const char       *base,
                     const char       *suffix,
                     const char       *op_type,
                     VnValue         **inputs,
                     guint             n_inputs,
                     VnValue         **outputs,
                     guint             n_outputs)
{
  g_autofree char *name = *base != '\0' ? g_strconcat (base, suffix, NULL) : NULL;

  return vn_graph_insert_node (self->graph, before, name, "", op_type, inputs, n_inputs, outputs, n_outputs);
}

static void
write_integer_quantize_dynamically (VnIntegerWriter  *self,
                                    VnNode           *before,
                                    VnValue          *x,
                                    VnIntegerOperand *result)
{
  VnValue *outputs[3];

  outputs[0] = result->data = vn_quant_add_value (self->graph, x->name, "_quantized", VN_DTYPE_U8, NULL);
  outputs[1] = result->scale = vn_quant_add_value (self->graph, x->name, "_scale", VN_DTYPE_F32, NULL);
  outputs[2] = result->zero_point = vn_quant_add_value (self->graph, x->name, "_zero_point", VN_DTYPE_U8, NULL);
  vn_integer_add_node (self, before, x->name, "_QuantizeLinear", "DynamicQuantizeLinear", &x, 1, outputs, 3);
}

static void
write_integer_quantize_statically (VnIntegerWriter    *self,
                                   VnNode             *before,
                                   VnValue            *x,
                                   const VnTensorPlan *row,
                                   VnIntegerOperand   *result)
{
  VnValue *inputs[3] = { x };

  inputs[1] = result->scale = vn_quant_add_constant (self->graph, x->name, "_scale", row->scale);
  inputs[2] = result->zero_point = vn_quant_add_constant (self->graph, x->name, "_zero_point", row->zero_point);
  result->data = vn_quant_add_value (self->graph, x->name, "_quantized", row->dtype, NULL);
  vn_integer_add_node (self, before, x->name, "_QuantizeLinear", "QuantizeLinear", inputs, 3, &result->data, 1);
}

/*< private >
 * vn_integer_get_activation:
 * @node: a reader of @x; what is added stands in front of it
 *
 * Returns: (transfer none): the integers of @x, made once: with the range that they have while the network runs if the
 *   ranges are dynamic, otherwise with that of the plan
 */
const VnIntegerOperand *
vn_integer_get_activation (VnIntegerWriter *self,
                           VnNode          *node,
                           VnValue         *x)
{
  VnIntegerOperand *found = g_hash_table_lookup (self->activations, x);

  if (found != NULL)
    return found;
  found = g_new0 (VnIntegerOperand, 1);
  if (self->scheme->dynamic)
    write_integer_quantize_dynamically (self, node, x, found);
  else
    write_integer_quantize_statically (self, node, x, vn_quant_plan_find (self->plan, x->name), found);
  g_hash_table_insert (self->activations, x, found);
  return found;
}

static VnTensor *
write_integer_transpose_bytes (const VnTensor  *tensor,
                               GError         **error)
{
  gint64 rows = tensor->shape.dims[0], columns = tensor->shape.dims[1];
  VnTensor *result = vn_tensor_new_constant (tensor->dtype, &VN_SHAPE (columns, rows), error);

  for (gint64 r = 0; result != NULL && r < rows; r++)
    for (gint64 c = 0; c < columns; c++)
      ((guint8 *) result->data)[c * rows + r] = ((const guint8 *) tensor->data)[r * columns + c];
  return result;
}

/*< private >
 * vn_integer_get_weight:
 * @value: a constant that the plan quantizes
 * @transposed: it is a matrix, and the other way round is wanted
 *
 * Returns: (transfer none) (nullable): its integers, made once; %NULL: memory
 */
const VnIntegerOperand *
vn_integer_get_weight (VnIntegerWriter  *self,
                       VnValue          *value,
                       gboolean          transposed,
                       GError          **error)
{
  const VnTensorPlan *row = vn_quant_plan_find (self->plan, value->name);
  g_autofree char *key = g_strdup_printf ("%d %s", transposed, value->name);
  VnIntegerOperand *found = g_hash_table_lookup (self->weights, key);
  g_autoptr(VnTensor) data = NULL;

  if (found != NULL)
    return found;
  data = vn_quant_quantize_tensor (value->initializer, row->dtype, row->scale, row->zero_point, row->axis,
                                   row->narrow, error);
  if (data != NULL && transposed)
    {
      g_autoptr(VnTensor) turned = write_integer_transpose_bytes (data, error);

      vn_tensor_unref (data);
      data = g_steal_pointer (&turned);
    }
  if (data == NULL)
    {
      g_prefix_error (error, "“%s”: ", value->name);
      return NULL;
    }
  found = g_new0 (VnIntegerOperand, 1);
  found->data = vn_quant_add_constant (self->graph, value->name, "_quantized", data);
  found->scale = vn_quant_add_constant (self->graph, value->name, "_scale", row->scale);
  found->zero_point = vn_quant_add_constant (self->graph, value->name, "_zero_point", row->zero_point);
  g_hash_table_insert (self->weights, g_steal_pointer (&key), found);
  return found;
}
