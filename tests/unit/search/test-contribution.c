/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where error starts: the same bits for any number of threads and any budget of memory, what is told on the way, and a fault that
 * is planted. */
#include "vn-contribution.h"
#include "vn-jobs.h"
#include "vn-memory.h"
#include "vn-onnx.h"
#include "vn-origins-job.h"

#include <math.h>
#include <string.h>

#define N_SAMPLES 12u

typedef struct
{
  VnRun     *result;
  VnDataset *dataset;
} Fixture;

/* All has 16 bits, but the weight and the output of one node. */
static void
plant (VnRecipe   *recipe,
       const char *node)
{
  VnOverride *rule;

  g_assert_true (vn_recipe_set (recipe, "activation", "u16", NULL) && vn_recipe_set (recipe, "weight", "s16", NULL));
  rule = vn_recipe_add_exclude (recipe, node);
  rule->exclude = FALSE;
  rule->activation = VN_DTYPE_U8;
  rule->weight = VN_DTYPE_S8;
}

static void
set_up (Fixture       *self,
        gconstpointer  data)
{
  g_autofree char *path = g_build_filename (g_getenv ("VN_DEMO"), "demo.onnx", NULL);
  g_autofree char *folder = g_build_filename (g_getenv ("VN_DEMO"), "samples", NULL);
  g_autoptr(GError) error = NULL;
  g_autoptr(VnModel) model = vn_onnx_read_file (path, &error);
  g_autoptr(VnDataSpec) spec = vn_data_spec_new (folder);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings settings = { .model = model, .data = spec, .recipe = recipe, .skip_compare = TRUE };
  g_autoptr(VnJob) job = NULL;
  const VnValue *input;

  g_assert_no_error (error);
  spec->held_out = 0;   /* nothing is clipped that was not before */
  g_assert_true (vn_recipe_set (recipe, "per-channel", "true", NULL));
  if (data != NULL)
    plant (recipe, data);
  job = vn_quantize_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, &error));
  self->result = vn_run_ref (vn_quantize_job_get_result (job));
  input = g_ptr_array_index (self->result->prepared->graph->inputs, 0);
  self->dataset = vn_dataset_open (spec, &(VnInputSpec) { input->name, input->type.dtype, input->type.shape }, 1, NULL, &error);
  g_assert_no_error (error);
}

static void
tear_down (Fixture       *self,
           gconstpointer  data)
{
  vn_run_unref (self->result);
  vn_dataset_unref (self->dataset);
}

static VnContributions *
measure (Fixture                     *self,
         guint                        n_threads,
         const VnContributionOptions *options)
{
  guint samples[N_SAMPLES];
  VnSamples run = { .dataset = self->dataset, .indices = samples, .n = N_SAMPLES, .n_threads = n_threads };
  g_autoptr(GError) error = NULL;
  VnContributions *found;

  for (guint i = 0; i < N_SAMPLES; i++)
    samples[i] = i * vn_dataset_get_n (self->dataset) / N_SAMPLES;
  found = vn_contribution_measure (self->result->prepared, self->result->prepared, self->result->plan, &run, options, NULL,
                                   &error);
  g_assert_no_error (error);
  return found;
}

static void
check_same (VnContributions *a,
            VnContributions *b)
{
  g_assert_cmpuint (vn_contributions_get_n (a), ==, vn_contributions_get_n (b));
  for (guint i = 0; i < vn_contributions_get_n (a); i++)
    {
      const VnContribution *x = vn_contributions_get (a, i), *y = vn_contributions_get (b, i);

      g_assert_cmpstr (x->name, ==, y->name);
      g_assert_cmpuint (x->n_samples, ==, y->n_samples);
      g_assert_cmpmem (&x->share, sizeof x->share, &y->share, sizeof y->share);
      g_assert_cmpmem (&x->share_error, sizeof x->share_error, &y->share_error, sizeof y->share_error);
      g_assert_cmpmem (&x->alone_db, sizeof x->alone_db, &y->alone_db, sizeof y->alone_db);
      g_assert_cmpmem (&x->local_db, sizeof x->local_db, &y->local_db, sizeof y->local_db);
    }
}

