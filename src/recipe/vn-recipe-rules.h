/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The rules of a recipe, for those who follow one: what matches a node, settings of layers, numbers of tensors. */

#include "vn-calibrate.h"
#include "vn-format-traits.h"
#include "vn-op.h"
#include "vn-recipe.h"
#include "vn-setting.h"

G_BEGIN_DECLS

#define VN_PATTERN_TYPE_PREFIX "type:"
#define VN_PATTERN_COMPUTED_PREFIX "computed:"   /* operators of nodes that read no constant */

gboolean vn_override_matches_labelled  (const VnOverride *self,
                                        const VnNode     *node,
                                        const char       *label);
gboolean vn_pattern_matches_node       (const char       *pattern,
                                        const VnNode     *node,
                                        const char       *label);
gboolean vn_override_is_for_tensors    (const VnOverride *self);
int      vn_override_get_layer_setting (const VnOverride *self,
                                        VnLayerSetting    which);
int      vn_recipe_get_layer_setting   (const VnRecipe   *self,
                                        VnLayerSetting    which);
gboolean vn_recipe_get_channel_axis    (const VnRecipe   *self,
                                        const char       *op_type,
                                        int              *axis);
gboolean vn_recipe_get_fixed_range     (const VnRecipe   *self,
                                        const char       *op_type,
                                        VnDType           dtype,
                                        double           *min,
                                        double           *max);
gboolean vn_recipe_has_wide_share      (const VnRecipe   *self);
gboolean vn_answer_or                  (VnAnswer          answer,
                                        gboolean          otherwise);
gboolean vn_recipe_parse_numbers       (char            **list,
                                        gsize             n,
                                        const char       *name,
                                        double           *numbers,
                                        GError          **error);

G_END_DECLS
