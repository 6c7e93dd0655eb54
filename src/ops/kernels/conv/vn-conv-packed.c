/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolution with a weight known in advance: y (channels x pixels) = weight (channels x depth) * pixels (depth x
 * pixels), tile by tile. The weight is packed; so are the pixels, but with few channels they are read where they lie.
 * Every sum runs over the whole depth in one go and in the same order, so the result does not depend on how the work
 * is cut into blocks or spread over threads. */
#include "vn-conv-packed.h"
#include "vn-conv-stage.h"

#include "vn-memory.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>

/* A block of packed pixels is read once per panel of weights: it should stay in the second-level cache. */
#define BLOCK_BYTES (512 * 1024)

typedef struct
{
  const VnConvPacked *packed;
  const VnConv       *conv;
  const VnEpilogue   *epilogue;
  const float        *x;
  float              *y;
  char               *scratch;
  const gsize        *offsets;
  VnStage             stage;
  float               low, high;
  gboolean            after;        /* more to do than bias and clamp */
  gsize               n_splits;
} Packed;

/* ---- weights ---- */

static void
conv_packed_pack_group (VnConvPacked *self,
                        gsize         group,
                        const float  *w,
                        const float  *b)
{
  gsize rows = self->tile->rows;

  for (gsize p = 0; p < self->n_panels; p++)
    for (gsize i = 0; i < rows && p * rows + i < self->channels; i++)
      {
        float *panel = self->panels + (group * self->n_panels + p) * self->depth * rows;
        const float *row = w + (group * self->channels + p * rows + i) * self->depth;

        for (gsize k = 0; k < self->depth; k++)
          panel[k * rows + i] = row[k];
        if (b != NULL)
          self->bias[(group * self->n_panels + p) * rows + i] = b[group * self->channels + p * rows + i];
      }
}

/**
 * vn_conv_packed_new:
 * @tile: the innermost loop it is for
 * @w: weight, float32; its first dim is a multiple of @groups
 * @b: (nullable): bias
 *
 * Returns: (transfer full): the packed weight, or %NULL with %VN_ERROR_MEMORY
 */
VnConvPacked *
vn_conv_packed_new (const VnTile    *tile,
                    gsize            groups,
                    const VnTensor  *w,
                    const VnTensor  *b,
                    GError         **error)
{
  VnConvPacked *self = g_new0 (VnConvPacked, 1);
  gsize rows, floats = 0;
  gboolean fits;

  self->tile = tile;
  self->groups = groups;
  self->channels = (gsize) w->shape.dims[0] / groups;
  self->depth = self->channels > 0 ? w->n_elements / groups / self->channels : 0;
  self->n_panels = (self->channels + tile->rows - 1) / tile->rows;
  rows = groups * self->n_panels * tile->rows;
  fits = vn_checked_mul (rows, self->depth + 1, &floats) && vn_checked_mul (floats, sizeof (float), &floats) &&
         (self->memory = vn_memory_try_aligned (MAX (floats, 64), floats >= (4u << 20) ? 2u << 20 : 64)) != NULL;
  if (!fits)
    {
      vn_memory_set_error (floats, error);
      g_free (self);
      return NULL;
    }
  madvise (self->memory, floats, MADV_HUGEPAGE);
  memset (self->memory, 0, floats);
  self->panels = self->memory;
  self->bias = self->panels + rows * self->depth;
  for (gsize g = 0; g < groups; g++)
    conv_packed_pack_group (self, g, w->data, b != NULL ? b->data : NULL);
  return self;
}

void
vn_conv_packed_free (VnConvPacked *self)
{
  free (self->memory);
  g_free (self);
}

/* ---- running ---- */

/**
 * vn_conv_packed_fits:
 *
 * Returns: whether the convolution is one over at most two axes, as this code handles
 */
gboolean
vn_conv_packed_fits (const VnConv *conv)
{
  const VnSlidingWindow *win = &conv->window;

  return win->kernel[0] == 1 && win->in[0] == 1 && win->out[0] == 1 && win->begin[0] == 0 &&
         conv->out_size > 0 && conv->depth > 0 && conv->in_size < G_MAXUINT / 64;
}

