/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ONNX Runtime will make of an export, as part of quantizing. */
#pragma once

#include "vn-job-input.h"

G_BEGIN_DECLS

void vn_job_forecast_export (const VnJobInput *input,
                             VnResult         *result);

G_END_DECLS
