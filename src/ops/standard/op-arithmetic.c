/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Add, Sub, Mul, Div. Integers wrap around; their division truncates toward zero, and dividing by zero is an error. */
#include "vn-elem-binary-private.h"

/* Through 64 unsigned bits: what wraps is then defined, and the low bits are the same. */
#define INT_ADD(name, type, arg) VN_BINARY_KERNEL (, add_##name, type, type, (type) ((guint64) a + (guint64) b))
#define INT_SUB(name, type, arg) VN_BINARY_KERNEL (, sub_##name, type, type, (type) ((guint64) a - (guint64) b))
#define INT_MUL(name, type, arg) VN_BINARY_KERNEL (, mul_##name, type, type, (type) ((guint64) a * (guint64) b))
#define UINT_DIV(name, type, arg) VN_BINARY_KERNEL (, div_##name, type, type, (type) (a / b))
#define SINT_DIV(name, type, arg) VN_BINARY_KERNEL (, div_##name, type, type, \
                                                    b == -1 ? (type) (0 - (guint64) a) : (type) (a / b))
VN_INTEGER_TYPES (INT_ADD, )
VN_INTEGER_TYPES (INT_SUB, )
VN_INTEGER_TYPES (INT_MUL, )
VN_UNSIGNED_TYPES (UINT_DIV, )
VN_SIGNED_TYPES (SINT_DIV, )

#define FLOAT_ARITHMETIC(name, type, arg)                                       \
  VN_BINARY_KERNEL (VN_MULTIVERSION, add_##name, type, type, a + b)             \
  VN_BINARY_KERNEL (VN_MULTIVERSION, sub_##name, type, type, a - b)             \
  VN_BINARY_KERNEL (VN_MULTIVERSION, mul_##name, type, type, a * b)             \
  VN_BINARY_KERNEL (VN_MULTIVERSION, div_##name, type, type, a / b)
VN_FLOAT_TYPES (FLOAT_ARITHMETIC, )

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
static const VnBinaryFunc add_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, add) VN_FLOAT_TYPES (ENTRY, add) };
static const VnBinaryFunc sub_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, sub) VN_FLOAT_TYPES (ENTRY, sub) };
static const VnBinaryFunc mul_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, mul) VN_FLOAT_TYPES (ENTRY, mul) };
static const VnBinaryFunc div_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, div) VN_FLOAT_TYPES (ENTRY, div) };

static gboolean
arithmetic_add_run (VnOpContext *ctx,
                    GError     **error)
{
  return vn_binary_run (ctx, add_funcs, error);
}

static gboolean
arithmetic_sub_run (VnOpContext *ctx,
                    GError     **error)
{
  return vn_binary_run (ctx, sub_funcs, error);
}

static gboolean
arithmetic_mul_run (VnOpContext *ctx,
                    GError     **error)
{
  return vn_binary_run (ctx, mul_funcs, error);
}

static gboolean
arithmetic_div_run (VnOpContext *ctx,
                    GError     **error)
{
  const VnTensor *divisor = ctx->in[1];

  if (vn_dtype_is_integer (divisor->dtype) && ctx->out[0]->n_elements > 0)
    for (gsize i = 0; i < divisor->n_elements; i++)
      if (vn_tensor_get_s64 (divisor, i) == 0)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
                       _("Div: element %zu of the integer divisor is 0"), i);
          return FALSE;
        }
  return vn_binary_run (ctx, div_funcs, error);
}

#define ARITHMETIC(variable, name, run_func, ort)                               \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = 1,                                     \
    .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,       \
    .same_dtype = 1u << 1,                                                      \
    .dtypes = VN_NUMBER_BITS,                                                   \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .quant = VN_QUANT_TRAITS (VN_QUANT_GENERIC, ort),                           \
    .fuses_clamp = TRUE,                                                        \
    .infer = vn_binary_infer,                                                   \
    .run = run_func,                                                            \
  };

ARITHMETIC (vn_op_add_1, "Add", arithmetic_add_run, TRUE)
ARITHMETIC (vn_op_sub_1, "Sub", arithmetic_sub_run, FALSE)
ARITHMETIC (vn_op_mul_1, "Mul", arithmetic_mul_run, TRUE)
ARITHMETIC (vn_op_div_1, "Div", arithmetic_div_run, FALSE)
