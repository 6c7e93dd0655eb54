/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that can be read, to start from. */
#include "file-kinds.h"

#include "draw-record.h"
#include "vn-config.h"
#include "vn-encodings-private.h"
#include "vn-graph-edit.h"
#include "vn-onnx.h"
#include "vn-project-file.h"
#include "vn-result-file.h"
#include "vn-stats-private.h"

#include <gdk-pixbuf/gdk-pixbuf.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static void
add (GPtrArray     *seeds,
     gconstpointer  data,
     gssize         size)
{
  g_ptr_array_add (seeds, g_bytes_new (data, size < 0 ? strlen (data) : (gsize) size));
}

static void
add_texts (GPtrArray          *seeds,
           const char * const *texts)
{
  for (; *texts != NULL; texts++)
    add (seeds, *texts, -1);
}

/* ---- settings ---- */

static void
add_recipe (GPtrArray *seeds,
            VnRecipe  *recipe)
{
  g_autofree char *text = vn_recipe_to_json (recipe);

  add (seeds, text, -1);
}

void
seed_recipes (GPtrArray *seeds)
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
seed_configs (GPtrArray *seeds)
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
    "{\"convert_relu6_to_relu\": true, \"overall_quantize_config\": {\"bit_width\": 8, \"method\": \"maxmin\","
    " \"round_mode\": \"half_up\", \"symmetry\": true, \"per_channel\": false, \"signed\": true, \"scale_type\": \"poweroftwo\","
    " \"calib_statistic_method\": \"modal\", \"percentage\": 99.9}, \"tensor_quantize_config\": {\"weights\": {\"bit_width\": 4},"
    " \"activation\": {\"bit_width\": 16, \"signed\": false}}, \"layer_quantize_config\": [{\"layer_type\": \"Conv2d\","
    " \"overall_quantize_config\": {\"bit_width\": 16}}, {\"layer_name\": \"softmax\", \"overall_quantize_config\":"
    " {\"datatype\": \"float32\"}}]}",
    "{\"overall_quantize_config\": {\"datatype\": \"bfloat16\"}}",
    "{\"subgraphs\": [{\"name\": \"s\", \"start_nodes\": [\"conv\"], \"end_nodes\": [\"softmax\"]}]}",
    "{\"per_channel\": true, \"reduce_range\": true, \"per_model_config\": {\"model\": {\"op_types\": [\"Conv\", \"Gemm\"],"
    " \"weight_type\": \"QInt8\", \"activation_type\": \"QUInt8\"}}}",
    NULL
  };

  add_texts (seeds, texts);
}

/* ---- ranges and statistics ---- */

static void
put_u32 (GByteArray *out,
         guint32     value)
{
  value = GUINT32_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, sizeof value);
}

static void
put_u16s (GByteArray    *out,
          const guint16 *values,
          guint          n)
{
  for (guint i = 0; i < n; i++)
    g_byte_array_append (out, (const guint8[]) { values[i] & 255, values[i] >> 8 }, 2);
}

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
  add (seeds, out->data, out->len);
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

  add (seeds, data, (gssize) size - 32);
}

void
seed_results (GPtrArray *seeds)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < 12; i++)
    {
      g_autoptr(VnRunRecord) record = draw_run_record (rand);
      g_autofree char *text = vn_run_record_to_json (record, "/run");

      add (seeds, text, -1);
    }
}

void
seed_projects (GPtrArray *seeds)
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
          g_autoptr(VnRunRecord) record = draw_run_record (rand);
          g_autoptr(VnProjectRun) run = vn_project_run_new (id, record);

          run->file = vn_project_run_dup_own_path (id, "/run/p.vernier");
          vn_project_add_run (project, run);
        }
      text = vn_project_to_json (project, "/run");
      add (seeds, text, -1);
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

/* ---- tensors ---- */

static VnTensor *
make_tensor (VnDType        dtype,
             const VnShape *shape)
{
  VnTensor *tensor = vn_tensor_new (dtype, shape, NULL);

  for (gsize i = 0; i < tensor->n_bytes; i++)
    ((guint8 *) tensor->data)[i] = (guint8) (i * 7 % 60);
  return tensor;
}

static GBytes *
make_npy (VnDType        dtype,
          const VnShape *shape)
{
  g_autoptr(VnTensor) tensor = make_tensor (dtype, shape);
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-seed-XXXXXX", NULL);
  char *data;
  gsize size;

  g_close (g_mkstemp (path), NULL);
  if (!vn_npy_write (path, tensor, NULL) || !g_file_get_contents (path, &data, &size, NULL))
    g_error ("no seed can be written to %s", path);
  g_unlink (path);
  return g_bytes_new_take (data, size);
}

void
seed_npy (GPtrArray *seeds)
{
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_S64, &VN_SHAPE (4)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_U8, &VN_SHAPE (2, 2, 3)));
  g_ptr_array_add (seeds, make_npy (VN_DTYPE_BOOL, &VN_SHAPE (0)));
}

