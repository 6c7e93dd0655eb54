/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations of AMD's quantizers, in the words of vai_q_onnx and of Quark. */
#include "vn-config.h"

#include <string.h>

/* Fast finetuning, in the words of vai_q_onnx and in those of Quark. */
static void
test_finetune (void)
{
  static const struct
  {
    const char *json;
    VnTrain     train;
    gint64      steps, batch, samples, seed;
    double      rate, regularization, float_inputs;
    gboolean    stops;
  } cases[] = {
    { "\"extra_options\": {\"FastFinetune\": {\"OptimAlgorithm\": \"adaround\", \"NumIterations\": 500, \"LearningRate\": 0.1, "
      "\"BatchSize\": 2,"
      " \"DataSize\": 100, \"FixedSeed\": 17, \"RegParam\": 0.02, \"DropRatio\": 0.75, \"EarlyStop\": true, \"OptimDevice\": "
      "\"cpu\"}}",
      VN_TRAIN_ADAROUND, 500, 2, 100, 17, 0.1, 0.02, 0.25, TRUE },
    { "\"algo_config\": [{\"name\": \"adaquant\", \"num_iterations\": 300, \"learning_rate\": 5e-6, \"batch_size\": 1, "
      "\"data_size\": 64,"
      " \"fixed_seed\": 3, \"drop_ratio\": 1.0}]", VN_TRAIN_ADAQUANT, 300, 1, 64, 3, 0.01, 0.01, 0, FALSE },
    { "\"include_fast_ft\": true", VN_TRAIN_ADAROUND, 0, 4, 64, 1705472343, 0, 0.01, 0, FALSE },
    { "\"include_cle\": false", VN_TRAIN_OFF, 0, 4, 64, 1705472343, 0, 0.01, 0, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = g_strdup_printf ("{%s, \"overall_quantize_config\": {\"datatype\": \"int\", \"bit_width\": 8}}",
                                               cases[i].json);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
      const VnRecipe *recipe = config != NULL ? config->recipe : NULL;

      g_assert_no_error (error);
      g_assert_cmpint (recipe->train, ==, cases[i].train);
      g_assert_cmpint (recipe->train_unit, ==, cases[i].train == VN_TRAIN_OFF ? VN_TRAIN_UNIT_BLOCK : VN_TRAIN_UNIT_LAYER);
      g_assert_cmpint (recipe->train_steps, ==, cases[i].steps);
      g_assert_cmpint (recipe->train_batch, ==, cases[i].batch);
      g_assert_cmpint (recipe->train_samples, ==, cases[i].samples);
      g_assert_cmpint (recipe->train_seed, ==, cases[i].seed);
      g_assert_cmpfloat_with_epsilon (recipe->train_rate, cases[i].rate, 1e-9);
      g_assert_cmpfloat_with_epsilon (recipe->train_regularization, cases[i].regularization, 1e-9);
      g_assert_cmpfloat_with_epsilon (recipe->train_float_inputs, cases[i].float_inputs, 1e-9);
      g_assert_cmpint (recipe->train_early_stop, ==, cases[i].stops);
      g_assert_true (vn_recipe_validate (recipe, &error));
    }
}

static void
test_amd (void)
{
  static const char json[] =
    "{\"include_cle\": true, \"include_bias_corr\": true, \"extra_options\": {\"CLESteps\": -1, \"CLEScaleAppendBias\": false,"
    "   \"CLETotalLayerDiffThreshold\": 1e-6, \"CLEScaleUseThreshold\": false, \"ReplaceClip6Relu\": true},"
    " \"overall_quantize_config\": {\"datatype\": \"int\", \"bit_width\": 8, \"method\": \"entropy\","
    "   \"symmetry\": true, \"signed\": true, \"per_channel\": false, \"scale_type\": \"poweroftwo\"},"
    " \"tensor_quantize_config\": {\"weights\": {\"per_channel\": true}},"
    " \"layer_quantize_config\": [{\"layer_type\": \"Conv2d\", \"layer_name\": null,"
    "   \"overall_quantize_config\": {\"datatype\": \"int\", \"bit_width\": 16, \"method\": \"maxmin\"}}]}";
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
  const VnOverride *rule;

  g_assert_no_error (error);
  g_assert_cmpstr (config->format, ==, "amd");
  g_assert_cmpint (config->recipe->activation, ==, VN_DTYPE_S8);
  g_assert_true (config->recipe->symmetric_activations);
  g_assert_true (config->recipe->per_channel);
  g_assert_cmpint (config->recipe->power_of_two, ==, VN_POWER_OF_TWO_NEAREST);
  g_assert_cmpstr (config->recipe->method, ==, "entropy");
  g_assert_cmpuint (config->recipe->overrides->len, ==, 1);
  rule = g_ptr_array_index (config->recipe->overrides, 0);
  g_assert_cmpstr (rule->pattern, ==, "type:Conv");
  g_assert_cmpint (rule->activation, ==, VN_DTYPE_S16);
  g_assert_cmpint (rule->weight, ==, VN_DTYPE_S16);
  g_assert_cmpstr (rule->method, ==, "minmax");
  g_assert_cmpint (config->recipe->equalize, ==, VN_EQUALIZE_AMD);
  g_assert_cmpint (config->recipe->equalize_steps, ==, -1);
  g_assert_cmpfloat (config->recipe->equalize_threshold, ==, 0);
  g_assert_cmpfloat (config->recipe->equalize_difference, ==, 1e-6);
  g_assert_false (config->recipe->equalize_append_bias);
  g_assert_true (config->recipe->clip6_to_relu);
  g_assert_cmpint (config->recipe->bias_correction, ==, VN_BIAS_CORRECTION_AMD);
}

/* MinMSE there is “mse” with powers of two; its mode says which of ours. */
static void
test_minmse (void)
{
  static const struct { const char *mode, *scale_type, *method; gboolean says; } cases[] = {
    { "MostCommon", "poweroftwo", "minmse-common", FALSE },
    { "All", "poweroftwo", "minmse", FALSE },
    { "Percentile", "poweroftwo", "mse", TRUE },
    { "MostCommon", "float", "mse", TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json =
        g_strdup_printf ("{\"extra_options\": {\"%s\": \"%s\"}, \"overall_quantize_config\": {\"datatype\": \"int\","
                                               " \"method\": \"mse\", \"scale_type\": \"%s\"}}",
                                               i % 2 ? "MinMSEMode" : "MinMSEModePof2Scale", cases[i].mode, cases[i].scale_type);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
      gboolean said = FALSE;

      g_assert_no_error (error);
      g_assert_cmpstr (config->recipe->method, ==, cases[i].method);
      for (guint k = 0; k < vn_notes_get_n (config->notes); k++)
        said = said || g_str_has_suffix (vn_notes_get (config->notes, k)->subject, "MinMSEMode");
      g_assert_cmpint (said, ==, cases[i].says);
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/config-amd/finetune", test_finetune);
  g_test_add_func ("/quantize/config-amd/all", test_amd);
  g_test_add_func ("/quantize/config-amd/minmse", test_minmse);
  return g_test_run ();
}
