/* SPDX-License-Identifier: GPL-3.0-or-later */

/* QOperator: operators that compute on integers themselves. The network is written as QDQ first; then every node whose
 * inputs come out of DequantizeLinear and whose output goes into QuantizeLinear alone is replaced by the operator of
 * integers that stands for the three of them. What has none stays between Q and DQ, which every runtime can do as well.
 *
 * Operand orders are those of ONNX (QLinearConv, QLinearMatMul) and of ONNX Runtime's contrib operators. */

#include "vn-quant-write.h"
#include "vn-write-integer-private.h"

#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-kernel-form.h"

#include <string.h>


/* A tensor of integers with its scale and zero point. */
typedef struct
{
  VnValue *data, *scale, *zero_point;
} Quantized;

typedef struct
{
  VnGraph    *graph;
  GPtrArray  *nodes;         /* of VnNode: those the plan quantizes and that have something in this format */
  GHashTable *captured;      /* set of VnValue: used or returned by graphs inside nodes */
  GHashTable *names;         /* name in the prepared model -> name in this one */
  GHashTable *by_dequantized;/* output of a DequantizeLinear -> name in the prepared model */
  gint64      opset;
} Folder;

typedef struct _Fold Fold;
struct _Fold
{
  const char *type;
  const char *domain, *result;  /* the operator that takes its place; NULL: itself, on integers */
  gboolean  (*fold) (Folder *self, VnNode *node, const Fold *fold);
};

