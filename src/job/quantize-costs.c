/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the stages of the main job take, in seconds of some machine: runs of samples cost their multiplications, what goes over
 * weights their bytes. The rates were fitted to runs of networks of different kinds; only how they compare matters, as the speed
 * of the machine is found while the job runs. */
#include "quantize-costs.h"

#include "vn-format-traits.h"
#include "vn-runtime.h"
#include "vn-weight-layer.h"

#define RUN_RATE     5e10       /* multiplications in a second and thread */
#define PLAN_RATE    4.2e8      /* bytes of weights in a second that a network is made ready to be run with */
#define SOLVE_RATE   1.5e10     /* multiplications */
#define DIGEST_RATE  1e9        /* bytes */
#define WRITE_RATE   6e8        /* bytes of float weights that become integers in a second; where scales are searched for: */
#define SEARCH_RATE  1e8
#define LEAST        0.02       /* seconds that anything takes */
#define COMPARE_WEIGHT 25.0     /* of measuring the error, among the weights of the stages */
#define PACKED_RUNS  9.0        /* float runs that take as long as one of a network with packed weights */
#define NOISE_RUNS   4.0        /* that rounding one weight takes as long as, of several samples beside each other */
#define JUDGED       16.0       /* samples that rounding is judged on, behind each batch of layers */
#define BATCHES      8.0

/* @n_networks: that are made ready for it */
static double
quantize_costs_of_runs (const VnQuantizeFacts *facts,
                        double                 n_networks,
                        double                 n)
{
  return n_networks * facts->weights / PLAN_RATE + n * facts->macs / RUN_RATE / MAX (facts->n_threads, 1u);
}

static double
quantize_costs_of_writing (const VnQuantizeFacts *facts)
{
  return facts->weights / (facts->searched ? SEARCH_RATE : WRITE_RATE);
}

static double
quantize_costs_of_parts (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_runs (facts, 1, facts->n_judged);
}

static double
quantize_costs_of_reference (const VnQuantizeFacts *facts)
{
  return facts->n_compared > 0 ? quantize_costs_of_runs (facts, 2, 2.0 * facts->n_compared) : 0;
}

static double
quantize_costs_of_checking (const VnQuantizeFacts *facts)
{
  return facts->n_calibrated > 0 ? quantize_costs_of_runs (facts, 0, 2) : 0;
}

static double
quantize_costs_of_calibrating (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_runs (facts, 1, 1.3 * facts->n_calibrated);
}

static double
quantize_costs_of_importance (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_runs (facts, 1, facts->n_learned);
}

/* Each weight is rounded in turn, and what is behind it is run, one sample at a time. */
static double
quantize_costs_of_noise (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_writing (facts) +
         quantize_costs_of_runs (facts, 2, MIN (facts->n_calibrated, VN_NOISE_SAMPLES) * (1 + NOISE_RUNS * facts->n_matrices));
}

/* The float and the quantized network run once on what is learned from; what comes out is judged some times. */
static double
quantize_costs_of_rounding (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_writing (facts) + facts->solved / SOLVE_RATE / MAX (facts->n_threads, 1u) +
         quantize_costs_of_runs (facts, BATCHES,
                                 facts->n_learned + (facts->packed ? PACKED_RUNS : 1) * (facts->n_learned + BATCHES * JUDGED));
}

static double
quantize_costs_of_comparing (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_runs (facts, 2, 2.0 * facts->n_measured);
}

/* What is kept of the answers, and errors against the model as opened. */
static double
quantize_costs_of_outputs (const VnQuantizeFacts *facts)
{
  return quantize_costs_of_runs (facts, 4, (facts->has_reference ? 4.0 : 2.0) * facts->n_measured);
}

/* Digests of the network as it was opened, and prepared. */
static double
quantize_costs_of_signing (const VnQuantizeFacts *facts)
{
  return facts->weights / DIGEST_RATE;
}

/* By stage and part; NULL: nothing is known while it runs. A stage that is not here costs as its weight says beside that of
 * measuring the error. */