/* How many tiles there are in a row of the product, and how many of them a block can have. */
static void
conv_packed_count_tiles (const VnConv *conv,
                         const VnTile *tile,
                         gsize        *n_tiles,
                         gsize        *fit)
{
  gsize columns = tile->lanes * tile->max_vectors;

  *n_tiles = (conv->out_size + columns - 1) / columns;
  *fit = CLAMP (BLOCK_BYTES / sizeof (float) / columns / MAX (conv->depth, 1), 1, *n_tiles);
}

static gboolean
conv_packed_init_stage (VnStage      *stage,
                        const VnConv *conv,
                        const VnTile *tile,
                        gsize         n_tiles,    /* in a block */
                        gsize        *bytes)
{
  gsize columns = tile->lanes * tile->max_vectors;

  if (!vn_stage_init (stage, conv, columns, tile->lanes, n_tiles * columns) ||
      !vn_checked_add (stage->block_bytes, stage->lines_bytes, bytes) ||
      !vn_checked_add (*bytes, 2 * 64, bytes))
    return FALSE;
  stage->block_bytes = (stage->block_bytes + 63) & ~(gsize) 63;
  *bytes &= ~(gsize) 63;
  return TRUE;
}

/* Of the table at the start of the scratch. The depth is one of a weight in memory. */
static gsize
conv_packed_offsets_bytes (const VnConv *conv)
{
  return (conv->depth * sizeof (gsize) + 63) & ~(gsize) 63;
}

/**
 * vn_conv_packed_scratch:
 * @bytes: (out): memory for all threads
 *
 * Returns: %FALSE if that is too large to count
 */
gboolean
vn_conv_packed_scratch (const VnConv *conv,
                        const VnTile *tile,
                        gsize        *bytes)
{
  VnStage stage;
  gsize n_tiles, fit;

  conv_packed_count_tiles (conv, tile, &n_tiles, &fit);
  return conv_packed_init_stage (&stage, conv, tile, fit, bytes) && vn_checked_mul (*bytes, vn_op_max_workers (), bytes) &&
         vn_checked_add (*bytes, conv_packed_offsets_bytes (conv), bytes);
}

/* A block of output pixels. */
typedef struct
{
  gsize        first, n;
  const float *x, *lines, *pixels;
} Block;

/* One tile, @at pixels into the block; at the edges it is computed aside and only the part that exists is copied. */
static void
conv_packed_run_tile (const Packed *self,
                      const Block  *block,
                      gsize         at,
                      gsize         n_rows,
                      const float  *panel,
                      const float  *bias,
                      float        *y)
{
  gsize n_columns = MIN (self->stage.max_columns, block->n - at);
  const float *pixels = block->pixels + at * self->conv->depth, *vectors[VN_TILE_MAX_VECTORS];
  const VnTile *tile = self->packed->tile;
  gsize pitch = self->conv->out_size, columns = vn_stage_panel (&self->stage, n_columns);
  float aside[VN_TILE_MAX_ROWS * VN_TILE_MAX_COLUMNS];
  gboolean whole = n_rows == tile->rows && n_columns == columns;

  if (n_columns <= vn_tile_count_single (self->conv->out_size))
    for (gsize j = 0; j < n_columns; j++)
      tile->run_single (self->conv->depth, panel, pixels + j, n_columns, bias, self->low, self->high,
                        (whole ? y : aside) + j, whole ? pitch : columns);
  else if (vn_stage_find (&self->stage, block->x, block->lines, block->first, at, n_columns, vectors))
    tile->run_at[columns / tile->lanes] (self->conv->depth, panel, vectors, self->offsets, bias, self->low,
                                         self->high, whole ? y : aside, whole ? pitch : columns);
  else
    tile->run[columns / tile->lanes] (self->conv->depth, panel, pixels, bias, self->low, self->high,
                                      whole ? y : aside, whole ? pitch : columns);
  for (gsize i = 0; i < n_rows && !whole; i++)
    memcpy (y + i * pitch, aside + i * columns, n_columns * sizeof (float));
}

