/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pass-models.h"

#include <stdarg.h>

VnNode *
test_add (VnGraph    *graph,
          const char *name,
          const char *op_type,
          const char *output,
          ...)
{
  VnValue *inputs[8], *result = vn_graph_add_value (graph, output, VN_DTYPE_UNDEFINED, NULL);
  guint n = 0;
  va_list args;

  va_start (args, output);
  for (VnValue *value = va_arg (args, VnValue *); value != END; value = va_arg (args, VnValue *))
    inputs[n++] = value;
  va_end (args);
  return vn_graph_add_node (graph, name, "", op_type, inputs, n, &result, 1);
}

VnValue *
test_out (VnNode *node)
{
  return vn_node_get_output (node, 0);
}

VnValue *
test_weights (VnGraph       *graph,
              const char    *name,
              const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  guint32 state = g_str_hash (name) | 1;

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      state = state * 1664525u + 1013904223u;
      ((float *) tensor->data)[i] = 0.25f + (float) (state >> 8) / (float) (1 << 24);
    }
  return vn_graph_add_initializer (graph, name, tensor);
}

VnValue *
test_ints (VnGraph      *graph,
           const char   *name,
           const gint64 *values,
           gint64        n)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_s64 (&VN_SHAPE (n), values);

  return vn_graph_add_initializer (graph, name, tensor);
}

VnModel *
test_new_model (VnValue      **x,
                const VnShape *shape)
{
  VnModel *model = vn_model_new (8, 13);

  *x = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, shape);
  return model;
}

VnModel *
test_finish (VnModel *model,
             VnNode  *last)
{
  VnValue *y = out (last);

  vn_value_set_type (y, VN_DTYPE_F32, NULL);
  vn_graph_set_output (model->graph, model->graph->outputs->len, y);
  return model;
}

static VnNode *
batch_norm (VnGraph    *graph,
            const char *name,
            const char *output,
            VnValue    *x,
            gint64      n)
{
  static const char * const roles[4] = { "scale", "bias", "mean", "var" };
  VnValue *values[4];

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *value = g_strdup_printf ("%s.%s", name, roles[i]);

      values[i] = weights (graph, value, &VN_SHAPE (n));
    }
  return add (graph, name, "BatchNormalization", output, x, values[0], values[1], values[2], values[3], END);
}

#define IMAGE VN_SHAPE (1, 2, 5, 6)

static VnModel *
conv_bn (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *conv = add (g, "conv", "Conv", "c", x, weights (g, "w", &VN_SHAPE (3, 2, 3, 3)), END);
  VnNode *bn = batch_norm (g, "bn", "b", out (conv), 3);

  return finish (model, add (g, "relu", "Relu", "y", out (bn), END));
}

static VnModel *
conv_bn_shared (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnValue *w = weights (g, "w", &VN_SHAPE (2, 2, 1, 1)), *b = weights (g, "b", &VN_SHAPE (2));
  VnNode *first = add (g, "conv1", "Conv", "c1", x, w, b, END);
  VnNode *bn1 = batch_norm (g, "bn1", "n1", out (first), 2);
  VnNode *second = add (g, "conv2", "Conv", "c2", out (bn1), w, b, END);

  return finish (model, batch_norm (g, "bn2", "y", out (second), 2));
}

/* The value between has a second user, or is an output: nothing may be folded. */
static VnModel *
conv_bn_branch (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *conv = add (g, "conv", "Conv", "c", x, weights (g, "w", &VN_SHAPE (2, 2, 1, 1)), END);
  VnNode *bn = batch_norm (g, "bn", "n", out (conv), 2);
  VnNode *other = add (g, "conv2", "Conv", "c2", out (bn), weights (g, "w2", &VN_SHAPE (2, 2, 1, 1)), END);

  finish (model, add (g, "sum", "Add", "y", out (conv), out (bn), END));
  finish (model, other);
  return finish (model, batch_norm (g, "bn2", "z", out (other), 2));
}

