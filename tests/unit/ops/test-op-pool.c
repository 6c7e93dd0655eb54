/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poolings against their definition. */
#include "op-call.h"
#include "vn-error.h"

#include <math.h>

typedef struct
{
  VnShape     x;
  const char *attributes;
  gint64      kernel[3], stride[3], dilation[3], begin[3], end[3], out[3];
} Case;

#define ONE { 1, 1, 1 }
#define NONE { 0, 0, 0 }

static const Case cases[] = {
  { VN_SHAPE (1, 2, 9), "kernel_shape=[3]", { 3 }, ONE, ONE, NONE, NONE, { 7 } },
  { VN_SHAPE (2, 3, 8, 9), "kernel_shape=[2,3] strides=[2,2]", { 2, 3 }, { 2, 2 }, ONE, NONE, NONE, { 4, 4 } },
  { VN_SHAPE (1, 2, 15, 17), "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]", { 3, 3 }, { 2, 2 }, ONE, { 1, 1 },
    { 1, 1 }, { 8, 9 } },
  { VN_SHAPE (1, 1, 6, 6), "kernel_shape=[3,3] strides=[2,2] ceil_mode=1", { 3, 3 }, { 2, 2 }, ONE, NONE, NONE, { 3, 3 } },
  /* Rounded up, a third window would start beyond the data and the padding before it. */
  { VN_SHAPE (1, 1, 2, 2), "kernel_shape=[1,1] strides=[2,2] ceil_mode=1", { 1, 1 }, { 2, 2 }, ONE, NONE, NONE, { 1, 1 } },
  { VN_SHAPE (1, 1, 4, 6), "kernel_shape=[2,2] strides=[3,3] pads=[1,1,1,1] ceil_mode=1", { 2, 2 }, { 3, 3 }, ONE,
    { 1, 1 }, { 1, 1 }, { 2, 3 } },
  { VN_SHAPE (1, 2, 7, 8), "kernel_shape=[2,2] dilations=[3,2]", { 2, 2 }, ONE, { 3, 2 }, NONE, NONE, { 4, 6 } },
  { VN_SHAPE (1, 2, 7, 8), "kernel_shape=[3,3] auto_pad=SAME_UPPER strides=[2,2]", { 3, 3 }, { 2, 2 }, ONE, { 1, 0 },
    { 1, 1 }, { 4, 4 } },
  { VN_SHAPE (1, 2, 7, 8), "kernel_shape=[3,3] auto_pad=SAME_LOWER strides=[2,2]", { 3, 3 }, { 2, 2 }, ONE, { 1, 1 },
    { 1, 0 }, { 4, 4 } },
  { VN_SHAPE (1, 2, 5, 6, 7), "kernel_shape=[2,3,2] strides=[1,2,3] pads=[0,1,0,1,1,0]", { 2, 3, 2 }, { 1, 2, 3 }, ONE,
    { 0, 1, 0 }, { 1, 1, 0 }, { 5, 3, 2 } },
  { VN_SHAPE (1, 1, 40, 70), "kernel_shape=[5,5] pads=[2,2,2,2]", { 5, 5 }, ONE, ONE, { 2, 2 }, { 2, 2 }, { 40, 70 } },
};

typedef struct
{
  double sum, max, power;
  gsize  inside, padded;     /* taps in the data; taps in data or padding */
  gint64 at;                 /* of the maximum */
} Seen;

static Seen
look (const Case   *c,
      const float  *x,
      const gint64  in[3],
      const gint64  out[3])
{
  int first = 3 - (c->x.rank - 2);
  Seen seen = { .max = -INFINITY, .at = -1 };
  gint64 kernel[3] = ONE;

  for (int i = first; i < 3; i++)
    kernel[i] = c->kernel[i - first];
  for (gint64 k = 0; k < kernel[0] * kernel[1] * kernel[2]; k++)
    {
      gint64 tap[3] = { k / kernel[2] / kernel[1], k / kernel[2] % kernel[1], k % kernel[2] }, at[3] = { 0, 0, 0 };
      gboolean inside = TRUE, padded = TRUE;

      for (int i = first; i < 3; i++)
        {
          at[i] = out[i] * c->stride[i - first] + tap[i] * c->dilation[i - first] - c->begin[i - first];
          inside = inside && at[i] >= 0 && at[i] < in[i];
          padded = padded && at[i] < in[i] + c->end[i - first];
        }
      seen.padded += padded;
      if (inside)
        {
          gint64 where = (at[0] * in[1] + at[1]) * in[2] + at[2];
          double v = x[where];

          seen.inside++;
          seen.sum += v;
          seen.power += fabs (v) * fabs (v) * fabs (v);
          if (v > seen.max)
            {
              seen.max = v;
              seen.at = where;
            }
        }
    }
  return seen;
}

