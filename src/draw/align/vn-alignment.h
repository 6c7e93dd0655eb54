/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Two networks laid out as one, so that what stands for each other is at the same place in both. */

#include "vn-fold.h"

G_BEGIN_DECLS

/* Immutable but for layouts that it remembers; may be used on any thread. */
typedef struct _VnAlignment VnAlignment;

VnAlignment   *vn_alignment_new          (VnScene              *first,
                                          VnScene              *second,
                                          const guint          *counterparts);
VnAlignment   *vn_alignment_ref          (VnAlignment          *self);
void           vn_alignment_unref        (VnAlignment          *self);
VnScene       *vn_alignment_get_scene    (VnAlignment          *self,
                                          guint                 side);    /* 0: first, 1: second; borrowed */
VnGroups      *vn_alignment_get_groups   (VnAlignment          *self,
                                          guint                 side);    /* borrowed */
guint8        *vn_alignment_dup_open     (VnAlignment          *self,
                                          guint                 n_boxes);
guint          vn_alignment_get_n_nodes  (VnAlignment          *self);    /* of both, those with one place once */
VnGraphLayout *vn_alignment_lay_out      (VnAlignment          *self,
                                          guint                 side,
                                          VnFold               *fold,     /* nullable */
                                          double                page,
                                          GCancellable         *cancellable,
                                          GError              **error);
void           vn_alignment_lay_out_async (VnAlignment         *self,
                                          guint                 side,
                                          VnFold               *fold,     /* nullable */
                                          double                page,
                                          GCancellable         *cancellable,
                                          GAsyncReadyCallback   callback,
                                          gpointer              user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnAlignment, vn_alignment_unref)

G_END_DECLS
