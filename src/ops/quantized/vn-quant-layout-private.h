/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Which scale belongs to which element: per tensor, per axis or per block of an axis. */

#include "vn-elem.h"

G_BEGIN_DECLS

/**
 * VnQuantLayout: the tensor cut into runs of contiguous elements that share one scale, or have one scale each
 * (per_element: element i of the run has scale i).
 */
typedef struct
{
  gsize    n_runs;
  gsize    n_scales;
  gboolean per_element;

  /*< private >*/
  gint64   outer, dim, inner, block;
} VnQuantLayout;

/* What scales may be. */
#define VN_SCALE_BITS (VN_DTYPE_BIT (F32) | VN_HALF_BITS | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (F8E8M0))

/* Scales and zero points as the kernels want them. */
typedef struct
{
  float    *scales;
  gint32   *zero_points;   /* of integers */
} VnQuantParams;

/* Elements that are converted at once. */
#define VN_QUANT_PIECE 4096

/**
 * VnQuantPieceFunc:
 * @first: of @n elements, at most VN_QUANT_PIECE
 * @scale: index of the scale of the first one
 * @step: 0: all have that scale; 1: each has its own
 */
typedef void (*VnQuantPieceFunc) (gconstpointer data,
                                  gsize         first,
                                  gsize         n,
                                  gsize         scale,
                                  gsize         step);

gboolean vn_quant_layout_init   (VnQuantLayout       *self,
                                 VnOpContext         *ctx,
                                 GError             **error);
void     vn_quant_layout_run    (const VnQuantLayout *self,
                                 gsize                run,
                                 gsize               *first,
                                 gsize               *n,
                                 gsize               *scale);
void     vn_quant_layout_each_piece (const VnQuantLayout *self,
                                     VnOpContext         *ctx,
                                     gboolean             in_order,
                                     VnQuantPieceFunc     func,
                                     gconstpointer        data);
gboolean vn_quant_check         (VnOpContext         *ctx,
                                 GError             **error);
gsize    vn_quant_scratch_bytes (VnOpContext         *ctx);
void     vn_quant_params_init   (VnQuantParams       *self,
                                 VnOpContext         *ctx);

G_END_DECLS
