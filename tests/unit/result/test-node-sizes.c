/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bits of what each node computes with, however it is stored. */
#include "vn-graph-edit.h"
#include "vn-node-sizes.h"

#define ROWS 4
#define COLUMNS 8

/* How a weight is stored, which operator reads it, and of how many bits its numbers are; 0: the node has no weight. */
static const struct
{
  const char *name, *op, *before;   /* @before: (nullable): operator between the weight and the node */
  VnDType stored;
  int attribute;                    /* "bits"; 0: none */
  guint bits;
} cases[] = {
  { "float", "MatMul", NULL, VN_DTYPE_F32, 0, 32 },
  { "half", "MatMul", NULL, VN_DTYPE_F16, 0, 16 },
  { "table", "Gather", NULL, VN_DTYPE_F32, 0, 32 },
  { "turned", "MatMul", "Transpose", VN_DTYPE_F32, 0, 32 },
  { "8 bit", "MatMul", "DequantizeLinear", VN_DTYPE_S8, 0, 8 },
  { "4 bit", "MatMul", "DequantizeLinear", VN_DTYPE_U4, 0, 4 },
  { "packed 4", "MatMulNBits", NULL, VN_DTYPE_U8, 4, 4 },
  { "packed 2", "MatMulNBits", NULL, VN_DTYPE_U8, 2, 2 },
  { "packed table", "GatherBlockQuantized", NULL, VN_DTYPE_U8, 8, 8 },
  { "packed and shared", "MatMulNBits", "Reshape", VN_DTYPE_U8, 8, 8 },
  { "indices", "Reshape", NULL, VN_DTYPE_S64, 0, 0 },
};

static VnModel *
make_model (guint i)
{
  VnModel *model = vn_model_new (8, 21);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (ROWS, COLUMNS)), *weight, *y, *turned;
  g_autoptr(VnTensor) tensor = vn_tensor_new (cases[i].stored, &VN_SHAPE (COLUMNS, ROWS), NULL);

  weight = vn_graph_add_initializer (graph, "w", tensor);
  if (cases[i].before != NULL)
    {
      turned = vn_graph_add_value (graph, "t", VN_DTYPE_F32, NULL);
      vn_graph_add_node (graph, "before", "", cases[i].before, &weight, 1, &turned, 1);
      weight = turned;
    }
  y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  vn_graph_add_node (graph, "node", "", cases[i].op, (VnValue *[]) { x, weight }, 2, &y, 1);
  if (cases[i].attribute > 0)
    vn_node_set_int (y->producer, "bits", cases[i].attribute);
  vn_graph_set_output (graph, 0, y);
  return model;
}

static void
test_bits (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model (i);
      g_autoptr(GArray) bits = vn_node_bits_list (model, NULL);

      g_test_message ("%s", cases[i].name);
      g_assert_cmpuint (bits->len, ==, model->graph->nodes->len);
      g_assert_cmpuint (g_array_index (bits, guint, bits->len - 1), ==, cases[i].bits);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/node-sizes/bits", test_bits);
  return g_test_run ();
}
