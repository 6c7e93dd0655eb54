/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients of AveragePool and MaxPool: windows give back what they cost, to all they see or to the largest. */
#include "vn-gradient-private.h"

#include "vn-sliding-window.h"

typedef struct
{
  VnSlidingWindow window;
  gboolean        is_max, counts_padding;
} Pool;

/* One window of a plane: taps first .. last - 1 along each axis lie in the picture; @at is where tap 0 does. */
typedef struct
{
  gint64 at[3], first[3], last[3];
} PoolView;

static gint64
gradient_pool_count_taps (const VnSlidingWindow *window,
                          int                    axis,
                          gint64                 at,
                          gint64                 low,
                          gint64                 high,
                          gint64                *first)
{
  gint64 dilation = window->dilation[axis], end = at >= high ? 0 : MIN (window->kernel[axis], (high - 1 - at) / dilation + 1);

  *first = at >= low ? 0 : (low - at + dilation - 1) / dilation;
  return MAX (0, end - *first);
}

/* Returns: how many elements an average is made of */
static gint64
gradient_pool_see (const Pool   *self,
                   const gint64  out[3],
                   PoolView     *view)
{
  const VnSlidingWindow *window = &self->window;
  gint64 n = 1, first;

  for (int a = 0; a < 3; a++)
    {
      gint64 seen;

      view->at[a] = out[a] * window->stride[a] - window->begin[a];
      seen = gradient_pool_count_taps (window, a, view->at[a], 0, window->in[a], &view->first[a]);
      view->last[a] = view->first[a] + seen;
      n *= self->counts_padding ? gradient_pool_count_taps (window, a, view->at[a], -window->begin[a],
                                                            window->in[a] + window->end[a], &first)
                                : seen;
    }
  return n;
}

static gsize
gradient_pool_place (const VnSlidingWindow *window,
                     const PoolView        *view,
                     gint64                 kd,
                     gint64                 kh,
                     gint64                 kw)
{
  gint64 d = view->at[0] + kd * window->dilation[0], h = view->at[1] + kh * window->dilation[1];

  return (gsize) ((d * window->in[1] + h) * window->in[2] + view->at[2] + kw * window->dilation[2]);
}

/* The first of the largest gets all. */
static void
gradient_pool_give_back (const Pool     *self,
                         const PoolView *view,
                         const float    *x,
                         float           dy,
                         float          *dx)
{
  gsize best = G_MAXSIZE;

  for (gint64 kd = view->first[0]; kd < view->last[0]; kd++)
    for (gint64 kh = view->first[1]; kh < view->last[1]; kh++)
      for (gint64 kw = view->first[2]; kw < view->last[2]; kw++)
        {
          gsize place = gradient_pool_place (&self->window, view, kd, kh, kw);

          if (!self->is_max)
            dx[place] += dy;
          else if (best == G_MAXSIZE || x[place] > x[best])
            best = place;
        }
  if (best != G_MAXSIZE)
    dx[best] += dy;
}

static void
gradient_pool_plane (const Pool  *self,
                     const float *x,
                     const float *dy,
                     float       *dx)
{
  gint64 out[3];

  for (out[0] = 0; out[0] < self->window.out[0]; out[0]++)
    for (out[1] = 0; out[1] < self->window.out[1]; out[1]++)
      for (out[2] = 0; out[2] < self->window.out[2]; out[2]++, dy++)
        {
          PoolView view;
          gint64 n = gradient_pool_see (self, out, &view);

          if (n > 0)
            gradient_pool_give_back (self, &view, x, self->is_max ? *dy : *dy / (float) n, dx);
        }
}

static gboolean
gradient_pool_run (VnGradientContext  *ctx,
                   gboolean            is_max,
                   GError            **error)
{
  const VnTensor *x = ctx->op.in[0];
  Pool pool = { .is_max = is_max, .counts_padding = !is_max && vn_node_get_int (ctx->op.node, "count_include_pad", 0) != 0 };
  gsize n_planes, in, out;

  if (ctx->out_grads[0] == NULL)   /* positions have no gradient */
    return TRUE;
  if (!vn_sliding_window_init_pool (&pool.window, &ctx->op, &x->shape, error))
    return FALSE;
  n_planes = (gsize) (x->shape.dims[0] * x->shape.dims[1]);
  in = (gsize) vn_sliding_window_get_volume (pool.window.in);
  out = (gsize) vn_sliding_window_get_volume (pool.window.out);
  for (gsize i = 0; i < n_planes; i++)
    gradient_pool_plane (&pool, (const float *) x->data + i * in, (const float *) ctx->out_grads[0]->data + i * out,
                         (float *) ctx->in_grads[0]->data + i * in);
  return TRUE;
}

gboolean
vn_gradient_average_pool (VnGradientContext  *ctx,
                          GError            **error)
{
  return gradient_pool_run (ctx, FALSE, error);
}

gboolean
vn_gradient_max_pool (VnGradientContext  *ctx,
                      GError            **error)
{
  return gradient_pool_run (ctx, TRUE, error);
}
