/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What “--auto” can try: vn-improve-steps.def. */
#pragma once

#include "improve-bench.h"
#include "vn-recipe-change.h"

G_BEGIN_DECLS

/**
 * VnImproveKind: what has to be made for a step.
 * @VN_IMPROVE_SETTING: nothing: the recipe alone changes
 * @VN_IMPROVE_ROUNDING: weights are rounded anew
 * @VN_IMPROVE_CORRECTION: biases are corrected anew
 * @VN_IMPROVE_NETWORK: another float network, with statistics of its own
 * @VN_IMPROVE_ORIGINS: where the error starts is found, and tensors are chosen by it
 * @VN_IMPROVE_TRAINING: it is trained, in the last run, from what all other steps came to
 */
typedef enum
{
  VN_IMPROVE_SETTING, VN_IMPROVE_ROUNDING, VN_IMPROVE_CORRECTION, VN_IMPROVE_NETWORK, VN_IMPROVE_ORIGINS, VN_IMPROVE_TRAINING
} VnImproveKind;

/**
 * VnImproveStep:
 * @id: static
 * @title: N_()
 * @least_gain: in dB: less is chance; 0: what it does is right by itself, any gain will do
 * @change: what settings become, or, without any, for which recipes the step is
 * @apply: (nullable): changes a recipe for a float network further, and says whether it has; of %VN_IMPROVE_ORIGINS: whether
 *   the step can be tried
 * @add: (nullable): of %VN_IMPROVE_ORIGINS: does it to some activations of the float network
 * @suits: (nullable): whether the step is for such a network
 */
typedef struct
{
  const char    *id, *title;
  VnImproveKind  kind;
  double         least_gain;
  VnRecipeChange change;
  gboolean     (*apply) (VnRecipe *recipe, const VnGraph *graph);
  void         (*add)   (VnRecipe *recipe, const VnGraph *graph, char **tensors);
  gboolean     (*suits) (const VnGraph *graph);
} VnImproveStep;

const VnImproveStep *vn_improve_step_list  (guint               *n);
gboolean             vn_improve_step_apply (const VnImproveStep *self,
                                            VnRecipe            *recipe,
                                            const VnGraph       *graph);

/* ---- improve-graph.c: what some of them look for ---- */

GPtrArray           *vn_improve_list_tail    (const VnGraph *graph);   /* of names and a last NULL; NULL without any */
GPtrArray           *vn_improve_list_fusable (const VnGraph *graph);   /* of "Conv+PRelu" */
gboolean             vn_improve_can_optimize (const VnGraph *graph);

G_END_DECLS
