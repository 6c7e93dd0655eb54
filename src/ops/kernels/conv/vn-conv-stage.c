/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pixels a block of outputs needs, brought into the order in which the product reads them.
 *
 * First the input lines the block covers are copied with their padding, columns sorted by their remainder modulo the
 * stride: what one tap of the kernel sees along a line is then a run of consecutive floats. Then each row of the
 * packed matrix (one channel and tap) is put together from such runs, 16 floats at a time; what is copied too much at
 * the end of a run is overwritten by the next. Panels of which the tile reads the runs itself are left out. */
#include "vn-conv-stage.h"
#include "vn-lanes.h"

#define LANES VN_LANES

static gsize
conv_stage_span (const VnSlidingWindow *win,
                 int             axis)
{
  return (gsize) (win->dilation[axis] * (win->kernel[axis] - 1) + 1);
}

static gboolean
conv_stage_is_direct (const VnSlidingWindow *win)
{
  for (int a = 1; a < 3; a++)
    if (win->kernel[a] != 1 || win->stride[a] != 1 || win->begin[a] != 0 || win->end[a] != 0)
      return FALSE;
  return TRUE;
}

/**
 * vn_stage_init:
 * @max_columns: of one panel
 * @lanes: floats in a vector of the tile: a block takes so many more if they are the last
 * @columns: output pixels in a block, a multiple of @max_columns
 *
 * Lays out the work space for a convolution over two axes.
 *
 * Returns: %FALSE if it would be too large to count
 */
gboolean
vn_stage_init (VnStage      *self,
               const VnConv *conv,
               gsize         max_columns,
               gsize         lanes,
               gsize         columns)
{
  const VnSlidingWindow *win = &conv->window;
  gsize stride = (gsize) win->stride[2], width;

  self->conv = conv;
  self->max_columns = max_columns;
  self->direct = conv_stage_is_direct (win);
  self->straight = FALSE;
  self->columns = columns;
  self->capacity = self->columns + lanes;
  self->n_blocks = conv->out_size <= self->capacity ? 1 : (conv->out_size - lanes + self->columns - 1) / self->columns;
  width = (gsize) (win->out[2] - 1) * stride + conv_stage_span (win, 2);
  self->phase = (width + stride - 1) / stride + LANES;
  self->lines = MIN ((self->capacity - 2) / MAX ((gsize) win->out[2], 1) + 2, (gsize) win->out[1]);
  self->lines = (self->lines - 1) * (gsize) win->stride[1] + conv_stage_span (win, 1);
  self->lines_bytes = 0;
  if (!self->direct &&
      (!vn_checked_mul (self->phase, stride, &self->pitch) ||
       !vn_checked_mul (self->pitch, self->lines, &self->channel) ||
       self->channel > G_MAXUINT ||
       !vn_checked_mul (self->channel, conv->in_channels * sizeof (float), &self->lines_bytes)))
    return FALSE;
  return vn_checked_mul (self->capacity * sizeof (float), conv->depth, &self->block_bytes) &&
         vn_checked_add (self->block_bytes, 2 * LANES * sizeof (float), &self->block_bytes) &&
         vn_checked_add (self->lines_bytes, 2 * LANES * sizeof (float), &self->lines_bytes);
}

/* ---- lines with padding ---- */

VN_INLINE void
clear (float  *to,
       gint64  n)
{
  for (gint64 i = 0; i < n; i++)
    to[i] = 0;
}

/* Part of a line: the columns of one remainder. Always inlined, with @stride known for the common ones. */
VN_INLINE void
copy_phase (const VnStage *self,
            gint64         stride,
            const float   *line,
            gint64         room,     /* floats that may be read from @line on */
            gint64         first,    /* column of the data the phase starts with, may be negative */
            float         *to)
{
  const VnSlidingWindow *win = &self->conv->window;
  gint64 n = (gint64) self->phase - LANES;
  gint64 skip = first < 0 ? MIN (n, (-first + stride - 1) / stride) : 0;
  gint64 fit = first >= win->in[2] ? 0 : MIN (n, (win->in[2] - 1 - first) / stride + 1);
  gint64 column = first + skip * stride;

  fit = MAX (fit, skip);
  clear (to, skip);
  vn_lanes_copy_every (line + column, stride, fit - skip, room - column, to + skip);
  clear (to + fit, n - fit);
}