static void
test_threads (Fixture       *self,
              gconstpointer  data)
{
  g_autoptr(VnContributions) one = measure (self, 1, NULL), two = measure (self, 2, NULL), three = measure (self, 3, NULL);

  check_same (one, two);
  check_same (one, three);
}

static void
test_budget (Fixture       *self,
             gconstpointer  data)
{
  static const gsize budgets[] = { 1, 60 << 10, 400 << 10, 2 << 20 };
  const VnContributionOptions estimate = { .estimate = TRUE };
  g_autoptr(VnContributions) all = measure (self, 2, NULL), estimated = measure (self, 2, &estimate);

  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    for (guint n_threads = 1; n_threads <= 2; n_threads++)
      {
        g_autoptr(VnContributions) some = NULL, some_estimated = NULL;

        vn_memory_set_budget (budgets[i]);
        some = measure (self, n_threads, NULL);
        some_estimated = measure (self, n_threads, &estimate);
        vn_memory_set_budget (0);
        check_same (some, all);
        check_same (some_estimated, estimated);
      }
}

/* ---- what is told on the way ---- */

typedef struct
{
  guint            n_told, n_measured;
  VnContributions *estimate;
} Heard;

static guint
count_measured (VnContributions *self)
{
  guint n = 0;

  for (guint i = 0; i < vn_contributions_get_n (self); i++)
    n += vn_contributions_get (self, i)->n_samples > 0;
  return n;
}

static void
hear (VnContributions *so_far,
      gpointer         data)
{
  Heard *heard = data;
  guint n = count_measured (so_far);
  double sum = 0;

  for (guint i = 0; i < vn_contributions_get_n (so_far); i++)
    sum += vn_contributions_get (so_far, i)->share;
  g_assert_cmpfloat_with_epsilon (sum, 1, 1e-9);
  g_assert_cmpuint (n, >=, heard->n_measured);
  heard->n_measured = n;
  heard->n_told++;
  if (heard->estimate == NULL)
    heard->estimate = vn_contributions_ref (so_far);
}

/* The estimate comes first, then more and more is measured; what matters is measured until it is certain, or on all samples. */
static void
test_told (Fixture       *self,
           gconstpointer  data)
{
  Heard heard = { 0 };
  VnContributionOptions options = { .found = hear, .data = &heard };
  g_autoptr(VnContributions) found = measure (self, 2, &options);
  g_autoptr(GArray) order = vn_contributions_sort (found);

  g_assert_cmpuint (heard.n_told, >, 3);
  g_assert_cmpuint (count_measured (heard.estimate), ==, 0);
  g_assert_cmpuint (count_measured (found), ==, heard.n_measured);
  for (guint k = 0; k < order->len; k++)
    {
      const VnContribution *item = vn_contributions_get (found, g_array_index (order, guint, k));

      if (item->share > 0.02)
        g_assert_cmpuint (item->n_samples, >=, 4);
      else if (item->share > 0.001)
        g_assert_cmpuint (item->n_samples, >=, 2);
      else if (item->share > 1e-5)
        g_assert_cmpuint (item->n_samples, >=, 1);
      if (item->n_samples > 1)
        g_assert_true (item->share_error >= 0);
      if (item->share > 0.01 && item->n_samples < N_SAMPLES)
        g_assert_cmpfloat (item->share_error, <, 0.005);
    }
  vn_contributions_unref (heard.estimate);
}

/* What is measured on few samples is near what all of them say, and what was estimated and left matters to nobody. */
static void
test_thorough (Fixture       *self,
               gconstpointer  data)
{
  g_autoptr(VnContributions) found = measure (self, 2, NULL);
  g_autoptr(VnContributions) all = measure (self, 2, &(VnContributionOptions) { .thorough = TRUE });
  double off = 0;

  for (guint i = 0; i < vn_contributions_get_n (all); i++)
    {
      g_assert_cmpuint (vn_contributions_get (all, i)->n_samples, ==, N_SAMPLES);
      off += fabs (vn_contributions_get (all, i)->share - vn_contributions_get (found, i)->share);
    }
  g_test_message ("shares differ by %g in sum", off);
  g_assert_cmpfloat (off, <, 0.06);
  g_assert_cmpuint (count_measured (found), <=, count_measured (all));
}

