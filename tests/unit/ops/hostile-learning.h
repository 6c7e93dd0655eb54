/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

void hostile_learning (GRand  *rand,
                       VnNode *node);

G_END_DECLS
