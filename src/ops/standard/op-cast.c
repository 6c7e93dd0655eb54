/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cast and CastLike.
 *
 * Float to integer truncates toward zero; what does not fit wraps like a two's complement conversion of the 64-bit
 * value, NaN gives 0. Integers narrow by dropping high bits. Everything becomes bool by != 0. Narrower floats round to
 * nearest, ties to even; beyond their range they become infinite, or for floats of 8 bits the largest number unless
 * the attribute “saturate” is 0. A number becomes the shortest text that reads back as the same number. */
#include "vn-elem.h"
#include "vn-minifloat.h"

#define CASTABLE_BITS (VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_EIGHT_BITS | VN_PACKED_BITS | \
                       VN_DTYPE_BIT (STRING))

static gboolean
cast_is_castable (VnDType dtype)
{
  return dtype < VN_N_DTYPES && (CASTABLE_BITS >> dtype & 1) != 0;
}

static gboolean
cast_infer (VnOpContext *ctx,
            GError     **error)
{
  const VnAttr *attr = vn_node_get_attr (ctx->node, "to");
  gboolean is_name = attr != NULL && attr->type == VN_ATTR_STRING;   /* until opset 5 */
  g_autofree char *name = is_name ? vn_node_dup_string (ctx->node, "to", "") : NULL;
  gint64 to = is_name ? vn_dtype_from_proto_name (name) : vn_node_get_int (ctx->node, "to", 0);

  if (!vn_dtype_is_valid (to) || to == VN_DTYPE_UNDEFINED)
    return vn_op_fail (ctx, error, _("Cast: attribute “to” is %lld, which is not an element type"), (long long) to);
  vn_op_set_output (ctx, 0, (VnDType) to, &ctx->in_types[0].shape);
  return TRUE;
}

static gboolean
cast_like_infer (VnOpContext *ctx,
                 GError     **error)
{
  vn_op_set_output (ctx, 0, ctx->in_types[1].dtype, &ctx->in_types[0].shape);
  return TRUE;
}

#define PIECE 1024

/* In pieces through 64-bit integers or doubles: every pair of types with one loop per type. float32 from and to the
 * common types has loops of its own below. */
#define LOAD_INTEGER(name, type, arg)                                           \
  case VN_DTYPE_##name:                                                         \
    for (gsize i = 0; i < n; i++)                                               \
      out[i] = (gint64) ((const type *) in->data)[first + i];                   \
    return;
#define LOAD_DOUBLE(name, type, arg)                                            \
  case VN_DTYPE_##name:                                                         \
    for (gsize i = 0; i < n; i++)                                               \
      out[i] = (double) ((const type *) in->data)[first + i];                   \
    return;

static void
cast_load_integers (const VnTensor *in,
                    gsize           first,
                    gint64         *out,
                    gsize           n)
{
  switch (in->dtype)
    {
      VN_INTEGER_TYPES (LOAD_INTEGER, )
    case VN_DTYPE_BOOL:
      for (gsize i = 0; i < n; i++)
        out[i] = ((const guint8 *) in->data)[first + i] != 0;
      return;
    default:
      for (gsize i = 0; i < n; i++)
        out[i] = vn_tensor_get_s64 (in, first + i);
    }
}

static void
cast_load_doubles (const VnTensor *in,
                   gsize           first,
                   double         *out,
                   gsize           n)
{
  switch (in->dtype)
    {
      VN_INTEGER_TYPES (LOAD_DOUBLE, )
      VN_FLOAT_TYPES (LOAD_DOUBLE, )
    case VN_DTYPE_BOOL:
      for (gsize i = 0; i < n; i++)
        out[i] = ((const guint8 *) in->data)[first + i] != 0;
      return;
    default:
      for (gsize i = 0; i < n; i++)
        out[i] = vn_minifloat_is (in->dtype) ? vn_minifloat_load (in->dtype, in->data, first + i)
                                             : vn_tensor_get_double (in, first + i);
    }
}

