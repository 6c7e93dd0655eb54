/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution of single channels, one kernel each (the groups of a depthwise convolution).
 *
 * A band of lines is copied into scratch with its padding, columns sorted by their remainder modulo the stride: tap
 * kx then reads consecutive floats whatever the stride, and nothing inside needs a bounds check. */
#include "vn-blocked-target.h"
#include "vn-conv.h"
#include "vn-lanes.h"
#include "vn-machine.h"

#include <math.h>

#define LANES VN_LANES
#define MAX_TAPS 256
#define BAND_BYTES (96 * 1024)
#define CHANNELS 8   /* that one thread computes in a row */

/* Sizes of a band in scratch. */
typedef struct
{
  gsize phase;      /* columns of one remainder, with room to read past the end */
  gsize pitch;      /* one line: all remainders */
  gsize out_lines;  /* output lines of a full band */
  gsize elements;
} Band;

/* @band: first column of the first line; @offsets: of each of @n taps from a column on; @w: a weight for each; @line_pitch:
 * floats from one line of the output to the next, in the band. */
typedef struct
{
  const float *band, *w;
  const gsize *offsets;
  int          n;
  float        bias;
  gsize        line_pitch;
} Taps;

/* @y: @n_lines of @width; @room floats may be written there: later lines. */
typedef void (*TapsFunc) (const Taps *taps,
                          gsize       n_lines,
                          float      *y,
                          gsize       width,
                          gsize       room);

typedef struct
{
  const VnConv     *conv;
  const VnEpilogue *epilogue;
  const float      *x, *w;
  float            *y, *scratch;
  Band              band;
  TapsFunc          compute_taps;
} Depthwise;

static gint64
conv_depthwise_span (const VnSlidingWindow *win,
                     int             axis)
{
  return win->dilation[axis] * (win->kernel[axis] - 1) + 1;
}

static gboolean
conv_depthwise_band_init (Band         *self,
                          const VnConv *conv)
{
  const VnSlidingWindow *win = &conv->window;
  gsize stride = (gsize) win->stride[2], lines, fit;
  gsize width = (gsize) ((win->out[2] - 1) * win->stride[2] + conv_depthwise_span (win, 2));

  self->phase = ((width + stride - 1) / stride + 2 * LANES - 1) / LANES * LANES;
  if (!vn_checked_mul (self->phase, stride, &self->pitch))
    return FALSE;
  fit = BAND_BYTES / sizeof (float) / self->pitch;
  self->out_lines = 1;
  if (fit > (gsize) conv_depthwise_span (win, 1))
    self->out_lines = MIN ((gsize) win->out[1], 1 + (fit - (gsize) conv_depthwise_span (win, 1)) / (gsize) win->stride[1]);
  lines = (self->out_lines - 1) * (gsize) win->stride[1] + (gsize) conv_depthwise_span (win, 1);
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
  const VnSlidingWindow *win = &self->window;
  Band band;

  return self->in_channels == 1 && self->groups > 1 && win->kernel[0] == 1 && win->in[0] == 1 && win->out[0] == 1 &&
         win->kernel[1] * win->kernel[2] <= MAX_TAPS && conv_depthwise_band_init (&band, self);
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

  return conv_depthwise_band_init (&band, self) && vn_checked_mul (band.elements * sizeof (float), vn_op_max_workers (), bytes);
}

/* The columns of one line whose position leaves remainder @r, as far as they are inside the data. */
VN_INLINE void
copy_remainder (const VnSlidingWindow *win,
                gint64          stride,
                gsize           phase,
                const float    *line,
                gint64          room,
                gint64          r,
                float          *to)
{
  gint64 pad = win->begin[2];
  /* Column j of remainder r is column j * stride + r - pad of the data. */
  gint64 first = MAX (0, (pad - r + stride - 1) / stride);
  gint64 end = win->in[2] + pad - r > 0 ? (win->in[2] + pad - r - 1) / stride + 1 : 0;
  gint64 column = first * stride + r - pad;

  end = MIN (end, (gint64) phase - LANES);
  if (end > first)
    vn_lanes_copy_every (line + column, stride, end - first, room - column, to + first);
}

/* Lines of data into their places. The padding around them is left as it is: 0. */
VN_MULTIVERSION
static void
depthwise_copy_lines (const VnSlidingWindow *win,
                      const Band     *band,
                      const float    *x,
                      gint64          top,      /* line of the data that is line 0 of the band */
                      gint64          n_lines,
                      float          *lines)
{
  float *to;
  gint64 stride = win->stride[2], width = win->in[2], end = win->in[1] * width;

  for (gint64 i = MAX (0, -top); i < n_lines && top + i < win->in[1]; i++)
    {
      gint64 at = (top + i) * width;

      to = lines + (gsize) i * band->pitch;
      if (stride == 1)
        copy_remainder (win, 1, band->phase, x + at, end - at, 0, to);
      else if (stride == 2)
        {
          copy_remainder (win, 2, band->phase, x + at, end - at, 0, to);
          copy_remainder (win, 2, band->phase, x + at, end - at, 1, to + band->phase);
        }
      else
        for (gint64 r = 0; r < stride; r++, to += band->phase)
          copy_remainder (win, stride, band->phase, x + at, end - at, r, to);
    }
}

