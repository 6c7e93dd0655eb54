/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Colours of charts, of the graph and of reports: mixing, and how they look beside each other. */

#include <glib.h>

G_BEGIN_DECLS

typedef struct { double r, g, b; } VnColor;   /* sRGB, 0 … 1 */

VnColor vn_color_from_hex      (guint32 rgb);
VnColor vn_color_mix           (VnColor a,
                                VnColor b,
                                double  t);
VnColor vn_color_mix_even      (VnColor a,
                                VnColor b,
                                double  t);
VnColor vn_color_get_text      (VnColor fill);
double  vn_color_luminance     (VnColor color);
double  vn_color_contrast      (VnColor a,
                                VnColor b);
double  vn_color_lightness     (VnColor color);

G_END_DECLS
