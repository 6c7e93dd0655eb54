/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a judge says of a network, and the copies of samples that it runs beside them. */
#include "judge-copies.h"
#include "vn-judge.h"

#include <math.h>
#include <string.h>

static VnTensor *
make_picture (gint64 channels,
              gint64 height,
              gint64 width,
              gboolean last)
{
  VnShape shape = last ? VN_SHAPE (1, height, width, channels) : VN_SHAPE (1, channels, height, width);
  VnTensor *tensor = vn_tensor_new (VN_DTYPE_F32, &shape, NULL);

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = (float) i;
  return tensor;
}

static float
get_pixel (const VnTensor *tensor,
           gboolean        last,
           gint64          c,
           gint64          y,
           gint64          x)
{
  const gint64 *dims = tensor->shape.dims;

  return ((const float *) tensor->data)[last ? (y * dims[2] + x) * dims[3] + c : (c * dims[2] + y) * dims[3] + x];
}

/* Each channel of a copy holds the same pixels as that of the sample, moved by 3 and 5 of them for each copy. */
static void
test_copies (gconstpointer data)
{
  gboolean last = GPOINTER_TO_INT (data);
  g_autoptr(VnTensor) sample = make_picture (3, 16, 20, last);
  guint n = 0;

  for (guint copy = 1; copy < 8; copy++)
    {
      g_autoptr(VnTensor) moved = vn_judge_make_copy (sample, copy, NULL);

      g_assert_true (vn_shape_equal (&moved->shape, &sample->shape));
      g_assert_cmpint (memcmp (moved->data, sample->data, moved->n_elements * sizeof (float)), !=, 0);
      for (gint64 c = 0; c < 3; c++)
        for (gint64 y = 0; y < 16; y++)
          for (gint64 x = 0; x < 20; x++, n++)
            {
              gint64 dy = (gint64) copy * (last ? 5 : 3), dx = (gint64) copy * (last ? 3 : 5);
              gint64 from_y = (y + dy) % 16, from_x = (x + dx) % 20;

              from_x = copy % 2 == 1 ? 19 - from_x : from_x;
              g_assert_cmpfloat (get_pixel (moved, last, c, y, x), ==, get_pixel (sample, last, c, from_y, from_x));
            }
    }
  g_assert_cmpuint (n, ==, 7 * 3 * 16 * 20);
}

static VnJudgement
make_judgement (const double *gains,
                guint         n)
{
  VnJudgement judgement = { 0, g_array_new (FALSE, FALSE, sizeof (double)) };

  g_array_append_vals (judgement.each, gains, n);
  return judgement;
}

/* Gains of 1, 2, 3 and 6 dB: mean 3, variance 14/3, standard error sqrt (14/3 / 4). */
static void
test_error (void)
{
  const double before[] = { 10, 20, 30, 40 }, after[] = { 11, 22, 33, 46 }, even[] = { 12, 22, 32, 42 };
  g_auto(VnJudgement) a = make_judgement (before, 4), b = make_judgement (after, 4), c = make_judgement (even, 4);
  g_auto(VnJudgement) one = make_judgement (before, 1), other = make_judgement (after, 1);

  g_assert_cmpfloat_with_epsilon (vn_judgement_get_error (&b, &a), sqrt (14.0 / 3 / 4), 1e-12);
  g_assert_cmpfloat_with_epsilon (vn_judgement_get_error (&c, &a), 0, 1e-12);
  g_assert_cmpfloat (vn_judgement_get_error (&other, &one), ==, 0);
}

static void
test_take (void)
{
  const double some[] = { 1, 2 };
  g_auto(VnJudgement) a = make_judgement (some, 2), b = make_judgement (some, 1);

  vn_judgement_take (&a, &b);
  g_assert_cmpuint (a.each->len, ==, 1);
  g_assert_null (b.each);
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/repair/judge/copies", GINT_TO_POINTER (FALSE), test_copies);
  g_test_add_data_func ("/repair/judge/copies-channels-last", GINT_TO_POINTER (TRUE), test_copies);
  g_test_add_func ("/repair/judge/error", test_error);
  g_test_add_func ("/repair/judge/take", test_take);
  return g_test_run ();
}
