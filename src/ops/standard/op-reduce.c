/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp, SumSquare. Over an empty set a sum is 0, a product 1, a
 * maximum the lowest and a minimum the highest value of the type. */
#include "vn-reduce-private.h"

typedef enum { FINISH_NONE, FINISH_MEAN, FINISH_SQRT, FINISH_LOG, FINISH_LOG_SUM_EXP } Finish;

typedef struct
{
  const char  *type;
  VnReduceKind kind;
  Finish       finish;
  guint        axes_input_since;
} Reduction;

static const Reduction reductions[] = {
  { "ReduceSum", VN_REDUCE_SUM, FINISH_NONE, 13 },
  { "ReduceMean", VN_REDUCE_SUM, FINISH_MEAN, 18 },
  { "ReduceMax", VN_REDUCE_MAX, FINISH_NONE, 18 },
  { "ReduceMin", VN_REDUCE_MIN, FINISH_NONE, 18 },
  { "ReduceProd", VN_REDUCE_PROD, FINISH_NONE, 18 },
  { "ReduceL1", VN_REDUCE_SUM_ABS, FINISH_NONE, 18 },
  { "ReduceL2", VN_REDUCE_SUM_SQUARE, FINISH_SQRT, 18 },
  { "ReduceLogSum", VN_REDUCE_SUM, FINISH_LOG, 18 },
  { "ReduceLogSumExp", VN_REDUCE_SUM, FINISH_LOG_SUM_EXP, 18 },
  { "ReduceSumSquare", VN_REDUCE_SUM_SQUARE, FINISH_NONE, 18 },
};

static const Reduction *
reduce_find_reduction (const VnOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (g_str_equal (reductions[i].type, op->type))
      return &reductions[i];
  g_assert_not_reached ();
}

/* Elements as the kernels take them. Results: double for floats, gint64 for integers. */
typedef struct
{
  const Reduction      *reduction;
  const VnReduceKernel *kernel;
  VnReducePlan          plan;
  const VnTensor       *in;
  VnTensor             *out;
  gboolean              direct;     /* the kernel reads the tensor as it is */
  gboolean              integer;
  double                shift;      /* log-sum-exp: the maximum */
} Reduce;

/* Each result and each element is 8 bytes wide, whichever of the two it is. */
typedef union
{
  double d;
  gint64 i;
} Cell;

static Cell
reduce_initial (const Reduce *self)
{
  gint64 min = 0, max = 0;
  VnReduceKind kind = self->reduction->kind;

  if (!self->integer)
    return (Cell) { .d = kind == VN_REDUCE_PROD ? 1. : kind == VN_REDUCE_MAX ? -HUGE_VAL :
                         kind == VN_REDUCE_MIN ? HUGE_VAL : 0. };
  if (self->in->dtype == VN_DTYPE_BOOL)
    max = 1;
  else if (self->in->dtype == VN_DTYPE_U64)
    max = -1;   /* the bits of the largest number */
  else
    vn_dtype_integer_range (self->in->dtype, &min, &max);
  return (Cell) { .i = kind == VN_REDUCE_PROD ? 1 : kind == VN_REDUCE_MAX ? min : kind == VN_REDUCE_MIN ? max : 0 };
}

/* Widens a piece, unless the kernel can read it directly. */
static gconstpointer
reduce_load (const Reduce *self,
             gsize         first,
             gsize         n,
             Cell         *buffer)
{
  if (self->direct)
    return (const char *) self->in->data + first * vn_elem_size (self->in->dtype);
  for (gsize i = 0; i < n; i++)
    if (self->integer)
      buffer[i].i = vn_tensor_get_s64 (self->in, first + i);
    else
      buffer[i].d = vn_tensor_get_double (self->in, first + i);
  return buffer;
}

