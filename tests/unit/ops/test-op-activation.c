/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators against the C library in double. */
#include "op-call.h"

#include <math.h>

typedef double (*Function) (double v, double a, double b);

static double relu (double v, double a, double b) { return v < 0 ? 0 : v; }
static double leaky (double v, double a, double b) { return v < 0 ? a * v : v; }
static double threshold (double v, double a, double b) { return v > a ? v : isnan (v) ? v : 0; }
static double elu (double v, double a, double b) { return v < 0 ? a * expm1 (v) : v; }
static double celu (double v, double a, double b) { return v < 0 ? a * expm1 (v / a) : v; }
static double selu (double v, double a, double b) { return b * (v <= 0 ? a * expm1 (v) : v); }
static double sigmoid (double v, double a, double b) { return 1 / (1 + exp (-v)); }
static double swish (double v, double a, double b) { return v / (1 + exp (-a * v)); }
static double hyperbolic (double v, double a, double b) { return tanh (v); }
static double softplus (double v, double a, double b) { return fmax (v, 0) + log1p (exp (-fabs (v))); }
static double softsign (double v, double a, double b) { return v / (1 + fabs (v)); }
static double hard_sigmoid (double v, double a, double b) { return isnan (v) ? v : fmin (1, fmax (0, a * v + b)); }
static double hard_swish (double v, double a, double b) { return isnan (v) ? v : v * fmin (1, fmax (0, v / 6 + 0.5)); }
static double error_function (double v, double a, double b) { return erf (v); }
static double gelu (double v, double a, double b) { return 0.5 * v * erfc (-v / sqrt (2)); }
static double gelu_tanh (double v, double a, double b)
{
  return 0.5 * v * (1 + tanh (sqrt (2 / G_PI) * (v + 0.044715 * v * v * v)));
}
static double mish (double v, double a, double b) { return v * tanh (softplus (v, 0, 0)); }
static double clip (double v, double a, double b) { return isnan (v) ? v : fmin (b, fmax (a, v)); }

typedef struct
{
  const char *domain, *type, *attributes;
  gint64      opset;
  Function    function;
  double      a, b;
  double      absolute;   /* allowed error where the result cancels */
} Case;

static const Case cases[] = {
  { "", "Relu", "", 14, relu },
  { "", "LeakyRelu", "", 16, leaky, 0.01 },
  { "", "LeakyRelu", "alpha=0.25", 6, leaky, 0.25 },
  { "", "ThresholdedRelu", "alpha=1.5", 10, threshold, 1.5 },
  { "", "Elu", "alpha=2.0", 6, elu, 2 },
  { "", "Celu", "alpha=0.5", 12, celu, 0.5 },
  { "", "Selu", "", 6, selu, 1.67326319, 1.05070102 },
  { "", "Sigmoid", "", 13, sigmoid },
  { "", "Swish", "alpha=0.5", 24, swish, 0.5 },
  { "com.microsoft", "QuickGelu", "", 1, swish, 1.702f, 0, 1e-9 },
  { "", "Tanh", "", 13, hyperbolic },
  { "", "Softplus", "", 1, softplus },
  { "", "Softsign", "", 1, softsign },
  { "", "HardSigmoid", "", 6, hard_sigmoid, 0.2, 0.5, 1e-7 },
  { "", "HardSwish", "", 14, hard_swish, 0, 0, 1e-6 },
  { "", "Erf", "", 13, error_function },
  { "", "Gelu", "", 20, gelu, 0, 0, 1e-6 },
  { "", "Gelu", "approximate=tanh", 20, gelu_tanh, 0, 0, 1e-6 },
  { "com.microsoft", "Gelu", "", 1, gelu, 0, 0, 1e-6 },
  { "", "Mish", "", 18, mish },
  { "", "Clip", "min=-1.5 max=2.5", 6, clip, -1.5, 2.5 },
};

#define N 4099

static VnTensor *
make_input (void)
{
  static const float special[] = { 0.f, -0.f, NAN, 88.5f, -87.f, -103.f, 30.f, -30.f, 1e-20f, -1e-20f, 1e-3f, -1e-3f };
  VnTensor *x = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (N), NULL);

  for (int i = 0; i < N; i++)
    ((float *) x->data)[i] = i < (int) G_N_ELEMENTS (special) ? special[i] : (i - N / 2) * 0.0061f;
  return x;
}

static void
test_functions (void)
{
  g_autoptr(VnTensor) x = make_input ();
  g_autoptr(VnTensor) wide = vn_tensor_convert (x, VN_DTYPE_F64, NULL);

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      const Case *c = &cases[k];
      VnTensor *inputs[] = { x };
      OpCall call = { c->domain, c->type, c->opset, c->attributes, inputs, 1, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      g_autoptr(VnTensor) z = NULL;
      double expected[N];

      for (int i = 0; i < N; i++)
        expected[i] = c->function (((float *) x->data)[i], c->a, c->b);
      g_test_message ("%s %s", c->type, c->attributes);
      /* What is computed below the smallest normal number may be 0, and with it results of about its size. */
      op_assert_near (y, expected, N, 6e-7, MAX (c->absolute, 2.4e-38));
      inputs[0] = wide;
      z = op_call_one (&call);
      op_assert_near (z, expected, N, 1e-6, 1e-7);
    }
}

