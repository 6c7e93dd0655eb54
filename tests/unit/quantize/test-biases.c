/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Biases that need more than 32 bits with the scales of input and weight, in every type of weight; what scales are raised to; and
 * clamps in front of wide types. */

#include "quantize-fixture.h"

#include "vn-error.h"

#include <string.h>

/* Conv with three channels, one of which has weights that are tiny beside its bias; Gemm with a factor of its bias. */
static void
build (Fixture *f)
{
  VnTensor *w, *bias;
  VnNode *gemm;

  fixture_input (f, "x", VN_SHAPE (1, 3, 2, 2));
  w = fixture_weight (f, "w", VN_SHAPE (3, 3, 1, 1), -0.7f, 1);
  for (guint i = 0; i < 3; i++)
    ((float *) w->data)[3 + i] *= 1e-9f;
  bias = fixture_weight (f, "b", VN_SHAPE (3), -0.25f, 0.75f);
  ((float *) bias->data)[1] = -30;
  fixture_node (f, "Conv", "conv", "x w b", "c");
  fixture_weight (f, "wd", VN_SHAPE (3, 1, 1, 1), 0.3f, 1.1f);
  vn_node_set_int (fixture_node (f, "Conv", "depthwise", "c wd", "d"), "group", 3);
  vn_node_set_int (fixture_node (f, "Flatten", "flatten", "d", "r"), "axis", 1);
  fixture_weight (f, "w2", VN_SHAPE (12, 2), -3e-9f, 5e-9f);
  fixture_weight (f, "b2", VN_SHAPE (2), -0.02f, 0.07f);
  gemm = fixture_node (f, "Gemm", "gemm", "r w2 b2", "y");
  vn_node_set_float (gemm, "beta", 300);
  fixture_output (f, "y");
}

/* What is known of the channels of what only the depthwise convolution reads. */
static void
observe_channels (Fixture *f)
{
  static const float numbers[] = { -30.3f, 0.3f, 0.2f, -0.1f, 3.7f, 2.9f };
  VnHistogram *histogram;

  fixture_observe (f, "c", numbers, G_N_ELEMENTS (numbers));
  histogram = g_hash_table_lookup (f->histograms, "c");
  vn_channel_ranges_scan (&histogram->channels, numbers, 1, 3, 2);
}

static guint
count_notes (VnNotes    *notes,
             const char *code)
{
  guint n = 0;

  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    n += g_str_equal (vn_notes_get (notes, i)->code, code);
  return n;
}

static void
check_bias (VnQuantPlan *plan,
            Fixture     *f,
            const char  *name,
            float        beta)
{
  const VnTensorPlan *row = vn_quant_plan_find (plan, name);
  const VnTensor *data = vn_graph_find_value (f->model->graph, name)->initializer;

  g_assert_nonnull (row);
  g_assert_cmpint (row->dtype, ==, VN_DTYPE_S32);
  for (gsize i = 0; i < data->n_elements; i++)
    {
      double steps = fabs ((double) ((const float *) data->data)[i] * (double) beta /
                           (double) ((const float *) row->scale->data)[row->scale->n_elements > 1 ? i : 0]);

      g_assert_cmpfloat (steps, <, 2147483648.0);
    }
}

