/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of ConvTranspose, which is the gradient of a convolution: what comes back is that convolution. */
#include "vn-gradient-private.h"

#include "vn-columns.h"
#include "vn-linalg.h"

enum { X, W, B };

/**
 * Transposed:
 * @channels: of the data, in a group
 * @images: of the result, in a group
 * @depth: images × kernel
 */
typedef struct
{
  VnSlidingWindow window;
  gsize           batch, groups, channels, images, depth, x_size, y_size;
} Transposed;

static gboolean
gradient_conv_transpose_init (Transposed         *self,
                              VnGradientContext  *ctx,
                              GError            **error)
{
  const VnShape *x = &ctx->op.in[X]->shape, *w = &ctx->op.in[W]->shape;

  if (!vn_conv_transpose_init_window (&self->window, &ctx->op, x, w, error))
    return FALSE;
  self->batch = (gsize) x->dims[0];
  self->groups = (gsize) vn_node_get_int (ctx->op.node, "group", 1);
  self->channels = (gsize) x->dims[1] / self->groups;
  self->images = (gsize) w->dims[1];
  self->depth = self->images * (gsize) vn_sliding_window_get_volume (self->window.kernel);
  self->x_size = (gsize) vn_sliding_window_get_volume (self->window.out);
  self->y_size = (gsize) vn_sliding_window_get_volume (self->window.in);
  if (MAX (MAX (self->x_size, self->y_size), MAX (self->depth, self->channels)) <= G_MAXINT)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the convolution is too large to be trained"));
  return FALSE;
}

/* One sample and group. */
static void
gradient_conv_transpose_add (const Transposed *self,
                             const float      *x,
                             const float      *w,
                             const float      *dy,
                             float            *dx,
                             float            *dw,
                             float            *columns)
{
  gsize width = (gsize) self->window.out[2], n_lines = self->x_size / width,
  step = vn_columns_n_lines (&self->window, self->depth);

  for (gsize first = 0; first < n_lines; first += step)
    {
      gsize lines = MIN (step, n_lines - first), n = lines * width, at = first * width;

      vn_columns_unfold (&self->window, self->images, first, lines, dy, columns);
      if (dx != NULL)
        vn_linalg_add_product (dx + at, self->x_size, w, self->depth, FALSE, columns, n, FALSE, self->channels, n, self->depth,
                               1);
      if (dw != NULL)
        vn_linalg_add_product (dw, self->depth, x + at, self->x_size, FALSE, columns, n, TRUE, self->channels, self->depth, n, 1);
    }
}

static void
gradient_conv_transpose_add_all (const Transposed  *self,
                                 VnGradientContext *ctx,
                                 float             *columns)
{
  const float *x = ctx->op.in[X]->data, *w = ctx->op.in[W]->data, *dy = ctx->out_grads[0]->data;
  float *dx = vn_gradient_data (ctx->in_grads[X]), *dw = vn_gradient_data (ctx->in_grads[W]);

  for (gsize i = 0; i < self->batch; i++)
    for (gsize g = 0; g < self->groups; g++)
      {
        gsize at_x = (i * self->groups + g) * self->channels * self->x_size, at_w = g * self->channels * self->depth;

        gradient_conv_transpose_add (self, x + at_x, w + at_w, dy + (i * self->groups + g) * self->images * self->y_size,
                                     dx != NULL ? dx + at_x : NULL, dw != NULL ? dw + at_w : NULL, columns);
      }
}

gboolean
vn_gradient_conv_transpose (VnGradientContext  *ctx,
                            GError            **error)
{
  Transposed job;
  float *columns;
  gsize n;

  if (!gradient_conv_transpose_init (&job, ctx, error))
    return FALSE;
  if (ctx->op.n_inputs > B && ctx->in_grads[B] != NULL)
    vn_gradient_sum_planes (ctx->in_grads[B]->data, ctx->out_grads[0]->data, job.batch, job.groups * job.images, job.y_size);
  if (ctx->op.in[X]->n_elements == 0 || ctx->op.out[0]->n_elements == 0)
    return TRUE;
  n = vn_columns_n_lines (&job.window, job.depth) * (gsize) job.window.out[2];
  columns = vn_scratch_reserve (ctx->scratch, job.depth, n * sizeof *columns, error);
  if (columns == NULL)
    return FALSE;
  gradient_conv_transpose_add_all (&job, ctx, columns);
  return TRUE;
}
