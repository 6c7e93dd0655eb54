/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which operators take subnormal numbers for 0. */

#include "vn-op.h"

G_BEGIN_DECLS

gboolean vn_op_flushes (const VnOp *op,
                        VnDType     dtype);

G_END_DECLS
