/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Correction of biases: damping worked out by hand, trimmed means against sorting, and that the whole job leaves means that
 * are closer to those of the float network, the same bits for any threads. */
#include "vn-bias-correct.h"
#include "vn-jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N_CHANNELS 6

static VnValue *
weights (VnGraph       *graph,
         const char    *name,
         const VnShape *shape,
         float          scale)
{
  g_autoptr(VnTensor) tensor = vn_tensor_new (VN_DTYPE_F32, shape, NULL);
  gsize inner = tensor->n_elements / (gsize) shape->dims[0];

  for (gsize i = 0; i < tensor->n_elements; i++)
    ((float *) tensor->data)[i] = scale * (0.3f + sinf ((float) i * 2.3f)) * (i / inner % 2 == 1 ? 0.02f : 1.f);
  return vn_graph_add_initializer (graph, name, tensor);
}

static VnValue *
add_node (VnGraph    *graph,
          const char *type,
          const char *name,
          const char *output,
          VnValue    *x,
          VnValue    *w,
          VnValue    *b)
{
  VnValue *inputs[] = { x, w, b }, *result = vn_graph_add_value (graph, output, VN_DTYPE_UNDEFINED, NULL);

  vn_graph_add_node (graph, name, "", type, inputs, b != NULL ? 3 : w != NULL ? 2 : 1, &result, 1);
  return result;
}

/* Conv with a bias, Relu, Conv without, Sigmoid, ConvTranspose */
static VnModel *
make_model (void)
{
  VnModel *model = vn_model_new (8, 17);
  VnGraph *graph = model->graph;
  VnValue *x = vn_graph_add_input (graph, "x", VN_DTYPE_F32, &VN_SHAPE (1, 3, 12, 12)), *y;

  y = add_node (graph, "Conv", "first", "a", x, weights (graph, "w1", &VN_SHAPE (N_CHANNELS, 3, 3, 3), 1),
                weights (graph, "b1", &VN_SHAPE (N_CHANNELS), 0.5f));
  y = add_node (graph, "Relu", "relu", "r", y, NULL, NULL);
  y = add_node (graph, "Conv", "second", "b", y, weights (graph, "w2", &VN_SHAPE (N_CHANNELS, N_CHANNELS, 3, 3), 0.2f), NULL);
  y = add_node (graph, "Sigmoid", "sigmoid", "s", y, NULL, NULL);
  y = add_node (graph, "ConvTranspose", "third", "y", y, weights (graph, "w3", &VN_SHAPE (N_CHANNELS, 4, 2, 2), 0.5f),
                weights (graph, "b3", &VN_SHAPE (4), 0.1f));
  vn_value_set_type (y, VN_DTYPE_F32, NULL);
  vn_graph_set_output (graph, 0, y);
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  return model;
}

/* ---- the rule ---- */

static void
free_error (gpointer data)
{
  g_free (((VnBiasError *) data)->node);
  g_array_unref (((VnBiasError *) data)->means);
  g_free (data);
}

static GPtrArray *
make_errors (const char   *node,
             const double *means,
             guint         n)
{
  GPtrArray *errors = g_ptr_array_new_with_free_func (free_error);
  VnBiasError *found = g_new0 (VnBiasError, 1);

  found->node = g_strdup (node);
  found->means = g_array_new (FALSE, FALSE, sizeof (double));
  g_array_append_vals (found->means, means, n);
  g_ptr_array_add (errors, found);
  return errors;
}

/* The largest bias is 25.6: a 256th of it is 0.1. */
static void
test_damping (void)
{
  static const struct { VnBiasCorrection rule; double mean, added; } cases[] = {
    { VN_BIAS_CORRECTION_AMD, 0.5, 0.1 },      /* larger than both: becomes 0.1 */
    { VN_BIAS_CORRECTION_AMD, 0.09, 0.09 },    /* less than 0.1 */
    { VN_BIAS_CORRECTION_XSLIM, 0.5, 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr(VnModel) model = make_model ();
      const double means[N_CHANNELS] = { cases[i].mean, cases[i].mean / 2 };
      g_autoptr(GPtrArray) errors = make_errors ("first", means, N_CHANNELS);
      g_autoptr(VnTensor) bias = vn_tensor_new_f32 (&VN_SHAPE (N_CHANNELS), (const float[N_CHANNELS]) { 25.6f, 1 });
      g_autoptr(VnModel) corrected = NULL;
      const VnTensor *found;

      vn_graph_set_initializer (model->graph, vn_graph_find_value (model->graph, "b1"), bias);
      corrected = vn_bias_correct (model, errors, cases[i].rule, NULL, NULL);
      found = vn_value_get_constant (vn_node_get_input (vn_graph_find_node (corrected->graph, "first"), 2));
      g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (found, 0), 25.6 + cases[i].added, 1e-5);
      g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (found, 1), 1 + cases[i].added / 2, 1e-5);
      g_assert_cmpfloat (vn_tensor_get_double (found, 2), ==, 0);
    }
}

