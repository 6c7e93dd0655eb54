/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What elements of lists in a recipe look like. */

#include "vn-recipe-rules.h"

#include "vn-error.h"
#include "vn-foreign-word.h"
#include "vn-i18n.h"
#include "vn-op.h"
#include "vn-pass.h"
#include "vn-recipe-check-private.h"

#include <math.h>
#include <string.h>

/*< private >
 * vn_recipe_check_pass:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if there is no pass of that id that runs on request, and it is not "none"
 */
gboolean
vn_recipe_check_pass (const char  *id,
                      GError     **error)
{
  const VnPass *pass = vn_pass_find (id);
  g_autoptr(GString) known = g_string_new (NULL);
  guint n;
  const VnPass * const *passes = vn_pass_list (&n);

  if ((pass != NULL && pass->stage != VN_PASS_ALWAYS) || g_str_equal (id, "none"))
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (passes[i]->stage != VN_PASS_ALWAYS)
      g_string_append_printf (known, "%s%s", known->len > 0 ? ", " : "", passes[i]->id);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               pass != NULL ? _("the pass “%s” always runs; optional passes are %s") : _("there is no pass “%s”; available: %s"),
               id, known->str);
  return FALSE;
}

static gboolean
recipe_lists_parse_channel_axis (const char *text,
                                 gsize      *n_type,
                                 int        *axis)
{
  const char *sign = strchr (text, '=');
  gint64 number;

  if (sign == NULL || sign == text || !g_ascii_string_to_signed (sign + 1, 10, -16, 15, &number, NULL))
    return FALSE;
  *n_type = (gsize) (sign - text);
  *axis = (int) number;
  return TRUE;
}

/* @text: what the operator is a part of */
static gboolean
recipe_lists_check_operator (const char  *text,
                             const char  *name,
                             gsize        length,
                             GError     **error)
{
  g_autoptr(GPtrArray) known = g_ptr_array_new ();
  g_autofree char *type = g_strndup (name, length), *hint = NULL;
  guint n;
  const VnOp * const *ops = vn_op_list (&n);

  for (guint i = 0; i < n; i++)
    {
      if (g_str_equal (ops[i]->type, type))
        return TRUE;
      g_ptr_array_add (known, (gpointer) ops[i]->type);
    }
  g_ptr_array_add (known, NULL);
  hint = vn_word_dup_hint (VN_FOREIGN_OPERATOR, type, (const char * const *) known->pdata);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not allowed: there is no operator “%s”; %s"), text, type,
               hint != NULL ? hint : _("“list operators” shows them"));
  return FALSE;
}

/*< private >
 * vn_recipe_check_channel_axis:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is no "OP=AXIS", or there is no such operator
 */
gboolean
vn_recipe_check_channel_axis (const char  *text,
                              GError     **error)
{
  gsize n_type;
  int axis;

  if (recipe_lists_parse_channel_axis (text, &n_type, &axis))
    return recipe_lists_check_operator (text, text, n_type, error);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” is not allowed; use an operator and an axis from -16 to 15, such as “MatMul=1”"), text);
  return FALSE;
}

/**
 * vn_recipe_get_channel_axis:
 * @self: a recipe
 * @op_type: an operator
 * @axis: (out): as the recipe says, may be counted from the end; left alone if it says nothing of @op_type
 *
 * Returns: whether it says something
 */
gboolean
vn_recipe_get_channel_axis (const VnRecipe *self,
                            const char     *op_type,
                            int            *axis)
{
  gboolean found = FALSE;
  gsize n_type;
  int number;

  g_return_val_if_fail (self != NULL && op_type != NULL && axis != NULL, FALSE);

  for (guint i = 0; self->channel_axes != NULL && self->channel_axes[i] != NULL; i++)
    if (recipe_lists_parse_channel_axis (self->channel_axes[i], &n_type, &number) && strlen (op_type) == n_type &&
        strncmp (op_type, self->channel_axes[i], n_type) == 0)
      {
        *axis = number;
        found = TRUE;
      }
  return found;
}

