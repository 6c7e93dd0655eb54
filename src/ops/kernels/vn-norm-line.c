/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inner loops of normalizations: mean and deviation of a line, and scaling it. */
#include "vn-norm-line.h"
#include "vn-reduce.h"

#include <math.h>

VN_MULTIVERSION
static void
norm_measure (const float *x,
              gsize        n,
              gboolean     centred,
              double       epsilon,
              float       *mean,
              float       *factor)
{
  *mean = centred ? (float) (vn_reduce_sum (x, n) / (double) n) : 0.f;
  *factor = (float) (1 / sqrt (vn_reduce_square (x, n, *mean) / (double) n + epsilon));
}

/**
 * vn_norm_measure:
 * @centred: %FALSE: the mean counts as 0
 * @factor: (out): 1 / sqrt (variance + epsilon)
 */
void
vn_norm_measure (const float *x,
                 gsize        n,
                 gboolean     centred,
                 double       epsilon,
                 float       *mean,
                 float       *factor)
{
  norm_measure (x, n, centred, epsilon, mean, factor);
}

VN_MULTIVERSION
static void
norm_scale (const float *x,
            float       *y,
            gsize        n,
            float        mean,
            float        factor,
            const float *scale,
            gsize        scale_step,
            const float *bias,
            gsize        bias_step)
{
  if (scale_step == 1 && bias_step == 1)
    for (gsize i = 0; i < n; i++)
      y[i] = (x[i] - mean) * factor * scale[i] + bias[i];
  else
    for (gsize i = 0; i < n; i++)
      y[i] = (x[i] - mean) * factor * scale[i * scale_step] + bias[i * bias_step];
}

/**
 * vn_norm_scale:
 * @scale, @bias: (nullable): one number per element at step 1, one for all at step 0
 *
 * y = (x - mean) * factor * scale + bias; @x may be @y.
 */
void
vn_norm_scale (const float *x,
               float       *y,
               gsize        n,
               float        mean,
               float        factor,
               const float *scale,
               gsize        scale_step,
               const float *bias,
               gsize        bias_step)
{
  static const float one = 1.f, zero = 0.f;

  norm_scale (x, y, n, mean, factor, scale != NULL ? scale : &one, scale != NULL ? scale_step : 0,
              bias != NULL ? bias : &zero, bias != NULL ? bias_step : 0);
}
