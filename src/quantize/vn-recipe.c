/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-recipe.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-quantize-private.h"

#include <string.h>

/* ---- presets ---- */

static const VnPreset * const presets[] = {
#define VN_PRESET(...) &(const VnPreset) { __VA_ARGS__ },
#include "vn-presets.def"
#undef VN_PRESET
};

/**
 * vn_preset_list:
 * @n: (out): how many
 *
 * Returns: (transfer none) (array length=n): all presets, the one to offer first at the front
 */
const VnPreset * const *
vn_preset_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (presets);
  return presets;
}

/**
 * vn_preset_find:
 * @id: as in vn-presets.def
 *
 * Returns: (transfer none): the preset, or %NULL with %VN_ERROR_SETTING
 */
const VnPreset *
vn_preset_find (const char  *id,
                GError     **error)
{
  g_autoptr(GString) known = g_string_new (NULL);

  g_return_val_if_fail (id != NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      if (g_str_equal (presets[i]->id, id))
        return presets[i];
    }

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    g_string_append_printf (known, "%s%s", i > 0 ? ", " : "", presets[i]->id);
  g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is no preset “%s”; choose one of: %s"), id, known->str);
  return NULL;
}

/* ---- plain fields ---- */

typedef const VnSetting * (*SettingsFunc) (guint *n);

static void
reset_fields (SettingsFunc list,
              gpointer     object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_reset (&settings[i], object);
}

static void
clear_fields (SettingsFunc list,
              gpointer     object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_clear (&settings[i], object);
}

static void
own_fields (SettingsFunc list,
            gpointer     object)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    vn_setting_own (&settings[i], object);
}

static gboolean
fields_equal (SettingsFunc  list,
              gconstpointer a,
              gconstpointer b)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    if (!vn_setting_equal (&settings[i], a, b))
      return FALSE;
  return TRUE;
}

static gboolean
check_fields (SettingsFunc    list,
              gconstpointer   object,
              const char     *where,
              GError        **error)
{
  guint n;
  const VnSetting *settings = list (&n);

  for (guint i = 0; i < n; i++)
    if (!vn_setting_check (&settings[i], object, error))
      {
        g_prefix_error (error, "%s: ", where);
        return FALSE;
      }
  return TRUE;
}

/* ---- overrides ---- */

/**
 * vn_override_new:
 *
 * Returns: (transfer full): an enabled rule that selects nothing and says nothing
 */
VnOverride *
vn_override_new (void)
{
  VnOverride *self = g_new0 (VnOverride, 1);

  reset_fields (vn_setting_list_of_rule, self);
  return self;
}

/**
 * vn_override_free:
 * @self: (nullable) (transfer full): a rule
 */
void
vn_override_free (VnOverride *self)
{
  if (self == NULL)
    return;

  clear_fields (vn_setting_list_of_rule, self);
  g_free (self);
}

/**
 * vn_override_copy:
 * @self: a rule
 *
 * Returns: (transfer full): a deep copy
 */
VnOverride *
vn_override_copy (const VnOverride *self)
{
  VnOverride *copy;

  g_return_val_if_fail (self != NULL, NULL);

  copy = g_memdup2 (self, sizeof *self);
  own_fields (vn_setting_list_of_rule, copy);
  return copy;
}

/*< private >
 * vn_pattern_matches_text:
 * @pattern: glob
 *
 * Returns: whether @pattern is @text, or matches it
 */
gboolean
vn_pattern_matches_text (const char *pattern,
                         const char *text)
{
  GPatternSpec *spec;
  gboolean matches;

  if (g_str_equal (pattern, text))
    return TRUE;
  if (strpbrk (pattern, "*?") == NULL)
    return FALSE;

  spec = g_pattern_spec_new (pattern);
  matches = g_pattern_spec_match_string (spec, text);
  g_pattern_spec_free (spec);
  return matches;
}

