/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes tensors, whichever of the format's fields their data are in. */
#include "vn-onnx-private.h"

#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <string.h>

/* ---- what decoding needs ---- */

static void *
onnx_tensor_allocator_alloc (void   *data,
                             size_t  size)
{
  VnOnnxAllocator *self = data;
  gpointer memory = vn_memory_try (size, 1);

  self->refused |= memory == NULL;
  return memory;
}

static void
onnx_tensor_allocator_free (void *data,
                            void *memory)
{
  g_free (memory);
}

/**
 * vn_onnx_reader_init:
 * @self: (out caller-allocates): stays where it is
 */
void
vn_onnx_reader_init (VnOnnxReader *self,
                     GBytes       *bytes,
                     const char   *path)
{
  *self = (VnOnnxReader) {
    .bytes = bytes,
    .views = g_array_new (FALSE, FALSE, sizeof (RawView)),
    .path = path,
    .external = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref),
    .allocator = { { onnx_tensor_allocator_alloc, onnx_tensor_allocator_free, &self->allocator }, FALSE },
  };
}

void
vn_onnx_reader_clear (VnOnnxReader *self)
{
  g_array_unref (self->views);
  g_hash_table_unref (self->external);
}

/* ---- tensors ---- */

/* Which typed field holds which element type, if the data are not raw: rules of the ONNX standard. */
static VnDTypeSet
onnx_tensor_float_types (void)
{
  return VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (C64);
}

static VnDTypeSet
onnx_tensor_double_types (void)
{
  return VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (C128);
}

static VnDTypeSet
onnx_tensor_unsigned_types (void)
{
  return VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64);
}

static gboolean
onnx_tensor_wrong_count (const VnTensor  *tensor,
                         gsize            have,
                         gsize            want,
                         GError         **error)
{
  g_autofree char *shape = vn_shape_to_string (&tensor->shape, "×");

  if (have == want)
    return FALSE;
  g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
               _("it holds %zu elements, but %s of shape %s needs %zu"),
               have, vn_dtype_get_name (tensor->dtype), shape, want);
  return TRUE;
}

static gboolean
onnx_tensor_copy_words (VnTensor       *tensor,
                        gconstpointer   values,
                        gsize           n,
                        gsize           width,
                        GError        **error)
{
  if (onnx_tensor_wrong_count (tensor, n, tensor->n_bytes / width, error))
    return FALSE;
  if (n > 0)
    memcpy (tensor->data, values, tensor->n_bytes);
  return TRUE;
}

