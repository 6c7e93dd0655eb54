/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be chosen in a network: which tensors are left in float or get other integers, what that gains at the outputs, and
 * what the parts of the network around it cost by it. */
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

/* How errors of several tensors come together at the outputs: as if they had nothing to do with each other; those of weights and
 * biases, which are always the same ones, as they are alike or cancel out; with those of activations, too; all; and between the
 * first and that. */
#define VN_CURVE_N_MODELS 5

/**
 * VnCurveSums: signal to noise of the outputs that a choice comes to, in dB, to first order, by model.
 * @place: where it stands along the curve, in points from its beginning; set by whoever makes the curve
 */
typedef struct
{
  double db[VN_CURVE_N_MODELS], place;
} VnCurveSums;

/**
 * VnCurveErrors: what some tensors do to the outputs.
 * @squares: by output, of @differences, one tensor at a time
 */
typedef struct
{
  double *squares;
  float  *differences;
} VnCurveErrors;

/* Weights and biases, and activations. */
#define VN_CURVE_N_GROUPS 2

/**
 * VnCurveChoices: immutable but for the gains.
 * @choices: numbered as @items
 * @rest: by output: noise that no choice changes
 * @rest_errors: by group: the same
 * @n_outputs: that noise is known of
 */
typedef struct
{
  const VnCurveNetwork *network;
  VnCurveCost           cost;
  VnChoices            *choices;
  GArray               *items;
  double               *rest;
  VnCurveErrors         rest_errors[VN_CURVE_N_GROUPS];
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
                                          const gboolean       *taken);     /* dB, by the first model */
VnCurveSums     vn_curve_choices_sum_up  (VnCurveChoices       *self,
                                          const gboolean       *taken);
void            vn_curve_choices_fill    (VnCurveChoices       *self,
                                          const gboolean       *taken,
                                          VnCurvePoint         *point);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCurveChoices, vn_curve_choices_free)

G_END_DECLS
