/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the error of a tensor is measured in, and from where on it is fine or bad. */
#include "vn-error-table.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* A noise:signal ratio of 0.01 is 20 dB, one of 0.1 is 10 dB; the bad ones are the marks of XQuant's analysis report. */
static const VnMetricInfo infos[VN_N_METRICS] = {
  [VN_METRIC_SQNR] = { "sqnr", N_("Signal to noise"), N_("dB"), TRUE, 20, 10 },
  [VN_METRIC_NOISE] = { "noise", N_("Noise to signal"), "", FALSE, 0.01, 0.1 },
  [VN_METRIC_COSINE] = { "cosine", N_("Cosine"), "", TRUE, 0.999, 0.99 },
  [VN_METRIC_MSE] = { "mse", N_("Mean squared error"), "", FALSE, NAN, NAN },
  [VN_METRIC_MAX_ERROR] = { "max-error", N_("Largest error"), "", FALSE, NAN, NAN },
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
 * vn_metric_format:
 *
 * Returns: (transfer full): @value in the form that suits @metric, with unit
 */
char *
vn_metric_format (VnMetric metric,
                  double   value)
{
  if (metric == VN_METRIC_SQNR)
    return vn_format_db (value);
  if (metric == VN_METRIC_COSINE && isfinite (value))
    return vn_format_decimals (value, fabs (value) > 0.9995 ? 5 : 3);
  return vn_format_number (value, 3);
}

/**
 * vn_error_row_is_marked:
 *
 * Returns: %TRUE for a bad noise:signal ratio or cosine, or new NaN or infinite elements
 */
gboolean
vn_error_row_is_marked (const VnErrorRow *row)
{
  return !(row->noise_to_signal <= infos[VN_METRIC_NOISE].bad) || !(row->cosine >= infos[VN_METRIC_COSINE].bad) || row->n_bad > 0;
}