static void
reduce_finish_integer (const Reduce *self,
                       gsize         i,
                       Cell          cell)
{
  gboolean is_u64 = self->in->dtype == VN_DTYPE_U64;
  double number = is_u64 ? (double) (guint64) cell.i : (double) cell.i;
  Finish finish = self->reduction->finish;

  if (finish == FINISH_MEAN)
    cell.i = self->plan.count == 0 ? 0
           : is_u64 ? (gint64) ((guint64) cell.i / self->plan.count) : cell.i / (gint64) self->plan.count;
  else if (finish != FINISH_NONE)
    {
      number = finish == FINISH_SQRT ? sqrt (number) : finish == FINISH_LOG ? log (number) : cell.d;
      cell.i = number > -0x1p63 && number < 0x1p63 ? (gint64) number : 0;
    }
  memcpy ((char *) self->out->data + i * vn_elem_size (self->out->dtype), &cell.i, vn_elem_size (self->out->dtype));
}

static void
reduce_finish_and_store (const Reduce *self,
                         gsize         i,
                         Cell          cell)
{
  double count = (double) self->plan.count;

  if (!vn_dtype_is_float (self->out->dtype))
    {
      reduce_finish_integer (self, i, cell);
      return;
    }
  switch (self->reduction->finish)
    {
    case FINISH_MEAN: cell.d /= count; break;
    case FINISH_SQRT: cell.d = sqrt (cell.d); break;
    case FINISH_LOG: cell.d = log (cell.d); break;
    default: break;
    }
  if (self->out->dtype == VN_DTYPE_F64)
    ((double *) self->out->data)[i] = cell.d;
  else
    vn_elem_from_float (self->out->dtype, (const float[]) { (float) cell.d },
                        (char *) self->out->data + i * vn_elem_size (self->out->dtype), 1);
}

/* Steps an index over @n dims, the first one fastest; FALSE after the last. */
static gboolean
reduce_step (int           n,
             const gint64 *dims,
             const gint64 *strides,
             gint64       *index,
             gsize        *offset)
{
  for (int d = 0; d < n; d++)
    {
      *offset += (gsize) strides[d];
      if (++index[d] < dims[d])
        return TRUE;
      *offset -= (gsize) (strides[d] * dims[d]);
      index[d] = 0;
    }
  return FALSE;
}

static const VnReduceKernel *
reduce_integer_or_double (const Reduce *self,
                          VnReduceKind  kind)
{
  return !self->integer ? vn_reduce_kernel_f64 (kind)
       : self->in->dtype == VN_DTYPE_U64 ? vn_reduce_kernel_u64 (kind) : vn_reduce_kernel_s64 (kind);
}

static Cell
reduce_combine (const Reduce *self,
                const Cell   *lanes)
{
  Cell result[VN_REDUCE_LANES];
  const VnReduceKind kind = self->reduction->kind;
  /* Partial sums of squares or of amounts are summed as they are. */
  const VnReduceKind final = kind == VN_REDUCE_SUM_ABS || kind == VN_REDUCE_SUM_SQUARE ? VN_REDUCE_SUM : kind;

  result[0] = reduce_initial (self);
  for (guint i = 0; i < VN_REDUCE_LANES; i++)
    reduce_integer_or_double (self, final)->rows (&lanes[i], result, 1);
  return result[0];
}

static void
reduce_accumulate_row (const Reduce *self,
                       gsize         first,
                       Cell         *lanes)
{
  Cell buffer[VN_REDUCE_PIECE];
  gsize n = self->plan.row;

  for (gsize i = 0; i < n; i += VN_REDUCE_PIECE)
    {
      gsize piece = MIN (n - i, (gsize) VN_REDUCE_PIECE);

      self->kernel->row (reduce_load (self, first + i, piece, buffer), lanes, piece);
    }
}

static void
reduce_accumulate_exp_row (const Reduce *self,
                           gsize         first,
                           Cell         *lanes)
{
  for (gsize i = 0; i < self->plan.row; i++)
    lanes[i % VN_REDUCE_LANES].d += exp (vn_tensor_get_double (self->in, first + i) - self->shift);
}

