/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attention of ONNX Runtime: q, k, v = x w + b; for each head softmax (q k' * scale + mask) v. Keys and values of
 * earlier steps may come before the new ones; together they are put out for the next step. QAttention is the same with
 * 8-bit data and weights, whose product is that of MatMulIntegerToFloat. */
#include "vn-gemm-general.h"
#include "vn-memory.h"
#include "vn-softmax.h"

#include <math.h>

enum { X, W, B };

/* Inputs that lie elsewhere in QAttention; NONE: it has no such. */
#define NONE G_MAXUINT

typedef struct
{
  guint mask, past, bias, past_length;
} Inputs;

enum { X_SCALE = 3, W_SCALE, X_ZERO = 6, W_ZERO };

typedef struct
{
  VnOpContext *ctx;
  Inputs       in;
  gsize        batch, length, width, heads, head;   /* head: numbers of one head */
  gsize        past, total;                         /* earlier keys; all keys */
  float       *present;                             /* nullable: all keys and values */
  float        scale, masked;
  gboolean     causal;
  float       *qkv, *scores;
} Attention;

static gboolean
attention_is_quantized (const VnOpContext *ctx)
{
  return *ctx->op->type == 'Q';
}

static Inputs
attention_inputs_of (const VnOpContext *ctx)
{
  return attention_is_quantized (ctx) ? (Inputs) { 5, 8, NONE, NONE } : (Inputs) { 3, 4, 5, 6 };
}

static gboolean
attention_refuse (GError     **error,
                  const char  *what)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Attention with %s is not supported"), what);
  return FALSE;
}

static gboolean
attention_check_supported (VnOpContext *ctx,
                           GError     **error)
{
  gsize n;
  const gint64 *sizes = vn_node_get_ints (ctx->node, "qkv_hidden_sizes", &n);

  for (gsize i = 1; sizes != NULL && i < n; i++)
    if (sizes[i] != sizes[0])
      return attention_refuse (error, _("different sizes of queries, keys and values"));
  if (vn_node_get_int (ctx->node, "do_rotary", 0) != 0)
    return attention_refuse (error, _("rotary embedding"));
  if (vn_node_get_int (ctx->node, "past_present_share_buffer", 0) != 0 ||
      vn_op_has_input (ctx, attention_inputs_of (ctx).past_length))
    return attention_refuse (error, _("a shared past-present buffer"));
  return TRUE;
}

static gboolean
attention_init (Attention           *self,
                VnOpContext         *ctx,
                const VnTensorType  *types,
                GError             **error)
{
  const VnShape *x = &types[X].shape, *w = &types[W].shape;
  gint64 heads = vn_node_get_int (ctx->node, "num_heads", 0);

  if (x->rank != 3 || w->rank != 2 || w->dims[0] != x->dims[2] || w->dims[1] % 3 != 0 || heads < 1 ||
      w->dims[1] / 3 % heads != 0)
    return vn_op_fail (ctx, error, _("the shapes of input and weight do not match %lld heads"), (long long) heads);
  self->ctx = ctx;
  self->in = attention_inputs_of (ctx);
  self->batch = (gsize) x->dims[0];
  self->length = (gsize) x->dims[1];
  self->width = (gsize) w->dims[1] / 3;
  self->heads = (gsize) heads;
  self->head = self->width / self->heads;
  self->past = 0;
  if (vn_op_has_input (ctx, self->in.past))
    {
      const VnShape *past = &types[self->in.past].shape;

      if (past->rank != 5 || past->dims[0] != 2 || past->dims[1] != x->dims[0] || past->dims[2] != heads ||
          past->dims[4] != (gint64) self->head)
        return vn_op_fail (ctx, error, _("the past keys do not match the input"));
      self->past = (gsize) past->dims[3];
    }
  self->total = self->past + self->length;
  self->causal = vn_node_get_int (ctx->node, "unidirectional", 0) != 0;
  self->masked = vn_node_get_float (ctx->node, "mask_filter_value", -10000.f);
  self->scale = vn_node_get_float (ctx->node, "scale", 0.f);
  if (self->scale == 0.f)
    self->scale = 1.f / sqrtf ((float) self->head);
  return TRUE;
}

/* Numbers of scratch: all of q, k, v, and the scores of one head for each worker. */
static gboolean
attention_count_scratch (const Attention *self,
                         gsize           *qkv,
                         gsize           *scores)
{
  return vn_checked_mul (self->batch * self->length, 3 * self->width, qkv) &&
         vn_checked_mul (self->length, self->total, scores);
}

