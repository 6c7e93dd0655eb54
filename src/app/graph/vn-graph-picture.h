/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The graph as it is shown, as a file. */

#include "vn-graph-view.h"

G_BEGIN_DECLS

typedef struct _VnGraphPicture VnGraphPicture;

VnGraphPicture *vn_graph_picture_new   (VnGraphView     *view,
                                        const char      *form,
                                        int              dark);
void            vn_graph_picture_free  (VnGraphPicture  *self);
gboolean        vn_graph_picture_write (VnGraphPicture  *self,
                                        const char      *path,
                                        GCancellable    *cancellable,
                                        GError         **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnGraphPicture, vn_graph_picture_free)

G_END_DECLS
