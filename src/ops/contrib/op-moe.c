/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MoE and QMoE of ONNX Runtime: each token goes to k experts; of each y = FC2 (activation (FC1 (x))), weighted. Weights are
 * experts x rows x columns; of QMoE packed along the columns, in blocks or with one scale a row.
 *
 * ONNX Runtime 1.32 rounds what a product of QMoE multiplies by to integers of 8 bits in blocks (vn-nbits.c) if all but the
 * tokens is constant, the columns are whole blocks of 16 to 256, and bits are 8, or 4 with accuracy_level 4. With 2 bits in
 * blocks it looks products up in tables, which is not done here. FC3 and swiglu_fusion 2 are as documented; its processor
 * provider does not run them.
 *
 * Beside y there may be what the first and the second product read, for calibration: VN_MOE_READ_COLUMNS. */
#include "vn-elem.h"
#include "vn-gemm-general.h"
#include "vn-moe.h"
#include "vn-nbits.h"

enum { X, ROUTER };
enum { Y, FIRST_READ, SECOND_READ };

#define INTEGER_LEVEL 4
#define MAX_ROUNDED_BLOCK 256

/* Rows of weights multiplied in one go. */
#define TILE 64

/* Global scales and scales of activations, which the other formats of QMoE have. */
#define FIRST_FOREIGN_INPUT 15

/* One product of all experts. */
typedef struct
{
  gboolean     present, packed, rounds;
  VnNbits      matrix;         /* of the first expert; not packed: sizes alone */
  gsize        zero_stride;
} Product;

typedef struct
{
  const VnOpContext *ctx;
  VnMoe              moe;
  Product            products[VN_MOE_N_PRODUCTS];
  float             *line, *weights, *shares, *in, *hidden, *middle, *out, *steps;
  gint32            *chosen, *tokens;
  gint16            *rounded;
  gpointer           unpacked;
  gsize              n_told;      /* tokens of the experts that have run */
} Job;

/* ---- sizes ---- */

static const VnShape *
moe_get_shape (const VnOpContext *ctx,
               guint              input)
{
  return &ctx->in_types[input].shape;
}

static guint
moe_get_bits (const VnNode *node,
              VnMoeProduct  product)
{
  static const char * const names[] = { "fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits" };
  gint64 bits = vn_node_get_int (node, names[product], vn_node_get_int (node, "expert_weight_bits", 4));

  return bits == 2 || bits == 4 || bits == 8 ? (guint) bits : 0;
}

/* As it is, or as an older version of ONNX Runtime wrote it: with the same order of elements. */
static gboolean
moe_has_weight_shape (const Job     *self,
                      const Product *product,
                      const VnShape *shape)
{
  const gint64 experts = (gint64) self->moe.n_experts;
  const gint64 rows = (gint64) product->matrix.n, columns = (gint64) product->matrix.k;
  const gint64 per_byte = product->packed ? 8 / (gint64) product->matrix.bits : 1;

  return shape->rank == 3 && shape->dims[0] == experts &&
         ((shape->dims[1] == rows && shape->dims[2] == columns / per_byte) ||
          (shape->dims[1] == columns && shape->dims[2] == rows / per_byte && rows % per_byte == 0));
}

/* @each: elements of each expert */
static gboolean
moe_check_count (Job      *self,
                 guint     input,
                 gsize     each,
                 GError  **error)
{
  VnOpContext *ctx = (VnOpContext *) self->ctx;
  const VnShape *shape = moe_get_shape (ctx, input);
  const gint64 experts = (gint64) self->moe.n_experts;
  gsize n;

  if (vn_checked_mul (self->moe.n_experts, each, &n) &&
      (!vn_shape_is_static (shape) || (vn_shape_count (shape, 0, shape->rank) == (gint64) n && shape->rank > 0 &&
                                       shape->dims[0] == experts)))
    return TRUE;
  return vn_op_fail (ctx, error, _("input %u must have %zu elements for each of %zu experts"), input, each, self->moe.n_experts);
}

