/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conv, FusedConv and ConvTranspose against sums written as in their definition. */
#include "op-call.h"
#include "vn-error.h"

#include <math.h>

typedef struct
{
  VnShape     x, w;
  gboolean    bias;
  const char *attributes;
  /* what the attributes say, for the definition */
  gint64      groups;
  gint64      stride[3], dilation[3], begin[3], out[3];
} Case;

#define ONE { 1, 1, 1 }
#define NONE { 0, 0, 0 }

/* Sizes are those of the spatial axes in order; unused places are ignored. */
static const Case conv_cases[] = {
  { VN_SHAPE (1, 1, 5), VN_SHAPE (1, 1, 3), FALSE, "", 1, ONE, ONE, NONE, { 3 } },
  { VN_SHAPE (2, 3, 17), VN_SHAPE (4, 3, 5), TRUE, "strides=[2] pads=[2,1]", 1, { 2 }, ONE, { 2 }, { 8 } },
  { VN_SHAPE (1, 3, 7, 7), VN_SHAPE (5, 3, 3, 3), TRUE, "pads=[1,1,1,1]", 1, ONE, ONE, { 1, 1 }, { 7, 7 } },
  { VN_SHAPE (2, 5, 9, 11), VN_SHAPE (7, 5, 1, 1), TRUE, "", 1, ONE, ONE, NONE, { 9, 11 } },
  { VN_SHAPE (1, 6, 9, 10), VN_SHAPE (3, 6, 1, 1), FALSE, "strides=[2,3]", 1, { 2, 3 }, ONE, NONE, { 5, 4 } },
  { VN_SHAPE (1, 3, 29, 31), VN_SHAPE (8, 3, 7, 7), TRUE, "strides=[2,2] pads=[3,3,3,3]", 1, { 2, 2 }, ONE, { 3, 3 },
    { 15, 16 } },
  { VN_SHAPE (1, 4, 13, 12), VN_SHAPE (6, 2, 3, 3), TRUE, "group=2 dilations=[2,3] pads=[2,3,2,3]", 2, ONE, { 2, 3 },
    { 2, 3 }, { 13, 12 } },
  { VN_SHAPE (1, 2, 8, 9), VN_SHAPE (3, 2, 4, 4), FALSE, "auto_pad=SAME_UPPER", 1, ONE, ONE, { 1, 1 }, { 8, 9 } },
  { VN_SHAPE (1, 2, 8, 9), VN_SHAPE (3, 2, 4, 4), FALSE, "auto_pad=SAME_LOWER strides=[2,2]", 1, { 2, 2 }, ONE,
    { 1, 2 }, { 4, 5 } },
  { VN_SHAPE (1, 2, 8, 9), VN_SHAPE (3, 2, 4, 4), FALSE, "auto_pad=VALID", 1, ONE, ONE, NONE, { 5, 6 } },
  { VN_SHAPE (1, 2, 5, 6, 7), VN_SHAPE (3, 2, 3, 2, 3), TRUE, "pads=[1,0,1,1,1,1] strides=[1,2,1]", 1, { 1, 2, 1 },
    ONE, { 1, 0, 1 }, { 5, 3, 7 } },
  { VN_SHAPE (1, 2, 2, 2), VN_SHAPE (2, 2, 5, 5), FALSE, "pads=[4,4,4,4]", 1, ONE, ONE, { 4, 4 }, { 6, 6 } },
  { VN_SHAPE (1, 4, 20, 40), VN_SHAPE (3, 4, 3, 3), TRUE, "pads=[0,0,1,2]", 1, ONE, ONE, NONE, { 19, 40 } },
  /* lines of whole vectors, and long ones with a rest; several blocks of pixels; more channels than are read unpacked */
  { VN_SHAPE (2, 16, 48, 100), VN_SHAPE (20, 16, 3, 3), TRUE, "pads=[1,1,1,1]", 1, ONE, ONE, { 1, 1 }, { 48, 100 } },
  { VN_SHAPE (1, 3, 64, 160), VN_SHAPE (9, 3, 3, 3), TRUE, "pads=[1,1,1,1] strides=[2,2]", 1, { 2, 2 }, ONE, { 1, 1 },
    { 32, 80 } },
  { VN_SHAPE (1, 6, 12, 96), VN_SHAPE (10, 3, 3, 5), FALSE, "group=2 dilations=[2,3] pads=[2,6,2,6] strides=[1,3]", 2,
    { 1, 3 }, { 2, 3 }, { 2, 6 }, { 12, 32 } },
  { VN_SHAPE (2, 40, 60, 70), VN_SHAPE (12, 40, 1, 1), TRUE, "", 1, ONE, ONE, NONE, { 60, 70 } },
  { VN_SHAPE (1, 8, 9, 48), VN_SHAPE (140, 8, 1, 1), TRUE, "", 1, ONE, ONE, NONE, { 9, 48 } },
  { VN_SHAPE (1, 2, 5, 48), VN_SHAPE (140, 2, 3, 3), TRUE, "pads=[1,1,1,1]", 1, ONE, ONE, { 1, 1 }, { 5, 48 } },
  /* depthwise: 3x3 and 5x5 at stride 1 and 2, odd widths around the vector length, a channel multiplier */
  { VN_SHAPE (2, 3, 9, 17), VN_SHAPE (3, 1, 3, 3), TRUE, "group=3 pads=[1,1,1,1]", 3, ONE, ONE, { 1, 1 }, { 9, 17 } },
  { VN_SHAPE (1, 4, 33, 35), VN_SHAPE (4, 1, 3, 3), TRUE, "group=4 pads=[1,1,1,1] strides=[2,2]", 4, { 2, 2 }, ONE,
    { 1, 1 }, { 17, 18 } },
  { VN_SHAPE (1, 2, 14, 14), VN_SHAPE (2, 1, 5, 5), FALSE, "group=2 pads=[2,2,2,2]", 2, ONE, ONE, { 2, 2 }, { 14, 14 } },
  { VN_SHAPE (1, 2, 15, 16), VN_SHAPE (2, 1, 5, 5), TRUE, "group=2 pads=[1,2,2,1] strides=[2,2]", 2, { 2, 2 }, ONE,
    { 1, 2 }, { 7, 8 } },
  { VN_SHAPE (1, 2, 9, 50), VN_SHAPE (6, 1, 3, 4), TRUE, "group=2 dilations=[2,3] strides=[1,3]", 2, { 1, 3 }, { 2, 3 },
    NONE, { 5, 14 } },
  { VN_SHAPE (1, 5, 31), VN_SHAPE (5, 1, 7), TRUE, "group=5 pads=[6,0]", 5, ONE, ONE, { 6 }, { 31 } },
  { VN_SHAPE (1, 2, 300, 130), VN_SHAPE (2, 1, 3, 3), TRUE, "group=2 pads=[1,1,1,1]", 2, ONE, ONE, { 1, 1 },
    { 300, 130 } },
};

