/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where error starts can be found after a run, while its result is in use: the same figures as within the run, and the result
 * itself stays as it was. What improving tried is told step by step. */
#include "engine-fixture.h"

#include "vn-improve-job.h"
#include "vn-model-data.h"

#include "vn-origins-job.h"
#include "vn-quant-plan.h"

#include <math.h>

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
  g_autoptr(VnRun) with = NULL;
  g_autoptr(GError) error = NULL;
  VnRun *plain;
  VnJob *origins;

  g_assert_true (vn_job_run (within, NULL, &error));
  g_assert_true (vn_job_run (run, NULL, &error));
  g_assert_no_error (error);
  plain = vn_quantize_job_get_result (run);
  g_assert_null (plain->contributions);
  origins = vn_origins_job_new (run, NULL);
  g_assert_true (vn_job_run (origins, NULL, &error));
  g_assert_no_error (error);
  with = vn_run_ref (vn_origins_job_get_result (origins));
  g_object_unref (origins);
  g_assert_null (plain->contributions);
  assert_same (with->contributions, vn_quantize_job_get_result (within)->contributions);

  /* it lives on without the run, and knows the nodes of the model */
  g_clear_object (&run);
  for (guint i = 0; i < model->graph->nodes->len; i++)
    g_assert_nonnull (vn_run_get_node_error (with, g_ptr_array_index (model->graph->nodes, i)));
}

static VnValue *
add_whole_number (VnModel    *model,
                  const char *name,
                  gint64      number)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_S64, &VN_SHAPE_SCALAR, NULL);

  *(gint64 *) tensor->data = number;
  return vn_graph_add_initializer (model->graph, name, tensor);
}

/* What a detector adds to where things are it makes of the size of its pictures: once that is known these are constants, which
 * are rounded, too. */
