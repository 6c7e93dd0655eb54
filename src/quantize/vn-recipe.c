/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-recipe.h"

#include "vn-calibrate.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-quantize-private.h"

#include <string.h>

/* ---- presets ---- */

#define VN_PRESET(SYMBOL, id_, title_, summary_, format_, activation_, weight_, channel_, sym_a, sym_w, reduce, method_) \
  static void                                                                                                            \
  apply_##SYMBOL (VnRecipe *recipe)                                                                                      \
  {                                                                                                                      \
    recipe->preset = id_;                                                                                                \
    recipe->format = VN_FORMAT_##format_;                                                                                \
    recipe->activation = VN_DTYPE_##activation_;                                                                         \
    recipe->weight = VN_DTYPE_##weight_;                                                                                 \
    recipe->per_channel = channel_;                                                                                      \
    recipe->symmetric_activations = sym_a;                                                                               \
    recipe->symmetric_weights = sym_w;                                                                                   \
    recipe->reduce_range = reduce;                                                                                       \
    g_free (recipe->method);                                                                                             \
    recipe->method = g_strdup (method_);                                                                                 \
  }                                                                                                                      \
                                                                                                                         \
  static const VnPreset preset_##SYMBOL = { id_, title_, summary_, apply_##SYMBOL };
#include "vn-presets.def"
#undef VN_PRESET

