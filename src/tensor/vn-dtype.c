/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types: names, badges, widths and ranges of integers. */
#include "vn-dtype.h"

typedef struct
{
  const char *name;
  const char *badge;
  guint       bits;
} DTypeInfo;

static const DTypeInfo infos[VN_N_DTYPES] = {
  [VN_DTYPE_UNDEFINED] = { "undefined", "?", 0 },
#define VN_DTYPE(NAME, number, bits, name, badge) [VN_DTYPE_##NAME] = { name, badge, bits },
#include "vn-dtypes.def"
#undef VN_DTYPE
};

static const DTypeInfo *
dtype_get_info (VnDType dtype)
{
  return (guint) dtype < VN_N_DTYPES && infos[dtype].name != NULL ? &infos[dtype] : &infos[VN_DTYPE_UNDEFINED];
}

/**
 * vn_dtype_get_name:
 *
 * Returns: the name in messages and JSON ("float32"); "undefined" for anything that is no type
 */
const char *
vn_dtype_get_name (VnDType dtype)
{
  return dtype_get_info (dtype)->name;
}

/**
 * vn_dtype_get_badge:
 *
 * Returns: the letters shown on a node: "U8", "FP16"
 */
const char *
vn_dtype_get_badge (VnDType dtype)
{
  return dtype_get_info (dtype)->badge;
}

/**
 * vn_dtype_get_bits:
 *
 * Returns: bits of one element; 0 for strings and for no type
 */
guint
vn_dtype_get_bits (VnDType dtype)
{
  return dtype_get_info (dtype)->bits;
}

/**
 * vn_dtype_from_name:
 * @name: a name ("uint8") or a badge in any case ("u8", "FP16")
 *
 * Returns: the type, or %VN_DTYPE_UNDEFINED. Badges shared by several types are not accepted.
 */
VnDType
vn_dtype_from_name (const char *name)
{
  VnDType found = VN_DTYPE_UNDEFINED;
  guint n_badges = 0;

  for (guint i = 1; i < VN_N_DTYPES; i++)
    {
      if (infos[i].name == NULL)
        continue;
      if (g_ascii_strcasecmp (infos[i].name, name) == 0)
        return i;
      if (g_ascii_strcasecmp (infos[i].badge, name) == 0)
        {
          found = i;
          n_badges++;
        }
    }
  return n_badges == 1 ? found : VN_DTYPE_UNDEFINED;
}

/**
 * vn_dtype_from_proto_name:
 * @name: as the file format calls types that Cast knew before opset 6: "FLOAT", in any case
 *
 * Returns: the type, or %VN_DTYPE_UNDEFINED
 */
VnDType
vn_dtype_from_proto_name (const char *name)
{
  static const struct { const char *name; VnDType dtype; } names[] = {
    { "FLOAT", VN_DTYPE_F32 }, { "UINT8", VN_DTYPE_U8 }, { "INT8", VN_DTYPE_S8 }, { "UINT16", VN_DTYPE_U16 },
    { "INT16", VN_DTYPE_S16 }, { "INT32", VN_DTYPE_S32 }, { "INT64", VN_DTYPE_S64 }, { "STRING", VN_DTYPE_STRING },
    { "BOOL", VN_DTYPE_BOOL }, { "FLOAT16", VN_DTYPE_F16 }, { "DOUBLE", VN_DTYPE_F64 }, { "UINT32", VN_DTYPE_U32 },
    { "UINT64", VN_DTYPE_U64 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (g_ascii_strcasecmp (name, names[i].name) == 0)
      return names[i].dtype;
  return VN_DTYPE_UNDEFINED;
}

/**
 * vn_dtype_is_valid:
 * @number: from anywhere, such as a file
 *
 * Returns: whether it is a type tensors can have
 */
gboolean
vn_dtype_is_valid (gint64 number)
{
  return number > VN_DTYPE_UNDEFINED && number < VN_DTYPE_FIRST_BLOCK && infos[number].name != NULL;
}

/**
 * vn_dtype_is_block:
 *
 * Returns: whether values can be rounded to @dtype in blocks that share an exponent, while no tensor has that type
 */
gboolean
vn_dtype_is_block (VnDType dtype)
{
  return dtype >= VN_DTYPE_FIRST_BLOCK && dtype < VN_N_DTYPES;
}

gboolean
vn_dtype_is_float (VnDType dtype)
{
  const VnDTypeSet floats = VN_DTYPE_BIT (F32) | VN_DTYPE_BIT (F16) | VN_DTYPE_BIT (F64) | VN_DTYPE_BIT (BF16) |
                            VN_DTYPE_BIT (F8E4M3) | VN_DTYPE_BIT (F8E4M3UZ) | VN_DTYPE_BIT (F8E5M2) |
                            VN_DTYPE_BIT (F8E5M2UZ) | VN_DTYPE_BIT (F4E2M1) | VN_DTYPE_BIT (F8E8M0);

  return vn_dtype_is_valid (dtype) && (floats >> dtype & 1);
}

/**
 * vn_dtype_integer_range:
 * @min: (out): lowest value
 * @max: (out): highest value; G_MAXINT64 for uint64
 *
 * Returns: %FALSE for anything but integers
 */
gboolean
vn_dtype_integer_range (VnDType  dtype,
                        gint64  *min,
                        gint64  *max)
{
  guint bits = vn_dtype_get_bits (dtype);

  if (!vn_dtype_is_integer (dtype))
    return FALSE;
  if (vn_dtype_is_signed (dtype))
    {
      *max = bits == 64 ? G_MAXINT64 : ((gint64) 1 << (bits - 1)) - 1;
      *min = -*max - 1;
    }
  else
    {
      *max = bits == 64 ? G_MAXINT64 : ((gint64) 1 << bits) - 1;
      *min = 0;
    }
  return TRUE;
}

gboolean
vn_dtype_is_integer (VnDType dtype)
{
  const VnDTypeSet integers = VN_DTYPE_BIT (U8) | VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (U16) | VN_DTYPE_BIT (S16) |
                              VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (U32) | VN_DTYPE_BIT (U64) |
                              VN_DTYPE_BIT (U4) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (U2) | VN_DTYPE_BIT (S2);

  return vn_dtype_is_valid (dtype) && (integers >> dtype & 1);
}

/**
 * vn_dtype_is_signed:
 *
 * Returns: %TRUE for signed integers and all floats but float8e8m0
 */
gboolean
vn_dtype_is_signed (VnDType dtype)
{
  const VnDTypeSet signed_integers = VN_DTYPE_BIT (S8) | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) |
                                     VN_DTYPE_BIT (S64) | VN_DTYPE_BIT (S4) | VN_DTYPE_BIT (S2);

  if (vn_dtype_is_float (dtype))
    return dtype != VN_DTYPE_F8E8M0;
  return vn_dtype_is_valid (dtype) && (signed_integers >> dtype & 1);
}
