/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rules about tensors: what their fields may hold, and numbers that stand in them as text. */

#include "vn-recipe-rules.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-recipe-check-private.h"

#include <float.h>
#include <math.h>

/**
 * vn_override_is_for_tensors:
 * @self: a rule
 *
 * Returns: whether the rule selects tensors, not nodes
 */
gboolean
vn_override_is_for_tensors (const VnOverride *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->tensors != NULL;
}

/**
 * vn_answer_or:
 * @answer: what a rule says, or %VN_AS_RECIPE
 * @otherwise: what the recipe says
 *
 * Returns: what a rule says, @otherwise where it leaves that to the recipe
 */
gboolean
vn_answer_or (VnAnswer answer,
              gboolean otherwise)
{
  return answer == VN_AS_RECIPE ? otherwise : answer == VN_YES;
}

static gboolean
override_parse_number (const char *text,
                       double     *number)
{
  char *end;

  *number = g_ascii_strtod (text, &end);
  return end != text && *end == '\0' && fabs (*number) <= FLT_MAX;
}

/**
 * vn_recipe_parse_numbers:
 * @list: %NULL-terminated texts of a rule
 * @n: how many are needed
 * @name: of the tensor
 * @numbers: (out) (array length=n): what @list says, one for all repeated
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if it is neither one nor @n
 */
gboolean
vn_recipe_parse_numbers (char       **list,
                         gsize        n,
                         const char  *name,
                         double      *numbers,
                         GError     **error)
{
  gsize length;

  g_return_val_if_fail (list != NULL && name != NULL && numbers != NULL, FALSE);

  length = g_strv_length (list);
  if (length != 1 && length != n)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("“%s”: a rule has %llu values, expected 1 or %llu, one per channel"),
                   name, (unsigned long long) length, (unsigned long long) n);
      return FALSE;
    }
  for (gsize i = 0; i < n; i++)
    {
      const char *text = list[length == 1 ? 0 : i];

      if (override_parse_number (text, &numbers[i]))
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s”: a rule has “%s”, expected a number"), name, text);
      return FALSE;
    }
  return TRUE;
}

static gboolean
override_tensors_all_numbers (char       **list,
                              const char  *field,
                              const char  *where,
                              GError     **error)
{
  double number;

  for (guint i = 0; list != NULL && list[i] != NULL; i++)
    if (!override_parse_number (list[i], &number))
      {
        g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: %s: “%s” is not allowed; use a number"), where, field, list[i]);
        return FALSE;
      }
  return TRUE;
}

static gboolean
override_tensors_check_pair (char       **scales,
                             char       **zero_points,
                             gboolean     and_range,
                             const char  *where,
                             GError     **error)
{
  if ((scales == NULL) != (zero_points == NULL))
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: set scale and zero point together"), where);
  else if (scales != NULL && and_range)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: a scale cannot be combined with min, max, symmetric or reduce-range"), where);
  else
    return TRUE;
  return FALSE;
}

/*< private >
 * vn_override_check_tensors:
 * @where: "rule 2"
 *
 * What holds between the fields of a rule about tensors.
 */
gboolean
vn_override_check_tensors (const VnOverride *self,
                           const char       *where,
                           GError          **error)
{
  const struct { char **list; const char *field; } numbers[] = {
    { self->min, "min" }, { self->max, "max" }, { self->scales, "scale" }, { self->zero_points, "zero-point" },
    { self->convert_min, "convert-min" }, { self->convert_max, "convert-max" },
    { self->convert_scale, "convert-scale" }, { self->convert_zero_point, "convert-zero-point" },
  };
  gboolean ranged = self->min != NULL || self->max != NULL || self->symmetric != VN_AS_RECIPE ||
                    self->reduce_range != VN_AS_RECIPE;
  gboolean converted = self->convert_min != NULL || self->convert_max != NULL || self->convert_symmetric != VN_AS_RECIPE;

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    if (!override_tensors_all_numbers (numbers[i].list, numbers[i].field, where, error))
      return FALSE;
  if (!override_tensors_check_pair (self->scales, self->zero_points, ranged, where, error) ||
      !override_tensors_check_pair (self->convert_scale, self->convert_zero_point, converted, where, error))
    return FALSE;
  if (self->convert == VN_DTYPE_UNDEFINED && (converted || self->convert_scale != NULL || self->receivers != NULL))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: set “convert” to the type that the consumers receive"), where);
      return FALSE;
    }
  if (self->axis != VN_AXIS_AS_RECIPE && self->per_channel == VN_NO)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: an axis requires per-channel scales"), where);
      return FALSE;
    }
  return TRUE;
}