static const VnPreset * const presets[] = {
#define VN_PRESET(SYMBOL, ...) &preset_##SYMBOL,
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

/* ---- overrides ---- */

/**
 * vn_override_free:
 * @self: (nullable) (transfer full): a rule
 */
void
vn_override_free (VnOverride *self)
{
  if (self == NULL)
    return;

  g_free (self->pattern);
  g_strfreev (self->in_edges);
  g_strfreev (self->out_edges);
  g_free (self->method);
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
  copy->pattern = g_strdup (self->pattern);
  copy->in_edges = g_strdupv (self->in_edges);
  copy->out_edges = g_strdupv (self->out_edges);
  copy->method = g_strdup (self->method);
  return copy;
}

static gboolean
edges_equal (char **a,
             char **b)
{
  if (a == NULL || b == NULL)
    return a == b;
  return g_strv_equal ((const char * const *) a, (const char * const *) b);
}

static gboolean
override_equal (const VnOverride *a,
                const VnOverride *b)
{
  return g_strcmp0 (a->pattern, b->pattern) == 0 &&
         edges_equal (a->in_edges, b->in_edges) &&
         edges_equal (a->out_edges, b->out_edges) &&
         !a->enabled == !b->enabled &&
         !a->exclude == !b->exclude &&
         a->activation == b->activation &&
         a->weight == b->weight &&
         g_strcmp0 (a->method, b->method) == 0 &&
         a->percentile == b->percentile;
}

static gboolean
glob_matches (const char *pattern,
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

/*< private >
 * vn_override_matches_labelled:
 * @label: what vn_node_dup_label() says of @node; callers with many rules compute it once
 */
gboolean
vn_override_matches_labelled (const VnOverride *self,
                              const VnNode     *node,
                              const char       *label)
{
  if (self->pattern == NULL)
    return FALSE;
  if (g_str_has_prefix (self->pattern, VN_PATTERN_TYPE_PREFIX))
    return glob_matches (self->pattern + strlen (VN_PATTERN_TYPE_PREFIX), node->op_type);
  if (node->name != NULL && *node->name != '\0' && glob_matches (self->pattern, node->name))
    return TRUE;
  return glob_matches (self->pattern, label);
}

/**
 * vn_override_matches:
 * @self: a rule with a pattern
 * @node: a node
 *
 * A pattern is "type:OP" (a glob over operator types), or a glob over node names. Nodes without a name are matched by
 * what vn_node_dup_label() calls them. An exact name always matches itself, whatever characters it holds.
 *
 * Returns: whether the pattern selects @node; %FALSE for rules that give boundaries
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
  self->percentile = 99.999;
  self->overrides = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_override_free);
  found->apply (self);
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
  copy->method = g_strdup (self->method);
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

  g_free (self->method);
  g_ptr_array_unref (self->overrides);
  g_free (self);
}

static gboolean
settings_equal (const VnRecipe *a,
                const VnRecipe *b)
{
  return g_strcmp0 (a->preset, b->preset) == 0 &&
         a->format == b->format &&
         a->activation == b->activation &&
         a->weight == b->weight &&
         !a->per_channel == !b->per_channel &&
         !a->symmetric_activations == !b->symmetric_activations &&
         !a->symmetric_weights == !b->symmetric_weights &&
         !a->reduce_range == !b->reduce_range &&
         g_strcmp0 (a->method, b->method) == 0 &&
         a->percentile == b->percentile &&
         a->opset == b->opset;
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

  if (!settings_equal (a, b) || a->overrides->len != b->overrides->len)
    return FALSE;
  for (guint i = 0; i < a->overrides->len; i++)
    {
      if (!override_equal (g_ptr_array_index (a->overrides, i), g_ptr_array_index (b->overrides, i)))
        return FALSE;
    }
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

  rule = g_new0 (VnOverride, 1);
  rule->pattern = g_strdup (pattern);
  rule->enabled = TRUE;
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

static gboolean
check_types (VnDType      activation,
             VnDType      weight,
             const char  *where,
             GError     **error)
{
  if (activation != VN_DTYPE_UNDEFINED && !(VN_QUANT_ACTIVATION_TYPES & (1u << activation)))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: activations cannot be %s; choose uint8, int8, uint16 or int16"),
                 where, vn_dtype_get_name (activation));
  else if (weight != VN_DTYPE_UNDEFINED && !(VN_QUANT_WEIGHT_TYPES & (1u << weight)))
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: weights cannot be %s; choose int8, uint8, int16, uint16, int4 or uint4"),
                 where, vn_dtype_get_name (weight));
  else if (activation == VN_DTYPE_S8 && weight == VN_DTYPE_U8)
    g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED,
                 _("%s: no runtime multiplies int8 activations by uint8 weights; use int8 weights"), where);
  else
    return TRUE;
  return FALSE;
}

static gboolean
check_method (const char  *method,
              double       percentile,
              const char  *where,
              GError     **error)
{
  if (method != NULL && vn_range_method_find (method, error) == NULL)
    {
      g_prefix_error (error, "%s: ", where);
      return FALSE;
    }
  if (percentile == 0 || (percentile >= 50 && percentile <= 100))
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               _("%s: the percentile is %g; it must lie between 50 and 100"), where, percentile);
  return FALSE;
}

static gboolean
check_override (const VnRecipe    *recipe,
                const VnOverride  *rule,
                const char        *where,
                GError           **error)
{
  gboolean by_edges = rule->in_edges != NULL || rule->out_edges != NULL;
  VnDType activation = rule->activation != VN_DTYPE_UNDEFINED ? rule->activation : recipe->activation;
  VnDType weight = rule->weight != VN_DTYPE_UNDEFINED ? rule->weight : recipe->weight;

  if ((rule->pattern != NULL) == by_edges)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
                   _("%s: give either a pattern or boundary edges, and not both"), where);
      return FALSE;
    }
  if (rule->pattern != NULL && *rule->pattern == '\0')
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("%s: the pattern is empty"), where);
      return FALSE;
    }
  return check_types (activation, weight, where, error) &&
         check_method (rule->method, rule->percentile, where, error);
}

static gboolean
check_opset (const VnRecipe  *self,
             GError         **error)
{
  gint64 needed = self->per_channel ? 13 : 10;

  if (self->opset == 0 || self->opset >= needed)
    return TRUE;

  g_set_error (error, VN_ERROR, VN_ERROR_SETTING,
               self->per_channel ? _("opset is %lld; scales per channel need %lld or more")
                                 : _("opset is %lld; quantized models need %lld or more"),
               (long long) self->opset, (long long) needed);
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

  if (vn_quant_format_find (self->format, error) == NULL ||
      !check_types (self->activation, self->weight, _("recipe"), error) ||
      !check_method (self->method, self->percentile, _("recipe"), error) ||
      !check_opset (self, error))
    return FALSE;

  if (self->activation == VN_DTYPE_UNDEFINED || self->weight == VN_DTYPE_UNDEFINED || self->method == NULL)
    {
      g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING,
                           _("The recipe must name a type for activations, one for weights, and a range method"));
      return FALSE;
    }

  for (guint i = 0; i < self->overrides->len; i++)
    {
      g_autofree char *where = g_strdup_printf (_("rule %u"), i + 1);

      if (!check_override (self, g_ptr_array_index (self->overrides, i), where, error))
        return FALSE;
    }
  return TRUE;
}
