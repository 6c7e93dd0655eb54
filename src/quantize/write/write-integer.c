/* SPDX-License-Identifier: GPL-3.0-or-later */

/* IntegerOps: products of integers inside a float network. Each node that has a constant weight becomes
 *
 *   x -> DynamicQuantizeLinear (or QuantizeLinear, with a range from samples)
 *     -> MatMulInteger or ConvInteger with the stored weight -> Cast -> Mul by both scales -> Add the bias
 *
 * and everything else stays float. A Gather of a constant reads integers, an LSTM becomes DynamicQuantizeLSTM. The names
 * are those onnxruntime.quantization gives. */

#include "vn-write-integer-private.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"

#include <string.h>

typedef VnIntegerOperand Quantized;
typedef VnIntegerWriter Writer;

typedef gboolean (*WriteFunc) (Writer *self, VnNode *node, GError **error);

static gboolean write_conv   (Writer *self, VnNode *node, GError **error);
static gboolean write_gather (Writer *self, VnNode *node, GError **error);
static gboolean write_gemm   (Writer *self, VnNode *node, GError **error);
static gboolean write_lstm   (Writer *self, VnNode *node, GError **error);
static gboolean write_matmul (Writer *self, VnNode *node, GError **error);

static const struct
{
  const char *type;
  WriteFunc   write;
} writers[] = {
  { "Conv",   write_conv },
  { "Gather", write_gather },
  { "Gemm",   write_gemm },
  { "LSTM",   write_lstm },
  { "MatMul", write_matmul },
};

static WriteFunc
write_integer_find_writer (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    {
      if (vn_node_is (node, writers[i].type))
        return writers[i].write;
    }
  return NULL;
}

static gboolean
write_integer_is_matrix_of (const VnNode *node,
                            guint         input,
                            int           rank)
{
  const VnValue *value = vn_node_get_input (node, input);

  return value != NULL && value->graph == node->graph && value->initializer != NULL &&
         value->initializer->dtype == VN_DTYPE_F32 && value->initializer->n_elements > 0 &&
         (rank == 0 || value->initializer->shape.rank == rank);
}

/* Whether @node can be written in this format: it has a constant weight, and nothing in the way. */
static gboolean
write_integer_has_operator (const VnWriteScheme *scheme,
                            const VnNode        *node)
{
  if (write_integer_find_writer (node) == NULL)
    return FALSE;
  if (vn_node_is (node, "Gather"))
    return write_integer_is_matrix_of (node, 0, 0);
  if (vn_node_is (node, "LSTM"))
    return scheme->dynamic && write_integer_is_matrix_of (node, 1, 3) && write_integer_is_matrix_of (node, 2, 3) &&
           vn_node_get_int (node, "layout", 0) == 0;
  if (vn_node_is (node, "Gemm"))
    return write_integer_is_matrix_of (node, 1, 2) && vn_node_get_float (node, "alpha", 1) == 1 &&
           vn_node_get_float (node, "beta", 1) == 1 && vn_node_get_int (node, "transA", 0) == 0;
  return write_integer_is_matrix_of (node, 1, 0);
}

/* ---- weights ---- */

static gboolean
write_integer_has_one_zero_point (const VnTensorPlan *row,
                                  gint64             *zero_point)
{
  *zero_point = vn_tensor_get_s64 (row->zero_point, 0);
  for (gsize i = 1; i < row->zero_point->n_elements; i++)
    *zero_point = MAX (*zero_point, vn_tensor_get_s64 (row->zero_point, i));
  /* channels of nothing but zeros have the scale 1 and the zero point 0, and mean the same with any other */
  for (gsize i = 0; i < row->zero_point->n_elements; i++)
    if (vn_tensor_get_s64 (row->zero_point, i) != *zero_point &&
        (vn_tensor_get_s64 (row->zero_point, i) != 0 || ((const float *) row->scale->data)[i] != 1))
      return FALSE;
  return TRUE;
}

/* As many of the same, to quantize with, for a weight that is stored with one. */
static VnTensor *
write_integer_repeat_zero_point (const VnTensorPlan *row,
                                 gint64              zero_point,
                                 GError            **error)
{
  gsize n = row->zero_point->n_elements;
  g_autofree gint64 *values = g_try_new (gint64, n + 1);

  if (values == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("Not enough memory for %llu elements"), (unsigned long long) n);
      return NULL;
    }
  for (gsize i = 0; i < n; i++)
    values[i] = zero_point;
  return vn_quant_integer_tensor (row->dtype, &row->zero_point->shape, values, error);
}

