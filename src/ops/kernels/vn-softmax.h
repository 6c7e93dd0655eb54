/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Softmax and its logarithm of one line. */

#include <glib.h>

G_BEGIN_DECLS

/* Sums and maxima are kept in that many lanes: shorter lines are summed up one by one. */
#define VN_SOFTMAX_LANES 16

void vn_softmax_line     (const float *x,
                          float       *y,
                          gsize        n);
void vn_log_softmax_line (const float *x,
                          float       *y,
                          gsize        n);

G_END_DECLS
