/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What can be said of a network and a recipe before any sample is run. */
#pragma once

#include "vn-recipe.h"

G_BEGIN_DECLS

gboolean vn_preflight (const VnModel   *prepared,
                       const VnRecipe  *recipe,
                       guint            n_samples,
                       VnNotes         *notes,
                       double          *gain_db,
                       GError         **error);

G_END_DECLS
