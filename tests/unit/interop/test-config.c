/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Configurations of XQuant, XSlim and ONNX Runtime, and whatever stands in files of others. */
#include "vn-config.h"

#include "vn-error.h"
#include "vn-graph-edit.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

/* data -> Conv -> a, Softmax -> b, Mul (a, b) -> c, Mul (c, constant) -> y */
static VnModel *
make_model (void)
{
  const float one = 1;
  g_autoptr(VnTensor) tensor = vn_tensor_new_f32 (&VN_SHAPE (1, 1, 1, 1), &one);
  VnModel *model = vn_model_new (8, 13);
  VnGraph *graph = model->graph;
  VnValue *data = vn_graph_add_input (graph, "data", VN_DTYPE_F32, &VN_SHAPE (VN_DIM_UNKNOWN, 1, 8, 8));
  VnValue *w = vn_graph_add_initializer (graph, "w", tensor);
  VnValue *a = vn_graph_add_value (graph, "a", VN_DTYPE_F32, NULL), *b = vn_graph_add_value (graph, "b", VN_DTYPE_F32, NULL);
  VnValue *c = vn_graph_add_value (graph, "c", VN_DTYPE_F32, NULL), *y = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);

  vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { data, w }, 2, &a, 1);
  vn_graph_add_node (graph, "softmax", "", "Softmax", &a, 1, &b, 1);
  vn_graph_add_node (graph, "mul", "", "Mul", (VnValue *[]) { a, b }, 2, &c, 1);
  vn_graph_add_node (graph, "scale", "", "Mul", (VnValue *[]) { c, w }, 2, &y, 1);
  vn_graph_set_output (graph, 0, y);
  return model;
}

/* The last rule that matches decides; rules with edges are left out here. */
static gboolean
is_excluded (const VnRecipe *recipe,
             VnModel        *model,
             const char     *name)
{
  gboolean excluded = FALSE;

  for (guint i = 0; i < recipe->overrides->len; i++)
    {
      const VnOverride *rule = g_ptr_array_index (recipe->overrides, i);

      if (rule->in_edges == NULL && vn_override_matches (rule, vn_graph_find_node (model->graph, name)))
        excluded = rule->exclude;
    }
  return excluded;
}

#define INPUT "{\"mean_value\": [1, 2, 3], \"std_value\": [4, 5, 6]}"

