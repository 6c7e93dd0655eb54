/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a language model hands on to its next run, beside its answer. */

#include "vn-model.h"

G_BEGIN_DECLS

gboolean vn_value_is_cache (const VnValue *self);

G_END_DECLS
