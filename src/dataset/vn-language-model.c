/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Language models: networks that go on from keys and values that they kept, and decoders without any, as PyTorch exports them:
 * tokens are looked up in a table, and an output has for each of them as many numbers as the table has rows. */
#include "vn-language-model.h"

#include "vn-causal.h"
#include "vn-input-role.h"
#include "vn-model-data.h"

#define MAX_DEPTH 12      /* operators between the last product and the output */

/* Operators whose output has the last axis of their first input, if that is no constant: what follows the last product. */
static const char * const passing[] = {
  "Add", "Cast", "Clip", "DequantizeLinear", "Div", "Identity", "Mul", "QuantizeLinear", "Sub", "Tanh", NULL
};

/* ---- the size of what comes out ---- */

static gint64
language_model_get_dim (const VnValue *value,
                        int            from_last)
{
  const VnShape *shape = value == NULL ? NULL : value->initializer != NULL ? &value->initializer->shape
                       : value->type.kind == VN_TYPE_TENSOR ? &value->type.shape : NULL;

  return shape != NULL && shape->rank >= from_last ? shape->dims[shape->rank - from_last] : VN_DIM_UNKNOWN;
}

/* The columns of a matrix, which may be a table that is turned. */
static gint64
language_model_get_columns (const VnValue *matrix,
                            gboolean       turned)
{
  guint depth = 0;

  for (; matrix != NULL && matrix->producer != NULL && depth < MAX_DEPTH; depth++)
    {
      if (vn_node_is (matrix->producer, "Transpose"))
        turned = !turned;
      else if (!vn_node_is (matrix->producer, "Identity") && !vn_node_is (matrix->producer, "Cast") &&
               !vn_node_is (matrix->producer, "DequantizeLinear"))
        break;
      matrix = vn_node_get_input (matrix->producer, 0);
    }
  return language_model_get_dim (matrix, turned ? 2 : 1);
}

static gint64
language_model_get_last_dim (const VnValue *value)
{
  for (guint depth = 0; value != NULL && depth < MAX_DEPTH; depth++)
    {
      const VnNode *node = value->producer;
      gint64 size = language_model_get_dim (value, 1);

      if (size > 0 || node == NULL)
        return size;
      if (g_strcmp0 (node->op_type, "MatMulNBits") == 0)
        return vn_node_get_int (node, "N", VN_DIM_UNKNOWN);
      if (vn_node_is (node, "MatMul"))
        return language_model_get_columns (vn_node_get_input (node, 1), FALSE);
      if (vn_node_is (node, "Gemm"))
        return language_model_get_columns (vn_node_get_input (node, 1), vn_node_get_int (node, "transB", 0) != 0);
      if (!g_strv_contains (passing, node->op_type))
        return VN_DIM_UNKNOWN;
      value = vn_node_get_input (node, 0) != NULL && vn_node_get_input (node, 0)->initializer != NULL
            ? vn_node_get_input (node, 1) : vn_node_get_input (node, 0);
    }
  return VN_DIM_UNKNOWN;
}

/* For each token of each text a number for each of @rows. */
static gboolean
language_model_is_answer (const VnValue *output,
                          gint64         rows)
{
  return output->type.kind == VN_TYPE_TENSOR &&
         (output->type.shape.rank == 3 || output->type.shape.rank == VN_RANK_UNKNOWN) &&
         (output->type.dtype == VN_DTYPE_UNDEFINED || vn_dtype_is_float (output->type.dtype)) &&
         language_model_get_last_dim (output) == rows;
}

static gboolean
language_model_has_answer (const VnGraph *graph,
                           gint64         rows)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    if (language_model_is_answer (g_ptr_array_index (graph->outputs, i), rows))
      return TRUE;
  return FALSE;
}

/* @graph: the main one */
static gint64
language_model_find_vocabulary (const VnGraph *graph)
{
  gint64 rows = 0;

  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const VnValue *input = g_ptr_array_index (graph->inputs, i);
      VnInputSpec spec;
      VnInputRole role;

      if (input->initializer != NULL)
        continue;
      vn_input_spec_init (&spec, input);
      role = vn_input_role_find (&spec);
      if (role == VN_INPUT_SEGMENTS)
        return 0;
      if (rows == 0 && role == VN_INPUT_TOKENS && spec.shape.rank == 2 && language_model_has_answer (graph, spec.limit))
        rows = spec.limit;
    }
  return rows > 0 && vn_graph_attends_both_ways (graph) ? 0 : rows;
}

/**
 * vn_model_find_vocabulary:
 *
 * Encoders that fill in words have such an output, too: those that are told of the segments of a text are left out, and those
 * whose tokens see what is behind them.
 *
 * Returns: how many tokens there are: rows of the table that an input is looked up in, and the last size of an output; 0: there
 *   are no such input and output
 */
gint64
vn_model_find_vocabulary (const VnModel *model)
{
  g_return_val_if_fail (model != NULL, 0);

  return language_model_find_vocabulary (model->graph);
}

/**
 * vn_value_counts_vocabulary:
 * @output: of the main graph
 *
 * Returns: whether it has a number for each token of the vocabulary, at each position
 */
gboolean
vn_value_counts_vocabulary (const VnValue *output)
{
  gint64 rows;

  g_return_val_if_fail (output != NULL, FALSE);

  rows = output->is_output && output->graph->parent == NULL ? language_model_find_vocabulary (output->graph) : 0;
  return rows > 0 && language_model_is_answer (output, rows);
}

/**
 * vn_model_is_language_model:
 *
 * Returns: whether the network gives the next token for each token: the time goes into reading its weights, samples are text, and
 *   answers are told by their KL divergence
 */
gboolean
vn_model_is_language_model (const VnModel *model)
{
  g_return_val_if_fail (model != NULL, FALSE);

  return vn_model_has_past (model) || vn_model_find_vocabulary (model) > 0;
}
