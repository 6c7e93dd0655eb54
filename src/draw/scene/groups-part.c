/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The same groups of a scene that has some of the nodes only. */
#include "groups-private.h"

typedef struct
{
  const VnGroups *from;
  VnGroups       *to;
  const VnScene  *scene;
  guint          *node_in;   /* by node of the larger scene: the same one in the part; VN_SCENE_NONE: it is not there */
  guint          *count;     /* by group: its nodes in the part */
} Parting;

static void
groups_part_count (Parting *self)
{
  self->count = g_new0 (guint, self->from->groups->len);
  for (guint i = 0; i < self->from->n_nodes; i++)
    if (self->node_in[i] != VN_SCENE_NONE && !vn_scene_node_is_pill (vn_scene_get_node (self->scene, self->node_in[i])))
      for (guint group = self->from->of_node[i]; group != VN_SCENE_NONE; group = vn_groups_get (self->from, group)->parent)
        self->count[group]++;
}

static void
groups_part_add_children (Parting *self,
                          guint    group)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (self->from, group, &n);

  for (guint i = 0; i < n; i++)
    {
      VnGroupChild child = children[i];

      if (child.is_group && self->count[child.index] == 0)
        continue;
      if (!child.is_group)
        child.index = self->node_in[child.index];
      if (child.index == VN_SCENE_NONE)
        continue;
      if (!child.is_group)
        self->to->of_node[child.index] = group;
      g_array_append_val (self->to->children, child);
    }
}

static void
groups_part_collect (const VnGroups *self,
                     guint           group,
                     GArray         *nodes)
{
  guint n;
  const VnGroupChild *children = vn_groups_get_children (self, group, &n);

  for (guint i = 0; i < n; i++)
    if (children[i].is_group)
      groups_part_collect (self, children[i].index, nodes);
    else
      g_array_append_val (nodes, children[i].index);
}

/* What groups say that hold nodes only, or groups that are all alike. */
static void
groups_part_describe (Parting *self,
                      guint    group)
{
  VnGroup *data = &g_array_index (self->to->groups, VnGroup, group);
  g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

  if (data->n_nodes == vn_groups_get (self->from, group)->n_nodes)
    return;
  for (guint i = 0; i < data->n_children; i++)
    if (g_array_index (self->to->children, VnGroupChild, data->first_child + i).is_group)
      return;
  groups_part_collect (self->to, group, nodes);
  g_free (data->detail);
  data->detail = vn_groups_describe_nodes (self->scene, nodes);
}

/**
 * vn_groups_new_part:
 * @part: sealed
 * @nodes: by node of @part: the node of the scene of @self that it is
 *
 * Takes the groups over with their numbers: one that has no node in @part is in no other one and has no children.
 *
 * Returns: (transfer full): the tree for @part
 */
VnGroups *
vn_groups_new_part (const VnGroups *self,
                    const VnScene  *part,
                    const guint    *nodes)
{
  Parting parting = { .from = self, .scene = part };

  g_return_val_if_fail (self != NULL && part != NULL && nodes != NULL, NULL);

  parting.to = vn_groups_alloc (vn_scene_get_n_nodes (part));
  parting.node_in = g_new (guint, self->n_nodes + 1);
  for (guint i = 0; i < self->n_nodes; i++)
    parting.node_in[i] = VN_SCENE_NONE;
  for (guint i = 0; i < vn_scene_get_n_nodes (part); i++)
    parting.node_in[nodes[i]] = i;
  groups_part_count (&parting);
  for (guint i = 0; i < self->groups->len; i++)
    {
      VnGroup group = *vn_groups_get (self, i);

      group.id = g_strdup (group.id);
      group.title = g_strdup (group.title);
      group.detail = g_strdup (group.detail);
      group.shape = g_strdup (group.shape);
      group.n_nodes = parting.count[i];
      group.first_child = parting.to->children->len;
      groups_part_add_children (&parting, i);
      group.n_children = parting.to->children->len - group.first_child;
      g_array_append_val (parting.to->groups, group);
      g_hash_table_insert (parting.to->by_id, group.id, GUINT_TO_POINTER (i + 1));
    }
  for (guint i = 0; i < self->groups->len; i++)
    groups_part_describe (&parting, i);
  g_free (parting.count);
  g_free (parting.node_in);
  return parting.to;
}
