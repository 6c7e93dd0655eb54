/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pixels a block of outputs needs, brought into the order in which the product reads them.
 *
 * First the input lines the block covers are copied with their padding, columns sorted by their remainder modulo the
 * stride: what one tap of the kernel sees along a line is then a run of consecutive floats. Then each row of the
 * packed matrix (one channel and tap) is put together from such runs, 16 floats at a time; what is copied too much at
 * the end of a run is overwritten by the next. */
#include "vn-conv-stage.h"

#define LANES 16

/* A vector that may lie anywhere and alias floats. */
typedef float Lanes __attribute__ ((vector_size (LANES * sizeof (float)), aligned (4), may_alias));

static gsize
span (const VnWindow *win,
      int             axis)
{
  return (gsize) (win->dilation[axis] * (win->kernel[axis] - 1) + 1);
}

static gboolean
is_direct (const VnWindow *win)
{
  for (int a = 1; a < 3; a++)
    if (win->kernel[a] != 1 || win->stride[a] != 1 || win->begin[a] != 0 || win->end[a] != 0)
      return FALSE;
  return TRUE;
}

/**
 * vn_stage_init:
 * @lanes: floats in a vector of the tile
 * @max_columns: of one panel
 * @block_bytes: about how large a packed block may be
 *
 * Lays out the work space for a convolution over two axes.
 *
 * Returns: %FALSE if it would be too large to count
 */
gboolean
vn_stage_init (VnStage      *self,
               const VnConv *conv,
               gsize         max_columns,
               gsize         block_bytes)
{
  const VnWindow *win = &conv->window;
  gsize stride = (gsize) win->stride[2], width, fit = block_bytes / sizeof (float) / MAX (conv->depth, 1);

  self->conv = conv;
  self->max_columns = max_columns;
  self->direct = is_direct (win);
  self->columns = MAX (fit / max_columns, 1) * max_columns;
  self->columns = MIN (self->columns, (conv->out_size + max_columns - 1) / max_columns * max_columns);
  width = (gsize) (win->out[2] - 1) * stride + span (win, 2);
  self->phase = (width + stride - 1) / stride + LANES;
  self->lines = MIN ((self->columns - 2) / MAX ((gsize) win->out[2], 1) + 2, (gsize) win->out[1]);
  self->lines = (self->lines - 1) * (gsize) win->stride[1] + span (win, 1);
  self->lines_bytes = 0;
  if (!self->direct &&
      (!vn_checked_mul (self->phase, stride, &self->pitch) ||
       !vn_checked_mul (self->pitch, self->lines, &self->channel) ||
       self->channel > G_MAXUINT ||
       !vn_checked_mul (self->channel, conv->in_channels * sizeof (float), &self->lines_bytes)))
    return FALSE;
  return vn_checked_mul (self->columns * sizeof (float), conv->depth, &self->block_bytes) &&
         vn_checked_add (self->block_bytes, 2 * LANES * sizeof (float), &self->block_bytes) &&
         vn_checked_add (self->lines_bytes, 2 * LANES * sizeof (float), &self->lines_bytes);
}

/* ---- lines with padding ---- */

static void
copy_phase (const VnStage *self,
            const float   *line,     /* NULL: outside the data */
            gint64         first,    /* column of the data the phase starts with, may be negative */
            float         *to)
{
  const VnWindow *win = &self->conv->window;
  gint64 stride = win->stride[2], n = (gint64) self->phase;
  gint64 skip = first < 0 ? MIN (n, (-first + stride - 1) / stride) : 0;
  gint64 fit = line == NULL || first >= win->in[2] ? 0 : MIN (n, (win->in[2] - 1 - first) / stride + 1);

  if (fit <= skip)
    {
      memset (to, 0, n * sizeof (float));
      return;
    }
  memset (to, 0, skip * sizeof (float));
  if (stride == 1)
    memcpy (to + skip, line + first + skip, (fit - skip) * sizeof (float));
  else if (stride == 2)
    for (gint64 i = skip; i < fit; i++)
      to[i] = line[first + i * 2];
  else
    for (gint64 i = skip; i < fit; i++)
      to[i] = line[first + i * stride];
  memset (to + fit, 0, (n - fit) * sizeof (float));
}

/* Does any tap of the kernel read this remainder (of columns or lines) modulo the stride? */
static gboolean
is_read (const VnWindow *win,
         int             axis,
         gint64          offset)
{
  for (gint64 k = 0; k < win->kernel[axis]; k++)
    if (offset >= k * win->dilation[axis] && (offset - k * win->dilation[axis]) % win->stride[axis] == 0)
      return TRUE;
  return FALSE;
}

