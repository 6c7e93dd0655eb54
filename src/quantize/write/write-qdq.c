/* SPDX-License-Identifier: GPL-3.0-or-later */

/* QDQ: the float network with QuantizeLinear and DequantizeLinear around what is quantized, or with the nodes that stand
 * in for them where the type wants others (write-pair.c). Weights are stored as integers with a DequantizeLinear behind
 * them, biases as int32. Names are those onnxruntime.quantization gives, so that tools made for its files work with
 * ours. */

#include "vn-quant-write.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-progress.h"

#include <math.h>
#include <string.h>

typedef struct
{
  const VnWriteScheme *scheme;
  VnModel     *model;
  VnGraph     *graph;
  VnQuantPlan *plan;
  GHashTable  *names;
  GPtrArray   *nodes;      /* nodes as they were before editing: plans speak of indices */
  GHashTable  *excluded;   /* nodes that keep float weights */
  GHashTable  *params;     /* name of a tensor -> its Params */
  GHashTable  *captured;   /* set of VnValue: used or returned by graphs inside nodes */
  VnPairFlags  flags;
} Writer;

typedef struct
{
  VnValue *scale, *zero_point;
} Params;

/* ---- small pieces ---- */

/* Who shares the parameters that another tensor was converted to has a copy of them. */
static const char *
write_qdq_get_owner (Writer             *self,
                     const VnTensorPlan *row,
                     const char         *base)
{
  const VnQuantRow *own = vn_quant_plan_find_row (self->plan, base);

  return row->shares == NULL || (own != NULL && own->shares_converted) ? base : row->shares;
}

static Params *
write_qdq_get_params (Writer             *self,
                      const VnTensorPlan *row,
                      const char         *base)
{
  const char *owner = write_qdq_get_owner (self, row, base);
  Params *params = g_hash_table_lookup (self->params, owner);

  if (params == NULL)
    {
      params = g_new (Params, 1);
      params->scale = vn_quant_add_constant (self->graph, owner, "_scale",
                                             vn_quant_row_get_stored_scale ((const VnQuantRow *) row));
      params->zero_point = vn_quant_add_constant (self->graph, owner, "_zero_point", row->zero_point);
      g_hash_table_insert (self->params, g_strdup (owner), params);
    }
  return params;
}

/* Scales of blocks as a DequantizeLinear in front of @before gives them: integers times the scales of channels. */
static gboolean
write_qdq_make_block_params (Writer            *self,
                             VnNode            *before,
                             const VnQuantRow  *row,
                             const char        *base,
                             Params            *params,
                             GError           **error)
{
  g_autofree char *name = g_strconcat (base, "_scale_DequantizeLinear", NULL);
  g_autoptr(VnTensor) zeros = vn_tensor_new (VN_DTYPE_U8, &row->channel_scale->shape, error);
  VnValue *inputs[3];
  VnNode *node;

  if (zeros == NULL)
    return FALSE;
  memset (zeros->data, 0, zeros->n_bytes);
  params->scale = vn_quant_add_value (self->graph, base, "_scale", VN_DTYPE_F32, &row->block_factors->shape);
  params->zero_point = vn_quant_add_constant (self->graph, base, "_zero_point", row->tensor.zero_point);
  inputs[0] = vn_quant_add_constant (self->graph, base, "_scale_quantized", row->block_factors);
  inputs[1] = vn_quant_add_constant (self->graph, base, "_scale_scale", row->channel_scale);
  inputs[2] = vn_quant_add_constant (self->graph, base, "_scale_zero_point", zeros);
  node = vn_graph_insert_node (self->graph, before, name, "", "DequantizeLinear", inputs, 3, &params->scale, 1);
  vn_node_set_int (node, "axis", 1 - row->tensor.axis);
  return TRUE;
}

