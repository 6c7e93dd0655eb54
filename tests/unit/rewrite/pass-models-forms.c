/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks for the passes on request. */
#include "pass-models.h"

#include <math.h>

static VnNode *
two_ints (VnNode     *node,
          const char *name,
          gint64      a,
          gint64      b)
{
  vn_node_set_ints (node, name, (gint64[]) { a, b }, 2);
  return node;
}

static VnValue *
number (VnGraph    *graph,
        const char *name,
        double      value)
{
  const float single = (float) value;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &single);

  return vn_graph_add_initializer (graph, name, tensor);
}

/* A mean and a pool over a large picture, a Split, and two Clips. */
VnModel *
test_forms (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 3, 24, 30));
  VnGraph *g = model->graph;
  VnNode *split = add (g, "split", "Split", "left", x, ints (g, "parts", (gint64[]) { 10, 20 }, 2), END);
  VnValue *right = vn_graph_add_value (g, "right", VN_DTYPE_UNDEFINED, NULL);

  vn_node_set_output (split, 1, right);
  vn_node_set_int (split, "axis", -1);
  finish (model, add (g, "abs", "Abs", "a", out (split), END));
  finish (model, add (g, "neg", "Neg", "n", right, END));
  finish (model, two_ints (add (g, "mean", "ReduceMean", "m", x, END), "axes", -1, 2));
  finish (model, add (g, "norm", "BatchNormalization", "b", x, weights (g, "scale", &VN_SHAPE (3)),
                      weights (g, "shift", &VN_SHAPE (3)), weights (g, "average", &VN_SHAPE (3)),
                      weights (g, "variance", &VN_SHAPE (3)), END));
  finish (model, add (g, "pool", "GlobalAveragePool", "p", x, END));
  finish (model, add (g, "six", "Clip", "s", x, number (g, "zero", 0), number (g, "upper", 6), END));
  return finish (model, add (g, "open", "Clip", "o", x, number (g, "nought", 0), END));
}

static void
set_floats (VnNode      *node,
            const char  *name,
            const float *values,
            guint        n)
{
  VnAttr *attr = vn_attr_new (name, VN_ATTR_FLOATS);

  g_array_append_vals (attr->floats, values, n);
  vn_node_set_attr (node, attr);
}

/* Convolutions as ONNX Runtime's optimizer writes them, the last with a sum. */
VnModel *
test_fused (void)
{
  static const float bounds[] = { -0.25f, 0.5f }, slope[] = { 0.125f };
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 2, 9, 7));
  VnGraph *g = model->graph;
  VnNode *relu = add (g, "relu", "FusedConv", "r", x, weights (g, "w1", &VN_SHAPE (2, 2, 1, 1)), END);
  VnNode *clip = add (g, "clip", "FusedConv", "c", out (relu), weights (g, "w2", &VN_SHAPE (2, 2, 1, 1)),
                      weights (g, "b2", &VN_SHAPE (2)), END);
  VnNode *leaky = add (g, "leaky", "FusedConv", "y", out (clip), weights (g, "w3", &VN_SHAPE (2, 2, 1, 1)),
                       weights (g, "b3", &VN_SHAPE (2)), out (relu), END);
  VnNode *nodes[] = { relu, clip, leaky };

  vn_model_set_opset (model, "com.microsoft", 1);
  for (guint i = 0; i < G_N_ELEMENTS (nodes); i++)
    {
      g_free (nodes[i]->domain);
      nodes[i]->domain = g_strdup ("com.microsoft");
    }
  vn_node_set_string (relu, "activation", "Relu");
  vn_node_set_string (clip, "activation", "Clip");
  set_floats (clip, "activation_params", bounds, 2);
  vn_node_set_string (leaky, "activation", "LeakyRelu");
  set_floats (leaky, "activation_params", slope, 1);
  return finish (model, leaky);
}

/* Gemm either way round. */
VnModel *
test_layers (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (3, 4));
  VnGraph *g = model->graph;
  VnNode *first = add (g, "fc1", "Gemm", "f1", x, weights (g, "w1", &VN_SHAPE (4, 5)), weights (g, "b1", &VN_SHAPE (5)), END);
  VnNode *second = add (g, "fc2", "Gemm", "y", out (first), weights (g, "w2", &VN_SHAPE (2, 5)), END);

  vn_node_set_int (second, "transB", 1);
  return finish (model, second);
}

/* Two Conv with one weight and one bias, and a bias that is a factor, too. */
VnModel *
test_shared (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 2, 5, 6));
  VnGraph *g = model->graph;
  VnValue *w = weights (g, "w", &VN_SHAPE (2, 2, 1, 1)), *b = weights (g, "b", &VN_SHAPE (2));
  VnNode *first = add (g, "first", "Conv", "c1", x, w, b, END);
  VnNode *second = add (g, "second", "Conv", "c2", out (first), w, b, END);

  return finish (model, add (g, "mul", "Mul", "y", out (add (g, "turn", "Transpose", "t", out (second), END)), b, END));
}

/* A mask of minus infinity, as attention has it. */
VnModel *
test_masked (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (2, 3));
  VnGraph *g = model->graph;
  g_autoptr(VnTensor) mask = vn_tensor_new_f32 (&VN_SHAPE (2, 3), (float[]) { 0, -INFINITY, 0, 0, 0, -INFINITY });
  VnNode *sum = add (g, "sum", "Add", "s", x, vn_graph_add_initializer (g, "mask", mask), END);

  return finish (model, add (g, "soft", "Softmax", "y", out (sum), END));
}