static void
test_infinite (void)
{
  static const struct { const char *type; gint64 opset; double up, down; } limits[] = {
    { "Relu", 14, INFINITY, 0 }, { "Sigmoid", 13, 1, 0 }, { "Tanh", 13, 1, -1 }, { "Erf", 13, 1, -1 },
    { "Elu", 6, INFINITY, -1 }, { "Softplus", 1, INFINITY, 0 }, { "Clip", 11, INFINITY, -INFINITY },
  };
  g_autoptr(VnTensor) x = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { INFINITY, -INFINITY });

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    {
      VnTensor *inputs[] = { x };
      OpCall call = { "", limits[i].type, limits[i].opset, "", inputs, 1, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      double expected[] = { limits[i].up, limits[i].down };

      g_test_message ("%s", limits[i].type);
      op_assert_near (y, expected, 2, 0, 0);
    }
}

static void
test_clip_inputs (void)
{
  static const struct { float min, max; gboolean has_min, has_max; double expected[5]; } bounds[] = {
    { -1, 1, TRUE, TRUE, { -1, -1, 0, 1, 1 } },
    { -1, 0, TRUE, FALSE, { -1, -1, 0, 1, 3 } },
    { 0, 1, FALSE, TRUE, { -3, -1, 0, 1, 1 } },
    { 2, 1, TRUE, TRUE, { 1, 1, 1, 1, 1 } },
    { 0, 0, FALSE, FALSE, { -3, -1, 0, 1, 3 } },
  };
  g_autoptr(VnTensor) x = vn_tensor_new_f32 (&VN_SHAPE (5), (float[]) { -3, -1, 0, 1, 3 });

  for (int dtype = 0; dtype < 3; dtype++)
    for (guint i = 0; i < G_N_ELEMENTS (bounds); i++)
      {
        static const VnDType dtypes[] = { VN_DTYPE_F32, VN_DTYPE_S8, VN_DTYPE_S64 };
        g_autoptr(VnTensor) low = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &bounds[i].min);
        g_autoptr(VnTensor) high = vn_tensor_new_f32 (&VN_SHAPE_SCALAR, &bounds[i].max);
        g_autoptr(VnTensor) data = vn_tensor_convert (x, dtypes[dtype], NULL);
        g_autoptr(VnTensor) from = vn_tensor_convert (low, dtypes[dtype], NULL);
        g_autoptr(VnTensor) to = vn_tensor_convert (high, dtypes[dtype], NULL);
        VnTensor *inputs[] = { data, bounds[i].has_min ? from : NULL, bounds[i].has_max ? to : NULL };
        OpCall call = { "", "Clip", 13, "", inputs, 3, 1, 1 };
        g_autoptr(VnTensor) y = op_call_one (&call);

        g_test_message ("%s, bounds %u", vn_dtype_get_name (dtypes[dtype]), i);
        op_assert_near (y, bounds[i].expected, 5, 0, 0);
      }
}

static void
test_prelu (void)
{
  static const VnShape slopes[] = { VN_SHAPE (1), VN_SHAPE (3, 1, 1), VN_SHAPE (2, 3, 4, 5), VN_SHAPE (5),
                                    VN_SHAPE (4, 1), VN_SHAPE (1, 3, 1, 5), { 0 } };
  static const VnShape shape = VN_SHAPE (2, 3, 4, 5);
  g_autoptr(VnTensor) x = op_random (&shape, 3);
  double expected[120];

  for (guint k = 0; k < G_N_ELEMENTS (slopes); k++)
    {
      g_autoptr(VnTensor) slope = op_random (&slopes[k], 4);
      VnTensor *inputs[] = { x, slope };
      OpCall call = { "", "PRelu", 16, "", inputs, 2, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);

      for (int i = 0; i < 120; i++)
        {
          int index[4] = { i / 60, i / 20 % 3, i / 5 % 4, i % 5 }, at = 0;
          float v = ((float *) x->data)[i];

          for (int a = 0; a < slopes[k].rank; a++)
            at = at * (int) slopes[k].dims[a] + (slopes[k].dims[a] == 1 ? 0 : index[4 - slopes[k].rank + a]);
          expected[i] = v < 0 ? v * ((float *) slope->data)[at] : v;
        }
      g_test_message ("slope %u", k);
      op_assert_near (y, expected, 120, 1e-7, 0);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/activation/functions", test_functions);
  g_test_add_func ("/ops/activation/infinite", test_infinite);
  g_test_add_func ("/ops/activation/clip-inputs", test_clip_inputs);
  g_test_add_func ("/ops/activation/prelu", test_prelu);
  return g_test_run ();
}