static gboolean
moe_set_blocks (Job       *self,
                Product   *product,
                guint      which,
                GError   **error)
{
  VnOpContext *ctx = (VnOpContext *) self->ctx;
  const VnMoeInputs *inputs = self->moe.inputs;
  gint64 block = vn_node_get_int (ctx->node, "block_size", 0);
  VnNbits *matrix = &product->matrix;

  matrix->bits = moe_get_bits (ctx->node, which);
  if (matrix->bits == 0 || (block > 0 && (block < 16 || block > G_MAXINT32 || (block & (block - 1)) != 0)))
    return vn_op_fail (ctx, error,
                       _("block_size is %lld: expected a power of two of at least 16, with weights of 2, 4 or 8 bits"),
                       (long long) block);
  if (matrix->k * matrix->bits % 8 != 0)
    return vn_op_fail (ctx, error, _("%zu numbers of %u bits do not fill bytes"), matrix->k, matrix->bits);
  matrix->block = block > 0 ? (gsize) block : matrix->k;
  matrix->n_blocks = (matrix->k + matrix->block - 1) / matrix->block;
  matrix->row_bytes = matrix->k * matrix->bits / 8;
  matrix->zero_bytes = block > 0 ? (matrix->n_blocks * matrix->bits + 7) / 8 : 0;
  product->zero_stride = block > 0 ? matrix->n * matrix->zero_bytes : (matrix->n * matrix->bits + 7) / 8;
  product->rounds = block > 0 && block <= MAX_ROUNDED_BLOCK && matrix->k % matrix->block == 0 &&
                    (matrix->bits == 8 ||
                     (matrix->bits == 4 && vn_node_get_int (ctx->node, "accuracy_level", 0) == INTEGER_LEVEL));
  if (!vn_op_has_input (ctx, inputs->scale[which]))
    return vn_op_fail (ctx, error, _("input %u, the scales of weights, is missing"), inputs->scale[which]);
  return moe_check_count (self, inputs->scale[which], matrix->n * matrix->n_blocks, error) &&
         (!vn_op_has_input (ctx, inputs->zero_point[which]) ||
          moe_check_count (self, inputs->zero_point[which], product->zero_stride, error));
}

static void
moe_keep_float_if_computed (const VnOpContext *ctx,
                            guint              input,
                            Product           *product)
{
  if (vn_op_has_input (ctx, input) && !vn_value_is_constant (vn_node_get_input (ctx->node, input)))
    product->rounds = FALSE;
}

static gboolean
moe_set_product (Job      *self,
                 guint     which,
                 GError  **error)
{
  VnOpContext *ctx = (VnOpContext *) self->ctx;
  const VnMoeInputs *inputs = self->moe.inputs;
  Product *product = &self->products[which];

  product->present = vn_op_has_input (ctx, inputs->weight[which]);
  if (!product->present)
    return which == VN_MOE_FC3 || vn_op_fail (ctx, error, _("input %u, the weights of a product, is missing"),
                                              inputs->weight[which]);
  product->matrix.n = vn_moe_get_rows (&self->moe, which);
  product->matrix.k = vn_moe_get_columns (&self->moe, which);
  product->packed = inputs->scale[which] != VN_MOE_NO_INPUT;
  if (product->packed && !moe_set_blocks (self, product, which, error))
    return FALSE;
  if (!moe_has_weight_shape (self, product, moe_get_shape (ctx, inputs->weight[which])))
    {
      g_autofree char *found = vn_shape_to_string (moe_get_shape (ctx, inputs->weight[which]), "×");

      return vn_op_fail (ctx, error, _("input %u is %s: expected the weights of %zu experts with %zu rows of %zu numbers"),
                         inputs->weight[which], found, self->moe.n_experts, product->matrix.n, product->matrix.k);
    }
  moe_keep_float_if_computed (ctx, inputs->weight[which], product);
  moe_keep_float_if_computed (ctx, inputs->scale[which], product);
  moe_keep_float_if_computed (ctx, inputs->zero_point[which], product);
  return !vn_op_has_input (ctx, inputs->bias[which]) ||
         moe_check_count (self, inputs->bias[which], product->matrix.n, error);
}