/* Alternatives are separated by |. */
static gboolean
type_matches (const char   *patterns,
              const VnNode *node)
{
  g_auto(GStrv) parts = g_strsplit (patterns, "|", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    if (vn_pattern_matches_text (parts[i], node->op_type))
      return TRUE;
  return FALSE;
}

static gboolean
reads_constant (const VnNode *node)
{
  for (guint i = 0; i < node->inputs->len; i++)
    {
      const VnValue *value = vn_node_get_input (node, i);

      if (value != NULL && vn_value_is_constant (value))
        return TRUE;
    }
  return FALSE;
}

/*< private >
 * vn_pattern_matches_node:
 * @pattern: glob over names, or "type:OP"
 * @label: what vn_node_dup_label() says of @node; callers with many patterns compute it once
 */
gboolean
vn_pattern_matches_node (const char   *pattern,
                         const VnNode *node,
                         const char   *label)
{
  if (g_str_has_prefix (pattern, VN_PATTERN_TYPE_PREFIX))
    return type_matches (pattern + strlen (VN_PATTERN_TYPE_PREFIX), node);
  if (g_str_has_prefix (pattern, VN_PATTERN_COMPUTED_PREFIX))
    return type_matches (pattern + strlen (VN_PATTERN_COMPUTED_PREFIX), node) && !reads_constant (node);
  if (node->name != NULL && *node->name != '\0' && vn_pattern_matches_text (pattern, node->name))
    return TRUE;
  return vn_pattern_matches_text (pattern, label);
}

/*< private >
 * vn_override_matches_labelled:
 * @label: what vn_node_dup_label() says of @node
 */
gboolean
vn_override_matches_labelled (const VnOverride *self,
                              const VnNode     *node,
                              const char       *label)
{
  return self->pattern != NULL && vn_pattern_matches_node (self->pattern, node, label);
}

/**
 * vn_override_matches:
 * @self: a rule with a pattern
 * @node: a node
 *
 * A pattern is "type:OP|OP" (globs over operator types), "computed:OP|OP" (the same, of nodes that read no constant), or
 * a glob over node names. Nodes without a name are matched by
 * what vn_node_dup_label() calls them. An exact name always matches itself, whatever characters it holds.
 *
 * Returns: whether the pattern selects @node, wherever it lies; %FALSE for rules without one
 */
gboolean
vn_override_matches (const VnOverride *self,
                     const VnNode     *node)
{
  g_autofree char *label = NULL;

  g_return_val_if_fail (self != NULL && node != NULL, FALSE);

  label = vn_node_dup_label (node);
  return vn_override_matches_labelled (self, node, label);
}

/* ---- recipes ---- */

/* Presets are ours: what they say is allowed. */
static void
apply_settings (VnRecipe   *self,
                const char *settings)
{
  g_auto(GStrv) words = g_strsplit (settings, " ", -1);

  for (guint i = 0; words[i] != NULL; i++)
    {
      char *equals = strchr (words[i], '=');
      g_autoptr(GError) error = NULL;

      g_return_if_fail (equals != NULL);
      *equals = '\0';
      vn_recipe_set (self, words[i], equals + 1, &error);
      g_return_if_fail (error == NULL);
    }
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
  reset_fields (vn_setting_list_of_recipe, self);
  self->preset = found->id;
  self->overrides = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_override_free);
  apply_settings (self, found->settings);
  return self;
}

static gpointer
copy_override_func (gconstpointer src,
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
  own_fields (vn_setting_list_of_recipe, copy);
  copy->overrides = g_ptr_array_copy (self->overrides, copy_override_func, NULL);
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

  clear_fields (vn_setting_list_of_recipe, self);
  g_ptr_array_unref (self->overrides);
  g_free (self);
}

/**
 * vn_recipe_equal:
 *
 * Returns: whether @a and @b say the same, rules in the same order
 */
gboolean
vn_recipe_equal (const VnRecipe *a,
                 const VnRecipe *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (g_strcmp0 (a->preset, b->preset) != 0 || a->overrides->len != b->overrides->len ||
      !fields_equal (vn_setting_list_of_recipe, a, b))
    return FALSE;
  for (guint i = 0; i < a->overrides->len; i++)
    {
      if (!fields_equal (vn_setting_list_of_rule, g_ptr_array_index (a->overrides, i),
                         g_ptr_array_index (b->overrides, i)))
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

/* ---- validation ---- */

/**
 * vn_recipe_needs_samples:
 *
 * Returns: whether ranges of activations have to be known before the result can be written
 */
gboolean
vn_recipe_needs_samples (const VnRecipe *self)
{
  g_return_val_if_fail (self != NULL, FALSE);

  return !vn_quant_is_weight_only (self->format) && !vn_quant_is_half_format (self->format) &&
         !(self->format == VN_FORMAT_INTEGER && self->dynamic);
}

/* What holds between fields; each by itself was looked at before. */
static gboolean
check_types (const VnRecipe  *recipe,
             VnDType          activation,
             VnDType          weight,
             const char      *where,
             GError         **error)
{
  if (recipe->format == VN_FORMAT_QOPERATOR && activation != recipe->activation)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                   _("%s: activation is %s; operators of the format “qoperator” read and write one type, here %s"), where,
                   vn_dtype_get_name (activation), vn_dtype_get_name (recipe->activation));
      return FALSE;
    }
  if (activation != VN_DTYPE_S8 || weight != VN_DTYPE_U8)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
               _("%s: no runtime multiplies int8 activations by uint8 weights; use int8 weights"), where);
  return FALSE;
}

