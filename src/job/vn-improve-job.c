/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The job of “--auto”: quantizes plainly, then tries what may lower the error, and keeps what does so on the outputs of held-out
 * samples. It never ends with more error than it began with. */
#include "vn-jobs.h"

#include "vn-error.h"
#include "vn-format-traits.h"
#include "vn-i18n.h"
#include "vn-memory.h"

#include <math.h>

/* In dB: less is chance, with as few samples as are held out. */
#define LEAST_GAIN 0.3

/* How often all steps are gone through, as long as some are kept. */
#define ROUNDS 2

typedef struct
{
  const char *id, *title;
  gboolean    costs_time;
  gboolean  (*apply) (VnRecipe *recipe);
} Step;

struct _VnImproveJob
{
  VnJob              parent_instance;
  VnImproveSettings  settings;      /* owns what it points to */
  VnResult          *best;
  double             best_db;
  double             longest;       /* seconds of the longest run so far */
  gint64             began;
  GPtrArray         *told;          /* of char: what each step came to */
};

G_DEFINE_FINAL_TYPE (VnImproveJob, vn_improve_job, VN_TYPE_JOB)

/* ---- steps ---- */

static gboolean
improve_apply_folded (VnRecipe *recipe)
{
  if (recipe->activation_channels != VN_ACTIVATION_CHANNELS_OFF || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) ||
      !vn_recipe_has_channels (recipe) || recipe->npu)
    return FALSE;
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_FOLDED;
  return TRUE;
}

static gboolean
improve_apply_gates (VnRecipe *recipe)
{
  if (recipe->limit_gates || !vn_recipe_needs_samples (recipe))
    return FALSE;
  return recipe->limit_gates = TRUE;
}

static gboolean
improve_set_method (VnRecipe   *recipe,
                    const char *method)
{
  const VnRangeMethod *now = vn_range_method_find (recipe->method, NULL);

  if (!vn_recipe_needs_samples (recipe) || g_strcmp0 (recipe->method, method) == 0 || now == NULL || now->power_of_two)
    return FALSE;
  g_free (recipe->method);
  recipe->method = g_strdup (method);
  return TRUE;
}

static gboolean
improve_apply_mse (VnRecipe *recipe)
{
  return improve_set_method (recipe, "mse");
}

static gboolean
improve_apply_best (VnRecipe *recipe)
{
  return improve_set_method (recipe, "best");
}

static gboolean
improve_apply_placement (VnRecipe *recipe)
{
  static const char * const types[] = { "Conv", "ConvTranspose", "Gemm", "MatMul", NULL };

  if (!vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || recipe->op_types != NULL || recipe->float_output_types != NULL ||
      recipe->npu)
    return FALSE;
  recipe->op_types = g_strdupv ((char **) types);
  recipe->float_output_types = g_strdupv ((char **) types);
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_DEPTHWISE;   /* now nothing stands in their way, and only both cure such networks */
  return TRUE;
}

static gboolean
improve_apply_channels (VnRecipe *recipe)
{
  if (recipe->activation_channels == VN_ACTIVATION_CHANNELS_DEPTHWISE || !vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) ||
      recipe->npu)
    return FALSE;
  recipe->activation_channels = VN_ACTIVATION_CHANNELS_DEPTHWISE;
  return TRUE;
}

static gboolean
improve_apply_sixteen (VnRecipe *recipe)
{
  if (!vn_format_is (recipe->format, VN_FORMAT_HAS_PAIRS) || vn_dtype_get_bits (recipe->activation) != 8 || recipe->npu)
    return FALSE;
  recipe->activation = recipe->activation == VN_DTYPE_S8 ? VN_DTYPE_S16 : VN_DTYPE_U16;
  return TRUE;
}

static gboolean
improve_apply_equalize (VnRecipe *recipe)
{
  if (recipe->equalize != VN_EQUALIZE_OFF)
    return FALSE;
  recipe->equalize = VN_EQUALIZE_PPQ;
  return TRUE;
}

static gboolean
improve_apply_biases (VnRecipe *recipe)
{
  if (recipe->bias_correction != VN_BIAS_CORRECTION_OFF)
    return FALSE;
  recipe->bias_correction = VN_BIAS_CORRECTION_AMD;
  return TRUE;
}

