/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a document's error comes from: by what they add to the error of the outputs, or before that was measured by their
 * own error. */
#include "vn-weakest.h"

#include "vn-cause.h"
#include "vn-i18n.h"

#include <math.h>

/* Where error is spread evenly no node has a large share of it: these many are told nevertheless. */
#define LEAST_ORIGINS 3

/* Less of a share is not worth a word. */
#define LEAST_PART 0.001

static int
weakest_compare (gconstpointer a,
                 gconstpointer b,
                 gpointer      data)
{
  const VnNodeItem *p = *(VnNodeItem **) a, *q = *(VnNodeItem **) b;
  VnMetric metric = GPOINTER_TO_UINT (data);
  double x = p->metrics[metric], y = q->metrics[metric];

  if (isnan (x) || isnan (y))
    return isnan (y) - isnan (x);
  if (x != y)
    return (x < y) == vn_metric_is_higher_better (metric) ? -1 : 1;
  return (p->index > q->index) - (p->index < q->index);
}

/* Several nodes may be one for the run: the first of them computes the value, the others hand it on. */
static gboolean
weakest_is_origin (VnResult   *result,
                   VnNodeItem *item,
                   GHashTable *seen)
{
  const VnErrorRow *row = vn_result_get_node_error (result, item->node);

  return row != NULL && row->contribution > 0 && g_hash_table_add (seen, (gpointer) row);
}

static gboolean
weakest_is_weak (VnResult   *result,
                 VnNodeItem *item)
{
  return item->measured && !(item->metrics[VN_METRIC_SQNR] >= vn_metric_get_info (VN_METRIC_SQNR)->fine) &&
         vn_cause_find_origin (result, item->node) == NULL;
}

/**
 * vn_weakest_list:
 *
 * Returns: (transfer full) (element-type VnNodeItem): if it was measured where error starts, the nodes where more than a fine
 *   share of it does, and the next ones if these are very few; else those that are less than fine themselves, but those that only
 *   pass on the error of another. The worst first
 */
GPtrArray *
vn_weakest_list (VnDocument *document)
{
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *list = g_ptr_array_new_with_free_func (g_object_unref);
  GListModel *nodes;
  VnResult *result;
  VnMetric metric;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), list);

  nodes = vn_document_get_nodes (document);
  result = vn_document_get_result (document);
  metric = result != NULL && result->errors != NULL ? vn_error_table_get_weakest_metric (result->errors) : VN_METRIC_SQNR;
  for (guint i = 0; result != NULL && i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      if (metric == VN_METRIC_CONTRIBUTION ? weakest_is_origin (result, item, seen) : weakest_is_weak (result, item))
        g_ptr_array_add (list, g_steal_pointer (&item));
    }
  g_ptr_array_sort_with_data (list, weakest_compare, GUINT_TO_POINTER (metric));
  while (metric == VN_METRIC_CONTRIBUTION && list->len > LEAST_ORIGINS &&
         ((VnNodeItem *) g_ptr_array_index (list, list->len - 1))->metrics[metric] < vn_metric_get_info (metric)->fine)
    g_ptr_array_set_size (list, (int) list->len - 1);
  return list;
}

/**
 * vn_weakest_list_parts:
 *
 * Returns: (transfer full) (element-type guint): numbers of the contributions that a node has: of its activation, its weights and
 *   its bias, the largest first; empty if there are none
 */
GArray *
vn_weakest_list_parts (VnResult   *result,
                       VnNodeItem *item)
{
  const VnErrorRow *row;

  g_return_val_if_fail (VN_IS_NODE_ITEM (item), NULL);

  row = result != NULL && result->contributions != NULL ? vn_result_get_node_error (result, item->node) : NULL;
  return row != NULL ? vn_contributions_find (result->contributions, row->value) : g_array_new (FALSE, FALSE, sizeof (guint));
}

/**
 * vn_weakest_dup_parts:
 *
 * Returns: (transfer full) (nullable): "weight 20.1 %, activation 3.0 %"; %NULL if it is one thing alone
 */
char *
vn_weakest_dup_parts (VnResult   *result,
                      VnNodeItem *item)
{
  g_autoptr(GArray) parts = vn_weakest_list_parts (result, item);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < parts->len; i++)
    {
      const VnContribution *part = vn_contributions_get (result->contributions, g_array_index (parts, guint, i));
      g_autofree char *share = vn_metric_format (VN_METRIC_CONTRIBUTION, part->share);

      if (part->share >= LEAST_PART || text->len == 0)
        g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", _(vn_contribution_role_get_title (part->role)), share);
    }
  return g_string_free (text, text->len == 0);
}
