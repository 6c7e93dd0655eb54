/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnRecipePanel: the target and the rules for single nodes, which can be switched off and taken away.
 */
#define VN_TYPE_RECIPE_PANEL (vn_recipe_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, VN, RECIPE_PANEL, AdwBin)

void vn_recipe_panel_set_document (VnRecipePanel *self,
                                   VnDocument    *document);

G_END_DECLS
