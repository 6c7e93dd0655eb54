/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The inner loops of poolings, and what the pooling operators share. */

#include "vn-sliding-window.h"

G_BEGIN_DECLS

typedef enum
{
  VN_POOL_PLAIN,
  VN_POOL_AVERAGE,   /* divide by the number of taps */
  VN_POOL_LP,        /* take the root */
} VnPoolFinish;

/**
 * VnPoolKind: the inner loops of a pooling.
 * @lines: to[i] = from[i] (if @first) or to[i] combined with from[i]; @p is the exponent of LpPool
 * @fill: the neutral element
 * @columns: to[i] combined with from[i * stride]
 * @blocks: (nullable): the same for blocks of @unit floats
 */
typedef struct
{
  void       (*lines)   (gconstpointer from,
                         gpointer      to,
                         gsize         n,
                         float         p,
                         gboolean      first);
  void       (*fill)    (gpointer      to,
                         gsize         n);
  void       (*columns) (gconstpointer from,
                         gpointer      to,
                         gsize         stride,
                         gsize         n);
  void       (*blocks)  (const float  *from,
                         float        *to,
                         gsize         unit,
                         gsize         stride,
                         gsize         n);
  VnPoolFinish finish;
} VnPoolKind;

const VnPoolKind *vn_pool_average_kind (VnDType dtype);
const VnPoolKind *vn_pool_lp_kind      (VnDType dtype);
const VnPoolKind *vn_pool_max_kind     (VnDType dtype);
float             vn_pool_exponent     (const VnOpContext *ctx);
gboolean          vn_pool_run_average  (VnOpContext       *ctx,
                                        GError           **error);
gboolean          vn_pool_run_lp       (VnOpContext       *ctx,
                                        GError           **error);
gboolean          vn_pool_run_max      (VnOpContext       *ctx,
                                        GError           **error);

G_END_DECLS
