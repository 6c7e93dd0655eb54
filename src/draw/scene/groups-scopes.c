/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups from names: "/encoder/layer.3/attention/MatMul" is in "encoder", "layer.3", "attention". */
#include "groups-private.h"

#include <string.h>

/* ---- parts ---- */

Part *
vn_part_new_node (guint node)
{
  Part *self = g_new0 (Part, 1);

  self->node = node;
  self->n_nodes = 1;
  return self;
}

Part *
vn_part_new_group (const char *name)
{
  Part *self = g_new0 (Part, 1);

  self->node = VN_SCENE_NONE;
  self->name = g_strdup (name);
  self->parts = g_ptr_array_new ();
  return self;
}

void
vn_part_free (Part *self)
{
  if (self == NULL)
    return;

  for (guint i = 0; self->parts != NULL && i < self->parts->len; i++)
    vn_part_free (g_ptr_array_index (self->parts, i));
  g_clear_pointer (&self->parts, g_ptr_array_unref);
  g_free (self->name);
  g_free (self);
}

/* Appends a part, and counts its nodes all the way up. */
void
vn_part_add (Part *self,
             Part *part)
{
  g_return_if_fail (self != NULL);

  part->parent = self;
  g_ptr_array_add (self->parts, part);
  for (Part *at = self; at != NULL; at = at->parent)
    at->n_nodes += part->n_nodes;
}

/* Puts the parts of @part in its place. */
void
vn_part_dissolve (Part *self,
                  Part *part)
{
  guint at;

  g_return_if_fail (self != NULL && g_ptr_array_find (self->parts, part, &at));

  g_ptr_array_remove_index (self->parts, at);
  for (guint i = 0; i < part->parts->len; i++)
    {
      Part *inner = g_ptr_array_index (part->parts, i);

      inner->parent = self;
      g_ptr_array_insert (self->parts, (int) (at + i), inner);
    }
  g_ptr_array_set_size (part->parts, 0);
  vn_part_free (part);
}

/* Puts some parts of @self into a new group, which stands where the first of them stood. */
Part *
vn_part_wrap (Part        *self,
              const guint *places,
              guint        n,
              const char  *name)
{
  Part *group = vn_part_new_group (name);
  guint first = G_MAXUINT;

  g_return_val_if_fail (self != NULL && n > 0, NULL);

  group->parent = self;
  for (guint i = 0; i < n; i++)
    {
      Part *part = g_ptr_array_index (self->parts, places[i]);

      first = MIN (first, places[i]);
      part->parent = group;
      g_ptr_array_add (group->parts, part);
      group->n_nodes += part->n_nodes;
      self->parts->pdata[places[i]] = NULL;
    }
  self->parts->pdata[first] = group;
  return group;
}

/* Appends the nodes of a part to @nodes, of guint. */
void
vn_part_collect (const Part *self,
                 GArray     *nodes)
{
  g_return_if_fail (self != NULL);

  if (self->parts == NULL)
    g_array_append_val (nodes, self->node);
  for (guint i = 0; self->parts != NULL && i < self->parts->len; i++)
    vn_part_collect (g_ptr_array_index (self->parts, i), nodes);
}

/* ---- scopes ---- */

typedef struct
{
  const VnScene *scene;
  GHashTable    *by_path;    /* path -> Part */
  Part          *root;
  Part         **of_node;    /* the group of each node */
} Scopes;

static Part *
groups_scopes_enter (Scopes     *self,
                     Part       *group,
                     GString    *path,
                     const char *name)
{
  Part *inner;

  g_string_append_c (path, '/');
  g_string_append (path, name);
  inner = g_hash_table_lookup (self->by_path, path->str);
  if (inner == NULL)
    {
      inner = vn_part_new_group (name);
      vn_part_add (group, inner);
      g_hash_table_insert (self->by_path, g_strdup (path->str), inner);
    }
  return inner;
}

/* "layers.0.1" is "1" in "layers.0"; where that is what one is in already, only the rest counts. */
static Part *
groups_scopes_enter_component (Scopes     *self,
                               Part       *group,
                               GString    *path,
                               const char *component)
{
  const char *dot = strchr (component, '.');
  gsize known = group->name != NULL ? strlen (group->name) : 0;

  if (known > 0 && g_str_has_prefix (component, group->name) && component[known] == '.')
    return groups_scopes_enter (self, group, path, component);
  for (; dot != NULL; dot = strchr (dot + 1, '.'))
    {
      const char *next = strchr (dot + 1, '.');
      g_autofree char *head = NULL;

      if (next == NULL || !g_ascii_isdigit (dot[1]))
        continue;
      head = g_strndup (component, (gsize) (next - component));
      group = groups_scopes_enter (self, group, path, head);
    }
  return groups_scopes_enter (self, group, path, component);
}

