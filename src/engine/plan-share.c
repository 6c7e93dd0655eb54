/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How threads are shared out: each takes a sample of its own as long as the values of so many samples fit into memory. */
#include "vn-plan-private.h"

#include "vn-memory.h"
#include "vn-parallel.h"

/**
 * vn_plan_share_threads:
 * @plans: (array length=n_plans): those that each sample runs through, one beside the other
 * @more: bytes that are kept of a sample beside what runners need
 * @n_threads: 0: all processors
 * @n_items: how many samples
 * @n_inside: (out): how many threads each run may use, for vn_runner_set_threads()
 *
 * As many samples are run at a time as fit into vn_memory_get_budget(), one at least. Threads that are left over work inside the runs:
 * the results are the same bits.
 *
 * Returns: how many samples are run at a time, at least 1
 */
guint
vn_plan_share_threads (VnPlan * const *plans,
                       guint           n_plans,
                       gsize           more,
                       guint           n_threads,
                       guint           n_items,
                       guint          *n_inside)
{
  gsize size = MAX (more, 1);
  guint n;

  g_return_val_if_fail (plans != NULL && n_inside != NULL, 1);

  for (guint i = 0; i < n_plans; i++)
    size += vn_plan_get_arena_size (plans[i]) + plans[i]->scratch_size;
  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  n = (guint) CLAMP (vn_memory_get_budget () / size, 1, MIN (n_threads, MAX (n_items, 1)));
  if (n < n_items)   /* fewer, where that leaves fewer threads without work */
    n = n_threads / ((n_threads + n - 1) / n);
  *n_inside = n_threads / n;
  return n;
}
