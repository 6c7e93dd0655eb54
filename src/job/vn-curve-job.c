/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantizes plainly, measures what each tensor costs the outputs, chooses by that, and forecasts what each choice costs. Noise does not
 * quite add up: so some points of the curve are measured, which corrects the prediction of those between them, and then five others,
 * which tell how good the prediction is. */
#include "vn-curve-job.h"

#include "curve-choices.h"
#include "improve-bench.h"
#include "judge-copies.h"

#include "vn-error.h"
#include "vn-forecast-export-private.h"
#include "vn-format.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"

#include <math.h>

/* Samples that contributions and points are measured on: as many as these multiplications allow for each tensor alone, but some. */
#define MOST_SAMPLES 32
#define LEAST_SAMPLES 8
#define MOST_MACS 3e11

/* Of each output of a sample that tell how errors of several tensors come together. */
#define NUMBERS 1024

/* The points of a curve; those that correct it, and those that tell how good it is. */
#define MOST_POINTS 64
#define CORRECTIONS 8
#define CHECKS 5

/* If the checks are off by more, they become corrections, and others are checked: so often at most. */
#define GOOD_MISS_DB 0.5
#define MOST_ROUNDS 3

/* What is as near to the float network is taken for it. */
#define FLOAT_DB 150

/* Points around the wanted one that are measured. */
#define MOST_LOOKS 8

/* How errors of several tensors are taken together: as if they had nothing to do with each other, as they are alike, and the middle. */
#define MODELS 3
typedef struct { double db[MODELS]; } Sums;

struct _VnCurveJob
{
  VnJob           parent_instance;
  VnCurveSettings settings;        /* owns what it points to */
  VnResult       *plain;
  VnImproveBench *bench;
  VnContributions *contributions, *other;
  VnRuntimeForecast *quantized, *floats;
  VnCurve        *curve;
  GHashTable     *sums;            /* point -> Sums */
  guint           model;           /* which of them is used */
  GArray         *judged;          /* of guint: samples */
  VnRecipe       *chosen;
  VnResult       *result;
};

G_DEFINE_FINAL_TYPE (VnCurveJob, vn_curve_job, VN_TYPE_JOB)

/* ---- where it starts ---- */

static VnResult *
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
  return vn_job_run (job, cancellable, error) ? vn_result_ref (vn_quantize_job_get_result (VN_QUANTIZE_JOB (job))) : NULL;
}

/* What is predicted from some samples is measured on these, as they leave ranges in ways of their own. */
static gboolean
curve_make_judge (VnCurveJob    *self,
                  GCancellable  *cancellable,
                  GError       **error)
{
  VnJobInput *input = &self->bench->input;
  VnRepairSamples samples;
  double runs;

  self->floats = vn_runtime_forecast_new (input->prepared, input->shapes, NULL, error);
  if (self->floats == NULL)
    return FALSE;
  runs = MOST_MACS / (self->floats->macs / 2 * MAX (vn_quant_plan_get_n (self->plain->plan), 1) + 1);
  self->judged = vn_job_list_judged (input, NULL, (guint) CLAMP (runs, LEAST_SAMPLES, MOST_SAMPLES));
  samples = vn_job_get_samples (input, self->judged);
  samples.most_copies = (guint) CLAMP (runs / MAX (self->judged->len, 1), 1, G_MAXINT);
  g_clear_pointer (&self->bench->judge, vn_judge_free);
  self->bench->judge = vn_judge_new (input->prepared, &samples, cancellable, error);
  return self->bench->judge != NULL;
}

static gboolean
vn_curve_job_quantize (VnJob         *job,
                       GCancellable  *cancellable,
                       GError       **error)
{
  VnCurveJob *self = VN_CURVE_JOB (job);

  if (self->settings.quantize.data == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA, _("Mixed precision is chosen by the error of the outputs: give samples with --data"));
      return FALSE;
    }
  self->plain = curve_run (self, self->settings.quantize.recipe, NULL, TRUE, cancellable, error);
  self->bench = self->plain != NULL ? vn_improve_bench_new (job, &self->settings.quantize, self->plain, cancellable, error) : NULL;
  if (self->bench == NULL)
    return FALSE;
  self->bench->rounded = self->plain->rounded != NULL ? vn_model_ref (self->plain->rounded) : NULL;
  self->bench->corrected[self->plain->rounded != NULL] = self->plain->corrected != NULL ? vn_model_ref (self->plain->corrected) : NULL;
  return curve_make_judge (self, cancellable, error);
}

