/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What became of tensors and nodes that preparation has taken away: rules name them as the opened file does. */

#include "vn-graph-edit.h"

G_BEGIN_DECLS

GHashTable   *vn_edit_log_list_ends      (VnEditLog     *edits);
void          vn_graph_note_former       (VnGraph       *self,
                                          const VnGraph *source,
                                          VnEditLog     *edits);
VnValue      *vn_graph_find_former_value (const VnGraph *self,
                                          const char    *name);
const char   *vn_graph_find_former_node  (const VnGraph *self,
                                          const char    *label);
void          vn_graph_note_same         (VnGraph       *self,
                                          const char    *name,
                                          const char    *also);
GPtrArray    *vn_graph_list_same         (const VnGraph *self,
                                          const char    *name);

G_END_DECLS
