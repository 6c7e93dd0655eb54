/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files that build and change graphs share. */

#include "vn-graph-edit.h"

G_BEGIN_DECLS

void     vn_uses_init          (VnUses      *self);
void     vn_uses_clear         (VnUses      *self);
void     vn_uses_add           (VnUses      *self,
                                const VnUse *use);
void     vn_uses_remove        (VnUses       *self,
                                const VnNode *node,
                                guint         index);
void     vn_node_free          (gpointer     node);
void     vn_value_free         (gpointer     value);
gboolean vn_graph_is_open      (const VnGraph *self);
void     vn_graph_order_insert (VnGraph     *self,
                                VnNode      *before,     /* NULL: at the end */
                                VnNode      *node);
void     vn_graph_order_remove (VnGraph     *self,
                                VnNode      *node);      /* frees it */
void     vn_graph_forget_value (VnGraph     *self,
                                VnValue     *value);     /* frees it */
void     vn_graph_forget_initializer (VnGraph *self,
                                VnValue     *value);

G_END_DECLS