/* Every field of the manual, in both spellings. */
static void
test_xquant (void)
{
  static const char text[] =
    "{\"model_parameters\": {\"onnx_model\": \"m.onnx\", \"output_prefix\": \"out\", \"working_dir\": \"./w\","
    "   \"skip_onnxsim\": false},"
    " \"calibration_parameters\": {\"calibration_step\": 200, \"calibration_device\": \"cpu\", \"calibration_type\": \"kl\","
    "   \"%s\": [{\"input_name\": \"data\", \"input_shape\": [\"batch\", 1, 8, 8], \"dtype\": \"float32\","
    "     \"file_type\": \"img\", \"color_format\": \"rgb\", \"mean_value\": [103.94, 116.78, 123.68],"
    "     \"std_value\": 57, \"preprocess_file\": \"\", \"data_list_path\": \"list.txt\"}]},"
    " \"quantization_parameters\": {\"analysis_enable\": false, \"precision_level\": 0, \"finetune_level\": 1,"
    "   \"max_percentile\": 0.9995, \"custom_setting\": [{\"input_names\": [\"a\"], \"output_names\": \"c\","
    "     \"max_percentile\": 0.999, \"precision_level\": 2, \"calibration_type\": \"minmax\"}],"
    "   \"truncate_var_names\": [\"c\"], \"ignore_op_types\": [\"Relu\"], \"ignore_op_names\": [\"conv\"]}}";
  static const char * const spellings[] = { "input_parametres", "input_parameters" };

  for (guint i = 0; i < G_N_ELEMENTS (spellings); i++)
    {
      g_auto(GStrv) halves = g_strsplit (text, "%s", 2);
      g_autofree char *json = g_strconcat (halves[0], spellings[i], halves[1], NULL);
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
      const VnConfigInput *input;
      const VnOverride *rule;

      g_assert_no_error (error);
      g_assert_cmpstr (config->format, ==, "xquant");
      g_assert_cmpstr (config->model, ==, "m.onnx");
      g_assert_cmpstr (config->prefix, ==, "out");
      g_assert_cmpstr (config->working_dir, ==, "./w");
      g_assert_cmpuint (config->n_samples, ==, 200);
      g_assert_false (config->analyze);
      g_assert_cmpstr (config->recipe->method, ==, "kl-ppq");
      g_assert_cmpfloat_with_epsilon (config->recipe->percentile, 99.95, 1e-9);
      g_assert_cmpuint (config->inputs->len, ==, 1);
      input = g_ptr_array_index (config->inputs, 0);
      g_assert_cmpint (input->preprocess.color, ==, VN_COLOR_RGB);
      g_assert_cmpfloat (input->preprocess.mean[2], ==, 123.68f);
      g_assert_cmpfloat (input->preprocess.std[2], ==, 57);
      g_assert_cmpuint (config->recipe->overrides->len, ==, 5);   /* the region, two kinds of nodes in it, two to ignore */
      rule = g_ptr_array_index (config->recipe->overrides, 0);
      g_assert_cmpstr (rule->in_edges[0], ==, "a");
      g_assert_cmpstr (rule->out_edges[0], ==, "c");
      g_assert_cmpstr (rule->method, ==, "minmax");
      g_assert_cmpfloat_with_epsilon (rule->percentile, 99.9, 1e-9);
      for (guint k = 0; k < vn_notes_get_n (config->notes); k++)
        g_assert_cmpint (vn_notes_get (config->notes, k)->level, ==, VN_NOTE_INFO);
      vn_config_bind (config, model, FALSE, &error);
      g_assert_no_error (error);
      rule = g_ptr_array_index (config->recipe->overrides, 5);
      g_assert_true (rule->exclude);
      g_assert_cmpstr (rule->in_edges[0], ==, "c");
      g_assert_cmpstr (rule->out_edges[0], ==, "y");
      {
        g_autoptr(GHashTable) shapes = vn_config_make_shapes (config, model, &error);

        g_assert_nonnull (shapes);
        g_assert_cmpint (((VnShape *) g_hash_table_lookup (shapes, "data"))->dims[0], ==, 1);
      }
    }
}

#define CALIBRATION(text) "{\"calibration_parameters\": {" text "}}"
#define QUANTIZATION(text) "{\"quantization_parameters\": {" text "}}"

/* “。/tmp” is meant to be “./tmp”, and said. */
static void
test_full_width (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse ("{\"model_parameters\": {\"working_dir\": \"\xe3\x80\x82\xef\xbc\x8ftmp\"}}", -1,
                                                "c.json", &error);

  g_assert_no_error (error);
  g_assert_cmpstr (config->working_dir, ==, "./tmp");
  g_assert_cmpuint (vn_notes_get_n (config->notes), >, 0);
  g_assert_nonnull (strstr (vn_notes_get (config->notes, 0)->text, "full-width"));
}

