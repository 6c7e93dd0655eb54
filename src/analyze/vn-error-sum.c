/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise:signal = sum (q - f)^2 / sum f^2 over all elements of all samples; SQNR = -10 log10 of it, which equals
 * ONNX Runtime's 20 log10 (|f| / |f - q|); cosine = sum fq / (|f| |q|). */
#include "vn-error-sum.h"

#include "vn-multiversion.h"

#include <math.h>

void
vn_error_sum_init (VnErrorSum *self)
{
  g_return_if_fail (self != NULL);

  *self = (VnErrorSum) { .float_min = INFINITY, .float_max = -INFINITY, .quant_min = INFINITY, .quant_max = -INFINITY };
}

static void
error_sum_add_pair (VnErrorSum *self,
                    double      f,
                    double      q)
{
  double d = q - f;

  self->ff += f * f;
  self->qq += q * q;
  self->fq += f * q;
  self->dd += d * d;
  self->max_error = fmax (self->max_error, fabs (d));
  self->float_min = fmin (self->float_min, f);
  self->float_max = fmax (self->float_max, f);
  self->quant_min = fmin (self->quant_min, q);
  self->quant_max = fmax (self->quant_max, q);
}

/* Eight lanes of sums and bounds: the compiler keeps them in registers, and the order of additions is fixed. */
#define LANES 8

typedef struct
{
  double ff[LANES], qq[LANES], fq[LANES], dd[LANES];
  float  f_min[LANES], f_max[LANES], q_min[LANES], q_max[LANES], d_max[LANES];
} Lanes;

VN_MULTIVERSION
static void
error_sum_add_lanes (Lanes       *all,
                     const float *f,
                     const float *q,
                     gsize        n)
{
  Lanes sums;

  for (guint k = 0; k < LANES; k++)
    {
      sums.ff[k] = sums.qq[k] = sums.fq[k] = sums.dd[k] = 0;
      sums.f_min[k] = sums.q_min[k] = INFINITY;
      sums.f_max[k] = sums.q_max[k] = -INFINITY;
      sums.d_max[k] = 0;
    }
  for (gsize i = 0; i + LANES <= n; i += LANES)
    {
      for (guint k = 0; k < LANES; k++)
        {
          double x = f[i + k], y = q[i + k], d = y - x;

          sums.ff[k] += x * x;
          sums.qq[k] += y * y;
          sums.fq[k] += x * y;
          sums.dd[k] += d * d;
        }
      for (guint k = 0; k < LANES; k++)
        {
          float x = f[i + k], y = q[i + k], d = fabsf (y - x);

          sums.f_min[k] = x < sums.f_min[k] ? x : sums.f_min[k];
          sums.f_max[k] = x > sums.f_max[k] ? x : sums.f_max[k];
          sums.q_min[k] = y < sums.q_min[k] ? y : sums.q_min[k];
          sums.q_max[k] = y > sums.q_max[k] ? y : sums.q_max[k];
          sums.d_max[k] = d > sums.d_max[k] ? d : sums.d_max[k];
        }
    }
  *all = sums;
}

static void
error_sum_add_finite_block (VnErrorSum  *self,
                            const float *f,
                            const float *q,
                            gsize        n)
{
  Lanes sums;

  error_sum_add_lanes (&sums, f, q, n);
  for (gsize i = n - n % LANES; i < n; i++)
    error_sum_add_pair (self, f[i], q[i]);
  for (guint k = 0; k < LANES; k++)
    {
      self->ff += sums.ff[k];
      self->qq += sums.qq[k];
      self->fq += sums.fq[k];
      self->dd += sums.dd[k];
      self->max_error = fmax (self->max_error, (double) sums.d_max[k]);
      self->float_min = fmin (self->float_min, (double) sums.f_min[k]);
      self->float_max = fmax (self->float_max, (double) sums.f_max[k]);
      self->quant_min = fmin (self->quant_min, (double) sums.q_min[k]);
      self->quant_max = fmax (self->quant_max, (double) sums.q_max[k]);
    }
}

VN_MULTIVERSION
static gboolean
error_sum_all_finite (const float *f,
                      const float *q,
                      gsize        n)
{
  float sums[LANES] = { 0 }, sum = 0;
  gsize i = 0;

  /* 0 * x is 0 for finite x and NaN otherwise. */
  for (; i + LANES <= n; i += LANES)
    for (guint k = 0; k < LANES; k++)
      sums[k] += 0 * f[i + k] + 0 * q[i + k];
  for (; i < n; i++)
    sum += 0 * f[i] + 0 * q[i];
  for (guint k = 0; k < LANES; k++)
    sum += sums[k];
  return sum == 0;
}

