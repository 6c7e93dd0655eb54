/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sparse initializers, and values of Constant, read as dense ones: nothing behind the reader knows of them. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-memory.h"

#include <string.h>

/* What a dense tensor may have more than the sparse one: a few bytes of a file can claim any shape. */
#define FREE_BYTES ((gsize) 256 << 20)
#define TIMES 1000

typedef struct
{
  VnTensor *values;
  VnTensor *indices;
  VnShape   shape;
} Sparse;

static void
onnx_sparse_clear (Sparse *self)
{
  g_clear_pointer (&self->values, vn_tensor_unref);
  g_clear_pointer (&self->indices, vn_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sparse, onnx_sparse_clear)

static void
onnx_sparse_fail (GError **error)
{
  if (error != NULL && *error == NULL)
    g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("values, indices and dims of the sparse tensor do not match"));
}

static VnTensor *
onnx_sparse_read_tensor (const VnWireField  *field,
                         const char         *path,
                         char              **name,
                         GError            **error)
{
  g_autoptr(GBytes) bytes = NULL;

  if (field->type != VN_WIRE_BYTES)
    return NULL;
  bytes = g_bytes_new (field->data, field->value);
  return vn_onnx_tensor_decode_bytes (bytes, path, name, error);
}

/* Numbers of dims, one by one or packed. */
static gboolean
onnx_sparse_add_dims (const VnWireField *field,
                      VnShape           *shape)
{
  VnWireIn in = vn_wire_in (field->data, field->type == VN_WIRE_BYTES ? field->value : 0);
  guint64 dim = field->value;
  gboolean good = field->type == VN_WIRE_BYTES || field->type == VN_WIRE_VARINT;

  while (good && (field->type == VN_WIRE_VARINT || in.at < in.end))
    {
      if (field->type == VN_WIRE_BYTES && vn_wire_read_varint (&in, &dim) != VN_WIRE_FIELD)
        return FALSE;
      if (shape->rank == VN_MAX_RANK || dim > G_MAXINT64)
        return FALSE;
      shape->dims[shape->rank++] = (gint64) dim;
      if (field->type == VN_WIRE_VARINT)
        break;
    }
  return good;
}

static gboolean
onnx_sparse_read (Sparse       *self,
                  GBytes       *bytes,
                  const char   *path,
                  char        **name,
                  GError      **error)
{
  VnWireIn in = vn_wire_in (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes));
  VnWireField field;
  VnWireStatus status;
  gboolean good = TRUE;

  self->shape = VN_SHAPE_SCALAR;
  while (good && (status = vn_wire_next (&in, &field)) == VN_WIRE_FIELD)
    {
      if (field.number == F_SPARSE_VALUES && self->values == NULL)
        good = (self->values = onnx_sparse_read_tensor (&field, path, name, error)) != NULL;
      else if (field.number == F_SPARSE_INDICES && self->indices == NULL)
        good = (self->indices = onnx_sparse_read_tensor (&field, path, NULL, error)) != NULL;
      else if (field.number == F_SPARSE_DIMS)
        good = onnx_sparse_add_dims (&field, &self->shape);
    }
  return good && status == VN_WIRE_END && self->values != NULL && self->indices != NULL;
}

/* Of one place a number, or one for each axis. */
static gboolean
onnx_sparse_find_place (const Sparse *self,
                        gsize         i,
                        gsize         n_elements,
                        gsize        *place)
{
  int n_each = self->indices->shape.rank == 2 ? self->shape.rank : 1;
  gint64 at = 0;

  if (self->indices->shape.rank != 2)
    at = vn_tensor_get_s64 (self->indices, i);
  for (int axis = 0; n_each == self->shape.rank && self->indices->shape.rank == 2 && axis < n_each; axis++)
    {
      gint64 index = vn_tensor_get_s64 (self->indices, i * (gsize) n_each + (gsize) axis);

      if (index < 0 || index >= self->shape.dims[axis])
        return FALSE;
      at = at * self->shape.dims[axis] + index;
    }
  *place = (gsize) at;
  return at >= 0 && (gsize) at < n_elements;
}

static gboolean
onnx_sparse_fits (const Sparse *self)
{
  gsize n = self->values->n_elements, n_each = self->indices->shape.rank == 2 ? (gsize) self->shape.rank : 1;

  return self->values->shape.rank == 1 && (self->indices->shape.rank == 1 || self->indices->shape.rank == 2) &&
         self->indices->dtype == VN_DTYPE_S64 && self->indices->n_elements == n * n_each;
}

static VnTensor *
onnx_sparse_make_dense (const Sparse  *self,
                        gsize          n_given,
                        GError       **error)
{
  gsize n_elements, n_bytes, width = vn_dtype_get_bits (self->values->dtype) / 8;
  g_autoptr(VnTensor) dense = NULL;

  if (!onnx_sparse_fits (self))
    return NULL;
  if (self->values->dtype == VN_DTYPE_STRING || width == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("sparse tensors of %s are not supported"),
                   vn_dtype_get_name (self->values->dtype));
      return NULL;
    }
  if (!vn_tensor_size_in_bytes (self->values->dtype, &self->shape, &n_elements, &n_bytes) ||
      n_bytes > FREE_BYTES + TIMES * n_given)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the sparse tensor has %zu bytes, and a shape that would need far more"),
                   n_given);
      return NULL;
    }
  dense = vn_tensor_new (self->values->dtype, &self->shape, error);
  if (dense == NULL)
    return NULL;
  memset (dense->data, 0, dense->n_bytes);
  for (gsize i = 0; i < self->values->n_elements; i++)
    {
      gsize place;

      if (!onnx_sparse_find_place (self, i, n_elements, &place))
        return NULL;
      memcpy ((guint8 *) dense->data + place * width, (const guint8 *) self->values->data + i * width, width);
    }
  return g_steal_pointer (&dense);
}

/**
 * vn_onnx_sparse_get_content:
 * @unknown: a field that the schema at hand does not have: it begins with its length
 *
 * Returns: (transfer full): what is behind that, which @unknown keeps
 */
GBytes *
vn_onnx_sparse_get_content (const ProtobufCMessageUnknownField *unknown)
{
  gsize start = 0;

  g_return_val_if_fail (unknown != NULL, NULL);

  while (start < unknown->len && (unknown->data[start] & 0x80) != 0)
    start++;
  start += start < unknown->len ? 1 : 0;
  return g_bytes_new_static (unknown->data + start, unknown->len - start);
}

/**
 * vn_onnx_sparse_decode:
 * @bytes: an encoded SparseTensorProto
 * @path: (nullable): of its file, for messages
 * @name: (out) (transfer full) (nullable): what it is called, by its values
 *
 * Returns: (transfer full) (nullable): the same as a dense tensor
 */
VnTensor *
vn_onnx_sparse_decode (GBytes      *bytes,
                       const char  *path,
                       char       **name,
                       GError     **error)
{
  g_auto(Sparse) sparse = { 0 };
  GError *local = NULL;
  VnTensor *dense = NULL;

  *name = NULL;
  if (onnx_sparse_read (&sparse, bytes, path, name, &local))
    dense = onnx_sparse_make_dense (&sparse, g_bytes_get_size (bytes), &local);
  if (dense == NULL)
    {
      onnx_sparse_fail (&local);
      g_prefix_error (&local, _("sparse tensor “%s”: "), *name != NULL ? *name : "");
      g_propagate_error (error, local);
    }
  return dense;
}
