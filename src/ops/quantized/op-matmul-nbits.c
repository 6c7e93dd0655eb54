/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMulNBits of ONNX Runtime: y = a * transposed (b) + bias, b of N rows of K numbers of 2, 4 or 8 bits in blocks along K:
 * b = (q - zero) * scale with one scale per block. Inputs: a, b (N x blocks x bytes of a block, low bits first), scales,
 * zero points (packed like b, or of the type of a; without: half of the range), group index, bias.
 *
 * With accuracy_level 4 each block of a row of a is rounded to integers of 8 bits first, halves to even: s = max |a| / 127,
 * a = round (a * (127 / max |a|)) * s. ONNX Runtime 1.32 does so (sqnbitgemm_kernel_avx2_int8_blklen32.h and its kin) where all
 * but a is constant, zero points are packed and nothing is grouped; with 2 bits only in blocks of 32, 64 and 128. Otherwise, and
 * for the other levels, it computes in float. */
#include "vn-elem.h"
#include "vn-gemm-general.h"
#include "vn-multiversion.h"

#include <math.h>
#include <string.h>

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

/* Rows of b that are unpacked and multiplied at a time. */
#define ROWS 32

/* The level at which what is multiplied is rounded, and the largest of the integers. */
#define INTEGER_LEVEL 4
#define LARGEST 127.f

/* So many products of integers of 9 and 8 bits can be added in 32. */
#define LARGEST_BLOCK (1u << 16)

typedef struct
{
  gsize n, k, block, n_blocks, block_bytes, zero_bytes;
  guint bits;
} Layout;

static gboolean
matmul_nbits_layout_init (Layout       *self,
                          VnOpContext  *ctx,
                          GError      **error)
{
  gint64 n = vn_node_get_int (ctx->node, "N", 0), k = vn_node_get_int (ctx->node, "K", 0);
  gint64 bits = vn_node_get_int (ctx->node, "bits", 4), block = vn_node_get_int (ctx->node, "block_size", 0);

  if (bits != 2 && bits != 4 && bits != 8)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("weights of %lld bits are not supported, only 2, 4 or 8 bits"),
                   (long long) bits);
      return FALSE;
    }
  if (n < 1 || k < 1 || n > G_MAXINT32 || k > G_MAXINT32 || block < 16 || block > G_MAXINT32 ||
      (block & (block - 1)) != 0)
    return vn_op_fail (ctx, error, _("N is %lld, K is %lld and block_size is %lld: expected positive sizes, and a "
                                     "power of two of at least 16"), (long long) n, (long long) k,
                                     (long long) block);
  self->n = (gsize) n;
  self->k = (gsize) k;
  self->block = (gsize) block;
  self->bits = (guint) bits;
  self->n_blocks = (self->k + self->block - 1) / self->block;
  self->block_bytes = self->block * self->bits / 8;
  self->zero_bytes = (self->n_blocks * self->bits + 7) / 8;
  return TRUE;
}

/* Whether ONNX Runtime multiplies integers. */
static gboolean
matmul_nbits_rounds (const VnOpContext *ctx,
                     const Layout      *layout,
                     gboolean           float_zeros)
{
  if (vn_node_get_int (ctx->node, "accuracy_level", 0) != INTEGER_LEVEL || float_zeros || vn_op_has_input (ctx, GROUPS) ||
      layout->block > LARGEST_BLOCK || (layout->bits == 2 && layout->block != 32 && layout->block != 64 && layout->block != 128))
    return FALSE;
  for (guint i = B; i <= ZEROS; i++)
    if (vn_op_has_input (ctx, i) && !vn_value_is_constant (vn_node_get_input (ctx->node, i)))
      return FALSE;
  return TRUE;
}

/* For rows that are unpacked: floats, or integers of whole blocks. That it fits is checked by matmul_nbits_count_scratch(). */
static gsize
matmul_nbits_worker_bytes (const Layout *layout)
{
  return ROWS * MAX (layout->k * sizeof (float), layout->n_blocks * layout->block * sizeof (gint16));
}

