/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which presets suit a network, as far as its inputs tell. */

#include "vn-model.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

GPtrArray *vn_suggest_presets    (const VnModel *model,   /* nullable */
                                  guint         *n_first);
char      *vn_suggest_dup_reason (const VnModel *model);  /* nullable */

G_END_DECLS