static gboolean
conv_stage_is_phase_read (const VnSlidingWindow *win,
                          gint64          phase)
{
  for (gint64 k = 0; k < win->kernel[2]; k++)
    if (k * win->dilation[2] % win->stride[2] == phase)
      return TRUE;
  return FALSE;
}

VN_INLINE void
copy_line (const VnStage *self,
           gint64         stride,
           const float   *line,
           gint64         room,
           float         *to)
{
  const VnSlidingWindow *win = &self->conv->window;

  for (gint64 p = 0; p < stride; p++, to += self->phase)
    if (stride == 1 || conv_stage_is_phase_read (win, p))
      copy_phase (self, stride, line, room, p - win->begin[2], to);
}

/* The lines one channel needs from line @top of the data on, which may lie above it. */
VN_MULTIVERSION
static void
conv_stage_copy_channel (const VnStage *self,
                         const float   *x,
                         gint64         top,
                         gint64         n,
                         float         *to)
{
  const VnSlidingWindow *win = &self->conv->window;
  gint64 step = win->kernel[1] == 1 ? win->stride[1] : 1;   /* a kernel of one line skips some */

  for (gint64 l = 0; l < n; l += step)
    {
      gint64 at = (top + l) * win->in[2], room = (gint64) self->conv->in_size - at;

      if (top + l < 0 || top + l >= win->in[1])
        clear (to + (gsize) l * self->pitch, (gint64) self->pitch);
      else if (win->stride[2] == 1)
        copy_line (self, 1, x + at, room, to + (gsize) l * self->pitch);
      else if (win->stride[2] == 2)
        copy_line (self, 2, x + at, room, to + (gsize) l * self->pitch);
      else
        copy_line (self, win->stride[2], x + at, room, to + (gsize) l * self->pitch);
    }
}

static void
conv_stage_copy_lines (const VnStage *self,
                       const float   *x,
                       gint64         first_line,   /* of the output */
                       gint64         n_lines,
                       float         *lines)
{
  const VnSlidingWindow *win = &self->conv->window;
  gint64 n = (n_lines - 1) * win->stride[1] + (gint64) conv_stage_span (win, 1);

  for (gsize c = 0; c < self->conv->in_channels; c++)
    conv_stage_copy_channel (self, x + c * self->conv->in_size, first_line * win->stride[1] - win->begin[1], n,
                             lines + c * self->channel);
}

/* ---- packed rows ---- */

typedef struct
{
  guint from, to, n;   /* offset in the lines of a tap, offset in the row, floats */
} Run;

/* The runs of a panel: one for each output line it touches. */
static guint
conv_stage_find_runs (const VnStage *self,
                      gsize          first,
                      gsize          n,
                      gint64         first_line,
                      Run           *runs)
{
  const VnSlidingWindow *win = &self->conv->window;
  gsize width = (gsize) win->out[2], done = 0;
  guint n_runs = 0;

  while (done < n)
    {
      gsize oy = (first + done) / width, ox = (first + done) % width;
      gsize len = MIN (width - ox, n - done);

      runs[n_runs++] = (Run) { (guint) ((oy - (gsize) first_line) * (gsize) win->stride[1] * self->pitch + ox),
                               (guint) done, (guint) len };
      done += len;
    }
  return n_runs;
}

VN_INLINE void
copy_runs (const float *from,
           const Run   *runs,
           guint        n_runs,
           float       *to)
{
  for (guint r = 0; r < n_runs; r++)
    for (guint i = 0; i < runs[r].n; i += LANES)
      vn_lanes_move (from + runs[r].from + i, to + runs[r].to + i);
}

VN_INLINE gsize
tap_offset (const VnStage *self,
            gint64         ky,
            gint64         kx)
{
  const VnSlidingWindow *win = &self->conv->window;
  gint64 shift = kx * win->dilation[2];

  return (gsize) (ky * win->dilation[1]) * self->pitch + (gsize) (shift % win->stride[2]) * self->phase +
         (gsize) (shift / win->stride[2]);
}

VN_MULTIVERSION
static void
conv_stage_pack_panel (const VnStage *self,
                       const float   *lines,
                       const Run     *runs,
                       guint          n_runs,
                       gsize          columns,
                       float         *to)
{
  const VnSlidingWindow *win = &self->conv->window;

  for (gsize c = 0; c < self->conv->in_channels; c++, lines += self->channel)
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)
      for (gint64 kx = 0; kx < win->kernel[2]; kx++, to += columns)
        copy_runs (lines + tap_offset (self, ky, kx), runs, n_runs, to);
}