/* ---- contributions ---- */

static VnContributions *
curve_contribute (VnCurveJob      *self,
                  VnQuantPlan     *plan,
                  GCancellable    *cancellable,
                  GError         **error)
{
  VnImproveBench *bench = self->bench;
  g_autoptr(VnModel) weights = vn_job_take_rounded (&bench->input, self->plain->corrected, self->plain->rounded);
  VnContributionOptions options = { .thorough = TRUE, .n_numbers = NUMBERS, .n_copies = vn_judge_get_n_copies (bench->judge),
                                    .make_copy = vn_judge_make_copy };
  VnProgress progress = vn_job_get_reporter (VN_JOB (self));
  VnChannelRun run = { .shapes = bench->input.shapes, .dataset = bench->input.dataset,
                       .samples = (const guint *) (gpointer) self->judged->data, .n_samples = self->judged->len,
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
  VnCurveJob *self = VN_CURVE_JOB (job);
  const VnRecipe *recipe = self->settings.quantize.recipe;
  GHashTable *shapes = self->bench->input.shapes;

  self->contributions = curve_contribute (self, self->plain->plan, cancellable, error);
  if (self->contributions == NULL)
    return FALSE;
  if (vn_job_has_forecast (recipe))
    self->quantized = vn_runtime_forecast_new (self->plain->quantized, shapes, self->floats, NULL);
  if (self->settings.cost >= VN_N_CURVE_COSTS)
    self->settings.cost = self->settings.most_bytes > 0 ? VN_CURVE_COST_SIZE
                        : VN_CURVE_COST_FLOAT;
  if (self->settings.cost == VN_CURVE_COST_SIZE && vn_curve_get_other_weight (recipe) != VN_DTYPE_UNDEFINED)
    {
      g_autoptr(VnRecipe) other = curve_make_other_recipe (recipe);
      g_autoptr(VnQuantPlan) plan = vn_quantize_resolve (self->plain->corrected != NULL ? self->plain->corrected : self->plain->prepared, other,
                                                         self->plain->stats, NULL, error);

      self->other = plan != NULL ? curve_contribute (self, plan, cancellable, error) : NULL;
      return self->other != NULL;
    }
  return TRUE;
}

/* ---- points ---- */

static double
curve_get_sum (VnCurveJob         *self,
               const VnCurvePoint *point)
{
  return ((Sums *) g_hash_table_lookup (self->sums, point))->db[self->model];
}

static Sums
curve_sum_up (VnCurveChoices *choices,
              const gboolean *taken)
{
  double apart = vn_curve_choices_predict (choices, taken, FALSE), alike = vn_curve_choices_predict (choices, taken, TRUE);

  return (Sums) { { apart, alike, (apart + alike) / 2 } };
}

/* Larger exports are not encoded only to know their size: they grow by what their weights do. */
#define ENCODED_BYTES ((gsize) 64 << 20)

static gboolean
curve_find_bytes (VnCurveJob           *self,
                  const VnImproveTrial *trial,
                  gsize                *bytes)
{
  g_autoptr(GBytes) file = NULL;

  if (self->plain->quantized_bytes > ENCODED_BYTES)
    {
      *bytes = self->plain->quantized_bytes + trial->bytes - MIN (vn_graph_weight_bytes (self->plain->quantized->graph),
                                                                  self->plain->quantized_bytes + trial->bytes);
      return TRUE;
    }
  file = vn_onnx_write_bytes (trial->model, NULL);
  *bytes = file != NULL ? g_bytes_get_size (file) : 0;
  return file != NULL;
}

/* A recipe that cannot be carried out is no point. */
static void
curve_add_point (VnCurveJob     *self,
                 VnCurveChoices *choices,
                 const gboolean *taken,
                 gboolean        is_plain)
{
  Sums sums = curve_sum_up (choices, taken);
  g_autoptr(VnCurvePoint) point = vn_curve_point_new ();
  g_auto(VnImproveTrial) trial = { 0 };

  vn_curve_choices_fill (choices, taken, point);
  if (!vn_recipe_validate (point->recipe, NULL) || !vn_improve_bench_forecast (self->bench, point->recipe, &trial, NULL))
    return;
  point->is_plain = is_plain;
  point->predicted_db = sums.db[0];
  point->integer_share = trial.price.integer_share;
  point->wide_share = trial.price.wide_share;
  point->time_ratio = trial.price.ratio;
  if (!curve_find_bytes (self, &trial, &point->bytes))
    return;
  g_hash_table_insert (self->sums, point, g_memdup2 (&sums, sizeof sums));
  vn_curve_add (self->curve, g_steal_pointer (&point));
}

/* Of points that are as accurate, to a step, the first that is found; the plain one in any case. */
static void
curve_add_points (VnCurveJob     *self,
                  VnCurveChoices *choices,
                  GPtrArray      *sets)
{
  g_autofree gboolean *plain = vn_curve_choices_make_plain (choices);
  g_autofree double *sums = g_new0 (double, sets->len + 1);
  g_autoptr(GHashTable) steps = g_hash_table_new (NULL, NULL);
  double low = vn_curve_choices_predict (choices, plain, FALSE), high = low;

  for (guint i = 0; i < sets->len; i++)
    {
      sums[i] = vn_curve_choices_predict (choices, g_ptr_array_index (sets, i), FALSE);
      low = MIN (low, sums[i]);
      high = MAX (high, sums[i] < FLOAT_DB ? sums[i] : high);
    }
  curve_add_point (self, choices, plain, TRUE);
  for (guint i = 0; i < sets->len; i++)
    {
      int step = high > low ? (int) (MOST_POINTS * (sums[i] - low) / (high - low)) : 0;

      if (g_hash_table_add (steps, GINT_TO_POINTER (MIN (step, 2 * MOST_POINTS) + 1)))
        curve_add_point (self, choices, g_ptr_array_index (sets, i), FALSE);
    }
}

static gboolean
vn_curve_job_choose (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnCurveJob *self = VN_CURVE_JOB (job);
  VnCurveNetwork network = { self->bench->input.prepared, self->settings.quantize.recipe, self->plain->plan, self->contributions, self->other,
                             self->quantized, self->floats, vn_curve_get_other_weight (self->settings.quantize.recipe) };
  g_autoptr(VnCurveChoices) choices = NULL;
  g_autoptr(GPtrArray) sets = NULL;

  if (self->settings.cost == VN_CURVE_COST_TIME && self->quantized == NULL)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("The time that this recipe's export takes cannot be told: choose by size or by multiplications"));
      return FALSE;
    }
  choices = vn_curve_choices_new (&network, self->settings.cost);
  sets = vn_curve_choices_list (choices);
  self->curve = vn_curve_new (self->settings.cost);
  curve_add_points (self, choices, sets);
  if (vn_curve_get_n (self->curve) == 0)
    {
      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("There is nothing to choose in this network with this recipe"));
      return FALSE;
    }
  vn_curve_sort (self->curve);
  return !g_cancellable_set_error_if_cancelled (cancellable, error);
}