/* int32_data: one entry an element; of elements below a byte one entry a byte. Only the low bits count. */
static gboolean
onnx_tensor_copy_int32 (VnTensor        *tensor,
                        const PbTensor  *proto,
                        GError         **error)
{
  gsize bits = vn_dtype_get_bits (tensor->dtype);
  gsize width = MAX (bits, 8) / 8;
  guint8 *to = tensor->data;

  if (onnx_tensor_wrong_count (tensor, proto->n_int32_data, tensor->n_bytes / width, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_int32_data; i++)
    {
      guint32 word = GUINT32_TO_LE ((guint32) proto->int32_data[i]);

      memcpy (to + i * width, &word, width);
    }
  return TRUE;
}

static gboolean
onnx_tensor_copy_uint64 (VnTensor        *tensor,
                         const PbTensor  *proto,
                         GError         **error)
{
  if (tensor->dtype == VN_DTYPE_U64)
    return onnx_tensor_copy_words (tensor, proto->uint64_data, proto->n_uint64_data, 8, error);
  if (onnx_tensor_wrong_count (tensor, proto->n_uint64_data, tensor->n_elements, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_uint64_data; i++)
    ((guint32 *) tensor->data)[i] = (guint32) proto->uint64_data[i];
  return TRUE;
}

static gboolean
onnx_tensor_copy_strings (VnTensor        *tensor,
                          const PbTensor  *proto,
                          GError         **error)
{
  char **strings = tensor->data;

  if (onnx_tensor_wrong_count (tensor, proto->n_string_data, tensor->n_elements, error))
    return FALSE;
  for (gsize i = 0; i < proto->n_string_data; i++)
    {
      const ProtobufCBinaryData *from = &proto->string_data[i];

      if (from->len == 0)
        continue;
      g_free (strings[i]);
      strings[i] = g_strndup ((const char *) from->data, from->len);
    }
  return TRUE;
}

static gboolean
onnx_tensor_copy_typed (VnTensor        *tensor,
                        const PbTensor  *proto,
                        GError         **error)
{
  VnDTypeSet bit = (VnDTypeSet) 1 << tensor->dtype;

  if (tensor->dtype == VN_DTYPE_STRING)
    return onnx_tensor_copy_strings (tensor, proto, error);
  if (bit & onnx_tensor_float_types ())
    return onnx_tensor_copy_words (tensor, proto->float_data, proto->n_float_data, sizeof (float), error);
  if (bit & onnx_tensor_double_types ())
    return onnx_tensor_copy_words (tensor, proto->double_data, proto->n_double_data, sizeof (double), error);
  if (bit & onnx_tensor_unsigned_types ())
    return onnx_tensor_copy_uint64 (tensor, proto, error);
  if (tensor->dtype == VN_DTYPE_S64)
    return onnx_tensor_copy_words (tensor, proto->int64_data, proto->n_int64_data, sizeof (gint64), error);
  return onnx_tensor_copy_int32 (tensor, proto, error);
}

/* Entries in the typed field that fits the element type: memory is taken only for data that are there. */
static gsize
onnx_tensor_typed_entries (const PbTensor *proto,
                           VnDType         dtype)
{
  VnDTypeSet bit = (VnDTypeSet) 1 << dtype;

  if (dtype == VN_DTYPE_STRING)
    return proto->n_string_data;
  if (bit & onnx_tensor_float_types ())
    return proto->n_float_data;
  if (bit & onnx_tensor_double_types ())
    return proto->n_double_data;
  if (bit & onnx_tensor_unsigned_types ())
    return proto->n_uint64_data;
  return dtype == VN_DTYPE_S64 ? proto->n_int64_data : proto->n_int32_data;
}

static VnTensor *
onnx_tensor_decode_typed (const PbTensor  *proto,
                          VnDType          dtype,
                          const VnShape   *shape,
                          gsize            n_elements,
                          GError         **error)
{
  g_autoptr(VnTensor) tensor = NULL;
  gsize entries = onnx_tensor_typed_entries (proto, dtype);

  /* Up to two halves of a complex number, or eight elements in a byte, make an entry. */
  if (n_elements / 8 > entries)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED,
                   _("its shape needs %zu elements, but it has only %zu"),
                   n_elements, entries);
      return NULL;
    }
  tensor = vn_tensor_new (dtype, shape, error);
  if (tensor == NULL || !onnx_tensor_copy_typed (tensor, proto, error))
    return NULL;
  return g_steal_pointer (&tensor);
}

static VnTensor *
onnx_tensor_decode_bytes (GBytes         *bytes,
                          VnDType         dtype,
                          const VnShape  *shape,
                          GError        **error)
{
  g_autoptr(VnTensor) view = vn_tensor_new_view (dtype, shape, bytes, error);
  VnTensor *copy;

  if (view == NULL || view->n_bytes >= VIEW_MIN)
    return g_steal_pointer (&view);
  copy = vn_tensor_new (dtype, shape, error);
  if (copy != NULL && view->n_bytes > 0)
    memcpy (copy->data, view->data, view->n_bytes);
  return copy;
}

