/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of operators: found by name and opset, and the family of each for display. */
#include "vn-op-flushes.h"
#include "vn-op-kernel.h"

static const VnOp * const ops[] = {
#define VN_OP(name) &name,
#include "vn-ops.def"
#undef VN_OP
};

/**
 * vn_op_list:
 * @n: (out): how many
 *
 * Returns: (transfer none): all operators with a kernel, in no particular order
 */
const VnOp * const *
vn_op_list (guint *n)
{
  *n = G_N_ELEMENTS (ops);
  return ops;
}

/* By name the number of the first operator that has it, and 1; @next: of another of that name, and 1; 0: none. */
static GHashTable *
op_index_names (guint *next)
{
  GHashTable *first = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = G_N_ELEMENTS (ops); i-- > 0;)
    {
      next[i] = GPOINTER_TO_UINT (g_hash_table_lookup (first, ops[i]->type));
      g_hash_table_insert (first, (gpointer) ops[i]->type, GUINT_TO_POINTER (i + 1));
    }
  return first;
}

static const VnOp *
op_find (const char *domain,
         const char *type,
         gint64      opset)
{
  static GHashTable *first;   /* asked several times for each node of a network */
  static guint next[G_N_ELEMENTS (ops)];

  if (g_once_init_enter (&first))
    g_once_init_leave (&first, op_index_names (next));
  for (guint i = GPOINTER_TO_UINT (g_hash_table_lookup (first, type)); i > 0; i = next[i - 1])
    {
      const VnOp *op = ops[i - 1];

      if (opset >= op->since && (op->until == 0 || opset <= op->until) && g_str_equal (op->domain, domain))
        return op;
    }
  return NULL;
}

/**
 * vn_op_lookup:
 * @domain: "" is ai.onnx
 * @type: name of the operator, as ONNX spells it
 * @opset: version of @domain that the model imports
 *
 * Returns: (transfer none): the operator, or %NULL with %VN_ERROR_UNSUPPORTED
 */
const VnOp *
vn_op_lookup (const char  *domain,
              const char  *type,
              gint64       opset,
              GError     **error)
{
  const VnOp *op;

  g_return_val_if_fail (domain != NULL && type != NULL, NULL);

  op = op_find (domain, type, opset);
  if (op == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("operator %s%s%s of opset %lld is not supported"),
                 domain, *domain != '\0' ? "." : "", type, (long long) opset);
  return op;
}

/* A domain that is used but not imported is a fault of many exporters; its operators have one version only. */
static gint64
op_node_opset (const VnNode *node)
{
  const VnModel *model = node->graph != NULL ? node->graph->model : NULL;
  gint64 opset = model != NULL ? vn_model_get_opset (model, node->domain) : 0;

  return opset == 0 && node->domain[0] != '\0' ? 1 : opset;
}

/**
 * vn_op_lookup_node:
 * @node: a node of a model
 *
 * Returns: (transfer none): its operator in the version its model imports, or %NULL with %VN_ERROR_UNSUPPORTED
 */
const VnOp *
vn_op_lookup_node (const VnNode  *node,
                   GError       **error)
{
  return vn_op_lookup (node->domain, node->op_type, op_node_opset (node), error);
}

typedef struct
{
  const char *type;
  VnOpFamily  family;
} KnownOp;

