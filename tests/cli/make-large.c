/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make-large FILE [weights|tensors MEGABYTES]: a network whose tensors and weights are of some megabytes, and that takes a
 * fraction of a second: all that memory is asked for when it runs or is rewritten. With MEGABYTES one of little but weights of so
 * many megabytes, or of little but tensors of so many megabytes each. */
#include "vn-graph-edit.h"
#include "vn-onnx.h"

#include <stdlib.h>
#include <string.h>

#define SIZE 256
#define CHANNELS 8

static VnValue *
add_weights (VnGraph       *graph,
             const char    *name,
             const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  guint32 state = g_str_hash (name);

  for (gsize i = 0; i < tensor->n_elements; i++)
    {
      state = state * 1664525 + 1013904223;
      ((float *) tensor->data)[i] = ((float) (state >> 16) / 65536.f - 0.5f) / 8;
    }
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

static VnValue *
add_conv (VnGraph    *graph,
          const char *name,
          VnValue    *input,
          gint64      in,
          gint64      kernel,
          gint64      group)
{
  g_autofree char *weight = g_strconcat (name, ".weight", NULL), *bias = g_strconcat (name, ".bias", NULL);
  VnValue *inputs[] = { input, add_weights (graph, weight, &VN_SHAPE (CHANNELS, in / group, kernel, kernel)),
                        add_weights (graph, bias, &VN_SHAPE (CHANNELS)) };
  VnValue *output = add (graph, name, "Conv", inputs, 3);

  if (kernel == 3)
    vn_node_set_ints (output->producer, "pads", (gint64[]) { 1, 1, 1, 1 }, 4);
  vn_node_set_int (output->producer, "group", group);
  return output;
}

/* A batch norm that can be folded, constants that can be computed, a branch, and a large product. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *image = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &VN_SHAPE (1, 3, SIZE, SIZE));
  VnValue *stem = add (graph, "stem.relu", "Relu", (VnValue *[]) { add_conv (graph, "stem", image, 3, 3, 1) }, 1);
  VnValue *deep = add_conv (graph, "deep", stem, CHANNELS, 3, CHANNELS);
  VnValue *scale = add_weights (graph, "norm.scale", &VN_SHAPE (CHANNELS));
  VnValue *norm = add (graph, "norm", "Mul", (VnValue *[]) { deep, add (graph, "norm.line", "Reshape", (VnValue *[]) {
                         scale, vn_graph_add_initializer (graph, "line",
                                                          vn_tensor_new_s64 (&VN_SHAPE (4), (gint64[]) { 1, -1, 1, 1 })) },
                         2) }, 2);
  VnValue *gate = add (graph, "gate", "Sigmoid", &norm, 1);
  VnValue *point = add_conv (graph, "point", gate, CHANNELS, 1, 1);
  VnValue *sum = add (graph, "sum", "Add", (VnValue *[]) { point, stem }, 2);
  VnValue *pool = add (graph, "pool", "AveragePool", &sum, 1);
  VnValue *half = add_weights (graph, "half", &VN_SHAPE (CHANNELS * 16 * 16, 1024));
  VnValue *whole = add (graph, "whole", "Add", (VnValue *[]) { half, half }, 2);
  VnValue *flat, *head;

  vn_node_set_ints (pool->producer, "kernel_shape", (gint64[]) { 16, 16 }, 2);
  vn_node_set_ints (pool->producer, "strides", (gint64[]) { 16, 16 }, 2);
  flat = add (graph, "flat", "Flatten", &pool, 1);
  head = add (graph, "head", "MatMul", (VnValue *[]) { flat, whole }, 2);
  vn_value_set_type (sum, VN_DTYPE_F32, NULL);
  vn_value_set_type (head, VN_DTYPE_F32, NULL);
  head->has_info = TRUE;
  vn_graph_set_output (graph, 0, head);
  return model;
}

#define WIDTH 2048

/* Products one after the other, some of them with weights that are transposed. */
static VnModel *
make_chain (guint n_megabytes)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *value = vn_graph_add_input (graph, "row", VN_DTYPE_F32, &VN_SHAPE (1, WIDTH));
  guint n = n_megabytes / (WIDTH / 512 * WIDTH / 512);   /* floats in a megabyte: 512 x 512 */

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("layer%u", i), *weight_name = g_strconcat (name, ".weight", NULL);
      g_autofree char *turned = g_strconcat (name, ".turned", NULL), *bias = g_strconcat (name, ".bias", NULL);
      g_autofree char *sum = g_strconcat (name, ".sum", NULL);
      VnValue *weight = add_weights (graph, weight_name, &VN_SHAPE (WIDTH, WIDTH));

      if (i % 8 == 7)
        weight = add (graph, turned, "Transpose", &weight, 1);
      value = add (graph, name, "MatMul", (VnValue *[]) { value, weight }, 2);
      value = add (graph, sum, "Add", (VnValue *[]) { value, add_weights (graph, bias, &VN_SHAPE (WIDTH)) }, 2);
    }
  vn_value_set_type (value, VN_DTYPE_F32, NULL);
  value->has_info = TRUE;
  vn_graph_set_output (graph, 0, value);
  return model;
}

/* A few tensors, cheap to compute; the first is used to the end. */
static VnModel *
make_wide (guint n_megabytes)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnShape shape = VN_SHAPE (1, CHANNELS, 512 / CHANNELS * n_megabytes, 512);
  VnValue *value = vn_graph_add_input (graph, "image", VN_DTYPE_F32, &shape), *first = NULL;

  for (guint i = 0; i < 3; i++)
    {
      g_autofree char *name = g_strdup_printf ("layer%u", i), *positive = g_strconcat (name, ".relu", NULL);

      value = add (graph, positive, "Relu", (VnValue *[]) { add_conv (graph, name, value, CHANNELS, 1, CHANNELS) }, 1);
      first = first != NULL ? first : value;
    }
  value = add (graph, "sum", "Add", (VnValue *[]) { value, first }, 2);
  vn_value_set_type (value, VN_DTYPE_F32, NULL);
  value->has_info = TRUE;
  vn_graph_set_output (graph, 0, value);
  return model;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;

  if (argc != 2 && argc != 4)
    return 2;
  model = argc == 2 ? make_model ()
          : strcmp (argv[2], "weights") == 0 ? make_chain ((guint) atoi (argv[3])) : make_wide ((guint) atoi (argv[3]));
  if (vn_onnx_write_file (model, argv[1], NULL, NULL, &error))
    return 0;
  g_printerr ("make-large: %s\n", error->message);
  return 1;
}