/* XSlim takes 500 samples, XQuant 100: told by how they spell, and by fields that only XSlim has. */
static void
test_samples (void)
{
  static const struct { const char *json; guint n; } cases[] = {
    { "{\"model_parameters\": {}}", 100 }, { CALIBRATION ("\"input_parametres\": []"), 100 },
    { CALIBRATION ("\"input_parameters\": []"), 500 }, { CALIBRATION ("\"calibration_batch_size\": 1"), 500 },
    { QUANTIZATION ("\"ignore_op_types\": []"), 500 }, { "{\"model_parameters\": {\"opset\": 13}}", 500 },
    { CALIBRATION ("\"input_parameters\": [], \"calibration_step\": 20"), 20 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (cases[i].json, -1, "c.json", &error);

      g_assert_no_error (error);
      g_assert_cmpuint (config->n_samples, ==, cases[i].n);
    }
}

/* Biases stay float unless the variable is 0. */
static void
test_bias (void)
{
  static const struct { const char *value; VnBiasType bias; gboolean good; } cases[] = {
    { NULL, VN_BIAS_F32, TRUE }, { "1", VN_BIAS_F32, TRUE }, { "0", VN_BIAS_AUTO, TRUE }, { "no", 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = NULL;

      if (cases[i].value != NULL)
        g_setenv ("XQUANT_BIAS_TO_FP32", cases[i].value, TRUE);
      config = vn_config_parse ("{\"model_parameters\": {}}", -1, "c.json", &error);
      g_unsetenv ("XQUANT_BIAS_TO_FP32");
      g_assert_true ((config != NULL) == cases[i].good);
      if (config != NULL)
        g_assert_cmpint (config->recipe->bias, ==, cases[i].bias);
    }
}

/* What is not said. */
static void
test_defaults (void)
{
  static const char json[] = "{\"model_parameters\": {}, \"calibration_parameters\": {\"input_parametres\": [" INPUT "]}}";
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
  const VnConfigInput *input;

  g_assert_no_error (error);
  g_assert_cmpuint (config->n_samples, ==, 100);
  g_assert_true (config->analyze);
  g_assert_null (config->prefix);
  g_assert_null (config->working_dir);
  g_assert_cmpstr (config->recipe->method, ==, "xslim");
  g_assert_cmpfloat_with_epsilon (config->recipe->percentile, 99.99, 1e-9);
  g_assert_cmpint (config->recipe->activation, ==, VN_DTYPE_S8);
  g_assert_false (config->recipe->symmetric_activations);
  g_assert_true (config->recipe->per_channel);
  input = g_ptr_array_index (config->inputs, 0);
  g_assert_cmpint (input->preprocess.color, ==, VN_COLOR_BGR);
  g_assert_cmpuint (config->recipe->overrides->len, ==, 0);
}

static void
test_levels (void)
{
  static const struct { int level; gboolean conv, softmax, mul, scale; } cases[] = {
    { 0, FALSE, FALSE, FALSE, FALSE },
    { 1, FALSE, FALSE, FALSE, FALSE },
    { 2, FALSE, TRUE, TRUE, FALSE },   /* the product with a constant is quantized */
  };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = g_strdup_printf ("{\"quantization_parameters\": {\"precision_level\": %d}}", cases[i].level);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);

      g_assert_no_error (error);
      g_assert_cmpint (is_excluded (config->recipe, model, "conv"), ==, cases[i].conv);
      g_assert_cmpint (is_excluded (config->recipe, model, "softmax"), ==, cases[i].softmax);
      g_assert_cmpint (is_excluded (config->recipe, model, "mul"), ==, cases[i].mul);
      g_assert_cmpint (is_excluded (config->recipe, model, "scale"), ==, cases[i].scale);
    }
}

/* Levels that are formats of their own. */
static void
test_format_levels (void)
{
  static const struct { int level; VnFormat format; gboolean dynamic; } cases[] = {
    { 0, VN_FORMAT_QDQ, FALSE }, { 3, VN_FORMAT_INTEGER, TRUE }, { 4, VN_FORMAT_FP16, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = g_strdup_printf ("{\"quantization_parameters\": {\"precision_level\": %d}}", cases[i].level);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);

      g_assert_no_error (error);
      g_assert_cmpint (config->recipe->format, ==, cases[i].format);
      g_assert_cmpint (config->recipe->dynamic, ==, cases[i].dynamic);
    }
}

