/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The metrics that tables, overlays and reports show. */

#include "vn-error-table.h"

#include "vn-i18n.h"

static const VnMetricInfo infos[VN_N_METRICS] = {
  [VN_METRIC_SQNR] = { "sqnr", N_("Signal to noise"), N_("dB"), TRUE },
  [VN_METRIC_NOISE] = { "noise", N_("Noise to signal"), "", FALSE },
  [VN_METRIC_COSINE] = { "cosine", N_("Cosine"), "", TRUE },
  [VN_METRIC_MSE] = { "mse", N_("Mean squared error"), "", FALSE },
  [VN_METRIC_MAX_ERROR] = { "max-error", N_("Largest error"), "", FALSE },
};

const VnMetricInfo *
vn_metric_get_info (VnMetric metric)
{
  return &infos[metric];
}

double
vn_metric_get (const VnErrorRow *row,
               VnMetric          metric)
{
  switch (metric)
    {
    case VN_METRIC_SQNR: return row->sqnr_db;
    case VN_METRIC_NOISE: return row->noise_to_signal;
    case VN_METRIC_COSINE: return row->cosine;
    case VN_METRIC_MSE: return row->mse;
    case VN_METRIC_MAX_ERROR: return row->max_error;
    case VN_N_METRICS:
    default: g_return_val_if_reached (0);
    }
}

/**
 * vn_error_row_is_marked:
 *
 * Returns: %TRUE for a noise:signal ratio above 0.1, a cosine below 0.99, or new NaN or infinite elements: the marks
 *   of XQuant's analysis report
 */
gboolean
vn_error_row_is_marked (const VnErrorRow *row)
{
  return !(row->noise_to_signal <= 0.1) || !(row->cosine >= 0.99) || row->n_bad > 0;
}
