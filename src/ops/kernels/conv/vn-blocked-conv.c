/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution that writes blocks of channels and reads blocks or planes. Where a kernel has more than one tap or a
 * stride, the lines of the data it needs are copied with their padding, columns sorted by their remainder modulo the
 * stride: what one tap sees along a line of the output then lies side by side. Sums run over channel, line and column
 * in this order, as those of vn-conv-packed.c. */
#include "vn-blocked-ends.h"
#include "vn-lanes.h"
#include "vn-tile.h"

#include <math.h>

enum { X, W, B };

/* Copied or read data of one item: they are read again for each panel of blocks, and should stay in the second cache. */
#define BAND_BYTES (256 * 1024)
/* Pixels in a line, where all pixels are alike; and in a small map that several threads share. */
#define FLAT_LINE 56
#define SHARED_FLAT_LINE 14
#define SHARED_FLAT_LINES 16

/**
 * Band: the lines of the output that are computed together, and where their data lie.
 * @unit: floats at a pixel and channel block of the lines: lanes, or 1 if they are not blocked
 * @gathers: the lines are blocked, the data are not
 * @flat: 1x1 without stride and padding: nothing is copied, lines are just pieces of the plane
 * @phase: columns of one remainder, with room to read past the end
 * @pitch: floats of a copied line; @channel: of a copied channel block
 */
typedef struct
{
  gsize    unit, n_units;
  gboolean gathers, flat;
  gsize    width, n_lines;            /* of the output */
  gsize    lines, n_bands;
  gsize    phase, pitch, in_lines, channel, floats;
} Band;

typedef struct
{
  const VnBlockedWeight *weight;
  const VnBlockedTile   *tile;
  const VnConv          *conv;
  const VnEpilogue      *rest;
  Band                   band;
  const float           *x;
  float                 *y, *scratch;
  VnBlockedScale         scale;
  const float           *sum;        /* added to y, or NULL */
  const gsize           *offsets;
  gsize                  n_splits, n_regular;   /* pixels that are not computed one by one, as vn-conv-packed.c does */
  float                  low, high;
  gboolean               after;
  VnOpEnds              *ends;       /* nullable */
} Job;

/* ---- where data lie ---- */

static gsize
blocked_conv_span (const VnSlidingWindow *win,
                   int             axis)
{
  return (gsize) (win->dilation[axis] * (win->kernel[axis] - 1) + 1);
}

static gboolean
blocked_conv_is_flat (const VnSlidingWindow *win)
{
  for (int a = 1; a < 3; a++)
    if (win->kernel[a] != 1 || win->stride[a] != 1 || win->begin[a] != 0 || win->end[a] != 0)
      return FALSE;
  return TRUE;
}

/* How much @lines of output need. */
static gboolean
blocked_conv_set_lines (Band         *self,
                        const VnConv *conv,
                        gsize         lines)
{
  const VnSlidingWindow *win = &conv->window;

  self->lines = MIN (lines, self->n_lines);
  self->n_bands = (self->n_lines + self->lines - 1) / self->lines;
  if (self->flat)
    return TRUE;
  self->in_lines = (self->lines - 1) * (gsize) win->stride[1] + blocked_conv_span (win, 1);
  return vn_checked_mul (self->pitch, self->in_lines, &self->channel) &&
         vn_checked_mul (self->channel, self->n_units, &self->floats) &&
         vn_checked_add (self->floats, 2 * VN_LANES, &self->floats);
}

static void
blocked_conv_set_flat_width (Band         *self,
                             const VnConv *conv,
                             gsize         width)
{
  self->width = width;
  self->n_lines = (conv->out_size + width - 1) / width;
}

/* @unit: of the data. Where planes are copied anyway they are copied into blocks, whose pixels lie closer together, if there are
 * as many channels. */
