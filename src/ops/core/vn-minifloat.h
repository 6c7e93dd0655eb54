/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Floats of 8 and 4 bit: loading, storing and rounding. */

#include "vn-dtype.h"

G_BEGIN_DECLS

/* Rounding of float8e8m0, which has no mantissa. */
typedef enum { VN_ROUND_UP, VN_ROUND_DOWN, VN_ROUND_NEAREST } VnScaleRounding;

gboolean vn_minifloat_is   (VnDType          dtype);
float    vn_minifloat_load (VnDType          dtype,
                            gconstpointer    data,
                            gsize            i);
guint8   vn_minifloat_from (VnDType          dtype,
                            float            value,
                            gboolean         saturate,
                            VnScaleRounding  rounding);

G_END_DECLS
