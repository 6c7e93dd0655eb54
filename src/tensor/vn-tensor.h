/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "vn-digest.h"
#include "vn-dtype.h"
#include "vn-shape.h"

G_BEGIN_DECLS

/**
 * VnKind: what a value of a network can be. An optional holds one tensor or sequence, or nothing; a sequence holds
 * tensors of one element type.
 * @VN_KIND_UNKNOWN: of types only: found out while the network runs
 */
typedef enum
{
  VN_KIND_TENSOR,
  VN_KIND_SEQUENCE,
  VN_KIND_OPTIONAL,
  VN_KIND_UNKNOWN,
} VnKind;

/**
 * VnTensor:
 * @kind: a container (anything but %VN_KIND_TENSOR) has no elements of its own: who takes it for a tensor sees [0]
 * @dtype: type of the elements; of a container, those of its tensors, or %VN_DTYPE_UNDEFINED
 * @shape: always static
 * @n_elements: product of the dims (1 for a scalar)
 * @n_bytes: size of @data; 4-bit elements are packed two to a byte, low nibble first
 * @data: elements in row-major order. Owned storage is aligned to 64 bytes; a view into a file may have any
 *   alignment (see vn_tensor_get_aligned()). For strings: n_elements pointers to NUL-terminated strings.
 * @items: of VnTensor: what a container holds, all in memory of their own; %NULL for tensors
 *
 * Reference counted. Who made it may write into @data until the tensor is
 * shared; from then on it is read-only.
 */
typedef struct _VnTensor VnTensor;
struct _VnTensor
{
  VnKind     kind;
  VnDType    dtype;
  VnShape    shape;
  gsize      n_elements;
  gsize      n_bytes;
  gpointer   data;
  GPtrArray *items;

  /*< private >*/
  gatomicrefcount ref;
  gpointer        owner;
  GDestroyNotify  owner_free;
  gpointer        facts;      /* atomic: VnTensorFacts of a large view, once somebody asked */
};

/**
 * VnTensorFacts: what one pass over the elements tells
 * @n_nan, @n_infinite: of floats and doubles of any size; 0 of other types
 * @min, @max: of the finite elements of float32; 0 where there is none, and of other types
 * @digest: of the bytes
 */
typedef struct
{
  gsize    n_nan, n_infinite;
  float    min, max;
  VnDigest digest;
} VnTensorFacts;

VnTensor   *vn_tensor_new            (VnDType          dtype,
                                      const VnShape   *shape,
                                      GError         **error);
VnTensor   *vn_tensor_new_constant   (VnDType          dtype,
                                      const VnShape   *shape,
                                      GError         **error);
VnTensor   *vn_tensor_new_view       (VnDType          dtype,
                                      const VnShape   *shape,
                                      GBytes          *bytes,
                                      GError         **error);
VnTensor   *vn_tensor_new_wrap       (VnDType          dtype,
                                      const VnShape   *shape,
                                      gpointer         data,
                                      gpointer         owner,
                                      GDestroyNotify   owner_free,
                                      GError         **error);
VnTensor   *vn_tensor_new_copy       (VnDType          dtype,
                                      const VnShape   *shape,
                                      gconstpointer    values,
                                      GError         **error);
VnTensor   *vn_tensor_new_f32        (const VnShape   *shape,
                                      const float     *values);
VnTensor   *vn_tensor_new_s64        (const VnShape   *shape,
                                      const gint64    *values);
VnTensor   *vn_tensor_new_reshaped   (VnTensor        *self,
                                      const VnShape   *shape,
                                      GError         **error);
VnTensor   *vn_tensor_ref            (VnTensor        *self);
void        vn_tensor_unref          (VnTensor        *self);
void        vn_tensor_clear_all      (VnTensor       **tensors,
                                      gsize            n);
gboolean    vn_tensor_is_aligned     (const VnTensor  *self);
VnTensor   *vn_tensor_get_aligned    (VnTensor        *self,
                                      GError         **error);
void        vn_tensor_release_pages  (const VnTensor  *self);
VnTensor   *vn_tensor_convert        (VnTensor        *self,
                                      VnDType          dtype,
                                      GError         **error);
VnTensor   *vn_tensor_convert_constant (VnTensor       *self,
                                      VnDType          dtype,
                                      GError         **error);
double      vn_tensor_get_double     (const VnTensor  *self,
                                      gsize            i);
gint64      vn_tensor_get_s64        (const VnTensor  *self,
                                      gsize            i);
guint32     vn_floats_find_ends      (const float     *x,
                                      gsize            n,
                                      float           *min,
                                      float           *max);
void        vn_tensor_get_facts      (const VnTensor  *self,
                                      VnTensorFacts   *facts);
gboolean    vn_tensor_equal          (const VnTensor  *a,
                                      const VnTensor  *b);
gboolean    vn_tensor_size_in_bytes  (VnDType          dtype,
                                      const VnShape   *shape,
                                      gsize           *n_elements,
                                      gsize           *n_bytes);

/* ---- containers (vn-container.c) ---- */

VnTensor   *vn_tensor_new_sequence   (VnDType          dtype,
                                      GPtrArray       *items,
                                      GError         **error);
VnTensor   *vn_tensor_new_optional   (VnDType          dtype,
                                      VnTensor        *item,
                                      GError         **error);
gboolean    vn_tensor_is_container   (const VnTensor  *self);
VnTensor   *vn_tensor_own            (VnTensor        *self,
                                      GError         **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (VnTensor, vn_tensor_unref)

/* .npy: versions 1 to 3 of either order of bytes and of axes read; version 1, little-endian, C order, written. */
typedef struct
{
  VnDType  dtype;
  VnShape  shape;
  gsize    offset;    /* where the elements begin */
  gsize    n_bytes;   /* of them */
  gboolean swapped;   /* big-endian */
  gboolean reversed;  /* Fortran order: the first axis runs fastest */
} VnNpyInfo;

VnTensor   *vn_npy_read              (const char      *path,
                                      GError         **error);
gsize       vn_npy_get_data_offset   (GBytes          *bytes);
gboolean    vn_npy_parse_header      (GBytes          *bytes,
                                      gsize            size,
                                      VnNpyInfo       *info,
                                      GError         **error);
VnTensor   *vn_npy_parse             (GBytes          *bytes,
                                      GError         **error);
gboolean    vn_npy_write             (const char      *path,
                                      const VnTensor  *tensor,
                                      GError         **error);

G_END_DECLS