#define STORE_INTEGER(name, type, arg)                                          \
  case VN_DTYPE_##name:                                                         \
    for (gsize i = 0; i < n; i++)                                               \
      ((type *) out->data)[first + i] = (type) in[i];                           \
    return;

static void
cast_store_packed (VnTensor     *out,
                   gsize         first,
                   const gint64 *in,
                   gsize         n)
{
  guint bits = vn_dtype_get_bits (out->dtype), per_byte = 8 / bits, mask = (1u << bits) - 1;
  guint8 *data = out->data;

  for (gsize i = first; i < first + n; i++)
    {
      guint shift = (guint) (i % per_byte) * bits;
      guint8 *byte = data + i / per_byte;

      *byte = (guint8) ((shift == 0 ? 0 : *byte & ~(mask << shift)) | (((guint) in[i - first] & mask) << shift));
    }
}

static void
cast_store_integers (VnTensor     *out,
                     gsize         first,
                     const gint64 *in,
                     gsize         n)
{
  switch (out->dtype)
    {
      VN_INTEGER_TYPES (STORE_INTEGER, )
    case VN_DTYPE_BOOL:
      for (gsize i = 0; i < n; i++)
        ((guint8 *) out->data)[first + i] = in[i] != 0;
      return;
    default:
      cast_store_packed (out, first, in, n);
    }
}

static void
cast_store_floats (VnTensor     *out,
                   gsize         first,
                   const double *in,
                   gsize         n)
{
  for (gsize i = 0; i < n; i++)
    switch (out->dtype)
      {
      case VN_DTYPE_F64: ((double *) out->data)[first + i] = in[i]; break;
      case VN_DTYPE_F32: ((float *) out->data)[first + i] = (float) in[i]; break;
      case VN_DTYPE_F16: ((guint16 *) out->data)[first + i] = vn_half_from_float ((float) in[i]); break;
      default: ((guint16 *) out->data)[first + i] = vn_bfloat_from_float ((float) in[i]); break;
      }
}

/* What a float becomes as an integer of any width before its high bits are dropped. */
static gint64
cast_truncated (double   value,
                gboolean is_u64)
{
  if (value >= -0x1p63 && value < 0x1p63)
    return (gint64) value;
  if (is_u64 && value > 0 && value < 0x1p64)
    return (gint64) (guint64) value;
  return isnan (value) ? 0 : value > 0 && !is_u64 ? G_MAXINT64 : value > 0 ? -1 : G_MININT64;
}

static void
cast_floats_to_integers (const VnTensor *in,
                         VnTensor       *out,
                         gsize           first,
                         gsize           n)
{
  double values[PIECE];
  gint64 integers[PIECE];

  cast_load_doubles (in, first, values, n);
  for (gsize i = 0; i < n; i++)
    if (out->dtype == VN_DTYPE_BOOL)
      integers[i] = values[i] != 0;
    else
      integers[i] = cast_truncated (values[i], out->dtype == VN_DTYPE_U64);
  cast_store_integers (out, first, integers, n);
}

typedef struct
{
  gboolean        saturate;
  VnScaleRounding rounding;
} Options;

static void
cast_store_minifloats (VnTensor      *out,
                       const Options *options,
                       gsize          first,
                       const double  *values,
                       gsize          n)
{
  gint64 codes[PIECE];

  for (gsize i = 0; i < n; i++)
    codes[i] = vn_minifloat_from (out->dtype, (float) values[i], options->saturate, options->rounding);
  if (out->dtype == VN_DTYPE_F4E2M1)
    cast_store_packed (out, first, codes, n);
  else
    for (gsize i = 0; i < n; i++)
      ((guint8 *) out->data)[first + i] = (guint8) codes[i];
}

