/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-op-private.h"

#include <stdarg.h>

/**
 * vn_op_fail:
 * @format: what does not fit, with the numbers; the caller above adds the name of the node
 *
 * Reports that the inputs or attributes of an operator do not fit together.
 *
 * Returns: always %FALSE, with %VN_ERROR_SHAPE
 */
gboolean
vn_op_fail (VnOpContext *ctx,
            GError     **error,
            const char  *format,
            ...)
{
  va_list args;
  g_autofree char *text = NULL;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SHAPE, text);
  return FALSE;
}

/**
 * vn_op_has_input:
 * @i: index of an input
 *
 * Returns: whether the node has that input: neither omitted nor past the end
 */
gboolean
vn_op_has_input (const VnOpContext *ctx,
                 guint              i)
{
  if (i >= ctx->n_inputs)
    return FALSE;
  return ctx->in_types[i].dtype != VN_DTYPE_UNDEFINED || ctx->in_types[i].shape.rank >= 0 ||
         (ctx->in != NULL && ctx->in[i] != NULL) ||
         (ctx->node != NULL && vn_node_get_input (ctx->node, i) != NULL);
}

/**
 * vn_op_set_output:
 * @i: index of an output; nothing happens if the node has fewer
 * @dtype: type of its elements
 * @shape: its shape, dims or rank may be unknown
 */
void
vn_op_set_output (VnOpContext   *ctx,
                  guint          i,
                  VnDType        dtype,
                  const VnShape *shape)
{
  if (i < ctx->n_outputs)
    ctx->out_types[i] = (VnTensorType) { dtype, *shape };
}

/**
 * vn_op_infer_same:
 *
 * For `infer` of operators whose outputs all have type and shape of input 0.
 *
 * Returns: always %TRUE
 */
gboolean
vn_op_infer_same (VnOpContext *ctx,
                  GError     **error)
{
  for (guint i = 0; i < ctx->n_outputs; i++)
    vn_op_set_output (ctx, i, ctx->in_types[0].dtype, &ctx->in_types[0].shape);
  return TRUE;
}

/**
 * vn_op_get_ints_input:
 * @i: index of an input of int32 or int64
 * @values: (out): room for @max numbers
 * @n: (out): how many there are
 *
 * Reads a small input of integers (axes, sizes, a shape) if its value is already known.
 *
 * Returns: %FALSE if it is omitted, not known yet, of another type or longer than @max
 */
gboolean
vn_op_get_ints_input (VnOpContext *ctx,
                      guint        i,
                      gint64      *values,
                      guint        max,
                      guint       *n)
{
  const VnTensor *tensor = i < ctx->n_inputs && ctx->in != NULL ? ctx->in[i] : NULL;

  if (tensor == NULL || (tensor->dtype != VN_DTYPE_S32 && tensor->dtype != VN_DTYPE_S64) ||
      tensor->n_elements > max)
    return FALSE;

  *n = (guint) tensor->n_elements;
  for (guint k = 0; k < *n; k++)
    values[k] = vn_tensor_get_s64 (tensor, k);
  return TRUE;
}

/**
 * vn_op_check_alike:
 * @inputs: bit i: input i must have elements like input 0, unless it is omitted or its type not known
 *
 * For `infer` of operators whose kernels read several inputs as one type: the table names the types of input 0 only.
 *
 * Returns: %FALSE with an error if one differs
 */
gboolean
vn_op_check_alike (VnOpContext  *ctx,
                   guint         inputs,
                   GError      **error)
{
  VnDType first = ctx->in_types[0].dtype;

  for (guint i = 1; i < ctx->n_inputs && i < 32; i++)
    {
      VnDType dtype = ctx->in_types[i].dtype;

      if ((inputs >> i & 1) != 0 && dtype != first && dtype != VN_DTYPE_UNDEFINED && first != VN_DTYPE_UNDEFINED)
        return vn_op_fail (ctx, error, _("%s: inputs 0 and %u must have the same element type, found %s and %s"),
                           ctx->op->type, i, vn_dtype_get_name (first), vn_dtype_get_name (dtype));
    }
  return TRUE;
}