/* Elements between the products: of what the second reads. */
static gboolean
moe_find_inter (Job      *self,
                GError  **error)
{
  const VnShape *weight = moe_get_shape (self->ctx, self->moe.inputs->weight[VN_MOE_FC2]);
  const gboolean packed = self->moe.inputs->scale[VN_MOE_FC2] != VN_MOE_NO_INPUT;
  const guint bits = packed ? moe_get_bits (self->ctx->node, VN_MOE_FC2) : 8;
  gint64 n = 0;

  if (weight->rank != 3 || bits == 0 ||
      !vn_checked_mul_s64 (vn_shape_count (weight, 1, 3), packed ? 8 / (gint64) bits : 1, &n))
    n = 0;
  return vn_moe_set_inter (&self->moe, n / (gint64) self->moe.hidden, error);
}

static gboolean
moe_init (Job          *self,
          VnOpContext  *ctx,
          GError      **error)
{
  *self = (Job) { .ctx = ctx };
  for (guint i = FIRST_FOREIGN_INPUT; i < ctx->n_inputs; i++)
    if (vn_op_has_input (ctx, i))
      return vn_op_fail (ctx, error, _("input %u is of a format of weights that is not supported"), i);
  if (!vn_op_attr_is (ctx, "quant_type", "int", "int") || vn_node_get_int (ctx->node, "weights_prepacked", 0) == 1)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: only weights of integers in rows are supported"), ctx->op->type);
      return FALSE;
    }
  if (!vn_moe_init (&self->moe, ctx->node, moe_get_shape (ctx, X), moe_get_shape (ctx, ROUTER), error) ||
      !moe_find_inter (self, error))
    return FALSE;
  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    if (!moe_set_product (self, i, error))
      return FALSE;
  if (!vn_op_has_input (ctx, self->moe.inputs->shares) ||
      vn_shape_equal (moe_get_shape (ctx, self->moe.inputs->shares), moe_get_shape (ctx, ROUTER)))
    return TRUE;
  return vn_op_fail (ctx, error, _("input %u must have the shape of the router's result"), self->moe.inputs->shares);
}

/* ---- scratch ---- */

/* @at: (inout): where the next piece of scratch begins, up to G_MAXSIZE. Returns: its place; without scratch, counts only */
static gpointer
moe_take (const Job *self,
          gsize      n,
          gsize      each,
          gsize      size,
          gsize     *at)
{
  gsize begin = *at, bytes;

  if (!vn_checked_mul (n, each, &bytes) || !vn_checked_mul (bytes, size, &bytes) || !vn_checked_add (bytes, 63, &bytes) ||
      !vn_checked_add (*at, bytes & ~(gsize) 63, at))
    *at = G_MAXSIZE;
  return self->ctx->scratch != NULL ? (char *) self->ctx->scratch + begin : NULL;
}

