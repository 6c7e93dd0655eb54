/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types and attributes, as the element-wise operators need them. */
#include "vn-elem.h"

/**
 * vn_elem_size:
 *
 * Returns: bytes of one element; 0 for strings and for elements smaller than a byte
 */
gsize
vn_elem_size (VnDType dtype)
{
  return dtype < VN_N_DTYPES && ((VN_MOVABLE_BITS >> dtype) & 1) != 0 ? vn_dtype_get_bits (dtype) / 8 : 0;
}

/**
 * vn_op_unsupported:
 *
 * Returns: always %FALSE, with %VN_ERROR_UNSUPPORTED: the element type of input @input has no kernel
 */
gboolean
vn_op_unsupported (VnOpContext  *ctx,
                   guint         input,
                   GError      **error)
{
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s does not support elements of type %s"),
               ctx->op->type, vn_dtype_get_name (ctx->in_types[input].dtype));
  return FALSE;
}

/**
 * vn_op_check_movable:
 *
 * Returns: %FALSE with an error if input 0 has elements that cannot be moved as bytes
 */
gboolean
vn_op_check_movable (VnOpContext  *ctx,
                     GError      **error)
{
  return vn_elem_size (ctx->in_types[0].dtype) != 0 || vn_op_unsupported (ctx, 0, error);
}

/**
 * vn_op_check_index_dtype:
 *
 * Returns: %FALSE with an error if input @input is known to be neither int32 nor int64
 */
gboolean
vn_op_check_index_dtype (VnOpContext  *ctx,
                         guint         input,
                         GError      **error)
{
  VnDType dtype = ctx->in_types[input].dtype;

  if (dtype == VN_DTYPE_UNDEFINED || dtype == VN_DTYPE_S64 || dtype == VN_DTYPE_S32)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: input %u must be int32 or int64, found %s"),
                     ctx->op->type, input, vn_dtype_get_name (dtype));
}

/**
 * vn_op_axis:
 * @axis: as the model has it; negative counts from the end
 * @resolved: (out): 0 .. rank - 1
 *
 * Returns: %FALSE with an error if @axis is outside of @shape, whose rank must be known
 */
gboolean
vn_op_axis (VnOpContext    *ctx,
            const VnShape  *shape,
            gint64          axis,
            int            *resolved,
            GError        **error)
{
  if (vn_shape_resolve_axis (shape, axis, resolved))
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: axis %lld is outside of -%d .. %d"),
                     ctx->op->type, (long long) axis, shape->rank, shape->rank - 1);
}

/**
 * vn_op_axis_mask:
 * @mask: (out): bit i set: axis i is named
 *
 * Returns: %FALSE with an error if an axis is outside or named twice
 */
gboolean
vn_op_axis_mask (VnOpContext   *ctx,
                 int            rank,
                 const gint64  *axes,
                 guint          n,
                 guint         *mask,
                 GError       **error)
{
  VnShape shape = { rank };

  *mask = 0;
  for (guint i = 0; i < n; i++)
    {
      int axis;

      if (!vn_op_axis (ctx, &shape, axes[i], &axis, error))
        return FALSE;
      if ((*mask >> axis & 1) != 0)
        return vn_op_fail (ctx, error, _("%s: axis %d is named twice"), ctx->op->type, axis);
      *mask |= 1u << axis;
    }
  return TRUE;
}

/**
 * vn_op_attr_or_input:
 * @attr: name of an attribute of integers, or %NULL
 * @input: index of the input that took its place in later opsets
 * @n: (out): how many values; 0 if neither is there
 * @known: (out): %FALSE if the input is there but its value not yet known
 *
 * Reads a list of integers that older opsets have as attribute and newer ones as input.
 *
 * Returns: %FALSE with an error if there are more than @max
 */
gboolean
vn_op_attr_or_input (VnOpContext  *ctx,
                     const char   *attr,
                     guint         input,
                     gint64       *values,
                     guint         max,
                     guint        *n,
                     gboolean     *known,
                     GError      **error)
{
  gsize n_attr = 0;
  const gint64 *from_attr = attr != NULL ? vn_node_get_ints (ctx->node, attr, &n_attr) : NULL;

  *n = 0;
  *known = TRUE;
  if (from_attr == NULL && !vn_op_has_input (ctx, input))
    return TRUE;
  if (from_attr != NULL)
    {
      if (n_attr > max)
        return vn_op_fail (ctx, error,
                           ngettext ("%s: attribute %s has %zu value, expected at most %u",
                                     "%s: attribute %s has %zu values, expected at most %u", n_attr),
                           ctx->op->type, attr, n_attr, max);
      for (gsize i = 0; i < n_attr; i++)
        values[i] = vn_dims_is_symbolic (from_attr[i]) ? G_MININT64 : from_attr[i];
      *n = (guint) n_attr;
      return TRUE;
    }
  if (!vn_op_check_index_dtype (ctx, input, error))
    return FALSE;
  *known = vn_op_get_ints_input (ctx, input, values, max, n);
  if (!*known && ctx->in != NULL && ctx->in[input] != NULL)
    return vn_op_fail (ctx, error,
                       ngettext ("%s: input %u has %zu value, expected at most %u",
                                 "%s: input %u has %zu values, expected at most %u", ctx->in[input]->n_elements),
                       ctx->op->type, input, ctx->in[input]->n_elements, max);
  return TRUE;
}

