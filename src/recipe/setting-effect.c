/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Whether a setting can change anything beside the others, and which settings differ from their preset. */

#include "vn-recipe-rules.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"

static gboolean
setting_has_scales (const VnRecipe *recipe)
{
  return vn_recipe_get_format (recipe)->has_scales;
}

static gboolean
setting_has_activations (const VnRecipe *recipe)
{
  return setting_has_scales (recipe) && !vn_recipe_get_format (recipe)->weights_only;
}

static gboolean
setting_has_vendors (const VnRecipe *recipe)
{
  return vn_recipe_get_format (recipe)->amd_operators;
}

static gboolean
setting_has_channels (const VnRecipe *recipe)
{
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && rule->per_channel == VN_YES)
        return TRUE;
    }
  return vn_recipe_has_channels (recipe);
}

static gboolean
setting_method_uses_percentile (const VnRangeMethod *method)
{
  return method->uses_percentile;
}

static gboolean
setting_method_has_sides (const VnRangeMethod *method)
{
  return method->has_sides;
}

static gboolean
setting_is_method (const char *id,
                   gboolean  (*test) (const VnRangeMethod *))
{
  const VnRangeMethod *method = id != NULL ? vn_range_method_find (id, NULL) : NULL;

  return method != NULL && test (method);
}

/* Whether a range of activations is found by a method that passes @test. */
static gboolean
setting_has_observing_method (const VnRecipe *recipe,
                              gboolean      (*test) (const VnRangeMethod *))
{
  if (!vn_recipe_needs_samples (recipe))
    return FALSE;
  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->enabled && setting_is_method (rule->method, test))
        return TRUE;
    }
  return setting_is_method (recipe->method, test);
}

/* Whether a range is found by a method that passes @test. */
static gboolean
setting_has_method (const VnRecipe *recipe,
                    gboolean      (*test) (const VnRangeMethod *))
{
  return (setting_has_scales (recipe) && setting_is_method (vn_recipe_get_weight_method (recipe), test)) ||
         setting_has_observing_method (recipe, test);
}

static gboolean
setting_method_is_by_votes (const VnRangeMethod *method)
{
  return method->by_votes;
}

/**
 * vn_recipe_needs_votes:
 *
 * Returns: whether a range of activations is found by a method that asks what each sample chooses
 */
gboolean
vn_recipe_needs_votes (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return vn_recipe_needs_samples (self) && setting_has_method (self, setting_method_is_by_votes);
}

static gboolean
setting_method_is_by_counts (const VnRangeMethod *method)
{
  return !method->by_ends;
}

/**
 * vn_recipe_needs_counts:
 *
 * Returns: whether ranges of activations depend on more than the least and the greatest element of each tensor
 */
gboolean
vn_recipe_needs_counts (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return self->range_search != VN_RANGE_SEARCH_OFF || setting_has_observing_method (self, setting_method_is_by_counts);
}

static gboolean
setting_uses_correction_samples (const VnRecipe *recipe)
{
  return vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF ||
         (recipe->equalize == VN_EQUALIZE_PPQ && recipe->equalize_activations);
}

/* The method for activations is that of weights, too, where it makes powers of two. */
static gboolean
setting_uses_method (const VnRecipe *recipe)
{
  return vn_recipe_needs_samples (recipe) ||
         (setting_has_scales (recipe) && vn_recipe_get_power_of_two (recipe) != recipe->power_of_two);
}

/**
 * vn_recipe_note_implied_settings:
 *
 * Tells @notes what goes along with a setting without being said.
 */
void
vn_recipe_note_implied_settings (const VnRecipe *self,
                                 VnNotes        *notes)
{
  g_return_if_fail (self != NULL && notes != NULL);

  if (setting_has_scales (self) && vn_recipe_get_power_of_two (self) != self->power_of_two)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_IMPLIED_SETTING, "method",
                  _("“%s” makes all scales powers of two, as in AMD’s quantizers, including those of weights, found "
                    "by “%s”, and of biases"), self->method, vn_recipe_get_weight_method (self));
  else if (setting_has_scales (self) && self->weight_method == NULL &&
           !g_str_equal (vn_recipe_get_weight_method (self), "minmax"))
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_IMPLIED_SETTING, "method",
                  _("ranges of weights are also found by “%s”, as in AMD’s quantizers"), self->method);
  if (setting_has_activations (self) && g_strcmp0 (self->method, "nonoverflow") == 0)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_IMPLIED_SETTING, "method",
                  _("despite its name, “nonoverflow” may overflow, as AMD’s does: the nearest power of two is up to "
                    "1.41 times smaller than the full range needs. “minmax” with power-of-two “nearest” rounds up and "
                    "clips nothing"));
  if (vn_recipe_needs_votes (self) && !self->symmetric_activations)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_IMPLIED_SETTING, "symmetric-activations",
                  _("the most common choice of the samples applies only to symmetric activations, as in AMD’s "
                    "quantizers; asymmetric ranges are found by “minmse”"));
  if (setting_has_activations (self) && self->power_of_two == VN_POWER_OF_TWO_NEAREST && g_strcmp0 (self->method, "minmax") == 0)
    vn_notes_add (notes, VN_NOTE_INFO, VN_NOTE_CODE_IMPLIED_SETTING, "power-of-two",
                  _("scales of full ranges are rounded up, as the nearest power of two could clip values; the method "
                    "“nonoverflow” uses the nearest, “minmse” the best"));
}

