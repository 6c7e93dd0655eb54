/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recipe: copies, single settings by name, and rules that leave nodes in float. */
#include "vn-recipe.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-recipe-rules.h"

#include <string.h>

/* ---- recipes ---- */

/**
 * vn_recipe_apply_settings:
 * @settings: "activation=u16 weight=s8": ours, so that what they say is allowed
 */
void
vn_recipe_apply_settings (VnRecipe   *self,
                          const char *settings)
{
  g_auto(GStrv) words = NULL;

  g_return_if_fail (self != NULL && settings != NULL);

  words = g_strsplit (settings, " ", -1);
  for (guint i = 0; words[i] != NULL; i++)
    {
      char *equals = strchr (words[i], '=');
      g_autoptr(GError) error = NULL;

      if (words[i][0] == '\0')
        continue;
      g_return_if_fail (equals != NULL);
      *equals = '\0';
      vn_recipe_set (self, words[i], equals + 1, &error);
      g_return_if_fail (error == NULL);
    }
}

/**
 * vn_recipe_get_target:
 *
 * Returns: (transfer none): what @self started from, whatever has been changed since
 */
const VnPreset *
vn_recipe_get_target (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  return vn_preset_find (self->preset, NULL);
}

/**
 * vn_recipe_apply_placement:
 *
 * Leaves in float what its target computes in float as well, at the price that it then has there.
 *
 * Returns: whether the target has such a placement, and @self none yet
 */
gboolean
vn_recipe_apply_placement (VnRecipe *self)
{
  const VnPreset *target;

  g_return_val_if_fail (self != NULL, FALSE);

  target = vn_recipe_get_target (self);
  if (target->placement == NULL || self->op_types != NULL || self->float_output_types != NULL || self->npu ||
      !vn_recipe_get_format (self)->has_pairs)
    return FALSE;
  vn_recipe_apply_settings (self, target->placement);
  return TRUE;
}

/**
 * vn_recipe_new:
 * @preset: (nullable): id of a preset that exists; %NULL: "cpu"
 *
 * Returns: (transfer full): a recipe without rules
 */
VnRecipe *
vn_recipe_new (const char *preset)
{
  const VnPreset *found = vn_preset_find (preset != NULL ? preset : "cpu", NULL);
  VnRecipe *self;

  g_return_val_if_fail (found != NULL, NULL);

  self = g_new0 (VnRecipe, 1);
  vn_settings_reset (vn_setting_list_of_recipe, self);
  self->preset = found->id;
  self->overrides = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_override_free);
  vn_recipe_apply_settings (self, found->settings);
  return self;
}

static gpointer
recipe_copy_override_func (gconstpointer src,
                           gpointer      data)
{
  return vn_override_copy (src);
}

/**
 * vn_recipe_copy:
 * @self: a recipe
 *
 * Returns: (transfer full): a deep copy
 */
VnRecipe *
vn_recipe_copy (const VnRecipe *self)
{
  VnRecipe *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  vn_settings_own (vn_setting_list_of_recipe, copy);
  copy->overrides = g_ptr_array_copy (self->overrides, recipe_copy_override_func, NULL);
  g_ptr_array_set_free_func (copy->overrides, (GDestroyNotify) vn_override_free);
  return copy;
}

/**
 * vn_recipe_free:
 * @self: (nullable) (transfer full): a recipe
 */
void
vn_recipe_free (VnRecipe *self)
{
  if (self == NULL)
    return;

  vn_settings_clear (vn_setting_list_of_recipe, self);
  g_ptr_array_unref (self->overrides);
  g_free (self);
}

/**
 * vn_recipe_equal:
 *
 * Returns: whether @a and @b say the same, rules in the same order, whatever these are called: the same comes of both
 */
gboolean
vn_recipe_equal (const VnRecipe *a,
                 const VnRecipe *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (g_strcmp0 (a->preset, b->preset) != 0 || a->overrides->len != b->overrides->len ||
      !vn_settings_equal (vn_setting_list_of_recipe, a, b))
    return FALSE;
  for (guint i = 0; i < a->overrides->len; i++)
    {
      if (!vn_override_equal (g_ptr_array_index (a->overrides, i), g_ptr_array_index (b->overrides, i)))
        return FALSE;
    }
  return TRUE;
}

/**
 * vn_recipe_set:
 * @id: of a setting in vn-settings.def: "percentile"
 * @text: "99.9"; one more element if the setting is a list
 *
 * Returns: %FALSE with %VN_ERROR_SETTING if there is no such setting, or @text is not allowed; @self is unchanged then
 */
gboolean
vn_recipe_set (VnRecipe    *self,
               const char  *id,
               const char  *text,
               GError     **error)
{
  g_autoptr(VnRecipe) copy = NULL;
  const VnSetting *settings, *setting;
  VnRecipe old;
  guint n;

  g_return_val_if_fail (self != NULL && id != NULL && text != NULL, FALSE);

  settings = vn_setting_list_of_recipe (&n);
  setting = vn_setting_find (settings, n, id, error);
  if (setting == NULL)
    return FALSE;
  copy = vn_recipe_copy (self);
  if (!vn_setting_parse (setting, copy, text, error))
    return FALSE;
  old = *self;
  *self = *copy;
  *copy = old;
  return TRUE;
}

/**
 * vn_recipe_add_exclude:
 * @self: a recipe
 * @pattern: node name, glob over node names, or "type:OP"
 *
 * Appends a rule that leaves what @pattern selects in float.
 *
 * Returns: (transfer none): the rule
 */
