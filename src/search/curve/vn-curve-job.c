/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantizes plainly, measures what each tensor costs the outputs, chooses by that (curve-points.c), measures some of the choices
 * (curve-measure.c), and quantizes with the one that is wanted (curve-wish.c). */
#include "curve-job-private.h"

#include "judge-copies.h"

#include "vn-error.h"
#include "vn-forecast-export.h"
#include "vn-i18n.h"

#include <math.h>

/* Samples that contributions are measured on, and that points are measured on: as many, with copies of them, as these
 * multiplications allow, for all tensors or for each point, but some. */
#define MOST_SAMPLES 32
#define LEAST_SAMPLES 8
#define MOST_CONTRIBUTION_MACS 6e11
#define MOST_POINT_MACS 3e11

/* What a quantized tensor takes in a run beside multiplications is as long as so many of them. */
#define MACS_OF_TENSOR 4e6

/* Runs that a point is measured with at most, and a tensor: however small the network is. */
#define MOST_POINT_RUNS 1024
#define MOST_CONTRIBUTION_RUNS 256

/* Of each output of a sample that tell how errors of several tensors come together. */
#define NUMBERS 1024

static const VnJobKind curve_job_kind;

/* ---- where it starts ---- */

static VnRun *
curve_run (VnCurveJob      *self,
           const VnRecipe  *recipe,
           VnStats         *earlier,
           gboolean         skip_compare,
           GCancellable    *cancellable,
           GError         **error)
{
  VnQuantizeSettings run = self->settings.quantize;
  g_autoptr(VnJob) job = NULL;

  run.recipe = recipe;
  run.earlier = earlier;
  run.skip_compare = skip_compare;
  run.origins = run.origins && !skip_compare;
  job = vn_quantize_job_new (&run);
  return vn_job_run (job, cancellable, error) ? vn_run_ref (vn_quantize_job_get_result (job)) : NULL;
}

/* Points are measured on all samples, each several times: their errors are chance that is to be averaged. What tensors cost alone
 * is told from some of them. */
static gboolean
curve_make_judge (VnCurveJob    *self,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnJobInput *input = &self->bench->input;
  VnRepairSamples samples;
  double macs, runs, all;
  guint n = MAX (vn_quant_plan_get_n (self->plain->plan), 1);

  self->floats = vn_runtime_forecast_new (input->prepared, input->shapes, NULL, error);
  if (self->floats == NULL)
    return FALSE;
  macs = self->floats->macs + 1;
  all = MIN (MOST_POINT_MACS / (macs + n * MACS_OF_TENSOR), MOST_POINT_RUNS);
  self->judged = vn_job_list_judged (input, NULL, (guint) CLAMP (all, LEAST_SAMPLES, MOST_SAMPLES));
  samples = vn_job_get_samples (input, self->judged);
  samples.near_copies = (guint) MAX (all / MAX (self->judged->len, 1), 1);
  g_clear_pointer (&self->bench->judge, vn_judge_free);
  self->bench->judge = vn_judge_new (vn_job_input_get_reference (input), &samples, cancellable, error);
  if (self->bench->judge == NULL)
    return FALSE;
  runs = MIN (MOST_CONTRIBUTION_MACS / (macs / 2 * n), MOST_CONTRIBUTION_RUNS);
  self->n_contributed = (guint) CLAMP (runs, MIN (LEAST_SAMPLES, self->judged->len), self->judged->len);
  self->n_copies = (guint) CLAMP (runs / MAX (self->n_contributed, 1), 1, vn_judge_get_n_copies (self->bench->judge));
  return TRUE;
}

static gboolean
vn_curve_job_quantize (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnCurveJob *self = vn_job_get_state (job, &curve_job_kind);

  if (self->settings.quantize.data == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Mixed precision is selected by the error of the "
                                                             "outputs: add samples with --data"));
      return FALSE;
    }
  self->plain = curve_run (self, self->settings.quantize.recipe, NULL, TRUE, cancellable, error);
  self->bench = self->plain != NULL ? vn_improve_bench_new (job, &self->settings.quantize, self->plain, cancellable, error)
                : NULL;
  if (self->bench == NULL)
    return FALSE;
  self->bench->rounded = self->plain->rounded != NULL ? vn_model_ref (self->plain->rounded) : NULL;
  self->bench->corrected[self->plain->rounded != NULL] = self->plain->corrected != NULL
                                                         ? vn_model_ref (self->plain->corrected) : NULL;
  return curve_make_judge (self, cancellable, error);
}

