/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution of single channels, one kernel each (the groups of a depthwise convolution).
 *
 * A band of lines is copied into scratch with its padding, columns sorted by their remainder modulo the stride: tap
 * kx then reads consecutive floats whatever the stride, and nothing inside needs a bounds check. */
#include "vn-conv.h"

#include <math.h>

#define LANES 16
#define MAX_TAPS 256
#define BAND_BYTES (96 * 1024)

/* A vector that may lie anywhere and alias floats. */
typedef float Lanes __attribute__ ((vector_size (LANES * sizeof (float)), aligned (4), may_alias));

/* Sizes of a band in scratch. */
typedef struct
{
  gsize phase;      /* columns of one remainder, with room to read past the end */
  gsize pitch;      /* one line: all remainders */
  gsize out_lines;  /* output lines of a full band */
  gsize elements;
} Band;

typedef struct
{
  const VnConv     *conv;
  const VnEpilogue *epilogue;
  const float      *x, *w;
  float            *y, *scratch;
  Band              band;
} Depthwise;

static gint64
span (const VnWindow *win,
      int             axis)
{
  return win->dilation[axis] * (win->kernel[axis] - 1) + 1;
}

static gboolean
band_init (Band         *self,
           const VnConv *conv)
{
  const VnWindow *win = &conv->window;
  gsize stride = (gsize) win->stride[2], lines, fit;
  gsize width = (gsize) ((win->out[2] - 1) * win->stride[2] + span (win, 2));

  self->phase = ((width + stride - 1) / stride + 2 * LANES - 1) / LANES * LANES;
  if (!vn_checked_mul (self->phase, stride, &self->pitch))
    return FALSE;
  fit = BAND_BYTES / sizeof (float) / self->pitch;
  self->out_lines = 1;
  if (fit > (gsize) span (win, 1))
    self->out_lines = MIN ((gsize) win->out[1], 1 + (fit - (gsize) span (win, 1)) / (gsize) win->stride[1]);
  lines = (self->out_lines - 1) * (gsize) win->stride[1] + (gsize) span (win, 1);
  return vn_checked_mul (self->pitch, lines, &self->elements) && self->elements <= G_MAXSIZE / 4096;
}

/**
 * vn_conv_is_depthwise:
 *
 * Returns: whether vn_conv_depthwise_run() can do this one
 */
gboolean
vn_conv_is_depthwise (const VnConv *self)
{
  const VnWindow *win = &self->window;
  Band band;

  return self->in_channels == 1 && self->groups > 1 && win->kernel[0] == 1 && win->in[0] == 1 && win->out[0] == 1 &&
         win->kernel[1] * win->kernel[2] <= MAX_TAPS && band_init (&band, self);
}

/**
 * vn_conv_depthwise_scratch:
 * @bytes: (out): memory for one band per thread
 */
gboolean
vn_conv_depthwise_scratch (const VnConv *self,
                           gsize        *bytes)
{
  Band band;

  return band_init (&band, self) && vn_checked_mul (band.elements * sizeof (float), vn_op_max_workers (), bytes);
}

/* One line of data into its place; @line is NULL above and below the data. */
VN_MULTIVERSION
static void
copy_line (const VnWindow *win,
           gsize           phase,
           const float    *line,
           float          *to)
{
  gint64 stride = win->stride[2], width = win->in[2], pad = win->begin[2];

  memset (to, 0, phase * (gsize) stride * sizeof (float));
  if (line == NULL)
    return;
  for (gint64 r = 0; r < stride; r++, to += phase)
    {
      /* Column j of remainder r is column j * stride + r - pad of the data. */
      gint64 first = MAX (0, (pad - r + stride - 1) / stride);
      gint64 end = width + pad - r > 0 ? (width + pad - r - 1) / stride + 1 : 0;
      const float *from = line + r - pad;

      end = MIN (end, (gint64) phase);
      if (stride == 1)
        for (gint64 j = first; j < end; j++)
          to[j] = from[j];
      else if (stride == 2)
        for (gint64 j = first; j < end; j++)
          to[j] = from[j * 2];
      else
        for (gint64 j = first; j < end; j++)
          to[j] = from[j * stride];
    }
}

