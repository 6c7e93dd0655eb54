/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ConvTranspose: the gradient of a convolution: each input pixel adds its kernel, times its value, to the output,
 * y[n,m, i * stride + k * dilation - padding] += sum over c of w[c,m,k] x[n,c,i].
 *
 * For a block of output channels and a few lines of input at a time, the products of one matrix product (taps x
 * pixels) are added where they belong. */
#include "vn-conv-double.h"
#include "vn-gemm-general.h"

enum { X, W, B };

/* About how many bytes of products are held at once, and of how many output channels. */
#define PRODUCT_BYTES (512 * 1024)
#define BLOCK 16

#define MAX_SIZE ((gint64) 1 << 30)

/**
 * Transposed: the window is that of the convolution whose gradient this is, so `in` of the window is the size of y
 * here and `out` the size of x.
 */
typedef struct
{
  VnSlidingWindow window;
  gsize    batch, groups;
  gsize    in_channels, out_channels;  /* of one group */
  gsize    x_size, y_size, taps;
  gsize    block;                      /* output channels done together */
  gsize    lines;                      /* lines of input done together */
} Transposed;

/* The output size where that of the input is open. */
static gint64
conv_transpose_open_output (const VnSlidingWindow *win,
                            VnDims         *dims,
                            int             a,
                            gint64          output_padding,
                            gint64          wanted,
                            const char     *auto_pad)
{
  gint64 full;

  if (wanted >= 0 || win->kernel[a] < 0)
    return MAX (wanted, VN_DIM_UNKNOWN);
  full = vn_dims_add (dims, vn_dims_mul (dims, vn_dims_add (dims, win->out[a], -1), win->stride[a]),
                      win->dilation[a] * (win->kernel[a] - 1) + 1 + output_padding);
  if (g_str_has_prefix (auto_pad, "SAME_"))
    return vn_dims_as_size (dims, vn_dims_min (dims, vn_dims_mul (dims, win->out[a], win->stride[a]), full));
  return vn_dims_as_size (dims, vn_dims_add (dims, full, -win->begin[a] - win->end[a]));
}

/* ONNX gives the sizes either from padding or, with output_shape, the padding from the sizes. */
static gboolean
conv_transpose_resolve_axis (Transposed   *self,
                             VnOpContext  *ctx,
                             int           a,
                             gint64        output_padding,
                             gint64        wanted,
                             const char   *auto_pad,
                             GError      **error)
{
  VnSlidingWindow *win = &self->window;
  gint64 full, total;

  if (win->out[a] < 0 || win->kernel[a] < 0)
    {
      win->in[a] = conv_transpose_open_output (win, vn_op_get_dims (ctx, win->out[a]), a, output_padding, wanted, auto_pad);
      return TRUE;
    }
  full = (win->out[a] - 1) * win->stride[a] + win->dilation[a] * (win->kernel[a] - 1) + 1 + output_padding;

  /* A kernel smaller than the stride does not reach so far; ONNX Runtime adds nothing then. */
  if (wanted < 0 && g_str_has_prefix (auto_pad, "SAME_"))
    wanted = MIN (win->out[a] * win->stride[a], full);
  if (wanted >= 0)
    {
      total = MAX (0, full - wanted);
      win->begin[a] = g_str_equal (auto_pad, "SAME_UPPER") ? total / 2 : total - total / 2;
      win->end[a] = total - win->begin[a];
      win->in[a] = wanted;
    }
  else
    win->in[a] = full - win->begin[a] - win->end[a];
  if (win->in[a] < 1)
    return vn_op_fail (ctx, error, _("padding %lld leaves an output of size %lld empty"),
                       (long long) (win->begin[a] + win->end[a]), (long long) full);
  return TRUE;
}

