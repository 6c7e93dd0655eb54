/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is looked at of the tensors that a calibration taps. */
#pragma once

#include "vn-calibrate.h"
#include "vn-histogram-private.h"

#include "vn-plan-blocks.h"

G_BEGIN_DECLS

/**
 * VnTapChannels: which axis of a tensor counts its channels.
 */
typedef enum { VN_TAP_CHANNELS_NONE, VN_TAP_CHANNELS_SECOND, VN_TAP_CHANNELS_LAST } VnTapChannels;

gboolean       _vn_calibrate_get_layout    (VnTapChannels        channels,
                                            const VnTensor      *tensor,
                                            VnChannelLayout     *layout);
int           *_vn_calibrate_chain_derived (const VnDerived     *derived,
                                            guint                n);
VnTapChannels *_vn_calibrate_find_channels (GPtrArray           *taps);
VnTapChannels *_vn_calibrate_add_sources   (const VnTapChannels *channels,
                                            const VnDerived     *derived,
                                            guint                n);
gboolean      *_vn_calibrate_choose_counted (const VnCalibrateOptions *options);

G_END_DECLS