/* A call of MatMulIntegerToFloat with the inputs of QAttention. */
typedef struct
{
  VnOpContext  ctx;
  VnTensor    *in[7], *out[1], *zeros[2];
  VnTensorType in_types[7], out_types[1];
} Product;

static void
attention_product_clear (Product *self)
{
  g_clear_pointer (&self->zeros[0], vn_tensor_unref);
  g_clear_pointer (&self->zeros[1], vn_tensor_unref);
}

/* Zero points that are left out; by the node, whose inputs have another order, it could not tell. */
static void
attention_add_zero (Product *self,
                    guint    operand)
{
  static guint8 zero = 0;

  self->zeros[operand] = vn_tensor_new_wrap (self->in_types[operand].dtype, &VN_SHAPE_SCALAR, &zero, NULL, NULL, NULL);
  self->in[4 + operand] = self->zeros[operand];
  self->in_types[4 + operand] = (VnTensorType) { self->in_types[operand].dtype, VN_SHAPE_SCALAR };
}

static void
attention_product_init (Product     *self,
                        VnOpContext *ctx)
{
  static const guint from[] = { X, W, X_SCALE, W_SCALE, X_ZERO, W_ZERO, B };

  *self = (Product) { .ctx = *ctx };
  self->ctx.op = &vn_op_ms_matmul_integer_to_float;
  self->ctx.n_inputs = G_N_ELEMENTS (from);
  self->ctx.n_outputs = 1;
  for (guint i = 0; i < G_N_ELEMENTS (from); i++)
    {
      gboolean has = vn_op_has_input (ctx, from[i]);

      self->in_types[i] = has ? ctx->in_types[from[i]] : (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN };
      self->in[i] = has && ctx->in != NULL ? ctx->in[from[i]] : NULL;
    }
  for (guint i = 0; i < 2; i++)
    if (!vn_op_has_input (ctx, X_ZERO + i))
      attention_add_zero (self, i);
  self->ctx.in = self->in;
  self->ctx.out = self->out;
  self->ctx.in_types = self->in_types;
  self->ctx.out_types = self->out_types;
}

/* What the product needs lies behind the rest. */
static gboolean
attention_add_product_scratch (VnOpContext *ctx,
                               GError     **error)
{
  Product product;
  gboolean ok;

  attention_product_init (&product, ctx);
  ok = product.ctx.op->infer (&product.ctx, error);
  attention_product_clear (&product);
  if (!ok)
    return FALSE;
  ctx->scratch_bytes = (ctx->scratch_bytes + 63) & ~(gsize) 63;
  return vn_checked_add (ctx->scratch_bytes, product.ctx.scratch_bytes, &ctx->scratch_bytes) ||
         vn_op_fail (ctx, error, _("the scores do not fit in memory"));
}

