/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mod: remainder. fmod = 0: the result has the sign of the divisor (integers only); fmod = 1: that of the dividend. */
#include "vn-elem-binary-private.h"

#define UNSIGNED_MOD(name, type, arg)                                           \
  VN_BINARY_KERNEL (, mod_##name, type, type, (type) (a % b))                   \
  VN_BINARY_KERNEL (, fmod_##name, type, type, (type) (a % b))
/* a % -1 traps for the smallest number; it is always 0. */
#define SIGNED_MOD(name, type, arg)                                             \
  VN_BINARY_KERNEL (, fmod_##name, type, type, b == -1 ? 0 : (type) (a % b))    \
  VN_BINARY_KERNEL (, mod_##name, type, type,                                   \
                    b == -1 || a % b == 0 ? 0 : (type) ((a % b < 0) != (b < 0) ? a % b + b : a % b))
VN_UNSIGNED_TYPES (UNSIGNED_MOD, )
VN_SIGNED_TYPES (SIGNED_MOD, )
VN_BINARY_KERNEL (, fmod_F32, float, float, fmodf (a, b))
VN_BINARY_KERNEL (, fmod_F64, double, double, fmod (a, b))

#define ENTRY(name, type, prefix) [VN_DTYPE_##name] = prefix##_##name,
static const VnBinaryFunc mod_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, mod) };
static const VnBinaryFunc fmod_funcs[VN_N_ELEM_TYPES] = { VN_INTEGER_TYPES (ENTRY, fmod) VN_FLOAT_TYPES (ENTRY, fmod) };

static gboolean
mod_run (VnOpContext *ctx,
         GError     **error)
{
  const VnTensor *divisor = ctx->in[1];
  gboolean is_fmod = vn_node_get_int (ctx->node, "fmod", 0) != 0;

  if (!is_fmod && vn_dtype_is_float (divisor->dtype))
    return vn_op_fail (ctx, error, _("Mod: elements of type %s need the attribute fmod = 1"),
                       vn_dtype_get_name (divisor->dtype));
  if (vn_dtype_is_integer (divisor->dtype) && ctx->out[0]->n_elements > 0)
    for (gsize i = 0; i < divisor->n_elements; i++)
      if (vn_tensor_get_s64 (divisor, i) == 0)
        {
          g_set_error (error, VN_ERROR, VN_ERROR_NUMERIC,
                       _("Mod: element %zu of the integer divisor is 0"), i);
          return FALSE;
        }
  return vn_binary_run (ctx, is_fmod ? fmod_funcs : mod_funcs, error);
}

const VnOp vn_op_mod_10 = {
  .domain = "", .type = "Mod", .since = 10,
  .min_inputs = 2, .max_inputs = 2, .min_outputs = 1, .max_outputs = 1,
  .same_dtype = 1u << 1,
  .dtypes = VN_NUMBER_BITS,
  .family = VN_FAMILY_ARITHMETIC,
  .infer = vn_binary_infer,
  .run = mod_run,
};