/* Returns: how much there is of it */
static gsize
moe_place (Job *self)
{
  const VnMoe *moe = &self->moe;
  gsize at = 0, unpacked = 0, steps = 0, rounded = 0;

  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    {
      const Product *product = &self->products[i];

      if (product->packed && product->present)
        unpacked = MAX (unpacked, vn_nbits_count_worker_bytes (&product->matrix));
      steps = MAX (steps, product->rounds ? product->matrix.n_blocks : 0);
      rounded = MAX (rounded, product->rounds ? product->matrix.k : 0);
    }
  self->line = moe_take (self, 1, moe->n_experts, sizeof (float), &at);
  self->chosen = moe_take (self, moe->n_tokens, moe->k, sizeof (gint32), &at);
  self->weights = moe_take (self, moe->n_tokens, moe->k, sizeof (float), &at);
  self->tokens = moe_take (self, moe->n_tokens, 1, sizeof (gint32), &at);
  self->shares = moe_take (self, moe->n_tokens, 1, sizeof (float), &at);
  self->in = moe_take (self, moe->n_tokens, moe->hidden, sizeof (float), &at);
  self->hidden = moe_take (self, moe->n_tokens, moe->columns, sizeof (float), &at);
  self->middle = moe_take (self, moe->n_tokens, moe->inter, sizeof (float), &at);
  self->out = moe_take (self, moe->n_tokens, moe->hidden, sizeof (float), &at);
  self->unpacked = moe_take (self, vn_op_max_workers (), unpacked, 1, &at);
  self->steps = moe_take (self, moe->n_tokens, steps, sizeof (float), &at);
  self->rounded = moe_take (self, moe->n_tokens, rounded, sizeof (gint16), &at);
  return at;
}

static gboolean
moe_is_known (const VnOpContext *ctx)
{
  const VnMoeInputs *inputs = vn_moe_find_inputs (ctx->node);

  if (!vn_shape_is_static (moe_get_shape (ctx, X)) || !vn_shape_is_static (moe_get_shape (ctx, ROUTER)))
    return FALSE;
  for (guint i = 0; i < VN_MOE_N_PRODUCTS; i++)
    if (vn_op_has_input (ctx, inputs->weight[i]) && !vn_shape_is_static (moe_get_shape (ctx, inputs->weight[i])))
      return FALSE;
  return TRUE;
}

/* @columns: of what the product reads */
static void
moe_set_read (VnOpContext *ctx,
              guint        output,
              const VnMoe *moe,
              gsize        columns)
{
  VnShape shape = VN_SHAPE (VN_DIM_UNKNOWN, VN_DIM_UNKNOWN);
  gint64 rows;

  if (moe != NULL && vn_checked_mul_s64 ((gint64) moe->n_tokens, (gint64) moe->k, &rows))
    shape = VN_SHAPE (rows, (gint64) columns + VN_MOE_READ_COLUMNS);
  if (output < ctx->n_outputs)
    vn_op_set_output (ctx, output, ctx->in_types[X].dtype, &shape);
}

static gboolean
moe_infer (VnOpContext *ctx,
           GError     **error)
{
  gboolean known = moe_is_known (ctx);
  Job self;

  if (known)
    {
      VnOpContext counted = *ctx;

      if (!moe_init (&self, ctx, error))
        return FALSE;
      counted.scratch = NULL;
      self.ctx = &counted;
      ctx->scratch_bytes = moe_place (&self);
      if (ctx->scratch_bytes > G_MAXSSIZE)
        return vn_op_fail (ctx, error, _("the product is too large for this machine"));
    }
  vn_op_set_output (ctx, Y, ctx->in_types[X].dtype, moe_get_shape (ctx, X));
  moe_set_read (ctx, FIRST_READ, known ? &self.moe : NULL, known ? self.moe.hidden : 0);
  moe_set_read (ctx, SECOND_READ, known ? &self.moe : NULL, known ? self.moe.inter : 0);
  return TRUE;
}

/* ---- running ---- */

typedef struct
{
  const float *a, *b, *bias;
  float       *y;
  gsize        m, n, k, ldy;
} FloatCall;

static void
moe_multiply_tile (gpointer data,
                   gsize    item,
                   guint    worker)
{
  const FloatCall *self = data;
  const gsize first = item * TILE, n = MIN (TILE, self->n - first);

  for (gsize i = 0; i < self->m; i++)
    for (gsize j = 0; j < n; j++)
      self->y[i * self->ldy + first + j] = self->bias != NULL ? self->bias[first + j] : 0.f;
  vn_gemm_general (FALSE, TRUE, self->m, n, self->k, 1.f, self->a, self->k, self->b + first * self->k, self->k, 1.f,
                   self->y + first, self->ldy);
}

