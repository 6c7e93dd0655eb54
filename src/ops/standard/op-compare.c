/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal, Less, Greater, LessOrEqual, GreaterOrEqual; And, Or, Xor on bool. */
#include "vn-elem-binary-private.h"

#define COMPARISONS(name, type, attribute)                                      \
  VN_BINARY_KERNEL (attribute, equal_##name, type, guint8, a == b)              \
  VN_BINARY_KERNEL (attribute, less_##name, type, guint8, a < b)                \
  VN_BINARY_KERNEL (attribute, greater_##name, type, guint8, a > b)             \
  VN_BINARY_KERNEL (attribute, less_equal_##name, type, guint8, a <= b)         \
  VN_BINARY_KERNEL (attribute, greater_equal_##name, type, guint8, a >= b)
VN_INTEGER_TYPES (COMPARISONS, )
VN_FLOAT_TYPES (COMPARISONS, )
VN_BINARY_KERNEL (, equal_BOOL, guint8, guint8, (a != 0) == (b != 0))
VN_BINARY_KERNEL (, and_BOOL, guint8, guint8, a != 0 && b != 0)
VN_BINARY_KERNEL (, or_BOOL, guint8, guint8, a != 0 || b != 0)
VN_BINARY_KERNEL (, xor_BOOL, guint8, guint8, (a != 0) != (b != 0))

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
#define TABLE(prefix)                                                           \
  static const VnBinaryFunc prefix##_funcs[VN_N_ELEM_TYPES] = {                 \
    VN_INTEGER_TYPES (ENTRY, prefix) VN_FLOAT_TYPES (ENTRY, prefix)             \
  };
TABLE (less)
TABLE (greater)
TABLE (less_equal)
TABLE (greater_equal)
static const VnBinaryFunc equal_funcs[VN_N_ELEM_TYPES] = {
  VN_INTEGER_TYPES (ENTRY, equal) VN_FLOAT_TYPES (ENTRY, equal) ENTRY (BOOL, guint8, equal)
};
static const VnBinaryFunc and_funcs[VN_N_ELEM_TYPES] = { ENTRY (BOOL, guint8, and) };
static const VnBinaryFunc or_funcs[VN_N_ELEM_TYPES] = { ENTRY (BOOL, guint8, or) };
static const VnBinaryFunc xor_funcs[VN_N_ELEM_TYPES] = { ENTRY (BOOL, guint8, xor) };

static gboolean
compare_equal_strings (VnOpContext *ctx)
{
  VnShape a = vn_binary_shape (ctx, 0), b = vn_binary_shape (ctx, 1);
  const VnShape *shapes[2] = { &a, &b };
  VnBroadcast row;

  vn_broadcast_init (&row, &ctx->out[0]->shape, shapes, 2);
  while (vn_broadcast_next (&row))
    {
      char **x = (char **) ctx->in[0]->data + row.offset[0], **y = (char **) ctx->in[1]->data + row.offset[1];
      guint8 *to = (guint8 *) ctx->out[0]->data + row.out;

      for (gsize i = 0; i < row.n; i++)
        to[i] = g_str_equal (x[i * row.step[0]], y[i * row.step[1]]);
    }
  return TRUE;
}

static gboolean
compare_equal_run (VnOpContext *ctx,
                   GError     **error)
{
  if (ctx->in[0]->dtype == VN_DTYPE_STRING && ctx->in[1]->dtype == VN_DTYPE_STRING)
    return compare_equal_strings (ctx);
  return vn_binary_run (ctx, equal_funcs, error);
}

#define COMPARE_WITH(variable, name, first, types, run_func)                    \
  const VnOp variable = {                                                       \
    .domain = "", .type = name, .since = first,                                 \
    .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,       \
    .same_dtype = 1u << 1,                                                      \
    .dtypes = types,                                                            \
    .family = VN_FAMILY_ARITHMETIC,                                             \
    .infer = vn_binary_infer_bool,                                              \
    .run = run_func,                                                            \
  };
#define COMPARE(variable, name, first, types, prefix)                           \
  static gboolean                                                               \
  prefix##_run (VnOpContext *ctx, GError **error)                               \
  {                                                                             \
    return vn_binary_run (ctx, prefix##_funcs, error);                          \
  }                                                                             \
  COMPARE_WITH (variable, name, first, types, prefix##_run)

COMPARE_WITH (vn_op_equal_1, "Equal", 1, VN_NUMBER_BITS | VN_DTYPE_BIT (BOOL) | VN_DTYPE_BIT (STRING), compare_equal_run)
COMPARE (vn_op_less_1, "Less", 1, VN_NUMBER_BITS, less)
COMPARE (vn_op_greater_1, "Greater", 1, VN_NUMBER_BITS, greater)
COMPARE (vn_op_less_or_equal_12, "LessOrEqual", 12, VN_NUMBER_BITS, less_equal)
COMPARE (vn_op_greater_or_equal_12, "GreaterOrEqual", 12, VN_NUMBER_BITS, greater_equal)
COMPARE (vn_op_and_1, "And", 1, VN_DTYPE_BIT (BOOL), and)
COMPARE (vn_op_or_1, "Or", 1, VN_DTYPE_BIT (BOOL), or)
COMPARE (vn_op_xor_1, "Xor", 1, VN_DTYPE_BIT (BOOL), xor)
