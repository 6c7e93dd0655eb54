/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where tensors and nodes went that preparation took away. */
#include "vn-former.h"

#include "vn-node-index.h"

/**
 * vn_edit_log_list_ends:
 * @edits: (nullable): the log; must outlive the result
 *
 * Later entries of the log tell where the target of an earlier one went, so it is read from its end.
 *
 * Returns: (transfer full) (element-type utf8 utf8): where each node that was removed ended: label -> label or name of a tensor
 */
GHashTable *
vn_edit_log_list_ends (VnEditLog *edits)
{
  GHashTable *ends = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = edits != NULL ? vn_edit_log_get_n (edits) : 0; i > 0; i--)
    {
      const VnEdit *edit = vn_edit_log_get (edits, i - 1);
      const char *end;

      if (edit->target == NULL || g_str_equal (edit->subject, edit->target))
        continue;
      end = g_hash_table_lookup (ends, edit->target);
      g_hash_table_insert (ends, edit->subject, (gpointer) (end != NULL ? end : edit->target));
    }
  return ends;
}

static GHashTable *
former_new_table (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

static void
former_note_value (VnGraph       *self,
                   const VnValue *value,
                   const VnNode  *heir,
                   const char    *end)
{
  const VnValue *now = heir != NULL ? vn_node_get_output (heir, 0) : NULL;

  if (now == NULL && end != NULL)
    now = vn_graph_find_value (self, end);
  if (now != NULL && vn_graph_find_value (self, value->name) == NULL)
    g_hash_table_insert (self->former_values, g_strdup (value->name), g_strdup (now->name));
}

static void
former_note_node (VnGraph      *self,
                  const VnNode *node,
                  GHashTable   *ends,
                  GHashTable   *labels)
{
  g_autofree char *label = vn_node_dup_label (node);
  const char *end = g_hash_table_lookup (ends, label);
  const VnNode *heir = g_hash_table_lookup (labels, end != NULL ? end : label);

  for (guint i = 0; i < node->outputs->len; i++)
    if (vn_node_get_output (node, i) != NULL)
      former_note_value (self, vn_node_get_output (node, i), heir, end);
  if (end != NULL && heir != NULL && !g_hash_table_contains (labels, label))
    g_hash_table_insert (self->former_nodes, g_steal_pointer (&label), g_strdup (end));
}

/* What was gone before stays known: its heir may still be there, or have gone itself. */
static void
former_inherit (GHashTable *to,
                GHashTable *from)
{
  GHashTableIter iter;
  gpointer name, heir;

  if (from == NULL)
    return;
  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &name, &heir))
    {
      const char *next = g_hash_table_lookup (to, heir);

      if (!g_hash_table_contains (to, name))
        g_hash_table_insert (to, g_strdup (name), g_strdup (next != NULL ? next : heir));
    }
}

/* ---- names whose numbers a tensor holds ---- */

#define MANY_NAMES 16u

/* Name of a tensor -> GPtrArray of names; and such an array -> set of what is in it, where that is much. */
typedef struct
{
  GHashTable *same;
  GHashTable *sets;
} Same;

static GHashTable *
former_copy_same (GHashTable *from)
{
  GHashTable *copy = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
  GHashTableIter iter;
  gpointer name, names;

  if (from == NULL)
    return copy;
  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &name, &names))
    g_hash_table_insert (copy, g_strdup (name), g_ptr_array_copy (names, (GCopyFunc) (void (*) (void)) g_strdup, NULL));
  return copy;
}

static GPtrArray *
former_get_names (GHashTable *same,
                  const char *name)
{
  GPtrArray *names = g_hash_table_lookup (same, name);

  if (names != NULL)
    return names;
  names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (names, g_strdup (name));
  g_hash_table_insert (same, g_strdup (name), names);
  return names;
}

static GHashTable *
former_find_set (Same      *self,
                 GPtrArray *names)
{
  GHashTable *set = g_hash_table_lookup (self->sets, names);

  if (set != NULL || names->len < MANY_NAMES)
    return set;
  set = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < names->len; i++)
    g_hash_table_add (set, names->pdata[i]);
  g_hash_table_insert (self->sets, names, set);
  return set;
}

static void
former_add_name (Same       *self,
                 GPtrArray  *names,
                 const char *name)
{
  GHashTable *set = former_find_set (self, names);

  if (set != NULL ? g_hash_table_contains (set, name) : g_ptr_array_find_with_equal_func (names, name, g_str_equal, NULL))
    return;
  g_ptr_array_add (names, g_strdup (name));
  if (set != NULL)
    g_hash_table_add (set, names->pdata[names->len - 1]);
}