static gboolean
matmul_nbits_count_scratch (VnOpContext  *ctx,
                            const Layout *layout,
                            GError      **error)
{
  const VnShape *a = &ctx->in_types[A].shape;
  gboolean float_zeros = vn_op_has_input (ctx, ZEROS) && ctx->in_types[ZEROS].dtype != VN_DTYPE_U8;
  gsize row = layout->n_blocks * (layout->block * sizeof (gint16) + sizeof (float)), n = 0;

  if (matmul_nbits_rounds (ctx, layout, float_zeros) && vn_shape_is_static (a) && !vn_shape_n_elements (a, &n))
    n = G_MAXSIZE;
  if (vn_checked_mul (matmul_nbits_worker_bytes (layout), vn_op_max_workers (), &ctx->scratch_bytes) &&
      vn_checked_mul (n / layout->k, row, &n) && vn_checked_add (ctx->scratch_bytes, n, &ctx->scratch_bytes))
    return TRUE;
  return vn_op_fail (ctx, error, _("the product is too large for this machine"));
}

static gboolean
nbits_infer (VnOpContext *ctx,
             GError     **error)
{
  VnShape y = ctx->in_types[A].shape;
  Layout layout;

  if (!matmul_nbits_layout_init (&layout, ctx, error))
    return FALSE;
  if (y.rank == 0 || (y.rank > 0 && y.dims[y.rank - 1] >= 0 && y.dims[y.rank - 1] != (gint64) layout.k))
    return vn_op_fail (ctx, error, _("the last axis of the input must have K = %zu elements"), layout.k);
  if (y.rank > 0)
    y.dims[y.rank - 1] = (gint64) layout.n;
  if (!matmul_nbits_count_scratch (ctx, &layout, error))
    return FALSE;
  vn_op_set_output (ctx, 0, ctx->in_types[A].dtype, &y);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  Layout             layout;
  gsize              m;
  float             *steps;        /* m x blocks: of what is rounded */
  gint16            *rounded;      /* m x blocks x numbers of a block; 0 behind k */
  const guint8      *packed_zeros;
  const float       *zeros;
  const float       *bias;
  const VnTensor    *groups;       /* (nullable): which block's scale each number of a row has */
} Job;

static guint
matmul_nbits_packed_at (const guint8 *data,
                        guint         bits,
                        gsize         i)
{
  guint per_byte = 8 / bits;

  return data[i / per_byte] >> (i % per_byte * bits) & ((1u << bits) - 1);
}

static float
matmul_nbits_zero_at (const Job *self,
                      gsize      row,
                      gsize      block)
{
  const Layout *layout = &self->layout;

  if (self->zeros != NULL)
    return self->zeros[row * layout->n_blocks + block];
  if (self->packed_zeros != NULL)
    return (float) matmul_nbits_packed_at (self->packed_zeros + row * layout->zero_bytes, layout->bits, block);
  return (float) (1u << (layout->bits - 1));
}

static void
matmul_nbits_unpack_row (const Job *self,
                         gsize      row,
                         float     *to)
{
  const Layout *layout = &self->layout;
  const float *scales = self->ctx->in[SCALES]->data;

  for (gsize block = 0; block < layout->n_blocks; block++)
    {
      gsize index = row * layout->n_blocks + block, first = block * layout->block;
      const guint8 *b = (const guint8 *) self->ctx->in[B]->data + index * layout->block_bytes;
      float zero = matmul_nbits_zero_at (self, row, block);

      for (gsize i = 0; i < MIN (layout->block, layout->k - first); i++)
        to[first + i] = ((float) matmul_nbits_packed_at (b, layout->bits, i) - zero) * scales[index];
      for (gsize i = 0; self->groups != NULL && i < MIN (layout->block, layout->k - first); i++)
        {
          gsize group = (gsize) vn_tensor_get_s64 (self->groups, first + i);

          to[first + i] = ((float) matmul_nbits_packed_at (b, layout->bits, i) - matmul_nbits_zero_at (self, row, group)) *
                          scales[row * layout->n_blocks + group];
        }
    }
}

static void
matmul_nbits_multiply_rows (gpointer data,
                            gsize    item,
                            guint    worker)
{
  const Job *self = data;
  const Layout *layout = &self->layout;
  gsize first = item * ROWS, n = MIN (ROWS, layout->n - first);
  float *rows = (float *) ((char *) self->ctx->scratch + worker * matmul_nbits_worker_bytes (layout));
  float *y = (float *) self->ctx->out[0]->data + first;

  for (gsize i = 0; i < n; i++)
    matmul_nbits_unpack_row (self, first + i, rows + i * layout->k);
  for (gsize i = 0; i < self->m; i++)
    for (gsize j = 0; j < n; j++)
      y[i * layout->n + j] = self->bias != NULL ? self->bias[first + j] : 0.f;
  vn_gemm_general (FALSE, TRUE, self->m, n, layout->k, 1.f, self->ctx->in[A]->data, layout->k, rows, layout->k, 1.f, y,
                   layout->n);
}

