/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-elem.h"

G_BEGIN_DECLS

/**
 * VnReduceKind: what is accumulated; LOG_SUM and the like are a sum and a function of the result
 */
typedef enum
{
  VN_REDUCE_SUM,
  VN_REDUCE_SUM_ABS,
  VN_REDUCE_SUM_SQUARE,
  VN_REDUCE_MAX,
  VN_REDUCE_MIN,
  VN_REDUCE_PROD,
  VN_N_REDUCE_KINDS
} VnReduceKind;

#define VN_REDUCE_LANES 16
#define VN_REDUCE_PIECE 1024

/* One row into 16 partial results: element i goes to lane i % 16. */
typedef void (*VnReduceRow)  (gconstpointer x,
                              gpointer      lanes,
                              gsize         n);
/* Element i into result i. */
typedef void (*VnReduceRows) (gconstpointer x,
                              gpointer      results,
                              gsize         n);

typedef struct
{
  VnReduceRow  row;
  VnReduceRows rows;
} VnReduceKernel;

/* Kernels for elements of float and double into double, of gint64 into gint64, and of guint64 into guint64. */
const VnReduceKernel *vn_reduce_kernel_f32 (VnReduceKind kind);
const VnReduceKernel *vn_reduce_kernel_f64 (VnReduceKind kind);
const VnReduceKernel *vn_reduce_kernel_s64 (VnReduceKind kind);
const VnReduceKernel *vn_reduce_kernel_u64 (VnReduceKind kind);

/**
 * VnReducePlan: kept and reduced dims, neighbours merged. If the last dim is reduced (row_reduced), rows of it are
 * summed; otherwise rows of results are.
 */
typedef struct
{
  gboolean row_reduced;
  gsize    row;                       /* length of the last dim */
  int      n_kept, n_reduced;         /* without the last dim */
  gint64   kept[VN_MAX_RANK], kept_stride[VN_MAX_RANK];
  gint64   reduced[VN_MAX_RANK], reduced_stride[VN_MAX_RANK];
  gsize    count;                     /* elements per result */
} VnReducePlan;

gboolean vn_reduce_resolve   (VnOpContext       *ctx,
                              gboolean           axes_input,
                              guint             *mask,
                              gboolean          *known,
                              GError           **error);
void     vn_reduce_shape     (const VnShape     *input,
                              guint              mask,
                              gboolean           keep,
                              VnShape           *out);
void     vn_reduce_plan_init (VnReducePlan      *self,
                              const VnShape     *shape,
                              guint              mask);

G_END_DECLS