/**
 * vn_error_sum_add:
 * @f: (array length=n): float values
 * @q: (array length=n): values of the quantized network
 */
void
vn_error_sum_add (VnErrorSum  *self,
                  const float *f,
                  const float *q,
                  gsize        n)
{
  g_return_if_fail (self != NULL);

  self->n += n;
  for (gsize at = 0; at < n; at += 1024)
    {
      gsize block = MIN (n - at, 1024);

      if (error_sum_all_finite (f + at, q + at, block))
        {
          error_sum_add_finite_block (self, f + at, q + at, block);
          continue;
        }
      for (gsize i = at; i < at + block; i++)
        {
          if (isfinite (f[i]) && isfinite (q[i]))
            error_sum_add_pair (self, f[i], q[i]);
          else if (isfinite (f[i]))
            self->n_bad++;
          else
            self->n_bad_float++;
        }
    }
}

void
vn_error_sum_merge (VnErrorSum       *self,
                    const VnErrorSum *from)
{
  g_return_if_fail (self != NULL && from != NULL);

  self->n += from->n;
  self->n_bad += from->n_bad;
  self->n_bad_float += from->n_bad_float;
  self->ff += from->ff;
  self->qq += from->qq;
  self->fq += from->fq;
  self->dd += from->dd;
  self->max_error = fmax (self->max_error, from->max_error);
  self->float_min = fmin (self->float_min, from->float_min);
  self->float_max = fmax (self->float_max, from->float_max);
  self->quant_min = fmin (self->quant_min, from->quant_min);
  self->quant_max = fmax (self->quant_max, from->quant_max);
}

/**
 * vn_error_sum_noise:
 *
 * Returns: noise:signal; 0 where there is no noise, infinity where there is noise and no signal, or a bad element; NaN if the
 *   float network gave nothing finite
 */
double
vn_error_sum_noise (const VnErrorSum *self)
{
  g_return_val_if_fail (self != NULL, 0);

  if (self->n_bad > 0)
    return INFINITY;
  if (self->n > 0 && self->n == self->n_bad_float)
    return NAN;
  if (self->dd == 0)
    return 0;
  return self->dd / self->ff;
}

double
vn_error_sum_sqnr (const VnErrorSum *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return -10 * log10 (vn_error_sum_noise (self));
}

/**
 * vn_error_sum_bounded_sqnr:
 *
 * Returns: vn_error_sum_sqnr() as vn_sqnr_bound() bounds it
 */
double
vn_error_sum_bounded_sqnr (const VnErrorSum *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return vn_sqnr_bound (vn_error_sum_sqnr (self), self->n_bad);
}

/**
 * vn_error_sum_cosine:
 *
 * Returns: -1 .. 1; 1 if both are zero everywhere, 0 if one is; NaN if the float network gave nothing finite
 */
double
vn_error_sum_cosine (const VnErrorSum *self)
{
  g_return_val_if_fail (self != NULL, 0);

  if (self->n_bad > 0)
    return 0;
  if (self->n > 0 && self->n == self->n_bad_float)
    return NAN;
  if (self->ff == 0 || self->qq == 0)
    return self->ff == self->qq;
  return self->dd == 0 ? 1 : self->fq / (sqrt (self->ff) * sqrt (self->qq));
}

double
vn_error_sum_mse (const VnErrorSum *self)
{
  g_return_val_if_fail (self != NULL, 0);

  return self->n > 0 ? self->dd / (double) self->n : 0;
}

/**
 * vn_error_sum_fill_row:
 * @row: (inout): takes the numbers; its names are left alone
 */
void
vn_error_sum_fill_row (const VnErrorSum *self,
                       VnErrorRow       *row)
{
  g_return_if_fail (self != NULL);

  row->n = self->n;
  row->n_bad = self->n_bad;
  row->n_bad_float = self->n_bad_float;
  row->noise_to_signal = vn_error_sum_noise (self);
  row->sqnr_db = row->whole_db = vn_error_sum_sqnr (self);
  row->cosine = vn_error_sum_cosine (self);
  row->mse = vn_error_sum_mse (self);
  row->max_error = self->max_error;
  row->float_min = self->float_min;
  row->float_max = self->float_max;
  row->quant_min = self->quant_min;
  row->quant_max = self->quant_max;
}