/* A 1x1 kernel over all pixels: rows are parts of the channels. */
VN_MULTIVERSION
static void
conv_stage_pack_direct (const float *x,
                        gsize        channels,
                        gsize        channel,
                        gsize        n,
                        gsize        columns,
                        float       *to)
{
  for (gsize c = 0; c < channels; c++, x += channel, to += columns)
    {
      gsize i = 0;

      for (; i + LANES <= n; i += LANES)
        vn_lanes_move (x + i, to + i);
      for (; i < n; i++)
        to[i] = x[i];
      for (; i < columns; i++)
        to[i] = 0;
    }
}

/**
 * vn_stage_panel:
 * @n: output pixels left
 *
 * Returns: how many floats a row of the next panel has: whole vectors, but a few left-over pixels stay as they are
 */
gsize
vn_stage_panel (const VnStage *self,
                gsize          n)
{
  gsize lanes = self->capacity - self->columns;

  n = MIN (n, self->max_columns);
  return n <= vn_tile_count_single (self->conv->out_size) ? n : (n + lanes - 1) / lanes * lanes;
}

/**
 * vn_stage_offsets:
 * @offsets: (out): where the row of each channel and tap lies, for vectors that vn_stage_find() finds
 */
void
vn_stage_offsets (const VnStage *self,
                  gsize         *offsets)
{
  const VnSlidingWindow *win = &self->conv->window;

  for (gsize c = 0; c < self->conv->in_channels; c++)
    if (self->direct)
      *offsets++ = c * self->conv->in_size;
    else
      for (gint64 ky = 0; ky < win->kernel[1]; ky++)
        for (gint64 kx = 0; kx < win->kernel[2]; kx++)
          *offsets++ = c * self->channel + tap_offset (self, ky, kx);
}

/**
 * vn_stage_find:
 * @lines: as vn_stage_pack() filled them for the block
 * @first: first output pixel of the block
 * @at: of the panel, in the block
 * @n: output pixels of the panel
 * @vectors: (out): where each vector of the panel starts
 *
 * Returns: %FALSE if the panel is to be packed: a vector reaches into another line, or is not full
 */
gboolean
vn_stage_find (const VnStage *self,
               const float   *x,
               const float   *lines,
               gsize          first,
               gsize          at,
               gsize          n,
               const float  **vectors)
{
  const VnSlidingWindow *win = &self->conv->window;
  gsize lanes = self->capacity - self->columns, width = (gsize) win->out[2], first_line = first / MAX (width, 1);

  if (!self->straight || n % lanes != 0)
    return FALSE;
  for (gsize i = 0; i < n; i += lanes)
    {
      gsize pixel = first + at + i, column = self->direct ? pixel : pixel % width;

      if (!self->direct && column + lanes > width)
        return FALSE;
      *vectors++ = self->direct ? x + pixel
                   : lines + (pixel / width - first_line) * (gsize) win->stride[1] * self->pitch + column;
    }
  return TRUE;
}

/**
 * vn_stage_pack:
 * @x: input channels of one group
 * @first, @n: output pixels of the block, at most self->capacity
 * @lines: work space of self->lines_bytes
 * @to: (out): panels of vn_stage_panel() columns, each depth rows; those that vn_stage_find() finds stay empty
 */
void
vn_stage_pack (const VnStage *self,
               const float   *x,
               gsize          first,
               gsize          n,
               float         *lines,
               float         *to)
{
  const VnConv *conv = self->conv;
  gsize width = MAX ((gsize) conv->window.out[2], 1);
  gint64 first_line = (gint64) (first / width);
  Run runs[VN_TILE_MAX_COLUMNS];   /* a line has at least one pixel */
  const float *vectors[VN_TILE_MAX_VECTORS];

  if (!self->direct)
    conv_stage_copy_lines (self, x, first_line, (gint64) ((first + n - 1) / width) - first_line + 1, lines);
  for (gsize done = 0; done < n; done += self->max_columns)
    {
      gsize m = MIN (self->max_columns, n - done), columns = vn_stage_panel (self, n - done);

      gboolean straight = vn_stage_find (self, x, lines, first, done, m, vectors);

      if (!straight && self->direct)
        conv_stage_pack_direct (x + first + done, conv->in_channels, conv->in_size, m, columns, to);
      else if (!straight)
        conv_stage_pack_panel (self, lines, runs, conv_stage_find_runs (self, first + done, m, first_line, runs), columns, to);
      to += columns * conv->depth;
    }
}