static gboolean
conv_transpose_read_window (Transposed     *self,
                            VnOpContext    *ctx,
                            const VnShape  *x,
                            const VnShape  *w,
                            GError        **error)
{
  VnSlidingWindow *win = &self->window;
  g_autofree char *auto_pad = vn_node_dup_string (ctx->node, "auto_pad", "NOTSET");
  int n = x->rank - 2, first = 3 - n;
  gint64 kernel[VN_MAX_RANK], pads[6], extra[3], shape[VN_MAX_RANK];
  gsize n_shape;
  const gint64 *output_shape = vn_node_get_ints (ctx->node, "output_shape", &n_shape);

  *win = (VnSlidingWindow) { .n_spatial = n, .kernel = { 1, 1, 1 }, .in = { 1, 1, 1 }, .out = { 1, 1, 1 },
                      .stride = { 1, 1, 1 }, .dilation = { 1, 1, 1 } };
  if (!vn_sliding_window_get_kernel (ctx, w, n, kernel, error) ||
      !vn_sliding_window_get_ints (ctx, "strides", n, 1, 1, win->stride + first, error) ||
      !vn_sliding_window_get_ints (ctx, "dilations", n, 1, 1, win->dilation + first, error) ||
      !vn_sliding_window_get_ints (ctx, "pads", 2 * n, 0, 0, pads, error) ||
      !vn_sliding_window_get_ints (ctx, "output_padding", n, 0, 0, extra, error))
    return FALSE;
  /* Some exporters give batch and channels as well. */
  if (output_shape != NULL && n_shape == (gsize) n + 2)
    output_shape += 2;
  else if (output_shape != NULL && n_shape > 0 && n_shape != (gsize) n)
    return vn_op_fail (ctx, error, _("output_shape has %zu values, expected %d"), n_shape, n);
  for (int i = 0; i < n; i++)
    shape[i] = output_shape != NULL && n_shape > 0 ? output_shape[i] : -1;

  memcpy (win->kernel + first, kernel, sizeof (gint64) * n);
  memcpy (win->out + first, x->dims + 2, sizeof (gint64) * n);
  for (int i = 0; i < n; i++)
    {
      win->begin[first + i] = g_str_equal (auto_pad, "NOTSET") ? pads[i] : 0;
      win->end[first + i] = g_str_equal (auto_pad, "NOTSET") ? pads[n + i] : 0;
    }
  for (int i = 0; i < n; i++)
    if (win->out[first + i] > MAX_SIZE || win->kernel[first + i] > MAX_SIZE)
      return vn_op_fail (ctx, error, _("an axis of %lld is too large"),
                         (long long) MAX (win->out[first + i], win->kernel[first + i]));
    else if (!conv_transpose_resolve_axis (self, ctx, first + i, extra[i], shape[i], auto_pad, error))
      return FALSE;
  return TRUE;
}

static gboolean
conv_transpose_transposed_init (Transposed     *self,
                                VnOpContext    *ctx,
                                const VnShape  *x,
                                const VnShape  *w,
                                GError        **error)
{
  gint64 groups = vn_node_get_int (ctx->node, "group", 1);
  gsize line;

  if (groups < 1 || w->dims[0] % groups != 0 || x->dims[1] != w->dims[0] || w->dims[1] > G_MAXINT64 / groups)
    return vn_op_fail (ctx, error, _("%lld input channels, weight for %lld"
                                     ", %lld groups"), (long long) x->dims[1], (long long) w->dims[0],
                                     (long long) groups);
  if (!conv_transpose_read_window (self, ctx, x, w, error))
    return FALSE;
  self->batch = (gsize) x->dims[0];
  self->groups = (gsize) groups;
  self->in_channels = (gsize) (w->dims[0] / groups);
  self->out_channels = (gsize) w->dims[1];
  self->x_size = (gsize) vn_sliding_window_get_volume (self->window.out);
  self->y_size = (gsize) vn_sliding_window_get_volume (self->window.in);
  self->taps = (gsize) vn_sliding_window_get_volume (self->window.kernel);
  self->block = CLAMP (self->out_channels, 1, BLOCK);
  if (!vn_checked_mul (self->block * sizeof (float), self->taps, &line) ||
      !vn_checked_mul (line, (gsize) self->window.out[2], &line))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the convolution is too large for this machine"));
      return FALSE;
    }
  self->lines = (gsize) CLAMP ((gint64) (PRODUCT_BYTES / MAX (line, 1)), 1,
                               MAX (self->window.out[0] * self->window.out[1], 1));
  return TRUE;
}

/**
 * vn_conv_transpose_init_window:
 * @self: (out): of the convolution whose gradient this is: `in` is the size of the result, `out` that of the data
 * @x, @w: static shapes of data and weight
 *
 * Returns: %FALSE if they do not fit
 */