/* Sizes as depth, height, width. */
typedef struct
{
  gint64 x[3], k[3], out[3], stride[3], dilation[3], begin[3];
  gsize  x_size, k_size, out_size;
} Sizes;

static gsize
volume (const gint64 v[3])
{
  return (gsize) (v[0] * v[1] * v[2]);
}

static Sizes
sizes_of (const Case *c)
{
  Sizes s = { .x = ONE, .k = ONE, .out = ONE, .stride = ONE, .dilation = ONE };
  int n = c->x.rank - 2;

  for (int i = 0; i < n; i++)
    {
      s.x[3 - n + i] = c->x.dims[2 + i];
      s.k[3 - n + i] = c->w.dims[2 + i];
      s.out[3 - n + i] = c->out[i];
      s.stride[3 - n + i] = c->stride[i];
      s.dilation[3 - n + i] = c->dilation[i];
      s.begin[3 - n + i] = c->begin[i];
    }
  s.x_size = volume (s.x);
  s.k_size = volume (s.k);
  s.out_size = volume (s.out);
  return s;
}

/* Index into the larger side of what small index @o and tap @k touch, or -1 outside. */
static gint64
touch (const Sizes  *s,
       const gint64  large[3],
       gsize         o,
       gsize         k,
       const gint64  small[3])
{
  gint64 at[3], out[3] = { (gint64) o / small[2] / small[1], (gint64) o / small[2] % small[1], (gint64) o % small[2] };
  gint64 tap[3] = { (gint64) k / s->k[2] / s->k[1], (gint64) k / s->k[2] % s->k[1], (gint64) k % s->k[2] };

  for (int a = 0; a < 3; a++)
    {
      at[a] = out[a] * s->stride[a] + tap[a] * s->dilation[a] - s->begin[a];
      if (at[a] < 0 || at[a] >= large[a])
        return -1;
    }
  return (at[0] * large[1] + at[1]) * large[2] + at[2];
}