static VnModel *
conv_transpose_bn (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (1, 4, 5, 6));
  VnGraph *g = model->graph;
  VnNode *conv = add (g, "up", "ConvTranspose", "c", x, weights (g, "w", &VN_SHAPE (4, 3, 2, 2)),
                      weights (g, "b", &VN_SHAPE (6)), END);

  vn_node_set_int (conv, "group", 2);
  return finish (model, batch_norm (g, "bn", "y", out (conv), 6));
}

static VnModel *
gemm_bn (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &VN_SHAPE (3, 4));
  VnGraph *g = model->graph;
  VnNode *first = add (g, "fc1", "Gemm", "f1", x, weights (g, "w1", &VN_SHAPE (5, 4)),
                       weights (g, "b1", &VN_SHAPE (1, 5)), END);
  VnNode *second;

  vn_node_set_int (first, "transB", 1);
  vn_node_set_float (first, "alpha", 0.5f);
  vn_node_set_float (first, "beta", 2);
  second = add (g, "fc2", "Gemm", "f2", out (batch_norm (g, "bn1", "n1", out (first), 5)),
                weights (g, "w2", &VN_SHAPE (5, 2)), END);
  return finish (model, batch_norm (g, "bn2", "y", out (second), 2));
}

static VnModel *
conv_arithmetic (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *conv = add (g, "conv", "Conv", "c", x, weights (g, "w", &VN_SHAPE (3, 2, 3, 3)), END);
  VnNode *mul = add (g, "mul", "Mul", "m", out (conv), weights (g, "factor", &VN_SHAPE (1, 3, 1, 1)), END);
  VnNode *plus = add (g, "add", "Add", "a", weights (g, "offset", &VN_SHAPE (3, 1, 1)), out (mul), END);
  VnNode *minus = add (g, "sub", "Sub", "s", out (plus), weights (g, "one", &VN_SHAPE_SCALAR), END);
  VnNode *row = add (g, "row", "Add", "r", out (minus), weights (g, "columns", &VN_SHAPE (4)), END);

  return finish (model, add (g, "div", "Div", "y", out (row), weights (g, "over", &VN_SHAPE_SCALAR), END));
}

static VnModel *
idle (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *first = add (g, "id1", "Identity", "i1", x, END);
  VnNode *relu = add (g, "relu", "Relu", "r", out (first), END);
  VnNode *drop = add (g, "drop", "Dropout", "d", out (relu), END);
  VnNode *cast = add (g, "cast", "Cast", "k", out (drop), END);
  VnNode *abs = add (g, "abs", "Abs", "a", out (cast), END);

  vn_node_set_int (cast, "to", VN_DTYPE_F32);
  finish (model, add (g, "id2", "Identity", "y", out (abs), END));
  finish (model, add (g, "id3", "Identity", "same", x, END));
  finish (model, relu);
  return finish (model, add (g, "id4", "Identity", "relu_again", out (relu), END));
}

static VnModel *
dead (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *unused = add (g, "unused", "Mul", "u", x, weights (g, "lost", &VN_SHAPE (6)), END);

  add (g, "unused2", "Abs", "u2", out (unused), END);
  weights (g, "never", &VN_SHAPE (3));
  return finish (model, add (g, "relu", "Relu", "y", x, END));
}

static VnNode *
constant (VnGraph    *g,
          const char *name,
          const char *output,
          VnTensor   *tensor)
{
  VnNode *node = add (g, name, "Constant", output, END);
  VnAttr *attr = vn_attr_new ("value", VN_ATTR_TENSOR);

  attr->tensor = tensor;
  vn_node_set_attr (node, attr);
  return node;
}

