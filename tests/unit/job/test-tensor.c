/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One tensor of the demo's float network and of its quantized one: what is read is what the run has measured. */
#include "vn-compared-model.h"
#include "vn-tensor-job.h"

#include <math.h>

typedef struct
{
  VnModel         *model;
  VnDataSpec      *data;
  VnRun           *result;
  VnComparedModel *sides[2];
  VnTensorReader  *reader;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  data)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL);
  g_autofree char *samples = g_build_filename (g_getenv ("VN_DEMO"), "samples", NULL);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;
  VnQuantizeSettings settings = { .recipe = recipe, .n_threads = 2 };

  fixture->model = vn_onnx_read_file (path, &error);
  g_assert_no_error (error);
  fixture->data = vn_data_spec_new (samples);
  fixture->data->max_samples = 20;
  settings.model = fixture->model;
  settings.data = fixture->data;
  job = vn_quantize_job_new (&settings);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  fixture->result = vn_run_ref (vn_quantize_job_get_result (job));
  fixture->sides[0] = vn_compared_model_new_float (fixture->model);
  fixture->sides[1] = vn_compared_model_new_result (fixture->result);
  fixture->reader = vn_tensor_reader_new (fixture->data, NULL, 0);
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  data)
{
  vn_tensor_reader_unref (fixture->reader);
  vn_compared_model_unref (fixture->sides[0]);
  vn_compared_model_unref (fixture->sides[1]);
  vn_run_unref (fixture->result);
  vn_data_spec_free (fixture->data);
  vn_model_unref (fixture->model);
}

static VnTensorView *
look (Fixture             *fixture,
      const VnTensorQuery *query)
{
  g_autoptr(VnJob) job = vn_tensor_job_new (fixture->reader, query);
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_tensor_view_ref (vn_tensor_job_get_view (job));
}

static guint
find_node (Fixture    *fixture,
           const char *op_type)
{
  for (guint i = 0; i < fixture->model->graph->nodes->len; i++)
    if (vn_node_is (g_ptr_array_index (fixture->model->graph->nodes, i), op_type))
      return i;
  g_assert_not_reached ();
}

/* Over all samples that were held out the sums are those of the run. */
static void
test_activation (Fixture       *fixture,
                 gconstpointer  data)
{
  guint node = find_node (fixture, "Conv");
  const VnErrorRow *row = vn_compared_model_get_row (fixture->sides[1], node);
  VnTensorQuery query = { .all = TRUE };
  g_autoptr(VnTensorView) view = NULL;
  guint n_worst = 0;

  g_assert_nonnull (row);
  g_assert_null (vn_compared_model_get_row (fixture->sides[0], node));
  for (guint i = 0; i < 2; i++)
    g_assert_true (vn_compared_model_find_tensor (fixture->sides[i], fixture->sides[1 - i], node, &query.sources[i]));
  view = look (fixture, &query);
  g_assert_true (fixture->result->left_out);   /* so the row is of all samples, and what is looked at of those held out */
  g_assert_cmpuint (view->n_samples, ==, fixture->result->n_held_out / 5);
  g_assert_cmpuint (view->sqnr->len, ==, view->n_samples);
  g_assert_cmpuint (view->errors.n_channels, >, 1);
  g_assert_cmpfloat_with_epsilon (vn_error_sum_sqnr (&view->errors.all), row->held_out_db, 1e-3);
  g_assert_cmpfloat (view->errors.all.max_error, <=, row->max_error + 1e-5);
  g_assert_cmpfloat (view->grid.scale, >, 0);
  for (guint i = 0; i < view->sqnr->len; i++)
    n_worst += g_array_index (view->sqnr, double, i) <= row->sqnr_db;
  g_assert_cmpuint (n_worst, >, 0);
  /* one sample alone: its own figure */
  query.all = FALSE;
  query.sample = 1;
  vn_tensor_view_unref (view);
  view = look (fixture, &query);
  g_assert_cmpuint (view->n_samples, ==, 1);
  g_assert_null (view->sqnr);
}

