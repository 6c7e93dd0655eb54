/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Nodes and tensors of a graph view in words. */

#include "vn-graph-parts.h"

G_BEGIN_DECLS

char *vn_graph_words_dup_box     (const VnGraphParts *self,
                                  guint               node);
char *vn_graph_words_dup_edge    (const VnGraphParts *self,
                                  guint               edge);
char *vn_graph_words_dup_tooltip (const VnGraphParts *self);

G_END_DECLS
