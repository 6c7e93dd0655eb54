/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Taps that are told as they lie in memory, for whoever does not mind the order of elements. */

#include "vn-plan.h"

G_BEGIN_DECLS

/**
 * VnBlocksTapFunc: called instead of a #VnTapFunc for a value whose channels lie in blocks.
 * @tensor: batch, blocks of channels, spatial axes, lanes; valid during the call only
 * @n_channels: the lanes of the last block beyond them hold nothing
 */
typedef void (*VnBlocksTapFunc) (const VnValue  *value,
                                 guint           tap,
                                 const VnTensor *tensor,
                                 gsize           n_channels,
                                 gpointer        data);

VnPlan   *vn_plan_new_in_blocks   (VnModel              *model,
                                   const VnPlanOptions  *options,    /* NULL: defaults */
                                   VnNotes              *notes,      /* nullable */
                                   GError              **error);
void      vn_runner_set_blocks_tap (VnRunner            *self,
                                    VnBlocksTapFunc      func);      /* the data are those of vn_runner_set_tap() */

G_END_DECLS
