/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The inner loops of normalizations. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

void vn_norm_measure (const float *x,
                      gsize        n,
                      gboolean     centred,
                      double       epsilon,
                      float       *mean,
                      float       *factor);
void vn_norm_scale   (const float *x,
                      float       *y,
                      gsize        n,
                      float        mean,
                      float        factor,
                      const float *scale,
                      gsize        scale_step,
                      const float *bias,
                      gsize        bias_step);

G_END_DECLS
