/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "open-models.h"

static VnValue *
add_weights (VnGraph       *graph,
             const char    *name,
             const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) (i % 7) / 4 - 0.75f;
  return vn_graph_add_initializer (graph, name, tensor);
}

/* A node and the value it makes, which has its name. */
static VnValue *
add (VnGraph    *graph,
     const char *name,
     const char *op_type,
     VnValue   **inputs,
     guint       n_inputs)
{
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (graph, name, "", op_type, inputs, n_inputs, &output, 1);
  return output;
}

static void
finish (VnModel *model,
        VnValue *output)
{
  vn_value_set_type (output, VN_DTYPE_F32, NULL);
  output->has_info = TRUE;
  vn_graph_set_output (model->graph, 0, output);
}

VnModel *
open_model_pictures (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *image = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, -1, -1));
  VnValue *weights = add_weights (graph, "weights", &VN_SHAPE (4, 3, 3, 3));
  g_autoptr(VnTensor) factors = vn_tensor_new_f32 (&VN_SHAPE (4), (float[]) { 1, 1, 2, 2 });
  VnValue *scales = vn_graph_add_initializer (graph, "scales", factors);
  VnValue *conv, *pool, *large;

  image->type.symbols[2] = g_strdup ("H");
  image->type.symbols[3] = g_strdup ("W");
  conv = add (graph, "conv", "Conv", (VnValue *[]) { image, weights }, 2);
  vn_node_set_ints (conv->producer, "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
  pool = add (graph, "pool", "MaxPool", &conv, 1);
  vn_node_set_ints (pool->producer, "kernel_shape", (gint64[]) { 2, 2 }, 2);
  vn_node_set_ints (pool->producer, "strides", (gint64[]) { 2, 2 }, 2);
  large = add (graph, "large", "Resize", (VnValue *[]) { pool, NULL, scales }, 3);
  finish (model, add (graph, "sum", "Add", (VnValue *[]) { large, conv }, 2));
  return model;
}

VnModel *
open_model_words (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *words = vn_graph_add_input (graph, "words", VN_DTYPE_F32, &VN_SHAPE (-1, -1, 4));
  VnValue *weights = add_weights (graph, "weights", &VN_SHAPE (4, 8));

  words->type.symbols[0] = g_strdup ("batch");
  words->type.symbols[1] = g_strdup ("length");
  finish (model, add (graph, "product", "MatMul", (VnValue *[]) { words, weights }, 2));
  return model;
}

static void
add_branch (VnNode     *node,
            const char *attribute,
            const char *name,
            VnValue    *words)
{
  VnAttr *attr = vn_attr_new (attribute, VN_ATTR_GRAPH);
  g_autofree char *weights = g_strconcat (name, ".weights", NULL);
  VnValue *output;

  attr->graph = vn_graph_new (node->graph->model, node->graph, node);
  vn_node_set_attr (node, attr);
  output = add (attr->graph, name, "MatMul", (VnValue *[]) { words, add_weights (attr->graph, weights, &VN_SHAPE (4, 8)) }, 2);
  vn_value_set_type (output, VN_DTYPE_F32, NULL);
  vn_graph_set_output (attr->graph, 0, output);
}

VnModel *
open_model_branches (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *words = vn_graph_add_input (graph, "words", VN_DTYPE_F32, &VN_SHAPE (-1, -1, 4));
  g_autoptr(VnTensor) nothing = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, (float[]) { 0 });
  VnValue *zero = vn_graph_add_initializer (graph, "zero", nothing);
  VnValue *mean = add (graph, "mean", "ReduceMean", &words, 1), *positive, *choice;

  vn_node_set_int (mean->producer, "keepdims", 0);
  positive = add (graph, "positive", "Greater", (VnValue *[]) { mean, zero }, 2);
  choice = add (graph, "choice", "If", &positive, 1);
  add_branch (choice->producer, "then_branch", "up", words);
  add_branch (choice->producer, "else_branch", "down", words);
  words->type.symbols[0] = g_strdup ("batch");
  words->type.symbols[1] = g_strdup ("length");
  finish (model, choice);
  return model;
}