/* ---- sums, by instruction set ---- */

/* Lines that are computed together. */
#define ROWS 4

#if defined (__x86_64__)

#define TAPS_NAME(name) name##_v4
#define TAPS_TARGET VN_TARGET_16
#define TAPS_LANES 16
#define TAPS_VECTORS 1
#include "vn-depthwise-template.h"

#define TAPS_NAME(name) name##_v3
#define TAPS_TARGET VN_TARGET_8
#define TAPS_LANES 8
#define TAPS_VECTORS 2
#include "vn-depthwise-template.h"

#endif

#define TAPS_NAME(name) name##_any
#define TAPS_TARGET VN_FUSED
#define TAPS_LANES 4
#define TAPS_VECTORS 2
#include "vn-depthwise-template.h"

static TapsFunc
conv_depthwise_get_taps_func (void)
{
#if defined (__x86_64__)
  switch (vn_machine_get_level ())
    {
    case VN_LEVEL_V4:
      return compute_taps_v4;
    case VN_LEVEL_V3:
      return compute_taps_v3;
    default:
      break;
    }
#endif
  return compute_taps_any;
}

static int
conv_depthwise_find_taps (const Depthwise *self,
                          gsize           *taps)
{
  const VnSlidingWindow *win = &self->conv->window;
  gsize stride = (gsize) win->stride[2];
  int n_taps = 0;

  for (gint64 ky = 0; ky < win->kernel[1]; ky++)
    for (gint64 kx = 0; kx < win->kernel[2]; kx++)
      {
        gsize column = (gsize) (kx * win->dilation[2]);

        taps[n_taps++] = (gsize) (ky * win->dilation[1]) * self->band.pitch + column % stride * self->band.phase +
                         column / stride;
      }
  return n_taps;
}

static void
conv_depthwise_run_channel (const Depthwise *self,
                            gsize            plane,      /* batch and output channel */
                            const gsize     *taps,
                            int              n_taps,
                            gboolean         clear,
                            float           *band)
{
  const VnConv *conv = self->conv;
  const VnSlidingWindow *win = &conv->window;
  gsize channels = conv->groups * conv->out_channels, channel = plane % channels;
  const float *x = self->x + (plane / channels * conv->groups + channel / conv->out_channels) * conv->in_size;
  float *y = self->y + plane * conv->out_size;
  gsize width = (gsize) win->out[2];
  const Taps all = { band, self->w + channel * conv->depth, taps, n_taps, self->epilogue->bias != NULL
                     ? self->epilogue->bias[channel] : 0.f,
                     (gsize) win->stride[1] * self->band.pitch };

  for (gsize first = 0; first < (gsize) win->out[1]; first += self->band.out_lines)
    {
      gsize n = MIN (self->band.out_lines, (gsize) win->out[1] - first);
      gsize n_in = (n - 1) * (gsize) win->stride[1] + (gsize) conv_depthwise_span (win, 1);

      if (clear || n < (gsize) win->out[1])
        memset (band, 0, self->band.elements * sizeof (float));
      depthwise_copy_lines (win, &self->band, x, (gint64) first * win->stride[1] - win->begin[1], (gint64) n_in, band);
      self->compute_taps (&all, n, y + first * width, width, conv->out_size - first * width);
    }
}

static void
conv_depthwise_run_channels (gpointer data,
                             gsize    item,
                             guint    worker)
{
  const Depthwise *self = data;
  const VnConv *conv = self->conv;
  gsize n = conv->batch * conv->groups * conv->out_channels;
  gsize first = item * CHANNELS, end = MIN (n, first + CHANNELS);
  float *band = self->scratch + worker * self->band.elements;
  gsize taps[MAX_TAPS];
  int n_taps = conv_depthwise_find_taps (self, taps);
  VnEpilogue rest = *self->epilogue;

  rest.bias = NULL;
  for (gsize plane = first; plane < end; plane++)
    {
      conv_depthwise_run_channel (self, plane, taps, n_taps, plane == first, band);
      vn_epilogue_apply (&rest, self->y + plane * conv->out_size, plane % (conv->groups * conv->out_channels), 1,
                         conv->out_size, 0);
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
  Depthwise job = { self, epilogue, x, w, y, ctx->scratch, .compute_taps = conv_depthwise_get_taps_func () };
  gsize n = self->batch * self->groups * self->out_channels;

  conv_depthwise_band_init (&job.band, self);
  vn_op_for_items (ctx, (n + CHANNELS - 1) / CHANNELS, (double) self->out_size * self->depth / 8 * CHANNELS,
                   conv_depthwise_run_channels, &job);
}