static gboolean
blocked_conv_band_init (Band                *self,
                        const VnConv        *conv,
                        const VnBlockedTile *tile,
                        gsize                unit)
{
  const VnSlidingWindow *win = &conv->window;
  const gboolean flat = blocked_conv_is_flat (win);
  const gboolean gathers = tile->gathers && unit == 1 && !flat && win->stride[2] == 1 && conv->in_channels >= tile->lanes;
  gsize stride = (gsize) win->stride[2], line;

  if (gathers)
    unit = tile->lanes;
  *self = (Band) { .unit = unit, .n_units = vn_blocked_count (conv->in_channels, unit), .gathers = gathers, .flat = flat };
  self->width = (gsize) win->out[2];
  self->n_lines = (gsize) win->out[1];
  if (self->flat)
    blocked_conv_set_flat_width (self, conv, FLAT_LINE);
  self->phase = (self->width * stride + blocked_conv_span (win, 2) - 1) / stride + (unit == 1 ? VN_LANES : 0);
  if (!vn_checked_mul (self->phase, stride * unit, &self->pitch) ||
      !vn_checked_mul (self->pitch, (gsize) win->stride[1], &line) || !vn_checked_mul (line, self->n_units, &line))
    return FALSE;
  if (self->flat)
    line = self->width * conv->in_channels;
  return blocked_conv_set_lines (self, conv, MAX (1, BAND_BYTES / sizeof (float) / MAX (line, 1)));
}

static void
blocked_conv_set_offsets (const Band   *self,
                          const VnConv *conv,
                          gsize        *offsets)
{
  const VnSlidingWindow *win = &conv->window;

  for (gsize c = 0; c < conv->in_channels; c++)
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)
      for (gint64 kx = 0; kx < win->kernel[2]; kx++)
        {
          gsize shift = (gsize) (kx * win->dilation[2]), stride = (gsize) win->stride[2];

          *offsets = c / self->unit * (self->flat ? conv->in_size * self->unit : self->channel) + c % self->unit;
          if (!self->flat)
            *offsets += (gsize) (ky * win->dilation[1]) * self->pitch +
                        (shift % stride * self->phase + shift / stride) * self->unit;
          offsets++;
        }
}

/* ---- copying ---- */

/* The columns of remainder @r of one line; @room floats may be read from its start on. Always inlined, with @unit and
 * @stride known for the common ones. */
VN_INLINE void
copy_columns (const Band     *self,
              const VnSlidingWindow *win,
              gsize           unit,
              gint64          stride,
              const float    *line,
              gsize           room,
              gint64          r,
              float          *to)
{
  gint64 n = (gint64) self->phase - (unit == 1 ? VN_LANES : 0);
  gint64 first = r - win->begin[2];   /* column of the data of the first one */
  gint64 skip = first < 0 ? MIN (n, (-first + stride - 1) / stride) : 0;
  gint64 fit = first >= win->in[2] ? 0 : MIN (n, (win->in[2] - 1 - first) / stride + 1);
  gsize bytes = unit * sizeof (float);

  fit = MAX (fit, skip);
  memset (to, 0, (gsize) skip * bytes);
  line += (gsize) (first + skip * stride) * unit;
  if (unit == 1)
    vn_lanes_copy_every (line, stride, fit - skip, (gint64) room - (first + skip * stride), to + skip);
  else if (stride == 1)
    memcpy (to + (gsize) skip * unit, line, (gsize) (fit - skip) * bytes);
  else
    for (gint64 i = skip; i < fit; i++, line += (gsize) stride * unit)
      memcpy (to + (gsize) i * unit, line, bytes);
  memset (to + (gsize) fit * unit, 0, (gsize) (n - fit) * bytes);
}

/* As blocked_copy_lines(), of the first @n_channels of planes that lie @size floats apart. */
static void
blocked_gather_lines (const Band            *self,
                      const VnSlidingWindow *win,
                      const float           *x,
                      gsize                  size,
                      gsize                  n_channels,
                      gint64                 top,
                      gint64                 n,
                      float                 *to)
{
  const gint64 columns = (gint64) self->phase, skip = CLAMP (win->begin[2], 0, columns);
  const gint64 first = skip - win->begin[2], fit = CLAMP (win->in[2] - first, 0, columns - skip);
  const gsize bytes = self->unit * sizeof (float);

  for (gint64 l = 0; l < n; l++, to += self->pitch)
    {
      const gint64 y = top + l;

      if (y < 0 || y >= win->in[1])
        {
          memset (to, 0, (gsize) columns * bytes);
          continue;
        }
      memset (to, 0, (gsize) skip * bytes);
      vn_blocked_make_block (x + y * win->in[2] + first, size, n_channels, self->unit, (gsize) fit,
                             to + (gsize) skip * self->unit);
      memset (to + (gsize) (skip + fit) * self->unit, 0, (gsize) (columns - skip - fit) * bytes);
    }
}

