/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stage of the main job that makes the quantized network, and tells how far it is. */
#include "quantize-job-private.h"

/* The stage in halves: deciding and writing look at each tensor once. */
typedef struct
{
  VnProgress stage;
  guint      first;      /* half */
} HalfOfStage;

#define HALF 1000

static void
quantize_write_report_half (gpointer    data,
                            const char *unit,
                            guint64     done,
                            guint64     total)
{
  const HalfOfStage *self = data;

  vn_progress_report (&self->stage, NULL, HALF * self->first + (total > 0 ? MIN (done, total) * HALF / total : 0), 2 * HALF);
}

/*< private >
 * _vn_quantize_job_write:
 * @float_model: with what was rounded and corrected
 *
 * Decides, and writes: @draft gets the plan and the quantized network.
 */
gboolean
_vn_quantize_job_write (VnQuantizeJob  *self,
                        VnModel        *float_model,
                        GError        **error)
{
  VnRun *result = self->draft;
  HalfOfStage half = { vn_job_get_reporter (self->job), 0 };
  const VnProgress told = { quantize_write_report_half, &half }, *before = vn_progress_swap_current (&told);

  result->plan = vn_quantize_resolve (_vn_quantize_job_get_float (self), self->settings.recipe, result->stats, result->notes,
                                      error);
  half.first = 1;
  if (result->plan != NULL)
    result->quantized = vn_job_write_quantized (&self->input, float_model, result->plan, &result->value_names, error);
  vn_progress_swap_current (before);
  return result->quantized != NULL;
}
