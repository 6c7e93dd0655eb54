/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What mixed precision can make of the network of a document: the curve that was calculated last, and points of it as the recipe. */
#include "vn-document-private.h"

#include "vn-format.h"
#include "vn-i18n.h"

/* The point that is made by @recipe; the plain one before others that happen to say the same. */
static int
document_curve_find (const VnCurve  *curve,
                     const VnRecipe *recipe)
{
  int found = -1;

  for (guint i = 0; curve != NULL && i < vn_curve_get_n (curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (curve, i);

      if ((found < 0 || point->is_plain) && vn_recipe_equal (point->recipe, recipe))
        found = (int) i;
    }
  return found;
}

/**
 * vn_document_get_curve:
 *
 * Returns: (transfer none) (nullable): what mixed precision can make of the present recipe; %NULL: it was not calculated, or the recipe
 *   is none of its points any more
 */
VnCurve *
vn_document_get_curve (VnDocument *self)
{
  VnCurve *curves[2];

  g_return_val_if_fail (VN_IS_DOCUMENT (self), NULL);

  curves[0] = self->curve;
  curves[1] = self->result != NULL ? self->result->curve : NULL;
  for (guint i = 0; i < G_N_ELEMENTS (curves); i++)
    if (document_curve_find (curves[i], self->recipe) >= 0)
      return curves[i];
  return NULL;
}

/**
 * vn_document_find_curve_point:
 *
 * Returns: which point of vn_document_get_curve() is the present recipe; -1: there is no curve
 */
int
vn_document_find_curve_point (VnDocument *self)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self), -1);

  return document_curve_find (vn_document_get_curve (self), self->recipe);
}

/**
 * vn_document_apply_curve_point:
 * @i: of vn_document_get_curve()
 *
 * Makes the point the recipe, as one step that can be undone, and begins to measure what it does.
 *
 * Returns: whether that is a change
 */
gboolean
vn_document_apply_curve_point (VnDocument *self,
                               guint       i)
{
  const VnCurve *curve;
  const VnCurvePoint *point;
  g_autofree char *db = NULL, *title = NULL, *key = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self), FALSE);

  curve = vn_document_get_curve (self);
  g_return_val_if_fail (curve != NULL && i < vn_curve_get_n (curve), FALSE);

  point = vn_curve_get (curve, i);
  if (vn_recipe_equal (point->recipe, self->recipe))
    return FALSE;
  db = vn_format_db (vn_curve_point_get_db (point));
  title = vn_curve_point_get_db (point) >= VN_CURVE_FLOAT_DB ? g_strdup (_("Mixed precision, float accuracy"))
                                                             : g_strdup_printf (_("Mixed precision, %s predicted"), db);
  key = g_strdup_printf ("curve %s %u", vn_curve_cost_get_id (curve->cost), i);
  vn_document_try (self, vn_recipe_copy (point->recipe), title, key);
  return TRUE;
}

/**
 * vn_document_join_curve:
 * @result: of a run
 *
 * Returns: (transfer full): @result, with the curve if its recipe is a point of that: reports tell what else there was to choose from
 */
VnResult *
vn_document_join_curve (VnDocument *self,
                        VnResult   *result)
{
  g_autoptr(VnCurve) marked = NULL;

  g_return_val_if_fail (VN_IS_DOCUMENT (self) && result != NULL, NULL);

  if (result->curve != NULL || document_curve_find (self->curve, result->recipe) < 0)
    return vn_result_ref (result);
  marked = vn_curve_new_chosen (self->curve, result->recipe);
  return vn_result_new_with_curve (result, marked);
}

/**
 * vn_document_take_curve:
 * @result: of the job that calculated its curve
 *
 * Returns: (transfer full) (nullable): the present result with the curve, if it is that of the same recipe; %NULL: @result is another
 */
VnResult *
vn_document_take_curve (VnDocument *self,
                        VnResult   *result)
{
  g_return_val_if_fail (VN_IS_DOCUMENT (self) && result != NULL && result->curve != NULL, NULL);

  g_clear_pointer (&self->curve, vn_curve_unref);
  self->curve = vn_curve_ref (result->curve);
  if (self->result == NULL || !self->result_fits || !vn_recipe_equal (self->result->recipe, result->recipe))
    return NULL;
  return vn_result_new_with_curve (self->result, result->curve);
}
