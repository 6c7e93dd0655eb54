/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mixed precision: predictions against what is measured, limits that are kept to, recipes that make the points again, and the
 * same for any number of threads. */
#include "engine-fixture.h"

#include "curve-fit.h"
#include "vn-curve-job.h"

#include "vn-error.h"

#include <math.h>

#define SIDE 8
#define LAYERS 10
#define CHANNELS 32

static void
add_random (VnModel    *model,
            const char *name,
            VnShape     shape,
            float       size,
            GRand      *rand)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = size * (float) (g_rand_double (rand) + g_rand_double (rand) - 1);
  vn_graph_add_initializer (model->graph, name, tensor);
}

/* What each layer finds is added to what it reads: so error comes from all of them. */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 13);
  g_autoptr(GRand) rand = g_rand_new_with_seed (3);
  g_autofree char *from = g_strdup ("x");

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, CHANNELS, SIDE, SIDE));
  for (guint i = 0; i < LAYERS; i++)
    {
      g_autofree char *weight = g_strdup_printf ("w%u", i), *bias = g_strdup_printf ("b%u", i),
      *conv = g_strdup_printf ("conv%u", i);
      g_autofree char *relu = g_strdup_printf ("relu%u", i), *inner = g_strdup_printf ("c%u", i);
      g_autofree char *inputs = g_strdup_printf ("%s %s %s", from, weight, bias);

      add_random (model, weight, VN_SHAPE (CHANNELS, CHANNELS, 1, 1), 0.25f, rand);
      add_random (model, bias, VN_SHAPE (CHANNELS), 0.3f, rand);
      add_node (model, "Conv", conv, inputs, inner);
      add_node (model, "Relu", relu, inner, relu);
      g_free (inputs);
      inputs = g_strdup_printf ("%s %s", from, relu);
      g_free (from);
      from = i + 1 < LAYERS ? g_strdup_printf ("sum%u", i) : g_strdup ("y");
      add_node (model, "Add", from, inputs, from);
    }
  set_outputs (model, "y");
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

typedef struct
{
  VnModel         *model;
  VnRecipe        *recipe;
  VnDataSpec      *data;
  VnCurveSettings  settings;
} Fixture;

static void
set_up (Fixture       *fixture,
        gconstpointer  preset)
{
  fixture->model = make_model ();
  fixture->recipe = vn_recipe_new (preset);
  fixture->data = vn_data_spec_new ("random");
  fixture->data->max_samples = 8;
  fixture->settings = (VnCurveSettings) {
    .quantize = { .model = fixture->model, .data = fixture->data, .recipe = fixture->recipe, .n_threads = 1 },
    .cost = VN_N_CURVE_COSTS, .target_db = NAN, .most_float = NAN,
  };
}

static void
tear_down (Fixture       *fixture,
           gconstpointer  preset)
{
  vn_model_unref (fixture->model);
  vn_recipe_free (fixture->recipe);
  vn_data_spec_free (fixture->data);
}

static VnRun *
run_curve (Fixture *fixture)
{
  g_autoptr(VnJob) job = vn_curve_job_new (&fixture->settings);
  g_autoptr(GError) error = NULL;

  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  return vn_run_ref (vn_curve_job_get_result (job));
}

static const VnCurvePoint *
find_chosen (const VnCurve *curve)
{
  const VnCurvePoint *found = NULL;

  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    if (vn_curve_get (curve, i)->is_chosen)
      {
        g_assert_null (found);
        found = vn_curve_get (curve, i);
      }
  g_assert_nonnull (found);
  return found;
}

static const VnCurvePoint *
find_plain (const VnCurve *curve)
{
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    if (vn_curve_get (curve, i)->is_plain)
      return vn_curve_get (curve, i);
  g_assert_not_reached ();
}

