/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Recipes as a part of other files. */

#include "vn-json.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

JsonNode *vn_recipe_to_node   (const VnRecipe  *self,
                               const char      *folder);
VnRecipe *vn_recipe_from_node (JsonNode        *node,
                               const char      *name,
                               const char      *folder,
                               GError         **error);

G_END_DECLS
