/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells for one type of elements: included by vn-rnn.c and vn-rnn-f64.c, which define REAL and functions of it. */
#include "vn-gemm-general.h"
#include "vn-rnn.h"
#include "vn-vecmath.h"

#include <math.h>

#define MAP(expression)                                                      \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      REAL v = x[i];                                                         \
      v = v < -clip ? -clip : v;                                             \
      v = v > clip ? clip : v;                                               \
      x[i] = (REAL) (expression);                                            \
    }                                                                        \
  break;

VN_MULTIVERSION
static void
NAME (rnn_activate) (VnRnnActivation  activation,
                     REAL             clip,
                     REAL            *x,
                     gsize            n)
{
  REAL a = activation.a, b = activation.b;

  switch (activation.function)
    {
    case VN_RNN_SIGMOID:
      MAP (SIGMOID (v))
    case VN_RNN_TANH:
      MAP (TANH (v))
    case VN_RNN_RELU:
      MAP (v < 0 ? 0 : v)
    case VN_RNN_AFFINE:
      MAP (a * v + b)
    case VN_RNN_LEAKY_RELU:
      MAP (v < 0 ? a * v : v)
    case VN_RNN_THRESHOLDED_RELU:
      MAP (v < a ? 0 : v)
    case VN_RNN_SCALED_TANH:
      MAP (a * TANH (b * v))
    case VN_RNN_HARD_SIGMOID:
      MAP (a * v + b < 0 ? 0 : a * v + b > 1 ? 1 : a * v + b)
    case VN_RNN_ELU:
      MAP (v < 0 ? a * EXPM1 (v) : v)
    case VN_RNN_SOFTSIGN:
      MAP (v / (1 + FABS (v)))
    case VN_RNN_SOFTPLUS:
      MAP (SOFTPLUS (v))
    default:
      g_assert_not_reached ();
    }
}

/* The bias of the recurrent product of GRU's last gate counts inside the reset if that comes after the product. */
static gsize
n_joined (const VnRnn *self)
{
  return self->gates == 3 && self->linear_before_reset ? 2 * self->hidden : self->gates * self->hidden;
}

/**
 * vn_rnn_project:
 * @x: steps * batch rows of @input numbers
 *
 * Fills self->rows.
 */
void
NAME (vn_rnn_project) (VnRnn         *self,
                       gconstpointer  x)
{
  gsize n = self->gates * self->hidden, n_rows = self->steps * self->batch;
  const REAL *w_bias = self->w_bias, *r_bias = self->r_bias;
  REAL *bias = self->bias, *rows = self->rows;

  for (gsize j = 0; j < n; j++)
    bias[j] = (w_bias != NULL ? w_bias[j] : 0) + (r_bias != NULL && j < n_joined (self) ? r_bias[j] : 0);
  for (gsize i = 0; i < n_rows; i++)
    memcpy (rows + i * n, bias, n * sizeof (REAL));
  GEMM (FALSE, TRUE, n_rows, n, self->input, 1, x, self->input, self->w, self->input, 1, rows, n);
}

/**
 * vn_rnn_recur:
 *
 * Fills self->products from the state self->h, for all samples.
 */
void
NAME (vn_rnn_recur) (VnRnn *self)
{
  gsize n = self->gates * self->hidden;
  /* GRU's last gate waits for the reset. */
  gsize now = self->gates == 3 && !self->linear_before_reset ? 2 * self->hidden : n;

  GEMM (FALSE, TRUE, self->batch, now, self->hidden, 1, STATE (self), self->hidden, self->r, self->hidden,
        0, self->products, n);
}

VN_MULTIVERSION
static void
NAME (rnn_add) (REAL       *to,
                const REAL *from,
                gsize       n)
{
  for (gsize i = 0; i < n; i++)
    to[i] += from[i];
}

