/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What repairs change in a recipe wherever they are wanted: cures of a finding and steps of “--auto” do the same. */
#include "vn-cure.h"

#include "cure-region.h"

#include "vn-recipe-change.h"

/* What settings become; where several steps of a setting lead further, each is taken from where it is. */
static const VnRecipeChange cure_changes[VN_N_CURES] = {
  [VN_CURE_FOLDED]          = { VN_RECIPE_HAS_CHANNELS | VN_RECIPE_HAS_PAIRS, VN_RECIPE_NPU, "activation-channels",
                                "activation-channels=folded" },
  [VN_CURE_DEPTHWISE]       = { VN_RECIPE_HAS_PAIRS, VN_RECIPE_NPU, NULL, "activation-channels=depthwise" },
  [VN_CURE_EQUALIZE]        = { 0, 0, "equalize", "equalize=ppq" },
  [VN_CURE_GATES]           = { VN_RECIPE_STORES_RANGES, 0, NULL, "limit-gates=true" },
  [VN_CURE_SECOND_ORDER]    = { 0, 0, "rounding", "rounding=second-order" },
  [VN_CURE_BIAS_CORRECTION] = { 0, VN_RECIPE_CORRECTS_BIASES, NULL, "bias-correction=amd" },
  [VN_CURE_PER_CHANNEL]     = { 0, VN_RECIPE_NPU, NULL, "per-channel=true" },
  [VN_CURE_BALANCE]         = { 0, 0, "balance-channels", "balance-channels=folded" },
  [VN_CURE_BIAS_ROOM]       = { 0, 0, NULL, "raise-weight-scales=true" },
  [VN_CURE_FLOAT_BIAS]      = { VN_RECIPE_HAS_PAIRS, 0, NULL, "quantize-bias=false" },
};

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
  g_return_val_if_fail (recipe != NULL && (guint) self < VN_N_CURES && cure_changes[self].settings != NULL, FALSE);

  return vn_recipe_change (recipe, &cure_changes[self]);
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

  return vn_recipe_suits_change (recipe, &(VnRecipeChange) { VN_RECIPE_HAS_PAIRS | VN_RECIPE_STORES_RANGES, VN_RECIPE_NPU });
}

/**
 * vn_cure_get_wide_type:
 *
 * Returns: of 16 bit, for activations of @recipe that have 8; %VN_DTYPE_UNDEFINED: none can have it
 */
VnDType
vn_cure_get_wide_type (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, VN_DTYPE_UNDEFINED);

  return vn_cure_can_widen (recipe) ? vn_cure_widen (recipe->activation) : VN_DTYPE_UNDEFINED;
}

/**
 * vn_cure_add_wide_region:
 * @dtype: of 16 bit
 * @values: (element-type VnValue): activations
 *
 * Gives @values 16 bit. A single tensor would gain little, as what reads it writes 8 bit again: so whatever the nodes around read
 * and write gets 16 bit, too, and across nodes that compute each number from few of one tensor. That ends at nodes with weights,
 * where 16 bit cost most and the conversion is part of what they do anyway: they round sums of more bits.
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
  vn_recipe_take_rule (recipe, rule);
}