static double *
conv_by_definition (const Case  *c,
                    const float *x,
                    const float *w,
                    const float *b,
                    gsize       *n)
{
  Sizes s = sizes_of (c);
  gsize batch = (gsize) c->x.dims[0], m = (gsize) c->w.dims[0], cin = (gsize) c->w.dims[1], g = (gsize) c->groups;
  double *y;

  *n = batch * m * s.out_size;
  y = g_new0 (double, *n);
  for (gsize i = 0; i < *n; i++)
    {
      gsize o = i % s.out_size, channel = i / s.out_size % m, sample = i / s.out_size / m, group = channel / (m / g);

      y[i] = b != NULL ? b[channel] : 0;
      for (gsize ci = 0; ci < cin; ci++)
        for (gsize k = 0; k < s.k_size; k++)
          {
            gint64 at = touch (&s, s.x, o, k, s.out);

            if (at >= 0)
              y[i] += (double) w[(channel * cin + ci) * s.k_size + k] *
                      x[((sample * g + group) * cin + ci) * s.x_size + (gsize) at];
          }
    }
  return y;
}

static void
check_conv (const Case *c,
            guint       index)
{
  g_autoptr(VnTensor) x = op_random (&c->x, 2 * index);
  g_autoptr(VnTensor) w = op_random (&c->w, 2 * index + 1);
  g_autoptr(VnTensor) b = c->bias ? op_random (&VN_SHAPE (c->w.dims[0]), 99) : NULL;
  VnTensor *inputs[] = { x, w, b };
  OpCall call = { "", "Conv", 11, c->attributes, inputs, c->bias ? 3 : 2, 1 };
  g_autoptr(VnTensor) y = op_call_one (&call);
  gsize n;
  g_autofree double *expected = conv_by_definition (c, x->data, w->data, b != NULL ? b->data : NULL, &n);
  double bound = 1e-6 * sqrt ((double) vn_shape_count (&c->w, 1, c->w.rank));

  op_assert_near (y, expected, n, 1e-5, bound * 4);

  call.constant = TRUE;
  call.activation = (VnActivation) { TRUE, -0.5f, 1.f };
  for (gsize i = 0; i < n; i++)
    expected[i] = CLAMP (expected[i], -0.5, 1);
  for (guint threads = 1; threads <= 3; threads++)
    {
      g_autoptr(VnTensor) clamped = NULL;

      call.n_threads = threads;
      clamped = op_call_one (&call);
      op_assert_near (clamped, expected, n, 1e-5, bound * 4);
      if (threads > 1)
        {
          g_autoptr(VnTensor) single = NULL;

          call.n_threads = 1;
          single = op_call_one (&call);
          op_assert_same (clamped, single);
        }
    }
}

static void
test_conv (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (conv_cases); i++)
    {
      g_autofree char *x = vn_shape_to_string (&conv_cases[i].x, "x");

      g_test_message ("case %u: %s, %s", i, x, conv_cases[i].attributes);
      check_conv (&conv_cases[i], i);
    }
}

