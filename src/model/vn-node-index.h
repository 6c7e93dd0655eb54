/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding nodes by their labels, which no two nodes of a graph share. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

GHashTable *vn_graph_index_nodes    (const VnGraph *self);
VnModel    *vn_model_copy_named     (const VnModel *model);
void        vn_model_separate_names (VnModel       *model,
                                     VnNotes       *notes);   /* nullable */

G_END_DECLS
