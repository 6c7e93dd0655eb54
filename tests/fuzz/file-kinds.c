/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file-kinds.h"

#include "vn-config.h"
#include "vn-dataset-private.h"
#include "vn-export-settings.h"
#include "vn-encodings-private.h"
#include "vn-graph-edit.h"
#include "vn-json.h"
#include "vn-onnx.h"
#include "vn-project-file.h"
#include "vn-result-file.h"
#include "vn-verdict.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_SAMPLES 3

/* Either something was read, or there is an error with a message. */
static gboolean
check (gboolean       done,
       GError *const *error)
{
  if (done != (*error == NULL))
    g_error ("%s", done ? "it worked, and there is an error" : "it failed without an error");
  if (*error != NULL && (*(*error)->message == '\0' || !g_utf8_validate ((*error)->message, -1, NULL)))
    g_error ("the message is empty or not valid UTF-8: %s", (*error)->message);
  return done;
}

static void
require (gboolean    is,
         const char *what)
{
  if (!is)
    g_error ("%s", what);
}

/* The bytes as a file: its path, which is that of nothing on a disk. */
static const char *
put_file (const guint8 *data,
          gsize         size)
{
  static int fd = -1;
  static char path[64];

  if (fd < 0)
    {
      fd = memfd_create ("sample", MFD_CLOEXEC);
      g_snprintf (path, sizeof path, "/proc/self/fd/%d", fd);
    }
  require (fd >= 0 && ftruncate (fd, 0) == 0 && pwrite (fd, data, size, 0) == (gssize) size, "no memory for a file");
  return path;
}

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

  vn_graph_add_node (graph, "conv", "", "Conv", (VnValue *[]) { data, w }, 2, &a, 1);
  vn_graph_add_node (graph, "softmax", "", "Softmax", &a, 1, &b, 1);
  vn_graph_set_output (graph, 0, b);
  return model;
}

/* ---- recipes and configurations ---- */

/* What is written is read, and says the same. */
static void
check_recipe (const VnRecipe *recipe)
{
  g_autofree char *text = vn_recipe_to_json (recipe), *second = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) again = vn_recipe_from_json (text, "again", &error);
  g_autoptr(VnRecipe) copy = vn_recipe_copy (recipe);

  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_recipe_to_json (again);
  if (!vn_recipe_equal (recipe, again) || !g_str_equal (text, second))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  require (vn_recipe_equal (recipe, copy), "a copy is not equal");
}

static void
check_exports (const VnRecipe *recipe)
{
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("list \"of\\ 'pictures'.txt");
  g_autofree char *script = vn_recipe_to_ort_script (recipe, model, "m \"'\\.onnx", data, notes);
  g_autofree char *xquant = vn_recipe_to_xquant (recipe, model, "m.onnx", data, notes);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse (xquant, -1, "xquant", &error);

  require (g_utf8_validate (script, -1, NULL), "the script is not valid UTF-8");
  if (config == NULL)
    g_error ("the configuration cannot be read: %s\n%s", error->message, xquant);
}

static gboolean
try_recipe (const guint8 *data,
            gsize         size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_from_json (text, "recipe.json", &error);

  if (!check (recipe != NULL, &error))
    return FALSE;
  check_recipe (recipe);
  check_exports (recipe);
  return TRUE;
}

static gboolean
try_config (const guint8 *data,
            gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnConfig) config = vn_config_parse ((const char *) data, (gssize) size, "config.json", &error);
  g_autoptr(VnModel) model = NULL;
  g_autoptr(VnDataSpec) spec = NULL;
  g_autoptr(GHashTable) shapes = NULL;

  if (!check (config != NULL, &error))
    return FALSE;
  check_recipe (config->recipe);
  model = make_model ();
  if (!check (vn_config_bind (config, model, size % 2 == 0, &error), &error))
    return TRUE;
  check_recipe (config->recipe);
  shapes = vn_config_make_shapes (config, model, &error);
  require (shapes == NULL || error == NULL, "sizes and an error");
  g_clear_error (&error);
  spec = vn_config_make_data (config, model, "random", &error);
  check (spec != NULL, &error);
  return TRUE;
}

