/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Small networks whose pictures are kept: each state of a node, each sign, each kind of line. */

#include "vn-fold.h"
#include "vn-graph-painter.h"

/**
 * GoldenScene: a network as it is painted.
 * @groups: (nullable): NULL where nothing is grouped
 */
typedef struct
{
  VnScene       *scene;
  VnGraphLayout *layout;
  VnGraphIndex  *index;
  VnOverlay     *overlay;
  VnGroups      *groups;
  VnRect         bounds;
} GoldenScene;

void golden_scene_init_states (GoldenScene *self);
void golden_scene_init_groups (GoldenScene *self);
void golden_scene_clear       (GoldenScene *self);
