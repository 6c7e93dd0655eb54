/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which settings another quantizer needs to be told at all. */
#pragma once

#include "vn-recipe.h"
#include "vn-setting.h"

G_BEGIN_DECLS

gboolean _vn_export_setting_counts (const VnSetting *setting,
                                    const VnRecipe  *recipe,
                                    const VnRecipe  *base,     /* nullable */
                                    VnNotes         *run);     /* nullable */

G_END_DECLS