static void
test_new_bias (void)
{
  g_autoptr(VnModel) model = make_model ();
  const double means[N_CHANNELS] = { 0.05, -0.02 };
  g_autoptr(GPtrArray) errors = make_errors ("second", means, N_CHANNELS);
  g_autoptr(VnModel) corrected = vn_bias_correct (model, errors, VN_BIAS_CORRECTION_AMD, NULL, NULL);
  const VnNode *node = vn_graph_find_node (corrected->graph, "second");

  g_assert_null (vn_node_get_input (vn_graph_find_node (model->graph, "second"), 2));
  g_assert_nonnull (vn_node_get_input (node, 2));
  g_assert_cmpfloat_with_epsilon (vn_tensor_get_double (vn_value_get_constant (vn_node_get_input (node, 2)), 1), -0.02, 1e-6);
}

/* ---- figures of channels ---- */

static int
compare_floats (gconstpointer a,
                gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return (x > y) - (x < y);
}

/* What the values that are looked at make of a number: many of theirs are equal, or all. */
static float negated (float x) { return -x; }
static float rectified (float x) { return fmaxf (x, 0); }
static float signed_one (float x) { return (float) ((x > 0) - (x < 0)); }
static float nothing (float x) { return x - x; }

static const struct
{
  const char *op_type;
  float     (*func) (float x);
} figured[] = { { "Neg", negated }, { "Relu", rectified }, { "Sign", signed_one }, { "Sub", nothing } };

enum { MAP = 41 * 50, N_FIGURED = 2 * MAP, N_TRIMMED = N_FIGURED / 1000 };

static double
figure_by_sorting (const float   *x,
                   guint          channel,
                   VnChannelStat  stat,
                   float        (*func) (float x))
{
  g_autofree float *numbers = g_new (float, N_FIGURED);
  gsize trim = stat == VN_CHANNEL_TRIMMED_MEAN ? N_TRIMMED : 0;
  double sum = 0;

  for (guint i = 0; i < N_FIGURED; i++)
    numbers[i] = func (x[(i / MAP * 3 + channel) * MAP + i % MAP]);
  qsort (numbers, N_FIGURED, sizeof *numbers, compare_floats);
  for (gsize i = trim; i < N_FIGURED - trim; i++)
    sum += (double) numbers[i];
  return stat == VN_CHANNEL_LARGEST ? fmax (fabs ((double) numbers[0]), fabs ((double) numbers[N_FIGURED - 1]))
                                    : sum / (double) (N_FIGURED - 2 * trim);
}

static void
test_trimmed (void)
{
  static const VnChannelStat stats[] = { VN_CHANNEL_LARGEST, VN_CHANNEL_MEAN, VN_CHANNEL_TRIMMED_MEAN };
  const VnInputSpec input = { (char *) "x", VN_DTYPE_F32, { 4, { 2, 3, 41, 50 } } };
  g_autoptr(VnDataSpec) spec = vn_data_spec_new ("random");
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnModel) model = vn_model_new (8, 17);
  g_autoptr(GPtrArray) values = g_ptr_array_new ();
  g_autoptr(VnTensor) x = NULL;
  const guint samples[] = { 0 };
  VnSamples run = { .indices = samples, .n = 1, .n_threads = 1 };

  vn_graph_add_input (model->graph, "x", VN_DTYPE_F32, &input.shape);
  for (guint i = 0; i < G_N_ELEMENTS (figured); i++)
    {
      VnValue *from = vn_graph_find_value (model->graph, "x");
      VnValue *y = add_node (model->graph, figured[i].op_type, figured[i].op_type, figured[i].op_type, from,
                             g_str_equal (figured[i].op_type, "Sub") ? from : NULL, NULL);

      g_ptr_array_add (values, y);
      vn_graph_set_output (model->graph, i, y);
    }
  g_assert_true (vn_model_infer_types (model, NULL, NULL, NULL));
  spec->max_samples = 1;
  run.dataset = dataset = vn_dataset_open (spec, &input, 1, NULL, NULL);
  g_assert_true (vn_dataset_load (dataset, 0, &x, NULL));
  for (guint s = 0; s < G_N_ELEMENTS (stats); s++)
    {
      g_autoptr(GPtrArray) found = vn_channel_stats (model, values, NULL, stats[s], &run, NULL, NULL);

      for (guint i = 0; i < 3 * G_N_ELEMENTS (figured); i++)
        {
          double expected = figure_by_sorting (x->data, i % 3, stats[s], figured[i / 3].func);
          double is = g_array_index ((GArray *) g_ptr_array_index (found, i / 3), double, i % 3);

          g_test_message ("%s, figure %u: %.17g, expected %.17g", figured[i / 3].op_type, s, is, expected);
          g_assert_cmpfloat_with_epsilon (is, expected, 1e-12 * (1 + fabs (expected)));
        }
    }
}

