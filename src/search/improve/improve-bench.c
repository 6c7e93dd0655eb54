/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trying recipes quickly: what is the same for all of them is made once. */
#include "improve-bench.h"

#include "vn-error.h"
#include "vn-forecast-export.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-model-data.h"
#include "vn-setting.h"

#include <math.h>

/* Samples that recipes are judged by, if there are as many: with fewer, chance decides. */
#define JUDGED 32

/* How much longer than the plain export one may take in ONNX Runtime, unless accuracy comes first. */
#define MOST_TIME 1.25

/* The part of what the plain export multiplies on integers that must stay there: whoever quantizes wants that, even where float
 * is as fast. */
#define LEAST_INTEGER 0.5

/* What an export must win of the float network's size, or of its time. */
#define LEAST_SIZE_WON 0.25
#define LEAST_TIME_WON 0.2

/* Samples that origins are looked for with: their order matters here, not their size. */
#define ORIGIN_SAMPLES 3

/**
 * vn_improve_bench_free:
 */
void
vn_improve_bench_free (VnImproveBench *self)
{
  if (self == NULL)
    return;
  vn_notes_unref (self->input.notes);
  vn_job_input_clear (&self->input);
  g_clear_pointer (&self->stats, vn_stats_unref);
  g_clear_pointer (&self->judge, vn_judge_free);
  g_clear_pointer (&self->float_forecast, vn_runtime_forecast_unref);
  g_clear_pointer (&self->rounded, vn_model_unref);
  g_free (self->digest);
  for (guint i = 0; i < G_N_ELEMENTS (self->corrected); i++)
    g_clear_pointer (&self->corrected[i], vn_model_unref);
  g_free (self);
}

/**
 * vn_improve_bench_new:
 * @job: told how far it is
 * @settings: of the run that gave @plain
 * @plain: what tries start from: its recipe must outlive the bench
 */
VnImproveBench *
vn_improve_bench_new (VnJob                     *job,
                      const VnQuantizeSettings  *settings,
                      VnRun                     *plain,
                      GCancellable              *cancellable,
                      GError                   **error)
{
  g_autoptr(VnImproveBench) self = g_new0 (VnImproveBench, 1);

  g_return_val_if_fail (job != NULL && settings != NULL && plain != NULL && plain->stats != NULL, NULL);

  self->job = job;
  self->stats = vn_stats_ref (plain->stats);
  self->input = (VnJobInput) { .model = settings->model, .data = settings->data, .recipe = plain->recipe,
                               .given_shapes = settings->input_shapes, .known = settings->samples,
                               .n_calibration = settings->n_calibration,
                               .n_threads = settings->n_threads, .notes = vn_notes_new () };
  if (!vn_job_input_prepare (&self->input, cancellable, error))
    return NULL;
  vn_model_unref (self->input.prepared);
  self->input.prepared = vn_model_ref (plain->prepared);   /* equalized and balanced, if the recipe asks for it */
  self->input.edits = plain->edits;
  if (!vn_job_input_find_parts (&self->input, NULL, cancellable, error) ||
      !vn_job_input_find_reference (&self->input, self->input.measured, NULL, cancellable, error))
    return NULL;
  self->judge = vn_job_make_judge (&self->input, NULL, JUDGED, cancellable, error);
  if (self->judge == NULL)
    return NULL;
  self->input.draft = settings->draft;   /* from here on: the repairs of tries */
  self->float_forecast = vn_job_forecast_float (self->input.model, self->input.prepared, self->input.shapes);
  return g_steal_pointer (&self);
}

/* How many samples a recipe would be calibrated with that needs none: repairs learn from them. */
static guint
improve_bench_count_calibration (const VnQuantizeSettings *settings)
{
  g_autoptr(GArray) calibration = NULL, measured = NULL;

  vn_job_split_samples (settings->data, settings->samples, settings->n_calibration, &calibration, &measured);
  return MAX (calibration->len, 1);
}

/* Bytes of samples that stay in memory from one try to the next. */
#define KEPT_BYTES ((gsize) 256 << 20)

/**
 * vn_improve_open_samples:
 * @plain: the first run
 *
 * Returns: (transfer full) (nullable): the samples as its network takes them, which stay in memory once they are loaded
 */
VnDataset *
vn_improve_open_samples (const VnQuantizeSettings  *settings,
                         const VnRun               *plain,
                         GError                   **error)
{
  g_autoptr(VnNotes) notes = NULL;
  g_autoptr(GHashTable) shapes = NULL;
  VnDataset *dataset;

  g_return_val_if_fail (settings != NULL && plain != NULL && plain->prepared != NULL, NULL);

  notes = vn_notes_new ();
  dataset = vn_model_open_data (plain->prepared, settings->data, settings->input_shapes, &shapes, notes, error);
  if (dataset != NULL)
    vn_dataset_keep (dataset, KEPT_BYTES);
  return dataset;
}