/* One node of the pair that takes a tensor to its type and back. @axis: of channels or blocks, or -1 */
static VnNode *
write_qdq_insert_conversion (Writer             *self,
                             VnNode             *before,
                             const VnTensorPlan *row,
                             const char         *base,
                             gboolean            back,
                             VnValue            *input,
                             const Params       *params,
                             VnValue            *output,
                             int                 axis)
{
  const VnQuantPair *pair = vn_quant_find_pair (self->scheme, self->flags, row);
  const char *op_type = back && pair->back != NULL ? pair->back : pair->forth;
  g_autofree char *name = g_strconcat (base, "_", op_type, NULL);
  VnValue *inputs[3] = { input };
  guint n = 1;
  VnNode *node;

  if (params != NULL)
    {
      inputs[n++] = params->scale;
      inputs[n++] = params->zero_point;
    }
  node = vn_graph_insert_node (self->graph, before, name, pair->domain, op_type, inputs, n, &output, 1);
  vn_quant_pair_set_attributes (pair, row, node, back, axis);
  return node;
}

static gboolean
write_qdq_has_params (const VnQuantPair *pair)
{
  return pair->kind == VN_PAIR_LINEAR || pair->kind == VN_PAIR_FIX;
}

/* First node that reads @value, in the order of the graph. */
static VnNode *
write_qdq_first_reader (const VnValue *value)
{
  VnNode *first = NULL;

  for (guint i = 0; i < value->uses->len; i++)
    {
      VnNode *node = g_array_index (value->uses, VnUse, i).node;

      if (node->graph == value->graph && (first == NULL || vn_node_get_index (node) < vn_node_get_index (first)))
        first = node;
    }
  return first;
}

/* Readers in this graph change over to @by; subgraphs keep the float tensor. */
static void
write_qdq_redirect_readers (Writer   *self,
                            VnValue  *value,
                            VnValue  *by,
                            gboolean  keep_excluded)
{
  g_autoptr(GArray) uses = vn_uses_copy (value->uses);

  for (guint i = 0; i < uses->len; i++)
    {
      VnUse use = g_array_index (uses, VnUse, i);

      if (use.node->graph != self->graph || (keep_excluded && g_hash_table_contains (self->excluded, use.node)))
        continue;
      vn_node_set_input (use.node, use.index, by);
    }
}

/* Where graphs inside nodes are quantized, too, they read what the others read. */
static void
write_qdq_redirect_inside (Writer  *self,
                           VnValue *value,
                           VnValue *by)
{
  g_autoptr(GArray) uses = vn_uses_copy (value->uses);

  for (guint i = 0; self->scheme->bodies && i < uses->len; i++)
    {
      VnUse use = g_array_index (uses, VnUse, i);

      if (use.node->graph != self->graph)
        vn_node_set_input (use.node, use.index, by);
    }
}

static void
write_qdq_drop_if_unused (Writer  *self,
                          VnValue *value)
{
  if (value->uses->len == 0 && !value->is_output && !g_hash_table_contains (self->captured, value))
    vn_graph_remove_value (self->graph, value);
}

static void
write_qdq_remember_name (Writer     *self,
                         const char *from,
                         const char *to)
{
  g_hash_table_insert (self->names, g_strdup (from), g_strdup (to));
}

/* ---- clamps ---- */

/* The node before a clamp writes the clamp's output itself. */
static void
write_qdq_absorb_clamp (Writer *self,
                        VnNode *clamp)
{
  VnValue *input = vn_node_get_input (clamp, 0), *output = vn_node_get_output (clamp, 0);
  VnNode *producer = input->producer;
  guint index = input->output_index;

  vn_graph_remove_node (self->graph, clamp);
  vn_node_set_output (producer, index, output);
  write_qdq_drop_if_unused (self, input);
}

/* ---- weights ---- */

/* @blocks: how it lies in blocks. @data as it is stored: in its type; where one node does both, in float; what was rounded in
 * half the size if that is exact. */
