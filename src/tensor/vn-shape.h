/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Shapes of tensors. */

#include <glib.h>

G_BEGIN_DECLS

#define VN_MAX_RANK 8
#define VN_DIM_UNKNOWN ((gint64) -1)
#define VN_RANK_UNKNOWN (-1)

/* Of dims known by name: whether it is certainly above 1, so that no other dim but 1 and an equal one goes with it. */
#define VN_DIM_IS_LONG(dim) ((dim) < VN_DIM_UNKNOWN && ((dim) & 1) != 0)

/**
 * VnShape:
 * @rank: 0 .. VN_MAX_RANK, or VN_RANK_UNKNOWN
 * @dims: each >= 0, or negative: not known. Outside of inference that is VN_DIM_UNKNOWN; while types are inferred,
 *   other negative numbers are sizes known by name (vn-dims.h)
 *
 * A plain value: copy by assignment.
 */
typedef struct
{
  int    rank;
  gint64 dims[VN_MAX_RANK];
} VnShape;

#define VN_SHAPE(...)                                                        \
  ((VnShape) { sizeof ((gint64[]) { __VA_ARGS__ }) / sizeof (gint64), { __VA_ARGS__ } })
#define VN_SHAPE_SCALAR ((VnShape) { 0 })
#define VN_SHAPE_UNKNOWN ((VnShape) { VN_RANK_UNKNOWN })

gboolean vn_shape_is_static     (const VnShape *self);
gboolean vn_shape_equal         (const VnShape *a,
                                 const VnShape *b);
gboolean vn_shape_n_elements    (const VnShape *self,
                                 gsize         *n);
gint64   vn_shape_count         (const VnShape *self,
                                 int            first,
                                 int            last);
gboolean vn_shape_broadcast     (const VnShape *a,
                                 const VnShape *b,
                                 VnShape       *out);
gboolean vn_shape_resolve_axis  (const VnShape *self,
                                 gint64         axis,
                                 int           *resolved);
void     vn_shape_strides       (const VnShape *self,
                                 gint64         strides[VN_MAX_RANK]);
char    *vn_shape_to_string     (const VnShape *self,
                                 const char    *separator);

G_END_DECLS
