/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise does not quite add up: about half of the points of a curve are measured, which corrects the prediction of those between
 * them. Of these some are then measured, too, once: they tell how good the prediction is. */
#include "curve-job-private.h"

#include <math.h>

/* Points that tell how good the prediction is. */
#define CHECKS 5

/*< private >
 * _vn_curve_job_measure_point:
 *
 * Measures @point unless it was.
 */
gboolean
_vn_curve_job_measure_point (VnCurveJob    *self,
                             VnCurvePoint  *point,
                             GCancellable  *cancellable,
                             GError       **error)
{
  g_auto(VnImproveTrial) trial = { 0 };

  if (!isnan (point->measured_db))
    return TRUE;
  if (!_vn_curve_job_forecast (self, point->recipe, &trial, error) ||
      !vn_improve_bench_measure (self->bench, &trial, cancellable, error))
    return FALSE;
  point->measured_db = trial.judgement.sqnr_db;
  point->kept = trial.judgement.kept;
  return TRUE;
}

static const VnCurveSums *
measure_get_sums (VnCurveJob         *self,
                  const VnCurvePoint *point)
{
  return g_hash_table_lookup (self->sums, point);
}

/* Points that can be measured: in their order. @but_measured: and are not yet */
static GPtrArray *
measure_list (VnCurveJob *self,
              gboolean    but_measured)
{
  GPtrArray *points = g_ptr_array_new ();

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);

      if (measure_get_sums (self, point)->db[0] < VN_CURVE_FLOAT_DB && !(but_measured && !isnan (point->measured_db)))
        g_ptr_array_add (points, point);
    }
  return points;
}

static gboolean
measure_anchor (VnCurveJob    *self,
                VnCurvePoint  *point,
                GCancellable  *cancellable,
                GError       **error)
{
  if (point->used)
    return TRUE;
  if (!_vn_curve_job_measure_point (self, point, cancellable, error))
    return FALSE;
  point->used = TRUE;
  vn_curve_fit_add (self->fit, measure_get_sums (self, point), point->measured_db);
  return TRUE;
}

/* How many points correct the others: every other one, both ends among them, but so many that there are enough to check. */
static guint
measure_count_anchors (guint n)
{
  guint most = n > CHECKS + 2 ? n - CHECKS : 2;

  return MIN (MIN ((n + 1) / 2, most), VN_CURVE_ANCHORS);
}

static gboolean
measure_anchors (VnCurveJob    *self,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autoptr(GPtrArray) points = measure_list (self, FALSE);
  guint n = measure_count_anchors (points->len);

  for (guint i = 0; i < n; i++)
    if (!measure_anchor (self, g_ptr_array_index (points, n > 1 ? (i * (points->len - 1) + (n - 1) / 2) / (n - 1) : 0),
                         cancellable, error))
      return FALSE;
  for (guint i = 0; i < points->len; i++)
    if (((VnCurvePoint *) g_ptr_array_index (points, i))->is_plain &&
        !measure_anchor (self, g_ptr_array_index (points, i), cancellable, error))
      return FALSE;
  for (guint i = 0; i < self->spares->len; i++)
    if (!measure_anchor (self, g_ptr_array_index (self->spares, i), cancellable, error))
      return FALSE;
  return TRUE;
}

static void
measure_predict (VnCurveJob *self)
{
  g_autoptr(GPtrArray) points = measure_list (self, TRUE);

  vn_curve_fit_choose (self->fit);
  for (guint i = 0; i < points->len; i++)
    {
      VnCurvePoint *point = g_ptr_array_index (points, i);

      point->predicted_db = vn_curve_fit_predict (self->fit, measure_get_sums (self, point));
    }
}

/* Evenly over the points that are left. */
static gboolean
measure_checks (VnCurveJob    *self,
                GCancellable  *cancellable,
                GError       **error)
{
  g_autoptr(GPtrArray) left = measure_list (self, TRUE);
  guint n = MIN (CHECKS, left->len);

  for (guint i = 0; i < n; i++)
    {
      VnCurvePoint *point = g_ptr_array_index (left, (2 * i + 1) * left->len / (2 * n));

      if (!_vn_curve_job_measure_point (self, point, cancellable, error))
        return FALSE;
      vn_curve_fit_add (self->fit, measure_get_sums (self, point), point->measured_db);
    }
  return TRUE;
}

/*< private >
 * _vn_curve_job_measure_some:
 *
 * Measures points of the curve, and predicts the others. What checked the prediction corrects it for those that are left, too,
 * but keeps what had been predicted.
 */
gboolean
_vn_curve_job_measure_some (VnCurveJob    *self,
                            GCancellable  *cancellable,
                            GError       **error)
{
  if (!measure_anchors (self, cancellable, error))
    return FALSE;
  measure_predict (self);
  if (!measure_checks (self, cancellable, error))
    return FALSE;
  measure_predict (self);
  vn_curve_drop_beaten (self->curve);
  return TRUE;
}