/* ---- measuring ---- */

static gboolean
curve_measure (VnCurveJob    *self,
               VnCurvePoint  *point,
               GCancellable  *cancellable,
               GError       **error)
{
  g_auto(VnImproveTrial) trial = { 0 };

  if (!isnan (point->measured_db))
    return TRUE;
  if (!vn_improve_bench_try (self->bench, point->recipe, &trial, cancellable, error))
    return FALSE;
  point->measured_db = trial.judgement.sqnr_db;
  return TRUE;
}

/* What is to be added to a sum: a line between the measured points on both sides of it. */
static double
curve_find_correction (VnCurveJob         *self,
                       double              sum,
                       const VnCurvePoint *but)   /* nullable */
{
  const VnCurvePoint *below = NULL, *above = NULL;
  double x, y;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (self->curve, i);
      double at = curve_get_sum (self, point);

      if (isnan (point->measured_db) || at >= FLOAT_DB || point == but)
        continue;
      if (at <= sum && (below == NULL || at > curve_get_sum (self, below)))
        below = point;
      if (at >= sum && (above == NULL || at < curve_get_sum (self, above)))
        above = point;
    }
  if (sum >= FLOAT_DB || (below == NULL && above == NULL))
    return 0;
  below = below != NULL ? below : above;
  above = above != NULL ? above : below;
  x = curve_get_sum (self, below);
  y = curve_get_sum (self, above);
  if (y - x < 1e-9)
    return below->measured_db - x;
  return (below->measured_db - x) + (sum - x) / (y - x) * ((above->measured_db - y) - (below->measured_db - x));
}

