/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a judge says of a network, and the copies of samples that it runs beside them. */
#include "judge-copies.h"
#include "vn-dataset.h"
#include "vn-graph-edit.h"
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

/* All copies that a picture can have differ, by no more pixels than it has room for; their edges are repeated. */
static void
test_near_copies (gconstpointer data)
{
  gboolean last = GPOINTER_TO_INT (data);
  g_autoptr(VnTensor) sample = make_picture (3, 60, 50, last);
  g_autoptr(GHashTable) seen = g_hash_table_new (NULL, NULL);
  gint64 most = 2;

  for (guint copy = 1; copy < 25; copy++)
    {
      g_autoptr(VnTensor) moved = vn_judge_make_near_copy (sample, copy, NULL);
      gint64 middle = (gint64) get_pixel (moved, last, 1, 30, 25), width = last ? 50 * 3 : 50, of_pixel = last ? 3 : 1;
      gint64 from = last ? middle - 1 : middle - 60 * 50, dy = from / width - 30, dx = from % width / of_pixel - 25;

      g_assert_cmpint (ABS (dy), <=, copy < 9 ? 1 : most);
      g_assert_cmpint (ABS (dx), <=, copy < 9 ? 1 : most);
      g_assert_true (dx != 0 || dy != 0);
      g_assert_true (g_hash_table_add (seen, GINT_TO_POINTER ((int) (100 + 10 * dy + dx))));
      for (gint64 y = 0; y < 60; y++)
        for (gint64 x = 0; x < 50; x++)
          g_assert_cmpfloat (get_pixel (moved, last, 2, y, x), ==,
                             get_pixel (sample, last, 2, CLAMP (y + dy, 0, 59), CLAMP (x + dx, 0, 49)));
    }
  g_assert_cmpuint (g_hash_table_size (seen), ==, 24);
}

/* What is no picture gets a little weaker. */
static void
test_near_signals (void)
{
  const float values[] = { 0, 1, -3, 250 };
  g_autoptr(VnTensor) sample = vn_tensor_new_copy (VN_DTYPE_F32, &VN_SHAPE (1, 4), values, NULL);

  for (guint copy = 1; copy < 25; copy++)
    {
      g_autoptr(VnTensor) weaker = vn_judge_make_near_copy (sample, copy, NULL);

      for (guint i = 0; i < G_N_ELEMENTS (values); i++)
        g_assert_cmpfloat_with_epsilon (((const float *) weaker->data)[i], values[i] * (1 - copy / 100.0f), 1e-4f);
    }
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

/* A clear change of the answers decides; one answer, or two in a hundred, is chance, and what is not known is no change. */
static void
test_answers (void)
{
  static const struct { VnKept before, after; int wanted; } tests[] = {
    { { VN_TASK_DETECTION, 8, 160, 0, 0, .share = 0 }, { VN_TASK_DETECTION, 8, 160, 150, 0, .share = 0.94 }, 1 },
    { { VN_TASK_DETECTION, 8, 160, 150, 0, .share = 0.94 }, { VN_TASK_DETECTION, 8, 160, 120, 0, .share = 0.75 }, -1 },
    { { VN_TASK_DETECTION, 8, 160, 150, 0, .share = 0.9375 }, { VN_TASK_DETECTION, 8, 160, 151, 0, .share = 0.94375 }, 0 },
    { { VN_TASK_DETECTION, 8, 160, 160, 0, .share = 1 }, { VN_TASK_DETECTION, 8, 160, 160, 200, .share = 1 }, -1 },
    { { VN_TASK_DETECTION, 8, 5, 4, 0, .share = 0.8 }, { VN_TASK_DETECTION, 8, 5, 5, 0, .share = 1 }, 0 },
    { { VN_TASK_SEGMENTATION, 8, 2, 0, 0, .share = 0.9 }, { VN_TASK_SEGMENTATION, 8, 2, 0, 0, .share = 0.5 }, -1 },
    { { VN_TASK_OTHER }, { VN_TASK_OTHER }, 0 },
    { { VN_TASK_DETECTION, 8, 0, 0, 0, .share = NAN }, { VN_TASK_DETECTION, 8, 0, 0, 9, .share = NAN }, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      const VnJudgement before = { .kept = tests[i].before }, after = { .kept = tests[i].after };

      g_test_message ("%u", i);
      g_assert_cmpint (vn_judgement_compare_answers (&after, &before), ==, tests[i].wanted);
    }
}

/* ---- measuring ---- */

#define WIDTH 8

/* A product of x and weights, each of which is off by up to @noise. */
static VnModel *
make_network (double noise)
{
  VnModel *model = vn_model_new (8, 13);
  g_autoptr(GRand) rand = g_rand_new_with_seed (3), other = g_rand_new_with_seed (4);
  g_autoptr(VnTensor) weight = vn_tensor_new (VN_DTYPE_F32, &VN_SHAPE (WIDTH, WIDTH), NULL);
  VnValue *inputs[2], *output;

  for (gsize i = 0; i < weight->n_elements; i++)
    ((float *) weight->data)[i] = (float) (g_rand_double_range (rand, -1, 1) + noise * g_rand_double_range (other, -1, 1));
  inputs[0] = vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, WIDTH));
  inputs[1] = vn_graph_add_initializer (model->graph, "w", weight);
  output = vn_graph_add_value (model->graph, "y", VN_DTYPE_F32, &VN_SHAPE (1, WIDTH));
  vn_graph_add_node (model->graph, "product", "", "MatMul", inputs, 2, &output, 1);
  vn_graph_set_output (model->graph, 0, output);
  return model;
}

