/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cure changes in a recipe. */
#pragma once

#include "vn-diagnose.h"

G_BEGIN_DECLS

gboolean vn_cure_apply (VnCure           self,
                        VnRecipe        *recipe,
                        VnResult        *result,
                        const VnFinding *finding);

G_END_DECLS
