/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Elements of any number type, one by one; and orders of them. */

#include "vn-elem.h"

G_BEGIN_DECLS

#define VN_FULL_FLOAT_BITS (VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64))

/**
 * VnOrderFunc:
 *
 * Returns: negative, zero or positive as item @a comes before, beside or after item @b
 */
typedef int (*VnOrderFunc) (gconstpointer data,
                            gsize         a,
                            gsize         b);

void     vn_number_store   (VnDType          dtype,
                            gpointer         data,
                            gsize            i,
                            double           value);
gboolean vn_number_scalar  (VnOpContext     *ctx,
                            guint            input,
                            double          *value,
                            gboolean        *known,
                            GError         **error);
gboolean vn_number_size    (VnOpContext     *ctx,
                            guint            input,
                            gint64           min,
                            gint64          *value,
                            gboolean        *known,
                            GError         **error);
gboolean vn_order_sort     (gsize           *items,
                            gsize            n,
                            VnOrderFunc      func,
                            gconstpointer    data,
                            GError         **error);
gpointer vn_op_try_alloc   (gsize            n,
                            gsize            size,
                            GError         **error);

G_END_DECLS
