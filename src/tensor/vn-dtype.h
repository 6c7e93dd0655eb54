/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Element types of tensors. */

#include <glib.h>

G_BEGIN_DECLS

/* The values up to %VN_DTYPE_FIRST_BLOCK are those of ONNX's TensorProto.DataType. */
typedef enum
{
  VN_DTYPE_UNDEFINED = 0,
#define VN_DTYPE(NAME, number, bits, name, badge) VN_DTYPE_##NAME = number,
#include "vn-dtypes.def"
#undef VN_DTYPE
  VN_N_DTYPES,
  VN_DTYPE_FIRST_BLOCK = VN_DTYPE_BFP16   /* from here on values can be rounded to, tensors cannot have it */
} VnDType;

/* A set of element types: VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (S64) */
typedef guint64 VnDTypeSet;
#define VN_DTYPE_BIT(NAME) (G_GUINT64_CONSTANT (1) << VN_DTYPE_##NAME)

const char *vn_dtype_get_name     (VnDType     dtype);
const char *vn_dtype_get_badge    (VnDType     dtype);
guint       vn_dtype_get_bits     (VnDType     dtype);
VnDType     vn_dtype_from_name    (const char *name);
VnDType     vn_dtype_from_proto_name (const char *name);
gboolean    vn_dtype_is_float     (VnDType     dtype);
gboolean    vn_dtype_is_signed    (VnDType     dtype);
gboolean    vn_dtype_is_integer   (VnDType     dtype);
gboolean    vn_dtype_is_valid     (gint64      number);
gboolean    vn_dtype_is_block     (VnDType     dtype);
gboolean    vn_dtype_integer_range (VnDType    dtype,
                                    gint64    *min,
                                    gint64    *max);

G_END_DECLS