typedef void (*RowFunc) (const Reduce *self,
                         gsize         first,
                         Cell         *lanes);

/* One result from rows of the last dim. */
static Cell
reduce_rows (const Reduce *self,
             gsize         base,
             RowFunc       func)
{
  const VnReducePlan *plan = &self->plan;
  gint64 index[VN_MAX_RANK] = { 0 };
  gsize offset = base;
  Cell lanes[VN_REDUCE_LANES];

  for (guint i = 0; i < VN_REDUCE_LANES; i++)
    lanes[i] = reduce_initial (self);
  do
    func (self, offset, lanes);
  while (reduce_step (plan->n_reduced, plan->reduced, plan->reduced_stride, index, &offset));
  return reduce_combine (self, lanes);
}

/* Results @first .. along the last dim, which is kept. */
static void
reduce_columns (const Reduce *self,
                gsize         base,
                gsize         result)
{
  const VnReducePlan *plan = &self->plan;

  for (gsize first = 0; first < plan->row; first += VN_REDUCE_PIECE)
    {
      gsize n = MIN (plan->row - first, (gsize) VN_REDUCE_PIECE), offset = base + first;
      gint64 index[VN_MAX_RANK] = { 0 };
      Cell results[VN_REDUCE_PIECE], buffer[VN_REDUCE_PIECE];

      for (gsize i = 0; i < n; i++)
        results[i] = reduce_initial (self);
      do
        self->kernel->rows (reduce_load (self, offset, n, buffer), results, n);
      while (reduce_step (plan->n_reduced, plan->reduced, plan->reduced_stride, index, &offset));
      for (gsize i = 0; i < n; i++)
        reduce_finish_and_store (self, result + first + i, results[i]);
    }
}

/* log (sum (exp (x))) = m + log (sum (exp (x - m))), m the maximum: nothing overflows. */
static Cell
reduce_log_sum_exp (Reduce *self,
                    gsize   base)
{
  static const Reduction maximum = { "", VN_REDUCE_MAX, FINISH_NONE, 0 };
  const Reduction *reduction = self->reduction;
  const VnReduceKernel *kernel = self->kernel;
  Cell max;

  self->reduction = &maximum;
  self->kernel = self->in->dtype == VN_DTYPE_F32 ? vn_reduce_kernel_f32 (VN_REDUCE_MAX)
                                                 : vn_reduce_kernel_f64 (VN_REDUCE_MAX);
  max = reduce_rows (self, base, reduce_accumulate_row);
  self->reduction = reduction;
  self->kernel = kernel;
  self->shift = isfinite (max.d) ? max.d : 0.;
  return (Cell) { .d = self->shift + log (reduce_rows (self, base, reduce_accumulate_exp_row).d) };
}

/* As a plan whose rows are single elements: the exponentials cost more than the walk. */
static void
reduce_single_rows (VnReducePlan *plan)
{
  if (plan->row_reduced)
    return;
  for (int d = plan->n_kept; d > 0; d--)
    {
      plan->kept[d] = plan->kept[d - 1];
      plan->kept_stride[d] = plan->kept_stride[d - 1];
    }
  plan->kept[0] = (gint64) plan->row;
  plan->kept_stride[0] = 1;
  plan->n_kept++;
  plan->row = 1;
  plan->row_reduced = TRUE;
}

static void
reduce_all (Reduce *self)
{
  const VnReducePlan *plan = &self->plan;
  gint64 index[VN_MAX_RANK + 1] = { 0 };
  gsize base = 0, result = 0;

  if (self->reduction->finish == FINISH_LOG_SUM_EXP)
    reduce_single_rows (&self->plan);
  do
    {
      if (self->reduction->finish == FINISH_LOG_SUM_EXP)
        reduce_finish_and_store (self, result++, reduce_log_sum_exp (self, base));
      else if (plan->row_reduced)
        reduce_finish_and_store (self, result++, reduce_rows (self, base, reduce_accumulate_row));
      else
        {
          reduce_columns (self, base, result);
          result += plan->row;
        }
    }
  while (reduce_step (plan->n_kept, plan->kept, plan->kept_stride, index, &base));
}