/* Large enough to be split over threads. */
static void
test_threads (void)
{
  static const struct { VnShape x, w; const char *attributes; } cases[] = {
    { VN_SHAPE (1, 16, 40, 41), VN_SHAPE (24, 16, 3, 3), "pads=[1,1,1,1]" },
    { VN_SHAPE (1, 16, 64, 96), VN_SHAPE (24, 16, 3, 3), "pads=[1,1,1,1]" },
    { VN_SHAPE (1, 32, 64, 67), VN_SHAPE (24, 32, 1, 1), "" },
    { VN_SHAPE (1, 64, 40, 41), VN_SHAPE (64, 1, 3, 3), "group=64 pads=[1,1,1,1]" },
    { VN_SHAPE (2, 32, 30, 31), VN_SHAPE (40, 32, 1, 1), "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (int constant = 0; constant < 2; constant++)
      {
        g_autoptr(VnTensor) x = op_random (&cases[i].x, i);
        g_autoptr(VnTensor) w = op_random (&cases[i].w, i + 100);
        VnTensor *inputs[] = { x, w };
        OpCall call = { "", "Conv", 11, cases[i].attributes, inputs, 2, 1, 1, constant != 0 };
        g_autoptr(VnTensor) one = op_call_one (&call);

        for (guint threads = 2; threads <= 4; threads++)
          {
            g_autoptr(VnTensor) many = NULL;

            call.n_threads = threads;
            many = op_call_one (&call);
            g_test_message ("case %u, %u threads", i, threads);
            op_assert_same (one, many);
          }
      }
}

static double
apply (const char *name,
       double      v)
{
  if (g_str_equal (name, "Relu"))
    return MAX (v, 0);
  if (g_str_equal (name, "LeakyRelu"))
    return v < 0 ? 0.125 * v : v;
  if (g_str_equal (name, "Tanh"))
    return tanh (v);
  if (g_str_equal (name, "Sigmoid"))
    return 1 / (1 + exp (-v));
  if (g_str_equal (name, "Clip"))
    return CLAMP (v, -0.25, 0.75);
  return CLAMP (0.25 * v + 0.5, 0, 1);
}

static void
test_fused (void)
{
  static const struct { const char *name, *attributes; } cases[] = {
    { "Relu", "activation=Relu" },
    { "LeakyRelu", "activation=LeakyRelu activation_params=[0.125]" },
    { "Tanh", "activation=Tanh" },
    { "Sigmoid", "activation=Sigmoid" },
    { "Clip", "activation=Clip activation_params=[-0.25,0.75]" },
    { "HardSigmoid", "activation=HardSigmoid activation_params=[0.25,0.5]" },
  };
  Case c = { VN_SHAPE (1, 3, 6, 7), VN_SHAPE (4, 3, 1, 1), TRUE, "", 1, ONE, ONE, NONE, { 6, 7 } };
  g_autoptr(VnTensor) x = op_random (&c.x, 1);
  g_autoptr(VnTensor) w = op_random (&c.w, 2);
  g_autoptr(VnTensor) b = op_random (&VN_SHAPE (4), 3);
  g_autoptr(VnTensor) z = op_random (&VN_SHAPE (1, 4, 6, 7), 4);
  VnTensor *inputs[] = { x, w, b, z };
  gsize n;

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint with_sum = 0; with_sum < 2; with_sum++)
      {
        OpCall call = { "com.microsoft", "FusedConv", 1, cases[i].attributes, inputs, 3 + with_sum, 1 };
        g_autoptr(VnTensor) y = op_call_one (&call);
        g_autofree double *expected = conv_by_definition (&c, x->data, w->data, b->data, &n);

        for (gsize k = 0; k < n; k++)
          expected[k] = apply (cases[i].name, expected[k] + (with_sum ? ((float *) z->data)[k] : 0));
        g_test_message ("%s, sum %u", cases[i].name, with_sum);
        op_assert_near (y, expected, n, 1e-5, 1e-5);
      }
}

/* Here `out` is the size of the output and `begin` its padding. */
static const Case transposed_cases[] = {
  { VN_SHAPE (1, 1, 3, 3), VN_SHAPE (1, 2, 3, 3), FALSE, "", 1, ONE, ONE, NONE, { 5, 5 } },
  { VN_SHAPE (2, 3, 5), VN_SHAPE (3, 2, 4), TRUE, "strides=[2] pads=[1,1]", 1, { 2 }, ONE, { 1 }, { 10 } },
  { VN_SHAPE (1, 4, 5, 6), VN_SHAPE (4, 3, 3, 3), TRUE, "strides=[2,2] pads=[1,1,1,1] output_padding=[1,1]", 1, { 2, 2 },
    ONE, { 1, 1 }, { 10, 12 } },
  { VN_SHAPE (1, 4, 4, 5), VN_SHAPE (4, 2, 3, 3), TRUE, "group=2 strides=[3,2] dilations=[2,1]", 2, { 3, 2 }, { 2, 1 },
    NONE, { 14, 11 } },
  { VN_SHAPE (1, 1, 3, 3), VN_SHAPE (1, 2, 3, 3), FALSE, "strides=[3,2] output_shape=[10,8]", 1, { 3, 2 }, ONE, NONE,
    { 10, 8 } },
  { VN_SHAPE (1, 2, 3, 4), VN_SHAPE (2, 2, 4, 4), FALSE, "strides=[2,2] auto_pad=SAME_UPPER", 1, { 2, 2 }, ONE, { 1, 1 },
    { 6, 8 } },
  { VN_SHAPE (1, 2, 3, 4), VN_SHAPE (2, 2, 3, 3), FALSE, "strides=[2,2] auto_pad=SAME_LOWER", 1, { 2, 2 }, ONE, { 1, 1 },
    { 6, 8 } },
  { VN_SHAPE (1, 2, 3, 3, 2), VN_SHAPE (2, 3, 2, 3, 2), TRUE, "strides=[1,2,2]", 1, { 1, 2, 2 }, ONE, NONE, { 4, 7, 4 } },
  { VN_SHAPE (1, 40, 16, 16), VN_SHAPE (40, 60, 4, 4), TRUE, "strides=[2,2] pads=[1,1,1,1]", 1, { 2, 2 }, ONE, { 1, 1 },
    { 32, 32 } },
};

static double *
transposed_by_definition (const Case  *c,
                          const float *x,
                          const float *w,
                          const float *b,
                          gsize       *n)
{
  Sizes s = sizes_of (c);
  gsize batch = (gsize) c->x.dims[0], cin = (gsize) c->x.dims[1], g = (gsize) c->groups, m = (gsize) c->w.dims[1];
  double *y;

  *n = batch * m * g * s.out_size;
  y = g_new0 (double, *n);
  for (gsize i = 0; i < *n; i++)
    y[i] = b != NULL ? b[i / s.out_size % (m * g)] : 0;
  for (gsize i = 0; i < batch * cin * s.x_size; i++)
    for (gsize k = 0; k < m * s.k_size; k++)
      {
        gsize channel = i / s.x_size % cin, sample = i / s.x_size / cin, out_channel = k / s.k_size;
        gint64 at = touch (&s, s.out, i % s.x_size, k % s.k_size, s.x);

        if (at >= 0)
          y[((sample * g + channel / (cin / g)) * m + out_channel) * s.out_size + (gsize) at] +=
            (double) x[i] * w[channel * m * s.k_size + k];
      }
  return y;
}

static void
test_transposed (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (transposed_cases); i++)
    {
      const Case *c = &transposed_cases[i];
      g_autoptr(VnTensor) x = op_random (&c->x, i);
      g_autoptr(VnTensor) w = op_random (&c->w, i + 50);
      g_autoptr(VnTensor) b = c->bias ? op_random (&VN_SHAPE (c->w.dims[1] * c->groups), 7) : NULL;
      VnTensor *inputs[] = { x, w, b };
      OpCall call = { "", "ConvTranspose", 11, c->attributes, inputs, c->bias ? 3 : 2, 1 };
      g_autoptr(VnTensor) y = op_call_one (&call);
      g_autoptr(VnTensor) many = NULL;
      gsize n;
      g_autofree double *expected = transposed_by_definition (c, x->data, w->data, b != NULL ? b->data : NULL, &n);

      g_test_message ("case %u: %s", i, c->attributes);
      op_assert_near (y, expected, n, 1e-5, 2e-5);
      call.n_threads = 3;
      many = op_call_one (&call);
      op_assert_same (y, many);
    }
}

