/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Convolutions in double precision. */

#include "vn-conv.h"

G_BEGIN_DECLS

void vn_conv_double_run       (const VnConv      *self,
                               const VnOpContext *ctx,
                               const double      *x,
                               const double      *w,
                               const double      *bias,
                               double            *y);
void vn_conv_double_transpose (const VnConv      *self,
                               const VnOpContext *ctx,
                               const double      *x,
                               const double      *w,
                               const double      *bias,
                               double            *y);

G_END_DECLS
