/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FusedConv of ONNX Runtime, which its optimizer writes and others do not read: a Conv, the sum, and the activation. */
#include "vn-rewrite-private.h"

/* Activations, and what operator @params become: an attribute each, or inputs. */
static const struct
{
  const char *id;
  guint       n_params;
  const char *params[2];
} activations[] = {
  { "Relu", 0, { NULL } },
  { "Tanh", 0, { NULL } },
  { "Sigmoid", 0, { NULL } },
  { "LeakyRelu", 1, { "alpha" } },
  { "HardSigmoid", 2, { "alpha", "beta" } },
  { "Clip", 2, { NULL } },
};

static int
split_fused_find (const VnNode *node,
                  const float **params)
{
  g_autofree char *id = vn_node_dup_string (node, "activation", "");
  gsize n = 0;

  *params = vn_node_get_floats (node, "activation_params", &n);
  for (guint i = 0; i < G_N_ELEMENTS (activations); i++)
    if (g_str_equal (activations[i].id, id) && (*params != NULL ? n : 0) == activations[i].n_params)
      return (int) i;
  return -1;
}

static VnValue *
split_fused_add_number (VnNode     *node,
                        const char *role,
                        float       number)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &number);

  return vn_rewrite_add_constant (node, role, tensor);
}

/* Its result goes through a node of @op_type behind it. */
static VnNode *
split_fused_append (VnNode     *node,
                    VnNode     *behind,
                    const char *op_type,
                    VnValue   **inputs,
                    guint       n)
{
  VnValue *result = vn_node_get_output (behind, 0);
  g_autofree char *label = vn_node_dup_label (node), *name = g_strconcat (label, "_", op_type, NULL);

  inputs[0] = vn_rewrite_add_result (node, op_type);
  vn_node_set_output (behind, 0, inputs[0]);
  return vn_graph_insert_node (node->graph, vn_node_get_next (behind), name, "", op_type, inputs, n, &result, 1);
}

static void
split_fused_node (VnPassContext *ctx,
                  VnNode        *node,
                  guint          activation,
                  const float   *params)
{
  VnValue *inputs[3] = { NULL }, *sum = vn_node_get_input (node, 3);
  g_autofree char *label = vn_node_dup_label (node);
  const gboolean is_clip = activations[activation].n_params == 2 && activations[activation].params[0] == NULL;
  float numbers[2] = { 0 };
  VnNode *last = node;

  for (guint i = 0; i < activations[activation].n_params; i++)
    numbers[i] = params[i];
  vn_edit_log_add (ctx->log, "replace", label, NULL, _("becomes Conv and %s"), activations[activation].id);
  vn_node_remove_attr (node, "activation");
  vn_node_remove_attr (node, "activation_params");
  g_free (node->domain);
  node->domain = g_strdup ("");
  vn_rewrite_set_op_type (node, "Conv");
  if (sum != NULL)
    {
      vn_node_set_input (node, 3, NULL);
      g_ptr_array_set_size (node->inputs, vn_node_get_input (node, 2) != NULL ? 3 : 2);
      inputs[1] = sum;
      last = split_fused_append (node, last, "Add", inputs, 2);
    }
  for (guint i = 0; is_clip && i < 2; i++)
    inputs[i + 1] = split_fused_add_number (node, i == 0 ? "least" : "most", numbers[i]);
  last = split_fused_append (node, last, activations[activation].id, inputs, is_clip ? 3 : 1);
  for (guint i = 0; !is_clip && i < activations[activation].n_params; i++)
    vn_node_set_float (last, activations[activation].params[i], numbers[i]);
}

static gboolean
split_fused_graph (VnPassContext  *ctx,
                   VnGraph        *graph,
                   GError        **error)
{
  g_autoptr(GPtrArray) nodes = vn_rewrite_list_nodes (graph);

  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i);
      const float *params = NULL;
      const gboolean is_fused = g_str_equal (node->domain, "com.microsoft") && g_str_equal (node->op_type, "FusedConv");
      int activation = is_fused ? split_fused_find (node, &params) : -1;

      if (activation >= 0)
        split_fused_node (ctx, node, (guint) activation, params);
    }
  return TRUE;
}

static gboolean
split_fused_run (VnPassContext  *ctx,
                 GError        **error)
{
  return vn_model_get_opset (ctx->model, "") < 11 || vn_rewrite_each_graph (ctx, split_fused_graph, error);
}

const VnPass vn_pass_split_fused = {
  .id = "split-fused",
  .title = N_("FusedConv to Conv"),
  .summary = N_("Splits FusedConv of ONNX Runtime's optimizer into Conv and its activation, which other runtimes read."),
  .stage = VN_PASS_REQUEST,
  .exact = TRUE,
  .run = split_fused_run,
};
