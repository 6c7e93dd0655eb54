/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normalizations, Softmax and matrix products against sums in double. */
#include "op-call.h"
#include "vn-error.h"
#include "vn-norm-line.h"

#include <math.h>

typedef struct
{
  gsize outer, size, inner;
} Lines;

/* mean and variance of a line whose elements are @inner apart */
static void
measure (const float *x,
         gsize        n,
         gsize        inner,
         double      *mean,
         double      *variance)
{
  *mean = *variance = 0;
  for (gsize i = 0; i < n; i++)
    *mean += x[i * inner] / (double) n;
  for (gsize i = 0; i < n; i++)
    *variance += (x[i * inner] - *mean) * (x[i * inner] - *mean) / (double) n;
}

static void
test_softmax (void)
{
  static const VnShape shape = VN_SHAPE (3, 4, 5, 7);
  static const struct { gint64 opset; const char *attributes; Lines lines; } cases[] = {
    { 13, "", { 60, 7, 1 } },
    { 13, "axis=1", { 3, 4, 35 } },
    { 13, "axis=-2", { 12, 5, 7 } },
    { 11, "", { 3, 140, 1 } },
    { 11, "axis=2", { 12, 35, 1 } },
    { 11, "axis=0", { 1, 420, 1 } },
    { 11, "axis=-1", { 60, 7, 1 } },
  };
  g_autoptr(VnTensor) x = op_random (&shape, 1);
  const float *v = x->data;

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      const Lines *l = &cases[k].lines;
      VnTensor *inputs[] = { x };
      OpCall call = { "", "Softmax", cases[k].opset, cases[k].attributes, inputs, 1, 1, 1 };
      g_autoptr(VnTensor) soft = op_call_one (&call);
      g_autoptr(VnTensor) log_soft = NULL;
      g_autoptr(VnTensor) hard = NULL;
      double expected[420], logs[420], ones[420];

      for (gsize line = 0; line < l->outer * l->inner; line++)
        {
          gsize at = line / l->inner * l->size * l->inner + line % l->inner, best = at;
          double sum = 0;

          for (gsize i = 0; i < l->size; i++)
            {
              gsize j = at + i * l->inner;

              sum += exp (v[j]);
              best = v[j] > v[best] ? j : best;
            }
          for (gsize i = 0; i < l->size; i++)
            {
              gsize j = at + i * l->inner;

              expected[j] = exp (v[j]) / sum;
              logs[j] = v[j] - log (sum);
              ones[j] = j == best;
            }
        }
      g_test_message ("opset %d, %s", (int) cases[k].opset, cases[k].attributes);
      op_assert_near (soft, expected, 420, 2e-6, 1e-9);
      call.type = "LogSoftmax";
      log_soft = op_call_one (&call);
      op_assert_near (log_soft, logs, 420, 2e-6, 1e-6);
      call.type = "Hardmax";
      hard = op_call_one (&call);
      op_assert_near (hard, ones, 420, 0, 0);
    }
}

/* Lines that are too short for a vector, of all lengths: the bits of each are those it has alone. */
static void
test_softmax_short (void)
{
  static const char * const types[] = { "Softmax", "LogSoftmax" };

  for (gint64 size = 1; size <= 17; size++)
    for (guint t = 0; t < G_N_ELEMENTS (types); t++)
      {
        g_autoptr(VnTensor) x = op_random (&VN_SHAPE (300, size), (guint32) size);
        VnTensor *inputs[] = { x };
        OpCall call = { "", types[t], 13, "", inputs, 1, 1, 1 };
        g_autoptr(VnTensor) all = NULL;

        ((float *) x->data)[0] = NAN;
        ((float *) x->data)[3 * size] = -INFINITY;
        all = op_call_one (&call);
        for (gint64 line = 0; line < 300; line++)
          {
            g_autoptr(VnTensor) one = vn_tensor_new_f32 (&VN_SHAPE (1, size), (const float *) x->data + line * size);
            g_autoptr(VnTensor) alone = NULL;

            inputs[0] = one;
            alone = op_call_one (&call);
            g_assert_cmpmem (alone->data, alone->n_bytes, (const float *) all->data + line * size, alone->n_bytes);
          }
      }
}

