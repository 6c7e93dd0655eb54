/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of RNN, GRU and LSTM as ONNX defines them:
 *
 *   RNN   h = f (x w + h r + b)
 *   GRU   z, r = f (...);  n = g (x w + (r h) r' + b), or g (x w + b + r (h r' + b')) if linear before reset;
 *         h = (1 - z) n + z h
 *   LSTM  i, o, f = f (... + p c);  c = f c + i g (...);  h = o h (c), the peephole of o seeing the new c */
#include "vn-blas.h"
#include "vn-rnn.h"
#include "vn-vecmath.h"

#include <math.h>

static const struct
{
  const char *name;
  float       a, b;
} functions[] = {
  [VN_RNN_SIGMOID] = { "Sigmoid", 0.f, 0.f },
  [VN_RNN_TANH] = { "Tanh", 0.f, 0.f },
  [VN_RNN_RELU] = { "Relu", 0.f, 0.f },
  [VN_RNN_AFFINE] = { "Affine", 1.f, 0.f },
  [VN_RNN_LEAKY_RELU] = { "LeakyRelu", 0.01f, 0.f },
  [VN_RNN_THRESHOLDED_RELU] = { "ThresholdedRelu", 1.f, 0.f },
  [VN_RNN_SCALED_TANH] = { "ScaledTanh", 1.f, 1.f },
  [VN_RNN_HARD_SIGMOID] = { "HardSigmoid", 0.2f, 0.5f },
  [VN_RNN_ELU] = { "Elu", 1.f, 0.f },
  [VN_RNN_SOFTSIGN] = { "Softsign", 0.f, 0.f },
  [VN_RNN_SOFTPLUS] = { "Softplus", 0.f, 0.f },
};

/**
 * vn_rnn_activation:
 * @self: (out): the function with its default numbers
 * @name: as in the attribute activations; its case does not matter
 *
 * Returns: %FALSE if there is none of that name
 */
gboolean
vn_rnn_activation (VnRnnActivation *self,
                   const char      *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_ascii_strcasecmp (functions[i].name, name) == 0)
      {
        *self = (VnRnnActivation) { (VnRnnFunction) i, functions[i].a, functions[i].b };
        return TRUE;
      }
  return FALSE;
}

#define MAP(expression)                                                      \
  for (gsize i = 0; i < n; i++)                                              \
    {                                                                        \
      float v = x[i];                                                        \
      v = v < -clip ? -clip : v;                                             \
      v = v > clip ? clip : v;                                               \
      x[i] = (expression);                                                   \
    }                                                                        \
  break;

