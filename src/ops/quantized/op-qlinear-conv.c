/* SPDX-License-Identifier: GPL-3.0-or-later */
/* QLinearConv and ConvInteger: a convolution of 8-bit integers with exact 32-bit sums. What a window sees is laid out
 * as rows of 16-bit numbers without zero point (padding is then 0) and multiplied with the rows of the weight. */
#include "vn-conv.h"
#include "vn-int.h"

#include "vn-memory.h"

#define PIXELS 64

/* Indices of the inputs; -1 where the operator has none. */
typedef struct
{
  int x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias;
} Inputs;

static const Inputs qlinear = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
static const Inputs integer = { 0, -1, 2, 1, -1, 3, -1, -1, -1 };

typedef struct
{
  const VnOpContext *ctx;
  VnConv             conv;
  const VnTensor    *x;
  gint32             x_zero;
  const gint16      *weight;      /* out channels of all groups x step */
  gsize              step;
  gboolean           requantized;
  VnIntParams        w;
  float              x_scale, y_scale;
  gint32             y_zero;
  const gint32      *bias;
  VnTensor          *y;
  gint16            *rows;        /* scratch per worker */
  gint32            *sums;
  gsize              n_tiles;
} IntConv;

static gboolean
qlinear_conv_worker_bytes (const VnConv *conv,
                           gsize        *rows,
                           gsize        *sums)
{
  return vn_checked_mul (vn_int_step (conv->depth), PIXELS * sizeof (gint16), rows) &&
         vn_checked_mul (conv->out_channels, PIXELS * sizeof (gint32), sums);
}

static gboolean
qlinear_conv_ask_scratch (VnOpContext  *ctx,
                          const VnConv *conv,
                          GError      **error)
{
  gsize rows, sums, weight, one;

  if (qlinear_conv_worker_bytes (conv, &rows, &sums) && vn_checked_add (rows, sums, &one) &&
      vn_checked_mul (one, vn_op_max_workers (), &one) &&
      vn_checked_mul (conv->groups * conv->out_channels, vn_int_step (conv->depth) * sizeof (gint16), &weight) &&
      vn_checked_add (one, weight, &ctx->scratch_bytes))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the convolution is too large for this machine"));
  return FALSE;
}

static gboolean
qlinear_conv_infer_with (VnOpContext   *ctx,
                         const Inputs  *in,
                         VnDType        dtype,
                         GError       **error)
{
  const VnShape *x = &ctx->in_types[in->x].shape, *w = &ctx->in_types[in->w].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  VnConv conv;

  if ((w->rank >= 0 && w->rank < 3) || (x->rank >= 0 && x->rank < 3))
    return vn_op_fail (ctx, error, _("input rank %d and weight rank %d: expected 3 to 5"), x->rank, w->rank);
  if (x->rank >= 0 && w->rank >= 0)
    {
      if (!vn_conv_init_sizes (&conv, ctx, x, w, error))
        return FALSE;
      y.dims[0] = x->dims[0];
      y.dims[1] = w->dims[0];
      vn_sliding_window_get_output (&conv.window, &y);
      if (vn_shape_is_static (x) && vn_shape_is_static (w) && !qlinear_conv_ask_scratch (ctx, &conv, error))
        return FALSE;
    }
  vn_op_set_output (ctx, 0, dtype, &y);
  return TRUE;
}

static gboolean
qlinear_conv_infer (VnOpContext *ctx,
                    GError     **error)
{
  return qlinear_conv_infer_with (ctx, &qlinear, vn_int_dtype (ctx, (guint) qlinear.y_zero, (guint) qlinear.x), error);
}

static gboolean
conv_integer_infer (VnOpContext *ctx,
                    GError     **error)
{
  return qlinear_conv_infer_with (ctx, &integer, VN_DTYPE_S32, error);
}

/* Rows of the weight, one per output channel. */
static void
qlinear_conv_load_weight (const VnTensor *w,
                          const VnTensor *zeros,
                          gsize           zero_step,
                          gint16         *to)
{
  gsize n = (gsize) w->shape.dims[0], depth = n > 0 ? w->n_elements / n : 0, step = vn_int_step (depth);

  for (gsize i = 0; i < n; i++)
    vn_int_load_row (w->dtype, w->data, i * depth, 1, depth, vn_int_zero (zeros, i * zero_step), to + i * step);
}

static gboolean
qlinear_conv_prepare_with (VnOpContext   *ctx,
                           const Inputs  *in,
                           gpointer      *prepared,
                           GError       **error)
{
  const VnTensor *w = ctx->in[in->w];
  gboolean has_zero = vn_op_has_input (ctx, (guint) in->w_zero);
  VnIntParams params;
  gsize n;

  *prepared = NULL;
  if (w == NULL || w->n_elements == 0 || w->shape.rank < 3 || (VN_INT_BITS >> w->dtype & 1) == 0 ||
      (has_zero && ctx->in[in->w_zero] == NULL))
    return TRUE;
  n = (gsize) w->shape.dims[0];
  if (!vn_int_params (ctx, -1, in->w_zero, n, &params, error))
    return FALSE;
  *prepared = vn_memory_alloc (n, vn_int_step (w->n_elements / n) * sizeof (gint16), error);
  if (*prepared == NULL)
    return FALSE;
  qlinear_conv_load_weight (w, params.zeros, params.zero_step, *prepared);
  return TRUE;
}

