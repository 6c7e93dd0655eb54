/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Operators of two inputs that broadcast: a table of kernels by element type, one driver. */

#include "vn-elem.h"

G_BEGIN_DECLS

/**
 * VnBinaryFunc: one row: y[i] = f (a[i * sa], b[i * sb]); sa and sb are 0 or 1
 */
typedef void (*VnBinaryFunc) (gconstpointer a,
                              gsize         sa,
                              gconstpointer b,
                              gsize         sb,
                              gpointer      y,
                              gsize         n);

/* Defines a VnBinaryFunc from an expression in a and b. Three loops, so that each vectorises. */
#define VN_BINARY_KERNEL(attribute, name, type, out_type, expression)                              \
  attribute                                                                                         \
  static void                                                                                       \
  name (gconstpointer pa, gsize sa, gconstpointer pb, gsize sb, gpointer py, gsize n)               \
  {                                                                                                 \
    const type *va = pa, *vb = pb;                                                                  \
    out_type *y = py;                                                                               \
                                                                                                    \
    if (sa != 0 && sb != 0)                                                                         \
      for (gsize i = 0; i < n; i++)                                                                 \
        {                                                                                           \
          const type a = va[i], b = vb[i];                                                          \
          y[i] = (expression);                                                                      \
        }                                                                                           \
    else if (sa != 0)                                                                               \
      {                                                                                             \
        const type b = *vb;                                                                         \
        for (gsize i = 0; i < n; i++)                                                               \
          {                                                                                         \
            const type a = va[i];                                                                   \
            y[i] = (expression);                                                                    \
          }                                                                                         \
      }                                                                                             \
    else                                                                                            \
      {                                                                                             \
        const type a = *va;                                                                         \
        for (gsize i = 0; i < n; i++)                                                               \
          {                                                                                         \
            const type b = vb[i * sb];                                                              \
            y[i] = (expression);                                                                    \
          }                                                                                         \
      }                                                                                             \
  }

#define VN_N_ELEM_TYPES (VN_DTYPE_F8E8M0 + 1)

gboolean vn_binary_infer     (VnOpContext        *ctx,
                              GError            **error);   /* output of the inputs' type */
gboolean vn_binary_infer_bool (VnOpContext       *ctx,
                              GError            **error);
gboolean vn_binary_infer_unchecked (VnOpContext  *ctx,
                              VnDType             dtype,
                              GError            **error);
VnShape  vn_binary_shape     (VnOpContext        *ctx,
                              guint               input);   /* with the `axis` of opsets before 7 followed */
gboolean vn_binary_run       (VnOpContext        *ctx,
                              const VnBinaryFunc *funcs,    /* by VnDType; halves go through float32 */
                              GError            **error);
void     vn_binary_apply     (VnBinaryFunc        func,
                              VnDType             dtype,
                              gsize               out_size,
                              const VnShape      *shapes[2],
                              gconstpointer       a,
                              gconstpointer       b,
                              const VnShape      *out_shape,
                              gpointer            y,
                              const VnActivation *activation);
void     vn_clamp_row        (VnDType             dtype,
                              const VnActivation *activation,
                              gpointer            y,
                              gsize               n);

G_END_DECLS