static gboolean
reduce_infer (VnOpContext *ctx,
              GError     **error)
{
  const Reduction *reduction = reduce_find_reduction (ctx->op);
  const VnShape *input = &ctx->in_types[0].shape;
  gboolean keep = vn_node_get_int (ctx->node, "keepdims", 1) != 0, known;
  VnShape out = VN_SHAPE_UNKNOWN;
  guint mask;

  if (!vn_reduce_resolve (ctx, ctx->opset >= reduction->axes_input_since, &mask, &known, error))
    return FALSE;
  if (known)
    vn_reduce_shape (input, mask, keep, &out);
  else if (keep && input->rank >= 0)
    {
      out.rank = input->rank;
      for (int d = 0; d < out.rank; d++)
        out.dims[d] = VN_DIM_UNKNOWN;
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static gboolean
reduce_run (VnOpContext *ctx,
            GError     **error)
{
  const VnTensor *in = ctx->in[0];
  Reduce self = { .reduction = reduce_find_reduction (ctx->op), .in = in, .out = ctx->out[0] };
  gboolean known;
  guint mask;

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  if (!vn_reduce_resolve (ctx, ctx->opset >= self.reduction->axes_input_since, &mask, &known, error))
    return FALSE;
  /* Exponentials of integers are floats. */
  self.integer = !vn_dtype_is_float (in->dtype) && self.reduction->finish != FINISH_LOG_SUM_EXP;
  self.direct = in->dtype == VN_DTYPE_F32 || in->dtype == VN_DTYPE_F64 ||
                (self.integer && (in->dtype == VN_DTYPE_S64 || in->dtype == VN_DTYPE_U64));
  self.kernel = in->dtype == VN_DTYPE_F32 ? vn_reduce_kernel_f32 (self.reduction->kind)
                                          : reduce_integer_or_double (&self, self.reduction->kind);
  if (self.out->n_elements == 0)
    return TRUE;
  vn_reduce_plan_init (&self.plan, &in->shape, mask);
  if (in->n_elements > 0)
    reduce_all (&self);
  else
    for (gsize i = 0; i < self.out->n_elements; i++)
      reduce_finish_and_store (&self, i, self.reduction->finish == FINISH_LOG_SUM_EXP ? (Cell) { .d = -HUGE_VAL }
                                                                                     : reduce_initial (&self));
  return TRUE;
}

#define SUM_BITS (VN_FLOAT_BITS | VN_INTEGER_BITS)

#define REDUCE(variable, name, types)                                           \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 1,                                     \
    .min_inputs = 1, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,       \
    .others = { [1] = VN_LENGTH_BITS },                                         \
    .dtypes = types,                                                            \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),                         \
    .infer = reduce_infer,                                                      \
    .run = reduce_run,                                                          \
  };

REDUCE (vn_op_reduce_sum_1, "ReduceSum", SUM_BITS)
REDUCE (vn_op_reduce_mean_1, "ReduceMean", SUM_BITS)
REDUCE (vn_op_reduce_max_1, "ReduceMax", SUM_BITS | VN_DTYPE_BIT (BOOL))
REDUCE (vn_op_reduce_min_1, "ReduceMin", SUM_BITS | VN_DTYPE_BIT (BOOL))
REDUCE (vn_op_reduce_prod_1, "ReduceProd", SUM_BITS)
REDUCE (vn_op_reduce_l1_1, "ReduceL1", SUM_BITS)
REDUCE (vn_op_reduce_l2_1, "ReduceL2", SUM_BITS)
REDUCE (vn_op_reduce_log_sum_1, "ReduceLogSum", SUM_BITS)
REDUCE (vn_op_reduce_log_sum_exp_1, "ReduceLogSumExp", SUM_BITS)
REDUCE (vn_op_reduce_sum_square_1, "ReduceSumSquare", SUM_BITS)
