/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One node that is run by the kernel of its operator, again and again: its results are kept from call to call. */
#pragma once

#include "vn-gradient.h"

G_BEGIN_DECLS

/**
 * VnOpCall:
 * @ctx: of the operator; types, inputs and outputs are those of the last call
 * @in: (transfer none): by input
 * @out: (transfer full): by output; %NULL where the node leaves it out
 */
typedef struct
{
  VnOpContext   ctx;
  VnTensorType *in_types, *out_types;
  VnTensor    **in, **out;
} VnOpCall;

gboolean vn_op_call_init    (VnOpCall         *self,
                             const VnNode     *node,
                             GError          **error);
void     vn_op_call_clear   (VnOpCall         *self);
gboolean vn_op_call_run     (VnOpCall         *self,
                             VnScratch        *scratch,
                             GError          **error);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (VnOpCall, vn_op_call_clear)

G_END_DECLS
