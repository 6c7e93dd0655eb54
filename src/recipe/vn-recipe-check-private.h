/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Checks of what the settings and rules of a recipe hold, as the tables of settings name them. */

#include "vn-recipe.h"

G_BEGIN_DECLS

gboolean vn_override_check_name       (const char       *name,
                                       GError          **error);
gboolean vn_override_check_tensors    (const VnOverride *self,
                                       const char       *where,
                                       GError          **error);
gboolean vn_recipe_check_pass         (const char       *id,
                                       GError          **error);
gboolean vn_recipe_check_channel_axis (const char       *text,
                                       GError          **error);
gboolean vn_recipe_check_fixed_range  (const char       *text,
                                       GError          **error);
gboolean vn_recipe_check_fuse         (const char       *text,
                                       GError          **error);
gboolean vn_recipe_check_number       (const char       *text,
                                       GError          **error);

G_END_DECLS
