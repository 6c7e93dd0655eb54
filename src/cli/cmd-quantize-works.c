/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What "quantize" does with a network, one work after the other: each is a job, and starts from the recipe that the one before
 * came to. */
#include "cmd-quantize.h"

#include "vn-cure-job.h"
#include "vn-curve-job.h"
#include "vn-i18n.h"
#include "vn-improve-job.h"
#include "vn-ranks.h"

#include <math.h>

/**
 * Work: one of them.
 * @is_wanted: by the options
 * @check: (nullable): %FALSE with an error if it cannot be done with the other options
 * @make: its job; what @check takes has no mistake
 * @get_result: of that, after success
 */
typedef struct
{
  gboolean  (*is_wanted)  (void);
  gboolean  (*check)      (GError                   **error);
  VnJob    *(*make)       (const VnQuantizeSettings  *settings);
  VnRun    *(*get_result) (VnJob                     *job);
} Work;

/* Each process has a clock of its own, and would end at another place. */
static gboolean
quantize_works_check_clock (GError **error)
{
  return vn_ranks_get_n () == 1 ||
         vn_cmd_quantize_refuse (error, _("--auto and --cures measure for a limited time, which several processes cannot share: "
                                          "start one process, without mpirun"));
}

/* ---- --auto ---- */

static gboolean
quantize_works_wants_improve (void)
{
  return vn_quantize_options.improve;
}

static gboolean
quantize_works_check_improve (GError **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;

  if (options->stats == NULL && options->save_stats == NULL && !options->skip_compare)
    return quantize_works_check_clock (error);
  return vn_cmd_quantize_refuse (error, _("--auto calibrates and compares on its own: it cannot be combined with --stats, "
                                          "--save-stats or --skip-compare"));
}

static VnJob *
quantize_works_make_improve (const VnQuantizeSettings *settings)
{
  const VnImproveSettings improved = { .quantize = *settings, .seconds = vn_quantize_options.improve_seconds,
                                       .accuracy_first = vn_quantize_options.accuracy_first };

  return vn_improve_job_new (&improved);
}

/* ---- --cures ---- */

static gboolean
quantize_works_wants_cures (void)
{
  return vn_quantize_options.cures;
}

static gboolean
quantize_works_check_cures (GError **error)
{
  if (!vn_quantize_options.improve && !vn_quantize_options.skip_compare)
    return quantize_works_check_clock (error);
  return vn_cmd_quantize_refuse (error, _("--cures measures a single recipe without changing it: it cannot be combined with "
                                          "--auto or --skip-compare"));
}

static VnJob *
quantize_works_make_cures (const VnQuantizeSettings *settings)
{
  const VnCureSettings cured = { .quantize = *settings, .seconds = vn_quantize_options.improve_seconds,
                                 .n_tensors = VN_CURE_TENSORS };

  return vn_cure_job_new (&cured);
}

/* ---- mixed precision ---- */

static gboolean
quantize_works_wants_curve (void)
{
  const VnQuantizeOptions *options = &vn_quantize_options;

  return options->curve || options->curve_cost != NULL || options->target_sqnr != NULL || options->budget_size != NULL ||
         options->budget_float != NULL;
}

static gboolean
quantize_works_read_wishes (VnCurveSettings  *wished,
                            GError          **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  char *end = NULL;

  *wished = (VnCurveSettings) { .cost = VN_N_CURVE_COSTS, .target_db = NAN, .most_float = NAN };
  if (options->curve_cost != NULL && !vn_curve_cost_find (options->curve_cost, &wished->cost))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--curve-cost: there is no cost “%s”; choose "
                                                                      "size, float or time"), options->curve_cost);
      return FALSE;
    }
  wished->target_db = options->target_sqnr != NULL ? g_ascii_strtod (options->target_sqnr, &end) : NAN;
  if (options->target_sqnr != NULL && (end == options->target_sqnr || *end != '\0' || !isfinite (wished->target_db)))
    {
      g_set_error (error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, _("--target-sqnr: “%s” is not a number of dB"),
                   options->target_sqnr);
      return FALSE;
    }
  return (options->budget_size == NULL ||
          vn_cmd_parse_size (options->budget_size, "--budget-size", &wished->most_bytes, error)) &&
         (options->budget_float == NULL ||
          vn_cmd_parse_percent (options->budget_float, "--budget-float", &wished->most_float, error));
}

