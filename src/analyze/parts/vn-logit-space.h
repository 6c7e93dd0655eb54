/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Logits of language models as numbers whose squared differences are divergence. */

#include "vn-model.h"

G_BEGIN_DECLS

gboolean vn_value_is_logits       (const VnValue   *self);
gboolean vn_logits_weigh          (const VnTensor  *wanted,
                                   const VnTensor  *found,
                                   VnTensor       **f,
                                   VnTensor       **q,
                                   GError         **error);
void     vn_logits_weigh_position (const float     *z,
                                   const float     *other,
                                   gsize            n,
                                   double          *roots,
                                   float           *f,
                                   float           *q);

G_END_DECLS
