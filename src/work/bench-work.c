/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The long work that a user asks for: quantizing, and what tries changes, measures and verifies. */
#include "bench-private.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-error.h"
#include "vn-i18n.h"
#include "vn-ort-install.h"
#include "vn-verify-job.h"

#include <math.h>

static gboolean
bench_work_can_run (VnBench   *self,
                    gboolean   lacks_samples,
                    GError   **error)
{
  if (self->subject->model != NULL && !lacks_samples)
    return vn_model_check_files (self->subject->model, error);
  g_set_error_literal (error, VN_ERROR, VN_ERROR_MISSING_DATA,
                       self->subject->model == NULL ? _("No model is open.") : _("No samples have been chosen."));
  return FALSE;
}

/**
 * vn_bench_quantize:
 *
 * Begins a run with the present recipe on the wanted number of samples, spread over what there is. Where the last one
 * had the same samples its statistics serve again.
 * While a run is under way it is stopped, and followed by one more.
 *
 * Returns: %FALSE if no model is open, or no samples have been chosen and the recipe takes some
 */
gboolean
vn_bench_quantize (VnBench  *self,
                   GError  **error)
{
  VnWork work;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (!bench_work_can_run (self, vn_bench_lacks_samples (self), error))
    return FALSE;
  vn_bench_hold (self);
  vn_bench_cancel_origins (self);
  work = vn_works_get_work (self->works, VN_PLACE_FRONT);
  if (work != VN_WORK_NONE)
    {
      self->waiting.quantize = TRUE;
      if (work != VN_WORK_OPEN && work != VN_WORK_EXPORT)
        vn_works_cancel (self->works, VN_PLACE_FRONT);
    }
  else
    {
      if (vn_outlook_is_asked (self->outlook))
        vn_bench_stop_expecting (self);
      vn_bench_start (self, VN_WORK_QUANTIZE, vn_bench_make_run (self));
      vn_bench_changed (self, VN_CHANGED_EXPECTED);
    }
  vn_bench_release (self);
  return TRUE;
}

/* ---- what tries changes ---- */

/* Before anything is tried: there is nothing else that uses the processors, and nothing waits to be confirmed. */
static gboolean
bench_work_can_try (VnBench          *self,
                    VnBenchPrepared  *prepared,
                    GError          **error)
{
  if (!bench_work_can_run (self, self->subject->data == NULL, error) || !vn_bench_is_idle (self, error))
    return FALSE;
  vn_bench_cancel_origins (self);
  if (vn_outlook_is_asked (self->outlook))
    vn_bench_stop_expecting (self);
  vn_bench_prepare (self, prepared);
  return TRUE;
}

/**
 * vn_bench_improve:
 * @seconds: when all is to end
 * @accuracy_first: also what makes the export slower in ONNX Runtime
 *
 * Begins to try what may lower the error, starting from the present recipe. What was found is one step that can be undone; how
 * the single steps did is told by vn_bench_get_tries().
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_bench_improve (VnBench   *self,
                  double     seconds,
                  gboolean   accuracy_first,
                  GError   **error)
{
  g_auto(VnBenchPrepared) prepared = { 0 };
  VnImproveSettings settings = { .seconds = seconds, .accuracy_first = accuracy_first };

  g_return_val_if_fail (VN_IS_BENCH (self) && seconds >= 0, FALSE);

  if (!bench_work_can_try (self, &prepared, error))
    return FALSE;
  settings.quantize = prepared.settings;
  settings.plain = self->shown.past == NULL && !vn_bench_is_stale (self) ? self->shown.run : NULL;
  self->found.improve_ends = g_get_monotonic_time () + (gint64) (seconds * G_USEC_PER_SEC);
  vn_bench_start (self, VN_WORK_IMPROVE, vn_improve_job_new (&settings));
  return TRUE;
}

/**
 * vn_bench_measure_cures:
 * @seconds: no fix is tried that would probably take longer
 *
 * Begins to measure what the fixes of the present run gain; it comes again with them.
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_bench_measure_cures (VnBench  *self,
                        double    seconds,
                        GError  **error)
{
  g_auto(VnBenchPrepared) prepared = { 0 };
  VnCureSettings settings = { .seconds = seconds, .n_tensors = VN_CURE_TENSORS };

  g_return_val_if_fail (VN_IS_BENCH (self) && seconds >= 0, FALSE);

  if (!bench_work_can_try (self, &prepared, error))
    return FALSE;
  settings.quantize = prepared.settings;
  vn_bench_start (self, VN_WORK_CURES, vn_cure_job_new (&settings));
  return TRUE;
}

/**
 * vn_bench_measure_curve:
 * @cost: what accuracy is paid with
 *
 * Begins to calculate what mixed precision can make of the present recipe, which stays: vn_bench_get_curve().
 *
 * Returns: %FALSE if no model is open, no samples have been chosen, or something else is going on
 */