/* How far off measured points would be if each had been predicted from the others. */
static double
curve_try_model (VnCurveJob *self,
                 guint       model)
{
  double miss = 0;

  self->model = model;
  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (self->curve, i);
      double sum = curve_get_sum (self, point);

      if (!isnan (point->measured_db) && sum < FLOAT_DB)
        miss += fabs (sum + curve_find_correction (self, sum, point) - point->measured_db);
    }
  return miss;
}

static void
curve_choose_model (VnCurveJob *self)
{
  double least = INFINITY;
  guint best = 0;

  for (guint i = 0; i < MODELS; i++)
    {
      double miss = curve_try_model (self, i);

      best = miss < least ? i : best;
      least = MIN (least, miss);
    }
  self->model = best;
}

static void
curve_predict (VnCurveJob *self)
{
  curve_choose_model (self);
  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);

      if (isnan (point->measured_db))
        point->predicted_db = curve_get_sum (self, point) + curve_find_correction (self, curve_get_sum (self, point), NULL);
    }
}

/* The point nearest to @sum that is not measured yet. */
static VnCurvePoint *
curve_find_nearest (VnCurveJob *self,
                    double      sum)
{
  VnCurvePoint *best = NULL;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);
      double at = curve_get_sum (self, point);

      if (isnan (point->measured_db) && at < FLOAT_DB && (best == NULL || fabs (at - sum) < fabs (curve_get_sum (self, best) - sum)))
        best = point;
    }
  return best;
}

/* Measures up to @n points, evenly over the curve: the ends too if @ends, or else between. */
static gboolean
curve_measure_some (VnCurveJob    *self,
                    guint          n,
                    gboolean       corrects,
                    GCancellable  *cancellable,
                    GError       **error)
{
  double low = INFINITY, high = -INFINITY;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      double sum = curve_get_sum (self, vn_curve_get (self->curve, i));

      low = MIN (low, sum);
      high = sum < FLOAT_DB ? MAX (high, sum) : high;
    }
  for (guint i = 0; i < n; i++)
    {
      double part = corrects ? (n > 1 ? (double) i / (n - 1) : 0) : (i + 0.5) / n;
      VnCurvePoint *point = curve_find_nearest (self, low + part * (high - low));

      if (point == NULL)
        return TRUE;
      if (!curve_measure (self, point, cancellable, error))
        return FALSE;
      point->used = corrects;
    }
  return TRUE;
}

/* ---- the point that is wanted ---- */

static gboolean
curve_is_within (VnCurveJob         *self,
                 const VnCurvePoint *point)
{
  return (self->settings.most_bytes == 0 || point->bytes <= self->settings.most_bytes) &&
         (isnan (self->settings.most_float) || vn_curve_point_get_float_share (point) <= self->settings.most_float + 1e-9);
}

/* The file as it would be written. */
static gboolean
curve_fits (VnCurveJob    *self,
            VnCurvePoint  *point,
            gboolean      *fits,
            GError       **error)
{
  g_auto(VnImproveTrial) trial = { 0 };
  g_autoptr(GBytes) file = NULL;

  *fits = TRUE;
  if (self->settings.most_bytes == 0)
    return TRUE;
  if (!vn_improve_bench_forecast (self->bench, point->recipe, &trial, error) || (file = vn_onnx_write_bytes (trial.model, error)) == NULL)
    return FALSE;
  point->bytes = g_bytes_get_size (file);
  *fits = point->bytes <= self->settings.most_bytes;
  return TRUE;
}