/* The message must say these, so that the place, the value and what is allowed can be found. */
static void
test_wrong (void)
{
  static const struct { const char *json, *says[3]; } cases[] = {
    { CALIBRATION ("\"calibration_type\": \"entropy\""), { "calibration_type entropy", "default, kl, minmax, percentile, mse" } },
    { CALIBRATION ("\"input_parametres\": [{\"file_type\": \"tfrecord\"}]"), { "file_type tfrecord", "img, npy, raw" } },
    { CALIBRATION ("\"input_parametres\": [{\"std_value\": [1, 0]}]"), { "input_parametres[0].std_value" } },
    { CALIBRATION ("\"input_parametres\": [{\"std_value\": 1e-60}]"), { "input_parametres[0].std_value", "1e-60" } },
    { CALIBRATION ("\"input_parametres\": [{\"mean_value\": 1e60}]"), { "input_parametres[0].mean_value", "1e+60" } },
    { CALIBRATION ("\"input_parametres\": {}"), { "input_parametres", "an array" } },
    { CALIBRATION ("\"input_parametres\": [{\"mean_value\": [1, 2, 3, 4, 5]}]"), { "mean_value", "1 to 4" } },
    { CALIBRATION ("\"input_parametres\": [{\"input_shape\": [1.5]}]"), { "input_shape[0]", "1.5" } },
    { CALIBRATION ("\"input_parametres\": [{\"preprocess_file\": \"TF_IMAGENET\"}]"),
      { "preprocess_file", "PT_IMAGENET, IMAGENET" } },
    { CALIBRATION ("\"calibration_step\": 0"), { "calibration_step", "0" } },
    { QUANTIZATION ("\"precision_level\": 5"), { "precision_level", "5", "0 to 4" } },
    { QUANTIZATION ("\"precision_level\": 1.5"), { "precision_level", "1.5" } },
    { QUANTIZATION ("\"finetune_level\": \"high\""), { "finetune_level", "a number" } },
    { QUANTIZATION ("\"max_percentile\": 99.99"), { "max_percentile", "99.99", "0.5 to 1" } },
    { QUANTIZATION ("\"custom_setting\": [{\"input_names\": [\"a\"]}]"), { "custom_setting[0]", "output_names" } },
    { QUANTIZATION ("\"truncate_var_names\": [\"a\"] \"Truncate the model\""), { "c.json", "1" } },
    { "\"model_parameters\": {}", { "c.json" } },
    { "{\"targets\": []}", { "XQuant" } },
    { "{\"quantization_points\": {}}", { "this is an NNCF configuration" } },
    { "{\"defaults\": {}, \"op_type\": {}}", { "this is an AIMET configuration" } },
    { "{\"configs\": {}, \"values\": {}}", { "a PPQ table", "--ranges" } },
    { "[]", { "c.json" } },
    { "", { "c.json" } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (cases[i].json, -1, "c.json", &error);

      g_test_message ("%s: %s", cases[i].json, error != NULL ? error->message : "no error");
      g_assert_null (config);
      g_assert_nonnull (error);
      for (guint k = 0; k < G_N_ELEMENTS (cases[i].says) && cases[i].says[k] != NULL; k++)
        g_assert_nonnull (strstr (error->message, cases[i].says[k]));
    }
}

/* What only the network can tell. */
static void
test_bind_wrong (void)
{
  static const struct { const char *json, *says; } cases[] = {
    { CALIBRATION ("\"input_parametres\": [" INPUT ", " INPUT "]"),
      "Calibration input_parametres size should equal to model inputs size" },
    { CALIBRATION (""), "Calibration input_parametres size should equal to model inputs size" },
    { CALIBRATION ("\"input_parametres\": [{\"input_name\": \"image\"}]"), "“image”" },
    { CALIBRATION ("\"input_parametres\": [{\"input_shape\": [1, 3, 8, 8]}]"), "input_shape" },
    { CALIBRATION ("\"input_parametres\": [{\"dtype\": \"int8\"}]"), "input_parametres[0].dtype: int8 not implemented yet" },
    { "{\"calibration_parameters\": {\"input_parametres\": [" INPUT "]}, \"quantization_parameters\": {\"custom_setting\": ["
      "{\"input_names\": [\"a\"], \"output_names\": [\"nowhere\"], \"precision_level\": 2}]}}",
      "custom_setting: output_names: the model has no tensor “nowhere”" },
    { "{\"calibration_parameters\": {\"input_parametres\": [" INPUT "]},"
      " \"quantization_parameters\": {\"truncate_var_names\": [\"nowhere\"]}}", "truncate graph failed" },
    { "{\"calibration_parameters\": {\"input_parametres\": [" INPUT "]},"
      " \"quantization_parameters\": {\"truncate_var_names\": [\"b\"]}}", "truncate graph failed" },
  };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (cases[i].json, -1, "c.json", &error);

      g_assert_no_error (error);
      g_assert_false (vn_config_bind (config, model, FALSE, &error));
      g_test_message ("%s", error->message);
      g_assert_nonnull (strstr (error->message, cases[i].says));
    }
}

