/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Changing recipes by the names of settings: what is tried, repaired or read from other tools is a table of such changes. */

#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnRecipeFacts: what a change may need of a recipe, or not do with.
 * @VN_RECIPE_STORES_RANGES: ranges of activations are stored in the result
 * @VN_RECIPE_HAS_PAIRS: its format has pairs of QuantizeLinear and DequantizeLinear
 * @VN_RECIPE_FUSES: what stands between two nodes can stay float, and nothing says that none of it does
 * @VN_RECIPE_SHIFTS: scales are powers of two, one for each weight, and ranges are stored
 * @VN_RECIPE_FREE_SCALES: its range method is for scales of any size
 * @VN_RECIPE_DYNAMIC: ranges are found while the network runs; @VN_RECIPE_DYNAMIC_PRODUCTS: for products of integers
 * @VN_RECIPE_FOLDS_FACTORS: channels of activations may be scaled, and nodes around them can take the factors
 * @VN_RECIPE_NPU: scales keep to the shifts of a neural processor
 * @VN_RECIPE_HAS_CHANNELS: weights have a scale for each channel
 * @VN_RECIPE_IMPORTS: tables with ranges of tensors are named
 * @VN_RECIPE_CAN_PLACE: its target computes some of what could be quantized in float as well
 * @VN_RECIPE_SIXTEEN: its target computes 16 bit on integers
 * @VN_RECIPE_CORRECTS_BIASES, @VN_RECIPE_TRAINS: somewhere, by a rule or everywhere
 */
typedef enum
{
  VN_RECIPE_STORES_RANGES    = 1 << 0,
  VN_RECIPE_HAS_PAIRS        = 1 << 1,
  VN_RECIPE_FUSES            = 1 << 2,
  VN_RECIPE_SHIFTS           = 1 << 3,
  VN_RECIPE_FREE_SCALES      = 1 << 4,
  VN_RECIPE_DYNAMIC          = 1 << 5,
  VN_RECIPE_DYNAMIC_PRODUCTS = 1 << 6,
  VN_RECIPE_FOLDS_FACTORS    = 1 << 7,
  VN_RECIPE_NPU              = 1 << 8,
  VN_RECIPE_HAS_CHANNELS     = 1 << 9,
  VN_RECIPE_IMPORTS          = 1 << 10,
  VN_RECIPE_CAN_PLACE        = 1 << 11,
  VN_RECIPE_SIXTEEN          = 1 << 12,
  VN_RECIPE_CORRECTS_BIASES  = 1 << 13,
  VN_RECIPE_TRAINS           = 1 << 14,
} VnRecipeFacts;

/**
 * VnRecipeChange:
 * @needs: all of these must hold
 * @excludes: none of these may hold
 * @unset: (nullable): ids of settings that must have their defaults: "equalize balance-channels"
 * @settings: what is set: "op-types=MatMul float-output-types=MatMul"; there is nothing to change where the first is so already
 */
typedef struct
{
  VnRecipeFacts  needs, excludes;
  const char    *unset, *settings;
} VnRecipeChange;

VnRecipeFacts vn_recipe_get_facts      (const VnRecipe        *self);
gboolean      vn_recipe_suits_change   (const VnRecipe        *self,
                                        const VnRecipeChange  *change);
gboolean      vn_recipe_change         (VnRecipe              *self,
                                        const VnRecipeChange  *change);
gboolean      vn_recipe_append         (VnRecipe              *self,
                                        const char            *id,
                                        const char * const    *names);
void          vn_recipe_take_rule      (VnRecipe              *self,
                                        VnOverride            *rule);
gboolean      vn_recipe_excludes_tensors (const VnRecipe      *self,
                                          const char * const  *tensors);
gboolean      vn_recipe_equal_in       (const VnRecipe        *a,
                                        const VnRecipe        *b,
                                        const char            *ids);

G_END_DECLS