/* By what is known now: with a target the cheapest that reaches it, else the most accurate. */
static VnCurvePoint *
curve_find_wanted (VnCurveJob *self)
{
  VnCurvePoint *best = NULL;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);

      if (!curve_is_within (self, point) || (!isnan (self->settings.target_db) && vn_curve_point_get_db (point) < self->settings.target_db))
        continue;
      if (best == NULL || (isnan (self->settings.target_db) && vn_curve_point_get_db (point) > vn_curve_point_get_db (best)))
        best = point;
    }
  return best;
}

/* What is missing, with the best that there is. */
static void
curve_set_error (VnCurveJob  *self,
                 GError     **error)
{
  double most = -INFINITY, least_float = INFINITY;
  gsize least_bytes = G_MAXSIZE;
  gboolean any = FALSE;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      const VnCurvePoint *point = vn_curve_get (self->curve, i);
      double share = vn_curve_point_get_float_share (point);

      any |= curve_is_within (self, point);
      most = curve_is_within (self, point) ? MAX (most, vn_curve_point_get_db (point)) : most;
      least_bytes = MIN (least_bytes, point->bytes);
      least_float = isnan (share) ? least_float : MIN (least_float, share);
    }
  if (any)
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No choice reaches %.1f dB: the most accurate one within the limits has %.1f dB"),
                 self->settings.target_db, most);
  else if (self->settings.most_bytes > 0 && least_bytes > self->settings.most_bytes)
    {
      g_autofree char *wanted = vn_format_bytes (self->settings.most_bytes), *least = vn_format_bytes (least_bytes);

      g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No choice fits into %s: the smallest one takes %s"), wanted, least);
    }
  else
    g_set_error (error, VN_ERROR, VN_ERROR_SETTING, _("No choice keeps to the limits: at least %.1f %% of the multiplications are not on integers of 8 bit"),
                 100 * least_float);
}

static gboolean
curve_choose_point (VnCurveJob    *self,
                    GCancellable  *cancellable,
                    GError       **error)
{
  VnCurvePoint *point = NULL;

  for (guint look = 0; ; look++)
    {
      gboolean fits;

      point = curve_find_wanted (self);
      if (point == NULL)
        {
          curve_set_error (self, error);
          return FALSE;
        }
      if (!curve_fits (self, point, &fits, error))
        return FALSE;
      if (fits && !isnan (point->measured_db))
        break;
      if (fits && look >= MOST_LOOKS && isnan (self->settings.target_db))
        break;
      if (fits && !curve_measure (self, point, cancellable, error))
        return FALSE;
    }
  point->is_chosen = TRUE;
  g_clear_pointer (&self->chosen, vn_recipe_free);
  self->chosen = vn_recipe_copy (point->recipe);
  return TRUE;
}

static gboolean
curve_has_wish (const VnCurveJob *self)
{
  return !isnan (self->settings.target_db) || self->settings.most_bytes > 0 || !isnan (self->settings.most_float);
}

/* Those that were off correct the others from now on: new ones are to tell how good that is. */
static void
curve_use_checks (VnCurveJob *self)
{
  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    {
      VnCurvePoint *point = g_ptr_array_index (self->curve->points, i);

      point->used = point->used || !isnan (point->measured_db);
    }
}

/* Points that can be measured, and are not yet. */
static guint
curve_count_left (VnCurveJob *self)
{
  guint n = 0;

  for (guint i = 0; i < vn_curve_get_n (self->curve); i++)
    n += isnan (vn_curve_get (self->curve, i)->measured_db) && curve_get_sum (self, vn_curve_get (self->curve, i)) < FLOAT_DB;
  return n;
}

