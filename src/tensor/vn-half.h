/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Conversion between float32 and the floats of 16 bit. */

#include <glib.h>

G_BEGIN_DECLS

float   vn_half_to_float     (guint16 half);
guint16 vn_half_from_float   (float   value);   /* round to nearest, ties to even */
float   vn_bfloat_to_float   (guint16 bfloat);
guint16 vn_bfloat_from_float (float   value);   /* round to nearest, ties to even; NaN stays NaN */

void    vn_half_to_float_array   (const guint16 *in,
                                  float         *out,
                                  gsize          n);
void    vn_half_from_float_array (const float   *in,
                                  guint16       *out,
                                  gsize          n);

G_END_DECLS