/* Numbers whose exponentials overflow, one alone, and -infinity as used by masks. */
static void
test_softmax_extreme (void)
{
  g_autoptr(VnTensor) x = vn_tensor_new_f32 (&VN_SHAPE (4), (float[]) { 1000, 1000, -INFINITY, -1000 });
  double expected[] = { 0.5, 0.5, 0, 0 };
  VnTensor *inputs[] = { x };
  OpCall call = { "", "Softmax", 13, "", inputs, 1, 1, 1 };
  g_autoptr(VnTensor) y = op_call_one (&call);

  op_assert_near (y, expected, 4, 1e-6, 0);
}

static void
test_batch_norm (void)
{
  static const VnShape shapes[] = { VN_SHAPE (2, 5, 3, 4), VN_SHAPE (3, 5), VN_SHAPE (1, 5, 2, 3, 4) };

  for (guint k = 0; k < G_N_ELEMENTS (shapes); k++)
    {
      g_autoptr(VnTensor) x = op_random (&shapes[k], 1);
      g_autoptr(VnTensor) scale = op_random (&VN_SHAPE (5), 2);
      g_autoptr(VnTensor) bias = op_random (&VN_SHAPE (5), 3);
      g_autoptr(VnTensor) mean = op_random (&VN_SHAPE (5), 4);
      g_autoptr(VnTensor) variance = vn_tensor_new_f32 (&VN_SHAPE (5), (float[]) { 0, 0.5f, 1, 2, 100 });
      VnTensor *inputs[] = { x, scale, bias, mean, variance };
      OpCall call = { "", "BatchNormalization", 15, "epsilon=0.001", inputs, 5, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      gsize plane = (gsize) vn_shape_count (&shapes[k], 2, shapes[k].rank);
      g_autofree double *expected = g_new (double, x->n_elements);

      for (gsize i = 0; i < x->n_elements; i++)
        {
          gsize c = i / plane % 5;

          expected[i] = (vn_tensor_get_double (x, i) - vn_tensor_get_double (mean, c)) /
                        sqrt (vn_tensor_get_double (variance, c) + 0.001f) * vn_tensor_get_double (scale, c) +
                        vn_tensor_get_double (bias, c);
        }
      g_test_message ("shape %u", k);
      op_assert_near (y, expected, x->n_elements, 1e-5, 1e-5);
      call.activation = (VnActivation) { TRUE, -0.5f, 0.5f };
      vn_tensor_unref (y);
      y = op_call_one (&call);
      for (gsize i = 0; i < x->n_elements; i++)
        expected[i] = CLAMP (expected[i], -0.5, 0.5);
      op_assert_near (y, expected, x->n_elements, 1e-5, 1e-5);
    }
}

/* By hand: channel 0 holds 1 2 3 6 (mean 3, variance 3.5), channel 1 only 10. */
static void
test_training (void)
{
  g_autoptr(VnTensor) x = vn_tensor_new_f32 (&VN_SHAPE (2, 2, 2), (float[]) { 1, 2, 10, 10, 3, 6, 10, 10 });
  g_autoptr(VnTensor) scale = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { 2, 3 });
  g_autoptr(VnTensor) bias = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { 1, -1 });
  g_autoptr(VnTensor) mean = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { 100, 20 });
  g_autoptr(VnTensor) variance = vn_tensor_new_f32 (&VN_SHAPE (2), (float[]) { 8, 4 });
  VnTensor *inputs[] = { x, scale, bias, mean, variance }, *out[3] = { NULL };
  OpCall call = { "", "BatchNormalization", 15, "training_mode=1 momentum=0.75 epsilon=0.5", inputs, 5, 3, 1 };
  g_autoptr(GError) error = NULL;

  op_call (&call, out, &error);
  g_assert_no_error (error);
  op_assert_near (out[0], (double[]) { -1, 0, -1, -1, 1, 4, -1, -1 }, 8, 1e-6, 1e-6);
  op_assert_near (out[1], (double[]) { 75.75, 17.5 }, 2, 1e-6, 0);
  op_assert_near (out[2], (double[]) { 6.875, 3 }, 2, 1e-6, 0);
  for (guint i = 0; i < 3; i++)
    vn_tensor_unref (out[i]);
}

