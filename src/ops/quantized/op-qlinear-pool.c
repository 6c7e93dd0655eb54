/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QLinearAveragePool, QLinearGlobalAveragePool and QLinearReduceMean: means of numbers on one grid, put on another.
 * Inputs: x, x_scale, x_zero, y_scale, y_zero. Windows are summed in float32 in reading order, as ONNX Runtime does;
 * whole planes as integers. */
#include "vn-int.h"
#include "vn-sliding-window.h"

enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO };

static gboolean
qlinear_pool_is_channels_last (const VnOpContext *ctx)
{
  return vn_node_get_int (ctx->node, "channels_last", 0) != 0;
}

/* Batch, channels, spatial, however it is laid out; and back. */
static VnShape
qlinear_pool_channels_first (const VnShape *x,
                             gboolean       channels_last)
{
  VnShape out = *x;

  if (channels_last && x->rank > 2)
    {
      memmove (out.dims + 2, x->dims + 1, sizeof (gint64) * (gsize) (x->rank - 2));
      out.dims[1] = x->dims[x->rank - 1];
    }
  return out;
}

static VnShape
qlinear_pool_channels_back (const VnShape *x,
                            gboolean       channels_last)
{
  VnShape out = *x;

  if (channels_last && x->rank > 2)
    {
      memmove (out.dims + 1, x->dims + 2, sizeof (gint64) * (gsize) (x->rank - 2));
      out.dims[x->rank - 1] = x->dims[1];
    }
  return out;
}

static gboolean
qlinear_pool_read_scales (VnOpContext  *ctx,
                          VnIntScalar  *from,
                          VnIntScalar  *to,
                          GError      **error)
{
  return vn_int_scalar (ctx, X_SCALE, X_ZERO, ctx->in[X]->dtype, from, error) &&
         vn_int_scalar (ctx, Y_SCALE, Y_ZERO, ctx->out[0]->dtype, to, error);
}

/* ---- windows ---- */

static gboolean
qlinear_pool_average_infer (VnOpContext *ctx,
                            GError     **error)
{
  gboolean last = qlinear_pool_is_channels_last (ctx);
  VnShape y = VN_SHAPE_UNKNOWN;
  VnSlidingWindow win;

  if (ctx->in_types[X].shape.rank >= 0)
    {
      VnShape x = qlinear_pool_channels_first (&ctx->in_types[X].shape, last);

      if (!vn_sliding_window_init_pool (&win, ctx, &x, error))
        return FALSE;
      y = x;
      vn_sliding_window_get_output (&win, &y);
      y = qlinear_pool_channels_back (&y, last);
    }
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, Y_ZERO, X), &y);
  return TRUE;
}

typedef struct
{
  const VnOpContext *ctx;
  VnSlidingWindow           win;
  VnIntScalar        from, to;
  float              values[256];
  gboolean           count_padding;
  gsize              channels, in_size, out_size;
  gboolean           channels_last;
} Pool;

static gsize
qlinear_pool_place (const Pool *self,
                    gsize       plane,
                    gsize       size,
                    gsize       i)
{
  gsize batch = plane / self->channels, channel = plane % self->channels;

  return self->channels_last ? (batch * size + i) * self->channels + channel : plane * size + i;
}

/* The part of a window inside the data on each axis. */
static float
qlinear_pool_mean_at (const Pool   *self,
                      gsize         plane,
                      const gint64  out[3])
{
  const VnSlidingWindow *win = &self->win;
  const guint8 *x = self->ctx->in[X]->data;
  gint64 first[3], end[3];
  double counted = (double) win->kernel[0] * (double) win->kernel[1] * (double) win->kernel[2];
  float sum = 0.f;

  for (int a = 0; a < 3; a++)
    {
      gint64 at = out[a] * win->stride[a] - win->begin[a];

      first[a] = MAX (at, 0);
      end[a] = MIN (at + win->kernel[a], win->in[a]);
    }
  for (gint64 z = first[0]; z < end[0]; z++)
    for (gint64 y = first[1]; y < end[1]; y++)
      for (gint64 w = first[2]; w < end[2]; w++)
        sum += self->values[x[qlinear_pool_place (self, plane, self->in_size, (gsize) ((z * win->in[1] + y) * win->in[2] + w))]];
  if (!self->count_padding)
    counted = (double) (MAX (0, end[0] - first[0]) * MAX (0, end[1] - first[1]) * MAX (0, end[2] - first[2]));
  return counted > 0 ? sum / (float) counted : 0.f;
}

