/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The condition of a network in one figure: its inputs, the weights of its layers and what its nodes compute are changed by 0.1 %
 * at random, and the float outputs are compared. A network of a few layers comes to some 10 dB; one that subtracts large numbers
 * from each other to more than a type of 8 bit has to give. */
#include "vn-noise-gain.h"

#include "vn-error-sum.h"
#include "vn-error.h"
#include "vn-graph-edit.h"
#include "vn-i18n.h"
#include "vn-sample-loop.h"
#include "vn-thresholds.h"

#include <math.h>

/* Relative, in dB; the standard deviation of a factor. */
#define NOISE_DB 60.0
#define NOISE    0.001

/* Samples that are looked at, and how many random ones stand in for them. */
#define MOST_SAMPLES   4u
#define RANDOM_SAMPLES 2u

#define SEED 1u

/* ---- noise ---- */

static VnTensor *
noise_gain_disturb (VnTensor  *tensor,
                    GRand     *rand,
                    GError   **error)
{
  g_autoptr(VnTensor) data = vn_tensor_get_aligned (tensor, error);
  VnTensor *noisy = data != NULL ? vn_tensor_new (VN_DTYPE_F32, &data->shape, error) : NULL;

  for (gsize i = 0; noisy != NULL && i < noisy->n_elements; i++)
    ((float *) noisy->data)[i] =
      (float) ((double) ((const float *) data->data)[i] * (1 + NOISE * sqrt (3) * g_rand_double_range (rand, -1, 1)));
  return noisy;
}

static gboolean
noise_gain_is_layer (const VnNode *node)
{
  return vn_node_is (node, "Conv") || vn_node_is (node, "ConvTranspose") || vn_node_is (node, "Gemm") ||
         vn_node_is (node, "MatMul") ||
         vn_node_is (node, "LSTM") || vn_node_is (node, "GRU") || vn_node_is (node, "RNN");
}

static gboolean
noise_gain_disturb_weights (VnGraph  *graph,
                            GRand    *rand,
                            GError  **error)
{
  for (guint i = 0; i < graph->values->len; i++)
    {
      VnValue *value = g_ptr_array_index (graph->values, i);
      g_autoptr(VnTensor) tensor = NULL;
      gboolean read = FALSE;

      for (guint u = 0; u < value->uses->len; u++)
        read |= noise_gain_is_layer (g_array_index (value->uses, VnUse, u).node);
      if (!read || value->initializer == NULL || value->initializer->dtype != VN_DTYPE_F32 || value->initializer->shape.rank < 2)
        continue;
      tensor = noise_gain_disturb (value->initializer, rand, error);
      if (tensor == NULL)
        return FALSE;
      vn_graph_set_initializer (graph, value, tensor);
    }
  return TRUE;
}

/* What a node computes; not what it only moves, or what is a network's output or a part of its shapes. */
static gboolean
noise_gain_computes (const VnNode *node)
{
  static const char * const moves[] = { "Identity", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Concat", "Split",
                                        "Slice", "Pad",
                                        "Relu", "Clip", "MaxPool", "Dropout", "Constant", "Gather", "Cast", "Expand", NULL };
  const VnValue *output = node->outputs->len == 1 ? vn_node_get_output (node, 0) : NULL;

  return output != NULL && !output->is_output && output->uses->len > 0 && output->type.kind == VN_TYPE_TENSOR &&
         output->type.dtype == VN_DTYPE_F32 && output->type.shape.rank >= 2 && !g_strv_contains (moves, node->op_type) &&
         !vn_value_is_constant (output);
}

/* Factors for all of a tensor's numbers; those of the rows of a picture, or of sizes that are open, are the same. */
static VnTensor *
noise_gain_draw_factors (const VnShape  *of,
                         GRand          *rand,
                         GError        **error)
{
  VnShape shape = *of;
  VnTensor *factors;

  for (int i = 0; i < shape.rank; i++)
    if (shape.dims[i] < 0 || i == 0 || (shape.rank > 3 && i == 2))
      shape.dims[i] = 1;
  factors = vn_tensor_new (VN_DTYPE_F32, &shape, error);
  for (gsize i = 0; factors != NULL && i < factors->n_elements; i++)
    ((float *) factors->data)[i] = (float) (1 + NOISE * sqrt (3) * g_rand_double_range (rand, -1, 1));
  return factors;
}

