/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the recurrent operators share: activations, projection of the data, and the cell. */

#include "vn-op-kernel.h"

G_BEGIN_DECLS

typedef enum
{
  VN_RNN_SIGMOID,
  VN_RNN_TANH,
  VN_RNN_RELU,
  VN_RNN_AFFINE,
  VN_RNN_LEAKY_RELU,
  VN_RNN_THRESHOLDED_RELU,
  VN_RNN_SCALED_TANH,
  VN_RNN_HARD_SIGMOID,
  VN_RNN_ELU,
  VN_RNN_SOFTSIGN,
  VN_RNN_SOFTPLUS,
} VnRnnFunction;

typedef struct
{
  VnRnnFunction function;
  float         a, b;
} VnRnnActivation;

typedef enum { VN_RNN_FORWARD, VN_RNN_REVERSE, VN_RNN_BIDIRECTIONAL } VnRnnDirection;

/**
 * VnRnn: one direction of a recurrent layer. Gates are in the order of ONNX: LSTM i o f c, GRU z r h, RNN one.
 * @w: gates * hidden x input; @r: gates * hidden x hidden; @peephole: (nullable): i o f
 * @rows: of all time steps, gates * hidden each: the products of the data with @w, biases added
 * @products: batch x gates * hidden: those of the last state with @r
 * @h, @c: batch x hidden: the state; with @rounded it is quantized by its own range before each product
 */
typedef struct
{
  guint            gates;
  gsize            steps, batch, input, hidden;
  gboolean         linear_before_reset, input_forget;
  gsize            item;                 /* bytes of an element: all tensors are of float32 or of float64 */
  double           clip;                 /* INFINITY: none */
  VnRnnActivation  activations[3];
  gconstpointer    w, r, w_bias, r_bias, peephole;
  gpointer         rows, products, bias, reset, h, c;
  float           *rounded;              /* (nullable): batch x hidden: room for the state rounded to 8 bits */
} VnRnn;

extern const VnOp vn_op_lstm_rounded;   /* op-rnn.c: LSTM that fills VnRnn.rounded */

gboolean vn_rnn_get_direction   (VnOpContext      *ctx,
                                 VnRnnDirection   *direction,
                                 GError          **error);
gboolean vn_rnn_get_activations (VnOpContext      *ctx,
                                 guint             direction,
                                 VnRnnActivation  *activations,
                                 GError          **error);
gboolean vn_rnn_activation  (VnRnnActivation *self,
                             const char      *name);
void     vn_rnn_activate    (VnRnnActivation  self,
                             double           clip,
                             float           *x,
                             gsize            n);
void     vn_rnn_project     (VnRnn           *self,
                             gconstpointer    x);
void     vn_rnn_recur       (VnRnn           *self);
void     vn_rnn_cell        (VnRnn           *self,
                             gsize            row,
                             gsize            sample);
void     vn_rnn_project_f64 (VnRnn           *self,
                             gconstpointer    x);
void     vn_rnn_recur_f64   (VnRnn           *self);
void     vn_rnn_cell_f64    (VnRnn           *self,
                             gsize            row,
                             gsize            sample);

G_END_DECLS
