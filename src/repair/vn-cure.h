/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cure changes in a recipe. */
#pragma once

#include "vn-diagnose.h"

G_BEGIN_DECLS

gboolean vn_cure_apply (VnCure           self,
                        VnRecipe        *recipe,
                        VnRun           *result,
                        const VnFinding *finding);

/* ---- cure-recipe.c: the same without a finding ---- */

gboolean vn_cure_change          (VnCure          self,
                                  VnRecipe       *recipe);
VnDType  vn_cure_widen           (VnDType         dtype);
VnDType  vn_cure_get_wide_type   (const VnRecipe *recipe);
gboolean vn_cure_can_widen       (const VnRecipe *recipe);
void     vn_cure_add_wide_region (VnRecipe       *recipe,
                                  VnDType         dtype,
                                  GPtrArray      *values);

G_END_DECLS
