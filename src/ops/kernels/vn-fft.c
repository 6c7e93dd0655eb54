/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cooley and Tukey 1965; Bluestein 1970. */
#include "vn-fft.h"

#include "vn-checked.h"

#include <math.h>
#include <string.h>

static gsize
fft_power_of_two (gsize n)
{
  gsize m = 1;

  while (m < n)
    m *= 2;
  return m;
}

static gboolean
fft_is_power_of_two (gsize n)
{
  return (n & (n - 1)) == 0;
}

/**
 * vn_fft_scratch:
 * @n: length, 1 or more
 * @bytes: (out): that vn_fft_init() needs, a multiple of 64
 *
 * Returns: %FALSE if there is no room for them
 */
gboolean
vn_fft_scratch (gsize  n,
                gsize *bytes)
{
  gsize m;

  if (n > G_MAXINT32)
    return FALSE;
  m = fft_is_power_of_two (n) ? n : fft_power_of_two (2 * n);
  return vn_checked_mul (2 * n + 5 * m + 8, sizeof (double), bytes) && vn_checked_add (*bytes, 63 - (*bytes + 63) % 64, bytes);
}

/* e^(-2 pi i k / n): the angle is reduced first, so that large k lose nothing. */
static void
fft_root (gsize   k,
          gsize   n,
          double *to)
{
  double angle = -2. * G_PI * (double) (k % n) / (double) n;

  to[0] = cos (angle);
  to[1] = sin (angle);
}

static void
fft_permute (double *data,
             gsize   m)
{
  for (gsize i = 1, k = 0; i < m; i++)
    {
      gsize bit = m / 2;

      for (; k & bit; bit /= 2)
        k ^= bit;
      k |= bit;
      if (i < k)
        for (gsize part = 0; part < 2; part++)
          {
            double swap = data[2 * i + part];

            data[2 * i + part] = data[2 * k + part];
            data[2 * k + part] = swap;
          }
    }
}

static void
fft_transform (const VnFft *self,
               double      *data)
{
  gsize m = self->m;

  fft_permute (data, m);
  for (gsize half = 1; half < m; half *= 2)
    for (gsize start = 0; start < m; start += 2 * half)
      for (gsize k = 0; k < half; k++)
        {
          const double *w = self->roots + 2 * (k * (m / half / 2));
          double *a = data + 2 * (start + k), *b = a + 2 * half;
          double re = b[0] * w[0] - b[1] * w[1], im = b[0] * w[1] + b[1] * w[0];

          b[0] = a[0] - re;
          b[1] = a[1] - im;
          a[0] += re;
          a[1] += im;
        }
}

static void
fft_conjugate (double *data,
               gsize   n,
               double  scale)
{
  for (gsize i = 0; i < n; i++)
    {
      data[2 * i] *= scale;
      data[2 * i + 1] *= -scale;
    }
}

static void
fft_multiply (double       *a,
              const double *b,
              gsize         n)
{
  for (gsize i = 0; i < n; i++)
    {
      double re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];

      a[2 * i + 1] = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
      a[2 * i] = re;
    }
}

/**
 * vn_fft_init:
 * @scratch: memory of the size vn_fft_scratch() tells; must outlive @self
 */
void
vn_fft_init (VnFft    *self,
             gsize     n,
             gpointer  scratch)
{
  gsize m = fft_is_power_of_two (n) ? n : fft_power_of_two (2 * n);

  *self = (VnFft) { .n = n, .m = m, .roots = scratch };
  for (gsize k = 0; k < m / 2; k++)
    fft_root (k, m, self->roots + 2 * k);
  if (m == n)
    return;
  self->filter = self->roots + m;
  self->work = self->filter + 2 * m;
  self->chirp = self->work + 2 * m;
  memset (self->filter, 0, 2 * m * sizeof (double));
  for (gsize k = 0; k < n; k++)
    {
      /* k * k stays below 2^62: lengths have 31 bits. */
      fft_root (k * k % (2 * n), 2 * n, self->chirp + 2 * k);
      self->filter[2 * k] = self->chirp[2 * k];
      self->filter[2 * k + 1] = -self->chirp[2 * k + 1];
      if (k > 0)
        memcpy (self->filter + 2 * (m - k), self->filter + 2 * k, 2 * sizeof (double));
    }
  fft_transform (self, self->filter);
}

static void
fft_chirp_transform (VnFft  *self,
                     double *data)
{
  double *work = self->work;

  memset (work, 0, 2 * self->m * sizeof (double));
  memcpy (work, data, 2 * self->n * sizeof (double));
  fft_multiply (work, self->chirp, self->n);
  fft_transform (self, work);
  fft_multiply (work, self->filter, self->m);
  fft_conjugate (work, self->m, 1.);
  fft_transform (self, work);
  fft_conjugate (work, self->n, 1. / (double) self->m);
  fft_multiply (work, self->chirp, self->n);
  memcpy (data, work, 2 * self->n * sizeof (double));
}

/**
 * vn_fft_run:
 * @data: n complex numbers, real and imaginary parts in turn; replaced by their transform
 * @inverse: the inverse transform, divided by n
 */
void
vn_fft_run (VnFft    *self,
            double   *data,
            gboolean  inverse)
{
  if (inverse)
    fft_conjugate (data, self->n, 1.);
  if (self->chirp != NULL)
    fft_chirp_transform (self, data);
  else
    fft_transform (self, data);
  if (inverse)
    fft_conjugate (data, self->n, 1. / (double) self->n);
}