static gconstpointer
moe_get_data (const VnOpContext *ctx,
              guint              input)
{
  return vn_op_has_input (ctx, input) ? ctx->in[input]->data : NULL;
}

static void
moe_multiply_packed (const Job     *self,
                     const Product *product,
                     guint          which,
                     gsize          expert,
                     FloatCall     *call)
{
  const VnMoeInputs *inputs = self->moe.inputs;
  VnNbitsCall packed = { .ctx = self->ctx, .matrix = product->matrix, .a = call->a, .bias = call->bias, .y = call->y,
                         .m = call->m, .ldy = call->ldy, .unpacked = self->unpacked,
                         .steps = product->rounds ? self->steps : NULL, .rounded = self->rounded };
  VnNbits *matrix = &packed.matrix;
  const guint8 *zeros = moe_get_data (self->ctx, inputs->zero_point[which]);

  matrix->packed = (const guint8 *) moe_get_data (self->ctx, inputs->weight[which]) + expert * matrix->n * matrix->row_bytes;
  matrix->scales = (const float *) moe_get_data (self->ctx, inputs->scale[which]) + expert * matrix->n * matrix->n_blocks;
  matrix->packed_zeros = zeros != NULL ? zeros + expert * product->zero_stride : NULL;
  vn_nbits_multiply (&packed);
}

static void
moe_multiply (const Job   *self,
              guint        which,
              gsize        expert,
              const float *a,
              gsize        m,
              float       *y,
              gsize        ldy)
{
  const Product *product = &self->products[which];
  const gsize n = product->matrix.n, k = product->matrix.k;
  const float *bias = moe_get_data (self->ctx, self->moe.inputs->bias[which]);
  FloatCall call = { a, NULL, bias != NULL ? bias + expert * n : NULL, y, m, n, k, ldy };

  if (product->packed)
    {
      moe_multiply_packed (self, product, which, expert, &call);
      return;
    }
  call.b = (const float *) moe_get_data (self->ctx, self->moe.inputs->weight[which]) + expert * n * k;
  vn_op_for_items (self->ctx, (n + TILE - 1) / TILE, (double) TILE * (double) k * (double) (m + 1), moe_multiply_tile, &call);
}

/* Returns: how many tokens go to it */
static gsize
moe_gather (Job   *self,
            gsize  expert)
{
  const VnMoe *moe = &self->moe;
  const float *x = self->ctx->in[X]->data;
  gsize n = 0;

  for (gsize i = 0; i < moe->n_tokens * moe->k; i++)
    if (self->chosen[i] == (gint32) expert)
      {
        self->tokens[n] = (gint32) (i / moe->k);
        self->shares[n] = self->weights[i];
        memcpy (self->in + n++ * moe->hidden, x + i / moe->k * moe->hidden, moe->hidden * sizeof (float));
      }
  return n;
}

/* Appends what a product of an expert has read. */
static void
moe_tell_read (const Job   *self,
               guint        output,
               gsize        expert,
               const float *from,
               gsize        columns,
               gsize        m)
{
  VnTensor *to = output < self->ctx->n_outputs ? self->ctx->out[output] : NULL;
  float *row = to != NULL ? (float *) to->data + self->n_told * (VN_MOE_READ_COLUMNS + columns) : NULL;

  for (gsize i = 0; to != NULL && i < m; i++, row += VN_MOE_READ_COLUMNS + columns)
    {
      row[0] = (float) expert;
      row[1] = self->shares[i];
      memcpy (row + VN_MOE_READ_COLUMNS, from + i * columns, columns * sizeof (float));
    }
}

