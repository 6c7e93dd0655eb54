/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-recipe.h"

G_BEGIN_DECLS

/**
 * VnHistory: what a recipe was before each change of it, to be taken back and done again.
 */
typedef struct _VnHistory VnHistory;

VnHistory  *vn_history_new      (void);
void        vn_history_free     (VnHistory *self);
void        vn_history_clear    (VnHistory *self);
void        vn_history_push     (VnHistory  *self,
                                 VnRecipe   *before,
                                 const char *title);
gboolean    vn_history_contains (const VnHistory *self,
                                 const VnRecipe  *recipe);
gboolean    vn_history_can_undo (VnHistory *self);
gboolean    vn_history_can_redo (VnHistory *self);
const char *vn_history_undo     (VnHistory  *self,
                                 VnRecipe  **recipe);
const char *vn_history_redo     (VnHistory  *self,
                                 VnRecipe  **recipe);

G_END_DECLS
