/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic of single operators, counted by hand. */
#include "vn-graph-edit.h"
#include "vn-op-flops.h"

typedef struct
{
  const char *name, *domain, *type;
  const char *in, *out;     /* shapes, "2x3 3x4"; "?" is an unknown size */
  double      flops;
  gboolean    transposed;
} FlopCase;

static const FlopCase cases[] = {
  /* 4*5*5 sums of 3*3*3 products */
  { "conv", "", "Conv", "1x3x5x5 4x3x3x3", "1x4x5x5", 2.0 * 100 * 27 },
  { "conv/groups", "", "Conv", "2x8x6x6 8x1x3x3 8", "2x8x4x4", 2.0 * 256 * 9 },
  { "conv/quantized", "", "QLinearConv", "1x3x5x5 1 1 4x3x3x3 1 1 1 1", "1x4x5x5", 2.0 * 100 * 27 },
  { "conv/fused", "com.microsoft", "FusedConv", "1x3x5x5 4x3x3x3", "1x4x5x5", 2.0 * 100 * 27 },
  { "conv/transposed", "", "ConvTranspose", "1x3x5x5 3x4x2x2", "1x4x10x10", 2.0 * 75 * 16 },
  { "matmul", "", "MatMul", "7x2x3 3x4", "7x2x4", 2.0 * 56 * 3 },
  { "matmul/vector", "", "MatMul", "3 3x4", "4", 2.0 * 12 },
  { "matmul/transposed", "com.microsoft", "FusedMatMul", "3x2 3x4", "2x4", 2.0 * 8 * 3, TRUE },
  { "gemm", "", "Gemm", "2x3 3x4 4", "2x4", 2.0 * 8 * 3 },
  { "gemm/transposed", "", "Gemm", "3x2 3x4 4", "2x4", 2.0 * 8 * 3, TRUE },
  /* in each of 5 * 2 steps 4 gates of 6 rows, 3 and 6 columns */
  { "lstm", "", "LSTM", "5x2x3 1x24x3 1x24x6", "5x1x2x6", 2.0 * 10 * (72 + 144) },
  /* 6 tokens to one expert each: 4 * 10 and 10 * 4 products */
  { "experts", "com.microsoft", "MoE", "2x3x4 6x5 5x10x4 5x10 5x4x10", "2x3x4", 2.0 * 6 * 80 },
  { "experts/packed", "com.microsoft", "QMoE", "6x4 6x5 5x10x2", "6x4", 2.0 * 6 * 80 },
  { "experts/not-experts", "com.microsoft", "MoE", "6x4 6x5 10x4", "6x4", 0 },
  { "unknown-size", "", "Conv", "1x3x?x5 4x3x3x3", "1x4x?x5", -1 },
  { "not-counted", "", "Relu", "1x3x5x5", "1x3x5x5", -1 },
  { "other-domain", "my.own", "Conv", "1x3x5x5 4x3x3x3", "1x4x5x5", -1 },
  { "weight-missing", "", "Conv", "1x3x5x5", "1x4x5x5", -1 },
  { "empty", "", "MatMul", "0x3 3x4", "0x4", 0 },
};

static guint
parse_types (const char   *text,
             VnTensorType *types)
{
  g_auto(GStrv) parts = g_strsplit (text, " ", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      g_auto(GStrv) dims = g_strsplit (parts[i], "x", -1);

      types[i] = (VnTensorType) { VN_DTYPE_F32, { (int) g_strv_length (dims), { 0 } } };
      for (guint k = 0; dims[k] != NULL; k++)
        types[i].shape.dims[k] = dims[k][0] == '?' ? VN_DIM_UNKNOWN : g_ascii_strtoll (dims[k], NULL, 10);
    }
  return g_strv_length (parts);
}

static void
test_case (gconstpointer data)
{
  const FlopCase *self = data;
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnNode *node = vn_graph_add_node (model->graph, "node", self->domain, self->type, NULL, 0, NULL, 0);
  VnTensorType in[8], out[8];
  guint n_in = parse_types (self->in, in), n_out = parse_types (self->out, out);

  if (self->transposed)
    vn_node_set_int (node, "transA", 1);
  g_assert_cmpfloat (vn_op_count_flops (node, in, n_in, out, n_out), ==, self->flops);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strconcat ("/ops/flops/", cases[i].name, NULL);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  return g_test_run ();
}
