/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Operators that stand for others where a model is run as a target computes it. */

#include "vn-op.h"

G_BEGIN_DECLS

extern const VnOp vn_op_narrow_product;

const VnOp *vn_op_get_half_up (const VnOp *op);

G_END_DECLS