/* ---- a fault ---- */

static void
check_fault (VnContributions *self,
             const char      *node)
{
  g_autoptr(GArray) order = vn_contributions_sort (self);
  double share = 0;

  for (guint k = 0; k < order->len; k++)
    {
      const VnContribution *item = vn_contributions_get (self, g_array_index (order, guint, k));

      if (k < 3)
        g_test_message ("%s of %s: %.3f %%, %.1f dB, itself %.1f dB", vn_contribution_role_get_id (item->role), item->node,
                        100 * item->share, item->alone_db, item->local_db);
      share += g_str_equal (item->node, node) ? item->share : 0;
    }
  g_assert_cmpfloat (share, >, 0.5);
}

/* The estimate alone finds it: most of the error starts in the node, the rest where its rule reaches its input. */
static void
test_fault (Fixture       *self,
            gconstpointer  data)
{
  g_autoptr(VnContributions) estimate = measure (self, 2, &(VnContributionOptions) { .estimate = TRUE });
  g_autoptr(VnContributions) found = measure (self, 2, NULL);

  g_assert_cmpuint (count_measured (estimate), ==, 0);
  check_fault (estimate, data);
  check_fault (found, data);
}

/* The job finds what the run itself would have found. */
static void
test_job (Fixture       *self,
          gconstpointer  data)
{
  VnQuantizeSettings settings = { .model = self->result->source, .data = self->result->data, .recipe = self->result->recipe,
                                  .n_threads = 2, .origins = TRUE };
  g_autoptr(VnJob) whole = vn_quantize_job_new (&settings), job = NULL;
  g_autoptr(VnContributions) found = NULL;
  g_autoptr(GError) error = NULL;
  VnRun *result;
  double sum = 0;

  g_assert_true (vn_job_run (whole, NULL, NULL));
  result = vn_quantize_job_get_result (whole);
  job = vn_origins_job_new (whole, NULL);
  g_assert_null (vn_origins_job_dup_contributions (job));
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  found = vn_origins_job_dup_contributions (job);
  check_same (found, result->contributions);
  for (guint i = 0; i < vn_error_table_get_n (result->errors); i++)
    sum += vn_error_table_get (result->errors, i)->contribution;
  g_assert_cmpfloat_with_epsilon (sum, 1, 1e-9);
}

/* ---- parts ---- */

static VnValue *
add_branch (VnGraph    *graph,
            const char *name,
            VnValue    *input,
            float       size,
            float       outlier)
{
  static const gint64 pads[] = { 1, 1, 1, 1 };
  g_autoptr(GRand) random = g_rand_new_with_seed (5);
  g_autofree char *weight_name = g_strconcat (name, ".weight", NULL);
  float weights[4 * 3 * 9];
  g_autoptr(VnTensor) weight = NULL;
  VnValue *output = vn_graph_add_value (graph, name, VN_DTYPE_F32, NULL);
  VnNode *node;

  for (guint i = 0; i < G_N_ELEMENTS (weights); i++)
    weights[i] = size * (float) g_rand_double_range (random, -0.5, 0.5) * (i % 27 == 0 ? outlier : 1);
  weight = vn_tensor_new_f32 (&VN_SHAPE (4, 3, 3, 3), weights);
  node = vn_graph_add_node (graph, name, "", "Conv",
                            (VnValue *[]) { input, vn_graph_add_initializer (graph, weight_name, weight) }, 2, &output, 1);
  vn_node_set_ints (node, "pads", pads, G_N_ELEMENTS (pads));
  return output;
}

