/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What two networks have in common. */
#pragma once

#include "vn-model.h"

G_BEGIN_DECLS

GHashTable *vn_recompare_list_same (const VnModel  *base,
                                    const VnModel  *changed,
                                    GError        **error);

G_END_DECLS
