/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Element types, strided copies and broadcasting: shared by the operators that work element by element. */

#include "vn-half.h"
#include "vn-op-kernel.h"

#include <math.h>

G_BEGIN_DECLS

/* X (name in VnDType, C type, argument passed on) */
#define VN_SIGNED_TYPES(X, arg)   X (S8, gint8, arg) X (S16, gint16, arg) X (S32, gint32, arg) X (S64, gint64, arg)
#define VN_UNSIGNED_TYPES(X, arg) X (U8, guint8, arg) X (U16, guint16, arg) X (U32, guint32, arg) X (U64, guint64, arg)
#define VN_INTEGER_TYPES(X, arg)  VN_UNSIGNED_TYPES (X, arg) VN_SIGNED_TYPES (X, arg)
#define VN_FLOAT_TYPES(X, arg)    X (F32, float, arg) X (F64, double, arg)

/* Integers of 8 and 16 bits: what activations are quantized to, but for the packed ones. */
#define VN_CODE_BITS    (VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16))
#define VN_INTEGER_BITS (VN_CODE_BITS | \
                         VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (U64) | VN_DTYPE_BIT (S64))
#define VN_HALF_BITS    (VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (BF16))
#define VN_FLOAT_BITS   (VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F64) | VN_HALF_BITS)
#define VN_NUMBER_BITS  (VN_INTEGER_BITS | VN_FLOAT_BITS)
#define VN_EIGHT_BITS   (VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E4M3UZ) | VN_DTYPE_BIT (F8E5M2) | \
                         VN_DTYPE_BIT (F8E5M2UZ) | VN_DTYPE_BIT (F8E8M0))
/* Types whose elements are whole bytes and own nothing: what operators that only move values accept. */
#define VN_MOVABLE_BITS (VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128) | VN_EIGHT_BITS)
#define VN_PACKED_BITS  (VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2) | \
                         VN_DTYPE_BIT (F4E2M1))

/* ---- types and attributes ---- */

gsize    vn_elem_size            (VnDType       dtype);          /* 0 if it cannot be moved byte by byte */
gboolean vn_op_unsupported       (VnOpContext  *ctx,
                                  guint         input,
                                  GError      **error);
gboolean vn_op_check_movable     (VnOpContext  *ctx,
                                  GError      **error);
gboolean vn_op_check_same_dtype  (VnOpContext  *ctx,
                                  guint         a,
                                  guint         b,
                                  GError      **error);
gboolean vn_op_check_index_dtype (VnOpContext  *ctx,
                                  guint         input,
                                  GError      **error);
gboolean vn_op_axis              (VnOpContext  *ctx,
                                  const VnShape *shape,
                                  gint64        axis,
                                  int          *resolved,
                                  GError      **error);
gboolean vn_op_axis_mask         (VnOpContext  *ctx,
                                  int           rank,
                                  const gint64 *axes,
                                  guint         n,
                                  guint        *mask,
                                  GError      **error);
gboolean vn_op_attr_or_input     (VnOpContext  *ctx,
                                  const char   *attr,
                                  guint         input,
                                  gint64       *values,
                                  guint         max,
                                  guint        *n,
                                  gboolean     *known,
                                  GError      **error);
gboolean vn_op_attr_is           (VnOpContext  *ctx,
                                  const char   *attr,
                                  const char   *value,
                                  const char   *fallback);
guint    vn_op_attr_choice       (VnOpContext  *ctx,
                                  const char   *attr,
                                  const char   *fallback,
                                  const char * const *choices,
                                  GError      **error);
float    vn_elem_load_float      (VnDType       dtype,
                                  gconstpointer data,
                                  gsize         i);
void     vn_elem_to_float        (VnDType       dtype,
                                  gconstpointer in,
                                  float        *out,
                                  gsize         n);              /* F32, F16, BF16 */
void     vn_elem_from_float      (VnDType       dtype,
                                  const float  *in,
                                  gpointer      out,
                                  gsize         n);
void     vn_elem_copy_strings (const VnTensor *in,
                               VnTensor     *out);
void     vn_copy_rows            (gsize         rows,
                                  gsize         bytes,
                                  gconstpointer from,
                                  gsize         from_step,
                                  gpointer      to,
                                  gsize         to_step);        /* all in bytes */

/* ---- copies with a stride per dim ---- */

#define VN_COPY_MAX_DIMS (2 * VN_MAX_RANK)

/**
 * VnCopy: a block of elements that is read and written with a stride per dim. Strides are in elements; a source
 * stride of 0 repeats, a negative one reverses.
 */
typedef struct
{
  int    rank;
  gint64 dims[VN_COPY_MAX_DIMS];
  gint64 to[VN_COPY_MAX_DIMS];
  gint64 from[VN_COPY_MAX_DIMS];
} VnCopy;

void vn_copy_add_dim (VnCopy        *self,
                      gint64         n,
                      gint64         to_stride,
                      gint64         from_stride);     /* outermost first */
void vn_copy_run     (const VnCopy  *self,
                      gsize          elem_size,
                      gpointer       to,
                      gconstpointer  from);

/* ---- broadcasting ---- */

#define VN_BROADCAST_MAX_INPUTS 3
#define VN_BROADCAST_CHUNK      4096

/**
 * VnBroadcast: walks an output in rows. In a row every input is either one element (step 0) or contiguous (step 1).
 * Rows are cut so that they stay in the first-level cache.
 */
typedef struct
{
  /* of the current row */
  gsize  n;
  gsize  out;
  gsize  offset[VN_BROADCAST_MAX_INPUTS];
  gsize  step[VN_BROADCAST_MAX_INPUTS];

  /*< private >*/
  guint  n_inputs;
  int    rank;
  gint64 dims[VN_MAX_RANK];
  gint64 strides[VN_BROADCAST_MAX_INPUTS][VN_MAX_RANK];
  gint64 index[VN_MAX_RANK];
  gsize  base[VN_BROADCAST_MAX_INPUTS];
  gsize  row_out, row_done, row_length;
  gboolean finished;
} VnBroadcast;

void     vn_broadcast_init (VnBroadcast          *self,
                            const VnShape        *out,
                            const VnShape * const *inputs,
                            guint                 n_inputs);
gboolean vn_broadcast_next (VnBroadcast          *self);

G_END_DECLS
