/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "large-model.h"

#include "vn-graph-edit.h"
#include "vn-onnx.h"

#define WIDTH 8

/* The nodes of a layer: inputs are the layer's input (0), the shared weight (-1), or an earlier node (from 1). */
static const struct { const char *scope, *op_type; int a, b; } layer_nodes[] = {
  { "attention/query/MatMul", "MatMul", 0, -1 },
  { "attention/key/MatMul", "MatMul", 0, -1 },
  { "attention/value/MatMul", "MatMul", 0, -1 },
  { "attention/Mul", "Mul", 1, 2 },
  { "attention/Softmax", "Softmax", 4, 4 },
  { "attention/Mul_1", "Mul", 5, 3 },
  { "attention/output/MatMul", "MatMul", 6, -1 },
  { "attention/output/Add", "Add", 7, 0 },
  { "attention/norm/Sub", "Sub", 8, 5 },
  { "attention/norm/Tanh", "Tanh", 9, 9 },
  { "ffn/up/MatMul", "MatMul", 10, -1 },
  { "ffn/up/Add", "Add", 11, 10 },
  { "ffn/act/Sigmoid", "Sigmoid", 12, 12 },
  { "ffn/act/Mul", "Mul", 12, 13 },
  { "ffn/down/MatMul", "MatMul", 14, -1 },
  { "ffn/down/Add", "Add", 15, 10 },
  { "ffn/norm/Sub", "Sub", 16, 13 },
  { "ffn/norm/Tanh", "Tanh", 17, 17 },
  { "ffn/Softplus", "Softplus", 18, 18 },
  { "ffn/Add", "Add", 19, 18 },
};

static VnValue *
add_node (VnGraph    *graph,
          const char *op_type,
          const char *name,
          VnValue    *a,
          VnValue    *b)
{
  VnValue *inputs[] = { a, b };
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_F32, &a->type.shape);

  vn_graph_add_node (graph, name, "", op_type, inputs, b != NULL && b != a ? 2 : 1, &output, 1);
  return output;
}

static VnValue *
add_pair (VnGraph *graph,
          guint    layer,
          VnValue *value,
          VnValue *scale)
{
  g_autofree char *q = g_strdup_printf ("/encoder/layer.%u/quantize", layer);
  g_autofree char *dq = g_strdup_printf ("/encoder/layer.%u/dequantize", layer);

  value = add_node (graph, "QuantizeLinear", q, value, scale);
  value->type.dtype = VN_DTYPE_U8;
  value = add_node (graph, "DequantizeLinear", dq, value, scale);
  value->type.dtype = VN_DTYPE_F32;
  return value;
}

static VnValue *
add_weight (VnGraph *graph)
{
  VnShape shape = VN_SHAPE (WIDTH, WIDTH);
  float values[WIDTH * WIDTH];
  g_autoptr(VnTensor) tensor = NULL;
  g_autoptr(GRand) random = g_rand_new_with_seed (7);

  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    values[i] = (float) g_rand_double_range (random, -0.6, 0.6);
  tensor = vn_tensor_new_f32 (&shape, values);
  return vn_graph_add_initializer (graph, "weight", tensor);
}

void
large_model_write (const char *path,
                   guint       n_nodes,
                   gboolean    with_pairs)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(GError) error = NULL;
  VnShape shape = VN_SHAPE (1, WIDTH);
  float step = 0.01f;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &step);
  VnValue *weight = add_weight (model->graph), *scale = with_pairs
                    ? vn_graph_add_initializer (model->graph, "step", tensor) : NULL;
  VnValue *value = vn_graph_add_input (model->graph, "input", VN_DTYPE_F32, &shape);

  for (guint n = 0, layer = 0; n < n_nodes; layer++)
    {
      VnValue *made[G_N_ELEMENTS (layer_nodes) + 1] = { value };

      for (guint i = 0; i < G_N_ELEMENTS (layer_nodes) && n < n_nodes; i++, n++)
        {
          g_autofree char *name = g_strdup_printf ("/encoder/layer.%u/%s", layer, layer_nodes[i].scope);

          value = made[i + 1] = add_node (model->graph, layer_nodes[i].op_type, name, made[layer_nodes[i].a],
                                          layer_nodes[i].b < 0 ? weight : made[layer_nodes[i].b]);
        }
      if (with_pairs)
        value = add_pair (model->graph, layer, value, scale);
    }
  vn_graph_set_output (model->graph, 0, value);
  if (!vn_onnx_write_file (model, path, NULL, NULL, &error))
    g_error ("%s", error->message);
}