static void
qlinear_pool_average_plane (gpointer data,
                            gsize    plane,
                            guint    worker)
{
  const Pool *self = data;
  const VnSlidingWindow *win = &self->win;
  guint8 *y = self->ctx->out[0]->data;
  float lowest = self->to.dtype == VN_DTYPE_S8 ? -128.f : 0.f;
  gint64 out[3];
  gsize i = 0;

  for (out[0] = 0; out[0] < win->out[0]; out[0]++)
    for (out[1] = 0; out[1] < win->out[1]; out[1]++)
      for (out[2] = 0; out[2] < win->out[2]; out[2]++)
        {
          /* Rounded with the zero point, unlike everywhere else: ties go to even results. */
          float mean = rintf (qlinear_pool_mean_at (self, plane, out) / self->to.scale + (float) self->to.zero);

          mean = mean > lowest ? MIN (mean, lowest + 255.f) : lowest;
          y[qlinear_pool_place (self, plane, self->out_size, i++)] = (guint8) (gint32) mean;
        }
}

static gboolean
qlinear_pool_average_run (VnOpContext *ctx,
                          GError     **error)
{
  Pool self = { .ctx = ctx, .channels_last = qlinear_pool_is_channels_last (ctx) };
  VnShape x = qlinear_pool_channels_first (&ctx->in[X]->shape, self.channels_last);

  if (!vn_sliding_window_init_pool (&self.win, ctx, &x, error) || !qlinear_pool_read_scales (ctx, &self.from, &self.to, error))
    return FALSE;
  for (guint i = 0; i < 256; i++)
    {
      guint8 byte = (guint8) i;

      self.values[i] = (float) (vn_int_load (self.from.dtype, &byte, 0) - self.from.zero) * self.from.scale;
    }
  for (int a = 0; a < 3; a++)
    if (self.win.dilation[a] != 1)
      return vn_op_fail (ctx, error, _("dilations other than 1 are not supported by the operator"));
  self.count_padding = vn_node_get_int (ctx->node, "count_include_pad", 0) != 0;
  self.channels = (gsize) x.dims[1];
  self.in_size = (gsize) vn_sliding_window_get_volume (self.win.in);
  self.out_size = (gsize) vn_sliding_window_get_volume (self.win.out);
  vn_op_for_items (ctx, (gsize) (x.dims[0] * x.dims[1]),
                   (double) self.out_size * 16, qlinear_pool_average_plane, &self);
  return TRUE;
}

/* ---- whole planes and axes ---- */

/* Mean of integers on one grid, put on the other: one multiplication of their sum, as ONNX Runtime does. */
static void
qlinear_pool_store_mean (gint64             sum,
                         gsize              n,
                         const VnIntScalar *from,
                         const VnIntScalar *to,
                         guint8            *y)
{
  float scale = from->scale / (to->scale * (float) n);
  gint32 sum32 = (gint32) CLAMP (sum - (gint64) n * from->zero, G_MININT32, G_MAXINT32);

  vn_int_requantize (&sum32, 1, &scale, 0, 0, to->zero, to->dtype, y);
}

static gboolean
qlinear_pool_global_infer (VnOpContext *ctx,
                           GError     **error)
{
  gboolean last = qlinear_pool_is_channels_last (ctx);
  VnShape y = ctx->in_types[X].shape;

  if (y.rank >= 0 && y.rank < 3)
    return vn_op_fail (ctx, error, _("input rank is %d, expected at least 3"), y.rank);
  for (int i = last ? 1 : 2; i < y.rank - (last ? 1 : 0); i++)
    y.dims[i] = 1;
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, Y_ZERO, X), &y);
  return TRUE;
}

static gboolean
qlinear_pool_global_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnTensor *x = ctx->in[X];
  gboolean last = qlinear_pool_is_channels_last (ctx);
  VnShape shape = qlinear_pool_channels_first (&x->shape, last);
  gsize channels = (gsize) shape.dims[1], n_planes = (gsize) shape.dims[0] * channels;
  gsize size = (gsize) vn_shape_count (&shape, 2, shape.rank);
  VnIntScalar from, to;

  if (size == 0)
    return vn_op_fail (ctx, error, _("the mean of 0 elements is undefined"));
  if (!qlinear_pool_read_scales (ctx, &from, &to, error))
    return FALSE;
  for (gsize plane = 0; plane < n_planes; plane++)
    {
      gsize first = last ? plane / channels * size * channels + plane % channels : plane * size;
      gint64 sum = 0;

      for (gsize i = 0; i < size; i++)
        sum += vn_int_load (x->dtype, x->data, first + i * (last ? channels : 1));
      qlinear_pool_store_mean (sum, size, &from, &to, (guint8 *) ctx->out[0]->data + plane);
    }
  return TRUE;
}