static gboolean
blocked_conv_is_read (const VnSlidingWindow *win,
                      gint64          remainder)
{
  for (gint64 k = 0; k < win->kernel[2]; k++)
    if (k * win->dilation[2] % win->stride[2] == remainder)
      return TRUE;
  return FALSE;
}

VN_INLINE void
copy_line (const Band     *self,
           const VnSlidingWindow *win,
           const float    *line,
           gsize           room,
           gint64          r,
           float          *to)
{
  gint64 stride = win->stride[2];

  if (self->unit == 1 && stride <= 2)
    copy_columns (self, win, 1, stride == 1 ? 1 : 2, line, room, r, to);
  else if (self->unit == 8)
    copy_columns (self, win, 8, stride, line, room, r, to);
  else if (self->unit == 16)
    copy_columns (self, win, 16, stride, line, room, r, to);
  else
    copy_columns (self, win, self->unit, stride, line, room, r, to);
}

/* Of one channel block, from line @top of the data on, which may lie above it. */
VN_MULTIVERSION
static void
blocked_copy_lines (const Band     *self,
                    const VnSlidingWindow *win,
                    const float    *x,
                    gint64          top,
                    gint64          n,
                    float          *to)
{
  gint64 step = win->kernel[1] == 1 ? win->stride[1] : 1;   /* a kernel of one line skips some */

  for (gint64 l = 0; l < n; l += step)
    for (gint64 r = 0; r < win->stride[2]; r++)
      {
        float *at = to + (gsize) l * self->pitch + (gsize) r * self->phase * self->unit;
        gint64 y = top + l;

        if (!blocked_conv_is_read (win, r))
          continue;
        if (y < 0 || y >= win->in[1])
          memset (at, 0, self->phase * self->unit * sizeof (float));
        else
          copy_line (self, win, x + (gsize) (y * win->in[2]) * self->unit,
                     (gsize) ((win->in[1] - y) * win->in[2]), r, at);
      }
}

/* ---- computing ---- */

/* Pixels that are computed with a panel of blocks. @line and @column: of the next one, from the first of the band on. */
typedef struct
{
  VnBlockedArea area;
  const float  *x;
  gsize         line, column;
  guint         vectors;
} Pixels;

static const float *
blocked_find_pixel (const Pixels *self,
                    const Job    *job,
                    gsize         further)
{
  const Band *band = &job->band;
  gsize line = self->line, column = self->column + further;

  if (band->flat)
    return self->x + column * band->unit;
  for (; column >= band->width; column -= band->width)
    line++;
  return self->x + line * (gsize) job->conv->window.stride[1] * band->pitch + column * band->unit;
}

static void
blocked_skip_pixels (Pixels    *self,
                     const Job *job,
                     gsize      n)
{
  const Band *band = &job->band;

  self->area.y += n * job->tile->lanes;
  if (self->area.sum != NULL)
    self->area.sum += n * job->tile->lanes;
  self->column += n;
  for (; !band->flat && self->column >= band->width; self->column -= band->width)
    self->line++;
}

/* Tiles of @pixels, of the next @n pixels of a line. Returns: how many pixels they have. */
static gsize
blocked_run_tiles (Pixels    *self,
                   const Job *job,
                   gsize      n,
                   gsize      pixels)
{
  gsize n_tiles = n / pixels;

  self->area.x = blocked_find_pixel (self, job, 0);
  self->area.n = n_tiles;
  job->tile->run[self->vectors - 1][job->band.unit > 1][pixels] (&self->area);
  blocked_skip_pixels (self, job, n_tiles * pixels);
  return n_tiles * pixels;
}

/* One tile of @pixels, of which the last lie in other lines than the first. */
static gsize
blocked_run_across (Pixels    *self,
                    const Job *job,
                    gsize      pixels)
{
  for (gsize i = 0; i < pixels; i++)
    self->area.places[i] = blocked_find_pixel (self, job, i);
  self->area.n = 1;
  job->tile->run_across[self->vectors - 1][pixels] (&self->area);
  blocked_skip_pixels (self, job, pixels);
  return pixels;
}

