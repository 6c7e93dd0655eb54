/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products with a constant right operand, which is packed once. The left operand is packed in blocks of rows that
 * stay in the second cache; each element of the result is summed over the depth in order, whatever the blocks, so
 * results do not depend on how the work is split. */
#include "vn-gemm-packed.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 128
#define ALIGNMENT 64

static gsize
block_width (const VnTile *tile)
{
  return (gsize) tile->lanes * tile->max_vectors;
}

/* Columns of block @i, filled up to whole vectors. */
static gsize
padded_width (const VnGemmPacked *self,
              gsize               i)
{
  gsize left = self->columns - i * block_width (self->tile), lanes = self->tile->lanes;

  return MIN (block_width (self->tile), (left + lanes - 1) / lanes * lanes);
}

static void
pack_block (VnGemmPacked *self,
            gsize         i,
            const float  *b,
            gboolean      transposed,
            float         alpha)
{
  gsize first = i * block_width (self->tile), n = MIN (block_width (self->tile), self->columns - first);
  gsize width = padded_width (self, i);
  float *to = self->blocks + first * self->depth;

  if (transposed)
    for (gsize j = 0; j < n; j++)
      for (gsize k = 0; k < self->depth; k++)
        to[k * width + j] = alpha * b[(first + j) * self->depth + k];
  else
    for (gsize k = 0; k < self->depth; k++)
      for (gsize j = 0; j < n; j++)
        to[k * width + j] = alpha * b[k * self->columns + first + j];
}

/**
 * vn_gemm_packed_new:
 * @b: depth x columns, or columns x depth if @transposed
 * @alpha: factor of the product
 *
 * Returns: (transfer full): the packed operand, or %NULL with %VN_ERROR_LIMIT
 */
