/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much the error of weights matters, as part of quantizing: measured on samples that were calibrated with. */
#include "vn-job-input.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-weight-importance.h"

/*< private >
 * vn_job_measure_importance:
 * @stats: what ranges are found from
 *
 * Returns: (transfer full) (nullable): @stats with what was measured
 */
VnStats *
vn_job_measure_importance (const VnJobInput  *self,
                           VnStats           *stats,
                           GCancellable      *cancellable,
                           GError           **error)
{
  g_autoptr(GArray) learned = NULL;
  g_autoptr(VnImportance) importance = NULL;
  VnRepairSamples samples;

  g_return_val_if_fail (self != NULL && stats != NULL, NULL);

  if (self->dataset == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                   _("An importance matrix needs samples: add --data, or turn off importance"));
      return NULL;
    }
  learned = vn_job_take_samples (self->calibration, vn_job_count_rounding_samples (self, self->recipe));
  samples = vn_job_get_samples (self, learned);
  importance = vn_weight_importance_measure (self->prepared, &samples, cancellable, error);
  return importance != NULL ? vn_stats_with_importance (stats, importance) : NULL;
}
