/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What quantizing has put between the nodes of a network, and where it is drawn. */

#include "vn-model.h"

G_BEGIN_DECLS

/**
 * VnPairRole: what a node is to a pair.
 * @VN_PAIR_NONE: nothing: it has a box of its own
 * @VN_PAIR_FIRST: the QuantizeLinear of a pair, which is drawn in its place
 * @VN_PAIR_REST: a DequantizeLinear behind that, one for each reader in some files
 * @VN_PAIR_CONSTANT: it passes on, moves, quantizes or dequantizes a constant: like constants it is not drawn
 */
typedef enum { VN_PAIR_NONE, VN_PAIR_FIRST, VN_PAIR_REST, VN_PAIR_CONSTANT } VnPairRole;

/**
 * VnScenePairs: of a graph.
 * @roles: by node
 */
typedef struct { const VnGraph *graph; guint8 *roles; } VnScenePairs;

void          vn_scene_pairs_init       (VnScenePairs       *self,
                                         const VnGraph      *graph,
                                         gboolean            folds);
void          vn_scene_pairs_clear      (VnScenePairs       *self);
VnPairRole    vn_scene_pairs_get_role   (const VnScenePairs *self,
                                         const VnNode       *node);
const VnNode *vn_scene_pairs_get_host   (const VnScenePairs *self,
                                         const VnNode       *node);

VnDType       vn_scene_pair_get_dtype   (const VnNode       *quantize);
char         *vn_scene_pair_dup_text    (const VnNode       *quantize);
gboolean      vn_scene_pairs_is_constant (const VnScenePairs *self,
                                         const VnValue      *value);
VnDType       vn_scene_pairs_get_stored (const VnScenePairs *self,
                                         const VnValue      *value);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnScenePairs, vn_scene_pairs_clear)

G_END_DECLS