static VnJudge *
make_judge (VnModel *model,
            guint    n)
{
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (VN_DATA_RANDOM);
  VnInputSpec input = { .name = (char *) "x", .dtype = VN_DTYPE_F32, .shape = VN_SHAPE (1, WIDTH) };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autofree guint *indices = g_new (guint, n);
  VnRepairSamples samples = { .indices = indices, .n = n, .n_threads = 1 };
  VnJudge *judge;

  for (guint i = 0; i < n; i++)
    indices[i] = i;
  spec->max_samples = n;
  samples.dataset = dataset = vn_dataset_open (spec, &input, 1, NULL, &error);
  g_assert_no_error (error);
  judge = vn_judge_new (model, &samples, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (vn_judge_get_n (judge), ==, n);
  return judge;
}

/* What is not hopeless has the figures of a measurement of all; what is, about those. */
static void
test_against (void)
{
  static const struct { guint n; double noise, least_gain; gboolean hopeless; } tests[] = {
    { 64, 0.1, 0, TRUE }, { 64, 0.02, 0, TRUE }, { 64, 0.01, 0, FALSE }, { 64, 0.0095, 0, FALSE }, { 64, 0.001, 0, FALSE },
    { 64, 0.01, 6, FALSE },   /* too little gain is no loss */
    { 16, 0.1, 0, TRUE }, { 15, 0.1, 0, FALSE }, { 1, 0.1, 0, FALSE },   /* too few to leave some out */
  };
  g_autoptr(VnModel) plain = make_network (0), first = make_network (0.01);

  for (guint i = 0; i < G_N_ELEMENTS (tests); i++)
    {
      g_autoptr(VnJudge) judge = make_judge (plain, tests[i].n);
      g_autoptr(VnModel) model = make_network (tests[i].noise);
      g_auto(VnJudgement) best = { 0 }, all = { 0 }, found = { 0 };

      g_assert_true (vn_judge_measure (judge, first, &best, NULL, NULL));
      g_assert_true (vn_judge_measure (judge, model, &all, NULL, NULL));
      g_assert_true (vn_judge_measure_against (judge, model, &best, tests[i].least_gain, &found, NULL, NULL));
      g_test_message ("%u: %g dB of all, %g dB", i, all.sqnr_db, found.sqnr_db);
      g_assert_cmpint (found.hopeless, ==, tests[i].hopeless);
      if (found.hopeless)
        {
          g_assert_null (found.each);
          g_assert_cmpfloat_with_epsilon (found.sqnr_db, all.sqnr_db, 1.5);
          continue;
        }
      g_assert_cmpfloat (found.sqnr_db, ==, all.sqnr_db);
      g_assert_cmpuint (found.each->len, ==, tests[i].n);
      g_assert_cmpmem (found.each->data, found.each->len * sizeof (double), all.each->data, all.each->len * sizeof (double));
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_data_func ("/repair/judge/near-copies", GINT_TO_POINTER (FALSE), test_near_copies);
  g_test_add_data_func ("/repair/judge/near-copies-channels-last", GINT_TO_POINTER (TRUE), test_near_copies);
  g_test_add_func ("/repair/judge/near-signals", test_near_signals);
  g_test_add_data_func ("/repair/judge/copies", GINT_TO_POINTER (FALSE), test_copies);
  g_test_add_data_func ("/repair/judge/copies-channels-last", GINT_TO_POINTER (TRUE), test_copies);
  g_test_add_func ("/repair/judge/error", test_error);
  g_test_add_func ("/repair/judge/take", test_take);
  g_test_add_func ("/judge/answers", test_answers);
  g_test_add_func ("/repair/judge/against", test_against);
  return g_test_run ();
}