static gboolean
vn_curve_job_measure (VnJob         *job,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnCurveJob *self = VN_CURVE_JOB (job);

  self->curve->n_samples = vn_judge_get_n (self->bench->judge);
  if (!curve_measure_some (self, CLAMP (curve_count_left (self) / 2, 2, CORRECTIONS), TRUE, cancellable, error))
    return FALSE;
  for (guint round = 0; round < MOST_ROUNDS; round++)
    {
      if (round > 0)
        curve_use_checks (self);
      curve_predict (self);
      if (!curve_measure_some (self, CHECKS, FALSE, cancellable, error))
        return FALSE;
      if (!(vn_curve_get_worst_miss (self->curve, NULL) > GOOD_MISS_DB) || curve_count_left (self) < CHECKS)
        break;
    }
  curve_predict (self);
  vn_curve_drop_beaten (self->curve);
  self->chosen = vn_recipe_copy (self->settings.quantize.recipe);
  return !curve_has_wish (self) || curve_choose_point (self, cancellable, error);
}

/* ---- the job ---- */

static gboolean
vn_curve_job_finish (VnJob         *job,
                     GCancellable  *cancellable,
                     GError       **error)
{
  VnCurveJob *self = VN_CURVE_JOB (job);

  self->result = curve_run (self, self->chosen, self->plain->stats, self->settings.quantize.skip_compare, cancellable, error);
  if (self->result == NULL)
    return FALSE;
  self->result->curve = vn_curve_ref (self->curve);
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize",   N_("Quantizing plainly"),                 15, NULL, vn_curve_job_quantize },
  { "contribute", N_("Measuring what each tensor costs"),   30, NULL, vn_curve_job_contribute },
  { "choose",     N_("Choosing"),                           10, NULL, vn_curve_job_choose },
  { "measure",    N_("Measuring points of the curve"),      35, NULL, vn_curve_job_measure },
  { "finish",     N_("Quantizing with what was chosen"),    10, NULL, vn_curve_job_finish },
  { NULL },
};

static void
vn_curve_job_finalize (GObject *object)
{
  VnCurveJob *self = VN_CURVE_JOB (object);
  VnQuantizeSettings *quantize = &self->settings.quantize;

  g_clear_pointer (&self->bench, vn_improve_bench_free);
  g_clear_pointer (&self->plain, vn_result_unref);
  g_clear_pointer (&self->contributions, vn_contributions_unref);
  g_clear_pointer (&self->other, vn_contributions_unref);
  g_clear_pointer (&self->quantized, vn_runtime_forecast_free);
  g_clear_pointer (&self->floats, vn_runtime_forecast_free);
  g_clear_pointer (&self->curve, vn_curve_unref);
  g_clear_pointer (&self->judged, g_array_unref);
  g_clear_pointer (&self->chosen, vn_recipe_free);
  g_clear_pointer (&self->result, vn_result_unref);
  g_hash_table_unref (self->sums);
  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  G_OBJECT_CLASS (vn_curve_job_parent_class)->finalize (object);
}

static void
vn_curve_job_class_init (VnCurveJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_curve_job_finalize;
  VN_JOB_CLASS (klass)->stages = stages;
}

static void
vn_curve_job_init (VnCurveJob *self)
{
  self->sums = g_hash_table_new_full (NULL, NULL, NULL, g_free);
}

/**
 * vn_curve_job_new:
 * @settings: copied; files of statistics are not taken
 *
 * Returns: (transfer full): the job
 */
VnJob *
vn_curve_job_new (const VnCurveSettings *settings)
{
  VnCurveJob *self;
  const VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  self = g_object_new (VN_TYPE_CURVE_JOB, NULL);
  quantize = &settings->quantize;
  self->settings = *settings;
  self->settings.quantize = (VnQuantizeSettings) {
    .model = vn_model_ref (quantize->model), .data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL,
    .recipe = vn_recipe_copy (quantize->recipe),
    .input_shapes = quantize->input_shapes != NULL ? g_hash_table_ref (quantize->input_shapes) : NULL,
    .n_calibration = quantize->n_calibration, .n_threads = quantize->n_threads, .origins = quantize->origins,
    .skip_compare = quantize->skip_compare,
  };
  vn_job_set_title (VN_JOB (self), _("Choosing precision"));
  return VN_JOB (self);
}

/**
 * vn_curve_job_get_result:
 *
 * Returns: (transfer none) (nullable): the result, after success
 */
VnResult *
vn_curve_job_get_result (VnCurveJob *self)
{
  g_return_val_if_fail (VN_IS_CURVE_JOB (self), NULL);

  return self->result;
}