/* ---- results and projects ---- */

static gboolean
try_result (const guint8 *data,
            gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnRunRecord) record = vn_run_record_from_json ((const char *) data, (gssize) size, "result.json", "/run", &error), again = NULL;
  g_autoptr(VnVerdict) verdict = NULL, second_verdict = NULL;
  g_autofree char *text = NULL, *second = NULL;

  if (!check (record != NULL, &error))
    return FALSE;
  text = vn_run_record_to_json (record, "/run");
  again = vn_run_record_from_json (text, -1, "again", "/run", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_run_record_to_json (again, "/run");
  verdict = vn_verdict_new (record->errors, &record->accuracy, record->notes);
  second_verdict = vn_verdict_new (again->errors, &again->accuracy, again->notes);
  if (!g_str_equal (text, second) || !g_str_equal (verdict->text, second_verdict->text))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  return TRUE;
}

static gboolean
try_project (const guint8 *data,
             gsize         size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnProject) project = vn_project_from_json ((const char *) data, (gssize) size, "p.vernier", "/run", &error), again = NULL;
  g_autofree char *text = NULL, *second = NULL;

  if (!check (project != NULL, &error))
    return FALSE;
  check_recipe (project->recipe);
  text = vn_project_to_json (project, "/run");
  again = vn_project_from_json (text, -1, "again", "/run", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  second = vn_project_to_json (again, "/run");
  if (!g_str_equal (text, second))
    g_error ("what was written says something else:\n%s\n%s", text, second);
  for (guint i = 0; i < project->runs->len; i++)
    {
      const VnProjectRun *run = g_ptr_array_index (project->runs, i);
      g_autofree char *own = vn_project_run_dup_own_path (run->id, "/run/p.vernier");

      require (g_str_has_prefix (own, "/run/p.vernier-runs/") && strchr (own + 20, '/') == NULL, "an id leads out of its folder");
    }
  return TRUE;
}

/* ---- ranges and statistics ---- */

static gboolean
given_equal (const VnEncoding *a,
             const VnEncoding *b)
{
  return a->has_params == b->has_params && a->range.min == b->range.min && a->range.max == b->range.max &&
         a->scale == b->scale && a->zero_point == b->zero_point;
}

static gboolean
try_ranges (const guint8 *data,
            gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size), written = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnEncodingTable) table = vn_encoding_table_parse (bytes, "ranges", &error), again = NULL;
  char *text;

  if (!check (table != NULL, &error))
    return FALSE;
  text = vn_encoding_to_json (table);
  written = g_bytes_new_take (text, strlen (text));
  again = vn_encoding_table_parse (written, "again", &error);
  if (again == NULL)
    g_error ("what was written cannot be read: %s\n%s", error->message, text);
  require (vn_encoding_table_get_n (table) == vn_encoding_table_get_n (again), "there are more or fewer tensors");
  for (guint i = 0; i < vn_encoding_table_get_n (table); i++)
    {
      const char *name = vn_encoding_table_get_name (table, i);
      const VnEncoding *given = vn_encoding_table_get (again, name);

      if (given == NULL || !given_equal (given, vn_encoding_table_get (table, name)))
        g_error ("“%s” has become something else", name);
    }
  return TRUE;
}

static void
try_methods (const VnHistogram *histogram)
{
  guint n;
  const VnRangeMethod * const *methods = vn_range_method_list (&n);

  for (guint i = 0; i < 2 * n; i++)
    {
      const VnRangeSettings settings = { .percentile = 99.9, .symmetric = i >= n, .two_sided = i >= n };
      const VnRangeMethod *method = methods[i % n];
      g_autoptr(GError) error = NULL;
      VnRange range = { NAN, NAN };

      if (check (method->range (histogram, &settings, &range, &error), &error) &&
          !(isfinite (range.min) && isfinite (range.max) && range.min <= range.max))
        g_error ("%s finds a range from %g to %g", method->id, range.min, range.max);
    }
}

