/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adam, and the rounding that AdaRound learns. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/**
 * VnAdam: state of the optimizer for some numbers (Kingma and Ba, 2015).
 * @mean, @square: (array length=n): running means of gradients and of their squares
 * @step: how often the numbers were changed
 */
typedef struct
{
  gsize  n;
  float *mean, *square;
  guint  step;
} VnAdam;

gboolean vn_adam_init  (VnAdam       *self,
                        gsize         n,
                        GError      **error);
void     vn_adam_clear (VnAdam       *self);
void     vn_adam_step  (VnAdam       *self,
                        float        *x,
                        const float  *gradient,
                        double        rate);

/* ---- Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization" (2020) ---- */

double   vn_adaround_share      (double v);
double   vn_adaround_slope      (double v);
double   vn_adaround_invert     (double share);
double   vn_adaround_pull       (double v,
                                 double beta);
double   vn_adaround_get_beta   (double done,
                                 double warm,
                                 double first,
                                 double last);

G_END_DECLS
