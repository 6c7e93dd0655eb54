/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a float network shows inside its nodes, kept until a quantized one shows the same round. */
#pragma once

#include "vn-tensor.h"

G_BEGIN_DECLS

/**
 * CompareRounds: of one sample. A Loop is one step of its network: all rounds of the float one are over before the first of the
 * quantized one.
 */
typedef struct _CompareRounds CompareRounds;

CompareRounds *vn_compare_rounds_new   (void);
void           vn_compare_rounds_free  (CompareRounds   *self);
void           vn_compare_rounds_clear (CompareRounds   *self);
gboolean       vn_compare_rounds_keep  (CompareRounds   *self,
                                        guint            tap,
                                        guint64          round,
                                        const VnTensor  *tensor,
                                        GError         **error);
gboolean       vn_compare_rounds_take  (CompareRounds   *self,
                                        guint            tap,
                                        guint64          round,
                                        VnTensor       **tensor);   /* nullable: too much to be kept */

G_END_DECLS
