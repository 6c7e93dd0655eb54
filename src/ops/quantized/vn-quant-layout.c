/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scales of QuantizeLinear and DequantizeLinear: inputs 1 (scale) and 2 (zero point) against input 0. */
#include "vn-minifloat.h"
#include "vn-quant-layout-private.h"

static gboolean
layout_axis (VnQuantLayout *self,
             VnOpContext   *ctx,
             const VnShape *data,
             const VnShape *scale,
             int           *axis,
             GError       **error)
{
  if (!vn_op_axis (ctx, data, vn_node_get_int (ctx->node, "axis", 1), axis, error))
    return FALSE;
  self->outer = vn_shape_count (data, 0, *axis);
  self->dim = data->dims[*axis];
  self->inner = vn_shape_count (data, *axis + 1, data->rank);
  return TRUE;
}

static gboolean
quant_layout_init_per_axis (VnQuantLayout *self,
                            VnOpContext   *ctx,
                            const VnShape *data,
                            const VnShape *scale,
                            GError       **error)
{
  int axis;

  if (!layout_axis (self, ctx, data, scale, &axis, error))
    return FALSE;
  if (scale->dims[0] != self->dim)
    return vn_op_fail (ctx, error, _("%s: %lld scales for axis %d of length %lld"),
                       ctx->op->type, (long long) scale->dims[0], axis, (long long) self->dim);
  self->per_element = self->inner == 1;
  self->n_runs = (gsize) (self->per_element ? self->outer : self->outer * self->dim);
  return TRUE;
}

static gboolean
quant_layout_init_blocked (VnQuantLayout *self,
                           VnOpContext   *ctx,
                           const VnShape *data,
                           const VnShape *scale,
                           GError       **error)
{
  int axis;

  self->block = vn_node_get_int (ctx->node, "block_size", 0);
  if (!layout_axis (self, ctx, data, scale, &axis, error))
    return FALSE;
  if (scale->rank != data->rank || self->block <= 0)
    return vn_op_fail (ctx, error, _("%s: scales of %d dims with block_size %lld do not match data of %d dims"), ctx->op->type,
                       scale->rank, (long long) self->block, data->rank);
  for (int d = 0; d < data->rank; d++)
    {
      gint64 expected = data->dims[d];

      if (d == axis)
        expected = expected / self->block + (expected % self->block != 0);
      if (scale->dims[d] != expected)
        return vn_op_fail (ctx, error, _("%s: dim %d of the scales is %lld, blocks of %lld along axis %d need %lld"),
                           ctx->op->type, d, (long long) scale->dims[d], (long long) self->block, axis,
                           (long long) expected);
    }
  self->per_element = self->inner != 1;
  self->n_runs = self->per_element ? (gsize) (self->outer * self->dim)
                                   : (gsize) (self->outer * (self->dim / self->block + (self->dim % self->block != 0)));
  return TRUE;
}

/**
 * vn_quant_layout_init:
 * @ctx: with static shapes of inputs 0 and 1
 *
 * Returns: %FALSE with an error if the scales do not fit the data
 */
gboolean
vn_quant_layout_init (VnQuantLayout  *self,
                      VnOpContext    *ctx,
                      GError        **error)
{
  const VnShape *data = &ctx->in_types[0].shape, *scale = &ctx->in_types[1].shape;
  gsize n = 0;

  *self = (VnQuantLayout) { .outer = 1, .inner = 1 };
  if (!vn_shape_n_elements (scale, &self->n_scales) || !vn_shape_n_elements (data, &n))
    return vn_op_fail (ctx, error, _("%s: the size of the data or of the scales is unknown"), ctx->op->type);
  if (scale->rank == 0 || (scale->rank == 1 && self->n_scales == 1))
    {
      self->dim = (gint64) n;
      self->n_runs = 1;
      return TRUE;
    }
  if (scale->rank == 1 && vn_node_get_int (ctx->node, "block_size", 0) == 0)
    return quant_layout_init_per_axis (self, ctx, data, scale, error);
  return quant_layout_init_blocked (self, ctx, data, scale, error);
}

/**
 * vn_quant_layout_run:
 * @first: (out): first element of the run
 * @n: (out): its length
 * @scale: (out): index of its (first) scale
 */
void
vn_quant_layout_run (const VnQuantLayout *self,
                     gsize                run,
                     gsize               *first,
                     gsize               *n,
                     gsize               *scale)
{
  gsize dim = (gsize) self->dim, inner = (gsize) self->inner, block = (gsize) self->block;
  gsize n_blocks = block > 0 ? dim / block + (dim % block != 0) : 0;

  if (block > 0 && self->per_element)
    {
      *first = run * inner;
      *n = inner;
      *scale = (run / dim * n_blocks + run % dim / block) * inner;
    }
  else if (block > 0)
    {
      *first = run / n_blocks * dim + run % n_blocks * block;
      *n = MIN (block, dim - run % n_blocks * block);
      *scale = run;
    }
  else if (self->per_element || self->n_scales == 1)
    {
      *first = run * dim * inner;
      *n = dim * inner;
      *scale = 0;
    }
  else
    {
      *first = run * inner;
      *n = inner;
      *scale = run % dim;
    }
}