static void
conv_packed_run_panel (const Packed *self,
                       gsize         group,
                       gsize         p,
                       const Block  *block,
                       float        *y)
{
  const VnConvPacked *packed = self->packed;
  gsize rows = packed->tile->rows, first_row = p * rows, panel = group * packed->n_panels + p;
  gsize n_rows = MIN (rows, packed->channels - first_row);

  y += first_row * self->conv->out_size;
  for (gsize done = 0; done < block->n; done += self->stage.max_columns)
    conv_packed_run_tile (self, block, done, n_rows, packed->panels + panel * packed->depth * rows, packed->bias + panel * rows,
                          y + done);
  if (self->after)
    vn_epilogue_apply (self->epilogue, y, group * packed->channels + first_row, n_rows, block->n,
                       self->conv->out_size);
}

static void
conv_packed_run_block (gpointer data,
                       gsize    item,
                       guint    worker)
{
  const Packed *self = data;
  const VnConvPacked *packed = self->packed;
  const VnConv *conv = self->conv;
  gsize split = item % self->n_splits, nth = item / self->n_splits % self->stage.n_blocks;
  gsize plane = item / self->n_splits / self->stage.n_blocks;   /* batch and group */
  gsize first = nth * self->stage.columns, left = conv->out_size - first;
  gsize n = nth + 1 == self->stage.n_blocks ? left : self->stage.columns;
  gsize per_split = (packed->n_panels + self->n_splits - 1) / self->n_splits;
  gsize bytes = (self->stage.block_bytes + self->stage.lines_bytes + 63) & ~(gsize) 63;
  char *scratch = self->scratch + worker * bytes;
  float *pixels = (float *) scratch, *lines = (float *) (scratch + self->stage.block_bytes);
  float *y = self->y + plane * conv->out_channels * conv->out_size + first;
  Block block = { first, n, self->x + plane * conv->in_channels * conv->in_size, lines, pixels };

  if (split * per_split >= packed->n_panels)
    return;
  vn_stage_pack (&self->stage, block.x, first, n, lines, pixels);
  for (gsize p = split * per_split; p < MIN (packed->n_panels, (split + 1) * per_split); p++)
    conv_packed_run_panel (self, plane % conv->groups, p, &block, y);
}

static void
conv_packed_take_epilogue (Packed     *self,
                           VnEpilogue *rest)
{
  *rest = *self->epilogue;
  rest->bias = NULL;   /* the tile adds it */
  self->low = (float) -INFINITY;
  self->high = (float) INFINITY;
  if (vn_epilogue_is_clamp (rest) && rest->map.active)
    {
      self->low = rest->map.min;
      self->high = rest->map.max;
      rest->map.active = FALSE;
    }
  self->after = rest->map.active || !vn_epilogue_is_clamp (rest);
  self->epilogue = rest;
}

/* The most panels of weights, with pixels of the data themselves and of lines with padding. */
#define STRAIGHT_DIRECT 8
#define STRAIGHT_LINES 16

/* Reading pixels where they lie saves packing them, but costs a little in each panel of weights: lines of the cache
 * are read in part, and far apart. */
static gboolean
conv_packed_reads_straight (const VnConvPacked *self,
                            const VnStage      *stage)
{
  return self->n_panels <= (stage->direct ? STRAIGHT_DIRECT : STRAIGHT_LINES);
}

/* What packing a tile costs, beside computing one panel of it; and what bringing its pixels into the cache does. */
#define PACK_COST 0.7
#define READ_COST 0.15

static double
conv_packed_pack_cost (const VnConvPacked *self,
                       const VnStage      *stage)
{
  gsize width = (gsize) stage->conv->window.out[2];

  if (!conv_packed_reads_straight (self, stage) ||
      (!stage->direct && width % self->tile->lanes != 0 && width < 2 * VN_TILE_MAX_COLUMNS))
    return PACK_COST;
  return READ_COST;
}

/* What a panel of few columns costs beyond them: reading the weights. */
#define PANEL_COST 0.3

/* In tiles: of @columns pixels and @n_panels rows of weights, with @pack for packing one. */
static double
conv_packed_block_cost (const VnTile *tile,
                        double        pack,
                        gsize         columns,
                        gsize         n_panels)
{
  gsize whole = columns / (tile->lanes * tile->max_vectors), rest = columns % (tile->lanes * tile->max_vectors);
  double part = (double) ((rest + tile->lanes - 1) / tile->lanes) / tile->max_vectors;

  return ((double) whole + part) * pack +
         ((double) whole + (rest > 0 ? MIN (part + PANEL_COST, 1) : 0)) * (double) n_panels;
}

