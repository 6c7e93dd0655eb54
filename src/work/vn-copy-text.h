/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What is selected, as text for other programs. */

#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnCopyKind: what of it is copied.
 * @VN_COPY_NAME: names, one in a line
 * @VN_COPY_TYPE: of nodes their operator and what they give, of tensors type and shape
 * @VN_COPY_JSON: an array of objects: of nodes name, operator, attributes, inputs and outputs
 * @VN_COPY_RULE: the rule of the recipe that holds for each node, or one that leaves it in float, as “--rule” takes it
 */
typedef enum { VN_COPY_NAME, VN_COPY_TYPE, VN_COPY_JSON, VN_COPY_RULE, VN_N_COPY_KINDS } VnCopyKind;

gboolean  vn_copy_kind_find  (const char           *id,
                              VnCopyKind           *kind);
char     *vn_copy_nodes      (const VnRecipe       *recipe,
                              const VnNode * const *nodes,
                              guint                 n,
                              VnCopyKind            kind);
char     *vn_copy_tensor     (const VnValue        *value,
                              VnCopyKind            kind);

G_END_DECLS