/* ---- integers ---- */

VN_MULTIVERSION
static void
matmul_nbits_round_block (const float *a,
                          gsize        n,
                          gint16      *to,
                          float       *scale)
{
  float largest = 0, strange = 0, inverse;

  for (gsize i = 0; i < n; i++)
    {
      largest = MAX (largest, fabsf (a[i]));
      strange += a[i] * 0;
    }
  *scale = largest / LARGEST + strange;   /* NaN where a number is not finite */
  inverse = largest != 0 ? LARGEST / largest : 0;
  for (gsize i = 0; i < n; i++)
    {
      float x = a[i] * inverse;

      x = x < LARGEST ? x : LARGEST;
      to[i] = (gint16) rintf (x > -LARGEST ? x : -LARGEST);
    }
}

static void
matmul_nbits_round_row (gpointer data,
                        gsize    item,
                        guint    worker)
{
  const Job *self = data;
  const Layout *layout = &self->layout;
  const gsize width = layout->n_blocks * layout->block;
  const float *a = (const float *) self->ctx->in[A]->data + item * layout->k;

  memset (self->rounded + item * width + layout->k, 0, (width - layout->k) * sizeof (gint16));
  for (gsize block = 0; block < layout->n_blocks; block++)
    matmul_nbits_round_block (a + block * layout->block, MIN (layout->block, layout->k - block * layout->block),
                              self->rounded + item * width + block * layout->block,
                              self->steps + item * layout->n_blocks + block);
}

static inline void
matmul_nbits_take_zero (const guint8 *packed,
                        guint         bits,
                        gsize         n,
                        gint16        zero,
                        gint16       *to)
{
  for (gsize i = 0; i < n; i++)
    to[i] = (gint16) ((gint16) matmul_nbits_packed_at (packed, bits, i) - zero);
}

VN_MULTIVERSION
static void
matmul_nbits_unpack_block (const guint8 *packed,
                           guint         bits,
                           gsize         n,
                           gint16        zero,
                           gint16       *to)
{
  if (bits == 8)
    matmul_nbits_take_zero (packed, 8, n, zero, to);
  else if (bits == 4)
    matmul_nbits_take_zero (packed, 4, n, zero, to);
  else
    matmul_nbits_take_zero (packed, 2, n, zero, to);
}

/* A product of integers of each block is exact; those of a row are added in double. */
VN_MULTIVERSION
static float
matmul_nbits_multiply_integers (const gint16 *a,
                                const float  *a_steps,
                                const gint16 *b,
                                const float  *b_scales,
                                gsize         n_blocks,
                                gsize         block)
{
  double sum = 0;

  for (gsize i = 0; i < n_blocks; i++)
    {
      gint32 dot = 0;

      for (gsize k = 0; k < block; k++)
        dot += a[i * block + k] * b[i * block + k];
      sum += (double) dot * (double) (a_steps[i] * b_scales[i]);
    }
  return (float) sum;
}

static void
matmul_nbits_multiply_rounded (gpointer data,
                               gsize    item,
                               guint    worker)
{
  const Job *self = data;
  const Layout *layout = &self->layout;
  const gsize width = layout->n_blocks * layout->block, first = item * ROWS, n = MIN (ROWS, layout->n - first);
  const guint8 *packed = self->ctx->in[B]->data;
  gint16 *rows = (gint16 *) ((char *) self->ctx->scratch + worker * matmul_nbits_worker_bytes (layout));
  float *y = self->ctx->out[0]->data;

  for (gsize i = 0; i < n * layout->n_blocks; i++)
    matmul_nbits_unpack_block (packed + (first * layout->n_blocks + i) * layout->block_bytes, layout->bits, layout->block,
                               (gint16) matmul_nbits_zero_at (self, first + i / layout->n_blocks, i % layout->n_blocks),
                               rows + i * layout->block);
  for (gsize i = 0; i < self->m; i++)
    for (gsize j = first; j < first + n; j++)
      y[i * layout->n + j] = (self->bias != NULL ? self->bias[j] : 0.f) +
                             matmul_nbits_multiply_integers (self->rounded + i * width, self->steps + i * layout->n_blocks,
                                                             rows + (j - first) * width,
                                                             (const float *) self->ctx->in[SCALES]->data + j * layout->n_blocks,
                                                             layout->n_blocks, layout->block);
}

