/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where error starts can be found after a run, while its result is in use: the same figures as within the run, and the result
 * itself stays as it was. What improving tried is told step by step. */
#include "engine-fixture.h"

#include "vn-improve-job.h"

#define SIDE 8

static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, SIDE));
  add_floats (model, "w1", VN_SHAPE (4, 2, 1, 1), 3, 0.7f);
  add_floats (model, "b1", VN_SHAPE (4), -0.5f, 0.25f);
  add_floats (model, "w2", VN_SHAPE (3, 4, 1, 1), -0.4f, 0.1f);
  add_node (model, "Conv", "conv1", "x w1 b1", "c");
  add_node (model, "Relu", "relu", "c", "d");
  add_node (model, "Conv", "conv2", "d w2", "y");
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static VnJob *
make_run (VnModel  *model,
          VnRecipe *recipe,
          gboolean  origins)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .origins = origins };

  data->max_samples = 12;
  return vn_quantize_job_new (&settings);
}

static void
assert_same (VnContributions *a,
             VnContributions *b)
{
  g_assert_cmpuint (vn_contributions_get_n (a), >, 3);
  g_assert_cmpuint (vn_contributions_get_n (a), ==, vn_contributions_get_n (b));
  for (guint i = 0; i < vn_contributions_get_n (a); i++)
    {
      g_assert_cmpstr (vn_contributions_get (a, i)->name, ==, vn_contributions_get (b, i)->name);
      g_assert_cmpfloat (vn_contributions_get (a, i)->share, ==, vn_contributions_get (b, i)->share);
      g_assert_cmpfloat (vn_contributions_get (a, i)->local_db, ==, vn_contributions_get (b, i)->local_db);
    }
}

static void
test_afterwards (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnJob) within = make_run (model, recipe, TRUE), run = make_run (model, recipe, FALSE);
  g_autoptr(VnResult) with = NULL;
  g_autoptr(GError) error = NULL;
  VnResult *plain;
  VnJob *origins;

  g_assert_true (vn_job_run (within, NULL, &error));
  g_assert_true (vn_job_run (run, NULL, &error));
  g_assert_no_error (error);
  plain = vn_quantize_job_get_result (VN_QUANTIZE_JOB (run));
  g_assert_null (plain->contributions);
  origins = vn_origins_job_new (VN_QUANTIZE_JOB (run), NULL);
  g_assert_true (vn_job_run (origins, NULL, &error));
  g_assert_no_error (error);
  with = vn_result_ref (vn_origins_job_get_result (VN_ORIGINS_JOB (origins)));
  g_object_unref (origins);
  g_assert_null (plain->contributions);
  assert_same (with->contributions, vn_quantize_job_get_result (VN_QUANTIZE_JOB (within))->contributions);

  /* it lives on without the run, and knows the nodes of the model */
  g_clear_object (&run);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_assert_nonnull (vn_result_get_node_error (with, g_ptr_array_index (model->graph->nodes, i)));
}

/* The result of another run with the same settings can have them, too. */
static void
test_of_another (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnJob) first = make_run (model, recipe, FALSE), second = make_run (model, recipe, FALSE);
  g_autoptr(VnJob) origins = NULL;
  g_autoptr(GError) error = NULL;
  VnResult *result;

  g_assert_true (vn_job_run (first, NULL, &error));
  result = vn_quantize_job_get_result (VN_QUANTIZE_JOB (first));
  origins = vn_origins_job_new (VN_QUANTIZE_JOB (second), result);
  g_assert_true (vn_job_run (origins, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (vn_quantize_job_get_result (VN_QUANTIZE_JOB (second)));
  g_assert_true (vn_origins_job_get_result (VN_ORIGINS_JOB (origins))->notes == result->notes);
  g_assert_nonnull (vn_origins_job_get_result (VN_ORIGINS_JOB (origins))->contributions);
}

static void
test_cancelled (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnJob) run = make_run (model, recipe, FALSE), origins = NULL;
  g_autoptr(GCancellable) cancellable = g_cancellable_new ();
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_job_run (run, NULL, &error));
  origins = vn_origins_job_new (VN_QUANTIZE_JOB (run), NULL);
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_job_run (origins, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (vn_origins_job_get_result (VN_ORIGINS_JOB (origins)));
}

static void
test_tries (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnImproveSettings settings = { { .model = model, .data = data, .recipe = recipe, .n_threads = 1 }, 60, TRUE };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;
  GPtrArray *tries;
  double now = 0;
  guint n_kept = 0;

  data->max_samples = 12;
  job = vn_improve_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, &error));
  g_assert_no_error (error);
  tries = vn_improve_job_get_tries (VN_IMPROVE_JOB (job));
  g_assert_cmpuint (tries->len, >, 3);
  for (guint i = 0; i < tries->len; i++)
    {
      const VnImproveTry *entry = g_ptr_array_index (tries, i);

      g_test_message ("%s: %d, %g -> %g dB, %" G_GINT64_FORMAT " bytes", entry->title, entry->outcome, entry->before_db,
                      entry->after_db, entry->bytes);
      if (i > 0)
        g_assert_cmpfloat (entry->before_db, ==, now);   /* each starts from what was kept */
      now = entry->outcome == VN_IMPROVE_KEPT ? entry->after_db : entry->before_db;
      g_assert_cmpfloat (now, >=, entry->before_db);
      n_kept += entry->outcome == VN_IMPROVE_KEPT;
    }
  g_assert_cmpuint (n_kept, >, 0);
  g_assert_cmpfloat (now, >, ((const VnImproveTry *) g_ptr_array_index (tries, 0))->before_db);
  g_assert_nonnull (vn_improve_job_get_result (VN_IMPROVE_JOB (job))->errors);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/origins/afterwards", test_afterwards);
  g_test_add_func ("/job/origins/of-another", test_of_another);
  g_test_add_func ("/job/origins/cancelled", test_cancelled);
  g_test_add_func ("/job/improve/tries", test_tries);
  return g_test_run ();
}
