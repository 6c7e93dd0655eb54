/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution of single channels in blocks: one vector of weights for each tap, one of data for each pixel. Taps that
 * see padding multiply zeros, as in vn-conv-depthwise.c, whose sums run in the same order. */
#include "vn-blocked-ends.h"
#include "vn-blocked-target.h"

enum { X, W, B };

#define MAX_TAPS 256
/* Pixels of one call: their sums, the weights of a line and the data fit into the registers. */
#define PIXELS 4
/* Lines that one thread computes in a row, in floats of the output. */
#define BAND_FLOATS 16384

typedef struct
{
  const VnBlockedWeight *weight;
  const VnConv          *conv;
  const VnEpilogue      *rest;
  const float           *x, *zeros;
  float                 *y;
  VnBlockedBands         bands;
  VnBlockedScale         scale;
  float                  low, high;
  gboolean               after;
  VnOpEnds              *ends;       /* nullable */
} Job;

/* What one line of the output is made of. */
typedef struct
{
  const VnSlidingWindow *win;
  const float    *lines[MAX_TAPS];   /* of the data, by line of the kernel */
  const float    *w, *bias, *zeros;
  const float    *factors, *shifts;  /* nullable */
  float           low, high;
  float          *ends;              /* nullable */
  gint64          begin;             /* padding to the left */
  gint64          first, end;        /* pixels computed in groups: they see no padding to the left and right */
} Line;

/* Multiplies and shifts @n vectors @result, an expression of p. */
#define SCALE(Vector, line, n, result)                                                                             \
  {                                                                                                                \
    const Vector factor_ = *(const Vector *) (line)->factors, shift_ = *(const Vector *) (line)->shifts;           \
                                                                                                                   \
    _Pragma ("GCC unroll 8")                                                                                       \
    for (int p = 0; p < n; p++)                                                                                    \
      result = result * factor_ + shift_;                                                                          \
  }

