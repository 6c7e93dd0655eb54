/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Scales and zero points against the peer's, and what quantizing costs. */

#include "vn-quant-write.h"
#include "vn-resolver.h"

#include "vn-error.h"

#include <math.h>

#define QUANT_CASE(...) { __VA_ARGS__ },
static const struct
{
  double   min, max;
  VnDType  dtype;
  gboolean symmetric, reduce_range;
  double   scale;
  gint64   zero_point;
} cases[] = {
#include "quant-params-cases.def"
};

static void
test_table (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      float scale;
      gint64 zero_point;

      vn_quant_params_from_range (cases[i].min, cases[i].max, cases[i].dtype, cases[i].symmetric,
                                  cases[i].reduce_range, &scale, &zero_point);
      g_test_message ("%g .. %g %s%s%s: scale %a (%a), zero point %d (%d)", cases[i].min, cases[i].max,
                      vn_dtype_get_name (cases[i].dtype), cases[i].symmetric ? " symmetric" : "",
                      cases[i].reduce_range ? " reduced" : "",
                      (double) scale, cases[i].scale, (int) zero_point, (int) cases[i].zero_point);
      g_assert_cmpfloat ((double) scale, ==, cases[i].scale);
      g_assert_cmpint (zero_point, ==, cases[i].zero_point);
    }
  g_assert_cmpuint (G_N_ELEMENTS (cases), >, 80);
}

static VnTensor *
scalar_f32 (float value)
{
  return vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &value);
}

static VnTensor *
scalar_int (VnDType dtype,
            gint64  value)
{
  g_autoptr(GError) error = NULL;
  VnTensor *tensor = vn_quant_integer_tensor (dtype, &VN_SHAPE_SCALAR, &value, &error);

  g_assert_no_error (error);
  return tensor;
}

static void
test_values (void)
{
  static const struct
  {
    VnDType dtype;
    float   scale;
    gint64  zero_point;
    float   x;
    gint64  q;
  } table[] = {
    { VN_DTYPE_U8,  2, 0,     1,      0 },      /* ties to even */
    { VN_DTYPE_U8,  2, 0,     3,      2 },
    { VN_DTYPE_U8,  2, 1,     1,      1 },      /* rounds before the zero point is added */
    { VN_DTYPE_U8,  2, 1,     3,      3 },
    { VN_DTYPE_S8,  1, 0,    -0.5f,   0 },
    { VN_DTYPE_S8,  1, 0,    -1.5f,  -2 },
    { VN_DTYPE_S8,  1, 0,    -127.6f, -128 },   /* the full type, though scales are made for -127 */
    { VN_DTYPE_S8,  1, 0,    -1000,  -128 },
    { VN_DTYPE_S8,  1, 0,     1000,   127 },
    { VN_DTYPE_U8,  1, 128,   1e30f,  255 },
    { VN_DTYPE_U8,  1, 128,  -INFINITY, 0 },
    { VN_DTYPE_U16, 1, 32768, 40000,  65535 },
    { VN_DTYPE_U16, 1, 32768, 1.5f,   32770 },
    { VN_DTYPE_S16, 1, 0,    -32769,  -32768 },
    { VN_DTYPE_S4,  1, 0,     9,      7 },
    { VN_DTYPE_S4,  1, 0,    -3.5f,  -4 },
    { VN_DTYPE_U4,  1, 8,     100,    15 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) data = scalar_f32 (table[i].x);
      g_autoptr(VnTensor) scale = scalar_f32 (table[i].scale);
      g_autoptr(VnTensor) zero_point = scalar_int (table[i].dtype, table[i].zero_point);
      g_autoptr(VnTensor) q = vn_quant_quantize_tensor (data, table[i].dtype, scale, zero_point, -1, FALSE, &error);

      g_assert_no_error (error);
      g_test_message ("%s: %g / %g + %d = %d", vn_dtype_get_name (table[i].dtype), table[i].x, table[i].scale,
                      (int) table[i].zero_point, (int) vn_tensor_get_s64 (q, 0));
      g_assert_cmpint (vn_tensor_get_s64 (q, 0), ==, table[i].q);
    }
}

