/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Range: start, start + delta ... below limit: max (ceil ((limit - start) / delta), 0) numbers. NonZero: indices of the
 * elements that are not 0, one row per dim. Their sizes depend on values, so they are found as soon as those are
 * known. */
#include "vn-elem.h"

static gboolean
range_length (VnOpContext *ctx,
              gint64      *n,
              GError     **error)
{
  const VnTensor *start = ctx->in[0], *limit = ctx->in[1], *delta = ctx->in[2];
  double count;

  for (guint i = 0; i < 3; i++)
    if (ctx->in[i]->n_elements != 1)
      return vn_op_fail (ctx, error, _("Range: input %u must have 1 element, found %zu"),
                         i, ctx->in[i]->n_elements);
  if (vn_dtype_is_integer (start->dtype))
    {
      gint64 d = vn_tensor_get_s64 (delta, 0), from = vn_tensor_get_s64 (start, 0), to = vn_tensor_get_s64 (limit, 0);
      /* Unsigned differences: the extreme integers must not overflow. */
      guint64 distance = d > 0 ? (guint64) to - (guint64) from : (guint64) from - (guint64) to;
      guint64 stride = d > 0 ? (guint64) d : 0 - (guint64) d;

      if (d == 0)
        return vn_op_fail (ctx, error, _("Range: delta is 0"));
      *n = (d > 0 ? to > from : from > to) ? (gint64) MIN ((distance - 1) / stride, (guint64) G_MAXINT64 - 1) + 1 : 0;
      return TRUE;
    }
  count = ceil ((vn_tensor_get_double (limit, 0) - vn_tensor_get_double (start, 0)) / vn_tensor_get_double (delta, 0));
  if (!(count < 0x1p40))
    return vn_op_fail (ctx, error, _("Range: %g to %g in steps of %g has no valid length"),
                       vn_tensor_get_double (start, 0), vn_tensor_get_double (limit, 0), vn_tensor_get_double (delta, 0));
  *n = count > 0 ? (gint64) count : 0;
  return TRUE;
}

/* The length of a range of integers that are known by name; VN_DIM_UNKNOWN if nothing can be said. */
static gint64
range_open_length (VnOpContext *ctx)
{
  VnDims *dims = ctx->numbers != NULL ? ctx->numbers->dims : NULL;
  gint64 from, to, step;
  guint n[3];

  if (dims == NULL || !vn_op_get_numbers_input (ctx, 0, &from, 1, &n[0]) ||
      !vn_op_get_numbers_input (ctx, 1, &to, 1, &n[1]) || !vn_op_get_numbers_input (ctx, 2, &step, 1, &n[2]) ||
      n[0] != 1 || n[1] != 1 || n[2] != 1 || vn_dims_is_symbolic (step) || step < 1)
    return VN_DIM_UNKNOWN;
  return vn_dims_as_size (dims, vn_dims_max (dims, vn_dims_ceil_div (dims, vn_dims_sub (dims, to, from), step), 0));
}

