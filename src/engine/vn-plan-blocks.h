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

/**
 * VnEndsTapFunc: called instead of a #VnBlocksTapFunc for a value whose operator has found its ends on the way. All its elements
 * are finite.
 * @low, @high: (array length=n_channels): the least and the greatest element of each channel, over the batch; one of both zeros
 *   may stand for the other
 *
 * Returns: %FALSE: the elements are wanted: the #VnBlocksTapFunc is called after all
 */
typedef gboolean (*VnEndsTapFunc) (const VnValue *value,
                                   guint          tap,
                                   const float   *low,
                                   const float   *high,
                                   gsize          n_channels,
                                   gpointer       data);

VnPlan   *vn_plan_new_in_blocks   (VnModel              *model,
                                   const VnPlanOptions  *options,    /* NULL: defaults */
                                   VnNotes              *notes,      /* nullable */
                                   GError              **error);
void      vn_runner_set_blocks_tap (VnRunner            *self,
                                    VnBlocksTapFunc      func);      /* the data are those of vn_runner_set_tap() */
void      vn_runner_set_ends_tap   (VnRunner            *self,
                                    VnEndsTapFunc        func);      /* nullable */

G_END_DECLS