/* The checksum is put right: what is looked at is what lies behind it. */
static gboolean
try_stats (const guint8 *data,
           gsize         size)
{
  g_autoptr(GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize digest_size = sizeof digest;
  GByteArray *all = g_byte_array_new ();
  g_autoptr(GBytes) bytes = NULL, written = NULL;
  g_autoptr(GError) error = NULL;
  g_autoptr(VnStats) stats = NULL, again = NULL, merged = NULL;

  g_checksum_update (checksum, data, (gssize) size);
  g_checksum_get_digest (checksum, digest, &digest_size);
  g_byte_array_append (all, data, (guint) size);
  g_byte_array_append (all, digest, sizeof digest);
  bytes = g_byte_array_free_to_bytes (all);
  stats = vn_stats_from_bytes (bytes, &error);
  if (!check (stats != NULL, &error))
    return FALSE;
  written = vn_stats_to_bytes (stats, NULL);
  again = vn_stats_from_bytes (written, NULL);
  require (again != NULL && vn_stats_equal (stats, again), "what was written says something else");
  for (guint i = 0; i < MIN (vn_stats_get_n_values (stats), 2); i++)
    try_methods (vn_stats_get (stats, vn_stats_get_name (stats, i)));
  merged = vn_stats_merge ((VnStats *[]) { stats, again }, 2, &error);
  check (merged != NULL, &error);
  return TRUE;
}

/* ---- samples ---- */

/* Inputs that a sample may have to fit. */
static const VnInputSpec inputs[] = {
  { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 5, 7 } }, 0 },
  { (char *) "ids", VN_DTYPE_S64, { 2, { 1, VN_DIM_UNKNOWN } }, 30 },
  { (char *) "y", VN_DTYPE_U8, { 4, { VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, VN_DIM_UNKNOWN, 3 } }, 0 },
  { (char *) "z", VN_DTYPE_F16, { VN_RANK_UNKNOWN, { 0 } }, 0 },
};

/* Every element can be looked at. */
static void
sum_up (const VnTensor *tensor)
{
  volatile double sum = 0;

  if (tensor->dtype == VN_DTYPE_STRING)
    return;
  for (gsize i = 0; i < tensor->n_elements; i++)
    sum += vn_tensor_get_double (tensor, i);
  (void) sum;
}

static void
fit (VnTensor *tensor)
{
  sum_up (tensor);
  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) fitted = vn_tensor_fit (tensor, &inputs[i], &error);

      if (check (fitted != NULL, &error))
        sum_up (fitted);
    }
}

static gboolean
try_npy (const guint8 *data,
         gsize         size)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) tensor = vn_npy_parse (bytes, &error);

  if (check (tensor != NULL, &error))
    fit (tensor);
  return tensor != NULL;
}

static gboolean
try_npz (const guint8 *data,
         gsize         size)
{
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_npz_read (path, inputs[i].name, &error);

      if (check (tensor != NULL, &error))
        fit (tensor);
      any |= tensor != NULL;
    }
  return any;
}

static gboolean
try_proto (const guint8 *data,
           gsize         size)
{
  static const VnType types[] = { { .kind = VN_TYPE_TENSOR }, { .kind = VN_TYPE_SEQUENCE }, { .kind = VN_TYPE_OPTIONAL } };
  const char *path = put_file (data, size);
  g_autoptr(GError) error = NULL;
  g_autofree char *name = NULL;
  g_autoptr(VnTensor) tensor = vn_onnx_tensor_read_file (path, &name, &error);

  if (check (tensor != NULL, &error))
    fit (tensor);
  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr(GError) reason = NULL;
      g_autoptr(VnTensor) value = vn_onnx_value_read_file (path, &types[i], NULL, &reason);

      check (value != NULL, &reason);
    }
  return tensor != NULL;
}