static gboolean
range_infer (VnOpContext *ctx,
             GError     **error)
{
  VnShape out = { 1, { VN_DIM_UNKNOWN } };

  if (!vn_op_check_same_dtype (ctx, 0, 1, error) || !vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  if (ctx->in != NULL && ctx->in[0] != NULL && ctx->in[1] != NULL && ctx->in[2] != NULL)
    {
      if (!range_length (ctx, &out.dims[0], error))
        return FALSE;
    }
  else
    out.dims[0] = range_open_length (ctx);
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

#define FILL(name, type, wide)                                                               \
  case VN_DTYPE_##name:                                                                      \
    for (gsize i = 0; i < out->n_elements; i++)                                              \
      ((type *) out->data)[i] = (type) ((wide) *(const type *) ctx->in[0]->data +            \
                                        (wide) i * (wide) *(const type *) ctx->in[2]->data); \
    return TRUE;

static gboolean
range_run (VnOpContext *ctx,
           GError     **error)
{
  VnTensor *out = ctx->out[0];

  if (!vn_op_check_same_dtype (ctx, 0, 2, error))
    return FALSE;
  switch (out->dtype)
    {
      FILL (F32, float, double)
      FILL (F64, double, double)
      FILL (S16, gint16, guint64)
      FILL (S32, gint32, guint64)
      FILL (S64, gint64, guint64)
    case VN_DTYPE_F16:
    case VN_DTYPE_BF16:
      for (gsize i = 0; i < out->n_elements; i++)
        vn_elem_from_float (out->dtype, (const float[]) { vn_elem_load_float (out->dtype, ctx->in[0]->data, 0) +
                            (float) i * vn_elem_load_float (out->dtype, ctx->in[2]->data, 0) },
                            (guint16 *) out->data + i, 1);
      return TRUE;
    default:
      return vn_op_unsupported (ctx, 0, error);
    }
}

const VnOp vn_op_range_11 = {
  .domain = "", .type = "Range", .since = 11,
  .min_inputs = 3, .max_inputs = 3, .min_outputs = 1, .max_outputs = 1,
  .same_dtype = 1u << 1 | 1u << 2,
  .dtypes = VN_FLOAT_BITS | VN_DTYPE_BIT (S16) | VN_DTYPE_BIT (S32) | VN_DTYPE_BIT (S64),
  .family = VN_FAMILY_SHAPE,
  .infer = range_infer,
  .run = range_run,
};

static gboolean
range_is_nonzero (const VnTensor *in,
                  gsize           i)
{
  switch (in->dtype)
    {
    case VN_DTYPE_STRING: return *((char **) in->data)[i] != '\0';
    case VN_DTYPE_C64: return ((const float *) in->data)[2 * i] != 0 || ((const float *) in->data)[2 * i + 1] != 0;
    case VN_DTYPE_C128: return ((const double *) in->data)[2 * i] != 0 || ((const double *) in->data)[2 * i + 1] != 0;
    default:
      return vn_dtype_is_float (in->dtype) ? vn_tensor_get_double (in, i) != 0 : vn_tensor_get_s64 (in, i) != 0;
    }
}

static gboolean
range_nonzero_infer (VnOpContext *ctx,
                     GError     **error)
{
  const VnTensor *in = ctx->in != NULL ? ctx->in[0] : NULL;
  VnShape out = { 2, { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN } };

  /* A scalar counts as a list of one. */
  if (ctx->in_types[0].shape.rank >= 0)
    out.dims[0] = MAX (ctx->in_types[0].shape.rank, 1);
  if (in != NULL)
    {
      out.dims[1] = 0;
      for (gsize i = 0; i < in->n_elements; i++)
        out.dims[1] += range_is_nonzero (in, i);
    }
  vn_op_set_output (ctx, 0, VN_DTYPE_S64, &out);
  return TRUE;
}

static gboolean
range_nonzero_run (VnOpContext *ctx,
                   GError     **error)
{
  const VnTensor *in = ctx->in[0];
  gint64 *y = ctx->out[0]->data;
  gsize n = (gsize) ctx->out[0]->shape.dims[1], found = 0;

  if ((ctx->op->dtypes >> in->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  for (gsize i = 0; i < in->n_elements && found < n; i++)
    {
      gsize rest = i;

      if (!range_is_nonzero (in, i))
        continue;
      if (in->shape.rank == 0)
        y[found] = 0;
      for (int d = in->shape.rank - 1; d >= 0; d--)
        {
          y[(gsize) d * n + found] = (gint64) (rest % (gsize) in->shape.dims[d]);
          rest /= (gsize) in->shape.dims[d];
        }
      found++;
    }
  return TRUE;
}

const VnOp vn_op_non_zero_9 = {
  .domain = "", .type = "NonZero", .since = 9,
  .min_inputs = 1, .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
  .dtypes = VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (STRING) | VN_DTYPE_BIT (C64) | VN_DTYPE_BIT (C128),
  .family = VN_FAMILY_SHAPE,
  .infer = range_nonzero_infer,
  .run = range_nonzero_run,
};