static gboolean
qlinear_pool_reduced_axes (VnOpContext  *ctx,
                           int           rank,
                           guint        *mask,
                           GError      **error)
{
  gsize n;
  const gint64 *axes = vn_node_get_ints (ctx->node, "axes", &n);

  if (axes == NULL || n == 0)
    {
      *mask = (1u << rank) - 1;
      return TRUE;
    }
  return vn_op_axis_mask (ctx, rank, axes, (guint) n, mask, error);
}

static gboolean
qlinear_pool_reduce_infer (VnOpContext *ctx,
                           GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape;
  gboolean keep = vn_node_get_int (ctx->node, "keepdims", 1) != 0;
  VnShape y = { x->rank < 0 ? VN_RANK_UNKNOWN : 0 };
  guint mask;

  if (x->rank >= 0 && !qlinear_pool_reduced_axes (ctx, x->rank, &mask, error))
    return FALSE;
  for (int i = 0; i < x->rank; i++)
    if ((mask >> i & 1) == 0)
      y.dims[y.rank++] = x->dims[i];
    else if (keep)
      y.dims[y.rank++] = 1;
  vn_op_set_output (ctx, 0, vn_int_dtype (ctx, Y_ZERO, X), &y);
  return TRUE;
}

/* Index in the data of number @i among those of the axes in @mask. */
static gsize
qlinear_pool_index_among (const VnShape *shape,
                          guint          mask,
                          gsize          i)
{
  gint64 strides[VN_MAX_RANK];
  gsize index = 0;

  vn_shape_strides (shape, strides);
  for (int a = shape->rank - 1; a >= 0; a--)
    if (mask >> a & 1)
      {
        index += i % (gsize) shape->dims[a] * (gsize) strides[a];
        i /= (gsize) shape->dims[a];
      }
  return index;
}

static gboolean
qlinear_pool_reduce_run (VnOpContext *ctx,
                         GError     **error)
{
  const VnTensor *x = ctx->in[X];
  gsize size = 1, n_means = ctx->out[0]->n_elements;
  VnIntScalar from, to;
  guint mask;

  if (!qlinear_pool_reduced_axes (ctx, x->shape.rank, &mask, error) || !qlinear_pool_read_scales (ctx, &from, &to, error))
    return FALSE;
  for (int i = 0; i < x->shape.rank; i++)
    size *= mask >> i & 1 ? (gsize) x->shape.dims[i] : 1;
  if (size == 0)
    return vn_op_fail (ctx, error, _("the mean of 0 elements is undefined"));
  for (gsize k = 0; k < n_means; k++)
    {
      gsize first = qlinear_pool_index_among (&x->shape, ~mask, k);
      gint64 sum = 0;

      for (gsize i = 0; i < size; i++)
        sum += vn_int_load (x->dtype, x->data, first + qlinear_pool_index_among (&x->shape, mask, i));
      qlinear_pool_store_mean (sum, size, &from, &to, (guint8 *) ctx->out[0]->data + k);
    }
  return TRUE;
}

#define OPERATOR(id, name, infer_, run_)                                        \
  const VnOp vn_op_ms_##id = {                                                  \
    .domain = "com.microsoft", .type = name, .since = 1,                        \
    .min_inputs = 4, .max_inputs = 5, .min_outputs = 1, .max_outputs = 1,       \
    .optional = 1u << 2,                                                        \
    .dtypes = VN_INT_BITS,                                                      \
    .family = VN_FAMILY_POOL_NORM,                                              \
    .infer = infer_,                                                            \
    .run = run_,                                                                \
  };

OPERATOR (qlinear_average_pool, "QLinearAveragePool", qlinear_pool_average_infer, qlinear_pool_average_run)
OPERATOR (qlinear_global_average_pool, "QLinearGlobalAveragePool", qlinear_pool_global_infer, qlinear_pool_global_run)
OPERATOR (qlinear_reduce_mean, "QLinearReduceMean", qlinear_pool_reduce_infer, qlinear_pool_reduce_run)