/* What is rounded goes behind what the workers unpack. */
static void
matmul_nbits_round (Job         *self,
                    VnOpContext *ctx)
{
  const Layout *layout = &self->layout;

  self->steps = (float *) ((char *) ctx->scratch + vn_op_max_workers () * matmul_nbits_worker_bytes (layout));
  self->rounded = (gint16 *) (self->steps + self->m * layout->n_blocks);
  vn_op_for_items (ctx, self->m, (double) layout->k, matmul_nbits_round_row, self);
}

/* ---- running ---- */

static gboolean
matmul_nbits_check_input (VnOpContext  *ctx,
                          guint         input,
                          VnDType       dtype,
                          gsize         n,
                          GError      **error)
{
  if (ctx->in[input]->dtype == dtype && ctx->in[input]->n_elements == n)
    return TRUE;
  return vn_op_fail (ctx, error, _("input %u has %zu elements of type %s: expected %zu of type %s"), input,
                     ctx->in[input]->n_elements,
                     vn_dtype_get_name (ctx->in[input]->dtype), n, vn_dtype_get_name (dtype));
}

static gboolean
matmul_nbits_check_groups (VnOpContext  *ctx,
                           const Layout *layout,
                           GError      **error)
{
  const VnTensor *groups = ctx->in[GROUPS];

  if (groups->dtype != VN_DTYPE_S32 ||
      (groups->n_elements != layout->k && groups->n_elements != layout->n_blocks * layout->block))
    return vn_op_fail (ctx, error, _("the group index must have one int32 for each of %zu elements"),
                       layout->k);
  for (gsize i = 0; i < layout->k; i++)
    if (vn_tensor_get_s64 (groups, i) < 0 || vn_tensor_get_s64 (groups, i) >= (gint64) layout->n_blocks)
      return vn_op_fail (ctx, error, _("group %lld is out of range, there are %zu groups"),
                         (long long) vn_tensor_get_s64 (groups, i),
                         layout->n_blocks);
  return TRUE;
}

static gboolean
nbits_run (VnOpContext *ctx,
           GError     **error)
{
  Job self = { .ctx = ctx };
  const Layout *layout = &self.layout;
  gboolean integers;
  gsize n_blocks;

  if (!matmul_nbits_layout_init (&self.layout, ctx, error))
    return FALSE;
  n_blocks = layout->n * layout->n_blocks;
  if (!matmul_nbits_check_input (ctx, B, VN_DTYPE_U8, n_blocks * layout->block_bytes, error) ||
      !matmul_nbits_check_input (ctx, SCALES, VN_DTYPE_F32, n_blocks, error))
    return FALSE;
  if (vn_op_has_input (ctx, ZEROS))
    {
      gboolean packed = ctx->in[ZEROS]->dtype == VN_DTYPE_U8;

      if (!matmul_nbits_check_input (ctx, ZEROS, packed ? VN_DTYPE_U8 : VN_DTYPE_F32,
                                     packed ? layout->n * layout->zero_bytes : n_blocks, error))
        return FALSE;
      self.packed_zeros = packed ? ctx->in[ZEROS]->data : NULL;
      self.zeros = packed ? NULL : ctx->in[ZEROS]->data;
    }
  if (vn_op_has_input (ctx, BIAS))
    {
      if (!matmul_nbits_check_input (ctx, BIAS, VN_DTYPE_F32, layout->n, error))
        return FALSE;
      self.bias = ctx->in[BIAS]->data;
    }
  if (vn_op_has_input (ctx, GROUPS))
    {
      if (!matmul_nbits_check_groups (ctx, layout, error))
        return FALSE;
      self.groups = ctx->in[GROUPS];
    }
  self.m = ctx->in[A]->n_elements / layout->k;
  integers = matmul_nbits_rounds (ctx, layout, self.zeros != NULL);
  if (integers)
    matmul_nbits_round (&self, ctx);
  vn_op_for_items (ctx, (layout->n + ROWS - 1) / ROWS, (double) ROWS * (double) layout->k * (double) (self.m + 8) / 8,
                   integers ? matmul_nbits_multiply_rounded : matmul_nbits_multiply_rows, &self);
  return TRUE;
}

const VnOp vn_op_ms_matmul_nbits = {
  .domain = "com.microsoft", .type = "MatMulNBits", .since = 1,
  .min_inputs = 3, .max_inputs = 6, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .stand_ins = VN_STAND_IN_HALVES,
  .family = VN_FAMILY_COMPUTE,
  .infer = nbits_infer,
  .run = nbits_run,
};
