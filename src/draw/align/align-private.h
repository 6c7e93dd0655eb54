/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files of an alignment share. */

#include "vn-alignment.h"

#include "fold-private.h"

G_BEGIN_DECLS

/**
 * AlignPlaces: which nodes of two scenes have one place.
 * @other: by side and node: the node of the other side that has its place; VN_SCENE_NONE: none has
 * @nodes: by side and node: a number that those with one place have in common
 * @is_substitute: by node of the first scene: what has its place is not its counterpart
 */
typedef struct
{
  VnScene * const *sides;
  guint           *other[2], *nodes[2];
  guint8          *is_substitute;
  guint            n;
} AlignPlaces;

/**
 * AlignWhole: two scenes as one: nodes that have one place are one node, as large as the larger of them.
 * @nodes: by side and node: the node here
 * @ways: by side: edges here that edge i of that side goes along, one after another: [way_first[i], way_first[i + 1])
 */
typedef struct
{
  VnScene *scene;
  guint   *nodes[2], *way_first[2];
  GArray  *ways[2];
} AlignWhole;

void           vn_align_places_init (AlignPlaces         *self,
                                     VnScene     * const  sides[2],
                                     const guint         *counterparts);
void           vn_align_places_clear (AlignPlaces        *self);

void           vn_align_whole_init  (AlignWhole          *self,
                                     VnScene     * const  sides[2],
                                     const guint         *counterparts);
void           vn_align_whole_clear (AlignWhole          *self);

VnGraphLayout *vn_align_part_new    (const AlignWhole    *whole,
                                     guint                side,
                                     VnScene             *scene,
                                     const VnFold        *fold,
                                     const VnFold        *whole_fold,
                                     VnGraphLayout       *layout);

G_END_DECLS
