/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-document.h"

#include <adwaita.h>

G_BEGIN_DECLS

/**
 * VnRecipePanel: the target, the rules, which can be named, moved, switched off and taken away, and the runs.
 *
 * Property n-rules (guint): how many rules it shows.
 */
#define VN_TYPE_RECIPE_PANEL (vn_recipe_panel_get_type ())
G_DECLARE_FINAL_TYPE (VnRecipePanel, vn_recipe_panel, VN, RECIPE_PANEL, AdwBin)

void     vn_recipe_panel_set_document    (VnRecipePanel *self,
                                          VnDocument    *document);
gboolean vn_recipe_panel_rename_selected (VnRecipePanel *self);

G_END_DECLS
