/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poolings over 1 to 3 spatial axes. Lines of the data that a line of output sees are first combined into one, element
 * by element; then the columns of that one. Padding takes no part, except in the divisor of an average that counts it. */
#include "vn-pool.h"

#include <math.h>

typedef struct
{
  VnSlidingWindow    win;
  const VnOpContext *ctx;
  const VnPoolKind  *kind;
  float              p;              /* exponent of LpPool */
  gboolean           count_padding;
  gsize              unit;           /* elements at a pixel: several if the data are blocked (vn-blocked.h) */
  gsize              in_size, out_size, item_bytes;
} Pool;

/* How many taps of a window that starts at @at lie in [low, high). */
static gint64
pool_taps_inside (const Pool *self,
                  int         axis,
                  gint64      at,
                  gint64      low,
                  gint64      high)
{
  gint64 dilation = self->win.dilation[axis], kernel = self->win.kernel[axis];
  gint64 first = at >= low ? 0 : (low - at + dilation - 1) / dilation;
  gint64 end = at >= high ? 0 : MIN (kernel, (high - 1 - at) / dilation + 1);

  return MAX (0, end - first);
}

static gint64
pool_taps_counted (const Pool *self,
                   int         axis,
                   gint64      out)
{
  const VnSlidingWindow *win = &self->win;
  gint64 at = out * win->stride[axis] - win->begin[axis];

  if (self->count_padding)
    return pool_taps_inside (self, axis, at, -win->begin[axis], win->in[axis] + win->end[axis]);
  return pool_taps_inside (self, axis, at, 0, win->in[axis]);
}

/* Combines all lines that output line (oz, oy) sees into @line. Returns whether there was one. */
static gboolean
pool_combine_lines (const Pool   *self,
                    const guint8 *x,
                    gint64        oz,
                    gint64        oy,
                    gpointer      line)
{
  const VnSlidingWindow *win = &self->win;
  gboolean any = FALSE;

  for (gint64 kz = 0; kz < win->kernel[0]; kz++)
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)
      {
        gint64 iz = oz * win->stride[0] + kz * win->dilation[0] - win->begin[0];
        gint64 iy = oy * win->stride[1] + ky * win->dilation[1] - win->begin[1];

        if (iz < 0 || iz >= win->in[0] || iy < 0 || iy >= win->in[1])
          continue;
        self->kind->lines (x + (gsize) ((iz * win->in[1] + iy) * win->in[2]) * self->unit * self->item_bytes, line,
                           (gsize) win->in[2] * self->unit, self->p, !any);
        any = TRUE;
      }
  return any;
}

static void
pool_combine_columns (const Pool *self,
                      const void *line,
                      gpointer    y)
{
  const VnSlidingWindow *win = &self->win;
  gint64 stride = win->stride[2];

  self->kind->fill (y, (gsize) win->out[2] * self->unit);
  for (gint64 kx = 0; line != NULL && kx < win->kernel[2]; kx++)
    {
      gint64 at = kx * win->dilation[2] - win->begin[2];
      gint64 first = at >= 0 ? 0 : (-at + stride - 1) / stride;
      gint64 end = at >= win->in[2] ? 0 : MIN (win->out[2], (win->in[2] - 1 - at) / stride + 1);

      if (first < end && self->unit > 1)
        self->kind->blocks ((const float *) line + (gsize) (first * stride + at) * self->unit,
                            (float *) y + (gsize) first * self->unit, self->unit, (gsize) stride, (gsize) (end - first));
      else if (first < end)
        self->kind->columns ((const guint8 *) line + (gsize) (first * stride + at) * self->item_bytes,
                             (guint8 *) y + (gsize) first * self->item_bytes, (gsize) stride, (gsize) (end - first));
    }
}

static void
pool_finish_average (const Pool *self,
                     gint64      oz,
                     gint64      oy,
                     gpointer    y)
{
  const VnSlidingWindow *win = &self->win;
  gint64 lines = pool_taps_counted (self, 0, oz) * pool_taps_counted (self, 1, oy);

  for (gint64 ox = 0; ox < win->out[2]; ox++)
    {
      gint64 count = lines * pool_taps_counted (self, 2, ox);

      if (self->item_bytes == sizeof (double))
        ((double *) y)[ox] = count > 0 ? ((double *) y)[ox] / (double) count : 0;
      else
        for (gsize i = (gsize) ox * self->unit; i < (gsize) (ox + 1) * self->unit; i++)
          ((float *) y)[i] = count > 0 ? ((float *) y)[i] / (float) count : 0.f;
    }
}

static void
pool_finish_lp (const Pool *self,
                gpointer    line)
{
  float *y = line;
  double *y64 = line;

  for (gint64 ox = 0; ox < self->win.out[2] && self->p != 1.f; ox++)
    if (self->item_bytes == sizeof (double))
      y64[ox] = self->p == 2.f ? sqrt (y64[ox]) : pow (y64[ox], 1 / (double) self->p);
    else
      y[ox] = self->p == 2.f ? sqrtf (y[ox]) : powf (y[ox], 1.f / self->p);
}