/* Operators that have no kernel here, or not in every version; sorted. */
static const KnownOp known_ops[] = {
  { "Abs", VN_FAMILY_ARITHMETIC },
  { "Add", VN_FAMILY_ARITHMETIC },
  { "And", VN_FAMILY_ARITHMETIC },
  { "ArgMax", VN_FAMILY_ARITHMETIC },
  { "ArgMin", VN_FAMILY_ARITHMETIC },
  { "Attention", VN_FAMILY_COMPUTE },
  { "AveragePool", VN_FAMILY_POOL_NORM },
  { "BFPQuantizeDequantize", VN_FAMILY_CONVERSION },
  { "BatchNormalization", VN_FAMILY_POOL_NORM },
  { "BiasGelu", VN_FAMILY_ACTIVATION },
  { "Cast", VN_FAMILY_CONVERSION },
  { "CastLike", VN_FAMILY_CONVERSION },
  { "Ceil", VN_FAMILY_ARITHMETIC },
  { "Celu", VN_FAMILY_ACTIVATION },
  { "Clip", VN_FAMILY_ACTIVATION },
  { "Compress", VN_FAMILY_SHAPE },
  { "Concat", VN_FAMILY_SHAPE },
  { "Constant", VN_FAMILY_SHAPE },
  { "ConstantOfShape", VN_FAMILY_SHAPE },
  { "Conv", VN_FAMILY_COMPUTE },
  { "ConvInteger", VN_FAMILY_COMPUTE },
  { "ConvTranspose", VN_FAMILY_COMPUTE },
  { "CumSum", VN_FAMILY_ARITHMETIC },
  { "DeformConv", VN_FAMILY_COMPUTE },
  { "DepthToSpace", VN_FAMILY_SHAPE },
  { "DequantizeLinear", VN_FAMILY_CONVERSION },
  { "Div", VN_FAMILY_ARITHMETIC },
  { "Dropout", VN_FAMILY_SHAPE },
  { "DynamicQuantizeLinear", VN_FAMILY_CONVERSION },
  { "Einsum", VN_FAMILY_COMPUTE },
  { "Elu", VN_FAMILY_ACTIVATION },
  { "EmbedLayerNormalization", VN_FAMILY_POOL_NORM },
  { "Equal", VN_FAMILY_ARITHMETIC },
  { "Erf", VN_FAMILY_ARITHMETIC },
  { "Exp", VN_FAMILY_ARITHMETIC },
  { "Expand", VN_FAMILY_SHAPE },
  { "ExtendedDequantizeLinear", VN_FAMILY_CONVERSION },
  { "ExtendedQuantizeLinear", VN_FAMILY_CONVERSION },
  { "FastGelu", VN_FAMILY_ACTIVATION },
  { "FixNeuron", VN_FAMILY_CONVERSION },
  { "Flatten", VN_FAMILY_SHAPE },
  { "Floor", VN_FAMILY_ARITHMETIC },
  { "FusedConv", VN_FAMILY_COMPUTE },
  { "FusedGemm", VN_FAMILY_COMPUTE },
  { "FusedMatMul", VN_FAMILY_COMPUTE },
  { "GRU", VN_FAMILY_COMPUTE },
  { "Gather", VN_FAMILY_SHAPE },
  { "GatherElements", VN_FAMILY_SHAPE },
  { "GatherND", VN_FAMILY_SHAPE },
  { "Gelu", VN_FAMILY_ACTIVATION },
  { "Gemm", VN_FAMILY_COMPUTE },
  { "GlobalAveragePool", VN_FAMILY_POOL_NORM },
  { "GlobalLpPool", VN_FAMILY_POOL_NORM },
  { "GlobalMaxPool", VN_FAMILY_POOL_NORM },
  { "Greater", VN_FAMILY_ARITHMETIC },
  { "GridSample", VN_FAMILY_POOL_NORM },
  { "GroupNormalization", VN_FAMILY_POOL_NORM },
  { "HardSigmoid", VN_FAMILY_ACTIVATION },
  { "HardSwish", VN_FAMILY_ACTIVATION },
  { "Hardmax", VN_FAMILY_ACTIVATION },
  { "Identity", VN_FAMILY_SHAPE },
  { "InstanceNormalization", VN_FAMILY_POOL_NORM },
  { "LRN", VN_FAMILY_POOL_NORM },
  { "LSTM", VN_FAMILY_COMPUTE },
  { "LayerNormalization", VN_FAMILY_POOL_NORM },
  { "LeakyRelu", VN_FAMILY_ACTIVATION },
  { "Less", VN_FAMILY_ARITHMETIC },
  { "LogSoftmax", VN_FAMILY_ACTIVATION },
  { "LpNormalization", VN_FAMILY_POOL_NORM },
  { "LpPool", VN_FAMILY_POOL_NORM },
  { "MatMul", VN_FAMILY_COMPUTE },
  { "MatMulInteger", VN_FAMILY_COMPUTE },
  { "MatMulIntegerToFloat", VN_FAMILY_COMPUTE },
  { "MatMulNBits", VN_FAMILY_COMPUTE },
  { "Max", VN_FAMILY_ARITHMETIC },
  { "MaxPool", VN_FAMILY_POOL_NORM },
  { "MaxRoiPool", VN_FAMILY_POOL_NORM },
  { "MaxUnpool", VN_FAMILY_POOL_NORM },
  { "Mean", VN_FAMILY_ARITHMETIC },
  { "MeanVarianceNormalization", VN_FAMILY_POOL_NORM },
  { "Min", VN_FAMILY_ARITHMETIC },
  { "Mish", VN_FAMILY_ACTIVATION },
  { "MoE", VN_FAMILY_COMPUTE },
  { "Mod", VN_FAMILY_ARITHMETIC },
  { "Mul", VN_FAMILY_ARITHMETIC },
  { "MultiHeadAttention", VN_FAMILY_COMPUTE },
  { "Neg", VN_FAMILY_ARITHMETIC },
  { "NonMaxSuppression", VN_FAMILY_OTHER },
  { "PRelu", VN_FAMILY_ACTIVATION },
  { "Pad", VN_FAMILY_SHAPE },
  { "Pow", VN_FAMILY_ARITHMETIC },
  { "QLinearAdd", VN_FAMILY_ARITHMETIC },
  { "QLinearAveragePool", VN_FAMILY_POOL_NORM },
  { "QLinearConcat", VN_FAMILY_SHAPE },
  { "QLinearConv", VN_FAMILY_COMPUTE },
  { "QLinearGlobalAveragePool", VN_FAMILY_POOL_NORM },
  { "QLinearLeakyRelu", VN_FAMILY_ACTIVATION },
  { "QLinearMatMul", VN_FAMILY_COMPUTE },
  { "QLinearMul", VN_FAMILY_ARITHMETIC },
  { "QLinearSigmoid", VN_FAMILY_ACTIVATION },
  { "QLinearSoftmax", VN_FAMILY_ACTIVATION },
  { "QMoE", VN_FAMILY_COMPUTE },
  { "QuantizeLinear", VN_FAMILY_CONVERSION },
  { "QuickGelu", VN_FAMILY_ACTIVATION },
  { "RMSNormalization", VN_FAMILY_POOL_NORM },
  { "RNN", VN_FAMILY_COMPUTE },
  { "Reciprocal", VN_FAMILY_ARITHMETIC },
  { "ReduceMax", VN_FAMILY_ARITHMETIC },
  { "ReduceMean", VN_FAMILY_ARITHMETIC },
  { "ReduceSum", VN_FAMILY_ARITHMETIC },
  { "Relu", VN_FAMILY_ACTIVATION },
  { "Reshape", VN_FAMILY_SHAPE },
  { "Resize", VN_FAMILY_SHAPE },
  { "RoiAlign", VN_FAMILY_POOL_NORM },
  { "RotaryEmbedding", VN_FAMILY_COMPUTE },
  { "ScatterElements", VN_FAMILY_SHAPE },
  { "ScatterND", VN_FAMILY_SHAPE },
  { "Selu", VN_FAMILY_ACTIVATION },
  { "Shape", VN_FAMILY_SHAPE },
  { "Sigmoid", VN_FAMILY_ACTIVATION },
  { "SkipLayerNormalization", VN_FAMILY_POOL_NORM },
  { "Slice", VN_FAMILY_SHAPE },
  { "Softmax", VN_FAMILY_ACTIVATION },
  { "Softplus", VN_FAMILY_ACTIVATION },
  { "Softsign", VN_FAMILY_ACTIVATION },
  { "SpaceToDepth", VN_FAMILY_SHAPE },
  { "Split", VN_FAMILY_SHAPE },
  { "Sqrt", VN_FAMILY_ARITHMETIC },
  { "Squeeze", VN_FAMILY_SHAPE },
  { "Sub", VN_FAMILY_ARITHMETIC },
  { "Sum", VN_FAMILY_ARITHMETIC },
  { "Swish", VN_FAMILY_ACTIVATION },
  { "Tanh", VN_FAMILY_ACTIVATION },
  { "ThresholdedRelu", VN_FAMILY_ACTIVATION },
  { "Tile", VN_FAMILY_SHAPE },
  { "TopK", VN_FAMILY_SHAPE },
  { "Transpose", VN_FAMILY_SHAPE },
  { "Unsqueeze", VN_FAMILY_SHAPE },
  { "Upsample", VN_FAMILY_SHAPE },
  { "Where", VN_FAMILY_SHAPE },
};