static double
sum_shares (VnContributions *self,
            const char      *start)
{
  double sum = 0;

  for (guint i = 0; i < vn_contributions_get_n (self); i++)
    if (g_str_has_prefix (vn_contributions_get (self, i)->name, start))
      sum += vn_contributions_get (self, i)->share;
  return sum;
}

/* Boxes of hundreds beside scores, whose weights are rounded coarsely: of the noise of the whole output nothing is theirs, of
 * what is left of the output nearly all. */
static void
test_parts (void)
{
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *input = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 16, 16)),
  *output = vn_graph_add_value (graph, "y", VN_DTYPE_F32, NULL);
  VnValue *branches[] = { add_branch (graph, "boxes", input, 300, 1), add_branch (graph, "scores", input, 0.5f, 60) };
  g_autoptr(VnDataSpec) data = vn_data_spec_new (VN_DATA_RANDOM);
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = 2 };
  g_autoptr(VnParts) parts = NULL;
  g_autoptr(VnJob) job = NULL;
  g_autoptr(GError) error = NULL;
  Fixture self = { NULL };

  vn_node_set_int (vn_graph_add_node (graph, "join", "", "Concat", branches, 2, &output, 1), "axis", 1);
  vn_graph_set_output (graph, 0, output);
  data->max_samples = 40;
  g_assert_true (vn_recipe_set (recipe, "per-channel", "false", NULL));
  job = vn_quantize_job_new (&settings);
  vn_job_run (job, NULL, &error);
  g_assert_no_error (error);
  self.result = vn_run_ref (vn_quantize_job_get_result (job));
  self.dataset = vn_dataset_open (data, &(VnInputSpec) { "x", VN_DTYPE_F32, VN_SHAPE (1, 3, 16, 16) }, 1, NULL, &error);
  g_assert_no_error (error);
  parts = vn_error_table_list_parts (self.result->errors);
  g_assert_nonnull (vn_parts_get (parts, "y"));
  for (guint estimate = 0; estimate < 2; estimate++)
    {
      const VnContributionOptions whole = { .estimate = estimate, .thorough = !estimate };
      VnContributionOptions by_parts = whole;
      g_autoptr(VnContributions) a = measure (&self, 2, &whole), b = NULL, again = NULL;

      by_parts.parts = parts;
      b = measure (&self, 2, &by_parts);
      again = measure (&self, 1, &by_parts);
      check_same (b, again);
      g_test_message ("scores: %.4f of the noise of the whole output, %.4f by parts", sum_shares (a, "scores"),
                      sum_shares (b, "scores"));
      g_assert_cmpfloat (sum_shares (a, "scores"), <, 0.05);
      g_assert_cmpfloat (sum_shares (b, "scores"), >, 0.5);
      g_assert_cmpfloat (sum_shares (b, "boxes"), <, 0.01);
      g_assert_cmpfloat_with_epsilon (sum_shares (b, ""), 1, 1e-9);
    }
  tear_down (&self, NULL);
}

int
main (int   argc,
      char *argv[])
{
  static const char * const faults[] = { "/stem/Conv", "/blocks/1/project/Conv", "/blocks/4/project/Conv",
                                         "/blocks/6/project/Conv" };

  g_test_init (&argc, &argv, NULL);

  g_test_add ("/contribution/threads", Fixture, NULL, set_up, test_threads, tear_down);
  g_test_add ("/contribution/budget", Fixture, NULL, set_up, test_budget, tear_down);
  g_test_add ("/contribution/told", Fixture, NULL, set_up, test_told, tear_down);
  g_test_add ("/contribution/job", Fixture, NULL, set_up, test_job, tear_down);
  g_test_add ("/contribution/thorough", Fixture, NULL, set_up, test_thorough, tear_down);
  for (guint i = 0; i < G_N_ELEMENTS (faults); i++)
    {
      g_autofree char *path = g_strconcat ("/contribution/fault", faults[i], NULL);

      g_test_add (path, Fixture, faults[i], set_up, test_fault, tear_down);
    }
  g_test_add_func ("/contribution/parts", test_parts);
  return g_test_run ();
}
