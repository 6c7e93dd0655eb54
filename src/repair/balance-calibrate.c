/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of a network while its channels are balanced. */
#include "balance-calibrate.h"

#include "vn-calibrate.h"
#include "vn-plan-blocks.h"
#include "vn-quantize.h"

/*< private >
 * vn_balance_calibrate:
 *
 * Returns: (transfer full) (nullable): statistics of @model, on the samples to learn from
 */
VnStats *
vn_balance_calibrate (const VnBalanceInput  *input,
                      VnModel               *model,
                      GCancellable          *cancellable,
                      GError               **error)
{
  VnPlanOptions plan_options;
  VnCalibrateOptions options = { 0 };
  g_autoptr(GPtrArray) taps = NULL;
  g_autoptr(VnPlan) plan = NULL;
  const VnRepairSamples *samples;

  g_return_val_if_fail (input != NULL && model != NULL, NULL);

  samples = input->samples;
  taps = vn_quantize_list_values (model, input->recipe);
  plan_options = vn_plan_options_for_samples (samples->shapes);
  plan_options.taps = taps;
  options.samples = samples->indices;
  options.n_samples = samples->n;
  options.n_threads = samples->n_threads;
  options.votes = vn_recipe_needs_votes (input->recipe);
  options.few_counts = !vn_recipe_needs_counts (input->recipe);
  plan = vn_plan_new_in_blocks (model, &plan_options, NULL, error);
  return plan != NULL ? vn_calibrate (plan, taps, samples->dataset, &options, input->progress, NULL, cancellable, error) : NULL;
}