/* Names of converters may hold several that were fused: "a/Relu;a/Add": the first one counts. */
static Part *
groups_scopes_find (Scopes            *self,
                    const VnSceneNode *node)
{
  const char *full = node->scope != NULL ? node->scope : node->name;
  g_autofree char *name = g_strndup (full, strcspn (full, ";"));
  g_auto(GStrv) components = g_strsplit (name, strchr (name, '/') != NULL ? "/" : ".", -1);
  g_autoptr(GString) path = g_string_new (NULL);
  guint n = g_strv_length (components);
  Part *group = self->root;

  for (guint i = 0; i + 1 < n; i++)
    if (*components[i] != '\0' && strcmp (components[i], node->op) != 0)
      group = groups_scopes_enter_component (self, group, path, components[i]);
  return group;
}

static guint
groups_scopes_depth (const Part *part)
{
  guint depth = 0;

  for (; part->parent != NULL; part = part->parent)
    depth++;
  return depth;
}

static Part *
groups_scopes_common (Part *a,
                      Part *b)
{
  guint da = groups_scopes_depth (a), db = groups_scopes_depth (b);

  for (; da > db; da--)
    a = a->parent;
  for (; db > da; db--)
    b = b->parent;
  while (a != b)
    {
      a = a->parent;
      b = b->parent;
    }
  return a;
}

/* A node whose name tells nothing belongs to what uses it, or else to what it uses. */
static Part *
groups_scopes_adopt (const Scopes *self,
                     guint         node)
{
  Part *group = NULL;

  for (guint side = 0; side < 2 && group == NULL; side++)
    {
      guint n;
      const guint *edges = side == 0 ? vn_scene_get_out_edges (self->scene, node, &n)
                                     : vn_scene_get_in_edges (self->scene, node, &n);

      for (guint i = 0; i < n; i++)
        {
          const VnSceneEdge *edge = vn_scene_get_edge (self->scene, edges[i]);
          Part *other = self->of_node[side == 0 ? edge->to : edge->from];

          if (other != NULL)
            group = group == NULL ? other : groups_scopes_common (group, other);
        }
    }
  return group != NULL ? group : self->root;
}

/* A pair is where the tensor is made that it rounds, whatever it is named after. NULL: that has no name. */
static Part *
groups_scopes_follow (const Scopes *self,
                      guint         node)
{
  guint n;
  const guint *edges = vn_scene_get_in_edges (self->scene, node, &n);

  return n > 0 ? self->of_node[vn_scene_get_edge (self->scene, edges[0])->from] : NULL;
}

/* The size of a tensor is asked for where it is used, whatever it is named after. */
static void
groups_scopes_move_down (const Scopes *self,
                         guint         node)
{
  guint n;
  const guint *edges = vn_scene_get_out_edges (self->scene, node, &n);
  Part *group = NULL;

  for (guint i = 0; i < n; i++)
    {
      Part *other = self->of_node[vn_scene_get_edge (self->scene, edges[i])->to];

      if (other == NULL)
        return;
      group = group == NULL ? other : groups_scopes_common (group, other);
    }
  if (group != NULL && group != self->root)
    self->of_node[node] = group;
}

/* A group of few nodes, or one that is nearly all of what it is in, says nothing. */
static void
groups_scopes_simplify (Part *group)
{
  for (guint i = 0; i < group->parts->len;)
    {
      Part *part = g_ptr_array_index (group->parts, i);

      if (part->parts == NULL)
        {
          i++;
          continue;
        }
      groups_scopes_simplify (part);
      if (part->n_nodes < GROUP_LEAST || part->n_nodes * 10 >= group->n_nodes * 8)
        vn_part_dissolve (group, part);
      else
        i++;
    }
}

/* Returns: the root of a tree of the groups that the names speak of; inputs and outputs of the model are in none. */
Part *
vn_groups_read_scopes (const VnScene *scene)
{
  guint n = vn_scene_get_n_nodes (scene);
  g_autoptr(GHashTable) by_path = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree Part **of_node = g_new0 (Part *, n + 1);
  Scopes self = { scene, by_path, vn_part_new_group (NULL), of_node };

  for (guint i = 0; i < n; i++)
    {
      const VnSceneNode *node = vn_scene_get_node (scene, i);
      Part *group = node->kind == VN_SCENE_NODE ? groups_scopes_find (&self, node) : NULL;

      of_node[i] = group != self.root ? group : NULL;
    }
  for (guint i = n; i-- > 0;)
    if (strcmp (vn_scene_get_node (scene, i)->op, "Shape") == 0)
      groups_scopes_move_down (&self, i);
  for (guint i = 0; i < n; i++)
    if (vn_scene_get_node (scene, i)->kind == VN_SCENE_PAIR)
      of_node[i] = groups_scopes_follow (&self, i);
  for (guint i = n; i-- > 0;)
    if (of_node[i] == NULL && vn_scene_node_is_of_model (vn_scene_get_node (scene, i)))
      of_node[i] = groups_scopes_adopt (&self, i);
  for (guint i = 0; i < n; i++)
    if (of_node[i] != NULL)
      vn_part_add (of_node[i], vn_part_new_node (i));
  groups_scopes_simplify (self.root);
  return self.root;
}
