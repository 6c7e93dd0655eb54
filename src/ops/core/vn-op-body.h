/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-op-kernel.h"

G_BEGIN_DECLS

/* Operators with graphs in their attributes: If, Loop, Scan, SequenceMap. */

#define VN_BODY_ANY G_MAXUINT

const VnGraph *vn_op_get_body       (VnOpContext       *ctx,
                                     const char        *attr,
                                     guint              n_inputs,
                                     guint              n_outputs,
                                     GError           **error);
VnTensorType   vn_op_body_type      (const VnOpContext *ctx,
                                     const VnGraph     *graph,
                                     guint              i);
gboolean       vn_op_run_body       (VnOpContext       *ctx,
                                     const VnGraph     *graph,
                                     VnTensor * const  *inputs,
                                     VnTensor         **outputs,
                                     GError           **error);
void           vn_body_values_clear (VnTensor         **values,
                                     guint              n);
gboolean       vn_op_gather         (VnOpContext       *ctx,
                                     GPtrArray         *gathered,
                                     VnTensor         **value,
                                     gsize             *n_bytes,
                                     GError           **error);
gboolean       vn_op_need_inputs    (VnOpContext       *ctx,
                                     guint              first,
                                     GError           **error);
gboolean       vn_op_check_flag     (VnOpContext       *ctx,
                                     const VnTensor    *tensor,
                                     const char        *what,
                                     gboolean          *flag,
                                     GError           **error);

/* ---- pieces along one axis, of every element type (vn-slab.c) ---- */

VnTensor      *vn_slab_take         (const VnTensor    *tensor,
                                     int                axis,
                                     gint64             first,
                                     gint64             n,
                                     gboolean           keep_axis,
                                     GError           **error);
VnTensor      *vn_slab_join         (GPtrArray         *tensors,
                                     int                axis,
                                     gboolean           new_axis,
                                     GError           **error);

G_END_DECLS
