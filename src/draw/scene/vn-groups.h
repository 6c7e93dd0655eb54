/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Nodes that belong together: a tree of groups over a scene, from the scopes in names and from repeated blocks. */

#include "vn-scene.h"

G_BEGIN_DECLS

#define VN_GROUPS_ROOT 0u           /* the whole network, whose pills it holds as well */
#define VN_GRAPH_GROUPED_NODES 300  /* larger networks are shown in groups at first */
#define VN_GRAPH_OPEN_BOXES     60  /* so many boxes are a page that can be read */

typedef enum
{
#define VN_GROUP_KIND(KIND, TITLE, BY_NAME, ALL, ANY, NONE, ONLY) VN_GROUP_ ## KIND,
#include "vn-group-kinds.def"
#undef VN_GROUP_KIND
  VN_N_GROUP_KINDS,
  VN_GROUP_PLAIN = VN_N_GROUP_KINDS,
} VnGroupKind;

/**
 * VnGroup:
 * @parent: the group it is in; %VN_SCENE_NONE for the whole network
 * @id: the same for the same network; unique
 * @title: in plain words: "layer 3", "attention"
 * @detail: what is in it: titles of groups, or operators with their counts
 * @shape: (nullable): of what leaves it
 * @n_nodes: operators, those of inner groups included
 * @first_child: where in the list of children its own begin
 */
typedef struct
{
  guint        parent, depth;
  char        *id, *title, *detail, *shape;
  VnGroupKind  kind;
  guint        n_nodes;
  guint        first_child, n_children;
} VnGroup;

/* A child of a group: another group, or a node of the scene. */
typedef struct { gboolean is_group; guint index; } VnGroupChild;

typedef struct _VnGroups VnGroups;

VnGroups           *vn_groups_new          (const VnScene  *scene);
VnGroups           *vn_groups_new_part     (const VnGroups *self,
                                            const VnScene  *part,
                                            const guint    *nodes);
VnGroups           *vn_groups_ref          (VnGroups       *self);
void                vn_groups_unref        (VnGroups       *self);
guint               vn_groups_get_n        (const VnGroups *self);
const VnGroup      *vn_groups_get          (const VnGroups *self,
                                            guint           group);
const VnGroupChild *vn_groups_get_children (const VnGroups *self,
                                            guint           group,
                                            guint          *n);
guint               vn_groups_of_node      (const VnGroups *self,
                                            guint           node);
guint               vn_groups_get_n_nodes  (const VnGroups *self);
guint               vn_groups_find         (const VnGroups *self,
                                            const char     *id);
guint8             *vn_groups_dup_open     (const VnGroups *self,
                                            guint           n_boxes);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGroups, vn_groups_unref)

G_END_DECLS
