/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime will make of an export, as part of quantizing. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

/* Of notes about the runtime that an export is for. */
#define VN_NOTE_CODE_TARGET "target"
#define VN_NOTE_CODE_TARGET_CHECK "target-check"
#define VN_NOTE_CODE_TARGET_OPSET "target-opset"
#define VN_NOTE_CODE_TARGET_SETTING "target-setting"
#define VN_NOTE_CODE_TARGET_SHAPES "target-shapes"

#define VN_NOTE_CODE_SLOWER "slower-than-float"   /* of the note that warns of it */

gboolean           vn_job_has_forecast    (const VnRecipe   *recipe);
VnRuntimeForecast *vn_job_forecast        (const VnRecipe   *recipe,
                                           const VnModel    *model,
                                           GHashTable       *shapes,
                                           const VnRuntimeForecast *float_forecast);
VnRuntimeForecast *vn_job_forecast_float  (const VnModel    *source,
                                           const VnModel    *prepared,
                                           GHashTable       *shapes);
void               vn_job_forecast_export (const VnJobInput *input,
                                           VnRun            *result);

/* vn-note-target.c */
void               vn_job_note_target     (VnRun            *result);

G_END_DECLS