enum { MAX_POOL, AVERAGE, AVERAGE_PADDED, LP, INDICES };

static double *
by_definition (const Case  *c,
               const float *x,
               int          what,
               gsize       *n)
{
  int first = 3 - (c->x.rank - 2);
  gint64 in[3] = ONE, size[3] = ONE;
  gsize planes = (gsize) (c->x.dims[0] * c->x.dims[1]), in_size, out_size;
  double *y;

  for (int i = first; i < 3; i++)
    {
      in[i] = c->x.dims[2 + i - first];
      size[i] = c->out[i - first];
    }
  in_size = (gsize) (in[0] * in[1] * in[2]);
  out_size = (gsize) (size[0] * size[1] * size[2]);
  *n = planes * out_size;
  y = g_new0 (double, *n);
  for (gsize i = 0; i < *n; i++)
    {
      gint64 o = (gint64) (i % out_size), out[3] = { o / size[2] / size[1], o / size[2] % size[1], o % size[2] };
      Seen seen = look (c, x + i / out_size * in_size, in, out);

      y[i] = what == MAX_POOL ? seen.max
           : what == AVERAGE ? seen.sum / (double) MAX (seen.inside, 1)
           : what == AVERAGE_PADDED ? seen.sum / (double) seen.padded
           : what == LP ? cbrt (seen.power) : (double) seen.at + (double) (i / out_size * in_size);
    }
  return y;
}

static void
check (const Case *c,
       const char *type,
       const char *more,
       int         what,
       double      tolerance)
{
  g_autoptr(VnTensor) x = op_random (&c->x, 5);
  g_autofree char *attributes = g_strdup_printf ("%s %s", c->attributes, more);
  VnTensor *inputs[] = { x };
  OpCall call = { "", type, 19, attributes, inputs, 1, 1, 1 };
  g_autoptr(VnTensor) y = op_call_one (&call);
  g_autoptr(VnTensor) many = NULL;
  gsize n;
  g_autofree double *expected = by_definition (c, x->data, what, &n);

  g_test_message ("%s %s", type, attributes);
  for (int i = 2; i < c->x.rank; i++)
    g_assert_cmpint (y->shape.dims[i], ==, c->out[i - 2]);
  op_assert_near (y, expected, n, tolerance, tolerance);
  call.n_threads = 3;
  many = op_call_one (&call);
  op_assert_same (y, many);
}

static void
test_pools (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      check (&cases[i], "MaxPool", "", MAX_POOL, 0);
      check (&cases[i], "AveragePool", "", AVERAGE, 1e-6);
      check (&cases[i], "AveragePool", "count_include_pad=1", AVERAGE_PADDED, 1e-6);
      check (&cases[i], "LpPool", "p=3", LP, 1e-5);
    }
}

static void
test_indices (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnTensor) x = op_random (&cases[i].x, 5);
      VnTensor *inputs[] = { x }, *outputs[2] = { NULL };
      OpCall call = { "", "MaxPool", 12, cases[i].attributes, inputs, 1, 2, 1 };
      g_autoptr(GError) error = NULL;
      gsize n;
      g_autofree double *expected = by_definition (&cases[i], x->data, INDICES, &n);

      op_call (&call, outputs, &error);
      g_assert_no_error (error);
      g_assert_cmpint (outputs[1]->dtype, ==, VN_DTYPE_S64);
      op_assert_near (outputs[1], expected, n, 0, 0);
      vn_tensor_unref (outputs[0]);
      vn_tensor_unref (outputs[1]);
    }
}