static void
test_fits (void)
{
  static const char * const types[] = { "int8", "uint8", "int16", "uint16" };
  static const char * const settings[] = { "per-channel", "symmetric-weights", "raise-weight-scales" };

  for (guint i = 0; i < 8 * G_N_ELEMENTS (types); i++)
    {
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnQuantPlan) plan = NULL;

      build (f);
      fixture_complete (f);
      g_assert_true (vn_recipe_set (recipe, "weight", types[i / 8], &error));
      for (guint k = 0; k < G_N_ELEMENTS (settings); k++)
        g_assert_true (vn_recipe_set (recipe, settings[k], i % 8 & 1u << k ? "true" : "false", &error));
      plan = fixture_resolve (f, recipe, notes, &error);
      g_assert_no_error (error);
      g_test_message ("%s, per channel %d, symmetric %d, raised %d", types[i / 8], recipe->per_channel, recipe->symmetric_weights,
                      recipe->raise_weight_scales);
      if (recipe->raise_weight_scales)
        {
          check_bias (plan, f, "b", 1);
          check_bias (plan, f, "b2", 300);
        }
      g_assert_cmpuint (count_notes (notes, "bias-clipped"), ==, recipe->raise_weight_scales ? 0 : recipe->per_channel ? 2 : 1);
      g_assert_cmpuint (count_notes (notes, "weight-scale-raised"), ==, recipe->raise_weight_scales ? recipe->per_channel
                        ? 2 : 1 : 0);
    }
}

static gboolean
is_power_of_two (float scale)
{
  int exponent;

  return frexpf (fabsf (scale), &exponent) == 0.5f;
}

