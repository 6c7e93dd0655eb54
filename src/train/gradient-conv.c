/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of Conv: matrix products of unfolded images; with one channel in each group directly. */
#include "vn-gradient-private.h"

#include "vn-columns.h"
#include "vn-conv.h"
#include "vn-linalg.h"

enum { X, W, B };

/**
 * ConvGradient:
 * @x, @w, @dy: of the sample and group at hand
 * @dx, @dw: (nullable)
 */
typedef struct
{
  const VnConv *conv;
  const float  *x, *w, *dy;
  float        *dx, *dw;
} ConvGradient;

/* ---- matrix products ---- */

/* Columns are the image. */
static void
gradient_conv_add_plain (const ConvGradient *self)
{
  gsize m = self->conv->out_channels, k = self->conv->depth, n = self->conv->out_size;

  if (self->dw != NULL)
    vn_linalg_add_product (self->dw, k, self->dy, n, FALSE, self->x, n, TRUE, m, k, n, 1);
  if (self->dx != NULL)
    vn_linalg_add_product (self->dx, n, self->w, k, TRUE, self->dy, n, FALSE, k, n, m, 1);
}

static void
gradient_conv_add_unfolded (const ConvGradient *self,
                            float              *columns)
{
  const VnSlidingWindow *window = &self->conv->window;
  gsize m = self->conv->out_channels, k = self->conv->depth, n = self->conv->out_size, width = (gsize) window->out[2];
  gsize step = vn_columns_n_lines (window, k), n_lines = n / width;

  for (gsize first = 0; first < n_lines; first += step)
    {
      gsize lines = MIN (step, n_lines - first), part = lines * width;
      const float *dy = self->dy + first * width;

      if (self->dw != NULL)
        {
          vn_columns_unfold (window, self->conv->in_channels, first, lines, self->x, columns);
          vn_linalg_add_product (self->dw, k, dy, n, FALSE, columns, part, TRUE, m, k, part, 1);
        }
      if (self->dx == NULL)
        continue;
      memset (columns, 0, sizeof *columns * k * part);
      vn_linalg_add_product (columns, part, self->w, k, TRUE, dy, n, FALSE, k, part, m, 1);
      vn_columns_fold (window, self->conv->in_channels, first, lines, columns, self->dx);
    }
}

/* ---- one channel in a group ---- */

/* Outputs first .. last - 1 along an axis whose tap lies inside of the image. */
static void
gradient_conv_find_inside (const VnSlidingWindow *window,
                           int                    axis,
                           gint64                 tap,
                           gint64                *first,
                           gint64                *last)
{
  gint64 offset = tap * window->dilation[axis] - window->begin[axis], stride = window->stride[axis];

  *first = MIN (offset >= 0 ? 0 : (-offset + stride - 1) / stride, window->out[axis]);
  *last = CLAMP (window->in[axis] - offset <= 0 ? 0 : (window->in[axis] - offset + stride - 1) / stride, *first,
                 window->out[axis]);
}

/* What one tap of the kernel adds, and its products. */
VN_INLINE void
gradient_conv_line (const float *x,
                    const float *dy,
                    float       *dx,
                    float        w,
                    gsize        n,
                    gsize        stride,
                    float       *sums)
{
  gsize i;

  for (i = 0; i + VN_SUM_LANES <= n; i += VN_SUM_LANES)
    for (gsize k = 0; k < VN_SUM_LANES; k++)
      sums[k] += x[(i + k) * stride] * dy[i + k];
  for (gsize k = 0; i < n; i++, k++)
    sums[k] += x[i * stride] * dy[i];
  for (i = 0; dx != NULL && i < n; i++)
    dx[i * stride] += w * dy[i];
}

VN_INLINE float
gradient_conv_tap (const VnSlidingWindow *window,
                   const gint64           tap[3],
                   const float           *x,
                   const float           *dy,
                   float                 *dx,
                   float                  w,
                   gint64                 stride)
{
  float sums[VN_SUM_LANES] = { 0 }, sum = 0;
  gint64 from[3], to[3], at[3];

  for (int a = 0; a < 3; a++)
    {
      gradient_conv_find_inside (window, a, tap[a], &from[a], &to[a]);
      at[a] = tap[a] * window->dilation[a] - window->begin[a];
    }
  for (gint64 d = from[0]; d < to[0] && from[2] < to[2]; d++)
    for (gint64 h = from[1]; h < to[1]; h++)
      {
        gint64 line = (d * window->stride[0] + at[0]) * window->in[1] + h * window->stride[1] + at[1];
        gint64 place = line * window->in[2] + from[2] * stride + at[2];

        gradient_conv_line (x + place, dy + (d * window->out[1] + h) * window->out[2] + from[2], dx != NULL ? dx + place : NULL,
                            w,
                            (gsize) (to[2] - from[2]), (gsize) stride, sums);
      }
  for (gsize k = 0; k < VN_SUM_LANES; k++)
    sum += sums[k];
  return sum;
}