static VnTensor *
write_qdq_make_stored (Writer              *self,
                       VnTensorPlan        *row,
                       const VnQuantRow    *blocks,
                       VnTensor            *data,
                       int                  axis,
                       GError             **error)
{
  const VnQuantPair *pair = vn_quant_find_pair (self->scheme, self->flags, row);
  gboolean vendor = self->scheme->vendor != VN_VENDOR_NONE;

  if (blocks->block > 0)
    return vn_quant_quantize_blocks (data, row->dtype, row->scale, row->zero_point, row->axis, blocks->block,
                                     blocks->exact_levels ? VN_BLOCK_EXACT : VN_BLOCK_ZERO_LAST, error);
  if (pair->kind == VN_PAIR_FIX && row->narrow)
    return vn_quant_cut_to_narrow (data, row, error);
  if (pair->kind == VN_PAIR_FIX || (pair->kind == VN_PAIR_BLOCK && vendor))
    return vn_tensor_ref (data);
  if (pair->kind == VN_PAIR_BLOCK)
    return vn_quant_round_tensor (data, &row->dtype, axis, error);
  if (row->dtype == VN_DTYPE_F16 || row->dtype == VN_DTYPE_BF16)
    return vn_tensor_convert (data, row->dtype, error);
  return vn_quant_quantize_tensor (data, row->dtype, row->scale, row->zero_point, row->axis, row->narrow,
                                   error);
}

static gboolean
write_constant (Writer            *self,
                const VnQuantRow  *row,
                VnValue           *value,
                GError           **error)
{
  g_autoptr(VnTensor) data = NULL;
  g_autofree char *name = g_strdup (value->name);
  VnTensorPlan as_stored = row->tensor;
  VnValue *stored, *output;
  VnShape shape = value->initializer->shape;
  VnNode *before = write_qdq_first_reader (value);
  int axis = vn_dtype_is_block (row->tensor.dtype) ? vn_quant_find_block_axis (value) : row->tensor.axis;
  const Params *params = NULL;
  Params own;
  VnNode *node;

  data = write_qdq_make_stored (self, &as_stored, row, value->initializer, axis, error);
  if (data == NULL)
    {
      g_prefix_error (error, "“%s”: ", name);
      return FALSE;
    }

  if (row->channel_scale != NULL)
    {
      if (!write_qdq_make_block_params (self, before, row, name, &own, error))
        return FALSE;
      params = &own;
    }
  else if (as_stored.dtype != VN_DTYPE_F32 && write_qdq_has_params (vn_quant_find_pair (self->scheme, self->flags, &as_stored)))
    params = write_qdq_get_params (self, &row->tensor, name);
  stored = vn_quant_add_constant (self->graph, name, "_quantized", data);
  output = as_stored.dtype == VN_DTYPE_F32 ? stored
                                           : vn_quant_add_value (self->graph, name, "_DequantizeLinear_Output",
                                                                 VN_DTYPE_F32, &shape);
  write_qdq_redirect_readers (self, value, output, TRUE);
  if (output != stored)
    {
      node = write_qdq_insert_conversion (self, before, &as_stored, name, TRUE, stored, params, output, axis);
      if (row->block > 0)
        vn_node_set_int (node, "block_size", row->block);
    }
  write_qdq_remember_name (self, name, output->name);
  write_qdq_drop_if_unused (self, value);
  return TRUE;
}

/* The weight stays in float and goes through both: for tools that want to see every conversion, or to go on training. */
static gboolean
write_constant_pair (Writer              *self,
                     const VnTensorPlan  *row,
                     VnValue             *value,
                     GError             **error)
{
  g_autoptr(VnTensor) cut = NULL;
  VnShape shape = value->initializer->shape;
  VnNode *before = write_qdq_first_reader (value);
  const Params *params = write_qdq_get_params (self, row, value->name);
  VnValue *middle = vn_quant_add_value (self->graph, value->name, "_QuantizeLinear_Output", row->dtype, &shape);
  VnValue *output = vn_quant_add_value (self->graph, value->name, "_DequantizeLinear_Output", VN_DTYPE_F32, &shape);
  VnValue *data = value;

  if (row->narrow)
    {
      cut = vn_quant_cut_to_narrow (value->initializer, row, error);
      if (cut == NULL)
        return FALSE;
      data = vn_quant_add_constant (self->graph, value->name, "_narrow", cut);
    }
  write_qdq_redirect_readers (self, value, output, TRUE);
  write_qdq_insert_conversion (self, before, row, value->name, FALSE, data, params, middle, row->axis);
  write_qdq_insert_conversion (self, before, row, value->name, TRUE, middle, params, output, row->axis);
  write_qdq_remember_name (self, value->name, output->name);
  if (data != value)
    write_qdq_drop_if_unused (self, value);
  return TRUE;
}

