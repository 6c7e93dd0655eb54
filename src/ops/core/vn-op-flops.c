/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much arithmetic a product takes, from its sizes. */
#include "vn-op-flops.h"

/* One call: what is known of it, and where its weight is. */
typedef struct
{
  const VnNode       *node;
  const VnTensorType *in, *out;
  guint               n_inputs;
  guint               weight;
} Call;

typedef double (*CountFunc) (const Call *call);

static double
op_flops_elements (const VnShape *shape)
{
  double n = 1;

  for (int i = 0; i < shape->rank; i++)
    n *= (double) shape->dims[i];
  return n;
}

static double
op_flops_per_channel (const VnShape *weight)
{
  return weight->rank > 0 && weight->dims[0] > 0 ? op_flops_elements (weight) / (double) weight->dims[0] : 0;
}

/* Weight [M, C / group, kernel ...]: each element of the output is a sum over all but its first axis. */
static double
op_flops_count_conv (const Call *call)
{
  return op_flops_elements (&call->out[0].shape) * op_flops_per_channel (&call->in[call->weight].shape);
}

/* Weight [C, M / group, kernel ...]: each element of the input is multiplied with all but its first axis. */
static double
op_flops_count_conv_transpose (const Call *call)
{
  return op_flops_elements (&call->in[0].shape) * op_flops_per_channel (&call->in[call->weight].shape);
}

static double
op_flops_count_matmul (const Call *call)
{
  const VnShape *a = &call->in[0].shape;
  gboolean transposed = vn_node_get_int (call->node, "transA", 0) != 0 && a->rank > 1;

  return a->rank > 0 ? op_flops_elements (&call->out[0].shape) * (double) a->dims[a->rank - (transposed ? 2 : 1)] : 0;
}

/* In each step of each sequence both matrices, [directions, gates * hidden, ...], are gone through once. */
static double
op_flops_count_recurrent (const Call *call)
{
  const VnShape *data = &call->in[0].shape;

  return data->rank == 3 ? (double) data->dims[0] * (double) data->dims[1] *
                           (op_flops_elements (&call->in[1].shape) + op_flops_elements (&call->in[2].shape)) : 0;
}

/* Products with queries, keys and values, then those of each query with each key, and of what comes of it with each value. */
static double
op_flops_count_attention (const Call *call)
{
  const VnShape *data = &call->in[0].shape, *weight = &call->in[1].shape;
  double tokens;

  if (data->rank != 3 || weight->rank != 2)
    return 0;
  tokens = (double) data->dims[0] * (double) data->dims[1];
  return tokens * op_flops_elements (weight) + 2 * tokens * (double) data->dims[1] * (double) weight->dims[1] / 3;
}

/* Each token goes to k experts, which multiply it by their first matrix, experts x rows x columns, or their first and third, and
 * the result by the second. Two rows of the first make one number where it holds gate and value of SwiGLU. */
static double
op_flops_count_experts (const Call *call)
{
  const gboolean packed = g_str_equal (call->node->op_type, "QMoE");
  const gboolean third = vn_node_get_input (call->node, packed ? 8 : 6) != NULL;
  g_autofree char *activation = vn_node_dup_string (call->node, "activation_type", "relu");
  const gboolean fused = !third && g_str_equal (activation, "swiglu");
  const VnShape *tokens = &call->in[0].shape, *weight = &call->in[call->weight].shape;
  const double chosen = MAX (0, (double) vn_node_get_int (call->node, "k", 1));
  double rows;

  if (tokens->rank < 1 || weight->rank != 3)
    return 0;
  rows = (double) weight->dims[1];
  return op_flops_elements (tokens) * chosen * (rows * (third ? 2 : 1) + rows / (fused ? 2 : 1));
}

static const struct
{
  const char *domain, *type;
  CountFunc   count;
  guint       weight;
} table[] = {
  { "", "Conv", op_flops_count_conv, 1 },
  { "", "ConvInteger", op_flops_count_conv, 1 },
  { "", "QLinearConv", op_flops_count_conv, 3 },
  { "com.microsoft", "FusedConv", op_flops_count_conv, 1 },
  { "", "ConvTranspose", op_flops_count_conv_transpose, 1 },
  { "", "MatMul", op_flops_count_matmul, 1 },
  { "", "MatMulInteger", op_flops_count_matmul, 1 },
  { "", "QLinearMatMul", op_flops_count_matmul, 3 },
  { "", "Gemm", op_flops_count_matmul, 1 },
  { "com.microsoft", "DynamicQuantizeMatMul", op_flops_count_matmul, 1 },
  { "com.microsoft", "FusedGemm", op_flops_count_matmul, 1 },
  { "com.microsoft", "FusedMatMul", op_flops_count_matmul, 1 },
  { "com.microsoft", "MatMulIntegerToFloat", op_flops_count_matmul, 1 },
  { "com.microsoft", "MatMulNBits", op_flops_count_matmul, 1 },
  { "com.microsoft", "QGemm", op_flops_count_matmul, 3 },
  { "com.microsoft", "MoE", op_flops_count_experts, 2 },
  { "com.microsoft", "QMoE", op_flops_count_experts, 2 },
  { "", "LSTM", op_flops_count_recurrent, 2 },
  { "", "GRU", op_flops_count_recurrent, 2 },
  { "", "RNN", op_flops_count_recurrent, 2 },
  { "com.microsoft", "DynamicQuantizeLSTM", op_flops_count_recurrent, 2 },
  { "com.microsoft", "Attention", op_flops_count_attention, 1 },
  { "com.microsoft", "QAttention", op_flops_count_attention, 1 },
};

/**
 * vn_op_count_flops:
 * @in_types: of the node's inputs, as the plan or a run knows them
 * @out_types: of its outputs
 *
 * Returns: additions and multiplications of one call, two for each product of a sum; negative where that is not
 *   counted (all operators but convolutions, matrix products, attention and recurrent layers) or a size is unknown
 */
double
vn_op_count_flops (const VnNode       *node,
                   const VnTensorType *in_types,
                   guint               n_inputs,
                   const VnTensorType *out_types,
                   guint               n_outputs)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      guint weight = table[i].weight;
      const Call call = { node, in_types, out_types, n_inputs, weight };

      if (!g_str_equal (table[i].type, node->op_type) || !g_str_equal (table[i].domain, node->domain))
        continue;
      if (n_outputs == 0 || weight >= n_inputs || !vn_shape_is_static (&out_types[0].shape))
        return -1;
      for (guint k = 0; k <= weight; k++)
        if (!vn_shape_is_static (&in_types[k].shape))
          return -1;
      return 2 * table[i].count (&call);
    }
  return -1;
}
