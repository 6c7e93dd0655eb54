/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits the work of an operator over threads, if there is enough of it. */
#include "vn-op-private.h"
#include "vn-parallel.h"

/* Below this much work a thread costs more than it brings. */
#define MIN_PARALLEL_COST 60000.0
/* Threads take so much at a time, for taking costs as well; but no less than so many pieces are made for each. */
#define MIN_PIECE_COST 8000.0
#define MIN_PIECES 4

typedef struct
{
  VnOpItemFunc func;
  gpointer     data;
  gsize        n, step;
} Items;

static gboolean
op_parallel_run_piece (gsize      piece,
                       guint      worker,
                       gpointer   data,
                       GError   **error)
{
  const Items *self = data;
  gsize end = MIN (self->n, (piece + 1) * self->step);

  for (gsize i = piece * self->step; i < end; i++)
    self->func (self->data, i, worker);
  return TRUE;
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
    g_once_init_leave (&n, CLAMP (vn_parallel_default_threads (), 1, 16));
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
      gsize most = MAX (1, n_items / (MIN_PIECES * n_threads));
      Items items = { func, data, n_items, most };

      if (cost * (double) most > MIN_PIECE_COST)
        items.step = MIN (most, 1 + (gsize) (MIN_PIECE_COST / cost));
      vn_parallel_for (n_threads, (n_items + items.step - 1) / items.step, op_parallel_run_piece, &items, NULL, NULL);
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
