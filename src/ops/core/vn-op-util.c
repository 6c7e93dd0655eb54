/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators share: checks of their inputs, setting outputs, and reading small constant inputs. */
#include "vn-elem.h"

#include "vn-memory.h"

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
  g_autofree char *valid = NULL;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (text, -1);   /* strings of attributes are any bytes */
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SHAPE, valid);
  return FALSE;
}

static gboolean
op_util_check_omitted (VnOpContext *ctx,
                       GError     **error)
{
  for (guint i = 0; i < ctx->op->min_inputs; i++)
    if (vn_node_get_input (ctx->node, i) == NULL && (i >= 32 || (ctx->op->optional >> i & 1) == 0))
      return vn_op_fail (ctx, error, _("required input %u is missing"), i);
  if (ctx->op->min_outputs > 0 && vn_node_get_output (ctx->node, 0) == NULL)
    return vn_op_fail (ctx, error, _("its required first output is missing"));
  return TRUE;
}

/* Sizes that no memory can hold are refused before anyone multiplies them. */
static gboolean
op_util_check_sizes (VnOpContext *ctx,
                     GError     **error)
{
  for (guint i = 0; i < ctx->n_inputs; i++)
    {
      const VnTensorType *type = &ctx->in_types[i];
      gsize n_elements, n_bytes;

      if (type->dtype == VN_DTYPE_UNDEFINED || !vn_shape_is_static (&type->shape) ||
          (vn_tensor_size_in_bytes (type->dtype, &type->shape, &n_elements, &n_bytes) && n_bytes <= G_MAXSSIZE))
        continue;
      g_set_error (error, VN_ERROR, VN_ERROR_LIMIT, _("input %u is too large"), i);
      return FALSE;
    }
  return TRUE;
}

static gboolean
op_util_check_others (VnOpContext *ctx,
                      GError     **error)
{
  for (guint i = 1; i < MIN (ctx->n_inputs, VN_OP_MAX_OTHERS); i++)
    if (ctx->op->others[i] != 0 && ctx->in_types[i].dtype != VN_DTYPE_UNDEFINED &&
        (ctx->op->others[i] >> ctx->in_types[i].dtype & 1) == 0)
      {
        g_set_error (error, VN_ERROR, VN_ERROR_UNSUPPORTED, _("%s does not support input %u of type %s"), ctx->op->type, i,
                     vn_dtype_get_name (ctx->in_types[i].dtype));
        return FALSE;
      }
  return TRUE;
}

/**
 * vn_op_check_same_dtype:
 *
 * Returns: %FALSE with an error if the element types of inputs @a and @b are known and differ
 */
gboolean
vn_op_check_same_dtype (VnOpContext  *ctx,
                        guint         a,
                        guint         b,
                        GError      **error)
{
  VnDType x = ctx->in_types[a].dtype, y = ctx->in_types[b].dtype;

  if (x == y || x == VN_DTYPE_UNDEFINED || y == VN_DTYPE_UNDEFINED)
    return TRUE;
  return vn_op_fail (ctx, error, _("%s: inputs %u and %u must have the same element type, found %s and %s"),
                     ctx->op->type, a, b, vn_dtype_get_name (x), vn_dtype_get_name (y));
}

static gboolean
op_util_check_same_dtype (VnOpContext *ctx,
                          GError     **error)
{
  for (guint i = 1; i < MIN (ctx->n_inputs, 16); i++)
    if ((ctx->op->same_dtype & (1u << i)) != 0 && !vn_op_check_same_dtype (ctx, 0, i, error))
      return FALSE;
  return TRUE;
}

static gboolean
op_util_check_kinds (VnOpContext *ctx,
                     GError     **error)
{
  for (guint i = 0; i < ctx->n_inputs && !ctx->op->containers; i++)
    if (ctx->in_types[i].kind == VN_KIND_SEQUENCE || ctx->in_types[i].kind == VN_KIND_OPTIONAL)
      return vn_op_fail (ctx, error, _("input %u is a sequence or an optional, but the operator takes tensors"), i);
  return TRUE;
}

/**
 * vn_op_may_grow:
 * @n_bytes: of values whose sizes show only while the network runs, all that are held at once
 *
 * Returns: %FALSE with %VN_ERROR_LIMIT if they are more than any network in use makes
 */
gboolean
vn_op_may_grow (const VnOpContext *ctx,
                gsize              n_bytes,
                GError           **error)
{
  gsize most = MAX (ctx->growth, vn_memory_get_growth ());

  if (n_bytes <= most)
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_LIMIT,
               _("%s: values with data-dependent shapes would need %zu MB; more than %zu MB are treated as a model error"),
               ctx->op->type, (n_bytes >> 20) + 1, most >> 20);
  return FALSE;
}

/**
 * vn_op_check_call:
 * @ctx: with op, node, numbers of inputs and outputs and the types of the inputs
 *
 * To be called before `infer`, which may then rely on the inputs and outputs that the operator cannot do without, and
 * on inputs of known shape being of a size that can be computed with.
 *
 * Returns: %FALSE if the node has too few or too many inputs or outputs, leaves out a required one, mixes element
 *   types, or gets an input that is too large
 */