static void
test_no_samples (void)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (CALIBRATION ("\"input_parametres\": [{\"data_list_path\": \"nothing.txt\"}]"), -1,
                                                "c.json", &error);

  g_assert_true (vn_config_bind (config, model, FALSE, &error));
  g_assert_null (vn_config_make_data (config, model, NULL, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
  g_assert_nonnull (strstr (error->message, "Calibration input data finds 0 items"));
}

/* A device has no end, a pipe may have no beginning, an empty file has neither. */
static void
test_endless_list (void)
{
  g_autofree char *folder = g_dir_make_tmp ("vn-config-XXXXXX", NULL), *pipe = g_build_filename (folder, "pipe", NULL);
  g_autofree char *empty = g_build_filename (folder, "empty", NULL);

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_true (g_file_set_contents (empty, "", 0, NULL));
  for (guint i = 0; i < 3; i++)
    {
      g_autoptr(VnModel) model = make_model ();
      g_autoptr(GError) error = NULL;
      g_autofree char *json = g_strdup_printf (CALIBRATION ("\"input_parametres\": [{\"data_list_path\": \"%s\"}]"),
                                               i == 0 ? "/dev/zero" : i == 1 ? empty : pipe);
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
      g_autoptr(VnDataSpec) data = NULL;

      g_assert_no_error (error);
      g_assert_true (vn_config_bind (config, model, FALSE, &error));
      data = vn_config_make_data (config, model, NULL, &error);
      g_assert_null (data);
      g_assert_error (error, VN_ERROR, VN_ERROR_MISSING_DATA);
    }
  g_assert_cmpint (g_unlink (pipe), ==, 0);
  g_assert_cmpint (g_unlink (empty), ==, 0);
  g_assert_cmpint (g_rmdir (folder), ==, 0);
}

static void
test_unknown_field (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (QUANTIZATION ("\"finetune_levle\": 1"), -1, "c.json", &error);
  gboolean told = FALSE;

  g_assert_no_error (error);
  for (guint i = 0; i < vn_notes_get_n (config->notes); i++)
    {
      const VnNote *note = vn_notes_get (config->notes, i);

      told = told || (note->level == VN_NOTE_WARNING && g_str_has_suffix (note->subject, "finetune_levle"));
    }
  g_assert_true (told);
}

/* Files of the programs themselves. */
static void
test_originals (void)
{
  static const struct { const char *file, *format, *error; } cases[] = {
    { "xslim/bertsquad.json", "xquant", NULL },
    { "xslim/history_inception_v1.json", "xquant", NULL },
    { "xslim/mobilenet_v3_small.json", "xquant", NULL },
    { "xslim/resnet18.json", "xquant", NULL },
    { "xslim/resnet18_custom_preprocess.json", "xquant", NULL },
    { "xquant/yolov8_xquant_config.json", "xquant", NULL },
    { "amd/vai_q_int_config.json", "amd", NULL },
    { "ort/transformersjs_quantize_config.json", "ort", NULL },
    { "amd/quark_vaiml_config.json", NULL, "no quantization settings" },
    { "nncf/mobilenet_v3_small_ref_qconfig.json", NULL, "this is an NNCF configuration" },
    { "aimet/default_config_per_channel.json", NULL, "this is an AIMET configuration" },
    { "ppq/esp_mobilenet_v2.json", NULL, "--ranges" },
    { "ppq/tensorrt_quant_config.json", NULL, "--ranges" },
  };
  const char *shared = g_getenv ("VN_SHARED");

  if (shared == NULL || *shared == '\0')
    {
      g_test_skip ("VN_SHARED is not set");
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_build_filename (shared, "interop", cases[i].file, NULL);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_load (path, &error);

      g_test_message ("%s", cases[i].file);
      if (cases[i].error != NULL)
        {
          g_assert_null (config);
          g_assert_nonnull (strstr (error->message, cases[i].error));
          continue;
        }
      g_assert_no_error (error);
      g_assert_cmpstr (config->format, ==, cases[i].format);
    }
}

/* XSlim's levels; scales found while running and half precision are not corrected. */
static void
test_finetune (void)
{
  static const struct
  {
    const char       *json;
    VnEqualizeKind         equalize;
    gint64            level;
    gboolean          activations;
    VnBiasCorrection  correction;
    gint64            blocks;      /* trained; 0: none */
  } cases[] = {
    { "\"finetune_level\": 0", VN_EQUALIZE_PPQ, 1, FALSE, VN_BIAS_CORRECTION_OFF, 0 },
    { "\"finetune_level\": 1", VN_EQUALIZE_PPQ, 2, TRUE, VN_BIAS_CORRECTION_XSLIM, 0 },
    { "\"analysis_enable\": true", VN_EQUALIZE_PPQ, 2, TRUE, VN_BIAS_CORRECTION_XSLIM, 0 },
    { "\"finetune_level\": 2", VN_EQUALIZE_PPQ, 2, TRUE, VN_BIAS_CORRECTION_XSLIM, 5 },
    { "\"finetune_level\": 3", VN_EQUALIZE_PPQ, 2, TRUE, VN_BIAS_CORRECTION_XSLIM, 10 },
    { "\"precision_level\": 3", VN_EQUALIZE_OFF, 1, FALSE, VN_BIAS_CORRECTION_OFF, 0 },
    { "\"precision_level\": 4", VN_EQUALIZE_OFF, 1, FALSE, VN_BIAS_CORRECTION_OFF, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *json = g_strdup_printf ("{\"quantization_parameters\": {%s}}", cases[i].json);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);
      gboolean warned = FALSE;

      g_assert_no_error (error);
      g_assert_cmpint (config->recipe->equalize, ==, cases[i].equalize);
      g_assert_cmpint (config->recipe->equalize_level, ==, cases[i].level);
      g_assert_cmpint (config->recipe->equalize_activations, ==, cases[i].activations);
      g_assert_cmpint (config->recipe->bias_correction, ==, cases[i].correction);
      for (guint k = 0; k < vn_notes_get_n (config->notes); k++)
        warned = warned || g_str_has_suffix (vn_notes_get (config->notes, k)->subject, "finetune_level");
      g_assert_false (warned);
      g_assert_cmpint (config->recipe->train, ==, cases[i].blocks > 0 ? VN_TRAIN_ADAQUANT_THRESHOLDS : VN_TRAIN_OFF);
      g_assert_cmpint (config->recipe->train_blocks, ==, cases[i].blocks);
      g_assert_true (vn_recipe_validate (config->recipe, &error));
    }
}

static void
test_subgraphs (void)
{
  static const char json[] = "{\"subgraphs\": [{\"name\": \"tail\", \"start_nodes\": [\"softmax\"], \"end_nodes\": [\"%s\"]}]}";
  static const struct { const char *end; gboolean good; } cases[] = { { "mul", TRUE }, { "nowhere", FALSE } };
  g_autoptr(VnModel) model = make_model ();

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_auto(GStrv) halves = g_strsplit (json, "%s", 2);
      g_autofree char *text = g_strconcat (halves[0], cases[i].end, halves[1], NULL);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = vn_config_parse (text, -1, "c.json", &error);
      const VnOverride *rule;

      g_assert_no_error (error);
      g_assert_cmpint (vn_config_bind (config, model, TRUE, &error), ==, cases[i].good);
      if (!cases[i].good)
        {
          g_assert_error (error, VN_ERROR, VN_ERROR_SETTING);
          continue;
        }
      rule = g_ptr_array_index (config->recipe->overrides, 0);
      g_assert_true (rule->exclude);
      g_assert_cmpstr (rule->in_edges[0], ==, "a");
      g_assert_cmpstr (rule->out_edges[0], ==, "c");
    }
}

