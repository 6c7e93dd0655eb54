/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons that lie in the samples of a run. */
#include "diagnose-culprit.h"

#include "vn-data-suspicion.h"
#include "vn-i18n.h"
#include "vn-thresholds.h"

#include <math.h>

char *
_vn_diagnose_samples_unlike (const VnCulprit *culprit)
{
  VnNotes *notes = culprit->result->notes;

  for (guint i = 0; notes != NULL && i < vn_notes_get_n (notes); i++)
    if (vn_data_suspicion_is (vn_notes_get (notes, i)))
      return g_strdup (vn_notes_get (notes, i)->text);
  return NULL;
}

/* How many times further than when it was calibrated a tensor reaches on the samples measured. */
static double
diagnose_get_reach (VnRun            *result,
                    const VnErrorRow *row)
{
  const VnHistogram *histogram = vn_stats_get (result->stats, row->value);
  double calibrated = _vn_histogram_get_width (histogram), measured = MAX (fabs (row->float_min), fabs (row->float_max));

  return calibrated > 0 && isfinite (measured) ? measured / calibrated : 0;
}

char *
_vn_diagnose_samples_differ (const VnCulprit *culprit)
{
  VnRun *result = culprit->result;
  const VnErrorRow *worst = NULL;
  guint n = 0, n_far = 0, n_rows = result->errors != NULL && result->stats != NULL ? vn_error_table_get_n (result->errors) : 0;
  gboolean input_is_far = FALSE;
  double most = 0;

  for (guint i = 0; i < n_rows; i++)
    {
      const VnErrorRow *row = vn_error_table_get (result->errors, i);
      double reach = row->n_bad_float == 0 ? diagnose_get_reach (result, row) : 0;

      n += reach > 0;
      n_far += reach > VN_REACH_FACTOR;
      input_is_far |= *row->node == '\0' && reach > VN_REACH_FACTOR;
      if (reach > most)
        {
          most = reach;
          worst = row;
        }
    }
  if (worst == NULL || (!input_is_far && !((double) n_far > VN_REACH_SHARE * (double) n)))
    return NULL;
  return g_strdup_printf (ngettext ("On the held-out samples, %u of %u tensor exceeds its calibration range more than %.1f "
                                    "times, “%s” %.3g times.",
                                    "On the held-out samples, %u of %u tensors exceed their calibration range more than %.1f "
                            "times, “%s” %.3g times.", n),
                          n_far, n, VN_REACH_FACTOR, worst->value, most);
}

char *
_vn_diagnose_few_samples (const VnCulprit *culprit)
{
  guint n = culprit->result->n_calibration;

  if (culprit->result->stats == NULL || n == 0 || n >= VN_DATA_FEW)
    return NULL;
  return g_strdup_printf (ngettext ("Ranges come from only %u sample; use %u or more to cover what the model will see.",
                                    "Ranges come from only %u samples; use %u or more to cover what the model will see.", n), n,
                                    VN_DATA_FEW);
}
