/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be chosen in a network: which tensors are left in float or get other integers, what that gains at the outputs, and what the
 * parts of the network around it cost by it. */
#pragma once

#include "vn-choices.h"
#include "vn-contributions.h"
#include "vn-curve.h"
#include "vn-runtime.h"

G_BEGIN_DECLS

/**
 * VnCurveNetwork: what choices are made from.
 * @plan: of @recipe
 * @contributions: of each tensor with @recipe, @other: (nullable): with weights of @other_weight
 * @quantized: (nullable): forecast of what @recipe makes; @floats: of @prepared
 * @other_weight: the type that weights may have instead
 */
typedef struct
{
  const VnModel           *prepared;
  const VnRecipe          *recipe;
  VnQuantPlan             *plan;
  VnContributions         *contributions, *other;
  const VnRuntimeForecast *quantized, *floats;
  VnDType                  other_weight;
} VnCurveNetwork;

/**
 * VnCurveChoices: immutable but for the gains.
 * @choices: numbered as @items
 * @n_outputs: that noise is known of
 */
typedef struct
{
  const VnCurveNetwork *network;
  VnCurveCost           cost;
  VnChoices            *choices;
  GArray               *items;
  double               *rest, *rest_squares;   /* by output: noise that no choice changes; the same of @rest_differences */
  float                *rest_differences;
  guint                 n_outputs;
  gsize                 n_differences;   /* by sample, output and number */
  gsize                 n_numbers;       /* of a sample's output */
} VnCurveChoices;

VnDType         vn_curve_get_wide_type   (const VnRecipe       *recipe);
VnDType         vn_curve_get_other_weight (const VnRecipe      *recipe);

VnCurveChoices *vn_curve_choices_new     (const VnCurveNetwork *network,
                                          VnCurveCost           cost);
void            vn_curve_choices_free    (VnCurveChoices       *self);
GPtrArray      *vn_curve_choices_list    (VnCurveChoices       *self);      /* of gboolean[] */
gboolean       *vn_curve_choices_make_plain (VnCurveChoices    *self);
double          vn_curve_choices_predict (VnCurveChoices       *self,
                                          const gboolean       *taken,
                                          gboolean              mixed);     /* dB */
void            vn_curve_choices_fill    (VnCurveChoices       *self,
                                          const gboolean       *taken,
                                          VnCurvePoint         *point);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCurveChoices, vn_curve_choices_free)

G_END_DECLS
