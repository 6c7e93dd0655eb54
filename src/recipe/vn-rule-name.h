/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-model.h"
#include "vn-recipe.h"

G_BEGIN_DECLS

/* What a rule is called that nobody has named yet. */

char *vn_rule_name_of_nodes    (const VnGraph    *graph,
                                const guint      *nodes,
                                guint             n);
char *vn_rule_name_of_tensors  (const VnOverride *rule,
                                const VnGraph    *graph);    /* nullable */
char *vn_rule_name_make_unique (const VnRecipe   *recipe,
                                const char       *name);

G_END_DECLS
