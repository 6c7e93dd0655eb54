/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Ranges by methods, for activations and for weights, and scales that are powers of two. */

#include "quantize-fixture.h"

#include "vn-error.h"

#include <float.h>
#include <string.h>

static void
test_widen (void)
{
  static const struct { double min, max, minimum, low, high; } cases[] = {
    { -1, 2, 0, -1, 2 },
    { -INFINITY, INFINITY, 0, -FLT_MAX / 2, FLT_MAX / 2 },
    { 0, 1e-6, 1e-4, 0, 1e-4 },
    { -1e-6, 1e-6, 1e-4, -1e-6, 1e-4 - 1e-6 },      /* only the upper end moves */
    { 3, 3.00001, 1e-4, 3, 3.00001 },               /* 0 is inside: wide enough */
    { -3, -2, 5, -3, 2 },
    { -3, -2, 1, -3, 0 },
  };
  double min = NAN, max = 1;
  g_autoptr(GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      min = cases[i].min;
      max = cases[i].max;
      g_assert_true (vn_quant_widen_range (&min, &max, cases[i].minimum, &error));
      g_test_message ("%g .. %g: %g .. %g", cases[i].min, cases[i].max, min, max);
      g_assert_cmpfloat (min, ==, cases[i].low);
      g_assert_cmpfloat (fabs (max - cases[i].high), <=, 1e-7 * fabs (cases[i].high));
    }
  min = NAN;
  g_assert_false (vn_quant_widen_range (&min, &max, 0, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
}

/* What AMD's and PPQ's quantizers make of ranges: 2^-position and zero point. */
static void
test_power_of_two (void)
{
  static const struct
  {
    const char  *method;
    VnPowerOfTwo power;
    double       min, max;
    VnDType      dtype;
    gboolean     symmetric;
    int          position;
    gint64       zero_point;
  } cases[] = {
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1, VN_DTYPE_S8, TRUE, 7, 0 },        /* 1 is one step beyond 127 / 128 */
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1.02, 1, VN_DTYPE_S8, TRUE, 6, 0 },     /* the nearest would cut off more than that */
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1.4, 1, VN_DTYPE_S8, TRUE, 6, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1.4, VN_DTYPE_S32, TRUE, 30, 0 },
    { "nonoverflow", VN_POWER_OF_TWO_NEAREST, -1.4, 1, VN_DTYPE_S8, TRUE, 7, 0 }, /* as AMD has it, who calls it so */
    { "minmax", VN_POWER_OF_TWO_PPQ, -1, 1, VN_DTYPE_S8, TRUE, 6, 0 },            /* up */
    { "kl", VN_POWER_OF_TWO_PPQ, -1, 1, VN_DTYPE_S8, TRUE, 7, 0 },                /* half up */
    { "nonoverflow", VN_POWER_OF_TWO_OFF, -1, 1, VN_DTYPE_S8, TRUE, 7, 0 },       /* implied */
    { "nonoverflow", VN_POWER_OF_TWO_PPQ, -1, 1, VN_DTYPE_S8, TRUE, 7, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1, VN_DTYPE_U8, TRUE, 7, 128 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 3, VN_DTYPE_U8, FALSE, 6, 64 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, 0, 0, VN_DTYPE_U8, FALSE, 0, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -INFINITY, INFINITY, VN_DTYPE_S8, TRUE, -120, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1, VN_DTYPE_S16, TRUE, 15, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1, VN_DTYPE_S32, TRUE, 31, 0 },
    { "minmax", VN_POWER_OF_TWO_NEAREST, -1, 1, VN_DTYPE_U32, FALSE, 31, 2147483648 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
      g_autoptr(GError) error = NULL;
      VnQuantScheme scheme;
      float scale;
      gint64 zero_point;

      recipe->power_of_two = cases[i].power;
      vn_quant_scheme_init (&scheme, recipe);
      g_assert_true (vn_quant_make_params (&scheme.scales, cases[i].method, &(VnRange) { cases[i].min, cases[i].max },
                                           cases[i].dtype, cases[i].symmetric, FALSE, &scale, &zero_point, &error));
      g_test_message ("%s %g .. %g: %g, %" G_GINT64_FORMAT, cases[i].method, cases[i].min, cases[i].max, scale, zero_point);
      g_assert_cmpfloat (scale, ==, ldexpf (1, -cases[i].position));
      g_assert_cmpint (zero_point, ==, cases[i].zero_point);
    }
}

