/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Matrix products of 8-bit integers with exact 32-bit sums:
 *   MatMulInteger         int32 sums
 *   QLinearMatMul         sums * a_scale * b_scale / y_scale, rounded to 8 bits
 *   QGemm                 the same of alpha * (op (a) * op (b) + c), or float32 without y_scale
 *   MatMulIntegerToFloat  sums * a_scale * b_scale + bias
 *   DynamicQuantizeMatMul the same with a quantized to uint8 by its own range */
#include "vn-int.h"
#include "vn-product.h"

#include "vn-memory.h"

#define ROWS 64
#define COLUMNS 256

typedef enum { TO_INT32, TO_8_BITS, TO_FLOAT } Result;

/* Indices of the inputs; -1 where the operator has none. */
typedef struct
{
  int      a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, sum_bias, float_bias;
  gboolean dynamic;      /* a is float32 */
} Inputs;

static const Inputs integer = { 0, -1, 2, 1, -1, 3, -1, -1, -1, -1, FALSE };
static const Inputs qlinear = { 0, 1, 2, 3, 4, 5, 6, 7, -1, -1, FALSE };
static const Inputs qgemm = { 0, 1, 2, 3, 4, 5, 7, 8, 6, -1, FALSE };
static const Inputs to_float = { 0, 2, 4, 1, 3, 5, -1, -1, -1, 6, FALSE };
static const Inputs dynamic = { 0, -1, -1, 1, 2, 3, -1, -1, -1, 4, TRUE };

