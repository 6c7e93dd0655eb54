/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that hold one value: a tensor, a sequence of tensors, or an optional. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-file.h"
#include "vn-i18n.h"
#include "vn-memory.h"
#include "vn-message.h"

/**
 * vn_onnx_tensor_decode_bytes:
 * @path: (nullable): of their file, for messages
 * @name: (out) (optional) (nullable) (transfer full): of the tensor
 *
 * Returns: (transfer full) (nullable): %NULL without error if @bytes is no TensorProto
 */
VnTensor *
vn_onnx_tensor_decode_bytes (GBytes      *bytes,
                             const char  *path,
                             char       **name,
                             GError     **error)
{
  g_autoptr(GError) reason = NULL;
  g_autoptr(GBytes) small = NULL;
  VnTensor *tensor = NULL;
  PbTensor *proto = NULL;
  VnOnnxReader self;

  vn_onnx_reader_init (&self, bytes, path);
  small = vn_onnx_strip (bytes, STRIP_TENSOR, self.views, &reason);
  if (small != NULL)
    proto = vn__onnx__tensor_proto__unpack (&self.allocator.functions, g_bytes_get_size (small), g_bytes_get_data (small, NULL));
  if (proto != NULL && proto->has_data_type)
    {
      tensor = vn_onnx_tensor_decode (&self, proto, error);
      if (tensor != NULL && name != NULL)
        *name = vn_onnx_dup_text (proto->name);
    }
  if (proto != NULL)
    vn__onnx__tensor_proto__free_unpacked (proto, &self.allocator.functions);
  else if (self.allocator.refused)
    vn_memory_set_error (0, error);
  else if (vn_error_is_memory (reason))
    g_propagate_error (error, g_steal_pointer (&reason));
  vn_onnx_reader_clear (&self);
  return tensor;
}

static void
onnx_value_fail (const char  *path,
                 const char  *what,
                 GError     **error)
{
  if (error != NULL && *error != NULL)
    {
      g_prefix_error (error, "“%s”: ", path);
      vn_message_make_valid (error);
      return;
    }
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("“%s” does not contain %s"), path, what);
}

/**
 * vn_onnx_tensor_read_file:
 * @path: an encoded TensorProto, as the data sets of the ONNX project have them
 * @name: (out) (optional) (nullable) (transfer full): the name in the file
 *
 * Returns: (transfer full) (nullable): the tensor
 */
VnTensor *
vn_onnx_tensor_read_file (const char  *path,
                          char       **name,
                          GError     **error)
{
  g_autoptr(GBytes) bytes = NULL;
  GError *local = NULL;
  VnTensor *tensor;

  g_return_val_if_fail (path != NULL, NULL);

  bytes = vn_file_map (path, error);
  if (name != NULL)
    *name = NULL;
  if (bytes == NULL)
    return NULL;
  tensor = vn_onnx_tensor_decode_bytes (bytes, path, name, &local);
  if (tensor != NULL)
    return tensor;
  onnx_value_fail (path, _("a tensor (an ONNX TensorProto)"), &local);
  g_propagate_error (error, local);
  return NULL;
}

static GBytes *
onnx_value_part_of (GBytes            *bytes,
                    const VnWireField *field)
{
  const guint8 *begin = g_bytes_get_data (bytes, NULL);

  return g_bytes_new_from_bytes (bytes, (gsize) (field->data - begin), field->value);
}

static char *
onnx_value_dup_name (const VnWireField *field)
{
  g_autofree char *text = g_strndup ((const char *) field->data, field->value);

  return vn_onnx_dup_text (text);
}

/* Returns NULL, with or without error, if @bytes is no sequence of tensors. */
static VnTensor *
onnx_value_decode_sequence (GBytes      *bytes,
                            const char  *path,
                            VnDType      dtype,
                            char       **name,
                            GError     **error)
{
  g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func ((GDestroyNotify) vn_tensor_unref);
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  VnWireIn in = vn_wire_in (data, size);
  VnWireField field;
  VnWireStatus status;

  while ((status = vn_wire_next (&in, &field)) == VN_WIRE_FIELD)
    if (field.number == F_SEQUENCE_TENSOR && field.type == VN_WIRE_BYTES)
      {
        g_autoptr(GBytes) part = onnx_value_part_of (bytes, &field);
        VnTensor *item = vn_onnx_tensor_decode_bytes (part, path, NULL, error);

        if (item == NULL)
          return NULL;
        g_ptr_array_add (items, item);
      }
    else if (field.number == F_SEQUENCE_NAME && field.type == VN_WIRE_BYTES && name != NULL)
      {
        g_free (*name);
        *name = onnx_value_dup_name (&field);
      }
  return status == VN_WIRE_END ? vn_tensor_new_sequence (items->len > 0 ? VN_DTYPE_UNDEFINED : dtype, items, error) : NULL;
}

static VnTensor *
onnx_value_decode_optional (GBytes      *bytes,
                            const char  *path,
                            VnDType      dtype,
                            char       **name,
                            GError     **error)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autoptr(VnTensor) item = NULL;
  VnWireIn in = vn_wire_in (data, size);
  VnWireField field;
  VnWireStatus status;

  while ((status = vn_wire_next (&in, &field)) == VN_WIRE_FIELD)
    {
      g_autoptr(GBytes) part = field.type == VN_WIRE_BYTES ? onnx_value_part_of (bytes, &field) : NULL;

      if (part == NULL)
        continue;
      if (field.number == F_SEQUENCE_NAME && name != NULL)
        {
          g_free (*name);
          *name = onnx_value_dup_name (&field);
        }
      if (field.number != F_OPTIONAL_TENSOR && field.number != F_OPTIONAL_SEQUENCE)
        continue;
      g_clear_pointer (&item, vn_tensor_unref);
      item = field.number == F_OPTIONAL_TENSOR ? vn_onnx_tensor_decode_bytes (part, path, NULL, error)
                                               : onnx_value_decode_sequence (part, path, dtype, NULL, error);
      if (item == NULL)
        return NULL;
    }
  return status == VN_WIRE_END ? vn_tensor_new_optional (dtype, item, error) : NULL;
}

/**
 * vn_onnx_value_read_file:
 * @path: an encoded TensorProto, SequenceProto or OptionalProto
 * @type: of the value it is for: the file does not say which of them it is
 * @name: (out) (optional) (nullable) (transfer full): the name in the file
 *
 * Returns: (transfer full) (nullable): the value; maps and sparse tensors are refused
 */
VnTensor *
vn_onnx_value_read_file (const char    *path,
                         const VnType  *type,
                         char         **name,
                         GError       **error)
{
  g_autoptr(GBytes) bytes = NULL;
  GError *local = NULL;
  VnTensor *value;

  g_return_val_if_fail (path != NULL && type != NULL, NULL);

  if (type->kind != VN_TYPE_SEQUENCE && type->kind != VN_TYPE_OPTIONAL)
    return vn_onnx_tensor_read_file (path, name, error);
  if (name != NULL)
    *name = NULL;
  bytes = vn_file_map (path, error);
  if (bytes == NULL)
    return NULL;
  value = type->kind == VN_TYPE_SEQUENCE ? onnx_value_decode_sequence (bytes, path, type->dtype, name, &local)
                                         : onnx_value_decode_optional (bytes, path, type->dtype, name, &local);
  if (value != NULL)
    return value;
  onnx_value_fail (path, type->kind == VN_TYPE_SEQUENCE ? _("a sequence of tensors (an ONNX SequenceProto)")
                                                        : _("an optional tensor or sequence (an ONNX OptionalProto)"), &local);
  g_propagate_error (error, local);
  return NULL;
}
