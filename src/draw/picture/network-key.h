/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The key below the picture of a network. */

#include "vn-pen.h"
#include "vn-scene.h"

G_BEGIN_DECLS

double _vn_network_key (VnPen           *pen,
                        const VnScene   *scene,
                        const VnOverlay *overlay,
                        char * const    *limits,
                        double           width,
                        double           y);

G_END_DECLS