/* A channel's range is that of its elements alone, wherever the axis is. */
static void
test_channels (void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (4);
  g_autoptr(GError) error = NULL;
  const VnShape shape = VN_SHAPE (3, 4, 5);
  g_autoptr(VnTensor) data = vn_tensor_new (VN_DTYPE_F32, &shape, &error);
  const VnRangeSettings settings = { .symmetric = TRUE, .bits = 4, .qmin = -7, .qmax = 7, .percentile = 99 };
  static const char * const methods[] = { "minmse", "nonoverflow", "mse", "octav" };
  float *x = data->data;

  for (gsize i = 0; i < data->n_elements; i++)
    x[i] = (float) g_rand_double_range (rand, -1, 1) * (float) (1 + i / 20);
  for (guint m = 0; m < G_N_ELEMENTS (methods); m++)
    for (int axis = -1; axis < 3; axis++)
      {
        const VnRangeMethod *method = vn_range_method_find (methods[m], NULL);
        const guint n = axis < 0 ? 1 : (guint) shape.dims[axis];
        float min[5], max[5];

        g_assert_true (vn_quant_method_ranges (data, axis, method, &settings, min, max, &error));
        for (guint c = 0; c < n; c++)
          {
            float own[60], own_min, own_max;
            guint count = 0;
            g_autoptr(VnTensor) alone = NULL;

            for (guint i = 0; i < 60; i++)
              if (axis < 0 || (axis == 0 ? i / 20 : axis == 1 ? i / 5 % 4 : i % 5) == c)
                own[count++] = x[i];
            alone = vn_tensor_new_f32 (&VN_SHAPE (count), own);
            g_assert_true (vn_quant_method_ranges (alone, -1, method, &settings, &own_min, &own_max, &error));
            g_assert_cmpfloat (own_min, ==, min[c]);
            g_assert_cmpfloat (own_max, ==, max[c]);
          }
      }
}

/* A channel without values, a scalar, nothing at all. */
static void
test_edges (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) dead = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (2, 3), &error);
  g_autoptr(VnTensor) none = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (2, 0), &error);
  const VnRangeSettings settings = { .symmetric = TRUE, .bits = 8, .qmin = -127, .qmax = 127, .percentile = 99.9 };
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  memcpy (dead->data, (float[]) { 0, 0, 0, 1, -2, 3 }, 6 * sizeof (float));
  for (guint i = 0; i < n; i++)
    {
      float min[2], max[2];

      g_assert_true (vn_quant_method_ranges (dead, 0, methods[i], &settings, min, max, &error));
      g_assert_no_error (error);
      g_test_message ("%s: %g .. %g, %g .. %g", methods[i]->id, min[0], max[0], min[1], max[1]);
      g_assert_true (isfinite (min[0]) && isfinite (max[0]) && min[0] <= 0 && max[0] >= 0);
      g_assert_true (min[1] < 0 && max[1] > 0);
      g_assert_true (vn_quant_method_ranges (none, 0, methods[i], &settings, min, max, &error));
      g_assert_true (isfinite (min[1]) && isfinite (max[1]));
    }
}

static VnQuantPlan *
resolve (VnRecipe *recipe)
{
  g_autoptr(Fixture) f = fixture_new (13);
  g_autoptr(GError) error = NULL;
  VnQuantPlan *plan;

  fixture_input (f, "x", VN_SHAPE (1, 2, 4, 4));
  fixture_weight (f, "w", VN_SHAPE (3, 2, 1, 1), -0.5f, 1);
  fixture_weight (f, "b", VN_SHAPE (3), -0.25f, 0.75f);
  fixture_node (f, "Conv", "conv", "x w b", "c");
  fixture_node (f, "Sigmoid", "sigmoid", "c", "s");
  fixture_node (f, "Add", "add", "c s", "y");
  fixture_output (f, "y");
  fixture_observe (f, "c", (float[]) { -3, 0.1f, 0.2f, 0.3f, 2 }, 5);
  fixture_complete (f);
  plan = fixture_resolve (f, recipe, NULL, &error);
  g_assert_no_error (error);
  return plan;
}

/* The recipe's word holds for every tensor, weights and those with a fixed range included. */
static void
test_recipe (void)
{
  static const char * const settings[][2] = {
    { "power-of-two", "nearest" }, { "power-of-two", "ppq" }, { "method", "nonoverflow" }, { "method", "minmse" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu-s8");
      g_autoptr(VnQuantPlan) plan = NULL;
      guint n = 0;

      g_assert_true (vn_recipe_set (recipe, settings[i][0], settings[i][1], NULL));
      if (g_str_equal (settings[i][0], "method"))
        g_assert_true (vn_recipe_set (recipe, "weight-method", settings[i][1], NULL));
      recipe->per_channel = i % 2;
      plan = resolve (recipe);
      for (guint k = 0; k < vn_quant_plan_get_n (plan); k++)
        {
          const VnTensorPlan *row = vn_quant_plan_get (plan, k);

          for (gsize c = 0; row->quantized && row->role != VN_TENSOR_BIAS && c < row->scale->n_elements; c++)
            {
              const float scale = ((const float *) row->scale->data)[c];
              int exponent;

              g_test_message ("%s: %g", row->name, scale);
              g_assert_cmpfloat (frexpf (scale, &exponent), ==, 0.5f);
              n++;
            }
        }
      g_assert_cmpuint (n, >, 3);
    }
}

/* The plan says whose range it was. */
static void
test_winner (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  g_autoptr(VnQuantPlan) plan = NULL;

  g_assert_true (vn_recipe_set (recipe, "method", "best", NULL));
  plan = resolve (recipe);
  g_test_message ("%s", vn_quant_plan_find (plan, "c")->method);
  g_assert_true (g_str_has_prefix (vn_quant_plan_find (plan, "c")->method, "best: "));
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/quantize/ranges/widen", test_widen);
  g_test_add_func ("/quantize/ranges/power-of-two", test_power_of_two);
  g_test_add_func ("/quantize/ranges/channels", test_channels);
  g_test_add_func ("/quantize/ranges/edges", test_edges);
  g_test_add_func ("/quantize/ranges/recipe", test_recipe);
  g_test_add_func ("/quantize/ranges/winner", test_winner);

  return g_test_run ();
}
