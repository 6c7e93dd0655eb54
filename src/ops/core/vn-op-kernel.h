/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What kernels of operators include: the descriptors of all, errors and checked sizes, and work split over threads. */

#include "vn-checked.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-multiversion.h"
#include "vn-op.h"

#include <string.h>

G_BEGIN_DECLS

#define VN_OP(name) extern const VnOp name;
#include "vn-ops.def"
#undef VN_OP

/* What axes, shapes and numbers of things are given as; and what indices are. */
#define VN_LENGTH_BITS VN_DTYPE_BIT (S64)
#define VN_INDEX_BITS  (VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64))

/* What a quantizer does with operators it handles in a common way: the values of VnOp.quant. */
#define VN_QUANT_TRAITS(role, ort) { (role), -1, -1, -1, (ort), 0.f, 0.f }

/* ---- element types (vn-op-util.c) ---- */

gboolean vn_op_check_alike (VnOpContext  *ctx,
                            guint         inputs,
                            GError      **error);

/* ---- ends of results (vn-op-util.c) ---- */

void vn_op_ends_widen (VnOpEnds    *self,
                       gsize        first,
                       gsize        n,
                       const float *low,
                       const float *high,
                       gboolean     strange);

/* ---- work split over threads (vn-op-parallel.c) ---- */

typedef void (*VnOpItemFunc)  (gpointer data,
                               gsize    item,
                               guint    worker);
typedef void (*VnOpRangeFunc) (gpointer data,
                               gsize    first,
                               gsize    n);

guint vn_op_max_workers (void);
void vn_op_for_items  (const VnOpContext *ctx,
                       gsize              n_items,
                       double             cost,
                       VnOpItemFunc       func,
                       gpointer           data);
void vn_op_for_ranges (const VnOpContext *ctx,
                       gsize              n,
                       double             cost,
                       VnOpRangeFunc      func,
                       gpointer           data);

G_END_DECLS
