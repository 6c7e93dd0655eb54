/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-graph-painter.h"

/* Scenes made for tests. */

VnScene   *demo_scene_detector (VnOverlay **overlay);
VnScene   *demo_scene_large    (guint       n_nodes,
                                guint       n_chains,
                                VnOverlay **overlay);
VnScene   *demo_scene_transformer (guint    n_layers,
                                   VnOverlay **overlay);
