/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding nodes by their labels. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

GHashTable *vn_graph_index_nodes (const VnGraph *self);

G_END_DECLS
