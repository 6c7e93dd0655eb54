/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules about one tensor, as the inspector edits them in place: type, range method, range. */
#include "bench-private.h"

#include "vn-i18n.h"
#include "vn-setting.h"

static gboolean
bench_tensor_is_just_for (const VnOverride *rule,
                          const char       *tensor)
{
  return rule->tensors != NULL && g_str_equal (rule->tensors[0], tensor) && rule->tensors[1] == NULL;
}

static VnOverride *
bench_tensor_find (const VnRecipe *recipe,
                   const char     *tensor,
                   guint          *index)
{
  for (guint i = recipe->overrides->len; i > 0; i--)
    {
      VnOverride *rule = g_ptr_array_index (recipe->overrides, i - 1);

      if (!bench_tensor_is_just_for (rule, tensor))
        continue;
      if (index != NULL)
        *index = i - 1;
      return rule;
    }
  return NULL;
}

/**
 * vn_bench_find_tensor_rule:
 * @tensor: of the prepared network
 *
 * Returns: (transfer none) (nullable): the rule that is about this tensor alone, if it is switched on
 */
const VnOverride *
vn_bench_find_tensor_rule (VnBench    *self,
                           const char *tensor)
{
  const VnOverride *rule;

  g_return_val_if_fail (VN_IS_BENCH (self) && tensor != NULL, NULL);

  rule = bench_tensor_find (self->recipe, tensor, NULL);
  return rule != NULL && rule->enabled ? rule : NULL;
}

/* The last rule that names a tensor counts alone: what a pattern says of it is said again. */
static VnOverride *
bench_tensor_make_rule (const VnRecipe *recipe,
                        const char     *tensor)
{
  const char * const names[] = { tensor, NULL };
  VnOverride *rule = NULL;

  for (guint i = recipe->overrides->len; i > 0 && rule == NULL; i--)
    {
      const VnOverride *wide = g_ptr_array_index (recipe->overrides, i - 1);

      for (guint k = 0; wide->enabled && wide->tensors != NULL && wide->tensors[k] != NULL && rule == NULL; k++)
        if (vn_pattern_matches_text (wide->tensors[k], tensor))
          rule = vn_override_copy (wide);
    }
  if (rule == NULL)
    rule = vn_override_new ();
  g_clear_pointer (&rule->name, g_free);
  g_strfreev (rule->tensors);
  rule->tensors = g_strdupv ((char **) names);
  return rule;
}

/* Takes the rule out, to be put back behind all others. */
static VnOverride *
bench_tensor_take_rule (VnRecipe   *recipe,
                        const char *tensor)
{
  guint index;
  VnOverride *rule = bench_tensor_find (recipe, tensor, &index);

  if (rule == NULL)
    return bench_tensor_make_rule (recipe, tensor);
  rule = g_ptr_array_steal_index (recipe->overrides, index);
  rule->enabled = TRUE;
  return rule;
}

static gboolean
bench_tensor_is_empty (const VnOverride *rule)
{
  VnOverride *empty = vn_override_new ();
  gboolean nothing;

  empty->tensors = g_strdupv (rule->tensors);
  nothing = vn_override_equal (rule, empty);
  vn_override_free (empty);
  return nothing;
}

static gboolean
bench_tensor_put (VnBench     *self,
                  VnRecipe    *changed,
                  VnOverride  *rule,
                  const char  *title,
                  GError     **error)
{
  g_autoptr(VnRecipe) recipe = changed;

  if (bench_tensor_is_empty (rule))
    vn_override_free (rule);
  else
    g_ptr_array_add (recipe->overrides, rule);
  if (!vn_recipe_validate (recipe, error))
    return FALSE;
  vn_bench_add_rules (self, g_steal_pointer (&recipe), title);
  return TRUE;
}

static char **
bench_tensor_make_number (double number)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  const char * const list[] = { text, NULL };

  g_ascii_formatd (text, sizeof text, "%.7g", number);
  return g_strdupv ((char **) list);
}