/* Reshape to [dim 0 of the shape, -1], as exporters write Flatten */
static VnModel *
shapes (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnNode *shape = add (g, "shape", "Shape", "s", x, END);
  VnNode *zero = constant (g, "zero", "z", vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { 0 }));
  VnNode *first = add (g, "gather", "Gather", "first", out (shape), out (zero), END);
  VnNode *rest = constant (g, "rest", "r", vn_tensor_new_s64 (&VN_SHAPE (1), (gint64[]) { -1 }));
  VnNode *both = add (g, "concat", "Concat", "both", out (first), out (rest), END);
  VnNode *relu = add (g, "relu", "Relu", "act", x, END);

  vn_node_set_int (both, "axis", 0);
  return finish (model, add (g, "flat", "Reshape", "y", out (relu), out (both), END));
}

static VnModel *
of_halves (VnDType dtype,
           guint16 number)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &IMAGE);
  VnValue *h = vn_graph_add_input (g, "h", dtype, &IMAGE);
  VnNode *down = add (g, "down", "Cast", "d", x, END);
  VnNode *sum = add (g, "sum", "Add", "s", out (down), h, END);
  g_autoptr(VnTensor) two = vn_tensor_new (dtype, &VN_SHAPE_SCALAR, NULL);
  VnNode *mul, *up;

  *(guint16 *) two->data = number;
  mul = add (g, "mul", "Mul", "m", out (sum), vn_graph_add_initializer (g, "two", two), END);
  up = add (g, "up", "Cast", "y", out (mul), END);
  vn_node_set_int (down, "to", dtype);
  vn_node_set_int (up, "to", VN_DTYPE_F32);
  return finish (model, up);
}

static VnModel *
half (void)
{
  return of_halves (VN_DTYPE_F16, 0x4000);
}

static VnModel *
bfloat (void)
{
  return of_halves (VN_DTYPE_BF16, 0x4000);
}

/* Rounds a value and holds one: both have to stay. */
static VnModel *
rounded (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &IMAGE);
  VnNode *down = add (g, "down", "Cast", "d", x, END), *up = add (g, "up", "Cast", "u", out (down), END), *wide;
  g_autoptr(VnTensor) third = vn_tensor_new (VN_DTYPE_BF16, &VN_SHAPE_SCALAR, NULL);

  *(guint16 *) third->data = 0x3eab;
  wide = add (g, "wide", "Cast", "w", vn_graph_add_initializer (g, "third", third), END);
  vn_node_set_int (down, "to", VN_DTYPE_BF16);
  vn_node_set_int (up, "to", VN_DTYPE_F32);
  vn_node_set_int (wide, "to", VN_DTYPE_F32);
  return finish (model, add (g, "mul", "Mul", "y", out (up), out (wide), END));
}

static void
set_branch (VnNode     *node,
            const char *name,
            VnGraph    *graph,
            VnValue    *result)
{
  VnAttr *attr = vn_attr_new (name, VN_ATTR_GRAPH);

  attr->graph = graph;
  vn_graph_set_output (graph, 0, result);
  vn_node_set_attr (node, attr);
}

/* One branch folds a normalization; the other returns a value of the outer graph as it is. */
static VnModel *
branches (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph, *then, *other;
  VnValue *flag = vn_graph_add_input (g, "flag", VN_DTYPE_BOOL, &VN_SHAPE_SCALAR);
  VnNode *relu = add (g, "relu", "Relu", "r", x, END);
  VnNode *idle_node = add (g, "id", "Identity", "i", out (relu), END);
  VnNode *choice = add (g, "if", "If", "y", flag, END);
  VnNode *conv, *bn;

  then = vn_graph_new (model, g, choice);
  conv = add (then, "conv", "Conv", "c", out (idle_node), weights (then, "w", &VN_SHAPE (2, 2, 1, 1)), END);
  bn = batch_norm (then, "bn", "n", out (conv), 2);
  set_branch (choice, "then_branch", then, out (add (then, "last", "Identity", "t", out (bn), END)));
  other = vn_graph_new (model, g, choice);
  set_branch (choice, "else_branch", other, out (idle_node));
  return finish (model, choice);
}