static const Inputs *
qlinear_matmul_inputs_of (const VnOp *op)
{
  static const struct { const char *type; const Inputs *inputs; } table[] = {
    { "MatMulInteger", &integer }, { "QLinearMatMul", &qlinear }, { "QGemm", &qgemm },
    { "MatMulIntegerToFloat", &to_float }, { "DynamicQuantizeMatMul", &dynamic },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    if (g_str_equal (op->type, table[i].type))
      return table[i].inputs;
  g_assert_not_reached ();
}

static VnShape
qlinear_matmul_turned (const VnOpContext *ctx,
                       const VnShape     *shape,
                       const char        *attribute)
{
  VnShape out = *shape;

  if (shape->rank == 2 && vn_node_get_int (ctx->node, attribute, 0) != 0)
    out = VN_SHAPE (shape->dims[1], shape->dims[0]);
  return out;
}

static Result
qlinear_matmul_result_of (const VnOpContext *ctx,
                          const Inputs      *in)
{
  if (in == &integer)
    return TO_INT32;
  return in->y_scale >= 0 && vn_op_has_input (ctx, (guint) in->y_scale) ? TO_8_BITS : TO_FLOAT;
}

static VnDType
qlinear_matmul_result_dtype (const VnOpContext *ctx,
                             const Inputs      *in)
{
  VnDType scale = in->b_scale >= 0 && vn_op_has_input (ctx, (guint) in->b_scale) ? ctx->in_types[in->b_scale].dtype
                                                                                  : VN_DTYPE_UNDEFINED;

  switch (qlinear_matmul_result_of (ctx, in))
    {
    case TO_INT32: return VN_DTYPE_S32;
    case TO_FLOAT: return scale == VN_DTYPE_F16 || scale == VN_DTYPE_BF16 ? scale : VN_DTYPE_F32;
    case TO_8_BITS:
    default: return vn_op_has_input (ctx, (guint) in->y_zero) ? ctx->in_types[in->y_zero].dtype : ctx->in_types[in->a].dtype;
    }
}

/* Memory: rows of a and sums for each worker, all of b, and a if it is quantized here. */
typedef struct
{
  gsize step, rows, sums, b, a;
} Sizes;

static gboolean
qlinear_matmul_sizes_init (Sizes           *self,
                           const VnProduct *product,
                           gboolean         quantize_a,
                           gsize           *total)
{
  gsize n_matrices = (gsize) vn_shape_count (&product->b, 0, product->b.rank - 2), workers = vn_op_max_workers (), one;

  self->step = vn_int_step ((gsize) product->k);
  self->sums = ROWS * COLUMNS * sizeof (gint32);
  self->a = quantize_a ? (gsize) vn_shape_count (&product->a, 0, product->a.rank) : 0;
  return vn_checked_mul (self->step, ROWS * sizeof (gint16), &self->rows) &&
         vn_checked_mul (self->step * sizeof (gint16), (gsize) product->n, &self->b) &&
         vn_checked_mul (self->b, n_matrices, &self->b) && vn_checked_add (self->rows, self->sums, &one) &&
         vn_checked_mul (one, workers, total) && vn_checked_add (*total, self->b, total) &&
         vn_checked_add (*total, self->a, total);
}

static gboolean
qlinear_matmul_product_infer (VnOpContext *ctx,
                              GError     **error)
{
  const Inputs *in = qlinear_matmul_inputs_of (ctx->op);
  VnShape a = qlinear_matmul_turned (ctx, &ctx->in_types[in->a].shape, "transA");
  VnShape b = qlinear_matmul_turned (ctx, &ctx->in_types[in->b].shape, "transB"), y = VN_SHAPE_UNKNOWN;
  VnProduct product;
  Sizes sizes;

  if (a.rank >= 0 && b.rank >= 0)
    {
      if (in == &qgemm && (a.rank != 2 || b.rank != 2))
        return vn_op_fail (ctx, error, _("the matrices have rank %d and %d, expected 2"), a.rank, b.rank);
      if (!vn_product_init (&product, ctx, &a, &b, error))
        return FALSE;
      vn_product_shape (&product, &y);
      if (vn_shape_is_static (&a) && vn_shape_is_static (&b) &&
          !qlinear_matmul_sizes_init (&sizes, &product, in->dynamic, &ctx->scratch_bytes))
        return vn_op_fail (ctx, error, _("the product is too large for this machine"));
    }
  vn_op_set_output (ctx, 0, qlinear_matmul_result_dtype (ctx, in), &y);
  return TRUE;
}

/* Scales and zero points of an operand: one, one per row or column of its matrices, or one for each of all matrices. */
typedef struct
{
  VnIntParams params;
  gsize       matrix_step_scale, matrix_step_zero;
} Operand;

static gboolean
qlinear_matmul_operand_init (Operand      *self,
                             VnOpContext  *ctx,
                             int           scale_input,
                             int           zero_input,
                             gsize         lines,
                             gsize         n_matrices,
                             GError      **error)
{
  const VnTensor *scale = scale_input >= 0 && vn_op_has_input (ctx, (guint) scale_input) ? ctx->in[scale_input] : NULL;
  const VnTensor *zero = zero_input >= 0 && vn_op_has_input (ctx, (guint) zero_input) ? ctx->in[zero_input] : NULL;
  gsize all = lines * n_matrices;
  VnIntParams zeros;

  self->matrix_step_scale = scale != NULL && n_matrices > 1 && scale->n_elements == all ? lines : 0;
  self->matrix_step_zero = zero != NULL && n_matrices > 1 && zero->n_elements == all ? lines : 0;
  if (!vn_int_params (ctx, scale_input, -1, self->matrix_step_scale > 0 ? all : lines, &self->params, error) ||
      !vn_int_params (ctx, -1, zero_input, self->matrix_step_zero > 0 ? all : lines, &zeros, error))
    return FALSE;
  self->params.zeros = zeros.zeros;
  self->params.zero_step = zeros.zero_step;
  return TRUE;
}

static float
qlinear_matmul_operand_scale (const Operand *self,
                              gsize          matrix,
                              gsize          line)
{
  const VnIntParams *params = &self->params;

  return params->scales == NULL ? 1.f : params->scales[matrix * self->matrix_step_scale + line * params->scale_step];
}

static gint32
qlinear_matmul_operand_zero (const Operand *self,
                             gsize          matrix,
                             gsize          line)
{
  return vn_int_zero (self->params.zeros, matrix * self->matrix_step_zero + line * self->params.zero_step);
}

/* Columns of all matrices of b as rows. */
static void
qlinear_matmul_load_b (const VnTensor *b,
                       const VnShape  *shape,
                       gboolean        transposed,
                       const Operand  *operand,
                       gint16         *to)
{
  gsize n = (gsize) shape->dims[shape->rank - 1], k = (gsize) shape->dims[shape->rank - 2], step = vn_int_step (k);
  gsize n_matrices = (gsize) vn_shape_count (shape, 0, shape->rank - 2);

  for (gsize i = 0; i < n_matrices; i++)
    for (gsize j = 0; j < n; j++)
      vn_int_load_row (b->dtype, b->data, i * n * k + (transposed ? j * k : j), transposed ? 1 : n, k,
                       qlinear_matmul_operand_zero (operand, i, j), to + (i * n + j) * step);
}

static gboolean
qlinear_matmul_product_prepare (VnOpContext *ctx,
                                gpointer    *prepared,
                                GError     **error)
{
  const Inputs *in = qlinear_matmul_inputs_of (ctx->op);
  const VnTensor *b = ctx->in[in->b];
  gboolean has_zero = vn_op_has_input (ctx, (guint) in->b_zero);
  gboolean transposed = vn_node_get_int (ctx->node, "transB", 0) != 0;
  Operand operand;
  VnShape shape;

  *prepared = NULL;
  if (b == NULL || b->n_elements == 0 || b->shape.rank != 2 || (VN_INT_BITS >> b->dtype & 1) == 0 ||
      (has_zero && ctx->in[in->b_zero] == NULL))
    return TRUE;
  shape = qlinear_matmul_turned (ctx, &b->shape, "transB");
  if (!qlinear_matmul_operand_init (&operand, ctx, -1, in->b_zero, (gsize) shape.dims[1], 1, error))
    return FALSE;
  *prepared = vn_memory_alloc ((gsize) shape.dims[1], vn_int_step ((gsize) shape.dims[0]) * sizeof (gint16), error);
  if (*prepared == NULL)
    return FALSE;
  qlinear_matmul_load_b (b, &shape, transposed, &operand, *prepared);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  const Inputs      *in;
  Result             result;
  VnProduct          product;
  gboolean           trans_a;
  VnDType            a_dtype;
  gconstpointer      a_data;
  Operand            a, b;
  const gint16      *b_rows;
  gsize              step, row_tiles, column_tiles;
  gint16            *rows;       /* scratch per worker */
  gint32            *sums;
  float              alpha, dynamic_scale, y_scale;
  guint8             dynamic_zero;
  gint32             y_zero;
  const gint32      *c;          /* added to the sums, with distances to the next row and column */
  gsize              c_row, c_column;
  const float       *bias;       /* one per column */
  gsize              bias_step;
} Job;

typedef struct
{
  gsize a_matrix, b_matrix, row, n_rows, column, n_columns, out;
} Tile;

static void
qlinear_matmul_load_a (const Job   *self,
                       const Tile  *tile,
                       gint16      *to)
{
  gsize k = (gsize) self->product.k, m = (gsize) self->product.m;

  for (gsize i = 0; i < tile->n_rows; i++)
    {
      gsize row = tile->row + i, first = tile->a_matrix * m * k;
      gint32 zero = self->in->dynamic ? self->dynamic_zero : qlinear_matmul_operand_zero (&self->a, tile->a_matrix, row);

      vn_int_load_row (self->a_dtype, self->a_data, first + (self->trans_a ? row : row * k), self->trans_a ? m : 1, k,
                       zero, to + i * self->step);
    }
}

static void
qlinear_matmul_store_row (const Job   *self,
                          const Tile  *tile,
                          gsize        i,
                          gint32      *sums)
{
  VnTensor *y = self->ctx->out[0];
  gsize out = tile->out + (tile->row + i) * (gsize) self->product.n + tile->column;
  float scales[COLUMNS], a = self->in->dynamic ? self->dynamic_scale : qlinear_matmul_operand_scale (&self->a, tile->a_matrix,
                                                                                                     tile->row + i);

  for (gsize j = 0; self->c != NULL && j < tile->n_columns; j++)
    sums[j] = (gint32) ((guint32) sums[j] + (guint32) self->c[(tile->row + i) * self->c_row +
                                                              (tile->column + j) * self->c_column]);
  for (gsize j = 0; j < tile->n_columns; j++)
    scales[j] = self->alpha * a * qlinear_matmul_operand_scale (&self->b, tile->b_matrix, tile->column + j);
  if (self->result == TO_8_BITS)
    {
      for (gsize j = 0; j < tile->n_columns; j++)
        scales[j] /= self->y_scale;
      vn_int_requantize (sums, tile->n_columns, scales, 1, 0, self->y_zero, y->dtype, (guint8 *) y->data + out);
      return;
    }
  for (gsize j = 0; j < tile->n_columns; j++)
    ((float *) y->data)[out + j] = (float) sums[j] * scales[j] +
                                   (self->bias != NULL ? self->bias[(tile->column + j) * self->bias_step] : 0.f);
}

static void
qlinear_matmul_multiply_tile (gpointer data,
                              gsize    item,
                              guint    worker)
{
  const Job *self = data;
  const VnProduct *product = &self->product;
  gsize m = (gsize) product->m, n = (gsize) product->n, k = (gsize) product->k, batch;
  Tile tile = { .column = item % self->column_tiles * COLUMNS,
                .row = item / self->column_tiles % self->row_tiles * ROWS };
  gint16 *rows = self->rows + worker * ROWS * self->step;
  gint32 *sums = self->sums + worker * ROWS * COLUMNS;
  gsize pitch = COLUMNS;

  batch = item / self->column_tiles / self->row_tiles;
  tile.a_matrix = vn_product_offset (&product->a, &product->batch, batch) / MAX (1, m * k);
  tile.b_matrix = vn_product_offset (&product->b, &product->batch, batch) / MAX (1, n * k);
  tile.n_rows = MIN (ROWS, m - tile.row);
  tile.n_columns = MIN (COLUMNS, n - tile.column);
  tile.out = batch * m * n;
  if (self->result == TO_INT32)
    {
      sums = (gint32 *) self->ctx->out[0]->data + tile.out + tile.row * n + tile.column;
      pitch = n;
    }
  qlinear_matmul_load_a (self, &tile, rows);
  vn_int_product (rows, tile.n_rows, self->b_rows + (tile.b_matrix * n + tile.column) * self->step, tile.n_columns,
                  self->step, sums, pitch);
  for (gsize i = 0; self->result != TO_INT32 && i < tile.n_rows; i++)
    qlinear_matmul_store_row (self, &tile, i, sums + i * pitch);
}

static gboolean
qlinear_matmul_read_bias (Job          *self,
                          VnOpContext  *ctx,
                          GError      **error)
{
  const VnTensor *c = self->in->sum_bias >= 0 && vn_op_has_input (ctx, (guint) self->in->sum_bias)
                      ? ctx->in[self->in->sum_bias] : NULL;
  const VnTensor *bias = self->in->float_bias >= 0 && vn_op_has_input (ctx, (guint) self->in->float_bias)
                         ? ctx->in[self->in->float_bias] : NULL;
  gsize n = (gsize) self->product.n;
  VnShape y = VN_SHAPE (self->product.m, self->product.n), both;

  if (bias != NULL && (bias->dtype != VN_DTYPE_F32 || (bias->n_elements != n && bias->n_elements != 1)))
    return vn_op_fail (ctx, error, _("the bias must be one float32 for each of %zu columns"), n);
  if (c != NULL && (c->dtype != VN_DTYPE_S32 || !vn_shape_broadcast (&c->shape, &y, &both) || !vn_shape_equal (&both, &y)))
    return vn_op_fail (ctx, error, _("input C must be int32 and fit the shape of the product"));
  if (bias != NULL)
    {
      self->bias = bias->data;
      self->bias_step = bias->n_elements > 1 ? 1 : 0;
    }
  if (c != NULL)
    {
      gint64 columns = c->shape.rank > 0 ? c->shape.dims[c->shape.rank - 1] : 1;

      self->c = c->data;
      self->c_column = columns > 1 ? 1 : 0;
      self->c_row = c->shape.rank > 1 && c->shape.dims[0] > 1 ? (gsize) columns : 0;
    }
  return TRUE;
}

static gboolean
qlinear_matmul_read_params (Job          *self,
                            VnOpContext  *ctx,
                            GError      **error)
{
  const Inputs *in = self->in;
  const VnProduct *product = &self->product;
  VnIntParams y;

  if ((VN_INT_BITS >> ctx->in[in->b]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, (guint) in->b, error);
  if (!qlinear_matmul_operand_init (&self->a, ctx, in->a_scale, in->a_zero, (gsize) product->m,
                                    (gsize) vn_shape_count (&product->a, 0, product->a.rank - 2), error) ||
      !qlinear_matmul_operand_init (&self->b, ctx, in->b_scale, in->b_zero, (gsize) product->n,
                                    (gsize) vn_shape_count (&product->b, 0, product->b.rank - 2), error) ||
      !vn_int_params (ctx, in->y_scale, in->y_zero, 1, &y, error))
    return FALSE;
  self->alpha = in == &qgemm ? vn_node_get_float (ctx->node, "alpha", 1.f) : 1.f;
  self->y_scale = y.scales != NULL ? *y.scales : 1.f;
  self->y_zero = vn_int_zero (y.zeros, 0);
  return qlinear_matmul_read_bias (self, ctx, error);
}

static void
qlinear_matmul_set_operands (Job         *self,
                             VnOpContext *ctx,
                             const Sizes *sizes)
{
  guint8 *scratch = ctx->scratch;
  gsize workers = vn_op_max_workers ();

  self->step = sizes->step;
  self->rows = (gint16 *) scratch;
  self->sums = (gint32 *) (scratch + sizes->rows * workers);
  scratch += (sizes->rows + sizes->sums) * workers;
  self->b_rows = ctx->prepared;
  if (self->b_rows == NULL)
    {
      qlinear_matmul_load_b (ctx->in[self->in->b], &self->product.b, vn_node_get_int (ctx->node, "transB", 0) != 0, &self->b,
                             (gint16 *) scratch);
      self->b_rows = (gint16 *) scratch;
    }
  self->a_dtype = ctx->in[self->in->a]->dtype;
  self->a_data = ctx->in[self->in->a]->data;
  if (self->in->dynamic)
    {
      vn_int_quantize_dynamic (self->a_data, ctx->in[self->in->a]->n_elements, scratch + sizes->b, &self->dynamic_scale,
                               &self->dynamic_zero);
      self->a_dtype = VN_DTYPE_U8;
      self->a_data = scratch + sizes->b;
    }
}

static gboolean
qlinear_matmul_product_run (VnOpContext *ctx,
                            GError     **error)
{
  Job self = { .ctx = ctx, .in = qlinear_matmul_inputs_of (ctx->op) };
  VnShape a = qlinear_matmul_turned (ctx, &ctx->in[self.in->a]->shape, "transA"),
  b = qlinear_matmul_turned (ctx, &ctx->in[self.in->b]->shape, "transB");
  Sizes sizes;
  gsize total, n_batches;

  self.result = qlinear_matmul_result_of (ctx, self.in);
  self.trans_a = a.rank == 2 && vn_node_get_int (ctx->node, "transA", 0) != 0;
  if (!vn_product_init (&self.product, ctx, &a, &b, error) || !qlinear_matmul_read_params (&self, ctx, error))
    return FALSE;
  if (!qlinear_matmul_sizes_init (&sizes, &self.product, self.in->dynamic, &total))
    return vn_op_fail (ctx, error, _("the product is too large for this machine"));
  qlinear_matmul_set_operands (&self, ctx, &sizes);
  self.row_tiles = ((gsize) self.product.m + ROWS - 1) / ROWS;
  self.column_tiles = ((gsize) self.product.n + COLUMNS - 1) / COLUMNS;
  n_batches = (gsize) vn_shape_count (&self.product.batch, 0, self.product.batch.rank);
  vn_op_for_items (ctx, n_batches * self.row_tiles * self.column_tiles,
                   (double) MIN (ROWS, self.product.m) * COLUMNS * (double) sizes.step / 8, qlinear_matmul_multiply_tile, &self);
  return TRUE;
}

#define OPERATOR(id, space, name, first, least, most, types, ...)                \
  const VnOp vn_op_##id = {                                                      \
    .domain = space, .type = name, .since = first,                               \
    .min_inputs = least, .max_inputs = most, .min_outputs = 1, .max_outputs = 1, \
    .dtypes = types,                                                             \
    .others = { __VA_ARGS__ },                                                   \
    .stand_ins = VN_STAND_IN_HALVES,   /* of scales */                           \
    .family = VN_FAMILY_COMPUTE,                                                 \
    .infer = qlinear_matmul_product_infer,                                       \
    .run = qlinear_matmul_product_run,                                           \
    .prepare = qlinear_matmul_product_prepare,                                   \
    .release = g_free,                                                           \
  };

#define SCALES (VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16))

OPERATOR (matmul_integer_10, "", "MatMulInteger", 10, 2, 4, VN_INT_BITS, [1] = VN_INT_BITS, [2] = VN_INT_BITS,
          [3] = VN_INT_BITS)
OPERATOR (ms_dynamic_quantize_matmul, "com.microsoft", "DynamicQuantizeMatMul", 1, 3, 5, VN_DTYPE_BIT (F32),
          [1] = VN_INT_BITS, [2] = SCALES, [3] = VN_INT_BITS, [4] = SCALES)
OPERATOR (ms_matmul_integer_to_float, "com.microsoft", "MatMulIntegerToFloat", 1, 4, 7, VN_INT_BITS,
          [1] = VN_INT_BITS, [2] = SCALES, [3] = SCALES, [4] = VN_INT_BITS, [5] = VN_INT_BITS, [6] = SCALES)
OPERATOR (ms_qgemm, "com.microsoft", "QGemm", 1, 6, 9, VN_INT_BITS, [1] = SCALES, [2] = VN_INT_BITS,
          [3] = VN_INT_BITS, [4] = SCALES, [5] = VN_INT_BITS, [6] = VN_DTYPE_BIT (S32), [7] = SCALES, [8] = VN_INT_BITS)
OPERATOR (qlinear_matmul_10, "", "QLinearMatMul", 10, 8, 8, VN_INT_BITS, [1] = SCALES, [2] = VN_INT_BITS,
          [3] = VN_INT_BITS, [4] = SCALES, [5] = VN_INT_BITS, [6] = SCALES, [7] = VN_INT_BITS)