static void
test_known_size (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 13);
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnJob) run = NULL;
  g_autoptr(GError) error = NULL;
  VnContributions *found;
  gboolean told = FALSE;
  VnAttr *to = vn_attr_new ("to", VN_ATTR_INT);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, -1));
  add_floats (model, "w1", VN_SHAPE (4, 2, 1, 1), 3, 0.7f);
  add_floats (model, "zero", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "one", VN_SHAPE_SCALAR, 1, 0);
  add_whole_number (model, "last", 3);
  add_node (model, "Conv", "conv", "x w1", "c");
  add_node (model, "Shape", "shape", "x", "size");
  add_node (model, "Gather", "gather", "size last", "width");
  to->i = VN_DTYPE_F32;
  vn_node_set_attr (add_node (model, "Cast", "cast", "width", "end"), to);
  add_node (model, "Range", "range", "zero end one", "places");
  add_node (model, "Mul", "grid", "places one", "anchors");
  add_node (model, "Add", "add", "c anchors", "y");
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  run = make_run (model, recipe, TRUE);
  g_assert_true (vn_job_run (run, NULL, &error));
  g_assert_no_error (error);
  found = vn_quantize_job_get_result (run)->contributions;
  for (guint i = 0; i < vn_contributions_get_n (found); i++)
    told |= g_str_equal (vn_contributions_get (found, i)->name, "places") ||
            g_str_equal (vn_contributions_get (found, i)->name, "anchors");
  g_assert_true (told);
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
  VnRun *result;

  g_assert_true (vn_job_run (first, NULL, &error));
  result = vn_quantize_job_get_result (first);
  origins = vn_origins_job_new (second, result);
  g_assert_true (vn_job_run (origins, NULL, &error));
  g_assert_no_error (error);
  g_assert_nonnull (vn_quantize_job_get_result (second));
  g_assert_true (vn_origins_job_get_result (origins)->notes == result->notes);
  g_assert_nonnull (vn_origins_job_get_result (origins)->contributions);
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
  origins = vn_origins_job_new (run, NULL);
  g_cancellable_cancel (cancellable);
  g_assert_false (vn_job_run (origins, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_null (vn_origins_job_get_result (origins));
}

/* Each step starts from what was kept, whatever that was measured with. Returns: how many were kept */
static guint
check_chain (GPtrArray *tries)
{
  double now = ((const VnImproveTry *) g_ptr_array_index (tries, 0))->before_db;
  guint n_kept = 0;

  for (guint i = 0; i < tries->len; i++)
    {
      const VnImproveTry *entry = g_ptr_array_index (tries, i);
      g_autofree char *text = vn_improve_try_dup_text (entry);

      g_test_message ("%s (%.9g -> %.9g, %" G_GINT64_FORMAT " bytes)", text, entry->before_db, entry->after_db, entry->bytes);
      g_assert_cmpfloat (entry->before_db, ==, now);
      if (vn_improve_try_is_kept (entry) || entry->outcome == VN_IMPROVE_GIVEN_UP)
        now = entry->after_db;
      n_kept += entry->outcome == VN_IMPROVE_KEPT;
      if (entry->outcome == VN_IMPROVE_KEPT)
        g_assert_cmpfloat (entry->after_db, >, entry->before_db);
    }
  return n_kept;
}

static VnJob *
run_improve (const VnImproveSettings *settings)
{
  VnJob *job = vn_improve_job_new (settings);
  g_autoptr(GError) error = NULL;

  g_assert_true (vn_job_run (job, NULL, &error) || (g_test_message ("%s", error->message), FALSE));
  return job;
}

static gboolean
is_same_network (const VnModel *a,
                 const VnModel *b)
{
  g_autofree char *of_a = vn_model_dup_digest (a), *of_b = vn_model_dup_digest (b);

  return g_str_equal (of_a, of_b);
}

static double
get_headline (const VnRun *result)
{
  return vn_error_table_get_outputs_sqnr (result->errors);
}

static void
test_tries (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnImproveSettings settings = { { .model = model, .data = data, .recipe = recipe, .n_threads = 1 }, 60, TRUE, NULL };
  g_autoptr(VnJob) job = NULL, again = NULL, plain = NULL;
  VnRun *result, *first;
  GPtrArray *tries;

  data->max_samples = 12;
  job = run_improve (&settings);
  result = vn_improve_job_get_result (job);
  tries = vn_improve_job_get_tries (job);
  g_assert_cmpuint (tries->len, >, 3);
  g_assert_cmpuint (check_chain (tries), >, 0);
  g_assert_nonnull (result->errors);
  /* The time that is left for training, which is never the same twice, is not written down. */
  if (result->recipe->train != VN_TRAIN_OFF)
    g_assert_cmpfloat (result->recipe->train_time, ==, settings.seconds);

  /* a plain run that is there need not be made again, and is no worse than what comes of it */
  plain = make_run (model, recipe, FALSE);
  g_assert_true (vn_job_run (plain, NULL, NULL));
  first = vn_quantize_job_get_result (plain);
  settings.plain = first;
  again = run_improve (&settings);
  g_assert_cmpfloat (get_headline (result), >, get_headline (first));
  g_assert_false (is_same_network (result->quantized, first->quantized));
  check_chain (vn_improve_job_get_tries (again));
  g_assert_null (first->steps);
}

/* What ends as the plain run, however good it looked, tells of nothing that it was kept. */
static void
test_plain (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  VnImproveSettings settings = { { .model = model, .data = data, .recipe = recipe, .n_threads = 1, .origins = TRUE }, 1e-6, TRUE,
                                 NULL };
  g_autoptr(VnJob) plain = NULL, job = NULL;
  VnRun *first, *result;
  GPtrArray *tries;

  data->max_samples = 12;
  plain = make_run (model, recipe, TRUE);
  g_assert_true (vn_job_run (plain, NULL, NULL));
  first = settings.plain = vn_quantize_job_get_result (plain);
  job = run_improve (&settings);
  result = vn_improve_job_get_result (job);
  tries = vn_improve_job_get_tries (job);
  g_assert_cmpuint (tries->len, >, 0);
  for (guint i = 0; i < tries->len; i++)
    g_assert_false (vn_improve_try_is_kept (g_ptr_array_index (tries, i)));
  g_assert_true (result->quantized == first->quantized);
  g_assert_true (result->contributions == first->contributions);
  g_assert_true (vn_recipe_equal (result->recipe, recipe));
  g_assert_cmpuint (result->steps->len, ==, tries->len);
  g_assert_null (first->steps);
  g_assert_true (result->notes != first->notes);
}

/* Two convolutions with nearly all multiplications, and two small ones: between those a channel of 0 to 60 that nobody needs
 * takes the range. */
static VnModel *
make_wide_model (void)
{
  static const float w3[] = { 1, -0.8f, 0.5f, 0.3f, -0.6f, 0.9f, 0.2f, -0.4f, 8, 8, 8, 8, 8, 8, 8, 8 }, w4[] = { 1, 0, -0.7f, 0 };
  VnModel *model = vn_model_new (8, 21);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 2, SIDE, SIDE));
  add_floats (model, "w1", VN_SHAPE (8, 2, 3, 3), -0.3f, 0.004f);
  add_floats (model, "w2", VN_SHAPE (8, 8, 3, 3), -0.2f, 0.0009f);
  add_floats (model, "w3", VN_SHAPE (2, 8, 1, 1), 0, 0);
  add_floats (model, "w4", VN_SHAPE (2, 2, 1, 1), 0, 0);
  memcpy (vn_graph_find_value (model->graph, "w3")->initializer->data, w3, sizeof w3);
  memcpy (vn_graph_find_value (model->graph, "w4")->initializer->data, w4, sizeof w4);
  add_node (model, "Conv", "conv1", "x w1", "a");
  add_node (model, "Relu", "relu1", "a", "b");
  add_node (model, "Conv", "conv2", "b w2", "c");
  add_node (model, "Relu", "relu2", "c", "d");
  add_node (model, "Conv", "conv3", "d w3", "e");
  add_node (model, "Conv", "conv4", "e w4", "y");
  for (guint i = 0; i < 2; i++)
    vn_node_set_ints (g_ptr_array_index (model->graph->nodes, 2 * i), "pads", (const gint64[]) { 1, 1, 1, 1 }, 4);
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

