/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MaxPool of blocked data with a small window: the lines that a column of it sees are compared in registers. Compares in
 * the order of op-pool.c, which does the others. */
#include "vn-blocked-private.h"
#include "vn-blocked-target.h"
#include "vn-pool.h"

#include <math.h>

/* Larger windows are faster line by line, as op-pool.c does it. */
#define MAX_KERNEL 3
/* Pixels of one call. */
#define PIXELS 4
/* Lines that one thread computes in a row, in floats of the output. */
#define BAND_FLOATS 16384

typedef struct
{
  VnSlidingWindow win;
  const float    *x;
  float          *y;
  gsize           lanes;
  VnBlockedBands  bands;
} Job;

/* What one line of the output is made of. */
typedef struct
{
  const VnSlidingWindow *win;
  const float           *lines[MAX_KERNEL];
  int                    n_lines;      /* of the window that are not padding */
  gint64                 first, end;   /* pixels that see no padding to the left and right */
} Line;

#define DEFINE_LINE(lanes)                                                                                         \
  typedef float Vector##lanes __attribute__ ((vector_size (lanes * sizeof (float)), aligned (4), may_alias));      \
                                                                                                                   \
  VN_TARGET_##lanes VN_INLINE Vector##lanes                                                                        \
  column_##lanes (const Line *self, int n_lines, gint64 at)                                                        \
  {                                                                                                                \
    Vector##lanes max = ((const Vector##lanes *) self->lines[0])[at];                                              \
                                                                                                                   \
    _Pragma ("GCC unroll 3")                                                                                       \
    for (int l = 1; l < n_lines; l++)                                                                              \
      max = VN_LARGER_##lanes (Vector##lanes, max, ((const Vector##lanes *) self->lines[l])[at]);                  \
    return max;                                                                                                    \
  }                                                                                                                \
                                                                                                                   \
  /* A group of pixels, of a window that is known. */                                                              \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  known_##lanes (const Line *self, const int size, const int stride, gint64 ox, float *y)                          \
  {                                                                                                                \
    gint64 at = ox * stride - self->win->begin[2];                                                                 \
    Vector##lanes max[PIXELS];                                                                                     \
                                                                                                                   \
    _Pragma ("GCC unroll 9")                                                                                       \
    for (int column = 0; column < (PIXELS - 1) * stride + size; column++)                                          \
      {                                                                                                            \
        Vector##lanes one = column_##lanes (self, size, at + column);                                              \
                                                                                                                   \
        _Pragma ("GCC unroll 4")                                                                                   \
        for (int p = 0; p < PIXELS; p++)                                                                           \
          if (column == p * stride)                                                                                \
            max[p] = one;                                                                                          \
          else if (column > p * stride && column < p * stride + size)                                              \
            max[p] = VN_LARGER_##lanes (Vector##lanes, max[p], one);                                               \
      }                                                                                                            \
    _Pragma ("GCC unroll 4")                                                                                       \
    for (int p = 0; p < PIXELS; p++)                                                                               \
      ((Vector##lanes *) y)[ox + p] = max[p];                                                                      \
  }                                                                                                                \
                                                                                                                   \
  /* The last group overlaps the one before. */                                                                    \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  whole_##lanes (const Line *self, const int size, const int stride, float *y)                                     \
  {                                                                                                                \
    for (gint64 ox = self->first; ox < self->end; ox += PIXELS)                                                    \
      known_##lanes (self, size, stride, MIN (ox, self->end - PIXELS), y);                                         \
  }                                                                                                                \
                                                                                                                   \
  VN_TARGET_##lanes VN_INLINE void                                                                                 \
  any_##lanes (const Line *self, gint64 ox, float *y)                                                              \
  {                                                                                                                \
    const VnSlidingWindow *win = self->win;                                                                        \
    Vector##lanes max = (float) -INFINITY - (Vector##lanes) { 0 };                                                 \
                                                                                                                   \
    for (gint64 kx = 0; kx < win->kernel[2] && self->n_lines > 0; kx++)                                            \
      {                                                                                                            \
        gint64 at = ox * win->stride[2] + kx * win->dilation[2] - win->begin[2];                                   \
                                                                                                                   \
        if (at >= 0 && at < win->in[2])                                                                            \
          max = VN_LARGER_##lanes (Vector##lanes, max, column_##lanes (self, self->n_lines, at));                  \
      }                                                                                                            \
    ((Vector##lanes *) y)[ox] = max;                                                                               \
  }                                                                                                                \
                                                                                                                   \
  VN_TARGET_##lanes                                                                                                \
  static void                                                                                                      \
  max_line_##lanes (const Line *self, float *y)                                                                    \
  {                                                                                                                \
    const VnSlidingWindow *win = self->win;                                                                        \
    gint64 size = win->kernel[2], stride = win->stride[2];                                                         \
    gboolean known = win->kernel[1] == size && self->n_lines == size && win->dilation[2] == 1 &&                   \
                     (size == 2 || size == 3) && (stride == 1 || stride == 2);                                     \
    gint64 first = known ? self->first : win->out[2], end = known ? self->end : win->out[2];                       \
                                                                                                                   \
    for (gint64 ox = 0; ox < first; ox++)                                                                          \
      any_##lanes (self, ox, y);                                                                                   \
    for (gint64 ox = end; ox < win->out[2]; ox++)                                                                  \
      any_##lanes (self, ox, y);                                                                                   \
    if (known && size == 2 && stride == 1)                                                                         \
      whole_##lanes (self, 2, 1, y);                                                                               \
    else if (known && size == 2)                                                                                   \
      whole_##lanes (self, 2, 2, y);                                                                               \
    else if (known && stride == 1)                                                                                 \
      whole_##lanes (self, 3, 1, y);                                                                               \
    else if (known)                                                                                                \
      whole_##lanes (self, 3, 2, y);                                                                               \
  }

#if defined (__x86_64__)

DEFINE_LINE (8)
DEFINE_LINE (16)

#endif

static void
blocked_max_run_line (const Line *line,
                      gsize       lanes,
                      float      *y)
{
#if defined (__x86_64__)
  (lanes == 8 ? max_line_8 : max_line_16) (line, y);
#endif
}

static void
blocked_max_line_init (Line                  *self,
                       const VnSlidingWindow *win)
{
  gint64 room = win->in[2] + win->begin[2] - win->dilation[2] * (win->kernel[2] - 1) - 1;

  self->win = win;
  self->first = MIN (win->out[2], (win->begin[2] + win->stride[2] - 1) / win->stride[2]);
  self->end = room < 0 ? 0 : MIN (win->out[2], room / win->stride[2] + 1);
  if (self->end - self->first < PIXELS)
    self->end = self->first;
}

static void
blocked_max_run_item (gpointer data,
                      gsize    item,
                      guint    worker)
{
  const Job *self = data;
  const VnSlidingWindow *win = &self->win;
  const float *x;
  float *y;
  gsize plane;
  gint64 first, end;
  Line line;

  vn_blocked_bands_find (&self->bands, item, &plane, &first, &end);
  x = self->x + plane * (gsize) (win->in[1] * win->in[2]) * self->lanes;
  y = self->y + plane * (gsize) (win->out[1] * win->out[2]) * self->lanes;
  blocked_max_line_init (&line, win);
  for (gint64 oy = first; oy < end; oy++)
    {
      line.n_lines = 0;
      for (gint64 ky = 0; ky < win->kernel[1]; ky++)
        {
          gint64 iy = oy * win->stride[1] + ky * win->dilation[1] - win->begin[1];

          if (iy >= 0 && iy < win->in[1])
            line.lines[line.n_lines++] = x + (gsize) (iy * win->in[2]) * self->lanes;
        }
      blocked_max_run_line (&line, self->lanes, y + (gsize) (oy * win->out[2]) * self->lanes);
    }
}

static gboolean
blocked_max_is_small (const VnSlidingWindow *win)
{
  return win->n_spatial <= 2 && win->kernel[1] <= MAX_KERNEL && win->kernel[2] <= MAX_KERNEL;
}

/**
 * vn_blocked_run_max:
 *
 * `run` of MaxPool of blocked data.
 */
gboolean
vn_blocked_run_max (VnOpContext  *ctx,
                    GError      **error)
{
  const VnShape *shape = &ctx->in_types[0].shape;
  Job job = { .x = ctx->in[0]->data, .y = ctx->out[0]->data, .lanes = vn_blocked_get_lanes () };
  gsize n_planes = (gsize) shape->dims[0] * vn_blocked_count ((gsize) shape->dims[1], job.lanes), line;

  if (!vn_sliding_window_init_pool (&job.win, ctx, shape, error))
    return FALSE;
  if (!blocked_max_is_small (&job.win))
    return vn_pool_run_max (ctx, error);
  line = (gsize) job.win.out[2] * job.lanes;
  vn_blocked_bands_init (&job.bands, ctx, n_planes, (gsize) job.win.out[1], BAND_FLOATS / MAX (line, 1));
  vn_op_for_items (ctx, job.bands.n_items,
                   (double) (job.bands.lines * line * (gsize) (job.win.kernel[1] * job.win.kernel[2])) / 12,
                   blocked_max_run_item, &job);
  return TRUE;
}
