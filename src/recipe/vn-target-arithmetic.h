/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How targets compute otherwise than our engine. */

#include "vn-arithmetic.h"
#include "vn-preset.h"

G_BEGIN_DECLS

VnArithmetic vn_target_get_arithmetic       (const VnPreset *self);
char        *vn_target_dup_with_arithmetic  (void);

G_END_DECLS