#define VN_SETTING_NEED(SYMBOL, expression, reason)   \
  static gboolean                                     \
  has_##SYMBOL (const VnRecipe *recipe)               \
  {                                                   \
    return (expression);                              \
  }
#include "vn-setting-needs.def"
#undef VN_SETTING_NEED

static const struct
{
  gboolean  (*is_met) (const VnRecipe *recipe);
  const char *reason;
} needs[] = {
#define VN_SETTING_NEED(SYMBOL, expression, reason) { has_##SYMBOL, reason },
#include "vn-setting-needs.def"
#undef VN_SETTING_NEED
};

/**
 * vn_setting_get_idle_reason:
 * @self: a setting of recipes
 * @recipe: beside whose other settings it stands
 *
 * Returns: (nullable): why the setting changes nothing whatever it says, in a translated half sentence; %NULL if it may
 *   change something, which then depends on the network
 */
const char *
vn_setting_get_idle_reason (const VnSetting *self,
                            const VnRecipe  *recipe)
{
  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);
  g_return_val_if_fail (self->need < VN_N_SETTING_NEEDS, NULL);

  return needs[self->need].is_met (recipe) ? NULL : _(needs[self->need].reason);
}

static void
setting_note_idle_rules (const VnRecipe *self,
                         VnNotes        *notes)
{
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  for (guint which = 0; which < VN_N_LAYER_SETTINGS; which++)
    {
      const char *id = vn_layer_setting_get_id ((VnLayerSetting) which);
      const char *reason = vn_setting_get_idle_reason (vn_setting_find (settings, n, id, NULL), self);

      for (guint i = 0; i < self->overrides->len && reason != NULL; i++)
        if (vn_override_get_layer_setting (g_ptr_array_index (self->overrides, i), (VnLayerSetting) which) != VN_AS_RECIPE)
          vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_IDLE_SETTING, id, _("rule %u has no effect here: %s"), i + 1,
                        reason);
    }
}

/**
 * vn_recipe_note_idle_settings:
 * @self: a recipe
 *
 * Tells @notes which settings differ from the preset and change nothing, whatever the network.
 */
void
vn_recipe_note_idle_settings (const VnRecipe *self,
                              VnNotes        *notes)
{
  g_autoptr(VnRecipe) preset = NULL;
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  g_return_if_fail (self != NULL && notes != NULL);

  preset = vn_recipe_new (self->preset);
  for (guint i = 0; i < n; i++)
    {
      const char *reason = vn_setting_get_idle_reason (&settings[i], self);

      if (reason != NULL && !vn_setting_equal (&settings[i], self, preset))
        vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_IDLE_SETTING, settings[i].id, _("has no effect here: %s"), reason);
    }
  setting_note_idle_rules (self, notes);
}

static void
setting_difference_free (gpointer data)
{
  VnSettingDifference *self = data;

  g_free (self->id);
  g_free (self->title);
  g_free (self->value);
  g_free (self->preset_value);
  g_free (self);
}

static void
setting_add_rules (const VnRecipe *self,
                   GPtrArray      *list)
{
  for (guint i = 0; i < self->overrides->len; i++)
    {
      VnSettingDifference *row = g_new0 (VnSettingDifference, 1);

      row->id = g_strdup_printf ("rules[%u]", i);
      row->title = g_strdup_printf (_("Rule %u"), i + 1);
      row->value = vn_override_to_json (g_ptr_array_index (self->overrides, i));
      g_ptr_array_add (list, row);
    }
}

/**
 * vn_recipe_list_differences:
 * @self: a recipe
 *
 * Returns: (transfer full) (element-type VnSettingDifference): all that a recipe says otherwise than its preset: settings in
 *   the order of vn-settings.def, then its rules
 */
GPtrArray *
vn_recipe_list_differences (const VnRecipe *self)
{
  g_autoptr(VnRecipe) preset = NULL;
  GPtrArray *list = g_ptr_array_new_with_free_func (setting_difference_free);
  guint n;
  const VnSetting *settings = vn_setting_list_of_recipe (&n);

  g_return_val_if_fail (self != NULL, list);

  preset = vn_recipe_new (self->preset);
  for (guint i = 0; i < n; i++)
    {
      VnSettingDifference *row;

      if (vn_setting_equal (&settings[i], self, preset))
        continue;
      row = g_new0 (VnSettingDifference, 1);
      row->setting = &settings[i];
      row->id = g_strdup (settings[i].id);
      row->title = g_strdup (_(settings[i].title));
      row->value = vn_setting_dup_short_text (&settings[i], self);
      row->preset_value = vn_setting_dup_short_text (&settings[i], preset);
      g_ptr_array_add (list, row);
    }
  setting_add_rules (self, list);
  return list;
}
