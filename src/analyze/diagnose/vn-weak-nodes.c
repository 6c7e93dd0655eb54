/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes the error comes from: by what they add to the error of the outputs, or before that was measured by their own
 * error. */
#include "vn-weak-nodes.h"

#include "vn-cause.h"

#include <math.h>

/* Where error is spread evenly no node has a large share of it: these many are told nevertheless. */
#define LEAST_ORIGINS 3

typedef struct
{
  guint  index;
  double value;
} WeakNode;

static int
weak_nodes_compare (gconstpointer a,
                    gconstpointer b,
                    gpointer      data)
{
  const WeakNode *p = a, *q = b;
  const VnMetric metric = (VnMetric) GPOINTER_TO_UINT (data);

  if (isnan (p->value) || isnan (q->value))
    return isnan (q->value) - isnan (p->value);
  if (p->value != q->value)
    return (p->value < q->value) == vn_metric_is_higher_better (metric) ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

/* Several nodes may be one for the run: the first of them computes the value, the others hand it on. */
static gboolean
weak_nodes_is_origin (const VnErrorRow *row,
                      GHashTable       *seen)
{
  return row->contribution > 0 && g_hash_table_add (seen, (gpointer) row);
}

static gboolean
weak_nodes_is_weak (VnRun            *result,
                    const VnNode     *node,
                    const VnErrorRow *row)
{
  return !(row->sqnr_db >= vn_metric_get_info (VN_METRIC_SQNR)->fine) && vn_cause_find_origin (result, node) == NULL;
}

/**
 * vn_weak_nodes_list:
 * @result: a run
 *
 * Returns: (transfer full) (element-type guint): if it was measured where error starts, the nodes where more than a fine share of
 *   it does, and the next ones if these are very few; else those that are less than fine themselves, but those that only pass on
 *   the error of another. The worst first; none if nothing was measured
 */
GArray *
vn_weak_nodes_list (VnRun *result)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  g_autoptr(GArray) weak = g_array_new (FALSE, FALSE, sizeof (WeakNode));
  GArray *list = g_array_new (FALSE, FALSE, sizeof (guint));
  const GPtrArray *nodes;
  VnMetric metric;

  g_return_val_if_fail (result != NULL, list);

  if (result->errors == NULL || result->source == NULL)
    return list;
  metric = vn_error_table_get_weakest_metric (result->errors);
  nodes = result->source->graph->nodes;
  for (guint i = 0; i < nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (nodes, i);
      const VnErrorRow *row = vn_run_get_node_error (result, node);

      if (row != NULL && (metric == VN_METRIC_CONTRIBUTION
                          ? weak_nodes_is_origin (row, seen) : weak_nodes_is_weak (result, node, row)))
        g_array_append_val (weak, ((WeakNode) { i, vn_metric_get (row, metric) }));
    }
  g_array_sort_with_data (weak, weak_nodes_compare, GUINT_TO_POINTER (metric));
  for (guint i = 0; i < weak->len; i++)
    {
      const WeakNode *node = &g_array_index (weak, WeakNode, i);

      if (metric == VN_METRIC_CONTRIBUTION && i >= LEAST_ORIGINS && node->value < vn_metric_get_info (metric)->fine)
        break;
      g_array_append_val (list, node->index);
    }
  return list;
}
