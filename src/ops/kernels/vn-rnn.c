/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of RNN, GRU and LSTM as ONNX defines them:
 *
 *   RNN   h = f (x w + h r + b)
 *   GRU   z, r = f (...);  n = g (x w + (r h) r' + b), or g (x w + b + r (h r' + b')) if linear before reset;
 *         h = (1 - z) n + z h
 *   LSTM  i, o, f = f (... + p c);  c = f c + i g (...);  h = o h (c), the peephole of o seeing the new c */
#include "vn-rnn.h"

#include "vn-int.h"

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

static const float *
rnn_round_state (const VnRnn *self)
{
  if (self->rounded == NULL)
    return self->h;
  vn_int_round_dynamic (self->h, self->batch * self->hidden, self->rounded);
  return self->rounded;
}

#define STATE rnn_round_state
#define REAL float
#define NAME(name) name
#define GEMM vn_gemm_general
#define FABS fabsf
#define SIGMOID vn_sigmoidf
#define TANH vn_tanhf
#define EXPM1 vn_expm1f
#define SOFTPLUS vn_softplusf
#include "vn-rnn-cells-template.h"

/**
 * vn_rnn_activate:
 * @clip: by how much numbers are limited first; INFINITY: not
 * @x: (inout) (array length=n)
 */
void
vn_rnn_activate (VnRnnActivation  self,
                 double           clip,
                 float           *x,
                 gsize            n)
{
  rnn_activate (self, (float) clip, x, n);
}