typedef struct
{
  const VnQuantLayout *layout;
  VnQuantPieceFunc     func;
  gconstpointer        data;
} Pieces;

static void
quant_layout_visit_range (gpointer data,
                          gsize    start,
                          gsize    count)
{
  const Pieces *self = data;

  for (gsize i = 0; i < count; i += VN_QUANT_PIECE)
    self->func (self->data, start + i, MIN (count - i, (gsize) VN_QUANT_PIECE), 0, 0);
}

static void
quant_layout_visit_run (gpointer data,
                        gsize    run,
                        guint    worker)
{
  const Pieces *self = data;
  gsize first, n, scale, step = self->layout->per_element ? 1 : 0;

  vn_quant_layout_run (self->layout, run, &first, &n, &scale);
  for (gsize i = 0; i < n; i += VN_QUANT_PIECE)
    self->func (self->data, first + i, MIN (n - i, (gsize) VN_QUANT_PIECE), scale + i * step, step);
}

/**
 * vn_quant_layout_each_piece:
 * @ctx: of a call whose first input has the elements
 * @in_order: one after the other, on this thread
 *
 * Calls @func for all elements, from several threads.
 */
void
vn_quant_layout_each_piece (const VnQuantLayout *self,
                            VnOpContext         *ctx,
                            gboolean             in_order,
                            VnQuantPieceFunc     func,
                            gconstpointer        data)
{
  Pieces pieces = { self, func, data };
  gsize n = ctx->in[0]->n_elements;

  if (n == 0)
    return;
  if (in_order)
    for (gsize i = 0; i < self->n_runs; i++)
      quant_layout_visit_run (&pieces, i, 0);
  else if (self->n_scales == 1)
    vn_op_for_ranges (ctx, n, 2., quant_layout_visit_range, &pieces);
  else
    vn_op_for_items (ctx, self->n_runs, 2. * (double) n / (double) MAX (self->n_runs, 1), quant_layout_visit_run, &pieces);
}

/**
 * vn_quant_check:
 *
 * Checks inputs 1 and 2 as far as their types and shapes are known. For `infer`.
 *
 * Returns: %FALSE with an error if they cannot be scales and zero points of input 0
 */
gboolean
vn_quant_check (VnOpContext *ctx,
                GError     **error)
{
  const VnTensorType *scale = &ctx->in_types[1];
  VnQuantLayout layout;
  gsize n_scales, n_zero;

  if (scale->dtype != VN_DTYPE_UNDEFINED && (VN_SCALE_BITS >> scale->dtype & 1) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: scales of type %s are not supported"),
                   ctx->op->type, vn_dtype_get_name (scale->dtype));
      return FALSE;
    }
  if (vn_op_has_input (ctx, 2) && vn_shape_n_elements (&scale->shape, &n_scales) &&
      vn_shape_n_elements (&ctx->in_types[2].shape, &n_zero) && n_scales != n_zero)
    return vn_op_fail (ctx, error, _("%s: %zu scales, but %zu zero points"),
                       ctx->op->type, n_scales, n_zero);
  if (vn_shape_is_static (&scale->shape) && vn_shape_is_static (&ctx->in_types[0].shape))
    return vn_quant_layout_init (&layout, ctx, error);
  return TRUE;
}

/**
 * vn_quant_scratch_bytes:
 *
 * Returns: size of the scratch that vn_quant_params_init() fills; 0 while the number of scales is not known
 */
gsize
vn_quant_scratch_bytes (VnOpContext *ctx)
{
  gsize n, bytes;

  if (!vn_shape_n_elements (&ctx->in_types[1].shape, &n) || !vn_checked_mul (n, sizeof (float) + sizeof (gint32), &bytes))
    return 0;
  return bytes;
}

/**
 * vn_quant_params_init:
 * @ctx: with scratch of vn_quant_scratch_bytes()
 *
 * Widens scales to float32 and zero points to int32.
 */
void
vn_quant_params_init (VnQuantParams *self,
                      VnOpContext   *ctx)
{
  const VnTensor *scale = ctx->in[1];
  const VnTensor *zero = ctx->n_inputs > 2 ? ctx->in[2] : NULL;

  self->scales = ctx->scratch;
  self->zero_points = (gint32 *) (self->scales + scale->n_elements);
  for (gsize i = 0; i < scale->n_elements; i++)
    {
      if (vn_minifloat_is (scale->dtype))
        self->scales[i] = vn_minifloat_load (scale->dtype, scale->data, i);
      else
        self->scales[i] = (float) vn_tensor_get_double (scale, i);
      self->zero_points[i] = zero != NULL ? (gint32) vn_tensor_get_s64 (zero, i) : 0;
    }
}
