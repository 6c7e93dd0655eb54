/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of scopes in the outline, made from the names of the nodes. */
#include "vn-scope.h"

#include <string.h>

struct _VnScope
{
  GObject     parent_instance;

  char       *name;
  GListStore *children;      /* in order of execution */
  GHashTable *by_name;       /* while it is being filled: name -> VnScope, borrowed from @children */
  GtkBitset  *nodes;
  guint       revision;
};

enum { PROP_0, PROP_REVISION, N_PROPS };

static GParamSpec *props[N_PROPS];

G_DEFINE_FINAL_TYPE (VnScope, vn_scope, G_TYPE_OBJECT)

static void
vn_scope_finalize (GObject *object)
{
  VnScope *self = VN_SCOPE (object);

  g_free (self->name);
  g_object_unref (self->children);
  g_hash_table_unref (self->by_name);
  gtk_bitset_unref (self->nodes);
  G_OBJECT_CLASS (vn_scope_parent_class)->finalize (object);
}

static void
vn_scope_get_property (GObject    *object,
                       guint       id,
                       GValue     *value,
                       GParamSpec *pspec)
{
  if (id == PROP_REVISION)
    g_value_set_uint (value, VN_SCOPE (object)->revision);
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
}

static void
vn_scope_class_init (VnScopeClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->finalize = vn_scope_finalize;
  object_class->get_property = vn_scope_get_property;
  props[PROP_REVISION] = g_param_spec_uint ("revision", NULL, NULL, 0, G_MAXUINT, 0,
                                            G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
vn_scope_init (VnScope *self)
{
  self->children = g_list_store_new (G_TYPE_OBJECT);
  self->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  self->nodes = gtk_bitset_new_empty ();
}

static VnScope *
scope_get_child (VnScope    *self,
                 const char *name)
{
  VnScope *child = g_hash_table_lookup (self->by_name, name);

  if (child != NULL)
    return child;
  child = g_object_new (VN_TYPE_SCOPE, NULL);
  child->name = g_strdup (name);
  g_list_store_append (self->children, child);
  g_hash_table_insert (self->by_name, child->name, child);
  g_object_unref (child);   /* the list keeps it */
  return child;
}

/* All parts of the name but the last lead to the scope the node is in. */
static void
scope_add_node (VnScope    *root,
                VnNodeItem *item)
{
  const char *separator = strchr (item->name, '/') != NULL ? "/" : ".";
  g_auto(GStrv) parts = *item->node->name != 0 ? g_strsplit (item->name, separator, -1) : g_new0 (char *, 1);
  guint n = g_strv_length (parts);
  VnScope *at = root;

  gtk_bitset_add (at->nodes, item->index);
  for (guint i = 0; i + 1 < n; i++)
    {
      if (*parts[i] == 0)
        continue;
      at = scope_get_child (at, parts[i]);
      gtk_bitset_add (at->nodes, item->index);
    }
  g_list_store_append (at->children, item);
}

/* A scope with one thing in it is no use: it is replaced by that thing, which takes over the name if it is
 * a scope. */
static void
scope_simplify (VnScope *self)
{
  GListModel *list = G_LIST_MODEL (self->children);

  for (guint i = 0; i < g_list_model_get_n_items (list); i++)
    {
      g_autoptr(GObject) child = g_list_model_get_item (list, i);
      g_autoptr(GObject) only = NULL;

      if (!VN_IS_SCOPE (child))
        continue;
      scope_simplify (VN_SCOPE (child));
      if (g_list_model_get_n_items (G_LIST_MODEL (VN_SCOPE (child)->children)) != 1)
        continue;
      only = g_list_model_get_item (G_LIST_MODEL (VN_SCOPE (child)->children), 0);
      if (VN_IS_SCOPE (only))
        {
          char *name = g_strconcat (VN_SCOPE (child)->name, "/", VN_SCOPE (only)->name, NULL);

          g_free (VN_SCOPE (only)->name);
          VN_SCOPE (only)->name = name;
        }
      g_list_store_splice (self->children, i, 1, (gpointer *) &only, 1);
    }
  g_hash_table_remove_all (self->by_name);
}

/**
 * vn_scope_new_for_nodes:
 * @nodes: of VnNodeItem
 *
 * Sorts nodes into scopes by their names: "/features/13/conv/Conv" into "features", "13". Nodes without a
 * name are on top.
 *
 * Returns: (transfer full): the root
 */
VnScope *
vn_scope_new_for_nodes (GListModel *nodes)
{
  VnScope *root = g_object_new (VN_TYPE_SCOPE, NULL);

  g_return_val_if_fail (G_IS_LIST_MODEL (nodes), NULL);

  root->name = g_strdup ("");
  for (guint i = 0; i < g_list_model_get_n_items (nodes); i++)
    {
      g_autoptr(VnNodeItem) item = g_list_model_get_item (nodes, i);

      scope_add_node (root, item);
    }
  scope_simplify (root);
  return root;
}

const char *
vn_scope_get_name (VnScope *self)
{
  g_return_val_if_fail (VN_IS_SCOPE (self), NULL);

  return self->name;
}

GListModel *
vn_scope_get_children (VnScope *self)
{
  g_return_val_if_fail (VN_IS_SCOPE (self), NULL);

  return G_LIST_MODEL (self->children);
}

GtkBitset *
vn_scope_get_nodes (VnScope *self)
{
  g_return_val_if_fail (VN_IS_SCOPE (self), NULL);

  return self->nodes;
}

/**
 * vn_scope_get_worst:
 *
 * Returns: (transfer none) (nullable): the node below that is worst by the metric that lists go by
 */
VnNodeItem *
vn_scope_get_worst (VnScope *self)
{
  VnNodeItem *worst = NULL;

  g_return_val_if_fail (VN_IS_SCOPE (self), NULL);

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->children)); i++)
    {
      g_autoptr(GObject) child = g_list_model_get_item (G_LIST_MODEL (self->children), i);
      VnNodeItem *item = VN_IS_SCOPE (child) ? vn_scope_get_worst (VN_SCOPE (child)) : VN_NODE_ITEM (child);

      if (item != NULL && vn_node_item_is_rated (item) &&
          (worst == NULL || !(vn_node_item_get_axis (item) >= vn_node_item_get_axis (worst))))
        worst = item;
    }
  return worst;
}

/**
 * vn_scope_update:
 *
 * Tells whoever shows the scope or one below it that the errors have changed.
 */
void
vn_scope_update (VnScope *self)
{
  g_return_if_fail (VN_IS_SCOPE (self));

  for (guint i = 0; i < g_list_model_get_n_items (G_LIST_MODEL (self->children)); i++)
    {
      g_autoptr(GObject) child = g_list_model_get_item (G_LIST_MODEL (self->children), i);

      if (VN_IS_SCOPE (child))
        vn_scope_update (VN_SCOPE (child));
    }
  self->revision++;
  g_object_notify_by_pspec (G_OBJECT (self), props[PROP_REVISION]);
}
