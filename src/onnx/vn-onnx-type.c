/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decodes and encodes the types of values. */
#include "vn-onnx-private.h"

#include "vn-memory.h"

#include <string.h>

typedef Vn__Onnx__TensorShapeProto__Dimension PbDim;

/* Which of TypeProto's alternatives makes which kind. */
static const struct {
  guint32    number;
  VnTypeKind kind;
} alternatives[] = {
  { 1, VN_TYPE_TENSOR        },
  { 4, VN_TYPE_SEQUENCE      },
  { 5, VN_TYPE_MAP           },
  { 7, VN_TYPE_OPAQUE        },
  { 8, VN_TYPE_SPARSE_TENSOR },
  { 9, VN_TYPE_OPTIONAL      },
};

static VnTypeKind
onnx_type_find_kind (const guint8 *data,
                     gsize         size)
{
  VnWireField field;

  for (guint i = 0; i < G_N_ELEMENTS (alternatives); i++)
    if (vn_wire_find (data, size, alternatives[i].number, &field) && field.type == VN_WIRE_BYTES)
      return alternatives[i].kind;
  return VN_TYPE_UNKNOWN;
}

static void
onnx_type_decode_dim (VnType      *type,
                      guint        i,
                      const PbDim *dim)
{
  gboolean has_value = dim->value_case == VN__ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
  gboolean has_name = dim->value_case == VN__ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;

  type->shape.dims[i] = has_value && dim->dim_value >= 0 ? dim->dim_value : VN_DIM_UNKNOWN;
  if (has_name && *dim->dim_param != '\0')
    type->symbols[i] = g_utf8_make_valid (dim->dim_param, -1);
}

static void
onnx_type_decode_tensor (VnType                         *type,
                         const Vn__Onnx__TypeProto__Tensor *tensor)
{
  if (tensor->has_elem_type && vn_dtype_is_valid (tensor->elem_type))
    type->dtype = tensor->elem_type;
  type->shape = VN_SHAPE_UNKNOWN;
  if (tensor->shape == NULL || tensor->shape->n_dim > VN_MAX_RANK)
    return;
  type->shape.rank = (int) tensor->shape->n_dim;
  for (guint i = 0; i < tensor->shape->n_dim; i++)
    onnx_type_decode_dim (type, i, tensor->shape->dim[i]);
}

/* Element type of the tensors in a sequence or optional, however deep they lie. */
static VnDType
onnx_type_find_elements (const guint8 *data,
                         gsize         size)
{
  VnWireField field, elem;

  for (guint depth = 0; depth < 8; depth++)
    {
      if (vn_wire_find (data, size, F_TYPE_TENSOR, &field) && field.type == VN_WIRE_BYTES)
        return vn_wire_find (field.data, field.value, F_TENSOR_TYPE_ELEM, &elem) && elem.type == VN_WIRE_VARINT &&
               elem.value <= G_MAXINT32 && vn_dtype_is_valid ((gint64) elem.value) ? (VnDType) elem.value
                                                                                   : VN_DTYPE_UNDEFINED;
      if (!(vn_wire_find (data, size, F_TYPE_SEQUENCE, &field) || vn_wire_find (data, size, F_TYPE_OPTIONAL, &field)) ||
          field.type != VN_WIRE_BYTES ||
          !vn_wire_find (field.data, field.value, F_CONTAINER_ELEM, &elem) || elem.type != VN_WIRE_BYTES)
        break;
      data = elem.data;
      size = elem.value;
    }
  return VN_DTYPE_UNDEFINED;
}

static GBytes *
onnx_type_encode_modelled (const VnType *type)
{
  g_autoptr(VnWireOut) out = vn_wire_out_new ();
  VnType plain = *type;

  plain.encoded = NULL;
  vn_onnx_type_encode (out, &plain);
  return vn_onnx_extra_finish (out);
}