static void
former_add_same (Same       *self,
                 const char *name,
                 const char *also)
{
  GPtrArray *names = former_get_names (self->same, name), *others = also != NULL ? former_get_names (self->same, also) : NULL;

  for (guint i = 0; others != NULL && i < names->len; i++)
    former_add_name (self, others, names->pdata[i]);
  if (others != NULL)
    return;
  g_hash_table_remove (self->sets, names);
  g_ptr_array_set_size (names, 0);
}

static GHashTable *
former_new_sets (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
}

/* Only what is still there; its own name comes last where it stood for other numbers. */
static void
former_note_same (VnGraph       *self,
                  const VnGraph *source,
                  VnEditLog     *edits)
{
  g_autoptr(GHashTable) sets = former_new_sets ();
  Same all = { former_copy_same (source->same_values), sets };
  GHashTableIter iter;
  gpointer name, names;

  for (guint i = 0; i < vn_edit_log_get_n_same (edits); i++)
    {
      const char *also, *first = vn_edit_log_get_same (edits, i, &also);

      former_add_same (&all, first, also);
    }
  g_hash_table_iter_init (&iter, all.same);
  while (g_hash_table_iter_next (&iter, &name, &names))
    if (vn_graph_find_value (self, name) != NULL)
      former_add_name (&all, names, name);
    else
      {
        g_hash_table_remove (sets, names);
        g_hash_table_iter_remove (&iter);
      }
  g_clear_pointer (&self->same_values, g_hash_table_unref);
  self->same_values = all.same;
}

/**
 * vn_graph_note_same:
 * @self: a main graph
 * @name: of one of its tensors
 * @also: of another one that holds about the same numbers, perhaps in another order
 *
 * For what is done to a network after its preparation.
 */
void
vn_graph_note_same (VnGraph    *self,
                    const char *name,
                    const char *also)
{
  g_autoptr(GHashTable) sets = NULL;
  Same all;

  g_return_if_fail (self != NULL && name != NULL && also != NULL);

  sets = former_new_sets ();
  all = (Same) { former_copy_same (self->same_values), sets };   /* copies of the graph share the one it has */
  former_add_same (&all, name, also);
  g_clear_pointer (&self->same_values, g_hash_table_unref);
  self->same_values = all.same;
}

/**
 * vn_graph_list_same:
 * @name: of a tensor of @self
 *
 * Returns: (transfer none) (nullable) (element-type utf8): names, as what @self was made of has them, of tensors whose numbers it
 *   holds, perhaps in another order or with zeros between; the one that stands for them best first; %NULL: its own alone
 */
GPtrArray *
vn_graph_list_same (const VnGraph *self,
                    const char    *name)
{
  g_return_val_if_fail (self != NULL && name != NULL, NULL);

  return self->same_values != NULL ? g_hash_table_lookup (self->same_values, name) : NULL;
}

/**
 * vn_graph_note_former:
 * @source: the main graph that @self was made of
 * @edits: how
 *
 * From now on @self knows the names of @source that it does not have any more.
 */
void
vn_graph_note_former (VnGraph       *self,
                      const VnGraph *source,
                      VnEditLog     *edits)
{
  g_autoptr(GHashTable) ends = NULL, labels = NULL;

  g_return_if_fail (self != NULL && source != NULL && edits != NULL);

  g_clear_pointer (&self->former_values, g_hash_table_unref);
  g_clear_pointer (&self->former_nodes, g_hash_table_unref);
  self->former_values = former_new_table ();
  self->former_nodes = former_new_table ();
  ends = vn_edit_log_list_ends (edits);
  labels = vn_graph_index_nodes (self);
  for (guint i = 0; i < source->nodes->len; i++)
    former_note_node (self, g_ptr_array_index (source->nodes, i), ends, labels);
  former_inherit (self->former_values, source->former_values);
  former_inherit (self->former_nodes, source->former_nodes);
  former_note_same (self, source, edits);
}

/**
 * vn_graph_find_former_value:
 * @name: of a tensor of @self or of what @self was made of
 *
 * Returns: (transfer none) (nullable): the tensor of that name, or the one that computes the same or took it in
 */
VnValue *
vn_graph_find_former_value (const VnGraph *self,
                            const char    *name)
{
  VnValue *value;
  const char *now;

  g_return_val_if_fail (self != NULL && name != NULL, NULL);

  value = vn_graph_find_value (self, name);
  if (value != NULL || self->former_values == NULL)
    return value;
  now = g_hash_table_lookup (self->former_values, name);
  return now != NULL ? vn_graph_find_value (self, now) : NULL;
}

/**
 * vn_graph_find_former_node:
 * @label: of a node of what @self was made of (vn_node_dup_label())
 *
 * Returns: (nullable): label of the node of @self that took it in; %NULL: none did, or it is still there
 */
const char *
vn_graph_find_former_node (const VnGraph *self,
                           const char    *label)
{
  g_return_val_if_fail (self != NULL && label != NULL, NULL);

  return self->former_nodes != NULL ? g_hash_table_lookup (self->former_nodes, label) : NULL;
}