/* What is listed is quantized, and nothing else. */
static void
test_ort (void)
{
  static const char json[] =
    "{\"per_channel\": true, \"reduce_range\": true,"
    " \"per_model_config\": {\"model\": {\"op_types\": [\"Conv\", \"Gemm\"], \"weight_type\": \"QInt8\"}}}";
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (json, -1, "c.json", &error);

  g_assert_no_error (error);
  g_assert_cmpstr (config->format, ==, "ort");
  g_assert_true (config->recipe->per_channel);
  g_assert_true (config->recipe->reduce_range);
  g_assert_false (is_excluded (config->recipe, model, "conv"));
  g_assert_true (is_excluded (config->recipe, model, "softmax"));
}

/* Whatever stands in a file, reading ends with a configuration or an error. */
static void
test_mutations (void)
{
  static const char * const seeds[] = {
    ("{\"model_parameters\": {\"onnx_model\": \"m\", \"opset\": 13}, \"calibration_parameters\": {\"calibration_step\": 20,"
     " \"input_parameters\": [{\"input_shape\": [1, 1, 8, \"w\"], \"mean_value\": [1.5], \"preprocess_file\": \"IMAGENET\"}]},"
     " \"quantization_parameters\": {\"precision_level\": 2, \"custom_setting\": [{\"input_names\": [\"a\"],"
     " \"output_names\": [\"c\"], \"precision_level\": 3}], \"truncate_var_names\": [\"c\"]}}"),
    "{\"overall_quantize_config\": {\"datatype\": \"int\", \"bit_width\": 8, \"percentage\": 99.9},"
    " \"layer_quantize_config\": [{\"layer_type\": \"Conv2d\", \"overall_quantize_config\": {\"bit_width\": 16}}]}",
    "{\"subgraphs\": [{\"name\": \"x\", \"start_nodes\": [\"conv\"], \"end_nodes\": [\"mul\", \"scale\"]}]}",
    "{\"per_channel\": true, \"reduce_range\": true, \"per_model_config\": {\"m\": {\"op_types\": [\"Conv\"], \"weight_type\": "
    "\"QInt8\"}}}",
  };
  static const char * const words[] = { "null", "[]", "{}", "-1", "1e999", "\"\"", "true", ",", "\"a\"", "}", "]", "0",
                                        "99999999999999999999" };
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  g_autoptr(VnModel) model = make_model ();
  guint n_read = 0, n_bound = 0;

  for (guint i = 0; i < 4000; i++)
    {
      g_autoptr(GString) text = g_string_new (seeds[i % G_N_ELEMENTS (seeds)]);
      g_autoptr(GError) error = NULL;
      g_autoptr(VnConfig) config = NULL;

      for (guint k = (guint) g_rand_int_range (rand, 0, 3); k > 0; k--)
        {
          gssize at = g_rand_int_range (rand, 0, (gint32) text->len - 1);
          gssize n = g_rand_int_range (rand, 0, 12);

          g_string_erase (text, at, MIN (n, (gssize) text->len - at));
          if (g_rand_boolean (rand))
            g_string_insert (text, at, words[g_rand_int_range (rand, 0, G_N_ELEMENTS (words))]);
        }
      config = vn_config_parse (text->str, (gssize) text->len, "c.json", &error);
      g_assert_true ((config == NULL) == (error != NULL));
      n_read += config != NULL;
      if (config == NULL)
        continue;
      if (vn_config_bind (config, model, TRUE, &error))
        {
          g_autoptr(GHashTable) shapes G_GNUC_UNUSED = vn_config_make_shapes (config, model, NULL);

          n_bound++;
        }
      g_assert_true (error == NULL || error->domain == VN_ERROR);
    }
  g_test_message ("%u read, %u bound", n_read, n_bound);
  g_assert_cmpuint (n_bound, >, 100);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/config/xquant", test_xquant);
  g_test_add_func ("/quantize/config/defaults", test_defaults);
  g_test_add_func ("/quantize/config/full-width", test_full_width);
  g_test_add_func ("/quantize/config/samples", test_samples);
  g_test_add_func ("/quantize/config/bias", test_bias);
  g_test_add_func ("/quantize/config/levels", test_levels);
  g_test_add_func ("/quantize/config/format-levels", test_format_levels);
  g_test_add_func ("/quantize/config/wrong", test_wrong);
  g_test_add_func ("/quantize/config/bind-wrong", test_bind_wrong);
  g_test_add_func ("/quantize/config/no-samples", test_no_samples);
  g_test_add_func ("/quantize/config/endless-list", test_endless_list);
  g_test_add_func ("/quantize/config/unknown-field", test_unknown_field);
  g_test_add_func ("/quantize/config/finetune", test_finetune);
  g_test_add_func ("/quantize/config/subgraphs", test_subgraphs);
  g_test_add_func ("/quantize/config/ort", test_ort);
  g_test_add_func ("/quantize/config/mutations", test_mutations);
  g_test_add_func ("/quantize/config/originals", test_originals);
  return g_test_run ();
}