static void
test_refused (void)
{
  static const struct { const char *type; VnShape x, w; const char *attributes; } cases[] = {
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 2, 3, 3), "" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "group=3" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "group=0" },
    { "Conv", VN_SHAPE (1, 3, 2, 2), VN_SHAPE (4, 3, 3, 3), "" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "strides=[0,1]" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "strides=[1]" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "pads=[-1,0,0,0]" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "kernel_shape=[5,5]" },
    { "Conv", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "auto_pad=UPPER" },
    { "Conv", VN_SHAPE (1, 3, 5), VN_SHAPE (4, 3, 3, 3), "" },
    { "Conv", VN_SHAPE (3, 5), VN_SHAPE (3, 5), "" },
    { "ConvTranspose", VN_SHAPE (1, 3, 5, 5), VN_SHAPE (4, 3, 3, 3), "" },
    { "ConvTranspose", VN_SHAPE (1, 3, 1, 1), VN_SHAPE (3, 3, 2, 2), "pads=[1,1,1,1]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(GError) error = NULL;
      g_autoptr(VnTensor) x = op_random (&cases[i].x, 1);
      g_autoptr(VnTensor) w = op_random (&cases[i].w, 2);
      VnTensor *inputs[] = { x, w }, *y = NULL;
      OpCall call = { "", cases[i].type, 11, cases[i].attributes, inputs, 2, 1 };

      g_test_message ("case %u: %s", i, cases[i].attributes);
      g_assert_false (op_call (&call, &y, &error));
      g_assert_error (error, VN_ERROR, VN_ERROR_SHAPE);
      g_test_message ("%s", error->message);
    }
}