gboolean
vn_op_check_call (VnOpContext *ctx,
                  GError     **error)
{
  const VnOp *op = ctx->op;

  if (ctx->n_inputs < op->min_inputs || ctx->n_inputs > op->max_inputs)
    return vn_op_fail (ctx, error,
                       ngettext ("%u input, but the operator takes %u to %u",
                                 "%u inputs, but the operator takes %u to %u", ctx->n_inputs),
                       ctx->n_inputs, op->min_inputs, op->max_inputs);
  if (ctx->n_outputs < op->min_outputs || ctx->n_outputs > op->max_outputs)
    return vn_op_fail (ctx, error,
                       ngettext ("%u output, but the operator has %u to %u",
                                 "%u outputs, but the operator has %u to %u", ctx->n_outputs),
                       ctx->n_outputs, op->min_outputs, op->max_outputs);
  return (ctx->node == NULL || op_util_check_omitted (ctx, error)) && op_util_check_kinds (ctx, error) &&
         op_util_check_same_dtype (ctx, error) &&
         op_util_check_others (ctx, error) && op_util_check_sizes (ctx, error);
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
 * vn_tensor_get_type:
 *
 * Returns: the type of a value that is there; the shape of a container is none
 */
VnTensorType
vn_tensor_get_type (const VnTensor *tensor)
{
  return (VnTensorType) { tensor->dtype, vn_tensor_is_container (tensor) ? VN_SHAPE_UNKNOWN : tensor->shape, tensor->kind };
}

/**
 * vn_type_get_declared:
 * @type: of a value of a model
 *
 * Returns: the same as operators see it: nothing is known of maps and the like
 */
VnTensorType
vn_type_get_declared (const VnType *type)
{
  if (type->kind == VN_TYPE_TENSOR)
    return (VnTensorType) { type->dtype, type->shape };
  if (type->kind == VN_TYPE_SEQUENCE)
    return (VnTensorType) { type->dtype, VN_SHAPE_UNKNOWN, VN_KIND_SEQUENCE };
  if (type->kind == VN_TYPE_OPTIONAL)
    return (VnTensorType) { type->dtype, VN_SHAPE_UNKNOWN, VN_KIND_OPTIONAL };
  return (VnTensorType) { VN_DTYPE_UNDEFINED, VN_SHAPE_UNKNOWN, VN_KIND_UNKNOWN };
}

/**
 * vn_op_check_again:
 * @ctx: of an operator with one output
 *
 * For `run` of operators whose `infer` looks at shapes that may not have been known then. What is inferred goes nowhere: the
 * types of a plan are shared by all threads that run it.
 *
 * Returns: %FALSE with the error of `infer`
 */
gboolean
vn_op_check_again (VnOpContext *ctx,
                   GError     **error)
{
  VnTensorType inferred[1];
  VnOpContext own = *ctx;

  own.out_types = inferred;
  own.n_outputs = MIN (ctx->n_outputs, G_N_ELEMENTS (inferred));
  return ctx->op->infer (&own, error);
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
    {
      values[k] = vn_tensor_get_s64 (tensor, k);
      /* What would be taken for a size known by name is no sensible number; the least is as far off. */
      if (vn_dims_is_symbolic (values[k]))
        values[k] = G_MININT64;
    }
  return TRUE;
}

/**
 * vn_op_get_dims:
 * @dim: a size
 *
 * Returns: (transfer none) (nullable): with what to compute sizes that depend on @dim; %NULL if nothing follows from it
 */
VnDims *
vn_op_get_dims (const VnOpContext *ctx,
                gint64             dim)
{
  return ctx->numbers != NULL && dim != VN_DIM_UNKNOWN ? ctx->numbers->dims : NULL;
}

/**
 * vn_op_multiply_dims:
 *
 * Returns: product of the dims first .. last - 1; %VN_DIM_UNKNOWN if one is unknown
 */
gint64
vn_op_multiply_dims (const VnOpContext *ctx,
                     const VnShape     *shape,
                     int                first,
                     int                last)
{
  gint64 product = 1;

  for (int i = first; i < last && product != VN_DIM_UNKNOWN; i++)
    product = vn_dims_mul (vn_op_get_dims (ctx, shape->dims[i]), product, shape->dims[i]);
  return product;
}

/**
 * vn_op_get_numbers_input:
 * @i: index of an input of int32 or int64
 * @numbers: (out): room for @max numbers, which may be symbolic if the context has numbers
 * @n: (out): how many there are
 *
 * As vn_op_get_ints_input(), but also reads what is known in part.
 */
gboolean
vn_op_get_numbers_input (VnOpContext *ctx,
                         guint        i,
                         gint64      *numbers,
                         guint        max,
                         guint       *n)
{
  const VnTensor *tensor = ctx->numbers != NULL && i < ctx->n_inputs ? ctx->numbers->in[i] : NULL;

  if (vn_op_get_ints_input (ctx, i, numbers, max, n))
    return TRUE;
  if (tensor == NULL || tensor->n_elements > max)
    return FALSE;
  *n = (guint) tensor->n_elements;
  memcpy (numbers, tensor->data, tensor->n_bytes);
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

/**
 * vn_op_ends_widen:
 * @first: channel
 * @low, @high: (array length=n): of as many channels
 * @strange: whether one of the results is not finite
 *
 * Tells of some results, from any thread.
 */
void
vn_op_ends_widen (VnOpEnds    *self,
                  gsize        first,
                  gsize        n,
                  const float *low,
                  const float *high,
                  gboolean     strange)
{
  g_return_if_fail (self != NULL);

  g_mutex_lock (&self->lock);
  for (gsize k = 0; k < n; k++)
    {
      self->low[first + k] = MIN (self->low[first + k], low[k]);
      self->high[first + k] = MAX (self->high[first + k], high[k]);
    }
  self->strange |= strange;
  g_mutex_unlock (&self->lock);
}