static gboolean
try_raw (const guint8 *data,
         gsize         size)
{
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < 2 * G_N_ELEMENTS (inputs); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = vn_tensor_file_read (path, &inputs[i % G_N_ELEMENTS (inputs)],
                                                        i % 2 == 0 ? VN_DTYPE_UNDEFINED : VN_DTYPE_U8, &error);

      if (check (tensor != NULL, &error))
        fit (tensor);
      any |= tensor != NULL;
    }
  return any;
}

static gboolean
try_list (const guint8 *data,
          gsize         size)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (put_file (data, size));
  gboolean any = FALSE;

  for (guint n = 1; n <= 2; n++)
    {
      g_autoptr(VnNotes) notes = vn_notes_new ();
      g_autoptr(GError) error = NULL;
      g_autoptr(VnDataset) dataset = vn_dataset_open (spec, inputs, n, notes, &error);

      any |= check (dataset != NULL, &error);
      for (guint i = 0; dataset != NULL && i < MIN (vn_dataset_get_n (dataset), MAX_SAMPLES); i++)
        {
          g_autoptr(GError) reason = NULL;
          VnTensor *tensors[2] = { NULL };

          check (vn_dataset_load (dataset, i, tensors, &reason), &reason);
          g_clear_pointer (&tensors[0], vn_tensor_unref);
          g_clear_pointer (&tensors[1], vn_tensor_unref);
        }
    }
  return any;
}

static gboolean
try_picture (const guint8 *data,
             gsize         size)
{
  static const VnInputSpec specs[] = { { (char *) "x", VN_DTYPE_F32, { 4, { 1, 3, 5, 7 } } },
                                       { (char *) "x", VN_DTYPE_U8, { 4, { 1, 9, 4, 1 } } } };
  const char *path = put_file (data, size);
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (specs); i++)
    {
      VnPreprocess preprocess;
      VnPicturePlan plan;
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) tensor = NULL;

      vn_preprocess_init (&preprocess);
      preprocess.fit = i == 0 ? VN_FIT_CROP : VN_FIT_LETTERBOX;
      require (vn_picture_plan_init (&plan, &specs[i], &preprocess, NULL), "no plan");
      tensor = vn_picture_plan_load (&plan, &preprocess, path, &error);
      if (check (tensor != NULL, &error))
        sum_up (tensor);
      any |= tensor != NULL;
    }
  return any;
}

/* ---- the kinds ---- */

static const char * const recipe_words[] = {
  "\"vernier-recipe\":1,", "\"preset\":\"", "xquant", "npu-cnn", "mx9", "\"rules\":[", "{\"nodes\":\"type:Conv\"}", "\"from\":[\"a\"],",
  "\"to\":[\"b\"],", "\"tensors\":[\"a\"],", "\"activation\":\"uint16\",", "\"weight\":\"int4\",", "\"format\":\"integer\",",
  "\"exclude\":true,", "\"axis\":-1,", "\"scale\":[\"0.5\"],", "\"zero-point\":[\"1\"],", "\"min\":[\"-1\"],", "\"max\":[\"1\"],",
  "\"convert\":\"uint8\",", "\"receivers\":[\"conv\"],", "\"percentile\":99.9,", "\"method\":\"kl\",", "\"block-size\":32,",
  "\"npu\":true,", "\"power-of-two\":\"nearest\",", "\"bias\":\"int8\",", "\"truncate\":[\"a\"],", "null", "{", "}", "[", "]", ",", "\\u0000",
  "\\ud800", "\\\"", "\"\"", NULL
};