static void
put_entry (GByteArray *out,
           gboolean    local,
           guint       method,
           guint32     packed,
           guint32     size,
           guint32     at,
           const char *name)
{
  guint16 length = (guint16) strlen (name);

  put_u32 (out, local ? 0x04034b50 : 0x02014b50);
  put_u16s (out, (const guint16[]) { 20, 20, 0 }, local ? 1 : 2);
  put_u16s (out, (const guint16[]) { 0, (guint16) method, 0, 0 }, 4);
  put_u32 (out, 0);
  put_u32 (out, packed);
  put_u32 (out, size);
  put_u16s (out, (const guint16[]) { length, 0 }, 2);
  if (!local)
    {
      put_u16s (out, (const guint16[]) { 0, 0, 0, 0, 0 }, 5);
      put_u32 (out, at);
    }
  g_byte_array_append (out, (const guint8 *) name, length);
}

static GBytes *
deflate (GBytes *plain)
{
  g_autoptr(GZlibCompressor) zlib = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW, 6);
  gsize size, n_read, n_written;
  gconstpointer data = g_bytes_get_data (plain, &size);
  guint8 *out = g_malloc (size + 100);

  g_converter_convert (G_CONVERTER (zlib), data, size, out, size + 100, G_CONVERTER_INPUT_AT_END, &n_read, &n_written, NULL);
  return g_bytes_new_take (out, n_written);
}

/* The two arrays of a ZIP archive, one stored and one packed. */
void
seed_npz (GPtrArray *seeds)
{
  static const char * const names[] = { "x.npy", "ids.npy" };
  g_autoptr(GByteArray) out = g_byte_array_new ();
  g_autoptr(GByteArray) directory = g_byte_array_new ();

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr(GBytes) plain = i == 0 ? make_npy (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7)) : make_npy (VN_DTYPE_S64, &VN_SHAPE (4));
      g_autoptr(GBytes) packed = i == 0 ? g_bytes_ref (plain) : deflate (plain);
      guint32 at = out->len, n = (guint32) g_bytes_get_size (packed), size = (guint32) g_bytes_get_size (plain);

      put_entry (out, TRUE, 8 * i, n, size, 0, names[i]);
      g_byte_array_append (out, g_bytes_get_data (packed, NULL), n);
      put_entry (directory, FALSE, 8 * i, n, size, at, names[i]);
    }
  put_u32 (directory, 0x06054b50);
  put_u16s (directory, (const guint16[]) { 0, 0, 2, 2 }, 4);
  put_u32 (directory, directory->len - 12);
  put_u32 (directory, out->len);
  put_u16s (directory, (const guint16[]) { 0 }, 1);
  g_byte_array_append (out, directory->data, directory->len);
  add (seeds, out->data, out->len);
}

/* What a model's weights are written as is what a .pb holds: field 5 of the graph, which is field 7 of the model. */
void
seed_protos (GPtrArray *seeds)
{
  static const guint8 raw[] = { 0x08, 0x02, 0x10, 0x01, 0x42, 0x01, 'x', 0x4a, 0x08, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40 };
  static const guint8 ints[] = { 0x08, 0x02, 0x10, 0x07, 0x3a, 0x02, 0x01, 0x7f, 0x42, 0x03, 'i', 'd', 's' };
  static const guint8 floats[] = { 0x08, 0x01, 0x10, 0x01, 0x22, 0x04, 0, 0, 0x80, 0x3f };
  static const guint8 strings[] = { 0x08, 0x02, 0x10, 0x08, 0x32, 0x01, 'a', 0x32, 0x00 };
  /* A sequence of tensors (1) that holds one tensor. */
  static const guint8 sequence[] = { 0x0a, 0x01, 's', 0x10, 0x01, 0x1a, 0x0a, 0x08, 0x01, 0x10, 0x01, 0x22, 0x04, 0, 0, 0x80, 0x3f };

  add (seeds, raw + 0, 4);
  add (seeds, raw, sizeof raw);
  add (seeds, ints, sizeof ints);
  add (seeds, floats, sizeof floats);
  add (seeds, strings, sizeof strings);
  add (seeds, sequence, sizeof sequence);
}

void
seed_raw (GPtrArray *seeds)
{
  g_autoptr(VnTensor) tensor = make_tensor (VN_DTYPE_F32, &VN_SHAPE (1, 3, 5, 7));

  add (seeds, tensor->data, (gssize) tensor->n_bytes);
  add (seeds, tensor->data, 24);
}

void
seed_lists (GPtrArray *seeds)
{
  static const char * const texts[] = {
    "a.png\n# no\n\nb.npy 3\r\n/nowhere/c.jpg\n", "\xef\xbb\xbf" "a.npz\nb.npz\n", "x.npy\ty.npy 1\nx2.npy\ty2.npy\n", "x.pb, y.pb\n", NULL
  };

  add_texts (seeds, texts);
}

void
seed_pictures (GPtrArray *seeds)
{
  static const char * const types[] = { "png", "jpeg", "bmp", "tiff" };
  static const char * const texts[] = { "P3\n2 1\n255\n10 20 30 1 2 3\n", "P2 # grey\n1 2\n15\n3 4\n", "P6\n1 1\n255\nabc", NULL };

  add_texts (seeds, texts);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (types); i++)
    {
      g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, i % 2, 8, 6, 5);
      char *data;
      gsize size;

      gdk_pixbuf_fill (pixbuf, 0x80ff2040);
      if (gdk_pixbuf_save_to_buffer (pixbuf, &data, &size, types[i / 2], NULL, NULL))
        g_ptr_array_add (seeds, g_bytes_new_take (data, size));
    }
}