/* All scales, those that were raised for a bias and those of channels and blocks included. */
static void
test_powers (void)
{
  static const struct { const char *settings[8]; } kinds[] = {
    { { "power-of-two", "nearest" } },
    { { "power-of-two", "ppq", "weight", "uint16" } },
    { { "power-of-two", "nearest", "per-channel", "false", "weight", "int16" } },
    { { "method", "minmse" } },
    { { "method", "nonoverflow", "per-channel", "false" } },
    { { "power-of-two", "nearest", "activation-channels", "depthwise" } },
    { { "power-of-two", "nearest", "block-size", "16", "weight", "int4" } },
    { { "power-of-two-types", "Conv", "power-of-two-types", "Gemm", "power-of-two", "nearest" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
      g_autoptr(GError) error = NULL;
      g_autoptr(VnQuantPlan) plan = NULL;
      guint n_scales = 0;

      build (f);
      fixture_complete (f);
      observe_channels (f);
      for (guint k = 0; k < G_N_ELEMENTS (kinds[i].settings) && kinds[i].settings[k] != NULL; k += 2)
        g_assert_true (vn_recipe_set (recipe, kinds[i].settings[k], kinds[i].settings[k + 1], &error));
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_no_error (error);
      for (guint v = 0; v < f->model->graph->values->len; v++)
        {
          const VnValue *value = g_ptr_array_index (f->model->graph->values, v);
          const VnTensorPlan *row = vn_quant_plan_find (plan, value->name);

          for (gsize k = 0; row != NULL && row->quantized && k < row->scale->n_elements; k++, n_scales++)
            if (!is_power_of_two (((const float *) row->scale->data)[k]))
              g_error ("%s %s: the scale of %s is %g", kinds[i].settings[0], kinds[i].settings[1], value->name,
                       (double) ((const float *) row->scale->data)[k]);
        }
      g_assert_cmpuint (n_scales, >=, 8);
      if (recipe->activation_channels != VN_ACTIVATION_CHANNELS_OFF)
        g_assert_cmpuint (vn_quant_plan_find (plan, "c")->scale->n_elements, ==, 3);
    }
}

/* With @int16_scale the raised ones, too, are an integer of 16 bit behind a shift. */
static void
test_raised (void)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  static const float scales[] = { 1e-6f, 0.03f, 0.5f, 0.51f, 3.7f, 30000 };

  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    {
      VnQuantScheme scheme;
      float raised;

      recipe->int16_scale = FALSE;
      recipe->power_of_two = VN_POWER_OF_TWO_OFF;
      vn_quant_scheme_init (&scheme, recipe);
      g_assert_cmpfloat (vn_quant_raise_scale (&scheme.scales, NULL, scales[i]), ==, scales[i]);
      recipe->power_of_two = VN_POWER_OF_TWO_NEAREST;
      vn_quant_scheme_init (&scheme, recipe);
      raised = vn_quant_raise_scale (&scheme.scales, "minmse", scales[i]);
      g_assert_true (is_power_of_two (raised) && raised >= scales[i] && raised < 2 * scales[i]);
      recipe->power_of_two = VN_POWER_OF_TWO_OFF;
      recipe->int16_scale = TRUE;
      vn_quant_scheme_init (&scheme, recipe);
      raised = vn_quant_raise_scale (&scheme.scales, "minmax", scales[i]);
      g_assert_cmpfloat (raised, >=, scales[i]);
      g_assert_cmpfloat (raised, ==, vn_quant_int16_scale (raised));
      g_assert_cmpfloat (raised, <=, scales[i] + MAX (scales[i] / 8192, 1.0f / 32768));
    }
}

/* A type of 16 bit keeps the clamp, and both of its tensors have one grid; what has 8 bit loses it as ever. */
static void
test_wide_clamps (void)
{
  static const struct { const char *preset, *rules; gboolean kept; VnDType dtype; } kinds[] = {
    { "cpu",   "[]", FALSE, VN_DTYPE_U8 },
    { "a16w8", "[]", TRUE, VN_DTYPE_U16 },
    { "cpu",   "[{\"nodes\": \"conv\", \"activation\": \"uint16\"}]", TRUE, VN_DTYPE_U16 },
    { "cpu",   "[{\"nodes\": \"relu\", \"activation\": \"uint16\"}]", TRUE, VN_DTYPE_U16 },
    { "cpu",   "[{\"nodes\": \"second\", \"activation\": \"uint16\"}]", TRUE, VN_DTYPE_U16 },
    { "cpu",   "[{\"tensors\": [\"r\"], \"activation\": \"uint16\"}]", TRUE, VN_DTYPE_U16 },
    { "cpu",   "[{\"nodes\": \"last\", \"activation\": \"uint16\"}]", FALSE, VN_DTYPE_U8 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autofree char *text = g_strdup_printf ("{\"vernier-recipe\": 1, \"preset\": \"%s\", \"rules\": %s}", kinds[i].preset,
                                               kinds[i].rules);
      g_autoptr(Fixture) f = fixture_new (21);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe", &error);
      g_autoptr(VnQuantPlan) plan = NULL;
      const VnTensorPlan *before, *after;

      g_assert_no_error (error);
      fixture_input (f, "x", VN_SHAPE (1, 2, 4, 4));
      fixture_weight (f, "w", VN_SHAPE (2, 2, 1, 1), -0.5f, 1);
      fixture_node (f, "Conv", "conv", "x w", "c");
      fixture_node (f, "Relu", "relu", "c", "r");
      vn_node_set_ints (fixture_node (f, "Transpose", "turn", "r", "t"), "perm", (const gint64[]) { 0, 1, 3, 2 }, 4);
      fixture_node (f, "Conv", "second", "t w", "d");
      fixture_node (f, "Conv", "last", "d w", "y");
      fixture_output (f, "y");
      fixture_complete (f);
      fixture_range (f, "c", -3, 2);
      fixture_range (f, "r", 0, 2);
      fixture_range (f, "t", 0, 2);
      plan = fixture_resolve (f, recipe, NULL, &error);
      g_assert_no_error (error);
      before = vn_quant_plan_find (plan, "c");
      after = vn_quant_plan_find (plan, "r");
      g_test_message ("%s %s", kinds[i].preset, kinds[i].rules);
      g_assert_cmpint (before->quantized, ==, kinds[i].kept);
      g_assert_cmpint (after->dtype, ==, kinds[i].dtype);
      if (!kinds[i].kept)
        continue;
      g_assert_cmpint (before->dtype, ==, kinds[i].dtype);
      g_assert_true (vn_tensor_equal (before->scale, after->scale));
      g_assert_true (vn_tensor_equal (before->zero_point, after->zero_point));
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/biases/fits", test_fits);
  g_test_add_func ("/quantize/biases/powers", test_powers);
  g_test_add_func ("/quantize/biases/raised", test_raised);
  g_test_add_func ("/quantize/biases/wide-clamps", test_wide_clamps);
  return g_test_run ();
}
