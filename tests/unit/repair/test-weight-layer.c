/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Layers as matrices: the product of a matrix and the columns gathered for it is what the network computes at these places. */
#include "vn-graph-edit.h"
#include "vn-plan.h"
#include "vn-weight-layer.h"

#include <math.h>

typedef struct
{
  const char *name, *type;
  VnShape     read, weight;
  struct { const char *name; gint64 values[4]; gsize n; } ints[4];
  const char *auto_pad;
  gint64      group, trans_b;
  gboolean    none;       /* no layer */
} Case;

static const Case cases[] = {
  { .name = "conv", .type = "Conv", .read = VN_SHAPE (2, 3, 7, 6), .weight = VN_SHAPE (4, 3, 3, 2) },
  { .name = "conv-padded", .type = "Conv", .read = VN_SHAPE (1, 3, 9, 8), .weight = VN_SHAPE (4, 3, 3, 3),
    .ints = { { "pads", { 1, 0, 2, 1 }, 4 }, { "strides", { 2, 1 }, 2 }, { "dilations", { 1, 2 }, 2 } } },
  { .name = "conv-same", .type = "Conv", .read = VN_SHAPE (1, 2, 9, 8), .weight = VN_SHAPE (3, 2, 3, 4), .auto_pad = "SAME_LOWER",
    .ints = { { "strides", { 2, 2 }, 2 } } },
  { .name = "conv-1d", .type = "Conv", .read = VN_SHAPE (2, 3, 11), .weight = VN_SHAPE (4, 3, 5),
    .ints = { { "pads", { 2, 2 }, 2 } } },
  { .name = "grouped", .type = "Conv", .read = VN_SHAPE (1, 6, 5, 5), .weight = VN_SHAPE (4, 3, 3, 3), .group = 2 },
  { .name = "depthwise", .type = "Conv", .read = VN_SHAPE (1, 4, 6, 6), .weight = VN_SHAPE (4, 1, 3, 3), .group = 4,
    .ints = { { "pads", { 1, 1, 1, 1 }, 4 } } },
  { .name = "transposed", .type = "ConvTranspose", .read = VN_SHAPE (1, 4, 4, 5), .weight = VN_SHAPE (4, 3, 3, 3),
    .ints = { { "strides", { 2, 2 }, 2 }, { "pads", { 1, 1, 0, 1 }, 4 }, { "output_padding", { 1, 0 }, 2 } } },
  { .name = "transposed-grouped", .type = "ConvTranspose", .read = VN_SHAPE (2, 4, 4, 5), .weight = VN_SHAPE (4, 3, 2, 3),
    .group = 2 },
  { .name = "gemm", .type = "Gemm", .read = VN_SHAPE (5, 7), .weight = VN_SHAPE (7, 3) },
  { .name = "gemm-transposed", .type = "Gemm", .read = VN_SHAPE (5, 7), .weight = VN_SHAPE (3, 7), .trans_b = 1 },
  { .name = "matmul", .type = "MatMul", .read = VN_SHAPE (2, 5, 7), .weight = VN_SHAPE (7, 3) },
  { .name = "relu", .type = "Relu", .read = VN_SHAPE (2, 5), .weight = VN_SHAPE (5, 2), .none = TRUE },
};

static VnTensor *
make_numbers (const VnShape *shape,
              float          step)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = sinf ((float) i * step + 0.1f);
  return tensor;
}