static gboolean
write_integer_check_channels (const VnTensorPlan  *row,
                              int                  axis,
                              gint64              *zero_point,
                              const char          *op_type,
                              GError             **error)
{
  if (row->axis == axis && write_integer_has_one_zero_point (row, zero_point))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("“%s”: %s supports scales along axis %d and a single zero point, but axis %d is requested"),
               row->name, op_type, axis, row->axis);
  return FALSE;
}

/* The integers of a weight whose scales per channel multiply what comes out, while the operator knows one zero point.
 * @n_behind: axes behind that of the channels in the result */
static const Quantized *
write_integer_get_channel_weight (Writer        *self,
                                  const VnNode  *node,
                                  const char    *op_type,
                                  int            n_behind,
                                  GError       **error)
{
  VnValue *value = vn_node_get_input (node, 1);
  const int axis = vn_quant_get_channel_axis (node);
  const VnTensorPlan *row = vn_quant_plan_find (self->plan, value->name);
  g_autofree char *key = g_strdup_printf ("%s %s", op_type, value->name);
  Quantized *found = g_hash_table_lookup (self->weights, key);
  g_autoptr(VnTensor) zeros = NULL, data = NULL, scale = NULL, zero = NULL;
  VnShape shape = { .rank = 1 + n_behind, .dims = { value->initializer->shape.dims[axis] } };
  gint64 zero_point;

  if (found != NULL)
    return found;
  for (int i = 1; i < shape.rank; i++)
    shape.dims[i] = 1;
  if (!write_integer_check_channels (row, axis, &zero_point, op_type, error) ||
      (zeros = write_integer_repeat_zero_point (row, zero_point, error)) == NULL ||
      (data = vn_quant_quantize_tensor (value->initializer, row->dtype, row->scale, zeros, axis,
                                        row->narrow, error)) == NULL ||
      (scale = vn_tensor_new_reshaped (row->scale, &shape, error)) == NULL ||
      (zero = vn_quant_integer_tensor (row->dtype, &VN_SHAPE_SCALAR, &zero_point, error)) == NULL)
    return NULL;
  found = g_new0 (Quantized, 1);
  found->data = vn_quant_add_constant (self->graph, value->name, "_quantized", data);
  found->scale = vn_quant_add_constant (self->graph, value->name, "_scale", scale);
  found->zero_point = vn_quant_add_constant (self->graph, value->name, "_zero_point", zero);
  g_hash_table_insert (self->weights, g_steal_pointer (&key), found);
  return found;
}

/* ---- products ---- */

/* The sum of products as a float: (integers as float) * (scale of x * scale of w). */
static void
write_integer_scale_back (Writer          *self,
                          VnNode          *before,
                          const char      *label,
                          VnValue         *sum,
                          const Quantized *x,
                          const Quantized *w,
                          VnValue         *output)
{
  VnValue *as_float = vn_quant_add_value (self->graph, sum->name, "_cast_output", VN_DTYPE_F32, NULL);
  VnValue *scale = vn_quant_add_value (self->graph, label, "_scales_mul:0", VN_DTYPE_F32, NULL);
  VnNode *cast = vn_integer_add_node (self, before, sum->name, "_cast", "Cast", &sum, 1, &as_float, 1);

  vn_node_set_int (cast, "to", VN_DTYPE_F32);
  vn_integer_add_node (self, before, label, "_scales_mul", "Mul", (VnValue *[]) { x->scale, w->scale }, 2, &scale, 1);
  vn_integer_add_node (self, before, label, "_output_scale_mul", "Mul", (VnValue *[]) { as_float, scale }, 2, &output, 1);
}

/* Puts the product of integers in the place of @node. @addend: (nullable): added at the end; it must broadcast */
static VnNode *
write_product (Writer          *self,
               VnNode          *node,
               const char      *op_type,
               const Quantized *x,
               const Quantized *w,
               VnValue         *addend)
{
  VnValue *output = vn_node_get_output (node, 0), *scaled = output;
  VnValue *sum = vn_quant_add_value (self->graph, output->name, "_output_quantized", VN_DTYPE_S32, NULL);
  g_autofree char *label = vn_node_dup_label (node);
  g_autofree char *quantized_name = g_strconcat (label, "_quant", NULL);
  VnNode *product;

  product = vn_integer_add_node (self, node, quantized_name, "", op_type,
                                 (VnValue *[]) { x->data, w->data, x->zero_point, w->zero_point }, 4, &sum, 1);
  vn_node_set_output (node, 0, NULL);
  if (addend != NULL)
    scaled = vn_quant_add_value (self->graph, output->name, "quant_scaled_output", VN_DTYPE_F32, NULL);
  write_integer_scale_back (self, node, quantized_name, sum, x, w, scaled);
  if (addend != NULL)
    vn_integer_add_node (self, node, output->name, "_bias_add", "Add", (VnValue *[]) { scaled, addend }, 2, &output, 1);
  return product;
}

