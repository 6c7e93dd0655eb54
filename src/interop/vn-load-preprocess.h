/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How samples are prepared, out of a file of ours or of another quantizer. */

#include "vn-config.h"

G_BEGIN_DECLS

VnDataSpec *vn_load_preprocess (const char        *path,
                                const VnDataSpec  *present,
                                const VnModel     *model,
                                GError           **error);

G_END_DECLS
