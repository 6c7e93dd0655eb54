/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of “--auto”: what each changes in a recipe, and where it cannot. */
#include "improve-steps.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"

static gboolean
improve_apply_folded (VnRecipe *recipe)
{
  if (recipe->activation_channels != VN_ACTIVATION_CHANNELS_OFF || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) ||
      !vn_recipe_has_channels (recipe) || recipe->npu)
    return FALSE;
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_FOLDED;
  return TRUE;
}

static gboolean
improve_apply_gates (VnRecipe *recipe)
{
  if (recipe->limit_gates || !vn_recipe_needs_samples (recipe))
    return FALSE;
  return recipe->limit_gates = TRUE;
}

static gboolean
improve_set_method (VnRecipe   *recipe,
                    const char *method)
{
  const VnRangeMethod *now = vn_range_method_find (recipe->method, NULL);

  if (!vn_recipe_needs_samples (recipe) || g_strcmp0 (recipe->method, method) == 0 || now == NULL || now->power_of_two)
    return FALSE;
  g_free (recipe->method);
  recipe->method = g_strdup (method);
  return TRUE;
}

static gboolean
improve_apply_mse (VnRecipe *recipe)
{
  return improve_set_method (recipe, "mse");
}

static gboolean
improve_apply_best (VnRecipe *recipe)
{
  return improve_set_method (recipe, "best");
}

static gboolean
improve_apply_placement (VnRecipe *recipe)
{
  static const char * const types[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", NULL };

  if (!vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || recipe->op_types != NULL || recipe->float_output_types != NULL ||
      recipe->npu)
    return FALSE;
  recipe->op_types = g_strdupv ((char **) types);
  recipe->float_output_types = g_strdupv ((char **) types);
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_DEPTHWISE;   /* now nothing stands in their way, and only both cure such networks */
  return TRUE;
}

static gboolean
improve_apply_channels (VnRecipe *recipe)
{
  if (recipe->activation_channels == VN_ACTIVATION_CHANNELS_DEPTHWISE || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) ||
      recipe->npu)
    return FALSE;
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_DEPTHWISE;
  return TRUE;
}

static gboolean
improve_apply_sixteen (VnRecipe *recipe)
{
  if (!vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || vn_dtype_get_bits (recipe->activation) != 8 || recipe->npu)
    return FALSE;
  recipe->activation = recipe->activation == VN_DTYPE_S8 ? VN_DTYPE_S16 : VN_DTYPE_U16;
  return TRUE;
}

static gboolean
improve_apply_equalize (VnRecipe *recipe)
{
  if (recipe->equalize != VN_EQUALIZE_OFF)
    return FALSE;
  recipe->equalize = VN_EQUALIZE_PPQ;
  return TRUE;
}

static gboolean
improve_apply_balance (VnRecipe *recipe)
{
  if (recipe->balance_channels != VN_BALANCE_CHANNELS_OFF || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || recipe->npu)
    return FALSE;
  recipe->balance_channels = VN_BALANCE_CHANNELS_FOLDED;
  return TRUE;
}

static gboolean
improve_apply_ranges (VnRecipe *recipe)
{
  if (recipe->range_search != VN_RANGE_SEARCH_OFF || !vn_recipe_needs_samples (recipe))
    return FALSE;
  recipe->range_search = VN_RANGE_SEARCH_OUTPUTS;
  return TRUE;
}

static gboolean
improve_apply_biases (VnRecipe *recipe)
{
  if (recipe->bias_correction != VN_BIAS_CORRECTION_OFF)
    return FALSE;
  recipe->bias_correction = VN_BIAS_CORRECTION_AMD;
  return TRUE;
}

static gboolean
improve_apply_second_order (VnRecipe *recipe)
{
  if (recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST)
    return FALSE;
  recipe->rounding = VN_WEIGHT_ROUNDING_SECOND_ORDER;
  return TRUE;
}

/* ---- where the error starts ---- */

static gboolean
improve_apply_float_origins (VnRecipe *recipe)
{
  return vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) && vn_recipe_needs_samples (recipe) && !recipe->npu;
}

static void
improve_add_float (VnRecipe  *recipe,
                   char     **tensors)
{
  VnOverride *rule = vn_override_new ();

  rule->tensors = g_strdupv (tensors);
  rule->exclude = TRUE;
  g_ptr_array_add (recipe->overrides, rule);
}

static const VnImproveStep improve_steps[] = {
#define VN_IMPROVE_STEP(id, kind, least_gain, add, title) { #id, title, VN_IMPROVE_##kind, least_gain, improve_apply_##id, add },
#include "vn-improve-steps.def"
#undef VN_IMPROVE_STEP
};

/**
 * vn_improve_step_list:
 *
 * Returns: (array length=n): all steps, in the order in which they are tried
 */
const VnImproveStep *
vn_improve_step_list (guint *n)
{
  g_return_val_if_fail (n != NULL, NULL);

  *n = G_N_ELEMENTS (improve_steps);
  return improve_steps;
}