/* NaN must not be lost on the way, wherever in the window it is. */
static void
test_nan (void)
{
  for (int at = 0; at < 4; at++)
    {
      float values[4] = { 1, 2, 3, 4 };
      double expected[1] = { NAN };
      g_autoptr(VnTensor) x = NULL;
      VnTensor *inputs[1];
      OpCall max = { "", "MaxPool", 12, "kernel_shape=[2,2]", inputs, 1, 1, 1 };
      OpCall global = { "", "GlobalMaxPool", 1, "", inputs, 1, 1, 1 };
      g_autoptr(VnTensor) a = NULL;
      g_autoptr(VnTensor) b = NULL;

      values[at] = NAN;
      inputs[0] = x = vn_tensor_new_f32 (&VN_SHAPE (1, 1, 2, 2), values);
      a = op_call_one (&max);
      b = op_call_one (&global);
      g_test_message ("NaN at %d", at);
      op_assert_near (a, expected, 1, 0, 0);
      op_assert_near (b, expected, 1, 0, 0);
    }
}

static void
test_bytes (void)
{
  static const struct { VnDType dtype; guint8 values[6]; double expected[2]; } types[] = {
    { VN_DTYPE_U8, { 0, 200, 7, 100, 255, 3 }, { 200, 255 } },
    { VN_DTYPE_S8, { 0x80, 0x90, 0xf0, 0x80, 0xff, 0x7f }, { -16, 127 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr(GBytes) bytes = g_bytes_new_static (types[i].values, 6);
      g_autoptr(VnTensor) x = vn_tensor_new_view (types[i].dtype, &VN_SHAPE (1, 1, 6), bytes, NULL);
      VnTensor *inputs[] = { x };
      OpCall call = { "", "MaxPool", 12, "kernel_shape=[3] strides=[3]", inputs, 1, 1, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);

      g_assert_cmpint (y->dtype, ==, types[i].dtype);
      op_assert_near (y, types[i].expected, 2, 0, 0);
    }
}

static void
test_global (void)
{
  g_autoptr(VnTensor) x = op_random (&VN_SHAPE (2, 3, 13, 17), 8);
  VnTensor *inputs[] = { x };
  OpCall call = { "", "GlobalAveragePool", 1, "", inputs, 1, 1, 1 };
  g_autoptr(VnTensor) average = op_call_one (&call);
  g_autoptr(VnTensor) max = NULL;
  g_autoptr(VnTensor) lp = NULL;
  double means[6] = { 0 }, maxima[6], roots[6] = { 0 };
  const float *values = x->data;

  for (int plane = 0; plane < 6; plane++)
    {
      maxima[plane] = -INFINITY;
      for (int i = 0; i < 13 * 17; i++, values++)
        {
          means[plane] += *values / (13.0 * 17);
          maxima[plane] = MAX (maxima[plane], *values);
          roots[plane] += (double) *values * *values;
        }
      roots[plane] = sqrt (roots[plane]);
    }
  call.type = "GlobalMaxPool";
  max = op_call_one (&call);
  call.type = "GlobalLpPool";
  call.opset = 2;
  lp = op_call_one (&call);
  g_assert_true (vn_shape_equal (&average->shape, &VN_SHAPE (2, 3, 1, 1)));
  op_assert_near (average, means, 6, 1e-5, 1e-7);
  op_assert_near (max, maxima, 6, 0, 0);
  op_assert_near (lp, roots, 6, 1e-6, 0);
}

static void
test_refused (void)
{
  static const char * const attributes[] = { "", "kernel_shape=[3]", "kernel_shape=[0,1]", "kernel_shape=[9,9]",
                                             "kernel_shape=[2,2] pads=[1]", "kernel_shape=[2,2] dilations=[0,1]" };
  g_autoptr(VnTensor) x = op_random (&VN_SHAPE (1, 1, 4, 4), 1);
  VnTensor *inputs[] = { x }, *y = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (attributes); i++)
    {
      g_autoptr(GError) error = NULL;
      OpCall call = { "", "MaxPool", 12, attributes[i], inputs, 1, 1, 1 };

      g_test_message ("“%s”", attributes[i]);
      g_assert_false (op_call (&call, &y, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/pool/definition", test_pools);
  g_test_add_func ("/ops/pool/indices", test_indices);
  g_test_add_func ("/ops/pool/nan", test_nan);
  g_test_add_func ("/ops/pool/bytes", test_bytes);
  g_test_add_func ("/ops/pool/global", test_global);
  g_test_add_func ("/ops/pool/refused", test_refused);
  return g_test_run ();
}
