/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Logits of language models as numbers whose squared differences are divergence. */

#include "vn-error-sum.h"
#include "vn-model.h"

G_BEGIN_DECLS

gboolean vn_value_is_logits (const VnValue   *self);
gboolean vn_logits_weigh    (const VnTensor  *wanted,
                             const VnTensor  *found,
                             VnTensor       **f,
                             VnTensor       **q,
                             GError         **error);
gboolean vn_logits_add_errors (const VnTensor *wanted,
                             const VnTensor  *found,
                             VnErrorSum      *sum,
                             GError         **error);

G_END_DECLS