/* Rows that no token goes on to. */
static void
moe_tell_rest (const Job *self,
               guint      output,
               gsize      columns)
{
  VnTensor *to = output < self->ctx->n_outputs ? self->ctx->out[output] : NULL;

  for (gsize i = self->n_told; to != NULL && i < self->moe.n_tokens * self->moe.k; i++)
    {
      float *row = (float *) to->data + i * (VN_MOE_READ_COLUMNS + columns);

      memset (row, 0, (VN_MOE_READ_COLUMNS + columns) * sizeof (float));
      row[0] = -1;
    }
}

static void
moe_run_expert (Job   *self,
                gsize  expert)
{
  const VnMoe *moe = &self->moe;
  const gsize m = moe_gather (self, expert);
  float *y = self->ctx->out[0]->data;

  if (m == 0)
    return;
  moe_multiply (self, VN_MOE_FC1, expert, self->in, m, self->hidden, moe->columns);
  if (moe->third)
    moe_multiply (self, VN_MOE_FC3, expert, self->in, m, self->hidden + moe->inter, moe->columns);
  vn_moe_activate (moe, self->hidden, self->middle, m);
  moe_multiply (self, VN_MOE_FC2, expert, self->middle, m, self->out, moe->hidden);
  moe_tell_read (self, FIRST_READ, expert, self->in, moe->hidden, m);
  moe_tell_read (self, SECOND_READ, expert, self->middle, moe->inter, m);
  self->n_told += m;
  for (gsize i = 0; i < m; i++)
    for (gsize j = 0; j < moe->hidden; j++)
      y[(gsize) self->tokens[i] * moe->hidden + j] += self->shares[i] * self->out[i * moe->hidden + j];
}

static gboolean
moe_run (VnOpContext *ctx,
         GError     **error)
{
  Job self;

  if (!moe_init (&self, ctx, error))
    return FALSE;
  memset (ctx->out[0]->data, 0, ctx->out[0]->n_bytes);
  if (self.moe.n_tokens == 0)
    return TRUE;
  if (self.moe.n_tokens > G_MAXINT32)
    return vn_op_fail (ctx, error, _("the product is too large for this machine"));
  moe_place (&self);
  vn_moe_route (&self.moe, ctx->in[ROUTER]->data, moe_get_data (ctx, self.moe.inputs->shares), self.line, self.chosen,
                self.weights);
  for (gsize i = 0; i < self.moe.n_experts; i++)
    moe_run_expert (&self, i);
  moe_tell_rest (&self, FIRST_READ, self.moe.hidden);
  moe_tell_rest (&self, SECOND_READ, self.moe.inter);
  return TRUE;
}

/* Scales of float16 beside tokens of float32 are taken. */
#define SCALES (VN_DTYPE_BIT (F32) | VN_HALF_BITS)
#define BYTES VN_DTYPE_BIT (U8)

const VnOp vn_op_ms_moe = {
  .domain = "com.microsoft", .type = "MoE", .since = 1,
  .min_inputs = 5, .max_inputs = 8, .min_outputs = 1, .max_outputs = 3,
  .optional = 1u << 3,
  .dtypes = VN_DTYPE_BIT (F32),
  .same_dtype = 0xfe,
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = moe_infer,
  .run = moe_run,
};

const VnOp vn_op_ms_qmoe = {
  .domain = "com.microsoft", .type = "QMoE", .since = 1,
  .min_inputs = 7, .max_inputs = 21, .min_outputs = 1, .max_outputs = 3,
  .optional = 1u << 3 | 1u << 4 | 1u << 6,
  .dtypes = VN_DTYPE_BIT (F32),
  .same_dtype = 1u << 1 | 1u << 4 | 1u << 7 | 1u << 10 | 1u << 14,
  .others = { [2] = BYTES, [3] = SCALES, [5] = BYTES, [6] = SCALES, [8] = BYTES, [9] = SCALES, [11] = BYTES, [12] = BYTES,
              [13] = BYTES },
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = moe_infer,
  .run = moe_run,
};