/* AMD stores weights without the lowest level; what has a zero point keeps all. In float the same is cut off. */
static void
test_narrow (void)
{
  static const struct { VnDType dtype; gint64 zero_point; float x; gint64 q; } table[] = {
    { VN_DTYPE_S8,  0, -200, -127 },
    { VN_DTYPE_S8,  0, -127, -127 },
    { VN_DTYPE_S8,  0,  200,  127 },
    { VN_DTYPE_S8,  3, -200, -128 },
    { VN_DTYPE_U8,  128, -200, 0 },
    { VN_DTYPE_S4,  0, -9,   -7 },
    { VN_DTYPE_S16, 0, -40000, -32767 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) data = scalar_f32 (table[i].x);
      g_autoptr(VnTensor) scale = scalar_f32 (1);
      g_autoptr(VnTensor) zero_point = scalar_int (table[i].dtype, table[i].zero_point);
      g_autoptr(VnTensor) q = vn_quant_quantize_tensor (data, table[i].dtype, scale, zero_point, -1, TRUE, &error);
      VnTensorPlan row = { .dtype = table[i].dtype, .scale = scale, .zero_point = zero_point, .axis = -1 };
      g_autoptr(VnTensor) cut = vn_quant_cut_to_narrow (data, &row, &error);
      g_autoptr(VnTensor) again = NULL;

      g_assert_no_error (error);
      g_assert_cmpint (vn_tensor_get_s64 (q, 0), ==, table[i].q);
      again = vn_quant_quantize_tensor (cut, table[i].dtype, scale, zero_point, -1, FALSE, &error);
      g_assert_cmpint (vn_tensor_get_s64 (again, 0), ==, table[i].q);
    }
}

/* The middle of symmetric uint8 is 128: AMD's processors want that, and ONNX Runtime had it before it changed to 127. */
static void
test_symmetric_unsigned (void)
{
  gint64 zero_point;
  float scale;

  vn_quant_params_from_range (-1, 2, VN_DTYPE_U8, TRUE, FALSE, &scale, &zero_point);
  g_assert_cmpint (zero_point, ==, 128);
  g_assert_cmpfloat (scale, ==, (float) (4.0 / 255));
}

/* Inside the range nothing is off by more than half a step (and what the division in single precision costs). */
static void
test_budget (void)
{
  static const VnDType types[] = { VN_DTYPE_U8, VN_DTYPE_S8, VN_DTYPE_U16, VN_DTYPE_S16, VN_DTYPE_U4, VN_DTYPE_S4 };
  static const float ranges[][2] = { { 0, 1 }, { -1, 1 }, { -0.3f, 5 }, { -7, 0.01f }, { 2, 3 } };
  enum { N = 501 };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      for (guint r = 0; r < G_N_ELEMENTS (ranges); r++)
        {
          g_autoptr(GError) error = NULL;
          g_autoptr(VnTensor) data = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (N), &error);
          g_autoptr(VnTensor) scale = NULL, zero_point = NULL, q = NULL;
          float step, *x = data->data;
          double worst = 0;
          gint64 zero;

          vn_quant_params_from_range (ranges[r][0], ranges[r][1], types[t], FALSE, FALSE, &step, &zero);
          for (guint i = 0; i < N; i++)
            x[i] = ranges[r][0] + (ranges[r][1] - ranges[r][0]) * (float) i / (N - 1);
          scale = scalar_f32 (step);
          zero_point = scalar_int (types[t], zero);
          q = vn_quant_quantize_tensor (data, types[t], scale, zero_point, -1, FALSE, &error);
          g_assert_no_error (error);
          for (guint i = 0; i < N; i++)
            worst = MAX (worst, fabs ((double) (vn_tensor_get_s64 (q, i) - zero) * step - x[i]));

          g_test_message ("%s %g .. %g: %g steps", vn_dtype_get_name (types[t]), ranges[r][0], ranges[r][1], worst / step);
          /* the ends may fall half a step outside, where the zero point was rounded */
          g_assert_cmpfloat (worst / step, <=, 1.0);
          g_assert_cmpfloat (worst / step, >, 0.2);
          for (guint i = N / 10; i < N - N / 10; i++)
            g_assert_cmpfloat (fabs ((double) (vn_tensor_get_s64 (q, i) - zero) * step - x[i]) / step, <=, 0.51);
        }
    }
}

static void
test_channels (void)
{
  const float values[12] = { 1, -2, 3,  0, 0, 0,   10, 20, -5,  1e-41f, 0, 0 };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (2, 2, 3), values);
  float min[3], max[3];
  guint64 n_infinite;

  g_assert_true (vn_quant_data_range (data, -1, min, max, &n_infinite, &error));
  g_assert_cmpfloat (min[0], ==, -5);
  g_assert_cmpfloat (max[0], ==, 20);
  g_assert_true (vn_quant_data_range (data, 1, min, max, &n_infinite, &error));
  g_assert_cmpfloat (min[0], ==, -5);
  g_assert_cmpfloat (max[0], ==, 20);
  g_assert_cmpfloat (min[1], ==, 0);
  g_assert_cmpfloat (max[1], ==, 1e-41f);
  g_assert_true (vn_quant_data_range (data, 2, min, max, &n_infinite, &error));
  g_assert_cmpfloat (min[1], ==, -2);
  g_assert_cmpfloat (max[1], ==, 20);
  g_assert_cmpfloat (min[2], ==, -5);
}