/* ---- activations ---- */

/* Where a Q/DQ pair goes: right behind the producer, or before the first reader of a graph input. */
static VnNode *
write_qdq_place_pair (Writer  *self,
                      VnValue *value)
{
  if (value->producer != NULL)
    return vn_node_get_next (value->producer);
  return write_qdq_first_reader (value);
}

/* A graph output keeps its name: the producer writes another tensor, and the output is what DequantizeLinear gives. */
static VnValue *
write_qdq_detach_producer (Writer  *self,
                           VnValue *value)
{
  VnValue *input = vn_quant_add_value (self->graph, value->name, "_QuantizeLinear_Input", VN_DTYPE_F32, &value->type.shape);
  VnNode *producer = value->producer;
  guint index = value->output_index;

  vn_node_set_output (producer, index, input);
  return input;
}

static void
write_activation (Writer             *self,
                  const VnTensorPlan *row,
                  VnValue            *value)
{
  const VnQuantPair *pair = vn_quant_find_pair (self->scheme, self->flags, row);
  int axis = vn_dtype_is_block (row->dtype) ? vn_quant_find_block_axis (value) : row->factors != NULL ? -1 : row->axis;
  VnNode *before = write_qdq_place_pair (self, value);
  const Params *params = write_qdq_has_params (pair) ? write_qdq_get_params (self, row, value->name) : NULL;
  VnShape shape = value->type.shape;
  VnValue *input = value, *middle = NULL, *output = value;

  if (pair->back != NULL)
    middle = vn_quant_add_value (self->graph, value->name, "_QuantizeLinear_Output", row->dtype, &shape);
  if (value->is_output)
    {
      input = write_qdq_detach_producer (self, value);
    }
  else
    {
      output = vn_quant_add_value (self->graph, value->name, "_DequantizeLinear_Output", VN_DTYPE_F32, &shape);
      write_qdq_redirect_readers (self, value, output, FALSE);
      write_qdq_redirect_inside (self, value, output);
    }

  if (middle != NULL)
    write_qdq_insert_conversion (self, before, row, value->name, FALSE, input, params, middle, row->factors != NULL
                                 ? -1 : row->axis);
  write_qdq_insert_conversion (self, before, row, value->name, TRUE, middle != NULL ? middle : input, params, output, axis);
  write_qdq_remember_name (self, value->name, output->name);
}

/* ---- biases ---- */

static VnTensor *
write_qdq_scale_bias (VnTensor  *bias,
                      float      beta,
                      GError   **error)
{
  g_autoptr(VnTensor) data = vn_tensor_get_aligned (bias, error);
  VnTensor *result;

  if (data == NULL || (result = vn_tensor_new (VN_DTYPE_F32, &bias->shape, error)) == NULL)
    return NULL;
  for (gsize i = 0; i < data->n_elements; i++)
    ((float *) result->data)[i] = ((const float *) data->data)[i] * beta;
  return result;
}

/* Divided in double, as the scale of a product is tiny. */
static VnTensor *
write_qdq_quantize_bias (const VnQuantRow  *row,
                         VnTensor          *bias,
                         GError           **error)
{
  g_autoptr(VnTensor) data = vn_tensor_get_aligned (bias, error);
  const float *scale = row->tensor.scale->data;
  gsize n_scales = row->tensor.scale->n_elements;
  VnTensor *integers;
  gint64 low, high;

  if (data == NULL)
    return NULL;

  vn_dtype_integer_range (row->tensor.dtype, &low, &high);
  integers = vn_tensor_new (row->tensor.dtype, &bias->shape, error);
  for (gsize i = 0; integers != NULL && i < data->n_elements; i++)
    {
      double x = (double) ((const float *) data->data)[i] * row->beta;
      double q = rint (x / (double) scale[n_scales > 1 ? i : 0]);

      vn_quant_store_integer (integers, i, (gint64) CLAMP (q, (double) low, (double) high));
    }
  return integers;
}

