/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of settings that can be listed, and what they are called. */
#include "vn-setting.h"

#include "vn-calibrate.h"
#include "vn-i18n.h"

static void
setting_choices_add_methods (GStrvBuilder *ids,
                             GStrvBuilder *titles)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  for (guint i = 0; i < n; i++)
    {
      g_strv_builder_add (ids, methods[i]->id);
      g_strv_builder_add (titles, _(methods[i]->title));
    }
}

static void
setting_choices_add_dtypes (GStrvBuilder *ids,
                            VnDTypeSet    dtypes)
{
  for (guint i = 0; i < VN_N_DTYPES; i++)
    if (i != VN_DTYPE_UNDEFINED && (dtypes >> i & 1) != 0)
      g_strv_builder_add (ids, vn_dtype_get_name ((VnDType) i));
}

/**
 * vn_setting_list_choices:
 * @titles: (out) (optional) (transfer full): what each is called, translated; types and ids are called what they are
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the texts that @self may be, as vn_setting_parse() reads them;
 *   %NULL of a number, a list or a text that cannot be told beforehand
 */
char **
vn_setting_list_choices (const VnSetting   *self,
                         char            ***titles)
{
  g_autoptr(GStrvBuilder) ids = g_strv_builder_new (), names = g_strv_builder_new ();
  gboolean is_method;
  char **list;

  g_return_val_if_fail (self != NULL, NULL);

  is_method = self->type == VN_SETTING_STRING && self->check == vn_range_method_check;
  if (self->type == VN_SETTING_ENUM)
    g_strv_builder_addv (ids, (const char **) self->choices);
  else if (self->type == VN_SETTING_DTYPE)
    setting_choices_add_dtypes (ids, self->dtypes);
  else if (is_method)
    setting_choices_add_methods (ids, names);
  else
    return NULL;
  list = g_strv_builder_end (ids);
  if (titles != NULL)
    *titles = is_method ? g_strv_builder_end (names) : g_strdupv (list);
  return list;
}
