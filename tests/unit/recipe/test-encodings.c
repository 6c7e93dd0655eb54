/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Tables of given ranges: every form, what is refused, and damage. */

#include "vn-error.h"
#include "vn-encodings.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static VnEncodingTable *
parse (gconstpointer   data,
       gsize           size,
       GError        **error)
{
  g_autoptr(GBytes) bytes = g_bytes_new (data, size);

  return vn_encoding_table_parse (bytes, "table", error);
}

static void
test_forms (void)
{
  static const struct { const char *text; VnEncoding given; } cases[] = {
    { "{\"format\": \"vernier-ranges\", \"version\": 1, \"tensors\": {\"a b\": {\"min\": -1.5, \"max\": 2}}}",
      { .range = { -1.5, 2 } } },
    { "{\"format\": \"vernier-ranges\", \"version\": 1, \"tensors\": {\"a b\": {\"scale\": 0.5, \"zero_point\": 113}}}",
      { TRUE, { 0 }, 0.5f, 113 } },
    { "{\"a b\": [113, 0.5]}", { TRUE, { 0 }, 0.5f, 113 } },
    { "{\"a b\": [-3, 2]}", { TRUE, { 0 }, 2, -3 } },
    { "{\"a b\": [-3.0, 2]}", { .range = { -3, 2 } } },
    { " \n{\"input_quantization_params\": {\"a b\": [113, 0.5]}}", { TRUE, { 0 }, 0.5f, 113 } },
    { "{\"output_quantization_params\": {\"a b\": [113, 0.5]}}", { TRUE, { 0 }, 0.5f, 113 } },
    { "{\"a b\": {\"lowest\": -1.5, \"highest\": 2.25, \"CLS\": \"TensorData\"}}", { .range = { -1.5, 2.25 } } },
    { "{\"CLS\": \"TensorsData\", \"calibration_method\": {\"CLS\": \"CalibrationMethod\"}, \"data\": {\"a b\": {\"lowest\": "
      "{\"data\": [1, -2.5], \"CLS\": \"numpy.array\"}, \"highest\": {\"data\": [3, 5]}}}}", { .range = { -2.5, 5 } } },
    { "{\"a b\": {\"scale\": 0.5, \"zero_point\": 113.0, \"type\": \"uint8\"}}", { TRUE, { 0 }, 0.5f, 113, VN_DTYPE_U8 } },
    { "{\"quant_info\": {\"a b\": {\"bit_width\": 8, \"q_min\": 0, \"q_max\": 255, \"quant_flag\": true, \"scale\": 0.5, "
      "\"zero_point\": 128.0, \"tensor_max\": 9}, \"off\": {\"quant_flag\": false}, \"bias\": {\"bit_width\": 32}}}",
      { TRUE, { 0 }, 0.5f, 128, VN_DTYPE_U8 } },
    { "{\"quant_info\": {\"a b\": {\"q_min\": -32768, \"q_max\": 32767, \"bit_width\": 16, \"scale\": 0.5, \"zero_point\": 0}}}",
      { TRUE, { 0 }, 0.5f, 0, VN_DTYPE_S16 } },
    { "{\"quant_info\": {\"a b\": {\"scale\": 0.5, \"zero_point\": 0}}}", { TRUE, { 0 }, 0.5f, 0 } },
    { "{\"act_quant_info\": {\"a b\": 2.5}}", { .range = { -2.5, 2.5 } } },
    /* the dominator's; the first operation decides; what is float, wide, or without numbers is passed over */
    { "{\"configs\": {\"op\": {\"a b\": {\"bit_width\": 8, \"quant_min\": -128, \"quant_max\": 127, \"state\": \"OVERLAPPED\", "
      "\"hash\": 1, \"dominator\": 4294967295}, \"f\": {\"bit_width\": 8, \"state\": \"FP32\", \"hash\": 1}, \"\": {}, "
      "\"wide\": {\"bit_width\": 32, \"state\": \"PASSIVE\", \"hash\": 1}, \"none\": {\"bit_width\": 8, \"hash\": 7}}, "
      "\"next\": {\"a b\": {\"bit_width\": 8, \"state\": \"ACTIVATED\", \"hash\": 1}}}, "
      "\"values\": {\"1\": {\"scale\": 3, \"zero_point\": 3.0}, \"4294967295\": {\"scale\": 0.25, \"zero_point\": -7.0}}}",
      { TRUE, { 0 }, 0.25f, -7, VN_DTYPE_S8 } },
    { "a b 2.25\n", { .range = { -2.25, 2.25 } } },
    { "\na b -1e-3\r\n\n", { .range = { -1e-3, 1e-3 } } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnEncodingTable) table = parse (cases[i].text, strlen (cases[i].text), &error);
      const VnEncoding *given;

      g_test_message ("%s", cases[i].text);
      g_assert_no_error (error);
      g_assert_cmpuint (vn_encoding_table_get_n (table), ==, 1);
      given = vn_encoding_table_get (table, "a b");
      g_assert_nonnull (given);
      g_assert_cmpint (given->has_params, ==, cases[i].given.has_params);
      g_assert_cmpint (given->zero_point, ==, cases[i].given.zero_point);
      g_assert_cmpint (given->dtype, ==, cases[i].given.dtype);
      g_assert_cmpuint (given->n, ==, 0);
      g_assert_cmpfloat (given->scale, ==, cases[i].given.scale);
      g_assert_cmpfloat (given->range.min, ==, cases[i].given.range.min);
      g_assert_cmpfloat (given->range.max, ==, cases[i].given.range.max);
    }
}

