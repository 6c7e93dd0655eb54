/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What repairs change in a recipe wherever they are wanted: cures of a finding and steps of “--auto” do the same. */
#include "vn-cure.h"

#include "cure-region.h"

#include "vn-format-traits.h"

static gboolean
cure_can_have_pairs (const VnRecipe *recipe)
{
  return vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) && !recipe->npu;
}

static gboolean
cure_raise_channels (VnRecipe             *recipe,
                     VnActivationChannels  channels)
{
  if (recipe->activation_channels >= channels || !cure_can_have_pairs (recipe))
    return FALSE;
  recipe->activation_channels = channels;
  return TRUE;
}

static gboolean
cure_correct_biases (VnRecipe *recipe)
{
  if (vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) != VN_BIAS_CORRECTION_OFF)
    return FALSE;
  recipe->bias_correction = VN_BIAS_CORRECTION_AMD;
  return TRUE;
}

/**
 * vn_cure_change:
 * @self: one that changes settings, and says nothing about a place
 *
 * Returns: whether there was something to change in @recipe
 */
gboolean
vn_cure_change (VnCure    self,
                VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  switch (self)
    {
    case VN_CURE_FOLDED:
      return vn_recipe_has_channels (recipe) && cure_raise_channels (recipe, VN_ACTIVATION_CHANNELS_FOLDED);
    case VN_CURE_DEPTHWISE:
      return cure_raise_channels (recipe, VN_ACTIVATION_CHANNELS_DEPTHWISE);
    case VN_CURE_EQUALIZE:
      if (recipe->equalize != VN_EQUALIZE_OFF)
        return FALSE;
      recipe->equalize = VN_EQUALIZE_PPQ;
      return TRUE;
    case VN_CURE_GATES:
      if (recipe->limit_gates || !vn_recipe_needs_samples (recipe))
        return FALSE;
      return recipe->limit_gates = TRUE;
    case VN_CURE_SECOND_ORDER:
      if (recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST)
        return FALSE;
      recipe->rounding = VN_WEIGHT_ROUNDING_SECOND_ORDER;
      return TRUE;
    case VN_CURE_BIAS_CORRECTION:
      return cure_correct_biases (recipe);
    default:
      g_return_val_if_reached (FALSE);
    }
}

/* ---- 16 bit ---- */

/**
 * vn_cure_widen:
 * @dtype: of activations
 *
 * Returns: the type of 16 bit in the place of @dtype; %VN_DTYPE_UNDEFINED: it has not 8 bit
 */
VnDType
vn_cure_widen (VnDType dtype)
{
  return dtype == VN_DTYPE_S8 ? VN_DTYPE_S16 : dtype == VN_DTYPE_U8 ? VN_DTYPE_U16 : VN_DTYPE_UNDEFINED;
}

/**
 * vn_cure_can_widen:
 *
 * Returns: whether some activations of @recipe can have 16 bit, others 8
 */
gboolean
vn_cure_can_widen (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  return cure_can_have_pairs (recipe) && vn_recipe_needs_samples (recipe);
}

/**
 * vn_cure_add_wide_region:
 * @dtype: of 16 bit
 * @values: (element-type VnValue): activations
 *
 * Gives @values 16 bit. A single tensor would gain little, as what reads it writes 8 bit again: so whatever the nodes around read and
 * write gets 16 bit, too, and across nodes that compute each number from few of one tensor. That ends at nodes with weights, where 16
 * bit cost most and the conversion is part of what they do anyway: they round sums of more bits.
 */
void
vn_cure_add_wide_region (VnRecipe  *recipe,
                         VnDType    dtype,
                         GPtrArray *values)
{
  g_autoptr(GPtrArray) all = g_ptr_array_new ();
  VnOverride *rule;

  g_return_if_fail (recipe != NULL && values != NULL && values->len > 0);

  for (guint i = 0; i < values->len; i++)
    {
      g_autoptr(GPtrArray) nodes = _vn_cure_list_nodes (g_ptr_array_index (values, i));
      g_autoptr(GPtrArray) around = _vn_cure_list_tensors (nodes);

      for (guint k = 0; k < around->len; k++)
        if (!g_ptr_array_find (all, g_ptr_array_index (around, k), NULL))
          g_ptr_array_add (all, g_ptr_array_index (around, k));
    }
  rule = vn_override_new ();
  rule->activation = dtype;
  rule->tensors = g_new0 (char *, all->len + 1);
  for (guint i = 0; i < all->len; i++)
    rule->tensors[i] = g_strdup (((const VnValue *) g_ptr_array_index (all, i))->name);
  g_ptr_array_add (recipe->overrides, rule);
}