/**
 * vn_op_attr_is:
 * @fallback: what an absent attribute means
 *
 * Returns: whether the string attribute @attr is @value
 */
gboolean
vn_op_attr_is (VnOpContext *ctx,
               const char  *attr,
               const char  *value,
               const char  *fallback)
{
  g_autofree char *text = vn_node_dup_string (ctx->node, attr, fallback);

  return g_strcmp0 (text, value) == 0;
}

/**
 * vn_op_attr_choice:
 * @choices: the values it may have, %NULL-terminated
 *
 * Returns: index of the string attribute @attr in @choices; %G_MAXUINT with %VN_ERROR_UNSUPPORTED if it is another
 */
guint
vn_op_attr_choice (VnOpContext         *ctx,
                   const char          *attr,
                   const char          *fallback,
                   const char * const  *choices,
                   GError             **error)
{
  g_autofree char *text = vn_node_dup_string (ctx->node, attr, fallback);

  for (guint i = 0; choices[i] != NULL; i++)
    if (g_str_equal (choices[i], text))
      return i;
  g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s: attribute %s has the unknown value “%s”"),
               ctx->op->type, attr, text);
  return G_MAXUINT;
}

/**
 * vn_elem_load_float:
 * @dtype: float32, float64, float16 or bfloat16
 *
 * Returns: element @i of @data; NaN for other types
 */
float
vn_elem_load_float (VnDType       dtype,
                    gconstpointer data,
                    gsize         i)
{
  switch (dtype)
    {
    case VN_DTYPE_F32: return ((const float *) data)[i];
    case VN_DTYPE_F64: return (float) ((const double *) data)[i];
    case VN_DTYPE_F16: return vn_half_to_float (((const guint16 *) data)[i]);
    case VN_DTYPE_BF16: return vn_bfloat_to_float (((const guint16 *) data)[i]);
    default: return NAN;
    }
}

/**
 * vn_elem_to_float:
 * @dtype: float32, float16 or bfloat16
 *
 * Widens @n elements.
 */
void
vn_elem_to_float (VnDType        dtype,
                  gconstpointer  in,
                  float         *out,
                  gsize          n)
{
  const guint16 *half = in;

  if (dtype == VN_DTYPE_F16)
    vn_half_to_float_array (half, out, n);
  else if (dtype == VN_DTYPE_BF16)
    for (gsize i = 0; i < n; i++)
      out[i] = vn_bfloat_to_float (half[i]);
  else
    memcpy (out, in, n * sizeof (float));
}

/**
 * vn_elem_from_float:
 * @dtype: float32, float16 or bfloat16
 *
 * Narrows @n elements, to nearest, ties to even.
 */
void
vn_elem_from_float (VnDType      dtype,
                    const float *in,
                    gpointer     out,
                    gsize        n)
{
  guint16 *half = out;

  if (dtype == VN_DTYPE_F16)
    vn_half_from_float_array (in, half, n);
  else if (dtype == VN_DTYPE_BF16)
    for (gsize i = 0; i < n; i++)
      half[i] = vn_bfloat_from_float (in[i]);
  else
    memcpy (out, in, n * sizeof (float));
}

/**
 * vn_elem_copy_strings:
 * @out: of as many strings, which are replaced
 */
void
vn_elem_copy_strings (const VnTensor *in,
                      VnTensor       *out)
{
  char **from = in->data, **to = out->data;

  for (gsize i = 0; i < in->n_elements && in != out; i++)
    {
      g_free (to[i]);
      to[i] = g_strdup (from[i]);
    }
}

/**
 * vn_copy_rows:
 * @rows: how many
 * @bytes: of one row
 * @from_step: distance of rows in @from, in bytes; @to_step likewise
 *
 * Copies rows that lie regularly.
 */
void
vn_copy_rows (gsize         rows,
              gsize         bytes,
              gconstpointer from,
              gsize         from_step,
              gpointer      to,
              gsize         to_step)
{
  const char *in = from;
  char *out = to;

  if (bytes == 0)
    return;
  for (gsize i = 0; i < rows; i++)
    memcpy (out + i * to_step, in + i * from_step, bytes);
}