static void
test_weight (Fixture       *fixture,
             gconstpointer  data)
{
  guint node = find_node (fixture, "Conv");
  VnTensorQuery query = { .is_weight = TRUE };
  g_autoptr(VnTensorView) view = NULL;

  for (guint i = 0; i < 2; i++)
    g_assert_true (vn_compared_model_find_weight (fixture->sides[i], fixture->sides[1 - i], node, &query.sources[i]));
  view = look (fixture, &query);
  g_assert_cmpfloat (vn_error_sum_sqnr (&view->errors.all), >, 20);
  g_assert_true (isfinite (vn_error_sum_sqnr (&view->errors.all)));
}

/* A model that another tool made, here the export of the run: the same errors come out, and what converts is alone. */
static void
test_file (Fixture       *fixture,
           gconstpointer  data)
{
  g_autoptr(VnJob) compare = vn_compare_job_new (fixture->model, fixture->result->quantized, fixture->data, NULL, 1);
  g_autoptr(VnComparedModel) file = NULL;
  g_autoptr(VnNodeMatch) match = NULL;
  g_autoptr(GError) error = NULL;
  VnTensorQuery query = { .all = TRUE };
  VnRunFigures figures;
  guint node = find_node (fixture, "Conv"), n_rows = 0, n_tensors = 0;
  VnModel *shown = fixture->result->quantized;

  vn_job_run (compare, NULL, &error);
  g_assert_no_error (error);
  file = vn_compared_model_new_file (fixture->model, shown, vn_compare_job_get_errors (compare));
  match = vn_compared_model_match (fixture->sides[0], file);
  for (guint i = 0; i < shown->graph->nodes->len; i++)
    {
      const VnNode *other = g_ptr_array_index (shown->graph->nodes, i);
      gboolean converts = g_str_has_suffix (other->op_type, "QuantizeLinear") ||
                          g_str_has_suffix (other->op_type, "DequantizeLinear");

      g_assert_cmpint (vn_node_match_get (match, 1, i)->state == VN_MATCH_ALONE, ==, converts);
      n_rows += vn_compared_model_get_row (file, i) != NULL;
    }
  g_assert_cmpuint (n_rows, >, 3);
  for (guint i = 0; i < fixture->model->graph->nodes->len; i++)
    {
      g_autoptr(VnTensorView) view = NULL;

      if (!vn_compared_model_find_tensor (fixture->sides[0], file, i, &query.sources[0]) ||
          !vn_compared_model_find_tensor (file, fixture->sides[0], i, &query.sources[1]))
        continue;
      view = look (fixture, &query);
      g_test_message ("%s | %s: %.1f dB", query.sources[0].value, query.sources[1].value, vn_error_sum_sqnr (&view->errors.all));
      g_assert_cmpfloat (vn_error_sum_sqnr (&view->errors.all), >, 3);
      n_tensors++;
    }
  g_assert_cmpuint (n_tensors, >, 3);
  g_assert_cmpuint (vn_compared_model_get_node (file, node), !=, VN_MATCH_NONE);
  vn_compared_model_get_figures (file, &figures);
  g_assert_cmpfloat (figures.outputs_db, >, 3);
  vn_compared_model_get_figures (fixture->sides[1], &figures);
  g_assert_cmpuint (figures.quantized_bytes, ==, fixture->result->quantized_bytes);
}

/* Cancelled between samples: no view of a part. */
static void
test_cancel (Fixture       *fixture,
             gconstpointer  data)
{
  VnTensorQuery query = { .all = TRUE };
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) job = NULL;

  for (guint i = 0; i < 2; i++)
    g_assert_true (vn_compared_model_find_tensor (fixture->sides[i], fixture->sides[1 - i], 0, &query.sources[i]));
  job = vn_tensor_job_new (fixture->reader, &query);
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_job_run (job, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/tensor/activation", Fixture, NULL, set_up, test_activation, tear_down);
  g_test_add ("/tensor/weight", Fixture, NULL, set_up, test_weight, tear_down);
  g_test_add ("/tensor/file", Fixture, NULL, set_up, test_file, tear_down);
  g_test_add ("/tensor/cancel", Fixture, NULL, set_up, test_cancel, tear_down);
  return g_test_run ();
}
