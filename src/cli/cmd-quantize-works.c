/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What "quantize" does with a network: works of a bench, one after the other. */
#include "cmd-quantize.h"

#include "vn-i18n.h"
#include "vn-ranks.h"

#include <math.h>

/**
 * Work: one of them.
 * @is_wanted: by the options
 * @check: (nullable): %FALSE with an error if it cannot be done with the other options
 * @start: begins it; what @check takes has no mistake
 */
typedef struct
{
  gboolean (*is_wanted) (void);
  gboolean (*check)     (GError  **error);
  gboolean (*start)     (VnBench  *bench,
                         GError  **error);
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

static gboolean
quantize_works_start_improve (VnBench  *bench,
                              GError  **error)
{
  return vn_bench_improve (bench, MAX (vn_quantize_options.improve_seconds, 0), vn_quantize_options.accuracy_first, error);
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

static gboolean
quantize_works_start_cures (VnBench  *bench,
                            GError  **error)
{
  return vn_bench_measure_cures (bench, MAX (vn_quantize_options.improve_seconds, 0), error);
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

static gboolean
quantize_works_start_curve (VnBench  *bench,
                            GError  **error)
{
  VnCurveSettings wished;

  return quantize_works_read_wishes (&wished, error) && vn_bench_choose_on_curve (bench, &wished, error);
}

/* ---- plainly ---- */

static gboolean
quantize_works_wants_plain (void)
{
  return !quantize_works_wants_improve () && !quantize_works_wants_cures () && !quantize_works_wants_curve ();
}

/* ---- all ---- */

static const Work works[] = {
  { quantize_works_wants_improve, quantize_works_check_improve, quantize_works_start_improve },
  { quantize_works_wants_cures,   quantize_works_check_cures,   quantize_works_start_cures },
  { quantize_works_wants_curve,   quantize_works_check_curve,   quantize_works_start_curve },
  { quantize_works_wants_plain,   NULL,                         vn_bench_quantize },
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

static gboolean
quantize_works_do (const Work  *work,
                   VnBench     *bench,
                   GError     **error)
{
  const char *stats = vn_quantize_options.save_stats;
  GError *reason = NULL;

  work->start (bench, &reason);
  if (!vn_cmd_agree (reason, error))
    return FALSE;
  if (vn_cmd_run_work (bench, error))
    return TRUE;
  if (stats != NULL && work->start == vn_bench_quantize)
    vn_cmd_set_cancel_note (stats);
  return FALSE;
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
  g_autoptr(VnBench) bench = NULL;

  g_return_val_if_fail (input != NULL && input->model != NULL, NULL);

  if (!quantize_works_check (error))
    return NULL;
  bench = vn_bench_new_batch (&(VnQuantizeSettings) {
    .model = input->model, .data = input->data, .recipe = input->recipe, .input_shapes = input->shapes, .base = input->base,
    .n_calibration = (guint) MAX (options->n_calibration, 0), .skip_compare = options->skip_compare, .origins = options->origins,
    .stats = (const char * const *) options->stats, .save_stats = options->save_stats,
    .keep_seconds = MAX (options->save_every, 0), .n_threads = (guint) vn_cmd_options.threads,
  });
  for (guint i = 0; i < G_N_ELEMENTS (works); i++)
    if (works[i].is_wanted () && !quantize_works_do (&works[i], bench, error))
      return NULL;
  return vn_run_ref (vn_bench_get_confirmed (bench));
}
