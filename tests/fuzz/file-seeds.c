/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that can be read, to start from: settings, and what runs leave. */
#include "file-kinds.h"

#include "draw-run.h"
#include "mixed-models.h"
#include "vn-config.h"
#include "vn-encodings-private.h"
#include "vn-jobs.h"
#include "vn-json.h"
#include "vn-project-file.h"
#include "vn-run-file.h"
#include "vn-stats-private.h"

#include <math.h>
#include <string.h>

/* ---- settings ---- */

static void
add_recipe (GPtrArray *seeds,
            VnRecipe  *recipe)
{
  g_autofree char *text = vn_recipe_to_json (recipe);

  add_seed (seeds, text, -1);
}

void
seed_recipe (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"vernier-recipe\": 1, \"preset\": \"cpu\", \"percentile\": 99.5, \"truncate\": [\"a\", \"b\"], \"ranges\": \"r.json\","
    " \"rules\": [{\"nodes\": \"type:Softmax\", \"exclude\": true}, {\"from\": [\"n2\", \"n7\"], \"to\": [\"y\"],"
    " \"activation\": \"uint16\", \"percentile\": 99}, {\"nodes\": \"conv*\", \"enabled\": false, \"method\": \"kl\"}]}",
    "{\"vernier-recipe\": 1, \"rules\": [{\"tensors\": [\"a\"], \"scale\": [\"0.5\"], \"zero-point\": [\"3\"]},"
    " {\"tensors\": [\"w\"], \"min\": [\"-1\", \"-2\"], \"max\": [\"1\", \"2\"], \"axis\": 1},"
    " {\"tensors\": [\"b*\"], \"convert\": \"uint16\", \"receivers\": [\"conv\"], \"convert-symmetric\": \"true\"}]}",
    NULL
  };
  guint n;
  const VnPreset * const *presets = vn_preset_list (&n);

  add_texts (seeds, texts);
  for (guint i = 0; i < n; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (presets[i]->id);

      vn_recipe_add_exclude (recipe, "type:Conv");
      add_recipe (seeds, recipe);
    }
}

void
seed_rule (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"nodes\": \"type:Softmax\", \"exclude\": true}",
    "{\"from\": [\"n2\", \"n7\"], \"to\": [\"y\"], \"activation\": \"uint16\", \"percentile\": 99}",
    "{\"nodes\": \"conv*\", \"enabled\": false, \"method\": \"kl\", \"weight\": \"int4\", \"block-size\": 32}",
    "{\"tensors\": [\"w\"], \"min\": [\"-1\", \"-2\"], \"max\": [\"1\", \"2\"], \"axis\": 1}",
    "{\"tensors\": [\"a\"], \"scale\": [\"0.5\"], \"zero-point\": [\"3\"], \"convert\": \"uint16\", \"receivers\": [\"conv\"]}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_preprocess (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"path\": \"pictures\", \"samples\": 20, \"held-out\": 2, \"seed\": 3, \"mean\": [1, 2.5, 3, 0], \"std\": [57, 58, 59, 1],"
    " \"script\": \"f.py:g\", \"raw-type\": \"uint8\", \"labels\": \"l.txt\", \"inputs\": {\"data\": {\"raw-type\": \"int64\"}}}",
    "{\"mean\": [0, 0, 0, 0]}", "{\"data\": {\"path\": \"a=x;b=y\", \"std\": [1, 1, 1, 1]}}",
    "{\"calibration_parameters\": {\"input_parametres\": [{\"input_name\": \"data\", \"mean_value\": [103.94, 116.78, 123.68],"
    " \"std_value\": 57, \"color_format\": \"rgb\"}]}}",
    NULL
  };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(JsonNode) node = vn_data_spec_to_json (spec, "/run");
  g_autofree char *text = vn_json_to_text (node);

  add_texts (seeds, texts);
  add_seed (seeds, text, -1);
}