static void
cast_piece (const VnTensor *in,
            VnTensor       *out,
            const Options  *options,
            gsize           first,
            gsize           n)
{
  gboolean from_float = vn_dtype_is_float (in->dtype) || vn_minifloat_is (in->dtype);
  gboolean to_float = vn_dtype_is_float (out->dtype);
  double values[PIECE];
  gint64 integers[PIECE];

  if (vn_minifloat_is (out->dtype))
    {
      cast_load_doubles (in, first, values, n);
      cast_store_minifloats (out, options, first, values, n);
    }
  else if (to_float)
    {
      cast_load_doubles (in, first, values, n);
      cast_store_floats (out, first, values, n);
    }
  else if (from_float)
    cast_floats_to_integers (in, out, first, n);
  else
    {
      cast_load_integers (in, first, integers, n);
      cast_store_integers (out, first, integers, n);
    }
}

/* ---- strings ---- */

/* @narrow: only the digits of a float32 count. */
static char *
cast_float_to_text (double   value,
                    gboolean narrow)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE], format[8];

  if (isnan (value))
    return g_strdup ("NaN");
  if (isinf (value))
    return g_strdup (value > 0 ? "INF" : "-INF");
  for (int digits = 1; digits <= 17; digits++)
    {
      double back;

      g_snprintf (format, sizeof format, "%%.%dg", digits);
      back = g_ascii_strtod (g_ascii_formatd (text, sizeof text, format, value), NULL);
      if (narrow ? (float) back == (float) value : back == value)
        break;
    }
  return g_strdup (text);
}

static char *
cast_integer_to_text (VnDType dtype,
                      gint64  value)
{
  return dtype == VN_DTYPE_U64 ? g_strdup_printf ("%" G_GUINT64_FORMAT, (guint64) value)
       : dtype == VN_DTYPE_BOOL ? g_strdup (value != 0 ? "True" : "False")
       : g_strdup_printf ("%" G_GINT64_FORMAT, value);
}

static void
cast_write_texts (const VnTensor *in,
                  VnTensor       *out,
                  gsize           first,
                  gsize           n)
{
  gboolean is_float = vn_dtype_is_float (in->dtype) || vn_minifloat_is (in->dtype);
  char **texts = (char **) out->data + first;
  double values[PIECE];
  gint64 integers[PIECE];

  if (is_float)
    cast_load_doubles (in, first, values, n);
  else
    cast_load_integers (in, first, integers, n);
  for (gsize i = 0; i < n; i++)
    {
      g_free (texts[i]);
      texts[i] = is_float ? cast_float_to_text (values[i], in->dtype != VN_DTYPE_F64)
                 : cast_integer_to_text (in->dtype, integers[i]);
    }
}

/* Reads @text as a float and, where it is one, as an integer of 64 bits. */
static gboolean
cast_read_text (VnOpContext  *ctx,
                const char   *text,
                gboolean      is_unsigned,
                double       *value,
                gint64       *integer,
                GError      **error)
{
  char *end, *integer_end;

  *value = g_ascii_strtod (text, &end);
  while (g_ascii_isspace (*end))
    end++;
  if (end == text || *end != '\0')
    {
      if (g_ascii_strcasecmp (text, "true") != 0 && g_ascii_strcasecmp (text, "false") != 0)
        return vn_op_fail (ctx, error, _("%s: “%.40s” is not a number"), ctx->op->type, text);
      *value = g_ascii_strcasecmp (text, "true") == 0;
      *integer = (gint64) *value;
      return TRUE;
    }
  *integer = is_unsigned ? (gint64) g_ascii_strtoull (text, &integer_end, 10) : g_ascii_strtoll (text, &integer_end, 10);
  if (integer_end < end && !g_ascii_isspace (*integer_end))
    *integer = cast_truncated (*value, is_unsigned);
  return TRUE;
}