static void
test_bad_data (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(VnTensor) data = vn_tensor_new_f32 (&VN_SHAPE (3), (float[]) { 1, INFINITY, -2 });
  float min, max;
  guint64 n_infinite;

  g_assert_true (vn_quant_data_range (data, -1, &min, &max, &n_infinite, &error));
  g_assert_cmpuint (n_infinite, ==, 1);
  g_assert_cmpfloat (max, ==, 1);

  ((float *) data->data)[0] = NAN;
  g_assert_false (vn_quant_data_range (data, -1, &min, &max, &n_infinite, &error));
  g_assert_error (error, VN_ERROR, VN_ERROR_NUMERIC);
}

static void
test_bias (void)
{
  const float small[] = { 1, -2, 0.5f }, large[] = { 1, -2e4f, 0 };
  float scale = 1e-3f, scales[] = { 1e-3f, 1e-9f, 1e-3f };

  g_assert_false (vn_quant_raise_scales_for_bias (0.1f, &scale, 1, small, 3, 1, FALSE));
  g_assert_cmpfloat (scale, ==, 1e-3f);

  scale = 1e-9f;
  g_assert_true (vn_quant_raise_scales_for_bias (1e-3f, &scale, 1, large, 3, 1, FALSE));
  g_test_message ("raised to %g: %g steps of int32", scale, 2e4 / (1e-3 * scale));
  g_assert_cmpfloat (2e4 / (1e-3 * scale), <, G_MAXINT32);
  g_assert_cmpfloat (2e4 / (1e-3 * scale), >, 0.999 * G_MAXINT32);

  g_assert_true (vn_quant_raise_scales_for_bias (1e-3f, scales, 3, large, 3, 1, TRUE));
  g_assert_cmpfloat (scales[0], ==, 1e-3f);
  g_assert_cmpfloat (scales[1], >, 1e-9f);
  g_assert_cmpfloat (scales[2], ==, 1e-3f);
  g_assert_cmpfloat (2e4 / (1e-3 * scales[1]), <, G_MAXINT32);
}

/* A scale of its own holds the largest element of a bias, powers of two included, and wastes less than one bit. */
static void
test_own_bias (void)
{
  static const struct { const char *recipe, *power; VnDType dtype; gint64 qmax; double waste; } kinds[] = {
    { "fixneuron", "off",     VN_DTYPE_S8,  127,        2 }, { "fixneuron", "off",     VN_DTYPE_S16, 32767, 2 },
    { "cpu",       "nearest", VN_DTYPE_S8,  127,        2 }, { "cpu",       "ppq",     VN_DTYPE_S16, 32767, 2 },
    { "cpu",       "nearest", VN_DTYPE_S32, G_MAXINT32, 2 }, { "cpu",       "off",     VN_DTYPE_S8,  127,   1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    {
      g_autoptr(VnRecipe) recipe = vn_recipe_new (kinds[i].recipe);
      g_autoptr(GError) error = NULL;
      VnQuantScheme scheme;

      vn_recipe_set (recipe, "power-of-two", kinds[i].power, &error);
      g_assert_no_error (error);
      vn_quant_scheme_init (&scheme, recipe);
      for (double largest = 1e-4; largest < 1e4; largest *= 1.07)
        {
          double scale = vn_quant_own_bias_scale (&scheme.scales, kinds[i].dtype, -largest, largest / 3);
          double held = scale * (double) kinds[i].qmax / (float) largest;

          g_assert_cmpfloat (held, >, 1 - 1e-6);
          g_assert_cmpfloat (held, <, kinds[i].waste + 1e-6);
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/quantize/params/table", test_table);
  g_test_add_func ("/quantize/params/values", test_values);
  g_test_add_func ("/quantize/params/narrow", test_narrow);
  g_test_add_func ("/quantize/params/symmetric-unsigned", test_symmetric_unsigned);
  g_test_add_func ("/quantize/params/budget", test_budget);
  g_test_add_func ("/quantize/params/channels", test_channels);
  g_test_add_func ("/quantize/params/bad-data", test_bad_data);
  g_test_add_func ("/quantize/params/bias", test_bias);
  g_test_add_func ("/quantize/params/own-bias", test_own_bias);
  return g_test_run ();
}