gboolean
vn_conv_transpose_init_window (VnSlidingWindow *self,
                               VnOpContext     *ctx,
                               const VnShape   *x,
                               const VnShape   *w,
                               GError         **error)
{
  Transposed job;

  if (!conv_transpose_transposed_init (&job, ctx, x, w, error))
    return FALSE;
  *self = job.window;
  return TRUE;
}

static gboolean
conv_transpose_infer (VnOpContext *ctx,
                      GError     **error)
{
  const VnShape *x = &ctx->in_types[X].shape, *w = &ctx->in_types[W].shape;
  VnShape y = VN_SHAPE_UNKNOWN;
  gint64 groups = vn_node_get_int (ctx->node, "group", 1);
  Transposed job;
  gsize bytes;

  if (!vn_op_check_alike (ctx, 0x6, error))
    return FALSE;
  if (x->rank >= 0 && w->rank >= 0 && (x->rank != w->rank || x->rank < 3 || x->rank > 5))
    return vn_op_fail (ctx, error, _("input rank %d and weight rank %d: expected equal ranks from 3 to 5"), x->rank,
                       w->rank);
  if (!vn_shape_is_static (x) || !vn_shape_is_static (w))
    {
      y.rank = MAX (x->rank, w->rank);
      for (int i = 0; i < y.rank; i++)
        y.dims[i] = VN_DIM_UNKNOWN;
      if (x->rank > 0)
        y.dims[0] = x->dims[0];
      if (w->rank > 1 && w->dims[1] >= 0 && w->dims[1] <= MAX_SIZE && groups > 0 && groups <= MAX_SIZE)
        y.dims[1] = w->dims[1] * groups;
      if (x->rank >= 0 && w->rank >= 0)
        {
          if (!conv_transpose_read_window (&job, ctx, x, w, error))
            return FALSE;
          memcpy (y.dims + 2, job.window.in + 3 - job.window.n_spatial, sizeof (gint64) * job.window.n_spatial);
        }
      vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &y);
      return TRUE;
    }

  if (!conv_transpose_transposed_init (&job, ctx, x, w, error))
    return FALSE;
  y = *x;
  y.dims[1] = w->dims[1] * (gint64) job.groups;
  memcpy (y.dims + 2, job.window.in + 3 - job.window.n_spatial, sizeof (gint64) * job.window.n_spatial);
  vn_op_set_output (ctx, 0, ctx->in_types[X].dtype, &y);
  if (!vn_checked_mul (job.block * job.taps * sizeof (float), job.lines * (gsize) job.window.out[2], &bytes) ||
      !vn_checked_mul (bytes, vn_op_max_workers (), &ctx->scratch_bytes))
    return vn_op_fail (ctx, error, _("the products do not fit in memory"));
  return TRUE;
}

/* Adds one line of products: column i goes to i * stride + @at. */
VN_MULTIVERSION
static void
conv_transpose_add_line (const VnSlidingWindow *win,
                         const float    *products,
                         gint64          at,
                         float          *y)
{
  gint64 stride = win->stride[2];
  gint64 first = at >= 0 ? 0 : (-at + stride - 1) / stride;
  gint64 end = at >= win->in[2] ? 0 : MIN (win->out[2], (win->in[2] - 1 - at) / stride + 1);

  if (stride == 1)
    for (gint64 i = first; i < end; i++)
      y[at + i] += products[i];
  else if (stride == 2)
    for (gint64 i = first; i < end; i++)
      y[at + i * 2] += products[i];
  else
    for (gint64 i = first; i < end; i++)
      y[at + i * stride] += products[i];
}

/* Adds the products of one tap and lines @first .. @first + @n - 1 of input to one output channel. */
static void
conv_transpose_add_tap (const VnSlidingWindow *win,
                        const float    *products,
                        gint64          tap,
                        gint64          first,
                        gint64          n,
                        float          *y)
{
  gint64 kx = tap % win->kernel[2], ky = tap / win->kernel[2] % win->kernel[1], kz = tap / win->kernel[2] / win->kernel[1];

  for (gint64 line = first; line < first + n; line++, products += win->out[2])
    {
      gint64 oz = line / win->out[1] * win->stride[0] + kz * win->dilation[0] - win->begin[0];
      gint64 oy = line % win->out[1] * win->stride[1] + ky * win->dilation[1] - win->begin[1];

      if (oz >= 0 && oz < win->in[0] && oy >= 0 && oy < win->in[1])
        conv_transpose_add_line (win, products, kx * win->dilation[2] - win->begin[2], y + (oz * win->in[1] + oy) * win->in[2]);
    }
}