static void
test_layer_norm (void)
{
  static const VnShape shape = VN_SHAPE (3, 4, 37);
  static const struct { const char *attributes; gsize size; VnShape factors; } cases[] = {
    { "", 37, VN_SHAPE (37) },
    { "axis=1 epsilon=0.01", 148, VN_SHAPE (4, 37) },
    { "axis=0", 444, VN_SHAPE (3, 4, 37) },
  };
  g_autoptr(VnTensor) x = op_random (&shape, 1);

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      gsize size = cases[k].size;
      g_autoptr(VnTensor) scale = op_random (&cases[k].factors, 2);
      g_autoptr(VnTensor) bias = op_random (&cases[k].factors, 3);
      VnTensor *inputs[] = { x, scale, bias }, *outputs[3] = { NULL };
      OpCall call = { "", "LayerNormalization", 17, cases[k].attributes, inputs, 3, 3, 1 };
      OpCall rms = { "", "RMSNormalization", 23, cases[k].attributes, inputs, 2, 1, 1 };
      g_autoptr(VnTensor) root = op_call_one (&rms);
      double epsilon = k == 1 ? 0.01f : 1e-5f, expected[444], roots[444], means[12], factors[12];

      op_call (&call, outputs, NULL);
      for (gsize i = 0; i < 444; i++)
        {
          double mean, variance, a = vn_tensor_get_double (scale, i % size);

          measure ((float *) x->data + i / size * size, size, 1, &mean, &variance);
          expected[i] = (vn_tensor_get_double (x, i) - mean) / sqrt (variance + epsilon) * a +
                        vn_tensor_get_double (bias, i % size);
          roots[i] = vn_tensor_get_double (x, i) / sqrt (variance + mean * mean + epsilon) * a;
          means[i / size] = mean;
          factors[i / size] = 1 / sqrt (variance + epsilon);
        }
      g_test_message ("%s", cases[k].attributes);
      op_assert_near (outputs[0], expected, 444, 1e-5, 2e-6);
      op_assert_near (outputs[1], means, 444 / size, 1e-5, 1e-6);
      op_assert_near (outputs[2], factors, 444 / size, 1e-5, 1e-6);
      op_assert_near (root, roots, 444, 1e-5, 1e-6);
      for (int i = 0; i < 3; i++)
        vn_tensor_unref (outputs[i]);
    }
}

