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

static VnPicturePoint
picture_curve_make_point (const VnCurvePoint *point,
                          VnCurveCost         cost)
{
  const double db = vn_curve_point_get_db (point);

  return (VnPicturePoint) { units[cost].factor * vn_curve_point_get_cost (point, cost), db >= VN_CURVE_FLOAT_DB ? INFINITY : db,
                            -1, point->is_chosen, isnan (point->measured_db), FALSE, NULL };
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
  axes = (VnPictureAxes) { title, _("SQNR in dB"), NULL, 0, cost == curve->cost, FALSE, _("float accuracy"), HEIGHT, NULL, NULL,
                           FALSE };
  points = g_new0 (VnPicturePoint, vn_curve_get_n (curve) + 1);
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    {
      points[i] = picture_curve_make_point (vn_curve_get (curve, i), cost);
      g_ptr_array_add (titles, vn_curve_point_dup_text (vn_curve_get (curve, i)));
      points[i].title = g_ptr_array_index (titles, i);
    }
  return vn_picture_new_points (&axes, points, vn_curve_get_n (curve));
}
