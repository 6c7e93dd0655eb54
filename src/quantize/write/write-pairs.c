/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What is changed about the pairs of QuantizeLinear and DequantizeLinear once every tensor has one: a pair for each
 * reader, and a second pair behind the first for readers that see another type. Names are those onnxruntime.quantization
 * gives. */

#include "vn-quant-write.h"

#include "vn-graph-edit.h"

typedef struct
{
  VnNode  *quantize, *dequantize;
  VnValue *input, *output;         /* float before and after */
} Pair;

static gboolean
write_pairs_find_pair (VnGraph          *graph,
                       const VnQuantRow *row,
                       GHashTable       *value_names,
                       Pair             *pair)
{
  const char *name = g_hash_table_lookup (value_names, row->tensor.name);
  VnValue *value = name != NULL ? vn_graph_find_value (graph, name) : NULL;
  const VnValue *middle;

  if (!row->tensor.quantized || row->tensor.role != VN_TENSOR_ACTIVATION || value == NULL || value->producer == NULL)
    return FALSE;
  middle = vn_node_get_input (value->producer, 0);
  if (middle == NULL || middle->producer == NULL || !vn_quant_is_conversion (value->producer) ||
      !vn_quant_is_conversion (middle->producer))
    return FALSE;
  *pair = (Pair) { middle->producer, value->producer, vn_node_get_input (middle->producer, 0), value };
  return TRUE;
}

/* A node like @like, with other parameters if @scale is given, behind @behind. */
static VnNode *
write_pairs_add_conversion (const VnNode *like,
                            VnNode       *behind,
                            const char   *domain,
                            const char   *name,
                            VnValue      *input,
                            VnValue      *scale,
                            VnValue      *zero_point,
                            VnValue      *output)
{
  VnValue *inputs[] = { input, scale != NULL ? scale : vn_node_get_input (like, 1),
                        scale != NULL ? zero_point : vn_node_get_input (like, 2) };

  return vn_graph_insert_node (like->graph, vn_node_get_next (behind), name, domain != NULL ? domain : like->domain,
                               like->op_type, inputs, 3, &output, 1);
}

/* ---- a pair for each reader ---- */

/* Nodes of the prepared network that read @value, each once, in order. */
static GPtrArray *
write_pairs_list_readers (const VnValue *value,
                          GPtrArray     *nodes,
                          VnQuantPlan   *plan)
{
  GPtrArray *readers = g_ptr_array_new ();

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < value->uses->len; k++)
        if (g_array_index (value->uses, VnUse, k).node == node && plan->selected[i])
          {
            g_ptr_array_add (readers, node);
            break;
          }
    }
  return readers;
}

static void
write_pairs_replace_input (VnNode  *node,
                           VnValue *from,
                           VnValue *to)
{
  for (guint i = 0; i < node->inputs->len; i++)
    if (vn_node_get_input (node, i) == from)
      vn_node_set_input (node, i, to);
}

static VnValue *
write_pairs_add_numbered_pair (VnGraph          *graph,
                               const VnQuantRow *row,
                               const Pair       *pair,
                               guint             number)
{
  const char *base = row->tensor.name;
  const VnValue *middle = vn_node_get_output (pair->quantize, 0);
  g_autofree char *q = g_strdup_printf ("%s_QuantizeLinear_%u", base, number);
  g_autofree char *dq = g_strdup_printf ("%s_DequantizeLinear_%u", base, number);
  g_autofree char *between = g_strdup_printf ("_QuantizeLinear_Output_%u", number);
  g_autofree char *behind = g_strdup_printf ("_DequantizeLinear_Output_%u", number);
  VnValue *integers = vn_quant_add_value (graph, base, between, middle->type.dtype, &middle->type.shape);
  VnValue *output = vn_quant_add_value (graph, base, behind, VN_DTYPE_F32, &middle->type.shape);
  VnNode *quantize = write_pairs_add_conversion (pair->quantize, pair->dequantize, NULL, q, pair->input, NULL, NULL, integers);

  write_pairs_add_conversion (pair->dequantize, quantize, NULL, dq, integers, NULL, NULL, output);
  return output;
}

/* The tensor is float again; an output of the network has its name back. */
static void
write_pairs_remove_pair (VnGraph    *graph,
                         const Pair *pair)
{
  VnValue *middle = vn_node_get_output (pair->quantize, 0);
  gboolean is_output = pair->output->is_output;
  VnNode *producer = pair->input->producer;
  guint index = pair->input->output_index;

  vn_graph_remove_node (graph, pair->dequantize);
  vn_graph_remove_node (graph, pair->quantize);
  vn_graph_remove_value (graph, middle);
  if (is_output)
    {
      vn_value_replace_uses (pair->input, pair->output, NULL);
      vn_node_set_output (producer, index, pair->output);
      vn_graph_remove_value (graph, pair->input);
    }
  else
    {
      vn_value_replace_uses (pair->output, pair->input, NULL);
      vn_graph_remove_value (graph, pair->output);
    }
}

/*< private >
 * vn_quant_write_dedicated:
 * @nodes: of the prepared network
 * @value_names: as vn_quantize_write() returns it
 *
 * Gives every quantized node a pair of its own for what it reads, where several read the same. Others read the float
 * tensor then.
 */