static void
check_curve (const VnCurve *curve,
             double         good)
{
  double cost = -INFINITY, best = -INFINITY, miss;
  guint n_checked;

  g_assert_cmpuint (vn_curve_get_n (curve), >, 4);
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (curve, i);

      g_assert_cmpfloat (vn_curve_point_get_cost (point, curve->cost), >=, cost);
      cost = vn_curve_point_get_cost (point, curve->cost);
      if (isnan (point->measured_db) && !point->is_plain)
        g_assert_cmpfloat (point->predicted_db, >, best);
      best = MAX (best, vn_curve_point_get_db (point));
    }
  miss = vn_curve_get_worst_miss (curve, &n_checked);
  for (guint i = 0; i < vn_curve_get_n (curve); i++)
    g_test_message ("%s %.2f %.2f %zu %.2f", vn_curve_point_get_state_id (vn_curve_get (curve, i)),
                    vn_curve_get (curve, i)->predicted_db,
                    vn_curve_get (curve, i)->measured_db, vn_curve_get (curve, i)->bytes,
                    vn_curve_point_get_cost (vn_curve_get (curve, i), curve->cost));
  g_assert_cmpuint (n_checked, >=, 2);
  g_assert_cmpfloat (miss, <=, good);
}

/* Also that what is measured is more than a few tenths of dB apart: else anything is predicted. */
static void
test_prediction (Fixture       *fixture,
                 gconstpointer  preset)
{
  static const VnCurveCost costs[] = { VN_CURVE_COST_SIZE, VN_CURVE_COST_FLOAT };

  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    {
      g_autoptr(VnRun) result = NULL;
      const VnCurve *curve;

      fixture->settings.cost = costs[i];
      result = run_curve (fixture);
      curve = result->curve;
      check_curve (curve, costs[i] == VN_CURVE_COST_FLOAT ? 0.5 : 2);
      g_assert_cmpfloat (vn_curve_point_get_db (vn_curve_get (curve, vn_curve_get_n (curve) - 1)), >,
                         vn_curve_point_get_db (vn_curve_get (curve, 0)) + 5);
      g_assert_true (vn_recipe_equal (result->recipe, fixture->recipe));
    }
}

/* Writing goes through the text of recipes, as a file does. */
static void
check_makes_again (Fixture            *fixture,
                   const VnCurvePoint *point,
                   VnRun              *result)
{
  g_autofree char *text = vn_recipe_to_json (point->recipe);
  g_autoptr(VnRecipe) read = vn_recipe_from_json (text, "point", NULL);
  VnQuantizeSettings settings = fixture->settings.quantize;
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GBytes) ours = NULL, theirs = NULL;

  g_assert_nonnull (read);
  g_assert_true (vn_recipe_equal (read, point->recipe));
  settings.recipe = read;
  job = vn_quantize_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, NULL));
  ours = vn_onnx_write_bytes (vn_quantize_job_get_result (job)->quantized, NULL);
  theirs = vn_onnx_write_bytes (result->quantized, NULL);
  g_assert_true (g_bytes_equal (ours, theirs));
}

static void
test_float (Fixture       *fixture,
            gconstpointer  preset)
{
  double before = -INFINITY;

  for (guint percent = 0; percent <= 60; percent += 20)
    {
      g_autoptr(VnRun) result = NULL;
      const VnCurvePoint *point;

      fixture->settings.most_float = percent / 100.0;
      result = run_curve (fixture);
      point = find_chosen (result->curve);
      g_assert_cmpint (result->curve->cost, ==, VN_CURVE_COST_FLOAT);
      g_assert_cmpfloat (1 - vn_runtime_forecast_integer_share (result->forecast), <=, percent / 100.0 + 1e-9);
      g_assert_cmpfloat (point->measured_db, >=, before - 0.5);
      before = point->measured_db;
      check_makes_again (fixture, point, result);
    }
  g_assert_cmpfloat (before, >, 20);
}

static void
test_size (Fixture       *fixture,
           gconstpointer  preset)
{
  g_autoptr(VnRun) whole = NULL, result = NULL;
  const VnCurvePoint *point;

  fixture->settings.cost = VN_CURVE_COST_SIZE;
  whole = run_curve (fixture);
  g_assert_cmpuint (vn_curve_get (whole->curve, 0)->bytes, <, whole->quantized_bytes);
  g_assert_cmpuint (vn_curve_get (whole->curve, 0)->n_small, >, 0);
  fixture->settings.cost = VN_N_CURVE_COSTS;
  fixture->settings.most_bytes = (vn_curve_get (whole->curve, 0)->bytes + whole->quantized_bytes) / 2;
  result = run_curve (fixture);
  point = find_chosen (result->curve);
  g_assert_cmpint (result->curve->cost, ==, VN_CURVE_COST_SIZE);
  g_assert_cmpuint (result->quantized_bytes, <=, fixture->settings.most_bytes);
  g_assert_cmpuint (point->n_small, >, 0);
  check_makes_again (fixture, point, result);
}