static const struct
{
  const char *stage;
  guint       n;
  double    (*parts[3]) (const VnQuantizeFacts *facts);
} costs[] = {
  { "prepare",       3, { NULL, quantize_costs_of_parts, quantize_costs_of_reference } },
  { "check",         1, { quantize_costs_of_checking } },
  { "calibrate",     1, { quantize_costs_of_calibrating } },
  { "importance",    1, { quantize_costs_of_importance } },
  { "weights",       1, { quantize_costs_of_noise } },
  { "round-weights", 1, { quantize_costs_of_rounding } },
  { "quantize",      1, { quantize_costs_of_writing } },
  { "settings",      1, { quantize_costs_of_checking } },
  { "compare",       3, { quantize_costs_of_comparing, quantize_costs_of_outputs, quantize_costs_of_signing } },
};

/* ---- what is known ---- */

/* For second-order rounding: factoring the products of columns, and solving for each row. */
static void
quantize_costs_count_layers (const VnModel   *model,
                             VnQuantizeFacts *facts)
{
  for (guint i = 0; i < model->graph->nodes->len; i++)
    {
      g_autoptr(VnWeightLayer) layer = vn_weight_layer_new (g_ptr_array_index (model->graph->nodes, i));

      if (layer == NULL)
        continue;
      facts->n_matrices++;
      facts->solved += (double) layer->groups * (double) layer->columns * (double) layer->columns *
                       ((double) layer->columns + (double) layer->rows);
    }
}

/*< private >
 * vn_quantize_find_facts:
 * @facts: (out)
 * @input: prepared, with its samples open
 * @compared: (nullable) (element-type guint): samples that errors are measured on; %NULL: there are none
 *
 * Finds what the times of the stages depend on.
 */
void
vn_quantize_find_facts (VnQuantizeFacts  *facts,
                        const VnJobInput *input,
                        const GArray     *compared)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  guint n_compared;

  g_return_if_fail (facts != NULL && input != NULL && input->prepared != NULL);

  forecast = vn_runtime_forecast_new (input->prepared, input->shapes, NULL, NULL);
  n_compared = compared != NULL ? compared->len : 0;
  *facts = (VnQuantizeFacts) { .known = TRUE, .macs = forecast != NULL ? forecast->macs : 0,
                               .weights = (double) vn_graph_weight_bytes (input->prepared->graph),
                               .n_threads = input->n_threads > 0 ? input->n_threads : g_get_num_processors (),
                               .packed = vn_recipe_get_format (input->recipe)->packed_matrices,
                               .searched = vn_recipe_get_format (input->recipe)->block_scales &&
                                           vn_recipe_get_most (input->recipe, VN_LAYER_BLOCK_METHOD) != VN_BLOCK_METHOD_MINMAX };
  quantize_costs_count_layers (input->prepared, facts);
  if (vn_recipe_get_most (input->recipe, VN_LAYER_ROUNDING) == VN_WEIGHT_ROUNDING_NEAREST)
    facts->solved = 0;
  if (input->dataset == NULL)
    return;
  facts->n_judged = MAX (n_compared, VN_JUDGED_SAMPLES);
  facts->n_compared = input->edits != NULL && vn_edit_log_get_n (input->edits) > 0 ? MIN (n_compared, VN_REFERENCE_SAMPLES) : 0;
  facts->n_calibrated = input->calibration->len;
  facts->n_learned = MIN (input->calibration->len, vn_job_count_rounding_samples (input, input->recipe));
  facts->n_measured = n_compared;
}

/* ---- what it comes to ---- */

/*< private >
 * vn_quantize_cost:
 * @stage: its id
 * @weight: in the table of stages
 * @part: of the stage
 * @behind: (out): what the parts behind it cost
 *
 * Returns: seconds of some machine, the same for all; negative: not known
 */
double
vn_quantize_cost (const VnQuantizeFacts *facts,
                  const char            *stage,
                  double                 weight,
                  guint                  part,
                  double                *behind)
{
  g_return_val_if_fail (facts != NULL && stage != NULL && behind != NULL, -1);

  *behind = 0;
  if (!facts->known)
    return -1;
  for (guint i = 0; i < G_N_ELEMENTS (costs); i++)
    if (g_str_equal (costs[i].stage, stage) && part < costs[i].n)
      {
        for (guint k = part + 1; k < costs[i].n; k++)
          *behind += costs[i].parts[k] (facts);
        return costs[i].parts[part] != NULL ? LEAST + costs[i].parts[part] (facts) : -1;
      }
  if (part > 0)      /* behind the last stage */
    return LEAST + quantize_costs_of_signing (facts);
  return LEAST + quantize_costs_of_comparing (facts) * weight / COMPARE_WEIGHT;
}
