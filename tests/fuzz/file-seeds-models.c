/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that can be read, to start from: networks. */
#include "file-kinds.h"

#include "pass-models.h"
#include "vn-onnx.h"

#include <glib/gstdio.h>
#include <string.h>

/* Those that a test of the reader has. */
static void
add_golden (GPtrArray *seeds)
{
  g_autoptr(GDir) dir = g_dir_open (GOLDEN_DIR, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (GOLDEN_DIR, name, NULL);
      char *data;
      gsize size;

      if (g_str_has_suffix (name, ".onnx") && !g_str_has_prefix (name, "bad-") && g_file_get_contents (path, &data, &size, NULL))
        g_ptr_array_add (seeds, g_bytes_new_take (data, size));
    }
}

static void
add_built (GPtrArray *seeds)
{
  for (guint i = 0; i < n_test_models + n_test_models_more; i++)
    {
      const TestModel *test = i < n_test_models ? &test_models[i] : &test_models_more[i - n_test_models];
      g_autoptr(VnModel) model = test->build ();

      g_ptr_array_add (seeds, vn_onnx_write_bytes (model, NULL));
    }
}

/* @bits: 0: weights of floats */
static void
add_experts (GPtrArray *seeds,
             gint64     bits)
{
  static const char * const names[] = { "x", "router", "w1", "s1", NULL, "w2", "s2" };
  const VnShape shapes[] = { VN_SHAPE (3, 16), VN_SHAPE (3, 2), VN_SHAPE (2, 32, bits == 4 ? 8 : 16), VN_SHAPE (2, 32, 1), { 0 },
                             VN_SHAPE (2, 16, bits == 4 ? 8 : 16), VN_SHAPE (2, 16, 1) };
  g_autoptr(VnModel) model = vn_model_new (9, 17);
  VnGraph *graph = model->graph;
  VnValue *inputs[G_N_ELEMENTS (names)] = { NULL }, *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, &shapes[0]);
  VnNode *node;

  vn_model_set_opset (model, "com.microsoft", 1);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (i < 2)
      inputs[i] = vn_graph_add_input (graph, names[i], VN_DTYPE_F32, &shapes[i]);
    else if (names[i] != NULL && (bits != 0 || names[i][0] == 'w'))
      {
        const VnDType dtype = bits != 0 && names[i][0] == 'w' ? VN_DTYPE_U8 : VN_DTYPE_F32;
        g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, &shapes[i], NULL);

        memset (tensor->data, 0x3d, tensor->n_bytes);
        inputs[i] = vn_graph_add_initializer (graph, names[i], tensor);
      }
  if (bits == 0)
    inputs[4] = inputs[5];
  node = vn_graph_add_node (graph, "experts", "com.microsoft", bits != 0 ? "QMoE" : "MoE", inputs, bits != 0 ? 7 : 5, &y, 1);
  vn_node_set_int (node, "k", 2);
  vn_node_set_string (node, "activation_type", "swiglu");
  vn_node_set_int (node, "swiglu_fusion", 1);
  if (bits != 0)
    {
      vn_node_set_int (node, "expert_weight_bits", bits);
      vn_node_set_int (node, "block_size", 16);
    }
  vn_graph_set_output (graph, 0, y);
  g_ptr_array_add (seeds, vn_onnx_write_bytes (model, NULL));
}

void
seed_model (GPtrArray *seeds)
{
  add_golden (seeds);
  add_built (seeds);
  for (gint64 bits = 0; bits <= 8; bits += 4)
    add_experts (seeds, bits);
}

void
seed_plan (GPtrArray *seeds)
{
  seed_model (seeds);
}

void
seed_prepare (GPtrArray *seeds)
{
  seed_model (seeds);
}

static const char * const texts[] = {
  "# a comment\nir_version: 8 opset_import { version: 17 }\ngraph { name: 'g' \"\\x41\\303\\274\\u00fc\"\n"
  "  node { input: \"x\" input: \"w\" output: \"y\" op_type: \"Add\"\n"
  "  attribute < name: \"a\" type: FLOATS floats: [1, -.5e1, inf] > }\n"
  "  initializer: { dims: 2 data_type: 1 float_data: [0.1, nan] name: \"w\" };\n"
  "  input { name: \"x\" type { tensor_type { elem_type: 1 shape { dim { dim_value: 0x2 } } } } }\n"
  "  output { name: \"y\" type { tensor_type { elem_type: 1 } } } }\n",
  "{\"irVersion\": \"8\", \"opset_import\": [{\"version\": 17}], "
  "\"graph\": {\"name\": \"\\u00fc\\ud83d\\ude00\", \"node\": [{\"input\": [\"x\", \"w\"], "
  "\"output\": [\"y\"], \"opType\": \"Add\", \"attribute\": [{\"name\": \"a\", \"type\": \"INT\", \"i\": \"-3\"}]}], "
  "\"initializer\": [{\"dims\": [\"2\"], \"dataType\": 1, \"rawData\": \"AACAPwAAAEA=\", \"name\": \"w\", \"docString\": null}], "
  "\"input\": [{\"name\": \"x\", \"type\": {\"tensorType\": {\"elemType\": 1, \"shape\": {\"dim\": [{\"dimValue\": \"2\"}]}}}}], "
  "\"output\": [{\"name\": \"y\", \"type\": {\"tensorType\": {\"elemType\": 1}}}]}}",
};

void
seed_text (GPtrArray *seeds)
{
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    g_ptr_array_add (seeds, g_bytes_new_static (texts[i], strlen (texts[i])));
}

/* ---- weights in other files ---- */

static void
add_weights (VnGraph       *graph,
             const char    *name,
             VnDType        dtype,
             const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (dtype, shape, NULL);

  memset (tensor->data, 0x3f, tensor->n_bytes);
  vn_graph_set_output (graph, graph->outputs->len, vn_graph_add_initializer (graph, name, tensor));
}

static GBytes *
write_external (const VnModel *model)
{
  g_autofree char *folder = make_folder (), *path = g_build_filename (folder, "m.onnx", NULL);
  g_autofree char *weights = g_build_filename (folder, "w.bin", NULL);
  const VnOnnxWriteOptions options = { .external_threshold = 1, .external_name = "w.bin" };
  char *data;
  gsize size;

  if (!vn_onnx_write_file (model, path, &options, NULL, NULL) || !g_file_get_contents (path, &data, &size, NULL))
    g_error ("no seed can be written to %s", path);
  g_unlink (path);
  g_unlink (weights);
  g_rmdir (folder);
  return g_bytes_new_take (data, size);
}

/* The file with the weights that is there when they are read is another one: try_external(). */
void
seed_external (GPtrArray *seeds)
{
  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(VnModel) model = vn_model_new (8, 13);

      add_weights (model->graph, "w", VN_DTYPE_F32, &VN_SHAPE (4, 4));
      if (i > 0)
        {
          add_weights (model->graph, "a/b", VN_DTYPE_U8, &VN_SHAPE (100));
          add_weights (model->graph, "a_b", VN_DTYPE_S64, &VN_SHAPE (3));
          add_weights (model->graph, "none", VN_DTYPE_F32, &VN_SHAPE (0));
        }
      g_ptr_array_add (seeds, write_external (model));
    }
}
