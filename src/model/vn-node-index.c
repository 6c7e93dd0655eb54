/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding nodes by their labels, which no two nodes of a graph share. */
#include "vn-node-index.h"

#include "vn-i18n.h"

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

/* ---- names that nodes share ---- */

static char *
node_index_make_name (GHashTable *taken,
                      const char *base)
{
  char *name = g_strdup_printf ("%s_2", base);

  for (guint i = 3; g_hash_table_contains (taken, name); i++)
    {
      g_free (name);
      name = g_strdup_printf ("%s_%u", base, i);
    }
  return name;
}

static void
node_index_rename (VnNode     *node,
                   const char *label,
                   GHashTable *taken,
                   VnNotes    *notes)
{
  char *name = node_index_make_name (taken, label);

  if (notes != NULL)
    vn_notes_add (notes, VN_NOTE_WARNING, "duplicate-node-name", label,
                  _("Several nodes are named “%s”, which ONNX Runtime rejects: one of them is renamed “%s” here and "
                    "in the export"),
                  label, name);
  g_free (node->name);
  node->name = name;
  g_hash_table_add (taken, g_strdup (name));
}

/* Nodes that have a name keep it before those that are called by their places. A new name is nobody's old one. */
static void
node_index_separate_graph (VnGraph *graph,
                           VnNotes *notes)
{
  g_autoptr(GHashTable) all = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  vn_graph_settle (graph);
  for (guint i = 0; i < graph->nodes->len; i++)
    g_hash_table_add (all, vn_node_dup_label (g_ptr_array_index (graph->nodes, i)));
  for (guint named = 2; named-- > 0;)
    for (guint i = 0; i < graph->nodes->len; i++)
      {
        VnNode *node = g_ptr_array_index (graph->nodes, i);
        g_autofree char *label = vn_node_dup_label (node);

        if ((*node->name != '\0') == (named == 1) && !g_hash_table_add (seen, g_strdup (label)))
          node_index_rename (node, label, all, notes);
      }
}

static void
node_index_separate (VnGraph *graph,
                     VnNotes *notes)
{
  node_index_separate_graph (graph, notes);
  for (guint i = 0; i < graph->nodes->len; i++)
    {
      const VnNode *node = g_ptr_array_index (graph->nodes, i);

      for (guint k = 0; k < node->attrs->len; k++)
        {
          const VnAttr *attr = g_ptr_array_index (node->attrs, k);

          if (attr->graph != NULL)
            node_index_separate (attr->graph, notes);
          for (guint g = 0; attr->graphs != NULL && g < attr->graphs->len; g++)
            node_index_separate (g_ptr_array_index (attr->graphs, g), notes);
        }
    }
}

/**
 * vn_model_separate_names:
 * @model: changed in place; must not be shared yet
 * @notes: (nullable): told of each node that is called otherwise now
 *
 * Nodes are told apart by their labels. A file may call several of a graph by one name, though runtimes refuse it: those behind
 * the first become “name_2”, “name_3” ...
 */
void
vn_model_separate_names (VnModel *model,
                         VnNotes *notes)
{
  g_return_if_fail (model != NULL);

  node_index_separate (model->graph, notes);
}

/**
 * vn_model_copy_named:
 *
 * Returns: (transfer full): a copy of @model whose nodes in the main graph all have a name: those without get what lists and
 *   rules call them, before preparation moves them to other places
 */
VnModel *
vn_model_copy_named (const VnModel *model)
{
  VnModel *named;

  g_return_val_if_fail (model != NULL, NULL);

  named = vn_model_copy (model);
  for (guint i = 0; i < named->graph->nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (named->graph->nodes, i);
      g_autofree char *label = vn_node_dup_label (node);

      if (*node->name == '\0')
        {
          g_free (node->name);
          node->name = g_steal_pointer (&label);
        }
    }
  return named;
}
