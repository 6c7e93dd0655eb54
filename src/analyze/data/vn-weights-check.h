/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Finds weights that are NaN or infinite. */

#include "vn-model.h"

G_BEGIN_DECLS

guint vn_weights_check (const VnModel *model,
                        VnNotes       *notes);

G_END_DECLS