static gboolean
write_matmul (Writer  *self,
              VnNode  *node,
              GError **error)
{
  VnValue *value = vn_node_get_input (node, 1);
  const Quantized *w = value->initializer->shape.rank > 2 && vn_quant_plan_find (self->plan, value->name)->axis >= 0
                       ? write_integer_get_channel_weight (self, node, "MatMulInteger", 0, error)
                       : vn_integer_get_weight (self, value, FALSE, error);

  if (w == NULL)
    return FALSE;
  write_product (self, node, "MatMulInteger", vn_integer_get_activation (self, node, vn_node_get_input (node, 0)), w, NULL);
  vn_graph_remove_node (self->graph, node);
  return TRUE;
}

static gboolean
write_gemm (Writer  *self,
            VnNode  *node,
            GError **error)
{
  gboolean transposed = vn_node_get_int (node, "transB", 0) != 0;
  const Quantized *w = vn_integer_get_weight (self, vn_node_get_input (node, 1), transposed, error);

  if (w == NULL)
    return FALSE;
  write_product (self, node, "MatMulInteger", vn_integer_get_activation (self, node, vn_node_get_input (node, 0)), w,
                            vn_node_get_input (node, 2));
  vn_graph_remove_node (self->graph, node);
  return TRUE;
}

/* A bias stands along the channels: [M] becomes [1, M, 1 ...]. */
static VnValue *
write_integer_shape_bias (Writer   *self,
                          VnNode   *node,
                          GError  **error)
{
  VnValue *bias = vn_node_get_input (node, 2), *output = vn_node_get_output (node, 0), *shaped;
  int rank = vn_node_get_input (node, 1)->initializer->shape.rank;
  g_autoptr(VnTensor) tensor = vn_tensor_new_constant (VN_DTYPE_S64, &VN_SHAPE (rank), error);
  VnValue *inputs[2] = { bias };

  if (tensor == NULL)
    return NULL;
  for (int i = 0; i < rank; i++)
    ((gint64 *) tensor->data)[i] = i == 1 ? -1 : 1;
  inputs[1] = vn_quant_add_constant (self->graph, output->name, "_bias_reshape_shape", tensor);
  shaped = vn_quant_add_value (self->graph, output->name, "_bias_reshape_output", VN_DTYPE_F32, NULL);
  vn_integer_add_node (self, node, output->name, "_bias_reshape", "Reshape", inputs, 2, &shaped, 1);
  return shaped;
}

static gboolean
write_conv (Writer  *self,
            VnNode  *node,
            GError **error)
{
  VnValue *value = vn_node_get_input (node, 1), *bias = NULL;
  const Quantized *w = vn_quant_plan_find (self->plan, value->name)->axis >= 0
                       ? write_integer_get_channel_weight (self, node, "ConvInteger", value->initializer->shape.rank - 2, error)
                       : vn_integer_get_weight (self, value, FALSE, error);
  VnNode *product;

  if (w == NULL || (vn_node_get_input (node, 2) != NULL && (bias = write_integer_shape_bias (self, node, error)) == NULL))
    return FALSE;
  product = write_product (self, node, "ConvInteger",
                           vn_integer_get_activation (self, node, vn_node_get_input (node, 0)), w, bias);
  for (guint i = 0; i < node->attrs->len; i++)
    vn_node_set_attr (product, vn_attr_copy (g_ptr_array_index (node->attrs, i)));
  vn_graph_remove_node (self->graph, node);
  return TRUE;
}

/* ---- others ---- */

static gboolean
write_gather (Writer  *self,
              VnNode  *node,
              GError **error)
{
  VnValue *output = vn_node_get_output (node, 0), *picked;
  const Quantized *w = vn_integer_get_weight (self, vn_node_get_input (node, 0), FALSE, error);
  VnNode *next;

  if (w == NULL)
    return FALSE;
  picked = vn_quant_add_value (self->graph, output->name, "_quantized", w->data->type.dtype, NULL);
  next = vn_node_get_next (node);
  vn_node_set_input (node, 0, w->data);
  vn_node_set_output (node, 0, picked);
  vn_integer_add_node (self, next, output->name, "_DequantizeLinear", "DequantizeLinear",
                       (VnValue *[]) { picked, w->scale, w->zero_point }, 3, &output, 1);
  return TRUE;
}

