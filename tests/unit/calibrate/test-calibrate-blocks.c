/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is learned of values whose channels lie in blocks, and of samples that are not counted. */
#include "../engine/engine-fixture.h"
#include "vn-blocked.h"
#include "vn-calibrate.h"
#include "vn-histogram-private.h"
#include "vn-plan-blocks.h"

#include <math.h>

static void
take_sample (VnHistogram    *self,
             VnHistogramScratch      *scratch,
             const VnTensor *tensor)
{
  VnHistogram *sample = vn_histogram_new ();

  vn_histogram_scan (sample, scratch, tensor->data, tensor->n_elements);
  vn_histogram_take_sample (self, sample);
}

/* What is told of a value that the graph's own order of elements gives, channel by channel. */
typedef struct
{
  VnHistogramScratch *scratch;
  VnHistogram        *seen[8];
} Ordered;

static void
observe_ordered (const VnValue  *value,
                 guint           tap,
                 const VnTensor *tensor,
                 gpointer        data)
{
  Ordered *self = data;
  const gsize n_inner = (gsize) vn_shape_count (&tensor->shape, 2, 4);

  take_sample (self->seen[tap], self->scratch, tensor);
  vn_channel_ranges_scan (&self->seen[tap]->channels, tensor->data, (gsize) tensor->shape.dims[0], (gsize) tensor->shape.dims[1],
                          n_inner);
}

#define N_BLOCK_VALUES 8
static const char * const block_values[N_BLOCK_VALUES] = { "x", "a", "b", "c", "d", "e", "f", "g" };
static const VnInputSpec block_input = { (char *) "x", VN_DTYPE_F32, { 4, { 2, 3, 20, 21 } } };

/* Convolutions whose channels fill blocks and do not, clamps that follow them, and infinite values that become finite. */
static VnModel *
make_block_model (void)
{
  VnModel *model = vn_model_new (8, 17);

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &block_input.shape);
  add_floats (model, "w1", VN_SHAPE (24, 3, 3, 3), -0.5f, 0.0015f);
  add_floats (model, "w2", VN_SHAPE (37, 24, 1, 1), -0.2f, 0.0004f);
  add_floats (model, "w3", VN_SHAPE (32, 37, 1, 1), -3e38f, 5e35f);
  add_floats (model, "w4", VN_SHAPE (16, 32, 3, 3), -1, 0.0004f);
  add_floats (model, "low", VN_SHAPE_SCALAR, 0, 0);
  add_floats (model, "high", VN_SHAPE_SCALAR, 6, 0);
  add_node (model, "Conv", "conv1", "x w1", "a");
  add_node (model, "Clip", "clip1", "a low high", "b");
  add_node (model, "Conv", "conv2", "b w2", "c");
  add_node (model, "Relu", "relu", "c", "d");
  add_node (model, "Conv", "conv3", "d w3", "e");
  add_node (model, "Clip", "clip2", "e low high", "f");
  add_node (model, "Conv", "conv4", "f w4", "g");
  set_outputs (model, "g");
  return model;
}

/* Statistics are those of a run that tells every value as the graph has it. */
static void
test_blocks (void)
{
  const guint samples[] = { 0, 1, 2 };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnModel) model = make_block_model ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(VnPlan) plain = NULL, blocks = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnRunner) runner = NULL;
  VnCalibrateOptions options = { samples, G_N_ELEMENTS (samples), 2 };
  Ordered ordered = { vn_scratch_new () };

  for (guint i = 0; i < N_BLOCK_VALUES; i++)
    {
      g_ptr_array_add (taps, vn_graph_find_value (model->graph, block_values[i]));
      ordered.seen[i] = vn_histogram_new ();
    }
  spec->max_samples = G_N_ELEMENTS (samples);
  dataset = vn_dataset_open (spec, &block_input, 1, NULL, NULL);
  plain = vn_plan_new (model, &(VnPlanOptions) { .taps = taps }, NULL, NULL);
  blocks = vn_plan_new_in_blocks (model, &(VnPlanOptions) { .taps = taps }, NULL, NULL);
  if (vn_blocked_get_lanes () > 0)
    g_assert_cmpuint (vn_plan_get_n_steps (blocks), <, vn_plan_get_n_steps (plain));
  runner = vn_runner_new (plain, NULL);
  vn_runner_set_tap (runner, observe_ordered, &ordered);
  for (guint i = 0; i < G_N_ELEMENTS (samples); i++)
    {
      g_autoptr(VnTensor) tensor = NULL;

      g_assert_true (vn_dataset_load (dataset, i, &tensor, NULL));
      g_assert_true (vn_runner_run (runner, &tensor, NULL, NULL, NULL));
    }
  for (guint in_blocks = 0; in_blocks < 2; in_blocks++)
    {
      g_autoptr(VnStats) stats = vn_calibrate (in_blocks ? blocks : plain, taps, dataset, &options, NULL, NULL, NULL, NULL);

      for (guint i = 0; i < N_BLOCK_VALUES; i++)
        {
          const VnHistogram *found = vn_stats_get (stats, block_values[i]);

          g_test_message ("%s%s: %g .. %g, %" G_GUINT64_FORMAT " infinite", block_values[i], in_blocks ? " in blocks" : "",
                          found->min, found->max, found->n_pos_inf + found->n_neg_inf);
          g_assert_true (vn_histogram_equal (found, ordered.seen[i]));
        }
      g_assert_cmpuint (vn_stats_get (stats, "e")->n_pos_inf + vn_stats_get (stats, "e")->n_neg_inf, >, 0);
    }
  for (guint i = 0; i < N_BLOCK_VALUES; i++)
    vn_histogram_free (ordered.seen[i]);
  vn_scratch_free (ordered.scratch);
}