VN_MULTIVERSION
static void
NAME (rnn_add_product) (REAL       *to,
                        const REAL *a,
                        const REAL *b,
                        gsize       n)
{
  for (gsize i = 0; i < n; i++)
    to[i] += a[i] * b[i];
}

VN_MULTIVERSION
static void
NAME (rnn_mix) (REAL       *h,
                const REAL *z,
                const REAL *candidate,
                gsize       n)
{
  for (gsize i = 0; i < n; i++)
    h[i] = (1 - z[i]) * candidate[i] + z[i] * h[i];
}

static void
gru_cell (VnRnn *self,
          REAL  *gates,
          REAL  *products,
          REAL  *h)
{
  gsize n = self->hidden;
  REAL *z = gates, *r = gates + n, *candidate = gates + 2 * n, *product = products + 2 * n, *reset = self->reset;

  NAME (rnn_add) (gates, products, 2 * n);
  NAME (rnn_activate) (self->activations[0], (REAL) self->clip, gates, 2 * n);
  if (self->linear_before_reset)
    {
      if (self->r_bias != NULL)
        NAME (rnn_add) (product, (const REAL *) self->r_bias + 2 * n, n);
      NAME (rnn_add_product) (candidate, r, product, n);
    }
  else
    {
      for (gsize i = 0; i < n; i++)
        reset[i] = r[i] * h[i];
      GEMM (FALSE, TRUE, 1, n, n, 1, reset, n, (const REAL *) self->r + 2 * n * n, n, 1, candidate, n);
    }
  NAME (rnn_activate) (self->activations[1], (REAL) self->clip, candidate, n);
  NAME (rnn_mix) (h, z, candidate, n);
}

static void
lstm_cell (VnRnn *self,
           REAL  *gates,
           REAL  *products,
           REAL  *h,
           REAL  *c)
{
  gsize n = self->hidden;
  REAL *i = gates, *o = gates + n, *f = gates + 2 * n, *candidate = gates + 3 * n;
  const REAL *peephole = self->peephole;

  NAME (rnn_add) (gates, products, 4 * n);
  if (peephole != NULL)
    {
      NAME (rnn_add_product) (i, peephole, c, n);
      NAME (rnn_add_product) (f, peephole + 2 * n, c, n);
    }
  NAME (rnn_activate) (self->activations[0], (REAL) self->clip, i, n);
  NAME (rnn_activate) (self->activations[0], (REAL) self->clip, f, n);
  NAME (rnn_activate) (self->activations[1], (REAL) self->clip, candidate, n);
  for (gsize k = 0; k < n; k++)
    c[k] = (self->input_forget ? 1 - i[k] : f[k]) * c[k] + i[k] * candidate[k];
  if (peephole != NULL)
    NAME (rnn_add_product) (o, peephole + n, c, n);
  NAME (rnn_activate) (self->activations[0], (REAL) self->clip, o, n);
  memcpy (h, c, n * sizeof (REAL));
  NAME (rnn_activate) (self->activations[2], (REAL) INFINITY, h, n);
  for (gsize k = 0; k < n; k++)
    h[k] *= o[k];
}

/**
 * vn_rnn_cell:
 * @row: which row of self->rows; it is used up
 * @sample: whose state is moved on by one step
 */
void
NAME (vn_rnn_cell) (VnRnn *self,
                    gsize  row,
                    gsize  sample)
{
  gsize n = self->hidden;
  REAL *gates = (REAL *) self->rows + row * self->gates * n, *h = (REAL *) self->h + sample * n;
  REAL *products = (REAL *) self->products + sample * self->gates * n;

  if (self->gates == 4)
    lstm_cell (self, gates, products, h, (REAL *) self->c + sample * n);
  else if (self->gates == 3)
    gru_cell (self, gates, products, h);
  else
    {
      NAME (rnn_add) (gates, products, n);
      NAME (rnn_activate) (self->activations[0], (REAL) self->clip, gates, n);
      memcpy (h, gates, n * sizeof (REAL));
    }
}
