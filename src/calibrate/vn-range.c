/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The methods that choose a range. */
#include "vn-range-private.h"

#include "vn-error.h"

static const VnRangeMethod * const methods[] = {
#define VN_RANGE(name) &vn_range_##name,
#include "vn-ranges.def"
#undef VN_RANGE
};

/**
 * vn_range_method_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all methods that choose a range, in the order of menus
 */
const VnRangeMethod * const *
vn_range_method_list (guint *n)
{
  *n = G_N_ELEMENTS (methods);
  return methods;
}

/**
 * vn_range_method_find:
 * @id: such as "minmax"
 *
 * Returns: (transfer none) (nullable): the method; an unknown id is %VN_ERROR_SETTING
 */
const VnRangeMethod *
vn_range_method_find (const char  *id,
                      GError     **error)
{
  g_autoptr(GString) known = g_string_new (NULL);

  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (methods); i++)
    {
      if (g_str_equal (methods[i]->id, id))
        return methods[i];
      g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", methods[i]->id);
    }

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no range method “%s”; choose one of: %s"),
               id, known->str);
  return NULL;
}

/**
 * vn_range_method_check:
 *
 * Returns: whether there is a method called @id; %VN_ERROR_SETTING otherwise
 */
gboolean
vn_range_method_check (const char  *id,
                       GError     **error)
{
  g_return_val_if_fail (id != NULL, FALSE);

  return vn_range_method_find (id, error) != NULL;
}