/* ---- contributions ---- */

static VnContributions *
curve_contribute (VnCurveJob      *self,
                  VnQuantPlan     *plan,
                  const VnModel   *rounded,   /* nullable */
                  GCancellable    *cancellable,
                  GError         **error)
{
  VnImproveBench *bench = self->bench;
  g_autoptr(VnModel) weights = vn_job_take_rounded (&bench->input, self->plain->corrected, rounded);
  VnContributionOptions options = { .thorough = TRUE, .n_numbers = NUMBERS, .n_copies = self->n_copies,
                                    .make_copy = vn_judge_make_near_copy, .parts = bench->input.parts };
  VnProgress progress = vn_job_get_reporter (self->job);
  VnSamples run = { .shapes = bench->input.shapes, .dataset = bench->input.dataset,
                       .indices = (const guint *) (gpointer) self->judged->data, .n = self->n_contributed,
                       .n_threads = bench->input.n_threads, .progress = &progress, .notes = bench->input.notes };

  return vn_contribution_measure (bench->input.prepared, weights, plan, &run, &options, cancellable, error);
}

/* With the weights of another type all of them are larger, or smaller. */
static VnRecipe *
curve_make_other_recipe (const VnRecipe *recipe)
{
  VnRecipe *other = vn_recipe_copy (recipe);

  other->weight = vn_curve_get_other_weight (recipe);
  return other;
}

static gboolean
vn_curve_job_contribute (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnCurveJob *self = vn_job_get_state (job, &curve_job_kind);
  const VnRecipe *recipe = self->settings.quantize.recipe;
  GHashTable *shapes = self->bench->input.shapes;

  self->contributions = curve_contribute (self, self->plain->plan, self->plain->rounded, cancellable, error);
  if (self->contributions == NULL)
    return FALSE;
  self->quantized = vn_job_forecast (recipe, self->plain->quantized, shapes, self->floats);
  if (self->settings.cost >= VN_N_CURVE_COSTS)
    self->settings.cost = self->settings.most_bytes > 0 ? VN_CURVE_COST_SIZE : vn_curve_get_usual_cost (recipe);
  if (self->settings.cost == VN_CURVE_COST_SIZE && vn_curve_get_other_weight (recipe) != VN_DTYPE_UNDEFINED)
    {
      g_autoptr(VnRecipe) other = curve_make_other_recipe (recipe);
      g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (self->plain->corrected != NULL
                                                         ? self->plain->corrected : self->plain->prepared, other,
                                                         self->plain->stats, NULL, error);

      if (plan != NULL && _vn_curve_job_round_other (self, other, cancellable, error))
        self->other = curve_contribute (self, plan, self->other_rounded, cancellable, error);
      return self->other != NULL;
    }
  return TRUE;
}

static gboolean
vn_curve_job_choose (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnCurveJob *self = vn_job_get_state (job, &curve_job_kind);
  VnCurveNetwork network = { self->bench->input.prepared, self->settings.quantize.recipe, self->plain->plan, self->contributions,
                             self->other,
                             self->quantized, self->floats, vn_curve_get_other_weight (self->settings.quantize.recipe) };
  g_autoptr(VnCurveChoices) choices = NULL;

  if (self->settings.cost == VN_CURVE_COST_TIME && (self->quantized == NULL || !(self->quantized->seconds > 0)))
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The latency of this recipe's export cannot be estimated: "
                                                        "select by size or by MACs"));
      return FALSE;
    }
  choices = vn_curve_choices_new (&network, self->settings.cost);
  self->curve = vn_curve_new (self->settings.cost);
  _vn_curve_job_add_points (self, choices);
  if (vn_curve_get_n (self->curve) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("This model has no choices of precision with this recipe"));
      return FALSE;
    }
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* ---- the point that is wanted ---- */

static gboolean
curve_has_wish (const VnCurveJob *self)
{
  return !isnan (self->settings.target_db) || self->settings.most_bytes > 0 || !isnan (self->settings.most_float);
}

