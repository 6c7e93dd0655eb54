/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products with a constant right operand, which is packed once. The depth is cut so that a block of rows of the left
 * operand stays in the second cache; each element of the result is summed over the depth in order, whatever the
 * blocks, so results do not depend on how the work is split. */
#include "vn-gemm-packed.h"

#include "vn-memory.h"
#include "vn-multiversion.h"

#include <stdlib.h>

#define ROWS 128
#define DEPTH 512
#define ALIGNMENT 64

/* Bytes of packed operands that stay in memory; more of them, unless they are small, are in files without names. */
#define PACKED_IN_MEMORY ((gsize) 192 << 20)
#define SMALL_OPERAND ((gsize) 1 << 20)

static gsize n_packed_bytes;   /* atomic */

static gsize
gemm_packed_block_width (const VnGemmKernel *kernel)
{
  return (gsize) kernel->lanes * kernel->vectors;
}

/* Columns of block @i, filled up to whole vectors. */
static gsize
gemm_packed_padded_width (const VnGemmPacked *self,
                          gsize               i)
{
  gsize left = self->columns - i * gemm_packed_block_width (self->kernel), lanes = self->kernel->lanes;

  return MIN (gemm_packed_block_width (self->kernel), (left + lanes - 1) / lanes * lanes);
}

static void
gemm_packed_pack_block (VnGemmPacked *self,
                        gsize         i,
                        const float  *b,
                        gboolean      transposed,
                        float         alpha)
{
  gsize first = i * gemm_packed_block_width (self->kernel),
  n = MIN (gemm_packed_block_width (self->kernel), self->columns - first);

  vn_gemm_pack (transposed ? b + first * self->depth : b + first, transposed ? self->depth : self->columns, transposed,
                alpha, self->depth, n, gemm_packed_padded_width (self, i), self->blocks + first * self->depth);
}

/* FALSE if memory is short. */
static gboolean
gemm_packed_take_memory (VnGemmPacked *self,
                         gsize         bytes)
{
  const gsize all = __atomic_add_fetch (&n_packed_bytes, bytes, __ATOMIC_RELAXED);

  self->n_counted = bytes;
  self->spill = bytes >= SMALL_OPERAND && all > PACKED_IN_MEMORY ? vn_spill_try (bytes) : NULL;
  if (self->spill == NULL)
    return (self->blocks = vn_memory_try_aligned (MAX (bytes, ALIGNMENT), ALIGNMENT)) != NULL;
  __atomic_sub_fetch (&n_packed_bytes, bytes, __ATOMIC_RELAXED);
  self->n_counted = 0;
  self->blocks = self->spill->data;
  return TRUE;
}

/**
 * vn_gemm_packed_new:
 * @b: depth x columns, or columns x depth if @transposed
 * @alpha: factor of the product
 *
 * Returns: (transfer full): the packed operand, or %NULL with %VN_ERROR_MEMORY
 */
VnGemmPacked *
vn_gemm_packed_new (const VnGemmKernel  *kernel,
                    const float         *b,
                    gsize                depth,
                    gsize                columns,
                    gboolean             transposed,
                    float                alpha,
                    GError             **error)
{
  VnGemmPacked *self = g_new0 (VnGemmPacked, 1);
  gsize padded, bytes = G_MAXSIZE;

  self->kernel = kernel;
  self->depth = depth;
  self->columns = columns;
  self->n_blocks = (columns + gemm_packed_block_width (kernel) - 1) / gemm_packed_block_width (kernel);
  padded = (columns + kernel->lanes - 1) / kernel->lanes * kernel->lanes;
  if (!vn_checked_mul (padded * sizeof (float), depth, &bytes) || !gemm_packed_take_memory (self, bytes))
    {
      vn_memory_set_error (bytes, error);
      vn_gemm_packed_free (self);
      return NULL;
    }
  for (gsize i = 0; i < self->n_blocks; i++)
    gemm_packed_pack_block (self, i, b, transposed, alpha);
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
  __atomic_sub_fetch (&n_packed_bytes, self->n_counted, __ATOMIC_RELAXED);
  if (self->spill != NULL)
    vn_spill_free (self->spill);
  else
    free (self->blocks);
  g_free (self);
}