static VnTensor *
write_qdq_make_stored_bias (Writer            *self,
                            const VnQuantRow  *row,
                            VnTensor          *bias,
                            GError           **error)
{
  gboolean stays = vn_quant_find_pair (self->scheme, self->flags, &row->tensor)->kind == VN_PAIR_FIX;
  g_autoptr(VnTensor) scaled = NULL;

  if (vn_dtype_is_integer (row->tensor.dtype) && !stays)
    return write_qdq_quantize_bias (row, bias, error);
  scaled = write_qdq_scale_bias (bias, row->beta, error);
  if (scaled == NULL || stays)
    return g_steal_pointer (&scaled);
  return vn_tensor_convert (scaled, row->tensor.dtype, error);
}

/* The float bias makes room for the tensor that has its name, unless the row is about a copy. */
static void
write_qdq_retire_bias (Writer           *self,
                       const VnQuantRow *row,
                       VnValue          *bias)
{
  g_autofree char *name = NULL, *base = NULL;

  if (!g_str_equal (row->source, row->tensor.name))
    return;
  base = g_strconcat (row->source, "_float", NULL);
  name = vn_graph_unique_name (self->graph, base);
  vn_graph_rename_value (self->graph, bias, name);
}

static gboolean
write_bias (Writer            *self,
            const VnQuantRow  *row,
            GError           **error)
{
  VnNode *node = g_ptr_array_index (self->nodes, row->node);
  VnValue *bias = vn_node_get_input (node, row->input), *stored, *output;
  gboolean own = g_str_equal (row->source, row->tensor.name);
  g_autoptr(VnTensor) data = write_qdq_make_stored_bias (self, row, bias->initializer, error);
  gboolean linear = write_qdq_has_params (vn_quant_find_pair (self->scheme, self->flags, &row->tensor));
  VnShape shape = bias->initializer->shape;
  VnNode *before = own ? write_qdq_first_reader (bias) : node;
  Params params = { 0 };

  if (data == NULL)
    {
      g_prefix_error (error, "“%s”: ", row->tensor.name);
      return FALSE;
    }

  write_qdq_retire_bias (self, row, bias);
  stored = vn_quant_add_constant (self->graph, row->tensor.name, "_quantized", data);
  if (linear)
    {
      params.scale = vn_quant_add_constant (self->graph, row->tensor.name, "_quantized_scale",
                                            vn_quant_row_get_stored_scale (row));
      params.zero_point = vn_quant_add_constant (self->graph, row->tensor.name, "_quantized_zero_point",
                                                 row->tensor.zero_point);
    }
  output = vn_quant_add_value (self->graph, row->tensor.name, "", VN_DTYPE_F32, &shape);
  if (own)
    write_qdq_redirect_readers (self, bias, output, FALSE);
  else
    vn_node_set_input (node, row->input, output);
  if (row->beta != 1)
    vn_node_set_float (node, "beta", 1);

  write_qdq_insert_conversion (self, before, &row->tensor, row->tensor.name, TRUE, stored, linear ? &params : NULL, output,
                               row->tensor.axis);
  write_qdq_remember_name (self, row->tensor.name, output->name);
  write_qdq_drop_if_unused (self, bias);
  return TRUE;
}

/* ---- all ---- */

/* Integers other than 8 bit came to the standard with opset 21; before, ONNX Runtime has them in its own domain, which
 * then serves for all. */
static gboolean
write_qdq_needs_contrib (const VnModel *model,
                         VnQuantPlan   *plan)
{
  if (vn_model_get_opset (model, "") >= 21)
    return FALSE;

  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (plan, i);

      if (row->quantized && row->role != VN_TENSOR_BIAS && vn_dtype_get_bits (row->dtype) != 8)
        return TRUE;
    }
  return FALSE;
}

static gboolean
write_qdq_has_byte_activations (VnQuantPlan *plan)
{
  for (guint i = 0; i < vn_quant_plan_get_n (plan); i++)
    {
      const VnTensorPlan *row = vn_quant_plan_get (plan, i);

      if (row->quantized && row->role == VN_TENSOR_ACTIVATION && (VN_QUANT_BYTES >> row->dtype & 1) != 0)
        return TRUE;
    }
  return FALSE;
}