static gboolean
noise_gain_disturb_results (VnGraph  *graph,
                            GRand    *rand,
                            GError  **error)
{
  g_autoptr(GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr(GHashTable) captured = vn_graph_find_captured (graph);

  for (guint i = 0; i < graph->nodes->len; i++)
    if (noise_gain_computes (g_ptr_array_index (graph->nodes, i)))
      g_ptr_array_add (nodes, g_ptr_array_index (graph->nodes, i));
  for (guint i = 0; i < nodes->len; i++)
    {
      VnNode *node = g_ptr_array_index (nodes, i), *next = NULL;
      VnValue *value = vn_node_get_output (node, 0), *inputs[2] = { value }, *noisy;
      g_autoptr(VnTensor) factors = noise_gain_draw_factors (&value->type.shape, rand, error);

      if (factors == NULL)
        return FALSE;
      if (g_hash_table_contains (captured, value))
        continue;
      noisy = vn_graph_add_value (graph, "noisy", VN_DTYPE_F32, &value->type.shape);
      vn_value_replace_uses (value, noisy, NULL);
      inputs[1] = vn_graph_add_initializer (graph, "noise", factors);
      next = node->index + 1 < graph->nodes->len ? g_ptr_array_index (graph->nodes, node->index + 1) : NULL;
      vn_graph_insert_node (graph, next, NULL, "", "Mul", inputs, 2, &noisy, 1);
    }
  return TRUE;
}

static VnModel *
noise_gain_disturb_model (const VnModel  *model,
                          GRand          *rand,
                          GError        **error)
{
  g_autoptr(VnModel) noisy = vn_model_copy (model);

  return noise_gain_disturb_weights (noisy->graph, rand, error) && noise_gain_disturb_results (noisy->graph, rand, error)
         ? g_steal_pointer (&noisy) : NULL;
}

/* ---- samples ---- */

/* Whatever a network reads is between -1 and 1, or 0 where that is no number. */
static gboolean
noise_gain_draw (VnPlan    *plan,
                 GRand     *rand,
                 VnTensor **inputs,
                 GError   **error)
{
  for (guint i = 0; i < vn_plan_get_n_inputs (plan); i++)
    {
      const VnTensorType *type = vn_plan_get_input_type (plan, i);

      if (!vn_shape_is_static (&type->shape))
        {
          g_set_error (error, VN_ERROR, VN_ERROR_SHAPE, _("Input “%s” has dynamic dimensions"),
                       vn_plan_get_input (plan, i)->name);
          return FALSE;
        }
      inputs[i] = vn_tensor_new (type->dtype, &type->shape, error);
      if (inputs[i] == NULL)
        return FALSE;
      for (gsize k = 0; type->dtype == VN_DTYPE_F32 && k < inputs[i]->n_elements; k++)
        ((float *) inputs[i]->data)[k] = (float) g_rand_double_range (rand, -1, 1);
    }
  return TRUE;
}

static gboolean
noise_gain_disturb_inputs (VnTensor **inputs,
                           guint      n,
                           GRand     *rand,
                           GError   **error)
{
  for (guint i = 0; i < n; i++)
    {
      VnTensor *noisy = inputs[i]->dtype == VN_DTYPE_F32
                        ? noise_gain_disturb (inputs[i], rand, error) : vn_tensor_ref (inputs[i]);

      if (noisy == NULL)
        return FALSE;
      vn_tensor_unref (inputs[i]);
      inputs[i] = noisy;
    }
  return TRUE;
}

static void
noise_gain_compare (VnTensor   **wanted,
                    VnTensor   **found,
                    guint        n,
                    VnErrorSum  *sums)
{
  for (guint i = 0; i < n; i++)
    if (wanted[i] != NULL && found[i] != NULL && wanted[i]->dtype == VN_DTYPE_F32 && found[i]->dtype == VN_DTYPE_F32 &&
        wanted[i]->n_elements == found[i]->n_elements)
      vn_error_sum_add (&sums[i], wanted[i]->data, found[i]->data, wanted[i]->n_elements);
}

typedef struct
{
  VnRunner   *plain, *noisy;
  VnErrorSum *sums;          /* by output */
  guint       n_inputs, n_outputs;
  GRand      *rand;          /* borrowed */
} Pair;

static void
noise_gain_clear_pair (Pair *pair)
{
  g_clear_pointer (&pair->plain, vn_runner_free);
  g_clear_pointer (&pair->noisy, vn_runner_free);
  g_free (pair->sums);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, noise_gain_clear_pair)

static gboolean
noise_gain_run (Pair          *pair,
                VnTensor     **inputs,
                GCancellable  *cancellable,
                GError       **error)
{
  g_autofree VnTensor **wanted = g_new0 (VnTensor *, pair->n_outputs + 1), **found = g_new0 (VnTensor *, pair->n_outputs + 1);
  gboolean good = vn_runner_run (pair->plain, inputs, wanted, cancellable, error) &&
                  noise_gain_disturb_inputs (inputs, pair->n_inputs, pair->rand, error) &&
                  vn_runner_run (pair->noisy, inputs, found, cancellable, error);

  if (good)
    noise_gain_compare (wanted, found, pair->n_outputs, pair->sums);
  vn_tensor_clear_all (wanted, pair->n_outputs);
  vn_tensor_clear_all (found, pair->n_outputs);
  return good;
}

/* ---- all ---- */

static gboolean
noise_gain_run_random (Pair          *pair,
                       VnPlan        *plan,
                       GCancellable  *cancellable,
                       GError       **error)
{
  g_autofree VnTensor **inputs = g_new0 (VnTensor *, pair->n_inputs + 1);
  gboolean good = TRUE;

  for (guint i = 0; i < RANDOM_SAMPLES && good; i++)
    {
      good = noise_gain_draw (plan, pair->rand, inputs, error) && noise_gain_run (pair, inputs, cancellable, error);
      vn_tensor_clear_all (inputs, pair->n_inputs);
    }
  return good;
}

static gboolean
noise_gain_scan (gpointer       worker,
                 guint          item,
                 VnTensor     **inputs,
                 gpointer       data,
                 GCancellable  *cancellable,
                 GError       **error)
{
  return noise_gain_run (data, inputs, cancellable, error);
}

/* In turn, as each sample takes random numbers. */
static gboolean
noise_gain_run_samples (Pair             *pair,
                        const VnSamples  *samples,
                        GCancellable     *cancellable,
                        GError          **error)
{
  static const VnSampleFuncs funcs = { NULL, noise_gain_scan, NULL };
  VnSamples few = *samples;

  few.n = MIN (samples->n, MOST_SAMPLES);
  few.progress = NULL;
  return vn_samples_each (&few, &(VnSampleOptions) { .in_turn = TRUE }, &funcs, pair, cancellable, error);
}

/* The output that suffers most. */
static double
noise_gain_find_worst (const Pair *pair)
{
  double worst = NAN;

  for (guint i = 0; i < pair->n_outputs; i++)
    if (pair->sums[i].n > 0 && pair->sums[i].ff > 0)
      worst = fmax (worst, NOISE_DB - vn_error_sum_bounded_sqnr (&pair->sums[i]));
  return worst;
}

/**
 * vn_noise_gain_measure:
 * @model: a float network
 * @samples: (nullable): of which a few are looked at; %NULL: random ones
 * @gain_db: (out): how much larger the relative error of the worst output is than that of all that was changed; NaN: there is no
 *   output of numbers
 *
 * Returns: %FALSE with an error if @model cannot be run
 */
gboolean
vn_noise_gain_measure (const VnModel       *model,
                       const VnSamples     *samples,
                       double              *gain_db,
                       GCancellable        *cancellable,
                       GError             **error)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed (SEED);
  VnPlanOptions options = vn_plan_options_for_samples (samples != NULL ? samples->shapes : NULL);
  g_autoptr(VnModel) noisy = NULL;
  g_autoptr(VnPlan) plan = NULL, noisy_plan = NULL;
  g_auto(Pair) pair = { 0 };

  g_return_val_if_fail (model != NULL && gain_db != NULL, FALSE);

  noisy = noise_gain_disturb_model (model, rand, error);
  options.ends = TRUE;
  plan = noisy != NULL ? vn_plan_new ((VnModel *) model, &options, NULL, error) : NULL;
  noisy_plan = plan != NULL ? vn_plan_new (noisy, &options, NULL, error) : NULL;
  if (noisy_plan == NULL || (pair.plain = vn_runner_new (plan, error)) == NULL ||
      (pair.noisy = vn_runner_new (noisy_plan, error)) == NULL)
    return FALSE;
  pair.n_inputs = vn_plan_get_n_inputs (plan);
  pair.n_outputs = vn_plan_get_n_outputs (plan);
  pair.sums = g_new (VnErrorSum, pair.n_outputs + 1);
  for (guint i = 0; i < pair.n_outputs; i++)
    vn_error_sum_init (&pair.sums[i]);
  pair.rand = rand;
  if (!(samples != NULL ? noise_gain_run_samples (&pair, samples, cancellable, error)
        : noise_gain_run_random (&pair, plan, cancellable, error)))
    return FALSE;
  *gain_db = noise_gain_find_worst (&pair);
  return TRUE;
}

/**
 * vn_noise_gain_dup_text:
 *
 * Returns: (transfer full) (nullable): a sentence, if the network is ill-conditioned
 */
char *
vn_noise_gain_dup_text (double gain_db)
{
  if (!(gain_db > VN_NETWORK_GAIN_DB))
    return NULL;
  return g_strdup_printf (_("0.1 %% of noise on all tensors of the float model becomes %.1f %% at its outputs, a gain "
                            "of %.0f dB; rounding noise is amplified in the same way, wherever it arises."),
                            0.1 * pow (10, gain_db / 20), gain_db);
}