/**
 * vn_improve_count_learned:
 * @settings: with samples
 * @plain: the first run
 *
 * What fits the samples it was made from need not fit others: ranges that just hold the former cut the latter off, the more so
 * the more ranges there are. So tries leave some of few samples to be judged by, but keep half of them at least.
 *
 * Returns: how many samples tries are calibrated with, at least 1
 */
guint
vn_improve_count_learned (const VnQuantizeSettings *settings,
                          const VnRun              *plain)
{
  guint n, n_all, unseen;

  g_return_val_if_fail (settings != NULL && settings->samples != NULL && plain != NULL, 1);

  n_all = vn_dataset_get_n (settings->samples);
  n = plain->n_calibration > 0 ? plain->n_calibration : improve_bench_count_calibration (settings);
  unseen = n_all - MIN (n, n_all);
  if (unseen >= JUDGED)
    return n;
  return MAX ((n + 1) / 2, n - MIN (n, JUDGED - unseen));
}

/* The input as it would be with another recipe that prepares the same network. */
static VnJobInput
improve_bench_get_input (VnImproveBench *self,
                         const VnRecipe *recipe)
{
  VnJobInput input = self->input;

  input.recipe = recipe;
  return input;
}

/**
 * vn_improve_bench_round:
 *
 * Finds the weights that recipes with second-order rounding get from now on.
 */
gboolean
vn_improve_bench_round (VnImproveBench  *self,
                        const VnRecipe  *recipe,
                        GCancellable    *cancellable,
                        GError         **error)
{
  VnJobInput input;
  VnModel *rounded;

  g_return_val_if_fail (self != NULL && recipe != NULL, FALSE);

  input = improve_bench_get_input (self, recipe);
  rounded = vn_job_round_weights (&input, self->job, self->stats, cancellable, error);
  if (rounded == NULL)
    return FALSE;
  g_clear_pointer (&self->rounded, vn_model_unref);
  self->rounded = rounded;
  return TRUE;
}

static const VnModel *
improve_bench_get_rounded (VnImproveBench *self,
                           const VnRecipe *recipe)
{
  return vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST ? self->rounded : NULL;
}

/* Biases suit the weights that they were corrected with. */
static VnModel **
improve_bench_find_corrected (VnImproveBench *self,
                              const VnRecipe *recipe)
{
  return &self->corrected[vn_recipe_get_most (recipe, VN_LAYER_ROUNDING) != VN_WEIGHT_ROUNDING_NEAREST];
}

/**
 * vn_improve_bench_correct:
 *
 * Finds the biases that recipes with correction of biases get from now on.
 */
gboolean
vn_improve_bench_correct (VnImproveBench  *self,
                          const VnRecipe  *recipe,
                          GCancellable    *cancellable,
                          GError         **error)
{
  VnJobInput input;
  VnModel *corrected;

  g_return_val_if_fail (self != NULL && recipe != NULL, FALSE);

  input = improve_bench_get_input (self, recipe);
  corrected = vn_job_correct_biases (&input, self->job, improve_bench_get_rounded (self, recipe), self->stats, cancellable,
                                     error);
  if (corrected == NULL)
    return FALSE;
  g_clear_pointer (improve_bench_find_corrected (self, recipe), vn_model_unref);
  *improve_bench_find_corrected (self, recipe) = corrected;
  return TRUE;
}

static const VnModel *
improve_bench_get_corrected (VnImproveBench *self,
                             const VnRecipe *recipe)
{
  const VnModel *corrected = *improve_bench_find_corrected (self, recipe);

  return vn_recipe_get_most (recipe, VN_LAYER_BIAS_CORRECTION) == VN_BIAS_CORRECTION_OFF ? NULL : corrected != NULL
         ? corrected : self->corrected[0];
}

/* The plan of a recipe. @weights: (out): the network that it is written from */
static VnQuantPlan *
improve_bench_resolve (VnImproveBench  *self,
                       const VnRecipe  *recipe,
                       VnModel        **weights,
                       GError         **error)
{
  const VnModel *corrected = improve_bench_get_corrected (self, recipe);

  *weights = vn_job_take_rounded (&self->input, corrected, improve_bench_get_rounded (self, recipe));
  return vn_quantize_resolve (corrected != NULL ? corrected : self->input.prepared, recipe, self->stats, NULL, error);
}

/* What would be exported. */
static VnModel *
improve_bench_write (VnImproveBench  *self,
                     const VnRecipe  *recipe,
                     GError         **error)
{
  g_autoptr(VnModel) weights = NULL;
  g_autoptr(VnQuantPlan) plan = improve_bench_resolve (self, recipe, &weights, error);
  g_autoptr(VnModel) model = plan != NULL ? vn_quantize_write (weights, recipe, plan, NULL, error) : NULL;

  return model != NULL && vn_model_infer_for_samples (model, self->input.shapes, error) ? g_steal_pointer (&model) : NULL;
}

