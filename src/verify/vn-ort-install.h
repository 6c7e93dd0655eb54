/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A Python environment of the program's own that has a runtime, made when the user asks for it. */
#pragma once

#include "vn-job.h"
#include "vn-target-runtime.h"

G_BEGIN_DECLS

VnJob *vn_ort_install_new (const VnTargetRuntime *runtime,
                           const char            *python);   /* nullable */

G_END_DECLS