#define DEFINE_LINE(lanes, most)                                                                                   \
  typedef float Vector##lanes __attribute__ ((vector_size (lanes * sizeof (float)), aligned (4), may_alias));      \
                                                                                                                   \
  /* A group of pixels. */                                                                                         \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  inner_##lanes (const Line *self, int kh, int kw, gint64 stride, gint64 dilation, gint64 ox, float *y)            \
  {                                                                                                                \
    gint64 at = ox * stride - self->begin;                                                                         \
    const Vector##lanes *w = (const Vector##lanes *) self->w;                                                      \
    const float low = self->low, high = self->high;                                                                \
    Vector##lanes sum[PIXELS];                                                                                     \
                                                                                                                   \
    _Pragma ("GCC unroll 4")                                                                                       \
    for (int p = 0; p < PIXELS; p++)                                                                               \
      sum[p] = *(const Vector##lanes *) self->bias;                                                                \
    _Pragma ("GCC unroll 5")                                                                                       \
    for (int ky = 0; ky < kh; ky++)                                                                                \
      {                                                                                                            \
        const Vector##lanes *x = (const Vector##lanes *) self->lines[ky] + at;                                     \
                                                                                                                   \
        _Pragma ("GCC unroll 5")                                                                                   \
        for (int kx = 0; kx < kw; kx++, w++)                                                                       \
          _Pragma ("GCC unroll 4")                                                                                 \
          for (int p = 0; p < PIXELS; p++)                                                                         \
            sum[p] += *w * x[kx * dilation + p * stride];                                                          \
      }                                                                                                            \
    if (self->factors != NULL)                                                                                     \
      SCALE (Vector##lanes, self, PIXELS, sum[p])                                                                  \
    if (self->ends != NULL)                                                                                        \
      VN_BLOCKED_WIDEN (lanes, Vector##lanes, self->ends, PIXELS, sum[p])                                          \
    _Pragma ("GCC unroll 4")                                                                                       \
    for (int p = 0; p < PIXELS; p++)                                                                               \
      ((Vector##lanes *) y)[ox + p] = VN_CLAMP_##lanes (Vector##lanes, sum[p], low, high);                         \
  }                                                                                                                \
                                                                                                                   \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  edge_##lanes (const Line *self, gint64 ox, float *y)                                                             \
  {                                                                                                                \
    const VnSlidingWindow *win = self->win;                                                                        \
    const Vector##lanes *w = (const Vector##lanes *) self->w;                                                      \
    const float low = self->low, high = self->high;                                                                \
    Vector##lanes sum = *(const Vector##lanes *) self->bias;                                                       \
                                                                                                                   \
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)                                                                 \
      for (gint64 kx = 0; kx < win->kernel[2]; kx++, w++)                                                          \
        {                                                                                                          \
          gint64 at = ox * win->stride[2] + kx * win->dilation[2] - self->begin;                                   \
          const float *line = at >= 0 && at < win->in[2] ? self->lines[ky] + at * lanes : self->zeros;             \
                                                                                                                   \
          sum += *w * *(const Vector##lanes *) line;                                                               \
        }                                                                                                          \
    if (self->factors != NULL)                                                                                     \
      SCALE (Vector##lanes, self, 1, sum)                                                                          \
    if (self->ends != NULL)                                                                                        \
      VN_BLOCKED_WIDEN (lanes, Vector##lanes, self->ends, 1, sum)                                                  \
    ((Vector##lanes *) y)[ox] = VN_CLAMP_##lanes (Vector##lanes, sum, low, high);                                  \
  }                                                                                                                \
                                                                                                                   \
  /* As inner, of a kernel that is known: each pixel of the data is loaded once for all taps that see it. */       \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  known_##lanes (const Line *self, const int size, const int stride, const int pixels, gint64 ox, float *y)        \
  {                                                                                                                \
    gint64 at = ox * stride - self->begin;                                                                         \
    const Vector##lanes *w = (const Vector##lanes *) self->w;                                                      \
    const float low = self->low, high = self->high;                                                                \
    Vector##lanes sum[most];                                                                                       \
                                                                                                                   \
    _Pragma ("GCC unroll 8")                                                                                       \
    for (int p = 0; p < pixels; p++)                                                                               \
      sum[p] = *(const Vector##lanes *) self->bias;                                                                \
    _Pragma ("GCC unroll 5")                                                                                       \
    for (int ky = 0; ky < size; ky++, w += size)                                                                   \
      {                                                                                                            \
        const Vector##lanes *x = (const Vector##lanes *) self->lines[ky] + at;                                     \
                                                                                                                   \
        _Pragma ("GCC unroll 20")                                                                                  \
        for (int column = 0; column < (pixels - 1) * stride + size; column++)                                      \
          {                                                                                                        \
            Vector##lanes one = x[column];                                                                         \
            VN_KEEP_IN_REGISTER (one);                                                                             \
                                                                                                                   \
            _Pragma ("GCC unroll 8")                                                                               \
            for (int p = 0; p < pixels; p++)                                                                       \
              if (column - p * stride >= 0 && column - p * stride < size)                                          \
                sum[p] += w[column - p * stride] * one;                                                            \
          }                                                                                                        \
      }                                                                                                            \
    if (self->factors != NULL)                                                                                     \
      SCALE (Vector##lanes, self, pixels, sum[p])                                                                  \
    if (self->ends != NULL)                                                                                        \
      VN_BLOCKED_WIDEN (lanes, Vector##lanes, self->ends, pixels, sum[p])                                          \
    _Pragma ("GCC unroll 8")                                                                                       \
    for (int p = 0; p < pixels; p++)                                                                               \
      ((Vector##lanes *) y)[ox + p] = VN_CLAMP_##lanes (Vector##lanes, sum[p], low, high);                         \
  }                                                                                                                \
                                                                                                                   \
  /* The last group overlaps the one before. */                                                                    \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  known_whole_##lanes (const Line *self, const int size, const int stride, float *y)                               \
  {                                                                                                                \
    gint64 ox = self->first;                                                                                       \
                                                                                                                   \
    for (; ox + most <= self->end; ox += most)                                                                     \
      known_##lanes (self, size, stride, most, ox, y);                                                             \
    for (; ox < self->end; ox += PIXELS)                                                                           \
      known_##lanes (self, size, stride, PIXELS, MIN (ox, self->end - PIXELS), y);                                 \
  }                                                                                                                \
                                                                                                                   \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  whole_##lanes (const Line *self, int kh, int kw, gint64 stride, gint64 dilation, float *y)                       \
  {                                                                                                                \
    for (gint64 ox = self->first; ox < self->end; ox += PIXELS)                                                    \
      inner_##lanes (self, kh, kw, stride, dilation, MIN (ox, self->end - PIXELS), y);                             \
  }                                                                                                                \
                                                                                                                   \
  VN_TARGET_##lanes                                                                                                \
  static void                                                                                                      \
  line_##lanes (const Line *self, float *y)                                                                        \
  {                                                                                                                \
    const VnSlidingWindow *win = self->win;                                                                        \
    int kh = (int) win->kernel[1], kw = (int) win->kernel[2];                                                      \
    gint64 stride = win->stride[2], dilation = win->dilation[2];                                                   \
                                                                                                                   \
    for (gint64 ox = 0; ox < self->first; ox++)                                                                    \
      edge_##lanes (self, ox, y);                                                                                  \
    for (gint64 ox = self->end; ox < win->out[2]; ox++)                                                            \
      edge_##lanes (self, ox, y);                                                                                  \
    if (kh == 3 && kw == 3 && dilation == 1 && stride == 1)                                                        \
      known_whole_##lanes (self, 3, 1, y);                                                                         \
    else if (kh == 3 && kw == 3 && dilation == 1 && stride == 2)                                                   \
      known_whole_##lanes (self, 3, 2, y);                                                                         \
    else if (kh == 5 && kw == 5 && dilation == 1 && stride == 1)                                                   \
      known_whole_##lanes (self, 5, 1, y);                                                                         \
    else if (kh == 5 && kw == 5 && dilation == 1 && stride == 2)                                                   \
      known_whole_##lanes (self, 5, 2, y);                                                                         \
    else                                                                                                           \
      whole_##lanes (self, kh, kw, stride, dilation, y);                                                           \
  }

#if defined (__x86_64__)

/* With 32 registers there is room for more pixels. */
DEFINE_LINE (8, 4)
DEFINE_LINE (16, 8)

#endif

static void
blocked_depthwise_run_line (const Line *line,
                            gsize       lanes,
                            float      *y)
{
#if defined (__x86_64__)
  (lanes == 8 ? line_8 : line_16) (line, y);
#endif
}

static void
blocked_depthwise_line_init (Line       *self,
                             const Job  *job,
                             gsize       block)
{
  const VnSlidingWindow *win = &job->conv->window;
  gint64 room = win->in[2] + win->begin[2] - win->dilation[2] * (win->kernel[2] - 1) - 1;
  gsize lanes = job->weight->lanes;

  self->win = win;
  self->w = job->weight->weights + block * lanes * job->weight->depth;
  self->bias = job->weight->bias + block * lanes;
  self->zeros = job->zeros;
  self->factors = job->scale.factors != NULL ? job->scale.factors + block * lanes : NULL;
  self->shifts = job->scale.factors != NULL ? job->scale.shifts + block * lanes : NULL;
  self->low = job->low;
  self->high = job->high;
  self->begin = win->begin[2];
  self->first = MIN (win->out[2], (win->begin[2] + win->stride[2] - 1) / win->stride[2]);
  self->end = room < 0 ? 0 : MIN (win->out[2], room / win->stride[2] + 1);
  if (self->end - self->first < PIXELS)
    self->end = self->first;
}

static void
blocked_depthwise_run_item (gpointer data,
                            gsize    item,
                            guint    worker)
{
  const Job *self = data;
  const VnConv *conv = self->conv;
  const VnSlidingWindow *win = &conv->window;
  gsize lanes = self->weight->lanes, plane, block;
  const float *x;
  float *y;
  gint64 first, end;
  float ends[VN_BLOCKED_ENDS_VECTORS * VN_BLOCKED_MAX_LANES];
  Line line;

  vn_blocked_bands_find (&self->bands, item, &plane, &first, &end);
  block = plane % self->weight->n_blocks;
  x = self->x + plane * conv->in_size * lanes;
  y = self->y + plane * conv->out_size * lanes;
  blocked_depthwise_line_init (&line, self, block);
  line.ends = self->ends != NULL ? ends : NULL;
  if (self->ends != NULL)
    vn_blocked_ends_init (ends, 1, lanes);
  for (gint64 oy = first; oy < end; oy++)
    {
      float *to = y + (gsize) (oy * win->out[2]) * lanes;

      for (gint64 ky = 0; ky < win->kernel[1]; ky++)
        {
          gint64 iy = oy * win->stride[1] + ky * win->dilation[1] - win->begin[1];

          line.lines[ky] = iy >= 0 && iy < win->in[1] ? x + (gsize) (iy * win->in[2]) * lanes : self->zeros;
        }
      blocked_depthwise_run_line (&line, lanes, to);
      if (self->after)
        vn_blocked_finish (self->rest, lanes, to, (gsize) win->out[2]);
    }
  if (self->ends != NULL)
    vn_blocked_ends_tell (self->ends, ends, 1, lanes, block * lanes, self->weight->channels);
}

static gsize
depthwise_count_zeros (const VnConv *conv,
                       gsize         lanes)
{
  return (gsize) conv->window.in[2] * lanes;
}

static gboolean
depthwise_infer (VnOpContext *ctx,
                 GError     **error)
{
  guint lanes = vn_blocked_get_lanes ();
  VnConv conv;
  gsize scale;

  if (lanes == 0 ||
      !vn_conv_init_sizes (&conv, ctx, &ctx->in_types[X].shape, &ctx->in_types[W].shape, error) ||
      !vn_conv_is_depthwise (&conv) || conv.out_channels != 1 || conv.out_size == 0 || conv.batch == 0)
    return FALSE;
  /* a line of zeros, and a scale */
  return vn_checked_mul (2 * vn_blocked_count (conv.groups, lanes), lanes, &scale) &&
         vn_checked_add (depthwise_count_zeros (&conv, lanes), scale, &scale) &&
         vn_checked_mul (scale, sizeof (float), &ctx->scratch_bytes);
}

static gboolean
depthwise_prepare (VnOpContext  *ctx,
                   gpointer     *prepared,
                   GError      **error)
{
  *prepared = vn_blocked_weight_new (ctx->in[W], vn_op_has_input (ctx, B) ? ctx->in[B] : NULL,
                                     vn_blocked_get_lanes (), 1, error);
  return *prepared != NULL;
}

static void
depthwise_release (gpointer prepared)
{
  vn_blocked_weight_free (prepared);
}

static gboolean
depthwise_run (VnOpContext *ctx,
               GError     **error)
{
  VnEpilogue rest = { .base = ctx->out[0]->data };
  VnConv conv;
  Job job = { ctx->prepared, &conv, &rest, ctx->in[X]->data, ctx->scratch, ctx->out[0]->data };
  gsize line;

  if (!vn_conv_init_sizes (&conv, ctx, &ctx->in_types[X].shape, &ctx->in_types[W].shape, error))
    return FALSE;
  vn_epilogue_set_fused (&rest, ctx);
  vn_blocked_take_scale (&rest, job.weight, (float *) ctx->scratch + depthwise_count_zeros (&conv, job.weight->lanes),
                         &job.scale);
  vn_blocked_take_clamp (&rest, &job.low, &job.high);
  job.after = rest.map.active || !vn_epilogue_is_clamp (&rest);
  job.ends = ctx->ends;
  memset (ctx->scratch, 0, depthwise_count_zeros (&conv, job.weight->lanes) * sizeof (float));
  line = (gsize) conv.window.out[2] * job.weight->lanes;
  vn_blocked_bands_init (&job.bands, ctx, conv.batch * job.weight->n_blocks, (gsize) conv.window.out[1],
                         BAND_FLOATS / MAX (line, 1));
  vn_op_for_items (ctx, job.bands.n_items, (double) (job.bands.lines * line * conv.depth) / 12, blocked_depthwise_run_item, &job);
  return TRUE;
}

const VnOp vn_op_blocked_depthwise = {
  .domain = "", .type = "Conv", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_COMPUTE,
  .fuses_clamp = TRUE,
  .fuses_more = TRUE,
  .fuses_channels = TRUE,
  .fuses_pads = TRUE,
  .tells_ends = TRUE,
  .infer = depthwise_infer,
  .run = depthwise_run,
  .prepare = depthwise_prepare,
  .release = depthwise_release,
};