/**
 * vn_improve_bench_look_ahead:
 * @model: what @recipe makes of the network, with types
 *
 * Returns: what it costs
 */
VnImprovePrice
vn_improve_bench_look_ahead (const VnImproveBench *self,
                             const VnRecipe       *recipe,
                             VnModel              *model)
{
  g_autoptr(VnRuntimeForecast) forecast = NULL;
  VnImprovePrice price = { NAN, NAN, NAN, NAN };
  double float_bytes;

  g_return_val_if_fail (self != NULL && recipe != NULL && model != NULL, price);

  float_bytes = (double) vn_graph_weight_bytes (self->input.model->graph);
  if (float_bytes > 0)
    price.size = (double) vn_graph_weight_bytes (model->graph) / float_bytes;
  forecast = vn_job_forecast (recipe, model, self->input.shapes, self->float_forecast);
  if (forecast != NULL && (vn_recipe_get_target (recipe)->traits & VN_TARGET_HAS_SIXTEEN) != 0)
    {
      price.wide_share = vn_runtime_forecast_wide_share (forecast);
      price.integer_share = vn_runtime_forecast_pairs_share (forecast);
    }
  else if (forecast != NULL)
    {
      price.ratio = self->float_forecast != NULL ? vn_runtime_forecast_ratio (forecast) : NAN;
      price.integer_share = vn_runtime_forecast_integer_share (forecast);
    }
  return price;
}

/**
 * vn_improve_bench_forecast:
 * @recipe: prepares the same network
 * @trial: (out): but for its judgement
 *
 * Says what @recipe costs, without running anything.
 *
 * Returns: %FALSE also if @recipe cannot be carried out on this network
 */
gboolean
vn_improve_bench_forecast (VnImproveBench  *self,
                           const VnRecipe  *recipe,
                           VnImproveTrial  *trial,
                           GError         **error)
{
  g_return_val_if_fail (self != NULL && recipe != NULL && trial != NULL, FALSE);

  *trial = (VnImproveTrial) { 0 };
  trial->model = improve_bench_write (self, recipe, error);
  if (trial->model == NULL)
    return FALSE;
  trial->price = vn_improve_bench_look_ahead (self, recipe, trial->model);
  trial->bytes = vn_graph_weight_bytes (trial->model->graph);
  return TRUE;
}

/* Of the float network before samples take part in what is made of it. */
static char *
improve_bench_digest_prepared (const VnImproveBench  *self,
                               const VnRecipe        *recipe,
                               GCancellable          *cancellable,
                               GError               **error)
{
  g_autoptr(VnModel) prepared = vn_job_prepare (self->input.model, recipe, vn_job_input_get_shapes (&self->input, recipe),
                                                NULL, NULL, cancellable, error);

  return prepared != NULL ? vn_model_dup_digest (prepared) : NULL;
}

/**
 * vn_improve_bench_is_same_network:
 * @same: (out): whether @recipe prepares the float network that tries start from, so that only what is quantized changes:
 *   values that a recipe names are kept where a network is made simpler
 */
gboolean
vn_improve_bench_is_same_network (VnImproveBench  *self,
                                  const VnRecipe  *recipe,
                                  gboolean        *same,
                                  GCancellable    *cancellable,
                                  GError         **error)
{
  g_autofree char *other = NULL;

  g_return_val_if_fail (self != NULL && recipe != NULL && same != NULL, FALSE);

  if (self->digest == NULL)
    self->digest = improve_bench_digest_prepared (self, self->input.recipe, cancellable, error);
  other = self->digest != NULL ? improve_bench_digest_prepared (self, recipe, cancellable, error) : NULL;
  if (other == NULL)
    return FALSE;
  *same = g_str_equal (self->digest, other);
  return TRUE;
}

/**
 * vn_improve_bench_measure:
 * @trial: (inout): of vn_improve_bench_forecast(); gets its judgement
 */
gboolean
vn_improve_bench_measure (VnImproveBench  *self,
                          VnImproveTrial  *trial,
                          GCancellable    *cancellable,
                          GError         **error)
{
  gboolean good;

  g_return_val_if_fail (self != NULL && trial != NULL && trial->model != NULL, FALSE);

  if (trial->digest == NULL)
    trial->digest = vn_model_dup_digest (trial->model);
  good = vn_judge_measure (self->judge, trial->model, &trial->judgement, cancellable, error);
  g_clear_pointer (&trial->model, vn_model_unref);
  return good;
}

/**
 * vn_improve_bench_try:
 *
 * Both at once.
 */