static gboolean
improve_apply_second_order (VnRecipe *recipe)
{
  if (recipe->rounding != VN_WEIGHT_ROUNDING_NEAREST)
    return FALSE;
  recipe->rounding = VN_WEIGHT_ROUNDING_SECOND_ORDER;
  return TRUE;
}

static const Step steps[] = {
#define VN_IMPROVE_STEP(id, costs_time, title) { #id, title, costs_time, improve_apply_##id },
#include "vn-improve-steps.def"
#undef VN_IMPROVE_STEP
};

/* ---- one run ---- */

static double
improve_get_seconds (const VnImproveJob *self)
{
  return (double) (g_get_monotonic_time () - self->began) / G_USEC_PER_SEC;
}

static VnResult *
improve_run (VnImproveJob    *self,
             const VnRecipe  *recipe,
             VnStats         *earlier,
             gboolean         origins,
             GCancellable    *cancellable,
             GError         **error)
{
  VnQuantizeSettings settings = self->settings.quantize;
  double began = improve_get_seconds (self);
  g_autoptr(VnJob) job = NULL;

  settings.recipe = recipe;
  settings.earlier = earlier != NULL ? earlier : settings.earlier;
  settings.origins = origins;
  job = vn_quantize_job_new (&settings);
  if (!vn_job_run (job, cancellable, error))
    return NULL;
  self->longest = MAX (self->longest, improve_get_seconds (self) - began);
  return vn_result_ref (vn_quantize_job_get_result (VN_QUANTIZE_JOB (job)));
}

static void
improve_tell (VnImproveJob *self,
              char         *text)
{
  g_ptr_array_add (self->told, text);
}

/* A step that cannot be done on this network is no failure of the job. */
static gboolean
improve_try (VnImproveJob  *self,
             const Step    *step,
             GCancellable  *cancellable,
             GError       **error)
{
  g_autoptr(VnRecipe) recipe = vn_recipe_copy (self->best->recipe);
  g_autoptr(VnResult) result = NULL;
  g_autoptr(GError) reason = NULL;
  double db;

  if ((step->costs_time && !self->settings.accuracy_first) || !step->apply (recipe) || !vn_recipe_validate (recipe, NULL))
    return TRUE;
  if (improve_get_seconds (self) + self->longest > self->settings.seconds)
    {
      improve_tell (self, g_strdup_printf (_("%s: not tried, the time is up"), _(step->title)));
      return TRUE;
    }
  result = improve_run (self, recipe, self->best->stats, FALSE, cancellable, &reason);
  if (result == NULL && (g_cancellable_set_error_if_cancelled (cancellable, error) || vn_error_is_memory (reason)))
    {
      if (error != NULL && *error == NULL)
        g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (result == NULL || result->errors == NULL)
    {
      improve_tell (self, g_strdup_printf (_("%s: cannot be done here: %s"), _(step->title), reason != NULL ? reason->message : ""));
      return TRUE;
    }
  db = vn_error_table_get_outputs_sqnr (result->errors);
  improve_tell (self, g_strdup_printf (db > self->best_db + LEAST_GAIN ? _("%s: %.1f → %.1f dB, kept") : _("%s: %.1f → %.1f dB, not kept"),
                                       _(step->title), self->best_db, db));
  if (!(db > self->best_db + LEAST_GAIN))
    return TRUE;
  self->best_db = db;
  vn_result_unref (self->best);
  self->best = g_steal_pointer (&result);
  return TRUE;
}

/* Where the error that is left starts, if that is asked for: of the best result alone, as it takes a while. */
static gboolean
improve_find_origins (VnImproveJob  *self,
                      GCancellable  *cancellable,
                      GError       **error)
{
  VnResult *result;

  if (!self->settings.quantize.origins)
    return TRUE;
  result = improve_run (self, self->best->recipe, self->best->stats, TRUE, cancellable, error);
  if (result == NULL)
    return FALSE;
  vn_result_unref (self->best);
  self->best = result;
  return TRUE;
}

/* ---- the job ---- */

static gboolean
vn_improve_job_quantize (VnJob         *job,
                         GCancellable  *cancellable,
                         GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);

  self->began = g_get_monotonic_time ();
  self->best = improve_run (self, self->settings.quantize.recipe, NULL, FALSE, cancellable, error);
  if (self->best == NULL)
    return FALSE;
  self->best_db = self->best->errors != NULL ? vn_error_table_get_outputs_sqnr (self->best->errors) : NAN;
  if (!isnan (self->best_db))
    return TRUE;
  g_set_error (error, VN_ERROR, VN_ERROR_MISSING_DATA,
               _("--auto measures what helps on the outputs: give samples with --data, and do not skip the comparison"));
  return FALSE;
}