/* In tiles as even as can be: of all of them where tiles may go on in the next line, else of what is left of the line. */
static void
blocked_run_pixels (Pixels    *self,
                    const Job *job,
                    gsize      n)
{
  const Band *band = &job->band;
  gsize most = job->tile->max_pixels[self->vectors - 1];
  gboolean across = job->tile->run_across[self->vectors - 1][1] != NULL;

  while (n > 0)
    {
      gsize left = band->flat ? n : MIN (n, band->width - self->column), whole = across ? n : left;
      gsize n_tiles = (whole + most - 1) / most, pixels = (whole + n_tiles - 1) / n_tiles;
      gsize n_large = pixels * (whole - n_tiles * (pixels - 1));   /* in tiles of so many pixels */

      if (pixels > left)
        n -= blocked_run_across (self, job, pixels);
      else
        n -= blocked_run_tiles (self, job, MIN (left, n_large), pixels);
    }
}

static void
blocked_conv_run_lines (const Job   *self,
                        gsize        batch,
                        gsize        panel,
                        const float *x,
                        gsize        first,     /* pixel of the output */
                        gsize        n,
                        float       *ends)
{
  const VnBlockedWeight *weight = self->weight;
  gsize lanes = weight->lanes, block = panel * vn_blocked_weight_get_step (weight), out_size = self->conv->out_size;
  guint vectors = (guint) vn_blocked_weight_count_blocks (weight, panel);
  gsize regular = MIN (n, self->n_regular - MIN (first, self->n_regular));
  gsize at = ((batch * weight->n_blocks + block) * out_size + first) * lanes;
  const float *weights = weight->weights + block * lanes * weight->depth, *next = weights + vectors * lanes * weight->depth;
  const VnBlockedScale *scale = &self->scale;
  float *y = self->y + at;
  Pixels pixels = { { weight->depth, weights, weight->bias + block * lanes,
                      scale->factors != NULL ? scale->factors + block * lanes : NULL,
                      scale->factors != NULL ? scale->shifts + block * lanes : NULL, NULL, self->offsets, y,
                      self->sum != NULL ? self->sum + at : NULL, out_size * lanes, self->low, self->high, ends, 0, next,
                      next + vectors * lanes * weight->depth, { NULL } }, x, 0, 0, vectors };

  blocked_run_pixels (&pixels, self, regular);
  for (gsize i = regular; i < n; i++, blocked_skip_pixels (&pixels, self, 1))
    {
      pixels.area.x = blocked_find_pixel (&pixels, self, 0);
      self->tile->run_single[vectors - 1] (&pixels.area);
    }
  for (guint v = 0; v < vectors && self->after; v++)
    vn_blocked_finish (self->rest, lanes, y + v * out_size * lanes, n);
}

/* Pixels that are finished while they are in the first cache. */
#define FINISHED_PIXELS 168

/* Lines of one panel of blocks. */
static void
blocked_conv_run_panel (const Job   *self,
                        gsize        batch,
                        gsize        panel,
                        const float *x,
                        gsize        first_line,
                        gsize        n_lines)
{
  const Band *band = &self->band;
  const gsize lanes = self->weight->lanes, n_blocks = vn_blocked_weight_count_blocks (self->weight, panel);
  gsize step = self->after ? MAX (1, FINISHED_PIXELS / band->width) : n_lines;
  float ends[VN_BLOCKED_MAX_TOGETHER * VN_BLOCKED_ENDS_VECTORS * VN_BLOCKED_MAX_LANES];

  if (self->ends != NULL)
    vn_blocked_ends_init (ends, n_blocks, lanes);
  for (gsize l = 0; l < n_lines; l += step)
    {
      gsize first = (first_line + l) * band->width, n = MIN (MIN (step, n_lines - l) * band->width, self->conv->out_size - first);
      gsize at = band->flat ? first * band->unit : l * (gsize) self->conv->window.stride[1] * band->pitch;

      blocked_conv_run_lines (self, batch, panel, x + at, first, n, self->ends != NULL ? ends : NULL);
    }
  if (self->ends != NULL)
    vn_blocked_ends_tell (self->ends, ends, n_blocks, lanes, panel * vn_blocked_weight_get_step (self->weight) * lanes,
                          self->weight->channels);
}

