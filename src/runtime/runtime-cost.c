/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a kernel takes: a fixed time and one for each unit of work, from the table of vn-runtime-costs.def. */
#include "vn-runtime-private.h"

#include <math.h>
#include <string.h>

#define BLOCK 16   /* channels that kernels make at once */

typedef enum { TYPE_ANY, TYPE_FLOAT, TYPE_INT8, TYPE_INT16 } Type;
typedef enum
{
  SHAPE_ANY, SHAPE_DENSE, SHAPE_POINTWISE, SHAPE_DEPTHWISE, SHAPE_WIDE, SHAPE_GROUPED, SHAPE_NARROW, SHAPE_LINEAR, SHAPE_NEAREST,
  SHAPE_GENERAL, SHAPE_STRIDED,
  SHAPE_DIRECT,
  SHAPE_BITS2, SHAPE_BITS4, SHAPE_BITS8, SHAPE_ROUNDED2, SHAPE_ROUNDED4, SHAPE_ROUNDED8,
  SHAPE_ZEROS2, SHAPE_ZEROS4
} Shape;
typedef enum { UNIT_MACS, UNIT_OUT, UNIT_IN, UNIT_NONE } Unit;

typedef struct
{
  const char *kernel;   /* "" is any */
  Type        type;
  Shape       shape;
  Unit        unit;
  double      fixed, each, out, read, rows;
} Cost;

