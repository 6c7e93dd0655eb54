/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the error of a tensor is measured in, and from where on it is fine or bad. */
#include "vn-error-table.h"

#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

static const VnMetricInfo vn_metric_table[] = {
#define VN_METRIC(SYMBOL, field, id, title, unit, scale, fine, bad) \
  { id, #field, title, unit, G_STRUCT_OFFSET (VnErrorRow, field), scale, fine, bad },
#include "vn-metrics.def"
#undef VN_METRIC
};

/**
 * vn_metric_get_info:
 *
 * Returns: (transfer none): the line of vn-metrics.def
 */
const VnMetricInfo *
vn_metric_get_info (VnMetric metric)
{
  g_return_val_if_fail ((guint) metric < G_N_ELEMENTS (vn_metric_table), &vn_metric_table[0]);

  return &vn_metric_table[metric];
}

/**
 * vn_metric_is_higher_better:
 *
 * Returns: whether a larger value means less error
 */
gboolean
vn_metric_is_higher_better (VnMetric metric)
{
  VnMetricScale scale = vn_metric_get_info (metric)->scale;

  return scale == VN_SCALE_DB || scale == VN_SCALE_COSINE;
}

/**
 * vn_metric_get:
 *
 * Returns: what @row has for @metric
 */
double
vn_metric_get (const VnErrorRow *row,
               VnMetric          metric)
{
  g_return_val_if_fail (row != NULL, 0);

  return G_STRUCT_MEMBER (double, row, vn_metric_get_info (metric)->offset);
}

/**
 * vn_metric_is_measured:
 *
 * Returns: whether @row has @metric: a contribution is measured only when it is asked for
 */
gboolean
vn_metric_is_measured (const VnErrorRow *row,
                       VnMetric          metric)
{
  g_return_val_if_fail (row != NULL, FALSE);

  return metric != VN_METRIC_CONTRIBUTION || !isnan (row->contribution);
}

/* What is the same as before, and what is no number at all, are worth this much, so that means can be made. */
#define MOST_DB 200.0

/**
 * vn_sqnr_bound:
 * @n_bad: values that are finite in the float network alone
 *
 * Returns: @sqnr_db between -200 and 200 dB; -200 if there are bad values
 */
double
vn_sqnr_bound (double  sqnr_db,
               guint64 n_bad)
{
  return n_bad > 0 || isnan (sqnr_db) ? -MOST_DB : CLAMP (sqnr_db, -MOST_DB, MOST_DB);
}

/* Of samples that were held out alone where the other network was measured on other samples. */
static double
metric_get_common_sqnr (VnErrorTable     *table,
                        VnErrorTable     *other,
                        const VnErrorRow *row)
{
  gboolean same = other == NULL || vn_error_table_get_n_samples (table) == vn_error_table_get_n_samples (other);

  return vn_sqnr_bound (same || isnan (row->held_out_db) ? row->sqnr_db : row->held_out_db, row->n_bad);
}

/* @last: of the values that nodes read which cannot be run, instead of outputs. NaN if there are none */
static double
metric_average_ends (VnErrorTable *table,
                     VnErrorTable *other,
                     gboolean      last)
{
  double sum = 0;
  guint n = 0;

  for (guint i = 0; i < vn_error_table_get_n (table); i++)
    {
      const VnErrorRow *row = vn_error_table_get (table, i);
      gboolean counts = last ? row->is_last : row->is_output;

      sum += counts ? metric_get_common_sqnr (table, other, row) : 0;
      n += counts;
    }
  return n > 0 ? sum / n : NAN;
}

/**
 * vn_error_table_get_outputs_sqnr:
 *
 * Returns: signal to noise of the outputs, averaged over them, each bounded by vn_sqnr_bound(); where no output can be computed,
 *   that of the last values that can; NaN if none was compared
 */
double
vn_error_table_get_outputs_sqnr (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return vn_error_table_get_comparable_sqnr (self, self);
}

/**
 * vn_error_table_get_comparable_sqnr:
 * @other: of another network quantized from the same samples
 *
 * Returns: as vn_error_table_get_outputs_sqnr(), over the samples that both networks were measured on: where one was measured on
 *   all of them and the other one only on those held out, over these
 */
double
vn_error_table_get_comparable_sqnr (VnErrorTable *self,
                                    VnErrorTable *other)
{
  double sqnr_db;

  g_return_val_if_fail (self != NULL && other != NULL, NAN);

  sqnr_db = metric_average_ends (self, other, FALSE);
  return isnan (sqnr_db) ? metric_average_ends (self, other, TRUE) : sqnr_db;
}

/**
 * vn_error_table_get_worst_sqnr:
 * @other: (nullable): as of vn_error_table_get_comparable_sqnr()
 *
 * Returns: signal to noise of the worst output, which a verdict goes by; infinity if none was compared
 */
double
vn_error_table_get_worst_sqnr (VnErrorTable *self,
                               VnErrorTable *other)
{
  double worst = INFINITY;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < vn_error_table_get_n (self); i++)
    {
      const VnErrorRow *row = vn_error_table_get (self, i);

      if (row->is_output || row->is_last)
        worst = fmin (worst, metric_get_common_sqnr (self, other, row));
    }
  return worst;
}

/**
 * vn_error_table_get_mean:
 *
 * Returns: the mean of @metric over all tensors where it is finite: those that are the same as before have no finite ratio;
 *   NaN if there are none
 */