static gboolean
qlinear_conv_prepare (VnOpContext *ctx,
                      gpointer    *prepared,
                      GError     **error)
{
  return qlinear_conv_prepare_with (ctx, &qlinear, prepared, error);
}

static gboolean
conv_integer_prepare (VnOpContext *ctx,
                      gpointer    *prepared,
                      GError     **error)
{
  return qlinear_conv_prepare_with (ctx, &integer, prepared, error);
}

/* Where the windows of some output pixels begin. */
typedef struct
{
  gsize  n;
  gint64 at[3][PIXELS];
} Windows;

static void
qlinear_conv_windows_init (Windows        *self,
                           const VnSlidingWindow *win,
                           gsize           first,
                           gsize           n)
{
  self->n = n;
  for (gsize p = 0; p < n; p++)
    {
      gint64 i = (gint64) (first + p);

      self->at[2][p] = i % win->out[2] * win->stride[2] - win->begin[2];
      self->at[1][p] = i / win->out[2] % win->out[1] * win->stride[1] - win->begin[1];
      self->at[0][p] = i / win->out[2] / win->out[1] * win->stride[0] - win->begin[0];
    }
}

/* One tap of one channel for all pixels: a column of the rows. */
static void
qlinear_conv_load_tap (const IntConv *self,
                       const Windows *windows,
                       const gint64   k[3],
                       gsize          plane,
                       gint16        *to)
{
  const VnSlidingWindow *win = &self->conv.window;

  for (gsize p = 0; p < windows->n; p++)
    {
      gint64 z = windows->at[0][p] + k[0] * win->dilation[0];
      gint64 y = windows->at[1][p] + k[1] * win->dilation[1];
      gint64 x = windows->at[2][p] + k[2] * win->dilation[2];
      gboolean inside = z >= 0 && z < win->in[0] && y >= 0 && y < win->in[1] && x >= 0 && x < win->in[2];

      to[p * self->step] = 0;
      if (inside)
        to[p * self->step] = (gint16) (vn_int_load (self->x->dtype, self->x->data, plane + (gsize) ((z * win->in[1] + y) *
                                       win->in[2] + x)) - self->x_zero);
    }
}

static void
qlinear_conv_load_rows (const IntConv *self,
                        gsize          batch,
                        gsize          group,
                        const Windows *windows,
                        gint16        *rows)
{
  const VnConv *conv = &self->conv;
  const gint64 *kernel = conv->window.kernel;
  gsize plane = (batch * conv->groups + group) * conv->in_channels * conv->in_size, depth = 0;
  gint64 k[3];

  for (gsize c = 0; c < conv->in_channels; c++, plane += conv->in_size)
    for (k[0] = 0; k[0] < kernel[0]; k[0]++)
      for (k[1] = 0; k[1] < kernel[1]; k[1]++)
        for (k[2] = 0; k[2] < kernel[2]; k[2]++)
          qlinear_conv_load_tap (self, windows, k, plane, rows + depth++);
  for (gsize p = 0; p < windows->n; p++)
    memset (rows + p * self->step + depth, 0, (self->step - depth) * sizeof *rows);
}

static void
conv_tile (gpointer data,
           gsize    item,
           guint    worker)
{
  const IntConv *self = data;
  const VnConv *conv = &self->conv;
  gsize first = item % self->n_tiles * PIXELS, plane = item / self->n_tiles, group = plane % conv->groups;
  gsize n = MIN (PIXELS, conv->out_size - first), channels = conv->out_channels, channel = group * channels;
  gsize out = plane * channels * conv->out_size + first;
  gint16 *rows = self->rows + worker * PIXELS * self->step;
  gint32 *sums = self->requantized ? self->sums + worker * PIXELS * channels : (gint32 *) self->y->data + out;
  gsize pitch = self->requantized ? PIXELS : conv->out_size;
  Windows windows;

  qlinear_conv_windows_init (&windows, &conv->window, first, n);
  qlinear_conv_load_rows (self, plane / conv->groups, group, &windows, rows);
  vn_int_product (self->weight + channel * self->step, channels, rows, n, self->step, sums, pitch);
  for (gsize m = 0; self->requantized && m < channels; m++)
    {
      float scale = self->x_scale * self->w.scales[(channel + m) * self->w.scale_step] / self->y_scale;

      vn_int_requantize (sums + m * PIXELS, n, &scale, 0, self->bias != NULL ? self->bias[channel + m] : 0, self->y_zero,
                         self->y->dtype, (guint8 *) self->y->data + out + m * conv->out_size);
    }
}

