/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Elements as numbers, and conversion between element types. Loads go through memcpy, so that views into files need
 * no alignment. */
#include "vn-tensor.h"

#include "vn-error.h"
#include "vn-half.h"
#include "vn-i18n.h"

#include <math.h>
#include <string.h>

#define LOAD(type, self, i)                                                             \
  ({                                                                                    \
    type value_;                                                                        \
    memcpy (&value_, (const char *) (self)->data + (i) * sizeof (type), sizeof (type)); \
    value_;                                                                             \
  })

static gint64
tensor_convert_load_packed (const VnTensor *self,
                            gsize           i)
{
  guint bits = vn_dtype_get_bits (self->dtype);
  guint per_byte = 8 / bits;
  guint8 byte = ((const guint8 *) self->data)[i / per_byte];
  guint mask = (1u << bits) - 1;
  gint64 value = byte >> (i % per_byte) * bits & mask;

  if (vn_dtype_is_signed (self->dtype) && value >> (bits - 1) != 0)
    value -= (gint64) 1 << bits;
  return value;
}

/**
 * vn_tensor_get_s64:
 *
 * Returns: element @i of an integer or bool tensor; floats are truncated, strings are 0
 */
gint64
vn_tensor_get_s64 (const VnTensor *self,
                   gsize           i)
{
  switch (self->dtype)
    {
    case VN_DTYPE_S64: return LOAD (gint64, self, i);
    case VN_DTYPE_U64: return (gint64) LOAD (guint64, self, i);
    case VN_DTYPE_S32: return LOAD (gint32, self, i);
    case VN_DTYPE_U32: return LOAD (guint32, self, i);
    case VN_DTYPE_S16: return LOAD (gint16, self, i);
    case VN_DTYPE_U16: return LOAD (guint16, self, i);
    case VN_DTYPE_S8: return LOAD (gint8, self, i);
    case VN_DTYPE_U8:
    case VN_DTYPE_BOOL: return LOAD (guint8, self, i);
    case VN_DTYPE_U4:
    case VN_DTYPE_S4:
    case VN_DTYPE_U2:
    case VN_DTYPE_S2: return tensor_convert_load_packed (self, i);
    default:
      {
        double value = vn_tensor_get_double (self, i);

        return value >= -0x1p63 && value < 0x1p63 ? (gint64) value : 0;
      }
    }
}

/**
 * vn_tensor_get_double:
 *
 * Returns: element @i as a number; NaN for types that are none (strings, complex, 8-bit floats)
 */
double
vn_tensor_get_double (const VnTensor *self,
                      gsize           i)
{
  switch (self->dtype)
    {
    case VN_DTYPE_F32: return LOAD (float, self, i);
    case VN_DTYPE_F64: return LOAD (double, self, i);
    case VN_DTYPE_F16: return vn_half_to_float (LOAD (guint16, self, i));
    case VN_DTYPE_BF16: return vn_bfloat_to_float (LOAD (guint16, self, i));
    case VN_DTYPE_U64: return (double) LOAD (guint64, self, i);
    default:
      if (vn_dtype_is_integer (self->dtype) || self->dtype == VN_DTYPE_BOOL)
        return (double) vn_tensor_get_s64 (self, i);
      return NAN;
    }
}

static gboolean
tensor_convert_is_number (VnDType dtype)
{
  return vn_dtype_is_integer (dtype) || dtype == VN_DTYPE_BOOL || dtype == VN_DTYPE_F32 ||
         dtype == VN_DTYPE_F64 || dtype == VN_DTYPE_F16 || dtype == VN_DTYPE_BF16;
}

static void
tensor_convert_store_integer (VnTensor *self,
                              gsize     i,
                              gint64    value)
{
  gsize size = vn_dtype_get_bits (self->dtype) / 8;

  /* Little-endian: the low bytes of the two's complement are the narrower integer. */
  memcpy ((char *) self->data + i * size, &value, size);
}

