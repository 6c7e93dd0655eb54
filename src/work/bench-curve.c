/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What mixed precision can make of the network of a bench: the curve that was calculated last, and points of it as the recipe. */
#include "bench-private.h"

#include "vn-format.h"
#include "vn-i18n.h"

/**
 * vn_bench_get_curve:
 *
 * Returns: (transfer none) (nullable): what mixed precision can make of the present recipe; %NULL: it was not calculated, or the
 *   recipe is none of its points any more
 */
VnCurve *
vn_bench_get_curve (VnBench *self)
{
  VnCurve *curves[2];

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  curves[0] = self->found.curve;
  curves[1] = self->shown.run != NULL ? self->shown.run->curve : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (curves); i++)
    if (vn_bench_find_curve (curves[i], self->recipe) >= 0)
      return curves[i];
  return NULL;
}

/**
 * vn_bench_find_curve_point:
 *
 * Returns: which point of vn_bench_get_curve() is the present recipe; -1: there is no curve
 */
int
vn_bench_find_curve_point (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), -1);

  return vn_bench_find_curve (vn_bench_get_curve (self), self->recipe);
}

/**
 * vn_bench_apply_curve_point:
 * @i: of vn_bench_get_curve()
 *
 * Makes the point the recipe, as one step that can be undone, and begins to measure what it does.
 *
 * Returns: whether that is a change
 */
gboolean
vn_bench_apply_curve_point (VnBench *self,
                            guint    i)
{
  const VnCurve *curve;
  const VnCurvePoint *point;
  g_autofree char *db = NULL, *title = NULL, *key = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  curve = vn_bench_get_curve (self);
  g_return_val_if_fail (curve != NULL && i < vn_curve_get_n (curve), FALSE);

  point = vn_curve_get (curve, i);
  if (vn_recipe_equal (point->recipe, self->recipe))
    return FALSE;
  db = vn_format_db (vn_curve_point_get_db (point));
  title = vn_curve_point_get_db (point) >= VN_CURVE_FLOAT_DB ? g_strdup (_("Mixed precision, float accuracy"))
                                                             : g_strdup_printf (_("Mixed precision, %s predicted"), db);
  key = g_strdup_printf ("curve %s %u", vn_curve_cost_get_id (curve->cost), i);
  vn_bench_try (self, vn_recipe_copy (point->recipe), title, key);
  return TRUE;
}