gboolean
vn_bench_measure_curve (VnBench      *self,
                        VnCurveCost   cost,
                        GError      **error)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && cost < VN_N_CURVE_COSTS, FALSE);

  return vn_bench_choose_on_curve (self, &(VnCurveSettings) { .cost = cost, .target_db = NAN, .most_float = NAN }, error);
}

/**
 * vn_bench_choose_on_curve:
 * @wished: what is wanted of it; its run is that of the bench
 *
 * As vn_bench_measure_curve(), for the point that is wished for.
 */
gboolean
vn_bench_choose_on_curve (VnBench                *self,
                          const VnCurveSettings  *wished,
                          GError                **error)
{
  g_auto(VnBenchPrepared) prepared = { 0 };
  VnCurveSettings settings;

  g_return_val_if_fail (VN_IS_BENCH (self) && wished != NULL, FALSE);

  if (!bench_work_can_try (self, &prepared, error))
    return FALSE;
  settings = *wished;
  settings.quantize = prepared.settings;
  vn_bench_start (self, VN_WORK_CURVE, vn_curve_job_new (&settings));
  return TRUE;
}

/**
 * vn_bench_is_trying:
 *
 * Returns: whether fixes or improvements are being tried: a change of the recipe would throw that away
 */
gboolean
vn_bench_is_trying (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  return (vn_work_get_info (vn_works_get_work (self->works, VN_PLACE_FRONT))->flags & VN_WORK_TRIES) != 0;
}

/**
 * vn_bench_get_improve_seconds:
 *
 * Returns: how much of the time for improving is left; negative if that is not what is going on
 */
double
vn_bench_get_improve_seconds (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), -1);

  if (vn_works_get_work (self->works, VN_PLACE_FRONT) != VN_WORK_IMPROVE)
    return -1;
  return MAX (0, (double) (self->found.improve_ends - g_get_monotonic_time ()) / G_USEC_PER_SEC);
}

/**
 * vn_bench_get_tries:
 *
 * Returns: (transfer none) (nullable) (element-type VnImproveTry): what was tried when the model was improved last; %NULL if it
 *   was not, or that was taken back
 */
GPtrArray *
vn_bench_get_tries (VnBench *self)
{
  const VnRecipe *found;

  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  if (self->found.improved == NULL)
    return NULL;
  found = vn_improve_job_get_result (self->found.improved)->recipe;
  if (!vn_recipe_equal (found, self->recipe) && !vn_history_contains (self->history, found))
    return NULL;
  return vn_improve_job_get_tries (self->found.improved);
}

/* ---- runtimes ---- */

/**
 * vn_bench_verify:
 *
 * Begins to run what the present run exports in its runtime, vn_verify_runtime_for(); the run comes again with what was measured.
 *
 * Returns: %FALSE if there is nothing to export, or something else is going on
 */