static void
blocked_conv_run_item (gpointer data,
                       gsize    item,
                       guint    worker)
{
  const Job *self = data;
  const VnConv *conv = self->conv;
  const VnSlidingWindow *win = &conv->window;
  const Band *band = &self->band;
  gsize split = item % self->n_splits, nth = item / self->n_splits % band->n_bands;
  gsize batch = item / self->n_splits / band->n_bands, first = nth * band->lines;
  gsize n_lines = MIN (band->lines, band->n_lines - first);
  gsize n_panels = vn_blocked_weight_count_panels (self->weight);
  gsize each = (n_panels + self->n_splits - 1) / self->n_splits, end = MIN (n_panels, (split + 1) * each);
  const float *x = self->x + batch * (band->gathers ? conv->in_channels : band->n_units * band->unit) * conv->in_size;
  const gint64 top = (gint64) first * win->stride[1] - win->begin[1];
  const gint64 n_read = (gint64) ((n_lines - 1) * (gsize) win->stride[1] + blocked_conv_span (win, 1));
  float *copy = self->scratch + worker * band->floats;

  for (gsize c = 0; c < band->n_units && !band->flat && split * each < end; c++)
    if (band->gathers)
      blocked_gather_lines (band, win, x + c * band->unit * conv->in_size, conv->in_size,
                            MIN (band->unit, conv->in_channels - c * band->unit), top, n_read, copy + c * band->channel);
    else
      blocked_copy_lines (band, win, x + c * conv->in_size * band->unit, top, n_read, copy + c * band->channel);
  for (gsize panel = split * each; panel < end; panel++)
    blocked_conv_run_panel (self, batch, panel, band->flat ? x : copy, first, n_lines);
}

/* What bringing data into the cache, or copying them, costs beside computing a panel of blocks from them. */
#define READ_COST 0.1
/* What data that another processor has written cost beside computing one tap of a panel of blocks from them. */
#define FOREIGN_COST 1.0

/* Cuts the output into bands, and the channels into @n_splits parts, so that the thread with the most work has the
 * least. The sums do not depend on it. */
static void
blocked_conv_choose_split (Job   *self,
                           guint  n_threads)
{
  Band *band = &self->band;
  gsize n_panels = vn_blocked_weight_count_panels (self->weight), least, best_lines;
  double best = G_MAXDOUBLE, foreign = FOREIGN_COST * (double) self->conv->in_channels / (double) self->conv->depth;

  if (band->flat && n_threads > 1 && band->n_lines < SHARED_FLAT_LINES)
    {
      blocked_conv_set_flat_width (band, self->conv, SHARED_FLAT_LINE);
      blocked_conv_set_lines (band, self->conv, band->lines * (FLAT_LINE / SHARED_FLAT_LINE));
    }
  least = band->n_bands;
  best_lines = band->lines;
  self->n_splits = 1;
  for (gsize bands = least; bands <= MIN (band->n_lines, least + 2 * n_threads) && n_threads > 1; bands++)
    for (gsize splits = 1; splits <= MIN (n_panels, 2 * n_threads); splits++)
      {
        gsize lines = (band->n_lines + bands - 1) / bands, items = self->conv->batch * bands * splits;
        double rounds = (double) ((items + n_threads - 1) / n_threads);
        double cost = rounds * (double) lines * ((double) ((n_panels + splits - 1) / splits)
                                                 + (splits > 1 ? foreign : READ_COST)) +
                      1e-3 * (double) items;

        if (cost >= best)
          continue;
        best = cost;
        best_lines = lines;
        self->n_splits = splits;
      }
  blocked_conv_set_lines (band, self->conv, best_lines);
}

/* ---- the operator ---- */

static gboolean
conv_sizes (VnOpContext *ctx,
            VnConv      *conv,
            GError     **error)
{
  return vn_conv_init_sizes (conv, ctx, &ctx->in_types[X].shape, &ctx->in_types[W].shape, error);
}

static gsize
blocked_conv_offsets_bytes (const VnConv *conv)
{
  return (conv->depth * sizeof (gsize) + 63) & ~(gsize) 63;
}