static gboolean
quantize_works_check_curve (GError **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  VnCurveSettings wished;

  if (options->stats == NULL && options->save_stats == NULL && !options->cures)
    return quantize_works_read_wishes (&wished, error);
  return vn_cmd_quantize_refuse (error, _("Mixed precision is selected by measuring on samples: it cannot be combined with "
                                          "--stats, --save-stats or --cures"));
}

static VnJob *
quantize_works_make_curve (const VnQuantizeSettings *settings)
{
  VnCurveSettings wished;

  quantize_works_read_wishes (&wished, NULL);
  wished.quantize = *settings;
  return vn_curve_job_new (&wished);
}

/* ---- plainly ---- */

static gboolean
quantize_works_wants_plain (void)
{
  return !quantize_works_wants_improve () && !quantize_works_wants_cures () && !quantize_works_wants_curve ();
}

static VnJob *
quantize_works_make_plain (const VnQuantizeSettings *settings)
{
  return vn_quantize_job_new (settings);
}

/* ---- all ---- */

static const Work works[] = {
  { quantize_works_wants_improve, quantize_works_check_improve, quantize_works_make_improve, vn_improve_job_get_result },
  { quantize_works_wants_cures,   quantize_works_check_cures,   quantize_works_make_cures,   vn_cure_job_get_result },
  { quantize_works_wants_curve,   quantize_works_check_curve,   quantize_works_make_curve,   vn_curve_job_get_result },
  { quantize_works_wants_plain,   NULL,                         quantize_works_make_plain,   vn_quantize_job_get_result },
};

/* Before the first of them takes its time. */
static gboolean
quantize_works_check (GError **error)
{
  for (guint i = G_N_ELEMENTS (works); i-- > 0;)
    if (works[i].is_wanted () && works[i].check != NULL && !works[i].check (error))
      return FALSE;
  return TRUE;
}

static VnRun *
quantize_works_do (const Work                *work,
                   const VnQuantizeSettings  *settings,
                   GError                   **error)
{
  g_autoptr(VnJob) job = work->make (settings);

  if (vn_cmd_run_job (job, error))
    return vn_run_ref (work->get_result (job));
  if (settings->save_stats != NULL && vn_job_is (job, VN_JOB_QUANTIZE))
    vn_cmd_set_cancel_note (settings->save_stats);
  return NULL;
}

/**
 * vn_cmd_quantize_do_works:
 *
 * Quantizes as the options want it.
 *
 * Returns: (transfer full) (nullable): what the last work came to; %NULL with an error if one failed
 */
VnRun *
vn_cmd_quantize_do_works (const VnQuantizeInput  *input,
                          GError                **error)
{
  const VnQuantizeOptions *options = &vn_quantize_options;
  VnQuantizeSettings settings = { .n_calibration = (guint) MAX (options->n_calibration, 0), .skip_compare = options->skip_compare,
                                  .origins = options->origins, .stats = (const char * const *) options->stats,
                                  .save_stats = options->save_stats, .keep_seconds = MAX (options->save_every, 0),
                                  .n_threads = (guint) vn_cmd_options.threads };
  g_autoptr(VnRun) result = NULL;

  g_return_val_if_fail (input != NULL && input->model != NULL, NULL);

  settings.model = input->model;
  settings.data = input->data;
  settings.recipe = input->recipe;
  settings.input_shapes = input->shapes;
  settings.base = input->base;
  if (!quantize_works_check (error))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (works[i].is_wanted ())
      {
        VnRun *next = quantize_works_do (&works[i], &settings, error);

        if (next == NULL)
          return NULL;
        g_clear_pointer (&result, vn_run_unref);
        result = next;
        settings.recipe = result->recipe;
      }
  return g_steal_pointer (&result);
}