static gboolean
attention_infer (VnOpContext *ctx,
                 GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  VnShape y = *x, present = VN_SHAPE (2, -1, -1, -1, -1);
  Inputs in = attention_inputs_of (ctx);
  VnDType dtype = ctx->in_types[attention_is_quantized (ctx) ? B : X].dtype;
  Attention self;
  gsize qkv, scores;

  if ((!attention_is_quantized (ctx) && !vn_op_check_alike (ctx, 1u << W | 1u << B | 1u << in.past | 1u << in.bias, error)) ||
      !attention_check_supported (ctx, error))
    return FALSE;
  if (attention_is_quantized (ctx) && dtype != VN_DTYPE_UNDEFINED &&
      (((VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F16)) >> dtype & 1) == 0 ||
       (vn_op_has_input (ctx, in.past) && ctx->in_types[in.past].dtype != dtype)))
    return vn_op_fail (ctx, error, _("the bias and past keys must be float32 or float16"));
  if (y.rank == 3)
    y.dims[2] = w->rank == 2 && w->dims[1] >= 0 ? w->dims[1] / 3 : VN_DIM_UNKNOWN;
  if (!vn_shape_is_static (x) || !vn_shape_is_static (w) ||
      (vn_op_has_input (ctx, in.past) && !vn_shape_is_static (&ctx->in_types[in.past].shape)))
    {
      vn_op_set_output (ctx, 0, dtype, &y);
      vn_op_set_output (ctx, 1, dtype, &present);
      return TRUE;
    }
  if (!attention_init (&self, ctx, ctx->in_types, error))
    return FALSE;
  present = VN_SHAPE (2, (gint64) self.batch, (gint64) self.heads, (gint64) self.total, (gint64) self.head);
  vn_op_set_output (ctx, 0, dtype, &y);
  vn_op_set_output (ctx, 1, dtype, &present);
  if (!attention_count_scratch (&self, &qkv, &scores) || !vn_checked_mul (scores, vn_op_max_workers (), &scores) ||
      !vn_checked_add (qkv, scores, &qkv) || !vn_checked_mul (qkv, sizeof (float), &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the scores do not fit in memory"));
  return !attention_is_quantized (ctx) || attention_add_product_scratch (ctx, error);
}

/* Whether the mask lets key @k of sample @b be looked at from query @q. */
static gboolean
attention_is_visible (const Attention *self,
                      gsize            b,
                      gsize            q,
                      gsize            k)
{
  const VnTensor *mask = vn_op_has_input (self->ctx, self->in.mask) ? self->ctx->in[self->in.mask] : NULL;

  if (mask == NULL)
    return TRUE;
  if (mask->shape.rank == 3)
    return vn_tensor_get_s64 (mask, (b * self->length + q) * self->total + k) != 0;
  if (mask->shape.rank == 2)
    return vn_tensor_get_s64 (mask, b * self->total + k) != 0;
  return (gint64) k < vn_tensor_get_s64 (mask, b) &&
         (mask->n_elements < 2 * self->batch || (gint64) k >= vn_tensor_get_s64 (mask, self->batch + b));
}

static gboolean
attention_check_mask (const Attention *self,
                      GError         **error)
{
  const VnTensor *mask = vn_op_has_input (self->ctx, self->in.mask) ? self->ctx->in[self->in.mask] : NULL;
  gsize expected;

  if (mask == NULL)
    return TRUE;
  expected = mask->shape.rank == 3 ? self->batch * self->length * self->total
           : mask->shape.rank == 2 ? self->batch * self->total
           : mask->n_elements == 2 * self->batch ? 2 * self->batch : self->batch;
  if (mask->shape.rank < 1 || mask->shape.rank > 3 || mask->n_elements != expected)
    return attention_refuse (error, _("a mask of this shape"));
  return TRUE;
}

/* Keys or values of one head, earlier ones first; they lie in `present` if there is one. */
static const float *
attention_gather_head (const Attention *self,
                       gsize            which,     /* 1: keys, 2: values */
                       gsize            b,
                       gsize            h,
                       gsize           *pitch)
{
  const VnOpContext *ctx = self->ctx;
  const float *now = self->qkv + b * self->length * 3 * self->width + which * self->width + h * self->head;
  gsize plane = ((which - 1) * self->batch + b) * self->heads + h;
  float *to;

  *pitch = 3 * self->width;
  if (self->present == NULL)
    return now;
  to = self->present + plane * self->total * self->head;
  if (self->past > 0)
    memcpy (to, (const float *) ctx->in[self->in.past]->data + plane * self->past * self->head,
            self->past * self->head * sizeof (float));
  for (gsize i = 0; i < self->length; i++)
    memcpy (to + (self->past + i) * self->head, now + i * *pitch, self->head * sizeof (float));
  *pitch = self->head;
  return to;
}

static void
attention_add_bias (const Attention *self,
                    gsize            b,
                    gsize            h,
                    gsize            q,
                    float           *scores)
{
  const VnTensor *bias = self->ctx->in[self->in.bias];
  gsize batch = bias->shape.dims[0] == 1 ? 0 : b, head = bias->shape.dims[1] == 1 ? 0 : h;
  const float *from = (const float *) bias->data +
                      ((batch * (gsize) bias->shape.dims[1] + head) * self->length + q) * self->total;

  for (gsize k = 0; k < self->total; k++)
    scores[k] += from[k];
}

static void
attention_attend (gpointer data,
                  gsize    item,
                  guint    worker)
{
  const Attention *self = data;
  gsize b = item / self->heads, h = item % self->heads, k_pitch, v_pitch, row = 3 * self->width;
  const float *q = self->qkv + b * self->length * row + h * self->head;
  const float *k = attention_gather_head (self, 1, b, h, &k_pitch), *v = attention_gather_head (self, 2, b, h, &v_pitch);
  float *scores = self->scores + worker * self->length * self->total;

  vn_gemm_general (FALSE, TRUE, self->length, self->total, self->head, self->scale, q, row, k, k_pitch, 0.f, scores,
                   self->total);
  for (gsize i = 0; i < self->length; i++)
    {
      float *line = scores + i * self->total;

      for (gsize j = 0; j < self->total; j++)
        if (self->causal && j > self->past + i)
          line[j] = (float) -INFINITY;
        else if (!attention_is_visible (self, b, i, j))
          line[j] += self->masked;
      if (vn_op_has_input (self->ctx, self->in.bias))
        attention_add_bias (self, b, h, i, line);
      vn_softmax_line (line, line, self->total);
    }
  vn_gemm (self->length, self->head, self->total, scores, self->total, v, v_pitch,
           (float *) self->ctx->out[0]->data + b * self->length * self->width + h * self->head, self->width);
}

static gboolean
attention_project (const Attention *self)
{
  const VnOpContext *ctx = self->ctx;
  gsize row = 3 * self->width, depth = (gsize) ctx->in[X]->shape.dims[2];

  for (gsize i = 0; i < self->batch * self->length; i++)
    if (vn_op_has_input (ctx, B))
      memcpy (self->qkv + i * row, ctx->in[B]->data, row * sizeof (float));
    else
      memset (self->qkv + i * row, 0, row * sizeof (float));
  vn_gemm_general (FALSE, FALSE, self->batch * self->length, row, depth, 1.f, ctx->in[X]->data, depth,
                   ctx->in[W]->data, row, 1.f, self->qkv, row);
  return TRUE;
}

static gboolean
attention_project_integers (const Attention *self,
                            char            *scratch,
                            GError         **error)
{
  VnShape shape = VN_SHAPE ((gint64) self->batch, (gint64) self->length, 3 * (gint64) self->width);
  g_autoptr(VnTensor) out = vn_tensor_new_wrap (VN_DTYPE_F32, &shape, self->qkv, NULL, NULL, error);
  Product product;
  gboolean ok;

  if (out == NULL)
    return FALSE;
  attention_product_init (&product, self->ctx);
  product.out[0] = out;
  product.ctx.prepared = NULL;
  product.ctx.scratch = (gpointer) (((guintptr) scratch + 63) & ~(guintptr) 63);
  ok = product.ctx.op->run (&product.ctx, error);
  attention_product_clear (&product);
  return ok;
}

static gboolean
attention_fits_scores (const Attention *self,
                       const VnShape   *bias)
{
  return bias->rank == 4 && (bias->dims[0] == 1 || bias->dims[0] == (gint64) self->batch) &&
         (bias->dims[1] == 1 || bias->dims[1] == (gint64) self->heads) && bias->dims[2] == (gint64) self->length &&
         bias->dims[3] == (gint64) self->total;
}

static gboolean
attention_run (VnOpContext *ctx,
               GError     **error)
{
  const VnTensorType *types = ctx->in_types;
  g_autofree float *unwanted = NULL;     /* the present, where nobody asks for it in this run */
  Attention self = { 0 };
  gsize n = 0, scores = 0;

  if (!attention_init (&self, ctx, types, error) || !attention_check_mask (&self, error))
    return FALSE;
  if (self.past > 0 && vn_node_get_output (ctx->node, 1) == NULL)
    return attention_refuse (error, _("past keys without a present output"));
  if ((vn_op_has_input (ctx, self.in.bias) && !attention_fits_scores (&self, &ctx->in[self.in.bias]->shape)) ||
      (vn_op_has_input (ctx, B) && ctx->in[B]->n_elements != 3 * self.width))
    return attention_refuse (error, _("a bias of this shape"));
  attention_count_scratch (&self, &n, &scores);
  self.qkv = ctx->scratch;
  self.scores = self.qkv + n;
  if (!(attention_is_quantized (ctx) ? attention_project_integers (&self, (char *) (self.scores + scores * vn_op_max_workers ()),
                                                                   error)
                           : attention_project (&self)))
    return FALSE;
  if (ctx->n_outputs > 1 && ctx->out[1] != NULL)
    self.present = ctx->out[1]->data;
  else if (self.past > 0 &&
           (self.present = unwanted = vn_try_new (float, 2 * self.batch * self.heads * self.total * self.head, error)) == NULL)
    return FALSE;
  vn_op_for_items (ctx, self.batch * self.heads, (double) self.length * self.total * self.head / 8, attention_attend, &self);
  return TRUE;
}

const VnOp vn_op_ms_attention = {
  .domain = "com.microsoft", .type = "Attention", .since = 1,
  .min_inputs = 2, .max_inputs = 7, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .quant = VN_QUANT_TRAITS (VN_QUANT_OPAQUE, FALSE),
  .infer = attention_infer,
  .run = attention_run,
};

const VnOp vn_op_ms_qattention = {
  .domain = "com.microsoft", .type = "QAttention", .since = 1,
  .min_inputs = 5, .max_inputs = 9, .min_outputs = 1, .max_outputs = 2,
  .dtypes = VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8),
  .stand_ins = VN_STAND_IN_HALVES,   /* of scales, bias and earlier keys */
  .family = VN_FAMILY_COMPUTE,
  .infer = attention_infer,
  .run = attention_run,
};
