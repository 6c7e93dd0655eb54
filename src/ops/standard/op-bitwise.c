/* SPDX-License-Identifier: GPL-3.0-or-later */
/* BitShift, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot. A shift by a negative number, the width of the type or more
 * leaves copies of the sign to the right, and else 0. */
#include "vn-elem-binary-private.h"

#define BITWISE_KERNELS(name, type, arg)                                        \
  VN_BINARY_KERNEL (, bit_and_##name, type, type, a & b)                        \
  VN_BINARY_KERNEL (, bit_or_##name, type, type, a | b)                         \
  VN_BINARY_KERNEL (, bit_xor_##name, type, type, a ^ b)
#define SHIFT_KERNELS(name, type, arg)                                                                \
  VN_BINARY_KERNEL (, left_##name, type, type, b < 8 * sizeof (type) ? (type) ((guint64) a << b) : 0) \
  VN_BINARY_KERNEL (, right_##name, type, type, b < 8 * sizeof (type) ? (type) (a >> b) : 0)
VN_INTEGER_TYPES (BITWISE_KERNELS, )
#define SIGNED_SHIFT_KERNELS(name, type, arg)                                                                   \
  VN_BINARY_KERNEL (, left_##name, type, type, (guint64) b < 8 * sizeof (type) ? (type) ((guint64) a << b) : 0) \
  VN_BINARY_KERNEL (, right_##name, type, type, (guint64) b < 8 * sizeof (type) ? (type) (a >> b) : a < 0 ? -1 : 0)
VN_UNSIGNED_TYPES (SHIFT_KERNELS, )
VN_SIGNED_TYPES (SIGNED_SHIFT_KERNELS, )

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
static const VnBinaryFunc bit_and_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, bit_and) };
static const VnBinaryFunc bit_or_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, bit_or) };
static const VnBinaryFunc bit_xor_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, bit_xor) };
static const VnBinaryFunc left_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, left) };
static const VnBinaryFunc right_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, right) };

static gboolean
bitwise_bit_and_run (VnOpContext *ctx,
                     GError     **error)
{
  return vn_binary_run (ctx, bit_and_funcs, error);
}

static gboolean
bitwise_bit_or_run (VnOpContext *ctx,
                    GError     **error)
{
  return vn_binary_run (ctx, bit_or_funcs, error);
}

static gboolean
bitwise_bit_xor_run (VnOpContext *ctx,
                     GError     **error)
{
  return vn_binary_run (ctx, bit_xor_funcs, error);
}

static gboolean
bitwise_shift_run (VnOpContext *ctx,
                   GError     **error)
{
  static const char * const directions[] = { "LEFT", "RIGHT", NULL };
  guint direction = vn_op_attr_choice (ctx, "direction", "", directions, error);

  if (direction == G_MAXUINT)
    return FALSE;
  return vn_binary_run (ctx, direction == 0 ? left_funcs : right_funcs, error);
}

static gboolean
bitwise_not_run (VnOpContext *ctx,
                 GError     **error)
{
  const guint8 *x = ctx->in[0]->data;
  guint8 *y = ctx->out[0]->data;

  if ((VN_INTEGER_BITS >> ctx->in[0]->dtype & 1) == 0)
    return vn_op_unsupported (ctx, 0, error);
  for (gsize i = 0; i < ctx->in[0]->n_bytes; i++)
    y[i] = (guint8) ~x[i];
  return TRUE;
}

#define BITWISE(variable, name, first, inputs, types, infer_func, run_func)         \
  const VnOp variable = {                                                           \
    .domain = "", .type = name, .since = first,                                     \
    .min_inputs = inputs, .max_inputs = inputs, .min_outputs = 1, .max_outputs = 1, \
    .same_dtype = 1u << 1,                                                          \
    .dtypes = types,                                                                \
    .family = VN_FAMILY_ARITHMETIC,                                                 \
    .infer = infer_func,                                                            \
    .run = run_func,                                                                \
  };

BITWISE (vn_op_bit_shift_11, "BitShift", 11, 2, VN_INTEGER_BITS, vn_binary_infer, bitwise_shift_run)
BITWISE (vn_op_bitwise_and_18, "BitwiseAnd", 18, 2, VN_INTEGER_BITS, vn_binary_infer, bitwise_bit_and_run)
BITWISE (vn_op_bitwise_or_18, "BitwiseOr", 18, 2, VN_INTEGER_BITS, vn_binary_infer, bitwise_bit_or_run)
BITWISE (vn_op_bitwise_xor_18, "BitwiseXor", 18, 2, VN_INTEGER_BITS, vn_binary_infer, bitwise_bit_xor_run)
BITWISE (vn_op_bitwise_not_18, "BitwiseNot", 18, 1, VN_INTEGER_BITS, vn_op_infer_same, bitwise_not_run)
