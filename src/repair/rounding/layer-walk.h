/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A network that runs once on some samples, with stops on the way: at each its weights may change, for what comes behind. */
#pragma once

#include "vn-judge.h"

G_BEGIN_DECLS

typedef struct _VnLayerWalk VnLayerWalk;

VnLayerWalk *vn_layer_walk_new        (const VnRepairSamples  *samples,
                                       gsize                   most_memory);
void         vn_layer_walk_free       (VnLayerWalk            *self);
gboolean     vn_layer_walk_set_model  (VnLayerWalk            *self,
                                       VnModel                *model,
                                       GPtrArray              *stops,
                                       GError                **error);
gboolean     vn_layer_walk_begin      (VnLayerWalk            *self,
                                       guint                   stop,
                                       GError                **error);
VnPlan      *vn_layer_walk_get_plan   (VnLayerWalk            *self);
guint        vn_layer_walk_count_reads (const VnLayerWalk     *self);
VnRunner    *vn_layer_walk_new_runner (VnLayerWalk            *self,
                                       guint                   n_inside,
                                       GError                **error);
gboolean     vn_layer_walk_run        (VnLayerWalk            *self,
                                       VnRunner               *runner,
                                       guint                   sample,
                                       VnTensor              **inputs,
                                       VnTensor              **reads,
                                       GCancellable           *cancellable,
                                       GError                **error);
GPtrArray   *vn_layer_walk_list_reads (const VnNode           *node);
gboolean     vn_layer_walk_keeps      (const VnLayerWalk      *self,
                                       const char             *name);
void         vn_layer_walk_end        (VnLayerWalk            *self);
void         vn_layer_walk_leave      (VnLayerWalk            *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnLayerWalk, vn_layer_walk_free)

G_END_DECLS
