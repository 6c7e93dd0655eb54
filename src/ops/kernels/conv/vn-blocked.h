/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op.h"

G_BEGIN_DECLS

/* Data whose channels lie in blocks: batch, channels / lanes, spatial axes, lanes. Vector code over channels then needs
 * neither copies nor remainders, however small the maps. The last block may hold more lanes than there are channels:
 * nobody reads those. The operators here compute the same bits as those they stand for. */

guint     vn_blocked_get_lanes  (void);
gboolean  vn_blocked_get_shape  (const VnShape *plain,
                                 VnShape       *blocked);

/**
 * VnBlockedUse: what becomes of an operator where data are blocked.
 * @VN_BLOCKED_NEVER: it needs its inputs as the graph has them
 * @VN_BLOCKED_ANY: another operator, which takes input 0 in either form and makes blocked data: Conv
 * @VN_BLOCKED_ALONE: as ANY; it gains more than changing the order of what it makes costs
 * @VN_BLOCKED_ALL: another operator, all of whose inputs but constants must be blocked
 * @VN_BLOCKED_OUT: the same, but what it makes is not blocked: GlobalAveragePool
 * @VN_BLOCKED_SAME: the same operator: it works element by element, or along the channels
 */
typedef enum
{
  VN_BLOCKED_NEVER,
  VN_BLOCKED_ANY,
  VN_BLOCKED_ALONE,
  VN_BLOCKED_ALL,
  VN_BLOCKED_OUT,
  VN_BLOCKED_SAME,
} VnBlockedUse;

VnBlockedUse  vn_blocked_find     (VnOpContext    *ctx,
                                   const VnOp    **op);

extern const VnOp vn_op_blocked_make;
extern const VnOp vn_op_blocked_undo;

G_END_DECLS