typedef struct
{
  const VnGemmPacked *packed;
  const VnGemmCall   *call;
  gsize               n_splits;    /* pieces of the columns */
} Run;

/* A piece of one row; @added: its part at @step. */
VN_MULTIVERSION
static void
gemm_packed_add_row (float        beta,
                     const float *added,
                     gsize        step,
                     float       *y,
                     gsize        n)
{
  if (step == 1)
    for (gsize j = 0; j < n; j++)
      y[j] += beta * added[j];
  else
    for (gsize j = 0; j < n; j++)
      y[j] += beta * *added;
}

static void
gemm_packed_finish_strip (const Run *self,
                          gsize      row,
                          gsize      n_rows,
                          gsize      first,
                          gsize      n)
{
  const VnGemmCall *call = self->call;
  gsize pitch = self->packed->columns;

  for (gsize i = row; i < row + n_rows && call->added != NULL; i++)
    gemm_packed_add_row (call->beta, call->added + i * call->added_row + first * call->added_column, call->added_column,
                         call->y + i * pitch + first, n);
  if (call->epilogue != NULL)
    vn_epilogue_apply (call->epilogue, call->y + row * pitch + first, row, n_rows, n, pitch);
}

/* Rows @row .. of the blocks @from .. @to - 1. */
static void
gemm_packed_run_piece (const Run *self,
                       gsize      row,
                       gsize      n_rows,
                       gsize      from,
                       gsize      to)
{
  const VnGemmPacked *packed = self->packed;
  const VnGemmCall *call = self->call;
  gsize strip = gemm_packed_block_width (packed->kernel), n_passes = MAX (1, (packed->depth + DEPTH - 1) / DEPTH), done = 0;
  VnGemmTile tile = { .a_row = call->a_step, .a_step = call->depth_step, .c_step = packed->columns };

  for (gsize pass = 0; pass < n_passes; pass++, done += tile.depth)
    {
      tile.depth = (packed->depth - done + n_passes - pass - 1) / (n_passes - pass);
      for (gsize block = from; block < to; block++)
        {
          gsize first = block * strip, n = MIN (strip, packed->columns - first), width = gemm_packed_padded_width (packed, block);
          gsize next = block + 1 < to ? block + 1 : from, further = block + 1 < to ? done : done + tile.depth;

          tile.a = call->a + row * call->a_step + done * call->depth_step;
          tile.b = packed->blocks + first * packed->depth + done * width;
          tile.b_step = width;
          tile.ahead = packed->blocks + next * strip * packed->depth + further * gemm_packed_padded_width (packed, next);
          tile.c = call->y + row * packed->columns + first;
          tile.add = done > 0;
          vn_gemm_tiles (packed->kernel, n_rows, n, &tile);
          if (pass == n_passes - 1)
            gemm_packed_finish_strip (self, row, n_rows, first, n);
        }
    }
}

static void
gemm_packed_run_item (gpointer data,
                      gsize    item,
                      guint    worker)
{
  const Run *self = data;
  gsize row = item / self->n_splits * ROWS, split = item % self->n_splits, n_blocks = self->packed->n_blocks;

  gemm_packed_run_piece (self, row, MIN (ROWS, self->call->rows - row), split * n_blocks / self->n_splits,
                         (split + 1) * n_blocks / self->n_splits);
}

/**
 * vn_gemm_packed_run:
 */
void
vn_gemm_packed_run (const VnGemmPacked *self,
                    const VnOpContext  *ctx,
                    const VnGemmCall   *call)
{
  Run run = { self, call, 1 };
  gsize n_items = (call->rows + ROWS - 1) / ROWS;

  if (n_items == 0 || self->columns == 0)
    return;
  /* Too few pieces for the threads: cut the columns as well. */
  if (ctx->n_threads > 1 && n_items < 4 * ctx->n_threads)
    run.n_splits = MIN (self->n_blocks, (4 * ctx->n_threads + n_items - 1) / n_items);
  vn_op_for_items (ctx, n_items * run.n_splits,
                   (double) MIN (call->rows, ROWS) * self->columns * self->depth / 16 / run.n_splits, gemm_packed_run_item, &run);
}
