/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mixed-models.h"

#include <math.h>
#include <string.h>

/* Weights that differ much from channel to channel, with a few outliers. */
static VnValue *
weights (VnGraph       *graph,
         const char    *name,
         const VnShape *shape,
         float          size)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  g_autoptr(GRand) rand = g_rand_new_with_seed (g_str_hash (name));
  gsize channel = tensor->n_elements / (gsize) MAX (shape->dims[0], 1);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = size * (float) g_rand_double_range (rand, -1, 1) *
                                  (1 + 3 * (float) (i / channel % 5)) * (i % 97 == 5 ? 6 : 1);
  return vn_graph_add_initializer (graph, name, tensor);
}

static VnValue *
numbers (VnGraph     *graph,
         const char  *name,
         const float *values,
         gint64       n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (n > 0 ? &VN_SHAPE (n) : &VN_SHAPE_SCALAR, values);

  return vn_graph_add_initializer (graph, name, tensor);
}

static VnValue *
integers (VnGraph      *graph,
          const char   *name,
          const gint64 *values,
          gint64        n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE (n), NULL);

  memcpy (tensor->data, values, (gsize) n * sizeof *values);
  return vn_graph_add_initializer (graph, name, tensor);
}

/* A node with one output; both have its name. Inputs end with (VnValue *) -1. */
#define END ((VnValue *) -1)
static VnValue *
add (VnGraph    *graph,
     const char *name,
     const char *op_type,
     VnValue    *first,
     ...)
{
  VnValue *inputs[8] = { first }, *output = vn_graph_add_value (graph, name, VN_DTYPE_UNDEFINED, NULL);
  guint n = 1;
  va_list args;

  va_start (args, first);
  for (VnValue *value = va_arg (args, VnValue *); value != END; value = va_arg (args, VnValue *))
    inputs[n++] = value;
  va_end (args);
  vn_graph_add_node (graph, name, "", op_type, inputs, n, &output, 1);
  return output;
}

static VnValue *
conv (VnGraph    *graph,
      const char *name,
      VnValue    *x,
      gint64      to,
      gint64      from,
      gint64      kernel,
      gint64      group,
      float       bias)
{
  g_autofree char *w = g_strconcat (name, ".w", NULL), *b = g_strconcat (name, ".b", NULL);
  VnValue *y = add (graph, name, "Conv", x, weights (graph, w, &VN_SHAPE (to, from / group, kernel, kernel), 0.2f),
                    weights (graph, b, &VN_SHAPE (to), bias), END);

  vn_node_set_ints (y->producer, "pads", (gint64[]) { kernel / 2, kernel / 2, kernel / 2, kernel / 2 }, 4);
  vn_node_set_int (y->producer, "group", group);
  return y;
}

static VnValue *
pool (VnGraph    *graph,
      const char *name,
      const char *op_type,
      VnValue    *x)
{
  VnValue *y = add (graph, name, op_type, x, END);

  vn_node_set_ints (y->producer, "kernel_shape", (gint64[]) { 3, 3 }, 2);
  vn_node_set_ints (y->producer, "strides", (gint64[]) { 2, 2 }, 2);
  vn_node_set_ints (y->producer, "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
  return y;
}

static void
finish (VnModel *model,
        VnValue *output)
{
  vn_value_set_type (output, VN_DTYPE_F32, NULL);
  output->has_info = TRUE;
  vn_graph_set_output (model->graph, model->graph->outputs->len, output);
}

static VnValue *
add_head (VnGraph *graph,
          VnValue *x)
{
  VnValue *bn = add (graph, "norm", "BatchNormalization", x, weights (graph, "norm.s", &VN_SHAPE (8), 0.3f),
                     weights (graph, "norm.b", &VN_SHAPE (8), 0.1f), weights (graph, "norm.m", &VN_SHAPE (8), 0.1f),
                     numbers (graph, "norm.v", (float[]) { 1, 2, 1, 3, 1, 1, 2, 1 }, 8), END);
  VnValue *up = add (graph, "up", "ConvTranspose", bn, weights (graph, "up.w", &VN_SHAPE (8, 4, 2, 2), 0.2f),
                     weights (graph, "up.b", &VN_SHAPE (4), 0.1f), END);
  VnValue *mean, *flat, *gemm;

  vn_node_set_ints (up->producer, "strides", (gint64[]) { 2, 2 }, 2);
  mean = add (graph, "mean", "GlobalAveragePool", add (graph, "leaky", "LeakyRelu", up, END), END);
  flat = add (graph, "flat", "Flatten", mean, END);
  gemm = add (graph, "gemm", "Gemm", flat, weights (graph, "gemm.w", &VN_SHAPE (10, 4), 0.4f),
              weights (graph, "gemm.b", &VN_SHAPE (10), 0.1f), END);
  vn_node_set_int (gemm->producer, "transB", 1);
  return gemm;
}

/* 8 channels to 8 channels. */
static VnValue *
add_joints (VnGraph *graph,
            VnValue *x)
{
  VnValue *sizes = integers (graph, "pads", (gint64[]) { 0, 0, 1, 1, 0, 0, 1, 1 }, 8);
  VnValue *starts = integers (graph, "starts", (gint64[]) { 1, 1 }, 2),
  *ends = integers (graph, "ends", (gint64[]) { -1, -1 }, 2);
  VnValue *axes = integers (graph, "axes", (gint64[]) { 2, 3 }, 2);
  VnValue *average = pool (graph, "average", "AveragePool", x), *largest = pool (graph, "largest", "MaxPool", x);
  VnValue *both = add (graph, "both", "Concat", average, largest, END);
  VnValue *padded = add (graph, "padded", "Pad", both, sizes, END);
  VnValue *cut = add (graph, "cut", "Slice", padded, starts, ends, axes, END);
  VnValue *parts[2] = { vn_graph_add_value (graph, "part0", VN_DTYPE_UNDEFINED, NULL),
                        vn_graph_add_value (graph, "part1", VN_DTYPE_UNDEFINED, NULL) };
  VnNode *split;

  vn_node_set_int (both->producer, "axis", 1);
  split = vn_graph_add_node (graph, "split", "", "Split",
                             (VnValue *[]) { cut, integers (graph, "halves", (gint64[]) { 8, 8 }, 2) },
                             2, parts, 2);
  vn_node_set_int (split, "axis", 1);
  return add (graph, "sum", "Add", parts[0], conv (graph, "mixed", parts[1], 8, 8, 1, 1, 0.1f), END);
}

VnModel *
mixed_model_pictures (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *image = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, 16, 16));
  VnValue *low = numbers (graph, "low", (float[]) { 0 }, 0), *high = numbers (graph, "high", (float[]) { 6 }, 0);
  VnValue *first = add (graph, "clip", "Clip", conv (graph, "first", image, 8, 3, 3, 1, 0.3f), low, high, END);
  VnValue *depth = add (graph, "relu", "Relu", conv (graph, "depth", first, 8, 8, 3, 8, 0.2f), END);
  VnValue *point = conv (graph, "point", depth, 8, 8, 1, 1, 0.2f);
  VnValue *swish = add (graph, "swish", "Mul", point, add (graph, "gate", "Sigmoid", point, END), END);
  VnValue *hard = add (graph, "hard", "HardSigmoid", conv (graph, "wide", swish, 8, 8, 3, 1, 0.3f), END);
  VnValue *steps = numbers (graph, "steps", (float[]) { 2 }, 0);
  VnValue *joined = add_joints (graph, add (graph, "scaled", "Mul", hard, steps, END));
  VnValue *axes_mean = add (graph, "reduced", "ReduceMean", joined, END);

  vn_node_set_ints (axes_mean->producer, "axes", (gint64[]) { 2, 3 }, 2);
  finish (model, add_head (graph, joined));
  finish (model, axes_mean);
  return model;
}