/* A scale would leave nothing to choose. */
static void
bench_tensor_forget_range (VnOverride *rule)
{
  g_clear_pointer (&rule->min, g_strfreev);
  g_clear_pointer (&rule->max, g_strfreev);
  g_clear_pointer (&rule->scales, g_strfreev);
  g_clear_pointer (&rule->zero_points, g_strfreev);
}

/**
 * vn_bench_set_tensor_range:
 * @tensor: of the prepared network
 * @range: (nullable): it is quantized to; %NULL: what its method says
 *
 * One step that can be undone.
 *
 * Returns: %FALSE with @error if such a recipe cannot be followed
 */
gboolean
vn_bench_set_tensor_range (VnBench        *self,
                           const char     *tensor,
                           const VnRange  *range,
                           GError        **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autofree char *title = NULL;
  VnOverride *rule;

  g_return_val_if_fail (VN_IS_BENCH (self) && tensor != NULL, FALSE);

  recipe = vn_recipe_copy (self->recipe);
  rule = bench_tensor_take_rule (recipe, tensor);
  bench_tensor_forget_range (rule);
  if (range != NULL)
    {
      rule->min = bench_tensor_make_number (range->min);
      rule->max = bench_tensor_make_number (range->max);
    }
  title = g_strdup_printf (range != NULL ? _("Range of %s set") : _("Range of %s reset to its method"), tensor);
  return bench_tensor_put (self, g_steal_pointer (&recipe), rule, title, error);
}

/**
 * vn_bench_set_tensor_method:
 * @tensor: of the prepared network
 * @method: (nullable): id of the range method that is to choose its range; %NULL: that of the target
 *
 * One step that can be undone. A range that was given is dropped.
 *
 * Returns: %FALSE with @error if such a recipe cannot be followed
 */
gboolean
vn_bench_set_tensor_method (VnBench     *self,
                            const char  *tensor,
                            const char  *method,
                            GError     **error)
{
  const VnRangeMethod *found = NULL;
  g_autoptr(VnRecipe) recipe = NULL;
  g_autofree char *title = NULL;
  VnOverride *rule;

  g_return_val_if_fail (VN_IS_BENCH (self) && tensor != NULL, FALSE);

  if (method != NULL && (found = vn_range_method_find (method, error)) == NULL)
    return FALSE;
  recipe = vn_recipe_copy (self->recipe);
  rule = bench_tensor_take_rule (recipe, tensor);
  bench_tensor_forget_range (rule);
  g_free (rule->method);
  rule->method = g_strdup (method);
  title = found != NULL ? g_strdup_printf (_("Range of %s set by %s"), tensor, _(found->title))
          : g_strdup_printf (_("Range of %s reset to target default"), tensor);
  return bench_tensor_put (self, g_steal_pointer (&recipe), rule, title, error);
}

/**
 * vn_bench_set_tensor_type:
 * @tensor: of the prepared network
 * @role: what it is
 * @dtype: it becomes; %VN_DTYPE_F32: it stays float; %VN_DTYPE_UNDEFINED: what the target says
 *
 * One step that can be undone.
 *
 * Returns: %FALSE with @error if such a recipe cannot be followed
 */
gboolean
vn_bench_set_tensor_type (VnBench       *self,
                          const char    *tensor,
                          VnTensorRole   role,
                          VnDType        dtype,
                          GError       **error)
{
  g_autoptr(VnRecipe) recipe = NULL;
  g_autofree char *title = NULL;
  VnDType *field;
  VnOverride *rule;

  g_return_val_if_fail (VN_IS_BENCH (self) && tensor != NULL, FALSE);

  recipe = vn_recipe_copy (self->recipe);
  rule = bench_tensor_take_rule (recipe, tensor);
  field = role == VN_TENSOR_ACTIVATION ? &rule->activation : &rule->weight;
  rule->exclude = dtype == VN_DTYPE_F32;
  *field = rule->exclude ? VN_DTYPE_UNDEFINED : dtype;
  if (dtype == VN_DTYPE_UNDEFINED)
    title = g_strdup_printf (_("Precision of %s reset to target default"), tensor);
  else
    title = g_strdup_printf (_("Precision of %s: %s"), tensor, vn_dtype_get_name (dtype));
  return bench_tensor_put (self, g_steal_pointer (&recipe), rule, title, error);
}
