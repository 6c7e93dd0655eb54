/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is seen of a network while some of its groups are closed. */

#include "vn-graph-layout.h"
#include "vn-groups.h"

G_BEGIN_DECLS

/* A scene in which closed groups are one box each, and how it came from the whole scene. Immutable; readable from any thread. */
typedef struct _VnFold VnFold;

/* Places of the nodes in each group that was open once. May be shared by threads; belongs to one tree of groups. */
typedef struct _VnFoldPlaces VnFoldPlaces;

VnFold        *vn_fold_new           (VnScene        *whole,
                                      VnGroups       *groups,
                                      const guint8   *open);
VnFold        *vn_fold_renew         (const VnFold   *self,
                                      VnScene        *whole);
VnFold        *vn_fold_ref           (VnFold         *self);
void           vn_fold_unref         (VnFold         *self);
VnScene       *vn_fold_get_scene     (const VnFold   *self);   /* borrowed; what is shown */
VnGroups      *vn_fold_get_groups    (const VnFold   *self);   /* borrowed */
gboolean       vn_fold_is_open       (const VnFold   *self,
                                      guint           group);
guint          vn_fold_get_box       (const VnFold   *self,
                                      guint           node);
const guint   *vn_fold_get_nodes     (const VnFold   *self,
                                      guint           box,
                                      guint          *n);
VnOverlay     *vn_fold_make_overlay  (const VnFold   *self,
                                      const VnOverlay *overlay);

VnFoldPlaces  *vn_fold_places_new    (void);
VnFoldPlaces  *vn_fold_places_ref    (VnFoldPlaces   *self);
void           vn_fold_places_unref  (VnFoldPlaces   *self);
VnGraphLayout *vn_fold_lay_out       (const VnFold   *self,
                                      VnFoldPlaces   *places,
                                      GCancellable   *cancellable,
                                      GError        **error);
void           vn_fold_lay_out_async (VnFold         *self,
                                      VnFoldPlaces   *places,
                                      double          page,
                                      GCancellable   *cancellable,
                                      GAsyncReadyCallback callback,
                                      gpointer        user_data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFold, vn_fold_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnFoldPlaces, vn_fold_places_unref)

G_END_DECLS