/**
 * vn_onnx_type_decode:
 * @type: (out caller-allocates): to be cleared with vn_type_clear()
 * @data: a TypeProto
 *
 * A type that cannot be decoded, or that says more than #VnType holds (denotations, dims beyond %VN_MAX_RANK), keeps
 * its encoded form, so that it is written as it was found. An unknown element type gives %VN_DTYPE_UNDEFINED.
 */
void
vn_onnx_type_decode (VnType       *type,
                     const guint8 *data,
                     gsize         size)
{
  g_autoptr(GBytes) modelled = NULL;
  Vn__Onnx__TypeProto *proto = NULL;

  memset (type, 0, sizeof *type);
  type->shape = VN_SHAPE_UNKNOWN;
  type->kind = onnx_type_find_kind (data, size);
  if (type->kind == VN_TYPE_SEQUENCE || type->kind == VN_TYPE_OPTIONAL)
    type->dtype = onnx_type_find_elements (data, size);
  if (type->kind == VN_TYPE_TENSOR)
    proto = vn__onnx__type_proto__unpack (NULL, size, data);
  if (proto != NULL && proto->tensor_type != NULL)
    {
      onnx_type_decode_tensor (type, proto->tensor_type);
      modelled = onnx_type_encode_modelled (type);
    }
  if (proto != NULL)
    vn__onnx__type_proto__free_unpacked (proto, NULL);
  if (modelled == NULL || g_bytes_get_size (modelled) != size ||
      memcmp (g_bytes_get_data (modelled, NULL), data, size) != 0)
    {
      gpointer copy = vn_memory_dup (data, size, 1, NULL);

      type->encoded = copy != NULL ? g_bytes_new_take (copy, size) : NULL;
    }
}

static void
onnx_type_encode_shape (VnWireOut    *out,
                        const VnType *type)
{
  VnWireMark shape = vn_wire_begin (out);

  for (int i = 0; i < type->shape.rank; i++)
    {
      VnWireMark dim = vn_wire_begin (out);

      if (type->shape.dims[i] != VN_DIM_UNKNOWN)
        vn_wire_int (out, F_DIM_VALUE, type->shape.dims[i]);
      else
        vn_wire_string (out, F_DIM_PARAM, type->symbols[i]);
      vn_wire_end (out, dim, F_SHAPE_DIM);
    }
  vn_wire_end (out, shape, F_TENSOR_TYPE_SHAPE);
}

/* A sequence or optional that was inferred: nothing but the type of its elements is known. */
static void
onnx_type_encode_container (VnWireOut    *out,
                            const VnType *type)
{
  VnWireMark container = vn_wire_begin (out);
  VnWireMark elem = vn_wire_begin (out);
  VnWireMark tensor = vn_wire_begin (out);

  vn_wire_int (out, F_TENSOR_TYPE_ELEM, type->dtype);
  vn_wire_end (out, tensor, F_TYPE_TENSOR);
  vn_wire_end (out, elem, F_CONTAINER_ELEM);
  vn_wire_end (out, container, type->kind == VN_TYPE_SEQUENCE ? F_TYPE_SEQUENCE : F_TYPE_OPTIONAL);
}

/**
 * vn_onnx_type_encode:
 *
 * Writes the fields of a TypeProto.
 */
void
vn_onnx_type_encode (VnWireOut    *out,
                     const VnType *type)
{
  VnWireMark tensor;

  if (type->encoded != NULL)
    {
      vn_wire_encoded (out, g_bytes_get_data (type->encoded, NULL), g_bytes_get_size (type->encoded));
      return;
    }
  if (type->kind == VN_TYPE_SEQUENCE || type->kind == VN_TYPE_OPTIONAL)
    onnx_type_encode_container (out, type);
  if (type->kind != VN_TYPE_TENSOR)
    return;
  tensor = vn_wire_begin (out);
  if (type->dtype != VN_DTYPE_UNDEFINED)
    vn_wire_int (out, F_TENSOR_TYPE_ELEM, type->dtype);
  if (type->shape.rank != VN_RANK_UNKNOWN)
    onnx_type_encode_shape (out, type);
  vn_wire_end (out, tensor, F_TYPE_TENSOR);
}