VN_INLINE void
line_of_taps (const float * const *taps,
              const float         *w,
              int                  n_taps,
              float                bias,
              float               *y,
              gsize                n)
{
  gsize i = 0;

  for (; i < n; i += LANES)
    {
      Lanes sum = (Lanes) { 0 } + bias;

      for (int t = 0; t < n_taps; t++)
        sum += w[t] * *(const Lanes *) (taps[t] + i);
      if (n - i >= LANES)
        *(Lanes *) (y + i) = sum;
      else
        memcpy (y + i, &sum, (n - i) * sizeof (float));
    }
}

VN_MULTIVERSION
static void
compute_line (const float * const *taps,
              const float         *w,
              int                  n_taps,
              float                bias,
              float               *y,
              gsize                n)
{
  if (n_taps == 9)
    line_of_taps (taps, w, 9, bias, y, n);
  else if (n_taps == 25)
    line_of_taps (taps, w, 25, bias, y, n);
  else
    line_of_taps (taps, w, n_taps, bias, y, n);
}

static void
compute_band (const Depthwise *self,
              const float     *band,
              const float     *w,
              float            bias,
              gsize            n_lines,
              float           *y)
{
  const VnWindow *win = &self->conv->window;
  const float *taps[MAX_TAPS];
  int n_taps = 0;

  for (gint64 ky = 0; ky < win->kernel[1]; ky++)
    for (gint64 kx = 0; kx < win->kernel[2]; kx++)
      {
        gsize column = (gsize) (kx * win->dilation[2]), stride = (gsize) win->stride[2];

        taps[n_taps++] = band + (gsize) (ky * win->dilation[1]) * self->band.pitch +
                         column % stride * self->band.phase + column / stride;
      }
  for (gsize line = 0; line < n_lines; line++, y += win->out[2])
    {
      compute_line (taps, w, n_taps, bias, y, (gsize) win->out[2]);
      for (int t = 0; t < n_taps; t++)
        taps[t] += (gsize) win->stride[1] * self->band.pitch;
    }
}

static void
run_channel (gpointer data,
             gsize    item,
             guint    worker)
{
  const Depthwise *self = data;
  const VnConv *conv = self->conv;
  const VnWindow *win = &conv->window;
  gsize channels = conv->groups * conv->out_channels, channel = item % channels;
  const float *x = self->x + (item / channels * conv->groups + channel / conv->out_channels) * conv->in_size;
  const float *w = self->w + channel * conv->depth;
  float bias = self->epilogue->bias != NULL ? self->epilogue->bias[channel] : 0.f;
  float *y = self->y + item * conv->out_size, *band = self->scratch + worker * self->band.elements;
  VnEpilogue rest = *self->epilogue;

  rest.bias = NULL;
  for (gsize first = 0; first < (gsize) win->out[1]; first += self->band.out_lines)
    {
      gsize n = MIN (self->band.out_lines, (gsize) win->out[1] - first);
      gsize n_in = (n - 1) * (gsize) win->stride[1] + (gsize) span (win, 1);
      gint64 top = (gint64) first * win->stride[1] - win->begin[1];
      float *out = y + first * (gsize) win->out[2];

      for (gsize i = 0; i < n_in; i++)
        {
          gint64 line = top + (gint64) i;

          copy_line (win, self->band.phase, line >= 0 && line < win->in[1] ? x + line * win->in[2] : NULL,
                     band + i * self->band.pitch);
        }
      compute_band (self, band, w, bias, n, out);
      vn_epilogue_apply (&rest, out, channel, 1, n * (gsize) win->out[2], 0);
    }
}

/**
 * vn_conv_depthwise_run:
 *
 * Convolution with one input channel per group; see vn_conv_is_depthwise(). ctx->scratch must have the size
 * vn_conv_depthwise_scratch() tells.
 */
void
vn_conv_depthwise_run (const VnConv      *self,
                       const VnOpContext *ctx,
                       const VnEpilogue  *epilogue,
                       const float       *x,
                       const float       *w,
                       float             *y)
{
  Depthwise job = { self, epilogue, x, w, y, ctx->scratch };

  band_init (&job.band, self);
  vn_op_for_items (ctx, self->batch * self->groups * self->out_channels, (double) self->out_size * self->depth / 8,
                   run_channel, &job);
}
