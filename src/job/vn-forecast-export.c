/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forecasts kernels and time of an export in ONNX Runtime, and says so before it is written if it will be slower than float. */
#include "vn-forecast-export.h"

#include "vn-format-traits.h"
#include "vn-i18n.h"

/* A forecast must be slower even where it errs most. */
#define SECONDS 1e-4   /* what nobody notices: networks that take no longer are all overhead */

/**
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

/**
 * vn_job_has_forecast:
 *
 * Returns: whether exports of @recipe are for ONNX Runtime on a processor: that can be told with times
 */
gboolean
vn_job_has_forecast (const VnRecipe *recipe)
{
  g_return_val_if_fail (recipe != NULL, FALSE);

  return vn_recipe_get_format (recipe)->onnxruntime && !recipe->npu &&
         (vn_recipe_get_target (recipe)->traits & VN_TARGET_ELSEWHERE) == 0;
}

/* A runtime of which only the rules are known, not how long it takes. */
static VnRuntimeForecast *
forecast_elsewhere (const VnPreset *target,
                    const VnModel  *model,
                    GHashTable     *shapes)
{
  g_autoptr(VnRecipe) plain = vn_recipe_new (target->id);
  const VnRuntimeRules rules = { target->activations, target->weights, (target->traits & VN_TARGET_FUSES) != 0,
                                 (const char * const *) plain->float_types };

  return vn_runtime_forecast_new_elsewhere (model, shapes, &rules, NULL);
}

/**
 * vn_job_forecast:
 * @model: what @recipe made
 * @shapes: (nullable)
 * @float_forecast: (nullable): by vn_job_forecast_float()
 *
 * Returns: (transfer full) (nullable): what the runtime that @recipe is for makes of @model; %NULL: nothing is known of that, or
 *   it cannot run it
 */
VnRuntimeForecast *
vn_job_forecast (const VnRecipe          *recipe,
                 const VnModel           *model,
                 GHashTable              *shapes,
                 const VnRuntimeForecast *float_forecast)
{
  const VnPreset *target;
  g_autofree char *gaps = NULL;

  g_return_val_if_fail (recipe != NULL && model != NULL, NULL);

  target = vn_recipe_get_target (recipe);
  if (vn_job_has_forecast (recipe))
    gaps = vn_runtime_dup_bfloat_gaps (model->graph);
  if (gaps != NULL)
    return NULL;
  if (vn_job_has_forecast (recipe))
    return vn_runtime_forecast_new (model, shapes, float_forecast, NULL);
  return vn_preset_is_target (target) && (target->traits & VN_TARGET_ELSEWHERE) != 0 && vn_recipe_get_format (recipe)->has_pairs
         ? forecast_elsewhere (target, model, shapes) : NULL;
}

static void
forecast_warn (const VnRuntimeForecast *forecast,
               VnNotes                 *notes)
{
  const double ratio = vn_runtime_forecast_ratio (forecast), margin = vn_runtime_get_margin ();
  g_autofree char *slowest = NULL;

  if (!(ratio / margin > 1) || forecast->seconds - forecast->float_seconds < SECONDS)
    return;
  slowest = vn_runtime_forecast_dup_slowest (forecast, 3);
  vn_notes_add (notes, VN_NOTE_WARNING, VN_NOTE_CODE_SLOWER, NULL,
                _("In ONNX Runtime on a CPU, this model has an estimated %.1f times the latency of the float model "
                  "(%.1f to %.1f): type and layout conversions take %.0f %% of the time, and the slowest kernels are "
                  "%s. The report lists the nodes that run in float, and why"),
                ratio, ratio / margin, ratio * margin, 100 * forecast->conversion_seconds / forecast->seconds, slowest);
}

/**
 * vn_job_forecast_export:
 * @result: with its quantized network; gets its forecast, and a warning if the export will be slower than the float network, or
 *   cannot be run where it is for. Nothing is done where nothing is known of the runtime that the export is for.
 */
void
vn_job_forecast_export (const VnJobInput *input,
                        VnRun            *result)
{
  GHashTable *shapes;
  g_autoptr(VnRuntimeForecast) before = NULL;
  g_autofree char *gaps = NULL;

  g_return_if_fail (input != NULL && result != NULL);

  shapes = input->shapes != NULL ? input->shapes : vn_job_input_get_shapes (input, result->recipe);
  if (vn_job_has_forecast (result->recipe) && (gaps = vn_runtime_dup_bfloat_gaps (result->quantized->graph)) != NULL)
    {
      vn_runtime_note_bfloat (gaps, result->notes);
      return;
    }
  if (vn_job_has_forecast (result->recipe))
    before = vn_job_forecast_float (result->source, result->prepared, shapes);
  result->forecast = vn_job_forecast (result->recipe, result->quantized, shapes, before);
  if (result->forecast != NULL)
    forecast_warn (result->forecast, result->notes);
}
