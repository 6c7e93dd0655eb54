/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Sizes that are known by name only.
 *
 * Where a network leaves sizes of its inputs open, inference computes with names instead of numbers. A *number* here is
 * a gint64 that is either an ordinary integer or stands for an expression: a polynomial over symbols and over what no
 * polynomial can say (quotients rounded down, minima, maxima), divided by an integer. Expressions are kept in a normal
 * form and only once, so two numbers that can be shown to be equal are the same gint64. They are far below every size
 * and below VN_DIM_UNKNOWN, so code that asks “dim < 0?” takes them for unknown. They mean something only together
 * with the VnDims that made them.
 *
 * All functions that compute take %NULL for the VnDims and then return %VN_DIM_UNKNOWN; what they cannot express
 * becomes a new symbol. */

#include "vn-shape.h"

G_BEGIN_DECLS

typedef struct _VnDims VnDims;

typedef gint64 (*VnDimsFunc) (VnDims *self,
                              gint64  a,
                              gint64  b);

VnDims   *vn_dims_new         (void);
void      vn_dims_free        (VnDims     *self);

gboolean  vn_dims_is_symbolic (gint64      number);
void      vn_dims_take_name   (VnDims     *self,
                               const char *name);
gint64    vn_dims_symbol      (VnDims     *self,
                               const char *name,
                               gint64      lower);
gint64    vn_dims_fresh       (VnDims     *self,
                               gint64      lower);
void      vn_dims_rename      (VnDims     *self,
                               gint64      number,
                               const char *name);
gint64    vn_dims_from_double (VnDims     *self,
                               double      value);
gboolean  vn_dims_get_double  (VnDims     *self,
                               gint64      number,
                               double     *value);
gint64    vn_dims_get_lower   (VnDims     *self,
                               gint64      number);
gint64    vn_dims_check       (VnDims     *self,
                               gint64      dim);
gint64    vn_dims_as_size     (VnDims     *self,
                               gint64      number);
char     *vn_dims_to_string   (VnDims     *self,
                               gint64      number);

gint64    vn_dims_add         (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_sub         (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_mul         (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_div         (VnDims     *self,
                               gint64      a,
                               gint64      b);   /* exactly */
gint64    vn_dims_floor_div   (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_ceil_div    (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_mod         (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_min         (VnDims     *self,
                               gint64      a,
                               gint64      b);
gint64    vn_dims_max         (VnDims     *self,
                               gint64      a,
                               gint64      b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnDims, vn_dims_free)

G_END_DECLS