VnOverride *
vn_recipe_add_exclude (VnRecipe   *self,
                       const char *pattern)
{
  VnOverride *rule;

  g_return_val_if_fail (self != NULL && pattern != NULL, NULL);

  rule = vn_override_new ();
  rule->pattern = g_strdup (pattern);
  rule->exclude = TRUE;
  g_ptr_array_add (self->overrides, rule);
  return rule;
}

/**
 * vn_recipe_remove_exclude:
 * @self: a recipe
 * @pattern: as given to vn_recipe_add_exclude()
 *
 * Returns: whether there was such a rule; the last one is removed
 */
gboolean
vn_recipe_remove_exclude (VnRecipe   *self,
                          const char *pattern)
{
  g_return_val_if_fail (self != NULL && pattern != NULL, FALSE);

  for (guint i = self->overrides->len; i > 0; i--)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i - 1);

      if (rule->exclude && g_strcmp0 (rule->pattern, pattern) == 0)
        {
          g_ptr_array_remove_index (self->overrides, i - 1);
          return TRUE;
        }
    }
  return FALSE;
}

/**
 * vn_bias_get_type:
 *
 * Returns: the type that a recipe asks for; %VN_DTYPE_UNDEFINED of %VN_BIAS_AUTO
 */
VnDType
vn_bias_get_type (VnBiasType self)
{
  static const VnDType types[] = {
    [VN_BIAS_S32] = VN_DTYPE_S32, [VN_BIAS_S16] = VN_DTYPE_S16, [VN_BIAS_S8] = VN_DTYPE_S8, [VN_BIAS_F16] = VN_DTYPE_F16,
    [VN_BIAS_BF16] = VN_DTYPE_BF16, [VN_BIAS_F32] = VN_DTYPE_F32,
  };

  _Static_assert (G_N_ELEMENTS (types) == VN_N_BIASES, "a type each");
  g_return_val_if_fail ((guint) self < VN_N_BIASES, VN_DTYPE_UNDEFINED);

  return types[self];
}

static gboolean
recipe_has_method_of_powers (const VnRecipe *self)
{
  const VnRangeMethod *method = self->method != NULL ? vn_range_method_find (self->method, NULL) : NULL;

  return method != NULL && method->power_of_two;
}

/**
 * vn_recipe_get_weight_method:
 *
 * AMD's quantizers find ranges of weights by the method for activations where that makes powers of two.
 *
 * Returns: id of the method by which ranges of weights are found
 */
const char *
vn_recipe_get_weight_method (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, NULL);

  if (self->weight_method != NULL)
    return self->weight_method;
  return recipe_has_method_of_powers (self) ? self->method : "minmax";
}

/**
 * vn_recipe_get_power_of_two:
 *
 * Returns: how scales of weights, biases and constants become powers of two: as the setting says, or, as with AMD's
 *   quantizers, because those of activations are
 */
VnPowerOfTwo
vn_recipe_get_power_of_two (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, VN_POWER_OF_TWO_OFF);

  if (self->power_of_two != VN_POWER_OF_TWO_OFF)
    return self->power_of_two;
  return recipe_has_method_of_powers (self) ? VN_POWER_OF_TWO_NEAREST : VN_POWER_OF_TWO_OFF;
}

/* ---- validation ---- */

/**
 * vn_recipe_has_channels:
 *
 * Returns: whether weights have a scale for each channel, where their operators allow it: the setting asks for them, and
 *   neither the format nor the opset nor the processor stands against them
 */
gboolean
vn_recipe_has_channels (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!self->per_channel || self->npu || !vn_recipe_get_format (self)->channel_scales)
    return FALSE;
  return self->opset == 0 || self->opset >= 13 || vn_recipe_get_format (self)->integer_products || self->dynamic;
}

/**
 * vn_recipe_uses_samples:
 *
 * Returns: whether ranges of activations are of use: they are stored, or compared with what a type can hold
 */
gboolean
vn_recipe_uses_samples (const VnRecipe *self)
{
  const VnFormatTraits *format;

  g_return_val_if_fail (self != NULL, FALSE);

  format = vn_recipe_get_format (self);
  return format->has_scales && !format->weights_only && !(format->integer_products && self->dynamic);
}

/**
 * vn_recipe_add_files:
 * @set: told which files the settings of @self name
 */
void
vn_recipe_add_files (const VnRecipe *self,
                     VnFileSet      *set)
{
  g_return_if_fail (self != NULL);

  for (guint i = 0; self->ranges != NULL && self->ranges[i] != NULL; i++)
    vn_file_set_reads (set, self->ranges[i], _("the table of ranges"));
}

/**
 * vn_recipe_needs_samples:
 *
 * Returns: whether ranges of activations have to be known before the result can be written: not where all of them are
 *   rounded to types that have no scale, such as bfloat16
 */
gboolean
vn_recipe_needs_samples (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!vn_recipe_get_format (self)->extends_standard || !vn_dtype_is_rounded (self->activation))
    return vn_recipe_uses_samples (self);
  for (guint i = 0; i < self->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (self->overrides, i);

      if (rule->enabled && rule->activation != VN_DTYPE_UNDEFINED && !vn_dtype_is_rounded (rule->activation))
        return TRUE;
    }
  return FALSE;
}

/**
 * vn_recipe_may_balance:
 *
 * Returns: whether activations are quantized by ranges, stored or found while the network runs, which channels of like size make
 *   better use of; or only weights are, and large channels of activations may take the error from theirs
 */
gboolean
vn_recipe_may_balance (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (vn_recipe_get_format (self)->weights_only)
    return TRUE;
  return self->dynamic ? vn_recipe_get_format (self)->integer_products : vn_recipe_needs_samples (self);
}