/* Sizes no memory could hold must be refused before anything is computed with them. */
static void
test_hostile (void)
{
  static const gint64 large[] = { G_GINT64_CONSTANT (1) << 31, G_GINT64_CONSTANT (1) << 40, G_GINT64_CONSTANT (1) << 62,
                                  G_MAXINT64 };
  static const char * const types[] = { "Conv", "ConvTranspose", "MaxPool" };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint i = 0; i < G_N_ELEMENTS (large) * 4; i++)
      {
        g_autoptr(VnModel) model = vn_model_new (8, 13);
        gint64 size = large[i / 4];
        VnShape x = i % 4 == 0 ? VN_SHAPE (1, 1, size, size) : i % 4 == 1 ? VN_SHAPE (1, size, 3, 3)
                  : VN_SHAPE (size, 1, 8, 8);
        VnShape w = i % 4 == 2 ? VN_SHAPE (size, 1, 3, 3) : i % 4 == 3 ? VN_SHAPE (1, 1, size, size)
                  : VN_SHAPE (1, size, 3, 3);
        VnValue *inputs[] = { vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &x),
                              vn_graph_add_input (model->graph, "w", VN_DTYPE_F32, &w) };
        VnValue *y = vn_graph_add_value (model->graph, "y", VN_DTYPE_UNDEFINED, NULL);
        VnNode *node = vn_graph_add_node (model->graph, "n", "", types[t], inputs, t == 2 ? 1 : 2, &y, 1);
        g_autoptr(GError) error = NULL;
        gboolean ok;

        if (t == 2)
          vn_node_set_ints (node, "kernel_shape", (gint64[]) { i % 4 == 3 ? size : 2, 2 }, 2);
        vn_node_set_ints (node, "pads", (gint64[]) { 1 << 30, 1 << 30, 1 << 30, 1 << 30 }, 4);
        vn_node_set_int (node, "group", i % 4 == 1 ? size : 1);
        ok = vn_model_infer_types (model, NULL, NULL, &error);
        g_test_message ("%s %u: %s", types[t], i, ok ? "inferred" : error->message);
        if (!ok)
          g_assert_true (g_error_matches (error, VN_ERROR, VN_ERROR_SHAPE) ||
                         g_error_matches (error, VN_ERROR, VN_ERROR_LIMIT));
        else
          for (int a = 0; a < y->type.shape.rank; a++)
            g_assert_cmpint (y->type.shape.dims[a], >=, VN_DIM_UNKNOWN);
      }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ops/conv/definition", test_conv);
  g_test_add_func ("/ops/conv/threads", test_threads);
  g_test_add_func ("/ops/conv/fused", test_fused);
  g_test_add_func ("/ops/conv/transposed", test_transposed);
  g_test_add_func ("/ops/conv/refused", test_refused);
  g_test_add_func ("/ops/conv/hostile", test_hostile);
  return g_test_run ();
}