static gboolean
onnx_tensor_decode_shape (const PbTensor  *proto,
                          VnShape         *shape,
                          GError         **error)
{
  if (proto->n_dims > VN_MAX_RANK)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("it has %zu dims; at most %d are supported"),
                   proto->n_dims, VN_MAX_RANK);
      return FALSE;
    }
  *shape = VN_SHAPE_SCALAR;
  shape->rank = (int) proto->n_dims;
  for (int i = 0; i < shape->rank; i++)
    {
      if (proto->dims[i] < 0)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_MALFORMED, _("its dim %d is %lld"), i, (long long) proto->dims[i]);
          return FALSE;
        }
      shape->dims[i] = proto->dims[i];
    }
  return TRUE;
}

static GBytes *
onnx_tensor_raw_bytes (VnOnnxReader   *self,
                       const PbTensor *proto)
{
  const RawView *view;
  guint32 index;

  memcpy (&index, proto->raw_data.data, sizeof index);
  view = &g_array_index (self->views, RawView, GUINT32_FROM_LE (index));
  return g_bytes_new_from_bytes (self->bytes, view->offset, view->size);
}

/* Prefix of messages: which tensor it is. */
static VnTensor *
onnx_tensor_name_error (const PbTensor  *proto,
                        GError         **error)
{
  if (proto->name != NULL && *proto->name != '\0')
    g_prefix_error (error, _("tensor “%s”: "), proto->name);
  else
    g_prefix_error (error, _("tensor without name: "));
  return NULL;
}

static VnTensor *
onnx_tensor_decode (VnOnnxReader    *self,
                    const PbTensor  *proto,
                    GError         **error)
{
  g_autoptr(GBytes) bytes = NULL;
  VnShape shape;
  VnDType dtype = proto->data_type;
  gsize n_elements, n_bytes;

  if (!vn_dtype_is_valid (proto->data_type))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("its element type %d is unknown"), proto->data_type);
      return NULL;
    }
  if (!onnx_tensor_decode_shape (proto, &shape, error))
    return NULL;
  if (!vn_tensor_size_in_bytes (dtype, &shape, &n_elements, &n_bytes))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("the product of its dims is too large"));
      return NULL;
    }
  if (proto->data_location == LOCATION_EXTERNAL)
    {
      bytes = vn_onnx_external_map (self, proto, n_bytes, error);
      return bytes != NULL ? onnx_tensor_decode_bytes (bytes, dtype, &shape, error) : NULL;
    }
  if (!proto->has_raw_data || (proto->has_raw_data && dtype == VN_DTYPE_STRING))
    return onnx_tensor_decode_typed (proto, dtype, &shape, n_elements, error);
  bytes = onnx_tensor_raw_bytes (self, proto);
  return onnx_tensor_decode_bytes (bytes, dtype, &shape, error);
}

/**
 * vn_onnx_tensor_decode:
 * @proto: unpacked from a stripped message
 *
 * Returns: (transfer full) (nullable): its content. Raw and external data of %VIEW_MIN bytes and more are views.
 */
VnTensor *
vn_onnx_tensor_decode (VnOnnxReader    *self,
                       const PbTensor  *proto,
                       GError         **error)
{
  VnTensor *tensor = onnx_tensor_decode (self, proto, error);

  return tensor != NULL ? tensor : onnx_tensor_name_error (proto, error);
}

/**
 * vn_onnx_tensor_extra:
 *
 * Adds to @extra the fields of a TensorProto that #VnTensor does not hold: where external data were, and what this
 * program does not know.
 */
void
vn_onnx_tensor_extra (VnWireOut      *extra,
                      const PbTensor *proto)
{
  for (gsize i = 0; i < proto->n_external_data; i++)
    {
      VnWireMark mark = vn_wire_begin (extra);

      vn_wire_string (extra, F_ENTRY_KEY, proto->external_data[i]->key);
      vn_wire_string (extra, F_ENTRY_VALUE, proto->external_data[i]->value);
      vn_wire_end (extra, mark, F_TENSOR_EXTERNAL);
    }
  vn_onnx_extra_unknown (extra, &proto->base, 0);
}