VnGemmPacked *
vn_gemm_packed_new (const VnTile  *tile,
                    const float   *b,
                    gsize          depth,
                    gsize          columns,
                    gboolean       transposed,
                    float          alpha,
                    GError       **error)
{
  VnGemmPacked *self = g_new0 (VnGemmPacked, 1);
  gsize padded, bytes;

  self->tile = tile;
  self->depth = depth;
  self->columns = columns;
  self->n_blocks = (columns + block_width (tile) - 1) / block_width (tile);
  padded = (columns + tile->lanes - 1) / tile->lanes * tile->lanes;
  if (!vn_checked_mul (padded * sizeof (float), depth, &bytes) ||
      posix_memalign ((void **) &self->blocks, ALIGNMENT, MAX (bytes, ALIGNMENT)) != 0)
    {
      self->blocks = NULL;
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
                   _("no memory for a weight of %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT), depth, columns);
      vn_gemm_packed_free (self);
      return NULL;
    }
  memset (self->blocks, 0, bytes);
  for (gsize i = 0; i < self->n_blocks; i++)
    pack_block (self, i, b, transposed, alpha);
  return self;
}

/**
 * vn_gemm_packed_free:
 */
void
vn_gemm_packed_free (VnGemmPacked *self)
{
  if (self == NULL)
    return;
  free (self->blocks);
  g_free (self);
}

static gsize
worker_bytes (const VnTile *tile,
              gsize         rows,
              gsize         depth)
{
  rows = (MIN (rows, ROWS) + tile->rows - 1) / tile->rows * tile->rows;
  return (rows * depth * sizeof (float) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/**
 * vn_gemm_packed_scratch:
 * @bytes: (out): memory for the packed rows of all threads
 *
 * Returns: %FALSE if that is too large to count
 */
gboolean
vn_gemm_packed_scratch (gsize  rows,
                        gsize  depth,
                        gsize *bytes)
{
  return depth < G_MAXSIZE / 2 / ROWS / sizeof (float) / VN_TILE_MAX_ROWS &&
         vn_checked_mul (worker_bytes (vn_tile_get (), rows, depth), vn_op_max_workers (), bytes);
}

typedef struct
{
  const VnGemmPacked *packed;
  const VnGemmCall   *call;
  char               *scratch;
  gsize               worker_bytes;
  gsize               n_splits;    /* pieces of the columns */
} Run;

/* Rows @first .. @first + @n - 1 of a, as panels of depth x tile rows; missing rows are 0. */
static void
pack_rows (const VnGemmPacked *self,
           const VnGemmCall   *call,
           gsize               first,
           gsize               n,
           float              *to)
{
  gsize rows = self->tile->rows;

  for (gsize done = 0; done < n; done += rows, to += rows * self->depth)
    for (gsize i = 0; i < rows; i++)
      {
        const float *from = call->a + (first + done + i) * call->a_step;

        if (done + i >= n)
          for (gsize k = 0; k < self->depth; k++)
            to[k * rows + i] = 0.f;
        else
          for (gsize k = 0; k < self->depth; k++)
            to[k * rows + i] = from[k * call->depth_step];
      }
}

/* What is added to the product, and the clamp, on a piece of one row. */
VN_MULTIVERSION
static void
finish_row (const VnGemmCall *call,
            const float      *added,
            float            *y,
            gsize             n)
{
  float low = call->low, high = call->high, beta = call->beta;

  if (call->added_column == 1)
    for (gsize j = 0; j < n; j++)
      {
        float v = y[j] + beta * added[j];

        v = v < low ? low : v;
        y[j] = v > high ? high : v;
      }
  else
    for (gsize j = 0; j < n; j++)
      {
        float v = y[j] + beta * *added;

        v = v < low ? low : v;
        y[j] = v > high ? high : v;
      }
}

static void
run_tile (const Run   *self,
          gsize        row,
          gsize        n_rows,
          gsize        block,
          const float *panel)
{
  static const float zeros[VN_TILE_MAX_ROWS];
  const VnGemmPacked *packed = self->packed;
  const VnGemmCall *call = self->call;
  const VnTile *tile = packed->tile;
  gsize first = block * block_width (tile), width = padded_width (packed, block);
  gsize n = MIN (block_width (tile), packed->columns - first);
  float aside[VN_TILE_MAX_ROWS * VN_TILE_MAX_COLUMNS];
  float *y = call->y + row * packed->columns + first;
  gboolean whole = n_rows == tile->rows && n == width;

  tile->run[width / tile->lanes] (packed->depth, panel, packed->blocks + first * packed->depth, zeros,
                                  call->added != NULL ? (float) -INFINITY : call->low,
                                  call->added != NULL ? (float) INFINITY : call->high, whole ? y : aside,
                                  whole ? packed->columns : width);
  for (gsize i = 0; i < n_rows && !whole; i++)
    memcpy (y + i * packed->columns, aside + i * width, n * sizeof (float));
  for (gsize i = 0; i < n_rows && call->added != NULL; i++)
    finish_row (call, call->added + (row + i) * call->added_row + first * call->added_column, y + i * packed->columns,
                n);
}

static void
run_item (gpointer data,
          gsize    item,
          guint    worker)
{
  const Run *self = data;
  const VnGemmPacked *packed = self->packed;
  gsize first = item / self->n_splits * ROWS, n = MIN (ROWS, self->call->rows - first), rows = packed->tile->rows;
  gsize per_split = (packed->n_blocks + self->n_splits - 1) / self->n_splits, split = item % self->n_splits;
  float *panels = (float *) (self->scratch + worker * self->worker_bytes);

  if (split * per_split >= packed->n_blocks)
    return;
  pack_rows (packed, self->call, first, n, panels);
  for (gsize block = split * per_split; block < MIN (packed->n_blocks, (split + 1) * per_split); block++)
    for (gsize done = 0; done < n; done += rows)
      run_tile (self, first + done, MIN (rows, n - done), block, panels + done * packed->depth);
}

/**
 * vn_gemm_packed_run:
 *
 * ctx->scratch must have the size vn_gemm_packed_scratch() tells for call->rows.
 */
void
vn_gemm_packed_run (const VnGemmPacked *self,
                    const VnOpContext  *ctx,
                    const VnGemmCall   *call)
{
  Run run = { self, call, ctx->scratch, worker_bytes (self->tile, call->rows, self->depth), 1 };
  gsize n_items = (call->rows + ROWS - 1) / ROWS;

  if (n_items == 0 || self->columns == 0)
    return;
  /* Too few pieces for the threads: cut the columns as well. */
  if (ctx->n_threads > 1 && n_items < 4 * ctx->n_threads)
    run.n_splits = MIN (self->n_blocks, (4 * ctx->n_threads + n_items - 1) / n_items);
  vn_op_for_items (ctx, n_items * run.n_splits,
                   (double) MIN (call->rows, ROWS) * self->columns * self->depth / 16 / run.n_splits, run_item, &run);
}
