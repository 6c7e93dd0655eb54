/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons that weights and biases tell. */
#include "diagnose-culprit.h"

#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-thresholds.h"

#include <math.h>
#include <stdlib.h>

static int
diagnose_compare_doubles (gconstpointer a,
                          gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

static gboolean
diagnose_is_weight (const VnCulprit *culprit)
{
  return culprit->constant != NULL && culprit->plan->role == VN_TENSOR_WEIGHT && culprit->constant->n_elements > 0;
}

/* The largest absolute value of each channel of the first axis. */
static double *
diagnose_measure_rows (const VnTensor *constant,
                       gsize          *n)
{
  double *rows;
  gsize each;

  *n = constant->shape.rank >= 2 ? (gsize) constant->shape.dims[0] : 0;
  rows = *n >= 2 ? vn_try_new (double, *n, NULL) : NULL;
  if (rows == NULL)
    return NULL;
  each = constant->n_elements / *n;
  for (gsize c = 0; c < *n; c++)
    {
      rows[c] = 0;
      for (gsize i = 0; i < each; i++)
        rows[c] = MAX (rows[c], fabs ((double) ((const float *) constant->data)[c * each + i]));
    }
  return rows;
}

char *
_vn_diagnose_weight_spread (const VnCulprit *culprit)
{
  g_autofree double *rows = NULL;
  gsize n = 0;

  if (!diagnose_is_weight (culprit) || culprit->plan->axis >= 0)
    return NULL;
  rows = diagnose_measure_rows (culprit->constant, &n);
  if (rows == NULL)
    return NULL;
  qsort (rows, n, sizeof *rows, diagnose_compare_doubles);
  if (!(rows[n - 1] > VN_WIDE_FACTOR * rows[n / 2]) && !(rows[n - 1] > VN_CHANNEL_FACTOR * rows[n / 4]))
    return NULL;
  return g_strdup_printf (_("One scale is too coarse for some channels of the weight: the largest reaches %.3g, a "
                            "quarter of them stay within %.3g; try per-channel scales."), rows[n - 1], rows[n / 4]);
}

/* ---- a range set by few values ---- */

static char *
diagnose_outlier_of_all (const VnCulprit *culprit)
{
  double largest = 0;
  VnRange bulk;

  if (!_vn_culprit_get_bulk_range (culprit, &bulk))
    return NULL;
  for (gsize i = 0; i < culprit->constant->n_elements; i++)
    largest = MAX (largest, fabs ((double) ((const float *) culprit->constant->data)[i]));
  return g_strdup_printf (_("A few outliers of up to %.3g set the range of all %zu weights; 99.9 %% lie within %.3g, "
                            "%.1f times less."), largest,
                          culprit->constant->n_elements, bulk.max, largest / bulk.max);
}

/* With a scale for each channel: channels in which one value is much larger than the next but one. */
static char *
diagnose_outlier_of_rows (const VnCulprit *culprit)
{
  const VnTensor *constant = culprit->constant;
  gsize n = culprit->plan->scale->n_elements, each, n_wide = 0;
  double worst = 0;

  if (culprit->plan->axis != 0 || n < 2 || constant->shape.rank < 2 || (gsize) constant->shape.dims[0] != n)
    return NULL;
  each = constant->n_elements / n;
  for (gsize c = 0; c < n && each >= 12; c++)
    {
      double most[3] = { 0, 0, 0 };

      for (gsize i = 0; i < each; i++)
        {
          double x = fabs ((double) ((const float *) constant->data)[c * each + i]);

          for (guint k = 0; k < 3; k++)
            if (x > most[k])
              {
                double other = most[k];

                most[k] = x;
                x = other;
              }
        }
      if (most[2] > 0 && most[0] > VN_WIDE_FACTOR * most[2])
        {
          n_wide++;
          worst = MAX (worst, most[0] / most[2]);
        }
    }
  if (n_wide == 0 || ((double) n_wide < VN_WIDE_SHARE * (double) n && worst < VN_WIDE_FACTOR * VN_WIDE_FACTOR))
    return NULL;
  return g_strdup_printf (ngettext ("In %zu of %zu channel, one or two outlier weights make the range up to %.0f times as wide "
                                    "as the others need.",
                                    "In %zu of %zu channels, one or two outlier weights make the range up to %.0f times as "
                            "wide as the others need.", n), n_wide, n, worst);
}

char *
_vn_diagnose_weight_outlier (const VnCulprit *culprit)
{
  if (!diagnose_is_weight (culprit))
    return NULL;
  return culprit->plan->scale->n_elements == 1 ? diagnose_outlier_of_all (culprit) : diagnose_outlier_of_rows (culprit);
}

/* ---- biases ---- */

static char *
diagnose_overflow_of_bias (const VnCulprit *culprit)
{
  const VnTensorPlan *plan = culprit->plan;
  double steps = 0;
  gint64 qmin, qmax;

  if (culprit->constant == NULL || !vn_dtype_is_integer (plan->dtype) || plan->scale->n_elements == 0)
    return NULL;
  vn_dtype_integer_range (plan->dtype, &qmin, &qmax);
  for (gsize i = 0; i < culprit->constant->n_elements; i++)
    {
      double scale = (double) ((const float *) plan->scale->data)[i % plan->scale->n_elements];

      if (scale > 0)
        steps = MAX (steps, fabs ((double) ((const float *) culprit->constant->data)[i]) / scale);
    }
  if (!(steps > (double) qmax * 1.0001))
    return NULL;
  return g_strdup_printf (_("The bias needs %.3g steps, but its type has only %.3g: it saturates."), steps, (double) qmax);
}

/* Where scales of a weight were made larger than its values need, so that the bias fits. */
static char *
diagnose_room_in_weight (const VnCulprit *culprit)
{
  const VnTensorPlan *plan = culprit->plan;
  g_autofree double *rows = NULL;
  gsize n = 0, n_raised = 0;
  double most = 0, largest = 0;
  gint64 qmin, qmax;

  if (!vn_dtype_is_integer (plan->dtype) || plan->axis > 0 || !culprit->result->recipe->raise_weight_scales)
    return NULL;
  rows = diagnose_measure_rows (culprit->constant, &n);
  vn_dtype_integer_range (plan->dtype, &qmin, &qmax);
  if (rows == NULL || plan->scale->n_elements != n)
    return NULL;
  for (gsize c = 0; c < n; c++)
    largest = MAX (largest, rows[c]);
  for (gsize c = 0; c < n; c++)
    {
      double needed = rows[c] / (double) qmax, scale = (double) ((const float *) plan->scale->data)[c];

      if (rows[c] > VN_DEAD_SHARE * largest && scale > 8 * needed)   /* the others are as good as 0 */
        {
          n_raised++;
          most = MAX (most, scale / needed);
        }
    }
  if (n_raised == 0)
    return NULL;
  return g_strdup_printf (_("The scales of %zu of %zu channels were raised, up to %.3g times, so that biases fit "
                            "into their type."), n_raised, n, most);
}

char *
_vn_diagnose_bias_overflow (const VnCulprit *culprit)
{
  if (culprit->plan->role == VN_TENSOR_BIAS)
    return diagnose_overflow_of_bias (culprit);
  return diagnose_is_weight (culprit) ? diagnose_room_in_weight (culprit) : NULL;
}

/* ---- saturation ---- */

/* Without VNNI two products are added up in 16 bit: 255 (q1 + q2) > 32767. */
char *
_vn_diagnose_saturation (const VnCulprit *culprit)
{
  const VnTensorPlan *plan = culprit->plan;
  const float *values;
  gsize n, per_scale, n_pairs = 0, n_large = 0;

  if (!diagnose_is_weight (culprit) || vn_node_get_int (culprit->node, "group", 1) != 1 || plan->dtype != VN_DTYPE_S8 ||
      culprit->result->recipe->activation != VN_DTYPE_U8 || plan->axis > 0)
    return NULL;
  n = culprit->constant->n_elements;
  values = culprit->constant->data;
  per_scale = MAX (n / plan->scale->n_elements, 1);
  for (gsize i = 0; i + 1 < n; i += 2)
    {
      double scale = (double) ((const float *) plan->scale->data)[MIN (i / per_scale, plan->scale->n_elements - 1)];

      n_pairs++;
      n_large += fabs ((double) values[i] + (double) values[i + 1]) > 128.5 * scale;
    }
  if (n_pairs == 0 || !((double) n_large > VN_SATURATION_SHARE * (double) n_pairs))
    return NULL;
  return g_strdup_printf (_("On CPUs without VNNI, the products of %.0f %% of the weight pairs can exceed 16 bits."),
                          100 * (double) n_large / (double) n_pairs);
}