double
vn_error_table_get_mean (VnErrorTable *self,
                         VnMetric      metric)
{
  double sum = 0;
  guint n = 0;

  g_return_val_if_fail (self != NULL, NAN);

  for (guint i = 0; i < vn_error_table_get_n (self); i++)
    {
      double value = vn_metric_get (vn_error_table_get (self, i), metric);

      sum += isfinite (value) ? value : 0;
      n += isfinite (value);
    }
  return n > 0 ? sum / n : NAN;
}

/* Shares of less than a thousandth are nothing to anybody. */
static char *
metric_format_share (double value)
{
  g_autofree char *number = vn_format_decimals (100 * value, 1);

  return isfinite (value) ? g_strdup_printf ("%s\u00a0%%", number) : g_steal_pointer (&number);
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
  VnMetricScale scale = vn_metric_get_info (metric)->scale;

  if (scale == VN_SCALE_DB)
    return vn_format_db (value);
  if (scale == VN_SCALE_SHARE)
    return metric_format_share (value);
  if (scale == VN_SCALE_COSINE && isfinite (value))
    return vn_format_decimals (value, fabs (value) > 0.9995 ? 5 : 3);
  return vn_format_number (value, 3);
}

/**
 * vn_metric_format_short:
 *
 * Returns: (transfer full): @value without unit, as short as a box of the graph needs it
 */
char *
vn_metric_format_short (VnMetric metric,
                        double   value)
{
  VnMetricScale scale = vn_metric_get_info (metric)->scale;

  if (scale == VN_SCALE_DB)
    return vn_format_decimals (value, 1);
  if (scale == VN_SCALE_SHARE)
    return metric_format_share (value);
  return scale == VN_SCALE_COSINE ? vn_format_decimals (value, 4) : vn_format_number (value, 3);
}

/**
 * vn_metric_format_fixed:
 *
 * Returns: (transfer full): @value without unit, in the form of a column of a report
 */
char *
vn_metric_format_fixed (VnMetric metric,
                        double   value)
{
  VnMetricScale scale = vn_metric_get_info (metric)->scale;

  if (scale == VN_SCALE_DB)
    return vn_format_fixed (value, 2);
  if (scale == VN_SCALE_SHARE)
    {
      g_autofree char *number = vn_format_fixed (100 * value, 1);

      return g_strdup_printf ("%s %%", number);
    }
  return scale == VN_SCALE_COSINE ? vn_format_fixed (value, 5) : vn_format_plain (value);
}

/**
 * vn_error_row_is_marked:
 *
 * Returns: %TRUE for a bad noise:signal ratio or cosine, or new NaN or infinite elements
 */
gboolean
vn_error_row_is_marked (const VnErrorRow *row)
{
  g_return_val_if_fail (row != NULL, FALSE);

  return !(row->noise_to_signal <= vn_metric_table[VN_METRIC_NOISE].bad) ||
         !(row->cosine >= vn_metric_table[VN_METRIC_COSINE].bad) || row->n_bad > 0;
}

typedef struct
{
  VnErrorTable *table;
  VnMetric      metric;
} SortBy;

static gint
metric_compare_by (gconstpointer a,
                   gconstpointer b,
                   gpointer      data)
{
  const SortBy *by = data;
  guint i = *(const guint *) a, k = *(const guint *) b;
  double x = vn_metric_get (vn_error_table_get (by->table, i), by->metric);
  double y = vn_metric_get (vn_error_table_get (by->table, k), by->metric);

  if (isnan (x) != isnan (y))
    return isnan (x) ? 1 : -1;
  if (x != y && !isnan (x))
    return (x < y) == vn_metric_is_higher_better (by->metric) ? -1 : 1;
  return i < k ? -1 : i > k;
}

/**
 * vn_error_table_sort_by:
 *
 * Returns: (transfer full) (element-type guint): row numbers, the worst of @metric first, NaN last, ties in execution order
 */
GArray *
vn_error_table_sort_by (VnErrorTable *self,
                        VnMetric      metric)
{
  SortBy by = { self, metric };
  GArray *order;

  g_return_val_if_fail (self != NULL && (guint) metric < VN_N_METRICS, NULL);

  order = g_array_sized_new (FALSE, FALSE, sizeof (guint), vn_error_table_get_n (self));
  for (guint i = 0; i < vn_error_table_get_n (self); i++)
    g_array_append_val (order, i);
  g_array_sort_with_data (order, metric_compare_by, &by);
  return order;
}

/**
 * vn_error_table_get_weakest_metric:
 *
 * What lists of the weakest tensors go by unless somebody chooses otherwise: where error starts, if that was measured, else how
 * much of it has come together.
 *
 * Returns: %VN_METRIC_CONTRIBUTION or %VN_METRIC_SQNR
 */
VnMetric
vn_error_table_get_weakest_metric (VnErrorTable *self)
{
  g_return_val_if_fail (self != NULL, VN_METRIC_SQNR);

  for (guint i = 0; i < vn_error_table_get_n (self); i++)
    if (vn_metric_is_measured (vn_error_table_get (self, i), VN_METRIC_CONTRIBUTION))
      return VN_METRIC_CONTRIBUTION;
  return VN_METRIC_SQNR;
}

/**
 * vn_metric_find:
 * @metric: (out): untouched unless found
 *
 * Returns: whether @id is one
 */
gboolean
vn_metric_find (const char *id,
                VnMetric   *metric)
{
  g_return_val_if_fail (id != NULL && metric != NULL, FALSE);

  for (VnMetric i = 0; i < VN_N_METRICS; i++)
    if (g_str_equal (vn_metric_get_info (i)->id, id))
      {
        *metric = i;
        return TRUE;
      }
  return FALSE;
}
