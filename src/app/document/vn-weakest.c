/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a document's error comes from: by what they add to the error of the outputs, or before that was measured by their
 * own error. */
#include "vn-weakest.h"

#include "vn-i18n.h"
#include "vn-weak-nodes.h"

/* Less of a share is not worth a word. */
#define LEAST_PART 0.001

/**
 * vn_weakest_list:
 *
 * Returns: (transfer full) (element-type VnNodeItem): see vn_weak_nodes_list()
 */
GPtrArray *
vn_weakest_list (VnDocument *document)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_object_unref);
  g_autoptr(GArray) weak = NULL;
  VnRun *result;

  g_return_val_if_fail (VN_IS_DOCUMENT (document), list);

  result = vn_bench_get_shown (VN_BENCH (document));
  weak = result != NULL ? vn_weak_nodes_list (result) : NULL;
  for (guint i = 0; weak != NULL && i < weak->len; i++)
    g_ptr_array_add (list, g_list_model_get_item (vn_document_get_nodes (document), g_array_index (weak, guint, i)));
  return list;
}

/**
 * vn_weakest_list_parts:
 *
 * Returns: (transfer full) (element-type guint): numbers of the contributions that a node has: of its activation, its weights and
 *   its bias, the largest first; empty if there are none
 */
GArray *
vn_weakest_list_parts (VnRun      *result,
                       VnNodeItem *item)
{
  const VnErrorRow *row;

  g_return_val_if_fail (VN_IS_NODE_ITEM (item), NULL);

  row = result != NULL && result->contributions != NULL ? vn_run_get_node_error (result, item->node) : NULL;
  return row != NULL ? vn_contributions_find (result->contributions, row->value) : g_array_new (FALSE, FALSE, sizeof (guint));
}

/**
 * vn_weakest_dup_parts:
 *
 * Returns: (transfer full) (nullable): "weight 20.1 %, activation 3.0 %"; %NULL if it is one thing alone
 */
char *
vn_weakest_dup_parts (VnRun      *result,
                      VnNodeItem *item)
{
  g_autoptr(GArray) parts = vn_weakest_list_parts (result, item);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < parts->len; i++)
    {
      const VnContribution *part = vn_contributions_get (result->contributions, g_array_index (parts, guint, i));
      g_autofree char *share = vn_metric_format (VN_METRIC_CONTRIBUTION, part->share);

      if (part->share >= LEAST_PART || text->len == 0)
        g_string_append_printf (text, "%s%s %s", text->len > 0 ? ", " : "", _(vn_contribution_role_get_title (part->role)),
                                share);
    }
  return g_string_free (text, text->len == 0);
}
