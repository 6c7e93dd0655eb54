/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the colours of the graph can show: vn-overlays.def. */

#include "vn-scene-builder.h"

G_BEGIN_DECLS

typedef enum
{
#define VN_OVERLAY_CHOICE(SYMBOL, ...) VN_CHOICE_##SYMBOL,
#include "vn-overlays.def"
#undef VN_OVERLAY_CHOICE
  VN_N_CHOICES
} VnOverlayChoice;

/**
 * VnOverlayChoiceInfo: a line of vn-overlays.def.
 * @title, @words: N_()
 */
typedef struct
{
  const char    *id, *title, *words;
  VnOverlayKind  kind;
  VnMetric       metric;
} VnOverlayChoiceInfo;

/**
 * VnOverlayInput: what an overlay is made of.
 * @result: (nullable): the shown run
 * @other: (nullable): the run that a difference is to
 * @handles: of the choice
 * @given, @n_given: (nullable) (array length=n_given): what a file gives, by index of the node; NaN: nothing
 * @given_is_time: that is seconds, which add up
 */
typedef struct
{
  const VnScene *scene;
  const VnModel *model;
  VnRun         *result, *other;
  VnHeatHandles  handles;
  const double  *given;
  guint          n_given;
  gboolean       given_is_time;
} VnOverlayInput;

const VnOverlayChoiceInfo *vn_overlay_choice_get_info (VnOverlayChoice       choice);
gboolean                   vn_overlay_choice_find     (const char           *id,
                                                       VnOverlayChoice      *choice);
VnOverlayChoice            vn_overlay_choice_of_metric (VnMetric             metric);
VnOverlay                 *vn_overlay_choice_build    (VnOverlayChoice       choice,
                                                       const VnOverlayInput *input);   /* NULL: nothing is known */
char                      *vn_overlay_choice_dup_note (VnOverlayChoice       choice,
                                                       const VnOverlayInput *input,
                                                       const VnOverlay      *overlay); /* NULL: there is nothing to add */

#define VN_DIFFERENCE_SPAN 10.    /* dB of a difference at which its colour is strongest */

G_END_DECLS