/* Weights of 4 bit are worth what second-order rounding makes of them: in what is measured, and in what is written. */
static void
test_rounding (Fixture       *fixture,
               gconstpointer  preset)
{
  double db[2];

  fixture->settings.cost = VN_CURVE_COST_SIZE;
  for (guint i = 0; i < G_N_ELEMENTS (db); i++)
    {
      g_autoptr(VnRun) result = NULL;
      const VnCurvePoint *point;

      g_assert_true (vn_recipe_set (fixture->recipe, "rounding", i == 0 ? "nearest" : "second-order", NULL));
      result = run_curve (fixture);
      point = vn_curve_get (result->curve, 0);
      g_assert_cmpuint (point->n_small, >=, LAYERS - 1);
      db[i] = vn_curve_point_get_db (point);
      g_assert_cmpfloat (vn_curve_get_worst_miss (result->curve, NULL), <=, 1);
    }
  g_test_message ("%.2f dB, second-order %.2f dB", db[0], db[1]);
  g_assert_cmpfloat (db[1], >, db[0] + 1);
}

static void
test_target (Fixture       *fixture,
             gconstpointer  preset)
{
  g_autoptr(VnRun) whole = run_curve (fixture), result = NULL;
  double wanted = vn_curve_point_get_db (find_plain (whole->curve)) + 3;
  const VnCurvePoint *point;

  fixture->settings.target_db = wanted;
  result = run_curve (fixture);
  point = find_chosen (result->curve);
  g_assert_cmpfloat (point->measured_db, >=, wanted);
  for (guint i = 0; vn_curve_get (result->curve, i) != point; i++)
    g_assert_cmpfloat (vn_curve_point_get_db (vn_curve_get (result->curve, i)), <, wanted);
  check_makes_again (fixture, point, result);
}

