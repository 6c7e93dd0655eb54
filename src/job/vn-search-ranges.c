/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for ranges as part of quantizing: learned from samples that were calibrated with, judged on those held out. */
#include "vn-job-input.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"
#include "vn-range-search.h"

/* Samples that are looked at, if there are as many. */
#define SAMPLES 16
#define SAMPLES_OF_DRAFT 4

static void
search_ranges_note (const VnJobInput   *self,
                    const VnRepairGain *gain)
{
  g_autofree char *more = vn_format_signed_db (gain->after_db - gain->before_db);

  vn_notes_add (self->notes, VN_NOTE_INFO, "ranges-searched", "range-search",
                _("Ranges searched in %u layers; output SQNR %s"), gain->n_tried, more);
}

/*< private >
 * vn_job_search_ranges:
 * @job: told how far it is
 * @stats: what ranges are found from
 *
 * Returns: (transfer full) (nullable): @stats with the factors that were found
 */
VnStats *
vn_job_search_ranges (const VnJobInput  *self,
                      VnJob             *job,
                      VnStats           *stats,
                      GCancellable      *cancellable,
                      GError           **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autoptr(VnJudge) judge = NULL;
  g_autoptr(GArray) learned = NULL;
  g_autoptr(VnRangeFactors) factors = NULL;
  VnRepairSamples samples;
  VnRangeSearchInput input;
  VnProgress progress;
  VnRepairGain gain;

  g_return_val_if_fail (self != NULL && job != NULL && stats != NULL, NULL);

  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("Range search needs samples: add --data, or turn off range-search"));
      return NULL;
    }
  recipe = vn_job_make_pairs_recipe (self->recipe);
  progress = vn_job_get_reporter (job);
  learned = vn_job_take_samples (self->calibration, self->draft ? SAMPLES_OF_DRAFT : SAMPLES);
  samples = vn_job_get_samples (self, learned);
  judge = vn_job_make_judge (self, learned, VN_JUDGED_SAMPLES, cancellable, error);
  if (judge == NULL)
    return NULL;
  input = (VnRangeSearchInput) { self->prepared, recipe, stats, &samples, judge, &progress };
  factors = vn_range_search (&input, &gain, cancellable, error);
  if (factors == NULL)
    return NULL;
  search_ranges_note (self, &gain);
  return vn_stats_with_factors (stats, factors);
}