static gboolean
says_about_tensors (const VnOverride *rule)
{
  return rule->symmetric != VN_AS_RECIPE || rule->reduce_range != VN_AS_RECIPE || rule->per_channel != VN_AS_RECIPE ||
         rule->axis != VN_AXIS_AS_RECIPE || rule->min != NULL || rule->max != NULL || rule->scales != NULL ||
         rule->convert != VN_DTYPE_UNDEFINED;
}

static gboolean
check_override (const VnRecipe    *recipe,
                const VnOverride  *rule,
                const char        *where,
                GError           **error)
{
  gboolean by_edges = rule->in_edges != NULL || rule->out_edges != NULL;
  gboolean for_tensors = vn_override_is_for_tensors (rule);

  if (!check_fields (vn_setting_list_of_rule, rule, where, error) || !vn_override_check_tensors (rule, where, error))
    return FALSE;
  if (for_tensors ? rule->pattern != NULL || by_edges : rule->pattern == NULL && !by_edges)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: give a pattern, boundary edges, or both: then what matches between the edges is meant; "
                     "or tensors alone"), where);
      return FALSE;
    }
  if (for_tensors)
    return TRUE;
  if (says_about_tensors (rule))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: ranges, scales, axes and conversions can be given for tensors only"), where);
      return FALSE;
    }
  if (rule->pattern != NULL && *rule->pattern == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: the pattern is empty"), where);
      return FALSE;
    }
  return check_types (recipe, rule->activation != VN_DTYPE_UNDEFINED ? rule->activation : recipe->activation,
                      rule->weight != VN_DTYPE_UNDEFINED ? rule->weight : recipe->weight, where, error);
}

/* DynamicQuantizeLinear makes uint8 and nothing else. */
static gboolean
check_dynamic (const VnRecipe  *self,
               GError         **error)
{
  if (!self->dynamic)
    return TRUE;
  if (self->format != VN_FORMAT_INTEGER)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("recipe: “dynamic” is true; only the format “integer” finds ranges while the network runs"));
  else if (self->activation != VN_DTYPE_U8)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("recipe: activation is %s; dynamic ranges are made for uint8 only"),
                 vn_dtype_get_name (self->activation));
  else
    return TRUE;
  return FALSE;
}

/* What formats for weights only ask of the other settings. */
static gboolean
check_blocks (const VnRecipe  *self,
              VnDType          weight,
              const char      *where,
              GError         **error)
{
  if (self->block_size != 0 && !vn_quant_is_weight_only (self->format))
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: block-size is %lld; only the formats “weights” and “matmulnbits” have blocks"), where,
                 (long long) self->block_size);
  else if ((self->block_size & (self->block_size - 1)) != 0)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                 _("%s: block-size is %lld; allowed are powers of two from 16 on, and 0"), where,
                 (long long) self->block_size);
  else if (self->format == VN_FORMAT_MATMULNBITS && vn_dtype_get_bits (weight) > 8)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: weight is %s; the format “matmulnbits” has 4 and 8 bits"), where, vn_dtype_get_name (weight));
  else if (self->block_size != 0 && self->format == VN_FORMAT_WEIGHTS && self->opset != 0 && self->opset < 21)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: opset is %lld; blocks need 21 or more"), where,
                 (long long) self->opset);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_opset (const VnRecipe  *self,
             GError         **error)
{
  if (!self->per_channel || self->format == VN_FORMAT_INTEGER || self->opset == 0 || self->opset >= 13)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("opset is %lld; scales per channel need 13 or more"), (long long) self->opset);
  return FALSE;
}

/**
 * vn_recipe_validate:
 * @self: a recipe, maybe read from a file
 *
 * Returns: %FALSE with %VN_ERROR_SETTING or %VN_ERROR_UNSUPPORTED if a field holds what cannot be followed
 */
gboolean
vn_recipe_validate (const VnRecipe  *self,
                    GError         **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  if (!check_fields (vn_setting_list_of_recipe, self, _("recipe"), error) ||
      vn_quant_format_find (self->format, error) == NULL ||
      !check_types (self, self->activation, self->weight, _("recipe"), error) ||
      !check_dynamic (self, error) ||
      !check_blocks (self, self->weight, _("recipe"), error) ||
      !check_opset (self, error) || !vn_recipe_check_target (self, error))
    return FALSE;

  if (self->method == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("recipe: a range method is missing"));
      return FALSE;
    }

  for (guint i = 0; i < self->overrides->len; i++)
    {
      g_autofree char *where = g_strdup_printf (_("rule %u"), i + 1);

      if (!check_override (self, g_ptr_array_index (self->overrides, i), where, error) ||
          !check_blocks (self, ((const VnOverride *) g_ptr_array_index (self->overrides, i))->weight, where, error))
        return FALSE;
    }
  return vn_quant_check_types (self, error);
}