void
seed_config_xquant (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"model_parameters\": {\"onnx_model\": \"m.onnx\", \"output_prefix\": \"out\", \"working_dir\": \"./w\", \"opset\": 13},"
    " \"calibration_parameters\": {\"calibration_step\": 200, \"calibration_device\": \"cpu\", \"calibration_type\": \"kl\","
    " \"input_parametres\": [{\"input_name\": \"data\", \"input_shape\": [\"batch\", 1, 8, 8], \"dtype\": \"float32\","
    " \"file_type\": \"img\", \"color_format\": \"rgb\", \"mean_value\": [103.94, 116.78, 123.68], \"std_value\": 57,"
    " \"preprocess_file\": \"PT_IMAGENET\", \"data_list_path\": \"list.txt\"}]},"
    " \"quantization_parameters\": {\"analysis_enable\": false, \"precision_level\": 2, \"finetune_level\": 1,"
    " \"max_percentile\": 0.9995, \"custom_setting\": [{\"input_names\": [\"a\"], \"output_names\": \"b\","
    " \"max_percentile\": 0.999, \"precision_level\": 2, \"calibration_type\": \"minmax\"}],"
    " \"truncate_var_names\": [\"a\"], \"ignore_op_types\": [\"Relu\"], \"ignore_op_names\": [\"conv\"]}}",
    "{\"model_parameters\": {\"onnx_model\": \"m.onnx\"}, \"quantization_parameters\": {\"precision_level\": 3}}",
    "{\"quantization_parameters\": {\"precision_level\": 4}, \"calibration_parameters\": {\"input_parameters\": [{}]}}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_config_amd (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"convert_relu6_to_relu\": true, \"overall_quantize_config\": {\"bit_width\": 8, \"method\": \"maxmin\","
    " \"round_mode\": \"half_up\", \"symmetry\": true, \"per_channel\": false, \"signed\": true, \"scale_type\": \"poweroftwo\","
    " \"calib_statistic_method\": \"modal\", \"percentage\": 99.9}, \"tensor_quantize_config\": {\"weights\": {\"bit_width\": 4},"
    " \"activation\": {\"bit_width\": 16, \"signed\": false}}, \"layer_quantize_config\": [{\"layer_type\": \"Conv2d\","
    " \"overall_quantize_config\": {\"bit_width\": 16}}, {\"layer_name\": \"softmax\", \"overall_quantize_config\":"
    " {\"datatype\": \"float32\"}}]}",
    "{\"overall_quantize_config\": {\"datatype\": \"bfloat16\"}}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_config_subgraphs (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"subgraphs\": [{\"name\": \"s\", \"start_nodes\": [\"conv\"], \"end_nodes\": [\"softmax\"]}]}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_node_data (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"graph\": {\"results\": {\"conv\": {\"value\": 1.5, \"bgColor\": \"red\"}, \"b\": {\"value\": -2},"
    " \"x\": {\"value\": \"w\"}},"
    " \"thresholds\": [{\"value\": 1, \"bgColor\": \"blue\"}]}, \"other\": {\"results\": {\"softmax\": {\"value\": 3}}}}",
    "[{\"results\": {\"conv\": {\"value\": 1}}}, {\"g\": {\"results\": {\"a\": {\"value\": 1e300}}}}]",
    "[{\"cat\": \"Session\", \"ph\": \"X\", \"name\": \"model_run\", \"dur\": 99},"
    " {\"cat\": \"Node\", \"ph\": \"X\", \"name\": \"a_nchwc_kernel_time\", \"dur\": 20, \"args\": {\"op_name\": \"Conv\"}},"
    " {\"cat\": \"Node\", \"ph\": \"X\", \"name\": \"softmax_token_3_kernel_time\", \"dur\": 1.5}]",
    "{\"traceEvents\": [{\"cat\": \"Node\", \"name\": \"fused conv/GeluFusion/_kernel_time\", \"dur\": 3}]}",
    NULL
  };

  add_texts (seeds, texts);
}

void
seed_node_table (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "name,value\nconv,1.5\n\"soft\"\"max\",-2\n", "Knoten;Wert\r\nconv;1,5\r\n\r\nsoftmax;nan\r\nb;2\r\n",
    "\xef\xbb\xbf" "conv\t3\n\"b\"\t1e3", NULL
  };

  add_texts (seeds, texts);
}

void
seed_config_ort (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"per_channel\": true, \"reduce_range\": true, \"per_model_config\": {\"model\": {\"op_types\": [\"Conv\", \"Gemm\"],"
    " \"weight_type\": \"QInt8\", \"activation_type\": \"QUInt8\"}}}",
    NULL
  };

  add_texts (seeds, texts);
}

/* ---- ranges and statistics ---- */

static void
put_string (GByteArray *out,
            const char *text)
{
  guint length = (guint) strlen (text);

  put_u32 (out, length);
  g_byte_array_append (out, (const guint8 *) text, length + 1);
  while (out->len % 4 != 0)
    g_byte_array_append (out, (const guint8 *) "", 1);
}

/* TrtTable with one KeyValue: lists of fields first, then what they belong to. */
static void
add_flatbuffer (GPtrArray *seeds)
{
  g_autoptr(GByteArray) out = g_byte_array_new ();

  put_u32 (out, 20);
  put_u16s (out, (const guint16[]) { 6, 8, 4, 0 }, 4);         /* at 4: of the root */
  put_u16s (out, (const guint16[]) { 8, 12, 4, 8 }, 4);        /* at 12: of the entry */
  put_u32 (out, 16);                                           /* at 20: root */
  put_u32 (out, 4);                                            /* at 24: to the list */
  put_u32 (out, 1);                                            /* at 28: list */
  put_u32 (out, 4);                                            /* at 32: to the entry */
  put_u32 (out, 24);                                           /* at 36: entry */
  put_u32 (out, 8);                                            /* at 40: to the name */
  put_u32 (out, 12);                                           /* at 44: to the number */
  put_string (out, "a b");                                     /* at 48 */
  put_string (out, "2.25");                                    /* at 56 */
  add_seed (seeds, out->data, out->len);
}

