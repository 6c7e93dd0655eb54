/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "vn-conv-packed.h"

#include <math.h>
#include <stdlib.h>

#define GUARD 1234.5f

typedef struct
{
  gsize  batch, groups, in, out;          /* channels of one group */
  gint64 size[2], kernel[2], stride[2], dilation[2], begin[2], end[2];
} Case;

static const Case cases[] = {
  { 1, 1, 1, 1,    { 1, 1 },   { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
  { 2, 1, 5, 9,    { 7, 7 },   { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
  { 1, 1, 70, 33,  { 13, 50 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
  { 1, 1, 6, 17,   { 9, 11 },  { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
  { 1, 1, 3, 16,   { 31, 29 }, { 7, 7 }, { 2, 2 }, { 1, 1 }, { 3, 3 }, { 3, 3 } },
  { 3, 1, 8, 8,    { 14, 14 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 1, 4, 5,    { 12, 10 }, { 3, 3 }, { 1, 1 }, { 2, 3 }, { 2, 3 }, { 2, 3 } },
  { 1, 1, 4, 5,    { 12, 10 }, { 3, 5 }, { 3, 2 }, { 2, 1 }, { 0, 4 }, { 5, 1 } },
  { 1, 3, 4, 10,   { 8, 20 },  { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 1, 2, 3,    { 1, 40 },  { 1, 9 }, { 1, 4 }, { 1, 1 }, { 0, 4 }, { 0, 4 } },
  { 1, 1, 300, 7,  { 20, 20 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 1, 2, 4,    { 3, 3 },   { 5, 5 }, { 1, 1 }, { 1, 1 }, { 4, 4 }, { 4, 4 } },
  { 1, 2, 3, 4,    { 40, 1 },  { 5, 1 }, { 5, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
  /* pixels read where they lie, and just too many channels for that */
  { 2, 1, 5, 10,   { 9, 48 },  { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 2, 3, 9,    { 64, 96 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 1, 4, 130,  { 3, 100 }, { 2, 3 }, { 1, 1 }, { 1, 3 }, { 0, 3 }, { 1, 3 } },
  { 2, 1, 7, 65,   { 8, 32 },  { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
};

static void
make_conv (const Case *c,
           VnConv     *conv)
{
  *conv = (VnConv) { .batch = c->batch, .groups = c->groups, .in_channels = c->in, .out_channels = c->out };
  conv->window = (VnSlidingWindow) { .n_spatial = 2, .kernel = { 1 }, .stride = { 1 }, .dilation = { 1 }, .in = { 1 },
                              .out = { 1 } };
  for (int a = 0; a < 2; a++)
    {
      VnSlidingWindow *win = &conv->window;

      win->kernel[a + 1] = c->kernel[a];
      win->stride[a + 1] = c->stride[a];
      win->dilation[a + 1] = c->dilation[a];
      win->begin[a + 1] = c->begin[a];
      win->end[a + 1] = c->end[a];
      win->in[a + 1] = c->size[a];
      win->out[a + 1] = (c->size[a] + c->begin[a] + c->end[a] - c->dilation[a] * (c->kernel[a] - 1) - 1) /
                        c->stride[a] + 1;
    }
  conv->in_size = (gsize) vn_sliding_window_get_volume (conv->window.in);
  conv->out_size = (gsize) vn_sliding_window_get_volume (conv->window.out);
  conv->depth = c->in * (gsize) vn_sliding_window_get_volume (conv->window.kernel);
}

static VnTensor *
random_tensor (gsize  n,
               GRand *rand)
{
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE ((gint64) n), NULL);

  for (gsize i = 0; i < n; i++)
    ((float *) tensor->data)[i] = (float) g_rand_double_range (rand, -1, 1);
  return tensor;
}

/* The definition, one output at a time, in double precision. */
static double
reference (const VnConv *conv,
           const float  *x,
           const float  *w,
           gsize         n,
           gsize         g,
           gsize         m,
           gsize         o)
{
  const VnSlidingWindow *win = &conv->window;
  gint64 oy = (gint64) o / win->out[2], ox = (gint64) o % win->out[2];
  double sum = 0;

  for (gsize c = 0; c < conv->in_channels; c++)
    for (gint64 ky = 0; ky < win->kernel[1]; ky++)
      for (gint64 kx = 0; kx < win->kernel[2]; kx++)
        {
          gint64 iy = oy * win->stride[1] + ky * win->dilation[1] - win->begin[1];
          gint64 ix = ox * win->stride[2] + kx * win->dilation[2] - win->begin[2];
          gsize channel = (n * conv->groups + g) * conv->in_channels + c;
          gsize row = (g * conv->out_channels + m) * conv->in_channels + c;

          if (iy >= 0 && iy < win->in[1] && ix >= 0 && ix < win->in[2])
            sum += (double) x[channel * conv->in_size + (gsize) (iy * win->in[2] + ix)] *
                   w[row * (gsize) (win->kernel[1] * win->kernel[2]) + (gsize) (ky * win->kernel[2] + kx)];
        }
  return sum;
}

static float *
run (const VnConv  *conv,
     const VnTile  *tile,
     guint          n_threads,
     const float   *x,
     const VnTensor *w,
     const VnTensor *b,
     float          low,
     float          high)
{
  g_autoptr(GError) error = NULL;
  VnConvPacked *packed = vn_conv_packed_new (tile, conv->groups, w, b, &error);
  VnEpilogue epilogue = { .map = { .active = TRUE, .min = low, .max = high } };
  VnOpContext ctx = { .n_threads = n_threads };
  gsize n = conv->batch * conv->groups * conv->out_channels * conv->out_size;
  float *y = g_new (float, n + 1);
  gpointer scratch = NULL;

  g_assert_no_error (error);
  y[n] = GUARD;
  g_assert_true (vn_conv_packed_scratch (conv, tile, &ctx.scratch_bytes));
  g_assert_cmpint (posix_memalign (&scratch, 64, ctx.scratch_bytes), ==, 0);
  ctx.scratch = scratch;
  vn_conv_packed_run (packed, conv, &ctx, &epilogue, x, y);
  g_assert_cmpfloat (y[n], ==, GUARD);
  free (scratch);
  vn_conv_packed_free (packed);
  return y;
}

static void
check (const Case   *c,
       const VnTile *tile)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (7);
  VnConv conv;
  gsize n_x, n;
  g_autofree float *x = NULL;

  make_conv (c, &conv);
  g_assert_true (vn_conv_packed_fits (&conv));
  n_x = c->batch * c->groups * c->in * conv.in_size;
  n = c->batch * c->groups * c->out * conv.out_size;
  {
    g_autoptr(VnTensor) w = random_tensor (c->groups * c->out * conv.depth, rand);
    g_autoptr(VnTensor) b = random_tensor (c->groups * c->out, rand);
    g_autofree float *one = NULL, *three = NULL;
    double limit = 2e-6 * sqrt ((double) conv.depth);   /* of sums in single precision */

    w->shape = VN_SHAPE ((gint64) (c->groups * c->out), (gint64) conv.depth);
    x = g_new (float, n_x);
    for (gsize i = 0; i < n_x; i++)
      x[i] = (float) g_rand_double_range (rand, -1, 1);
    one = run (&conv, tile, 1, x, w, b, -0.8f, 0.9f);
    three = run (&conv, tile, 3, x, w, b, -0.8f, 0.9f);
    g_assert_cmpmem (one, n * sizeof (float), three, n * sizeof (float));
    for (gsize i = 0; i < n; i++)
      {
        gsize row = i / conv.out_size % (c->groups * c->out);
        double wanted = reference (&conv, x, w->data, i / conv.out_size / (c->groups * c->out), row / c->out,
                                   row % c->out, i % conv.out_size) + ((float *) b->data)[row];

        wanted = CLAMP (wanted, -0.8f, 0.9f);
        if (fabs (one[i] - wanted) > limit)
          g_test_message ("output %" G_GSIZE_FORMAT ": %g, not %g", i, one[i], wanted);
        g_assert_cmpfloat_with_epsilon (one[i], wanted, limit);
      }
  }
}

static void
test_cases (void)
{
  guint n_tiles;
  const VnTile * const *tiles = vn_tile_list (&n_tiles);

  g_assert_cmpuint (n_tiles, >=, 1);
  for (guint t = 0; t < n_tiles; t++)
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        g_test_message ("%s, case %u", tiles[t]->name, i);
        check (&cases[i], tiles[t]);
      }
}

/* ---- one channel per group ---- */

static const Case depthwise_cases[] = {
  { 1, 5,  1, 1, { 14, 14 },   { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 2, 9,  1, 1, { 7, 7 },     { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 3,  1, 2, { 56, 50 },   { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 10, 1, 1, { 31, 33 },   { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 4,  1, 1, { 32, 32 },   { 3, 3 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 1, 1 } },
  { 1, 4,  1, 1, { 20, 21 },   { 5, 5 }, { 2, 2 }, { 1, 1 }, { 2, 2 }, { 2, 2 } },
  { 1, 4,  1, 1, { 20, 21 },   { 5, 5 }, { 1, 1 }, { 2, 2 }, { 4, 4 }, { 4, 4 } },
  { 1, 2,  1, 1, { 300, 200 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
  { 1, 2,  1, 1, { 5, 3 },     { 3, 2 }, { 3, 3 }, { 1, 1 }, { 2, 1 }, { 2, 4 } },
  { 1, 2,  1, 1, { 1, 40 },    { 1, 9 }, { 1, 4 }, { 1, 1 }, { 0, 4 }, { 0, 4 } },
  { 1, 2,  1, 1, { 2, 2 },     { 7, 7 }, { 1, 1 }, { 1, 1 }, { 3, 3 }, { 3, 3 } },
  { 1, 2,  1, 1, { 1, 1 },     { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } },
};

static void
check_depthwise (const Case *c)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (3);
  VnConv conv;
  gsize n, bytes;
  gpointer scratch = NULL;
  g_autoptr(VnTensor) x = NULL, w = NULL, b = NULL;
  g_autofree float *y = NULL;
  VnEpilogue epilogue = { 0 };
  VnOpContext ctx = { .n_threads = 2 };

  make_conv (c, &conv);
  g_assert_true (vn_conv_is_depthwise (&conv));
  g_assert_true (vn_conv_depthwise_scratch (&conv, &bytes));
  n = c->batch * c->groups * c->out * conv.out_size;
  x = random_tensor (c->batch * c->groups * conv.in_size, rand);
  w = random_tensor (c->groups * c->out * conv.depth, rand);
  b = random_tensor (c->groups * c->out, rand);
  y = g_new (float, n + 1);
  y[n] = GUARD;
  g_assert_cmpint (posix_memalign (&scratch, 64, bytes), ==, 0);
  memset (scratch, 0xff, bytes);
  ctx.scratch = scratch;
  epilogue.bias = b->data;
  vn_conv_depthwise_run (&conv, &ctx, &epilogue, x->data, w->data, y);
  free (scratch);
  g_assert_cmpfloat (y[n], ==, GUARD);
  for (gsize i = 0; i < n; i++)
    {
      gsize row = i / conv.out_size % (c->groups * c->out);
      double wanted = reference (&conv, x->data, w->data, i / conv.out_size / (c->groups * c->out), row / c->out,
                                 row % c->out, i % conv.out_size) + ((float *) b->data)[row];

      if (!(fabs (y[i] - wanted) <= 1e-5))
        g_test_message ("output %" G_GSIZE_FORMAT ": %g, not %g", i, y[i], wanted);
      g_assert_cmpfloat_with_epsilon (y[i], wanted, 1e-5);
    }
}

static void
test_depthwise (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (depthwise_cases); i++)
    {
      g_test_message ("case %u", i);
      check_depthwise (&depthwise_cases[i]);
    }
}

/* Not a number and infinity come through the clamp of every tile. */
static void
test_not_finite (void)
{
  guint n_tiles;
  const VnTile * const *tiles = vn_tile_list (&n_tiles);
  const Case c = { 1, 1, 1, 1, { 1, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 }, { 0, 0 } };
  const float x[3] = { NAN, INFINITY, -INFINITY }, weight = 2;
  g_autoptr(VnTensor) w = vn_tensor_new_f32 (&VN_SHAPE (1, 1), &weight);
  VnConv conv;

  make_conv (&c, &conv);
  for (guint t = 0; t < n_tiles; t++)
    {
      g_autofree float *y = run (&conv, tiles[t], 1, x, w, NULL, 0, (float) INFINITY);

      g_test_message ("%s: %g %g %g", tiles[t]->name, y[0], y[1], y[2]);
      g_assert_true (isnan (y[0]));
      g_assert_true (isinf (y[1]));
      g_assert_cmpfloat (y[2], ==, 0);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/conv-packed/cases", test_cases);
  g_test_add_func ("/conv-packed/depthwise", test_depthwise);
  g_test_add_func ("/conv-packed/not-finite", test_not_finite);
  return g_test_run ();
}