/* The common strides are constants, so that there are loops of vectors for them. */
VN_INLINE float
gradient_conv_any_tap (const VnSlidingWindow *window,
                       const gint64           tap[3],
                       const float           *x,
                       const float           *dy,
                       float                 *dx,
                       float                  w)
{
  if (window->stride[2] == 1)
    return gradient_conv_tap (window, tap, x, dy, dx, w, 1);
  if (window->stride[2] == 2)
    return gradient_conv_tap (window, tap, x, dy, dx, w, 2);
  return gradient_conv_tap (window, tap, x, dy, dx, w, window->stride[2]);
}

VN_MULTIVERSION static void
gradient_conv_add_depthwise (const ConvGradient *self)
{
  const VnSlidingWindow *window = &self->conv->window;
  gsize at = 0;

  for (gsize m = 0; m < self->conv->out_channels; m++)
    for (gint64 d = 0; d < window->kernel[0]; d++)
      for (gint64 h = 0; h < window->kernel[1]; h++)
        for (gint64 w = 0; w < window->kernel[2]; w++, at++)
          {
            gint64 tap[] = { d, h, w };
            float sum = gradient_conv_any_tap (window, tap, self->x, self->dy + m * self->conv->out_size, self->dx, self->w[at]);

            if (self->dw != NULL)
              self->dw[at] += sum;
          }
}

/* ---- Conv ---- */

/* The sample and group whose matrices are multiplied. */
static ConvGradient
gradient_conv_get_part (const VnConv      *conv,
                        VnGradientContext *ctx,
                        gsize              sample,
                        gsize              group)
{
  gsize part = sample * conv->groups + group, at_x = part * conv->in_channels * conv->in_size;
  gsize at_w = group * conv->out_channels * conv->depth;
  float *dx = vn_gradient_data (ctx->in_grads[X]), *dw = vn_gradient_data (ctx->in_grads[W]);

  return (ConvGradient) {
    .conv = conv, .x = (const float *) ctx->op.in[X]->data + at_x, .w = (const float *) ctx->op.in[W]->data + at_w,
    .dy = (const float *) ctx->out_grads[0]->data + part * conv->out_channels * conv->out_size,
    .dx = dx != NULL ? dx + at_x : NULL, .dw = dw != NULL ? dw + at_w : NULL,
  };
}

static gboolean
gradient_conv_check (const VnConv *conv,
                     GError      **error)
{
  gsize n;

  if (conv->out_size <= G_MAXINT && conv->in_size <= G_MAXINT && conv->depth <= G_MAXINT && conv->out_channels <= G_MAXINT &&
      vn_checked_mul (conv->depth, (gsize) conv->window.out[2], &n))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the convolution is too large to be trained"));
  return FALSE;
}

gboolean
vn_gradient_conv (VnGradientContext  *ctx,
                  GError            **error)
{
  float *columns = NULL;
  gboolean is_plain, is_direct;
  VnConv conv;

  if (!vn_conv_init_sizes (&conv, &ctx->op, &ctx->op.in[X]->shape, &ctx->op.in[W]->shape, error) ||
      !gradient_conv_check (&conv, error))
    return FALSE;
  if (ctx->op.out[0]->n_elements == 0)
    return TRUE;
  is_direct = conv.in_channels == 1 && conv.groups > 1;
  is_plain = !is_direct && vn_columns_is_plain (&conv.window);
  if (!is_direct && !is_plain)
    {
      gsize lines = vn_columns_n_lines (&conv.window, conv.depth);

      columns = vn_scratch_reserve (ctx->scratch, conv.depth * (gsize) conv.window.out[2], lines * sizeof *columns, error);
      if (columns == NULL)
        return FALSE;
    }
  for (gsize i = 0; i < conv.batch; i++)
    for (gsize g = 0; g < conv.groups; g++)
      {
        ConvGradient part = gradient_conv_get_part (&conv, ctx, i, g);

        if (is_direct)
          gradient_conv_add_depthwise (&part);
        else if (is_plain)
          gradient_conv_add_plain (&part);
        else
          gradient_conv_add_unfolded (&part, columns);
      }
  if (ctx->op.n_inputs > B && ctx->in_grads[B] != NULL)
    vn_gradient_sum_planes (ctx->in_grads[B]->data, ctx->out_grads[0]->data, conv.batch, conv.groups * conv.out_channels,
                            conv.out_size);
  return TRUE;
}
