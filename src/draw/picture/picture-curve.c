/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The picture of what mixed precision can make of a network: error over size, multiplications or time. */
#include "vn-picture.h"

#include "vn-i18n.h"

#include <math.h>

#define HEIGHT 220.0

/* How a cost is written along the axis. */
static const struct { const char *unit; double factor; } units[VN_N_CURVE_COSTS] = {
  [VN_CURVE_COST_SIZE] = { ", MB", 1e-6 }, [VN_CURVE_COST_FLOAT] = { ", %", 100 }, [VN_CURVE_COST_TIME] = { "", 1 },
};

/* Language models are judged by the divergence of their logits. */
static gboolean
picture_curve_has_divergence (const VnCurve *curve)
{
  return vn_curve_get_n (curve) > 0 && !isnan (vn_curve_get_divergence (curve, vn_curve_get (curve, 0)));
}

static VnPicturePoint
picture_curve_make_point (const VnCurve      *curve,
                          const VnCurvePoint *point,
                          VnCurveCost         cost)
{
  const double db = vn_curve_point_get_db (point);
  const double height = picture_curve_has_divergence (curve) ? -log10 (vn_curve_get_divergence (curve, point)) : db;

  return (VnPicturePoint) { units[cost].factor * vn_curve_point_get_cost (point, cost),
                            db >= VN_CURVE_FLOAT_DB ? INFINITY : height, -1, point->is_chosen, isnan (point->measured_db), FALSE,
                            NULL };
}

/**
 * vn_picture_new_curve:
 * @cost: of the axis; points are joined if it is that of @curve
 *
 * Returns: (transfer full): a chart with the points of @curve, in their order
 */
VnPicture *
vn_picture_new_curve (const VnCurve *curve,
                      VnCurveCost    cost)
{
  g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func (g_free);
  g_autofree VnPicturePoint *points = NULL;
  g_autofree char *title = NULL;
  VnPictureAxes axes;

  g_return_val_if_fail (curve != NULL && cost < VN_N_CURVE_COSTS, NULL);

  title = g_strconcat (vn_curve_cost_get_title (cost), units[cost].unit, NULL);
  axes = (VnPictureAxes) { .x_title = title, .y_title = _("SQNR in dB"), .is_joined = cost == curve->cost,
                           .top = _("float accuracy"), .height = HEIGHT };
  if (picture_curve_has_divergence (curve))
    {
      axes.y_title = _("KL divergence in nats");
      axes.y_falls = TRUE;
    }
  points = g_new0 (VnPicturePoint, vn_curve_get_n (curve) + 1);
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    {
      points[i] = picture_curve_make_point (curve, vn_curve_get (curve, i), cost);
      g_ptr_array_add (titles, vn_curve_point_dup_text (vn_curve_get (curve, i)));
      points[i].title = g_ptr_array_index (titles, i);
    }
  return vn_picture_new_points (&axes, points, vn_curve_get_n (curve));
}
