/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What groups of nodes are called: each line of vn-group-kinds.def. */
#include "groups-private.h"

#include <string.h>

static void
add_node (VnScene    *scene,
          GArray     *nodes,
          const char *word)
{
  g_autofree char *op = g_strndup (word, strcspn (word, "+"));
  const gboolean computes = strcmp (op, "Conv") == 0 || strcmp (op, "MatMul") == 0;
  VnSceneNode node = { .id = op, .op = op, .name = op, .weighted = strchr (word, '+') != NULL,
                       .family = computes ? VN_FAMILY_COMPUTE : VN_FAMILY_OTHER };
  guint index = vn_scene_add_node (scene, &node);

  g_array_append_val (nodes, index);
}

/* Each kind is told by operators that no line before it fits; “+” has weights. */
static void
test_kinds (void)
{
  static const char * const ops[] = {
    [VN_GROUP_RECURRENT] = "Transpose LSTM Squeeze",
    [VN_GROUP_LAYER] = "MatMul+ MatMul+ MatMul Softmax MatMul MatMul+ Erf MatMul+",
    [VN_GROUP_FUSED_LAYER] = "MatMul+ Attention MatMul+ Erf MatMul+",
    [VN_GROUP_ATTENTION] = "MatMul+ MatMul Softmax MatMul",
    [VN_GROUP_FUSED_ATTENTION] = "MatMul+ Attention",
    [VN_GROUP_EMBEDDINGS] = "Gather+ Add LayerNormalization",
    [VN_GROUP_FUSED_EMBEDDINGS] = "EmbedLayerNormalization",
    [VN_GROUP_FEED_FORWARD] = "MatMul+ Erf MatMul+",
    [VN_GROUP_DETECTIONS] = "NonMaxSuppression Gather",
    [VN_GROUP_SQUEEZE] = "GlobalAveragePool Conv+ Relu Conv+ Sigmoid Mul",
    [VN_GROUP_NORMALIZATION] = "ReduceMean Sub Pow ReduceMean Sqrt Div",
    [VN_GROUP_FUSED_NORMALIZATION] = "LayerNormalization Add",
    [VN_GROUP_PYRAMID] = "Conv+ MaxPool MaxPool MaxPool Concat Conv+",
    [VN_GROUP_DENSE] = "Conv+ Conv+ Concat",
    [VN_GROUP_RESIDUAL] = "Conv+ Relu Conv+ Add",
    [VN_GROUP_UPSAMPLING] = "Resize Conv+",
    [VN_GROUP_CONVOLUTION] = "Conv+ Relu",
    [VN_GROUP_CLASSIFIER] = "MatMul+ Softmax",
    [VN_GROUP_QUANTIZATION] = "QuantizeLinear DequantizeLinear",
    [VN_GROUP_SHAPES] = "Shape Gather Concat",
  };

  for (guint kind = 0; kind < VN_N_GROUP_KINDS; kind++)
    {
      g_auto(GStrv) words = NULL;
      g_autoptr(VnScene) scene = vn_scene_new ();
      g_autoptr(GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint));

      g_assert_true (kind < G_N_ELEMENTS (ops) && ops[kind] != NULL);
      words = g_strsplit (ops[kind], " ", -1);
      for (guint i = 0; words[i] != NULL; i++)
        add_node (scene, nodes, words[i]);
      g_test_message ("%s", ops[kind]);
      g_assert_cmpint (vn_group_kind_of_nodes (scene, (const guint *) (gpointer) nodes->data, nodes->len), ==, kind);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/group-kinds/each", test_kinds);
  return g_test_run ();
}
