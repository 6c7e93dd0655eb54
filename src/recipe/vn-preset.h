/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a recipe can start from. */

#include "vn-dtype.h"

G_BEGIN_DECLS

/* What is known of a target. VN_TARGET_HAS_SIXTEEN: its processors compute on integers with activations of 16 bit;
 * VN_TARGET_IMITATES: what is written is as another tool writes it; VN_TARGET_SUITS_ALL: needs no samples, and wins as much with
 * networks that read no images; VN_TARGET_ELSEWHERE: what ONNX Runtime's kernels for processors do with it says nothing;
 * VN_TARGET_FUSES: a product is on integers whatever follows it, as that is fused with it. */
typedef enum
{
  VN_TARGET_HAS_SIXTEEN = 1 << 0, VN_TARGET_IMITATES = 1 << 1, VN_TARGET_SUITS_ALL = 1 << 2, VN_TARGET_ELSEWHERE = 1 << 3,
  VN_TARGET_FUSES = 1 << 4
} VnTargetTraits;

/* What sizes a runtime takes: any; those of the file alone; and of these one sample at a time. */
typedef enum { VN_TARGET_SHAPES_ANY, VN_TARGET_SHAPES_STATIC, VN_TARGET_SHAPES_ONE_SAMPLE } VnTargetShapes;

/**
 * VnPreset: what a recipe starts from: types and formats (vn-presets.def), or a runtime (vn-targets.def).
 * @id: "cpu"
 * @title, @summary: to be translated
 * @settings: "activation=u16 weight=s8": what differs from the defaults of vn-settings.def
 * @placement: (nullable): settings that leave more in float, for --auto to try
 * @wide_of: (nullable): the target of which this is the one with activations that cost least accuracy
 * @opset_max: 0: any
 * @activations, @weights: types that it reads, of recipes and of their rules; 0: any
 * @kept: (nullable): ids of settings that it needs as they are here: "activation-channels fuse"
 * @runtime: (nullable): id of vn-runtimes.def: what runs its exports here; NULL: nothing does
 * @check: (nullable): to be translated: how to see what the runtime has computed in float
 * @caution: (nullable): to be translated: what to know before it runs there
 */
typedef struct
{
  const char    *id;
  const char    *title, *summary;
  const char    *settings;
  VnTargetTraits traits;
  const char    *placement;
  const char    *wide_of;
  VnTargetShapes shapes;
  int            opset_max;
  VnDTypeSet     activations, weights;
  const char    *kept;
  const char    *runtime;
  const char    *check, *caution;
} VnPreset;

const VnPreset * const *vn_preset_list     (guint            *n);
const char             *vn_preset_get_group (const VnPreset  *self);
const VnPreset         *vn_preset_find     (const char       *id,
                                            GError          **error);
const VnPreset * const *vn_target_list     (guint            *n);
const VnPreset         *vn_target_find     (const char       *id,
                                            gboolean          wide,
                                            GError          **error);
gboolean                vn_preset_is_target (const VnPreset  *self);

G_END_DECLS