/* What the thread with the most work has to do: the last block may be larger or smaller than the others. */
static double
conv_packed_split_cost (const VnConvPacked *self,
                        const VnStage      *stage,
                        gsize               n_planes,
                        guint               n_threads,
                        gsize               n_splits)
{
  gsize n_panels = (self->n_panels + n_splits - 1) / n_splits, items = n_planes * n_splits * stage->n_blocks;
  double pack = conv_packed_pack_cost (self, stage);
  double block = conv_packed_block_cost (self->tile, pack, MIN (stage->columns, stage->conv->out_size), n_panels);
  double last = conv_packed_block_cost (self->tile, pack, stage->conv->out_size - (stage->n_blocks - 1) * stage->columns,
                                        n_panels);
  double rounds = (double) ((items + n_threads - 1) / n_threads);

  if (last > block || stage->n_blocks == 1 || (n_planes * n_splits == 1 && items % n_threads == 1))
    return (rounds - 1) * block + last;
  return rounds * block;
}

/* Cuts the pixels into blocks, and the channels into @n_splits parts (each of which packs the pixels again), so that
 * the thread with the most work has the least. The sums do not depend on it. */
static gboolean
conv_packed_choose_split (const VnConvPacked *self,
                          const VnConv       *conv,
                          guint               n_threads,
                          VnStage            *stage,
                          gsize              *n_splits)
{
  gsize all_tiles, most, bytes, n_planes = conv->batch * conv->groups, best_tiles;
  double best = G_MAXDOUBLE;

  conv_packed_count_tiles (conv, self->tile, &all_tiles, &most);
  best_tiles = most;
  *n_splits = 1;
  for (gsize extra = 0, tiles = most; extra <= 2 * n_threads && tiles > 1 - (extra == 0) && n_threads > 1; extra++)
    {
      gsize n_blocks = (all_tiles + most - 1) / most + extra;

      tiles = (all_tiles + n_blocks - 1) / n_blocks;
      if (!conv_packed_init_stage (stage, conv, self->tile, tiles, &bytes))
        return FALSE;
      for (gsize splits = 1; splits <= MIN (self->n_panels, 2 * n_threads); splits++)
        {
          double cost = conv_packed_split_cost (self, stage, n_planes, n_threads, splits) +
                        1e-3 * (double) (n_planes * stage->n_blocks * splits);

          if (cost >= best)
            continue;
          best = cost;
          best_tiles = tiles;
          *n_splits = splits;
        }
    }
  return conv_packed_init_stage (stage, conv, self->tile, best_tiles, &bytes);
}

/**
 * vn_conv_packed_run:
 * @conv: one that vn_conv_packed_fits()
 * @epilogue: applied to the results; its bias is taken from @self
 *
 * ctx->scratch must have the size vn_conv_packed_scratch() tells.
 */
void
vn_conv_packed_run (const VnConvPacked *self,
                    const VnConv       *conv,
                    const VnOpContext  *ctx,
                    const VnEpilogue   *epilogue,
                    const float        *x,
                    float              *y)
{
  Packed packed = { self, conv, epilogue, x, y };
  VnEpilogue rest;
  gsize n_planes = conv->batch * conv->groups;

  if (n_planes == 0 ||
      !conv_packed_choose_split (self, conv, MIN (ctx->n_threads, vn_op_max_workers ()), &packed.stage, &packed.n_splits))
    return;
  packed.stage.straight = conv_packed_reads_straight (self, &packed.stage);
  vn_stage_offsets (&packed.stage, ctx->scratch);
  packed.offsets = ctx->scratch;
  packed.scratch = (char *) ctx->scratch + conv_packed_offsets_bytes (conv);
  conv_packed_take_epilogue (&packed, &rest);
  vn_op_for_items (ctx, n_planes * packed.stage.n_blocks * packed.n_splits,
                   (double) conv->out_channels * conv->depth * MIN (conv->out_size, packed.stage.columns) / 16 /
                   packed.n_splits, conv_packed_run_block, &packed);
}
