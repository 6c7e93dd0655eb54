/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* How the arithmetic of a runtime differs from ours, and which models are run so. */

#include "vn-backend.h"

G_BEGIN_DECLS

/* What is known to differ from exact sums and from ties rounded to even. VN_ARITHMETIC_NARROW_PAIRS: products of unsigned by
 * signed bytes are added in pairs that saturate at 16 bits, as by x86 without VNNI; VN_ARITHMETIC_HALF_UP: ties are rounded up
 * where numbers are quantized; VN_ARITHMETIC_SHORT_BIAS: integer biases beside signed bytes are saturated at 20 bits. */
typedef enum
{
  VN_ARITHMETIC_EXACT = 0, VN_ARITHMETIC_NARROW_PAIRS = 1 << 0, VN_ARITHMETIC_HALF_UP = 1 << 1,
  VN_ARITHMETIC_SHORT_BIAS = 1 << 2
} VnArithmetic;

VnArithmetic vn_model_get_arithmetic   (const VnModel *model);
void         vn_backend_set_arithmetic (VnBackend     *self,
                                        VnArithmetic   arithmetic);

G_END_DECLS
