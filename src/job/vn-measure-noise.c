/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What rounding each matrix of weights alone does to the outputs, as part of quantizing: on samples that were calibrated with,
 * with as few bits as the recipe has for most. */
#include "vn-job-input.h"

#include "vn-contribution.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-quantize.h"
#include "vn-recipe-rules.h"

#include <math.h>

/*< private >
 * vn_job_wants_noise:
 *
 * Returns: whether the recipe chooses matrices by it, and there are samples
 */
gboolean
vn_job_wants_noise (const VnJobInput *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_recipe_has_wide_share (self->recipe) && self->dataset != NULL && self->calibration != NULL &&
         self->calibration->len > 0;
}

static VnContributions *
measure_noise_run (const VnJobInput *self,
                   VnJob            *job,
                   VnQuantPlan      *plan,
                   GCancellable     *cancellable,
                   GError          **error)
{
  const VnProgress progress = vn_job_get_reporter (job);
  const VnContributionOptions options = { .parts = self->parts };
  const VnSamples run = { .shapes = self->shapes, .dataset = self->dataset,
                          .indices = (const guint *) (gpointer) self->calibration->data,
                          .n = MIN (self->calibration->len, VN_NOISE_SAMPLES), .n_threads = self->n_threads,
                          .progress = &progress, .notes = self->notes };

  return vn_contribution_measure (self->prepared, self->prepared, plan, &run, &options, cancellable, error);
}

/* A network that runs only as a whole is quantized all the same. */
static gboolean
measure_noise_goes_without (const VnJobInput  *self,
                            GError           **error)
{
  if (g_error_matches (*error, G_IO_ERROR, G_IO_ERROR_CANCELLED) || vn_error_is_memory (*error))
    return FALSE;
  vn_notes_add (self->notes, VN_NOTE_WARNING, "wide-share-unmeasured", "wide-share",
                _("No matrix has 8 bits by “wide-share”: what rounding each of them does to the outputs cannot be measured: %s"),
                (*error)->message);
  g_clear_error (error);
  return TRUE;
}

/*< private >
 * vn_job_measure_noise:
 * @stats: what ranges are found from, and an importance matrix if the recipe has one
 *
 * Returns: (transfer full) (nullable): @stats with what was measured
 */
VnStats *
vn_job_measure_noise (const VnJobInput *self,
                      VnJob            *job,
                      VnStats          *stats,
                      GCancellable     *cancellable,
                      GError          **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnContributions) found = NULL;
  g_autoptr(VnImportance) importance = NULL;
  g_autoptr(GError) local = NULL;

  g_return_val_if_fail (self != NULL && stats != NULL, NULL);

  recipe = vn_recipe_copy (self->recipe);
  recipe->wide_share = 0;
  plan = vn_quantize_resolve (self->prepared, recipe, stats, NULL, error);
  if (plan == NULL)
    return NULL;
  found = measure_noise_run (self, job, plan, cancellable, &local);
  if (found == NULL && measure_noise_goes_without (self, &local))
    return vn_stats_ref (stats);
  if (found == NULL)
    {
      g_propagate_error (error, g_steal_pointer (&local));
      return NULL;
    }
  importance = vn_importance_copy (vn_stats_get_importance (stats));
  for (guint i = 0; i < vn_contributions_get_n (found); i++)
    {
      const VnContribution *item = vn_contributions_get (found, i);

      if (item->role == VN_TENSOR_WEIGHT && !isnan (item->alone_db))
        vn_importance_set_noise (importance, item->name, pow (10, -item->alone_db / 10));
    }
  return vn_stats_with_importance (stats, importance);
}