static VnModel *
make_model (const Case  *c,
            VnNode     **node)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  g_autoptr(VnTensor) weight = make_numbers (&c->weight, 1.3f);
  VnValue *inputs[2] = { vn_graph_add_input (graph, "x", VN_DTYPE_F32, &c->read), vn_graph_add_initializer (graph, "w", weight) };
  VnValue *y = vn_graph_add_value (graph, "y", VN_DTYPE_UNDEFINED, NULL);

  *node = vn_graph_add_node (graph, "layer", "", c->type, inputs, c->none ? 1 : 2, &y, 1);
  for (guint i = 0; i < G_N_ELEMENTS (c->ints) && c->ints[i].name != NULL; i++)
    vn_node_set_ints (*node, c->ints[i].name, c->ints[i].values, c->ints[i].n);
  if (c->auto_pad != NULL)
    vn_node_set_string (*node, "auto_pad", c->auto_pad);
  if (c->group > 0)
    vn_node_set_int (*node, "group", c->group);
  if (c->trans_b > 0)
    vn_node_set_int (*node, "transB", 1);
  vn_value_set_type (y, VN_DTYPE_F32, NULL);
  vn_graph_set_output (graph, 0, y);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static VnTensor *
run (VnModel  *model,
     VnTensor *read)
{
  g_autoptr(VnPlan) plan = vn_plan_new (model, NULL, NULL, NULL);
  g_autoptr(VnRunner) runner = vn_runner_new (plan, NULL);
  VnTensor *output = NULL;

  g_assert_true (vn_runner_run (runner, &read, &output, NULL, NULL));
  return output;
}

/* Where in the result row @row of group @group lies for position @p of all. */
static gsize
find_result (const Case     *c,
             const VnTensor *output,
             gsize           row,
             gsize           p)
{
  gsize inner;

  if (c->weight.rank == 2)
    return p * (gsize) output->shape.dims[output->shape.rank - 1] + row;
  inner = (gsize) vn_shape_count (&output->shape, 2, output->shape.rank);
  return (p / inner * (gsize) output->shape.dims[1] + row) * inner + p % inner;
}

/* All positions are asked for, so that they come in their order. */
static void
test_columns (gconstpointer data)
{
  const Case *c = data;
  VnNode *node;
  g_autoptr(VnModel) model = make_model (c, &node);
  g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);
  g_autoptr(VnTensor) read = make_numbers (&c->read, 0.7f);
  g_autoptr(VnTensor) output = NULL;
  const float *weight;
  g_autofree float *columns = NULL;
  gsize n_all, n;

  if (c->none)
    {
      g_assert_null (layer);
      return;
    }
  g_assert_nonnull (layer);
  output = run (model, read);
  weight = vn_node_get_input (node, 1)->initializer->data;
  n_all = output->n_elements / (layer->groups * layer->rows);
  columns = g_new (float, layer->groups * layer->columns * (n_all + 3));
  n = vn_weight_layer_gather (layer, read, 0, n_all + 3, columns);
  g_assert_cmpuint (n, ==, n_all);
  for (gsize g = 0; g < layer->groups; g++)
    for (gsize p = 0; p < n; p++)
      for (gsize r = 0; r < layer->rows; r++)
        {
          double sum = 0;

          for (gsize k = 0; k < layer->columns; k++)
            sum += (double) weight[vn_weight_layer_get_offset (layer, g, r, k)] *
                   (double) columns[(g * n + p) * layer->columns + k];
          g_assert_cmpfloat_with_epsilon (sum, (double) ((float *) output->data)[find_result (c, output, g * layer->rows + r, p)],
                                          1e-4);
        }
}

/* Fewer positions: the same for the same seed, others for another. */
static void
test_positions (void)
{
  VnNode *node;
  g_autoptr(VnModel) model = make_model (&cases[0], &node);
  g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (node);
  g_autoptr(VnTensor) read = make_numbers (&cases[0].read, 0.7f);
  float columns[3][5 * 18];

  for (guint i = 0; i < 3; i++)
    g_assert_cmpuint (vn_weight_layer_gather (layer, read, i / 2, 5, columns[i]), ==, 5);
  g_assert_cmpmem (columns[0], sizeof columns[0], columns[1], sizeof columns[1]);
  g_assert_cmpint (memcmp (columns[0], columns[2], sizeof columns[0]), !=, 0);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/weight-layer/columns/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_columns);
    }
  g_test_add_func ("/weight-layer/positions", test_positions);
  return g_test_run ();
}