static VnValue *
add_attention (VnGraph *graph,
               VnValue *x)
{
  VnValue *q = add (graph, "q", "MatMul", x, weights (graph, "q.w", &VN_SHAPE (32, 32), 0.2f), END);
  VnValue *k = add (graph, "k", "MatMul", x, weights (graph, "k.w", &VN_SHAPE (32, 32), 0.2f), END);
  VnValue *turned = add (graph, "turned", "Transpose", k, END);
  VnValue *scores, *shares, *yes;
  g_autoptr(VnTensor) mask = vn_tensor_new (VN_DTYPE_BOOL, &VN_SHAPE (1, 6), NULL);

  vn_node_set_ints (turned->producer, "perm", (gint64[]) { 0, 2, 1 }, 3);
  memcpy (mask->data, (guint8[]) { 1, 1, 1, 1, 1, 0 }, 6);
  yes = vn_graph_add_initializer (graph, "mask", mask);
  scores = add (graph, "scores", "MatMul", q, turned, END);
  shares = add (graph, "shares", "Softmax", add (graph, "masked", "Where", yes, scores,
                                                 numbers (graph, "least", (float[]) { -9 }, 0), END), END);
  return add (graph, "attended", "MatMul", shares, x, END);
}

VnModel *
mixed_model_words (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *words = vn_graph_add_input (graph, "words", VN_DTYPE_F32, &VN_SHAPE (1, 6, 32));
  VnValue *seen = integers (graph, "seen", (gint64[]) { 0, 3, 1, 2, 5, 4 }, 6);
  VnValue *place = add (graph, "place", "Gather", weights (graph, "places", &VN_SHAPE (6, 32), 0.3f), seen, END);
  VnValue *x = add (graph, "x", "Add", words, place, END);
  VnValue *norm = add (graph, "norm", "LayerNormalization", add_attention (graph, x),
                       weights (graph, "norm.s", &VN_SHAPE (32), 0.3f),
                       weights (graph, "norm.b", &VN_SHAPE (32), 0.1f), END);
  VnValue *up = add (graph, "up", "MatMul", norm, weights (graph, "up.w", &VN_SHAPE (32, 64), 0.2f), END);
  VnValue *biased = add (graph, "biased", "Add", up, weights (graph, "up.b", &VN_SHAPE (64), 0.1f), END);
  VnValue *active = add (graph, "active", "Tanh", biased, END);
  VnValue *down = add (graph, "down", "MatMul", active, weights (graph, "down.w", &VN_SHAPE (64, 32), 0.2f), END);
  VnValue *sum = add (graph, "sum", "Add", down, norm, END);

  finish (model, add (graph, "shaped", "Reshape", sum, integers (graph, "shape", (gint64[]) { 6, 32 }, 2), END));
  return model;
}

VnModel *
mixed_model_biased (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *image = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, 8, 8));
  VnValue *first = add (graph, "relu", "Relu", conv (graph, "first", image, 8, 3, 1, 1, 40000.f), END);
  VnValue *second = add (graph, "prelu", "PRelu", conv (graph, "second", first, 8, 8, 1, 1, 0.1f),
                         weights (graph, "slope", &VN_SHAPE (8, 1, 1), 0.2f), END);

  finish (model, add (graph, "clipped", "Clip", conv (graph, "third", second, 8, 8, 1, 1, 0.3f),
                      numbers (graph, "low", (float[]) { -1 }, 0), numbers (graph, "high", (float[]) { 1.4f }, 0), END));
  return model;
}
