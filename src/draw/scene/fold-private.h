/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of a fold share: the graph of each open group, and through which of them an edge runs. */

#include "vn-fold.h"
#include "vn-graph-layout-private.h"

G_BEGIN_DECLS

/**
 * FoldLevel: an open group as a graph of its children. What enters and leaves it are nodes of their own, in its first and last
 * rank.
 * @boxes: by local node: box of the shown scene; %VN_SCENE_NONE for open groups and for what enters and leaves
 * @groups: by local node: the open group; %VN_SCENE_NONE for the rest
 * @entries, @exits: value + 1 -> local node + 1
 */
typedef struct
{
  guint       group;
  GArray     *nodes;     /* of VnGraphLayoutNode */
  GArray     *edges;     /* of VnGraphLayoutEdge; their output is the value */
  GArray     *boxes, *groups;
  GHashTable *known;     /* value, local target -> edge + 1 */
  GHashTable *entries, *exits;
} FoldLevel;

/* A piece of an edge: edge @edge of level @level. */
typedef struct { guint level, edge; } FoldPiece;

struct _VnFold
{
  gatomicrefcount ref;
  VnScene   *whole, *scene;
  VnGroups  *groups;
  guint8    *open;
  guint     *box_of;                   /* by node of the whole scene */
  guint     *edge_of;                  /* by edge of the whole scene; VN_SCENE_NONE: it is inside of a closed group */
  guint     *first_node, *nodes;       /* nodes of box i: nodes[first_node[i] … first_node[i + 1]) */
  GArray    *levels;                   /* of FoldLevel, parents first */
  guint     *level_of;                 /* by group; VN_SCENE_NONE where it is not open */
  guint     *local_of;                 /* by node, then by group: its node in the level it is in */
  GArray    *pieces;                   /* of FoldPiece, from source to target */
  GArray    *first_piece;              /* of guint, by edge of the shown scene */
};

void vn_fold_add_levels (VnFold     *self);
void vn_fold_add_chain  (VnFold     *self,
                         guint       from,
                         guint       to,
                         guint       value);

G_END_DECLS
