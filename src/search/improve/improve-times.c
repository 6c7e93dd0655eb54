/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long what “--auto” still has to do may take, by what it has done. */
#include "improve-times.h"

/* How often the time of rounding, which visits each layer once, correcting biases from front to end takes: it runs the rest of
 * the network for each layer. */
#define CORRECTION_BESIDE_ROUNDING 6

static double
times_estimate_correction (const VnImproveTimes *self,
                           const VnRecipe       *recipe)
{
  if (vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_GUARDED)
    return self->longest[VN_IMPROVE_CORRECTION];
  return MAX (self->longest[VN_IMPROVE_CORRECTION], CORRECTION_BESIDE_ROUNDING * self->longest[VN_IMPROVE_ROUNDING]);
}

/*< private >
 * vn_improve_times_estimate_repairs:
 *
 * Returns: seconds of what samples are asked for layer by layer, once more in the last run
 */
double
vn_improve_times_estimate_repairs (const VnImproveTimes *self,
                                   const VnRecipe       *recipe)
{
  double rounding, seconds = 0;

  g_return_val_if_fail (self != NULL && recipe != NULL, 0);

  rounding = self->longest[VN_IMPROVE_ROUNDING];
  if (vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST)
    seconds += rounding;
  if (vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF)
    seconds += times_estimate_correction (self, recipe);
  return MAX (seconds, self->network_seconds);
}

/*< private >
 * vn_improve_times_estimate_last:
 *
 * Returns: seconds of the last run, which does all of @recipe once more and compares every tensor
 */
double
vn_improve_times_estimate_last (const VnImproveTimes *self,
                                const VnRecipe       *recipe)
{
  g_return_val_if_fail (self != NULL && recipe != NULL, 0);

  return self->run_seconds + self->whole * vn_improve_times_estimate_repairs (self, recipe);
}

/*< private >
 * vn_improve_times_estimate_try:
 *
 * Returns: seconds of a try of a step of @kind
 */
double
vn_improve_times_estimate_try (const VnImproveTimes *self,
                               VnImproveKind         kind,
                               const VnRecipe       *recipe)
{
  double seconds;

  g_return_val_if_fail (self != NULL && recipe != NULL, 0);

  seconds = MAX (self->longest[kind], self->longest[VN_IMPROVE_SETTING]);
  if (kind == VN_IMPROVE_CORRECTION)
    seconds = MAX (seconds, times_estimate_correction (self, recipe));
  if (kind == VN_IMPROVE_NETWORK)
    seconds = MAX (seconds, self->run_seconds - self->compare_seconds + vn_improve_times_estimate_repairs (self, recipe));
  return seconds;
}
