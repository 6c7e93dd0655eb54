/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How many floating point operations a node takes. */

#include "vn-op.h"

G_BEGIN_DECLS

double vn_op_count_flops (const VnNode       *node,
                          const VnTensorType *in_types,
                          guint               n_inputs,
                          const VnTensorType *out_types,
                          guint               n_outputs);

G_END_DECLS