/* What is wrong ends in a message that says where. */
static void
test_refused (void)
{
  static const struct { const char *text, *names; } cases[] = {
    { "", "no entries" }, { "{}", "no entries" }, { "{", "table" }, { "[1]", "line 1" }, { "word", "line 1" },
    { "a 1\nb x\n", "“b”" }, { "a 1\na 2\n", "twice" }, { "a inf\n", "“a”" }, { "a nan", "“a”" },
    { "{\"a\": [1, 0]}", "“a”" }, { "{\"a\": [1, -0.5]}", "“a”" }, { "{\"a\": [1]}", "“a”" }, { "{\"a\": 1}", "“a”" },
    { "{\"a\": [2.0, 1.0]}", "“a”" }, { "{\"a\": [1, \"x\"]}", "“a”" }, { "{\"a\": {}}", "“a”" },
    { "{\"a\": {\"min\": 1}}", "“a”" }, { "{\"a\": {\"min\": 1, \"max\": null}}", "“a”" },
    { "{\"a\": {\"min\": [], \"max\": [1]}}", "“a”" }, { "{\"a\": {\"scale\": 1, \"zero_point\": 0.5}}", "“a”" },
    { "{\"a\": {\"lowest\": {\"data\": {}}, \"highest\": 1}}", "“a”" }, { "{\"\": [1, 0.5]}", "empty" },
    { "{\"format\": \"vernier-ranges\", \"tensors\": {}}", "version" },
    { "{\"format\": \"vernier-ranges\", \"version\": 2, \"tensors\": {}}", "version" },
    { "{\"format\": \"vernier-ranges\", \"version\": 1, \"tensors\": []}", "tensors" },
    { "{\"input_quantization_params\": 5}", "input_quantization_params" },
    { "{\"a\": {\"scale\": 1, \"zero_point\": 128, \"type\": \"int8\"}}", "128" },
    { "{\"a\": {\"scale\": 1, \"zero_point\": 0, \"type\": \"float32\"}}", "“float32”" },
    { "{\"a\": {\"scale\": [1, 2], \"zero_point\": [0]}}", "2 scales" },
    { "{\"a\": {\"scale\": [], \"zero_point\": []}}", "0 scales" },
    { "{\"a\": {\"scale\": [1, 0], \"zero_point\": [0, 0]}}", "the scale 0" },
    { "{\"a\": {\"scale\": [1], \"zero_point\": 0}}", "“a”" },
    { "{\"quant_info\": []}", "quant_info" }, { "{\"quant_info\": {\"a\": 1}}", "a: " },
    { "{\"quant_info\": {\"a\": {\"scale\": 1}}}", "“scale” and “zero_point”" },
    { "{\"quant_info\": {\"a\": {\"scale\": -1, \"zero_point\": 0}}}", "the scale -1" },
    { "{\"quant_info\": {\"a\": {\"scale\": 1, \"zero_point\": 0.5}}}", "not an integer" },
    { "{\"quant_info\": {\"a\": {\"scale\": 1, \"zero_point\": 1e300}}}", "not an integer" },
    { "{\"act_quant_info\": {\"a\": \"x\"}}", "a: " },
    { "{\"configs\": 1, \"values\": {}}", "configs" }, { "{\"configs\": {}, \"values\": 1}", "values" },
    { "{\"configs\": {\"op\": 1}, \"values\": {}}", "op: " }, { "{\"configs\": {\"op\": {\"a\": 1}}, \"values\": {}}", "a: " },
    { "{\"configs\": {\"op\": {\"a\": {\"bit_width\": 8, \"hash\": 1}}}, \"values\": {\"1\": 2}}", "a: " },
    { "{\"onnx_file\": \"m.onnx\", \"calibration_table\": \"tables/m.table\"}", "TensorRT" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_null (parse (cases[i].text, strlen (cases[i].text), &error));
      g_test_message ("%s: %s", cases[i].text, error->message);
      g_assert_true (error->domain == VN_ERROR);
      g_assert_nonnull (strstr (error->message, cases[i].names));
    }
}

/* Numbers survive to the last bit. */
static void
test_save (void)
{
  g_autoptr(VnEncodingTable) table = vn_encoding_table_new ();
  g_autoptr(VnEncodingTable) loaded = NULL;
  g_autoptr(GError) error = NULL;
  g_autofree char *path = g_build_filename (g_get_tmp_dir (), "vn-given-XXXXXX", NULL);
  const VnEncoding range = { .range = { -1.0 / 3, (double) 0.1f } };
  const VnEncoding params = { TRUE, { 0 }, 1.0f / 3, -7, VN_DTYPE_S8 };
  float scales[] = { 0.1f, 1.0f / 3 };
  gint64 zero_points[] = { 0, -128 };
  const VnEncoding channels = { TRUE, { 0 }, 0.1f, 0, VN_DTYPE_S8, 2, scales, zero_points };
  const VnEncoding *given;

  g_close (g_mkstemp (path), NULL);
  g_assert_true (vn_encoding_table_add (table, "r\"ü\n", &range, &error));
  g_assert_true (vn_encoding_table_add (table, "p", &params, &error));
  g_assert_true (vn_encoding_table_add (table, "c", &channels, &error));
  g_assert_false (vn_encoding_table_add (table, "p", &params, &error));
  g_clear_error (&error);
  g_assert_true (vn_encoding_table_save (table, path, &error));
  loaded = vn_encoding_table_load (path, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_assert_cmpmem (vn_encoding_table_get (loaded, "r\"ü\n"), sizeof range, &range, sizeof range);
  g_assert_cmpmem (vn_encoding_table_get (loaded, "p"), sizeof params, &params, sizeof params);
  given = vn_encoding_table_get (loaded, "c");
  g_assert_cmpmem (given->scales, given->n * sizeof *scales, scales, sizeof scales);
  g_assert_cmpmem (given->zero_points, given->n * sizeof *zero_points, zero_points, sizeof zero_points);
}

/* ---- flatbuffers ---- */

/* What onnxruntime 1.31 wrote for "a b": 2.25 and "x": 6.0. */
static const guint8 flatbuffer[] = {
  0x0c, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00, 0x08, 0x00, 0x04, 0x00, 0x06, 0x00, 0x00, 0x00,
  0x04, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00,
  0xe4, 0xff, 0xff, 0xff, 0x08, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
  0x36, 0x2e, 0x30, 0x00, 0x01, 0x00, 0x00, 0x00, 0x78, 0x00, 0x00, 0x00, 0x08, 0x00, 0x0c, 0x00,
  0x08, 0x00, 0x04, 0x00, 0x08, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00,
  0x04, 0x00, 0x00, 0x00, 0x32, 0x2e, 0x32, 0x35, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
  0x61, 0x20, 0x62, 0x00,
};

static void
test_flatbuffer (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnEncodingTable) table = parse (flatbuffer, sizeof flatbuffer, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (vn_encoding_table_get_n (table), ==, 2);
  g_assert_cmpfloat (vn_encoding_table_get (table, "a b")->range.min, ==, -2.25);
  g_assert_cmpfloat (vn_encoding_table_get (table, "x")->range.max, ==, 6);
}

static void
put_u32 (GByteArray *out,
         guint32     value)
{
  value = GUINT32_TO_LE (value);
  g_byte_array_append (out, (const guint8 *) &value, sizeof value);
}

/* Texts may overlap, so that a small file could hold many large names: their length is limited. */
static void
test_long_names (void)
{
  static const guint32 head[] = { 20, 6 | 8 << 16, 4, 8 | 12 << 16, 4 | 8 << 16, 16, 4, 1, 4, 24, 16, 4, 1, '1' };
  static const guint32 lengths[] = { 60000, 70000 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    {
      g_autoptr(GByteArray) out = g_byte_array_new ();
      g_autofree char *name = g_strnfill (lengths[i], 'a');
      g_autoptr(GError) error = NULL;
      g_autoptr(VnEncodingTable) table = NULL;

      for (guint k = 0; k < G_N_ELEMENTS (head); k++)
        put_u32 (out, head[k]);
      put_u32 (out, lengths[i]);
      g_byte_array_append (out, (const guint8 *) name, lengths[i]);
      table = parse (out->data, out->len, &error);
      g_assert_true ((table != NULL) == (i == 0));
      if (i > 0)
        g_assert_error (error, VN_ERROR, VN_ERROR_MALFORMED);
    }
}

static void
use_table (VnEncodingTable *table)
{
  for (guint i = 0; i < vn_encoding_table_get_n (table); i++)
    {
      const char *name = vn_encoding_table_get_name (table, i);
      const VnEncoding *given = vn_encoding_table_get (table, name);

      g_assert_true (g_utf8_validate (name, -1, NULL));
      g_assert_true (given->has_params ? isfinite (given->scale) && given->scale > 0
                                       : isfinite (given->range.min) && given->range.min <= given->range.max);
      for (guint k = 0; k < given->n; k++)
        g_assert_true (isfinite (given->scales[k]) && given->scales[k] > 0);
    }
}

/* Bytes changed, cut off and put in, in files that are right: nothing is read outside, whatever is taken can be used. */
static void
test_damage (void)
{
  static const char json[] = "{\"CLS\": \"TensorsData\", \"data\": {\"a b\": {\"lowest\": {\"data\": [1, -2.5]}, \"highest\": 5},"
                             "\"c\": [1, 0.5], \"d\": {\"scale\": 0.25, \"zero_point\": 3}}}";
  static const char ppq[] =
    "{\"configs\": {\"op\": {\"a\": {\"bit_width\": 8, \"quant_min\": -128, \"quant_max\": 127, \"state\": "
    "\"ACTIVATED\", \"hash\": 11, \"dominator\": 12}, \"b\": {\"bit_width\": 8, \"hash\": 13}}}, "
    "\"values\": "
                            "{\"11\": {\"scale\": 1, \"zero_point\": 0.0}, \"12\": {\"scale\": 2, \"zero_point\": -7.0}, "
                            "\"13\": {\"scale\": [1, 2], \"zero_point\": [3, 4]}}}";
  static const struct { gconstpointer data; gsize size; } files[] = {
    { flatbuffer, sizeof flatbuffer }, { json, sizeof json - 1 }, { "a b 2.25\nx 6.0\n", 15 }, { ppq, sizeof ppq - 1 },
  };
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  guint n_taken = 0;

  for (guint i = 0; i < 60000; i++)
    {
      gsize size = files[i % G_N_ELEMENTS (files)].size;
      g_autofree guint8 *data = g_memdup2 (files[i % G_N_ELEMENTS (files)].data, size);
      g_autoptr(VnEncodingTable) table = NULL;
      g_autoptr(GError) error = NULL;

      for (guint changes = g_rand_int_range (rand, 0, 4); changes > 0; changes--)
        {
          gsize at = (gsize) g_rand_int_range (rand, 0, (int) size);
          guint8 kinds[] = { (guint8) g_rand_int (rand), data[at] ^ (guint8) (1u << g_rand_int_range (rand, 0, 8)), 0, 0xff };

          data[at] = kinds[g_rand_int_range (rand, 0, G_N_ELEMENTS (kinds))];
        }
      if (g_rand_int_range (rand, 0, 4) == 0)
        size = (gsize) g_rand_int_range (rand, 0, (int) size + 1);
      table = parse (data, size, &error);
      g_assert_true ((table == NULL) == (error != NULL));
      n_taken += table != NULL;
      if (table != NULL)
        use_table (table);
    }
  g_test_message ("%u taken", n_taken);
  g_assert_cmpuint (n_taken, >, 10000);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/given/forms", test_forms);
  g_test_add_func ("/given/refused", test_refused);
  g_test_add_func ("/given/save", test_save);
  g_test_add_func ("/given/flatbuffer", test_flatbuffer);
  g_test_add_func ("/given/long-names", test_long_names);
  g_test_add_func ("/given/damage", test_damage);

  return g_test_run ();
}