static void
pool_plane (gpointer data,
            gsize    item,
            guint    worker)
{
  const Pool *self = data;
  const VnSlidingWindow *win = &self->win;
  const guint8 *x = (const guint8 *) self->ctx->in[0]->data + item * self->in_size * self->item_bytes;
  guint8 *y = (guint8 *) self->ctx->out[0]->data + item * self->out_size * self->item_bytes;
  gpointer line = (guint8 *) self->ctx->scratch + worker * (gsize) win->in[2] * self->unit * self->item_bytes;

  for (gint64 oz = 0; oz < win->out[0]; oz++)
    for (gint64 oy = 0; oy < win->out[1]; oy++, y += (gsize) win->out[2] * self->unit * self->item_bytes)
      {
        gboolean any = pool_combine_lines (self, x, oz, oy, line);

        pool_combine_columns (self, any ? line : NULL, y);
        if (self->kind->finish == VN_POOL_AVERAGE)
          pool_finish_average (self, oz, oy, y);
        else if (self->kind->finish == VN_POOL_LP)
          pool_finish_lp (self, y);
      }
}

static gboolean
pool_run_kind (VnOpContext      *ctx,
               const VnPoolKind *kind,
               GError          **error)
{
  const VnTensor *x = ctx->in[0];
  const VnShape *shape = &ctx->in_types[0].shape;
  Pool pool = { .ctx = ctx, .kind = kind };

  if (!vn_sliding_window_init_pool (&pool.win, ctx, shape, error))
    return FALSE;
  pool.unit = x->shape.rank > shape->rank ? (gsize) x->shape.dims[shape->rank] : 1;
  pool.p = vn_pool_exponent (ctx);
  pool.count_padding = vn_node_get_int (ctx->node, "count_include_pad", 0) != 0;
  pool.in_size = (gsize) vn_sliding_window_get_volume (pool.win.in) * pool.unit;
  pool.out_size = (gsize) vn_sliding_window_get_volume (pool.win.out) * pool.unit;
  pool.item_bytes = vn_dtype_get_bits (x->dtype) / 8;
  vn_op_for_items (ctx, (gsize) (x->shape.dims[0] * x->shape.dims[1]),
                   (double) pool.out_size * (double) vn_sliding_window_get_volume (pool.win.kernel), pool_plane, &pool);
  return TRUE;
}

/* ---- with positions ---- */

/* Position of the maximum in the whole tensor, as MaxUnpool wants it. */
static gint64
pool_position (const VnSlidingWindow *win,
               gsize           plane,
               gint64          z,
               gint64          y,
               gint64          x,
               gboolean        column_major)
{
  gint64 base = (gint64) plane * vn_sliding_window_get_volume (win->in);

  if (column_major)
    return base + z + win->in[0] * (y + win->in[1] * x);
  return base + (z * win->in[1] + y) * win->in[2] + x;
}

static void
pool_max_at (const VnSlidingWindow *win,
             const VnTensor *tensor,
             gsize           plane,
             const gint64    out[3],
             gint64          best[3])
{
  double max = 0;

  best[0] = -1;
  for (gint64 i = 0; i < vn_sliding_window_get_volume (win->kernel); i++)
    {
      gint64 at[3], k[3] = { i / win->kernel[2] / win->kernel[1], i / win->kernel[2] % win->kernel[1],
                             i % win->kernel[2] };
      gboolean inside = TRUE;
      double v;

      for (int a = 0; a < 3; a++)
        {
          at[a] = out[a] * win->stride[a] + k[a] * win->dilation[a] - win->begin[a];
          inside = inside && at[a] >= 0 && at[a] < win->in[a];
        }
      if (!inside)
        continue;
      v = vn_tensor_get_double (tensor, (gsize) pool_position (win, plane, at[0], at[1], at[2], FALSE));
      if (best[0] < 0 || v > max)
        {
          max = v;
          memcpy (best, at, sizeof at);
        }
    }
}

static void
pool_find_positions (VnOpContext    *ctx,
                     const VnSlidingWindow *win)
{
  gboolean column_major = vn_node_get_int (ctx->node, "storage_order", 0) != 0;
  gsize planes = (gsize) (ctx->in[0]->shape.dims[0] * ctx->in[0]->shape.dims[1]);
  gint64 *to = ctx->out[1]->data;
  gint64 best[3], out[3];

  for (gsize plane = 0; plane < planes; plane++)
    for (out[0] = 0; out[0] < win->out[0]; out[0]++)
      for (out[1] = 0; out[1] < win->out[1]; out[1]++)
        for (out[2] = 0; out[2] < win->out[2]; out[2]++)
          {
            pool_max_at (win, ctx->in[0], plane, out, best);
            *to++ = best[0] < 0 ? -1 : pool_position (win, plane, best[0], best[1], best[2], column_major);
          }
}

/**
 * vn_pool_run_max:
 *
 * `run` of MaxPool; the data may be blocked if the second output is not wanted.
 */
gboolean
vn_pool_run_max (VnOpContext  *ctx,
                 GError      **error)
{
  VnSlidingWindow win;

  if (!pool_run_kind (ctx, vn_pool_max_kind (ctx->in[0]->dtype), error))
    return FALSE;
  if (ctx->n_outputs < 2 || ctx->out[1] == NULL)
    return TRUE;
  if (!vn_sliding_window_init_pool (&win, ctx, &ctx->in[0]->shape, error))
    return FALSE;
  pool_find_positions (ctx, &win);
  return TRUE;
}

/**
 * vn_pool_run_average:
 *
 * `run` of AveragePool; the data may be blocked.
 */
gboolean
vn_pool_run_average (VnOpContext  *ctx,
                     GError      **error)
{
  return pool_run_kind (ctx, vn_pool_average_kind (ctx->in[0]->dtype), error);
}

/**
 * vn_pool_run_lp:
 *
 * `run` of LpPool.
 */
gboolean
vn_pool_run_lp (VnOpContext  *ctx,
                GError      **error)
{
  return pool_run_kind (ctx, vn_pool_lp_kind (ctx->in[0]->dtype), error);
}
