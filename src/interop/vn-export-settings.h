/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-recipe.h"

#include "vn-dataset.h"

G_BEGIN_DECLS

/* Settings in the form of other quantizers. What they cannot say is told in @notes and left out. */

char *vn_recipe_to_ort_script (const VnRecipe    *self,
                               const VnModel     *model,
                               const char        *path,      /* of @model */
                               const VnDataSpec  *data,      /* nullable */
                               VnNotes           *run,       /* nullable */
                               VnNotes           *notes);
char *vn_recipe_to_xquant     (const VnRecipe    *self,
                               const VnModel     *model,
                               const char        *path,
                               const VnDataSpec  *data,      /* nullable */
                               VnNotes           *run,       /* nullable */
                               VnNotes           *notes);

G_END_DECLS