/* ---- the job ---- */

static VnRun *
quantize (VnModel    *model,
          const char *correction,
          guint       n_threads)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(VnRecipe) recipe = vn_recipe_new ("cpu");
  VnQuantizeSettings settings = { .model = model, .data = data, .recipe = recipe, .n_threads = n_threads,
                                  .skip_compare = TRUE };
  g_autoptr(GError) error = NULL;
  g_autoptr(VnJob) job = NULL;

  data->max_samples = 8;
  g_assert_true (vn_recipe_set (recipe, "bias-correction", correction, &error));
  job = vn_quantize_job_new (&settings);
  g_assert_true (vn_job_run (job, NULL, &error) || (g_test_message ("%s", error->message), FALSE));
  return vn_run_ref (vn_quantize_job_get_result (job));
}

/* The mean over channels of how far the means of the layers are off. */
static double
measure (VnRun            *result,
         VnBiasCorrection  rule,
         guint             layer)
{
  g_autoptr(VnDataSpec) data = vn_data_spec_new ("random");
  g_autoptr(GHashTable) shapes = NULL;
  g_autoptr(VnDataset) dataset = NULL;
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (result->recipe);
  const guint samples[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  VnBiasQuantized quantized = { result->quantized, result->value_names, result->plan };
  g_autoptr(GPtrArray) errors = NULL;
  const VnBiasError *found;
  double sum = 0;
  VnSamples run = { .indices = samples, .n = G_N_ELEMENTS (samples), .n_threads = 2 };
  g_autoptr(GError) error = NULL;

  recipe->bias_correction = rule;
  data->max_samples = 8;
  run.dataset = dataset = vn_model_open_data (result->prepared, data, NULL, &shapes, NULL, &error);
  run.shapes = shapes;
  errors = vn_bias_measure (result->prepared, &quantized, recipe, &run, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (errors->len, ==, 3);
  found = g_ptr_array_index (errors, layer);
  for (guint c = 0; c < found->means->len; c++)
    sum += fabs (g_array_index (found->means, double, c));
  return sum / found->means->len;
}

static void
test_job (void)
{
  static const struct { const char *id; VnBiasCorrection rule; } rules[] = {
    { "amd", VN_BIAS_CORRECTION_AMD }, { "xslim", VN_BIAS_CORRECTION_XSLIM },
  };
  g_autoptr(VnModel) model = make_model ();
  g_autoptr(VnRun) plain = quantize (model, "off", 2);

  for (guint r = 0; r < G_N_ELEMENTS (rules); r++)
    {
      g_autoptr(VnRun) corrected = quantize (model, rules[r].id, 1), again = quantize (model, rules[r].id, 3);
      g_autoptr(GBytes) one = vn_onnx_write_bytes (corrected->quantized, NULL);
      g_autoptr(GBytes) other = vn_onnx_write_bytes (again->quantized, NULL);
      guint n_better = 0;

      g_assert_true (g_bytes_equal (one, other));
      for (guint layer = 0; layer < 3; layer++)
        {
          double before = measure (plain, rules[r].rule, layer), after = measure (corrected, rules[r].rule, layer);

          g_test_message ("%s, layer %u: %g, corrected %g", rules[r].id, layer, before, after);
          n_better += after < 0.6 * before;
          g_assert_cmpfloat (after, <, before);
        }
      g_assert_cmpuint (n_better, >=, 2);
    }
}

int
main (int    argc,
      char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/bias/damping", test_damping);
  g_test_add_func ("/bias/new", test_new_bias);
  g_test_add_func ("/bias/trimmed", test_trimmed);
  g_test_add_func ("/bias/job", test_job);
  return g_test_run ();
}
