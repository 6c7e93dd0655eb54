/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolutions of float64, which hardly a network has: tap by tap, without any memory of their own. */
#include "vn-conv-double.h"

typedef struct
{
  const VnConv *conv;
  const double *x, *w, *bias;
  double       *y;
} Job;

/* The output columns from @first to @end for which column @at + i * stride of @n lies inside. */
static void
conv_double_clip_columns (const VnSlidingWindow *win,
                          gint64          at,
                          gint64         *first,
                          gint64         *end)
{
  gint64 stride = win->stride[2];

  *first = at >= 0 ? 0 : (-at + stride - 1) / stride;
  *end = at >= win->in[2] ? 0 : MIN (win->out[2], (win->in[2] - 1 - at) / stride + 1);
}

/* One tap of the window. @wide has the sizes `in` of the window, @small those of `out`; the transposed convolution
 * goes from the small to the wide. */
static void
conv_double_add_tap (const VnSlidingWindow *win,
                     gsize           tap,
                     double          factor,
                     double         *wide,
                     double         *small,
                     gboolean        transpose)
{
  gint64 kx = (gint64) tap % win->kernel[2], ky = (gint64) tap / win->kernel[2] % win->kernel[1];
  gint64 kz = (gint64) tap / win->kernel[2] / win->kernel[1], first, end;
  gint64 at = kx * win->dilation[2] - win->begin[2];

  conv_double_clip_columns (win, at, &first, &end);
  for (gint64 line = 0; line < win->out[0] * win->out[1]; line++)
    {
      gint64 iz = line / win->out[1] * win->stride[0] + kz * win->dilation[0] - win->begin[0];
      gint64 iy = line % win->out[1] * win->stride[1] + ky * win->dilation[1] - win->begin[1];
      double *a = wide, *b = small + line * win->out[2];

      if (iz < 0 || iz >= win->in[0] || iy < 0 || iy >= win->in[1])
        continue;
      a += (iz * win->in[1] + iy) * win->in[2];
      for (gint64 i = first; i < end; i++)
        if (transpose)
          a[i * win->stride[2] + at] += factor * b[i];
        else
          b[i] += factor * a[i * win->stride[2] + at];
    }
}

static void
conv_double_fill (const Job *self,
                  double    *y,
                  gsize      n,
                  gsize      channel)
{
  for (gsize i = 0; i < n; i++)
    y[i] = self->bias != NULL ? self->bias[channel] : 0;
}

/* One channel of output of one sample. */
static void
conv_plane (gpointer data,
            gsize    item,
            guint    worker)
{
  const Job *self = data;
  const VnConv *s = self->conv;
  gsize taps = (gsize) vn_sliding_window_get_volume (s->window.kernel), channels = s->groups * s->out_channels;
  gsize channel = item % channels, group = channel / s->out_channels, sample = item / channels;
  double *y = self->y + item * s->out_size;

  conv_double_fill (self, y, s->out_size, channel);
  for (gsize c = 0; c < s->in_channels; c++)
    for (gsize t = 0; t < taps; t++)
      conv_double_add_tap (&s->window, t, self->w[(channel * s->in_channels + c) * taps + t],
                           (double *) self->x + ((sample * s->groups + group) * s->in_channels + c) * s->in_size, y, FALSE);
}

static void
conv_double_transpose_plane (gpointer data,
                             gsize    item,
                             guint    worker)
{
  const Job *self = data;
  const VnConv *s = self->conv;
  gsize taps = (gsize) vn_sliding_window_get_volume (s->window.kernel), channels = s->groups * s->out_channels;
  gsize channel = item % channels, group = channel / s->out_channels, sample = item / channels;
  double *y = self->y + item * s->out_size;

  conv_double_fill (self, y, s->out_size, channel);
  for (gsize c = 0; c < s->in_channels; c++)
    for (gsize t = 0; t < taps; t++)
      conv_double_add_tap (&s->window, t,
                           self->w[((group * s->in_channels + c) * s->out_channels + channel % s->out_channels) * taps + t], y,
                           (double *) self->x + ((sample * s->groups + group) * s->in_channels + c) * s->in_size, TRUE);
}

static void
conv_double_run (const VnConv      *self,
                 const VnOpContext *ctx,
                 Job               *job,
                 VnOpItemFunc       plane)
{
  const double volume = (double) vn_sliding_window_get_volume (self->window.kernel);

  vn_op_for_items (ctx, self->batch * self->groups * self->out_channels,
                   (double) self->in_channels * (double) self->in_size * volume, plane, job);
}

/**
 * vn_conv_double_run:
 * @bias: (nullable): one number per channel of @y
 *
 * y = x convolved with w.
 */
void
vn_conv_double_run (const VnConv      *self,
                    const VnOpContext *ctx,
                    const double      *x,
                    const double      *w,
                    const double      *bias,
                    double            *y)
{
  conv_double_run (self, ctx, &(Job) { self, x, w, bias, y }, conv_plane);
}

/**
 * vn_conv_double_transpose:
 * @self: its window is that of the convolution whose gradient this is; in_size is that of a channel of @x and out_size
 *   of @y
 * @w: groups * in_channels, out_channels, kernel
 * @bias: (nullable): one number per channel of @y
 *
 * y = the gradient of that convolution for its data, where @x is that of its result.
 */
void
vn_conv_double_transpose (const VnConv      *self,
                          const VnOpContext *ctx,
                          const double      *x,
                          const double      *w,
                          const double      *bias,
                          double            *y)
{
  conv_double_run (self, ctx, &(Job) { self, x, w, bias, y }, conv_double_transpose_plane);
}