static gboolean
vn_curve_job_measure (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnCurveJob *self = vn_job_get_state (job, &curve_job_kind);

  self->curve->n_samples = vn_judge_get_n (self->bench->judge);
  if (!_vn_curve_job_measure_some (self, cancellable, error))
    return FALSE;
  self->chosen = vn_recipe_copy (self->settings.quantize.recipe);
  return !curve_has_wish (self) || _vn_curve_job_choose_point (self, cancellable, error);
}

/* ---- the job ---- */

static gboolean
vn_curve_job_finish (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnCurveJob *self = vn_job_get_state (job, &curve_job_kind);

  self->result = curve_run (self, self->chosen, self->plain->stats, self->settings.quantize.skip_compare, cancellable, error);
  if (self->result == NULL)
    return FALSE;
  self->result->curve = vn_curve_ref (self->curve);
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize",   N_("Quantizing the baseline"),                 15, NULL, vn_curve_job_quantize },
  { "contribute", N_("Measuring the sensitivity of each tensor"),   30, NULL, vn_curve_job_contribute },
  { "choose",     N_("Selecting"),                           10, NULL, vn_curve_job_choose },
  { "measure",    N_("Measuring points of the curve"),      35, NULL, vn_curve_job_measure },
  { "finish",     N_("Quantizing with the selected precision"),    10, NULL, vn_curve_job_finish },
  { NULL },
};

static void
curve_job_clear (gpointer data)
{
  VnCurveJob *self = data;
  VnQuantizeSettings *quantize = &self->settings.quantize;

  g_clear_pointer (&self->bench, vn_improve_bench_free);
  g_clear_pointer (&self->plain, vn_run_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->other, vn_contributions_unref);
  g_clear_pointer (&self->other_rounded, vn_model_unref);
  g_clear_pointer (&self->quantized, vn_runtime_forecast_unref);
  g_clear_pointer (&self->floats, vn_runtime_forecast_unref);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->judged, g_array_unref);
  g_clear_pointer (&self->chosen, vn_recipe_free);
  g_clear_pointer (&self->result, vn_run_unref);
  g_hash_table_unref (self->sums);
  g_ptr_array_unref (self->spares);
  vn_curve_fit_free (self->fit);
  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
}

static const VnJobKind curve_job_kind = {
  .id = VN_JOB_CURVE,
  .state_size = sizeof (VnCurveJob),
  .stages = stages,
  .clear = curve_job_clear,
};

static void
curve_free_spare (gpointer data)
{
  vn_curve_point_free (data);
}

/**
 * vn_curve_job_new:
 * @settings: copied; files of statistics are not taken, and the curve says which matrices have more bits, instead of "wide-share"
 *
 * Returns: (transfer full): the job
 */
VnJob *
vn_curve_job_new (const VnCurveSettings *settings)
{
  VnJob *job;
  VnCurveJob *self;
  VnRecipe *recipe;
  const VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  job = vn_job_new (&curve_job_kind);
  self = vn_job_get_state (job, &curve_job_kind);
  self->job = job;
  self->sums = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  self->spares = g_ptr_array_new_with_free_func (curve_free_spare);
  self->fit = vn_curve_fit_new ();
  quantize = &settings->quantize;
  recipe = vn_recipe_copy (quantize->recipe);
  recipe->wide_share = 0;
  self->settings = *settings;
  self->settings.quantize = (VnQuantizeSettings) {
    .model = vn_model_ref (quantize->model), .data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL,
    .recipe = recipe,
    .input_shapes = quantize->input_shapes != NULL ? g_hash_table_ref (quantize->input_shapes) : NULL,
    .n_calibration = quantize->n_calibration, .n_threads = quantize->n_threads, .origins = quantize->origins,
    .skip_compare = quantize->skip_compare,
  };
  vn_job_add_source (job, quantize->model);
  return job;
}

/**
 * vn_curve_job_get_result:
 *
 * Returns: (transfer none) (nullable): the result, after success
 */
VnRun *
vn_curve_job_get_result (VnJob *job)
{
  VnCurveJob *self;

  g_return_val_if_fail (vn_job_is (job, VN_JOB_CURVE), NULL);

  self = vn_job_get_state (job, &curve_job_kind);
  return self->result;
}
