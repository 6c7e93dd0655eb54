/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding nodes by their labels. */
#include "vn-node-index.h"

/**
 * vn_graph_index_nodes:
 *
 * For who looks for many: vn_graph_find_node() goes through all of them.
 *
 * Returns: (transfer full) (element-type utf8 VnNode): what vn_graph_find_node() finds, by the label
 */
GHashTable *
vn_graph_index_nodes (const VnGraph *self)
{
  GHashTable *index;

  g_return_val_if_fail (self != NULL, NULL);

  index = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  vn_graph_settle (self);
  for (guint i = self->nodes->len; i-- > 0;)
    g_hash_table_replace (index, vn_node_dup_label (g_ptr_array_index (self->nodes, i)), g_ptr_array_index (self->nodes, i));
  return index;
}
