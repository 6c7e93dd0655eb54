/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MatMulNBits of ONNX Runtime: y = a * transposed (b) + bias, b of N rows of K numbers of 2, 4 or 8 bits in blocks along K:
 * b = (q - zero) * scale with one scale per block. Inputs: a, b (N x blocks x bytes of a block, low bits first), scales,
 * zero points (packed like b, or of the type of a; without: half of the range), group index, bias.
 *
 * With accuracy_level 4 each block of a row of a is rounded to integers first (vn-nbits.c), where all but a is constant, zero
 * points are packed and nothing is grouped; with 2 bits only in blocks of 32, 64 and 128. Otherwise, and for the other levels,
 * ONNX Runtime 1.32 computes in float. */
#include "vn-elem.h"
#include "vn-nbits.h"

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

/* The level at which what is multiplied is rounded. */
#define INTEGER_LEVEL 4

static gboolean
matmul_nbits_init (VnNbits      *self,
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
  self->row_bytes = self->n_blocks * (self->block * self->bits / 8);
  self->zero_bytes = (self->n_blocks * self->bits + 7) / 8;
  return TRUE;
}

/* Whether ONNX Runtime multiplies integers. */
static gboolean
matmul_nbits_rounds (const VnOpContext *ctx,
                     const VnNbits     *layout,
                     gboolean           float_zeros)
{
  if (vn_node_get_int (ctx->node, "accuracy_level", 0) != INTEGER_LEVEL || float_zeros || vn_op_has_input (ctx, GROUPS) ||
      layout->block > VN_NBITS_LARGEST_BLOCK ||
      (layout->bits == 2 && layout->block != 32 && layout->block != 64 && layout->block != 128))
    return FALSE;
  for (guint i = B; i <= ZEROS; i++)
    if (vn_op_has_input (ctx, i) && !vn_value_is_constant (vn_node_get_input (ctx->node, i)))
      return FALSE;
  return TRUE;
}

static gboolean
matmul_nbits_count_scratch (VnOpContext    *ctx,
                            const VnNbits  *layout,
                            GError        **error)
{
  const VnShape *a = &ctx->in_types[A].shape;
  gboolean float_zeros = vn_op_has_input (ctx, ZEROS) && ctx->in_types[ZEROS].dtype != VN_DTYPE_U8;
  gsize row = layout->n_blocks * (layout->block * sizeof (gint16) + sizeof (float)), n = 0;

  if (matmul_nbits_rounds (ctx, layout, float_zeros) && vn_shape_is_static (a) && !vn_shape_n_elements (a, &n))
    n = G_MAXSIZE;
  if (vn_checked_mul (vn_nbits_count_worker_bytes (layout), vn_op_max_workers (), &ctx->scratch_bytes) &&
      vn_checked_mul (n / layout->k, row, &n) && vn_checked_add (ctx->scratch_bytes, n, &ctx->scratch_bytes))
    return TRUE;
  return vn_op_fail (ctx, error, _("the product is too large for this machine"));
}

static gboolean
nbits_infer (VnOpContext *ctx,
             GError     **error)
{
  VnShape y = ctx->in_types[A].shape;
  VnNbits layout = { 0 };

  if (!matmul_nbits_init (&layout, ctx, error))
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
matmul_nbits_check_groups (VnOpContext    *ctx,
                           const VnNbits  *layout,
                           GError        **error)
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
matmul_nbits_take_zeros (VnOpContext  *ctx,
                         VnNbits      *layout,
                         GError      **error)
{
  gboolean packed = ctx->in[ZEROS]->dtype == VN_DTYPE_U8;

  if (!matmul_nbits_check_input (ctx, ZEROS, packed ? VN_DTYPE_U8 : VN_DTYPE_F32,
                                 layout->n * (packed ? layout->zero_bytes : layout->n_blocks), error))
    return FALSE;
  layout->packed_zeros = packed ? ctx->in[ZEROS]->data : NULL;
  layout->zeros = packed ? NULL : ctx->in[ZEROS]->data;
  return TRUE;
}

/* What is rounded goes behind what the workers unpack. */
static void
matmul_nbits_set_rounded (VnNbitsCall *self)
{
  const VnNbits *layout = &self->matrix;

  self->steps = (float *) ((char *) self->unpacked + vn_op_max_workers () * vn_nbits_count_worker_bytes (layout));
  self->rounded = (gint16 *) (self->steps + self->m * layout->n_blocks);
}

static gboolean
nbits_run (VnOpContext *ctx,
           GError     **error)
{
  VnNbitsCall self = { .ctx = ctx, .a = ctx->in[A]->data, .y = ctx->out[0]->data, .unpacked = ctx->scratch };
  VnNbits *layout = &self.matrix;

  if (!matmul_nbits_init (layout, ctx, error) ||
      !matmul_nbits_check_input (ctx, B, VN_DTYPE_U8, layout->n * layout->row_bytes, error) ||
      !matmul_nbits_check_input (ctx, SCALES, VN_DTYPE_F32, layout->n * layout->n_blocks, error) ||
      (vn_op_has_input (ctx, ZEROS) && !matmul_nbits_take_zeros (ctx, layout, error)) ||
      (vn_op_has_input (ctx, BIAS) && !matmul_nbits_check_input (ctx, BIAS, VN_DTYPE_F32, layout->n, error)) ||
      (vn_op_has_input (ctx, GROUPS) && !matmul_nbits_check_groups (ctx, layout, error)))
    return FALSE;
  layout->packed = ctx->in[B]->data;
  layout->scales = ctx->in[SCALES]->data;
  layout->groups = vn_op_has_input (ctx, GROUPS) ? ctx->in[GROUPS] : NULL;
  self.bias = vn_op_has_input (ctx, BIAS) ? ctx->in[BIAS]->data : NULL;
  self.ldy = layout->n;
  self.m = ctx->in[A]->n_elements / layout->k;
  if (matmul_nbits_rounds (ctx, layout, layout->zeros != NULL))
    matmul_nbits_set_rounded (&self);
  vn_nbits_multiply (&self);
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
