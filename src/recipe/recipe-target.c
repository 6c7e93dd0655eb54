/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what a recipe asks for is what its target takes. */
#include "vn-recipe-rules.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-setting.h"

/* (transfer full): "uint8, int8" */
static char *
target_dup_types (VnDTypeSet types)
{
  g_autoptr(GString) text = g_string_new (NULL);

  for (guint dtype = 0; dtype < VN_N_DTYPES; dtype++)
    if ((types >> dtype & 1) != 0)
      g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", vn_dtype_get_name ((VnDType) dtype));
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static gboolean
target_check_type (const VnPreset  *target,
                   VnDTypeSet       types,
                   VnDType          dtype,
                   GError         **error)
{
  g_autofree char *taken = NULL;

  if (types == 0 || dtype == VN_DTYPE_UNDEFINED || (types >> dtype & 1) != 0)
    return TRUE;
  taken = target_dup_types (types);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s does not take %s, only %s"), _(target->title), vn_dtype_get_name (dtype),
               taken);
  return FALSE;
}

/* A list may have more in it than the target needs. */
static gboolean
target_is_kept (const VnSetting *setting,
                const VnRecipe  *recipe,
                const VnRecipe  *plain)
{
  const char * const *needed, * const *there;

  if (setting->type != VN_SETTING_LIST)
    return vn_setting_equal (setting, recipe, plain);
  needed = G_STRUCT_MEMBER (const char * const *, plain, setting->offset);
  there = G_STRUCT_MEMBER (const char * const *, recipe, setting->offset);
  for (; needed != NULL && *needed != NULL; needed++)
    if (there == NULL || !g_strv_contains (there, *needed))
      return FALSE;
  return TRUE;
}

static gboolean
target_is_kept_by_rules (const VnRecipe *recipe,
                         const char     *id)
{
  for (guint which = 0; which < VN_N_LAYER_SETTINGS; which++)
    for (guint i = 0; g_str_equal (vn_layer_setting_get_id (which), id) && i < recipe->overrides->len; i++)
      {
        int said = vn_override_get_layer_setting (g_ptr_array_index (recipe->overrides, i), which);

        if (said != VN_AS_RECIPE && said - 1 != vn_recipe_get_layer_setting (recipe, which))
          return FALSE;
      }
  return TRUE;
}

static gboolean
target_check_kept (const VnPreset  *target,
                   const VnRecipe  *recipe,
                   GError         **error)
{
  g_autoptr(VnRecipe) plain = vn_recipe_new (target->id);
  g_auto(GStrv) ids = g_strsplit (target->kept != NULL ? target->kept : "", " ", -1);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint i = 0; ids[i] != NULL; i++)
    {
      const VnSetting *setting = vn_setting_find (settings, n, ids[i], NULL);
      g_autofree char *wanted = NULL;

      g_return_val_if_fail (setting != NULL, FALSE);
      if (target_is_kept (setting, recipe, plain) && target_is_kept_by_rules (recipe, ids[i]))
        continue;
      wanted = vn_setting_dup_short_text (setting, plain);
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s needs the setting “%s” at “%s”"), _(target->title), ids[i], wanted);
      return FALSE;
    }
  return TRUE;
}

/**
 * vn_recipe_suits_target:
 *
 * Returns: whether types and settings of @self, and of those of its rules that are enabled, are such as its target takes;
 *   otherwise %VN_ERROR_SETTING says what is not
 */
gboolean
vn_recipe_suits_target (const VnRecipe  *self,
                        GError         **error)
{
  const VnPreset *target;

  g_return_val_if_fail (self != NULL, FALSE);

  target = vn_recipe_get_target (self);
  if (!target_check_type (target, target->activations, self->activation, error) ||
      !target_check_type (target, target->weights, self->weight, error))
    return FALSE;
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && (!target_check_type (target, target->activations, rule->activation, error) ||
                            !target_check_type (target, target->activations, rule->convert, error) ||
                            !target_check_type (target, target->weights, rule->weight, error)))
        return FALSE;
    }
  return target_check_kept (target, self, error);
}
