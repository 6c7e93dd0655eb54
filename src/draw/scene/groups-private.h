/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the stages that find groups share: the tree, parts of it while it grows, and one level of it as a graph. */

#include "vn-groups.h"

G_BEGIN_DECLS

#define GROUP_LEAST       3    /* fewer nodes are no group */
#define GROUP_MOST_TOP   40    /* more children are not readable: blocks are looked for */
#define GROUP_MOST       80    /* the same below the top */

struct _VnGroups
{
  gatomicrefcount ref;
  GArray     *groups;       /* of VnGroup */
  GArray     *children;     /* of VnGroupChild */
  guint      *of_node;      /* by node of the scene */
  guint       n_nodes;
  GHashTable *by_id;        /* id (borrowed) -> index + 1 */
};

/**
 * Part: a group, or one node, while the tree is made.
 * @node: of the scene; %VN_SCENE_NONE for groups
 * @parts: (nullable): of a group, owned
 * @number: of a block that structure gave, from 1; 0: it comes from names
 * @is_bundle: holds groups only, all alike, that would be too many to see side by side
 */
typedef struct _Part Part;

struct _Part
{
  Part      *parent;
  char      *name;
  guint      node;
  GPtrArray *parts;
  guint      n_nodes;
  guint      number;
  gboolean   is_bundle;
};

/* Neighbours in one array: those of item i in list[first[i] … first[i + 1]). */
typedef struct { guint *first, *list; } Neighbours;

/**
 * Level: the parts of one group and how they feed one another.
 * @order: the parts sorted: what is computed together stands together, whatever the order in the file
 * @label: by place in @order: equal where parts do the same
 * @live: by place in @order: how many parts before it are used there or later; one more at the end
 */
typedef struct
{
  guint       n;
  Neighbours  from, to;
  guint      *order, *label, *live;
} Level;

/**
 * Net: the scene the tree is made for.
 * @place: by node of the scene: scratch: its part in the level that is looked at
 */
typedef struct
{
  const VnScene *scene;
  guint         *place;
} Net;

Part        *vn_part_new_node          (guint           node);
Part        *vn_part_new_group         (const char     *name);
void         vn_part_free              (Part           *self);
void         vn_part_add               (Part           *self,
                                        Part           *part);
void         vn_part_dissolve          (Part           *self,
                                        Part           *part);
Part        *vn_part_wrap              (Part           *self,
                                        const guint    *places,
                                        guint           n,
                                        const char     *name);
void         vn_part_collect           (const Part     *self,
                                        GArray         *nodes);

VnGroups    *vn_groups_alloc           (guint           n_nodes);
char        *vn_groups_describe_nodes  (const VnScene  *scene,
                                        const GArray   *nodes);

Part        *vn_groups_read_scopes     (const VnScene  *scene);

void         vn_level_init             (Level          *self,
                                        Net            *net,
                                        const Part     *group);
void         vn_level_clear            (Level          *self);
guint       *vn_level_find_cycles      (const Level    *self,
                                        guint          *n_cycles);
void         vn_groups_break_cycles    (Net            *net,
                                        Part           *group);
void         vn_groups_find_blocks     (Net            *net,
                                        Part           *group,
                                        guint           most);
void         vn_groups_split_layer     (Net            *net,
                                        Part           *group);

VnGroupKind  vn_group_kind_of_nodes    (const VnScene  *scene,
                                        const guint    *nodes,
                                        guint           n);
VnGroupKind  vn_group_kind_of_parts    (const VnScene  *scene,
                                        Part          **parts,
                                        guint           n);
char        *vn_group_dup_title        (const Part     *part,
                                        VnGroupKind     kind);

G_END_DECLS