/*< private >
 * vn_recipe_check_fuse:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is neither "OP+OP" nor "none", or there is no such operator
 */
gboolean
vn_recipe_check_fuse (const char  *text,
                      GError     **error)
{
  const char *plus = strchr (text, '+');

  if (g_str_equal (text, "none"))
    return TRUE;
  if (plus != NULL && plus != text && plus[1] != '\0' && strchr (plus + 1, '+') == NULL)
    return recipe_lists_check_operator (text, text, (gsize) (plus - text), error) &&
           recipe_lists_check_operator (text, plus + 1, strlen (plus + 1), error);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” is not allowed; use two operators, such as “Conv+Gelu”, or “none”"), text);
  return FALSE;
}

/*< private >
 * vn_recipe_check_number:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is not a number
 */
gboolean
vn_recipe_check_number (const char  *text,
                        GError     **error)
{
  char *end;
  double number = g_ascii_strtod (text, &end);

  if (end != text && *end == '\0' && isfinite (number))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("“%s” is not a number"), text);
  return FALSE;
}

/* "OP:TYPE=MIN,MAX" */
static gboolean
recipe_lists_parse_fixed_range (const char *text,
                                gsize      *n_type,
                                VnDType    *dtype,
                                double     *min,
                                double     *max)
{
  const char *colon = strchr (text, ':'), *sign = colon != NULL ? strchr (colon, '=') : NULL;
  g_autofree char *name = sign != NULL ? g_strndup (colon + 1, (gsize) (sign - colon - 1)) : NULL;
  char *comma = NULL, *end = NULL;

  if (sign == NULL || colon == text)
    return FALSE;
  *n_type = (gsize) (colon - text);
  *dtype = vn_dtype_from_name (name);
  *min = g_ascii_strtod (sign + 1, &comma);
  if (*dtype == VN_DTYPE_UNDEFINED || !vn_dtype_is_integer (*dtype) || comma == sign + 1 || *comma != ',')
    return FALSE;
  *max = g_ascii_strtod (comma + 1, &end);
  return end != comma + 1 && *end == '\0' && isfinite (*min) && isfinite (*max) && *min < *max;
}

/*< private >
 * vn_recipe_check_fixed_range:
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if @text is no "OP:TYPE=MIN,MAX", or there is no such operator
 */
gboolean
vn_recipe_check_fixed_range (const char  *text,
                             GError     **error)
{
  VnDType dtype;
  double min, max;
  gsize n_type;

  if (recipe_lists_parse_fixed_range (text, &n_type, &dtype, &min, &max))
    return recipe_lists_check_operator (text, text, n_type, error);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("“%s” is not allowed; use an operator, an integer type and a range, such as “Sigmoid:uint8=0,1”"), text);
  return FALSE;
}

/**
 * vn_recipe_get_fixed_range:
 * @dtype: of the results
 * @min, @max: (out): left alone if the recipe says nothing of them
 *
 * Returns: whether results of @op_type have a range that samples do not decide
 */
gboolean
vn_recipe_get_fixed_range (const VnRecipe *self,
                           const char     *op_type,
                           VnDType         dtype,
                           double         *min,
                           double         *max)
{
  g_return_val_if_fail (self != NULL && op_type != NULL && min != NULL && max != NULL, FALSE);

  for (guint i = 0; self->fixed_ranges != NULL && self->fixed_ranges[i] != NULL; i++)
    {
      VnDType of;
      double from, to;
      gsize n_type;

      if (!recipe_lists_parse_fixed_range (self->fixed_ranges[i], &n_type, &of, &from, &to) || of != dtype ||
          strlen (op_type) != n_type || strncmp (op_type, self->fixed_ranges[i], n_type) != 0)
        continue;
      *min = from;
      *max = to;
      return TRUE;
    }
  return FALSE;
}