static void
write_qdq_writer_init (Writer              *self,
                       VnModel             *model,
                       const VnWriteScheme *scheme,
                       VnQuantPlan         *plan,
                       GHashTable          *names)
{
  self->scheme = scheme;
  self->flags = (write_qdq_needs_contrib (model, plan) ? VN_PAIRS_CONTRIB : 0) | (write_qdq_has_byte_activations (plan)
                                                                                  ? VN_PAIRS_BYTES : 0);
  self->model = model;
  self->graph = model->graph;
  self->plan = plan;
  self->names = names;
  self->nodes = g_ptr_array_new ();
  self->excluded = g_hash_table_new (NULL, NULL);
  self->params = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  self->captured = vn_graph_find_captured (model->graph);

  vn_graph_settle (model->graph);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (model->graph->nodes, i);

      g_ptr_array_add (self->nodes, node);
      if (plan->excluded[i])
        g_hash_table_add (self->excluded, node);
    }
}

static void
write_qdq_writer_clear (Writer *self)
{
  g_ptr_array_unref (self->nodes);
  g_hash_table_unref (self->excluded);
  g_hash_table_unref (self->params);
  g_hash_table_unref (self->captured);
}

/* Copies first: a bias that keeps its name takes over all readers that are left. */
static gboolean
write_biases (Writer    *self,
              gboolean   copies,
              GError   **error)
{
  for (guint i = 0; i < self->plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (self->plan->rows, i);

      if (!row->tensor.quantized || row->tensor.role != VN_TENSOR_BIAS ||
          copies == g_str_equal (row->source, row->tensor.name))
        continue;
      if (!write_bias (self, row, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
write_tensors (Writer  *self,
               GError **error)
{
  for (guint i = 0; i < self->plan->rows->len; i++)
    {
      const VnQuantRow *row = g_ptr_array_index (self->plan->rows, i);
      VnValue *value = vn_graph_find_value (self->graph, row->tensor.name);

      vn_progress_report_current (i, self->plan->rows->len);
      if (!row->tensor.quantized || row->tensor.role == VN_TENSOR_BIAS || row->experts)
        continue;
      if (value->initializer == NULL)
        write_activation (self, &row->tensor, value);
      else if (g_cancellable_set_error_if_cancelled (g_cancellable_get_current (), error) ||
               !(self->scheme->float_weights ? write_constant_pair (self, &row->tensor, value, error)
                                        : write_constant (self, row, value, error)))
        return FALSE;
    }
  return TRUE;
}

/*< private >
 * vn_quant_write_qdq:
 *
 * Writes each row of @plan as a pair of conversions, or as what the format has instead.
 */
gboolean
vn_quant_write_qdq (VnModel             *model,
                    const VnWriteScheme *scheme,
                    VnQuantPlan         *plan,
                    GHashTable          *value_names,
                    GError             **error)
{
  Writer writer;
  gboolean ok;

  g_return_val_if_fail (model != NULL && scheme != NULL && plan != NULL, FALSE);

  write_qdq_writer_init (&writer, model, scheme, plan, value_names);
  for (guint i = 0; i < plan->clamps->len; i++)
    write_qdq_absorb_clamp (&writer, g_ptr_array_index (writer.nodes, g_array_index (plan->clamps, guint, i)));
  /* biases before what they share initializers with */
  ok = write_biases (&writer, TRUE, error) && write_biases (&writer, FALSE, error) && write_tensors (&writer, error);
  if (scheme->dedicated_pairs)
    vn_quant_write_dedicated (model->graph, plan, writer.nodes, value_names);
  vn_quant_write_converted (model, plan, writer.nodes, value_names);
  ok = ok && vn_quant_write_restored (model, error);
  vn_quant_drop_unused_constants (model->graph, writer.captured);
  vn_quant_add_functions (model, scheme);
  write_qdq_writer_clear (&writer);
  return ok;
}

const VnFormatWriter vn_format_writer_qdq = { NULL, vn_quant_write_qdq };
const VnFormatWriter vn_format_writer_extended = { NULL, vn_quant_write_qdq };
const VnFormatWriter vn_format_writer_fixneuron = { NULL, vn_quant_write_qdq };
