/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Indices from tensors: read and checked one by one, because they come from the model or the data. */

#include "vn-elem.h"

G_BEGIN_DECLS

gboolean vn_index_load (VnOpContext    *ctx,
                        const VnTensor *indices,
                        gsize           i,
                        gint64          dim,
                        gsize          *index,
                        GError        **error);

/**
 * VnReduction: how a scattered element is combined with the one that is there.
 */
typedef enum
{
  VN_REDUCTION_NONE,
  VN_REDUCTION_ADD,
  VN_REDUCTION_MUL,
  VN_REDUCTION_MIN,
  VN_REDUCTION_MAX,
} VnReduction;

gboolean vn_reduction_get   (VnOpContext    *ctx,
                             VnReduction    *reduction,
                             GError        **error);
void     vn_reduction_apply (VnReduction     reduction,
                             VnDType         dtype,
                             gpointer        to,
                             gconstpointer   from,
                             gsize           n);

G_END_DECLS
