/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The point of a curve that is wanted: the cheapest that reaches a target, or the most accurate one within limits. */
#include "curve-job-private.h"

#include "vn-error.h"
#include "vn-format.h"
#include "vn-i18n.h"

#include <math.h>

/* Points around the wanted one that are measured. */
#define MOST_LOOKS 8

static gboolean
wish_is_within (VnCurveJob         *self,
                const VnCurvePoint *point)
{
  return (self->settings.most_bytes == 0 || point->bytes <= self->settings.most_bytes) &&
         (isnan (self->settings.most_float) || vn_curve_point_get_float_share (point) <= self->settings.most_float + 1e-9);
}

/* The file as it would be written. */
static gboolean
wish_fits (VnCurveJob    *self,
           VnCurvePoint  *point,
           gboolean      *fits,
           GError       **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  g_autoptr(GBytes) file = NULL;

  *fits = TRUE;
  if (self->settings.most_bytes == 0)
    return TRUE;
  if (!_vn_curve_job_forecast (self, point->recipe, &trial, error) || (file = vn_onnx_write_bytes (trial.model, error)) == NULL)
    return FALSE;
  point->bytes = g_bytes_get_size (file);
  *fits = point->bytes <= self->settings.most_bytes;
  return TRUE;
}

/* By what is known now: with a target the cheapest that reaches it, else the most accurate. */
static VnCurvePoint *
wish_find_wanted (VnCurveJob *self)
{
  VnCurvePoint *best = NULL;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);

      if (!wish_is_within (self, point) || (!isnan (self->settings.target_db) &&
                                            vn_curve_point_get_db (point) < self->settings.target_db))
        continue;
      if (best == NULL || (isnan (self->settings.target_db) && vn_curve_point_get_db (point) > vn_curve_point_get_db (best)))
        best = point;
    }
  return best;
}

/* What is missing, with the best that there is. */
static void
wish_set_error (VnCurveJob  *self,
                GError     **error)
{
  double most = -INFINITY, least_float = INFINITY;
  gsize least_bytes = G_MAXSIZE;
  gboolean any = FALSE;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (self->curve, i);
      double share = vn_curve_point_get_float_share (point);

      any |= wish_is_within (self, point);
      most = wish_is_within (self, point) ? MAX (most, vn_curve_point_get_db (point)) : most;
      least_bytes = MIN (least_bytes, point->bytes);
      least_float = isnan (share) ? least_float : MIN (least_float, share);
    }
  if (any)
    {
      g_autofree char *target = vn_format_decimals (self->settings.target_db, 1), *best = vn_format_decimals (most, 1);

      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No configuration reaches %s dB: the most accurate one within "
                                                        "the limits has %s dB"), target, best);
    }
  else if (self->settings.most_bytes > 0 && least_bytes > self->settings.most_bytes)
    {
      g_autofree char *wanted = vn_format_bytes (self->settings.most_bytes), *least = vn_format_bytes (least_bytes);

      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No configuration fits into %s: the smallest one takes %s"), wanted,
                   least);
    }
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No configuration meets the limits: at least %.1f %% of the "
                                                      "MACs are outside 8-bit"),
                 100 * least_float);
}

/*< private >
 * _vn_curve_job_choose_point:
 *
 * Finds the point that is asked for, which is measured, and takes its recipe.
 */
gboolean
_vn_curve_job_choose_point (VnCurveJob    *self,
                            GCancellable  *cancellable,
                            GError       **error)
{
  VnCurvePoint *point = NULL;

  for (guint look = 0; ; look++)
    {
      gboolean fits;

      point = wish_find_wanted (self);
      if (point == NULL)
        {
          wish_set_error (self, error);
          return FALSE;
        }
      if (!wish_fits (self, point, &fits, error))
        return FALSE;
      if (fits && !isnan (point->measured_db))
        break;
      if (fits && look >= MOST_LOOKS && isnan (self->settings.target_db))
        break;
      if (fits && !_vn_curve_job_measure_point (self, point, cancellable, error))
        return FALSE;
    }
  point->is_chosen = TRUE;
  g_clear_pointer (&self->chosen, vn_recipe_free);
  self->chosen = vn_recipe_copy (point->recipe);
  return TRUE;
}
