/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnFft: discrete Fourier transforms of one length. Powers of two by halving, other lengths as a convolution with a
 * chirp (Bluestein), so that every length costs n log n.
 */
typedef struct
{
  gsize   n, m;        /* length; power of two that is computed with */
  double *roots;       /* m / 2 complex numbers */
  double *chirp;       /* n complex numbers, NULL for powers of two */
  double *filter;      /* the chirp's transform */
  double *work;
} VnFft;

gboolean vn_fft_scratch (gsize    n,
                         gsize   *bytes);
void     vn_fft_init    (VnFft   *self,
                         gsize    n,
                         gpointer scratch);
void     vn_fft_run     (VnFft   *self,
                         double  *data,
                         gboolean inverse);

G_END_DECLS