static void
test_instance_norm (void)
{
  static const VnShape shape = VN_SHAPE (2, 6, 5, 7);
  g_autoptr(VnTensor) x = op_random (&shape, 1);
  static const struct { const char *type, *attributes; gint64 opset; gsize channels; gboolean by_group; } cases[] = {
    { "InstanceNormalization", "", 6, 1, FALSE },
    { "GroupNormalization", "num_groups=3", 21, 2, FALSE },
    { "GroupNormalization", "num_groups=3", 18, 2, TRUE },
    { "GroupNormalization", "num_groups=1", 21, 6, FALSE },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      gsize size = cases[k].channels * 35, n = cases[k].by_group ? 3 : 6;
      g_autoptr(VnTensor) scale = op_random (&VN_SHAPE ((gint64) n), 2);
      g_autoptr(VnTensor) bias = op_random (&VN_SHAPE ((gint64) n), 3);
      VnTensor *inputs[] = { x, scale, bias };
      OpCall call = { "", cases[k].type, cases[k].opset, cases[k].attributes, inputs, 3, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      double expected[420];

      for (gsize i = 0; i < 420; i++)
        {
          gsize which = i / 35 % 6 / (cases[k].by_group ? 2 : 1);
          double mean, variance;

          measure ((float *) x->data + i / size * size, size, 1, &mean, &variance);
          expected[i] = (vn_tensor_get_double (x, i) - mean) / sqrt (variance + 1e-5) *
                        vn_tensor_get_double (scale, which) + vn_tensor_get_double (bias, which);
        }
      g_test_message ("%s %s", cases[k].type, cases[k].attributes);
      op_assert_near (y, expected, 420, 1e-5, 2e-6);
    }
}

static void
test_lrn (void)
{
  static const VnShape shape = VN_SHAPE (2, 7, 3, 5);
  static const struct { const char *attributes; int size; double alpha, beta, bias; } cases[] = {
    { "size=5", 5, 1e-4f, 0.75, 1 },
    { "size=4 alpha=2.0 beta=0.5 bias=1.5", 4, 2, 0.5, 1.5 },
    { "size=3 alpha=1.0", 3, 1, 0.75, 1 },
  };
  g_autoptr(VnTensor) x = op_random (&shape, 1);

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    {
      VnTensor *inputs[] = { x };
      OpCall call = { "", "LRN", 13, cases[k].attributes, inputs, 1, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      double expected[210];

      for (int i = 0; i < 210; i++)
        {
          int channel = i / 15 % 7, below = (cases[k].size - 1) / 2, above = cases[k].size / 2;
          double sum = 0, v;

          for (int c = MAX (0, channel - below); c <= MIN (6, channel + above); c++)
            {
              v = ((float *) x->data)[i + (c - channel) * 15];
              sum += v * v;
            }
          v = ((float *) x->data)[i];
          expected[i] = v / pow (cases[k].bias + cases[k].alpha / cases[k].size * sum, cases[k].beta);
        }
      g_test_message ("%s", cases[k].attributes);
      op_assert_near (y, expected, 210, 1e-5, 1e-7);
    }
}

static void
test_matmul (void)
{
  static const struct { VnShape a, b, y; } cases[] = {
    { VN_SHAPE (3, 4), VN_SHAPE (4, 5), VN_SHAPE (3, 5) },
    { VN_SHAPE (4), VN_SHAPE (4, 5), VN_SHAPE (5) },
    { VN_SHAPE (3, 4), VN_SHAPE (4), VN_SHAPE (3) },
    { VN_SHAPE (4), VN_SHAPE (4), { 0 } },
    { VN_SHAPE (2, 3, 4), VN_SHAPE (4, 5), VN_SHAPE (2, 3, 5) },
    { VN_SHAPE (2, 1, 3, 4), VN_SHAPE (3, 4, 2), VN_SHAPE (2, 3, 3, 2) },
    { VN_SHAPE (3, 4), VN_SHAPE (2, 3, 4, 2), VN_SHAPE (2, 3, 3, 2) },
    { VN_SHAPE (4), VN_SHAPE (2, 4, 3), VN_SHAPE (2, 3) },
    { VN_SHAPE (2, 300, 4), VN_SHAPE (2, 4, 3), VN_SHAPE (2, 300, 3) },
    { VN_SHAPE (0, 4), VN_SHAPE (4, 5), VN_SHAPE (0, 5) },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases); k++)
    for (int variant = 0; variant < 3; variant++)
      {
        gboolean wide = variant == 1;
        g_autoptr(VnTensor) a32 = op_random (&cases[k].a, 1);
        g_autoptr(VnTensor) b32 = op_random (&cases[k].b, 2);
        g_autoptr(VnTensor) a = vn_tensor_convert (a32, wide ? VN_DTYPE_F64 : VN_DTYPE_F32, NULL);
        g_autoptr(VnTensor) b = vn_tensor_convert (b32, wide ? VN_DTYPE_F64 : VN_DTYPE_F32, NULL);
        VnTensor *inputs[] = { a, b };
        OpCall call = { "", "MatMul", 13, "", inputs, 2, 1, 2, variant == 2 };
        g_autoptr(VnTensor) y = op_call_one (&call);
        VnShape sa = cases[k].a, sb = cases[k].b;
        gsize inner = (gsize) sa.dims[sa.rank - 1], m = sa.rank > 1 ? (gsize) sa.dims[sa.rank - 2] : 1;
        gsize n = sb.rank > 1 ? (gsize) sb.dims[sb.rank - 1] : 1;
        g_autofree double *expected = g_new0 (double, y->n_elements + 1);

        g_assert_true (vn_shape_equal (&y->shape, &cases[k].y));
        for (gsize i = 0; i < y->n_elements; i++)
          {
            gsize batch = i / m / n, lead_a = a->n_elements / m / inner, lead_b = b->n_elements / n / inner;
            gsize of_a = lead_a == 1 ? 0 : lead_a == y->n_elements / m / n ? batch : batch / 3;
            gsize of_b = lead_b == 1 ? 0 : lead_b == y->n_elements / m / n ? batch : batch % 3;

            for (gsize p = 0; p < inner; p++)
              expected[i] += vn_tensor_get_double (a, (of_a * m + i / n % m) * inner + p) *
                             vn_tensor_get_double (b, (of_b * inner + p) * n + i % n);
          }
        g_test_message ("case %u, %s", k, vn_dtype_get_name (y->dtype));
        if (y->n_elements > 0)
          op_assert_near (y, expected, y->n_elements, 1e-5, 1e-5);
      }
}

static void
test_gemm (void)
{
  static const struct { const char *attributes; VnShape a, b, c; double alpha, beta; gboolean ta, tb; } cases[] = {
    { "", VN_SHAPE (3, 4), VN_SHAPE (4, 5), VN_SHAPE (5), 1, 1, FALSE, FALSE },
    { "transB=1", VN_SHAPE (3, 4), VN_SHAPE (5, 4), VN_SHAPE (3, 1), 1, 1, FALSE, TRUE },
    { "transA=1 alpha=0.5 beta=2.0", VN_SHAPE (4, 3), VN_SHAPE (4, 5), VN_SHAPE (3, 5), 0.5, 2, TRUE, FALSE },
    { "transA=1 transB=1 beta=-1.0", VN_SHAPE (4, 3), VN_SHAPE (5, 4), { 0 }, 1, -1, TRUE, TRUE },
    { "transA=1", VN_SHAPE (4, 300), VN_SHAPE (4, 5), VN_SHAPE (1, 5), 1, 1, TRUE, FALSE },
    { "", VN_SHAPE (1, 4), VN_SHAPE (4, 5), VN_SHAPE (1), 1, 1, FALSE, FALSE },
    { "transB=1", VN_SHAPE (133, 70), VN_SHAPE (101, 70), VN_SHAPE (101), 1, 1, FALSE, TRUE },
    { "", VN_SHAPE (150, 300), VN_SHAPE (300, 144), VN_SHAPE (150, 144), 1, 1, FALSE, FALSE },
  };

  for (guint k = 0; k < G_N_ELEMENTS (cases) * 2; k++)
    for (guint with_c = 0; with_c < 2; with_c++)
      {
        g_autoptr(VnTensor) a = op_random (&cases[k / 2].a, 1);
        g_autoptr(VnTensor) b = op_random (&cases[k / 2].b, 2);
        g_autoptr(VnTensor) c = op_random (&cases[k / 2].c, 3);
        VnTensor *inputs[] = { a, b, c };
        OpCall call = { "", "Gemm", 13, cases[k / 2].attributes, inputs, 2 + with_c, 1, 2, k % 2 == 1 };
        g_autoptr(VnTensor) y = op_call_one (&call);
        gsize m = (gsize) y->shape.dims[0], n = (gsize) y->shape.dims[1], inner = a->n_elements / m;
        g_autofree double *expected = g_new0 (double, m * n);
        gint64 rows = cases[k / 2].c.rank == 2 ? cases[k / 2].c.dims[0] : 1;
        gsize columns = cases[k / 2].c.rank > 0 ? (gsize) cases[k / 2].c.dims[cases[k / 2].c.rank - 1] : 1;

        for (gsize i = 0; i < m * n; i++)
          {
            gsize row = i / n, column = i % n;

            for (gsize p = 0; p < inner; p++)
              expected[i] += cases[k / 2].alpha *
                             vn_tensor_get_double (a, cases[k / 2].ta ? p * m + row : row * inner + p) *
                             vn_tensor_get_double (b, cases[k / 2].tb ? column * inner + p : p * n + column);
            if (with_c)
              expected[i] += cases[k / 2].beta * vn_tensor_get_double (c, (rows > 1 ? row * columns : 0) +
                                                                   (columns > 1 ? column : 0));
          }
        g_test_message ("%s, c %u, %s", cases[k / 2].attributes, with_c, k % 2 == 1 ? "packed" : "not packed");
        /* Each addition rounds, and without fused ones each product, too: errors grow as the root of their number. */
        op_assert_near (y, expected, m * n, 1e-5, 2e-6 * sqrt ((double) inner));
      }
}

/* What is added to one of sixteen sums is rounded before, with and without fused instructions. */
static double
sum_in_lanes (const float *x,
              gsize        n,
              float        mean,
              gboolean     squared)
{
  double total = 0;

  for (gsize start = 0; start < n; start += 4096)
    {
      gsize end = MIN (n, start + 4096), whole = start + (end - start) / 16 * 16;
      volatile float sums[16] = { 0 };

      for (gsize i = start; i < whole; i++)
        {
          float apart = x[i] - mean;
          volatile float term = squared ? apart * apart : apart;

          sums[i % 16] += term;
        }
      for (guint k = 0; k < 16; k++)
        total += (double) sums[k];
      for (gsize i = whole; i < end; i++)
        {
          float apart = x[i] - mean;
          volatile float term = squared ? apart * apart : apart;

          total += (double) term;
        }
    }
  return total;
}

static void
test_measure (void)
{
  static const VnShape shape = VN_SHAPE (9000);
  g_autoptr(VnTensor) tensor = op_random (&shape, 1);
  const float *x = tensor->data;

  for (gsize n = 1; n < 9000; n += n < 600 ? 1 : 599)
    {
      float wanted_mean = (float) (sum_in_lanes (x, n, 0, FALSE) / (double) n), mean, factor;
      float wanted = (float) (1 / sqrt (sum_in_lanes (x, n, wanted_mean, TRUE) / (double) n + 1e-5));

      vn_norm_measure (x, n, TRUE, 1e-5, &mean, &factor);
      g_assert_cmpfloat (mean, ==, wanted_mean);
      g_assert_cmpfloat (factor, ==, wanted);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/softmax/definition", test_softmax);
  g_test_add_func ("/ops/softmax/extreme", test_softmax_extreme);
  g_test_add_func ("/ops/softmax/short", test_softmax_short);
  g_test_add_func ("/ops/norm/batch", test_batch_norm);
  g_test_add_func ("/ops/norm/training", test_training);
  g_test_add_func ("/ops/norm/layer", test_layer_norm);
  g_test_add_func ("/ops/norm/instance", test_instance_norm);
  g_test_add_func ("/ops/norm/measure", test_measure);
  g_test_add_func ("/ops/norm/lrn", test_lrn);
  g_test_add_func ("/ops/matmul", test_matmul);
  g_test_add_func ("/ops/gemm", test_gemm);
  return g_test_run ();
}