static const Cost costs[] = {
#define VN_RUNTIME_COST(kernel, type, shape, unit, fixed, each, out, read, rows) \
  { kernel, TYPE_##type, SHAPE_##shape, UNIT_##unit, fixed, each, out, read, rows },
#define VN_RUNTIME_RUN(nanoseconds)
#define VN_RUNTIME_MARGIN(factor)
#include "vn-runtime-costs.def"
#undef VN_RUNTIME_COST
#undef VN_RUNTIME_RUN
#undef VN_RUNTIME_MARGIN
};

/* Of a run beside its nodes, and of what is forecast. */
static const struct
{
  double run, margin;
} cost_whole = {
#define VN_RUNTIME_COST(...)
#define VN_RUNTIME_RUN(nanoseconds) .run = nanoseconds,
#define VN_RUNTIME_MARGIN(factor) .margin = factor,
#include "vn-runtime-costs.def"
#undef VN_RUNTIME_COST
#undef VN_RUNTIME_RUN
#undef VN_RUNTIME_MARGIN
};

/* Of the integers that a QuantizeLinear makes, of all else what it reads. */
static Type
cost_get_type (const VnNode *node)
{
  VnDType dtype;

  if (g_str_has_prefix (node->op_type, "QLinear"))
    return TYPE_INT8;
  dtype = vn_runtime_get_dtype (vn_runtime_is_q (node) ? vn_node_get_output (node, 0) : vn_node_get_input (node, 0));

  if (!vn_dtype_is_integer (dtype) || vn_dtype_get_bits (dtype) > 16)
    return TYPE_FLOAT;
  return vn_dtype_get_bits (dtype) == 16 ? TYPE_INT16 : TYPE_INT8;
}

/* What is counted of a product: multiplications with those that kernels do in vain to fill a block, elements made, or what no
 * block takes in of a depthwise convolution; elements gathered or of the right operand; and stretches. */
typedef struct
{
  Shape  shape;
  double macs, out, read, rows;
} Work;

static double
cost_round_up (double n)
{
  return ceil (n / BLOCK) * BLOCK;
}

static void
cost_measure_conv (const VnNode *node,
                   Work         *work)
{
  /* of a file's own QLinearConv */
  const VnShape *weight = vn_runtime_get_shape (vn_node_get_input (node, node->inputs->len >= 8 ? 3 : 1));
  gboolean integers = g_str_has_prefix (node->op_type, "QLinear") || g_str_equal (node->op_type, "ConvInteger");
  gboolean blocks = g_str_equal (node->domain, "com.microsoft.nchwc") || integers;
  double group = (double) vn_node_get_int (node, "group", 1), window = 1, made, pixels, columns;

  if (weight == NULL || weight->rank < 3 || !vn_shape_is_static (weight) || weight->dims[0] == 0 || work->out == 0)
    return;
  for (int i = 2; i < weight->rank; i++)
    window *= (double) weight->dims[i];
  if (group > 1 && weight->dims[1] == 1 && (double) weight->dims[0] == group)
    {
      work->shape = window == 9 ? SHAPE_DEPTHWISE : SHAPE_WIDE;   /* 3×3 has kernels of its own */
      work->rows = group;
      if (integers)   /* by a list of where each pixel of a window lies; channels that fill no block are done one by one */
        {
          work->rows = work->out / group * window;
          work->out = work->rows * fmod (group, BLOCK);
        }
      return;
    }
  made = (double) weight->dims[0];
  pixels = work->out / made;
  columns = pixels * window * (double) weight->dims[1];
  work->out = pixels * (blocks && group == 1 ? cost_round_up (made) : made);
  work->macs = columns * work->out / pixels;
  work->read = columns * group;
  work->rows = pixels * group * (integers ? window : 1);   /* each a copy of its channels */
  work->shape = group > 1 ? SHAPE_GROUPED
                : g_str_equal (node->domain, "com.microsoft.nchwc") && weight->dims[1] < BLOCK ? SHAPE_NARROW
                : window == 1 ? SHAPE_POINTWISE
                /* nothing is gathered for it */
                : integers && weight->dims[1] % 4 == 0 && weight->dims[0] % BLOCK == 0 ? SHAPE_DIRECT
                : SHAPE_DENSE;
}

/* The right operand is read once, and is larger than the left one where there is one sample. */
static void
cost_measure_product (const VnNode *node,
                      Work         *work)
{
  /* of a file's own QLinearMatMul or QGemm */
  work->read = vn_runtime_count (vn_node_get_input (node, node->inputs->len >= 8 ? 3 : 1));
}

static Shape
cost_get_bits_shape (gint64   bits,
                     gboolean rounded)
{
  return bits == 2 ? (rounded ? SHAPE_ROUNDED2 : SHAPE_BITS2)
         : bits == 8 ? (rounded ? SHAPE_ROUNDED8 : SHAPE_BITS8)
         : (rounded ? SHAPE_ROUNDED4 : SHAPE_BITS4);
}

/* Zero points that are floats: all weights become floats in each run. */
static gboolean
cost_has_float_zeros (const VnNode *node)
{
  const VnValue *zeros = vn_node_get_input (node, 3);

  return zeros != NULL && vn_dtype_is_float (zeros->initializer != NULL ? zeros->initializer->dtype : zeros->type.dtype);
}

/* Weights in so many bits, and whether what they are multiplied by is rounded to integers. */
static void
cost_measure_nbits (const VnNode *node,
                    Work         *work)
{
  const gint64 bits = vn_node_get_int (node, "bits", 4), block = vn_node_get_int (node, "block_size", 0);
  const gboolean rounded = vn_node_get_int (node, "accuracy_level", 0) == 4 && (bits != 2 || (block >= 32 && block <= 128));

  work->read = (double) vn_node_get_int (node, "N", 0) * (double) vn_node_get_int (node, "K", 0);
  work->shape = !cost_has_float_zeros (node) ? cost_get_bits_shape (bits, rounded) : bits == 2 ? SHAPE_ZEROS2 : SHAPE_ZEROS4;
}

/* The same of experts, of which those are read that a token goes to. */
static void
cost_measure_experts (const VnNode *node,
                      Work         *work)
{
  const gint64 bits = vn_node_get_int (node, "expert_weight_bits", 4), block = vn_node_get_int (node, "block_size", 0);
  const VnShape *router = vn_runtime_get_shape (vn_node_get_input (node, 1));
  double chosen;

  if (g_str_equal (node->op_type, "QMoE"))
    work->shape = cost_get_bits_shape (bits, block > 0 && (bits == 8 || vn_node_get_int (node, "accuracy_level", 0) == 4));
  work->read = 0;
  if (router == NULL || router->rank != 2 || !vn_shape_is_static (router))
    return;
  chosen = (double) router->dims[0] * (double) vn_node_get_int (node, "k", 1);
  if (chosen > 0 && work->macs > 0)
    work->read = work->macs / chosen * MIN (chosen, (double) router->dims[1]);
}

/* Each step waits for the one before it. */
static void
cost_measure_recurrent (const VnNode *node,
                        Work         *work)
{
  const VnShape *data = vn_runtime_get_shape (vn_node_get_input (node, 0));
  g_autofree char *direction = vn_node_dup_string (node, "direction", "forward");
  double ways = g_str_equal (direction, "bidirectional") ? 2 : 1;

  if (data == NULL || data->rank != 3 || !vn_shape_is_static (data))
    return;
  work->rows = (double) data->dims[0] * ways;
  work->out = work->rows * (double) data->dims[1] * (double) vn_node_get_int (node, "hidden_size", 0);
}

static gboolean
cost_names (const Cost   *cost,
            const VnNode *node)
{
  gsize n = strlen (node->domain);

  if (cost->kernel[0] == '\0')
    return TRUE;
  if (n == 0)
    return g_str_equal (cost->kernel, node->op_type);
  return strncmp (cost->kernel, node->domain, n) == 0 && cost->kernel[n] == '.' &&
         g_str_equal (cost->kernel + n + 1, node->op_type);
}

/* Counted from the last one, 1; with channels, the third, in the last place if @last. */
static gint64
cost_get_dim (const VnShape *shape,
              int            i,
              gboolean       last)
{
  int at = last && i <= 3 ? (i == 1 ? 3 : i - 1) : i;

  return at <= shape->rank ? shape->dims[shape->rank - at] : 1;
}

/* In how many stretches two tensors are combined: within one, either both go on or one stays. */
static double
cost_count_rows (const VnShape *a,
                 const VnShape *b,
                 gboolean       last)
{
  enum { UNKNOWN, BOTH, ONE, LEFT } mode = UNKNOWN;
  double rows = 1;

  for (int i = 1; a != NULL && b != NULL && i <= MAX (a->rank, b->rank); i++)
    {
      gint64 x = cost_get_dim (a, i, last), y = cost_get_dim (b, i, last);

      if (mode == UNKNOWN)
        mode = x == 1 && y == 1 ? UNKNOWN : x == y ? BOTH : ONE;
      else if (!(x == 1 && y == 1) && mode != (x == y ? BOTH : ONE))
        mode = LEFT;
      if (mode == LEFT)
        rows *= (double) MAX (x, y);
    }
  return rows;
}

/* Whether a Transpose only takes one axis to another place. */
static gboolean
cost_moves_one_axis (const VnNode *node)
{
  gsize n;
  const gint64 *perm = vn_node_get_ints (node, "perm", &n);

  for (gsize axis = 0; axis < n; axis++)
    {
      gboolean sorted = TRUE;
      gint64 before = -1;

      for (gsize i = 0; i < n; i++)
        if (i != axis)
          {
            sorted = sorted && perm[i] > before;
            before = perm[i];
          }
      if (sorted)
        return TRUE;
    }
  return n == 0;
}

static void
cost_measure_pool (const VnNode *node,
                   Work         *work)
{
  gsize n;
  const gint64 *window = vn_node_get_ints (node, "kernel_shape", &n);

  work->macs = work->out;
  for (gsize i = 0; i < n; i++)
    work->macs *= (double) window[i];
}

/* Whether a Slice leaves elements out between those that it takes. */
static gboolean
cost_has_steps (const VnNode *node)
{
  const VnValue *steps = node->inputs->len > 4 ? vn_node_get_input (node, 4) : NULL;
  const VnTensor *numbers = steps != NULL ? steps->initializer : NULL;

  for (gsize i = 0; numbers != NULL && i < numbers->n_elements; i++)
    if (vn_tensor_get_s64 (numbers, i) != 1)
      return TRUE;
  return FALSE;
}

/* How often a scale per channel changes along the elements: at each where the last axis has them. */
static double
cost_count_scales (const VnNode *node)
{
  const VnShape *shape = vn_runtime_get_shape (vn_node_get_input (node, 0));
  const VnShape *scale = vn_runtime_get_shape (vn_node_get_input (node, 1));
  gint64 axis = vn_node_get_int (node, "axis", 1);

  if (shape == NULL || scale == NULL || !vn_shape_is_static (shape) || !vn_shape_is_static (scale) ||
      vn_shape_count (scale, 0, scale->rank) <= 1)
    return 0;
  axis = axis < 0 ? axis + shape->rank : axis;
  return axis >= 0 && axis < shape->rank ? (double) vn_shape_count (shape, 0, (int) axis + 1) : 0;
}

static void
cost_measure (const VnRuntimeGraph *self,
              const VnNode         *node,
              Work                 *work)
{
  static const char * const broadcasts[] = { "Add", "Sub", "Mul", "Div", "PRelu", NULL };
  static const char * const recurrent[] = { "LSTM", "DynamicQuantizeLSTM", "GRU", "RNN", NULL };
  static const char * const pools[] = { "AveragePool", "MaxPool", "NhwcMaxPool", "QLinearAveragePool", NULL };

  if (g_str_has_suffix (node->op_type, "Conv") || g_str_equal (node->op_type, "ConvInteger"))
    cost_measure_conv (node, work);
  else if (g_str_equal (node->op_type, "MatMulNBits"))
    cost_measure_nbits (node, work);
  else if (g_str_has_suffix (node->op_type, "MoE"))
    cost_measure_experts (node, work);
  else if (g_str_has_suffix (node->op_type, "Gemm") || strstr (node->op_type, "MatMul") != NULL)
    cost_measure_product (node, work);
  else if (g_strv_contains (recurrent, node->op_type))
    cost_measure_recurrent (node, work);
  else if (g_strv_contains (pools, node->op_type))
    cost_measure_pool (node, work);
  else if (vn_runtime_is_q (node) || vn_runtime_is_dq (node))
    work->rows = cost_count_scales (node);
  else if (vn_node_is (node, "Slice"))
    work->shape = cost_has_steps (node) ? SHAPE_STRIDED : SHAPE_ANY;
  else if (vn_node_is (node, "Transpose"))
    work->shape = cost_moves_one_axis (node) && !g_hash_table_contains (self->last, node) ? SHAPE_ANY : SHAPE_GENERAL;
  else if (vn_node_is (node, "Resize"))
    {
      g_autofree char *mode = vn_node_dup_string (node, "mode", "nearest");

      work->shape = g_str_equal (mode, "linear") ? SHAPE_LINEAR : SHAPE_NEAREST;
    }
  else if (g_str_equal (node->domain, "") && g_strv_contains (broadcasts, node->op_type))
    work->rows = cost_count_rows (vn_runtime_get_shape (vn_node_get_input (node, 0)),
                                  vn_runtime_get_shape (vn_node_get_input (node, 1)),
                                  g_hash_table_contains (self->last, node));
}

double
vn_runtime_get_seconds (const VnRuntimeGraph *self,
                        const VnNode         *node,
                        double                macs)
{
  Type type = cost_get_type (node);
  double in = vn_runtime_count (vn_node_get_input (node, 0)), out = vn_runtime_count (vn_node_get_output (node, 0));
  Work work = { SHAPE_ANY, macs, out, in, 0 };

  cost_measure (self, node, &work);
  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      const Cost *cost = &costs[i];
      double units = cost->unit == UNIT_MACS ? work.macs : cost->unit == UNIT_OUT ? out : cost->unit == UNIT_IN ? in : 0;

      if (cost_names (cost, node) && (cost->type == TYPE_ANY || cost->type == type) &&
          (cost->shape == SHAPE_ANY || cost->shape == work.shape))
        return (cost->fixed + cost->each * units + cost->out * work.out + cost->read * work.read + cost->rows * work.rows) * 1e-9;
    }
  return 0;
}

/* What a run takes beside its nodes. */
double
vn_runtime_get_run_seconds (void)
{
  return cost_whole.run * 1e-9;
}

/**
 * vn_runtime_get_conversion_seconds:
 * @dtype: of the integers
 * @to_integers: from float, or back
 * @n: elements
 *
 * Returns: how long one QuantizeLinear or DequantizeLinear takes, one thread
 */
double
vn_runtime_get_conversion_seconds (VnDType  dtype,
                                   gboolean to_integers,
                                   double   n)
{
  const char *kernel = to_integers ? "QuantizeLinear" : "DequantizeLinear";
  Type type = vn_dtype_get_bits (dtype) == 16 ? TYPE_INT16 : TYPE_INT8;

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    if (g_str_equal (costs[i].kernel, kernel) && (costs[i].type == type || costs[i].type == TYPE_ANY))
      return (costs[i].fixed + costs[i].each * n) * 1e-9;
  return 0;
}

/**
 * vn_runtime_get_margin:
 *
 * Returns: a factor above 1: nine of ten times that were measured beside those of the float networks lie between what is forecast
 *   divided by it, and multiplied with it
 */
double
vn_runtime_get_margin (void)
{
  return cost_whole.margin;
}