void
seed_ranges (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "{\"format\": \"vernier-ranges\", \"version\": 1, \"tensors\": {\"a b\": {\"min\": -1.5, \"max\": 2}, \"c\": {\"scale\": 0.5,"
    " \"zero_point\": 113}}}",
    "{\"a b\": [113, 0.5], \"c\": [-3.0, 2], \"d\": {\"lowest\": -1.5, \"highest\": 2.25, \"CLS\": \"TensorData\"}}",
    "{\"input_quantization_params\": {\"a\": [128, 0.25]}, \"output_quantization_params\": {\"b\": [-3, 2]}}",
    "{\"CLS\": \"TensorsData\", \"data\": {\"a\": {\"lowest\": {\"data\": [1, -2.5]}, \"highest\": {\"data\": [3, 5]}}}}",
    "a b 2.25\nx -1e-3\r\n\n",
    NULL
  };

  add_texts (seeds, texts);
  add_flatbuffer (seeds);
}

static VnHistogram *
make_histogram (guint seed,
                guint n)
{
  g_autoptr(VnHistogramScratch) scratch = vn_scratch_new ();
  g_autofree float *x = g_new (float, n + 1);
  VnHistogram *self = vn_histogram_new (), *sample = vn_histogram_new ();

  for (guint i = 0; i < n; i++)
    x[i] = i % 31 == 30 ? NAN : i % 7 == 0 ? 0 : sinf ((float) (seed + i)) * ((float) i - 3);
  vn_histogram_scan (sample, scratch, x, n);
  vn_histogram_take_sample (self, sample);
  return self;
}

/* Without the checksum at its end, which try_bytes puts there. */
static void
add_stats (GPtrArray *seeds,
           VnStats   *stats)
{
  g_autoptr(GBytes) bytes = vn_stats_to_bytes (stats, NULL);
  gsize size;
  gconstpointer data = g_bytes_get_data (bytes, &size);

  add_seed (seeds, data, (gssize) size - 32);
}

/* A run of a small network. */
static VnRun *
make_record (void)
{
  g_autoptr(VnModel) model = mixed_model_pictures ();
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 1 };
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;

  data->max_samples = 3;
  data->held_out = 1;
  job = vn_quantize_job_new (&settings);
  if (!vn_job_run (job, NULL, &error))
    g_error ("no run: %s", error->message);
  return vn_run_without_networks (vn_quantize_job_get_result (job));
}

void
seed_result (GPtrArray *seeds)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < 12; i++)
    {
      g_autoptr(VnRun) record = i > 0 ? draw_run (rand) : make_record ();
      g_autofree char *text = vn_run_to_json (record, "/run");

      close_up (text);
      add_seed (seeds, text, -1);
    }
}

void
seed_report (GPtrArray *seeds)
{
  seed_result (seeds);
}

void
seed_project (GPtrArray *seeds)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (2);

  for (guint i = 0; i < 6; i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (NULL);
      g_autoptr(VnProject) project = vn_project_new ("/run/net.onnx", "00ff", NULL, recipe);
      g_autofree char *text = NULL;

      for (guint k = 0; k < i; k++)
        {
          g_autofree char *id = g_strdup_printf ("run-%u", k);
          g_autoptr(VnRun) record = draw_run (rand);
          g_autoptr(VnProjectRun) run = vn_project_run_new (id, record);

          run->file = vn_project_run_dup_own_path (id, "/run/p.vernier");
          vn_project_add_run (project, run);
        }
      text = vn_project_to_json (project, "/run");
      add_seed (seeds, text, -1);
    }
}

void
seed_stats (GPtrArray *seeds)
{
  const VnStatsOrigin origin = { (char *) "net.onnx", (char *) "00ff", (char *) "11ee", 13, (char *) "mean 0" };
  g_autoptr(VnStats) small = vn_stats_new (1), listed = vn_stats_new (2);

  vn_stats_take (small, "a", make_histogram (1, 3));
  vn_stats_take (small, "b", make_histogram (2, 0));
  vn_stats_seal (small);
  add_stats (seeds, small);
  listed->origin = vn_stats_origin_copy (&origin);
  vn_stats_samples_add (listed->samples, 0, "0.png", 1);
  vn_stats_samples_add (listed->samples, 3, "1.png", G_MAXUINT64);
  vn_stats_take (listed, "Ü", make_histogram (3, 40));
  vn_stats_seal (listed);
  add_stats (seeds, listed);
}
