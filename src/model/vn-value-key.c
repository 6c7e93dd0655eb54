/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What values are called in the whole model: names are unique in a graph only. */
#include "vn-model.h"

/* Files may give two nodes one name. */
static char *
value_key_dup_label (const VnNode *node)
{
  g_autofree char *label = vn_node_dup_label (node);

  vn_graph_settle (node->graph);
  for (guint i = 0; i < node->graph->nodes->len; i++)
    {
      const VnNode *other = g_ptr_array_index (node->graph->nodes, i);

      if (other != node && vn_node_has_graphs (other) && g_strcmp0 (other->name, node->name) == 0)
        return g_strdup_printf ("%s#%u", label, node->index);
    }
  return g_steal_pointer (&label);
}

static const char *
value_key_find_attr (const VnGraph *body)
{
  for (guint i = 0; i < body->parent_node->attrs->len; i++)
    {
      const VnAttr *attr = g_ptr_array_index (body->parent_node->attrs, i);

      if (attr->graph == body)
        return attr->name;
    }
  return "";
}

/**
 * vn_graph_dup_scope:
 *
 * Returns: (transfer full): the way to a graph inside nodes: "If_0:then_branch/", "Loop_1:body/If_0:else_branch/"; of the
 *   main graph ""
 */
char *
vn_graph_dup_scope (const VnGraph *self)
{
  g_autoptr(GString) scope = g_string_new (NULL);

  g_return_val_if_fail (self != NULL, NULL);

  for (const VnGraph *graph = self; graph->parent_node != NULL; graph = graph->parent_node->graph)
    {
      g_autofree char *label = value_key_dup_label (graph->parent_node);
      g_autofree char *own = g_strdup_printf ("%s:%s/", label, value_key_find_attr (graph));

      g_string_prepend (scope, own);
    }
  return g_string_free (g_steal_pointer (&scope), FALSE);
}

/**
 * vn_value_dup_key:
 *
 * Returns: (transfer full): what tells the value from all others of the model: its name, behind the way to its graph if that
 *   is inside a node: "If_0:then_branch/conv1_out"
 */
char *
vn_value_dup_key (const VnValue *self)
{
  g_autofree char *scope = NULL;
  char *key;

  g_return_val_if_fail (self != NULL, NULL);

  scope = vn_graph_dup_scope (self->graph);
  key = g_strconcat (scope, self->name, NULL);
  while (*scope != '\0' && g_hash_table_contains (self->graph->model->graph->by_name, key))
    {
      char *longer = g_strconcat ("/", key, NULL);

      g_free (key);
      key = longer;
    }
  return key;
}
