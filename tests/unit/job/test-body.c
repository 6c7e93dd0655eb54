/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies of nodes as networks of their own: those of If, and of a function that a model brings along. */
#include "open-models.h"

#include "vn-body.h"
#include "vn-error.h"
#include "vn-op.h"
#include "vn-onnx.h"

#include <string.h>

static const VnNode *
find_node (const VnModel *model,
           const char    *op_type)
{
  for (guint i = 0; i < model->graph->nodes->len; i++)
    if (g_str_equal (((VnNode *) g_ptr_array_index (model->graph->nodes, i))->op_type, op_type))
      return g_ptr_array_index (model->graph->nodes, i);
  g_assert_not_reached ();
}

/* Each branch has the nodes, constants and types that it has inside; what it reads from outside is an input. */
static void
test_branches (void)
{
  g_autoptr(VnModel) model = open_model_branches ();
  const VnNode *node;
  g_autoptr(GPtrArray) bodies = NULL;
  guint n = 0;

  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  node = find_node (model, "If");
  bodies = vn_node_list_bodies (node);
  g_assert_cmpuint (bodies->len, ==, 2);
  for (guint i = 0; i < bodies->len; i++)
    {
      const VnBody *body = bodies->pdata[i];
      const VnGraph *inside = vn_node_get_attr (node, body->attr)->graph;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnModel) own = vn_model_new_for_body (node, body->attr, &error);
      const VnValue *output, *input;

      g_assert_no_error (error);
      g_assert_cmpuint (body->n_nodes, ==, inside->nodes->len);
      g_assert_cmpuint (own->graph->nodes->len, ==, inside->nodes->len);
      g_assert_cmpuint (own->graph->outputs->len, ==, inside->outputs->len);
      g_assert_cmpuint (own->graph->inputs->len, ==, 1);
      input = g_ptr_array_index (own->graph->inputs, 0);
      g_assert_cmpstr (input->name, ==, "words");
      output = g_ptr_array_index (own->graph->outputs, 0);
      g_assert_cmpint (output->type.dtype, ==, VN_DTYPE_F32);
      g_assert_cmpuint (output->type.shape.rank, ==, 3);
      g_assert_cmpint (output->type.shape.dims[2], ==, 8);
      g_assert_cmpuint (vn_graph_weight_bytes (own->graph), ==, 4 * 8 * sizeof (float));
      g_assert_nonnull (strstr (own->graph->name, body->attr));
      g_assert_null (own->path);
      n += body->n_nodes;
    }
  g_assert_cmpuint (vn_graph_count_inner_nodes (model->graph), ==, n);
}

static void
test_function (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (GOLDEN_DIR "/function.onnx", &error), own = NULL;
  g_autoptr(GPtrArray) bodies = NULL;
  const VnNode *node;
  const VnValue *output;

  g_assert_no_error (error);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  node = find_node (model, "Twist");
  bodies = vn_node_list_bodies (node);
  g_assert_cmpuint (bodies->len, ==, 1);
  g_assert_cmpstr (((VnBody *) bodies->pdata[0])->attr, ==, "");
  g_assert_cmpuint (((VnBody *) bodies->pdata[0])->n_nodes, ==, 2);
  own = vn_model_new_for_body (node, "", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (own->graph->nodes->len, ==, 2);
  output = g_ptr_array_index (own->graph->outputs, 0);
  g_assert_cmpint (output->type.dtype, ==, VN_DTYPE_F32);
  g_assert_cmpint (output->type.shape.dims[0], ==, 2);
  g_assert_cmpuint (model->graph->nodes->len, ==, 1);   /* the model is as it was */
}

static void
test_none (void)
{
  g_autoptr(VnModel) model = open_model_branches ();
  const VnNode *node = find_node (model, "If");
  g_autoptr(GPtrArray) bodies = vn_node_list_bodies (find_node (model, "ReduceMean"));
  g_autoptr(GError) error = NULL;

  g_assert_cmpuint (bodies->len, ==, 0);
  g_assert_null (vn_model_new_for_body (node, "body", &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/body/branches", test_branches);
  g_test_add_func ("/body/function", test_function);
  g_test_add_func ("/body/none", test_none);
  return g_test_run ();
}
