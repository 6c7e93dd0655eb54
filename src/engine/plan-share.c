/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How memory is shared out: among plans that are there at the same time, and among threads, of which each takes a sample of its
 * own as long as the values of so many samples fit. */
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
 * As many samples are run at a time as fit into vn_memory_get_budget(), one at least. Threads that are left over work inside the
 * runs: the results are the same bits.
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
  gsize size = MAX (more, 1), passing = 0;
  guint n;

  g_return_val_if_fail (plans != NULL && n_inside != NULL, 1);

  for (guint i = 0; i < n_plans; i++)
    {
      size += vn_plan_get_arena_size (plans[i]) + plans[i]->scratch_size;
      passing = MAX (passing, plans[i]->passing_bytes);
    }
  if (n_threads == 0)
    n_threads = vn_parallel_default_threads ();
  n = (guint) CLAMP (vn_memory_get_budget () / size, 1, MIN (n_threads, MAX (n_items, 1)));
  if (passing > 0)   /* each would make the same weights for itself */
    n = 1;
  if (n < n_items)   /* fewer, where that leaves fewer threads without work */
    n = n_threads / ((n_threads + n - 1) / n);
  *n_inside = n_threads / n;
  return n;
}

/**
 * vn_plan_share_weights:
 * @model: whose weights are compared with others of their kind: its size is what is there anyway
 * @n_plans: of @model and others like it
 *
 * Two thirds of its weights, and half of vn_memory_get_budget(), for all plans together.
 *
 * Returns: bytes for VnPlanOptions.most_weights of each
 */
gsize
vn_plan_share_weights (const VnModel *model,
                       guint          n_plans)
{
  g_return_val_if_fail (model != NULL && n_plans > 0, 0);

  return MAX ((vn_graph_weight_bytes (model->graph) / 3 * 2 + vn_memory_get_budget () / 2) / n_plans, 1);
}
