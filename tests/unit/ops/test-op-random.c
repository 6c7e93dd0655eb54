/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random operators: moments and frequencies within five standard deviations of what they must be, the same bits for the
 * same seed, other ones for another. Seeds are fixed, so the outcome is, too. */
#include "op-text.h"

#include <math.h>

#define N 200000

static VnTensor *
draw (const char *type,
      const char *attributes,
      VnTensor   *input)
{
  OpCall call = { "", type, 22, attributes, &input, input != NULL, 1, 1 };

  return op_call_one (&call);
}

/* Mean of the k-th power of what @x is off @middle, in units of @scale. */
static double
moment (const VnTensor *x,
        double          middle,
        double          scale,
        int             k)
{
  double sum = 0;

  for (gsize i = 0; i < x->n_elements; i++)
    sum += pow ((vn_tensor_get_double (x, i) - middle) / scale, k);
  return sum / (double) x->n_elements;
}

static double
correlation (const VnTensor *x,
             double          middle,
             double          scale,
             gsize           lag)
{
  double sum = 0;

  for (gsize i = lag; i < x->n_elements; i++)
    sum += (vn_tensor_get_double (x, i) - middle) * (vn_tensor_get_double (x, i - lag) - middle);
  return sum / (scale * scale) / (double) (x->n_elements - lag);
}

static void
assert_close (double found,
              double expected,
              double deviation)
{
  if (fabs (found - expected) > 5 * deviation)
    g_error ("%g is no %g within %g", found, expected, 5 * deviation);
}

/* Moments 1 to 4 of the standard normal distribution are 0, 1, 0, 3; those of moments 5 to 8 make the deviations. */
static void
test_normal (void)
{
  static const struct { const char *attributes; double mean, scale; } cases[] = {
    { "shape=[200,1000] seed=1.0", 0, 1 },
    { "shape=[200,1000] seed=2.0 mean=-3.0 scale=0.25", -3, 0.25 },
    { "shape=[200,1000] dtype=11 seed=3.5 mean=10.0 scale=7.0", 10, 7 },
    { "shape=[200,1000]", 0, 1 },
  };
  static const double expected[] = { 0, 0, 1, 0, 3 }, variance[] = { 0, 1, 2, 15, 96 };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnTensor) x = draw ("RandomNormal", cases[i].attributes, NULL);

      g_assert_cmpuint (x->n_elements, ==, N);
      for (int k = 1; k <= 4; k++)
        assert_close (moment (x, cases[i].mean, cases[i].scale, k), expected[k], sqrt (variance[k] / N));
      for (gsize lag = 1; lag < 4; lag++)
        assert_close (correlation (x, cases[i].mean, cases[i].scale, lag), 0, 1 / sqrt (N));
    }
}

static void
test_uniform (void)
{
  static const struct { const char *attributes; double low, high; } cases[] = {
    { "shape=[200000] seed=1.0", 0, 1 },
    { "shape=[200000] low=-2.0 high=6.0 seed=0.0", -2, 6 },
    { "shape=[200000] dtype=11", 0, 1 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnTensor) x = draw ("RandomUniform", cases[i].attributes, NULL);
      double low = cases[i].low, width = cases[i].high - low;
      double chi = 0;
      guint bins[50] = { 0 };

      for (gsize k = 0; k < N; k++)
        {
          double v = (vn_tensor_get_double (x, k) - low) / width;

          g_assert_true (v >= 0 && v <= 1);
          bins[MIN ((guint) (v * 50), 49)]++;
        }
      for (guint k = 0; k < 50; k++)
        chi += (bins[k] - N / 50.) * (bins[k] - N / 50.) / (N / 50.);
      assert_close (chi, 49, sqrt (2 * 49));
      assert_close (moment (x, low, width, 1), 0.5, sqrt (1 / 12. / N));
      assert_close (moment (x, low + width / 2, width, 2), 1 / 12., sqrt (1 / 180. / N));
      assert_close (correlation (x, low + width / 2, width, 1), 0, 1 / 12. / sqrt (N));
    }
}

static void
test_bernoulli (void)
{
  static const char * const dtypes[] = { "seed=4.0", "seed=4.0 dtype=9", "seed=4.0 dtype=7", "seed=4.0 dtype=10" };
  static const double p[] = { 0, 0.01, 0.5, 0.9, 1 };
  const VnShape shape = VN_SHAPE (N);

  for (gsize k = 0; k < G_N_ELEMENTS (p); k++)
    for (gsize d = 0; d < G_N_ELEMENTS (dtypes); d++)
      {
        g_autoptr(VnTensor) in = op_random (&shape, 1);
        g_autoptr(VnTensor) x = NULL;

        for (gsize i = 0; i < N; i++)
          ((float *) in->data)[i] = (float) p[k];
        x = draw ("Bernoulli", dtypes[d], in);
        for (gsize i = 0; i < N; i++)
          g_assert_true (vn_tensor_get_double (x, i) == 0 || vn_tensor_get_double (x, i) == 1);
        assert_close (moment (x, 0, 1, 1), p[k], sqrt (p[k] * (1 - p[k]) / N));
      }
}