static int
op_compare_known (gconstpointer key,
                  gconstpointer known)
{
  return strcmp (key, ((const KnownOp *) known)->type);
}

/**
 * vn_op_family:
 * @node: any node
 *
 * Returns: the family of its operator, whatever the opset and whether or not it can be run here;
 *   %VN_FAMILY_OTHER for names nobody knows
 */
VnOpFamily
vn_op_family (const VnNode *node)
{
  const KnownOp *known;

  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (g_str_equal (ops[i]->type, node->op_type) && g_str_equal (ops[i]->domain, node->domain))
      return ops[i]->family;

  known = bsearch (node->op_type, known_ops, G_N_ELEMENTS (known_ops), sizeof (KnownOp), op_compare_known);
  return known != NULL ? known->family : VN_FAMILY_OTHER;
}

/* ---- subnormal numbers ---- */

/* Operators that make much of them: a root, a quotient, an order; sorted. */
static const char * const magnifiers[] = {
  "Det", "Div", "GlobalLpPool", "GlobalMaxPool", "Hardmax", "LpNormalization", "LpPool", "MaxPool", "MaxRoiPool", "Normalizer",
  "Pow", "ReduceL2", "ReduceLogSum", "ReduceProd", "SVMClassifier", "SVMRegressor", "TreeEnsemble", "TreeEnsembleClassifier",
  "TreeEnsembleRegressor",
};

static int
op_compare_magnifier (gconstpointer type,
                      gconstpointer magnifier)
{
  return strcmp (type, *(const char * const *) magnifier);
}

/**
 * vn_op_flushes:
 * @dtype: of input 0
 *
 * Whether a subnormal number changes the results of an operator by no more than itself: sums, products, averages, activations.
 * Some processors take a hundred times as long for such numbers. What moves, compares or converts numbers keeps them.
 *
 * Returns: whether the operator takes subnormal numbers for 0, read or computed
 */
gboolean
vn_op_flushes (const VnOp *op,
               VnDType     dtype)
{
  if (dtype != VN_DTYPE_F32 && dtype != VN_DTYPE_F16 && dtype != VN_DTYPE_BF16)
    return FALSE;
  return (op->family == VN_FAMILY_COMPUTE || op->family == VN_FAMILY_ACTIVATION || op->family == VN_FAMILY_POOL_NORM ||
          (op->family == VN_FAMILY_ARITHMETIC && op->quant.role == VN_QUANT_GENERIC)) &&
         bsearch (op->type, magnifiers, G_N_ELEMENTS (magnifiers), sizeof *magnifiers, op_compare_magnifier) == NULL;
}