static void
check_fails (Fixture    *fixture,
             const char *text)
{
  g_autoptr(VnJob) job = vn_curve_job_new (&fixture->settings);
  g_autoptr(GError) error = NULL;

  g_assert_false (vn_job_run (job, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
  if (strstr (error->message, text) == NULL)
    g_error ("%s", error->message);
}

static void
test_out_of_reach (Fixture       *fixture,
                   gconstpointer  preset)
{
  fixture->settings.target_db = 60;
  fixture->settings.most_float = 0.01;
  check_fails (fixture, "No configuration reaches 60.0 dB");
  fixture->settings.target_db = fixture->settings.most_float = NAN;
  fixture->settings.most_bytes = 100;
  check_fails (fixture, "No configuration fits into 100");
}

static void
test_threads (Fixture       *fixture,
              gconstpointer  preset)
{
  g_autoptr(VnRun) one = run_curve (fixture);

  for (guint n = 2; n <= 4; n++)
    {
      g_autoptr(VnRun) other = NULL;

      fixture->settings.quantize.n_threads = n;
      other = run_curve (fixture);
      g_assert_cmpuint (vn_curve_get_n (one->curve), ==, vn_curve_get_n (other->curve));
      for (guint i = 0; i < vn_curve_get_n (one->curve); i++)
        {
          const VnCurvePoint *a = vn_curve_get (one->curve, i), *b = vn_curve_get (other->curve, i);

          g_assert_cmpfloat (a->predicted_db, ==, b->predicted_db);
          g_assert_true (a->measured_db == b->measured_db || (isnan (a->measured_db) && isnan (b->measured_db)));
          g_assert_cmpuint (a->bytes, ==, b->bytes);
          g_assert_true (vn_recipe_equal (a->recipe, b->recipe));
        }
    }
}

/* Where 16 bit are computed on integers nothing goes to float. */
static void
test_wide (Fixture       *fixture,
           gconstpointer  preset)
{
  g_autoptr(VnRun) result = NULL;
  const VnCurvePoint *last;

  g_assert_true (vn_recipe_set (fixture->recipe, "activation", "u8", NULL));
  result = run_curve (fixture);
  last = vn_curve_get (result->curve, vn_curve_get_n (result->curve) - 1);
  g_assert_cmpuint (last->n_wide, >, 0);
  g_assert_cmpuint (last->n_float, ==, 0);
  g_assert_cmpfloat (last->wide_share, >, 0.5);
  g_assert_cmpfloat (vn_curve_point_get_db (last), >, vn_curve_point_get_db (find_plain (result->curve)) + 1);
  g_assert_cmpfloat (vn_curve_get_worst_miss (result->curve, NULL), <=, 0.5);
}

/* ---- what corrects predictions ---- */

/* By model m a choice at @at comes to m dB more at its lower end, and is otherwise somewhere else. */
static VnCurveSums
make_sums (double at)
{
  VnCurveSums sums = { .place = at };

  for (guint m = 0; m < VN_CURVE_N_MODELS; m++)
    sums.db[m] = at + m * (1 + sin (3 * at));
  return sums;
}

/* The model that measured choices go by is found, and what they have in common is added; between two it changes evenly. */
static void
test_fit (void)
{
  for (guint model = 0; model < VN_CURVE_N_MODELS; model++)
    {
      g_autoptr(VnCurveFit) fit = vn_curve_fit_new ();

      for (guint at = 20; at < 40; at += 2)
        {
          VnCurveSums sums = make_sums (at);

          vn_curve_fit_add (fit, &sums, sums.db[model] + 0.1 * at - 1);
        }
      g_assert_cmpuint (vn_curve_fit_choose (fit), ==, model);
      for (double at = 21; at < 38; at += 2)
        {
          VnCurveSums sums = make_sums (at);

          g_assert_cmpfloat_with_epsilon (vn_curve_fit_predict (fit, &sums), sums.db[model] + 0.1 * at - 1, 1e-9);
        }
    }
}

static void
test_fit_ends (void)
{
  g_autoptr(VnCurveFit) fit = vn_curve_fit_new ();
  VnCurveSums low = { { 10, 10, 10, 10, 10 }, 1 }, same = { { 10.1, 10.1, 10.1, 10.1, 10.1 }, 1.5 },
  high = { { 20, 20, 20, 20, 20 }, 4 };
  VnCurveSums below = { { 5, 5, 5, 5, 5 }, 0 }, above = { { 50, 50, 50, 50, 50 }, 9 };

  vn_curve_fit_choose (fit);
  g_assert_cmpfloat (vn_curve_fit_predict (fit, &low), ==, 10);
  vn_curve_fit_add (fit, &high, 19);
  vn_curve_fit_choose (fit);
  g_assert_cmpfloat (vn_curve_fit_predict (fit, &low), ==, 9);
  vn_curve_fit_add (fit, &low, 11);
  vn_curve_fit_add (fit, &same, 11.3);
  vn_curve_fit_choose (fit);
  g_assert_cmpfloat_with_epsilon (vn_curve_fit_predict (fit, &below), 6.1, 1e-9);
  g_assert_cmpfloat_with_epsilon (vn_curve_fit_predict (fit, &above), 49, 1e-9);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/curve/fit", test_fit);
  g_test_add_func ("/curve/fit-ends", test_fit_ends);
  g_test_add ("/curve/prediction", Fixture, NULL, set_up, test_prediction, tear_down);
  g_test_add ("/curve/budget-float", Fixture, NULL, set_up, test_float, tear_down);
  g_test_add ("/curve/budget-size", Fixture, NULL, set_up, test_size, tear_down);
  g_test_add ("/curve/rounding", Fixture, NULL, set_up, test_rounding, tear_down);
  g_test_add ("/curve/target", Fixture, NULL, set_up, test_target, tear_down);
  g_test_add ("/curve/out-of-reach", Fixture, NULL, set_up, test_out_of_reach, tear_down);
  g_test_add ("/curve/threads", Fixture, NULL, set_up, test_threads, tear_down);
  g_test_add ("/curve/wide", Fixture, "a16w8", set_up, test_wide, tear_down);
  return g_test_run ();
}