/* The contrib operator keeps its weights the other way round: [directions, inputs, 4 hidden]. */
static VnTensor *
write_integer_turn_weight (VnTensor  *tensor,
                           GError   **error)
{
  gint64 n = tensor->shape.dims[0], rows = tensor->shape.dims[1], columns = tensor->shape.dims[2];
  VnTensor *result = vn_tensor_new_constant (tensor->dtype, &VN_SHAPE (n, columns, rows), error);

  for (gint64 d = 0; result != NULL && d < n; d++)
    for (gint64 r = 0; r < rows; r++)
      for (gint64 c = 0; c < columns; c++)
        ((guint8 *) result->data)[(d * columns + c) * rows + r] =
          ((const guint8 *) tensor->data)[(d * rows + r) * columns + c];
  return result;
}

/* One scale for each direction, or [directions, 4 hidden] of them. */
static VnTensor *
write_integer_shape_params (VnTensor        *params,
                            const VnTensor  *weight,
                            GError         **error)
{
  gint64 n = weight->shape.dims[0], rows = weight->shape.dims[1];
  VnShape shape = params->n_elements == (gsize) n ? VN_SHAPE (n) : VN_SHAPE (n, rows);
  VnTensor *result = vn_tensor_new_constant (params->dtype, &shape, error);

  if (result != NULL)
    memcpy (result->data, params->data, result->n_bytes);
  return result;
}

static gboolean
write_integer_make_lstm_weight (Writer     *self,
                                VnValue    *value,
                                Quantized  *result,
                                GError    **error)
{
  const VnTensorPlan *row = vn_quant_plan_find (self->plan, value->name);
  g_autoptr(VnTensor) data = NULL, turned = NULL, scale = NULL, zero_point = NULL;

  data = vn_quant_quantize_tensor (value->initializer, row->dtype, row->scale, row->zero_point, row->axis,
                                   row->narrow, error);
  if (data == NULL || (turned = write_integer_turn_weight (data, error)) == NULL ||
      (scale = write_integer_shape_params (row->scale, value->initializer, error)) == NULL ||
      (zero_point = write_integer_shape_params (row->zero_point, value->initializer, error)) == NULL)
    return FALSE;
  result->data = vn_quant_add_constant (self->graph, value->name, "_quantized", turned);
  result->scale = vn_quant_add_constant (self->graph, value->name, "_scale", scale);
  result->zero_point = vn_quant_add_constant (self->graph, value->name, "_zero_point", zero_point);
  return TRUE;
}

static gboolean
write_lstm (Writer  *self,
            VnNode  *node,
            GError **error)
{
  Quantized w, r;

  if (!write_integer_make_lstm_weight (self, vn_node_get_input (node, 1), &w, error) ||
      !write_integer_make_lstm_weight (self, vn_node_get_input (node, 2), &r, error))
    return FALSE;
  while (node->inputs->len < 8)
    vn_node_set_input (node, node->inputs->len, NULL);
  vn_node_set_input (node, 1, w.data);
  vn_node_set_input (node, 2, r.data);
  vn_node_set_input (node, 8, w.scale);
  vn_node_set_input (node, 9, w.zero_point);
  vn_node_set_input (node, 10, r.scale);
  vn_node_set_input (node, 11, r.zero_point);
  vn_node_remove_attr (node, "layout");
  g_free (node->op_type);
  g_free (node->domain);
  node->op_type = g_strdup ("DynamicQuantizeLSTM");
  node->domain = g_strdup (VN_MICROSOFT_DOMAIN);
  return TRUE;
}

/* ---- all ---- */

static gboolean
write_nodes (Writer  *self,
             GError **error)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  gboolean qlinear = self->scheme->format->integer_operators;

  vn_graph_settle (self->graph);
  for (guint i = 0; i < self->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);

      if (vn_quant_plan_is_node_quantized (self->plan, label) &&
          (qlinear ? vn_integer_has_qlinear (node) : write_integer_has_operator (self->scheme, node)))
        g_ptr_array_add (nodes, node);
    }
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);

      if (!(qlinear ? vn_integer_write_qlinear : write_integer_find_writer (node)) (self, node, error))
        return FALSE;
    }
  return TRUE;
}

/* Also what the format “qoperator” is with dynamic ranges. */
static gboolean
write_integer (VnModel             *model,
               const VnWriteScheme *scheme,
               VnQuantPlan         *plan,
               GHashTable          *value_names,
               GError             **error)
{
  Writer self = { .graph = model->graph, .scheme = scheme, .plan = plan };
  g_autoptr(GHashTable) captured = vn_graph_find_captured (model->graph);
  gboolean ok;

  self.activations = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self.weights = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  ok = write_nodes (&self, error);
  vn_integer_drop_unread (&self, captured, value_names);
  vn_quant_drop_unused_constants (model->graph, captured);
  g_hash_table_unref (self.activations);
  g_hash_table_unref (self.weights);
  return ok;
}

const VnFormatWriter vn_format_writer_integer = { write_integer_has_operator, write_integer };