gboolean
vn_bench_verify (VnBench  *self,
                 GError  **error)
{
  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (!vn_bench_has_network (self, error) || !vn_bench_is_idle (self, error))
    return FALSE;
  vn_bench_make_room (self);
  vn_bench_start (self, VN_WORK_VERIFY, vn_verify_job_new_for_result (self->shown.run, NULL, NULL, TRUE));
  return TRUE;
}

/**
 * vn_bench_install_runtime:
 * @runtime: what is installed
 *
 * Begins to make a Python environment with @runtime in the folder of caches, beside everything else; ask the user before. What
 * the bench exports is run there afterwards, if nothing else goes on then.
 *
 * Returns: %FALSE if that goes on already
 */
gboolean
vn_bench_install_runtime (VnBench                *self,
                          const VnTargetRuntime  *runtime,
                          GError                **error)
{
  g_return_val_if_fail (VN_IS_BENCH (self) && runtime != NULL, FALSE);

  if (vn_works_get_job (self->works, VN_PLACE_INSTALL) == NULL)
    {
      vn_bench_start (self, VN_WORK_INSTALL, vn_ort_install_new (runtime, NULL));
      return TRUE;
    }
  g_set_error_literal (error, VN_ERROR, VN_ERROR_SETTING, _("Another job is running: wait until it finishes, or cancel it."));
  return FALSE;
}

/**
 * vn_bench_cancel_install:
 *
 * Asks the installation of a runtime to end, if there is one: nothing stays of it.
 */
void
vn_bench_cancel_install (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  vn_works_cancel (self->works, VN_PLACE_INSTALL);
}

/**
 * vn_bench_get_install_job:
 *
 * Returns: (transfer none) (nullable): the job that installs a runtime; its end is told by "work-changed"
 */
VnJob *
vn_bench_get_install_job (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_works_get_job (self->works, VN_PLACE_INSTALL);
}

/* ---- all of it ---- */

/**
 * vn_bench_search_origins:
 *
 * Begins the search for where error starts once more, after it was cancelled: the present recipe is run again for it.
 *
 * Returns: %FALSE if there is nothing to look for, or the run is not that of the present recipe and samples
 */
gboolean
vn_bench_search_origins (VnBench *self)
{
  g_autoptr(VnJob) run = NULL;

  g_return_val_if_fail (VN_IS_BENCH (self), FALSE);

  if (self->subject->data == NULL || vn_works_get_job (self->works, VN_PLACE_FRONT) != NULL || self->shown.run == NULL ||
      vn_bench_is_stale (self))
    return FALSE;
  run = vn_bench_make_run (self);
  vn_bench_find_origins (self, run);
  return vn_works_get_job (self->works, VN_PLACE_SEARCH) != NULL;
}

VnJob *
vn_bench_get_job (VnBench *self)
{
  g_return_val_if_fail (VN_IS_BENCH (self), NULL);

  return vn_works_get_job (self->works, VN_PLACE_FRONT);
}

/**
 * vn_bench_cancel:
 *
 * Asks the running job to end, or else the measurement of what a change does, the search for where error starts, or the look at
 * the weights. What was there before it stays.
 */
void
vn_bench_cancel (VnBench *self)
{
  g_return_if_fail (VN_IS_BENCH (self));

  self->waiting.quantize = FALSE;
  if (vn_works_get_job (self->works, VN_PLACE_FRONT) != NULL)
    vn_works_cancel (self->works, VN_PLACE_FRONT);
  else if (vn_outlook_is_asked (self->outlook))
    {
      vn_bench_stop_expecting (self);
      self->waiting.run = FALSE;
      vn_bench_refuse (self, _("The effect of the change was not measured"));
    }
  else if (vn_works_get_job (self->works, VN_PLACE_SEARCH) != NULL)
    vn_bench_cancel_origins (self);
  else
    vn_works_cancel (self->works, VN_PLACE_WEIGHTS);
}
