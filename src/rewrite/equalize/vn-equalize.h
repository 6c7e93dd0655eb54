/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-pass.h"

G_BEGIN_DECLS

/* Cross-layer equalization: what one layer computes is multiplied by a factor for each channel, and the layer that reads
 * it divides by that, so that no channel's weights are lost beside those of another once all share a scale. What lies
 * between must hand positive factors on; the network computes the same but for rounding. */

typedef enum
{
  VN_EQUALIZE_OFF,
  VN_EQUALIZE_AMD,   /* pairs, and triples around a depthwise convolution: Quark and vai_q_onnx */
  VN_EQUALIZE_PPQ,   /* groups, factors of at most ten: PPQ, XQuant, XSlim */
  VN_N_EQUALIZE_KINDS
} VnEqualizeKind;

/**
 * VnEqualizeOptions:
 * @kind: by whose rules; %VN_EQUALIZE_OFF: nothing is done
 * @steps: how often all layers are gone through; 0: once (AMD) or ten times (PPQ); -1: until nothing changes
 * @threshold: channels whose two ranges add up to less are left alone; usually 0.5
 * @append_bias: the bias counts for the range of a channel: made smaller by a rule of thumb (AMD), halved (PPQ)
 * @difference: with @steps -1: the sum over all layers of the mean change below which nothing changes; usually 2e-7
 * @level: PPQ: 1: layers in a chain; 2: also results that are added, subtracted or read by several
 * @activations: (nullable) (element-type utf8 GArray): PPQ: the largest absolute value of each channel (double) of what
 *   vn_equalize_list_results() lists, by name: half of it counts for the range of the channel. Scaled along
 */
typedef struct
{
  VnEqualizeKind  kind;
  int             steps;
  double          threshold;
  gboolean        append_bias;
  double          difference;
  int             level;
  GHashTable     *activations;
} VnEqualizeOptions;

#define VN_EQUALIZE_OPTIONS_DEFAULT \
  ((VnEqualizeOptions) { .kind = VN_EQUALIZE_AMD, .threshold = 0.5, .append_bias = TRUE, .difference = 2e-7, .level = 1 })

gboolean   vn_equalize_model        (VnModel                 *model,
                                     const VnEqualizeOptions *options,
                                     VnEditLog               *log,          /* nullable */
                                     GCancellable            *cancellable,
                                     GError                 **error);
GPtrArray *vn_equalize_list_results (VnModel                 *model,
                                     const VnEqualizeOptions *options,
                                     GError                 **error);

G_END_DECLS