static gboolean
qlinear_conv_read_params (IntConv       *self,
                          VnOpContext   *ctx,
                          const Inputs  *in,
                          GError       **error)
{
  gsize channels = (gsize) ctx->in[in->w]->shape.dims[0];
  VnIntParams x, y;

  self->x = ctx->in[in->x];
  self->y = ctx->out[0];
  self->requantized = in->y_scale >= 0;
  if ((VN_INT_BITS >> ctx->in[in->w]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, (guint) in->w, error);
  if (!vn_int_params (ctx, in->x_scale, in->x_zero, 1, &x, error) ||
      !vn_int_params (ctx, in->w_scale, in->w_zero, channels, &self->w, error) ||
      !vn_int_params (ctx, in->y_scale, in->y_zero, 1, &y, error))
    return FALSE;
  self->x_zero = vn_int_zero (x.zeros, 0);
  if (!self->requantized)
    return TRUE;
  if (x.scales == NULL || self->w.scales == NULL || y.scales == NULL)
    return vn_op_fail (ctx, error, _("the scales of input, weight and output are required"));
  self->x_scale = *x.scales;
  self->y_scale = *y.scales;
  self->y_zero = vn_int_zero (y.zeros, 0);
  if (!vn_op_has_input (ctx, (guint) in->bias))
    return TRUE;
  if (ctx->in[in->bias]->dtype != VN_DTYPE_S32 || ctx->in[in->bias]->n_elements != channels)
    return vn_op_fail (ctx, error, _("the bias must be one int32 for each of %zu channels"), channels);
  self->bias = ctx->in[in->bias]->data;
  return TRUE;
}

static gboolean
qlinear_conv_run_with (VnOpContext   *ctx,
                       const Inputs  *in,
                       GError       **error)
{
  IntConv self = { .ctx = ctx };
  gsize rows, sums, n_items;
  guint8 *scratch = ctx->scratch;

  if (!qlinear_conv_read_params (&self, ctx, in, error) ||
      !vn_conv_init_sizes (&self.conv, ctx, &self.x->shape, &ctx->in[in->w]->shape, error) ||
      !qlinear_conv_worker_bytes (&self.conv, &rows, &sums))
    return FALSE;
  self.step = vn_int_step (self.conv.depth);
  self.rows = (gint16 *) scratch;
  self.sums = (gint32 *) (scratch + rows * vn_op_max_workers ());
  self.weight = ctx->prepared;
  if (self.weight == NULL)
    {
      gint16 *weight = (gint16 *) (scratch + (rows + sums) * vn_op_max_workers ());

      qlinear_conv_load_weight (ctx->in[in->w], self.w.zeros, self.w.zero_step, weight);
      self.weight = weight;
    }
  self.n_tiles = (self.conv.out_size + PIXELS - 1) / PIXELS;
  n_items = self.conv.batch * self.conv.groups * self.n_tiles;
  vn_op_for_items (ctx, n_items, (double) (self.step * PIXELS) * (double) (self.conv.out_channels + 16) / 8, conv_tile,
                   &self);
  return TRUE;
}

static gboolean
qlinear_conv_run (VnOpContext *ctx,
                  GError     **error)
{
  return qlinear_conv_run_with (ctx, &qlinear, error);
}

static gboolean
conv_integer_run (VnOpContext *ctx,
                  GError     **error)
{
  return qlinear_conv_run_with (ctx, &integer, error);
}

const VnOp vn_op_conv_integer_10 = {
  .domain = "", .type = "ConvInteger", .since = 10,
  .min_inputs = 2, .max_inputs = 4, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_INT_BITS, [2] = VN_INT_BITS, [3] = VN_INT_BITS },
  .dtypes = VN_INT_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = conv_integer_infer,
  .run = conv_integer_run,
  .prepare = conv_integer_prepare,
  .release = g_free,
};

const VnOp vn_op_qlinear_conv_10 = {
  .domain = "", .type = "QLinearConv", .since = 10,
  .min_inputs = 8, .max_inputs = 9, .min_outputs = 1, .max_outputs = 1,
  .others = { [1] = VN_DTYPE_BIT (F32), [2] = VN_INT_BITS, [3] = VN_INT_BITS, [4] = VN_DTYPE_BIT (F32), [5] = VN_INT_BITS,
              [6] = VN_DTYPE_BIT (F32), [7] = VN_INT_BITS, [8] = VN_DTYPE_BIT (S32) },
  .dtypes = VN_INT_BITS,
  .family = VN_FAMILY_COMPUTE,
  .infer = qlinear_conv_infer,
  .run = qlinear_conv_run,
  .prepare = qlinear_conv_prepare,
  .release = g_free,
};