/* Of few samples all elements are counted, of the others the ends: minimum and maximum of everything are those of all samples,
 * for any number of threads and in any order. What is far from 0 is counted whole. */
static void
check_few (VnStats *few,
           VnStats *all,
           guint    n_samples,
           guint    n_counted)
{
  guint n_far = 0;

  g_assert_true (vn_stats_has_counts (all));
  g_assert_false (vn_stats_has_counts (few));
  for (guint i = 0; i < N_BLOCK_VALUES; i++)
    {
      const VnHistogram *a = vn_stats_get (all, block_values[i]), *f = vn_stats_get (few, block_values[i]);
      /* f is e, clamped, and counted with it */
      const VnHistogram *seen = g_str_equal (block_values[i], "f") ? vn_stats_get (all, "e") : a;
      const gboolean is_far = seen->n_pos_inf + seen->n_neg_inf > 0 || fmaxf (fabsf (seen->min), fabsf (seen->max)) >= 64;

      g_test_message ("%s: %g .. %g, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, block_values[i], f->min, f->max, f->n, a->n);
      g_assert_cmphex (vn_float_bits (f->min), ==, vn_float_bits (a->min));
      g_assert_cmphex (vn_float_bits (f->max), ==, vn_float_bits (a->max));
      g_assert_true (vn_channel_ranges_equal (&f->channels, &a->channels));
      g_assert_cmpuint (f->n_pos_inf, ==, a->n_pos_inf);
      g_assert_cmpuint (f->n_neg_inf, ==, a->n_neg_inf);
      if (!is_far)
        g_assert_cmpuint (f->n, ==, a->n / n_samples * n_counted + 2);
      n_far += is_far;
    }
  g_assert_cmpuint (n_far, >, 0);
  g_assert_cmpuint (n_far, <, N_BLOCK_VALUES - 2);
}

static void
test_few_counts (void)
{
  static const struct { guint n, n_counted; } cases[] = { { 13, 5 }, { 33, 5 }, { 40, 5 } };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnModel) model = make_block_model ();
  g_autoptr(GPtrArray) taps = g_ptr_array_new ();
  g_autoptr(VnDataset) dataset = NULL;

  for (guint i = 0; i < N_BLOCK_VALUES; i++)
    g_ptr_array_add (taps, vn_graph_find_value (model->graph, block_values[i]));
  spec->max_samples = 50;
  dataset = vn_dataset_open (spec, &block_input, 1, NULL, NULL);
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      const guint n = cases[c].n;
      guint samples[50];
      VnCalibrateOptions options = { samples, n, 1, .few_counts = TRUE };
      g_autoptr(VnStats) all = NULL, few = NULL;

      for (guint i = 0; i < n; i++)
        samples[i] = i + 7;
      for (guint k = 0; k < 6; k++)
        {
          const VnPlanOptions plan_options = { .taps = taps };
          g_autoptr(VnPlan) plan = (k % 2 ? vn_plan_new_in_blocks : vn_plan_new) (model, &plan_options, NULL, NULL);
          g_autoptr(VnStats) again = NULL;

          options.n_threads = 1 + k / 2;
          if (k == 3)
            for (guint i = 0; i < n; i++)
              samples[i] = n - 1 - i + 7;
          again = vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, NULL);
          if (few == NULL)
            few = vn_stats_ref (again);
          g_assert_true (vn_stats_equal (few, again));
          if (k > 0)
            continue;
          options.few_counts = FALSE;
          all = vn_calibrate (plan, taps, dataset, &options, NULL, NULL, NULL, NULL);
          options.few_counts = TRUE;
          check_few (few, all, n, cases[c].n_counted);
        }
    }
}

int
main (int   argc,
      char *argv[])
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/run/blocks", test_blocks);
  g_test_add_func ("/run/few-counts", test_few_counts);
  return g_test_run ();
}
