/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Scenes and overlays made from models and results. */

#include "vn-groups.h"
#include "vn-heat.h"
#include "vn-run.h"
#include "vn-scene.h"

G_BEGIN_DECLS

/**
 * VnPairsShown: how QuantizeLinear and DequantizeLinear are drawn.
 * @VN_PAIRS_FOLDED: two that belong together as a small box between the nodes; of a constant not at all, the node that reads it
 *   says its type
 * @VN_PAIRS_UNFOLDED: as nodes like all others
 */
typedef enum { VN_PAIRS_FOLDED, VN_PAIRS_UNFOLDED } VnPairsShown;

VnScene      *vn_scene_build            (const VnModel  *model,
                                         VnRun          *result,
                                         VnPairsShown    pairs);
VnScene      *vn_scene_build_sized      (const VnModel  *model,
                                         VnRun          *result,
                                         VnPairsShown    pairs,
                                         GHashTable     *sizes);
void          vn_scene_build_grouped_async (VnModel           *model,
                                         VnRun               *result,
                                         VnPairsShown         pairs,
                                         GHashTable          *sizes,
                                         VnGroups            *groups,
                                         GCancellable        *cancellable,
                                         GAsyncReadyCallback  callback,
                                         gpointer             user_data);
VnScene      *vn_scene_build_grouped_finish (GAsyncResult    *result,
                                         VnGroups           **groups,
                                         GError             **error);
VnOverlay    *vn_scene_build_overlay    (const VnScene  *scene,
                                         const VnModel  *model,
                                         VnRun          *result,
                                         VnMetric        metric,
                                         VnHeatHandles   handles);
VnOverlay    *vn_scene_build_rows       (const VnScene  *scene,
                                         const VnErrorRow * const *rows,
                                         VnMetric        metric,
                                         VnHeatHandles   handles);
VnOverlay    *vn_scene_build_amounts    (const VnScene  *scene,
                                         const double   *amounts,
                                         VnAmountUnit    unit);
VnOverlay    *vn_scene_build_numbers    (const VnScene  *scene,
                                         const double   *numbers);
VnOverlay    *vn_scene_build_local      (const VnScene  *scene,
                                         const VnModel  *model,
                                         VnRun          *result,
                                         VnHeatHandles   handles);
const VnRuntimeNode *vn_scene_find_kernel (const VnScene *scene,
                                         const VnModel  *model,
                                         VnRun          *result,
                                         guint           i);
VnHeatHandles vn_scene_default_handles  (const VnScene  *scene,
                                         const VnModel  *model,
                                         VnRun          *result,
                                         VnMetric        metric);
char         *vn_node_dup_detail        (const VnNode   *node);
VnScenePrecision   vn_precision_of_dtype     (VnDType         dtype);

VnOverlay    *vn_scene_build_kernels      (const VnScene  *scene,
                                           const VnModel  *model,
                                           VnRun          *result);

G_END_DECLS