static gboolean
is_phase_read (const VnWindow *win,
               gint64          phase)
{
  for (gint64 k = 0; k < win->kernel[2]; k++)
    if (k * win->dilation[2] % win->stride[2] == phase)
      return TRUE;
  return FALSE;
}

static void
copy_line (const VnStage *self,
           const float   *x,
           gint64         iy,
           float         *to)
{
  const VnWindow *win = &self->conv->window;
  const float *line = iy >= 0 && iy < win->in[1] ? x + iy * win->in[2] : NULL;

  for (gint64 p = 0; p < win->stride[2]; p++)
    if (is_phase_read (win, p))
      copy_phase (self, line, p - win->begin[2], to + (gsize) p * self->phase);
}

static void
copy_lines (const VnStage *self,
            const float   *x,
            gint64         first_line,   /* of the output */
            gint64         n_lines,
            float         *lines)
{
  const VnWindow *win = &self->conv->window;
  gint64 n = (n_lines - 1) * win->stride[1] + (gint64) span (win, 1);
  gint64 iy = first_line * win->stride[1] - win->begin[1];

  for (gint64 l = 0; l < n; l++)
    {
      if (!is_read (win, 1, l))
        continue;
      for (gsize c = 0; c < self->conv->in_channels; c++)
        copy_line (self, x + c * self->conv->in_size, iy + l,
                   lines + c * self->channel + (gsize) l * self->pitch);
    }
}

/* ---- packed rows ---- */

typedef struct
{
  guint from, to, n;   /* offset in the lines of a tap, offset in the row, floats */
} Run;

/* The runs of a panel: one for each output line it touches. */
static guint
find_runs (const VnStage *self,
           gsize          first,
           gsize          n,
           gint64         first_line,
           Run           *runs)
{
  const VnWindow *win = &self->conv->window;
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
      *(Lanes *) (to + runs[r].to + i) = *(const Lanes *) (from + runs[r].from + i);
}

VN_MULTIVERSION
static void
pack_panel (const VnStage *self,
            const float   *lines,
            const Run     *runs,
            guint          n_runs,
            gsize          columns,
            float         *to)
{
  const VnWindow *win = &self->conv->window;
  gint64 stride = win->stride[2];

  for (gsize c = 0; c < self->conv->in_channels; c++, lines += self->channel)
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)
      for (gint64 kx = 0; kx < win->kernel[2]; kx++, to += columns)
        {
          gint64 shift = kx * win->dilation[2];

          copy_runs (lines + (gsize) (ky * win->dilation[1]) * self->pitch +
                     (gsize) (shift % stride) * self->phase + (gsize) (shift / stride), runs, n_runs, to);
        }
}

/* A 1x1 kernel over all pixels: rows are parts of the channels. */
VN_MULTIVERSION
static void
pack_direct (const float *x,
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
        *(Lanes *) (to + i) = *(const Lanes *) (x + i);
      for (; i < n; i++)
        to[i] = x[i];
      for (; i < columns; i++)
        to[i] = 0;
    }
}

/**
 * vn_stage_pack:
 * @x: input channels of one group
 * @first, @n: output pixels of the block, at most self->columns
 * @lanes: columns of the last panel are rounded up to so many
 * @lines: work space of self->lines_bytes
 * @to: (out): panels of self->max_columns columns (the last may have fewer), each depth rows
 */
void
vn_stage_pack (const VnStage *self,
               const float   *x,
               gsize          first,
               gsize          n,
               gsize          lanes,
               float         *lines,
               float         *to)
{
  const VnConv *conv = self->conv;
  gsize width = MAX ((gsize) conv->window.out[2], 1);
  gint64 first_line = (gint64) (first / width);
  Run runs[VN_TILE_MAX_COLUMNS];

  if (!self->direct)
    copy_lines (self, x, first_line, (gint64) ((first + n - 1) / width) - first_line + 1, lines);
  for (gsize done = 0; done < n; done += self->max_columns)
    {
      gsize m = MIN (self->max_columns, n - done), columns = (m + lanes - 1) / lanes * lanes;

      if (self->direct)
        pack_direct (x + first + done, conv->in_channels, conv->in_size, m, columns, to);
      else
        pack_panel (self, lines, runs, find_runs (self, first + done, m, first_line, runs), columns, to);
      to += columns * conv->depth;
    }
}