gboolean
vn_improve_bench_try (VnImproveBench  *self,
                      const VnRecipe  *recipe,
                      VnImproveTrial  *trial,
                      GCancellable    *cancellable,
                      GError         **error)
{
  g_return_val_if_fail (self != NULL && recipe != NULL && trial != NULL, FALSE);

  return vn_improve_bench_forecast (self, recipe, trial, error) && vn_improve_bench_measure (self, trial, cancellable, error);
}

/**
 * vn_improve_price_get_time:
 *
 * Returns: something that grows with the time an export takes: beside the float network's, or, where only the integers are known,
 *   beside that of 8 bit, as a product with 16 bit is two of 8; NaN: nothing is known
 */
double
vn_improve_price_get_time (const VnImprovePrice *self)
{
  g_return_val_if_fail (self != NULL, NAN);

  return isnan (self->wide_share) ? self->ratio : 1 + self->wide_share;
}

/**
 * vn_improve_limit_make:
 * @plain: of the export without any step
 * @accuracy_first: however long one takes, and however little of it is done on integers
 *
 * Returns: what exports may cost. All must win a part of what quantizing is done for, or, where @plain wins less, half as much as
 * it
 */
VnImproveLimit
vn_improve_limit_make (const VnImprovePrice *plain,
                       gboolean              accuracy_first)
{
  VnImproveLimit self = { INFINITY, 0, INFINITY, 1 - LEAST_SIZE_WON, 1 - LEAST_TIME_WON };

  g_return_val_if_fail (plain != NULL, self);

  if (!accuracy_first)
    {
      self.ratio = plain->ratio * MOST_TIME;
      self.integer_share = plain->integer_share * LEAST_INTEGER;
      self.wide_share = (1 + plain->wide_share) * MOST_TIME - 1;
    }
  if (plain->size > self.size && !(plain->ratio < self.won_ratio))
    self.size = fmax (self.size, (1 + plain->size) / 2);
  return self;
}

/**
 * vn_improve_limit_check:
 *
 * Returns: what speaks against @price; %VN_IMPROVE_KEPT: nothing. What cannot be told does not
 */
VnImproveOutcome
vn_improve_limit_check (const VnImproveLimit *self,
                        const VnImprovePrice *price)
{
  g_return_val_if_fail (self != NULL && price != NULL, VN_IMPROVE_KEPT);

  if (price->ratio > self->ratio)
    return VN_IMPROVE_TOO_SLOW;
  if (price->wide_share > self->wide_share)
    return VN_IMPROVE_TOO_WIDE;
  if (price->size > self->size && !(price->ratio <= self->won_ratio))
    return VN_IMPROVE_TOO_LITTLE;
  return price->integer_share < self->integer_share ? VN_IMPROVE_TOO_FLOAT : VN_IMPROVE_KEPT;
}

void
vn_improve_trial_clear (VnImproveTrial *self)
{
  g_return_if_fail (self != NULL);

  g_clear_pointer (&self->model, vn_model_unref);
  g_clear_pointer (&self->digest, g_free);
  vn_judgement_clear (&self->judgement);
}

/**
 * vn_improve_trial_take:
 * @from: (inout): is empty afterwards
 */
void
vn_improve_trial_take (VnImproveTrial *self,
                       VnImproveTrial *from)
{
  g_return_if_fail (self != NULL && from != NULL && self != from);

  vn_improve_trial_clear (self);
  *self = *from;
  *from = (VnImproveTrial) { 0 };
}

/**
 * vn_improve_bench_find_origins:
 *
 * Returns: (transfer full) (nullable): where the error starts that @recipe makes
 */
VnContributions *
vn_improve_bench_find_origins (VnImproveBench  *self,
                               const VnRecipe  *recipe,
                               GCancellable    *cancellable,
                               GError         **error)
{
  g_autoptr(VnQuantPlan) plan = NULL;
  g_autoptr(VnModel) weights = NULL;
  g_autoptr(GArray) samples = NULL;
  VnContributionOptions options = { 0 };
  VnProgress progress;
  VnSamples run;

  g_return_val_if_fail (self != NULL && recipe != NULL, NULL);

  options.parts = self->input.parts;
  plan = improve_bench_resolve (self, recipe, &weights, error);
  if (plan == NULL)
    return NULL;
  samples = vn_job_list_judged (&self->input, NULL, ORIGIN_SAMPLES);
  progress = vn_job_get_reporter (self->job);
  run = (VnSamples) { .shapes = self->input.shapes, .dataset = self->input.dataset,
                         .indices = (const guint *) (gpointer) samples->data, .n = samples->len,
                         .n_threads = self->input.n_threads, .progress = &progress, .notes = self->input.notes };
  return vn_contribution_measure (self->input.prepared, weights, plan, &run, &options, cancellable, error);
}