VN_MULTIVERSION
static void
activate (VnRnnActivation  activation,
          float            clip,
          float           *x,
          gsize            n)
{
  float a = activation.a, b = activation.b;

  switch (activation.function)
    {
    case VN_RNN_SIGMOID:
      MAP (vn_sigmoidf (v))
    case VN_RNN_TANH:
      MAP (vn_tanhf (v))
    case VN_RNN_RELU:
      MAP (v < 0.f ? 0.f : v)
    case VN_RNN_AFFINE:
      MAP (a * v + b)
    case VN_RNN_LEAKY_RELU:
      MAP (v < 0.f ? a * v : v)
    case VN_RNN_THRESHOLDED_RELU:
      MAP (v < a ? 0.f : v)
    case VN_RNN_SCALED_TANH:
      MAP (a * vn_tanhf (b * v))
    case VN_RNN_HARD_SIGMOID:
      MAP (a * v + b < 0.f ? 0.f : a * v + b > 1.f ? 1.f : a * v + b)
    case VN_RNN_ELU:
      MAP (v < 0.f ? a * vn_expm1f (v) : v)
    case VN_RNN_SOFTSIGN:
      MAP (v / (1.f + fabsf (v)))
    case VN_RNN_SOFTPLUS:
      MAP (vn_softplusf (v))
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
vn_rnn_project (VnRnn       *self,
                const float *x)
{
  gsize n = self->gates * self->hidden, n_rows = self->steps * self->batch;

  for (gsize j = 0; j < n; j++)
    self->bias[j] = (self->w_bias != NULL ? self->w_bias[j] : 0.f) +
                    (self->r_bias != NULL && j < n_joined (self) ? self->r_bias[j] : 0.f);
  for (gsize i = 0; i < n_rows; i++)
    memcpy (self->rows + i * n, self->bias, n * sizeof (float));
  vn_blas_gemm_general (FALSE, TRUE, n_rows, n, self->input, 1.f, x, self->input, self->w, self->input, 1.f, self->rows,
                        n);
}

/**
 * vn_rnn_recur:
 *
 * Fills self->products from the state self->h, for all samples.
 */
void
vn_rnn_recur (VnRnn *self)
{
  gsize n = self->gates * self->hidden;
  /* GRU's last gate waits for the reset. */
  gsize now = self->gates == 3 && !self->linear_before_reset ? 2 * self->hidden : n;

  vn_blas_gemm_general (FALSE, TRUE, self->batch, now, self->hidden, 1.f, self->h, self->hidden, self->r, self->hidden,
                        0.f, self->products, n);
}

VN_MULTIVERSION
static void
add (float       *to,
     const float *from,
     gsize        n)
{
  for (gsize i = 0; i < n; i++)
    to[i] += from[i];
}

VN_MULTIVERSION
static void
add_product (float       *to,
             const float *a,
             const float *b,
             gsize        n)
{
  for (gsize i = 0; i < n; i++)
    to[i] += a[i] * b[i];
}

VN_MULTIVERSION
static void
mix (float       *h,
     const float *z,
     const float *candidate,
     gsize        n)
{
  for (gsize i = 0; i < n; i++)
    h[i] = (1.f - z[i]) * candidate[i] + z[i] * h[i];
}

static void
gru_cell (VnRnn *self,
          float *gates,
          float *products,
          float *h)
{
  gsize n = self->hidden;
  float *z = gates, *r = gates + n, *candidate = gates + 2 * n, *product = products + 2 * n;

  add (gates, products, 2 * n);
  activate (self->activations[0], self->clip, gates, 2 * n);
  if (self->linear_before_reset)
    {
      if (self->r_bias != NULL)
        add (product, self->r_bias + 2 * n, n);
      add_product (candidate, r, product, n);
    }
  else
    {
      for (gsize i = 0; i < n; i++)
        self->reset[i] = r[i] * h[i];
      vn_blas_gemm_general (FALSE, TRUE, 1, n, n, 1.f, self->reset, n, self->r + 2 * n * n, n, 1.f, candidate, n);
    }
  activate (self->activations[1], self->clip, candidate, n);
  mix (h, z, candidate, n);
}

static void
lstm_cell (VnRnn *self,
           float *gates,
           float *products,
           float *h,
           float *c)
{
  gsize n = self->hidden;
  float *i = gates, *o = gates + n, *f = gates + 2 * n, *candidate = gates + 3 * n;

  add (gates, products, 4 * n);
  if (self->peephole != NULL)
    {
      add_product (i, self->peephole, c, n);
      add_product (f, self->peephole + 2 * n, c, n);
    }
  activate (self->activations[0], self->clip, i, n);
  activate (self->activations[0], self->clip, f, n);
  activate (self->activations[1], self->clip, candidate, n);
  for (gsize k = 0; k < n; k++)
    c[k] = (self->input_forget ? 1.f - i[k] : f[k]) * c[k] + i[k] * candidate[k];
  if (self->peephole != NULL)
    add_product (o, self->peephole + n, c, n);
  activate (self->activations[0], self->clip, o, n);
  memcpy (h, c, n * sizeof (float));
  activate (self->activations[2], (float) INFINITY, h, n);
  for (gsize k = 0; k < n; k++)
    h[k] *= o[k];
}

/**
 * vn_rnn_cell:
 * @row: which row of self->rows; it is used up
 * @sample: whose state is moved on by one step
 */
void
vn_rnn_cell (VnRnn *self,
             gsize  row,
             gsize  sample)
{
  gsize n = self->hidden;
  float *gates = self->rows + row * self->gates * n, *products = self->products + sample * self->gates * n;
  float *h = self->h + sample * n;

  if (self->gates == 4)
    lstm_cell (self, gates, products, h, self->c + sample * n);
  else if (self->gates == 3)
    gru_cell (self, gates, products, h);
  else
    {
      add (gates, products, n);
      activate (self->activations[0], self->clip, gates, n);
      memcpy (h, gates, n * sizeof (float));
    }
}
