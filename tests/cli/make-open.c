/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make-open pictures|words|branches FILE: a network of tests/lib/open-models.h
 * make-open two FILE: two inputs of floats, the sum of which times a matrix, and a mask
 * make-open metadata FILE: the first of them, with metadata as Ultralytics writes them
 * make-open sample SIZES FILE.npy: floats; SIZES as 1x5x4 */
#include "open-models.h"
#include "vn-onnx.h"

static gboolean
write_sample (const char  *sizes,
              const char  *path,
              GError     **error)
{
  g_auto(GStrv) words = g_strsplit (sizes, "x", VN_MAX_RANK);
  g_autoptr(VnTensor) tensor = NULL;
  VnShape shape = VN_SHAPE_SCALAR;

  for (guint i = 0; words[i] != NULL; i++)
    shape.dims[shape.rank++] = g_ascii_strtoll (words[i], NULL, 10);
  tensor = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  if (tensor == NULL)
    return FALSE;
  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) (i % 11) / 8 - 0.5f;
  return vn_npy_write (path, tensor, error);
}

static VnModel *
make_with_metadata (void)
{
  static const char * const pairs[] = { "task", "detect", "stride", "32", "imgsz", "[32, 64]", "names", "{0: 'a', 1: 'b'}" };
  VnModel *model = open_model_pictures ();

  for (guint i = 0; i < G_N_ELEMENTS (pairs); i++)
    g_ptr_array_add (model->metadata, g_strdup (pairs[i]));
  return model;
}

/* (left + right) times attention_mask, times a matrix */
static VnModel *
make_two (void)
{
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  const VnShape shape = VN_SHAPE (1, -1, 4);
  g_autoptr(VnTensor) matrix = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (4, 3), NULL);
  VnValue *left = vn_graph_add_input (graph, "left", VN_DTYPE_F32, &shape);
  VnValue *right = vn_graph_add_input (graph, "right", VN_DTYPE_F32, &shape);
  VnValue *mask = vn_graph_add_input (graph, "attention_mask", VN_DTYPE_F32, &VN_SHAPE (1, -1, 1));
  VnValue *sum = vn_graph_add_value (graph, "sum", VN_DTYPE_F32, NULL);
  VnValue *seen = vn_graph_add_value (graph, "seen", VN_DTYPE_F32, NULL);
  VnValue *m = vn_graph_add_initializer (graph, "m", matrix);
  VnValue *out = vn_graph_add_value (graph, "out", VN_DTYPE_F32, NULL), *inputs[] = { left, right, mask };

  for (gsize i = 0; i < matrix->n_elements; i++)
    ((float *) matrix->data)[i] = (float) (i % 5) / 4 - 0.5f;
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    inputs[i]->type.symbols[1] = g_strdup ("length");
  vn_graph_add_node (graph, "sum", "", "Add", inputs, 2, &sum, 1);
  vn_graph_add_node (graph, "seen", "", "Mul", (VnValue *[]) { sum, mask }, 2, &seen, 1);
  vn_graph_add_node (graph, "product", "", "MatMul", (VnValue *[]) { seen, m }, 2, &out, 1);
  vn_graph_set_output (graph, 0, out);
  return model;
}

int
main (int   argc,
      char *argv[])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = NULL;
  gboolean ok;

  if (argc == 4 && g_str_equal (argv[1], "sample"))
    ok = write_sample (argv[2], argv[3], &error);
  else if (argc == 3)
    {
      model = g_str_equal (argv[1], "words") ? open_model_words ()
            : g_str_equal (argv[1], "metadata") ? make_with_metadata ()
            : g_str_equal (argv[1], "two") ? make_two ()
            : g_str_equal (argv[1], "branches") ? open_model_branches () : open_model_pictures ();
      ok = vn_onnx_write_file (model, argv[2], NULL, NULL, &error);
    }
  else
    return 2;
  if (!ok)
    g_printerr ("make-open: %s\n", error->message);
  return ok ? 0 : 1;
}
