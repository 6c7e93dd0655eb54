/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers of any element type: storing one, merging scalars, memory with an error, and a sort that keeps the order of
 * equals. */
#include "vn-number.h"

#include "vn-memory.h"

static gint64
number_to_integer (double  value,
                   gint64  min,
                   gint64  max)
{
  if (!(value > (double) min))
    return isnan (value) ? 0 : min;
  return value >= (double) max ? max : (gint64) value;
}

/**
 * vn_number_store:
 * @dtype: a number or bool
 * @data: elements of that type
 * @value: rounded to the type: floats to nearest, integers towards zero and into their range (NaN: 0)
 *
 * Stores element @i.
 */
void
vn_number_store (VnDType   dtype,
                 gpointer  data,
                 gsize     i,
                 double    value)
{
  switch (dtype)
    {
    case VN_DTYPE_F32: ((float *) data)[i] = (float) value; return;
    case VN_DTYPE_F64: ((double *) data)[i] = value; return;
    case VN_DTYPE_F16: ((guint16 *) data)[i] = vn_half_from_float ((float) value); return;
    case VN_DTYPE_BF16: ((guint16 *) data)[i] = vn_bfloat_from_float ((float) value); return;
    case VN_DTYPE_BOOL: ((guint8 *) data)[i] = value != 0; return;
    case VN_DTYPE_U8: ((guint8 *) data)[i] = (guint8) number_to_integer (value, 0, G_MAXUINT8); return;
    case VN_DTYPE_S8: ((gint8 *) data)[i] = (gint8) number_to_integer (value, G_MININT8, G_MAXINT8); return;
    case VN_DTYPE_U16: ((guint16 *) data)[i] = (guint16) number_to_integer (value, 0, G_MAXUINT16); return;
    case VN_DTYPE_S16: ((gint16 *) data)[i] = (gint16) number_to_integer (value, G_MININT16, G_MAXINT16); return;
    case VN_DTYPE_U32: ((guint32 *) data)[i] = (guint32) number_to_integer (value, 0, G_MAXUINT32); return;
    case VN_DTYPE_S32: ((gint32 *) data)[i] = (gint32) number_to_integer (value, G_MININT32, G_MAXINT32); return;
    case VN_DTYPE_S64: ((gint64 *) data)[i] = number_to_integer (value, G_MININT64, G_MAXINT64); return;
    case VN_DTYPE_U64:
      ((guint64 *) data)[i] = value >= 0x1p63 ? (value < 0x1p64 ? (guint64) value : G_MAXUINT64)
                                              : (guint64) number_to_integer (value, 0, G_MAXINT64);
      return;
    default: return;
    }
}

static gboolean
number_is_single (VnOpContext  *ctx,
                  guint         input,
                  gboolean     *known,
                  GError      **error)
{
  const VnTensor *tensor = ctx->in != NULL && input < ctx->n_inputs ? ctx->in[input] : NULL;

  *known = tensor != NULL;
  if (tensor != NULL && tensor->n_elements != 1)
    return vn_op_fail (ctx, error, _("%s: input %u must have 1 element, found %zu"), ctx->op->type, input,
                       tensor->n_elements);
  return TRUE;
}

/**
 * vn_number_scalar:
 * @value: (out): the only element of a float input; left alone if not @known
 * @known: (out): whether the input is there and its value known now
 *
 * Returns: %FALSE with an error if the input is no single number of a float type
 */
gboolean
vn_number_scalar (VnOpContext  *ctx,
                  guint         input,
                  double       *value,
                  gboolean     *known,
                  GError      **error)
{
  if (!number_is_single (ctx, input, known, error))
    return FALSE;
  if (!*known)
    return TRUE;
  if ((VN_FLOAT_BITS >> ctx->in[input]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, input, error);
  *value = vn_tensor_get_double (ctx->in[input], 0);
  return TRUE;
}

/**
 * vn_number_size:
 * @min: the smallest that makes sense; more than 2^31 - 1 never does
 * @value: (out): the only element of an int32 or int64 input; left alone if not @known
 * @known: (out): whether the input is there and its value known now
 *
 * Returns: %FALSE with an error if the input is no single integer in that range
 */
gboolean
vn_number_size (VnOpContext  *ctx,
                guint         input,
                gint64        min,
                gint64       *value,
                gboolean     *known,
                GError      **error)
{
  gint64 found;

  if (!number_is_single (ctx, input, known, error))
    return FALSE;
  if (input < ctx->n_inputs && !vn_op_check_index_dtype (ctx, input, error))
    return FALSE;
  if (!*known)
    return TRUE;
  found = vn_tensor_get_s64 (ctx->in[input], 0);
  if (found < min || found > G_MAXINT32)
    return vn_op_fail (ctx, error, _("%s: input %u is %lld, expected %lld to %d"),
                       ctx->op->type, input, (long long) found, (long long) min, G_MAXINT32);
  *value = found;
  return TRUE;
}

/**
 * vn_op_try_alloc:
 *
 * Returns: (transfer full): @n × @size bytes, not cleared, to be freed with g_free(); %NULL with %VN_ERROR_MEMORY
 */
gpointer
vn_op_try_alloc (gsize    n,
                 gsize    size,
                 GError **error)
{
  return vn_memory_alloc (n, size, error);
}

static void
number_merge (const gsize   *from,
              gsize         *to,
              gsize          n,
              gsize          width,
              VnOrderFunc    func,
              gconstpointer  data)
{
  for (gsize start = 0; start < n; start += 2 * width)
    {
      gsize a = start, b = MIN (start + width, n), a_end = b, b_end = MIN (start + 2 * width, n);

      for (gsize k = start; k < b_end; k++)
        to[k] = a < a_end && (b >= b_end || func (data, from[a], from[b]) <= 0) ? from[a++] : from[b++];
    }
}

/**
 * vn_order_sort:
 * @items: numbers that @func understands, sorted in place; equal ones keep their order
 *
 * Returns: %FALSE with %VN_ERROR_MEMORY if there is no memory for a copy of @items
 */
gboolean
vn_order_sort (gsize          *items,
               gsize           n,
               VnOrderFunc     func,
               gconstpointer   data,
               GError        **error)
{
  g_autofree gsize *buffer = vn_op_try_alloc (n, sizeof (gsize), error);
  gsize *from = items, *to = buffer;

  if (buffer == NULL)
    return FALSE;
  for (gsize width = 1; width < n; width *= 2)
    {
      gsize *swap = from;

      number_merge (from, to, n, width, func, data);
      from = to;
      to = swap;
    }
  if (from != items)
    memcpy (items, from, n * sizeof (gsize));
  return TRUE;
}
