/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks for the passes that optimize. */
#include "pass-models.h"

#include <stdarg.h>

#define IMAGE VN_SHAPE (1, 2, 5, 6)

static VnNode *
with_ints (VnNode     *node,
           const char *name,
           guint       n,
           ...)
{
  gint64 values[8];
  va_list args;

  va_start (args, n);
  for (guint i = 0; i < n; i++)
    values[i] = va_arg (args, int);
  va_end (args);
  vn_node_set_ints (node, name, values, n);
  return node;
}

static VnValue *
number (VnGraph    *graph,
        const char *name,
        float       value)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &value);

  return vn_graph_add_initializer (graph, name, tensor);
}

/* All of them give back what they got, but for the last Pad and Slice, which do not. */
static VnModel *
no_ops (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *pad = add (g, "pad", "Pad", "p", x, ints (g, "zeros", (gint64[8]) { 0 }, 8), END);
  VnValue *to = ints (g, "to", (gint64[]) { 99 }, 1), *from = ints (g, "from", (gint64[]) { 0 }, 1);
  VnNode *cut = add (g, "cut", "Slice", "c", out (pad), from, to, END);
  VnNode *times = add (g, "times", "Mul", "m", number (g, "one", 1), out (cut), END);
  VnNode *plus = add (g, "plus", "Add", "s", out (times), number (g, "zero", 0), END);
  VnNode *turn = with_ints (add (g, "turn", "Transpose", "t", out (plus), END), "perm", 4, 0, 1, 2, 3);
  VnNode *flat = add (g, "flat", "Reshape", "f", out (turn), ints (g, "shape", (gint64[]) { 0, 0, -1, 6 }, 4), END);
  VnNode *pool = with_ints (add (g, "pool", "MaxPool", "l", out (flat), END), "kernel_shape", 2, 1, 1);
  VnNode *join = add (g, "join", "Concat", "j", out (pool), END);
  VnValue *step = ints (g, "step", (gint64[]) { -1 }, 1), *axis = ints (g, "axis", (gint64[]) { 3 }, 1);
  VnValue *start = ints (g, "start", (gint64[]) { -99 }, 1), *end = ints (g, "end", (gint64[]) { -1 }, 1);
  VnNode *back = add (g, "back", "Slice", "b", out (join), end, start, axis, step, END);
  VnNode *shift = add (g, "shift", "Pad", "y", out (back), ints (g, "pads", (gint64[]) { 0, 0, 0, 1, 0, 0, 0, -1 }, 8), END);

  vn_node_set_int (join, "axis", 1);
  return finish (model, shift);
}

/* Reshape, Flatten, Squeeze and Unsqueeze in rows; one of the values between is used elsewhere. */
static VnModel *
reshapes (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *flat = add (g, "flat", "Flatten", "f", x, END);
  VnNode *cube = add (g, "cube", "Reshape", "c", out (flat), ints (g, "cubic", (gint64[]) { 3, 4, 5 }, 3), END);
  VnNode *line = add (g, "line", "Reshape", "l", out (cube), ints (g, "linear", (gint64[]) { 0, -1 }, 2), END);
  VnNode *relu = add (g, "relu", "Relu", "r", out (line), END);
  VnNode *more = add (g, "more", "Unsqueeze", "u", out (relu), ints (g, "ends", (gint64[]) { 0, 3 }, 2), END);
  VnNode *less = add (g, "less", "Squeeze", "s", out (more), ints (g, "ends_too", (gint64[]) { 0, 3 }, 2), END);

  finish (model, add (g, "abs", "Abs", "z", out (cube), END));
  return finish (model, add (g, "neg", "Neg", "y", out (less), END));
}

/* The first size is open: only what does not depend on it can go. */
static VnModel *
open_reshapes (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (VN_DIM_UNKNOWN, 4, 1, 3));
  VnGraph *g = model->graph;
  VnNode *thin = add (g, "thin", "Squeeze", "t", x, ints (g, "axes", (gint64[]) { 2 }, 1), END);
  VnNode *rows = add (g, "rows", "Reshape", "r", out (thin), ints (g, "shape", (gint64[]) { 0, 12 }, 2), END);
  VnNode *same = add (g, "same", "Reshape", "s", out (rows), ints (g, "again", (gint64[]) { -1, 12 }, 2), END);

  return finish (model, add (g, "relu", "Relu", "y", out (same), END));
}