static void
tensor_convert_store_double (VnTensor *self,
                             gsize     i,
                             double    value)
{
  switch (self->dtype)
    {
    case VN_DTYPE_F32: ((float *) self->data)[i] = (float) value; break;
    case VN_DTYPE_F64: ((double *) self->data)[i] = value; break;
    case VN_DTYPE_F16: ((guint16 *) self->data)[i] = vn_half_from_float ((float) value); break;
    case VN_DTYPE_BF16: ((guint16 *) self->data)[i] = vn_bfloat_from_float ((float) value); break;
    case VN_DTYPE_BOOL: ((guint8 *) self->data)[i] = value != 0; break;
    case VN_DTYPE_U64:
      ((guint64 *) self->data)[i] = value >= 0 && value < 0x1p64 ? (guint64) value : (guint64) (gint64) CLAMP (value, -0x1p63, 0);
      break;
    default:
      tensor_convert_store_integer (self, i, isnan (value) ? 0 : value >= 0x1p63 ? G_MAXINT64 : value < -0x1p63
                                    ? G_MININT64 : (gint64) value);
      break;
    }
}

static void
convert_elements (const VnTensor *from,
                  VnTensor       *to)
{
  gboolean exact = vn_dtype_is_integer (from->dtype) && vn_dtype_is_integer (to->dtype);

  if (from->dtype == VN_DTYPE_F16 && to->dtype == VN_DTYPE_F32 && (guintptr) from->data % 2 == 0)
    {
      vn_half_to_float_array (from->data, to->data, from->n_elements);
      return;
    }
  if (from->dtype == VN_DTYPE_F32 && to->dtype == VN_DTYPE_F16 && (guintptr) from->data % 4 == 0)
    {
      vn_half_from_float_array (from->data, to->data, from->n_elements);
      return;
    }
  for (gsize i = 0; i < from->n_elements; i++)
    {
      if (exact)
        tensor_convert_store_integer (to, i, vn_tensor_get_s64 (from, i));
      else
        tensor_convert_store_double (to, i, vn_tensor_get_double (from, i));
    }
}

static VnTensor *
tensor_convert_into (VnTensor   *self,
                     VnDType     dtype,
                     VnTensor *(*make) (VnDType, const VnShape *, GError **),
                     GError    **error)
{
  VnTensor *copy;

  if (self->dtype == dtype)
    return vn_tensor_ref (self);
  if (!tensor_convert_is_number (self->dtype) || !tensor_convert_is_number (dtype) || vn_dtype_get_bits (dtype) < 8)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("Cannot convert %s to %s"),
                   vn_dtype_get_name (self->dtype), vn_dtype_get_name (dtype));
      return NULL;
    }
  copy = make (dtype, &self->shape, error);
  if (copy != NULL)
    convert_elements (self, copy);
  return copy;
}

/**
 * vn_tensor_convert:
 * @dtype: bool, float32, float64, float16, bfloat16 or an integer of 8 bits and more
 *
 * Floats become integers by truncation, integers narrow by dropping high bits, everything becomes bool by != 0.
 *
 * Returns: (transfer full) (nullable): @self itself if it has that type, otherwise a converted copy; %NULL with
 *   %VN_ERROR_UNSUPPORTED for types that are no numbers
 */
VnTensor *
vn_tensor_convert (VnTensor  *self,
                   VnDType    dtype,
                   GError   **error)
{
  return tensor_convert_into (self, dtype, vn_tensor_new, error);
}

/**
 * vn_tensor_convert_constant:
 *
 * Returns: (transfer full) (nullable): as of vn_tensor_convert(), a copy as of vn_tensor_new_constant()
 */
VnTensor *
vn_tensor_convert_constant (VnTensor  *self,
                            VnDType    dtype,
                            GError   **error)
{
  return tensor_convert_into (self, dtype, vn_tensor_new_constant, error);
}