static const char * const config_words[] = {
  "\"model_parameters\":{", "\"onnx_model\":\"", "\"calibration_parameters\":{", "\"calibration_type\":\"kl\",",
  "\"input_parametres\":[{", "\"input_name\":\"data\",", "\"input_shape\":[", "\"mean_value\":[", "\"std_value\":",
  "\"preprocess_file\":\"", "f.py:g", "\"data_list_path\":\"", "\"quantization_parameters\":{", "\"precision_level\":4,",
  "\"custom_setting\":[{", "\"input_names\":[\"a\"],", "\"output_names\":[\"b\"],", "\"truncate_var_names\":[\"a\"],",
  "\"overall_quantize_config\":{", "\"datatype\":\"bfloat16\",", "\"bit_width\":16,", "\"layer_quantize_config\":[{",
  "\"layer_type\":\"Conv2d\",", "\"subgraphs\":[{", "\"start_nodes\":[\"conv\"],", "\"end_nodes\":[\"softmax\"],",
  "\"per_model_config\":{", "\"op_types\":[\"Conv\"],", "\"per_channel\":true,", "\"reduce_range\":true,", "\"QUInt8\",", "null", "{", "}",
  "[", "]", ",", "\\u0000", "\xe3\x80\x82", NULL
};

static const char * const result_words[] = {
  "\"vernier-result\":1,", "\"program\":\"", "\"time\":\"", "2025-03-31T14:05:00Z", "0001-01-01T00:00:00Z", "\"model\":{", "\"digests\":{",
  "\"run\":{", "\"shapes\":{\"a\":[1,-1]}", "\"sizes\":{", "\"samples\":{", "\"accuracy\":{", "\"errors\":{", "\"tensors\":[", "\"weights\":[",
  "\"nodes\":[", "\"quantized-names\":{", "\"notes\":[", "\"sqnr\":", "\"nan\"", "\"inf\"", "\"-inf\"", "9223372036854775807", "1e308",
  "null", "{", "}", "[", "]", ",", "\\u0000", NULL
};

static const char * const project_words[] = {
  "\"vernier-project\":1,", "\"runs\":[", "\"id\":\"", "../", "\"time\":\"", "2025-03-31T14:05:00Z", "\"file\":\"", "\"changes\":[",
  "\"mean-sqnr\":", "\"nan\"", "\"verdict\":\"good\"", "\"data\":{\"path\":\"", "null", "{", "}", "[", "]", ",", NULL
};

static const char * const range_words[] = {
  "\"format\":\"vernier-ranges\",", "\"version\":1,", "\"tensors\":{", "\"a\":{", "\"min\":", "\"max\":", "\"scale\":", "\"zero_point\":",
  "\"lowest\":", "\"highest\":", "\"CLS\":\"TensorsData\",", "\"data\":", "\"input_quantization_params\":{", "[128,0.5]", "[-1.5,2]",
  "[", "]", "{", "}", ",", " 1.5\n", "\\u0000", "1e-400", "1e39", NULL
};

static const char * const npy_words[] = {
  "'descr': ", "'<f4'", "'|O'", "'>f8'", "'fortran_order': ", "True", "False", "'shape': (", "(", ")", ",", "9223372036854775807",
  "4294967296", "0,", "}", "'<i8'", "'|b1'", "'<f2'", NULL
};

static const char * const npz_words[] = { "PK\1\2", "PK\3\4", "PK\5\6", "x.npy", "\xff\xff\xff\xff", "\x93NUMPY", NULL };

static const char * const list_words[] = {
  "\n", "\r\n", "\t", ",", " ", "#", "0", " 3\n", ".npz", ".npy", ".pb", "../", "/proc/self/fd/0", "\xef\xbb\xbf", "x=", ";", NULL
};

const FileKind file_kinds[] = {
  { "recipe", try_recipe, seed_recipes, recipe_words },
  { "config", try_config, seed_configs, config_words },
  { "result", try_result, seed_results, result_words },
  { "project", try_project, seed_projects, project_words },
  { "ranges", try_ranges, seed_ranges, range_words },
  { "stats", try_stats, seed_stats, NULL },
  { "npy", try_npy, seed_npy, npy_words },
  { "npz", try_npz, seed_npz, npz_words },
  { "proto", try_proto, seed_protos, NULL },
  { "raw", try_raw, seed_raw, NULL },
  { "list", try_list, seed_lists, list_words },
  { "picture", try_picture, seed_pictures, NULL },
};
const guint n_file_kinds = G_N_ELEMENTS (file_kinds);