static void
test_multinomial (void)
{
  /* exp: 1/8, 1/4, 0, 1/2, 1/8 of the sum; then one class only */
  g_autoptr(VnTensor) logs = op_tensor_from_text ("f32[2,5]=3,3.6931472,-inf,4.3862944,3,-90,-inf,0,-inf,-90");
  static const double p[] = { 0.125, 0.25, 0, 0.5, 0.125 };
  g_autoptr(VnTensor) x = draw ("Multinomial", "sample_size=100000 seed=1.0 dtype=7", logs);
  guint found[5] = { 0 };

  g_assert_cmpint (x->dtype, ==, VN_DTYPE_S64);
  g_assert_cmpint (x->shape.dims[1], ==, 100000);
  for (gsize i = 0; i < 100000; i++)
    {
      gint64 class = vn_tensor_get_s64 (x, i);

      g_assert_true (class >= 0 && class < 5);
      found[class]++;
      g_assert_cmpint (vn_tensor_get_s64 (x, 100000 + i), ==, 2);
    }
  for (guint k = 0; k < 5; k++)
    assert_close (found[k] / 1e5, p[k], sqrt (p[k] * (1 - p[k]) / 1e5));
}

static gsize
count_equal (const VnTensor *a,
             const VnTensor *b)
{
  gsize n = 0;

  for (gsize i = 0; i < a->n_elements; i++)
    n += vn_tensor_get_double (a, i) == vn_tensor_get_double (b, i);
  return n;
}

static void
test_seeds (void)
{
  static const char * const types[] = { "RandomNormalLike", "RandomUniformLike" };
  const VnShape shape = VN_SHAPE (3, 1000);
  g_autoptr(VnTensor) like = op_random (&shape, 1);

  for (gsize i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr(VnTensor) a = draw (types[i], "seed=7.0", like);
      g_autoptr(VnTensor) b = draw (types[i], "seed=7.0", like);
      g_autoptr(VnTensor) c = draw (types[i], "seed=8.0", like);
      g_autoptr(VnTensor) d = draw (types[i], "", like);
      g_autoptr(VnTensor) e = draw (types[i], "", like);

      op_assert_same (a, b);
      op_assert_same (d, e);
      g_assert_cmpuint (count_equal (a, c), <, 3);
      g_assert_cmpuint (count_equal (a, d), <, 3);
    }
}

static const OpTextCase cases[] = {
  { "RandomNormal", 1, "shape=[2,2] scale=0.0 mean=4.0", "", "f32[2,2]=4,4,4,4" },
  { "RandomUniform", 22, "shape=[3] low=2.0 high=2.0 dtype=10", "", "f16[3]=2,2,2" },
  { "RandomUniform", 22, "shape=[2] low=2.0 high=2.0 dtype=16", "", "bf16[2]=2,2" },
  { "RandomUniform", 22, "", "", "!shape" },
  { "RandomUniform", 22, "shape=[-1]", "", "!dim 0" },
  { "RandomUniform", 22, "shape=[1] dtype=7", "", "!not supported" },
  { "RandomUniform", 22, "shape=[1] dtype=99", "", "!not supported" },
  { "RandomUniformLike", 22, "", "s64[1]=3", "!not supported" },
  { "RandomNormalLike", 22, "dtype=1 scale=0.0", "s64[1]=3", "f32[1]=0" },
  { "RandomNormalLike", 22, "scale=0.0", "f64[0,3]=", "f64[0,3]=" },
  { "Bernoulli", 15, "", "f32[3]=0,1,nan", "f32[3]=0,1,0" },
  { "Bernoulli", 15, "dtype=6", "f64[2]=0,1", "s32[2]=0,1" },
  { "Multinomial", 7, "sample_size=3", "f32[1,2]=-inf,0", "s32[1,3]=1,1,1" },
  { "Multinomial", 7, "sample_size=0", "f32[1,2]=-inf,0", "s32[1,0]=" },
  { "Multinomial", 7, "sample_size=-3", "f32[1,2]=-inf,0", "!-3 samples" },
  { "Multinomial", 7, "", "f32[1,0]=", "!samples" },
  { "Multinomial", 7, "", "f32[2]=1,2", "!2 dims" },
  { "Multinomial", 7, "", "f32[1,2]=nan,2", "!row 0" },
  { "Multinomial", 7, "", "f32[1,2]=-inf,-inf", "!row 0" },
  { "Multinomial", 7, "", "f32[1,2]=inf,2", "!row 0" },
  { "Multinomial", 7, "dtype=1", "f32[1,2]=1,2", "!not supported" },
};

static void
test_small (void)
{
  op_run_text_cases (cases, G_N_ELEMENTS (cases), 0);
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/random/normal", test_normal);
  g_test_add_func ("/ops/random/uniform", test_uniform);
  g_test_add_func ("/ops/random/bernoulli", test_bernoulli);
  g_test_add_func ("/ops/random/multinomial", test_multinomial);
  g_test_add_func ("/ops/random/seeds", test_seeds);
  g_test_add_func ("/ops/random/small", test_small);
  return g_test_run ();
}