static gboolean write_qoperator_fold_argmax      (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_concat      (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_conv        (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_gemm        (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_pad         (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_passthrough (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_pool        (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_resize      (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_softmax     (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_two         (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_unary       (Folder *self, VnNode *node, const Fold *fold);
static gboolean write_qoperator_fold_where       (Folder *self, VnNode *node, const Fold *fold);

/* Operators of onnxruntime.quantization's QLinear table; Relu and Clip vanish in their producer before we come here. */
static const Fold folds[] = {
  { "Add",               VN_MICROSOFT_DOMAIN, "QLinearAdd",               write_qoperator_fold_two },
  { "ArgMax",            "",               NULL,                       write_qoperator_fold_argmax },
  { "AveragePool",       VN_MICROSOFT_DOMAIN, "QLinearAveragePool",       write_qoperator_fold_pool },
  { "Clip",              "",               NULL,                       NULL },
  { "Concat",            VN_MICROSOFT_DOMAIN, "QLinearConcat",            write_qoperator_fold_concat },
  { "Conv",              "",               "QLinearConv",              write_qoperator_fold_conv },
  { "Flatten",           "",               NULL,                       write_qoperator_fold_passthrough },
  { "Gather",            "",               NULL,                       write_qoperator_fold_passthrough },
  { "Gemm",              VN_MICROSOFT_DOMAIN, "QGemm",                    write_qoperator_fold_gemm },
  { "GlobalAveragePool", VN_MICROSOFT_DOMAIN, "QLinearGlobalAveragePool", write_qoperator_fold_unary },
  { "LeakyRelu",         VN_MICROSOFT_DOMAIN, "QLinearLeakyRelu",         write_qoperator_fold_unary },
  { "MatMul",            "",               "QLinearMatMul",            write_qoperator_fold_two },
  { "MaxPool",           "",               NULL,                       write_qoperator_fold_passthrough },
  { "Mul",               VN_MICROSOFT_DOMAIN, "QLinearMul",               write_qoperator_fold_two },
  { "Pad",               "",               NULL,                       write_qoperator_fold_pad },
  { "Relu",              "",               NULL,                       NULL },
  { "Reshape",           "",               NULL,                       write_qoperator_fold_passthrough },
  { "Resize",            "",               NULL,                       write_qoperator_fold_resize },
  { "Sigmoid",           VN_MICROSOFT_DOMAIN, "QLinearSigmoid",           write_qoperator_fold_unary },
  { "Softmax",           VN_MICROSOFT_DOMAIN, "QLinearSoftmax",           write_qoperator_fold_softmax },
  { "Split",             "",               NULL,                       write_qoperator_fold_passthrough },
  { "Squeeze",           "",               NULL,                       write_qoperator_fold_passthrough },
  { "Transpose",         "",               NULL,                       write_qoperator_fold_passthrough },
  { "Unsqueeze",         "",               NULL,                       write_qoperator_fold_passthrough },
  { "Where",             VN_MICROSOFT_DOMAIN, "QLinearWhere",             write_qoperator_fold_where },
};

static const Fold *
write_qoperator_find_fold (const VnNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (folds); i++)
    {
      if (vn_node_is (node, folds[i].type))
        return &folds[i];
    }
  return NULL;
}

/* What the format has nothing for stays float. */
static gboolean
write_qoperator_has_operator (const VnWriteScheme *scheme,
                              const VnNode        *node)
{
  return scheme->dynamic ? vn_integer_has_qlinear (node) : write_qoperator_find_fold (node) != NULL;
}

/* ---- looking at the neighbours ---- */

static gboolean
write_qoperator_is_scalar (const VnValue *value)
{
  return value != NULL && value->initializer != NULL && value->initializer->n_elements == 1;
}

/* What @value is the float form of; FALSE: it is no result of DequantizeLinear. */
static gboolean
write_qoperator_get_quantized (const VnValue *value,
                               Quantized     *quantized)
{
  const VnNode *node = value != NULL ? value->producer : NULL;

  if (node == NULL || !vn_node_is (node, "DequantizeLinear") || node->graph != value->graph)
    return FALSE;
  *quantized = (Quantized) { vn_node_get_input (node, 0), vn_node_get_input (node, 1), vn_node_get_input (node, 2) };
  return quantized->zero_point != NULL;
}

static gboolean
write_qoperator_get_scalar_input (const VnNode *node,
                                  guint         i,
                                  Quantized    *quantized)
{
  return write_qoperator_get_quantized (vn_node_get_input (node, i), quantized) && write_qoperator_is_scalar (quantized->scale);
}

/* What @value becomes, if nobody but QuantizeLinear reads it. */
static gboolean
write_qoperator_get_result (Folder        *self,
                            const VnValue *value,
                            Quantized     *quantized)
{
  const VnUse *use;

  if (value == NULL || value->uses->len != 1 || value->is_output || g_hash_table_contains (self->captured, value))
    return FALSE;
  use = &g_array_index (value->uses, VnUse, 0);
  if (!vn_node_is (use->node, "QuantizeLinear") || use->index != 0 || use->node->graph != self->graph)
    return FALSE;
  *quantized = (Quantized) { vn_node_get_output (use->node, 0), vn_node_get_input (use->node, 1),
                             vn_node_get_input (use->node, 2) };
  return quantized->zero_point != NULL && write_qoperator_is_scalar (quantized->scale);
}

static VnDType
write_qoperator_get_type (const Quantized *quantized)
{
  const VnValue *zero_point = quantized->zero_point;

  return zero_point->initializer != NULL ? zero_point->initializer->dtype : zero_point->type.dtype;
}

/* Whether there is a kernel that takes @a and @b and gives @result. */
static gboolean
write_qoperator_has_kernel (const VnNode    *node,
                            const Quantized *a,
                            const Quantized *b,
                            const Quantized *result)
{
  return vn_kernel_takes_types (node->op_type, write_qoperator_get_type (a), write_qoperator_get_type (b),
                                write_qoperator_get_type (result));
}

/* ---- replacing ---- */

/* @node writes the integers itself. */
static void
write_qoperator_take_result (Folder          *self,
                             VnNode          *node,
                             guint            i,
                             const Quantized *result)
{
  VnValue *old = vn_node_get_output (node, i);
  VnNode *quantize = result->data->producer;

  vn_graph_remove_node (self->graph, quantize);
  vn_node_set_output (node, i, result->data);
  vn_graph_remove_value (self->graph, old);
}

static void
write_qoperator_rename_node (VnNode     *node,
                             const Fold *fold)
{
  if (fold->result == NULL)
    return;
  g_free (node->op_type);
  g_free (node->domain);
  node->op_type = g_strdup (fold->result);
  node->domain = g_strdup (fold->domain);
}

/* Data, scale and zero point from input @at on. */
static void
write_qoperator_set_operands (VnNode          *node,
                              guint            at,
                              const Quantized *quantized)
{
  vn_node_set_input (node, at, quantized->data);
  vn_node_set_input (node, at + 1, quantized->scale);
  vn_node_set_input (node, at + 2, quantized->zero_point);
}

static void
write_qoperator_set_grid (VnNode          *node,
                          guint            at,
                          const Quantized *quantized)
{
  vn_node_set_input (node, at, quantized->scale);
  vn_node_set_input (node, at + 1, quantized->zero_point);
}

/* ---- by operator ---- */

static gboolean
write_qoperator_fold_unary (Folder     *self,
                            VnNode     *node,
                            const Fold *fold)
{
  Quantized x, y;

  if (!write_qoperator_get_scalar_input (node, 0, &x) || !write_qoperator_get_result (self, vn_node_get_output (node, 0), &y) ||
      !write_qoperator_has_kernel (node, &x, &x, &y))
    return FALSE;
  write_qoperator_set_operands (node, 0, &x);
  write_qoperator_set_grid (node, 3, &y);
  write_qoperator_take_result (self, node, 0, &y);
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

static gboolean
write_qoperator_fold_pool (Folder     *self,
                           VnNode     *node,
                           const Fold *fold)
{
  gsize n;
  const gint64 *dilations = vn_node_get_ints (node, "dilations", &n);

  for (gsize i = 0; i < n; i++)
    if (dilations[i] != 1)
      return FALSE;
  if (!write_qoperator_fold_unary (self, node, fold))
    return FALSE;
  vn_node_remove_attr (node, "dilations");
  return TRUE;
}

static gboolean
write_qoperator_fold_softmax (Folder     *self,
                              VnNode     *node,
                              const Fold *fold)
{
  gint64 axis = vn_node_get_int (node, "axis", self->opset < 13 ? 1 : -1);

  if (!write_qoperator_fold_unary (self, node, fold))
    return FALSE;
  vn_node_set_int (node, "axis", axis);
  vn_node_set_int (node, "opset", self->opset);
  return TRUE;
}

static gboolean
write_qoperator_fold_two (Folder     *self,
                          VnNode     *node,
                          const Fold *fold)
{
  gboolean is_product = vn_node_is (node, "MatMul");
  Quantized a, b, y;

  if (!write_qoperator_get_scalar_input (node, 0, &a) || !write_qoperator_get_quantized (vn_node_get_input (node, 1), &b) ||
      !(is_product || write_qoperator_is_scalar (b.scale)) ||
      !write_qoperator_get_result (self, vn_node_get_output (node, 0), &y) ||
      !write_qoperator_has_kernel (node, &a, &b, &y))
    return FALSE;
  write_qoperator_set_operands (node, 0, &a);
  write_qoperator_set_operands (node, 3, &b);
  write_qoperator_set_grid (node, 6, &y);
  write_qoperator_take_result (self, node, 0, &y);
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

/* The integers of a bias, if there is one; FALSE if it stayed in float. */
static gboolean
write_qoperator_get_bias (const VnNode *node,
                          Quantized    *bias)
{
  *bias = (Quantized) { NULL, NULL, NULL };
  return vn_node_get_input (node, 2) == NULL ||
         (write_qoperator_get_quantized (vn_node_get_input (node, 2), bias) && bias->data->type.dtype == VN_DTYPE_S32);
}

static gboolean
write_qoperator_fold_conv (Folder     *self,
                           VnNode     *node,
                           const Fold *fold)
{
  Quantized x, w, bias, y;

  if (!write_qoperator_get_scalar_input (node, 0, &x) || !write_qoperator_get_quantized (vn_node_get_input (node, 1), &w) ||
      !write_qoperator_get_bias (node, &bias) ||
      !write_qoperator_get_result (self, vn_node_get_output (node, 0), &y) || !write_qoperator_has_kernel (node, &x, &w, &y))
    return FALSE;
  write_qoperator_set_operands (node, 0, &x);
  write_qoperator_set_operands (node, 3, &w);
  write_qoperator_set_grid (node, 6, &y);
  if (bias.data != NULL)
    vn_node_set_input (node, 8, bias.data);
  write_qoperator_take_result (self, node, 0, &y);
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

/* QGemm's addend has the scale of the product, alpha included; that of the bias was made without. */
static gboolean
write_qoperator_fold_gemm (Folder     *self,
                           VnNode     *node,
                           const Fold *fold)
{
  Quantized a, b, bias, y;

  if (vn_node_get_float (node, "alpha", 1) != 1 || !write_qoperator_get_scalar_input (node, 0, &a) ||
      !write_qoperator_get_quantized (vn_node_get_input (node, 1), &b) || !write_qoperator_get_bias (node, &bias) ||
      !write_qoperator_get_result (self, vn_node_get_output (node, 0), &y) || !write_qoperator_has_kernel (node, &a, &b, &y))
    return FALSE;
  write_qoperator_set_operands (node, 0, &a);
  write_qoperator_set_operands (node, 3, &b);
  vn_node_set_input (node, 6, bias.data);
  write_qoperator_set_grid (node, 7, &y);
  write_qoperator_take_result (self, node, 0, &y);
  vn_node_remove_attr (node, "beta");
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

static gboolean
write_qoperator_fold_concat (Folder     *self,
                             VnNode     *node,
                             const Fold *fold)
{
  guint n = node->inputs->len;
  g_autofree Quantized *inputs = g_new (Quantized, n + 1);
  Quantized y;

  for (guint i = 0; i < n; i++)
    if (!write_qoperator_get_scalar_input (node, i, &inputs[i]))
      return FALSE;
  if (!write_qoperator_get_result (self, vn_node_get_output (node, 0), &y))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!write_qoperator_has_kernel (node, &inputs[i], &inputs[0], &y))
      return FALSE;
  write_qoperator_set_grid (node, 0, &y);
  for (guint i = 0; i < n; i++)
    write_qoperator_set_operands (node, 2 + 3 * i, &inputs[i]);
  write_qoperator_take_result (self, node, 0, &y);
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

static gboolean
write_qoperator_fold_where (Folder     *self,
                            VnNode     *node,
                            const Fold *fold)
{
  Quantized x, y, z;

  if (!write_qoperator_get_scalar_input (node, 1, &x) || !write_qoperator_get_scalar_input (node, 2, &y) ||
      !write_qoperator_get_result (self, vn_node_get_output (node, 0), &z) || !write_qoperator_has_kernel (node, &x, &y, &z))
    return FALSE;
  write_qoperator_set_operands (node, 1, &x);
  write_qoperator_set_operands (node, 4, &y);
  write_qoperator_set_grid (node, 7, &z);
  write_qoperator_take_result (self, node, 0, &z);
  write_qoperator_rename_node (node, fold);
  return TRUE;
}

static gboolean
write_qoperator_fold_argmax (Folder     *self,
                             VnNode     *node,
                             const Fold *fold)
{
  Quantized x;

  if (self->opset < 13 || !write_qoperator_get_scalar_input (node, 0, &x))
    return FALSE;
  vn_node_set_input (node, 0, x.data);
  return TRUE;
}

/* ---- operators that move values: the same ones, on integers ---- */

static gboolean
write_qoperator_same_grid (const Quantized *a,
                           const Quantized *b)
{
  return a->scale == b->scale && a->zero_point == b->zero_point;
}

static gboolean
write_qoperator_fold_passthrough (Folder     *self,
                                  VnNode     *node,
                                  const Fold *fold)
{
  g_autofree Quantized *results = g_new (Quantized, node->outputs->len + 1);
  Quantized x;

  if (!write_qoperator_get_scalar_input (node, 0, &x))
    return FALSE;
  for (guint i = 0; i < node->outputs->len; i++)
    if (!write_qoperator_get_result (self, vn_node_get_output (node, i), &results[i]) ||
        !write_qoperator_same_grid (&x, &results[i]))
      return FALSE;
  vn_node_set_input (node, 0, x.data);
  for (guint i = 0; i < node->outputs->len; i++)
    write_qoperator_take_result (self, node, i, &results[i]);
  return TRUE;
}

/* Interpolation between integers is rounded in ways that differ among runtimes; picking neighbours is not. */
static gboolean
write_qoperator_fold_resize (Folder     *self,
                             VnNode     *node,
                             const Fold *fold)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");

  return g_str_equal (mode, "nearest") && write_qoperator_fold_passthrough (self, node, fold);
}

/* What is put around is the zero point, or what the given value is on the grid of the data. */
static gboolean
write_qoperator_fold_pad (Folder     *self,
                          VnNode     *node,
                          const Fold *fold)
{
  g_autofree char *mode = vn_node_dup_string (node, "mode", "constant");
  gboolean is_constant = g_str_equal (mode, "constant");
  Quantized x, fill, y;

  if (self->opset < 13 || !write_qoperator_get_scalar_input (node, 0, &x) ||
      !write_qoperator_get_result (self, vn_node_get_output (node, 0), &y) ||
      !write_qoperator_same_grid (&x, &y))
    return FALSE;
  if (is_constant && vn_node_get_input (node, 2) != NULL)
    {
      /* its own grid holds zero exactly; other values need the grid of the data */
      const VnTensor *value = NULL;

      if (write_qoperator_get_quantized (vn_node_get_input (node, 2), &fill))
        value = vn_value_get_constant (fill.data);
      if (value == NULL || value->n_elements != 1 || fill.zero_point->initializer == NULL ||
          vn_tensor_get_s64 (value, 0) != vn_tensor_get_s64 (fill.zero_point->initializer, 0))
        return FALSE;
    }
  vn_node_set_input (node, 0, x.data);
  if (is_constant)
    vn_node_set_input (node, 2, x.zero_point);
  write_qoperator_take_result (self, node, 0, &y);
  return TRUE;
}

/* ---- all ---- */

static GPtrArray *
write_qoperator_list_nodes (const VnGraph *graph,
                            VnQuantPlan   *plan)
{
  GPtrArray *nodes = g_ptr_array_new ();

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (graph->nodes, i);
      const Fold *fold = write_qoperator_find_fold (node);
      g_autofree char *label = vn_node_dup_label (node);

      if (fold != NULL && fold->fold != NULL && vn_quant_plan_is_node_quantized (plan, label))
        g_ptr_array_add (nodes, node);
    }
  return nodes;
}

/* A DequantizeLinear nobody reads; its tensor is known by the integers from now on. */
static void
write_qoperator_drop_dequantizer (Folder *self,
                                  VnNode *node)
{
  VnValue *output = vn_node_get_output (node, 0), *data = vn_node_get_input (node, 0);
  const char *name = g_hash_table_lookup (self->by_dequantized, output->name);

  if (output->uses->len > 0 || output->is_output || g_hash_table_contains (self->captured, output))
    return;
  if (name != NULL)
    g_hash_table_insert (self->names, g_strdup (name), g_strdup (data->name));
  vn_graph_remove_node (self->graph, node);
  vn_graph_remove_value (self->graph, output);
}

static void
write_qoperator_drop_dequantizers (Folder *self)
{
  for (guint i = vn_graph_get_n_nodes (self->graph); i > 0; i--)
    {
      VnNode *node = vn_graph_get_node (self->graph, i - 1);

      if (vn_node_is (node, "DequantizeLinear"))
        write_qoperator_drop_dequantizer (self, node);
    }
}

static GHashTable *
write_qoperator_invert_names (GHashTable *names)
{
  GHashTable *inverse = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GHashTableIter iter;
  gpointer from, to;

  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &from, &to))
    g_hash_table_insert (inverse, g_strdup (to), g_strdup (from));
  return inverse;
}

static gboolean
write_qoperator (VnModel             *model,
                 const VnWriteScheme *scheme,
                 VnQuantPlan         *plan,
                 GHashTable          *value_names,
                 GError             **error)
{
  Folder self = { .graph = model->graph, .names = value_names };

  if (scheme->dynamic)
    return vn_format_writer_integer.write (model, scheme, plan, value_names, error);
  self.nodes = write_qoperator_list_nodes (model->graph, plan);
  if (!vn_quant_write_qdq (model, scheme, plan, value_names, error))
    {
      g_ptr_array_unref (self.nodes);
      return FALSE;
    }
  self.opset = vn_model_get_opset (model, "");
  self.captured = vn_graph_find_captured (model->graph);
  self.by_dequantized = write_qoperator_invert_names (value_names);
  for (guint i = 0; i < self.nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (self.nodes, i);
      const Fold *fold = write_qoperator_find_fold (node);

      fold->fold (&self, node, fold);
    }
  write_qoperator_drop_dequantizers (&self);
  vn_quant_drop_unused_constants (model->graph, self.captured);
  g_ptr_array_unref (self.nodes);
  g_hash_table_unref (self.captured);
  g_hash_table_unref (self.by_dequantized);
  return TRUE;
}

const VnFormatWriter vn_format_writer_qoperator = { write_qoperator_has_operator, write_qoperator };
