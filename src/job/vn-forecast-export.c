/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts kernels and time of an export in ONNX Runtime, and says so before it is written if it will be slower than float; puts what
 * was measured there in the place of that. */
#include "vn-forecast-export-private.h"
#include "vn-verify-job.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"

/* Codes of notes. */
#define NOTE_SLOWER "slower-than-float"
#define NOTE_DIFFERS "runtime-differs"

/* Beside the float network, as measured: less is chance. A forecast must be slower even where it errs most. */
#define SLOWER 1.15
#define SECONDS 1e-4   /* what nobody notices: networks that take no longer are all overhead */

/*< private >
 * vn_job_forecast_float:
 * @prepared: what the network as it was opened was made into
 * @shapes: (nullable)
 *
 * Returns: (transfer full) (nullable): a forecast of the network as it was opened, as the export is run instead of that; of
 *   @prepared if that cannot be told
 */
VnRuntimeForecast *
vn_job_forecast_float (const VnModel *source,
                       const VnModel *prepared,
                       GHashTable    *shapes)
{
  VnRuntimeForecast *forecast;

  g_return_val_if_fail (source != NULL && prepared != NULL, NULL);

  forecast = vn_runtime_forecast_new (source, shapes, NULL, NULL);
  return forecast != NULL ? forecast : vn_runtime_forecast_new (prepared, shapes, NULL, NULL);
}

/*< private >
 * vn_job_has_forecast:
 *
 * Returns: whether exports of @recipe are for ONNX Runtime on a processor
 */
gboolean
vn_job_has_forecast (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  return vn_format_is (recipe->format, VN_FORMAT_HAS_FORECAST) && !recipe->npu;
}

static void
forecast_warn (const VnRuntimeForecast *forecast,
               VnNotes                 *notes)
{
  const double ratio = vn_runtime_forecast_ratio (forecast), margin = vn_runtime_get_margin ();
  g_autofree char *dearest = NULL;

  if (!(ratio / margin > 1) || forecast->seconds - forecast->float_seconds < SECONDS)
    return;
  dearest = vn_runtime_forecast_dup_dearest (forecast, 3);
  vn_notes_add (notes, VN_NOTE_WARNING, NOTE_SLOWER, NULL,
                _("In ONNX Runtime on a CPU, this model has an estimated %.1f times the latency of the float model "
                  "(%.1f to %.1f): type and layout conversions take %.0f %% of the time, and the slowest kernels are "
                  "%s. The report lists the nodes that run in float, and why"),
                ratio, ratio / margin, ratio * margin, 100 * forecast->conversion_seconds / forecast->seconds, dearest);
}

/*< private >
 * vn_job_forecast_export:
 * @result: with its quantized network; gets its forecast, and a warning if the export will be slower than the float network. Nothing is
 *   done where the export is not for ONNX Runtime, or cannot be told about.
 */
void
vn_job_forecast_export (const VnJobInput *input,
                        VnResult         *result)
{
  GHashTable *shapes = input->shapes != NULL ? input->shapes : input->given_shapes;
  g_autoptr(VnRuntimeForecast) before = NULL;

  if (!vn_job_has_forecast (result->recipe))
    return;
  before = vn_job_forecast_float (result->source, result->prepared, shapes);
  result->forecast = vn_runtime_forecast_new (result->quantized, shapes, before, NULL);
  if (result->forecast != NULL)
    forecast_warn (result->forecast, result->notes);
}

/* ---- measured ---- */

static void
forecast_copy_note (const VnNote *note,
                    const char   *but,
                    VnNotes      *notes)
{
  if (!g_str_equal (note->code, but))
    vn_notes_add_remedy (notes, note->level, note->code, note->subject, note->remedy, "%s", note->text);
}

/* Without what was said of expected times, or after an earlier try. */
static VnNotes *
forecast_copy_notes (VnNotes *notes)
{
  VnNotes *copy = vn_notes_new ();

  for (guint i = 0; i < vn_notes_get_n (notes); i++)
    {
      const VnNote *note = vn_notes_get (notes, i);

      if (!g_str_equal (note->code, NOTE_SLOWER) && !g_str_equal (note->code, NOTE_DIFFERS))
        forecast_copy_note (note, VN_NOTE_CODE_NOT_VERIFIED, copy);
    }
  return copy;
}

/* What is made for another target may be slower there: that is no fault. */
static void
forecast_note_measured (const VnVerification *found,
                        gboolean              is_target,
                        VnNotes              *notes)
{
  const double more = found->seconds - found->float_seconds;
  g_autofree char *fault = vn_verification_dup_fault (found), *remedy = vn_verification_dup_remedy (found);

  if (is_target && found->float_seconds > 0 && found->seconds > SLOWER * found->float_seconds && more > SECONDS)
    vn_notes_add (notes, VN_NOTE_WARNING, NOTE_SLOWER, NULL,
                  _("In ONNX Runtime %s, this model has %.1f times the latency of the float model, measured on one "
                    "thread. The report lists the nodes that run in float, and why"), found->version, found->seconds / found->float_seconds);
  if (fault != NULL)
    vn_notes_add_remedy (notes, VN_NOTE_WARNING, NOTE_DIFFERS, NULL, remedy, "%s", fault);
}

/**
 * vn_job_take_verification:
 * @base: a result
 * @verification: what was measured of its export
 * @forecast: (nullable): with the kernels found there; copied
 *
 * Returns: (transfer full): @base with measured figures instead of forecast ones, and without what was said of the latter
 */
VnResult *
vn_job_take_verification (VnResult                *base,
                          VnVerification          *verification,
                          const VnRuntimeForecast *forecast)
{
  g_autoptr(VnNotes) notes = NULL;

  g_return_val_if_fail (base != NULL && verification != NULL, NULL);

  notes = forecast_copy_notes (base->notes);
  forecast_note_measured (verification, base->forecast != NULL, notes);
  vn_notes_sort (notes);
  return vn_result_new_with_verification (base, verification, forecast != NULL ? vn_runtime_forecast_copy (forecast) : NULL, notes);
}

/**
 * vn_job_note_unverified:
 * @reason: why nothing was measured in ONNX Runtime
 * @is_asked: the user asked for it
 *
 * Returns: (transfer full): @base as one that ONNX Runtime refuses, if it does; or else with a note that it could not be asked
 */
VnResult *
vn_job_note_unverified (VnResult     *base,
                        const GError *reason,
                        gboolean      is_asked)
{
  g_autoptr(VnNotes) notes = vn_notes_new ();
  g_autoptr(VnVerification) refused = NULL;

  g_return_val_if_fail (base != NULL && reason != NULL, NULL);

  for (guint i = 0; i < vn_notes_get_n (base->notes); i++)
    forecast_copy_note (vn_notes_get (base->notes, i), VN_NOTE_CODE_NOT_VERIFIED, notes);
  if (g_error_matches (reason, VN_VERIFY_ERROR, VN_VERIFY_ERROR_REFUSED))
    refused = vn_verification_new_refused (reason->message);
  else
    vn_notes_add (notes, is_asked ? VN_NOTE_WARNING : VN_NOTE_INFO, VN_NOTE_CODE_NOT_VERIFIED, NULL,
                  base->verification != NULL ? _("The export was not verified again: %s")
                                             : _("The export was not verified; its ONNX Runtime figures are estimates: %s"),
                  reason->message);
  vn_notes_sort (notes);
  return vn_result_new_with_verification (base, refused, NULL, notes);
}