static gsize
blocked_conv_scale_bytes (const VnConv *conv,
                          gsize         lanes)
{
  return 2 * vn_blocked_count (conv->out_channels, lanes) * lanes * sizeof (float);
}

static gboolean
conv_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnBlockedTile *tile = vn_blocked_tile_get ();
  gsize most = 0;
  VnConv conv;

  if (tile == NULL || !conv_sizes (ctx, &conv, error) || conv.groups != 1 || conv.depth == 0 || conv.out_size == 0 ||
      conv.batch == 0 || conv.window.n_spatial > 2)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      Band band;

      if (!blocked_conv_band_init (&band, &conv, tile, i == 0 ? 1 : tile->lanes))
        return FALSE;
      most = MAX (most, band.floats);
    }
  return vn_checked_mul (most * sizeof (float), vn_op_max_workers (), &ctx->scratch_bytes) &&
         vn_checked_add (ctx->scratch_bytes, blocked_conv_offsets_bytes (&conv), &ctx->scratch_bytes) &&
         vn_checked_add (ctx->scratch_bytes, blocked_conv_scale_bytes (&conv, tile->lanes), &ctx->scratch_bytes);
}

static gboolean
conv_prepare (VnOpContext  *ctx,
              gpointer     *prepared,
              GError      **error)
{
  const VnBlockedTile *tile = vn_blocked_tile_get ();

  *prepared = vn_blocked_weight_new (ctx->in[W], vn_op_has_input (ctx, B) ? ctx->in[B] : NULL, tile->lanes, tile->together,
                                     error);
  return *prepared != NULL;
}

static void
conv_release (gpointer prepared)
{
  vn_blocked_weight_free (prepared);
}

static gboolean
conv_run (VnOpContext *ctx,
          GError     **error)
{
  VnEpilogue rest = { .base = ctx->out[0]->data };
  VnConv conv;
  Job job = { ctx->prepared, vn_blocked_tile_get (), &conv, &rest };

  if (!conv_sizes (ctx, &conv, error))
    return FALSE;
  if (!blocked_conv_band_init (&job.band, &conv, job.tile,
                               ctx->in[X]->shape.rank > ctx->in_types[X].shape.rank ? job.weight->lanes : 1))
    return vn_op_fail (ctx, error, _("the convolution is too large for this machine"));
  vn_epilogue_set_fused (&rest, ctx);
  vn_blocked_take_scale (&rest, job.weight, (float *) ((char *) ctx->scratch + blocked_conv_offsets_bytes (&conv)), &job.scale);
  job.sum = vn_blocked_take_sum (&rest);
  vn_blocked_take_clamp (&rest, &job.low, &job.high);
  job.after = rest.map.active || !vn_epilogue_is_clamp (&rest);
  job.ends = ctx->ends;
  job.x = ctx->in[X]->data;
  job.y = ctx->out[0]->data;
  job.n_regular = conv.out_size - vn_tile_count_single (conv.out_size);
  blocked_conv_choose_split (&job, MIN (ctx->n_threads, vn_op_max_workers ()));
  blocked_conv_set_offsets (&job.band, &conv, ctx->scratch);
  job.offsets = ctx->scratch;
  job.scratch = (float *) ((char *) ctx->scratch + blocked_conv_offsets_bytes (&conv) +
                           blocked_conv_scale_bytes (&conv, job.tile->lanes));
  vn_op_for_items (ctx, conv.batch * job.band.n_bands * job.n_splits,
                   (double) (job.weight->n_blocks * job.weight->lanes * conv.depth * job.band.lines * job.band.width) /
                   16 / (double) job.n_splits, blocked_conv_run_item, &job);
  return TRUE;
}

const VnOp vn_op_blocked_conv = {
  .domain = "", .type = "Conv", .since = 1,
  .min_inputs = 2, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_DTYPE_BIT (F32),
  .family = VN_FAMILY_COMPUTE,
  .fuses_clamp = TRUE,
  .fuses_more = TRUE,
  .fuses_channels = TRUE,
  .fuses_pads = TRUE,
  .tells_ends = TRUE,
  .infer = conv_infer,
  .run = conv_run,
  .prepare = conv_prepare,
  .release = conv_release,
};
