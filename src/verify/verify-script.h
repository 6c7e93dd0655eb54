/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What runs in the Python of a runtime. */

#include "vn-target-runtime.h"

G_BEGIN_DECLS

char       *vn_verify_script_new          (const VnTargetRuntime *runtime);
const char *vn_verify_script_get_variable (const VnTargetRuntime *runtime);

G_END_DECLS
