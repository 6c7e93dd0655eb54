/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves made by hand. */
#include "curve-fixture.h"

/* A point of a curve that pays with bytes; @wide of its tensors have 16 bit. */
void
curve_fixture_add (VnCurve *curve,
                   double   predicted_db,
                   double   measured_db,
                   gsize    bytes,
                   guint    wide,
                   gboolean is_chosen)
{
  VnCurvePoint *point = vn_curve_point_new ();

  point->predicted_db = predicted_db;
  point->measured_db = measured_db;
  point->bytes = bytes;
  point->integer_share = 1;
  point->wide_share = 0.125 * wide;
  point->time_ratio = 0.5 + 0.25 * wide;
  point->n_wide = wide;
  point->is_plain = wide == 0;
  point->is_chosen = is_chosen;
  point->recipe = vn_recipe_new ("cpu");
  for (guint i = 0; i < wide; i++)
    {
      VnOverride *rule = vn_override_new ();

      rule->pattern = g_strdup_printf ("conv_%u", i);
      rule->activation = VN_DTYPE_U16;
      g_ptr_array_add (point->recipe->overrides, rule);
    }
  vn_curve_add (curve, point);
}
