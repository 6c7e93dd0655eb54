/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a run, calculated in one place. */
#include "vn-run-figures.h"

#include <math.h>

static double
run_figures_get_db (const VnErrorRow *row)
{
  return row->n_bad > 0 || isnan (row->sqnr_db) ? -INFINITY : row->sqnr_db;
}

/**
 * vn_run_find_worst_output:
 * @shift_db: (out): what ONNX Runtime adds to its signal to noise ratio; 0 where it was not run there
 *
 * Returns: (transfer none) (nullable): the row of the output with the most noise, by what ONNX Runtime makes of it where that is
 *   known; %NULL if none was compared
 */
const VnErrorRow *
vn_run_find_worst_output (const VnRun *self,
                          double      *shift_db)
{
  const VnErrorRow *worst = NULL;

  g_return_val_if_fail (self != NULL && shift_db != NULL, NULL);

  *shift_db = 0;
  for (guint i = 0; self->errors != NULL && i < vn_error_table_get_n (self->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (self->errors, i);
      double shift = row->is_output ? vn_verification_get_shift_db (self->verification, row->value) : 0;

      if ((!row->is_output && !row->is_last) ||
          (worst != NULL && !(run_figures_get_db (row) + shift < run_figures_get_db (worst) + *shift_db)))
        continue;
      worst = row;
      *shift_db = shift;
    }
  return worst;
}

static void
run_figures_add_errors (VnRunFigures *self,
                        const VnRun  *run)
{
  const double bad = vn_metric_get_info (VN_METRIC_SQNR)->bad;
  double shift;
  const VnErrorRow *worst = vn_run_find_worst_output (run, &shift);

  self->n_samples = vn_error_table_get_n_samples (run->errors);
  self->n_tensors = vn_error_table_get_n (run->errors);
  for (guint i = 0; i < self->n_tensors; i++)
    {
      const VnErrorRow *row = vn_error_table_get (run->errors, i);

      self->n_bad += *row->node != '\0' && run_figures_get_db (row) < bad;
      self->incomplete |= row->is_last;
    }
  self->mean_db = vn_error_table_get_mean (run->errors, VN_METRIC_SQNR);
  self->outputs_db = vn_error_table_get_outputs_sqnr (run->errors);
  if (worst == NULL)
    return;
  self->worst_db = run_figures_get_db (worst) + shift;
  self->margin_db = worst->margin_db;
}

static void
run_figures_add_answers (VnRunFigures     *self,
                         const VnAccuracy *accuracy)
{
  if (accuracy->valid && accuracy->n > 0)
    {
      self->float_accuracy = (double) accuracy->float_top1 / accuracy->n;
      self->accuracy = (double) accuracy->quant_top1 / accuracy->n;
      self->agreement = (double) accuracy->agree / accuracy->n;
    }
  else if (vn_kept_is_known (&accuracy->kept))
    self->agreement = accuracy->kept.share;
}

/**
 * vn_run_figures_init:
 * @self: (out caller-allocates):
 * @run: (nullable): a run, whole or with what is known alone; %NULL: nothing is known
 */
void
vn_run_figures_init (VnRunFigures *self,
                     const VnRun  *run)
{
  g_return_if_fail (self != NULL);

  *self = (VnRunFigures) { .mean_db = NAN, .outputs_db = NAN, .worst_db = NAN, .margin_db = NAN, .float_accuracy = NAN,
                           .accuracy = NAN, .agreement = NAN };
  vn_runtime_figures_init (&self->runtime, run != NULL ? run->forecast : NULL, run != NULL ? run->verification : NULL);
  if (run == NULL)
    return;
  self->float_bytes = run->float_bytes;
  self->quantized_bytes = run->quantized_bytes;
  if (run->errors != NULL)
    run_figures_add_errors (self, run);
  run_figures_add_answers (self, &run->accuracy);
}

/**
 * vn_run_get_headline:
 * @headline: (out caller-allocates): what verdicts rest on; without what ONNX Runtime adds, so that runs that were verified can
 *   be compared with others
 */
void
vn_run_get_headline (const VnRun *self,
                     VnHeadline  *headline)
{
  g_return_if_fail (self != NULL && headline != NULL);

  vn_headline_clear (headline);
  for (guint i = 0; self->errors != NULL && i < vn_error_table_get_n (self->errors); i++)
    {
      const VnErrorRow *row = vn_error_table_get (self->errors, i);

      if (row->is_output || row->is_last)
        headline->worst_db = isnan (headline->worst_db) ? run_figures_get_db (row)
                                                        : fmin (headline->worst_db, run_figures_get_db (row));
    }
  headline->kept = self->accuracy.kept;
  if (!self->accuracy.valid)
    return;
  headline->n_labeled = self->accuracy.n;
  headline->n_right = self->accuracy.quant_top1;
}
