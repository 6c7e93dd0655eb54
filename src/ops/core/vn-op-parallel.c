/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits the work of an operator over threads, if there is enough of it. */
#include "vn-op-kernel.h"
#include "vn-parallel.h"

/* Below this much work a thread costs more than it brings. */
#define MIN_PARALLEL_COST 20000.0
/* Threads take so much at a time, for taking costs as well; but no less than so many pieces are made for each. */
#define MIN_PIECE_COST 8000.0
#define MIN_PIECES 4

#define MAX_WORKERS 16

/* What is left of a worker's share, in a cache line of its own: the first item in the lower half, the end in the upper. */
typedef struct
{
  guint64 left;   /* atomic */
  guint8  apart[56];
} Share;

/* Each worker has a share of its own, the same part of the items in each loop: what it wrote for the operator before is still
 * in its cache. Then it helps the others, from the end of their shares on. */
typedef struct
{
  VnOpItemFunc func;
  gpointer     data;
  gsize        n, step;   /* items, and how many of them are taken at a time */
  guint        n_shares;
  Share        shares[MAX_WORKERS];
} Items;

/* Takes a piece of a share. */
static gboolean
op_parallel_take (Share   *share,
                  gboolean own,
                  guint32 *piece)
{
  guint64 left = __atomic_load_n (&share->left, __ATOMIC_RELAXED), rest;

  do
    {
      guint32 first = (guint32) left, end = (guint32) (left >> 32);

      if (first >= end)
        return FALSE;
      *piece = own ? first : end - 1;
      rest = own ? left + 1 : left - ((guint64) 1 << 32);
    }
  while (!__atomic_compare_exchange_n (&share->left, &left, rest, TRUE, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return TRUE;
}

static void
op_parallel_run_piece (const Items *self,
                       guint32      piece,
                       guint        worker)
{
  gsize end = MIN (self->n, ((gsize) piece + 1) * self->step);

  for (gsize i = piece * self->step; i < end; i++)
    self->func (self->data, i, worker);
}

static gboolean
op_parallel_run_shares (gsize      item,
                        guint      worker,
                        gpointer   data,
                        GError   **error)
{
  Items *self = data;
  guint32 piece;

  for (guint i = 0; i < self->n_shares; i++)
    while (op_parallel_take (&self->shares[(worker + i) % self->n_shares], i == 0, &piece))
      op_parallel_run_piece (self, piece, worker);
  return TRUE;
}

static void
op_parallel_run (guint         n_threads,
                 gsize         n_items,
                 gsize         step,
                 VnOpItemFunc  func,
                 gpointer      data)
{
  gsize n_pieces = (n_items + step - 1) / step;
  Items items = { .func = func, .data = data, .n = n_items, .step = step };

  items.n_shares = (guint) MIN (n_threads, n_pieces);
  for (gsize i = 0; i < items.n_shares; i++)
    items.shares[i].left = (guint64) (n_pieces * (i + 1) / items.n_shares) << 32 | (guint64) (n_pieces * i / items.n_shares);
  vn_parallel_for (items.n_shares, items.n_shares, op_parallel_run_shares, &items, NULL, NULL);
}

/**
 * vn_op_max_workers:
 *
 * `infer` does not know how many threads `run` will have: operators that need scratch for each ask for as many pieces.
 *
 * Returns: the most workers vn_op_for_items() uses
 */
guint
vn_op_max_workers (void)
{
  static gsize n;

  if (g_once_init_enter (&n))
    g_once_init_leave (&n, CLAMP (vn_parallel_default_threads (), 1, MAX_WORKERS));
  return (guint) n;
}

/**
 * vn_op_for_items:
 * @ctx: says how many threads may be used
 * @n_items: pieces of work; their number must not depend on the threads, so that results do not
 * @cost: of one item, in simple operations on one element
 * @func: called once per item
 *
 * Runs @func over all items, on several threads if that pays. Workers are numbered below vn_op_max_workers(),
 * so that scratch can be one piece per worker.
 */
void
vn_op_for_items (const VnOpContext *ctx,
                 gsize              n_items,
                 double             cost,
                 VnOpItemFunc       func,
                 gpointer           data)
{
  if (ctx->n_threads > 1 && n_items > 1 && cost * (double) n_items >= MIN_PARALLEL_COST)
    {
      guint n_threads = MIN (ctx->n_threads, vn_op_max_workers ());
      gsize most = MAX (1, n_items / (MIN_PIECES * n_threads)), step = most;

      if (cost * (double) most > MIN_PIECE_COST)
        step = MIN (most, 1 + (gsize) (MIN_PIECE_COST / cost));
      op_parallel_run (n_threads, n_items, MAX (step, n_items / G_MAXINT32), func, data);
      return;
    }
  for (gsize i = 0; i < n_items; i++)
    func (data, i, 0);
}

typedef struct
{
  VnOpRangeFunc func;
  gpointer      data;
  gsize         n, step;
} Ranges;

static void
op_parallel_run_range (gpointer data,
                       gsize    item,
                       guint    worker)
{
  const Ranges *self = data;
  gsize first = item * self->step;

  self->func (self->data, first, MIN (self->step, self->n - first));
}

/**
 * vn_op_for_ranges:
 * @n: how many elements
 * @cost: of one element, in simple operations
 * @func: called with the first element and the count of each piece
 *
 * Splits a loop over elements into pieces of fixed size.
 */
void
vn_op_for_ranges (const VnOpContext *ctx,
                  gsize              n,
                  double             cost,
                  VnOpRangeFunc      func,
                  gpointer           data)
{
  Ranges ranges = { func, data, n, 65536 };

  if (n > 0)
    vn_op_for_items (ctx, (n + ranges.step - 1) / ranges.step, cost * (double) MIN (n, ranges.step), op_parallel_run_range,
                     &ranges);
}