static gboolean
vn_improve_job_try_all (VnJob         *job,
                        GCancellable  *cancellable,
                        GError       **error)
{
  VnImproveJob *self = VN_IMPROVE_JOB (job);
  VnProgress progress = vn_job_get_reporter (job);
  double before = self->best_db;

  /* what did not help alone may help beside what was kept after it */
  for (guint i = 0, kept = 0; i < ROUNDS * G_N_ELEMENTS (steps) && (i < G_N_ELEMENTS (steps) || i - kept < G_N_ELEMENTS (steps)); i++)
    {
      double best = self->best_db;

      vn_progress_report (&progress, _("repairs"), i, ROUNDS * G_N_ELEMENTS (steps));
      if (!improve_try (self, &steps[i % G_N_ELEMENTS (steps)], cancellable, error))
        return FALSE;
      kept = self->best_db > best ? i : kept;
    }
  if (!improve_find_origins (self, cancellable, error))
    return FALSE;
  vn_notes_add (self->best->notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, _("The outputs keep %.1f dB of signal to noise on average, plainly %.1f"),
                self->best_db, before);
  for (guint i = 0; i < self->told->len; i++)
    vn_notes_add (self->best->notes, VN_NOTE_INFO, VN_NOTE_CODE_AUTO, NULL, "%s", (const char *) g_ptr_array_index (self->told, i));
  return TRUE;
}

static const VnStage stages[] = {
  { "quantize", N_("Quantizing plainly"), 10, NULL, vn_improve_job_quantize },
  { "improve",  N_("Trying repairs"),     90, NULL, vn_improve_job_try_all },
  { NULL },
};

static void
vn_improve_job_finalize (GObject *object)
{
  VnImproveJob *self = VN_IMPROVE_JOB (object);
  VnQuantizeSettings *quantize = &self->settings.quantize;

  vn_model_unref (quantize->model);
  vn_data_spec_free ((VnDataSpec *) quantize->data);
  vn_recipe_free ((VnRecipe *) quantize->recipe);
  g_clear_pointer (&quantize->input_shapes, g_hash_table_unref);
  g_clear_pointer (&self->best, vn_result_unref);
  g_ptr_array_unref (self->told);
  G_OBJECT_CLASS (vn_improve_job_parent_class)->finalize (object);
}

static void
vn_improve_job_class_init (VnImproveJobClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = vn_improve_job_finalize;
  VN_JOB_CLASS (klass)->stages = stages;
}

static void
vn_improve_job_init (VnImproveJob *self)
{
  self->told = g_ptr_array_new_with_free_func (g_free);
}

/**
 * vn_improve_job_new:
 * @settings: copied; files of statistics are not taken
 */
VnJob *
vn_improve_job_new (const VnImproveSettings *settings)
{
  VnImproveJob *self;
  const VnQuantizeSettings *quantize;

  g_return_val_if_fail (settings != NULL && settings->quantize.model != NULL && settings->quantize.recipe != NULL, NULL);

  self = g_object_new (VN_TYPE_IMPROVE_JOB, NULL);
  quantize = &settings->quantize;
  self->settings = (VnImproveSettings) { .seconds = settings->seconds, .accuracy_first = settings->accuracy_first };
  self->settings.quantize = (VnQuantizeSettings) {
    .model = vn_model_ref (quantize->model), .data = quantize->data != NULL ? vn_data_spec_copy (quantize->data) : NULL,
    .recipe = vn_recipe_copy (quantize->recipe),
    .input_shapes = quantize->input_shapes != NULL ? g_hash_table_ref (quantize->input_shapes) : NULL,
    .n_calibration = quantize->n_calibration, .n_threads = quantize->n_threads, .origins = quantize->origins,
  };
  vn_job_set_title (VN_JOB (self), _("Improving"));
  return VN_JOB (self);
}

/**
 * vn_improve_job_get_result:
 *
 * Returns: (transfer none) (nullable): the best result, after success; its recipe makes it again, its notes tell what was tried
 */
VnResult *
vn_improve_job_get_result (VnImproveJob *self)
{
  g_return_val_if_fail (VN_IS_IMPROVE_JOB (self), NULL);

  return self->best;
}