static VnModel *
unsorted (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnValue *a = vn_graph_add_value (g, "a", VN_DTYPE_UNDEFINED, NULL);
  VnNode *last = add (g, "last", "Relu", "y", a, END);

  vn_graph_add_node (g, "first", "", "Abs", &x, 1, &a, 1);
  return finish (model, last);
}

/* IR version 3: weights are inputs. Opset 9: Clip and Slice with attributes, Softmax over three axes. */
static VnModel *
old (void)
{
  VnModel *model = vn_model_new (3, 9);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &IMAGE);
  VnValue *w = vn_graph_add_input (g, "w", VN_DTYPE_F32, &VN_SHAPE (2, 2, 1, 1));
  g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (2, 2, 1, 1), (float[]) { 1, -2, 3, 4 });
  VnNode *conv = add (g, "conv", "Conv", "c", x, w, END);
  VnNode *clip = add (g, "clip", "Clip", "k", out (conv), END);
  VnNode *slice = add (g, "slice", "Slice", "s", out (clip), END);
  VnNode *soft = add (g, "soft", "Softmax", "y", out (slice), END);

  vn_graph_set_initializer (g, w, data);
  vn_node_set_float (clip, "min", 0);
  vn_node_set_float (clip, "max", 6);
  vn_node_set_ints (slice, "starts", (gint64[]) { 1 }, 1);
  vn_node_set_ints (slice, "ends", (gint64[]) { 4 }, 1);
  vn_node_set_ints (slice, "axes", (gint64[]) { 2 }, 1);
  return finish (model, soft);
}

/* Opset 6: broadcasting that names its axis, for a constant and for a computed operand. */
static VnModel *
broadcast (void)
{
  VnModel *model = vn_model_new (3, 6);
  VnGraph *g = model->graph;
  VnValue *x = vn_graph_add_input (g, "x", VN_DTYPE_F32, &IMAGE);
  VnValue *v = vn_graph_add_input (g, "v", VN_DTYPE_F32, &VN_SHAPE (2));
  VnNode *sum = add (g, "sum", "Add", "s", x, weights (g, "c", &VN_SHAPE (2)), END);
  VnNode *mul = add (g, "mul", "Mul", "y", out (sum), v, END);

  vn_node_set_int (sum, "broadcast", 1);
  vn_node_set_int (sum, "axis", 1);
  vn_node_set_int (mul, "broadcast", 1);
  vn_node_set_int (mul, "axis", 1);
  return finish (model, mul);
}

/* Nothing to do for any pass but the inference of types. */
static VnModel *
clean (void)
{
  VnValue *x;
  VnModel *model = new_model (&x, &IMAGE);
  VnGraph *g = model->graph;
  VnValue *shape = ints (g, "shape", (gint64[]) { 1, -1 }, 2);
  VnNode *flat = add (g, "flat", "Reshape", "y", x, shape, END);

  finish (model, flat);
  vn_value_set_type (out (flat), VN_DTYPE_F32, &VN_SHAPE (1, 60));
  return model;
}

const TestModel test_models[] = {
  { "bfloat",            bfloat            },
  { "broadcast",         broadcast         },
  { "clean",             clean             },
  { "conv-arithmetic",   conv_arithmetic   },
  { "conv-bn",           conv_bn           },
  { "conv-bn-branch",    conv_bn_branch    },
  { "conv-bn-shared",    conv_bn_shared    },
  { "conv-transpose-bn", conv_transpose_bn },
  { "dead",              dead              },
  { "gemm-bn",           gemm_bn           },
  { "half",              half              },
  { "idle",              idle              },
  { "if",                branches          },
  { "old",               old               },
  { "rounded",           rounded           },
  { "shapes",            shapes            },
  { "unsorted",          unsorted          },
};

const guint n_test_models = G_N_ELEMENTS (test_models);
