/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which node of one network stands for which node of another, whatever tool made it of the same model. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

#define VN_MATCH_NONE G_MAXUINT

/**
 * VnMatchState: what became of a node.
 * @VN_MATCH_SAME: its counterpart is the same operator with the same attributes
 * @VN_MATCH_CHANGED: its counterpart is another operator, or has other attributes
 * @VN_MATCH_ALONE: only this network has it
 */
typedef enum { VN_MATCH_SAME, VN_MATCH_CHANGED, VN_MATCH_ALONE } VnMatchState;

/**
 * VnMatchedNode: one node.
 * @other: index of its counterpart in the other graph; of a node that is alone, the node whose result it passes on or that took
 *   it in; %VN_MATCH_NONE: nothing stands for it
 */
typedef struct
{
  VnMatchState state;
  guint        other;
} VnMatchedNode;

/**
 * VnNodeMatch: immutable; for indices of nodes in the two graphs as they were when it was made.
 */
typedef struct _VnNodeMatch VnNodeMatch;

VnNodeMatch         *vn_node_match_new       (const VnModel     *first,
                                              const VnModel     *second);
VnNodeMatch         *vn_node_match_new_same  (guint              n_nodes);
void                 vn_node_match_set_state (VnNodeMatch       *self,
                                              guint              node,
                                              VnMatchState       state);
VnNodeMatch         *vn_node_match_ref       (VnNodeMatch       *self);
void                 vn_node_match_unref     (VnNodeMatch       *self);
guint                vn_node_match_get_n     (const VnNodeMatch *self,
                                              guint              side);     /* 0: first, 1: second */
const VnMatchedNode *vn_node_match_get       (const VnNodeMatch *self,
                                              guint              side,
                                              guint              node);
guint                vn_node_match_count     (const VnNodeMatch *self,
                                              guint              side,
                                              VnMatchState       state);
guint                vn_node_match_get_last  (const VnNodeMatch *self,
                                              guint              node);
GHashTable          *vn_node_match_get_values (VnNodeMatch      *self);     /* borrowed */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnNodeMatch, vn_node_match_unref)

G_END_DECLS
