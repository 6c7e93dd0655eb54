/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Softmax of one line. */

#include <glib.h>

G_BEGIN_DECLS

void vn_softmax_line (const float *x,
                      float       *y,
                      gsize        n);

G_END_DECLS
