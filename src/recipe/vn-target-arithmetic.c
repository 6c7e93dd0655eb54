/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How targets compute otherwise than our engine (vn-target-arithmetics.def). */
#include "vn-target-arithmetic.h"

static const struct { const char *id; VnArithmetic arithmetic; } known[] = {
#define VN_TARGET_ARITHMETIC(...) { __VA_ARGS__ },
#include "vn-target-arithmetics.def"
#undef VN_TARGET_ARITHMETIC
};

/**
 * vn_target_get_arithmetic:
 *
 * Returns: how the target is known to compute otherwise; %VN_ARITHMETIC_EXACT: it is not
 */
VnArithmetic
vn_target_get_arithmetic (const VnPreset *self)
{
  g_return_val_if_fail (self != NULL, VN_ARITHMETIC_EXACT);

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (g_str_equal (known[i].id, self->id))
      return known[i].arithmetic;
  return VN_ARITHMETIC_EXACT;
}

/**
 * vn_target_dup_with_arithmetic:
 *
 * Returns: (transfer full): ids of the targets of which something is known: "ort-cpu-no-vnni, esp-dl"
 */
char *
vn_target_dup_with_arithmetic (void)
{
  const char *ids[G_N_ELEMENTS (known) + 1] = { NULL };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    ids[i] = known[i].id;
  return g_strjoinv (", ", (char **) ids);
}