/* QDQ around a Conv whose weight is stored in 8 bits; the scale is a power of two. */
VnModel *
test_qdq (void)
{
  VnValue *x, *scale, *wq;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 1, 3, 4));
  VnGraph *g = model->graph;
  g_autoptr(VnTensor) data = vn_tensor_new (VN_DTYPE_S8, &VN_SHAPE (1, 1, 1, 2), NULL);
  g_autoptr(VnTensor) zero = vn_tensor_new (VN_DTYPE_S8, &VN_SHAPE_SCALAR, NULL);
  VnValue *offset;
  VnNode *conv;

  memcpy (data->data, (gint8[]) { 64, -32 }, 2);
  memset (zero->data, 0, 1);
  scale = number (g, "scale", 1.0 / 64);
  offset = vn_graph_add_initializer (g, "offset", zero);
  wq = vn_graph_add_initializer (g, "wq", data);
  x = out (add (g, "q", "QuantizeLinear", "xq", x, scale, offset, END));
  x = out (add (g, "dq", "DequantizeLinear", "xd", x, scale, offset, END));
  conv = add (g, "conv", "Conv", "c", x, out (add (g, "wdq", "DequantizeLinear", "w", wq, scale, offset, END)), END);
  x = out (add (g, "q2", "QuantizeLinear", "cq", out (conv), scale, offset, END));
  return finish (model, add (g, "dq2", "DequantizeLinear", "y", x, scale, offset, END));
}

/* Layer normalization and Gelu, as PyTorch writes them. */
VnModel *
test_written_out (void)
{
  VnModel *model = vn_model_new (9, 20);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &VN_SHAPE (2, 3, 8));
  VnValue *axis = ints (g, "axis", (gint64[]) { -1 }, 1);
  VnValue *centred = out (add (g, "sub", "Sub", "d", x, out (add (g, "mean", "ReduceMean", "m", x, axis, END)), END));
  VnNode *square = add (g, "pow", "Pow", "q", centred, number (g, "two", 2), END);
  VnNode *variance = add (g, "variance", "ReduceMean", "v", out (square), axis, END);
  VnNode *plus = add (g, "plus", "Add", "e", out (variance), number (g, "epsilon", 1e-5), END);
  VnNode *div = add (g, "div", "Div", "z", centred, out (add (g, "root", "Sqrt", "r", out (plus), END)), END);
  VnNode *scaled = add (g, "scale", "Mul", "k", out (div), weights (g, "gamma", &VN_SHAPE (8)), END);
  VnNode *norm = add (g, "shift", "Add", "n", out (scaled), weights (g, "beta", &VN_SHAPE (8)), END);
  VnNode *over = add (g, "over", "Div", "o", out (norm), number (g, "root2", G_SQRT2), END);
  VnNode *erf = add (g, "erf", "Erf", "f", out (over), END);
  VnNode *one = add (g, "one", "Add", "g", out (erf), number (g, "unit", 1), END);
  VnNode *times = add (g, "times", "Mul", "h", out (norm), out (one), END);

  return finish (model, add (g, "half", "Mul", "y", out (times), number (g, "oh5", 0.5), END));
}

/* A weight that two nodes read along two axes, and forms that kernels on integers do not have. */
VnModel *
test_peculiar (void)
{
  VnModel *model = vn_model_new (8, 19);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 6, 5)), *w = weights (g, "w", &VN_SHAPE (2, 2, 1, 1));
  VnNode *turned = add (g, "turned", "ConvTranspose", "t", out (add (g, "conv", "Conv", "c", x, w, END)), w, END);
  VnNode *pad = add (g, "pad", "Pad", "p", out (turned), ints (g, "pads", (gint64[]) { 1, 2 }, 2), number (g, "none", 0),
                     ints (g, "axes", (gint64[]) { -1 }, 1), END);
  VnNode *pool = two_ints (two_ints (add (g, "pool", "AveragePool", "a", out (pad), END), "kernel_shape", 3, 3), "strides", 2, 2);
  VnNode *resize = add (g, "resize", "Resize", "y", out (pool), NULL, NULL, ints (g, "size", (gint64[]) { 7 }, 1), END);

  two_ints (pool, "dilations", 1, 1);
  vn_node_set_int (pool, "ceil_mode", 1);
  vn_node_set_int (pool, "count_include_pad", 1);
  vn_node_set_ints (resize, "axes", (gint64[]) { 2 }, 1);
  return finish (model, resize);
}

/* 1x1 convolutions that leave pixels out: behind Relu, and behind a convolution. */
VnModel *
test_strided (void)
{
  VnModel *model = vn_model_new (8, 19);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, 9, 7)), *w = weights (g, "w", &VN_SHAPE (2, 2, 1, 1));
  VnNode *stem = add (g, "stem", "Conv", "s", x, weights (g, "v", &VN_SHAPE (2, 2, 3, 3)), END);
  VnNode *relu = add (g, "relu", "Relu", "r", out (stem), END);
  VnNode *left = two_ints (add (g, "left", "Conv", "l", out (relu), w, END), "strides", 2, 2);
  VnValue *u = weights (g, "u", &VN_SHAPE (2, 2, 1, 1));
  VnNode *right = two_ints (add (g, "right", "Conv", "i", out (relu), u, END), "strides", 2, 2);
  VnNode *middle = two_ints (add (g, "middle", "Conv", "m", out (add (g, "sum", "Add", "a", out (left), out (right), END)),
                                  weights (g, "t", &VN_SHAPE (2, 2, 1, 1)), END), "strides", 1, 2);

  vn_node_set_ints (stem, "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
  return finish (model, two_ints (add (g, "last", "Conv", "y", out (middle), w, END), "strides", 2, 1));
}
