/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The cells of vn-rnn.c for float64. */
#include "vn-rnn.h"

#include <math.h>

static double
rnn_f64_sigmoid (double x)
{
  return 1 / (1 + exp (-x));
}

static double
rnn_f64_softplus (double x)
{
  return x > 0 ? x + log1p (exp (-x)) : log1p (exp (x));
}

#define STATE(self) (self)->h
#define REAL double
#define NAME(name) name##_f64
#define GEMM vn_gemm_general_f64
#define FABS fabs
#define SIGMOID rnn_f64_sigmoid
#define TANH tanh
#define EXPM1 expm1
#define SOFTPLUS rnn_f64_softplus
#include "vn-rnn-cells-template.h"
