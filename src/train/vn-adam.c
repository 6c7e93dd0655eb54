/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The optimizer of all training here, and the soft rounding of AdaRound with its regularizer. */
#include "vn-adam.h"

#include "vn-memory.h"

#include <math.h>

#define DECAY_MEAN 0.9
#define DECAY_SQUARE 0.999
#define EPSILON 1e-12

/* Ends of the sigmoid before it is cut to 0 .. 1. */
#define STRETCH_LOW (-0.1)
#define STRETCH_HIGH 1.1

gboolean
vn_adam_init (VnAdam  *self,
              gsize    n,
              GError **error)
{
  g_return_val_if_fail (self != NULL, FALSE);

  *self = (VnAdam) { .n = n };
  self->mean = vn_try_new0 (float, MAX (n, 1), error);
  self->square = self->mean != NULL ? vn_try_new0 (float, MAX (n, 1), error) : NULL;
  return self->square != NULL;
}

void
vn_adam_clear (VnAdam *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->mean, g_free);
  g_clear_pointer (&self->square, g_free);
}

/**
 * vn_adam_step:
 * @x: (inout) (array length=n): what is changed by about @rate
 * @gradient: (array length=n)
 */
void
vn_adam_step (VnAdam      *self,
              float       *x,
              const float *gradient,
              double       rate)
{
  double corrected;

  g_return_if_fail (self != NULL && self->square != NULL);

  self->step++;
  corrected = rate * sqrt (1 - pow (DECAY_SQUARE, self->step)) / (1 - pow (DECAY_MEAN, self->step));
  for (gsize i = 0; i < self->n; i++)
    {
      double g = (double) gradient[i], mean = DECAY_MEAN * (double) self->mean[i] + (1 - DECAY_MEAN) * g;
      double square = DECAY_SQUARE * (double) self->square[i] + (1 - DECAY_SQUARE) * g * g;

      self->mean[i] = (float) mean;
      self->square[i] = (float) square;
      x[i] = (float) ((double) x[i] - corrected * mean / (sqrt (square) + EPSILON));
    }
}

/**
 * vn_adaround_share:
 *
 * Returns: how much of a step is added to the integer below: the stretched sigmoid of @v, between 0 and 1
 */
double
vn_adaround_share (double v)
{
  return CLAMP ((STRETCH_HIGH - STRETCH_LOW) / (1 + exp (-v)) + STRETCH_LOW, 0, 1);
}

/**
 * vn_adaround_slope:
 *
 * Returns: how that changes with @v
 */
double
vn_adaround_slope (double v)
{
  double sigmoid = 1 / (1 + exp (-v)), share = (STRETCH_HIGH - STRETCH_LOW) * sigmoid + STRETCH_LOW;

  return share > 0 && share < 1 ? (STRETCH_HIGH - STRETCH_LOW) * sigmoid * (1 - sigmoid) : 0;
}

/**
 * vn_adaround_invert:
 *
 * Returns: the number whose share is @share
 */
double
vn_adaround_invert (double share)
{
  return -log ((STRETCH_HIGH - STRETCH_LOW) / (CLAMP (share, 0, 1) - STRETCH_LOW) - 1);
}

/**
 * vn_adaround_pull:
 *
 * Returns: how 1 - |2 share - 1|^@beta changes with @v
 */
double
vn_adaround_pull (double v,
                  double beta)
{
  double away = 2 * vn_adaround_share (v) - 1;

  return -beta * pow (fabs (away), beta - 1) * (away < 0 ? -1 : 1) * 2 * vn_adaround_slope (v);
}

/**
 * vn_adaround_get_beta:
 * @done: share of all steps, 0 to 1
 * @warm: the share during which there is no regularizer
 *
 * Returns: the exponent, from @first to @last along half a cosine; 0: there is no regularizer yet
 */
double
vn_adaround_get_beta (double done,
                      double warm,
                      double first,
                      double last)
{
  return done < warm ? 0 : last + 0.5 * (first - last) * (1 + cos (G_PI * (done - warm) / MAX (1 - warm, 1e-9)));
}
