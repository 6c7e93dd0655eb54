/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What quantizing a tensor to a given range would cost, and what each range method would choose: from its histogram alone. */

#include "vn-calibrate.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnRangeQuestion: the tensor that is to be quantized.
 * @histogram: what it held
 * @recipe: what its scale is made by
 * @dtype: integers it is to become
 * @symmetric, @reduce_range: as for vn_quant_params_from_range()
 * @percentile: for the methods that need one
 */
typedef struct
{
  const VnHistogram *histogram;
  const VnRecipe    *recipe;
  VnDType            dtype;
  gboolean           symmetric, reduce_range;
  double             percentile;
} VnRangeQuestion;

/**
 * VnRangeEstimate:
 * @method: (nullable): that chose @range; %NULL: it was given
 * @range: asked for
 * @covered: from the lowest level to the highest
 * @scale: distance of the levels
 * @zero_point: the integer that stands for 0
 * @sqnr_db: signal to noise of rounding and clipping; infinite if nothing is lost
 * @clipped: share of the values that lie more than half a level beyond @covered, 0 … 1
 */
typedef struct
{
  const VnRangeMethod *method;
  VnRange              range, covered;
  double               scale;
  gint64               zero_point;
  double               sqnr_db, clipped;
} VnRangeEstimate;

gboolean  vn_range_estimate         (const VnRangeQuestion *question,
                                     const VnRange         *range,
                                     const char            *method,      /* nullable */
                                     VnRangeEstimate       *estimate,
                                     GError               **error);
GArray   *vn_range_estimate_methods (const VnRangeQuestion *question);   /* of VnRangeEstimate, best first */

G_END_DECLS
