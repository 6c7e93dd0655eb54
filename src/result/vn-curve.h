/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a network can come to with mixed precision: error against size, multiplications or time, from the cheapest point to the
 * most accurate one. */
#pragma once

#include "vn-recipe.h"
#include "vn-task.h"

G_BEGIN_DECLS

/* What accuracy is paid with along a curve: bytes of weights; multiplications that are not done on integers of 8 bit; time of the
 * export in ONNX Runtime beside the float network. */
typedef enum
{
#define VN_CURVE_COST(SYMBOL, ...) VN_CURVE_COST_##SYMBOL,
#include "vn-curve-costs.def"
#undef VN_CURVE_COST
  VN_N_CURVE_COSTS
} VnCurveCost;

/* Signal to noise from which on outputs are those of the float network. */
#define VN_CURVE_FLOAT_DB 150.0

/**
 * VnCurvePoint: one choice.
 * @predicted_db: mean signal to noise of the outputs that was predicted before this point was measured
 * @measured_db: the same, measured; NaN: it was not
 * @kept: what is kept of the answers of the float network, on the same samples; of no known task where nothing was measured
 * @used: what was measured corrected the prediction of the others: @predicted_db is then no test of it
 * @bytes: of weights and constants
 * @integer_share: of the multiplications that are done on integers, 0 to 1; NaN: that cannot be told
 * @wide_share: of the multiplications whose activations have 16 bit, where the target computes these on integers; else NaN
 * @time_ratio: forecast of the time in ONNX Runtime beside the float network; NaN: that cannot be told
 * @n_float, @n_wide, @n_small: tensors in float, activations of 16 bit and weights of 4 bit that it takes
 * @recipe: makes it
 * @is_plain: the recipe that the curve was asked for
 * @is_chosen: meets what was asked for
 */
typedef struct
{
  double     predicted_db, measured_db;
  VnKept     kept;
  gboolean   used;
  gsize      bytes;
  double     integer_share, wide_share, time_ratio;
  guint      n_float, n_wide, n_small;
  VnRecipe  *recipe;
  gboolean   is_plain, is_chosen;
} VnCurvePoint;

/**
 * VnCurve: immutable, once others have it.
 * @points: of VnCurvePoint: by cost, each one more accurate than those before it; the plain one is always among them
 * @cost: what they are ordered by
 * @n_samples: that they are measured on
 */
typedef struct
{
  GPtrArray   *points;
  VnCurveCost  cost;
  guint        n_samples;
  /*< private >*/
  gatomicrefcount ref;
} VnCurve;

const char   *vn_curve_cost_get_id    (VnCurveCost         self);
const char   *vn_curve_cost_get_title (VnCurveCost         self);     /* translated */
VnCurveCost   vn_curve_get_usual_cost (const VnRecipe     *recipe);
gboolean      vn_curve_cost_find      (const char         *id,
                                       VnCurveCost        *cost);

VnCurvePoint *vn_curve_point_new      (void);
void          vn_curve_point_free     (VnCurvePoint       *self);
double        vn_curve_point_get_cost (const VnCurvePoint *self,
                                       VnCurveCost         cost);     /* NaN: cannot be told */
double        vn_curve_point_get_float_share (const VnCurvePoint *self);
const char   *vn_curve_point_get_state_id (const VnCurvePoint *self);     /* "check" */
const char   *vn_curve_point_get_state_title (const VnCurvePoint *self);  /* translated */
char         *vn_curve_point_dup_text (const VnCurvePoint *self);     /* translated */
double        vn_curve_point_get_db   (const VnCurvePoint *self);     /* measured if it is */

VnCurve      *vn_curve_new            (VnCurveCost         cost);
VnCurve      *vn_curve_new_chosen     (const VnCurve      *curve,
                                       const VnRecipe     *recipe);
VnCurve      *vn_curve_ref            (VnCurve            *self);
void          vn_curve_unref          (VnCurve            *self);
void          vn_curve_add            (VnCurve            *self,
                                       VnCurvePoint       *point);
guint         vn_curve_get_n          (const VnCurve      *self);
const VnCurvePoint *vn_curve_get      (const VnCurve      *self,
                                       guint               i);
void          vn_curve_sort           (VnCurve            *self);
void          vn_curve_drop_beaten    (VnCurve            *self);
double        vn_curve_get_divergence (const VnCurve      *self,
                                       const VnCurvePoint *point);
double        vn_curve_get_worst_miss (const VnCurve      *self,
                                       guint              *n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCurvePoint, vn_curve_point_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnCurve, vn_curve_unref)

G_END_DECLS
