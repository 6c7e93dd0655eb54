/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies of nodes as networks of their own: those of If, and of a function that a model brings along. */
#include "open-models.h"

#include "vn-body-run.h"
#include "vn-body.h"
#include "vn-error.h"
#include "vn-jobs.h"
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

/* ---- what a run found inside ---- */

static VnRun *
quantize (VnModel *model)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 2 };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;

  recipe->subgraphs = TRUE;
  data->max_samples = 8;
  data->held_out = 0;
  job = vn_quantize_job_new (&settings);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* Nodes of the body have the rows of the body, and the types that they get there: from the run, and from what is kept of it. */
static void
check_inside (VnRun        *run,
              const VnNode *node,
              const char   *attr,
              gboolean      is_whole)
{
  const VnBodyErrors *found = vn_run_find_body (run, node, attr);
  g_autoptr(VnModel) body = vn_model_new_for_body (node, attr, NULL);
  g_autoptr(VnRun) inside = vn_run_new_inside (run, node, attr, body);
  guint n = 0;

  g_assert_nonnull (found);
  g_assert_nonnull (inside);
  g_assert_true (vn_run_get_worst_inside (run, node, attr) == vn_body_errors_get_worst (found));
  for (guint i = 0; i < body->graph->nodes->len; i++)
    {
      const VnNode *own = g_ptr_array_index (body->graph->nodes, i);
      const VnErrorRow *row = vn_run_get_rated_error (inside, own);
      const VnErrorRow *there = row != NULL ? vn_error_table_find (found->errors, row->value) : NULL;

      if (row == NULL)
        continue;
      g_assert_nonnull (there);
      g_assert_cmpfloat (row->sqnr_db, ==, there->sqnr_db);
      g_assert_true (row->is_output == vn_graph_find_value (body->graph, row->value)->is_output);
      if (is_whole)
        g_assert_cmpint (vn_run_get_node_dtype (inside, own), ==, VN_DTYPE_U8);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

static void
test_run_inside (void)
{
  g_autoptr(VnModel) model = open_model_branches ();
  g_autoptr(VnRun) run = NULL, record = NULL, again = NULL;
  g_autoptr(GError) error = NULL;
  const VnNode *node;
  guint n = 0;

  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  node = find_node (model, "If");
  run = quantize (model);
  record = vn_run_without_networks (run);
  again = vn_run_with_model (record, model, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < vn_error_table_get_n_bodies (run->errors); i++)
    {
      const char *attr = strchr (vn_error_table_get_body (run->errors, i)->scope, ':') + 1;
      g_autofree char *name = g_strndup (attr, strlen (attr) - 1);

      check_inside (run, node, name, TRUE);
      check_inside (again, node, name, FALSE);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
  g_assert_null (vn_run_find_body (run, node, "body"));
}

/* The only node of @model is called once more, on what it gives. */
static void
call_again (VnModel *model)
{
  VnNode *first = g_ptr_array_index (model->graph->nodes, 0), *second;
  VnValue *inputs[8], *output = vn_graph_add_value (model->graph, "again", VN_DTYPE_UNDEFINED, NULL);

  for (guint i = 0; i < first->inputs->len; i++)
    inputs[i] = vn_node_get_input (first, i);
  inputs[0] = vn_node_get_output (first, 0);
  second = vn_graph_add_node (model->graph, NULL, first->domain, first->op_type, inputs, first->inputs->len, &output, 1);
  for (guint i = 0; i < first->attrs->len; i++)
    vn_node_set_attr (second, vn_attr_copy (g_ptr_array_index (first->attrs, i)));
  g_free (first->name);
  first->name = g_strdup ("");
  vn_graph_set_output (model->graph, model->graph->outputs->len, output);
}

/* Each of two calls of a function has the rows of its own tensors, though neither has a name. */
static void
test_run_function (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (GOLDEN_DIR "/function.onnx", &error);
  g_autoptr(VnRun) run = NULL;
  const VnErrorRow *rows[2][2];

  g_assert_no_error (error);
  call_again (model);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  run = quantize (model);
  g_assert_cmpuint (model->graph->nodes->len, ==, 2);
  for (guint k = 0; k < 2; k++)
    {
      const VnNode *node = g_ptr_array_index (model->graph->nodes, k);
      g_autoptr(VnModel) body = vn_model_new_for_body (node, "", &error);
      g_autoptr(VnRun) inside = NULL;

      g_assert_no_error (error);
      inside = vn_run_new_inside (run, node, "", body);
      g_assert_nonnull (inside);
      g_assert_cmpuint (body->graph->nodes->len, ==, 2);
      g_assert_nonnull (vn_run_get_worst_inside (run, node, ""));
      for (guint i = 0; i < body->graph->nodes->len; i++)
        {
          const VnErrorRow *row = vn_run_get_node_error (inside, g_ptr_array_index (body->graph->nodes, i));

          g_assert_nonnull (row);
          rows[k][i] = vn_error_table_find (run->errors, row->value);
          g_assert_nonnull (rows[k][i]);
          g_assert_cmpfloat (row->sqnr_db, ==, rows[k][i]->sqnr_db);
          g_assert_true (k == 0 || rows[0][i] != rows[1][i]);
        }
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/body/branches", test_branches);
  g_test_add_func ("/body/function", test_function);
  g_test_add_func ("/body/none", test_none);
  g_test_add_func ("/body/run-inside", test_run_inside);
  g_test_add_func ("/body/run-function", test_run_function);
  return g_test_run ();
}