static const VnImproveTry *
find_try (GPtrArray  *tries,
          const char *title)
{
  for (guint i = 0; i < tries->len; i++)
    if (strstr (((const VnImproveTry *) g_ptr_array_index (tries, i))->title, title) != NULL)
      return g_ptr_array_index (tries, i);
  return NULL;
}

/* Where the target has kernels for it, regions get 16 bit, within what that may cost; elsewhere tensors are left in float. */
static void
test_wide (void)
{
  static const char * const presets[] = { "a16w8", "cpu" };
  g_autoptr(VnModel) model = make_wide_model ();

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]);
      g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
      VnImproveSettings settings = { { .model = model, .data = data, .recipe = recipe, .n_threads = 1 }, 60, FALSE, NULL };
      g_autoptr(VnJob) job = NULL;
      GPtrArray *tries;
      const VnImproveTry *wide, *all;
      VnRun *result;

      recipe->activation = VN_DTYPE_U8;
      data->max_samples = 12;
      job = run_improve (&settings);
      tries = vn_improve_job_get_tries (job);
      check_chain (tries);
      wide = find_try (tries, "16-bit at error sources");
      all = find_try (tries, "16-bit activations");
      g_assert_true ((wide != NULL) == (i == 0));
      g_assert_true ((find_try (tries, "left in float") != NULL) == (i == 1));
      if (i == 1)
        {
          g_assert_true (isnan (all->after_wide));
          continue;
        }
      result = vn_improve_job_get_result (job);
      g_assert_cmpint (all->outcome, ==, VN_IMPROVE_TOO_WIDE);
      g_assert_cmpint (wide->outcome, ==, VN_IMPROVE_KEPT);
      g_assert_cmpfloat (wide->after_db, >, wide->before_db + 1);
      g_assert_cmpfloat (wide->after_share, ==, 1);
      g_assert_cmpfloat (wide->after_wide, >, 0);
      g_assert_cmpfloat (wide->after_wide, <, 0.25);
      g_assert_cmpint (vn_quant_plan_find (result->plan, "e")->dtype, ==, VN_DTYPE_U16);
      g_assert_cmpint (vn_quant_plan_find (result->plan, "b")->dtype, ==, VN_DTYPE_U8);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/job/origins/afterwards", test_afterwards);
  g_test_add_func ("/job/origins/known-size", test_known_size);
  g_test_add_func ("/job/origins/of-another", test_of_another);
  g_test_add_func ("/job/origins/cancelled", test_cancelled);
  g_test_add_func ("/job/improve/tries", test_tries);
  g_test_add_func ("/job/improve/plain", test_plain);
  g_test_add_func ("/job/improve/wide", test_wide);
  return g_test_run ();
}