static gboolean
cast_read_texts (VnOpContext    *ctx,
                 const Options  *options,
                 gsize           first,
                 gsize           n,
                 GError        **error)
{
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  double values[PIECE];
  gint64 integers[PIECE];

  for (gsize i = 0; i < n; i++)
    if (!cast_read_text (ctx, ((char **) in->data)[first + i], out->dtype == VN_DTYPE_U64, &values[i], &integers[i], error))
      return FALSE;
  if (vn_minifloat_is (out->dtype))
    cast_store_minifloats (out, options, first, values, n);
  else if (vn_dtype_is_float (out->dtype))
    cast_store_floats (out, first, values, n);
  else
    {
      for (gsize i = 0; i < n; i++)
        if (out->dtype == VN_DTYPE_BOOL)
          integers[i] = values[i] != 0;
      cast_store_integers (out, first, integers, n);
    }
  return TRUE;
}

static gboolean
cast_strings (VnOpContext    *ctx,
              const Options  *options,
              GError        **error)
{
  const VnTensor *in = ctx->in[0];

  if (in->dtype == ctx->out[0]->dtype)
    vn_elem_copy_strings (in, ctx->out[0]);
  else
    for (gsize first = 0; first < in->n_elements; first += PIECE)
      {
        gsize n = MIN (in->n_elements - first, (gsize) PIECE);

        if (in->dtype != VN_DTYPE_STRING)
          cast_write_texts (in, ctx->out[0], first, n);
        else if (!cast_read_texts (ctx, options, first, n, error))
          return FALSE;
      }
  return TRUE;
}

/* Copies and the pairs with float32 that models use all the time; FALSE if it is none of them. */
static gboolean
cast_fast (const VnTensor *in,
           VnTensor       *out)
{
  gboolean half_in = (VN_HALF_BITS >> in->dtype & 1) != 0, half_out = (VN_HALF_BITS >> out->dtype & 1) != 0;

  if (in->dtype == out->dtype && in->n_bytes > 0)
    memcpy (out->data, in->data, in->n_bytes);
  else if (half_in && out->dtype == VN_DTYPE_F32)
    vn_elem_to_float (in->dtype, in->data, out->data, in->n_elements);
  else if (half_out && in->dtype == VN_DTYPE_F32)
    vn_elem_from_float (out->dtype, in->data, out->data, in->n_elements);
  else
    return FALSE;
  return TRUE;
}

static gboolean
cast_run (VnOpContext *ctx,
          GError     **error)
{
  static const char * const roundings[] = { "up", "down", "nearest", NULL };
  const VnTensor *in = ctx->in[0];
  VnTensor *out = ctx->out[0];
  Options options = { vn_node_get_int (ctx->node, "saturate", 1) != 0, VN_ROUND_UP };
  guint rounding = vn_op_attr_choice (ctx, "round_mode", "up", roundings, error);

  if (rounding == G_MAXUINT)
    return FALSE;
  options.rounding = (VnScaleRounding) rounding;
  if (!cast_is_castable (in->dtype) || !cast_is_castable (out->dtype))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s from %s to %s is not supported"),
                   ctx->op->type, vn_dtype_get_name (in->dtype), vn_dtype_get_name (out->dtype));
      return FALSE;
    }
  if (in->dtype == VN_DTYPE_STRING || out->dtype == VN_DTYPE_STRING)
    return cast_strings (ctx, &options, error);
  if (cast_fast (in, out))
    return TRUE;
  for (gsize first = 0; first < in->n_elements; first += PIECE)
    cast_piece (in, out, &options, first, MIN (in->n_elements - first, (gsize) PIECE));
  return TRUE;
}

#define CAST(variable, name, first, inputs, infer_func)                             \
  const VnOp variable = {                                                           \
    .domain = "", .type = name, .since = first,                                     \
    .min_inputs = inputs, .max_inputs = inputs, .min_outputs = 1, .max_outputs = 1, \
    .others = { [1] = CASTABLE_BITS },                                              \
    .dtypes = CASTABLE_BITS,                                                        \
    .family = VN_FAMILY_CONVERSION,                                                 \
    .infer = infer_func,                                                            \
    .run = cast_run,                                                                \
  };

CAST (vn_op_cast_1, "Cast", 1, 1, cast_infer)
CAST (vn_op_cast_like_15, "CastLike", 15, 2, cast_like_infer)
