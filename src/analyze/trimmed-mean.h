/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The mean of what is left of many numbers without the outermost. */

#include <glib.h>

G_BEGIN_DECLS

double vn_trimmed_mean (const float *numbers,
                        gsize        n,
                        gsize        k);

G_END_DECLS