void
vn_quant_write_dedicated (VnGraph     *graph,
                          VnQuantPlan *plan,
                          GPtrArray   *nodes,
                          GHashTable  *value_names)
{
  g_return_if_fail (graph != NULL && plan != NULL);

  for (guint i = 0; i < plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);
      g_autoptr(GPtrArray) readers = NULL;
      Pair pair;

      if (row->converted != NULL || !write_pairs_find_pair (graph, row, value_names, &pair))
        continue;
      readers = write_pairs_list_readers (pair.output, nodes, plan);
      if (readers->len < 2)
        continue;
      for (guint k = 0; k < readers->len; k++)
        {
          VnValue *output = write_pairs_add_numbered_pair (graph, row, &pair, k + 1);

          write_pairs_replace_input (g_ptr_array_index (readers, k), pair.output, output);
          if (k == 0)
            g_hash_table_insert (value_names, g_strdup (row->tensor.name), g_strdup (output->name));
        }
      write_pairs_remove_pair (graph, &pair);
    }
}

/* ---- another type for some readers ---- */

static gboolean
write_pairs_all_receive (const VnQuantRow *row,
                         const VnValue    *value,
                         GPtrArray        *nodes)
{
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);

      for (guint k = 0; k < value->uses->len; k++)
        if (g_array_index (value->uses, VnUse, k).node == node && !row->receives[i])
          return FALSE;
    }
  return TRUE;
}

static VnNode *
write_pairs_add_named_conversion (const VnNode *like,
                                  VnNode       *behind,
                                  const char   *domain,
                                  const char   *base,
                                  const char   *suffix,
                                  VnValue      *input,
                                  VnValue     **params,
                                  VnValue      *output)
{
  g_autofree char *name = g_strconcat (base, suffix, NULL);

  return write_pairs_add_conversion (like, behind, domain, name, input, params != NULL ? params[0] : NULL,
                                     params != NULL ? params[1] : NULL, output);
}

/* The result of the first pair where the second takes its name over: an output of the network that all see converted. */
static void
write_pairs_make_room (VnGraph    *graph,
                       const char *base,
                       Pair       *pair)
{
  VnValue *first = vn_quant_add_value (graph, base, "_DequantizeLinear_Output", VN_DTYPE_F32, &pair->output->type.shape);

  vn_node_set_output (pair->dequantize, 0, first);
  pair->input = first;
}

static void
write_converted (VnModel          *model,
                 const VnQuantRow *row,
                 Pair              pair,
                 GPtrArray        *nodes,
                 GHashTable       *value_names)
{
  VnGraph *graph = model->graph;
  const char *base = row->tensor.name;
  gboolean all = write_pairs_all_receive (row, pair.output, nodes), wide = vn_dtype_get_bits (row->converted->tensor.dtype) != 8;
  const char *domain = wide && vn_model_get_opset (model, "") < 21 ? "com.microsoft" : NULL;
  VnShape shape = vn_node_get_output (pair.quantize, 0)->type.shape;
  VnValue *params[] = { vn_quant_add_constant (graph, base, "_scale_convert", row->converted->tensor.scale),
                        vn_quant_add_constant (graph, base, "_zero_point_convert", row->converted->tensor.zero_point) };
  VnValue *integers = vn_quant_add_value (graph, base, "_convert_QuantizeLinear_Output", row->converted->tensor.dtype,
                                          &shape);
  VnValue *input = pair.output, *output;
  VnNode *behind = pair.dequantize;

  if (!all)
    {
      input = vn_quant_add_value (graph, base, "_convert_QuantizeLinear_Input", VN_DTYPE_F32, &shape);
      behind = write_pairs_add_named_conversion (pair.dequantize, behind, NULL, base, "_convert_clone_DequantizeLinear",
                                                 vn_node_get_output (pair.quantize, 0), NULL, input);
    }
  if (all && pair.output->is_output)
    {
      write_pairs_make_room (graph, base, &pair);
      input = pair.input;
      output = pair.output;
    }
  else
    {
      output = vn_quant_add_value (graph, base, "_convert_DequantizeLinear_Output", VN_DTYPE_F32, &shape);
      for (guint i = 0; i < nodes->len; i++)
        if (row->receives[i])
          write_pairs_replace_input (g_ptr_array_index (nodes, i), pair.output, output);
    }
  behind = write_pairs_add_named_conversion (pair.quantize, behind, domain, base, "_convert_QuantizeLinear", input, params,
                                             integers);
  write_pairs_add_named_conversion (pair.dequantize, behind, domain, base, "_convert_DequantizeLinear", integers, params, output);
  if (all)
    g_hash_table_insert (value_names, g_strdup (base), g_strdup (output->name));
}

/*< private >
 * vn_quant_write_converted:
 * @nodes: of the prepared network
 * @value_names: as vn_quantize_write() returns it
 *
 * Adds a second pair where a rule converts a tensor for its readers.
 */
void
vn_quant_write_converted (VnModel     *model,
                          VnQuantPlan *plan,
                          GPtrArray   *nodes,
                          GHashTable  *value_names)
{
  g_return_if_fail (model != NULL && plan != NULL);

  for (guint i = 0; i < plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (plan->rows, i);
      Pair pair;

      if (row->converted != NULL && write_pairs_find_pair (model->graph, row, value_names, &pair))
        write_converted (model, row, pair, nodes, value_names);
    }
}
