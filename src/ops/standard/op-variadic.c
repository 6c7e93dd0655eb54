/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sum, Mean, Min, Max of any number of broadcast inputs. Min and Max give NaN where an input is NaN. */
#include "vn-elem-binary-private.h"

#define INTEGER_KERNELS(name, type, arg)                                        \
  VN_BINARY_KERNEL (, min_##name, type, type, a < b ? a : b)                    \
  VN_BINARY_KERNEL (, max_##name, type, type, a > b ? a : b)
#define FLOAT_KERNELS(name, type, arg)                                                \
  VN_BINARY_KERNEL (VN_MULTIVERSION, sum_##name, type, type, a + b)                   \
  VN_BINARY_KERNEL (VN_MULTIVERSION, scale_##name, type, type, a / b)                 \
  VN_BINARY_KERNEL (VN_MULTIVERSION, min_##name, type, type, a < b || a != a ? a : b) \
  VN_BINARY_KERNEL (VN_MULTIVERSION, max_##name, type, type, a > b || a != a ? a : b)
VN_INTEGER_TYPES (INTEGER_KERNELS, )
VN_FLOAT_TYPES (FLOAT_KERNELS, )

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
static const VnBinaryFunc sum_funcs[VN_N_ELEM_TYPES] = { VN_FLOAT_TYPES (ENTRY, sum) };
static const VnBinaryFunc scale_funcs[VN_N_ELEM_TYPES] = { VN_FLOAT_TYPES (ENTRY, scale) };
static const VnBinaryFunc min_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, min) VN_FLOAT_TYPES (ENTRY, min) };
static const VnBinaryFunc max_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, max) VN_FLOAT_TYPES (ENTRY, max) };

static gboolean
variadic_infer (VnOpContext *ctx,
                GError     **error)
{
  VnShape out = ctx->in_types[0].shape;

  for (guint i = 1; i < ctx->n_inputs; i++)
    {
      if (!vn_op_check_same_dtype (ctx, 0, i, error))
        return FALSE;
      if (!vn_shape_broadcast (&out, &ctx->in_types[i].shape, &out))
        {
          g_autofree char *text = vn_shape_to_string (&ctx->in_types[i].shape, "×");

          return vn_op_fail (ctx, error, _("%s: input %u of shape %s cannot be broadcast to those before it"),
                             ctx->op->type, i, text);
        }
    }
  vn_op_set_output (ctx, 0, ctx->in_types[0].dtype, &out);
  return TRUE;
}

static void
variadic_expand_first (VnOpContext *ctx)
{
  VnTensor *out = ctx->out[0];
  const VnShape *shape = &ctx->in[0]->shape;
  VnCopy copy = { 0 };
  gint64 to[VN_MAX_RANK], from[VN_MAX_RANK];

  vn_shape_strides (&out->shape, to);
  vn_shape_strides (shape, from);
  for (int d = 0; d < out->shape.rank; d++)
    {
      int e = d - (out->shape.rank - shape->rank);

      vn_copy_add_dim (&copy, out->shape.dims[d], to[d], e < 0 || shape->dims[e] == 1 ? 0 : from[e]);
    }
  vn_copy_run (&copy, vn_elem_size (out->dtype), out->data, ctx->in[0]->data);
}

/* The inputs one after the other, left to right, as the reference does; the output holds the partial result. */
static gboolean
variadic_accumulate (VnOpContext         *ctx,
                     const VnBinaryFunc  *funcs,
                     GError             **error)
{
  VnTensor *out = ctx->out[0];
  gboolean half = (VN_HALF_BITS >> out->dtype & 1) != 0;
  VnBinaryFunc func = out->dtype < VN_N_ELEM_TYPES ? funcs[half ? VN_DTYPE_F32 : out->dtype] : NULL;

  if (func == NULL)
    return vn_op_unsupported (ctx, 0, error);
  if (ctx->n_inputs == 1)
    variadic_expand_first (ctx);
  for (guint i = 1; i < ctx->n_inputs; i++)
    {
      gboolean first = i == 1;
      gboolean direct = first && vn_shape_equal (&ctx->in[0]->shape, &out->shape);
      const VnShape *shapes[2] = { &out->shape, &ctx->in[i]->shape };

      if (!vn_op_check_same_dtype (ctx, 0, i, error))
        return FALSE;
      if (first && !direct)
        variadic_expand_first (ctx);
      vn_binary_apply (func, out->dtype, vn_elem_size (out->dtype), shapes, direct ? ctx->in[0]->data : out->data,
                       ctx->in[i]->data, &out->shape, out->data, NULL);
    }
  return TRUE;
}

static gboolean
variadic_sum_run (VnOpContext *ctx,
                  GError     **error)
{
  return variadic_accumulate (ctx, sum_funcs, error);
}

static gboolean
variadic_min_run (VnOpContext *ctx,
                  GError     **error)
{
  return variadic_accumulate (ctx, min_funcs, error);
}

static gboolean
variadic_max_run (VnOpContext *ctx,
                  GError     **error)
{
  return variadic_accumulate (ctx, max_funcs, error);
}

static gboolean
variadic_mean_run (VnOpContext *ctx,
                   GError     **error)
{
  VnTensor *out = ctx->out[0];
  const VnShape *shapes[2] = { &out->shape, &VN_SHAPE_SCALAR };
  float count = (float) ctx->n_inputs;
  double wide_count = ctx->n_inputs;
  guint16 half_count = out->dtype == VN_DTYPE_F16 ? vn_half_from_float (count) : vn_bfloat_from_float (count);
  gconstpointer divisor = out->dtype == VN_DTYPE_F32 ? (gconstpointer) &count :
                          out->dtype == VN_DTYPE_F64 ? (gconstpointer) &wide_count : (gconstpointer) &half_count;

  if (!variadic_accumulate (ctx, sum_funcs, error))
    return FALSE;
  vn_binary_apply (scale_funcs[out->dtype == VN_DTYPE_F64 ? VN_DTYPE_F64 : VN_DTYPE_F32], out->dtype,
                   vn_elem_size (out->dtype), shapes, out->data, divisor, &out->shape, out->data, NULL);
  return TRUE;
}

#define VARIADIC(variable, name, types, run_func)                                        \
  const VnOp variable = {                                                                \
    .domain = "", .type = name, .since = 1,                                              \
    .min_inputs = 1, .max_inputs = VN_OP_MAX_INPUTS, .min_outputs = 1, .max_outputs = 1, \
    .dtypes = types,                                                                     \
    .family = VN_FAMILY_ARITHMETIC,                                                      \
    .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, FALSE),                                  \
    .infer = variadic_infer,                                                             \
    .run = run_func,                                                                     \
  };

VARIADIC (vn_op_sum_1, "Sum", VN_FLOAT_BITS, variadic_sum_run)
VARIADIC (vn_op_mean_1, "Mean", VN_FLOAT_BITS, variadic_mean_run)
VARIADIC (vn_op_min_1, "Min", VN_NUMBER_BITS, variadic_min_run)
VARIADIC (vn_op_max_1, "Max", VN_NUMBER_BITS, variadic_max_run)
