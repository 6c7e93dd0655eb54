/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums in an order that only depends on how many numbers there are. */
#include "vn-gradient-private.h"

static float
gradient_sum_lanes (const float *lanes)
{
  double sum = 0;

  for (gsize k = 0; k < VN_SUM_LANES; k++)
    sum += (double) lanes[k];
  return (float) sum;
}

VN_MULTIVERSION static float
gradient_sum_vector (const float *x,
                     gsize        n)
{
  float lanes[VN_SUM_LANES] = { 0 };
  gsize i;

  for (i = 0; i + VN_SUM_LANES <= n; i += VN_SUM_LANES)
    for (gsize k = 0; k < VN_SUM_LANES; k++)
      lanes[k] += x[i + k];
  for (gsize k = 0; i < n; i++, k++)
    lanes[k] += x[i];
  return gradient_sum_lanes (lanes);
}

VN_MULTIVERSION static float
gradient_dot_vector (const float *x,
                     const float *y,
                     gsize        n)
{
  float lanes[VN_SUM_LANES] = { 0 };
  gsize i;

  for (i = 0; i + VN_SUM_LANES <= n; i += VN_SUM_LANES)
    for (gsize k = 0; k < VN_SUM_LANES; k++)
      lanes[k] += x[i + k] * y[i + k];
  for (gsize k = 0; i < n; i++, k++)
    lanes[k] += x[i] * y[i];
  return gradient_sum_lanes (lanes);
}

VN_MULTIVERSION static void
gradient_add_vector (float       *y,
                     const float *x,
                     float        factor,
                     gsize        n)
{
  for (gsize i = 0; i < n; i++)
    y[i] += factor * x[i];
}

/**
 * vn_gradient_sum:
 *
 * Returns: the sum of @n numbers
 */
float
vn_gradient_sum (const float *x,
                 gsize        n)
{
  return gradient_sum_vector (x, n);
}

/**
 * vn_gradient_dot:
 *
 * Returns: the sum of the products of @n numbers
 */
float
vn_gradient_dot (const float *x,
                 const float *y,
                 gsize        n)
{
  return gradient_dot_vector (x, y, n);
}

/**
 * vn_gradient_add_scaled:
 *
 * Adds @factor times @x to @y.
 */
void
vn_gradient_add_scaled (float       *y,
                        const float *x,
                        float        factor,
                        gsize        n)
{
  gradient_add_vector (y, x, factor, n);
}

/**
 * vn_gradient_sum_planes:
 * @sums: (array length=channels): what is added to
 * @x: @batch × @channels × @size numbers
 */
void
vn_gradient_sum_planes (float       *sums,
                        const float *x,
                        gsize        batch,
                        gsize        channels,
                        gsize        size)
{
  for (gsize i = 0; i < batch; i++)
    for (gsize c = 0; c < channels; c++)
      sums[c] += vn_gradient_sum (x + (i * channels + c) * size, size);
}