typedef struct
{
  const VnOpContext *ctx;
  Transposed         sizes;
  VnEpilogue         epilogue;
  gsize              n_blocks;
} Job;

/* @w and @y: of the first of @n output channels */
static void
conv_transpose_add_lines (const Transposed *s,
                          const float      *x,
                          const float      *w,
                          gsize             n,
                          gsize             first,
                          gsize             n_lines,
                          float            *products,
                          float            *y)
{
  gsize width = (gsize) s->window.out[2], pixels = n_lines * width;

  vn_gemm_general (TRUE, FALSE, n * s->taps, pixels, s->in_channels, 1.f, w, s->out_channels * s->taps,
                   x + first * width, s->x_size, 0.f, products, pixels);
  for (gsize m = 0; m < n; m++)
    for (gsize t = 0; t < s->taps; t++)
      conv_transpose_add_tap (&s->window, products + (m * s->taps + t) * pixels, (gint64) t, (gint64) first, (gint64) n_lines,
                              y + m * s->y_size);
}

static void
conv_transpose_run_block (gpointer data,
                          gsize    item,
                          guint    worker)
{
  const Job *self = data;
  const Transposed *s = &self->sizes;
  gsize channel = item % self->n_blocks * s->block, n = MIN (s->block, s->out_channels - channel);
  gsize plane = item / self->n_blocks, group = plane % s->groups;
  gsize width = (gsize) s->window.out[2], all = width > 0 ? s->x_size / width : 0;
  const float *x = (const float *) self->ctx->in[X]->data + plane * s->in_channels * s->x_size;
  const float *w = (const float *) self->ctx->in[W]->data +
                   (group * s->in_channels * s->out_channels + channel) * s->taps;
  float *y = (float *) self->ctx->out[0]->data + (plane * s->out_channels + channel) * s->y_size;
  float *products = (float *) self->ctx->scratch + worker * s->block * s->taps * s->lines * width;

  memset (y, 0, n * s->y_size * sizeof (float));
  for (gsize first = 0; first < all; first += s->lines)
    conv_transpose_add_lines (s, x, w, n, first, MIN (s->lines, all - first), products, y);
  vn_epilogue_apply (&self->epilogue, y, group * s->out_channels + channel, n, s->y_size, s->y_size);
}

static void
conv_transpose_run_double (VnOpContext      *ctx,
                           const Transposed *s)
{
  VnConv conv = { s->window, s->batch, s->groups, s->in_channels, s->out_channels, s->x_size, s->y_size, 0 };

  vn_conv_double_transpose (&conv, ctx, ctx->in[X]->data, ctx->in[W]->data,
                            vn_op_has_input (ctx, B) ? ctx->in[B]->data : NULL, ctx->out[0]->data);
}

static gboolean
conv_transpose_run (VnOpContext *ctx,
                    GError     **error)
{
  Job job = { ctx };

  if (!conv_transpose_transposed_init (&job.sizes, ctx, &ctx->in[X]->shape, &ctx->in[W]->shape, error))
    return FALSE;
  if (ctx->in[X]->dtype == VN_DTYPE_F64)
    {
      conv_transpose_run_double (ctx, &job.sizes);
      return TRUE;
    }
  job.epilogue.bias = vn_op_has_input (ctx, B) ? ctx->in[B]->data : NULL;
  vn_epilogue_set_fused (&job.epilogue, ctx);
  job.n_blocks = (job.sizes.out_channels + job.sizes.block - 1) / job.sizes.block;
  vn_op_for_items (ctx, job.sizes.batch * job.sizes.groups * job.n_blocks,
                   (double) job.sizes.block * job.sizes.taps * job.sizes.x_size * job.sizes.in_channels / 16,
                   conv_transpose_run_block, &job);
  return TRUE;
}

const VnOp vn_op_conv_transpose_1 = {
  .domain = "", .type = "ConvTranspose", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64),
  .stand_ins = VN_STAND_IN_HALVES,
  .same_dtype = 1u << 1 | 1u << 2,
  .family = VN_FAMILY_COMPUTE,
  .quant = { VN_QUANT_COMPUTE, W, B, 1, TRUE },
  .fuses_clamp = TRUE,
  .infer = conv_transpose_infer,
  .run = conv_transpose_run,
};
