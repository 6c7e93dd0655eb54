/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Changing recipes by the names of settings, and asking what a change needs. */

#include "vn-recipe-change.h"

#include "vn-calibrate.h"
#include "vn-format-traits.h"
#include "vn-setting.h"

#include <string.h>

static const VnSetting *
recipe_change_find (const char *id)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);
  const VnSetting *found = vn_setting_find (settings, n, id, NULL);

  g_return_val_if_fail (found != NULL, &settings[0]);
  return found;
}

static gboolean
recipe_change_fuses (const VnRecipe *self)
{
  return !self->npu && vn_recipe_get_format (self)->fuses_nodes &&
         !(self->fuse != NULL && g_strv_contains ((const char * const *) self->fuse, "none"));
}

/**
 * vn_recipe_get_facts:
 *
 * Returns: all that holds of @self
 */
VnRecipeFacts
vn_recipe_get_facts (const VnRecipe *self)
{
  const VnFormatTraits *format;
  const VnRangeMethod *method;
  gboolean stores, channels;

  g_return_val_if_fail (self != NULL, 0);

  format = vn_recipe_get_format (self);
  method = self->method != NULL ? vn_range_method_find (self->method, NULL) : NULL;
  stores = vn_recipe_needs_samples (self);
  channels = vn_recipe_has_channels (self);
  return (stores ? VN_RECIPE_STORES_RANGES : 0) |
         (format->has_pairs ? VN_RECIPE_HAS_PAIRS : 0) |
         (recipe_change_fuses (self) ? VN_RECIPE_FUSES : 0) |
         (stores && !channels && !self->dynamic && vn_recipe_get_power_of_two (self) != VN_POWER_OF_TWO_OFF
          ? VN_RECIPE_SHIFTS : 0) |
         (method != NULL && !method->power_of_two ? VN_RECIPE_FREE_SCALES : 0) |
         (self->dynamic ? VN_RECIPE_DYNAMIC : 0) |
         (self->dynamic && format->integer_products ? VN_RECIPE_DYNAMIC_PRODUCTS : 0) |
         (vn_recipe_may_balance (self) && (self->dynamic || format->has_pairs) ? VN_RECIPE_FOLDS_FACTORS : 0) |
         (self->npu ? VN_RECIPE_NPU : 0) |
         (channels ? VN_RECIPE_HAS_CHANNELS : 0) |
         (self->ranges != NULL ? VN_RECIPE_IMPORTS : 0) |
         (vn_recipe_get_target (self)->placement != NULL ? VN_RECIPE_CAN_PLACE : 0) |
         ((vn_recipe_get_target (self)->traits & VN_TARGET_HAS_SIXTEEN) != 0 ? VN_RECIPE_SIXTEEN : 0) |
         (vn_recipe_get_most (self, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF ? VN_RECIPE_CORRECTS_BIASES : 0) |
         (vn_recipe_get_most (self, VN_LAYER_TRAIN) != VN_TRAIN_OFF ? VN_RECIPE_TRAINS : 0);
}

/**
 * vn_recipe_suits_change:
 *
 * Returns: whether what @change needs holds of @self, and nothing that it excludes or wants unset; the settings themselves are
 * not asked
 */
gboolean
vn_recipe_suits_change (const VnRecipe       *self,
                        const VnRecipeChange *change)
{
  VnRecipeFacts facts;
  g_auto(GStrv) unset = NULL;

  g_return_val_if_fail (self != NULL && change != NULL, FALSE);

  facts = vn_recipe_get_facts (self);
  if ((facts & change->needs) != change->needs || (facts & change->excludes) != 0)
    return FALSE;
  unset = g_strsplit (change->unset != NULL ? change->unset : "", " ", -1);
  for (guint i = 0; unset[i] != NULL; i++)
    if (!vn_setting_is_default (recipe_change_find (unset[i]), self))
      return FALSE;
  return TRUE;
}

/**
 * vn_recipe_change:
 *
 * Changes @self, if it suits.
 *
 * Returns: whether there was something to change
 */
gboolean
vn_recipe_change (VnRecipe             *self,
                  const VnRecipeChange *change)
{
  g_autoptr(VnRecipe) changed = NULL;
  g_autofree char *first = NULL;

  g_return_val_if_fail (self != NULL && change != NULL && change->settings != NULL, FALSE);

  if (!vn_recipe_suits_change (self, change))
    return FALSE;
  changed = vn_recipe_copy (self);
  vn_recipe_apply_settings (changed, change->settings);
  first = g_strndup (change->settings, strcspn (change->settings, "="));
  if (vn_recipe_equal_in (changed, self, first))
    return FALSE;
  vn_recipe_apply_settings (self, change->settings);
  return TRUE;
}

/**
 * vn_recipe_append:
 * @id: of a setting that is a list
 * @names: NULL-terminated; those that it has are left out
 *
 * Returns: whether the list has grown
 */
gboolean
vn_recipe_append (VnRecipe           *self,
                  const char         *id,
                  const char * const *names)
{
  const VnSetting *setting;
  g_autoptr(GStrvBuilder) list = g_strv_builder_new ();
  const char * const *old;
  gboolean grown = FALSE;

  g_return_val_if_fail (self != NULL && id != NULL && names != NULL, FALSE);

  setting = recipe_change_find (id);
  g_return_val_if_fail (setting->type == VN_SETTING_LIST, FALSE);
  old = G_STRUCT_MEMBER (const char * const *, self, setting->offset);
  for (guint i = 0; old != NULL && old[i] != NULL; i++)
    g_strv_builder_add (list, old[i]);
  for (; *names != NULL; names++)
    {
      if (old != NULL && g_strv_contains (old, *names))
        continue;
      g_strv_builder_add (list, *names);
      grown = TRUE;
    }
  if (grown)
    vn_setting_take_list (setting, self, g_strv_builder_end (list));
  return grown;
}

/**
 * vn_recipe_take_rule:
 * @rule: (transfer full): becomes the last, and so the strongest
 */
void
vn_recipe_take_rule (VnRecipe   *self,
                     VnOverride *rule)
{
  g_return_if_fail (self != NULL && rule != NULL);

  g_ptr_array_add (self->overrides, rule);
}

/**
 * vn_recipe_excludes_tensors:
 * @tensors: (array zero-terminated=1): names
 *
 * Returns: whether a rule is about just @tensors, in this order, and leaves them in float
 */
gboolean
vn_recipe_excludes_tensors (const VnRecipe     *self,
                            const char * const *tensors)
{
  g_return_val_if_fail (self != NULL && tensors != NULL, FALSE);

  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->exclude && rule->tensors != NULL && g_strv_equal ((const char * const *) rule->tensors, tensors))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_recipe_equal_in:
 * @ids: of settings: "rounding bias-correction"
 *
 * Returns: whether both have the same there; rules are not asked
 */
gboolean
vn_recipe_equal_in (const VnRecipe *a,
                    const VnRecipe *b,
                    const char     *ids)
{
  g_auto(GStrv) words = NULL;

  g_return_val_if_fail (a != NULL && b != NULL && ids != NULL, FALSE);

  words = g_strsplit (ids, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    if (!vn_setting_equal (recipe_change_find (words[i]), a, b))
      return FALSE;
  return TRUE;
}