/* There and back again through Relu, a sum and a number for each channel. */
static VnModel *
transposes (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *there = with_ints (add (g, "there", "Transpose", "t", x, END), "perm", 4, 0, 2, 3, 1);
  VnNode *relu = add (g, "relu", "Relu", "r", out (there), END);
  VnNode *back = with_ints (add (g, "back", "Transpose", "b", out (relu), END), "perm", 4, 0, 3, 1, 2);
  VnNode *one = with_ints (add (g, "one", "Transpose", "o", out (back), END), "perm", 4, 0, 2, 3, 1);
  VnNode *two = with_ints (add (g, "two", "Transpose", "w", x, END), "perm", 4, 0, 2, 3, 1);
  VnNode *plus = add (g, "plus", "Add", "p", out (one), weights (g, "channels", &VN_SHAPE (2)), END);
  VnNode *sum = add (g, "sum", "Sub", "s", out (two), out (plus), END);
  VnNode *rows = add (g, "rows", "Mul", "m", weights (g, "tall", &VN_SHAPE (5, 1, 1)), out (sum), END);
  VnNode *last = add (g, "last", "Transpose", "y", out (rows), END);

  return finish (model, last);
}

static VnModel *
pads (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *pad = add (g, "pad", "Pad", "p", x, ints (g, "pads", (gint64[]) { 0, 0, 1, 2, 0, 0, 0, 1 }, 8), END);
  VnNode *conv = add (g, "conv", "Conv", "c", out (pad), weights (g, "w", &VN_SHAPE (2, 2, 3, 3)), END);
  VnNode *more = add (g, "more", "Pad", "m", out (conv), ints (g, "ones", (gint64[]) { 0, 0, 1, 1, 0, 0, 1, 1 }, 8),
                      number (g, "nought", 0), END);
  VnNode *pool = with_ints (add (g, "pool", "AveragePool", "a", out (more), END), "kernel_shape", 2, 2, 2);
  VnNode *half = add (g, "half", "Pad", "h", out (pool), ints (g, "again", (gint64[]) { 0, 0, 1, 1, 0, 0, 1, 1 }, 8),
                      number (g, "some", 0.5f), END);

  with_ints (conv, "pads", 4, 0, 1, 1, 0);
  return finish (model, add (g, "conv2", "Conv", "y", out (half), weights (g, "w2", &VN_SHAPE (2, 2, 3, 3)), END));
}

static VnModel *
clamps (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *relu = add (g, "relu", "Relu", "r", x, END);
  VnNode *clip = add (g, "clip", "Clip", "c", out (relu), number (g, "low", -0.25f), number (g, "high", 0.5f), END);
  VnNode *again = add (g, "again", "Relu", "a", out (clip), END);
  VnNode *tanh = add (g, "tanh", "Tanh", "t", out (again), END);
  VnNode *wide = add (g, "wide", "Clip", "w", out (tanh), number (g, "lowest", -3), END);
  VnNode *half = add (g, "half", "Clip", "h", out (wide), NULL, number (g, "some", 0.25f), END);

  finish (model, half);
  return finish (model, add (g, "top", "Relu", "y", out (half), END));
}

static VnModel *
gemm (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (3, 4));
  VnGraph *g = model->graph;
  VnNode *mul = add (g, "mul", "MatMul", "m", x, weights (g, "w", &VN_SHAPE (4, 5)), END);
  VnNode *plus = add (g, "plus", "Add", "p", weights (g, "b", &VN_SHAPE (5)), out (mul), END);
  VnNode *mul2 = add (g, "mul2", "MatMul", "m2", out (plus), weights (g, "w2", &VN_SHAPE (5, 3)), END);

  /* A number for each row is no bias. */
  return finish (model, add (g, "plus2", "Add", "y", out (mul2), weights (g, "b2", &VN_SHAPE (3, 1)), END));
}

/* The same weights under two names, and the same branch twice; what differs in an attribute stays. */
static VnModel *
common (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnValue *w = weights (g, "w", &VN_SHAPE (2, 2, 1, 1)), *copy;
  VnNode *a, *b, *c;

  copy = vn_graph_add_initializer (g, "copy", w->initializer);
  a = add (g, "a", "Relu", "ra", out (add (g, "conv_a", "Conv", "ca", x, w, END)), END);
  b = add (g, "b", "Relu", "rb", out (add (g, "conv_b", "Conv", "cb", x, copy, END)), END);
  c = add (g, "c", "LeakyRelu", "rc", out (add (g, "conv_c", "LeakyRelu", "cc", x, END)), END);
  vn_node_set_float (c, "alpha", 0.5f);
  finish (model, add (g, "sum", "Sum", "y", out (a), out (b), out (c), END));
  return finish (model, add (g, "twin", "LeakyRelu", "z", x, END));
}

const TestModel test_models_more[] = {
  { "clamps",        clamps        },
  { "common",        common        },
  { "gemm",          gemm          },
  { "no-ops",        no_ops        },
  { "open-reshapes", open_reshapes },
  { "pads",          pads          },
  { "reshapes",      reshapes      },
  { "transposes",    transposes    },
};

const guint n_test_models_more = G_N_ELEMENTS (test_models_more);
