/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Softmax and its logarithm of one line. The maximum is subtracted first, so that no finite input overflows. */
#include "vn-softmax.h"
#include "vn-vecmath.h"

#include <math.h>

#define LANES VN_SOFTMAX_LANES

/* Sums and maxima are kept in lanes, in an order that does not depend on the instruction set. NaN wins. */
VN_INLINE float
max_of (const float *x,
        gsize        n)
{
  float lanes[LANES], result = -INFINITY;
  gsize i = 0;

  for (int j = 0; j < LANES; j++)
    lanes[j] = -INFINITY;
  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
  for (int j = 0; j < LANES; j++)
    result = lanes[j] > result ? lanes[j] : result;
  for (; i < n; i++)
    result = x[i] > result ? x[i] : result;
  return result;
}

VN_INLINE float
exp_all (const float *x,
         float       *y,
         float        max,
         gsize        n)
{
  float lanes[LANES] = { 0.f }, sum = 0.f;
  gsize i = 0;

  for (gsize k = 0; k < n; k++)
    y[k] = vn_expf (x[k] - max);
  for (; i + LANES <= n; i += LANES)
    for (int j = 0; j < LANES; j++)
      lanes[j] += y[i + j];
  for (int j = 0; j < LANES; j++)
    sum += lanes[j];
  for (; i < n; i++)
    sum += y[i];
  return sum;
}

VN_MULTIVERSION
static void
softmax_line (const float *x,
              float       *y,
              gsize        n)
{
  float factor = 1.f / exp_all (x, y, max_of (x, n), n);

  for (gsize i = 0; i < n; i++)
    y[i] *= factor;
}

/**
 * vn_softmax_line:
 *
 * y = exp (x - max) / sum of these; @x may be @y.
 */
void
vn_softmax_line (const float *x,
                 float       *y,
                 gsize        n)
{
  softmax_line (x, y, n);
}

VN_MULTIVERSION
static void
softmax_log_line (const float *x,
                  float       *y,
                  gsize        n)
{
  float max = max_of (x, n);
  float sum = logf (exp_all (x, y, max, n));

  for (gsize i = 0; i < n; i++)
    y[i] = (x[i] - max) - sum;
}

/**
 * vn_log_softmax_line:
 *
 * y = x - max - log of the sum of exp (x - max); @x may be @y.
 */
void
vn_log_softmax_line (const float *x,
                     float       *y,
                     gsize        n)
{
  softmax_log_line (x, y, n);
}
